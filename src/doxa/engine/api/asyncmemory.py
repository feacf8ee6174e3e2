"""`Memory`, `Teaching` and `Tasks` with methods to await."""

from __future__ import annotations

from doxa.core.values import Fact, Rule
from doxa.engine.api.awaiting import awaited
from doxa.engine.api.memory import Memory
from doxa.engine.api.teaching import Teaching
from doxa.engine.tasking import Tasks

__all__ = ["AsyncMemory", "AsyncTasks", "AsyncTeaching"]


class AsyncMemory:
    """A `Memory` whose methods wait without blocking the event loop."""

    def __init__(self, twin: Memory) -> None:
        self._twin = twin
        self.user = twin.user

    search = awaited(Memory.search)
    facts = awaited(Memory.facts)
    summary = awaited(Memory.summary)
    rules = awaited(Memory.rules)
    disputes = awaited(Memory.disputes)
    sparql = awaited(Memory.sparql)
    history = awaited(Memory.history)
    turns = awaited(Memory.turns)
    turn = awaited(Memory.turn)
    withdrawn = awaited(Memory.withdrawn)
    claims = awaited(Memory.claims)
    annotate = awaited(Memory.annotate)
    place = awaited(Memory.place)
    untold = awaited(Memory.untold)
    why = awaited(Memory.why)
    entities = awaited(Memory.entities)
    merge = awaited(Memory.merge)
    split = awaited(Memory.split)
    feedback = awaited(Memory.feedback)
    learn = awaited(Memory.learn)
    drift = awaited(Memory.drift)
    promotions = awaited(Memory.promotions)
    demote = awaited(Memory.demote)
    enable = awaited(Memory.enable)
    why_promoted = awaited(Memory.why_promoted)
    answers = awaited(Memory.answers)
    why_answered = awaited(Memory.why_answered)
    tasks = awaited(Memory.tasks)
    retract = awaited(Memory.retract)
    accept = awaited(Memory.accept)
    keep_both = awaited(Memory.keep_both)
    withdraw = awaited(Memory.withdraw)
    undo = awaited(Memory.undo)
    what_if = awaited(Memory.what_if)
    forget = awaited(Memory.forget)
    export = awaited(Memory.export)
    import_ = awaited(Memory.import_)
    inferred = awaited(Memory.inferred)
    check = awaited(Memory.check)
    verify = awaited(Memory.verify)
    stats = awaited(Memory.stats)

    def teaching(self) -> AsyncTeaching:
        """Return what teaches the reader of turns what this user wants kept."""
        return AsyncTeaching(self._twin.teaching())

    def describe(self, of: Fact | Rule) -> str:
        """Return a fact or a rule as a plain sentence."""
        return self._twin.describe(of)


class AsyncTeaching:
    """A `Teaching` whose methods wait without blocking the event loop."""

    def __init__(self, twin: Teaching) -> None:
        self._twin = twin
        self.user = twin.user

    unsure = awaited(Teaching.unsure)
    mark = awaited(Teaching.mark)
    mark_missed = awaited(Teaching.mark_missed)
    teach = awaited(Teaching.teach)
    head = awaited(Teaching.head)


class AsyncTasks:
    """A `Tasks` whose methods wait without blocking the event loop."""

    def __init__(self, twin: Tasks) -> None:
        self._twin = twin
        self.user = twin.user
        self.author = twin.author

    tell = awaited(Tasks.tell)
    forest = awaited(Tasks.forest)
    state = awaited(Tasks.state)
    history = awaited(Tasks.history)
    summary = awaited(Tasks.summary)
    context = awaited(Tasks.context)
    edit = awaited(Tasks.edit)
    foresee = awaited(Tasks.foresee)
    value = awaited(Tasks.value)
    undo = awaited(Tasks.undo)
    redo = awaited(Tasks.redo)
    rollback = awaited(Tasks.rollback)
