"""Which of the functions of a program to call for a statement that came in, or for one to be shown again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from doxa.logic.closure.plans import Gate, Program, program
from doxa.logic.closure.rules import INTERNAL, SAME_AS, Variable
from doxa.logic.terms import TYPE

__all__ = ["Dispatch", "dispatch"]

Gated = tuple[int, Gate | None]


@dataclass(slots=True, kw_only=True)
class Dispatch:
    """Numbers of functions by what calls them, and the numbers of the terms that matter to the book-keeping."""

    type: int
    same: int
    internal: frozenset[int]
    """Predicates of our own vocabulary."""
    markers: frozenset[int]
    """Those whose subjects are lists that stand as predicates between what they relate."""
    axioms: tuple[int, ...]
    """Rules without premises."""
    by_predicate: dict[int, list[int]] = field(default_factory=dict)
    by_object: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    by_class: list[Gated] = field(default_factory=list)
    """For `?x a ?c`, with a gate at the class."""
    any_by_predicate: list[Gated] = field(default_factory=list)
    """For every statement, with a gate at its predicate."""
    any_by_others: list[tuple[int, Gate]] = field(default_factory=list)
    """For every statement, with a gate at its subject or object."""
    subject_keys: set[int] = field(default_factory=set)
    """Predicates of gates whose term is the subject."""
    object_keys: set[int] = field(default_factory=set)
    _heads: dict[int, list[int]] = field(default_factory=dict)
    _open_heads: list[int] = field(default_factory=list)

    def concluding(self, row: Sequence[int]) -> Sequence[int]:
        """Return the rules that could conclude a row."""
        return [-1 - row[0]] if row[0] < 0 else [*self._heads.get(row[1], ()), *self._open_heads]


@cache
def dispatch() -> Dispatch:
    """Return the dispatch of the program of all rules."""
    found = program()
    internal = {n: node.value for n, node in enumerate(found.vocabulary) if node.value.startswith(INTERNAL)}
    table = Dispatch(
        type=found.number(TYPE),
        same=found.number(SAME_AS),
        internal=frozenset(internal),
        markers=frozenset(n for n, name in internal.items() if name in (INTERNAL + "chain", INTERNAL + "key")),
        axioms=tuple(number for number, rule in enumerate(found.rules) if not rule.body),
    )
    _triggers(table, found)
    for number, rule in enumerate(found.rules):
        if rule.clash:
            continue
        predicate = rule.head[1]
        heads = (
            table._open_heads
            if isinstance(predicate, Variable)
            else table._heads.setdefault(found.number(predicate), [])
        )
        heads.append(number)
    return table


def _triggers(table: Dispatch, found: Program) -> None:
    for number, trigger in enumerate(found.triggers):
        place = None if trigger.gate is None else trigger.gate[0]
        if trigger.predicate is None:
            assert trigger.gate is not None, "a rule that meets every statement needs a gate"
            if place == 1:
                table.any_by_predicate.append((number, trigger.gate))
            else:
                table.any_by_others.append((number, trigger.gate))
        elif trigger.object is not None:
            table.by_object.setdefault((trigger.predicate, trigger.object), []).append(number)
        elif trigger.predicate == table.type and place in (None, 2):
            table.by_class.append((number, trigger.gate))
        else:
            table.by_predicate.setdefault(trigger.predicate, []).append(number)
            continue
        if trigger.gate is not None:
            (table.subject_keys if trigger.gate[1] else table.object_keys).add(trigger.gate[2])
