"""An episode of Graphiti -> a record that is read back as it was, and turns that facts come of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from graphiti_core.errors import NodeNotFoundError
from graphiti_core.nodes import EpisodeType, EpisodicNode

from doxa.core.errors import InputError, TurnError
from doxa.core.values import Role, Turn
from doxa.engine import Dialogue, Doxa, Memory, Records, forget_turns
from doxa.integrations.graphiti.groups import group_of, key_of, user_of, uuid_of

__all__ = ["Episodes"]

SHELF = "graphiti"
TRIPLET = "triplet"
"""Stands for an episode in the turn of a statement that has none."""
SPEAKER = re.compile(
    r"^(?!:)(?P<name>[^\W\d][\w.'’-]*(?: [\w.'’-]+){0,3})?(?:\((?P<role>\w+)\))?:(?:\s+|$)", re.MULTILINE
)
"""What opens a message: `Ana: `, or `Ana(user): ` as Graphiti's server writes it; a name has at most four words."""
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
NAMING = ("name", "user")
"""The fields that name what a JSON object is about, as Graphiti's instructions have it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A part of an episode that is one turn."""

    text: str
    speaker: str | None = None
    role: Role = "user"
    verbatim: bool = False
    """It is kept as it stands, and no fact is made from it."""


class Episodes:
    """The episodes of one group, kept with its memory.

    Args:
        doxa: the engine.
        group_id: the group.

    Raises:
        GroupIdValidationError: it is no name of a group.
    """

    def __init__(self, doxa: Doxa, group_id: str) -> None:
        self.group_id = group_id
        self._doxa = doxa
        self._user = user_of(group_id)
        self._records = Records(doxa, user=self._user, shelf=SHELF)

    @property
    def memory(self) -> Memory:
        """The memory of the group."""
        return self._doxa.memory(user=self._user)

    def dialogue(self, saga: str | None = None) -> Dialogue:
        """Return what the turns of a saga are told to; the episodes of none are one conversation."""
        speaker = None if self.group_id else "User"
        return self._doxa.dialogue(user=self._user, session=saga or "default", speaker=speaker)

    def new(self, node: EpisodicNode, saga: str | None, *, keep: bool) -> EpisodicNode:
        """Keep an episode, have it understood, and return it with the uuid that it has from now on.

        Its record is written before its turns, so that what a crash leaves half told can be told `again`.

        Args:
            node: the episode; its uuid is replaced.
            saga: the conversation that it belongs to.
            keep: whether the record has its content.

        Raises:
            InputError: it says nothing, or its JSON cannot be read; nothing was stored.
            TurnError: it is too long; nothing was stored.
        """
        node = node.model_copy(update={"uuid": uuid_of(self.group_id, str(uuid4()))})
        lines = list(_lines(node))
        if not lines:
            raise InputError("add_episode: the episode says nothing. Give `episode_body` a text. Nothing was stored.")
        kept = node if keep else node.model_copy(update={"content": ""})
        body = {"saga": saga, "turns": len(lines), "episode": kept.model_dump(mode="json")}
        self._records.put({key_of(node.uuid): json.dumps(body).encode()})
        try:
            self._tell(node, lines, saga)
        except TurnError:
            self.forget(node.uuid)
            raise
        return kept

    def again(self, uuid: str) -> EpisodicNode:
        """Have an episode that is known told once more, which adds what is missing of it.

        Raises:
            NodeNotFoundError: there is none.
        """
        if (body := self._body(uuid)) is None:
            raise NodeNotFoundError(uuid)
        node = EpisodicNode.model_validate(body["episode"])
        self._tell(node, list(_lines(node)), body["saga"])
        return node

    def tell(self, statement: str, *, at: datetime | None) -> str:
        """Have a statement of nobody's episode understood, and return the id of its turn."""
        turn_id = f"{SHELF}/{TRIPLET}/{uuid4()}"
        self.dialogue().absorb(statement, at=at, turn_id=turn_id)
        self._doxa.wait(self._user)
        return turn_id

    def _tell(self, node: EpisodicNode, lines: list[Line], saga: str | None) -> None:
        dialogue = self.dialogue(saga)
        for turn_id, one in zip(_turn_ids(node.uuid, len(lines)), lines, strict=True):
            dialogue.absorb(
                one.text, speaker=one.speaker, role=one.role, at=node.valid_at, turn_id=turn_id, verbatim=one.verbatim
            )
        self._doxa.wait(self._user)

    def _body(self, uuid: str) -> Any:
        """Return what is kept of an episode; None where there is none."""
        if group_of(uuid) != self.group_id or not key_of(uuid):
            return None
        return next((json.loads(body) for body in self._records.get(key_of(uuid)).values()), None)

    def get(self, uuid: str) -> EpisodicNode:
        """Return an episode, or a turn of another interface as one.

        Raises:
            NodeNotFoundError: there is none.
        """
        if (body := self._body(uuid)) is not None:
            return EpisodicNode.model_validate(body["episode"])
        turns = self.memory.turns([key_of(uuid)]) if group_of(uuid) == self.group_id else []
        if not turns or _is_ours(turns[0]):
            raise NodeNotFoundError(uuid)
        return self._foreign(turns[0])

    def all(self, saga: str | None = None) -> list[EpisodicNode]:
        """Return the episodes (of a saga), and the turns of other interfaces as such. O(episodes and turns)."""
        kept = [json.loads(body) for body in self._records.all().values()]
        found = [EpisodicNode.model_validate(one["episode"]) for one in kept if saga in (None, one["saga"])]
        turns = self.memory.turns(session=saga)
        return found + [self._foreign(one) for one in turns if not one.generated and not _is_ours(one)]

    def forget(self, uuid: str) -> None:
        """Erase an episode with its turns and what rests on them alone.

        Raises:
            NodeNotFoundError: there is none.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        self.get(uuid)
        known = self._body(uuid) is not None
        try:
            forget_turns(self.memory, reversed(self.turns_of(uuid)))
        finally:
            if known:
                self._records.erase(key_of(uuid))

    def uuid_of_turn(self, turn_id: str) -> str | None:
        """Return the episode of a turn; None for the statement of a triplet, which has none."""
        if not turn_id.startswith(f"{SHELF}/"):
            return uuid_of(self.group_id, turn_id)
        key = turn_id.split("/")[1]
        return None if key == TRIPLET else uuid_of(self.group_id, key)

    def turns_of(self, uuid: str) -> list[str]:
        """Return the ids of the turns of an episode."""
        body = self._body(uuid)
        return [key_of(uuid)] if body is None else _turn_ids(uuid, body["turns"])

    def _foreign(self, turn: Turn) -> EpisodicNode:
        return EpisodicNode(
            uuid=uuid_of(self.group_id, turn.turn_id),
            name=turn.session,
            group_id=self.group_id,
            source=EpisodeType.message,
            source_description=turn.role,
            content=f"{turn.speaker}: {turn.text}",
            created_at=turn.at,
            valid_at=turn.at,
        )


def _turn_ids(uuid: str, count: int) -> list[str]:
    return [f"{SHELF}/{key_of(uuid)}/{number}" for number in range(count)]


def _is_ours(turn: Turn) -> bool:
    return turn.turn_id.startswith(f"{SHELF}/")


def _lines(node: EpisodicNode) -> Iterator[Line]:
    """Yield what an episode says, turn by turn."""
    if not node.content.strip():
        return
    if node.source is EpisodeType.json:
        yield from _fields(node.content)
    elif node.source is EpisodeType.message:
        yield from _messages(node.content)
    else:
        yield Line(node.content)


def _messages(text: str) -> Iterator[Line]:
    """Yield messages, of a JSON list of such or of lines that names open."""
    listed = _listed(text)
    for one in listed:
        role = ROLES.get(str(one.get("role")).casefold(), "user")
        if isinstance(said := one.get("content"), str) and said.strip():
            yield Line(said, speaker=one.get("name") or None, role=role)
    if not listed:
        yield from _opened(text)


def _listed(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text)
    except ValueError:
        return []
    return data if isinstance(data, list) and all(isinstance(one, dict) for one in data) else []


def _opened(text: str) -> Iterator[Line]:
    marks = list(SPEAKER.finditer(text))
    starts = [mark.start() for mark in marks]
    if before := text[: starts[0] if starts else None].strip():
        yield Line(before)
    for mark, end in zip(marks, [*starts, len(text)][1:], strict=True):
        name, said = (mark["name"] or "").strip(), text[mark.end() : end].strip()
        role = ROLES.get((mark["role"] or name).casefold(), "user")
        if said:
            yield Line(said, speaker=None if name.casefold() in ROLES else name or None, role=role)


def _fields(text: str) -> Iterator[Line]:
    """Yield what JSON says as sentences; it is kept as it is as well where a field is nobody's."""
    try:
        data = json.loads(text)
    except ValueError as exc:
        told = f"add_episode: an episode of JSON: expected JSON, got {text[:40]!r}: {exc}. Nothing was stored."
        raise InputError(told) from exc
    told_of = list(_sentences(data, None, ()))
    if said := [one for one in told_of if one]:
        yield Line("\n".join(said))
    if not said or "" in told_of:
        yield Line(text, verbatim=True)


def _sentences(data: Any, subject: str | None, path: tuple[str, ...]) -> Iterator[str]:
    """Yield what fields say of whatever the object around them names; an empty text for one that nothing is named."""
    if isinstance(data, list):
        for one in data:
            yield from _sentences(one, subject, path)
    elif isinstance(data, dict):
        naming = next((key for key in NAMING if isinstance(data.get(key), str) and data[key].strip()), None)
        if naming is not None:
            if subject and path:
                yield from _sentences(data[naming], subject, path)
            subject, path = data[naming], ()
        for key, value in data.items():
            if key != naming:
                yield from _sentences(value, subject, (*path, key.replace("_", " ").strip()))
    elif data is not None:
        yield f"{subject}'s {' '.join(path)} is {data}." if subject and path else ""
