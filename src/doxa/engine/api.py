"""What users hold in their hands: `Doxa`, a `Dialogue`, a `Memory`.

`AsyncDoxa` is generated from this file (see `asynchronous.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from doxa.core.config import Config
from doxa.core.errors import (
    ClosedError,
    ConfigError,
    InputError,
    NotFoundError,
    StoreConflictError,
    TurnConflictError,
)
from doxa.core.trace import Tracer
from doxa.core.values import (
    Certificate,
    Change,
    Claim,
    Evidence,
    Explanation,
    Fact,
    Forest,
    Receipt,
    Reply,
    Role,
    Rule,
    Turn,
)
from doxa.engine import transfer
from doxa.engine.explain import explain
from doxa.engine.intake import Day, Moment, clean, read_day, read_end, read_turn
from doxa.engine.maintenance import Maintenance
from doxa.engine.replay import NO_TURN, beliefs_at, erase_all, erase_turn
from doxa.engine.turn import Asked, respond, search
from doxa.engine.wiring import Parts, wire
from doxa.memory import Beliefs, Event, describe, describe_rule
from doxa.revise import retract, withdraw

__all__ = ["Dialogue", "Doxa", "Memory"]

T = TypeVar("T")
MAX_NAME_CHARS = 200
"""Longest name of a user; the database keeps 400 characters for tenant and user."""
RETRIES = 20
"""How often a change is tried again while other processes change the same user."""


class Doxa:
    """A memory for language models, on one database. Safe between threads; many processes may open one database."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._maintenance = Maintenance(parts)
        self._closed = False
        self._process = os.getpid()
        for user in parts.log.pending():
            self._maintenance.schedule(user)  # what a crash left behind

    @classmethod
    def open(cls, url: str | Path = ":memory:", *, config: Config | None = None) -> Self:
        """Return an engine on a database; a new file is made.

        Args:
            url: a path, `:memory:`, or an SQLAlchemy URL (Postgres).
            config: the settings; by default those of `doxa.toml` and the environment.

        Raises:
            ConfigError: a setting cannot be used.
            StoreError: the database cannot be opened; a foreign or damaged file is left as it is.
        """
        if not isinstance(url, (str, Path)):
            raise ConfigError(f'Expected a path, ":memory:" or an SQLAlchemy URL, got {url!r}.')
        if config is not None and not isinstance(config, Config):
            raise ConfigError(f"Expected a doxa.Config, got {type(config).__name__}; see Config.from_tree({{...}}).")
        return cls(wire(str(url), config or Config.load()))

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
        _named(user, "user")
        return Dialogue(self, user=user, agent=agent, session=session, speaker=speaker)

    def memory(self, *, user: str) -> Memory:
        """Return the memory of a user, to read, correct and move."""
        _named(user, "user")
        return Memory(self, user=user)

    def users(self) -> list[str]:
        """Return every user with at least one turn."""
        return self.parts.log.users()

    def flush(self) -> None:
        """Wait until everything that was received, for any user, is processed.

        Raises:
            DoxaError: what stopped the processing; what was received is kept.
        """
        for user in self.parts.log.pending():
            self._maintenance.wait(user)

    def describe(self) -> dict[str, Any]:
        """Return what is in use: database, encoder, parser, language model, version."""
        return {"version": version("doxa"), **self.parts.describe()}

    def close(self) -> None:
        """Process what was received, then give back threads and connections. Closing twice is harmless."""
        self._close(drain=True)

    def _close(self, *, drain: bool) -> None:
        if self._process != os.getpid():
            self._closed = True  # threads and connections are the parent's
        if not self._closed:
            self._closed = True
            self._maintenance.stop(drain=drain)
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

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("This Doxa was closed. Open it again with Doxa.open(...).")
        if self._process != os.getpid():
            raise ClosedError("This Doxa was opened before a fork. Open one with Doxa.open(...) in the new process.")

    def receive(self, turn: Turn, *, unless_erased_after: int | None = None) -> tuple[Turn, Receipt]:
        """Store a turn and have it processed behind the caller's back. Durable on return."""
        stored, receipt = self.parts.log.receive(turn, unless_erased_after=unless_erased_after)
        self._maintenance.schedule(turn.user)
        return stored, receipt

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

    def wait(self, user: str) -> None:
        """Wait until everything that has been received for a user is processed."""
        self._check_open()
        self._maintenance.wait(user)


class Dialogue:
    """One user talking with one agent in one session."""

    def __init__(self, doxa: Doxa, *, user: str, agent: str, session: str, speaker: str | None) -> None:
        self._doxa = doxa
        self._speaker = speaker
        self.user = user
        self.agent = agent
        self.session = session

    @property
    def speaker(self) -> str:
        """The name of the user, for "I" and "my"."""
        if self._speaker is None:
            with self._doxa.parts.log.user(self.user) as state:
                self._speaker = state.person() or display_name(self.user)
        return self._speaker

    def respond(self, text: str, *, at: Moment | None = None, turn_id: str | None = None) -> Reply:
        """Answer what the user says, and remember it.

        The turn is durable before it is answered. The answer waits at most `engine.settle_s` for what the turn
        itself changes; if that takes longer, the changes come later and the trace says so.

        Raises:
            TurnError: the turn cannot be taken.
            TurnConflictError: `turn_id` is known with another text.
            StoreError: nothing was stored.
        """
        turn = self._turn(text, speaker=self.speaker, role="user", at=at, turn_id=turn_id)
        stored, receipt = self._doxa.receive(turn)
        reply = self._answer(text, at=stored.at, turn_id=receipt.turn_id)
        if not receipt.duplicate:
            self._remember_reply(reply, stored)
        return reply

    def ask(self, text: str, *, as_of: Day | None = None, known_at: Moment | None = None) -> Reply:
        """Answer without remembering the question.

        Args:
            text: the question.
            as_of: the day of the world that is asked about; by default now, or what the question says.
            known_at: answer from what had been said by then.

        Raises:
            InputError: the question is empty, or a time cannot be read.
        """
        _worded(text, "ask")
        known = None if known_at is None else read_end(known_at)
        day = None if as_of is None else read_day(as_of)
        return self._answer(text, as_of=day, known_at=known)

    def absorb(
        self,
        text: str,
        *,
        speaker: str | None = None,
        role: Role = "user",
        at: Moment | None = None,
        turn_id: str | None = None,
    ) -> Receipt:
        """Remember a turn without answering it. Durable on return; the same `turn_id` again is the same turn.

        Raises:
            TurnError: the turn cannot be taken.
            TurnConflictError: `turn_id` is known with another text.
            StoreError: nothing was stored.
        """
        name = speaker or (self.agent if role == "assistant" else self.speaker)
        _, receipt = self._doxa.receive(self._turn(text, speaker=name, role=role, at=at, turn_id=turn_id))
        return receipt

    def flush(self) -> None:
        """Wait until everything received for this user is processed.

        Raises:
            DoxaError: what stopped the processing; what was received is kept.
        """
        self._doxa.wait(self.user)

    def _turn(self, text: str, *, speaker: str, role: Role, at: Moment | None, turn_id: str | None) -> Turn:
        return read_turn(
            text,
            user=self.user,
            session=self.session,
            speaker=speaker,
            role=role,
            at=at,
            turn_id=turn_id,
            max_chars=self._doxa.parts.config.engine.max_turn_chars,
        )

    def _answer(
        self,
        text: str,
        *,
        at: datetime | None = None,
        turn_id: str | None = None,
        as_of: date | None = None,
        known_at: datetime | None = None,
    ) -> Reply:
        tracer = Tracer()
        with tracer.step("settle") as note:
            if reason := self._doxa.settle(self.user):
                note["degraded"] = reason
        at = at or known_at or self._now()
        asked = Asked(
            user=self.user,
            text=text,
            speaker=self.speaker,
            agent=self.agent,
            session=self.session,
            at=at,
            as_of=as_of,
            known_at=known_at,
            turn_id=turn_id,
        )
        return respond(asked, self._doxa.parts, tracer)

    def _now(self) -> datetime:
        with self._doxa.parts.log.user(self.user) as state:
            return state.now() or datetime.now(UTC)

    def _remember_reply(self, reply: Reply, turn: Turn) -> None:
        answer = Turn(
            turn_id=f"{turn.turn_id}/reply",
            user=self.user,
            session=self.session,
            speaker=self.agent,
            role="assistant",
            text=reply.text,
            at=turn.at,
            generated=True,
        )
        # A turn of the user may have the id that is meant for the reply; then the reply gets another.
        for candidate in (answer, replace(answer, turn_id="")):
            try:
                self._doxa.receive(candidate, unless_erased_after=turn.ordinal)
                return
            except TurnConflictError:
                continue
            except StoreConflictError:  # something was forgotten since: the reply may repeat it
                return


class Memory:
    """What is known of one user: to read, explain, correct, erase and move."""

    def __init__(self, doxa: Doxa, *, user: str) -> None:
        self._doxa = doxa
        self.user = user

    def search(
        self, query: str, *, k: int = 10, as_of: Day | None = None, known_at: Moment | None = None
    ) -> list[Evidence]:
        """Return up to `k` pieces of evidence for a query, best first; withdrawn turns are left out.

        Raises:
            InputError: the query is empty, `k` is not positive, or a time cannot be read.
        """
        _worded(query, "search")
        _positive(k, "search: k")
        self._doxa.settle(self.user)
        day = None if as_of is None else read_day(as_of)
        known = None if known_at is None else read_end(known_at)
        return search(query, self._doxa.parts, user=self.user, k=k, as_of=day, known_at=known)

    def facts(
        self,
        *,
        current: bool = True,
        subject: str | None = None,
        relation: str | None = None,
        as_of: Day | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Return facts in the order in which they came to be.

        Args:
            current: only what is believed now; False adds superseded, retracted and quarantined facts.
            subject: only facts about it, by label.
            relation: only facts of this relation, by name or label.
            as_of: what held in the world on that day, by what is believed now.
            known_at: what was believed then.
        """
        for name, value in (("subject", subject), ("relation", relation)):
            if value is not None:
                _worded(value, f"facts: {name}")
        self._doxa.settle(self.user)
        day = None if as_of is None else read_day(as_of)
        with self._doxa.parts.log.user(self.user) as state:
            beliefs, today = state.beliefs, state.today()
            if known_at is not None:
                moment = read_end(known_at)
                beliefs, today = self._beliefs_at(moment), moment.date()
            return list(beliefs.select(current=current, now=today, as_of=day, subject=subject, relation=relation))

    def rules(self, *, known_at: Moment | None = None) -> list[Rule]:
        """Return what was said in general or on a condition ("if it rains, we stay in"), by `known_at`, in order."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            beliefs = state.beliefs if known_at is None else self._beliefs_at(read_end(known_at))
            return list(beliefs.rules)

    def history(self, of: Fact | str | tuple[str, str] | None = None) -> list[Change]:
        """Return what happened to what is believed, oldest first.

        Args:
            of: a fact, a fact id, a subject by label, or `(subject, relation)` by label; None is everything.

        Raises:
            NotFoundError: there is no such fact or subject.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            beliefs = state.beliefs
            if of is None:
                return list(beliefs.changes)
            if isinstance(of, Fact) or (isinstance(of, str) and of in beliefs.facts):
                return beliefs.changes_of(of.fact_id if isinstance(of, Fact) else of)
            subject, relation = (of, None) if isinstance(of, str) else _pair(of)
            keys = {f.fact_id for f in beliefs.select(current=False, subject=subject, relation=relation)}
            if isinstance(of, str) and not keys:
                raise NotFoundError(f"User {self.user!r} has no fact or subject {of!r}. `doxa facts --all` lists them.")
            return [change for change in beliefs.changes if change.fact.fact_id in keys]

    def claims(self, *, turn_id: str) -> list[Claim]:
        """Return what a turn says, as it was understood; what was made of it, `history` and `why` tell.

        A turn that was withdrawn says nothing, and what was retracted is not among the claims.

        Raises:
            NotFoundError: there is no such turn.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            if state.turn(turn_id) is None:
                raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
            return state.beliefs.claims_of(turn_id)

    def why(self, fact_id: str) -> Explanation:
        """Return why a fact stands where it stands: its source turns, and what it displaced or was displaced by.

        Raises:
            NotFoundError: there is no such fact.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return explain(self._fact(state.beliefs, fact_id), state)

    def tasks(self) -> Forest:
        """Return the user's task forest."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return state.forest

    def retract(self, fact_id: str, *, reason: str = "") -> list[Change]:
        """Declare that a fact never was true; what it had displaced holds again.

        Raises:
            NotFoundError: there is no such fact.
        """
        self._doxa.wait(self.user)

        def act() -> list[Change]:
            with self._doxa.parts.log.user(self.user) as state:
                fact, now = self._fact(state.beliefs, fact_id), datetime.now(UTC)
                changes = retract(fact, state.beliefs, known_at=now, reason=clean(reason))
                event = Event(
                    kind="retracted", known_at=now, target=fact.fact_id, reason=clean(reason), changes=changes
                )
                self._doxa.parts.log.append(self.user, state, event)
                return changes

        return _retried(act)

    def withdraw(self, *, turn_id: str, reason: str = "") -> list[Change]:
        """Stop trusting a turn: what only it supports goes, what it had displaced returns; its text is kept.

        Raises:
            NotFoundError: there is no such turn.
        """
        self._doxa.wait(self.user)

        def act() -> list[Change]:
            with self._doxa.parts.log.user(self.user) as state:
                if state.turn(turn_id) is None:
                    raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
                if turn_id in state.withdrawn:
                    return []
                now = datetime.now(UTC)
                changes = withdraw(turn_id, state.beliefs, known_at=now, reason=clean(reason))
                event = Event(kind="withdrawn", known_at=now, target=turn_id, reason=clean(reason), changes=changes)
                self._doxa.parts.log.append(self.user, state, event)
                return changes

        return _retried(act)

    def undo(self) -> list[Change]:
        """Withdraw the last turn that changed what is believed; returns what changed, empty when there is none."""
        self._doxa.wait(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            changed = (change.turn_id for change in reversed(state.beliefs.changes))
            last = next((key for key in changed if key is not None and key not in state.withdrawn), None)
        return [] if last is None else self.withdraw(turn_id=last, reason="undone")

    def forget(self, *, turn_id: str | None = None, everything: bool = False) -> Certificate:
        """Erase a turn, or everything, with all that was made from it: log rows, vectors, facts. Not reversible.

        Returns:
            A certificate that counts what was removed and repeats none of it.

        Raises:
            InputError: neither or both of the arguments are given.
            NotFoundError: there is no such turn.
        """
        if (turn_id is None) == (not everything):
            raise InputError("forget: give either turn_id=... or everything=True.")
        parts = self._doxa.parts
        parts.queries.forget()  # what was asked may repeat what is erased
        if turn_id is None:
            return _retried(lambda: erase_all(parts.log, self.user))
        self._doxa.wait(self.user)
        context = parts.config.engine.context_turns
        return _retried(lambda: erase_turn(parts.log, self.user, turn_id, parts.parser, context_turns=context))

    def export(self, path: str | Path, *, format: Literal["jsonl", "turtle", "markdown"] = "jsonl") -> Path:
        """Write the memory to a file and return its path.

        Args:
            path: the file; an existing one is replaced, in one step.
            format: `jsonl` is complete and can be imported; `turtle` holds the facts as RDF with their sources;
                `markdown` is for people.
        """
        self._doxa.wait(self.user)
        return transfer.export(self._doxa.parts.log, self.user, Path(path), format=format)

    def import_(self, path: str | Path) -> int:
        """Read a `jsonl` export into this memory and return the number of turns that were new.

        An empty memory becomes what was exported, revisions and withdrawals included; otherwise the turns are
        absorbed as if they had just come in.

        Raises:
            NotFoundError: there is no such file.
            FormatError: the file is no such export; nothing was read.
            TurnConflictError: a turn is known with another text; the turns before it were read.
        """
        self._doxa.wait(self.user)
        count = _retried(lambda: transfer.import_(self._doxa.parts.log, self.user, Path(path)))
        self._doxa.wait(self.user)
        return count

    def stats(self) -> dict[str, Any]:
        """Return how much of everything there is."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return state.counts()

    def describe(self, of: Fact | Rule) -> str:
        """Return a fact or a rule as a plain sentence."""
        return describe_rule(of) if isinstance(of, Rule) else describe(of)

    def _beliefs_at(self, moment: datetime) -> Beliefs:
        return beliefs_at(self._doxa.parts.log.rows(self.user), moment)

    def _fact(self, beliefs: Beliefs, key: Fact | str) -> Fact:
        fact_id = key.fact_id if isinstance(key, Fact) else key
        fact = beliefs.facts.get(fact_id)
        if fact is None:
            raise NotFoundError(f"User {self.user!r} has no fact {fact_id!r}. `doxa facts --all` lists their ids.")
        return fact


def display_name(user: str) -> str:
    """Return a user id as a name: "ana" -> "Ana"; ids that are no plain word stay as they are."""
    if user in ("me", "default"):  # no name, and "Me lives in Rome" reads badly
        return "User"
    return user.capitalize() if user.isalpha() and user.islower() else user


def _named(name: object, what: str) -> None:
    known = isinstance(name, str) and name.strip() and name == clean(name)
    if not known or len(str(name)) > MAX_NAME_CHARS:
        raise InputError(f"{what}: expected a name of 1 to {MAX_NAME_CHARS} characters, got {str(name)[:40]!r}.")


def _positive(number: object, what: str) -> None:
    if not isinstance(number, int) or number < 1:
        raise InputError(f"{what}: expected a whole number >= 1, got {number!r}.")


def _pair(of: object) -> tuple[str, str]:
    if isinstance(of, tuple) and len(of) == 2 and all(isinstance(part, str) for part in of):
        return of
    raise InputError(f"history: expected a fact, a fact id, a subject or (subject, relation), got {of!r}.")


def _worded(text: object, what: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{what}: expected a text, got {text!r}.")


def _retried(act: Callable[[], T]) -> T:
    """Do it again while another process changes the same user."""
    for _ in range(RETRIES):
        try:
            return act()
        except StoreConflictError:
            continue
    return act()
