"""The archives that ChatGPT and Claude send: `conversations.json` in a zip, among files about everything else.

Source: the exports of both (Settings, Data controls). ChatGPT cuts a long one into `conversations-000.json` and so on.
"""

from pathlib import PurePosixPath

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering
from doxa.backends.transcripts.openai import read_openai

__all__ = ["knows_chatgpt", "knows_claude", "read"]

CHATGPT, CLAUDE = "mapping", "chat_messages"
"""Under which name a conversation holds its messages."""


def knows_chatgpt(files: Files) -> bool:
    """Tell whether it holds conversations of ChatGPT."""
    return _holds(files, CHATGPT)


def knows_claude(files: Files) -> bool:
    """Tell whether it holds conversations of Claude."""
    return _holds(files, CLAUDE)


def _holds(files: Files, messages: str) -> bool:
    return any(isinstance(head, dict) and messages in head for head in files.heads)


def read(files: Files, found: Gathering) -> None:
    """Take every message that leads to the end of its conversation, under its own id."""
    talks = [name for name, head in zip(files.data, files.heads, strict=True) if files.single or _is_talk(name, head)]
    for name in talks:
        read_openai(found.content(name) or b"", found.of())
    found.left += found.of().left
    found.leave("other files of the archive (pictures, projects, settings)", len(files.names) - len(talks))


def _is_talk(name: str, head: object) -> bool:
    """Tell whether a file holds conversations, by its name or by what it begins with."""
    named = PurePosixPath(name).name.startswith("conversations")
    return named or (isinstance(head, dict) and bool(head.keys() & {CHATGPT, CLAUDE}))
