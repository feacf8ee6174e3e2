"""What a reader of archives finds: the turns of each user, what was wrong, and what was not carried."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.encoding import is_binary, report_undecodable
from doxa.backends.transcripts.jsonvalues import Broken
from doxa.backends.transcripts.values import Conversation, Line, shown
from doxa.core.errors import FormatError, NotFoundError

__all__ = ["INVALID", "Gathering", "rest"]

INVALID: Final = "invalid"
"""Stands in the origin of what was no longer believed there."""
LONGEST_ID: Final = 390
"""Characters of an id that the engine takes."""


@dataclass(slots=True)
class Gathering:
    """Takes the turns that a reader finds, by the user whose memory they belong to; None is whoever imports."""

    files: Files
    name: str
    """Where the turns come from: the beginning of their ids, and `from` in their origin."""
    session: str | None = None
    """The session of turns that name none."""
    left: Counter[str] = field(default_factory=Counter)
    """What was not carried."""
    _users: dict[str | None, Collector] = field(default_factory=dict)

    def of(self, user: str | None = None, *, file: str = "") -> Collector:
        """Return what takes the turns of a user; `file` is where those that follow stand."""
        found = self._users.get(user)
        if found is None:
            found = self._users[user] = Collector(path=self.files.path, session=self.session)
        if file:
            found.path = self.files.shown(file)
        return found

    def content(self, name: str) -> bytes | None:
        """Return a file as UTF-8 text, in which the turns that follow stand; None and a problem where it is no text.

        Bytes that are no UTF-8 are reported too, since a turn with them is left out.
        """
        found = self.of(file=name)
        try:
            content = self.files.read(name)
        except (FormatError, NotFoundError) as exc:
            found.problem(f"expected a file that can be read: {exc} It was left out.")
            return None
        if is_binary(content):
            found.problem("expected text, got a binary file; it was left out. Get the archive once more.")
            return None
        text = content.rstrip(b"\0")
        if len(text) < len(content):
            found.problem(
                f"expected text to the end, got {len(content) - len(text)} NUL bytes there; the rest was read."
            )
        report_undecodable(text, found)
        return text

    def odd(self, value: object, expected: str, line: int | None = None) -> None:
        """Report what stands where something else was expected, and is left out."""
        if isinstance(value, Broken):
            came = "What came before was read." if value.is_end else "The rest was read."
            self.of().problem(f"expected {expected}, got text that is no JSON: {value.reason}. {came}", line)
        else:
            self.of().problem(f"expected {expected}, got {shown(value)}; it was left out.", line)

    def records(self, holder: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        """Return the objects in a list of a record; what else stands there is reported."""
        held = holder.get(name)
        several = held if isinstance(held, list) else [] if held is None else [held]
        for one in several:
            if not isinstance(one, Mapping):
                self.odd(one, f"objects as `{name}`")
        return [one for one in several if isinstance(one, Mapping)]

    def leave(self, what: str, count: int = 1) -> None:
        """Count something that is not carried."""
        if count:
            self.left[what] += count

    def take(
        self, line: Line, *, key: str, user: str | None = None, at: object = None, origin: Mapping[str, Any] = {}
    ) -> None:
        """Take a turn.

        Args:
            line: it; its `turn_id`, `at` and `origin` are made here.
            key: its id there.
            user: whose memory it belongs to.
            at: when it was said, as it stands there.
            origin: what else there is to know of it.
        """
        found = self.of(user)
        found.at = None  # a memory without a date has none, whatever stands before it
        when = None if at in (None, "") else found.moment(at, line.line)
        kept = {"from": self.name, "id": key, **({"user": user} if user else {}), **origin}
        found.add(replace(line, turn_id=line.turn_id or _short(f"{self.name}/{key}"), at=when, origin=kept))

    def conversations(self) -> tuple[Conversation, ...]:
        """Return the turns of each user in the order of their dates, since later ones revise earlier ones.

        Those without a date come last, in the order of the archive: they held when it was written.
        """
        return tuple(_in_order(self._sourced(found.conversation(user))) for user, found in self._users.items())

    def _sourced(self, conversation: Conversation) -> Conversation:
        """Return a conversation in which every turn says where it comes from."""
        lines = (
            line if line.origin else replace(line, origin={"from": self.name, "id": line.turn_id})
            for line in conversation.lines
        )
        return replace(conversation, lines=tuple(lines))


def rest(record: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """Return what a record holds beside some fields, less what is empty."""
    return {name: value for name, value in record.items() if name not in known and value not in (None, "", [], {})}


def _short(turn_id: str) -> str:
    """Return an id that can be stored: a hash stands for the end of one that is too long."""
    if len(turn_id) <= LONGEST_ID:
        return turn_id
    kept = sha256(turn_id.encode(errors="backslashreplace")).hexdigest()[:32]
    return f"{turn_id[: LONGEST_ID - len(kept) - 1]}~{kept}"


def _in_order(conversation: Conversation) -> Conversation:
    latest = datetime.max.replace(tzinfo=UTC)
    lines = sorted(conversation.lines, key=lambda line: line.at or latest)
    return replace(conversation, lines=tuple(lines))
