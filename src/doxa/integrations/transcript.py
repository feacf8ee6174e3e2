"""Messages of a session -> records beside a memory, and turns that facts come of; for every framework that keeps lists.

A message is kept byte for byte. What somebody says in it is a turn of the memory as well: erased when the message is
removed, withdrawn when the program puts another list in its place; and who forgets the turn forgets the message.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import time_ns
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from doxa.core.errors import InputError, NotFoundError, TurnError
from doxa.core.values import Role
from doxa.engine import Records, forget_turns, short

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["Kept", "Message", "Transcript", "bytes_of", "row_of", "sessions"]

ARCHIVED, NAMES = "archived/", "names/"
"""Beginnings of keys of what is no message: the place of a session begins with a digit or one of a to f, and a slash
after 24 of them."""
HALVES = "surrogatepass"
"""How halves of characters, which a cut text may have, are written."""
REPLACED = "other messages were put in its place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to keep: its bytes, and what is said in it by whom; without words it is no turn."""

    body: bytes
    words: str = ""
    role: Role = "user"
    speaker: str | None = None
    """By default the user, or the agent."""
    verbatim: bool = False
    """It can be found and is no statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A message that is kept. `number` counts those of its session, from 1, and stays when others are removed."""

    key: str
    number: int
    body: bytes
    archived: bool


class Transcript:
    """The messages of one session of a user. Threads and processes may share it; two names never share a message.

    A message without words, or with more than a turn may have (`engine.max_turn_chars`), is kept and no turn.

    Args:
        doxa: the engine; it stays open when this goes.
        user: whose memory it is; with everything of this user the messages are forgotten too.
        session: the name of the session, for this user and shelf alone.
        shelf: a name of the framework's own.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.

    Raises:
        InputError: the name of the user is none, or that of the session no text.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str,
        session: str,
        shelf: str,
        agent: str = "assistant",
        speaker: str | None = None,
    ) -> None:
        if not isinstance(session, str):
            raise InputError(f"session: expected its name, got {session!r}.")
        self._dialogue = doxa.dialogue(user=user, agent=agent, session=session, speaker=speaker)
        self._memory = doxa.memory(user=user)
        self._records = Records(doxa, user=user, shelf=shelf)
        self._session, self._shelf = session, shelf
        self._place, self._name = f"{short(session)}/", NAMES + short(session)

    def kept(self) -> list[Kept]:
        """Return the messages, oldest first."""
        archived = self._records.all(ARCHIVED + self._place)
        return [_kept(key, body, archived) for key, body in self._records.all(self._place).items()]

    def told(self, turn_ids: Iterable[str]) -> list[Kept]:
        """Return the messages that turns are, in the order of these, each once; other turns are left out."""
        start, shelf = self._turn_id(self._place), self._turn_id("")
        keys = dict.fromkeys(one.removeprefix(shelf) for one in turn_ids if one.startswith(start))
        held = self._records.get(*keys, *(ARCHIVED + key for key in keys))
        return [_kept(key, held[key], held) for key in keys if key in held]

    def known(self) -> bool:
        """Tell whether anything was put here since it was cleared, be it an empty list."""
        return bool(self._records.get(self._name))

    def turn_ids(self, kept: Iterable[Kept]) -> list[str]:
        """Return the ids that the turns of messages have, if they are turns."""
        return [self._turn_id(one.key) for one in kept]

    def add(self, messages: Sequence[Message], *, archived: bool = False) -> None:
        """Add messages after those that are there, all or none: `put`, and `say`."""
        self.say(self.put(messages, archived=archived), messages)

    def put(self, messages: Sequence[Message], *, archived: bool = False) -> list[str]:
        """Add messages that are no turns yet, all or none; return what `say` needs to know of them."""
        keys = self._keys(messages)
        if keys:
            self._records.put(self._written(keys, messages, archived=archived), said_by=self._said_by(keys, messages))
        return keys

    def say(self, keys: Sequence[str], messages: Sequence[Message]) -> None:
        """Have the memory hear what messages say that were put; those that somebody took away meanwhile are no turns.

        Args:
            keys: what `put` returned.
            messages: what it was given.
        """
        for key, one in zip(keys, messages, strict=True):
            if one.words:
                with suppress(TurnError):  # blank, or too long
                    self._dialogue.absorb(
                        one.words, role=one.role, speaker=one.speaker, turn_id=self._turn_id(key), verbatim=one.verbatim
                    )
        self._forget([key for key, one in zip(keys, messages, strict=True) if one.words])

    def replace(self, messages: Sequence[Message], *, archived: bool = False) -> None:
        """Put messages in the place of those that are there, all or none.

        Those that stay in their order, from the first on, are left as they are, with their turns. The turns of the
        others are withdrawn: no longer believed or found, and still explained. O(messages).
        """
        staying: list[Kept] = []
        going: list[Kept] = []
        for one in self.kept():
            same = len(staying) < len(messages) and one.body == messages[len(staying)].body
            (staying if same else going).append(one)
        new = messages[len(staying) :]
        keys = self._keys(new)
        gone: dict[str, bytes | None] = {key: None for one in going for key in (one.key, ARCHIVED + one.key)}
        marked: dict[str, bytes | None] = {
            ARCHIVED + one.key: b"" if archived else None for one in staying if one.archived is not archived
        }
        written = self._written(keys, new, archived=archived)
        self._records.put(gone | marked | written, said_by=self._said_by(keys, new))
        self.say(keys, new)
        withdrawn = self._memory.withdrawn() if going else {}
        for turn_id in self.turn_ids(going):
            if turn_id not in withdrawn:
                with suppress(NotFoundError):  # it had no words, or was forgotten by other ways
                    self._memory.withdraw(turn_id=turn_id, reason=REPLACED)

    def archive(self, kept: Iterable[Kept]) -> None:
        """Mark messages as archived; they stay what they are for the memory."""
        self._records.put({ARCHIVED + one.key: b"" for one in kept})

    def pop(self) -> Kept | None:
        """Erase the latest message with its turn and return it, to one caller alone; None where there is none.

        Raises:
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        while latest := self._records.last(self._place):
            key, body = latest
            if ours := self.remove([_kept(key, body, self._records.get(ARCHIVED + key))]):
                return ours[0]
        return None

    def remove(self, kept: Iterable[Kept]) -> list[Kept]:
        """Erase messages with their turns, the latest first; return those that nobody else removed meanwhile.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        asked = [*kept]
        ours: set[str] = set()
        try:
            for one in reversed(asked):
                ours |= {one.key} if self._records.erase(one.key) else set()
            self._records.put({ARCHIVED + one.key: None for one in asked})
        finally:
            self._forget([one.key for one in asked])
        return [one for one in asked if one.key in ours]

    def clear(self) -> None:
        """Erase all messages with all turns that were ever said in this transcript; its name is no longer known.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        keys = [one.key for one in self.kept()]
        try:
            for prefix in (self._place, ARCHIVED + self._place):
                self._records.erase(prefix)
        finally:
            start, shelf = self._turn_id(self._place), self._turn_id("")
            told = self._memory.turns(session=self._dialogue.session, withdrawn=True)
            said = [turn.turn_id.removeprefix(shelf) for turn in told if turn.turn_id.startswith(start)]
            self._forget([*dict.fromkeys([*said, *keys])])
        self._records.erase(self._name)  # last: what was cut short is known, and can be cleared again

    def _keys(self, messages: Sequence[Message]) -> list[str]:
        """Return keys that come after those of every message; what is added at once stays together."""
        latest = self._records.last(self._place)
        first = 1 + (_number(latest[0]) if latest else 0)
        batch = f"{self._place}{first:012}.{uuid4().hex}"  # two writers may take one number
        return [f"{batch}/{at:08}" for at in range(len(messages))]

    def _written(self, keys: Sequence[str], messages: Sequence[Message], *, archived: bool) -> dict[str, bytes | None]:
        """Return the records of messages, with that of the session's name if it has none."""
        bodies: dict[str, bytes | None] = {key: one.body for key, one in zip(keys, messages, strict=True)}
        marks: dict[str, bytes | None] = {ARCHIVED + key: b"" for key in keys} if archived else {}
        name = {} if self.known() else {self._name: json.dumps([time_ns(), self._session]).encode()}
        return bodies | marks | name

    def _said_by(self, keys: Sequence[str], messages: Sequence[Message]) -> dict[str, str]:
        """Return the turns of those messages that have words: whoever forgets a turn forgets its message."""
        said = [key for key, one in zip(keys, messages, strict=True) if one.words]
        return {at: self._turn_id(key) for key in said for at in (key, ARCHIVED + key)}

    def _forget(self, keys: Sequence[str]) -> None:
        """Erase the turns of those messages that are no longer there, the latest first: then few are read again."""
        held = self._records.get(*keys)
        gone = [self._turn_id(key) for key in reversed(keys) if key not in held]
        forget_turns(self._memory, filter(self._is_turn, gone))

    def _is_turn(self, turn_id: str) -> bool:
        """Tell whether a message was said: to forget one that was not waits for all that is still being understood."""
        with suppress(NotFoundError):
            return bool(self._memory.turn(turn_id))
        return False

    def _turn_id(self, key: str) -> str:
        return f"{self._shelf}/{key}"


def sessions(doxa: Doxa, *, user: str, shelf: str, empty: bool = True) -> list[str]:
    """Return the names of a user's sessions on a shelf, in the order in which they began.

    Args:
        doxa: the engine.
        user: whose they are.
        shelf: the framework's.
        empty: also those that have no message now and were not cleared.
    """
    records = Records(doxa, user=user, shelf=shelf)
    named = [
        json.loads(body)
        for key, body in records.all(NAMES).items()
        if empty or records.last(f"{key.removeprefix(NAMES)}/") is not None
    ]
    return [name for _, name in sorted(named)]


def bytes_of(row: Mapping[str, Any]) -> bytes:
    """Return a message that is plain JSON data as bytes, halves of characters too.

    Raises:
        TypeError: something in it is no such data.
        ValueError: something in it contains itself.
    """
    return json.dumps(row, ensure_ascii=False).encode(errors=HALVES)


def row_of(body: bytes) -> dict[str, Any]:
    """Return what `bytes_of` was given."""
    row: dict[str, Any] = json.loads(body.decode(errors=HALVES))
    return row


def _kept(key: str, body: bytes, archived: Container[str]) -> Kept:
    return Kept(key=key, number=_number(key), body=body, archived=ARCHIVED + key in archived)


def _number(key: str) -> int:
    """Return the number of a message: that of the first one it was added with, and its place among them."""
    _, batch, at = key.split("/")
    return int(batch.partition(".")[0]) + int(at)
