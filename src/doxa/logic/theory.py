"""Named beliefs and hard clauses -> is there a model, and if not, which beliefs clash.

The theory of a dialogue (Baitalik et al. 2026, equation 1: rules and literals held so far) with a name for everything
that may be given up. A belief is a set of clauses, so a stated rule is a belief like any other; what is required
(axioms of an ontology) has no name and is never given up. Three things keep a question cheap: clauses that share no
atom are solved apart (`Component`), each solver is kept between questions, and the last model found is kept as a
*witness*: a new belief that it satisfies, or satisfies after a few atoms are flipped, needs no solver at all.

An atom may be a `Difference`, a bound on two numbers or days. Then a model also needs numbers that keep the bounds that
it makes true, and beliefs about dates, ages and orders clash, explain and entail like any others.

Every answer but `model` is a function of the clauses and the order in which they came, not of what was asked before.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from doxa.core.errors import InputError, NotFoundError
from doxa.logic.components import Clause, Component, Owner, Work
from doxa.logic.cores import minimal_cores, preferred_conflict
from doxa.logic.differences import ORIGIN, Difference
from doxa.logic.literals import Lit
from doxa.logic.witness import Witness

__all__ = ["Lit", "Name", "Theory"]

Name = Hashable
"""Of a belief."""


NEARBY = 64
"""Beliefs around a new one among which a clash is looked for before the whole component is asked."""

MAX_BROKEN = 8
"""With more beliefs that the witness does not satisfy, it is not repaired but found anew."""


class _Question(NamedTuple):
    """What is asked of one component: whether some of its beliefs hold, and some literals as well."""

    home: Component
    asked: list[Owner] | None
    """The beliefs that count; None for all but those left out."""
    without: Container[Owner]
    also: tuple[int, ...]

    @property
    def owners(self) -> list[Owner]:
        """The beliefs that count. Cost O(component) where they are not listed."""
        if self.asked is not None:
            return self.asked
        return [owner for owner in self.home.owners if owner.named and owner not in self.without]

    @property
    def whole(self) -> bool:
        """Nothing is left out."""
        return self.asked is None and self.without == frozenset()

    @property
    def complete(self) -> bool:
        """Nothing is left out or added: the answer says whether the component has a model."""
        return self.whole and not self.also


class _Others(Container[Owner]):
    """All beliefs but some; nothing that is required."""

    def __init__(self, some: Iterable[Owner]) -> None:
        self._some = frozenset(some)

    def __contains__(self, owner: object) -> bool:
        return isinstance(owner, Owner) and owner.named and owner not in self._some


class Theory:
    """Named beliefs over hard clauses, under incremental SAT solvers that are kept.

    A clause is an iterable of literals of which one at least holds; a single `Lit` stands for the clause of itself.
    Not safe for two threads at once. `close` frees the solvers (so does leaving a `with` block); a closed theory may
    still be used and builds them anew.
    """

    def __init__(self) -> None:
        self.work = Work()
        self._numbers: dict[Hashable, int] = {}
        self._atoms: list[Hashable] = [None]
        self._users: list[dict[Owner, None]] = [{}]
        self._homes: list[Component | None] = [None]
        self._beliefs: dict[Name, Owner] = {}
        self._unsettled: dict[Component, None] = {}
        self._doubtful: dict[Component, None] = {}
        """Components whose hard clauses are not known to have a model."""
        self._differences: dict[int, Difference] = {}
        self._variables: dict[Hashable, tuple[int, bool]] = {}
        """Variables of differences: a number as if they were atoms, and whether they stand for whole numbers."""
        self._links: dict[int, Owner] = {}
        """What connects a difference that is in use with its variables."""
        self._witness = Witness(self._users, fixed=self._differences)
        self._orders = 0

    def __enter__(self) -> Theory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, name: object) -> bool:
        return name in self._beliefs

    def __len__(self) -> int:
        return len(self._beliefs)

    @property
    def names(self) -> tuple[Name, ...]:
        """The beliefs, in the order in which they were last believed."""
        return tuple(self._beliefs)

    def require(self, clause: Iterable[Lit] | Lit) -> None:
        """Add a hard clause: it holds in every model, and no answer names it. Cost as `believe`."""
        self._add(Owner(order=self._next(), clauses=self._compile([clause]), named=False))

    def believe(self, name: Name, *clauses: Iterable[Lit] | Lit) -> None:
        """Hold a belief: every one of its clauses. Believing a name again replaces what it said and makes it newest.

        Cost: O(literals), plus the smaller of two components that it connects for the first time. The solver is not
        called.
        """
        if name in self._beliefs:
            self.forget(name)
        owner = Owner(order=self._next(), clauses=self._compile(clauses), named=True, name=name)
        self._beliefs[name] = owner
        self._add(owner)

    def forget(self, name: Name) -> None:
        """Hold a belief no longer.

        Cost O(its literals). Components that only this belief connected stay together until half of their clauses are
        retired; that costs time, never an answer.

        Raises:
            NotFoundError: nothing is believed under that name.
        """
        owner = self._owner(name)
        del self._beliefs[name]
        for atom in owner.atoms:
            del self._users[atom][owner]
        home = self._home(owner)
        if home is None:
            return
        home.remove(owner)
        self._unlink(owner.atoms)
        if len(home.broken) <= MAX_BROKEN:
            for other in [other for other in home.broken if self._witness.mend(other.clauses)]:
                del home.broken[other]
        if home.settled:
            self._unsettled.pop(home, None)
        if home.garbage:
            self._split(home)

    def consistent(
        self, names: Iterable[Name] | None = None, *, also: Iterable[Lit] = (), without: Iterable[Name] = ()
    ) -> bool:
        """Tell whether the hard clauses, some beliefs and some literals have a model.

        Args:
            names: the beliefs that count; None for all.
            also: literals that are assumed for this question only.
            without: beliefs that do not count after all. To leave out a few is cheaper than to name all others.

        Cost: no solver call where the witness, or one a few flips away, is a model; else one or two for each component
        that changed since it was last found satisfiable or that `also` mentions. Sound and complete.

        Raises:
            NotFoundError: nothing is believed under one of the names.
        """
        literals = self._literals(also)
        if literals is None:
            return False
        holds = all(map(self._holds, self._questions(names, without, literals)))
        self._unlink(map(abs, literals))
        return holds

    def core(
        self, names: Iterable[Name] | None = None, *, also: Iterable[Lit] = (), without: Iterable[Name] = ()
    ) -> tuple[Name, ...] | None:
        """Return a smallest-by-inclusion set of beliefs that clash; None when they are consistent.

        Without any one of them the rest of the set is consistent. () when the hard clauses clash, alone or with
        `also`. Of several such sets it is one near a literal of `also` or, where none of these clashes, near the newest
        belief that is connected with a clash: beliefs fewer steps away are preferred, then newer ones. In order of
        belief.

        Arguments as for `consistent`. Cost: O(k log(n/k)) solver calls for a core of k of which the
        farthest is the n-th.

        Raises:
            NotFoundError: nothing is believed under one of the names.
        """
        literals = self._literals(also)
        if literals is None:
            return ()
        clashes = [question for question in self._questions(names, without, literals) if not self._holds(question)]
        core = self._core(clashes, literals) if clashes else None
        self._unlink(map(abs, literals))
        return core

    def cores(self, names: Iterable[Name] | None = None, *, limit: int) -> list[tuple[Name, ...]]:
        """Return minimal cores, at most `limit`, all of them when there are no more; [] for a consistent theory.

        [()] when the hard clauses clash. Each core in order of belief. Cost: see `minimal_cores`, within each component
        that clashes.

        Raises:
            NotFoundError: nothing is believed under one of the names.
        """
        found: list[tuple[Name, ...]] = []
        names = names if names is None else tuple(names)
        for question in self._questions(names, (), ()):
            if question.home.loose:
                self._split(question.home)
        clashes = [question for question in self._questions(names, (), ()) if not self._holds(question)]
        if any(not self._some_hold(question, []) for question in clashes):
            found.append(())
            return found[:limit]
        for question in {question.home: question for question, _ in self._by_newest(clashes)}.values():
            newest_first = sorted(question.owners, key=_order, reverse=True)
            each = minimal_cores(newest_first, partial(self._some_hold, question))
            for core in islice(each, limit - len(found)):
                found.append(tuple(owner.name for owner in sorted(core, key=_order)))
        return found

    def entails(self, lit: Lit, names: Iterable[Name] | None = None) -> bool:
        """Tell whether a literal holds in every model of the beliefs; of beliefs that clash everything follows.

        Cost as `consistent`. Raises: NotFoundError, as `consistent` does.
        """
        return not self.consistent(names, also=[~lit])

    def explain(self, lit: Lit, names: Iterable[Name] | None = None) -> tuple[Name, ...] | None:
        """Return a smallest-by-inclusion set of beliefs that entails a literal; None when they do not entail it.

        () when the hard clauses do so alone. Cost as `core`. Raises: NotFoundError, as `consistent` does.
        """
        return self.core(names, also=[~lit])

    def connected(self, names: Iterable[Name]) -> list[Name]:
        """Return the beliefs that share atoms with some beliefs through clauses, transitively; those included.

        Hard clauses connect as well. In order of belief. Cost O(clauses and atoms that are reached).

        Raises:
            NotFoundError: nothing is believed under one of the names.
        """
        start = [self._owner(name) for name in names]
        rings = self._rings([atom for owner in start for atom in owner.atoms])
        reached = {*start, *(owner for ring in rings for owner in ring)}
        return [owner.name for owner in sorted(reached, key=_order) if owner.named]

    def age(self, name: Name) -> int:
        """Return a number that is the larger the later a belief came. Raises: NotFoundError, as `forget` does."""
        return self._owner(name).order

    def unsettled(self) -> list[Name]:
        """Return the beliefs of components that are not known to have a model, in order of belief.

        Nothing else can be part of a core. Cost O(n log n) for the n beliefs of those components.
        """
        owners = [owner for home in self._unsettled for owner in home.owners if owner.named]
        return [owner.name for owner in sorted(owners, key=_order)]

    def model(self, names: Iterable[Name] | None = None) -> Mapping[Hashable, bool] | None:
        """Return a value for every atom such that the hard clauses and some beliefs hold; None when there is none.

        Which one of several models it is may depend on earlier questions. Cost O(atoms), and a solver call for each
        component that is not settled.

        Raises:
            NotFoundError: nothing is believed under one of the names.
        """
        used = [atom for atom in self._numbers.values() if atom not in self._differences or atom in self._links]
        values = {atom: self._witness[atom] for atom in used}
        questions = {question.home: question for question in self._questions(names, (), ())}
        others = {home: _Question(home, [], _Others(()), ()) for home in self._unsettled if home not in questions}
        for question in (*questions.values(), *others.values()):
            if not self._holds(question):
                return None
            if question.home.settled:
                found = {atom: self._witness[atom] for atom in question.home.atoms}
            else:
                question.home.solve(question.owners)
                found = question.home.model()
            values.update((atom, value) for atom, value in found.items() if atom in values)
        return {self._atoms[atom]: value for atom, value in values.items()}

    def close(self) -> None:
        """Free the solvers."""
        for home in {home: None for home in self._homes if home is not None}:
            home.close()

    def _next(self) -> int:
        self._orders += 1
        return self._orders

    def _owner(self, name: Name) -> Owner:
        try:
            return self._beliefs[name]
        except KeyError:
            raise NotFoundError(
                f"Nothing is believed under the name {name!r}; believe it first (`Theory.believe(name, clause)`)."
            ) from None

    def _compile(self, clauses: Iterable[Iterable[Lit] | Lit]) -> tuple[Clause, ...]:
        """Return clauses of numbers; tautologies are left out, an empty clause becomes a clash of its own."""
        compiled: list[Clause] = []
        for clause in clauses:
            given = dict.fromkeys([clause] if isinstance(clause, Lit) else clause)
            if not given:
                private = self._number(object())
                compiled += [(private,), (-private,)]
            elif not any(~lit in given for lit in given):
                compiled.append(tuple(self._number(lit.atom) * (1 if lit.positive else -1) for lit in given))
        return tuple(dict.fromkeys(compiled))

    def _number(self, atom: Hashable) -> int:
        """Return the number of an atom; a difference is connected with its variables."""
        if isinstance(atom, Difference):
            return self._link(atom)
        number = self._numbers.get(atom)
        if number is None:
            number = self._numbers[atom] = self._new_number(atom)
        return number

    def _new_number(self, atom: Hashable) -> int:
        self._atoms.append(atom)
        self._users.append({})
        self._homes.append(None)
        return len(self._atoms) - 1

    def _link(self, difference: Difference) -> int:
        """Return the number of a difference, connected with its variables: two may clash without sharing a clause."""
        links = [self._variable(variable, difference) for variable in difference[:2] if variable is not ORIGIN]
        number = self._numbers.get(difference)
        if number is None:
            number = self._numbers[difference] = self._new_number(difference)
            self._differences[number] = difference
        if number not in self._links:
            self._links[number] = Owner(order=self._next(), clauses=(), named=False, links=(number, *links))
            self._unsettle(self._add(self._links[number]))
        return number

    def _unlink(self, atoms: Iterable[int]) -> None:
        """Connect differences that no clause mentions no longer."""
        for atom in atoms:
            link = self._links.get(atom)
            if link is not None and len(self._users[atom]) == 1:
                del self._links[atom]
                for one in link.atoms:
                    del self._users[one][link]
                home = self._homes[atom]
                if home is not None:
                    home.remove(link)

    def _variable(self, variable: Hashable, difference: Difference) -> int:
        if variable not in self._variables:
            self._variables[variable] = self._new_number(None), difference.whole
        number, whole = self._variables[variable]
        if whole != difference.whole:
            raise InputError(
                f"Expected {variable!r} to stand for {'whole numbers' if whole else 'any number'} as before, got a "
                f"bound with whole={difference.whole}; tell all bounds on one variable in the same way."
            )
        return number

    def _literals(self, also: Iterable[Lit]) -> tuple[int, ...] | None:
        """Return literals as numbers, without those of atoms that no clause mentions; None when two clash."""
        given = dict.fromkeys(also)
        if any(~lit in given for lit in given):
            return None
        known = [(self._known(lit.atom), lit.positive) for lit in given]
        return tuple(atom if positive else -atom for atom, positive in known if self._homes[atom] is not None)

    def _known(self, atom: Hashable) -> int:
        """Return the number of an atom, 0 for one that no clause mentions; a difference always counts."""
        return self._number(atom) if isinstance(atom, Difference) else self._numbers.get(atom, 0)

    def _add(self, owner: Owner) -> Component:
        """Put an owner into the component of its atoms, joining components, and keep the witness if it can be kept."""
        homes = {home: None for atom in owner.atoms if (home := self._homes[atom]) is not None}
        home = max(homes, key=len, default=None) or Component(self.work, self._differences)
        for other in homes:
            if other is not home:
                self._join(home, other)
        for atom in owner.atoms:
            if self._homes[atom] is None:
                self._homes[atom] = home
                home.atoms.append(atom)
            self._users[atom][owner] = None
        home.add(owner)
        if not self._witness.mend(owner.clauses):
            home.broken[owner] = None
            self._unsettled[home] = None
            if not owner.named:
                self._doubtful[home] = None
        return home

    def _unsettle(self, home: Component) -> None:
        """Note that a bound came whose value under the witness's numbers is not known."""
        home.stale = True
        self._unsettled[home] = self._doubtful[home] = None

    def _join(self, home: Component, other: Component) -> None:
        for atom in other.atoms:
            self._homes[atom] = home
        home.absorb(other)
        if other in self._unsettled:
            del self._unsettled[other]
            self._unsettled[home] = None
        if other in self._doubtful:
            del self._doubtful[other]
            self._doubtful[home] = None

    def _questions(
        self, names: Iterable[Name] | None, without: Iterable[Name], also: tuple[int, ...]
    ) -> list[_Question]:
        """Return what must be asked to know whether some beliefs and literals hold: nothing of settled components."""
        literals: dict[Component, tuple[int, ...]] = {}
        for literal in also:
            home = self._homes[abs(literal)]
            if home is not None:
                literals[home] = (*literals.get(home, ()), literal)
        left_out: dict[Component | None, set[Owner]] = {}
        for owner in map(self._owner, without):
            left_out.setdefault(self._home(owner), set()).add(owner)
        if names is None:
            homes = dict.fromkeys((*self._unsettled, *literals))
            gone = {home: frozenset(left_out.get(home, ())) for home in homes}
            return [_Question(home, None, gone[home], literals.get(home, ())) for home in homes]
        # A component without a belief that is asked about matters only if its hard clauses might clash.
        asked: dict[Component, list[Owner]] = {home: [] for home in (*self._doubtful, *literals)}
        for owner in dict.fromkeys(map(self._owner, names)):
            home = self._home(owner)
            if home is None or (home.settled and home not in literals):
                continue
            if owner not in left_out.get(home, ()):
                asked.setdefault(home, []).append(owner)
        return [
            _Question(home, None, frozenset(), literals.get(home, ()))
            if len(owners) == home.count
            else _Question(home, owners, _Others(owners), literals.get(home, ()))
            for home, owners in asked.items()
        ]

    def _home(self, owner: Owner) -> Component | None:
        return self._homes[owner.atoms[0]] if owner.atoms else None

    def _by_newest(self, questions: Iterable[_Question]) -> Iterator[tuple[_Question, Owner]]:
        """Yield the beliefs that questions are about, newest first."""
        asked = {question.home: question for question in questions}
        for owner in reversed(self._beliefs.values()):
            home = self._home(owner)
            if home in asked and owner not in asked[home].without:
                yield asked[home], owner

    def _holds(self, question: _Question) -> bool:
        """Answer a question, the cheapest way first, and remember what the answer says of the component."""
        home = question.home
        if home.refuted and question.whole:
            return False
        if not home.stale and self._reaches(question):
            self._doubtful.pop(home, None)
            return True
        if home.count > NEARBY and not home.stale and self._clashes_nearby(question):
            home.refuted = home.refuted or question.complete
            return False
        holds = home.solve(question.owners, question.also)
        if holds:
            self._doubtful.pop(home, None)
        if holds and question.whole:
            self._witness.update(home.model())
            self._settle(home)
        elif not holds:
            home.refuted = home.refuted or question.complete
        return holds

    def _reaches(self, question: _Question) -> bool:
        """Tell whether the witness, or one a few flips away, says yes."""
        broken = [owner for owner in question.home.broken if owner not in question.without]
        clauses = [clause for owner in broken for clause in owner.clauses]
        if len(broken) > MAX_BROKEN:
            return False
        if not question.complete:
            return self._witness.reaches(clauses, question.also, question.without)
        if self._witness.mend(clauses):
            self._settle(question.home)
            return True
        return False

    def _some_hold(self, question: _Question, some: Collection[Owner]) -> bool:
        """Answer a question for some of its beliefs only."""
        home, others = question.home, _Others(some)
        broken = [owner for owner in home.broken if owner not in others]
        clauses = [clause for owner in broken for clause in owner.clauses]
        if not home.stale and len(broken) <= MAX_BROKEN and self._witness.reaches(clauses, question.also, others):
            return True
        return home.solve(some, question.also)

    def _settle(self, home: Component) -> None:
        home.broken.clear()
        home.stale = False
        self._unsettled.pop(home, None)
        self._doubtful.pop(home, None)

    def _clashes_nearby(self, question: _Question) -> bool:
        """Tell whether a few beliefs around those that the witness does not satisfy clash; False proves nothing."""
        new = (atom for owner in question.home.broken if owner not in question.without for atom in owner.atoms)
        ring: list[Owner] = []
        for layer in self._rings([*map(abs, question.also), *new], question.without):
            if len(ring) + len(layer) > NEARBY:
                break
            ring += [owner for owner in layer if owner.named]
        return bool(ring) and not self._some_hold(question, ring)

    def _core(self, clashes: Sequence[_Question], literals: Iterable[int]) -> tuple[Name, ...]:
        """Return the core that is nearest to a literal or, without one that clashes, to the newest belief."""
        if any(not self._some_hold(question, []) for question in clashes):
            return ()
        asked = {question.home: question for question in clashes}
        homes = ((abs(literal), self._homes[abs(literal)]) for literal in literals)
        starts: Iterator[tuple[_Question, tuple[int, ...]]] = chain(
            ((asked[home], (atom,)) for atom, home in homes if home in asked),
            ((question, owner.atoms) for question, owner in self._by_newest(clashes)),
        )
        reached = set[int]()
        for question, start in starts:
            near = None if reached.issuperset(start) else self._near(question, start, reached)
            if near is not None:
                conflict = preferred_conflict(near, partial(self._some_hold, question))
                return tuple(owner.name for owner in sorted(conflict, key=_order))
        raise AssertionError("what clashes has a core")  # every belief that was asked about was a start

    def _near(self, question: _Question, start: Iterable[int], reached: set[int]) -> list[Owner] | None:
        """Return beliefs that clash, the nearest to some atoms first and newer before older; None when none do.

        The first 2, 4, 8 ... are tried, so the solver is called O(log n) times. Adds the atoms reached.
        """
        near: list[Owner] = []
        reached.update(start)
        for layer in self._rings(start, question.without):
            reached.update(atom for owner in layer for atom in owner.atoms)
            for owner in sorted((owner for owner in layer if owner.named), key=_order, reverse=True):
                near.append(owner)
                if len(near).bit_count() == 1 and not self._some_hold(question, near):
                    return near
        return None if self._some_hold(question, near) else near

    def _rings(self, atoms: Iterable[int], without: Container[Owner] = ()) -> Iterator[list[Owner]]:
        """Yield owners of clauses by their distance from some atoms, as if some were not there."""
        seen_atoms, seen = set(atoms), set[Owner]()
        frontier = list(seen_atoms)
        while frontier:
            users = {user: None for atom in frontier for user in self._users[atom] if user not in seen}
            layer = [user for user in users if user not in without]
            seen.update(layer)
            frontier = list({atom: None for owner in layer for atom in owner.atoms if atom not in seen_atoms})
            seen_atoms.update(frontier)
            yield layer

    def _split(self, home: Component) -> None:
        """Replace a component by the connected components that its clauses form now; without garbage."""
        home.close()
        self._unsettled.pop(home, None)
        doubtful = self._doubtful.pop(home, self) is None
        for atom in home.atoms:
            self._homes[atom] = None
        for atom in home.atoms:
            if self._homes[atom] is None and self._users[atom]:
                part = Component(self.work, self._differences, stale=home.stale)
                for owner in (owner for ring in self._rings([atom]) for owner in ring):
                    part.add(owner)
                    if owner in home.broken:
                        part.broken[owner] = None
                    for one in owner.atoms:
                        if self._homes[one] is None:
                            self._homes[one] = part
                            part.atoms.append(one)
                if not part.settled:
                    self._unsettled[part] = None
                    if doubtful:
                        self._doubtful[part] = None


def _order(owner: Owner) -> int:
    return owner.order
