"""A model, and a clause that it does not satisfy -> a model that does, a few flips away.

A memory changes by one belief at a time, so the last model nearly always satisfies the next belief, or does after an
atom or two took the other value. Looking at the clauses of those atoms is cheaper than asking a solver, whose cost
grows with the component. A repair that fails proves nothing: then the solver is asked.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from doxa.logic.components import Clause, Owner

__all__ = ["Witness"]

BUDGET = 256
"""Clauses looked at in one repair: about what the smallest question to a solver costs."""


class Witness:
    """Values of atoms, false where nothing was said.

    Args:
        users: the owners of clauses, by atom.
        fixed: atoms that are never flipped here, because more than clauses decides on them.
    """

    def __init__(self, users: list[dict[Owner, None]], *, fixed: Container[int] = ()) -> None:
        self._users = users
        self._fixed = fixed
        self._values: dict[int, bool] = {}
        self._budget = 0

    def __getitem__(self, atom: int) -> bool:
        return self._values.get(atom, False)

    def update(self, values: dict[int, bool]) -> None:
        """Take over values."""
        self._values.update(values)

    def satisfies(self, clause: Iterable[int]) -> bool:
        """Tell whether one of the literals holds."""
        return any(self._values.get(abs(literal), False) == (literal > 0) for literal in clause)

    def mend(self, clause: Clause) -> bool:
        """Make a clause hold without breaking another one; False, and nothing changed, where no few flips do it.

        A literal of the clause is made true; a clause that this breaks is mended in the same way, and no atom is
        flipped twice. Cost O(1): 256 clauses at most.
        """
        self._budget = BUDGET
        return self._mend(clause, {})

    def _mend(self, clause: Clause, flipped: dict[int, None]) -> bool:
        return self.satisfies(clause) or any(self._flip(literal, flipped) for literal in clause)

    def _flip(self, literal: int, flipped: dict[int, None]) -> bool:
        atom = abs(literal)
        users = self._users[atom]
        self._budget -= len(users)
        if atom in flipped or atom in self._fixed or self._budget < 0:
            return False
        before = len(flipped)
        flipped[atom] = None
        self._values[atom] = literal > 0
        broken = [clause for user in users for clause in user.clauses if -literal in clause]
        if all(self._mend(other, flipped) for other in broken):
            return True
        for one in list(flipped)[before:]:
            self._values[one] = not self._values[one]
            del flipped[one]
        return False
