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
from doxa.core.values import Citation, Draft, Interval, Question, Turn
from doxa.memory import stems

__all__ = ["Found", "SpanReading", "answer_from_spans", "read_spans", "told_to"]

MOST = 8
"""Turns that are read for one question, best evidence first; each is one call of the reader."""
SURE = 0.5
"""Least confidence of an answer that is given."""
ALSO = 0.6
"""Least chance of an answer of a passage that is added to a list."""
LAST_CHARS, TURN_CHARS = 120, 1_200
RANK = 0.12
"""How much a place further down in the evidence costs, in log odds."""
OWN = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're", "i've": "you've",
       "i'd": "you'd", "i'll": "you'll", "you": "i", "your": "my", "yours": "mine", "yourself": "myself"}  # fmt: skip
OWN_WORD = re.compile(rf"\b(?:{'|'.join(sorted(OWN, key=len, reverse=True))})\b", re.IGNORECASE)
LEAD = re.compile(r"^(?:that|to|the fact that|because|as|since|and|but|so|or)\s+", re.IGNORECASE)
SHORTEST_NICKNAME = 3

Read = Callable[[Sequence[Pair]], list[Reading]]
Before = Callable[[Turn], Turn | None]
"""Gives the turn that came before a turn in its session."""


@dataclass(frozen=True, slots=True)
class Found:
    """A span that may answer: where it was said, what the reader thinks of it, and its place in the evidence."""

    turn: Turn
    text: str
    answerable: float
    share: float
    rank: int

    @property
    def weight(self) -> float:
        """Log odds that the passage answers, less what its place in the evidence costs."""
        chance = min(max(self.answerable, 1e-6), 1 - 1e-6)
        return math.log(chance / (1 - chance)) - RANK * self.rank


@dataclass(frozen=True, slots=True)
class SpanReading:
    """What was read for a question: spans, likeliest first."""

    found: tuple[Found, ...]

    @property
    def confidence(self) -> float:
        """The chance that the best span's passage answers, 0 to 1."""
        return 1 / (1 + math.exp(-self.found[0].weight)) if self.found else 0.0


def answer_from_spans(
    question: Question, turns: Sequence[Turn], before: Before, read: Read, *, asker: str, sure: float = SURE
) -> Draft | None:
    """Return the answer that a reader finds in the evidence, or None when it finds none that it is sure of.

    Args:
        question: what is asked.
        turns: the turns that bear on it, best first; the first few are read.
        before: gives the turn before a turn.
        read: the reader.
        asker: name of the person who asks.
        sure: least confidence of an answer.

    One call of the reader for each of at most `MOST` turns.
    """
    reading = read_spans(question.text, turns, before, read, asker=asker)
    if not reading.found or reading.confidence < sure:
        return None
    chosen = _together(reading.found) if _wants_list(question) else reading.found[:1]
    value = ", ".join(item.text for item in chosen)
    cited = {item.turn.turn_id: item.turn for item in chosen}
    best = chosen[0].turn
    when = Interval.format(best.at.date(), "day")
    return Draft(
        text=f"{value[:1].upper()}{value[1:].rstrip('.')}. ({best.speaker}, {when})",
        value=value,
        citations=tuple(
            Citation(turn_id=turn.turn_id, text=turn.text, speaker=turn.speaker, at=turn.at) for turn in cited.values()
        ),
        confidence=reading.confidence,
    )


def read_spans(text: str, turns: Sequence[Turn], before: Before, read: Read, *, asker: str) -> SpanReading:
    """Return the spans that a reader finds for a question in some turns, likeliest first.

    Deterministic for a deterministic reader; one call of it per turn, at most `MOST`.
    """
    read_turns = list(turns[:MOST])
    pairs, leads = [], []
    for turn in read_turns:
        earlier = before(turn)
        lead = _lead(turn, earlier)
        others = {earlier.speaker} - {turn.speaker} if earlier else set()
        pairs.append((told_to(text, turn, others, asker=asker), lead + turn.text[:TURN_CHARS]))
        leads.append(len(lead))
    found = []
    for rank, (turn, lead_chars, reading) in enumerate(zip(read_turns, leads, read(pairs), strict=True)):
        span = next((span for span in reading.spans if span.start >= lead_chars), None)
        value = _bare(span) if span else ""
        if span and value:
            found.append(Found(turn, value, reading.answerable, span.score, rank))
    return SpanReading(tuple(sorted(found, key=lambda item: -item.weight)))


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
    return list(_distinct(item for at, item in enumerate(found) if at == 0 or item.answerable >= ALSO))


def _distinct(found: Iterator[Found]) -> Iterator[Found]:
    seen: list[set[str]] = []
    for item in found:
        words = set(stems(item.text))
        if words and not any(len(words & other) >= 0.5 * min(len(words), len(other)) for other in seen):
            seen.append(words)
            yield item
