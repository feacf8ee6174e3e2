"""What users hold first. `Dialogue` is in `dialogue.py`, `Memory` in `memory.py`, `AsyncDoxa` in `asynchronous.py`.

Nothing here imports what reads and answers before it is needed: opening a database takes a fraction of that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from doxa.core.config import Config
from doxa.core.errors import ClosedError, ConfigError
from doxa.core.values import OpenProposition, Receipt, Turn
from doxa.core.views import Work
from doxa.engine.api.dialogue import FLUSH_REST_S, Dialogue
from doxa.engine.intake import Moment, require_name

if TYPE_CHECKING:
    from doxa.engine.absorb.maintenance import Maintenance
    from doxa.engine.api.memory import Memory
    from doxa.engine.history.moving import Imported
    from doxa.engine.tasking import Tasks
    from doxa.engine.wiring.parts import OntologySource, Parts

__all__ = ["Doxa"]

REST_S = 1.0
"""How long a change waits for what is lifted from processed turns, or `engine.settle_s` if that is longer."""
ASSISTANT_S = 0.25
"""How long a reply waits to be read where nobody waits for it: what the user says next is not held up by it."""


class Doxa:
    """A memory for language models, on one database. Safe between threads; many processes may open one database."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tenants: dict[str, Doxa] = {}
        self._guard = threading.Lock()
        self._maintained: Maintenance | None = None
        self._closed = False
        self._process = os.getpid()
        for user in parts.log.pending():
            self._maintenance.schedule(user)  # what a crash left behind

    @property
    def _maintenance(self) -> Maintenance:
        """What processes turns, made at its first use."""
        with self._guard:
            if self._maintained is None:
                from doxa.engine.absorb.maintenance import Maintenance

                self._maintained = Maintenance(self._parts)
            return self._maintained

    @classmethod
    def open(
        cls,
        url: str | Path = ":memory:",
        *,
        config: Config | None = None,
        ontology: OntologySource | Sequence[OntologySource] | None = None,
    ) -> Self:
        """Return an engine on a database; a new file is made.

        The models that ship with Doxa are opened at their first use (about 160 MB), once for all engines of a process.

        Args:
            url: a path, `:memory:`, or an SQLAlchemy URL (Postgres).
            config: the settings; by default those of `doxa.toml` and the environment.
            ontology: classes and relations of your own, beside those of the setting `ontology`: the path of a Turtle
                file, a pydantic class, or several. They count for what is read from now on.

        Raises:
            ConfigError: a setting cannot be used.
            InputError: the ontology cannot be used; a FormatError names the line.
            StoreError: the database cannot be opened; a foreign or damaged file is left as it is.
        """
        if not isinstance(url, (str, Path)):
            raise ConfigError(f'Expected a path, ":memory:" or an SQLAlchemy URL, got {url!r}.')
        if config is not None and not isinstance(config, Config):
            raise ConfigError(f"Expected a doxa.Config, got {type(config).__name__}; see Config.from_tree({{...}}).")
        from doxa.engine.wiring.parts import wire

        return cls(wire(str(url), config or Config.load(), ontology))

    def dialogue(
        self, *, user: str, agent: str = "assistant", session: str = "default", speaker: str | None = None
    ) -> Dialogue:
        """Return a dialogue of a user with an agent.

        Args:
            user: whose memory it is; users never share anything.
            agent: name of the assistant.
            session: name of the session; it groups turns.
            speaker: the user's name as people write it; by default that of the one person who has spoken as the
                user so far, else made from `user` ("ana" -> "Ana").
        """
        require_name(user, "user")
        return Dialogue(self, user=user, agent=agent, session=session, speaker=speaker)

    def memory(self, *, user: str) -> Memory:
        """Return the memory of a user, to read, correct and move."""
        from doxa.engine.api.memory import Memory

        require_name(user, "user")
        return Memory(self, user=user)

    def tasks(self, *, user: str, author: str | None = None) -> Tasks:
        """Return the tasks of a user, to tell, to read and to change by hand.

        Args:
            user: whose they are; people who share their tasks use one name for all of them ("team").
            author: who makes the changes; by default the user.
        """
        from doxa.engine.tasking import Tasks

        require_name(user, "user")
        return Tasks(self, user=user, author=user if author is None else author)

    def tenant(self, name: str) -> Doxa:
        """Return the engine of another tenant on this database, with the same models; closing this one closes it.

        Users of two tenants never share anything. Cost: the first time, one look for what a crash left behind.

        Raises:
            InputError: it is no name.
        """
        require_name(name, "tenant")
        if name == self.parts.config.tenant:
            return self
        with self._guard:
            if name not in self._tenants:
                self._tenants[name] = Doxa(self.parts.of_tenant(name))
            return self._tenants[name]

    def users(self) -> list[str]:
        """Return every user with at least one turn."""
        return self.parts.log.users()

    def flush(self) -> None:
        """Wait until everything that was received, for any user, is processed.

        Raises:
            DoxaError: what stopped the processing; what was received is kept.
        """
        for user in {*self.parts.log.pending(), *self._maintenance.busy()}:
            self.wait(user, rest_s=FLUSH_REST_S)

    def propositions(self, text: str) -> list[OpenProposition]:
        """Return what a text says in its own words, clause by clause; nothing is remembered.

        Open information extraction: hypotheses, questions and denials are given as well. Cost: one parse a sentence.

        Raises:
            BackendError: the parser failed.
        """
        from doxa.understand import open_propositions

        return open_propositions(text, self.parts.parser)

    def describe(self) -> dict[str, Any]:
        """Return what is in use: database, encoder, parser, language model, version."""
        from importlib.metadata import version

        return {"version": version("doxa"), **self.parts.describe()}

    def close(self, *, limit_s: float | None = None) -> None:
        """Process what was received, then give back threads and connections. Closing twice is harmless.

        Args:
            limit_s: how many seconds the processing may take; what is left is processed at the next open.
        """
        self._close(drain=True, limit_s=limit_s)

    def _close(self, *, drain: bool, limit_s: float | None = None) -> None:
        if self._process != os.getpid():
            self._closed = True  # threads and connections are the parent's
        if not self._closed:
            self._closed = True
            until = None if limit_s is None else monotonic() + limit_s
            for engine in self._tenants.values():
                engine._close(drain=drain, limit_s=None if until is None else max(0.0, until - monotonic()))
            if self._maintained is not None:
                self._maintained.stop(drain=drain, limit_s=None if until is None else max(0.0, until - monotonic()))
            waiting = (self._parts.told, self._parts.answers, self._parts.shadows)
            for user in {name for one in waiting for name in one.users()}:
                self._store_pending(user)
            self._parts.log.close()
            if not self._parts.lent:
                self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(drain=kind is None)

    @property
    def parts(self) -> Parts:
        """What the engine is made of.

        Raises:
            ClosedError: it was closed.
        """
        self._check_open()
        return self._parts

    def kept(self, user: str) -> None:
        """Have what answers to a user left behind written behind the caller's back, once it is a micro-batch."""
        if self._parts.answers.ready(user) or self._parts.shadows.ready(user):
            self._maintenance.schedule(user)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("This Doxa was closed. Open it again with Doxa.open(...).")
        if self._process != os.getpid():
            raise ClosedError("This Doxa was opened before a fork. Open one with Doxa.open(...) in the new process.")

    def receive(self, turn: Turn, *, unless_erased_after: int | None = None) -> tuple[Turn, Receipt]:
        """Store a turn and have it processed behind the caller's back. Durable on return."""
        stored, receipt = self.parts.log.receive(turn, unless_erased_after=unless_erased_after)
        if turn.role == "assistant":
            self._maintenance.schedule(turn.user, after_s=ASSISTANT_S)
        else:
            self._maintenance.schedule(turn.user)
        return stored, receipt

    def import_(
        self,
        path: str | Path,
        *,
        user: str,
        format: str = "auto",
        one_user: bool = False,
        date: Moment | None = None,
        told: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Take in what another memory, a chat program or a messenger gave out. Durable on return, understood behind it.

        What has an id keeps it and its date: the same again adds nothing, so that an import that broke off is gone on
        with by the same call. Every turn notes where it comes from (`Turn.metadata`).

        Args:
            path: a file, a zip or a folder.
            user: whose memory takes what the archive ascribes to nobody.
            format: one of `doxa.backends.transcripts.ARCHIVES`, or "auto" to tell it from the content. What
                `export` wrote is read by `Memory.import_`.
            one_user: all of it is this user's, whoever is named there.
            date: when undated turns were said; by default now.
            told: is called now and then with how many turns are taken, and how many there are.

        Raises:
            NotFoundError: there is nothing at that path.
            FormatError: it cannot be read, or is of no format that is known; nothing was stored.
            StoreError: what was taken before is kept.

        Cost: O(turns); some thousand a second.
        """
        from doxa.engine.history.moving import import_archive

        taken = import_archive(
            self.parts, Path(path), user=user, format=format, one_user=one_user, date=date, told=told
        )
        for name in taken.users:
            self._maintenance.schedule(name)
        return taken

    def work(self, user: str) -> Work:
        """Return how the processing of a user's turns goes, without waiting for it."""
        with self._guard:
            maintained = self._maintained
        return Work() if maintained is None else maintained.work(user)

    def sizes(self, users: Collection[str]) -> dict[str, int]:
        """Return how many turns some users have. Cost: O(turns of these), counted by the database."""
        names = {self.parts.log.scope(user): user for user in users}
        return {names[scope]: count for scope, count in self.parts.log.store.count_turns(names).items()}

    def settle(self, user: str) -> str:
        """Wait a moment (setting `engine.settle_s`) for received turns to be processed.

        Returns:
            Why some are not; empty when all are. Reading goes on from what is there; `flush` raises instead.
        """
        try:
            done = self._maintenance.wait(user, self.parts.config.engine.settle_s)
        except Exception as exc:  # noqa: BLE001  whatever stops the writing must not stop the reading
            return f"turns received before could not be processed: {exc}"
        return "" if done else "turns received before are still being processed; this answer may not know them"

    def wait(self, user: str, *, rest_s: float = REST_S) -> None:
        """Wait until everything that has been received for a user is processed; a moment longer for promotions."""
        self._check_open()
        self._maintenance.wait(user)
        self._store_pending(user)
        if user in self._parts.closed:
            self._maintenance.schedule(user)
        self._maintenance.rest(user, max(rest_s, self._parts.config.engine.settle_s))

    def _store_pending(self, user: str) -> None:
        """Write what answers to a user left behind."""
        from doxa.engine.answer.feedback import store_feedback
        from doxa.engine.history.answers import store_answers
        from doxa.engine.history.shadow import store_shadows

        store_feedback(self._parts.log, self._parts.told, user)
        store_answers(self._parts, user)
        store_shadows(self._parts, user)
