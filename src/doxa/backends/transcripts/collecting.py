"""Turns and problems of one conversation as a reader finds them, with ids that last."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from doxa.backends.transcripts.times import instant
from doxa.backends.transcripts.values import Conversation, Line, Problem, shown

__all__ = ["Collector"]

_UNREADABLE: Final = "\ufffd"


@dataclass(slots=True, kw_only=True)
class Collector:
    """Gathers what a reader finds; `conversation()` gives it back with every turn identified.

    A turn that is left out still counts in its session, so that putting it right later moves no other turn's id.
    """

    path: str
    session: str | None = None
    """The session of turns that name none."""
    at: datetime | None = None
    """The time of the turn before."""
    day_first: bool = False
    """Whether `12/05/2024` is a day of May in this file."""
    lines: list[Line] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    """What was not taken, and is no mistake of the file."""
    _places: list[int] = field(default_factory=list)
    """The place of each turn in its session, beside `lines`."""
    _counts: Counter[str | None] = field(default_factory=Counter)
    _current: str | None = None

    def problem(self, message: str, line: int | None = None) -> None:
        """Records one thing that could not be read."""
        self.problems.append(Problem(message=message, line=line, path=self.path))

    def skip(self, session: str | None = None) -> None:
        """Counts a turn that is left out, in its session or, where that is unknown, in the one before."""
        self._counts[session or self._current or self.session] += 1

    def when(self, value: object, line: int | None) -> datetime | None:
        """Gives back the time that `value` names; where it is None or names none, the time of the turn before."""
        return self.at if value is None else self.moment(value, line) or self.at

    def moment(self, value: object, line: int | None) -> datetime | None:
        """Gives back the time that `value` names, for this turn and those after it; None and a problem if none."""
        try:
            self.at = instant(value, day_first=self.day_first)
        except ValueError as exc:
            kept = "the time of the turn before it" if self.at else "no time"
            self.problem(
                f"expected a date such as 2024-03-02T09:14, got {shown(value)} ({exc}); the turn was kept with {kept}. "
                "To date it, correct the file before you read it, or forget the turn and read the file again.",
                line,
            )
            return None
        return self.at

    def add(self, line: Line) -> None:
        """Takes a turn; one that is empty or not readable as text is left out with a problem."""
        line = replace(line, session=line.session or self.session)
        self._current = line.session
        self._counts[line.session] += 1
        sound = self._sound(line)
        if sound is not None:
            self.lines.append(sound)
            self._places.append(self._counts[line.session])

    def conversation(self, name: str | None = None) -> Conversation:
        """Gives back what was gathered; of two turns with one id the first is kept."""
        return Conversation(name=name, lines=tuple(self._identified()), problems=tuple(self.problems))

    def _sound(self, line: Line) -> Line | None:
        """Returns the turn without characters that no database takes; None where bytes of it are lost."""
        if not line.text.strip():
            self.problem("expected text, got an empty turn; it was left out. Fill it in, or delete it.", line.line)
            return None
        named = (line.text, line.speaker or "", line.session or "", line.turn_id or "")
        if all(_is_storable(part) for part in named):
            return line
        if any(_has_lost_bytes(part) for part in named):
            return None  # the reader of the bytes has reported the line
        self.problem(
            f"expected whole characters, got NUL or half of a character in {shown(line.text)}; "
            "each was replaced by U+FFFD. Check how the file was written.",
            line.line,
        )
        text, speaker, session, turn_id = (_mended(part) for part in named)
        return replace(line, text=text, speaker=speaker or None, session=session or None, turn_id=turn_id or None)

    def _identified(self) -> list[Line]:
        given = {line.turn_id for line in self.lines if line.turn_id}
        first: dict[str, Line] = {}
        for line, place in zip(self.lines, self._places, strict=True):
            turn_id = line.turn_id or _made_id(line.session, place, given)
            line = replace(line, turn_id=turn_id)
            if first.setdefault(turn_id, line).text != line.text:
                self.problem(
                    f"expected an id of its own for every turn, got {shown(turn_id)} again with another text; "
                    "the first turn was kept. Give this one another id.",
                    line.line,
                )
        return list(first.values())


def _made_id(session: str | None, place: int, given: set[str]) -> str:
    made = f"{session}:{place}" if session else str(place)
    while made in given:
        made += "'"
    return made


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_lost_bytes(text: str) -> bool:
    """Tells whether bytes of the file that are not UTF-8 stand in the text, as `surrogateescape` writes them."""
    return any("\udc80" <= character <= "\udcff" for character in text)


def _mended(text: str) -> str:
    return "".join(_UNREADABLE if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
