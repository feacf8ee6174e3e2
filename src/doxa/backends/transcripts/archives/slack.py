"""The export of a Slack workspace: lists of its people and channels, and a folder for each channel with a file a day.

Source: https://slack.com/help/articles/220556107 (how to read what it holds), https://docs.slack.dev/reference/events
(a message and its subtypes), https://docs.slack.dev/messaging/formatting-message-text (`<@U1>`, `<url|label>`, `&lt;`).

Everybody is a speaker of their own. A person is called in a text as they are as a speaker, so that what is said of them
and what they say come together. What programs post has the role `tool`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering, rest
from doxa.backends.transcripts.archives.links import link
from doxa.backends.transcripts.jsonvalues import Broken, Value, values
from doxa.backends.transcripts.values import Line, shown
from doxa.core.errors import FormatError

__all__ = ["knows", "read"]

USERS: Final = "users.json"
CHANNELS: Final = ("channels.json", "groups.json", "dms.json", "mpims.json")
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
SPEECH: Final = ("", "bot_message", "file_comment", "file_share", "me_message", "thread_broadcast")
"""Subtypes of messages that carry what somebody said; any other tells what happened in the channel."""
SLACKBOT: Final = "USLACKBOT"
"""Slack's own bot, which it does not list as one."""
MARKUP: Final = re.compile(r"<([^<>\n]+)>|&(amp|lt|gt);")
ESCAPED: Final = {"amp": "&", "lt": "<", "gt": ">"}
ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workspace:
    """Who and what the ids in its messages mean."""

    people: Mapping[str, str]
    """What each is called; no two the same."""
    bots: frozenset[str]
    channels: Mapping[str, str]
    """The id of each channel by its folder."""
    folders: Mapping[str, str]
    """The folder of each channel by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A message, and where it stands."""

    message: Record
    file: str
    line: int


@dataclass(slots=True)
class _Channel:
    """The messages of a channel by their times, which are their ids there; an edited one as it was last."""

    said: dict[str, _Said] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)


def knows(files: Files) -> bool:
    """Tell whether a list of people stands beside one of channels, and is one of Slack's."""
    root = _listed_root(files)
    if root is None:
        return False
    try:
        first = next((value.value for value in values(files.read(root + USERS))), None)
    except FormatError:
        return True  # the names tell it
    return first is None or isinstance(first, Broken) or (isinstance(first, dict) and "id" in first)


def _listed_root(files: Files) -> str | None:
    names = set(files.names)
    roots = (name.removesuffix(USERS) for name in files.names if PurePosixPath(name).name == USERS)
    return next((root for root in roots if any(root + listed in names for listed in CHANNELS)), None)


def read(files: Files, found: Gathering) -> None:
    """Take every message that somebody wrote, channel by channel."""
    days: dict[str, list[str]] = {}
    for name in files.names:
        if DAY.fullmatch(PurePosixPath(name).name):
            days.setdefault(PurePosixPath(name).parent.as_posix(), []).append(name)
    outer = _listed_root(files)
    # Without its lists, what is above the folder of a channel is the workspace.
    root = outer if outer is not None else next((folder.rpartition("/")[0] + "/" for folder in days), "").lstrip("/")
    lists = [root + one for one in (USERS, *CHANNELS) if root + one in files.names]
    workspace = _workspace(lists, found)
    for folder, names in days.items():
        called = found.name if folder == "." else folder.removeprefix(root)
        channel = _Channel()
        for name in names:
            _gather(name, channel, found)
        _take_channel(channel, called, workspace, found)
    read_files = len(lists) + sum(len(names) for names in days.values())
    found.leave("other files of the archive (canvases, settings, uploads)", len(files.names) - read_files)


def _workspace(lists: list[str], found: Gathering) -> _Workspace:
    users: dict[str, Record] = {}
    channels: dict[str, str] = {}
    for name in lists:
        for item in _items(name, found):
            key, label = _text(item.get("id")), _text(item.get("name"))
            if PurePosixPath(name).name == USERS:
                users[key] = item
            else:
                channels[label or key] = key
    bots = frozenset((SLACKBOT, *(key for key, user in users.items() if user.get("is_bot") is True)))
    folders = {key: name for name, key in channels.items()}
    return _Workspace(people=_names(users), bots=bots, channels=channels, folders=folders)


def _items(name: str, found: Gathering) -> Iterator[Record]:
    """Yield the records of a list of the workspace, and report what is none."""
    for value in values(found.content(name) or b""):
        if isinstance(value.value, dict) and _text(value.value.get("id")):
            yield value.value
        else:
            _report(value, "a person or a channel with an id", found)


def _report(value: Value, expected: str, found: Gathering) -> None:
    got = value.value.reason if isinstance(value.value, Broken) else shown(value.value)
    found.of().problem(f"expected {expected}, got something else: {got}. The rest was read.", value.line)


def _names(users: Mapping[str, Record]) -> dict[str, str]:
    """Return what people are called; those of one name with their handle, or their id, behind it."""
    called = {key: _called(user) or key for key, user in users.items()}
    taken = Counter(called.values())
    handles = Counter((name, _text(users[key].get("name"))) for key, name in called.items())
    for key, name in called.items():
        if taken[name] > 1:
            handle = _text(users[key].get("name"))
            called[key] = f"{name} ({handle if handle and handles[name, handle] == 1 else key})"
    return called


def _called(user: Record) -> str:
    profile = user.get("profile")
    about = profile if isinstance(profile, dict) else {}
    names = (about.get("display_name"), about.get("real_name"), user.get("real_name"), user.get("name"))
    return next((text for text in map(_text, names) if text), "")


def _gather(name: str, channel: _Channel, found: Gathering) -> None:
    """Note the messages of a day, and count what happened in the channel."""
    for value in values(found.content(name) or b""):
        message = value.value
        if not isinstance(message, dict) or not _text(message.get("ts")):
            _report(value, "a message with the time `ts`", found)
            continue
        kind = _text(message.get("subtype"))
        if kind == "message_changed" and isinstance(message.get("message"), dict):
            message = message["message"]
            kind = _text(message.get("subtype"))
        if kind in ("message_deleted", "tombstone"):
            channel.deleted.add(_text(message.get("deleted_ts")) or _text(message.get("ts")))
        elif kind in SPEECH:
            _note(_Said(message=message, file=name, line=value.line), channel, found)
        else:
            found.leave(f"what happened in a channel ({kind[:60]})")


def _note(said: _Said, channel: _Channel, found: Gathering) -> None:
    ts = _text(said.message.get("ts"))
    known = channel.said.setdefault(ts, said)
    if _edited(said.message) > _edited(known.message):
        channel.said[ts] = said
    elif _edited(said.message) == _edited(known.message) and said.message.get("text") != known.message.get("text"):
        found.of().problem(
            f"expected one message at {shown(ts)} in a channel, got another with another text; the first was kept.",
            said.line,
        )


def _edited(message: Record) -> float:
    """Return when a message was last edited; 0 if it never was."""
    edited = message.get("edited")
    try:
        return float(edited["ts"]) if isinstance(edited, dict) else 0.0
    except (KeyError, OverflowError, TypeError, ValueError):
        return 0.0


def _take_channel(channel: _Channel, called: str, workspace: _Workspace, found: Gathering) -> None:
    found.leave("deleted messages", len(channel.deleted))
    for ts, said in channel.said.items():
        if ts not in channel.deleted:
            found.of(file=said.file)
            _take(said.message, ts, said.line, called, workspace, found)


def _take(message: Record, ts: str, line: int, called: str, workspace: _Workspace, found: Gathering) -> None:
    is_bot = _is_bot(message, workspace)
    text = _said(message, workspace, is_bot)
    _count_rest(message, found, with_attachments=not is_bot or bool(_text(message.get("text"))))
    if not text:
        found.leave("messages without text")
        return
    channel, thread = workspace.channels.get(called, called), _text(message.get("thread_ts"))
    known = {"channel": channel, "author": _author(message) or message.get("bot_id"), "thread": thread}
    found.take(
        Line(
            text=text,
            speaker=_speaker(message, workspace, is_bot),
            role="tool" if is_bot else "user",
            session=f"{called}/{thread}" if thread else called,
            line=line,
        ),
        key=f"{channel}/{ts}",
        at=ts,
        origin=rest({**known, "subtype": message.get("subtype"), "edited": message.get("edited")}),
    )


def _author(message: Record) -> str:
    comment = message.get("comment")  # of a file, as Slack wrote it up to 2018
    return _text(message.get("user")) or (_text(comment.get("user")) if isinstance(comment, dict) else "")


def _is_bot(message: Record, workspace: _Workspace) -> bool:
    author = _author(message)
    if message.get("subtype") == "bot_message" or author in workspace.bots:
        return True
    return bool(message.get("bot_id")) and author not in workspace.people  # a person may post through a program


def _speaker(message: Record, workspace: _Workspace, is_bot: bool) -> str:
    author = _author(message)
    profile, bot = message.get("user_profile"), message.get("bot_profile")
    names = (
        _text(message.get("username")) if is_bot else "",
        workspace.people.get(author, ""),
        _called({"profile": profile, **profile}) if isinstance(profile, dict) else "",
        _text(bot.get("name")) if isinstance(bot, dict) else "",
        _text(message.get("username")),
        author,
        _text(message.get("bot_id")),
    )
    return next((name for name in names if name), "unknown")


def _said(message: Record, workspace: _Workspace, is_bot: bool) -> str:
    """Return what a message says, with its files by their names."""
    comment = message.get("comment")
    told = _text(comment.get("comment")) if isinstance(comment, dict) else _text(message.get("text"))
    if not told and is_bot:
        told = "\n".join(
            _text(one.get("fallback")) or _text(one.get("text")) for one in _records(message, "attachments")
        )
    names = [_text(one.get("title")) or _text(one.get("name")) for one in _files(message)]
    parts = (_readable(told, workspace), *(f"[file: {name}]" if name else "[file]" for name in names))
    return "\n".join(part for part in parts if part).strip()


def _files(message: Record) -> list[Record]:
    return _records(message, "files") or ([message["file"]] if isinstance(message.get("file"), dict) else [])


def _count_rest(message: Record, found: Gathering, *, with_attachments: bool) -> None:
    found.leave("files that were shared (their names stand in the turns)", len(_files(message)))
    counts = (one.get("count") for one in _records(message, "reactions"))
    found.leave("reactions", sum(count if isinstance(count, int) else 1 for count in counts))
    if with_attachments:
        found.leave("attachments and previews of links", len(_records(message, "attachments")))


def _records(message: Record, name: str) -> list[Record]:
    held = message.get(name)
    return [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []


def _readable(text: str, workspace: _Workspace) -> str:
    """Return a text as Slack shows it: its references and links in words, and no sign escaped."""
    return MARKUP.sub(lambda one: _replaced(one, workspace), text)


def _replaced(one: re.Match[str], workspace: _Workspace) -> str:
    if one[1] is None:
        return ESCAPED[one[2]]
    target, _, label = (_unescaped(part) for part in one[1].partition("|"))
    kind, key = target[0] if target else "", target[1:]
    if kind == "@":
        return workspace.people.get(key) or label or key
    if kind == "#":
        return "#" + (label or workspace.folders.get(key) or key)
    if kind == "!":  # everybody in the channel, a group of people, or a moment with its own text
        return label or "@" + key.partition("^")[0]
    return link(target, label) if ADDRESS.match(target) else _unescaped(one[0])


def _unescaped(text: str) -> str:
    return re.sub(r"&(amp|lt|gt);", lambda one: ESCAPED[one[1]], text)


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
