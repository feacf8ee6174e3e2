"""The current facts of a memory -> what follows from them, kept beside its state and brought up to date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from doxa.core.values import ChangeKind, Fact
from doxa.engine.wiring.parts import Parts
from doxa.logic import OwlState, builtin_ontology, read_axioms
from doxa.memory import UserState, is_current, is_identity

__all__ = ["current", "follows", "following", "prepare"]

KEPT = "following"


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the changes were read, and on which day of the memory."""

    read: int
    today: date | None


def following(parts: Parts, state: UserState) -> OwlState:
    """Return what follows from the current facts, made once and brought up to date.

    Cost: O(what changed since the last call); O(facts) on another day of the memory, and about 0.1 ms a fact at first.
    """
    if state.owl is None:
        state.owl = _made(parts, state.user, current(state))
        state.kept[KEPT] = _mark(state)
    try:
        _sync(state.owl, state)
    except BaseException:  # half of an update, as an interrupt leaves it, must not stay
        state.owl = None
        raise
    return state.owl


def follows(state: UserState) -> bool:
    """Tell whether it is worked out already what follows from the facts, so that to ask for it is quick."""
    return state.owl is not None


def prepare(parts: Parts, user: str) -> None:
    """Work out what follows from the facts of a user, while others go on to use the memory.

    Cost: about 0.1 ms a fact where nothing was worked out before.
    """
    with parts.log.user(user) as state:
        if follows(state):
            return
        facts, mark = current(state), _mark(state)
    made = _made(parts, user, facts)
    with parts.log.user(user) as now:
        if now is state and now.owl is None:  # else it was done meanwhile, or texts were erased
            now.owl, now.kept[KEPT] = made, mark


def current(state: UserState) -> list[Fact]:
    """Return what is believed today. O(facts)."""
    return list(state.beliefs.select(now=state.today()))


def _made(parts: Parts, user: str, facts: list[Fact]) -> OwlState:
    ontology = parts.log.ontology or builtin_ontology()
    axioms = tuple(axiom for path in parts.ontology_files for axiom in read_axioms(path, known=ontology))
    return OwlState(user, ontology, facts, axioms=axioms)


def _mark(state: UserState) -> _Mark:
    return _Mark(len(state.beliefs.changes), state.today())


def _sync(owl: OwlState, state: UserState) -> None:
    mark: _Mark | None = state.kept.get(KEPT)
    facts, today = state.beliefs.facts, state.today()
    if mark is None or mark.today != today or mark.read > len(state.beliefs.changes):
        owl.sync(current(state))
    elif mark.read < len(state.beliefs.changes):
        touched = {key: facts.get(key) for key in _touched(state, mark.read)}
        here = {
            key: fact
            for key, fact in touched.items()
            if fact is not None and is_current(fact, today) and not is_identity(fact)
        }
        owl.update(add=here.values(), remove=[key for key in touched if key not in here])
    state.kept[KEPT] = _mark(state)


def _touched(state: UserState, start: int) -> Iterator[str]:
    """Yield the ids of the facts that the changes from a place on replace, drop or put in."""
    for change in state.beliefs.changes[start:]:
        yield change.fact.fact_id
        if change.kind is ChangeKind.MOVE:
            yield from change.because
