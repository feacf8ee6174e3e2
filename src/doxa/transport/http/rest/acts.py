"""What a client does to the tasks by hand, act by act -> calls of an editor.

A node is named by its id, by its path ("team dinner/time"), or, where an act of the same list adds it, by the name
that this act gives it (`as`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from doxa.core.tasks import Dependency, DependencyKind, NodeKind, TaskStatus, TaskValue, ValueKind
from doxa.transport.addressing import node_called
from doxa.transport.http.rest.ground import Body

if TYPE_CHECKING:
    from doxa.engine import Editor

__all__ = ["Act", "carry_out"]

DEEPEST = 100
"""Levels of tasks: they are told as one tree, of which JSON and its readers take so many."""
Node = Annotated[str, Field(description="Its id, its path, or the `as` of an act before.", examples=["dinner/time"])]


class ValueIn(Body):
    """A value, as it is shown and, where it is one, as a number."""

    text: str
    kind: ValueKind = ValueKind.TEXT
    amount: float | None = Field(None, description="In the base unit of the kind, such as minutes after midnight.")
    unit: str = ""

    def value(self) -> TaskValue:
        """Return it as the tasks have it."""
        return TaskValue(text=self.text, kind=self.kind, amount=self.amount, unit=self.unit)


class Scene:
    """The tasks as the acts so far left them."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.called: dict[str, str] = {}

    def find(self, name: str) -> str:
        """Return the id of a node.

        Raises:
            NotFoundError: there is no such node.
        """
        return self.called[name] if name in self.called else node_called(self.editor, name)


class One(Body):
    """One act."""

    @abstractmethod
    def done(self, scene: Scene) -> list[str]:
        """Carry it out, and return the ids of the nodes that it makes or is about."""


class OnNode(One):
    """An act on one node."""

    node: Node

    def done(self, scene: Scene) -> list[str]:
        """Carry it out, and return the id of the node."""
        key = scene.find(self.node)
        self.act_on(key, scene)
        return [key]

    def act_on(self, key: str, scene: Scene) -> None:
        """Carry it out on the node of that id."""
        raise NotImplementedError


class Add(One):
    """Add a node after the other children of its parent, or a task of its own."""

    act: Literal["add"]
    name: str = Field(examples=["time"])
    under: Node | None = None
    kind: NodeKind = NodeKind.SLOT
    value: ValueIn | None = None
    aliases: list[str] = Field([], description="Other names.")
    bound: int | None = Field(None, description="Of a loop: how often at most it is gone through.")
    called: str | None = Field(None, alias="as", description="What later acts of the list call it.")

    def done(self, scene: Scene) -> list[str]:
        """Add it."""
        under = None if self.under is None else scene.find(self.under)
        value = None if self.value is None else self.value.value()
        key = scene.editor.add(self.name, under, kind=self.kind, value=value, aliases=self.aliases, bound=self.bound)
        if self.called is not None:
            scene.called[self.called] = key
        return [key]


class Set(OnNode):
    """Give a node a value, or none."""

    act: Literal["set"]
    value: ValueIn | None

    def act_on(self, key: str, scene: Scene) -> None:
        """Set it."""
        scene.editor.set(key, None if self.value is None else self.value.value())


class Rename(OnNode):
    """Give a node another name; the old one finds it as well."""

    act: Literal["rename"]
    name: str

    def act_on(self, key: str, scene: Scene) -> None:
        """Rename it."""
        scene.editor.rename(key, self.name)


class Alias(OnNode):
    """Note other names for a node."""

    act: Literal["alias"]
    names: list[str] = Field(min_length=1)

    def act_on(self, key: str, scene: Scene) -> None:
        """Note them."""
        scene.editor.alias(key, *self.names)


class Stand(OnNode):
    """Say where a node stands: `done`, `removed`, or `active` to bring it back."""

    act: Literal["status"]
    status: TaskStatus

    def act_on(self, key: str, scene: Scene) -> None:
        """Say it."""
        scene.editor.status(key, self.status)


class Share(OnNode):
    """Note with whom a node is shared."""

    act: Literal["share"]
    users: list[str]

    def act_on(self, key: str, scene: Scene) -> None:
        """Note it."""
        scene.editor.share(key, self.users)


class Link(OnNode):
    """Put a node under one more parent (`link`), or take it from one (`unlink`); from its last one, it is removed."""

    act: Literal["link", "unlink"]
    under: Node

    def act_on(self, key: str, scene: Scene) -> None:
        """Link it."""
        under = scene.find(self.under)
        (scene.editor.link if self.act == "link" else scene.editor.unlink)(key, under)


class Move(OnNode):
    """Put a node under another parent instead of one, or of all; without a parent it is a task of its own."""

    act: Literal["move"]
    under: Node | None = None
    instead_of: Node | None = None

    def act_on(self, key: str, scene: Scene) -> None:
        """Move it."""
        under, old = (None if one is None else scene.find(one) for one in (self.under, self.instead_of))
        scene.editor.move(key, under, old)


class Swap(OnNode):
    """Let two nodes change their values, or, where one has none, their values and children."""

    act: Literal["swap"]
    other: Node

    def done(self, scene: Scene) -> list[str]:
        """Swap them."""
        keys = [scene.find(self.node), scene.find(self.other)]
        scene.editor.swap(*keys)
        return keys


class Replace(OnNode):
    """Let a node of another name take the place of one."""

    act: Literal["replace"]
    name: str
    within: list[Node] | None = Field(None, description="Under these parents alone; by default everywhere.")

    def done(self, scene: Scene) -> list[str]:
        """Replace it."""
        within = None if self.within is None else [scene.find(one) for one in self.within]
        return [scene.editor.replace(scene.find(self.node), self.name, within)]


class Copy(OnNode):
    """Add a node like another one beside it: slots are copied, items are shared."""

    act: Literal["copy"]
    name: str
    without: list[str] = Field([], description="Ids or names of what is left out.")

    def done(self, scene: Scene) -> list[str]:
        """Copy it."""
        return [scene.editor.copy(scene.find(self.node), self.name, self.without)]


class Split(OnNode):
    """Divide a node into parts, tasks under it."""

    act: Literal["split"]
    names: list[str] = Field(min_length=1)
    slots: list[Node] = Field([], description="Slots of the whole that each part has for itself, until a merge.")

    def done(self, scene: Scene) -> list[str]:
        """Split it."""
        return scene.editor.split(scene.find(self.node), self.names, [scene.find(one) for one in self.slots])


class Merge(One):
    """Make one of the parts of a node, where it is given alone, or of several nodes."""

    act: Literal["merge"]
    nodes: list[Node] = Field(min_length=1)

    def done(self, scene: Scene) -> list[str]:
        """Merge them."""
        keys = [scene.find(one) for one in self.nodes]
        return [scene.editor.merge(keys[0] if len(keys) == 1 else keys)]


class Depend(OnNode):
    """Let a node depend on something, or no longer (`undepend`; without `kind` on nothing any more)."""

    act: Literal["depend", "undepend"]
    kind: DependencyKind | None = None
    on: str = Field("", description="A node, or (`fact`) the id of a fact; empty for a condition.")
    shift: float = 0.0
    unit: str = ""
    text: str = Field("", description="The rule or the condition in words.")

    def act_on(self, key: str, scene: Scene) -> None:
        """Let it."""
        needed = None
        if self.kind is not None:
            on = scene.find(self.on) if self.on and self.kind != "fact" else self.on
            needed = Dependency(on=on, kind=self.kind, shift=self.shift, unit=self.unit, text=self.text)
        if self.act == "undepend":
            scene.editor.undepend(key, needed)
        elif needed is not None:
            scene.editor.depend(key, needed)


class Settle(OnNode):
    """Settle the stated condition of a node: it goes on, or it is removed."""

    act: Literal["settle"]
    holds: bool

    def act_on(self, key: str, scene: Scene) -> None:
        """Settle it."""
        scene.editor.settle(key, holds=self.holds)


class Repeat(OnNode):
    """Begin the next round of a loop."""

    act: Literal["repeat"]

    def act_on(self, key: str, scene: Scene) -> None:
        """Begin it."""
        scene.editor.repeat(key)


Act = Annotated[
    Add
    | Set
    | Rename
    | Alias
    | Stand
    | Share
    | Link
    | Move
    | Swap
    | Replace
    | Copy
    | Split
    | Merge
    | Depend
    | Settle
    | Repeat,
    Field(discriminator="act"),
]


def carry_out(acts: Sequence[Act], editor: Editor) -> list[list[str]]:
    """Carry acts out in order; return for each the ids of the nodes that it made or is about.

    Raises:
        NotFoundError: there is no such node.
        TaskError: an act cannot be carried out, or the tasks would be too deep to be told.
    """
    scene = Scene(editor)
    found = [act.done(scene) for act in acts]
    editor.check_depth(DEEPEST)
    return found
