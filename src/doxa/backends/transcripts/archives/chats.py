"""The archives that ChatGPT and Claude send: `conversations.json` in a zip, among files about everything else.

Source: the exports of both (Settings, Data controls). ChatGPT cuts a long one into `conversations-000.json` and so on.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.openai import read_openai

__all__ = ["knows_chatgpt", "knows_claude", "read"]


def knows_chatgpt(files: Files) -> bool:
    """Tell whether it holds conversations of ChatGPT."""
    return _holds(files, "mapping")


def knows_claude(files: Files) -> bool:
    """Tell whether it holds conversations of Claude."""
    return _holds(files, "chat_messages")


def _holds(files: Files, messages: str) -> bool:
    first = next((value.value for name in _conversations(files) for value in values(files.read(name))), None)
    return isinstance(first, dict) and messages in first


def _conversations(files: Files) -> Iterator[str]:
    named = files.single
    return (one for one in files.ending(".json") if named or PurePosixPath(one).name.startswith("conversations"))


def read(files: Files, found: Gathering) -> None:
    """Take every message that leads to the end of its conversation, under its own id."""
    read_files = set(_conversations(files))
    for name in sorted(read_files):
        read_openai(files.read(name), found.of(file=name))
    found.leave("other files of the archive (pictures, projects, settings)", len(set(files.names) - read_files))
