"""Scenarios of the task benchmark: user turns in order, and what a task memory should hold and say after them.

The file is JSON Lines. A scenario has `id`, `domain`, `turns`, `slot_aliases`, `ops` and `expect`; an expectation names
the turn after which it is judged, and the state is the whole judged state there, not a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doxa_bench.gold import read_entries

__all__ = ["CHANGING", "INTENTS", "Expectation", "GoldValue", "Scenario", "read_scenarios"]

CHANGING = frozenset("new update remove replace rollback undo reset split merge".split())
"""Labels of turns that change the state."""
INTENTS = CHANGING | {"check", "finalize"}
GoldValue = str | tuple[str, ...] | None
"""One value, a set, or that the slot must hold nothing."""
Aliases = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What is right after a turn."""

    after: int
    """User turns so far, from 1."""
    intents: tuple[str, ...]
    """Acceptable labels; none are judged where it is empty."""
    every: tuple[str, ...]
    """All that a turn of several intents asks for."""
    state: Mapping[str, GoldValue]
    absent: tuple[str, ...]
    """Values that no slot may hold."""
    says: tuple[tuple[str, ...], ...]
    """Groups, of each of which the reply has to hold a string."""
    avoids: tuple[str, ...]
    """What the reply must not give as current."""
    history: Mapping[str, tuple[GoldValue, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A dialogue with a task memory."""

    id: str
    domain: str
    turns: tuple[str, ...]
    expect: Mapping[int, Expectation]
    """By the number of the turn."""
    slot_aliases: Aliases
    value_aliases: Aliases
    loose: frozenset[str]
    """Set slots whose elements may carry more words."""
    other_slots: tuple[str, ...]
    """Slots that may be held and are not judged."""
    derived: frozenset[str]
    """Judged slots that follow from a rule the user gave."""
    ops: tuple[str, ...]

    @property
    def judged(self) -> tuple[str, ...]:
        """The names of the judged slots, in alphabetical order."""
        return tuple(sorted({slot for one in self.expect.values() for slot in (*one.state, *one.history)}))

    @property
    def sets(self) -> frozenset[str]:
        """The judged slots that hold sets."""
        return frozenset(
            slot for one in self.expect.values() for slot, value in one.state.items() if isinstance(value, tuple)
        )


def read_scenarios(path: Path) -> list[Scenario]:
    """Return the scenarios of a file.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such scenario, or an id comes twice; the message names it.
    """
    return read_entries(path, _scenario)


def _scenario(entry: Mapping[str, Any]) -> Scenario:
    turns = _strings(entry["turns"], "turns")
    expect: dict[int, Expectation] = {}
    for one in entry["expect"]:
        found = _expectation(one, len(turns))
        if found.after <= max(expect, default=0):
            raise ValueError(f"an expectation after turn {found.after} behind one after turn {max(expect)}")
        expect[found.after] = found
    return Scenario(
        id=str(entry["id"]),
        domain=str(entry["domain"]),
        turns=turns,
        expect=expect,
        slot_aliases=_aliases(entry.get("slot_aliases", {}), "slot_aliases"),
        value_aliases=_aliases(entry.get("value_aliases", {}), "value_aliases"),
        loose=frozenset(_strings(entry.get("loose", ()), "loose")),
        other_slots=_strings(entry.get("other_slots", ()), "other_slots"),
        derived=frozenset(_strings(entry.get("derived", ()), "derived")),
        ops=_strings(entry.get("ops", ()), "ops"),
    )


def _expectation(entry: Mapping[str, Any], turns: int) -> Expectation:
    after = entry["after"]
    if not isinstance(after, int) or not 1 <= after <= turns:
        raise ValueError(f"an expectation after turn {after!r} of {turns}")
    intent = entry.get("intent", ())
    intents = (intent,) if isinstance(intent, str) else _strings(intent, "intent")
    every = _strings(entry.get("intent_all", ()), "intent_all")
    if unknown := [label for label in (*intents, *every) if label not in INTENTS]:
        raise ValueError(f"an intent {unknown[0]!r}; expected one of {', '.join(sorted(INTENTS))}")
    return Expectation(
        after=after,
        intents=intents,
        every=every,
        state={slot: _value(value) for slot, value in entry.get("state", {}).items()},
        absent=_strings(entry.get("absent", ()), "absent"),
        says=tuple(_strings(group, "reply_contains") for group in entry.get("reply_contains", ())),
        avoids=_strings(entry.get("reply_not", ()), "reply_not"),
        history={slot: tuple(_value(value) for value in seen) for slot, seen in entry.get("history", {}).items()},
    )


def _value(value: object) -> GoldValue:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    return _strings(value, "state")


def _aliases(entry: Mapping[str, Any], field: str) -> Aliases:
    return {name: _strings(others, field) for name, others in entry.items()}


def _strings(value: object, field: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"a field {field!r} that is no list of strings: {value!r}")
    return tuple(value)
