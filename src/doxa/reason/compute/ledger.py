"""Sentences -> entries: each stated quantity with what it counts, whose it is, per what, and what it does.

Source: the categories of verbs (observation, gain, loss, transfer) follow Hosseini, Hajishirzi, Etzioni and Kushman,
"Learning to Solve Arithmetic Word Problems with Verb Categorization" (EMNLP 2014); theirs are learned, ours a table
(`words.toml`). Quantities per something follow Roy and Roth, "Unit Dependency Graph and its Application to Arithmetic
Word Problem Solving" (AAAI 2017).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Interval, Turn
from doxa.language import stems
from doxa.language.amounts import CURRENCY, unit_named
from doxa.language.sentence import Argument, Frame, Sentence

__all__ = [
    "Entry",
    "Happening",
    "Speakers",
    "does",
    "entries_of",
    "growing",
    "happenings",
    "head_of",
    "listed",
    "verbs",
]

FIRST, GROUP = frozenset(["i", "me", "my", "mine"]), frozenset(["we", "us", "our", "ours"])
THIRD = frozenset(["he", "she", "him", "her", "his", "hers"])
THEM = frozenset(["they", "them", "their", "theirs", "these", "those"])
ITS = frozenset(["it", "its", "this", "that"])
CORRECTING = re.compile(
    r"^(?:sorry|correction|actually|wait|oops|no(?=,)|no wait|i mean|i was wrong|my mistake|to correct|"
    r"make (?:that|it))\b|"
    r"\bi (?:meant|made a mistake|was wrong)\b|\bit was actually\b|\bnot \d+\b|\binstead of \d+\b",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:about|around|roughly|approximately|maybe|perhaps|probably|nearly|almost|at least|at most|"
    r"(?<!went )(?<!gone )(?<!goes )(?<!going )up to|"
    r"if|might|could|would|or so|want|wants|wish|plan|hope)\b",
    re.IGNORECASE,
)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("doxa.reason.compute").joinpath("words.toml").read_text(encoding="utf-8"))


@cache
def listed(kind: str) -> frozenset[str]:
    """Return the words of a list in `words.toml`; "fly+away" is "fly away"."""
    return frozenset(word.replace("+", " ") for word in _table()[kind]["words"].split())


def verbs(kind: str) -> frozenset[str]:
    """Return the verbs of a kind, as in `words.toml`, their particles behind a space."""
    return listed(kind)


@cache
def comparatives() -> dict[str, tuple[tuple[str, ...], int]]:
    """Return what a comparative or superlative compares, and whether more (1) or less (-1) of it is meant."""
    return {word: (tuple(kinds.split()), sign) for word, (kinds, sign) in _table()["comparative"].items()}


@cache
def growing() -> dict[str, int]:
    """Return verbs by which an amount becomes more (1) or less (-1)."""
    more = dict.fromkeys((verb.replace("+", " ") for verb in _table()["grow"]["more"].split()), 1)
    return more | dict.fromkeys((verb.replace("+", " ") for verb in _table()["grow"]["less"].split()), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stated quantity."""

    value: Fraction
    kind: str
    """"count", "part" or "multiple", as of its number."""
    head: str
    """Noun that is counted; empty where a unit measures something that is not named."""
    words: frozenset[str]
    """Stems of what is counted, with what belongs to it."""
    unit: str
    """Name of the unit of measure; empty for what is counted."""
    per: tuple[str, ...]
    """Nouns of what there is so much of in each; empty for an amount of its own."""
    does: str
    verb: str
    owner: frozenset[str]
    owner_label: str
    to: frozenset[str]
    """Who gets it, where somebody gives it."""
    than: frozenset[str]
    more: int
    about: frozenset[str]
    """Stems of the whole frame."""
    places: frozenset[str]
    """Stems of where: what tells parts of one whole apart."""
    when: Interval | None
    turn: Turn
    text: str
    order: int
    negative: bool = False
    future: bool = False
    vague: bool = False
    total: bool = False
    definite: bool = False
    among: Fraction = Fraction(1)
    """How many of `per` the value is for: "3 tickets cost 21 euros"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that was said to happen, with its time where one was told."""

    about: frozenset[str]
    """Stems of what it is, with whom it concerns."""
    verb: str
    when: Interval | None
    clock_min: int | None
    """Minutes after midnight, where a clock time was named."""
    owner: frozenset[str]
    label: str
    turn: Turn
    text: str
    order: int


@dataclass(slots=True)
class Speakers:
    """Who and what pronouns stand for, as the dialogue goes on."""

    person: frozenset[str] = frozenset()
    person_label: str = ""
    thing: frozenset[str] = frozenset()
    thing_label: str = ""
    counted: str = ""
    """The noun that was counted last: "30 of them"."""

    def resolve(self, argument: Argument | None, turn: Turn) -> tuple[frozenset[str], str]:
        """Return whom or what a argument stands for: stems of its name, and its label."""
        if argument is None:
            return frozenset(), ""
        word = argument.head
        if word in FIRST:
            return self.speaker(turn)
        if word in GROUP:
            return frozenset(["we"]), "we"
        if word in THEM:
            return frozenset(["they"]), "they"
        if word in THIRD:
            return self.person, self.person_label
        if word in ITS:
            return self.thing, self.thing_label
        label = argument.label
        if argument.owner and not argument.name:
            label = f"{argument.owner} {label}" if not label.casefold().startswith(argument.owner) else label
        return argument.words, label

    @staticmethod
    def speaker(turn: Turn) -> tuple[frozenset[str], str]:
        """Return the speaker of a turn as an owner."""
        return frozenset(stems(turn.speaker)), turn.speaker

    def hear(self, frame: Frame, turn: Turn) -> None:
        """Note whom and what a frame speaks of."""
        subject = frame.subject
        for argument in (*frame.arguments, *((subject,) if subject else ())):
            if (
                argument.name
                and argument.words
                and not argument.words & frozenset(stems(turn.speaker))
                and argument.role in ("subject", "object", "to", "and", "from")
            ):
                self.person, self.person_label = argument.words, argument.label
        if subject is not None and subject.head not in FIRST | GROUP | THIRD | THEM | ITS and subject.words:
            if not subject.name:
                self.thing, self.thing_label = subject.words, subject.label
                if subject.number is None:
                    self.person, self.person_label = subject.words, subject.label
        elif subject is None or subject.head in FIRST | GROUP | THIRD:
            objects = [
                p
                for p in frame.arguments
                if p.role in ("object", "at") and p.words and unit_named(p.head) is None and p.head not in THIRD
            ]
            if objects:
                self.thing, self.thing_label = objects[0].words, objects[0].label


def head_of(argument: Argument) -> str:
    """Return the noun of a argument as things are compared: its last stem."""
    last = stems(argument.head)
    return last[-1] if last else ""


def does(frame: Frame, argument: Argument) -> str:
    """Return what a frame does with a quantity."""
    verb = frame.verb
    if verb == "be":
        return "hold"
    if frame.passive and argument.role == "subject" and verb in verbs("gain") - verbs("lose"):
        return "gain"
    for kind in ("hold", "gain", "lose"):
        if verb in verbs(kind) or (" " in verb and verb.split()[0] in verbs(kind) and verb not in _particled()):
            return kind
    return "done"


@cache
def _particled() -> frozenset[str]:
    return frozenset(v for kind in ("hold", "gain", "lose") for v in verbs(kind) if " " in v)


def happenings(sentences: Sequence[Sentence], speakers: Speakers) -> list[Happening]:
    """Return what sentences say to happen or to be, in the order in which it was said. Cost O(words)."""
    found: list[Happening] = []
    for order, sentence in enumerate(sentences):
        for frame in sentence.frames:
            owner, label = speakers.resolve(frame.subject, sentence.turn)
            if not sentence.question and not frame.conditional and not frame.negative:
                objects = [p for p in frame.arguments if p.role == "object"]
                about = (
                    frame.words
                    | owner
                    | frozenset(s for p in frame.arguments for s in speakers.resolve(p, sentence.turn)[0])
                )
                found.append(
                    Happening(
                        about=about,
                        verb=frame.verb,
                        when=frame.when,
                        clock_min=frame.clock_min,
                        owner=owner,
                        label=label or (objects[0].label if objects else ""),
                        turn=sentence.turn,
                        text=sentence.text,
                        order=order,
                    )
                )
            speakers.hear(frame, sentence.turn)
    return found


def entries_of(sentences: Sequence[Sentence], speakers: Speakers) -> list[Entry]:
    """Return the quantities that sentences state, in the order in which they were said, corrected ones as corrected.

    Questions state nothing; nor does what is only supposed. `speakers` hears everything. Cost O(words).
    """
    found: list[Entry] = []
    for order, sentence in enumerate(sentences):
        if not sentence.question:
            made: list[Entry] = []
            for frame in sentence.frames:
                if not frame.conditional:
                    made.extend(_of_clause(frame, sentence, order, speakers))
                speakers.hear(frame, sentence.turn)
            found = _corrected(found, made, sentence)
        else:
            for frame in sentence.frames:
                speakers.hear(frame, sentence.turn) if not frame.subject or frame.subject.head != "who" else None
    return found


def _of_clause(frame: Frame, sentence: Sentence, order: int, speakers: Speakers) -> list[Entry]:
    owner, label = speakers.resolve(frame.subject, sentence.turn)
    everything = [*((frame.subject,) if frame.subject else ()), *frame.arguments]
    reader = _Reader(frame, sentence, order, speakers, everything, owner, label)
    found: list[Entry] = []
    for argument in everything:
        if argument.number is None and not (argument.vague and argument.role in ("object", "subject", "predicate")):
            continue
        if argument.role not in ("as", "than", "until", "since") or (
            argument.number and argument.number.kind == "multiple"
        ):
            found.append(reader.entry(argument))
    return [replace(one, about=one.about - _of_others(one, found)) for one in found]


def _of_others(entry: Entry, found: Sequence[Entry]) -> frozenset[str]:
    """Return the words that only other quantities of a frame have: "4 red pens and 3 green ones"."""
    others = frozenset(stem for one in found if one is not entry and one.head for stem in one.words)
    return others - entry.words if entry.head else frozenset()


@dataclass(slots=True)
class _Reader:
    """Reads one frame; `everything` is its subject and its other arguments, in order."""

    frame: Frame
    sentence: Sentence
    order: int
    speakers: Speakers
    everything: Sequence[Argument]
    owner: frozenset[str]
    label: str

    def entry(self, argument: Argument) -> Entry:
        """Return the quantity that a argument states."""
        frame, number = self.frame, argument.number
        kind = number.kind if number else "count"
        unit, head, words = self._counted(argument, kind)
        is_subject = argument is frame.subject
        what, more = self._done(argument, unit, kind)
        if frame.state in comparatives() and (unit or head) and number is not None:
            more = comparatives()[frame.state][1]  # "9 cm taller than Anton"
        bare = not unit and not head and argument.role == "predicate"
        if what == "hold" and bare and 0 < (number.value if number else 0) < OLDEST:
            unit, head = "year", "age"  # "Lea is 34"
        if what == "hold" and unit == "year" and frame.state == "old":
            head = "age"
        per = _per(frame, argument, self.everything, is_subject)
        among = frame.subject.value if frame.subject is not None and per and not is_subject else None
        text = self.sentence.text
        return Entry(
            value=number.value if number else Fraction(0), kind=kind, head=head, words=words, unit=unit, per=per,
            does=what, verb=frame.verb, owner=frozenset() if is_subject else self._owner(what),
            owner_label="" if is_subject else self.label, to=self._to(argument), than=self._than(kind), more=more,
            about=frozenset(s for p in self.everything for s in p.words) | frozenset(stems(frame.verb)) | frame.words,
            places=self._places(), when=frame.when, turn=self.sentence.turn,
            text=text, order=self.order, negative=frame.negative, future=frame.future,
            vague=number is None or bool(HEDGED.search(text)), among=among or Fraction(1),
            total="in total" in text or "altogether" in text, definite=argument.definite,
        )  # fmt: skip

    def _counted(self, argument: Argument, kind: str) -> tuple[str, str, frozenset[str]]:
        """Return the unit, the noun and the words of what is counted or measured."""
        sign = CURRENCY.get(argument.number.unit) if argument.number else None
        named = unit_named(argument.head) if argument.head else None
        unit = sign or (named.name if named else "")
        of = _of(argument, self.everything)
        words, head = argument.words, "" if unit else head_of(argument)
        if unit and of is not None and of.number is None:
            words, head = words | of.words, head_of(of)
        bare = argument.head in ("", "more", "less", "other", "another")
        head = "" if bare else head
        if argument.head in THEM or (bare and kind == "count" and not unit and of is None):
            head = self.speakers.counted
            words = words | ({head} if head else set())
        if not unit and head and kind != "multiple" and argument.number is not None:
            self.speakers.counted = head
        return unit, head, words

    def _done(self, argument: Argument, unit: str, kind: str) -> tuple[str, int]:
        """Return what a frame does with a quantity, and whether that is more (1) or less (-1) than there was."""
        verb, what, more = self.frame.verb, does(self.frame, argument), argument.more or self.frame.more
        if verb not in growing():
            return what, more
        sign = growing()[verb]
        if unit and unit != "percent":
            return ("hold", 0) if argument.role == "to" else ("grow" if sign > 0 else "shrink", sign)
        if what == "done" and (unit or kind == "part"):
            what = "grow" if sign > 0 else "shrink"
        return what, more

    def _owner(self, what: str) -> frozenset[str]:
        subject = self.frame.subject
        mine = subject is not None and subject.owner in FIRST and self.frame.verb in growing()
        return self.owner | self.speakers.speaker(self.sentence.turn)[0] if mine else self.owner  # "my salary" is mine

    def _to(self, argument: Argument) -> frozenset[str]:
        found = (p for p in self.everything if p.role == "to" and p is not argument and not p.number)
        return next((self.speakers.resolve(p, self.sentence.turn)[0] for p in found), frozenset())

    def _than(self, kind: str) -> frozenset[str]:
        multiple = kind == "multiple"
        found = (p for p in self.everything if p.role == "than" or (p.role == "as" and multiple and not p.vague))
        return next((self.speakers.resolve(p, self.sentence.turn)[0] for p in found), frozenset())

    def _places(self) -> frozenset[str]:
        near = (p for p in self.everything if p.role in PLACING and p.number is None and not p.each)
        return frozenset(stem for p in near for stem in p.words)


OLDEST = 120
PLACING = frozenset(["on", "in", "at", "inside", "under", "behind", "upstairs"])


def _of(argument: Argument, everything: Sequence[Argument]) -> Argument | None:
    """Return the argument that belongs to one with "of": "4 kilos of tomatoes"."""
    at = next((n for n, other in enumerate(everything) if other is argument), -1)
    after = everything[at + 1] if 0 <= at < len(everything) - 1 else None
    return after if after is not None and after.role == "of" else None


def _per(frame: Frame, argument: Argument, everything: Sequence[Argument], is_subject: bool) -> tuple[str, ...]:
    """Return what a quantity is said to be per: "22 seats in each row", "5 letters a day"."""
    found: list[str] = []
    at = next((n for n, other in enumerate(everything) if other is argument), 0)
    if at and argument.role == "of" and everything[at - 1].number is not None:
        found.append(_unit_or_head(everything[at - 1]))
        return tuple(found)
    nested = False
    for other in everything[at + 1 :]:
        nested = nested or (other.number is not None and other.role != "of")
        if other.each and other.number is None and (not nested or unit_named(other.head) is not None):
            found.append(_unit_or_head(other))
    for other in everything[:at]:
        if other.each and other.role != "subject":
            found.append(_unit_or_head(other))
    subject = frame.subject
    if (
        not is_subject
        and subject is not None
        and subject.head
        and not found
        and not subject.name
        and (
            subject.each
            or (
                subject.number is not None
                and subject.number.kind == "count"
                and (subject.value == 1 or frame.verb == "cost")
            )
            or (subject.indefinite and frame.verb in verbs("hold"))
        )
    ):
        found.append(_unit_or_head(subject))
    return tuple(dict.fromkeys(f for f in found if f and f != _unit_or_head(argument)))


def _unit_or_head(argument: Argument) -> str:
    unit = unit_named(argument.head)
    return unit.name if unit else head_of(argument)


def _likeness(old: Entry, new: Entry) -> tuple[int, int]:
    """Return how much a correction says of what it corrects: its owner or its time, and words that they share."""
    weekday = old.when is not None and new.when is not None and _weekday(old) == _weekday(new)
    owner = bool(new.owner) and new.owner == old.owner
    return int(weekday) + int(owner), len(new.about & old.about)


def _weekday(entry: Entry) -> tuple[str, int, int] | int | None:
    """Return the day or month that an entry names: "on Friday" is the same one before and after it was Friday."""
    if entry.when is None or entry.when.start is None:
        return None
    start = entry.when.start
    return start.weekday() if f"{start:%A}" in entry.text else (entry.when.start_precision, start.month, start.day)


def _corrected(found: list[Entry], made: list[Entry], sentence: Sentence) -> list[Entry]:
    """Return the entries with new ones; a correction replaces the latest of its kind."""
    if not CORRECTING.search(sentence.text):
        return [*found, *made]
    if not made and found and re.search(r"\d", sentence.text):
        return [*found[:-1], replace(found[-1], vague=True)]  # something else is right, and it was not read
    fresh = [e for e in made if not e.negative or len(made) == 1]
    fresh = fresh[:1] if re.search(r"\bnot \d|\binstead of\b", sentence.text) else fresh
    for entry in fresh:
        wanted = [
            n for n, old in enumerate(found) if old.unit == entry.unit and (old.head == entry.head or not entry.head)
        ]
        same = [n for n in wanted if found[n].verb == entry.verb or entry.verb == "be"] or wanted
        if same:
            place = max(same, key=lambda n: (_likeness(found[n], entry), n))
            old = found[place]
            found[place] = replace(old, value=entry.value, turn=entry.turn, text=entry.text)
        else:
            found.append(entry)
    return found
