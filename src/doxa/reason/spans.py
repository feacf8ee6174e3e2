"""Passages -> a short answer in the words of who said it, read by a model of answer spans.

A reader is asked about one turn at a time, in the words of who speaks it: about a turn of Ana, "What did Ana buy?"
is "what did i buy?", and about a turn of Ben, who talks with her, "what did you buy?". So a statement of Ben's about
himself is no answer, and a name never has to be matched by a model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from doxa.backends.reader import Pair, Reading, Span
from doxa.core.values import Citation, Draft, Evidence, Interval, Question, Turn
from doxa.memory import stems
from doxa.reason.telling import Telling, content_of, tellings

__all__ = ["Found", "PassageReader", "answer_from_spans", "covers_all", "read_spans", "reads_well", "told_to"]

MOST = 8
"""Turns that are read for one question, best evidence first; each is one call of the reader."""
WELL = 0.8
"""Confidence of an answer from facts that may stand without a look at what was said."""
SURE = 0.5
"""Least confidence of an answer that is given."""
ALSO = 0.6
"""Least confidence of an answer of a further turn that is added to a list."""
LAST_CHARS, TURN_CHARS = 120, 1_200
WEIGHTS = {"answerable": 0.57, "share": 0.29, "score": 2.0, "covered": 0.66, "around": 0.8, "own": 1.5, "bias": -3.67}
"""Log odds that a span answers: of the reader's own odds, the log of the span's share, the score of the turn relative
to the best, and what its sentence and turn cover of the question (`reason.telling`). Fitted on LongMemEval by
`training/reader/weights.py`; but the weights of `score` and `own` are set by hand, as nearly all of its turns are of
one speaker."""
OWN = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're", "i've": "you've",
       "i'd": "you'd", "i'll": "you'll", "you": "i", "your": "my", "yours": "mine", "yourself": "myself"}  # fmt: skip
OWN_WORD = re.compile(rf"\b(?:{'|'.join(sorted(OWN, key=len, reverse=True))})\b", re.IGNORECASE)
LEAD = re.compile(r"^(?:that|to|the fact that|because|as|since|and|but|so|or)\s+", re.IGNORECASE)
SHORTEST_NICKNAME = 3

Read = Callable[[Sequence[Pair]], list[Reading]]
Before = Callable[[Turn], Turn | None]
"""Gives the turn that came before a turn in its session."""


@dataclass(frozen=True, slots=True)
class PassageReader:
    """How passages are read: by which model, and what stands before a turn."""

    read: Read
    before: Before


@dataclass(frozen=True, slots=True)
class Found:
    """A span that may answer, with what speaks for it."""

    turn: Turn
    text: str
    answerable: float
    """Chance that the turn answers, as the reader sees it."""
    share: float
    """Chance of this part, if it does."""
    score: float
    """Score of the turn relative to the best of the evidence."""
    covered: float
    around: float
    own: bool

    @property
    def features(self) -> dict[str, float]:
        """What `WEIGHTS` weighs."""
        chance = min(max(self.answerable, 1e-4), 1 - 1e-4)
        return {
            "answerable": math.log(chance / (1 - chance)),
            "share": math.log(max(self.share, 1e-3)),
            "score": self.score,
            "covered": self.covered,
            "around": self.around,
            "own": float(self.own),
            "bias": 1.0,
        }

    @property
    def confidence(self) -> float:
        """How likely it answers the question, 0 to 1."""
        return 1 / (1 + math.exp(-sum(WEIGHTS[name] * value for name, value in self.features.items())))


def reads_well(question: Question) -> bool:
    """Tell whether a question is of a kind whose answer stands somewhere as a few words: no when, no yes or no."""
    return question.asks not in ("truth", "source") and question.kind not in ("when", "yesno") and not question.source


def covers_all(draft: Draft | None, question: Question) -> bool:
    """Tell whether an answer from facts is about everything that a question speaks of.

    What Ana likes is no answer to which of her neighbour's cakes she liked: the turns that an answer rests on have to
    hold what is asked, beside the verb. An answer that says why none can be given stands.
    """
    if draft is None:
        return False
    if draft.disputed or draft.abstained or not draft.citations:
        return True
    rest = content_of(question) - set(stems(f"{question.head} {draft.text}"))
    return draft.confidence >= WELL and all(rest <= set(stems(one.text)) for one in draft.citations)


def answer_from_spans(
    question: Question,
    evidence: Sequence[Evidence],
    turn: Callable[[str], Turn | None],
    reader: PassageReader,
    *,
    asker: str,
    sure: float = SURE,
) -> Draft | None:
    """Return the answer that a reader finds in the evidence, or None when it finds none that it is sure of.

    Args:
        question: what is asked.
        evidence: the turns that bear on it, best first; the first few are read.
        turn: gives the turn of an id.
        reader: reads them.
        asker: name of the person who asks.
        sure: least confidence of an answer.

    One call of the reader for each of at most `MOST` turns.
    """
    told = tellings(question, evidence, turn, asker=asker)
    found = read_spans(question.text, evidence, told, reader, asker=asker)
    if not found or found[0].confidence < sure:
        return None
    chosen = _together(found) if _wants_list(question) else found[:1]
    if not chosen:  # "it" and "that" name nothing
        return None
    value = ", ".join(item.text for item in chosen)
    cited = {item.turn.turn_id: item.turn for item in chosen}
    best = chosen[0].turn
    when = Interval.format(best.at.date(), "day")
    return Draft(
        text=f"{best.speaker} said on {when}: “{value}”",
        value=value,
        citations=tuple(
            Citation(turn_id=turn.turn_id, text=turn.text, speaker=turn.speaker, at=turn.at) for turn in cited.values()
        ),
        confidence=found[0].confidence,
    )


def read_spans(
    text: str, evidence: Sequence[Evidence], told: Sequence[Telling], reader: PassageReader, *, asker: str
) -> list[Found]:
    """Return the spans that a reader finds for a question in some turns, likeliest first.

    Deterministic for a deterministic reader; one call of it per turn, at most `MOST`.
    """
    tellings: dict[str, list[Telling]] = {}
    for one in told:
        tellings.setdefault(one.turn.turn_id, []).append(one)
    scored = [(item.score, key) for item in evidence for key in item.turn_ids if key in tellings][:MOST]
    top = max((score for score, _ in scored), default=0.0) or 1.0
    turns = [tellings[key][0].turn for _, key in scored]
    pairs, leads = [], []
    for turn in turns:
        earlier = reader.before(turn)
        lead = _lead(turn, earlier)
        others = {earlier.speaker} - {turn.speaker} if earlier else set()
        pairs.append((told_to(text, turn, others, asker=asker), lead + turn.text[:TURN_CHARS]))
        leads.append(len(lead))
    found = []
    for turn, (score, _), lead_chars, reading in zip(turns, scored, leads, reader.read(pairs), strict=True):
        span = next((span for span in reading.spans if span.start >= lead_chars), None)
        value = _bare(span) if span else ""
        if span and value:
            own = tellings[turn.turn_id]
            best = next((one for one in own if value in one.sentence), own[0])
            found.append(
                Found(
                    turn=turn,
                    text=value,
                    answerable=reading.answerable,
                    share=span.score,
                    score=score / top,
                    covered=best.covered,
                    around=best.around,
                    own=best.own,
                )
            )
    return sorted(found, key=lambda item: -item.confidence)


def told_to(question: str, turn: Turn, others: Collection[str], *, asker: str) -> str:
    """Return a question as it is put to the speaker of a turn: about them it says "i", about the other "you".

    Args:
        question: what is asked, by `asker`.
        turn: the turn that is read.
        others: names of those whom the speaker talks with.
        asker: whose "I" and "my" the question's are.
    """
    if turn.speaker.casefold() != asker.casefold():
        question = OWN_WORD.sub(lambda match: OWN[match[0].casefold()], question)
    question = _put(question, turn.speaker, "i", "my")
    for name in sorted(others):
        question = _put(question, name, "you", "your")
    return question.lower()


def _put(question: str, name: str, pronoun: str, own: str) -> str:
    """Return a question with a name replaced; its first part, or what it is short for, counts as the name."""

    def replaced(match: re.Match[str]) -> str:
        word = match["name"]
        if not _same_name(word, name):
            return match[0]
        return own if match["own"] else pronoun

    question = re.sub(rf"\b(?P<name>{re.escape(name)})(?P<own>['\u2019]s?)?(?!\w)", replaced, question, flags=re.I)
    return re.sub(r"\b(?P<name>[A-Z][\w-]+)(?P<own>['\u2019]s?)?(?!\w)", replaced, question)


def _same_name(word: str, name: str) -> bool:
    word, name = word.casefold(), name.casefold()
    first = name.split()[0] if name.split() else name
    if word in (name, first):
        return True
    short, long_ = sorted((word, first), key=len)
    return len(short) >= SHORTEST_NICKNAME and long_.startswith(short)


def _lead(turn: Turn, earlier: Turn | None) -> str:
    """Return what stands before a turn in its passage: the end of what the other one said."""
    if earlier is None or earlier.speaker == turn.speaker:
        return "i: "
    last = earlier.text[-LAST_CHARS:]
    if len(earlier.text) > LAST_CHARS:
        last = last[last.find(" ") + 1 :]
    return f"you: {last} i: "


def _bare(span: Span) -> str:
    text = LEAD.sub("", span.text.strip(' \t\n,.;:!?-–—"“”()[]'))
    return text.strip()


def _wants_list(question: Question) -> bool:
    """Tell whether a question asks for several things: "which books", "what are the names"."""
    if question.kind == "list":
        return True
    match = re.match(r"(?:what|which|who)\b(?: (?:kinds?|types?|sorts?) of)? (?P<noun>\w+)", question.text, re.I)
    if match is None:
        return False
    noun = match["noun"].casefold()
    return noun == "are" or (len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


def _together(found: Sequence[Found]) -> list[Found]:
    """Return the best span and those of other passages that answer too and say something else."""
    return list(_distinct(item for at, item in enumerate(found) if at == 0 or item.confidence >= ALSO))


def _distinct(found: Iterator[Found]) -> Iterator[Found]:
    seen: list[set[str]] = []
    for item in found:
        words = set(stems(item.text))
        if words and not any(len(words & other) >= 0.5 * min(len(words), len(other)) for other in seen):
            seen.append(words)
            yield item
