"""A chat that WhatsApp exported: `WhatsApp Chat with Ana.txt` or `_chat.txt`, alone or in a zip with its media.

Source: https://faq.whatsapp.com/1180414079177245 (how to export), and files that Android and iOS write. Android writes
`12/05/24, 10:11 - Ana: text`, iOS `[12/05/24, 10:11:12] Ana: text`; order and signs of the date, and the mark of the
half of the day, are those of the phone's language. What the program says has no name before it on Android, and begins
with a direction mark on iOS, in whatever language it is; media are a text in angle brackets, or behind such a mark.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering
from doxa.backends.transcripts.times import day_order
from doxa.backends.transcripts.values import Line, shown
from doxa.core.errors import FormatError

__all__ = ["knows", "read"]

LETTERS: Final = r"[^\W\d_]"
STAMP: Final = rf"""
    (?P<one>\d{{1,4}})(?P<sign>[./-])\s?(?P<two>\d{{1,2}})(?P=sign)\s?(?P<three>\d{{1,4}})\.?
    (?P<comma>[,\u060c]?)\s{{0,2}}(?:(?P<before>{LETTERS}{{1,5}})\.?\s?)?
    (?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?
    (?:\s?(?P<after>{LETTERS}{{1,5}}(?:\.(?:\s?{LETTERS}\.)?)?))?"""
MARK: Final = "\u200e"
"""What iOS writes before anything that nobody typed."""
MARKS: Final = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
ANDROID: Final = re.compile(rf"[{MARKS}]*(?P<stamp>{STAMP})\s[-\u2013]\s(?P<rest>.*)", re.VERBOSE | re.DOTALL)
IOS: Final = re.compile(rf"[{MARKS}]*\[(?P<stamp>{STAMP})\]\s(?P<rest>.*)", re.VERBOSE | re.DOTALL)
PLACEHOLDER: Final = re.compile(rf"[{MARKS}]*<[^<>\n]+>")
NOTED: Final = re.compile(rf"\s?{MARK}<[^<>\n]+>$")
COPY: Final = re.compile(r" ?\(\d{1,2}\)$")
QUOTES: Final = ('""', "“”", "«»", "„“")
HEAD: Final = 4096
LONGEST_NAME: Final = 100
PM: Final = frozenset(("p", "pm"))
HALVES: Final = PM | {"a", "am"}


@dataclass(slots=True, kw_only=True)
class _Message:
    """What begins with a stamp; nobody is named before what the program itself says."""

    stamp: re.Match[str]
    name: str | None
    line: int
    parts: list[str] = field(default_factory=list)


class _Order(NamedTuple):
    """How the stamps of a file are read."""

    day_first: bool
    afternoon: frozenset[str]
    """Marks of the second half of the day."""


def knows(files: Files) -> bool:
    """Tell whether a text of it begins as a chat of WhatsApp does, without doubt.

    A date, a time and a name stand before what is said in other transcripts too. Where the name of the file does not
    tell, these have no comma between the first two and a dash behind, or brackets and seconds.
    """
    for name in _texts(files):
        try:
            start = _first_stamp(files, name)
        except FormatError:
            continue
        named = _stem(name) == "_chat" or "whatsapp" in _stem(name).casefold()
        if start and (named or (start["comma"] and (start.re is ANDROID or start["second"]))):
            return True
    return False


def _texts(files: Files) -> Iterator[str]:
    return iter(files.names) if files.single else files.ending(".txt")


def _first_stamp(files: Files, name: str) -> re.Match[str] | None:
    """Return how the first line begins; None if not as one of a chat."""
    head = files.read(name)[:HEAD].decode("utf-8", "surrogateescape").lstrip()
    first = head.partition("\n")[0]
    return ANDROID.match(first) or IOS.match(first)


def _stem(name: str) -> str:
    return COPY.sub("", PurePosixPath(name).stem)


def read(files: Files, found: Gathering) -> None:
    """Take what people wrote in every chat."""
    chats = [name for name in _texts(files) if files.single or _may_be_chat(files, name)]
    for name in chats:
        _take_chat(name, found)
    found.leave("media and other files of the archive", len(files.names) - len(chats))


def _may_be_chat(files: Files, name: str) -> bool:
    try:
        return _first_stamp(files, name) is not None
    except FormatError:
        return True  # reading it tells what is wrong


def _take_chat(name: str, found: Gathering) -> None:
    messages = _messages(found.content(name) or b"", found)
    order = _order([one.stamp for one in messages], found)
    session = _session(found.files, name)
    seen = Counter[str]()
    for message in messages:
        if message.name is None:
            found.leave("notices of WhatsApp")
            continue
        text = _typed(message, found)
        if not text:
            continue
        said = json.dumps([_plain(message.stamp["stamp"]), message.name, text])
        key = sha256(said.encode()).hexdigest()[:32]
        seen[key] += 1
        again = f"-{seen[key]}" if seen[key] > 1 else ""
        found.take(
            Line(text=text, speaker=message.name, session=session, line=message.line),
            key=f"{session}/{key}{again}",
            at=_moment(message.stamp, order),
            origin={"stamp": message.stamp["stamp"]},
        )


def _messages(content: bytes, found: Gathering) -> list[_Message]:
    """Return what begins with a stamp as the first does, each with the lines up to the next."""
    messages: list[_Message] = []
    layout: re.Pattern[str] | None = None
    strays = 0
    for number, raw in enumerate(content.split(b"\n"), start=1):
        text = raw.decode("utf-8", "surrogateescape").removesuffix("\r")
        if layout is None:
            layout = next((one for one in (ANDROID, IOS) if one.match(text)), None)
        start = layout.match(text) if layout else None
        if start is not None and (not messages or start["sign"] == messages[0].stamp["sign"]):
            name, said = _named(start["rest"])
            messages.append(_Message(stamp=start, name=name, line=number, parts=[said]))
        elif messages:
            messages[-1].parts.append(text)
        else:
            strays += bool(text.strip())
    if strays:
        found.of().problem(
            f"expected a line that begins with a date and a time, got {strays} before any; they were left out."
        )
    return messages


def _named(rest: str) -> tuple[str | None, str]:
    """Return who wrote it and what; None where no name stands before it."""
    before, colon, said = rest.partition(":")
    name = " ".join(re.sub(rf"[{MARKS}]", "", before).split()).removeprefix("~").strip()
    is_name = bool(colon) and 0 < len(name) <= LONGEST_NAME and not _opens_quote(before)
    if not is_name or (said and not said[0].isspace()):
        return None, rest
    return name, said[1:]


def _opens_quote(text: str) -> bool:
    """Tell whether a quote is open at the end: the colon behind it is part of a title that the program tells of."""
    return any(
        text.count(opening) % 2 if opening == closing else text.count(opening) > text.count(closing)
        for opening, closing in QUOTES
    )


def _typed(message: _Message, found: Gathering) -> str:
    """Return what somebody typed; nothing, and a count, where it is a medium or the program that speaks."""
    lines = message.parts
    if lines[0].lstrip(" ").startswith(MARK):
        # On Android the name of a file stands there, and what was typed to it below.
        found.leave("media and what WhatsApp writes in their place")
        lines = lines[1:] if message.stamp.re is ANDROID else []
        return "\n".join(lines).strip()
    text = "\n".join(lines).strip()
    if PLACEHOLDER.fullmatch(text):
        found.leave("media and what WhatsApp writes in their place")
        return ""
    noted = NOTED.search(text)
    if noted:  # that it was edited, or a file that was sent with it
        found.leave("media and what WhatsApp writes in their place")
        text = text[: noted.start()].strip()
    if not text:
        found.leave("messages without text")
    return text


def _order(stamps: list[re.Match[str]], found: Gathering) -> _Order:
    """Return how the stamps of a file are read: as its dates tell, else so that time goes back the least often."""
    told = day_order(f"{one['one']}/{one['two']}/00" for one in stamps if len(one["one"]) < 3)
    dotted = bool(stamps) and stamps[0]["sign"] == "."
    days = [True] if dotted else [False, True] if told is None else [told]
    halves = _afternoons(stamps, found)
    orders = [_Order(day, half) for day, half in product(days, halves)]
    if len(orders) == 1:
        return orders[0]
    return min(orders, key=lambda order: _steps_back(stamps, order))  # the first of those that are as good


def _afternoons(stamps: list[re.Match[str]], found: Gathering) -> list[frozenset[str]]:
    """Return which marks may be those of the afternoon; without knowing the language, either of two."""
    marks = dict.fromkeys(mark for one in stamps if (mark := _mark(one)))
    if not marks or HALVES.issuperset(marks) or any(int(one["hour"]) > 12 for one in stamps):
        return [PM]
    if len(marks) == 2:
        return [frozenset((mark,)) for mark in reversed(marks)]
    told = "expected am or pm at the times, got {}; they were read as they stand, and may be wrong by 12 hours."
    found.of().problem(told.format(", ".join(shown(mark) for mark in list(marks)[:3])))
    return [PM]


def _mark(stamp: re.Match[str]) -> str:
    return _plain(stamp["after"] or stamp["before"] or "").replace(".", "")


def _plain(text: str) -> str:
    """Return a text without spaces and the size of its letters, which versions of WhatsApp write differently."""
    return "".join(text.split()).casefold()


def _steps_back(stamps: list[re.Match[str]], order: _Order) -> int:
    moments = [moment for one in stamps if (moment := _read(one, order))]
    return sum(later < before for before, later in pairwise(moments)) + 2 * (len(stamps) - len(moments))


def _moment(stamp: re.Match[str], order: _Order) -> str:
    """Return a stamp in ISO; one that names no moment as it stands, which is reported."""
    moment = _read(stamp, order)
    return moment.isoformat() if moment else stamp["stamp"]


def _read(stamp: re.Match[str], order: _Order) -> datetime | None:
    one, two, three = (int(stamp[part]) for part in ("one", "two", "three"))
    if len(stamp["one"]) == 4:
        year, month, day = one, two, three
    elif order.day_first:
        year, month, day = three, two, one
    else:
        year, month, day = three, one, two
    hour, mark = int(stamp["hour"]), _mark(stamp)
    if mark in order.afternoon and hour < 12:
        hour += 12
    elif mark and mark not in order.afternoon and hour == 12 and (mark in HALVES or order.afternoon != PM):
        hour = 0
    try:
        return datetime(  # noqa: DTZ001 - the file names no zone; it is taken as UTC where it is stored
            year + 2000 if year < 100 else year, month, day, hour, int(stamp["minute"]), int(stamp["second"] or 0)
        )
    except ValueError:
        return None


def _session(files: Files, name: str) -> str:
    """Return the chat's name: that of the file, or of what `_chat.txt` stands in."""
    own = PurePosixPath(name)
    if _stem(name) != "_chat":
        return _stem(name)
    around = Path(files.path).absolute()
    if own.parent.name:
        return COPY.sub("", own.parent.name)
    if files.single:
        return COPY.sub("", around.parent.name) or "_chat"
    return COPY.sub("", around.stem if around.suffix.lower() == ".zip" else around.name) or "_chat"
