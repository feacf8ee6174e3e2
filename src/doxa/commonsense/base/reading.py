"""Files of sentences and of inferences -> their content, whatever of the usual forms they have."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from doxa.core.background import RELATIONS
from doxa.core.errors import InputError

__all__ = ["Tuple", "read_sentences", "read_tuples"]

MAX_CHARS = 1_000
"""A longer "sentence" is a document, and is cut here: the encoder reads about as much."""
LOOKED_AT = 200
"""Rows by which the column of the sentences is chosen."""
TABLE = 0.5
"""The share of the first lines that have tabs, from which on a file is a table; the others are remarks, or broken."""
OBJECT, ARRAY = re.compile(r'\s*\{\s*(["}]|$)'), re.compile(r"\s*\[\s*(\{|$)")
FIELDS = ("sentence", "generic sentence", "generic_sentence", "text")
"""What the field of the sentence is called, in JSON and in the first line of a table."""

Tuple = tuple[str, str, str]
"""An event, a relation and what is inferred."""

ALIKE: Mapping[str, str] = {
    "isBefore": "IsBefore",
    "isAfter": "IsAfter",
    "HasPrerequisite": "xNeed",
    "MotivatedByGoal": "xReason",
    "CausesDesire": "xWant",
} | {name: name for name in RELATIONS}
"""Names of relations in ATOMIC 2020 and ConceptNet -> ours. What is left out says what things are, not what follows."""
NOTHING = {"", "none", "null"}


def read_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences of a file: lines of text, a table with tabs, or JSON Lines; `.gz` as well.

    The column of a table is the one that its first line calls "sentence" (or "generic sentence", "text"), else the
    one with most words in the first rows.

    Raises:
        InputError: the file cannot be read or holds no sentence, or a line of JSON has no such field.
    """
    lines = _lines(path)
    first = list(islice(lines, LOOKED_AT))
    rows = chain(first, lines)
    filled = [line for line in first if line.strip()]
    head, tabs = next(iter(filled), ""), [line for line in filled if "\t" in line]
    if ARRAY.match(head):
        raise InputError(f"{path}: expected JSON Lines, an object on each line; it is one JSON array.")
    if OBJECT.match(head):
        sentences: Iterable[str] = (_field(line, path, number) for number, line in enumerate(rows, start=1))
    elif tabs and len(tabs) >= TABLE * len(filled):
        sentences = _column(tabs, chain(tabs, lines))
    else:
        sentences = rows
    some = False
    for sentence in sentences:
        if kept := " ".join(sentence.encode("utf-8", "replace").decode("utf-8").split())[:MAX_CHARS].rstrip():
            some = True
            yield kept
    if not some:
        raise InputError(f"{path}: expected sentences, one on a line; it has none.")


def read_tuples(path: Path) -> Iterator[Tuple]:
    """Yield the inferences of a file of ATOMIC 2020 or ConceptNet that are of one of our eleven relations.

    Lines are `event <tab> relation <tab> tail`, `relation <tab> event <tab> tail ...`, or
    `event @@ relation <tab> tail | tail ...`. Lines of other relations are left out.

    Raises:
        InputError: the file cannot be read, or none of its lines is of such a form and relation.
    """
    known = False
    for line in _lines(path):
        for event, relation, tail in _tuples([" ".join(cell.split()) for cell in line.split("\t")]):
            known = True
            if tail.lower() not in NOTHING and event:
                yield event, ALIKE[relation], tail
    if not known:
        raise InputError(
            f"{path}: expected inferences, one on a line: event, relation and tail with tabs between (ATOMIC 2020), or "
            f"relation, event and tail (ConceptNet), of the relations {', '.join(RELATIONS)}. None of its lines is."
        )


def _tuples(cells: Sequence[str]) -> Iterator[Tuple]:
    """Yield the events, relations and tails of a line, as they are written; none of a relation that `ALIKE` lacks."""
    if len(cells) >= 2 and " @@ " in cells[0]:
        event, _, relation = cells[0].partition(" @@ ")
        if relation.strip() in ALIKE:
            for tail in cells[1].split("|"):
                yield event.strip(), relation.strip(), tail.strip().rstrip(".")
    elif len(cells) >= 3:
        at = next((place for place in (1, 0) if cells[place] in ALIKE), -1)
        if at >= 0:
            yield cells[1 - at], cells[at], cells[2].rstrip(".")


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        InputError: it is not there, is a folder, or holds no text in UTF-8.
    """
    if path.is_dir():
        raise InputError(f"{path}: expected a file, it is a folder.")
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in text:
                    raise InputError(f"{path}, line {number}: expected text in UTF-8, it has a zero byte.")
                yield text
    except UnicodeDecodeError as exc:
        found = f"0x{exc.object[exc.start]:02x} at byte {exc.start + 1}"
        raise InputError(f"{path}, line {number}: expected text in UTF-8, it has {found} ({exc.reason}).") from exc
    except (OSError, EOFError, zlib.error) as exc:
        raise InputError(f"{path} cannot be read: {getattr(exc, 'strerror', None) or exc}.") from exc


def _field(line: str, path: Path, number: int) -> str:
    if not line.strip():
        return ""
    try:
        entry: Any = json.loads(line)
        found = next(entry[name] for name in FIELDS if name in entry)
        if not isinstance(found, str):
            raise TypeError
    except (ValueError, TypeError, StopIteration, RecursionError) as exc:
        raise InputError(
            f"{path}, line {number}: expected a JSON object with a text as {' or '.join(map(repr, FIELDS))}; "
            f"it is {line.strip()[:60]!r}."
        ) from exc
    return found


def _column(first: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    head = [cell.strip().lower() for cell in first[0].split("\t")]
    named = next((head.index(name) for name in FIELDS if name in head), None)
    if named is not None:
        column, rows = named, islice(rows, 1, None)
    else:
        words: dict[int, int] = {}
        for line in first:
            for place, cell in enumerate(line.split("\t")):
                words[place] = words.get(place, 0) + len(cell.split())
        column = max(words, key=lambda place: (words[place], -place))
    for line in rows:
        cells = line.split("\t")
        if column < len(cells):
            yield cells[column]
