"""What callers give -> values: turns, days and times, checked with messages that say what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, get_args

from doxa.core.access import ANYONE
from doxa.core.errors import InputError, TurnError
from doxa.core.shared import PREFIX
from doxa.core.values import Role, Turn

if TYPE_CHECKING:
    from doxa.backends.transcripts import Line

__all__ = [
    "Day",
    "Moment",
    "clean",
    "display_name",
    "read_day",
    "read_end",
    "read_messages",
    "read_metadata",
    "read_moment",
    "read_names",
    "read_turn",
    "require_name",
    "require_positive",
    "require_text",
    "unwrapped",
]

Moment = datetime | date | str
"""A point in time: a datetime (naive ones are UTC), a date (its start), or an ISO 8601 text."""
MAX_ID_CHARS = 390
"""Longest turn id that is taken; replies get one that is a little longer."""
MAX_NAME_CHARS = 200
"""Longest name of a user; the database keeps 400 characters for tenant and user."""
LONGEST_NAME = 1000
"""Longest name of a speaker or a session that is taken: it is kept with every turn, and told with every fact."""
MOST_SAID = 50
"""Of what was said just before, so much is looked at: the latest."""
DEEPEST = 50
"""Levels of metadata, one in the other; what writes it as JSON later on may give up on many more."""
Day = date | datetime | str
"""A day: a date, a datetime (its day in UTC), or an ISO 8601 text."""


def read_moment(value: Moment, *, what: str = "at") -> datetime:
    """Return a moment in UTC.

    Raises:
        InputError: it is no time, or cannot be read as one.
    """
    if isinstance(value, str):
        value = _parse(value, what)
    if isinstance(value, datetime):
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        except OverflowError as exc:
            raise InputError(
                f"{what}: expected a time in the years 1 to 9999 in UTC, got {value.isoformat()}."
            ) from exc
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    raise InputError(f"{what}: expected a datetime, a date or an ISO text, got {value!r}.")


def read_day(value: Day, *, what: str = "as_of") -> date:
    """Return a day; see `read_moment`."""
    return read_moment(value, what=what).date()


def read_end(value: Moment, *, what: str = "known_at") -> datetime:
    """Return the end of a moment: a bare day, month or year means all of it."""
    moment = read_moment(value, what=what)
    text = value.strip() if isinstance(value, str) else "" if isinstance(value, datetime) else value.isoformat()
    if not re.fullmatch(r"\d{4}(-\d\d){0,2}|\d{8}", text):
        return moment
    from dateutil.relativedelta import relativedelta

    length = {4: relativedelta(month=12, day=31), 7: relativedelta(day=31)}.get(len(text), relativedelta())
    return datetime.combine(moment.date() + length, time.max, tzinfo=UTC)


def _parse(text: str, what: str) -> datetime:
    try:
        from dateutil import parser

        return parser.isoparse(text.strip())
    except (ValueError, OverflowError) as exc:
        raise InputError(f"{what}: expected a time such as 2024-05-01 or 2024-05-01T14:30, got {text!r}.") from exc


def read_messages(messages: Sequence[Mapping[str, Any]], *, latest: int | None = None) -> list[Line]:
    """Return what messages say, as OpenAI writes them, or the latest of them; ids are those that they name.

    Raises:
        InputError: something is no such message.
    """
    given: object = messages
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise InputError(
            f'add: expected a list of messages such as {{"role": "user", "content": "..."}}, got {given!r}.'
        )
    from doxa.backends.transcripts import read

    lines: list[Line] = []
    first = 0 if latest is None else max(len(given) - latest, 0)
    for place, message in enumerate(given[first:], start=first):
        try:
            content = json.dumps([message], default=str).encode()
        except (TypeError, ValueError) as exc:
            raise InputError(f"add: message {place}: expected plain JSON data: {exc}.") from exc
        if _only_calls(message):
            continue
        found = read(None, content=content, format="openai")
        if found.problems:
            raise InputError(f"add: message {place}: {found.problems[0].message} Nothing was stored.")
        named = any(message.get(key) for key in ("id", "turn_id", "message_id", "uuid"))
        told = (line for conversation in found.conversations for line in conversation.lines)
        lines += [line if named else replace(line, turn_id=None) for line in told]
    return lines


def _only_calls(message: Any) -> bool:
    """Tell whether a message calls tools and says nothing."""
    given = message if isinstance(message, Mapping) else {}
    return bool(given.get("tool_calls") or given.get("function_call")) and not given.get("content")


def read_turn(
    text: str,
    *,
    user: str,
    session: str,
    speaker: str,
    role: Role,
    at: Moment | None,
    turn_id: str | None,
    max_chars: int,
) -> Turn:
    """Return a turn that can be stored.

    Raises:
        TurnError: the text is empty or too long, the role is unknown, or an id is empty or one of a shared memory.
        InputError: the time cannot be read.
    """
    if not isinstance(text, str):
        raise TurnError(f"A turn's text must be a str, got {type(text).__name__}.")
    if not text.strip():
        raise TurnError("A turn needs a text; this one is empty. Nothing was stored.")
    if len(text) > max_chars:
        raise TurnError(
            f"A turn may have {max_chars:,} characters, this one has {len(text):,}; nothing was stored. Split it, or "
            "raise the setting engine.max_turn_chars."
        )
    if role not in get_args(Role):
        raise TurnError(f"A turn's role is one of {', '.join(get_args(Role))}; got {role!r}.")
    for name, value in (("speaker", speaker), ("session", session), ("turn_id", turn_id or "-")):
        if not isinstance(value, str):
            raise TurnError(f"A turn's {name} must be a str, got {value!r}.")
        if len(value) > LONGEST_NAME and name != "turn_id":
            raise TurnError(
                f"A turn's {name} may have {LONGEST_NAME:,} characters, got {len(value):,}: {value[:40]!r}."
            )
    if turn_id is not None:
        _require_id(turn_id)
    return Turn(
        turn_id=clean(turn_id or ""),
        user=user,
        session=clean(session),
        speaker=clean(speaker),
        role=role,
        text=clean(text),
        at=datetime.now(UTC) if at is None else read_moment(at),
    )


def _require_id(turn_id: str) -> None:
    """Raise TurnError unless it is an id that a turn of one's own may have."""
    if not 0 < len(turn_id.strip()) <= MAX_ID_CHARS:
        raise TurnError(f"A turn id has 1 to {MAX_ID_CHARS} characters; leave it out to get one. Got {turn_id[:40]!r}.")
    if "\0" in turn_id:
        raise TurnError(f"A turn id has no NUL in it: Postgres cannot store that. Give another; got {turn_id[:40]!r}.")
    if turn_id.startswith(PREFIX):
        raise TurnError(
            f"Ids that begin with {PREFIX!r} are those of shared memories; give another. Got {turn_id[:40]!r}."
        )


def read_metadata(given: Mapping[str, Any] | None, *, max_chars: int) -> dict[str, Any]:
    """Return metadata of a turn as plain JSON data.

    Raises:
        InputError: it is no such data, or more than `max_chars` of it.
    """
    if not given:
        return {}
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InputError(f"metadata: expected plain JSON data: {exc}. Nothing was stored.") from exc
    if _is_deeper(given, DEEPEST):
        raise InputError(f"metadata: expected at most {DEEPEST} levels, one in the other. Nothing was stored.")
    if not isinstance(given, Mapping):
        raise InputError(f"metadata: expected names with values, got {given!r}. Nothing was stored.")
    if len(text) > max_chars:
        raise InputError(
            f"metadata: expected at most {max_chars:,} characters of JSON, got {len(text):,}; nothing was stored."
        )
    return dict(json.loads(clean(text)))


def read_names(given: Sequence[Any]) -> tuple[str, ...]:
    """Return names that somebody is called by.

    Raises:
        InputError: it is no list of names.
    """
    if isinstance(given, str) or not all(isinstance(name, str) and name.strip() for name in given):
        raise InputError(f"called: expected names such as ['User'], got {given!r}. Nothing was stored.")
    return tuple(map(clean, given))


def _is_deeper(data: object, levels: int) -> bool:
    inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else ()
    return levels < 0 or any(_is_deeper(one, levels - 1) for one in inner)


def require_text(text: object, what: str) -> None:
    """Raise InputError unless `text` is a text with something in it; `what` names the argument."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{what}: expected a text, got {text!r}.")


def require_name(name: object, what: str) -> None:
    """Raise InputError unless `name` is a name of 1 to `MAX_NAME_CHARS` characters; `what` says of what."""
    known = isinstance(name, str) and name.strip() and name == clean(name) and "\0" not in name
    if not known or len(str(name)) > MAX_NAME_CHARS:
        raise InputError(f"{what}: expected a name of 1 to {MAX_NAME_CHARS} characters, got {name!r:.40}.")
    if name == ANYONE:
        raise InputError(f"{what}: {ANYONE!r} stands for everybody, so that nobody can be called that.")


def require_positive(number: object, what: str) -> None:
    """Raise InputError unless `number` is a whole number from 1 on; `what` names the argument."""
    if not isinstance(number, int) or number < 1:
        raise InputError(f"{what}: expected a whole number >= 1, got {number!r}.")


def unwrapped(text: str) -> str:
    """Return a text without line breaks inside its sentences: those before a small letter and after no full stop."""
    return re.sub(r"(?<![.!?:;\s])\s*\n\s*(?=[a-z])", " ", text)


def clean(text: str) -> str:
    """Replace half surrogate pairs, which no database can store."""
    return text.encode("utf-8", "replace").decode("utf-8")


def display_name(user: str) -> str:
    """Return a user id as a name: "ana" -> "Ana"; ids that are no plain word stay as they are."""
    if user in ("me", "default"):  # no name, and "Me lives in Rome" reads badly
        return "User"
    return user.capitalize() if user.isalpha() and user.islower() else user
