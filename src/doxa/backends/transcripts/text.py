"""Plain text: `Name: what was said`, with dates before the name, or on a line of their own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.encoding import numbered
from doxa.backends.transcripts.times import is_day_first
from doxa.backends.transcripts.values import Conversation, Line, role_of, shown

__all__ = ["read_text"]

_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_WEEKDAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\ {1,3})?"
_DAY: Final = rf"""{_WEEKDAY}(?:
    \d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}
  | \d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}
  | \d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH},?\ \d{{4}}
  | {_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?,?\ \d{{4}}
)(?!\d)"""
_ZONE: Final = r"(?:\ ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})(?!\w))?"
_CLOCK: Final = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?(?:\ ?[ap]\.?m\b\.?)?{_ZONE}"
_STAMP: Final = rf"(?:{_DAY}(?:(?:T|,?\ {{1,3}}|\ at\ ){_CLOCK})?|{_CLOCK}\ on\ {_DAY}|{_CLOCK})"
_LOST: Final = r"\udc80-\udcff"  # bytes that are not UTF-8: a turn by Jos? must still begin a turn
_WORD: Final = rf"(?:[^\W_]|[{_LOST}])[\w{_LOST}.'’&()-]{{0,29}}"
_NAME: Final = rf"{_WORD}(?:\ (?:{_WORD}|&)){{0,3}}"
_TURN: Final = re.compile(
    rf"(?:(?:\[(?!\d{{1,3}}\])(?P<boxed>[^\]]{{1,60}})\]|\((?P<bracketed>{_STAMP})\)|(?P<bare>{_STAMP}))"
    r"\ {0,3}(?:[-–—|,:]\ {0,3})?)?"
    rf"\*{{0,2}}(?P<name>{_NAME})\*{{0,2}}\ ?(?:\uff1a|:\*{{0,2}}(?:\s|$))",
    re.IGNORECASE | re.VERBOSE,
)
_HEADER: Final = re.compile(rf"(?:Session\ [\w ]{{1,20}}[:,(-]\ ?)?(?P<stamp>{_STAMP})\)?", re.IGNORECASE | re.VERBOSE)
_DECORATED: Final = re.compile(r"(?:#{1,6} +|[-=*_~]{2,40} ?)(?P<label>[^-=*_~#].{0,77}?) ?[-=*_~#:]{0,40}")
_SESSION: Final = re.compile(r"(?:session|day|part|conversation|chat) \w{1,10}", re.IGNORECASE)
_RULE: Final = re.compile(r"[-=*_~#]{3,}")
_ONLY_CLOCK: Final = re.compile(_CLOCK, re.IGNORECASE | re.VERBOSE)
_HAS_DAY: Final = re.compile(_DAY, re.IGNORECASE | re.VERBOSE)
_MARKS: Final = "\u200e\u200f\ufeff"  # direction marks that messengers put before a line
_PREFIX_CHARACTERS: Final = 240  # a date and a name fit in; a line of megabytes is not searched
_SMALL: Final = frozenset("al and bin da de del den der di du el la le of the van von".split())
_NO_NAMES: Final = frozenset(
    "also and answer but cc date e.g edit example fyi hint http https i.e nb note notes or p.s ps re so subject then "
    "tip tl;dr todo update warning".split()
)


@dataclass(slots=True, kw_only=True)
class _Open:
    """The turn that the lines below may go on with."""

    name: str
    at: datetime | None
    session: str | None
    line: int
    parts: list[str] = field(default_factory=list)


def read_text(content: bytes, found: Collector) -> tuple[Conversation, ...]:
    """Gives back one conversation with the turns of a plain text; each date is a session of its file.

    Args:
        content: UTF-8.
        found: Where turns and problems go.
    """
    found.day_first = is_day_first(_stamps(content))
    reader = _Reader(found)
    for number, text in numbered(content):
        reader.take(text.lstrip(_MARKS), number)
    reader.close()
    return (found.conversation(),)


def _stamps(content: bytes) -> Iterator[str]:
    """Yields what stands where a line may have its date."""
    for _, text in numbered(content):
        head = text.lstrip(_MARKS)[:_PREFIX_CHARACTERS]
        if turn := _TURN.match(head):
            yield turn["boxed"] or turn["bracketed"] or turn["bare"] or ""
        elif len(text) <= _PREFIX_CHARACTERS // 2 and (header := _HEADER.fullmatch(_label(head))):
            yield header["stamp"]


def _label(text: str) -> str:
    """Returns a line without what makes a heading of it."""
    decorated = _DECORATED.fullmatch(text)
    return decorated["label"].strip() if decorated else text.strip("[]():")


class _Reader:
    """Goes through the lines: a header, the start of a turn, or more of the turn above."""

    def __init__(self, found: Collector) -> None:
        self._found = found
        self._turn: _Open | None = None
        self._session: str | None = None
        self._day: str | None = None
        self._is_headed = False
        """A header has named the session, so the dates of turns do not."""
        self._lower_names: bool | None = None
        """Whether names are written small in this file, as its first turn shows."""
        self._turns = 0
        self._is_dayless_reported = False
        self._stray: tuple[int, str] | None = None
        self._strays = 0

    def take(self, text: str, line: int) -> None:
        """Reads one line that is not blank."""
        if _RULE.fullmatch(text) or self._take_header(text, line) or self._take_turn(text, line):
            return
        if self._turn is not None:
            self._turn.parts.append(text)
        else:
            self._stray = self._stray or (line, text)
            self._strays += 1

    def close(self) -> None:
        """Ends the last turn, and says what was no turn."""
        self._end_turn()
        self._report_strays()

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        role = role_of(turn.name) or "user"
        text = "\n".join(turn.parts)
        self._found.add(Line(text=text, speaker=turn.name, role=role, at=turn.at, session=turn.session, line=turn.line))

    def _take_header(self, text: str, line: int) -> bool:
        if len(text) > _PREFIX_CHARACTERS // 2:
            return False
        decorated = _DECORATED.fullmatch(text)
        label = _label(text)
        header = _HEADER.fullmatch(label)
        if header is not None and _HAS_DAY.search(header["stamp"]):
            self._end_turn()
            at = self._found.moment(header["stamp"], line)
            self._day = at.date().isoformat() if at else None
            self._session = self._named(self._day or header["stamp"])
        elif decorated and _SESSION.fullmatch(label):
            self._end_turn()
            self._session = self._named(label)
        else:
            return False
        self._is_headed = True
        return True

    def _take_turn(self, text: str, line: int) -> bool:
        start = _TURN.match(text[:_PREFIX_CHARACTERS])
        if start is None:
            return False
        stamp = start["boxed"] or start["bracketed"] or start["bare"]
        if not stamp and not self._is_name(start["name"]):
            return False
        self._end_turn()
        at = self._when(stamp, line) if stamp else self._found.at
        said = text[start.end() :].strip()
        self._turn = _Open(name=start["name"], at=at, session=self._session, line=line, parts=[said] if said else [])
        self._turns += 1
        return True

    def _when(self, stamp: str, line: int) -> datetime | None:
        """Returns the time of a turn; its date is the session, unless a header has named one."""
        if _ONLY_CLOCK.fullmatch(stamp):
            if self._day is None:
                return self._without_day(stamp, line)
            stamp = f"{self._day} {stamp}"
        at = self._found.moment(stamp, line)
        if at is None:
            return self._found.at
        self._day = at.date().isoformat()
        self._session = self._session if self._is_headed else self._named(self._day)
        return at

    def _named(self, label: str) -> str:
        """Returns the name of a session: two files may have one of the same day."""
        return f"{self._found.session}/{label}" if self._found.session else label

    def _without_day(self, stamp: str, line: int) -> datetime | None:
        if not self._is_dayless_reported:
            self._is_dayless_reported = True
            self._found.problem(
                f"expected a date somewhere above the time, got only {shown(stamp)}; turns like this one were kept "
                "without a time of their own. Put a line such as `# 2024-03-02` before them.",
                line,
            )
        return self._found.at

    def _is_name(self, name: str) -> bool:
        """Tells a name before a colon from other words ("Note:", "things to do:")."""
        words = name.split()
        if name.lower() in _NO_NAMES or words[0][0].isdigit():
            return False
        is_lower = name == name.lower() and name != name.upper() and role_of(name) is None
        if self._lower_names is None and len(words) == 1:
            self._lower_names = is_lower
        if is_lower:
            return len(words) == 1 and bool(self._lower_names)
        return len(words) == 1 or all(not word[0].islower() or word in _SMALL for word in words)

    def _report_strays(self) -> None:
        if self._stray is None:
            return
        line, text = self._stray
        if not self._turns:
            message = f'expected lines such as "Ana: Good morning!", got {shown(text)} and no such line at all'
            advice = "Put the speaker and a colon before each turn."
        else:
            message = f'expected "Name: text" before anything else, got {shown(text)}'
            advice = f"{self._strays} line(s) that belong to no turn were left out; put a speaker before them."
        self._found.problem(f"{message}. {advice}", line)
