"""What is on record: acts on a plan -> nodes, their slots and what is under them, after each act.

It is written for annotations alone and shares no code with Doxa's task memory: each can be held against the other.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from corpus import CorpusError

RULE = re.compile(
    r"(?P<amount>[\d.]+) (?P<unit>minute|hour|day|week|month|year)s? (?P<side>before|after) (?P<source>.+)"
)
CONDITION = "if"
WAITS = "on"


@dataclass(slots=True, eq=False)
class Node:
    """A thing to plan, do, buy or keep."""

    name: str
    slots: dict[str, str] = field(default_factory=dict)
    held: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Slot -> value and the condition on which it holds."""
    rules: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """Everything on record: roots, what was taken out, and how it was before each turn that changed something."""

    roots: list[Node] = field(default_factory=list)
    gone: dict[str, Node] = field(default_factory=dict)
    past: list[list[Node]] = field(default_factory=list)

    def turn(self, acts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        """Carry out what a turn does.

        Raises:
            CorpusError: an act names what is not there, or lacks a part.
        """
        before = copy.deepcopy(self.roots)
        for kind, parts in acts:
            if kind not in CHANGES:
                continue
            try:
                CHANGES[kind](self, Parts(parts))
            except KeyError as exc:
                raise CorpusError(f"{kind}: expected {exc.args[0]}=") from exc
        undone = any(kind == "undo" for kind, _ in acts)
        if not undone and repr(before) != repr(self.roots):
            self.past.append(before)

    # -- where things are

    def find(self, path: str) -> Node:
        """The node of a path.

        Raises:
            CorpusError: there is none.
        """
        found = self.get(path)
        if found is None:
            raise CorpusError(
                f"nothing is at {path!r}; there is {', '.join(path for path, _ in self.walk()) or 'nothing'}"
            )
        return found

    def get(self, path: str) -> Node | None:
        """The node of a path, or None."""
        return next((node for own, node in self.walk() if own == path), None)

    def walk(self) -> Iterator[tuple[str, Node]]:
        """Every node with its path, in order."""
        waiting = [(node.name, node) for node in reversed(self.roots)]
        while waiting:
            path, node = waiting.pop()
            yield path, node
            waiting += [(f"{path}/{child.name}", child) for child in reversed(node.children)]

    def beside(self, path: str) -> list[Node]:
        """The list that a node of this path stands in, or would.

        Raises:
            CorpusError: nothing is there to hold it.
        """
        above, slash, _ = path.rpartition("/")
        return self.find(above).children if slash else self.roots

    def put(self, path: str) -> Node:
        """The node of a path, made where it was not; what was taken out under this path is as it was."""
        found = self.get(path)
        if found is None:
            found = self.gone.pop(path, None) or Node(path.rpartition("/")[2])
            self.beside(path).append(found)
        return found

    def take(self, path: str) -> Node:
        """Take a node out and return it."""
        node = self.find(path)
        self.beside(path).remove(node)
        self.gone[path] = node
        return node

    # -- what is told of it

    def lines(self) -> list[tuple[str, str, str, str]]:
        """Node, slot, value and condition of everything on record."""
        found = []
        for path, node in self.walk():
            for slot in dict.fromkeys((*node.slots, *node.rules)):
                found.append((path, slot, self.value(node, slot), ""))
            found += [(path, slot, value, needs) for slot, (value, needs) in node.held.items()]
            if node.children:
                found.append((path, "items", "; ".join(child.name for child in node.children), ""))
        return found

    def value(self, node: Node, slot: str, seen: tuple[str, ...] = ()) -> str:
        """The value of a slot; of a rule what it comes to, else its words."""
        rule = node.rules.get(slot)
        if rule is None:
            return node.slots.get(slot, "")
        shift = RULE.fullmatch(rule)
        source = shift["source"] if shift else rule.removeprefix("same as ")
        if source in seen or (shift is None and source == rule):
            return rule
        path, _, other = source.rpartition("/")
        held = self.get(path)
        if held is None or other not in (*held.slots, *held.rules):
            return rule
        base = self.value(held, other, (*seen, source))
        try:
            return shifted(base, float(shift["amount"]), shift["unit"], shift["side"]) if shift else base
        except ValueError:
            return rule


class Parts:
    """The parts of an act by name."""

    def __init__(self, parts: Sequence[tuple[str, str]]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> str:
        found = self.all(name)
        if not found:
            raise KeyError(name)
        return found[0]

    def get(self, name: str, default: str = "") -> str:
        """The first part of a name."""
        return next(iter(self.all(name)), default)

    def all(self, name: str) -> list[str]:
        """All parts of a name."""
        return [value for key, value in self._parts if key == name]


def shifted(value: str, amount: float, unit: str, side: str) -> str:
    """A day or time so much before or after another one.

    Raises:
        ValueError: it is neither.
    """
    sign = -1 if side == "before" else 1
    if re.fullmatch(r"\d\d?:\d\d", value):
        start = datetime.combine(date(2000, 1, 1), time.fromisoformat(value.zfill(5)))
        return (start + sign * timedelta(**{f"{unit}s": amount})).strftime("%H:%M")
    day = date.fromisoformat(value)
    if unit in ("month", "year"):
        months = day.month - 1 + sign * round(amount) * (12 if unit == "year" else 1)
        return day.replace(year=day.year + months // 12, month=months % 12 + 1).isoformat()
    return (day + sign * timedelta(**{f"{unit}s": amount})).isoformat()


def quantity(item: str) -> tuple[str, str]:
    """The name and the count of an item: "6 eggs" -> "eggs", "6"."""
    found = re.fullmatch(r"(\d[\d.,/]*(?: ?(?:kg|g|ml|l|cl|m|cm|mm|lb|oz))?) (.+)", item)
    return (found[2], found[1]) if found else (item, "")


def _new(record: Record, parts: Parts) -> None:
    for path in parts.all("node"):
        _if(record.put(path), parts)


def _if(node: Node, parts: Parts) -> None:
    """Note the condition on which a node is there; said again without one, it is there."""
    node.slots.pop(CONDITION, None)
    if parts.get(CONDITION):
        node.slots[CONDITION] = parts[CONDITION]


def _add(record: Record, parts: Parts) -> None:
    record.put(parts["node"])
    for value in parts.all("value") or [parts["value"]]:
        name, count = quantity(value)
        item = record.put(f"{parts['node']}/{name}")
        if count:
            item.slots["count"] = count
        _if(item, parts)


def _set(record: Record, parts: Parts) -> None:
    node, slot = record.put(parts["node"]), parts["slot"]
    if parts.get(CONDITION):
        node.held[slot] = (parts["value"], parts[CONDITION])
        return
    node.held.pop(slot, None)
    node.rules.pop(slot, None)
    node.slots.pop(CONDITION, None)
    node.slots[slot] = "; ".join(parts.all("value") or [parts["value"]])


def _assign(record: Record, parts: Parts) -> None:
    node, who = record.put(parts["node"]), "; ".join(parts.all("value") or [parts["value"]])
    if parts.get(CONDITION):
        node.held["who"] = (who, parts[CONDITION])
    else:
        node.held.pop("who", None)
        node.slots["who"] = who


def _rule(record: Record, parts: Parts) -> None:
    node = record.put(parts["node"])
    node.slots.pop(parts["slot"], None)
    node.rules[parts["slot"]] = parts["value"]


def _replace(record: Record, parts: Parts) -> None:
    if parts.get("slot"):
        _set(record, parts)
        return
    path = f"{parts['node']}/{parts['from']}"
    around = record.beside(path)
    at = around.index(record.find(path))
    record.take(path)
    name, count = quantity(parts["value"])
    new = record.get(f"{parts['node']}/{name}")
    if new is not None:
        return
    node = record.gone.pop(f"{parts['node']}/{name}", None) or Node(name)
    if count:
        node.slots["count"] = count
    around.insert(at, node)


def _remove(record: Record, parts: Parts) -> None:
    if parts.get("slot"):
        node = record.find(parts["node"])
        if parts["slot"] != CONDITION and not any(parts["slot"] in one for one in (node.slots, node.held, node.rules)):
            raise CorpusError(f"{parts['node']!r} has no slot {parts['slot']!r}")
        for one in (node.slots, node.held, node.rules):
            one.pop(parts["slot"], None)  # type: ignore[attr-defined]
        return
    for path in parts.all("node"):
        record.take(path)


def _move(record: Record, parts: Parts) -> None:
    path = parts["node"]
    node = record.find(path)
    record.beside(path).remove(node)
    if parts.get("to"):
        (record.put(parts["to"]).children if parts["to"] != "/" else record.roots).append(node)
        return
    side = "before" if parts.get("before") else "after"
    other = parts[side]
    around = record.beside(other)
    around.insert(around.index(record.find(other)) + (side == "after"), node)


def _swap(record: Record, parts: Parts) -> None:
    one, other = record.find(parts["node"]), record.find(parts["with"])
    if parts.get("slot"):
        slot = parts["slot"]
        if slot not in one.slots or slot not in other.slots:
            raise CorpusError(f"both need the slot {slot!r} to swap it")
        one.slots[slot], other.slots[slot] = other.slots[slot], one.slots[slot]
        return
    here, there = record.beside(parts["node"]), record.beside(parts["with"])
    at, to = here.index(one), there.index(other)
    here[at], there[to] = other, one


def _split(record: Record, parts: Parts) -> None:
    path = parts["node"]
    around = record.beside(path)
    whole = record.take(path)
    for into in parts.all("into") or [parts["into"]]:
        if record.get(into) is None:
            around.append(Node(into.rpartition("/")[2], dict(whole.slots), dict(whole.held), dict(whole.rules)))


def _merge(record: Record, parts: Parts) -> None:
    nodes = [record.take(path) for path in parts.all("node") if path != parts["into"]]
    whole = record.put(parts["into"])
    for node in nodes:
        whole.slots = {**node.slots, **whole.slots}
        whole.rules = {**node.rules, **whole.rules}
        known = {child.name for child in whole.children}
        whole.children += [child for child in node.children if child.name not in known]


def _copy(record: Record, parts: Parts) -> None:
    node = copy.deepcopy(record.find(parts["node"]))
    node.name = parts["into"].rpartition("/")[2]
    left_out = parts.all("without")
    node.children = [child for child in node.children if child.name not in left_out]
    for slot in left_out:
        node.slots.pop(slot, None)
    record.beside(parts["into"]).append(node)


def _rename(record: Record, parts: Parts) -> None:
    path, name = parts["node"], parts["value"]
    node = record.find(path)
    above = path.rpartition("/")[0]
    new = f"{above}/{name}" if above else name
    for _, one in record.walk():
        one.rules = {slot: _under(rule, path, new) for slot, rule in one.rules.items()}
        if WAITS in one.slots:
            waits = one.slots[WAITS].split("; ")
            one.slots[WAITS] = "; ".join(name if wait == node.name else wait for wait in waits)
    record.gone = {_under(old, path, new): one for old, one in record.gone.items()}
    node.name = name


def _under(text: str, old: str, new: str) -> str:
    """A path, or a rule that names one, with another beginning."""
    return re.sub(rf"(^|before |after |same as ){re.escape(old)}(?=/|$)", lambda found: found[1] + new, text)


def _depend(record: Record, parts: Parts) -> None:
    node = record.put(parts["node"])
    for path in parts.all("on") or [parts["on"]]:
        name = record.find(path).name
        had = [one for one in node.slots.get(WAITS, "").split("; ") if one]
        node.slots[WAITS] = "; ".join(dict.fromkeys((*had, name)))


def _done(record: Record, parts: Parts) -> None:
    for path in parts.all("node"):
        record.find(path).slots["status"] = "done"


def _cancel(record: Record, parts: Parts) -> None:
    node = record.find(parts["node"])
    node.slots, node.held, node.rules, node.children = {"status": "cancelled"}, {}, {}, []


def _reset(record: Record, parts: Parts) -> None:
    path = parts["node"]
    node = record.find(path)
    for child in [child for child in node.children if child.name not in parts.all("value")]:
        record.take(f"{path}/{child.name}")
    for name in parts.all("value"):
        record.put(f"{path}/{name}")


def _rollback(record: Record, parts: Parts) -> None:
    if parts.get("slot"):
        node = record.find(parts["node"])
        node.rules.pop(parts["slot"], None)
        node.slots[parts["slot"]] = parts["value"]
        return
    for path in parts.all("node"):
        if path not in record.gone:
            raise CorpusError(f"{path!r} was never taken out, so it cannot come back")
        record.put(path)


def _undo(record: Record, parts: Parts) -> None:
    if not record.past:
        raise CorpusError("nothing has changed yet that could be undone")
    record.roots = record.past.pop()


CHANGES: Mapping[str, object] = {
    "new": _new, "add": _add, "set": _set, "assign": _assign, "rule": _rule, "replace": _replace, "remove": _remove,
    "move": _move, "swap": _swap, "split": _split, "merge": _merge, "copy": _copy, "rename": _rename, "depend": _depend,
    "done": _done, "cancel": _cancel, "reset": _reset, "rollback": _rollback, "undo": _undo,
}  # fmt: skip
