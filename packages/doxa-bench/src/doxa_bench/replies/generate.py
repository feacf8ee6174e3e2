"""Gold items -> replies to their memories, half of them with one contradiction planted.

A statement that is right is made wrong in one way: another *number*, another *name*, the opposite (*negation*), another
*date*, or a *state* that is over or was never so, as the gold data has it. The rest of the replies is right, about the
past, only partly told, or claims nothing (a question, a guess, advice, small talk, what no memory is about), some of
them with the very values that would be wrong if they were claimed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from doxa_bench.dialogues import ASSISTANT, DialogueTurn, Probe, read_dialogues
from doxa_bench.gold import read_entries
from doxa_bench.replies.statements import Statement, denied, from_question, from_relation, table

__all__ = ["PLANTED", "Case", "draw_cases", "read_cases"]

PLANTED = ("number", "name", "negation", "date", "state", "self", "promise")
"""Kinds of contradiction; the last two are in files only."""
DRAWN = PLANTED[:5]
CLEAN = (
    ("true", 0.45), ("past", 0.15), ("partial", 0.1), ("hedge", 0.075), ("question", 0.075), ("unknown", 0.075),
    ("advice", 0.04), ("chat", 0.035),
)  # fmt: skip
"""Kinds of replies that contradict nothing, with their shares."""
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
DATE = re.compile(rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?(?P<month>{'|'.join(MONTHS)})"
                  r"(?: (?P<year>\d{4}))?|(?P<iso>\d{4}-\d\d-\d\d)|^(?P<only>(?:19|20)\d\d)$")  # fmt: skip
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b")
WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A reply, and the dialogue whose memory it is held against."""

    id: str
    person: str
    """To whom it is said."""
    turns: tuple[DialogueTurn, ...]
    reply: str
    kind: str
    planted: bool


@dataclass(frozen=True, slots=True)
class _Truth:
    """A statement that is right after some turns, and how it may be wrong."""

    key: str
    person: str
    turns: tuple[DialogueTurn, ...]
    statement: Statement
    kind: str = "true"
    wrong: tuple[tuple[str, Statement], ...] = ()
    values: tuple[str, ...] = ()
    """What would be wrong to claim."""
    partial: Statement | None = None


def draw_cases(folder: Path, *, count: int, seed: int) -> list[Case]:
    """Return replies from the gold data of a folder (`revision/*.jsonl`, `understanding/*.jsonl`), half of them wrong.

    Deterministic for the data and the seed. Of the kinds of contradiction each gets an equal part, as far as the data
    has as many; a statement comes again in other words only when there are too few.

    Raises:
        NotFoundError: the folder has no such data.
        FormatError: a file is no such data.
    """
    truths = [*_from_revision(folder), *_from_understanding(folder)]
    rng = Random(seed)
    planted = _planted(truths, count // 2, rng)
    return [*planted, *_clean(truths, count - len(planted), rng)]


def read_cases(path: Path) -> list[Case]:
    """Return the replies of a file: JSON Lines of `id`, `turns` (`speaker`, `text`, `at`) and `replies`.

    A reply has `text`, `kind`, and `label` "contradicted" or "clean". It is said to the first speaker who is not the
    assistant.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue.
    """
    return [case for dialogue in read_entries(path, _Written.read) for case in dialogue.cases]


@dataclass(frozen=True, slots=True)
class _Written:
    id: str
    cases: tuple[Case, ...]

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> _Written:
        turns = tuple(DialogueTurn(speaker=t["speaker"], text=t["text"], day=t["at"]) for t in entry["turns"])
        person = next(turn.speaker for turn in turns if turn.speaker != ASSISTANT)
        cases = (
            Case(
                id=f"{entry['id']}:{place}", person=person, turns=turns, reply=reply["text"], kind=reply["kind"],
                planted=reply["label"] == "contradicted",
            )
            for place, reply in enumerate(entry["replies"])
        )  # fmt: skip
        return cls(entry["id"], tuple(cases))


def _from_revision(folder: Path) -> Iterator[_Truth]:
    for path in sorted((folder / "revision").glob("*.jsonl")):
        for dialogue in read_dialogues(path):
            for place, probe in enumerate(dialogue.probes):
                turns = dialogue.turns[: probe.after]
                person = _person(turns, probe.question)
                truth = _of_probe(f"{dialogue.id}:{place}", person, turns, probe)
                if truth is not None:
                    yield truth


def _of_probe(key: str, person: str, turns: tuple[DialogueTurn, ...], probe: Probe) -> _Truth | None:
    if probe.wanted != "answer" or probe.type == "list" or not probe.answer:
        return None
    right = _spoken(probe.answer[0])
    past = probe.about_history or probe.question.startswith(("Did", "Was", "Were")) or "ever" in probe.question.split()
    if probe.type == "yesno":
        yes = right.casefold() == "yes"
        statement = from_question(probe.question, "", yes=yes)
        if statement is None:
            return None
        kind = "state" if past or " now" in probe.question or " still" in probe.question else "negation"
        return _Truth(key, person, turns, statement, "past" if past else "true", ((kind, denied(statement)),))
    statement = from_question(probe.question, right, yes=None)
    if statement is None:
        return None
    if probe.type == "count" and right in ("1", "one"):
        return None
    told = " ".join(turn.text for turn in turns)
    listed = [_spoken(one) for one in probe.wrong if _alike(right, _spoken(one))]
    others = listed or [one for one in _perturbed(right, probe.question) if one not in told]
    wrong = [(_kind_of(right, other), from_question(probe.question, other, yes=None)) for other in others[:1]]
    if statement.verb in ("is", "was", "lives", "works") and not statement.lead:
        wrong.append(("negation", denied(statement)))
    coarse = _coarse(right)
    partial = from_question(probe.question, coarse, yes=None) if coarse else None
    return _Truth(
        key, person, turns, statement, "past" if past else "true",
        tuple((kind, one) for kind, one in wrong if one is not None), tuple(others), partial,
    )  # fmt: skip


def _from_understanding(folder: Path) -> Iterator[_Truth]:
    for path in sorted((folder / "understanding").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            for place, fact in enumerate(item["facts"]):
                truth = _of_fact(f"{item['id']}:{place}", item, fact)
                if truth is not None:
                    yield truth


def _of_fact(key: str, item: Mapping[str, Any], fact: Mapping[str, Any]) -> _Truth | None:
    said = [*item["context"], item["turn"]]
    turns = tuple(DialogueTurn(speaker=one["speaker"], text=one["text"], day=item["date"]) for one in said)
    person = item["turn"]["speaker"] if item["turn"]["speaker"] != ASSISTANT else said[0]["speaker"]
    if fact["modality"] != "asserted" or fact.get("optional") or not fact["object"][0] or person == ASSISTANT:
        return None
    day = fact["valid_from"] is not None and fact["valid_from"] == fact["valid_to"]
    past = bool(fact.get("ended")) or (day and fact["valid_from"] <= item["date"])
    thing = next((one for one in fact["object"] if one.startswith(("a ", "an ", "the "))), fact["object"][0])

    def told(value: str, *, polarity: bool = True) -> Statement | None:
        return from_relation(fact["subject"], fact["relation"], value, polarity=polarity, past=past)

    ahead = day and fact["valid_from"] > item["date"]
    statement = None if ahead and not DATE.search(thing) else told(thing, polarity=fact["polarity"])
    if statement is None:
        return None
    wrong: list[tuple[str, Statement | None]] = []
    others: list[str] = []
    if not past:
        wrong.append(("negation", denied(statement)))
    elif fact.get("ended") and fact["polarity"]:
        wrong.append(("state", from_relation(fact["subject"], fact["relation"], thing, polarity=True, past=False)))
    if fact["polarity"] and _single(fact, thing):
        text = " ".join(turn.text for turn in turns)
        others = [one for one in _perturbed(thing, fact["relation"][0]) if one not in text]
        wrong += [(_kind_of(thing, other), told(other)) for other in others]
    if fact["polarity"] and fact["valid_from"] and not past and fact["relation"][0] in ("live in", "work at", "have"):
        month = MONTHS[int(fact["valid_from"][5:7]) - 1] + " " if len(fact["valid_from"]) > 4 else ""
        year = int(fact["valid_from"][:4])
        wrong.append(("date", told(f"{thing} since {month}{year - 2}")))
    kept = tuple((kind, one) for kind, one in wrong if one is not None)
    return _Truth(key, person, turns, statement, "past" if past else "true", kept, tuple(others))


def _single(fact: Mapping[str, Any], thing: str) -> bool:
    """Tell whether another value in the place of this one is wrong, by the relation or since it measures something."""
    known = table()["single"]
    listed = fact["relation"][0] in (*known["verbs"].split("|"), *known["nouns"].split("|"))
    return listed or bool(NUMBER.search(thing))


def _alike(right: str, wrong: str) -> bool:
    """Tell whether two values are of one form, so that one can stand where the other does."""
    return bool(DATE.search(right)) == bool(DATE.search(wrong)) and right[:1].isdigit() == wrong[:1].isdigit()


PLACES = re.compile(r"\b(?:where|live|born|raised|city|country|visit|fly|travel|be in)\b", re.IGNORECASE)
FIRMS = re.compile(r"\b(?:work|employer|company)\b", re.IGNORECASE)


def _perturbed(value: str, about: str) -> list[str]:
    """Return other values of the same kind; `about` is the question or relation that they answer."""
    if (date := DATE.search(value)) is not None:
        return [value[: date.start()] + _other_date(date) + value[date.end() :]]
    if (day := next((one for one in DAYS if one in value), None)) is not None:
        return [value.replace(day, DAYS[(DAYS.index(day) + 3) % 7])]
    if (clock := re.search(r"\b(\d{1,2}):(\d\d)\b", value)) is not None:
        return [value.replace(clock[0], f"{(int(clock[1]) + 2) % 24}:{clock[2]}")]
    if (nth := re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", value)) is not None:
        return [value.replace(nth[0], f"{(int(nth[1]) + 8) % 15 + 4}th")]
    if (number := NUMBER.search(value)) is not None:
        return [value[: number.start()] + _other_number(number[0]) + value[number.end() :]]
    if value[:1].isupper():
        kind = "place" if PLACES.search(about) else "organisation" if FIRMS.search(about) else "person"
        pool = table()["names"][kind].split("|")
        return [pool[sum(map(ord, value)) % len(pool)]]
    return []


def _other_number(written: str) -> str:
    if written in WORDS:
        return WORDS[(WORDS.index(written) + 3) % len(WORDS)]
    whole = re.sub(r"(?<=\d),(?=\d{3})", "", written)
    if "." in whole:
        return f"{float(whole) * 1.6:.1f}"
    changed = int(whole) + max(3, int(whole) // 3) if whole.isdigit() else 0
    return f"{changed:,}" if "," in written else str(changed)


def _other_date(date: re.Match[str]) -> str:
    if date["only"]:
        return str(int(date["only"]) - 4)
    if date["iso"]:
        year, month, day = map(int, date["iso"].split("-"))
        return f"{(day + 11) % 28 + 1} {MONTHS[month - 1]} {year}"
    name = MONTHS[(MONTHS.index(date["month"]) + (0 if date["day"] else 4)) % 12]
    nth = f"{(int(date['day']) + 9) % 28 + 1} " if date["day"] else ""
    return f"{nth}{name}" + (f" {date['year']}" if date["year"] else "")


def _coarse(value: str) -> str:
    """Return less than a value tells: the month of a day, a street of a house."""
    date = DATE.fullmatch(value)
    if date and date["day"] and date["month"]:
        return ""  # "on March" is no English; the month is told in other ways
    house = re.fullmatch(r"\d+ ([A-Z]\w+ (?:Street|Road|Lane))", value)
    return f"in {house[1]}" if house else ""


def _spoken(value: str) -> str:
    """Return a value as people write it: days of ISO dates in words."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        year, month, day = value.split("-")
        return f"{int(day)} {MONTHS[int(month) - 1]} {year}"
    return f"{MONTHS[int(value[5:]) - 1]} {value[:4]}" if re.fullmatch(r"\d{4}-\d\d", value) else value


def _kind_of(right: str, wrong: str) -> str:
    """Return how one value is wrong in the place of another."""
    if DATE.search(right) or any(day in right for day in DAYS):
        return "date"
    if NUMBER.search(right) and NUMBER.search(wrong):
        return "number"
    return "name" if right[:1].isupper() and wrong[:1].isupper() else "state"


def _person(turns: Sequence[DialogueTurn], question: str) -> str:
    """Return the speaker of whom a question speaks, else the first who is not the assistant."""
    people = list(dict.fromkeys(turn.speaker for turn in turns if turn.speaker != ASSISTANT))
    return next((one for one in people if one in question), people[0])


def _planted(truths: Sequence[_Truth], count: int, rng: Random) -> list[Case]:
    by_kind: dict[str, list[tuple[_Truth, Statement]]] = defaultdict(list)
    for truth in truths:
        for kind, wrong in truth.wrong:
            by_kind[kind].append((truth, wrong))
    for pairs in by_kind.values():
        rng.shuffle(pairs)
    cases: list[Case] = []
    place = 0
    while len(cases) < count and any(by_kind.values()):
        kind = DRAWN[place % len(DRAWN)]
        pairs = by_kind.get(kind, [])
        if pairs:
            truth, wrong = pairs[(place // len(DRAWN)) % len(pairs)]
            cases.append(_case(truth, _framed(wrong.said_to(truth.person), rng), kind, len(cases), planted=True))
        place += 1
    return cases


def _clean(truths: Sequence[_Truth], count: int, rng: Random) -> list[Case]:
    of: dict[str, list[_Truth]] = defaultdict(list)
    for truth in rng.sample(list(truths), len(truths)):
        of[truth.kind].append(truth)
        if truth.partial is not None:
            of["partial"].append(truth)
        if truth.values:
            of["valued"].append(truth)
    cases: list[Case] = []
    for kind, share in CLEAN:
        source = of["valued"] if kind in ("hedge", "question") else of[kind] or of["true"]
        for number in range(round(share * count)):
            truth = source[number % len(source)]
            cases.append(_case(truth, _benign(truth, kind, rng), kind, len(cases), planted=False))
    while len(cases) < count:
        truth = rng.choice(of["true"])
        cases.append(_case(truth, _benign(truth, "true", rng), "true", len(cases), planted=False))
    return cases[:count]


def _benign(truth: _Truth, kind: str, rng: Random) -> str:
    if kind in ("true", "past", "partial"):
        statement = truth.partial if kind == "partial" and truth.partial is not None else truth.statement
        return _framed(statement.said_to(truth.person), rng)
    text = rng.choice(table()["benign"][kind])
    return str(text.format(v=rng.choice(truth.values))) if "{v}" in text else str(text)


def _framed(said: str, rng: Random) -> str:
    frames = table()["frames"]
    frame = rng.choice(frames[rng.choice(["plain", "opened", "joined"])])
    whole = frame.format(s=said, S=said[0].upper() + said[1:], topic=rng.choice(frames["topics"]))
    return str(whole)


def _case(truth: _Truth, reply: str, kind: str, number: int, *, planted: bool) -> Case:
    side = "wrong" if planted else "clean"
    return Case(
        id=f"{truth.key}:{side}{number}",
        person=truth.person,
        turns=truth.turns,
        reply=reply,
        kind=kind,
        planted=planted,
    )


def statements(folder: Path) -> Iterable[tuple[str, str, list[tuple[str, str]]]]:
    """Yield what is said of each gold item, right and wrong, for a look at the wording."""
    for truth in [*_from_revision(folder), *_from_understanding(folder)]:
        wrong = [(kind, one.said_to(truth.person)) for kind, one in truth.wrong]
        yield truth.key, f"[{truth.kind}] {truth.statement.said_to(truth.person)}", wrong
