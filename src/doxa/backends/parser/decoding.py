"""The scores of a turn -> what it says.

Source: Zhou et al. 2022 (spans as labelled words), Shi and Lin 2019 (attention that knows the anchor), Dozat and
Manning 2018 (pointers). How well: `training/frames`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser import Parse
from doxa.backends.parser.labels import best_labels, spans_of
from doxa.backends.parser.network import Network
from doxa.backends.parser.sentences import split
from doxa.backends.parser.sequences import Sequenced
from doxa.backends.parser.turns import Heard, Place, Told

__all__ = ["ANCHORS", "heard_in"]

ANCHOR: Final = 1
"""The column of `said` for words on which a claim hangs; the first one is for predicates."""
SURE: Final = 0.5
"""Least probability of an anchor, a flag, and of a relation by name where a word of the turn could name it."""
ANCHORS: Final = (1.0, SURE)
"""Least probability of a word that is looked from, as a predicate and as an anchor: predicates are not decoded."""
VERBAL: Final = frozenset(("VERB", "AUX"))
RELATIVE: Final = frozenset("who whom whose which".split())
"""Pronouns that always mean something in their own sentence."""
NAMELESS: Final = frozenset(("NUM", "PRON", "DET", "PUNCT", "CCONJ", "SYM", "INTJ"))
"""Parts of speech that name no relation."""
SPEAKER: Final = 2
"""Words before the turn's own of which the first is the name of its speaker."""
LISTING: Final = frozenset(",;&+") | {"and", "or", "nor", "plus"}
"""What stands between the members of a list."""
OPEN: Final = "open"
"""How the model calls a relation that words of the turn name."""

Scores = NDArray[np.float32]


def heard_in(network: Network, found: Sequenced, scores: Mapping[str, NDArray[Any]], text: str) -> Heard:
    """Return what the last line of a sequence says.

    Args:
        network: the model.
        found: the sequence.
        scores: what the model says of it.
        text: the last line.

    Cost: linear in its words, and in words times claims.
    """
    return _Decoding(network, found, scores, text).heard()


@dataclass(slots=True)
class _Decoding:
    """The scores of one sequence on their way to what it says."""

    network: Network
    found: Sequenced
    scores: Mapping[str, NDArray[Any]]
    text: str
    tags: Mapping[int, str] = field(default_factory=dict)
    """The parts of speech of the turn's own words."""

    def heard(self) -> Heard:
        begin = self.found.begin
        hangs = _sigmoid(self.scores["said"][0][:, ANCHOR])
        meant = tuple(self._meant())
        if hangs.max(initial=0.0) <= SURE:
            return Heard(claims=(), meant=meant, parses=())
        parts = best_labels(_log_shares(self.scores["parts"]))
        parses = tuple(self._parses())
        tags = [tag for _, parse in parses for tag in parse.upos]
        self.tags = {begin + at: tag for at, tag in enumerate(tags)}
        claims = [
            told
            for row, word in enumerate(self.scores["places"].tolist())
            if hangs[word] > SURE
            for told in self._claims(row, word, parts[row], round(float(hangs[word]), 4))
        ]
        return Heard(claims=tuple(claims), meant=meant, parses=parses)

    def _claims(self, row: int, word: int, labels: NDArray[np.int64], p: float) -> Iterator[Told]:
        place, card = self.found.place, self.network.card
        spans = [(start, end, card.parts[part]) for start, end, part in spans_of(labels.tolist())]
        subjects = self._subjects(row, [(start, end) for start, end, part in spans if part == "subject"])
        times = tuple(
            (part, place(start, end)) for start, end, part in spans if part not in ("subject", "object", "verb")
        )
        said = [(start, end) for start, end, part in spans if part == "verb"]
        for start, end, part in spans:
            if part != "object" or not start <= word < end:
                continue
            relation = self._relation(row, word, (start, end), said)
            if relation is None:
                continue
            flags = self.scores["claim_flags"][row, start:end].mean(0)
            for first, last in subjects:
                yield Told(
                    anchor=place(word, word + 1),
                    subject=place(first, last),
                    relation=relation,
                    words=tuple(place(*one) for one in said) or (place(word, word + 1),),
                    object=place(start, end),
                    times=times,
                    flags=frozenset(
                        name for name, share in zip(card.claim_flags, _sigmoid(flags), strict=True) if share > SURE
                    ),
                    p=p,
                )

    def _relation(self, row: int, word: int, thing: tuple[int, int], said: Sequence[tuple[int, int]]) -> str | None:
        """Return the name of a relation; empty where words of the lines name it, None where nothing surely does."""
        naming = [at for start, end in (thing, *said) for at in range(start, end)]
        names = self.network.card.relations
        shares = np.exp(_log_shares(self.scores["relations"][row, naming]).mean(0))
        verb = not said and thing[1] == thing[0] + 1 and self.tags.get(word) in VERBAL
        named = verb or (bool(said) and self.tags.get(said[0][0]) not in NAMELESS)
        if not named:
            shares[[at for at, name in enumerate(names) if name == OPEN]] = 0.0
        best = int(shares.argmax())
        if names[best] != OPEN and shares[best] >= SURE:
            return names[best]
        return "" if named else None

    def _subjects(self, row: int, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the likeliest subject and those that are listed with it; where there is none it is the speaker."""
        if not spans:
            speaker = self.found.begin - SPEAKER
            return [(speaker, speaker + 1)]
        opens = 1 + 2 * self.network.card.parts.index("subject")
        shares = _log_shares(self.scores["parts"][row])
        best = max(spans, key=lambda one: (float(shares[one[0], opens]), -one[0]))
        kept = [best]
        for one in (*reversed([one for one in spans if one < best]), *(one for one in spans if one > best)):
            near = min(kept) if one < best else max(kept)
            gap = range(one[1], near[0]) if one < best else range(near[1], one[0])
            if 0 < len(gap) < 3 and all(self.found.words[at].form.casefold() in LISTING for at in gap):
                kept.append(one)
        return sorted(kept)

    def _meant(self) -> Iterator[tuple[Place, Place]]:
        """Yield the words that refer, each by its last one, and what they mean with the rest of its name."""
        points = self.scores["points"][0]
        for word in range(self.found.begin, len(self.found.words)):
            goal = int(points[word, : word + 1].argmax()) - 1  # the first column is for what refers to nothing
            if goal < 0 and self.found.words[word].form.casefold() in RELATIVE and word > self.found.begin:
                goal = self.found.begin + int(points[word, self.found.begin + 1 : word + 1].argmax())
            if goal >= 0:
                yield self.found.place(word, word + 1), self.found.place(self._start(goal), goal + 1)

    def _start(self, word: int) -> int:
        """Return the first word of the name that ends with a word: those before it have capitals as well."""
        words, start = self.found.words, word
        if words[word].form[:1].isupper():
            while (
                start
                and words[start - 1].form[:1].isupper()
                and words[start - 1].line == words[word].line
                and words[start - 1].start >= 0
            ):
                start -= 1
        return start

    def _parses(self) -> Iterator[tuple[tuple[int, ...], Parse]]:
        own = self.found.words[self.found.begin :]
        sizes = [len(sentence) for sentence in split(self.text)]
        at = 0
        for size in sizes:
            words = own[at : at + size]
            if words:
                first = self.found.begin + at
                parse = self.network.parse([word.form for word in words], self.scores, first)
                yield tuple(word.start for word in words), parse
            at += size


def _sigmoid(scores: Scores) -> Scores:
    found: Scores = np.reciprocal(1.0 + np.exp(-scores))
    return found


def _log_shares(scores: Scores) -> Scores:
    top = scores.max(-1, keepdims=True)
    found: Scores = scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True))
    return found
