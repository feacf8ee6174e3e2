"""`Doxa` and `Dialogue` with methods to await; the twins of what else users hold are in `asyncmemory.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from doxa.core.config import Config
from doxa.engine.api.awaiting import awaited
from doxa.engine.api.dialogue import Dialogue
from doxa.engine.api.doxa import Doxa

if TYPE_CHECKING:
    from doxa.engine.api.asyncmemory import AsyncMemory, AsyncTasks
    from doxa.engine.wiring.parts import OntologySource

__all__ = ["AsyncDialogue", "AsyncDoxa"]


class AsyncDoxa:
    """A `Doxa` whose methods wait without blocking the event loop."""

    def __init__(self, twin: Doxa) -> None:
        self._twin = twin

    @classmethod
    def open(
        cls,
        url: str | Path = ":memory:",
        *,
        config: Config | None = None,
        ontology: OntologySource | Sequence[OntologySource] | None = None,
    ) -> Self:
        """Return an engine on a database, as `Doxa.open` does. It blocks while the file is opened."""
        return cls(Doxa.open(url, config=config, ontology=ontology))

    def dialogue(
        self, *, user: str, agent: str = "assistant", session: str = "default", speaker: str | None = None
    ) -> AsyncDialogue:
        """Return a dialogue of a user with an agent."""
        return AsyncDialogue(self._twin.dialogue(user=user, agent=agent, session=session, speaker=speaker))

    def memory(self, *, user: str) -> AsyncMemory:
        """Return the memory of a user, to read, correct and move."""
        from doxa.engine.api.asyncmemory import AsyncMemory

        return AsyncMemory(self._twin.memory(user=user))

    def tasks(self, *, user: str, author: str | None = None) -> AsyncTasks:
        """Return the tasks of a user, to tell, to read and to change by hand."""
        from doxa.engine.api.asyncmemory import AsyncTasks

        return AsyncTasks(self._twin.tasks(user=user, author=author))

    def tenant(self, name: str) -> AsyncDoxa:
        """Return the engine of another tenant on this database, with the same models; closing this one closes it."""
        return AsyncDoxa(self._twin.tenant(name))

    def describe(self) -> dict[str, Any]:
        """Return what is in use: database, encoder, parser, language model, version."""
        return self._twin.describe()

    users = awaited(Doxa.users)
    sizes = awaited(Doxa.sizes)
    work = awaited(Doxa.work)
    flush = awaited(Doxa.flush)
    import_ = awaited(Doxa.import_)
    propositions = awaited(Doxa.propositions)
    close = awaited(Doxa.close)
    kept = awaited(Doxa.kept)
    __aexit__ = awaited(Doxa.__exit__)

    async def __aenter__(self) -> Self:
        return self


class AsyncDialogue:
    """A `Dialogue` whose methods wait without blocking the event loop."""

    def __init__(self, twin: Dialogue) -> None:
        self._twin = twin
        self.user = twin.user
        self.agent = twin.agent
        self.session = twin.session

    @property
    def speaker(self) -> str:
        """The name of the user, for "I" and "my"."""
        return self._twin.speaker

    respond = awaited(Dialogue.respond)
    ask = awaited(Dialogue.ask)
    ask_again = awaited(Dialogue.ask_again)
    absorb = awaited(Dialogue.absorb)
    correct = awaited(Dialogue.correct)
    add = awaited(Dialogue.add)
    flush = awaited(Dialogue.flush)
