"""Statements -> what follows from them by OWL 2 RL, kept while statements come and go.

Additions are semi-naive: each statement meets the others once, when it comes in. Deletions withdraw what rests on the
deleted statements by the derivation that is kept for each, look for another derivation of every withdrawn one among
what is left, and go on from those that have one. Derivations never go in circles, since each uses what was there
before it, so nothing keeps itself alive; counting derivations would not see that.

Source: DRed, Gupta, Mumick and Subrahmanian, "Maintaining Views Incrementally" (SIGMOD 1993), with the withdrawal
limited to one derivation, as backward/forward evaluation does by search (Motik et al., AAAI 2015).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from doxa.logic.closure.dispatch import dispatch
from doxa.logic.closure.plans import Forward, Gate, program
from doxa.logic.closure.statements import Clash, Delta, Node, Proof, Statement, Step, minimal
from doxa.logic.closure.values import differ, outside, within

__all__ = ["Closure"]

Row = tuple[int, ...]
"""A statement as three numbers, or an inconsistency: its rule below zero, and what tells it from others."""
Why = tuple[int, tuple[Row, ...]]
"""A derivation: a rule and the premises that met it."""
Few = tuple[int, ...] | set[int]
"""Numbers, each once; most places of an index hold one or two, and a tuple takes a fifth of the room of a set."""
Index = dict[int, dict[int, Few]]
MOST_IN_TUPLE = 4
E: dict[Any, Any] = {}


class Closure:
    """Asserted statements with everything that OWL 2 RL infers from them, and one derivation of each.

    Equal to the rules of the specification but for these: that everything is itself (eq-ref) and the types of the
    vocabulary and of literals (prp-ap, dt-type1, dt-type2, dt-eq) are known and not written down. Complete for the
    rule set, hence sound and not complete for OWL 2 DL. Deterministic: the same calls give the same derivations.

    Not safe between threads. Memory O(statements), about 0.6 KB each; names of what is gone are kept. A change costs
    what the rules find to do with what it touches.
    """

    def __init__(self, statements: Iterable[Iterable[Node]] = (), *, apart: Callable[[Node], bool] | None = None):
        """Begin with some statements.

        Args:
            statements: triples (`pyoxigraph.Triple` or `Statement`).
            apart: names of which no two stand for one thing. What would identify two of them, or two literals of
                different values, is an inconsistency then, and goes no further.
        """
        self._program, self._names = program(), apart
        self._terms: list[Node] = list(self._program.vocabulary)
        self._numbers: dict[Node, int] = {node: number for number, node in enumerate(self._terms)}
        self._spo: Index = {}
        self._pos: Index = {}
        self._ops: Index = {}
        self._why: dict[Row, Why | None] = {}
        self._uses: dict[Row, list[Row]] = {}
        """What rests on a row, and some that did once."""
        self._queue: deque[Row] = deque()
        self._fired = [0]
        self._forward, self._backward = self._program.bind(
            {
                "spo": self._spo,
                "pos": self._pos,
                "ops": self._ops,
                "why": self._why,
                "put": self._put,
                "fired": self._fired,
                "E": E,
                "differ": lambda one, other: differ(self._terms[one], self._terms[other]),
                "within": lambda one, other: within(self._terms[one], self._terms[other]),
                "outside": lambda one, other: outside(self._terms[one], self._terms[other]),
                "apart": self._apart,
            }
        )
        self._dispatch = dispatch()
        self._lists: set[int] = set()
        self._of_predicate: dict[int, list[Forward]] = {}
        self._of_class: dict[int, list[Forward]] = {}
        for number in self._dispatch.axioms:
            self._put(self._axiom(number), number, ())
        self.add(statements)

    # What is in it

    @property
    def firings(self) -> int:
        """Return how often a rule has found all of its premises: the measure of work."""
        return self._fired[0]

    def __contains__(self, statement: Iterable[Node]) -> bool:
        """Tell whether a statement is asserted or inferred."""
        row = self._known(statement)
        return row is not None and row in self._why

    def __len__(self) -> int:
        """Return the number of statements, asserted and inferred."""
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Statement]:
        """Yield what is asserted and what is inferred, in the order in which it came."""
        return (self._statement(row) for row in self._why if row[0] >= 0 and not self._hidden(row))

    def is_asserted(self, statement: Iterable[Node]) -> bool:
        """Tell whether a statement is one of those that were given."""
        row = self._known(statement)
        return row is not None and self._why.get(row, E) is None

    def inferred(self) -> Iterator[Statement]:
        """Yield what is inferred and not asserted."""
        rows = (row for row, why in self._why.items() if why is not None and row[0] >= 0)
        return (self._statement(row) for row in rows if not self._hidden(row))

    def inferred_about(self, node: Node) -> Iterator[Statement]:
        """Yield what is inferred and not asserted with a term as its subject, then as its object. O(what it yields)."""
        number = self._numbers.get(node)
        if number is None:
            return
        told = [(number, p, o) for p, objects in self._spo.get(number, E).items() for o in objects]
        told += [(s, p, number) for p, things in self._ops.get(number, E).items() for s in things if s != number]
        for row in told:
            if self._why.get(row) is not None and not self._hidden(row):
                yield self._statement(row)

    def clashes(self) -> list[Clash]:
        """Return every inconsistency, in the order in which they came up; empty when there is none."""
        return [self._clash(row) for row in self._why if row[0] < 0]

    # Changing it

    def add(self, statements: Iterable[Iterable[Node]]) -> Delta:
        """Assert statements and return what follows from them that did not before."""
        return self.update(add=statements)

    def remove(self, statements: Iterable[Iterable[Node]]) -> Delta:
        """Take statements back; one that also follows from others stays, as inferred. Unknown ones do not matter."""
        return self.update(remove=statements)

    def update(self, *, add: Iterable[Iterable[Node]] = (), remove: Iterable[Iterable[Node]] = ()) -> Delta:
        """Take some statements back, assert others, and return what that changed."""
        rows = (row for one in remove if (row := self._known(one)) is not None)
        given = dict.fromkeys(row for row in rows if self._why.get(row, E) is None)
        withdrawn = self._withdraw(given)
        before = len(self._why)
        self._restore(withdrawn)
        taken = [row for one in add if (row := self._assert(one)) is not None]
        self._propagate()
        new = reversed(list(islice(reversed(self._why), len(self._why) - before)))
        came = [row for row in new if self._why[row] is not None and (row not in withdrawn or row in given)]
        gone = [row for row in withdrawn if row not in given and self._why.get(row) is None]
        return self._delta(came, [*gone, *(row for row in taken if row not in withdrawn)])

    def _assert(self, statement: Iterable[Node]) -> Row | None:
        """Assert one statement, and return it if it was inferred until now."""
        row = tuple(map(self._number, statement))
        if row not in self._why:
            self._why[row] = None
            self._queue.append(row)
            return None
        if self._why[row] is None:
            return None
        self._why[row] = None
        return row

    def _put(self, row: Row, rule: int, premises: tuple[Row, ...]) -> None:
        """Take in a conclusion that is new. That something is itself is left out."""
        if row[0] >= 0 and row[1] == self._dispatch.same and row[0] == row[2]:
            return
        if row[0] >= 0 and row[1] in self._dispatch.markers:
            self._lists.add(row[0])
        self._why[row] = (rule, premises)
        for premise in premises:
            self._link(premise, row)
        self._queue.append(row)

    def _link(self, premise: Row, row: Row) -> None:
        """Note that a row rests on a premise; what does not any more is dropped each time that the list doubles."""
        users = self._uses.setdefault(premise, [])
        users.append(row)
        if len(users) >= 16 and len(users).bit_count() == 1:
            self._uses[premise] = [user for user in dict.fromkeys(users) if self._rests(user, premise)]

    def _rests(self, row: Row, premise: Row) -> bool:
        why = self._why.get(row)
        return why is not None and premise in why[1]

    def _propagate(self) -> None:
        """Let every waiting statement meet the others."""
        queue = self._queue
        while queue:
            row = queue.popleft()
            if row[0] >= 0:
                s, p, o = row
                self._index(s, p, o)
                for function in self._functions(s, p, o):
                    function(s, p, o)

    def _withdraw(self, given: Iterable[Row]) -> dict[Row, None]:
        """Take rows out with everything whose derivation rests on them, and return all of it."""
        gone, waiting = dict.fromkeys(given), list(given)
        while waiting:
            premise = waiting.pop()
            for row in self._uses.pop(premise, ()):
                if row not in gone and self._rests(row, premise):
                    gone[row] = None
                    waiting.append(row)
        for row in gone:
            del self._why[row]
            if row[0] >= 0:
                self._unindex(*row)
        return gone

    def _restore(self, withdrawn: Iterable[Row]) -> None:
        """Bring back what has another derivation from what is left; what follows from that comes by itself."""
        for row in withdrawn:
            for rule in self._dispatch.concluding(row):
                arguments = row[1:] if row[0] < 0 else row
                premises = self._backward[rule](*arguments)
                if premises is not None:
                    self._put(row, rule, premises)
                    break

    def _index(self, s: int, p: int, o: int) -> None:
        of_subject, of_object = self._spo.setdefault(s, {}), self._ops.setdefault(o, {})
        of_subject[p] = _with(of_subject.get(p, ()), o)
        of_object[p] = self._pos.setdefault(p, {})[o] = _with(of_object.get(p, ()), s)
        self._touch(s, p, o)

    def _unindex(self, s: int, p: int, o: int) -> None:
        objects, sources = _without(self._spo[s][p], o), _without(self._ops[o][p], s)
        if objects:
            self._spo[s][p] = objects
        else:
            del self._spo[s][p]
            if not self._spo[s]:
                del self._spo[s]
        if sources:
            self._ops[o][p] = self._pos[p][o] = sources
        else:
            del self._ops[o][p], self._pos[p][o]
            if not self._ops[o]:
                del self._ops[o]
            if not self._pos[p]:
                del self._pos[p]
        self._touch(s, p, o)

    # Which functions can find anything

    def _functions(self, s: int, p: int, o: int) -> Iterator[Forward]:
        """Yield the functions to call for a new statement: those whose gate is open."""
        table = self._dispatch
        found = self._of_predicate.get(p)
        if found is None:
            found = [self._forward[n] for n, gate in table.any_by_predicate if self._is_open(gate, p)]
            found += [self._forward[n] for n in table.by_predicate.get(p, ())]
            self._of_predicate[p] = found
        yield from found
        for number, gate in table.any_by_others:
            if self._is_open(gate, s if gate[0] == 0 else o):
                yield self._forward[number]
        for number in table.by_object.get((p, o), ()):
            yield self._forward[number]
        if p == table.type:
            found = self._of_class.get(o)
            if found is None:
                found = [self._forward[n] for n, gate in table.by_class if self._is_open(gate, o)]
                self._of_class[o] = found
            yield from found

    def _is_open(self, gate: Gate | None, number: int) -> bool:
        if gate is None:
            return True
        _, subject, key, only = gate
        if subject:
            found = self._spo.get(number, E).get(key)
            return found is not None and (only is None or only in found)
        return key in self._ops.get(number, E)

    def _touch(self, s: int, p: int, o: int) -> None:
        """Forget which functions are of use for a term when an axiom about it comes or goes."""
        if p in self._dispatch.subject_keys:
            self._of_predicate.pop(s, None)
            self._of_class.pop(s, None)
        if p in self._dispatch.object_keys:
            self._of_predicate.pop(o, None)
            self._of_class.pop(o, None)

    def _apart(self, one: int, other: int) -> bool:
        """Tell whether two terms are known to stand for different things, where names are told apart at all."""
        if self._names is None:
            return False
        first, second = self._terms[one], self._terms[other]
        return differ(first, second) or (self._names(first) and self._names(second))

    # Why

    def proof(self, of: Iterable[Node] | Clash) -> Proof | None:
        """Return why something holds, down to what is asserted; None when it does not hold. O(steps)."""
        row = self._row_of(of) if isinstance(of, Clash) else self._known(of)
        if row is None or row not in self._why:
            return None
        steps: dict[Row, Step] = {}
        waiting = [row]
        while waiting:
            top = waiting[-1]
            why = self._why[top]
            premises = () if why is None else tuple(dict.fromkeys(self._plain(why[1])))
            missing = [premise for premise in premises if premise not in steps]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            rule = "" if why is None else self._program.rules[why[0]].name
            conclusion = self._clash(top) if top[0] < 0 else self._statement(top)
            steps.setdefault(top, Step(conclusion, rule, tuple(map(self._statement, premises))))
        return Proof(tuple(steps.values()))

    def support(self, of: Iterable[Node] | Clash) -> tuple[Statement, ...]:
        """Return asserted statements that entail something, none of which can be left out; empty if it does not hold.

        Of an inconsistency it is a minimal inconsistent set. Cost: a closure of its own proof for each of them.
        """
        proof = self.proof(of)
        if proof is None:
            return ()
        wanted = None if isinstance(of, Clash) else Statement(*of)

        def holds(kept: Sequence[Statement]) -> bool:
            alone = Closure(kept, apart=self._names)
            return bool(alone.clashes()) if wanted is None else wanted in alone

        return tuple(minimal(proof.support, holds))

    def _plain(self, premises: Iterable[Row]) -> Iterator[Row]:
        """Yield premises, those about lists as what they come from."""
        for premise in premises:
            why = self._why[premise]
            if why is not None and self._hidden(premise):
                yield from self._plain(why[1])
            else:
                yield premise

    # Names and numbers

    def _axiom(self, rule: int) -> Row:
        return tuple(self._numbers[node] for node in self._program.rules[rule].head)  # type: ignore[index]

    def _number(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._terms)
            self._terms.append(node)
        return number

    def _known(self, statement: Iterable[Node]) -> Row | None:
        numbers = tuple(self._numbers.get(node, -1) for node in statement)
        return None if -1 in numbers else numbers

    def _statement(self, row: Row) -> Statement:
        return Statement(*(self._terms[number] for number in row))

    def _clash(self, row: Row) -> Clash:
        return Clash(self._program.rules[-1 - row[0]].name, tuple(self._terms[number] for number in row[1:]))

    def _row_of(self, clash: Clash) -> Row | None:
        terms = tuple(self._numbers.get(node, -1) for node in clash.terms)
        rules = (n for n, rule in enumerate(self._program.rules) if rule.clash and rule.name == clash.rule)
        return next((row for n in rules if (row := (-1 - n, *terms)) in self._why), None)

    def _hidden(self, row: Row) -> bool:
        """Tell whether a statement is one of our own about lists."""
        return row[1] in self._dispatch.internal or row[1] in self._lists

    def _delta(self, came: Iterable[Row], gone: Iterable[Row]) -> Delta:
        new, old = list(came), list(gone)
        return Delta(
            added=tuple(self._statement(row) for row in new if row[0] >= 0 and not self._hidden(row)),
            removed=tuple(self._statement(row) for row in old if row[0] >= 0 and not self._hidden(row)),
            clashes=tuple(self._clash(row) for row in new if row[0] < 0),
            settled=tuple(self._clash(row) for row in old if row[0] < 0),
        )


def _with(few: Few, one: int) -> Few:
    """Return numbers with one more, which is not among them."""
    if isinstance(few, set):
        few.add(one)
        return few
    return (*few, one) if len(few) < MOST_IN_TUPLE else {*few, one}


def _without(few: Few, one: int) -> Few:
    """Return numbers without one of them."""
    if isinstance(few, set):
        few.discard(one)
        return few
    return tuple(other for other in few if other != one)
