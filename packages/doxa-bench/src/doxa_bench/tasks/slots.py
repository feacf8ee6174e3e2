"""Which keys of a system are which judged slots, and whether what they hold is right.

A name fits a key when all its words are in the path and all words of the last part of the path are in the name. Words
of the scenario's domain count on neither side. Every key goes to the slot with the longest fitting name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from doxa_bench.tasks.scenarios import GoldValue, Scenario
from doxa_bench.tasks.values import (
    Held,
    State,
    contains,
    elements,
    flat,
    is_empty,
    match_sets,
    same,
    tokens,
)

__all__ = ["SlotCheck", "absent_hits", "assign", "check_state", "parts_of"]

PARTS = re.compile(r"[/>.]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotCheck:
    """What is held in a judged slot, and whether it is right."""

    right: bool
    seen: tuple[Held, ...]
    """The values of all keys that went to it; of a set, its elements."""
    wrong: tuple[str, ...]
    """Those among them that must not be there."""

    @property
    def form(self) -> list[str]:
        """The values in normal form, in alphabetical order: equal exactly if nothing was changed."""
        return sorted(" ".join(tokens(str(one))) for value in self.seen for one in each(value))


def each(value: Held) -> Sequence[Held]:
    """Return the elements of a list; any other value alone."""
    return elements(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def parts_of(path: str) -> list[str]:
    """Return the parts of a path, from the root on."""
    return [part for part in PARTS.split(path) if part.strip()]


def check_state(gold: Mapping[str, GoldValue], state: State, scenario: Scenario) -> dict[str, SlotCheck]:
    """Return slot -> what is held there, for the slots of an expected state. Cost O(keys x slot names)."""
    full = {path: value for path, value in state.items() if not is_empty(value)}
    keys = assign(scenario, full)
    return {slot: _checked(slot, value, keys[slot], full, scenario) for slot, value in gold.items()}


def _checked(slot: str, gold: GoldValue, keys: Sequence[str], state: State, scenario: Scenario) -> SlotCheck:
    values = [state[key] for key in keys]
    if gold is None:
        return SlotCheck(right=not values, seen=tuple(values), wrong=tuple(flat(value) for value in values))
    if isinstance(gold, tuple):
        found = list(dict.fromkeys(one for value in values for one in elements(value)))
        missing, extra = match_sets(gold, found, scenario.value_aliases, loose=slot in scenario.loose)
        return SlotCheck(right=not missing and not extra, seen=tuple(found), wrong=tuple(extra))
    own = set(tokens(slot, slot=True))
    wrong = [
        flat(state[key])
        for key in keys
        if not same(gold, flat(state[key]), scenario.value_aliases, own | set(tokens(key, slot=True)))
    ]
    right = bool(values) and not wrong
    if not values:
        right = _described(slot, gold, state, scenario)
    return SlotCheck(right=right, seen=tuple(values), wrong=tuple(wrong))


def _described(slot: str, gold: str, state: State, scenario: Scenario) -> bool:
    """Tell whether one node holds all words of a slot's name but the last, and the value."""
    name = tokens(slot, slot=True)
    if len(name) < 2:
        return False
    wanted = set(name[:-1])
    forms = [set(tokens(form)) for form in (gold, *scenario.value_aliases.get(gold, ()))]
    for key, value in state.items():
        for one in map(str, each(value)):
            words = set(tokens(one))
            if wanted <= words | set(tokens(key, slot=True)) | set(tokens(one, slot=True)) and any(
                form <= words for form in forms
            ):
                return True
    return False


def assign(scenario: Scenario, keys: Iterable[str]) -> dict[str, list[str]]:
    """Return slot -> the keys that are it, for the judged slots and the others that a system may hold."""
    slots = sorted({*scenario.judged, *scenario.other_slots})
    about = frozenset(tokens(scenario.domain, slot=True))
    found: dict[str, list[str]] = {slot: [] for slot in slots}
    for key in keys:
        fits = {slot: _fit_of_slot(slot, key, scenario, about) for slot in slots}
        best = max(fits.values(), default=0)
        for slot in slots:
            if best and fits[slot] == best:
                found[slot].append(key)
    return found


def _fit_of_slot(slot: str, key: str, scenario: Scenario, about: Collection[str]) -> int:
    longer = len(_words(slot, about)) > 1
    return max(_fit(name, key, about, longer=longer) for name in (slot, *scenario.slot_aliases.get(slot, ())))


def _fit(name: str, key: str, about: Collection[str], *, longer: bool) -> int:
    """Return how many words of a name fit a key, 0 where it does not; `longer` tells that the slot's name has several.

    A one-word alias of a longer name fits only a key of one part.
    """
    parts, wanted = [_words(part, about) for part in parts_of(key)], _words(name, about)
    if not parts or not wanted:
        return 0
    if longer and len(wanted) == 1 and sum(not part <= set(about) for part in parts) > 1:
        return 0
    return len(wanted) if wanted <= set().union(*parts) and parts[-1] <= wanted else 0


def _words(name: str, about: Collection[str]) -> set[str]:
    """Return the words of a name without those of the domain, unless nothing would be left."""
    found = set(tokens(name, slot=True))
    return found - set(about) or found


def absent_hits(absent: Iterable[str], state: State) -> list[tuple[str, str]]:
    """Return every value that must not be held, with the key where it is."""
    hits = []
    for value in absent:
        for key, held in state.items():
            if is_empty(held):
                continue
            last = PARTS.split(key)[-1]
            if any(contains(str(one), value) for one in each(held)) or tokens(last) == tokens(value):
                hits.append((value, key))
    return hits
