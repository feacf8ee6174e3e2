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

    def mend(self, clauses: Iterable[Clause]) -> bool:
        """Make clauses hold without breaking another one; False, and nothing changed, where no few flips do it.

        A literal of a clause is made true; a clause that this breaks is mended in the same way, and no atom is flipped
        twice. Cost O(1): owners of 256 clauses are looked at, at most.
        """
        return self._reach(clauses, (), {}, frozenset(), keep=True)

    def reaches(self, clauses: Iterable[Clause], literals: Iterable[int], ignoring: Container[Owner]) -> bool:
        """Tell whether `mend` would succeed where some literals hold as well and some owners do not count."""
        return self._reach(clauses, literals, {}, ignoring, keep=False)

    def _reach(
        self,
        clauses: Iterable[Clause],
        literals: Iterable[int],
        flipped: dict[int, bool],
        ignoring: Container[Owner],
        *,
        keep: bool,
    ) -> bool:
        """Flip atoms until clauses and literals hold; `flipped` has the atoms that stay, and whether they changed."""
        self._budget = BUDGET
        reached = all(self._fix(literal, flipped, ignoring) for literal in literals)
        reached = reached and all(self._mend(clause, flipped, ignoring) for clause in clauses)
        if not (reached and keep):
            self._undo(flipped, 0)
        return reached

    def _fix(self, literal: int, flipped: dict[int, bool], ignoring: Container[Owner]) -> bool:
        if self.satisfies((literal,)):
            flipped.setdefault(abs(literal), False)
            return True
        return self._flip(literal, flipped, ignoring)

    def _mend(self, clause: Clause, flipped: dict[int, bool], ignoring: Container[Owner]) -> bool:
        return self.satisfies(clause) or any(self._flip(literal, flipped, ignoring) for literal in clause)

    def _flip(self, literal: int, flipped: dict[int, bool], ignoring: Container[Owner]) -> bool:
        atom = abs(literal)
        users = self._users[atom]
        self._budget -= len(users)
        if atom in flipped or atom in self._fixed or self._budget < 0:
            return False
        before = len(flipped)
        flipped[atom] = True
        self._values[atom] = literal > 0
        broken = [clause for user in users if user not in ignoring for clause in user.clauses if -literal in clause]
        if all(self._mend(other, flipped, ignoring) for other in broken):
            return True
        self._undo(flipped, before)
        return False

    def _undo(self, flipped: dict[int, bool], before: int) -> None:
        for atom in list(flipped)[before:]:
            if flipped.pop(atom):
                self._values[atom] = not self._values[atom]
