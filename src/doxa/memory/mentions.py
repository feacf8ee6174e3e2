"""mentions: turns -> sentences that tie two named things, found by either name.

What understanding reads no fact from ties its names all the same: "The author of Endymion is John Keats" ties a book to
a man whatever "author" is taken for. A sentence with a name left open ("The author of X is _") is a slot; the latest
sentence of a slot is what holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doxa.core.values import Turn
from doxa.language import LONGEST_SENTENCE, opening, split_text
from doxa.language.words import BE, DETERMINERS, HAVE, PREPOSITIONS
from doxa.memory.ontology import relation_names
from doxa.memory.paged import Form, Lists, Pack, PackWriter, Records, hashed, joined
from doxa.memory.state import UserState

__all__ = ["MentionIndex", "Tie", "key_of", "mention_index"]

KEPT = "mentions"
FORMAT = 1
CAPITAL = r"[^\W\d_a-zß-öø-ÿ]"
PART = rf"{CAPITAL}[\w'’.&-]*|\d[\w.-]*(?= {CAPITAL})"
NAME = re.compile(
    rf"(?:{PART})(?:(?: (?:de|da|van|von|der|del|du|la|le|di|al|of|the|on|and|in|for|to|with|a|as)){{0,2}}"
    rf" (?:{PART})|, (?={CAPITAL}[\w'’.& -]*(?: of(?: {CAPITAL}[\w'’.-]*)+)?[.!]?$)(?:{PART}))*"
)
FIRST = re.compile(r"\bI\b(?=['’](?:m|ve|d|ll)\b| [a-z])|\b(?:me|[Mm]y|mine|myself)\b")
ARTICLE = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)
DEFINITE = re.compile(r"\b[Tt]he $")
COMPLEMENT = re.compile(r"^.*\bof (?:the )?")
JOINING = PREPOSITIONS | DETERMINERS | frozenset(BE) | frozenset(HAVE)
FEW = 3
"""Words of a thing that no capitals name."""
LONGEST = 14
"""Words of a sentence that says one thing of two names, as facts are put down; talk says more."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A sentence, and the things that it names, in order."""

    place: int
    """Of its turn."""
    text: str
    spans: tuple[tuple[int, int], ...]
    keys: tuple[str, ...]
    single: bool = False
    """Whether it says one thing of two names, of which there is one at a time as far as is known."""

    def masked(self, letters: Sequence[tuple[int, str]]) -> str:
        """Return the sentence with some of its names, by their numbers in order, replaced."""
        found, end = [], 0
        for number, letter in letters:
            start, stop = self.spans[number]
            found += [self.text[end:start], letter]
            end = stop
        return "".join((*found, self.text[end:]))

    def name(self, number: int) -> str:
        """Return a name as it stands in the sentence."""
        start, end = self.spans[number]
        return self.text[start:end]


def _tie_to(tie: Tie) -> Any:
    return tie.place, tie.text, tie.spans, tie.keys, tie.single


def _tie_of(data: Any) -> Tie:
    place, text, spans, keys, single = data
    return Tie(place, text, tuple((start, end) for start, end in spans), tuple(keys), single)


TIE: Form[Tie] = Form(_tie_to, _tie_of)


class MentionIndex:
    """The ties of a memory by name. Kept beside the state, and brought up to date by what is new."""

    def __init__(self) -> None:
        self.ties: Records[Tie] = Records(TIE)
        self.by_name: Lists = Lists()
        """The ties of every name, by number."""
        self._slots = np.zeros(0, dtype=np.uint64)
        self._numbers = np.zeros(0, dtype=np.int32)
        """The slots of a pack, as hashes in order, and the latest tie in each."""
        self._latest: dict[int, int] = {}
        """The latest tie of the slots that came since."""
        self._read = 0

    @classmethod
    def of(cls, pack: Pack | None) -> MentionIndex:
        """Return the index that a pack has; an empty one where it has none of this form. Cost O(its arrays)."""
        index, about = cls(), f"{KEPT}.about"
        if pack is not None and about in pack and (told := pack.value(about))[0] == FORMAT:
            _, index._read = told
            index.ties.load(pack, f"{KEPT}.ties")
            index.by_name.load(pack, f"{KEPT}.by_name")
            index._slots, index._numbers = pack.array(f"{KEPT}.slots"), pack.array(f"{KEPT}.numbers")
        return index

    def save(self, writer: PackWriter, /) -> None:
        """Write it. Cost O(its bytes)."""
        slots = np.concatenate([np.fromiter(self._latest, np.uint64, len(self._latest)), self._slots])
        numbers = np.concatenate([np.fromiter(self._latest.values(), np.int32, len(self._latest)), self._numbers])
        slots, first = np.unique(slots, return_index=True)  # of equal ones that which came since
        writer.value(f"{KEPT}.about", (FORMAT, self._read))
        self.ties.save(writer, f"{KEPT}.ties")
        self.by_name.save(writer, f"{KEPT}.by_name")
        writer.array(f"{KEPT}.slots", slots)
        writer.array(f"{KEPT}.numbers", numbers[first])

    def sync(self, state: UserState) -> None:
        """Read the turns that came since. Cost O(their text)."""
        while self._read < len(state.places):
            turn = state.turns[state.places[self._read]]
            if turn.ordinal > state.maintained:
                return
            if not turn.generated:
                for tie in ties_of(turn, self._read, state):
                    self._add(tie)
            self._read += 1

    def _add(self, tie: Tie) -> None:
        number = self.ties.append(tie)
        for key in dict.fromkeys(tie.keys):
            self.by_name.append(key, number)
        if tie.single:
            self._latest[_slot(tie)] = number

    def holds(self, number: int) -> bool:
        """Tell whether no later sentence says something else in its place."""
        tie = self.ties[number]
        if not tie.single:
            return True
        slot = _slot(tie)
        if (latest := self._latest.get(slot)) is None:
            latest = int(self._numbers[np.searchsorted(self._slots, np.uint64(slot))])
        return latest == number

    def named_in(self, text: str) -> list[tuple[int, int, str]]:
        """Return the names of a text that are known: start, end, key; the longest ones, none within another."""
        words = [match.span() for match in re.finditer(r"[\w.&'’-]*\w[.]?", text)]
        found, at = [], 0
        while at < len(words):
            size = next(
                (
                    size
                    for size in range(min(10, len(words) - at), 0, -1)
                    if key_of(text[words[at][0] : words[at + size - 1][1]]) in self.by_name
                ),
                0,
            )
            if size:
                start, end = words[at][0], words[at + size - 1][1]
                found.append((start, end, key_of(text[start:end])))
            at += size or 1
        return found


def mention_index(state: UserState) -> MentionIndex:
    """Return the index of a memory, brought up to date. Cost O(what is new since the last call)."""
    index: MentionIndex | None = state.kept.get(KEPT)
    if index is None:
        index = state.kept[KEPT] = MentionIndex.of(state.packed)
    index.sync(state)
    return index


def key_of(name: str) -> str:
    """Return a name as it is looked up."""
    plain = ARTICLE.sub("", name.strip(" .,!?\"'“”‘’"), count=1).casefold().replace("’", "'")
    return plain.removesuffix("'s").removesuffix("'")


def ties_of(turn: Turn, place: int, state: UserState) -> Iterator[Tie]:
    """Yield the sentences of a turn that say one thing of two names, none of them that of who speaks.

    Of a very long turn its opening is read. Cost O(sentences x what the turn claims), both bounded.
    """
    claims = state.beliefs.said_in(turn.turn_id)
    many = any(claim.relation.name in relation_names() and not claim.functional for claim in claims)
    labels = [
        label
        for claim in claims
        for term in (claim.subject, claim.object)
        for label in (term.label, COMPLEMENT.sub("", term.label))
        if label
    ]
    for sentence in split_text(opening(turn.text)):
        if len(sentence) > LONGEST_SENTENCE or len(sentence.split()) > LONGEST:
            continue
        if sentence.endswith("?") or FIRST.search(sentence):
            continue
        spans = _spans(sentence, labels)
        keys = tuple(key_of(sentence[a:b]) for a, b in spans)
        if len(set(keys)) == 2 and all(keys):
            yield Tie(place, sentence, tuple(spans), keys, single=len(keys) == 2 and not many)


def _spans(sentence: str, labels: Sequence[str]) -> list[tuple[int, int]]:
    """Return where a sentence names things: by capitals, or in the words of what was read of it."""
    found: list[tuple[int, int]] = []

    def put(start: int, end: int) -> None:
        if end > start and all(end <= a or b <= start for a, b in found):
            found.append((start, end))

    lowered, read = sentence.casefold(), dict.fromkeys(label.casefold() for label in labels)
    said = [(at, at + len(label)) for label in read if (at := _word_at(label, lowered)) >= 0]
    for start, end in said:  # "Slovakia national football team"
        capital = NAME.match(sentence, start)
        if capital and capital.end() < end and not JOINING & set(lowered[start:end].split()):
            put(start, end)
    for match in NAME.finditer(sentence):
        start, end = match.span()
        if end == len(sentence) and match[0].endswith(".") and "." not in match[0][:-1]:
            end -= 1
        alone = start == 0 and " " not in sentence[start:end]
        if sentence[start:end] in ("The", "A", "An"):
            continue
        if not alone or sentence[start:end].casefold() in read or sentence[end - 2 : end] in ("'s", "’s"):
            put(start, end)
    for start, end in sorted(said, key=lambda span: span[1] - span[0]):
        if sentence[start:end].islower() and not DEFINITE.search(sentence, 0, start):
            put(start, end)
    for start, end in _ends(sentence):
        put(start, end)
    return sorted(found)


def _word_at(label: str, text: str) -> int:
    """Return where a text has a label in whole words; -1 where it has not."""
    at = text.find(label)
    while at >= 0 and (_in_word(text[at - 1 : at]) or _in_word(text[at + len(label) : at + len(label) + 1])):
        at = text.find(label, at + 1)
    return at


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _ends(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield the words before the first and behind the last word that only joins others, where they are a few."""
    words = [match.span() for match in re.finditer(r"[\w'’-]+", sentence)]
    joins = [at for at, (start, end) in enumerate(words) if sentence[start:end].casefold() in JOINING]
    first = sentence[: words[joins[0] - 1][1]] if joins and 0 < joins[0] <= FEW else ""
    if first and not re.search(r"['’]s\b|^[Tt]he ", first):
        yield 0, len(first)
    if joins and 0 < len(words) - 1 - joins[-1] <= FEW:
        yield words[joins[-1] + 1][0], words[-1][1]


def _slot(tie: Tie) -> int:
    """Return the slot of a tie as 64 bits; the same on every machine."""
    return hashed(joined(tie.keys[0], tie.masked([(0, "X"), (1, "_")])))
