"""An archive from a file, a zip or a folder: find out whose it is, and read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from doxa.backends.transcripts import reading as transcripts
from doxa.backends.transcripts.archives import chats, graph, graphiti, notes, slack, whatsapp
from doxa.backends.transcripts.archives.files import Files, opened
from doxa.backends.transcripts.archives.gathering import Gathering
from doxa.backends.transcripts.archives.letta import LETTA
from doxa.backends.transcripts.archives.memories import LANGGRAPH, MEM0, OPENMEMORY
from doxa.backends.transcripts.values import Transcript
from doxa.core.errors import FormatError

__all__ = ["ARCHIVES", "read_archive"]


@dataclass(frozen=True, slots=True)
class Archive:
    """A format: how it is told by its content, and how it is read."""

    knows: Callable[[Files], bool]
    read: Callable[[Files, Gathering], None]


# Slack is told by the names of its files, so it comes first; notes are whatever Markdown nobody else knows.
READERS: Final[Mapping[str, Archive]] = {
    "slack": Archive(slack.knows, slack.read),
    "chatgpt": Archive(chats.knows_chatgpt, chats.read),
    "claude": Archive(chats.knows_claude, chats.read),
    "mcp": Archive(graph.knows, graph.read),
    "mem0": Archive(MEM0.knows, MEM0.read),
    "openmemory": Archive(OPENMEMORY.knows, OPENMEMORY.read),
    "langgraph": Archive(LANGGRAPH.knows, LANGGRAPH.read),
    "letta": Archive(LETTA.knows, LETTA.read),
    "graphiti": Archive(graphiti.knows, graphiti.read),
    "whatsapp": Archive(whatsapp.knows, whatsapp.read),
    "notes": Archive(notes.knows, notes.read),
}
ARCHIVES: Final = (*READERS, *transcripts.FORMATS)
"""The names that `read_archive` takes as its format, beside `auto`."""


def read_archive(path: Path, *, format: str = "auto", session: str | None = None) -> Transcript:
    """Return the turns of an archive, user by user and by their dates, with what was wrong and what was not carried.

    Ids follow from those of the archive, so that reading it again gives the same ones.

    Args:
        path: a file, a folder or a zip.
        format: one of `ARCHIVES`, or `auto` to tell it from the content; what is no archive is read as a transcript.
        session: the session of turns that name none.

    Raises:
        NotFoundError: there is nothing at that path.
        FormatError: it cannot be read, or is of no format that is known.

    Cost: O(n log n) time; in memory one file of the archive, and the turns.
    """
    if format not in ("auto", *ARCHIVES):
        raise FormatError(f"expected the format auto, {', '.join(ARCHIVES[:-1])} or {ARCHIVES[-1]}, got {format!r}.")
    if format in transcripts.FORMATS:
        return transcripts.read(path, format=format, session=session)
    files = opened(path)
    name = format if format != "auto" else _told(files)
    if name is None and files.single:
        return transcripts.read(path, session=session)
    if name is None:
        raise FormatError(
            f"expected an archive of {', '.join(READERS)}, found none in {len(files.names):,} files. Give the format, "
            "or a transcript alone.",
            path=files.path,
        )
    found = Gathering(files, name, session=session)
    READERS[name].read(files, found)
    read = Transcript(format=name, conversations=found.conversations(), left=dict(found.left))
    if not any(one.lines or one.problems for one in read.conversations):
        found.of().problem(
            f"expected something of {name}, found nothing that could be read; check that it is complete."
        )
        return replace(read, conversations=found.conversations())
    return read


def _told(files: Files) -> str | None:
    """Return whose archive it is; None where nobody knows it.

    Raises:
        FormatError: nobody knows it, and a file could not be looked at.
    """
    unread: FormatError | None = None
    for name, one in READERS.items():
        try:
            if one.knows(files):
                return name
        except FormatError as exc:
            unread = unread or exc
    if unread is not None:
        raise unread
    return None
