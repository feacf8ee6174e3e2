"""A folder of Markdown, such as an Obsidian vault, or one note: each block of a note is a turn of its user.

Sources: https://spec.commonmark.org (blocks, links), https://help.obsidian.md (properties, tags, `[[Page|shown]]`,
callouts, `^block` ids). Code, tables and HTML are kept as they stand, and so are quotes, which are words of others.

A turn is known by its note and its text, so that a note that was edited adds what is new of it and nothing else.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering, rest
from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.encoding import whole
from doxa.backends.transcripts.reading import shown_path
from doxa.backends.transcripts.text import read_text
from doxa.backends.transcripts.times import instant
from doxa.backends.transcripts.values import Line, role_of, shown

if TYPE_CHECKING:
    from doxa.backends.transcripts.archives.blocks import Block

__all__ = ["knows", "read"]

ENDS: Final = (".md", ".markdown")
DATES: Final = ("date", "created", "updated")
TAGS: Final = ("tags", "tag")
DAY: Final = re.compile(r"(\d{4})([-._]?)(\d{2})\2(\d{2})")
LONGEST: Final = 4000
"""Characters of the properties of a note as JSON, which are kept beside each of its turns."""


@dataclass(slots=True, kw_only=True)
class _Note:
    """What is the same for all turns of a note."""

    path: str
    session: str
    at: datetime | None
    properties: Mapping[str, Any]
    tags: list[str]
    seen: Counter[str] = field(default_factory=Counter)


def knows(files: Files) -> bool:
    """Tell whether there are notes; one file in which people speak in turn is a transcript and no note."""
    names = list(files.ending(*ENDS))
    return bool(names) and not (files.single and _is_transcript(files.read(names[0])))


def _is_transcript(content: bytes) -> bool:
    """Tell lines of "Name: text" from a list of facts, where no name comes twice and nobody is an assistant."""
    (conversation,) = read_text(content, Collector(path=""))
    names = [line.speaker or "" for line in conversation.lines]
    several = len(names) > len(set(names)) > 1 or any(role_of(name) for name in names)
    return several and not conversation.problems


def read(files: Files, found: Gathering) -> None:
    """Take every block of every note."""
    names = list(files.ending(*ENDS)) or (list(files.names) if files.single else [])
    for name in names:
        _take_note(name, found)
    found.leave("other files of the folder (pictures, drawings, settings)", len(files.names) - len(names))


def _take_note(name: str, found: Gathering) -> None:
    from doxa.backends.transcripts.archives.blocks import read_blocks
    from doxa.backends.transcripts.archives.properties import head_of

    content = found.content(name)
    if content is None:
        return
    head = head_of(whole(content))
    if head.broken:
        found.of().problem(f"expected the properties of a note as YAML, got none: {head.broken}. The note was read.", 1)
    path = normalize("NFC", shown_path(PurePosixPath(name)))
    note = _Note(
        path=path,
        session=str(PurePosixPath(path).with_suffix("")),
        at=_date(head.properties, name, found),
        properties=_others(head.properties, found),
        tags=_listed_tags(head.properties),
    )
    text = read_blocks(head.body)
    for what, count in text.left.items():
        found.leave(what, count)
    if text.is_too_deep:
        found.of().problem("expected fewer lists and quotes in one another; the note was read as plain paragraphs.")
    for block in text.blocks:
        _take_block(block, block.line + head.lines, note, found)
    if not text.blocks:
        found.leave("notes without text")


def _take_block(block: "Block", line: int, note: _Note, found: Gathering) -> None:
    tags = list(dict.fromkeys([*note.tags, *block.tags]))
    about = {"path": note.path, "headings": list(block.headings), "tags": tags, "properties": note.properties}
    key = sha256(block.text.encode(errors="backslashreplace")).hexdigest()[:16]
    note.seen[key] += 1
    again = f"-{note.seen[key]}" if note.seen[key] > 1 else ""
    found.take(
        Line(text=block.text, session=note.session, verbatim=block.verbatim, metadata=rest(about), line=line),
        key=f"{note.path}#{key}{again}",
        at=note.at.isoformat() if note.at else None,
    )


def _others(known: Mapping[str, Any], found: Gathering) -> dict[str, Any]:
    """Return the properties that have no place of their own, if they are not too long to be kept with every turn."""
    others = rest({name: value for name, value in known.items() if name.lower() not in (*DATES, *TAGS)})
    if len(json.dumps(others)) <= LONGEST:
        return others
    found.leave("properties of notes that are too long")
    return {}


def _date(known: Mapping[str, Any], name: str, found: Gathering) -> datetime | None:
    """Return when a note was written: as it says itself, as its name says, or else when its file was last written."""
    told = {key.lower(): value for key, value in known.items()}
    for key in DATES:
        value = told.get(key)
        while isinstance(value, list) and len(value) == 1:  # a link in the place of a date, `[[2024-03-02]]`
            value = value[0]
        if value in (None, "", []):
            continue
        try:
            return instant(value.strip("[] ") if isinstance(value, str) else value)
        except ValueError as exc:
            found.of().problem(
                f"expected a date as `{key}`, got {shown(value)} ({exc}); the note was dated by its name or its file.",
                1,
            )
    day = DAY.fullmatch(PurePosixPath(name).stem)
    try:
        return instant("-".join(day.group(1, 3, 4))) if day else found.files.modified(name)
    except ValueError:
        return found.files.modified(name)


def _listed_tags(known: Mapping[str, Any]) -> list[str]:
    """Return the tags among the properties: a list, or a text with commas or blanks between them."""
    values = [value for key, value in known.items() if key.lower() in TAGS]
    listed = [
        one for value in values for one in (value if isinstance(value, list) else re.split(r"[,\s]+", str(value)))
    ]
    return [tag for one in listed if one is not None and (tag := str(one).strip().removeprefix("#"))]
