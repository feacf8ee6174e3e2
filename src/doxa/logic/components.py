"""Clauses that share atoms -> one incremental SAT solver, kept between questions.

Clauses without a common atom cannot clash, so a theory is satisfiable exactly when each connected component of it is.
A new belief therefore asks only the solver of its own component, and a small component is answered in microseconds
whatever the size of the theory. Every belief has a selector variable s in the solver of its component: the clause C of
belief b is stored as "s -> C", and b is believed by assuming s (Eén and Sörensson 2003, "Temporal induction by
incremental SAT solving", section 3). A forgotten belief is retired by the unit clause "not s"; when retired clauses
outnumber the living ones the solver is thrown away and built anew at the next question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from doxa.logic.differences import Difference, DifferenceGraph

__all__ = ["SOLVER", "Clause", "Component", "Owner", "Work"]

SOLVER = "minisat22"
"""The quickest of python-sat's solvers to make (10 µs) and to ask under assumptions, on clauses as small as ours."""

SPARE_CLAUSES = 32
"""Retired clauses that a solver may always carry."""

Clause = tuple[int, ...]
"""Numbers of atoms, negative for a negated one (DIMACS literals), without repetition."""


@dataclass(slots=True)
class Work:
    """What has been asked of the solvers so far: a measure of cost that no machine changes."""

    solves: int = 0
    """Questions put to a solver."""
    assumed: int = 0
    """Literals assumed in them, in total."""
    loaded: int = 0
    """Clauses given to a solver, again after a rebuild."""


@dataclass(slots=True, eq=False)
class Owner:
    """What clauses belong to: a belief, or (without a name) one hard clause."""

    order: int
    """When it came; unique."""
    clauses: tuple[Clause, ...]
    named: bool
    name: Hashable = None
    links: tuple[int, ...] = ()
    """Atoms that it connects beside those of its clauses."""
    atoms: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        mentioned = (abs(literal) for clause in self.clauses for literal in clause)
        self.atoms = tuple(dict.fromkeys((*mentioned, *self.links)))


@dataclass(slots=True, eq=False)
class Component:
    """Atoms that clauses connect, the owners of those clauses, and their solver once it was needed."""

    work: Work
    differences: Mapping[int, Difference]
    """Which atoms are bounds on numbers; of the whole theory."""
    atoms: list[int] = field(default_factory=list)
    owners: dict[Owner, None] = field(default_factory=dict)
    broken: dict[Owner, None] = field(default_factory=dict)
    """Owners that the theory's witness does not satisfy; it satisfies all others."""
    stale: bool = False
    """A bound came whose value under the witness's numbers is not known."""
    refuted: bool = False
    """It is known that no model satisfies everything here."""
    count: int = 0
    """Beliefs here."""
    loose: bool = False
    """Something that connected atoms was retired: it may fall apart."""
    _bounded: dict[Owner, None] = field(default_factory=dict)
    """Owners of clauses with a bound in them."""
    _graphs: dict[bool, DifferenceGraph] = field(default_factory=lambda: defaultdict(DifferenceGraph))
    """Of whole numbers and of others."""
    _kept: dict[int, Difference] = field(default_factory=dict)
    """The bounds in the graphs, by literal."""
    _solver: Any = None
    _local: dict[int, int] = field(default_factory=dict)
    """Atoms to variables of this solver, which numbers its own from 1: a solver's cost grows with its largest."""
    _selectors: dict[Owner, int] = field(default_factory=dict)
    _top: int = 0
    _living: int = 0
    _retired: int = 0

    def __len__(self) -> int:
        """Count atoms and owners: what joining it with another component costs."""
        return len(self.atoms) + len(self.owners)

    def __bool__(self) -> bool:
        return True

    @property
    def settled(self) -> bool:
        """True when the theory's witness is a model of everything here."""
        return not self.broken and not self.stale

    @property
    def garbage(self) -> bool:
        """True when what is retired outweighs what is held."""
        return self._retired > self._living + SPARE_CLAUSES

    def beliefs(self) -> list[Owner]:
        """Return the owners with a name. Cost O(owners)."""
        return [owner for owner in self.owners if owner.named]

    def add(self, owner: Owner) -> None:
        """Take in clauses; those of a belief under its selector."""
        self.owners[owner] = None
        self.count += owner.named
        self._living += len(owner.clauses)
        if any(atom in self.differences for atom in owner.atoms):
            self._bounded[owner] = None
        if self._solver is not None:
            self._load(owner)

    def remove(self, owner: Owner) -> None:
        """Retire the clauses of a belief, or take out a link."""
        del self.owners[owner]
        self.count -= owner.named
        self.loose = self.loose or len(owner.atoms) > 1
        self.refuted = False
        self.broken.pop(owner, None)
        self._bounded.pop(owner, None)
        self._living -= len(owner.clauses)
        self._retired += len(owner.clauses)
        if self._solver is not None and owner.named:
            self._solver.add_clause([-self._selectors.pop(owner)])

    def absorb(self, other: Component) -> None:
        """Take in everything of another component; its solver is closed."""
        self.atoms += other.atoms
        for owner in other.owners:
            self.add(owner)
        self.loose, self._retired = self.loose or other.loose, self._retired + other._retired
        self.broken.update(other.broken)
        self.stale, self.refuted = self.stale or other.stale, self.refuted or other.refuted
        other.close()

    def solve(self, owners: Iterable[Owner], also: Collection[int] = ()) -> bool:
        """Tell whether the hard clauses here, some beliefs and some literals have a model.

        Cost: one solver call, and one more for every clash of bounds that is found on the way; O(assumptions) to pass
        them. NP-complete in the worst case, linear in the size of the component where unit propagation decides (Horn
        rules and literals).
        """
        if self._solver is None:
            self._open()
        asked = [owner for owner in owners if owner.named]
        assumed = [self._selectors[owner] for owner in asked]
        assumed += [self._variable(literal) for literal in also]
        while self._ask(assumed):
            clash = self._clash(asked, also) if self._bounded else None
            if clash is None:
                return True
            self._solver.add_clause([-self._variable(literal) for literal in clash])
        return False

    def model(self) -> dict[int, bool]:
        """Return the values of the atoms here in the model that the last `solve` found. Cost O(component)."""
        values = self._solver.get_model()
        model = {atom: values[variable - 1] > 0 for atom, variable in self._local.items() if variable <= len(values)}
        if self._bounded:
            bounds = ((atom, self.differences[atom]) for atom in self.atoms if atom in self.differences)
            model.update((atom, self._graphs[bound.whole].holds(bound)) for atom, bound in bounds)
        return model

    def _ask(self, assumed: list[int]) -> bool:
        self.work.solves += 1
        self.work.assumed += len(assumed)
        return bool(self._solver.solve(assumptions=assumed))

    def _clash(self, asked: Iterable[Owner], also: Iterable[int]) -> list[int] | None:
        """Return literals that the last model makes true and no numbers keep; None when the numbers can be had."""
        needed = self._needed({*asked}, also)
        for literal in [literal for literal in self._kept if literal not in needed]:
            bound = self._kept.pop(literal)
            self._graphs[bound.whole].remove(bound, literal)
        for literal in needed:
            if literal not in self._kept:
                bound = self.differences[abs(literal)]
                bound = bound if literal > 0 else bound.denied()
                clash = self._graphs[bound.whole].add(bound, literal)
                if clash is not None:
                    return clash
                self._kept[literal] = bound
        return None

    def _needed(self, asked: Container[Owner], also: Iterable[int]) -> dict[int, None]:
        """Return bounds, as literals, that satisfy in the last model every clause asked for that nothing else does.

        The other bounds may take whichever value the numbers give them.
        """
        needed = {literal: None for literal in also if abs(literal) in self.differences}
        values = self._solver.get_model()
        for owner in self._bounded:
            if owner.named and owner not in asked:
                continue
            for clause in owner.clauses:
                true = [literal for literal in clause if values[self._local[abs(literal)] - 1] * literal > 0]
                if all(abs(literal) in self.differences and literal not in needed for literal in true):
                    needed[true[0]] = None
        return needed

    def close(self) -> None:
        """Free the solver; the next question builds it anew."""
        if self._solver is not None:
            self._solver.delete()
        self._solver = None
        self._local, self._selectors = {}, {}
        self._graphs.clear()
        self._kept.clear()
        self._top = 0

    def _open(self) -> None:
        from pysat.solvers import Solver  # takes 30 ms to import, and a memory without rules never needs it

        self._solver = Solver(name=SOLVER)
        for owner in self.owners:
            self._load(owner)

    def _load(self, owner: Owner) -> None:
        guard = []
        if owner.named:
            self._top += 1
            self._selectors[owner] = self._top
            guard = [-self._top]
        for clause in owner.clauses:
            self._solver.add_clause([*guard, *(self._variable(literal) for literal in clause)])
        self.work.loaded += len(owner.clauses)

    def _variable(self, literal: int) -> int:
        atom = abs(literal)
        variable = self._local.get(atom)
        if variable is None:
            self._top += 1
            variable = self._local[atom] = self._top
        return variable if literal > 0 else -variable
