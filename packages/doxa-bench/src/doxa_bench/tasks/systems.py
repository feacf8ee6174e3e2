"""Systems of the task benchmark: ours, two ablations of it, and linear histories, read without a model or by one.

ours            the task memory as it is
respond         the same, in a conversation: what reaches it is what `Dialogue.respond` finds to be about tasks
no-dag          without shared nodes and dependencies (`tasks.dag = false`): a change reaches the node it names
random-intent   the intent of every turn drawn from new, update and check, as in the ablation of the paper
flat-history    a linear context (`linear`)
base-flat, cot, react
                a language model with a linear context (`baselines`); they play where one is configured
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol, get_args

from doxa.core.config import Config
from doxa.core.tasks import TaskReply
from doxa.engine import Doxa, Intent
from doxa_bench.record import models_of
from doxa_bench.tasks.baselines import BASELINES, opened_baseline
from doxa_bench.tasks.linear import LinearHistory
from doxa_bench.tasks.prompts import CONTEXT_TOKENS, memory_tokens
from doxa_bench.tasks.scenarios import Scenario
from doxa_bench.tasks.scoring import Played

__all__ = ["OURS", "SYSTEMS", "Memory", "System", "Tasks", "Told", "opened"]

OURS = "ours"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""When the first turn of every scenario is said, a minute before the next: a model is told, and has to be told the same
when it is asked again."""
RANDOM_INTENTS: tuple[Intent, ...] = get_args(Intent)
Chooses = Callable[[str, int], Intent]
"""Scenario id and number of a turn -> the intent that it is given."""


class Told(Protocol):
    """What comes back of a turn."""

    @property
    def intents(self) -> Sequence[str]: ...
    @property
    def text(self) -> str: ...
    @property
    def asks(self) -> bool: ...


class Tasks(Protocol):
    """The task forest of a user, as the engine hands it out."""

    def tell(
        self, text: str, *, at: datetime | None = None, intent: Intent | None = None, said_before: str = ""
    ) -> Told: ...
    def state(self) -> Mapping[str, Any]: ...
    def history(self) -> Mapping[str, Sequence[Any]]: ...
    def context(self, text: str, budget: int = CONTEXT_TOKENS) -> str: ...


class System(Protocol):
    """What plays a scenario."""

    @property
    def models(self) -> Mapping[str, str | None]:
        """The models that take part, by role."""
        ...

    def play(self, scenario: Scenario) -> list[Played]:
        """Return what it holds and says after each turn."""
        ...


class Memory:
    """A task memory.

    Args:
        tasks: user -> their forest.
        intents: what a turn is taken for; None leaves that to the memory.
        models: those that it works with, by role.
    """

    def __init__(
        self,
        tasks: Callable[[str], Tasks],
        *,
        intents: Chooses | None = None,
        models: Mapping[str, str | None] | None = None,
    ) -> None:
        self.tasks, self._intents, self.models = tasks, intents, models or {}

    def play(self, scenario: Scenario) -> list[Played]:
        """Tell the turns one by one to the forest of a user of its own."""
        tasks = self.tasks(scenario.id)
        return [self._turn(tasks, scenario.id, number, text) for number, text in enumerate(scenario.turns, start=1)]

    def _turn(self, tasks: Tasks, id: str, number: int, text: str) -> Played:
        intent = self._intents(id, number) if self._intents else None
        told = tasks.tell(text, at=START + timedelta(minutes=number), intent=intent)
        return Played(
            intents=tuple(told.intents),
            state=dict(tasks.state()),
            history={path: list(values) for path, values in tasks.history().items()},
            reply=told.text,
            tokens=memory_tokens(tasks.context(text, budget=CONTEXT_TOKENS), text),
        )


@contextmanager
def opened(config: Config, *, intents: Chooses | None = None) -> Iterator[Memory]:
    """Return a task memory under these settings, which is gone afterwards."""
    with Doxa.open(":memory:", config=config) as doxa:
        yield Memory(lambda user: doxa.tasks(user=user), intents=intents, models=models_of(doxa.describe()))


class _Responded:
    """The tasks of a user, told by way of a conversation."""

    def __init__(self, doxa: Doxa, user: str) -> None:
        self._dialogue, self._tasks = doxa.dialogue(user=user), doxa.tasks(user=user)
        self._said = 0

    def tell(
        self, text: str, *, at: datetime | None = None, intent: Intent | None = None, said_before: str = ""
    ) -> TaskReply:
        """Say a turn in the conversation; the last arguments are for what is told to the tasks."""
        self._said += 1
        reply = self._dialogue.respond(text, at=at, turn_id=f"t{self._said}")
        self._dialogue.flush()
        return TaskReply(text=reply.text, intents=reply.intents)

    def state(self) -> Mapping[str, Any]:
        return self._tasks.state()

    def history(self) -> Mapping[str, Sequence[Any]]:
        return self._tasks.history()

    def context(self, text: str, budget: int = CONTEXT_TOKENS) -> str:
        return self._tasks.context(text, budget)


@contextmanager
def _responding(config: Config) -> Iterator[Memory]:
    with Doxa.open(":memory:", config=config) as doxa:
        yield Memory(lambda user: _Responded(doxa, user), models=models_of(doxa.describe()))


def _without_dag(config: Config) -> Config:
    return config.model_copy(update={"tasks": config.tasks.model_copy(update={"dag": False})})


def _drawn(seed: int) -> Chooses:
    return lambda id, turn: random.Random(f"{seed}/{id}/{turn}").choice(RANDOM_INTENTS)


def _baseline(name: str, config: Config, seed: int) -> AbstractContextManager[System]:
    return opened_baseline(name, config)


SYSTEMS: Mapping[str, Callable[[Config, int], AbstractContextManager[System]]] = {
    OURS: lambda config, seed: opened(config),
    "respond": lambda config, seed: _responding(config),
    "no-dag": lambda config, seed: opened(_without_dag(config)),
    "random-intent": lambda config, seed: opened(config, intents=_drawn(seed)),
    "flat-history": lambda config, seed: nullcontext(LinearHistory()),
    **{name: partial(_baseline, name) for name in BASELINES},
}
"""Name -> the system under these settings and from this seed, in the order in which they are shown."""
