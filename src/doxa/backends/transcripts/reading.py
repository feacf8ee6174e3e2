"""A transcript from a file or from bytes: find out the format, read it, keep what can be kept."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Final

from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.encoding import as_utf8, is_binary, is_empty, report_undecodable
from doxa.backends.transcripts.jsonvalues import is_json, values
from doxa.backends.transcripts.locomo import is_locomo, read_locomo
from doxa.backends.transcripts.openai import read_openai
from doxa.backends.transcripts.text import read_text
from doxa.backends.transcripts.values import Conversation, Transcript
from doxa.core.errors import FormatError, NotFoundError

__all__ = ["FORMATS", "detect", "load", "read", "shown_path"]

_Reader = Callable[[bytes, Collector], tuple[Conversation, ...]]
_READERS: Final[Mapping[str, _Reader]] = {"openai": read_openai, "locomo": read_locomo, "text": read_text}

FORMATS: Final = tuple(_READERS)
"""The names that `read` takes as its format, beside `auto`."""


def read(
    path: Path | None, *, content: bytes | None = None, format: str = "auto", session: str | None = None
) -> Transcript:
    """Gives back the turns of a transcript, and a problem for everything that could not be read.

    Args:
        path: The file; None when `content` comes from somewhere else, such as standard input.
        content: Its bytes, where they are at hand already. UTF-8, or UTF-16 or UTF-32 with their mark.
        format: `openai`, `locomo`, `text`, or `auto` to tell it from the content.
        session: The session of turns that name none. With it the made ids of two files do not clash.

    Raises:
        FormatError: The format is unknown, or the file is a folder, cannot be read, or is an export of Doxa.
        NotFoundError: There is no such file.

    Cost: O(n) time; in memory the file, its text, and the turns. Deterministic: the same bytes give the same ids.
    """
    if format not in ("auto", *FORMATS):
        raise FormatError(f"expected the format auto, {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {format!r}.")
    found = Collector(path=shown_path(path), session=session)
    content = as_utf8(load(path) if content is None else content)
    if is_empty(content) or is_binary(content):
        name = "text" if format == "auto" else format
        return Transcript(format=name, conversations=(_unreadable(content, found),))
    content = _without_padding(content, found)
    report_undecodable(content, found)
    name = _detected(content) if format == "auto" else format
    if name == "openai":
        _refuse_export(content, found.path)
    conversations = _READERS[name](content, found)
    if not any(conversation.lines or conversation.problems for conversation in conversations):
        found.problem(f"expected turns, got a file in the format {name} that holds none; check that it is complete.")
        conversations = (found.conversation(),)
    return Transcript(format=name, conversations=conversations)


def detect(content: bytes) -> str:
    """Gives back the format that the content is in; `text` for whatever is no JSON."""
    return _detected(as_utf8(content))


def _detected(content: bytes) -> str:
    if not is_json(content):
        return "text"
    first = next(values(content), None)
    return "locomo" if first is not None and is_locomo(first.value) else "openai"


def _refuse_export(content: bytes, path: str) -> None:
    first = next(values(content), None)
    kind = first.value.get("format") if first is not None and isinstance(first.value, dict) else None
    if isinstance(kind, str) and kind.startswith("doxa-export/"):
        raise FormatError("expected a transcript, got what `doxa export` wrote; read it with `doxa import`.", path=path)


def load(path: Path | None) -> bytes:
    """Gives back the bytes of a file.

    Raises:
        NotFoundError: There is no such file.
        FormatError: It cannot be read.
    """
    if path is None:
        raise FormatError("expected a file or its content, got neither; give the path of a transcript.")
    try:
        return path.read_bytes()
    except FileNotFoundError as exc:
        raise NotFoundError(f"expected a transcript at {shown_path(path)}, but there is no such file.") from exc
    except IsADirectoryError as exc:
        raise FormatError("expected a file, got a folder; give the files in it one by one.", path=str(path)) from exc
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        reason = getattr(exc, "strerror", None) or exc
        raise FormatError(
            f"expected a file that can be read, got: {reason}. Check the path and its permissions (`ls -l`).",
            path=shown_path(path),
        ) from exc


def _without_padding(content: bytes, found: Collector) -> bytes:
    """Returns the content without the NUL bytes that a crash or a full disk leaves at the end of a file."""
    trimmed = content.rstrip(b"\0")
    if len(trimmed) < len(content):
        found.problem(
            f"expected text to the end, got {len(content) - len(trimmed)} NUL bytes there; the rest was read. "
            "The file may be incomplete; look for a whole copy."
        )
    return trimmed


def _unreadable(content: bytes, found: Collector) -> Conversation:
    if is_empty(content):
        found.problem("expected turns, got an empty file; check that it was written to the end.")
    else:
        found.problem(
            "expected text, got a binary file. Give a JSON, JSONL or text transcript; "
            "text from some editors must first be saved as UTF-8."
        )
    return found.conversation()


def shown_path(path: PurePath | None) -> str:
    """Gives back a path as messages show it."""
    # A file name may hold bytes that are no text; a message with them could not be printed.
    return "stdin" if path is None else str(path).encode("utf-8", "backslashreplace").decode()
