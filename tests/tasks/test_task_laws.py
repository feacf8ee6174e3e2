"""Laws of the task forest, under random scripts of acts: taking back, telling again, no circle, nobody's orphan.

`Plain` is a model of the tasks that shares no code with the forest: dicts that are copied as a whole at every step, and
everything worked out anew. What it says of each act is what the act's documentation says.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.errors import TaskError
from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskStatus, TaskValue, ValueKind
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Editor

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


class Desk:
    """A forest that acts are carried out on, one commit after another."""

    def __init__(self) -> None:
        self.forest = TaskForest()

    def do(self, act: Callable[[Editor], Any], *, undoes: int | None = None) -> Any:
        editor = Editor(self.forest)
        given = act(editor)
        self.commit(editor, undoes=undoes)
        return given

    def commit(self, editor: Editor, *, undoes: int | None = None) -> None:
        commit = TaskCommit(number=self.forest.next_number, at=AT, edits=editor.edits(), undoes=undoes)
        self.forest.apply(commit)

    def undo(self, number: int) -> None:
        self.do(lambda editor: editor.undo(number), undoes=number)


STANDING = ("active", "done", "blocked")


class Refused(Exception):
    """The act cannot be done."""


class Plain:
    """Nodes by id, and all earlier versions of them."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.versions: list[dict[str, dict[str, Any]]] = [{}]
        self.given = 0

    def commit(self) -> None:
        self.versions.append(deepcopy(self.nodes))

    # -- reading

    def under(self, parent: str | None) -> list[str]:
        found = []
        for key, node in self.nodes.items():
            if parent is None and not node["at"]:
                found.append((int(key[1:]), int(key[1:]), key))
            elif parent in node["at"]:
                found.append((node["at"][parent], int(key[1:]), key))
        return [key for *_, key in sorted(found)]

    def waits(self, key: str) -> bool:
        node = self.nodes[key]
        return node["status"] == "blocked" and any(kind == "condition" for _, kind, _ in node["needs"])

    def seen(self, key: str) -> bool:
        node = self.nodes[key]
        if node["status"] not in STANDING:
            return False
        return not node["at"] or any(self.seen(above) and not self.waits(above) for above in node["at"])

    def there(self, key: str) -> bool:
        return self.seen(key) and not self.waits(key)

    def label(self, key: str) -> str:
        for name in ("colour", "color"):
            for child in self.under(key):
                node = self.nodes[child]
                if node["name"] == name and self.seen(child):
                    if not self.waits(child) and node["value"] and node["value"] not in self.nodes[key]["name"]:
                        return f"{node['value']} {self.nodes[key]['name']}"
                    break
        return self.nodes[key]["name"]

    def shown(self, key: str) -> Any:
        if not self.there(key):
            return None
        items = [child for child in self.under(key) if self.nodes[child]["kind"] == "item" and self.there(child)]
        return [self.label(item) for item in items] if items else self.nodes[key]["value"] or None

    def path(self, key: str) -> str:
        node = self.nodes[key]
        above = next((up for up in node["at"] if self.there(up)), next(iter(node["at"]), None))
        taken: list[str] = []
        siblings = [one for one in self.under(above) if self.seen(one)]
        names = {self.nodes[one]["name"] for one in siblings}
        number = 1
        for one in siblings:
            if self.nodes[one]["name"] == node["name"]:
                if one == key:
                    break
                number += 1
                while f"{node['name']} {number}" in names:
                    number += 1
                taken.append(one)
        name = node["name"] if number == 1 or not self.seen(key) else f"{node['name']} {number}"
        return name if above is None else f"{self.path(above)}/{name}"

    def state(self) -> dict[str, Any]:
        return {self.path(key): value for key in self.nodes if (value := self.shown(key)) is not None}

    def above(self, key: str) -> set[str]:
        return {up for parent in self.nodes[key]["at"] for up in ({parent} | self.above(parent))}

    def needed(self, key: str) -> set[str]:
        direct = {on for on, kind, _ in self.nodes[key]["needs"] if on and kind != "fact"}
        return {one for on in direct for one in ({on} | self.needed(on))}

    # -- acts

    def add(self, name: str, parent: str | None, kind: str, value: float | None) -> None:
        self.given += 1
        place = {} if parent is None else {parent: self.last(parent)}
        self.nodes[f"n{self.given}"] = {
            "name": name, "kind": kind, "value": "" if value is None else f"{value:g}", "amount": value,
            "status": "active", "at": place, "needs": [],
        }  # fmt: skip

    def last(self, parent: str) -> float:
        return max((self.nodes[one]["at"][parent] for one in self.under(parent)), default=0.0) + 1.0

    def set(self, key: str, value: float | None) -> None:
        self.nodes[key].update(value="" if value is None else f"{value:g}", amount=value)

    def relink(self, key: str, at: dict[str, float]) -> None:
        if any(up == key or key in self.above(up) for up in at):
            raise Refused
        self.nodes[key]["at"] = at

    def link(self, key: str, parent: str) -> None:
        node = self.nodes[key]
        place = node["at"].get(parent, self.last(parent))
        alive = node["status"] in STANDING
        self.relink(key, {**(node["at"] if alive else {}), parent: place})
        node["status"] = node["status"] if alive else "active"

    def unlink(self, key: str, parent: str) -> None:
        node = self.nodes[key]
        if parent in node["at"]:
            if len(node["at"]) == 1:
                node["status"] = "removed"
            else:
                node["at"] = {up: place for up, place in node["at"].items() if up != parent}

    def move(self, key: str, parent: str) -> None:
        node = self.nodes[key]
        self.relink(key, {parent: node["at"].get(parent, self.last(parent))})
        node["status"] = node["status"] if node["status"] in STANDING else "active"

    def swap(self, a: str, b: str) -> None:
        first, second = self.nodes[a], self.nodes[b]
        children = not (first["value"] and second["value"])
        for name in ("value", "amount"):
            first[name], second[name] = second[name], first[name]
        if children and a != b:
            for node in self.nodes.values():
                swapped = {a: b, b: a}
                node["at"] = {swapped.get(up, up): place for up, place in node["at"].items()}
            self.no_circle()

    def no_circle(self) -> None:
        for key in self.nodes:
            seen, waiting = set[str](), list(self.nodes[key]["at"])
            while waiting:
                up = waiting.pop()
                if up == key:
                    raise Refused
                if up not in seen:
                    seen.add(up)
                    waiting += self.nodes[up]["at"]

    def replace(self, old: str, name: str, within: str | None) -> None:
        node = self.nodes[old]
        where = {up: p for up, p in node["at"].items() if (self.there(up) if within is None else up == within)}
        if within is not None and not where:
            raise Refused
        siblings = {child for up in where for child in self.under(up)}
        alike = [key for key in siblings - {old} if self.nodes[key]["name"] == name]
        fits = [key for key in alike if self.nodes[key]["kind"] == node["kind"]]
        fits.sort(key=lambda key: (not self.seen(key), -int(key[1:])))
        status = "active"
        if fits:
            new = fits[0]
            at = dict(self.nodes[new]["at"]) if self.nodes[new]["status"] in STANDING else {}
        else:
            self.add(name, None, node["kind"], None)
            new, at = f"n{self.given}", {}
            self.nodes[new]["needs"] = list(node["needs"])
            status = "blocked" if node["status"] == "blocked" else status
        self.relink(new, {**at, **{up: place for up, place in where.items() if up not in at}})
        self.nodes[new]["status"] = status
        left = {up: place for up, place in node["at"].items() if up not in where}
        if within is None or not any(self.there(up) for up in left):
            node["status"] = "replaced"
            self.follow(old, new)
        else:
            node["at"] = left

    def follow(self, old: str, new: str) -> None:
        for key in sorted(self.nodes, key=lambda one: int(one[1:])):
            needs = self.nodes[key]["needs"]
            instead = list(dict.fromkeys((new if on == old else on, kind, shift) for on, kind, shift in needs))
            if any(on == old for on, *_ in needs) and key != new and key not in self.needed(new):
                self.nodes[key]["needs"] = instead

    def reset(self, parent: str, keep: list[str]) -> None:
        children = [one for one in self.under(parent) if self.seen(one)]
        items = [one for one in children if self.nodes[one]["kind"] == "item"]
        for child in items or children:
            if child not in keep:
                self.unlink(child, parent)
        for child in keep:
            if not self.seen(child) or parent not in self.nodes[child]["at"]:
                self.link(child, parent)

    def depend(self, key: str, on: str, kind: str, shift: float) -> None:
        if on and kind != "fact" and (on == key or key in self.needed(on)):
            raise Refused
        if (on, kind, shift) not in self.nodes[key]["needs"]:
            self.nodes[key]["needs"].append((on, kind, shift))
        if kind == "condition":
            self.nodes[key]["status"] = "blocked"

    def settle(self, key: str, holds: bool) -> None:
        node = self.nodes[key]
        node["needs"] = [one for one in node["needs"] if one[1] != "condition"]
        node["status"] = "active" if holds else "removed"

    def back_to(self, number: int) -> None:
        """Everything is as after a commit; what came later is removed."""
        then = deepcopy(self.versions[number])
        for key, node in self.nodes.items():
            if key not in then:
                kept = {**node, "status": "removed"} if node["status"] in STANDING else node
                then[key] = kept
        self.nodes = then

    # -- what follows

    def propagate(self, given: set[str]) -> None:
        """Work over all nodes, those first that depend on nothing else, as the version before says what is new."""
        before = Plain()
        before.nodes = self.versions[-1]
        for key in sorted(self.nodes, key=lambda one: len(self.needed(one))):
            for on, kind, shift in list(self.nodes[key]["needs"]):
                node = self.nodes[key]
                source, was = self.nodes.get(on), before.nodes.get(on)
                if kind == "derived" and key not in given and source["amount"] is not None:
                    new = (on, kind, shift) not in before.nodes.get(key, {"needs": ()})["needs"]
                    if new or was is None or was["amount"] != source["amount"]:
                        self.set(key, source["amount"] + shift)
                elif kind == "before" and self.touched(on, key, before):
                    if not self.usable(on):
                        node["status"] = "blocked" if node["status"] == "active" else node["status"]
                    elif node["status"] == "blocked" and not self.waits(key):
                        others = [one for one, what, _ in node["needs"] if what == "before"]
                        by_word = all(one in before.nodes and before.usable(one) for one in others)
                        free = [self.nodes[o]["status"] == "done" if by_word else self.usable(o) for o in others]
                        node["status"] = "active" if all(free) else "blocked"
                elif kind == "condition" and on and source["status"] == "done" and self.waits(key):
                    if not self.touched(on, key, before):
                        continue
                    node["needs"].remove((on, kind, shift))
                    waits = any(what == "condition" for _, what, _ in node["needs"])
                    node["status"] = "blocked" if waits else "active"

    def touched(self, on: str, key: str, before: Plain) -> bool:
        """Tell whether the turn changed one of two nodes, or what either depends on, or whether it is there."""
        for one in {key, on, *self.needed(key), *self.needed(on)}:
            if self.nodes[one] != before.nodes.get(one) or self.there(one) != before.there(one):
                return True
        return False

    def usable(self, key: str) -> bool:
        return self.nodes[key]["status"] in ("active", "done") and self.seen(key)


NAMES = ("tent", "stove", "rope", "colour", "day", "plan")
KINDS = tuple(NodeKind)[:3]
Act = tuple[str, int, int, int]


def number(amount: float | None) -> TaskValue | None:
    return None if amount is None else TaskValue(text=f"{amount:g}", kind=ValueKind.NUMBER, amount=amount)


def later(value: TaskValue, amount: float, unit: str) -> TaskValue | None:
    return None if value.amount is None else number(value.amount + amount)


def amount_of(n: int) -> float | None:
    return None if n % 4 == 0 else float(n % 4)


def pick(ids: Sequence[str], n: int) -> str:
    return ids[n % len(ids)]


def need(ids: Sequence[str], b: int, c: int) -> tuple[str, str, float]:
    kind = ("before", "derived", "condition", "condition", "fact")[c % 5]
    on = {3: "", 4: "f1_abc"}.get(c % 5, pick(ids, b))
    return on, kind, float(c % 3) if kind == "derived" else 0.0


def carried_out(tree: Editor, act: Act) -> None:
    """Carry one act out on an editor; numbers stand for whatever there is."""
    name, a, b, c = act
    ids = sorted(tree.forest.nodes, key=lambda key: int(key[1:]))
    if name == "add" or not ids:
        parent = pick(ids, b) if ids and a % 5 else None
        tree.add(NAMES[a % 6], parent, kind=KINDS[c % 3], value=number(amount_of(c)))
        return
    key, other = pick(ids, a), pick(ids, b)
    acts: dict[str, Callable[[], Any]] = {
        "set": lambda: tree.set(key, number(amount_of(c))),
        "rename": lambda: tree.rename(key, NAMES[c % 6]),
        "done": lambda: tree.done(key),
        "block": lambda: tree.status(key, TaskStatus.BLOCKED),
        "remove": lambda: tree.remove(key),
        "restore": lambda: tree.restore(key),
        "link": lambda: tree.link(key, other),
        "unlink": lambda: tree.unlink(key, other),
        "move": lambda: tree.move(key, other),
        "swap": lambda: tree.swap(key, other),
        "replace": lambda: tree.replace(key, NAMES[c % 6]),
        "replace in": lambda: tree.replace(key, NAMES[c % 6], {other}),
        "reset": lambda: tree.reset(key, [child for n, child in enumerate(tree.all_children(key)) if n % 2 == c % 2]),
        "depend": lambda: tree.depend(key, Dependency(on=(n := need(ids, b, c))[0], kind=n[1], shift=n[2])),
        "settle": lambda: tree.settle(key, holds=bool(c % 2)),
        "rollback": lambda: tree.rollback(None, c % tree.forest.next_number),
        "part back": lambda: tree.rollback(key, c % tree.forest.next_number),
        "undo": lambda: tree.undo(1 + c % (tree.forest.next_number - 1)),
        "copy": lambda: tree.copy(key, NAMES[c % 6], without=NAMES[b % 6 : b % 6 + 1]),
        "split": lambda: tree.split(key, ["first", "second"], tree.children(key)[:2]),
        "merge": lambda: tree.merge(tree.children(key) if c % 2 and tree.children(key) else key),
    }
    acts[name]()


def carried_out_plainly(plain: Plain, act: Act) -> set[str]:
    """Carry one act out on the model, and return what was given a value."""
    name, a, b, c = act
    ids = sorted(plain.nodes, key=lambda key: int(key[1:]))
    if name == "add" or not ids:
        parent = pick(ids, b) if ids and a % 5 else None
        plain.add(NAMES[a % 6], parent, str(KINDS[c % 3]), amount_of(c))
        return set()
    key, other = pick(ids, a), pick(ids, b)
    acts: dict[str, Callable[[], Any]] = {
        "set": lambda: plain.set(key, amount_of(c)),
        "rename": lambda: plain.nodes[key].update(name=NAMES[c % 6]),
        "done": lambda: plain.nodes[key].update(status="done"),
        "block": lambda: plain.nodes[key].update(status="blocked"),
        "remove": lambda: plain.nodes[key].update(status="removed"),
        "restore": lambda: plain.nodes[key].update(status="active"),
        "link": lambda: plain.link(key, other),
        "unlink": lambda: plain.unlink(key, other),
        "move": lambda: plain.move(key, other),
        "swap": lambda: plain.swap(key, other),
        "replace": lambda: plain.replace(key, NAMES[c % 6], None),
        "replace in": lambda: plain.replace(key, NAMES[c % 6], other),
        "reset": lambda: plain.reset(key, [child for n, child in enumerate(plain.under(key)) if n % 2 == c % 2]),
        "depend": lambda: plain.depend(key, *need(ids, b, c)),
        "settle": lambda: plain.settle(key, bool(c % 2)),
        "rollback": lambda: plain.back_to(c % len(plain.versions)),
    }
    acts[name]()
    return {key} if name == "set" else set()


MODELLED = (
    *("add", "add", "add", "set", "set", "rename", "done", "block", "remove", "restore", "link", "unlink", "move"),
    *("swap", "replace", "replace in", "reset", "depend", "depend", "settle", "rollback"),
)
ALL = (*MODELLED, "part back", "undo", "copy", "split", "merge")
NUMBERS = st.integers(0, 99)


def scripts(names: Sequence[str], *, longest: int = 25) -> st.SearchStrategy[list[Act]]:
    return st.lists(st.tuples(st.sampled_from(names), NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=longest)


def told(script: Sequence[Act]) -> Desk:
    """Carry a script out, one commit an act; what is refused changes nothing."""
    desk = Desk()
    for act in script:
        step(desk, act)
    return desk


def step(desk: Desk, act: Act) -> bool:
    editor = Editor(desk.forest)
    mark = editor.mark()
    try:
        carried_out(editor, act)
    except TaskError:
        editor.back(mark)
        assert editor.edits() == ()
        return False
    editor.propagate(later)
    desk.commit(editor)
    return True


def whole(forest: TaskForest) -> dict[str, Any]:
    """Return what is in sight, with all that is said of it."""
    return {key: forest.node(key) for key in forest.order()}


def both(script: Sequence[Act]) -> None:
    """Carry a script out on the forest and on the model, and compare them after every act."""
    desk, plain = Desk(), Plain()
    for number, act in enumerate(script):
        before = plain.nodes, plain.given
        plain.nodes = json_copy(plain.nodes)
        try:
            valued = carried_out_plainly(plain, act)
        except Refused:
            plain.nodes, plain.given = before
            assert not step(desk, act), (number, act)
            continue
        plain.propagate(valued)
        plain.commit()
        assert step(desk, act), (number, act)
        assert desk.forest.state() == plain.state(), (number, act)
        statuses = {key: str(node.status) for key, node in desk.forest.nodes.items()}
        assert statuses == {key: node["status"] for key, node in plain.nodes.items()}, (number, act)


def json_copy(nodes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {key: {**node, "at": dict(node["at"]), "needs": list(node["needs"])} for key, node in nodes.items()}


@given(scripts(MODELLED))
@settings(max_examples=200)
def test_short_scripts_do_what_the_plain_model_does(script):
    both(script)


@pytest.mark.parametrize("seed", range(6))
def test_a_script_of_a_thousand_acts_does_what_the_plain_model_does(seed):
    draw = random.Random(seed)
    # Additions stop after a while, so that most acts meet nodes with a past.
    names = [draw.choice(MODELLED if n < 150 else MODELLED[3:]) for n in range(1000)]
    both([(name, draw.randrange(1000), draw.randrange(1000), draw.randrange(1000)) for name in names])


@given(scripts(ALL), st.tuples(st.sampled_from(ALL), NUMBERS, NUMBERS, NUMBERS))
@settings(max_examples=200)
def test_undo_after_any_act_restores_the_state_exactly(script, last):
    desk = told(script)
    before, seen = desk.forest.state(), whole(desk.forest)
    if step(desk, last):
        after = whole(desk.forest)
        desk.undo(desk.forest.commits[-1].number)
        assert desk.forest.state() == before and whole(desk.forest) == seen
        desk.undo(desk.forest.commits[-1].number)
        assert whole(desk.forest) == after


@given(scripts(ALL))
def test_all_is_undone_step_by_step(script):
    desk = told(script)
    states = [desk.forest.at(number).state() for number in range(desk.forest.next_number)]
    while (last := desk.forest.undoable()) is not None:
        desk.undo(last)
        assert desk.forest.state() == states[last - 1]
    assert desk.forest.state() == {}


@given(scripts(ALL))
def test_what_is_stored_and_read_again_is_the_same_forest(script):
    desk, again = told(script), TaskForest()
    for commit in desk.forest.commits:
        again.apply(commit_from(json.loads(json.dumps(commit_to(commit))), again))
    assert again.commits == desk.forest.commits and again.nodes == desk.forest.nodes
    assert again.state() == desk.forest.state() and again.past() == desk.forest.past()
    rebuilt = TaskForest(desk.forest.commits)
    assert rebuilt.snapshot() == desk.forest.snapshot()


@given(scripts(ALL))
def test_no_acts_make_a_circle_or_an_orphan(script):
    desk = told(script)
    forest = desk.forest
    for key, node in forest.nodes.items():
        assert len(node.parents) == len(node.places) == len(set(node.parents))
        assert all(parent in forest.nodes for parent in node.parents)
        assert key not in forest.ancestors(key)
        assert all(needed.on in forest.nodes for needed in node.depends if needed.on and needed.kind != "fact")
        assert not waits_for_itself(forest, key)
        assert all(key in forest.all_children(parent) for parent in node.parents)
        assert node.parents or key in forest.all_roots()
    for key in forest.order():  # what is in sight is reached from a root in sight
        assert forest.visible(key) and (
            not forest.node(key).parents or any(map(forest.opens, forest.node(key).parents))
        )


def waits_for_itself(forest: TaskForest, key: str) -> bool:
    seen, waiting = set[str](), [key]
    while waiting:
        for needed in forest.node(waiting.pop()).depends:
            if needed.on == key:
                return True
            if needed.kind != "fact" and needed.on and needed.on not in seen:
                seen.add(needed.on)
                waiting.append(needed.on)
    return False


@given(scripts(ALL))
def test_what_is_kept_up_to_date_is_what_is_worked_out_anew(script):
    """What is in sight, what is exported and its past, the index of words: all are kept act by act."""
    forest = told(script).forest
    editor = Editor(forest)
    if forest.nodes:
        editor.alias(next(iter(forest.nodes)), "once more")  # from here on it reads through its own layer
    for key in forest.nodes:
        assert forest.visible(key) == editor.visible(key)
        assert forest.exported(key) == editor.exported(key)
        line = forest.timeline(key)
        assert (line[-1][1] if line else None) == forest.exported(key)
        for commit, value in line:
            assert forest.at(commit).exported(key) == value
        assert key in forest.find(forest.node(key).name)


@given(scripts(ALL), scripts(ALL), st.randoms())
@settings(max_examples=100)
def test_two_tasks_side_by_side_never_exchange_anything(first, second, draw):
    """Two scripts run in turns, each on nodes of its own task; each task ends as if it were alone."""
    alone = [grown(script) for script in (first, second)]
    left = [[(0, act) for act in first], [(1, act) for act in second]]
    order = [left[side].pop(0) for side in draw.sample([0] * len(first) + [1] * len(second), len(first) + len(second))]
    desk = Desk()
    roots = [desk.do(lambda e, n=n: e.add(f"task {n}", kind=NodeKind.TASK)) for n in range(2)]
    for side, act in order:
        within(desk, roots[side], act)
    for side, state in enumerate(alone):
        mine = {path: value for path, value in desk.forest.state().items() if path.split("/")[0] == f"task {side}"}
        assert {path.partition("/")[2]: value for path, value in mine.items()} == state


SIDED = ("set", "rename", "done", "remove", "restore", "link", "unlink", "move", "swap", "replace", "reset")


def grown(script: Sequence[Act]) -> dict[str, Any]:
    desk = Desk()
    root = desk.do(lambda e: e.add("task", kind=NodeKind.TASK))
    for act in script:
        within(desk, root, act)
    return {path.partition("/")[2]: value for path, value in desk.forest.state().items()}


def within(desk: Desk, root: str, act: Act) -> None:
    """Carry an act out on what is under one root."""
    name, a, b, c = act
    ids = sorted(desk.forest.descendants(root), key=lambda key: int(key[1:]))
    editor = Editor(desk.forest)
    try:
        if not ids or name not in SIDED:
            parent = pick([root, *ids], b)
            editor.add(NAMES[a % 6], parent, kind=KINDS[c % 3], value=number(amount_of(c)))
        else:
            key, other = pick(ids, a), pick(ids, b)
            acts: dict[str, Callable[[], Any]] = {
                "set": lambda: editor.set(key, number(amount_of(c))),
                "rename": lambda: editor.rename(key, NAMES[c % 6]),
                "done": lambda: editor.done(key),
                "remove": lambda: editor.remove(key),
                "restore": lambda: editor.restore(key),
                "link": lambda: editor.link(key, other),
                "unlink": lambda: editor.unlink(key, other),
                "move": lambda: editor.move(key, other),
                "swap": lambda: editor.swap(key, other),
                "replace": lambda: editor.replace(key, NAMES[c % 6], set(editor.node(key).parents)),
                "reset": lambda: editor.reset(key, editor.all_children(key)[c % 2 :: 2]),
            }
            acts[name]()
    except TaskError:
        return
    desk.commit(editor)
