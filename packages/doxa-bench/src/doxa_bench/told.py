"""Dialogues told in claims: what an ideal reader would hand over of every turn and question, without their words.

The file is JSON Lines, one dialogue a line, in the format of `benchmarks/revision/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError
from doxa.core.values import Act, Atom, Claim, Interval, Modality, Precision, Question, Relation, Role, Rule, Term, Turn
from doxa.engine import Ledger
from doxa_bench.dialogues import ASSISTANT, Dialogue
from doxa_bench.gold import read_entries

__all__ = ["ToldDialogue", "ToldTurn", "read_told"]

CLAIM = frozenset(("s", "r", "o", "not", "mood", "act", "replaces", "source", "one", "from", "to", "at", "ended"))
ATOM = frozenset(("s", "r", "o", "not", "from", "to", "at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTurn:
    """What a turn says."""

    turn: Turn
    claims: tuple[Claim, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldDialogue:
    """A dialogue in claims; its questions are in the order of the probes."""

    id: str
    turns: tuple[ToldTurn, ...]
    questions: tuple[Question, ...]

    def check(self, dialogue: Dialogue) -> None:
        """Compare with the dialogue that it tells.

        Raises:
            FormatError: it has other turns, or another number of questions.
        """
        ours = [(told.turn.speaker, told.turn.at.date().isoformat()) for told in self.turns]
        if ours != [(turn.speaker, turn.day) for turn in dialogue.turns]:
            raise FormatError(f"expected the speakers and days of dialogue {self.id!r} in its claims, got {ours}.")
        if len(self.questions) != len(dialogue.probes):
            message = f"expected {len(dialogue.probes)} questions of {self.id!r}, got {len(self.questions)}."
            raise FormatError(message)


def read_told(path: Path) -> dict[str, ToldDialogue]:
    """Return the dialogues of a file, by id.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no dialogue in claims; the message names it.
    """
    return {told.id: told for told in read_entries(path, _dialogue)}


def _dialogue(entry: Mapping[str, Any]) -> ToldDialogue:
    name = str(entry["id"])
    turns = tuple(_turn(turn, name, place) for place, turn in enumerate(entry["turns"], start=1))
    return ToldDialogue(id=name, turns=turns, questions=tuple(_question(asked) for asked in entry["questions"]))


def _turn(entry: Mapping[str, Any], user: str, place: int) -> ToldTurn:
    speaker = str(entry["speaker"])
    role: Role = "assistant" if speaker == ASSISTANT else "user"
    at = datetime.combine(date.fromisoformat(entry["date"]), datetime.min.time(), UTC)
    turn = Turn(
        turn_id=f"t{place}", user=user, session="told", speaker=speaker, role=role, text="", at=at, ordinal=place
    )
    claims = tuple(_claim(claim) for claim in entry.get("claims", ()))
    rules = tuple(_rule(rule) for rule in entry.get("rules", ()))
    return ToldTurn(turn=turn, claims=claims, rules=rules)


def _claim(entry: Mapping[str, Any]) -> Claim:
    _known(entry, CLAIM)
    relation, functional = _relation(entry["r"])
    replaces = entry.get("replaces")
    return Claim(
        subject=_term(entry["s"]),
        relation=relation,
        object=_term(entry.get("o", "")),
        polarity=not entry.get("not", False),
        modality=Modality(entry.get("mood", "asserted")),
        act=Act(entry.get("act", "state")),
        valid=_valid(entry),
        ended=entry.get("ended", False),
        replaces=None if replaces is None else _term(replaces).key,
        functional=entry.get("one", functional),
        source=entry.get("source", ""),
    )


def _rule(entry: Mapping[str, Sequence[Mapping[str, Any]]]) -> Rule:
    _known(entry, frozenset(("if", "then")))
    if_, then = (tuple(_atom(atom) for atom in entry[side]) for side in ("if", "then"))
    return Rule(if_=if_, then=then)


def _atom(entry: Mapping[str, Any]) -> Atom:
    _known(entry, ATOM)
    relation, _ = _relation(entry["r"])
    subject, value = _term(entry["s"]), _term(entry.get("o", ""))
    return Atom(
        subject=subject, relation=relation, object=value, polarity=not entry.get("not", False), valid=_valid(entry)
    )


def _question(entry: Mapping[str, Any]) -> Question:
    given: dict[str, Any] = {name: value for name, value in entry.items() if name not in ("s", "r", "o", "not")}
    for name, field in (("s", "subject"), ("o", "object")):
        if name in entry:
            given[field] = _term(entry[name])
    if "r" in entry:
        given["relation"], given["functional"] = _relation(entry["r"])
    if "terms" in entry:
        given["terms"] = tuple(entry["terms"])
    if "as_of" in entry:
        given["as_of"] = date.fromisoformat(entry["as_of"])
    _known(given, frozenset(field.name for field in fields(Question)))
    return Question(text="", polarity=not entry.get("not", False), **given)


def _known(entry: Mapping[str, Any], names: frozenset[str]) -> None:
    if unknown := sorted(entry.keys() - names):
        raise ValueError(f"unknown fields {', '.join(unknown)}; expected some of {', '.join(sorted(names))}")


def _term(value: str | Sequence[str]) -> Term:
    """Return a term: a label, whose key is its lower case, or `[key, label]` for one of several of a name."""
    key, label = (value.casefold(), value) if isinstance(value, str) else value
    return Term(key, label)


def _relation(value: str) -> tuple[Relation, bool]:
    kind = Ledger.relation(value)
    return kind.relation, kind.functional


def _valid(entry: Mapping[str, Any]) -> Interval:
    """Return from when (inclusive) until when (exclusive) something holds, or the day, month or year of an event."""
    start, start_precision = _day(entry.get("at", entry.get("from")))
    end, end_precision = _day(entry.get("at", entry.get("to")))
    return Interval(start=start, end=end, start_precision=start_precision, end_precision=end_precision)


def _day(text: str | None) -> tuple[date | None, Precision]:
    if text is None:
        return None, "day"
    if not re.fullmatch(r"\d{4}(-\d\d){0,2}", text):
        raise ValueError(f"expected a year, month or day in ISO form, got {text!r}")
    precision: Precision = ("year", "month", "day")[text.count("-")]
    return date.fromisoformat(f"{text}-01-01"[:10] if precision == "year" else f"{text}-01"[:10]), precision
