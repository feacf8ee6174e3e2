"""Rules -> Python functions: one for every premise that may be new, one for every conclusion to be shown again.

A rule of n premises becomes n functions `forward(s, p, o)`, nested loops over the indexes that begin at the premise
which has just come in, and one `backward(...)` that looks for any way to reach a conclusion. Interpreting the rules
instead takes about five times as long. The text of the functions is written once in a process and read by Python.

Source: semi-naive evaluation, Abiteboul, Hull and Vianu, Foundations of Databases (1995), section 13.1; one statement
at a time, as in Motik et al., "Parallel Materialisation of Datalog Programs" (AAAI 2014), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

from pyoxigraph import Literal, NamedNode

from doxa.logic.closure.rules import Atom, Guard, Rule, Symbol, Variable, rules

__all__ = ["Backward", "Forward", "Gate", "Program", "Trigger", "program"]

Forward = Callable[[int, int, int], None]
Backward = Callable[..., tuple[tuple[int, ...], ...] | None]
Gate = tuple[int, bool, int, int | None]
"""What has to be there before a function can find anything: which of the three terms of the new statement (0, 1, 2) is
the subject (True) or the object (False) of a statement with which predicate, and with which object if that matters."""
PLACES = ("s", "p", "o")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """When a forward function is called: for statements of this predicate and object; None is any."""

    rule: int
    predicate: int | None
    object: int | None
    gate: Gate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Every rule, ready to run. Terms are numbers; those of the rules come first in every closure."""

    vocabulary: tuple[NamedNode | Literal, ...]
    rules: tuple[Rule, ...]
    triggers: tuple[Trigger, ...]
    """One for each forward function, in order."""
    code: CodeType

    def number(self, symbol: Symbol) -> int:
        """Return the number of a term of the rules."""
        return self.vocabulary.index(symbol)

    def bind(self, names: dict[str, Any]) -> tuple[list[Forward], list[Backward]]:
        """Return the functions over the indexes and the book-keeping of one closure (see `_Writer.text`)."""
        space: dict[str, Any] = {}
        exec(self.code, space)  # noqa: S102  text that is written from our own rules, and from nothing else
        found: tuple[list[Forward], list[Backward]] = space["bind"](**names)
        return found


@cache
def program() -> Program:
    """Return the program of all rules. Written and compiled once, in about 0.1 s."""
    found = rules()
    symbols = (one for rule in found for atom in (*rule.body, rule.head) for one in atom)
    vocabulary = tuple(dict.fromkeys(one for one in symbols if not isinstance(one, Variable)))
    writer = _Writer({symbol: number for number, symbol in enumerate(vocabulary)})
    for number, rule in enumerate(found):
        writer.rule(number, rule)
    code = compile(writer.text(), "<rules of OWL 2 RL>", "exec")
    return Program(vocabulary=vocabulary, rules=found, triggers=tuple(writer.triggers), code=code)


class _Writer:
    """The text of the functions. `E` is an empty mapping: what an index gives for a term that it does not have."""

    def __init__(self, numbers: dict[NamedNode | Literal, int]) -> None:
        self.numbers = numbers
        self.triggers: list[Trigger] = []
        self._lines: list[str] = []
        self._backward = 0

    def text(self) -> str:
        """Return the module: `bind(...)` gives the functions."""
        forward = ", ".join(f"f{n}" for n in range(len(self.triggers)))
        backward = ", ".join(f"b{n}" for n in range(self._backward))
        head = "def bind(spo, pos, ops, why, put, fired, E, differ, within, outside, apart):"
        return "\n".join([head, *self._lines, f"    return [{forward}], [{backward}]", ""])

    def rule(self, number: int, rule: Rule) -> None:
        """Write the functions of one rule."""
        for atom in rule.body:
            self._forward(number, rule, atom)
        self._write_backward(rule)

    def _forward(self, number: int, rule: Rule, new: Atom) -> None:
        rest = self._ordered(rule.body, new, frozenset(_variables([new])))
        lines, bound = self._bind(new, ["s", "p", "o"])
        block = _Block([f"def f{len(self.triggers)}(s, p, o):", *lines], indent=1)
        self._body(block, rule, rest, bound)
        block.add("fired[0] += 1")
        block.add(f"h = {self._tuple(rule.head, number if rule.clash else None)}")
        block.open("if h not in why:")
        block.add(f"put(h, {number}, ({''.join(self._tuple(atom) + ', ' for atom in rule.body)}))")
        self._lines += block.lines
        self.triggers.append(self._trigger(number, new, rest))

    def _write_backward(self, rule: Rule) -> None:
        names = [f"h{n}" for n in range(len(rule.head))]
        lines, bound = self._bind(rule.head, names, stop="return None")
        block = _Block([f"def b{self._backward}({', '.join(names)}):", *lines], indent=1)
        self._body(block, rule, self._ordered(rule.body, None, frozenset(bound)), bound)
        block.add(f"return ({''.join(self._tuple(atom) + ', ' for atom in rule.body)})")
        self._lines += block.lines
        self._backward += 1

    def _ordered(self, body: tuple[Atom, ...], new: Atom | None, bound: frozenset[Variable]) -> list[Atom]:
        """Return the premises in the order of the joins: those that are tied to the others, fewest unknowns first."""
        rest, found = [atom for atom in body if atom is not new], []
        while rest:
            names = {atom: set(_variables([atom])) for atom in rest}
            best = min(rest, key=lambda atom: (names[atom].isdisjoint(bound), len(names[atom] - bound)))
            rest.remove(best)
            found.append(best)
            bound |= set(_variables([best]))
        return found

    def _bind(self, atom: Atom, names: list[str], stop: str = "return") -> tuple[list[str], set[Variable]]:
        """Return the lines that take a given atom apart, and the variables that they bind."""
        lines, bound = [], set[Variable]()
        for symbol, name in zip(atom, names, strict=True):
            if isinstance(symbol, Variable) and symbol not in bound:
                bound.add(symbol)
                lines.append(f"    {_name(symbol)} = {name}")
            else:
                lines += [f"    if {name} != {self._term(symbol)}:", f"        {stop}"]
        return lines, bound

    def _body(self, block: _Block, rule: Rule, rest: list[Atom], bound: set[Variable]) -> None:
        waiting = list(rule.guards)
        self._test(block, waiting, bound)
        for atom in rest:
            self._match(block, atom, bound)
            bound |= set(_variables([atom]))
            self._test(block, waiting, bound)

    def _test(self, block: _Block, waiting: list[Guard], bound: set[Variable]) -> None:
        for guard in [g for g in waiting if set(_variables([g[1:]])) <= bound]:
            waiting.remove(guard)
            test, one, other = guard[0], self._term(guard[1]), self._term(guard[2])
            if test == "alike":
                block.open(f"if not apart({one}, {other}):")
            else:
                block.open(f"if {one} {test} {other}:" if test in ("!=", "<", "<=") else f"if {test}({one}, {other}):")

    def _match(self, block: _Block, atom: Atom, bound: set[Variable]) -> None:
        """Open the loops or the test that find the statements of an atom."""
        s, p, o = (self._term(symbol) for symbol in atom)
        known = tuple(not isinstance(symbol, Variable) or symbol in bound for symbol in atom)
        if known == (True, True, True):
            block.open(f"if {o} in spo.get({s}, E).get({p}, E):")
        elif known == (True, True, False):
            block.open(f"for {o} in spo.get({s}, E).get({p}, E):")
        elif known == (False, True, True):
            block.open(f"for {s} in ops.get({o}, E).get({p}, E):")
        elif known == (True, False, True):
            block.open(f"for {p}, many in spo.get({s}, E).items():")
            block.open(f"if {o} in many:")
        elif known == (True, False, False):
            block.open(f"for {p}, many in spo.get({s}, E).items():")
            block.open(f"for {o} in many:")
        elif known == (False, False, True):
            block.open(f"for {p}, many in ops.get({o}, E).items():")
            block.open(f"for {s} in many:")
        elif s != o:
            block.open(f"for {o}, many in pos.get({p}, E).items():")
            block.open(f"for {s} in many:")
        else:
            block.open(f"for {s}, many in pos.get({p}, E).items():")
            block.open(f"if {s} in many:")

    def _trigger(self, number: int, new: Atom, rest: list[Atom]) -> Trigger:
        _, predicate, thing = new
        return Trigger(
            rule=number,
            predicate=self._number(predicate),
            object=None if self._number(predicate) is None else self._number(thing),
            gate=self._gate(new, rest[0]) if rest else None,
        )

    def _gate(self, new: Atom, first: Atom) -> Gate | None:
        """Return what the first join needs, when it needs one term of the new statement and a predicate."""
        subject, predicate, thing = first
        key, only = self._number(predicate), self._number(thing)
        places: dict[Symbol, int] = {one: place for place, one in enumerate(new) if isinstance(one, Variable)}
        if key is None:
            return None
        if subject in places:
            return places[subject], True, key, only
        return (places[thing], False, key, None) if thing in places else None

    def _number(self, symbol: Symbol) -> int | None:
        return None if isinstance(symbol, Variable) else self.numbers[symbol]

    def _term(self, symbol: Symbol) -> str:
        return _name(symbol) if isinstance(symbol, Variable) else str(self.numbers[symbol])

    def _tuple(self, atom: Atom, clash: int | None = None) -> str:
        """Return an atom as a tuple; that of an inconsistency begins with its rule, below zero."""
        front = [] if clash is None else [str(-1 - clash)]
        return f"({', '.join([*front, *map(self._term, atom)])},)"


class _Block:
    """Lines of one function, each deeper than what it stands in."""

    def __init__(self, lines: list[str], *, indent: int) -> None:
        self.lines = ["    " + line for line in lines]
        self._depth = indent + 1

    def add(self, line: str) -> None:
        self.lines.append("    " * self._depth + line)

    def open(self, line: str) -> None:
        self.add(line)
        self._depth += 1


def _name(variable: Variable) -> str:
    return f"v_{variable}"


def _variables(atoms: Iterable[tuple[Symbol, ...]]) -> Iterator[Variable]:
    return (symbol for atom in atoms for symbol in atom if isinstance(symbol, Variable))
