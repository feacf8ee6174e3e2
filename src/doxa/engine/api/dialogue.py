"""One user talking with one agent in one session: what is said, asked and remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from doxa.core.errors import InputError, StoreConflictError, TurnConflictError
from doxa.core.trace import Tracer
from doxa.core.values import Receipt, Reply, Role, ToTasks, Turn
from doxa.engine.answer.searching import Asides, Before, drawing
from doxa.engine.asked import Asked
from doxa.engine.hosting import Host
from doxa.engine.intake import (
    MOST_SAID,
    Day,
    Moment,
    clean,
    display_name,
    read_day,
    read_end,
    read_messages,
    read_metadata,
    read_moment,
    read_names,
    read_turn,
    require_text,
    unwrapped,
)
from doxa.language import pared

if TYPE_CHECKING:
    from doxa.engine.absorb.maintenance import Maintenance
    from doxa.engine.api.memory import Memory

__all__ = ["FLUSH_REST_S", "Addressee", "Dialogue"]

Addressee = Literal["auto", "tasks", "facts"]
"""What a turn is said to: "auto" leaves that to what it says."""
FLUSH_REST_S = 15.0
"""How long `flush` waits for it."""


class Engine(Host, Protocol):
    """The engine, as a dialogue sees it; see `Doxa`."""

    @property
    def _maintenance(self) -> Maintenance: ...

    def receive(self, turn: Turn, *, unless_erased_after: int | None = None) -> tuple[Turn, Receipt]:
        """Store a turn and have it processed, unless something was erased since."""

    def wait(self, user: str, *, rest_s: float = ...) -> None:
        """Wait for all received turns, and a moment longer."""

    def kept(self, user: str) -> None:
        """Have what answers left behind written."""

    def memory(self, *, user: str) -> Memory:
        """Return the memory of a user."""


class Dialogue:
    """One user talking with one agent in one session."""

    def __init__(self, doxa: Engine, *, user: str, agent: str, session: str, speaker: str | None) -> None:
        self._doxa = doxa
        self._speaker = speaker
        self.user = user
        self.agent = agent
        self.session = session
        self._asked = Asides(doxa.parts, user)

    @property
    def speaker(self) -> str:
        """The name of the user, for "I" and "my"."""
        if self._speaker is None:
            with self._doxa.parts.log.user(self.user) as state:
                self._speaker = state.person() or display_name(self.user)
        return self._speaker

    def respond(
        self,
        text: str,
        *,
        at: Moment | None = None,
        turn_id: str | None = None,
        to: Addressee = "auto",
        background: bool | None = None,
        n: int = 1,
    ) -> Reply:
        """Answer what the user says, and remember it.

        What opens, changes or asks about a task is done to the tasks and answered from them (setting `tasks.route`);
        the trace says where a turn went, and why. What it says of the world is believed either way.

        The turn is durable before it is answered. The answer waits at most `engine.settle_s` for what the turn
        itself changes; if that takes longer, the changes come later and the trace says so. A reply that draws on a
        shared memory (`Reply.memories`) is not remembered as a turn.

        Args:
            text: what the user says.
            at: when; by default now.
            turn_id: its id, if it has one; the same id again is the same turn.
            to: "auto", or what it is said to whatever it says: "tasks", or "facts" alone.
            background: whether sentences of general knowledge are added (`Reply.background`); None leaves that to the
                setting `commonsense.use` and to what is said. They are never facts, and never cited.
            n: how many replies are wanted, each by another piece of background: the first is the reply and is
                remembered, the others are its `alternatives`, fewer where less was found.

        Raises:
            InputError: `to` is none of those, `n` is below 1, or above 1 while background is left out.
            ConfigError: background or several replies are asked for, and no base of knowledge is configured.
            TurnError: the turn cannot be taken.
            TurnConflictError: `turn_id` is known with another text.
            StoreError: nothing was stored.
        """
        from doxa.engine.answer.background import require_background, without_background

        to_tasks = self._to_tasks(to)
        require_background(background, n, self._doxa.parts.config)
        turn = self._turn(text, speaker=self.speaker, role="user", at=at, turn_id=turn_id)
        stored, receipt = self._doxa.receive(replace(turn, to_tasks=to_tasks))
        before = self._asked.before()
        reply = self._answer(text, at=stored.at, turn_id=receipt.turn_id, background=background, n=n)
        if not receipt.duplicate and (said := without_background(reply)):
            self._remember_reply(said, stored, drawn=reply.memories, before=before)
        return reply

    def ask(
        self,
        text: str,
        *,
        as_of: Day | None = None,
        known_at: Moment | None = None,
        at: Moment | None = None,
        said: Sequence[Mapping[str, Any]] | None = None,
    ) -> Reply:
        """Answer without remembering the question; this dialogue alone knows it for what is asked next ("And Ben?").

        Args:
            text: the question.
            as_of: the day of the world that is asked about; by default now, or what the question says.
            known_at: answer from what had been said by then.
            at: when it is asked, for "today" and "next week"; by default when the latest turn was said.
            said: what was said before it and is not remembered, as OpenAI writes messages; by default what this
                dialogue was asked. What is given, the latest 50 at most, is known to this question alone, and so is the
                question.

        Raises:
            InputError: the question is empty, a time cannot be read, or `said` holds something that is no message.
        """
        require_text(text, "ask")
        text = clean(text)
        known = None if known_at is None else read_end(known_at)
        day = None if as_of is None else read_day(as_of)
        asked = self._asked.before()  # an answer to what is erased meanwhile is not kept
        lines = None if said is None else read_messages(said, latest=MOST_SAID)
        before = None if lines is None else self._unstored([(line.role, line.text) for line in lines])
        reply = self._answer(text, as_of=day, known_at=known, at=None if at is None else read_moment(at), said=before)
        if before is None:
            self._asked.note(self._aside(text, reply), asked)
        return reply

    def ask_again(self, answer_id: str) -> Reply:
        """Answer a question that was answered before from what is known now, as the one who asked it then.

        Raises:
            NotFoundError: there is no such answer, or it is no longer kept.
        """
        from doxa.engine.history.answers import answered

        self._doxa.settle(self.user)
        one = answered(self._doxa.parts, self.user, answer_id)
        then = Dialogue(self._doxa, user=self.user, agent=one.agent, session=one.session, speaker=one.speaker)
        return then._answer(one.question, turn_id=one.asked, as_of=one.as_of, known_at=one.known_at)

    def absorb(
        self,
        text: str,
        *,
        speaker: str | None = None,
        role: Role = "user",
        at: Moment | None = None,
        turn_id: str | None = None,
        verbatim: bool = False,
        called: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        unless_erased_since: int | None = None,
    ) -> Receipt:
        """Remember a turn without answering it. Durable on return; the same `turn_id` again is the same turn.

        Args:
            text: what was said.
            speaker: who said it; by default the user, or the agent.
            role: as what.
            at: when; by default now.
            turn_id: its id, if it has one.
            verbatim: keep and find it as it stands, and make no facts from it.
            called: of a note about the speaker, in the third person, the names by which it means that ("User").
            metadata: plain JSON data that is kept with it (`Turn.metadata`).
            unless_erased_since: of a reply that took its time, what `Memory.place` was before it was begun: where
                anything was erased since, the reply may repeat it, and is not stored.

        Raises:
            InputError: the metadata is no such data.
            StoreConflictError: something was erased since that place; nothing was stored.
            TurnError: the turn cannot be taken.
            TurnConflictError: `turn_id` is known with another text.
            StoreError: nothing was stored.
        """
        name = speaker or (self.agent if role == "assistant" else self.speaker)
        turn = self._turn(text, speaker=name, role=role, at=at, turn_id=turn_id, verbatim=verbatim, metadata=metadata)
        return self._received(replace(turn, called=read_names(called)), unless_erased_after=unless_erased_since or None)

    def correct(
        self,
        text: str,
        *,
        fact_id: str | None = None,
        turn_id: str | None = None,
        at: Moment | None = None,
        verbatim: bool = False,
        metadata: Mapping[str, Any] | None = None,
        reason: str = "",
    ) -> Receipt:
        """Take a fact or a turn back, and remember what is so instead, as said by the user.

        Nothing is taken back for a text that cannot be stored. See `absorb`, `Memory.retract` and `Memory.withdraw`.

        Raises:
            InputError: neither or both are to be taken back, or nobody said the fact, it follows from others.
            NotFoundError: there is no such fact or turn.
        """
        if (fact_id is None) == (turn_id is None):
            raise InputError("correct: give either fact_id=... or turn_id=....")
        turn = self._turn(
            text, speaker=self.speaker, role="user", at=at, turn_id=None, verbatim=verbatim, metadata=metadata
        )
        memory = self._doxa.memory(user=self.user)
        if fact_id is not None:
            memory.retract(fact_id, reason=reason)
        else:
            memory.withdraw(turn_id=turn_id, reason=reason)
        return self._received(turn)

    def add(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        at: Moment | None = None,
        verbatim: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[Receipt]:
        """Remember messages as OpenAI writes them (`role`, `content`, and `name`, `id`, a time if they have them).

        Args:
            messages: what was said, oldest first; tool calls without words are left out.
            at: when messages without a time of their own were said; by default now.
            verbatim: keep and find them as they stand, and make no facts from them.
            metadata: plain JSON data that is kept with each of them.

        Raises:
            InputError: something is no such message; nothing was stored.
            TurnConflictError: an id is known with another text; the messages before it were stored.
            StoreError: nothing was stored.
        """
        lines = read_messages(messages)
        return [
            self.absorb(
                line.text, speaker=line.speaker, role=line.role, at=line.at or at, turn_id=line.turn_id,
                verbatim=verbatim, metadata=metadata,
            )
            for line in lines
        ]  # fmt: skip

    def flush(self) -> None:
        """Wait until everything received for this user is processed.

        Raises:
            DoxaError: what stopped the processing; what was received is kept.
        """
        self._doxa.wait(self.user, rest_s=FLUSH_REST_S)

    def _received(self, turn: Turn, *, unless_erased_after: int | None = None) -> Receipt:
        from doxa.understand import foreign_language

        _, receipt = self._doxa.receive(turn, unless_erased_after=unless_erased_after)
        return replace(receipt, language=foreign_language(turn.text))

    def _to_tasks(self, to: str) -> ToTasks | None:
        if to not in get_args(Addressee):
            raise InputError(f"respond: expected `to` out of {', '.join(get_args(Addressee))}; got {to!r}.")
        if to == "auto" and self._doxa.parts.config.tasks.route == "auto":
            return ToTasks(routed=True)
        return ToTasks() if to == "tasks" else None

    def _turn(
        self,
        text: str,
        *,
        speaker: str,
        role: Role,
        at: Moment | None,
        turn_id: str | None,
        verbatim: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> Turn:
        most = self._doxa.parts.config.engine.max_turn_chars
        turn = read_turn(
            text, user=self.user, session=self.session, speaker=speaker, role=role, at=at, turn_id=turn_id,
            max_chars=most,
        )  # fmt: skip
        return replace(turn, verbatim=verbatim, metadata=read_metadata(metadata, max_chars=most))

    def _answer(
        self,
        text: str,
        *,
        at: datetime | None = None,
        turn_id: str | None = None,
        as_of: date | None = None,
        known_at: datetime | None = None,
        background: bool | None = False,
        n: int = 1,
        said: tuple[Turn, ...] | None = None,
    ) -> Reply:
        from doxa.engine.answer.respond import respond

        tracer = Tracer()
        with tracer.step("settle") as note:
            if reason := self._doxa.settle(self.user):
                note["degraded"] = reason
        at = at or known_at or self._now()
        whole = unwrapped(text)
        read = pared(whole)
        if read != whole:
            with tracer.step("read") as note:
                note["degraded"] = f"of its {len(whole):,} characters {len(read):,} are read: its beginning and its end"
        asked = Asked(
            user=self.user,
            text=read,
            whole="" if read == whole else whole,
            speaker=self.speaker,
            agent=self.agent,
            session=self.session,
            at=at,
            as_of=as_of,
            known_at=known_at,
            turn_id=turn_id,
            said=self._asked.turns() if said is None else said,
            background=background,
            n=n,
        )
        with self._doxa._maintenance.answering():
            reply = respond(asked, self._doxa.parts, tracer)
        self._doxa.kept(self.user)
        return reply

    def _aside(self, text: str, reply: Reply) -> tuple[Turn, ...]:
        """Return a question and its answer as turns that are not stored."""
        question, answer = self._unstored([("user", text), ("assistant", reply.text)])
        return question, drawing(replace(answer, generated=True), reply.memories)

    def _unstored(self, said: Sequence[tuple[Role, str]]) -> tuple[Turn, ...]:
        with self._doxa.parts.log.user(self.user) as state:
            at, ordinal = state.now() or datetime.now(UTC), state.ordinal
        return tuple(
            Turn(
                turn_id="", user=self.user, session=self.session, role=role, text=text, at=at, ordinal=ordinal,
                speaker=self.agent if role == "assistant" else self.speaker,
            )
            for role, text in said
        )  # fmt: skip

    def _now(self) -> datetime:
        with self._doxa.parts.log.user(self.user) as state:
            return state.now() or datetime.now(UTC)

    def _remember_reply(self, text: str, turn: Turn, *, drawn: Sequence[str], before: Before) -> None:
        if drawn:  # what is shared is copied into no log: this dialogue alone knows that it was said
            (unstored,) = self._unstored([("assistant", text)])
            self._asked.note((drawing(unstored, drawn),), before)
            return
        answer = Turn(
            turn_id=f"{turn.turn_id}/reply",
            user=self.user,
            session=self.session,
            speaker=self.agent,
            role="assistant",
            text=text,
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
