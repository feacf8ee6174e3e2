"""Files of sentences and of inferences -> their content, whatever of the usual forms they have."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from doxa.core.background import RELATIONS
from doxa.core.errors import InputError

__all__ = ["Tuple", "read_sentences", "read_tuples"]

MAX_CHARS = 1_000
"""A longer "sentence" is a document, and is cut here: the encoder reads about as much."""
LOOKED_AT = 200
"""Rows by which the column of the sentences is chosen."""
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
        InputError: the file cannot be read, or a line of JSON has no such field.
    """
    with _opened(path) as lines:
        first = list(islice(lines, LOOKED_AT))
        rows = chain(first, lines)
        if first and first[0].lstrip().startswith("{"):
            sentences: Iterable[str] = (_field(line, path, number) for number, line in enumerate(rows, start=1))
        elif first and all("\t" in line for line in first if line.strip()):
            sentences = _column(first, rows)
        else:
            sentences = rows
        for sentence in sentences:
            if kept := " ".join(sentence.split())[:MAX_CHARS]:
                yield kept


def read_tuples(path: Path) -> Iterator[Tuple]:
    """Yield the inferences of a file of ATOMIC 2020 or ConceptNet that are of one of our eleven relations.

    Lines are `event <tab> relation <tab> tail`, `relation <tab> event <tab> tail ...`, or
    `event @@ relation <tab> tail | tail ...`.

    Raises:
        InputError: the file cannot be read, or none of its lines is of such a form.
    """
    known = False
    with _opened(path) as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.rstrip("\n").split("\t")]
            for event, relation, tail in _tuples(cells):
                known = True
                if relation in ALIKE and tail.lower() not in NOTHING and event:
                    yield event, ALIKE[relation], tail
    if not known:
        raise InputError(
            f"{path}: expected inferences, one on a line: event, relation and tail with tabs between (ATOMIC 2020), or "
            "relation, event and tail (ConceptNet). None of its lines is."
        )


def _tuples(cells: Sequence[str]) -> Iterator[Tuple]:
    if len(cells) >= 2 and " @@ " in cells[0]:
        event, _, relation = cells[0].partition(" @@ ")
        for tail in cells[1].split("|"):
            yield event.strip(), relation.strip(), tail.strip().rstrip(".")
    elif len(cells) >= 3:
        at = next((place for place in (1, 0) if re.fullmatch(r"[A-Za-z]\w*", cells[place])), None)
        if at == 1:
            yield cells[0], cells[1], cells[2].rstrip(".")
        elif at == 0:
            yield cells[1], cells[0], cells[2].rstrip(".")


def _opened(path: Path) -> TextIO:
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "rt", encoding="utf-8", errors="replace")  # type: ignore[return-value]
        return path.open(encoding="utf-8", errors="replace")
    except OSError as exc:
        raise InputError(f"{path} cannot be read: {exc.strerror}.") from exc


def _field(line: str, path: Path, number: int) -> str:
    if not line.strip():
        return ""
    try:
        entry: Any = json.loads(line)
        return next(str(entry[name]) for name in FIELDS if name in entry)
    except (ValueError, TypeError, StopIteration) as exc:
        raise InputError(
            f"{path}, line {number}: expected a JSON object with a field {', '.join(map(repr, FIELDS))}; "
            f"it is {line.strip()[:60]!r}."
        ) from exc


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
        cells = line.rstrip("\n").split("\t")
        if column < len(cells):
            yield cells[column]
