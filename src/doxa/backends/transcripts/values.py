"""What a transcript consists of, and the words in which its parts are shown to people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from doxa.core.values import Role

__all__ = ["Conversation", "Line", "Problem", "Transcript", "role_of", "shown"]

_WORDS: Final[Mapping[Role, str]] = {
    "user": "user human",
    "assistant": "assistant helper bot chatbot ai agent model chatgpt gpt claude gemini copilot",
    "system": "system developer",
    "tool": "tool function",
}
_ROLES: Final[Mapping[str, Role]] = {word: role for role, words in _WORDS.items() for word in words.split()}
_SHOWN_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One turn as it stands in a file; what the file does not say is None."""

    text: str
    speaker: str | None = None
    role: Role = "user"
    at: datetime | None = None
    """In UTC. A turn that gives no time has that of the turn before it."""
    session: str | None = None
    turn_id: str | None = None
    """Never None in what `read` gives back: a turn without an id gets one."""
    line: int | None = None
    """The line of the file where it starts; None inside a value that spans many turns."""
    verbatim: bool = False
    """It is kept and found as it stands, and no fact is made from it."""
    called: tuple[str, ...] = ()
    """Other names by which it means its speaker."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What whoever stored it there noted about it."""
    origin: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What it was there, beside what the other fields say: `from`, `id`, and whatever else its record held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that could not be read as it stands: what was expected, what came, what to do."""

    message: str
    line: int | None = None
    path: str = ""

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line) if part not in ("", None))
        return f"{where}: {self.message}" if where else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The turns of one user, in the order of the file. `name` is the user where the file names one."""

    name: str | None = None
    lines: tuple[Line, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A whole file; there is at least one conversation. `format` is one of `FORMATS`, or of `ARCHIVES`."""

    format: str
    conversations: tuple[Conversation, ...]
    left: Mapping[str, int] = field(default_factory=dict, hash=False)
    """How much of what was not carried, by what it is."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that could not be read, in all conversations."""
        return tuple(problem for conversation in self.conversations for problem in conversation.problems)


def role_of(word: str) -> Role | None:
    """Gives back the role that a word such as "Assistant" or "human" stands for; None for any other word."""
    return _ROLES.get(word.strip().lower())


def shown(value: object) -> str:
    """Gives back a value as a message quotes it: short, on one line, printable anywhere."""
    if isinstance(value, str):
        # repr escapes line ends and halves of characters, and keeps letters of any script.
        return repr(value[:_SHOWN_CHARACTERS]) + ("..." if len(value) > _SHOWN_CHARACTERS else "")
    if isinstance(value, dict):
        keys = ", ".join(shown(key) for key in list(value)[:5])
        return f"an object with {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else str(value)[:_SHOWN_CHARACTERS]
