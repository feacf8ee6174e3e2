"""Passages -> a short answer in the words of who said it, read by a model of answer spans.

A reader is asked about one turn at a time, in the words of who speaks it: about a turn of Ana, "What did Ana buy?"
is "what did i buy?", and about a turn of Ben, who talks with her, "what did you buy?". So a statement of Ben's about
himself is no answer, and a name never has to be matched by a model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from doxa.backends.reader import Pair, Reading, Span
from doxa.core.values import Draft, Evidence, Fact, Question, Turn
from doxa.language import stems
from doxa.reason.drafts import citation_of, quote
from doxa.reason.kinds import NUMBER, PATTERNS, PLACES, fitting
from doxa.reason.telling import LIGHT, LIGHT_WEIGHT, SENTENCE, Telling, content_of, narrowed

__all__ = [
    "Found",
    "PassageReader",
    "answer_from_spans",
    "confirms",
    "passage_of",
    "read_spans",
    "readings_of",
    "reads_well",
    "standing",
    "told_to",
    "wants_list",
]

MOST = 8
"""Turns that are read for one question, best evidence first; each is one call of the reader."""
WELL = 0.8
"""Standing of an answer from facts that needs no look at what was said."""
UNCOVERED = 0.3
"""What is left of the confidence of an answer that covers nothing of what is asked."""
LATER = 0.6
"""What is left of it when all was said after the day that is asked about, and since when it holds is not known."""
FORMED = frozenset({*PATTERNS, *PLACES, "name", "person", "colour", "color"})
"""Kinds that are told by their form or by what is known of places: nothing else is one of them."""
WIDE = frozenset("does has has_state is_a likes get make see".split())
"""Relations that many verbs end in."""
SURE = 0.25
"""Least confidence of an answer that is given."""
FOREIGN = 0.9
"""Least chance that a passage without any word of the question answers it, as the reader sees it."""
CONFIRMING = 2
"""Likeliest spans of which one has to say what an answer from facts says."""
ALSO = 0.25
"""Least confidence of an answer of a further turn that is added to a list."""
ALIKE = 0.5
"""Share that a further part of a turn needs, beside that of its likeliest one, to be an item of a list too."""
LAST_CHARS = 120
WEIGHTS = {"answerable": 0.59, "lead": 0.37, "share": 1.01, "score": 0.26, "own": 0.46, "timely": 0.47,
           "fits": 0.0, "bias": -1.85}  # fmt: skip
"""Log odds that a span answers: of the reader's own odds, by how much they are above those of every other turn, the log
of the span's share, the score of the turn relative to the best, and whether its speaker, its time and its kind are as
asked for. Fitted on `benchmarks/answers/dev.json` by `training/reader/weights.py`."""
FARTHEST = 4.0
"""Most that the reader's log odds of one turn count as above or below those of the others."""
OWN = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're", "i've": "you've",
       "i'd": "you'd", "i'll": "you'll", "you": "i", "your": "my", "yours": "mine", "yourself": "myself"}  # fmt: skip
OWN_WORD = re.compile(rf"\b(?:{'|'.join(sorted(OWN, key=len, reverse=True))})\b", re.IGNORECASE)
LEAD = re.compile(
    r"^(?:(?:that|to|the fact that|because|as|since|and|but|so|or|my own|our own|my|our)\s+)+", re.IGNORECASE
)
SHORTENED = re.compile(r"\b[A-Z][a-z]{0,2}\.$")
"""A word that ends in a full stop and no sentence: "St.", "Mr."."""
OF_ANOTHER = re.compile(r"\b(?:s?he|they|his|hers?|him|them|theirs?)(?:'\w+)?\b", re.IGNORECASE)
POSSESSED = re.compile(r"\b(?:my|our|your|\w+'s)(?= (\w+))", re.IGNORECASE)
WORD = re.compile(r"\w+")
SHORTEST_NICKNAME = 3

Read = Callable[[Sequence[Pair]], list[Reading]]
Before = Callable[[Turn], Turn | None]
"""Gives the turn that came before a turn in its session."""


@dataclass(frozen=True, slots=True)
class PassageReader:
    """How passages are read: by which model, and what stands before a turn."""

    read: Read
    before: Before
    answerable: dict[str, float] = field(default_factory=dict)
    """Turn id -> how likely it answers, of every turn that was read so far."""

    def readings(self, question: str, turns: Sequence[Turn], *, asker: str) -> list[tuple[Passage, Reading]]:
        """Return what of each turn is read for a question, and what it says. One call of the model per turn."""
        passages = [passage_of(question, turn, self, asker=asker) for turn in turns]
        found = self.read([passage.pair for passage in passages])
        self.answerable.update({turn.turn_id: one.answerable for turn, one in zip(turns, found, strict=True)})
        return list(zip(passages, found, strict=True))


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
    lead: float
    """By how much the reader's log odds of this turn are above those of the best other one."""
    own: bool
    timely: bool
    """Whether its turn is of the time that the question names, or it names none."""
    fits: bool
    """Whether it is of the kind that is asked for: a number for "how many", no time for "who"."""

    @property
    def features(self) -> dict[str, float]:
        """What `WEIGHTS` weighs."""
        return {
            "answerable": _log_odds(self.answerable),
            "lead": min(max(self.lead, -FARTHEST), FARTHEST),
            "share": math.log(max(self.share, 1e-3)),
            "score": self.score,
            "own": float(self.own),
            "timely": float(self.timely),
            "fits": float(self.fits),
            "bias": 1.0,
        }

    @property
    def confidence(self) -> float:
        """How likely it answers the question, 0 to 1."""
        return 1 / (1 + math.exp(-sum(WEIGHTS[name] * value for name, value in self.features.items())))


def reads_well(question: Question) -> bool:
    """Tell whether a question is of a kind whose answer stands somewhere as a few words: no when, no yes or no."""
    return question.asks not in ("truth", "source") and question.kind not in ("when", "yesno") and not question.source


def standing(draft: Draft, question: Question, facts: Sequence[Fact]) -> float:
    """Return how much an answer from facts is about what is asked, 0 to 1: its confidence by the words it covers.

    What Ana likes is no answer to which of her neighbour's cakes she liked: the turns that an answer rests on should
    hold what is asked. The verb may be another one where a relation stands for it ("moved to Porto": lives in), but not
    where a relation is as wide as "does".

    Args:
        draft: the answer.
        question: what is asked.
        facts: those that it cites.
    """
    if draft.disputed or draft.abstained or not draft.citations:
        return 1.0
    said = " ".join(f"{one.speaker} {one.text}" for one in draft.citations)
    told = set(stems(f"{said} {draft.text}"))
    if not any(fact.relation.name in WIDE for fact in facts):
        told |= set(stems(f"{question.head} {question.noun}"))
    if facts and not any(set(stems(fact.subject.label)) & set(stems(question.text)) for fact in facts):
        told |= set(stems(" ".join(POSSESSED.findall(question.text))))  # "my boss's sister": that is how it was found
    asked = {stem: LIGHT_WEIGHT if stem in LIGHT else 1.0 for stem in content_of(question)}
    covered = sum(weight for stem, weight in asked.items() if stem in told) / (sum(asked.values()) or 1.0)
    late = LATER if _said_later(draft, question, facts) else 1.0
    return draft.confidence * (UNCOVERED + (1 - UNCOVERED) * covered) * late


def _said_later(draft: Draft, question: Question, facts: Sequence[Fact]) -> bool:
    """Tell whether all was said after the day that is asked about, and since when it holds is not known."""
    day = question.as_of
    if day is None or not facts or any(fact.valid.start for fact in facts):
        return False
    return all(one.at is not None and one.at.date() > day for one in draft.citations if one.fact_id)


def answer_from_spans(question: Question, found: Sequence[Found], *, sure: float = SURE) -> Draft | None:
    """Return the answer that a reader found, or None when it found none that is sure enough.

    Args:
        question: what is asked; where it asks for several things, the spans of all turns that may answer are listed.
        found: what was read, likeliest first (`read_spans`).
        sure: least confidence of an answer.
    """
    if not found or found[0].confidence < sure:
        return None
    chosen = _together(found) if wants_list(question) else found[:1]
    turns = {item.turn.turn_id: item.turn for item in chosen}
    return Draft(
        text="; ".join(quote(one.turn, one.text) for one in chosen),
        value=", ".join(one.text for one in chosen),
        citations=tuple(citation_of(turn) for turn in turns.values()),
        confidence=found[0].confidence,
    )


def confirms(found: Sequence[Found], draft: Draft | None) -> bool:
    """Tell whether a reader finds, among its likeliest spans, what an answer from facts says, or a part of a list.

    Facts know what was said in a few words and their kinds; whether they are about what is asked is seen better by
    whoever reads the turn. One turn seldom tells the whole of a list.
    """
    parts = [set(stems(part)) for part in ((draft.value if draft else None) or "").split(", ")]
    spans = [set(stems(item.text)) for item in found[:CONFIRMING]]
    return any(part and 2 * len(part & span) >= len(part | span) for part in parts for span in spans)


def read_spans(
    question: Question, evidence: Sequence[Evidence], told: Sequence[Telling], reader: PassageReader, *, asker: str,
) -> list[Found]:  # fmt: skip
    """Return the spans that a reader finds for a question in some turns, likeliest first.

    Deterministic for a deterministic reader; one call of it per turn, at most `MOST`.
    """
    told_of = {one.turn.turn_id: one for one in told}
    scored = [(item, key) for item in evidence for key in item.turn_ids if key in told_of][:MOST]
    top = max((item.score for item, _ in scored), default=0.0) or 1.0
    dated = question.as_of is not None or question.within is not None
    readings = reader.readings(question.text, [told_of[key].turn for _, key in scored], asker=asker)
    odds = [_log_odds(reading.answerable) for _, reading in readings]
    found = []
    content = content_of(question) - {stem for turn in told_of.values() for stem in stems(turn.turn.speaker)}
    for at, ((passage, reading), (item, key)) in enumerate(zip(readings, scored, strict=True)):
        alien = not content & set(stems(passage.pair[1])) and reading.answerable < FOREIGN
        if alien or not _speaks_of(question, passage, told_of[key].turn):
            continue
        span = next(iter(_own(passage, reading)), None)
        worded = _worded(question, span) if span else None
        if span is None or worded is None:
            continue
        text, fits = worded
        if fits and question.asks == "count" and (number := NUMBER.search(text)):
            text = number[0].strip()
        found.append(
            Found(
                turn=told_of[key].turn,
                text=text,
                answerable=reading.answerable,
                share=span.score,
                score=item.score / top,
                lead=odds[at] - max(odds[:at] + odds[at + 1 :], default=odds[at]),
                own=told_of[key].own,
                timely=not dated or item.scores.get("time", 0.0) > 0,
                fits=fits,
            )
        )
    return sorted(found, key=lambda item: -item.confidence)


def readings_of(
    question: Question, turns: Sequence[Turn], reader: PassageReader, *, asker: str
) -> list[tuple[float, str | None]]:
    """Return for each of some turns how likely it answers a question, and what it says then in a few words.

    Of a list the likely parts are told, else the likeliest one; None where it is no such answer. No number is told:
    only facts know what it counts. One call of the reader per turn.
    """
    read = reader.readings(question.text, turns, asker=asker)
    return [(reading.answerable, _value(question, passage, reading)) for passage, reading in read]


def _value(question: Question, passage: Passage, reading: Reading) -> str | None:
    if not reads_well(question) or question.asks == "count":
        return None
    spans = _own(passage, reading)
    likely = [span for span in spans if span.score >= ALIKE * spans[0].score]
    worded = [_worded(question, span) for span in (likely if wants_list(question) else spans[:1])]
    return ", ".join(dict.fromkeys(text for text, _ in filter(None, worded))) or None


def _own(passage: Passage, reading: Reading) -> list[Span]:
    """Return the spans of what the turn itself says, likeliest first."""
    return [span for span in reading.spans if span.start >= passage.lead]


def _worded(question: Question, span: Span) -> tuple[str, bool] | None:
    """Return what a span tells and whether it is of the kind that is asked for; None where it cannot be the answer.

    A span that only repeats the question or names nothing ("it") is none, nor one without the form that its kind has.
    """
    text = _bare(span.text)
    value = fitting(text, question.expects)
    if set(stems(text)) <= set(stems(question.text)) or (value is None and question.expects in FORMED):
        return None
    return value or text, value is not None


@dataclass(frozen=True, slots=True)
class Passage:
    """What a reader is given of one turn."""

    pair: Pair
    lead: int
    """Characters before what the turn itself says."""


def passage_of(question: str, turn: Turn, reader: PassageReader, *, asker: str) -> Passage:
    """Return a question as it is put to the speaker of a turn, and the turn with the end of what came before it.

    Of a long turn the part that is nearest to the question is read.
    """
    earlier = reader.before(turn)
    lead = _lead(turn, earlier)
    others = {earlier.speaker} - {turn.speaker} if earlier else set()
    asked = told_to(question, turn, others, asker=asker)
    return Passage(pair=(asked, lead + narrowed(turn, frozenset(stems(question))).text), lead=len(lead))


def _speaks_of(question: Question, passage: Passage, turn: Turn) -> bool:
    """Tell whether a passage may be about the person whom a question is about: Ana's "I live in Bonn" is not about Mia.

    A name has to be the speaker's or the hearer's, or to be said, or somebody has to be spoken of as "she" or "they".
    """
    subject = question.subject or (question.about[0] if question.about else None)
    name = subject.label.split()[0].removesuffix("'s") if subject and subject.label[:1].isupper() else ""
    asked, said = passage.pair
    if not name or name.casefold() not in WORD.findall(asked):  # it is who speaks or listens
        return True
    return name.casefold() in WORD.findall(said.casefold()) or bool(OF_ANOTHER.search(turn.text))


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(chance / (1 - chance))


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


def _bare(text: str) -> str:
    """Return a span without what is no part of an answer: a second sentence, a picture behind it, "my" before it."""
    first, *rest = SENTENCE.split(text.split("[image:")[0].strip())
    while rest and SHORTENED.search(first):
        first = f"{first} {rest.pop(0)}"
    return LEAD.sub("", first.strip(' \t\n,.;:!?-–—"“”()[]')).strip()


def wants_list(question: Question) -> bool:
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
