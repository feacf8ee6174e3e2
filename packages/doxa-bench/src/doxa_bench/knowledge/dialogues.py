"""Dialogues for which knowledge is sought: the test sets of the paper, and CICERO as an outside check of inferences.

    DailyDialog          1,000 dialogues, JSON Lines: `index`, `dialogue` of objects with `text`. It names no speakers
    EmpatheticDialogues  2,547 dialogues, CSV with one utterance a line: `conv_id`, `utterance_idx`, `prompt`,
                         `utterance`, where `_comma_` stands for a comma. (The paper speaks of 2,545.)
    CICERO v2            2,910 questions about 745 dialogues (1,657 to test, 1,253 to validate), JSON Lines

Nothing is trained or tuned on them, and no text of theirs is kept.

Source: Li et al. 2017, DailyDialog, in the file of Gupta et al. 2019; Rashkin et al. 2019, EmpatheticDialogues; Shen
et al. 2022, Multiview Contextual Commonsense Inference.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

from doxa.core.errors import FormatError, NotFoundError
from doxa_bench.knowledge.detokenising import detokenise

__all__ = ["Inference", "Talk", "read_cicero", "read_dailydialog", "read_empathetic"]

DAILYDIALOG: Final = "multireftest.json"
EMPATHETIC: Final = "fixed_test.csv"
CICERO: Final = ("test.json", "val.json")
COLUMNS: Final = ("conv_id", "utterance_idx", "prompt", "utterance")
SPEAKERS: Final = "AB"
PREFIX: Final = re.compile(r"([AB]):[\s:]*")
"""Of an utterance in CICERO; a few have a second colon."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A dialogue of two people: what is said, in order, and by whom (`A` or `B`)."""

    talk_id: str
    speakers: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def middle(self) -> int:
        """How many of its utterances are read before anything is retrieved; the rest is what is said next."""
        return (len(self.texts) + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A question of CICERO about an utterance, with answers of which some are right."""

    talk: Talk
    target: str
    target_at: int
    """Which utterance the target is, from 0."""
    question: str
    choices: tuple[str, ...]
    right: tuple[int, ...]
    """Which choices are right, from 0, ascending."""


def read_dailydialog(path: Path) -> tuple[Talk, ...]:
    """Return the dialogues of DailyDialog, detokenised, the speakers by turns; the id is the file's `index`.

    Args:
        path: `multireftest.json`, or the folder that holds it.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue, or an index comes twice; the message names it.
    """
    file = path / DAILYDIALOG if path.is_dir() else path
    talks = _json_lines(file, _dailydialog, "a dialogue of DailyDialog, {'index': .., 'dialogue': [{'text': ..}, ..]}")
    _check_once([talk.talk_id for talk in talks], file)
    return tuple(talks)


def read_empathetic(path: Path) -> tuple[Talk, ...]:
    """Return the dialogues of EmpatheticDialogues, the speakers by turns; the id is the file's `conv_id`.

    Args:
        path: `fixed_test.csv`, or the folder that holds it. `test.csv` beside it has the utterances of a dialogue glued
            together, so it cannot be used.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such utterance, or the utterances of a dialogue are not all there in order.
    """
    file = path / EMPATHETIC if path.is_dir() else path
    rows = list(_utterances(file))
    talks = [_empathetic(name, list(lines), file) for name, lines in groupby(rows, key=lambda row: row[1])]
    if not talks:
        raise FormatError("expected utterances of EmpatheticDialogues; it holds none.", path=str(file))
    _check_once([talk.talk_id for talk in talks], file)
    return tuple(talks)


def read_cicero(path: Path) -> tuple[Inference, ...]:
    """Return the questions of CICERO v2, detokenised; utterances without a text are left out.

    Args:
        path: A file of it, or the folder that holds `test.json` and `val.json`; those to test come first.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such question; the message names it.
    """
    files = [path / name for name in CICERO] if path.is_dir() else [path]
    form = "a question of CICERO, {'ID', 'Dialogue', 'Target', 'Question', 'Choices', 'Correct Answers'}"
    return tuple(item for file in files for item in _json_lines(file, _cicero, form))


def _dailydialog(entry: Mapping[str, Any]) -> Talk:
    return _talk(str(entry["index"]), [detokenise(_text(said["text"])) for said in entry["dialogue"]])


def _empathetic(name: str, lines: Sequence[tuple[int, str, str, str]], file: Path) -> Talk:
    for wanted, (number, _, index, _) in enumerate(lines, start=1):
        if index != str(wanted):
            message = f"expected utterance {wanted} of {name!r}, got number {index!r}."
            raise FormatError(message, path=str(file), line=number)
    return _talk(name, [text for _, _, _, text in lines])


def _cicero(entry: Mapping[str, Any]) -> Inference:
    said = [(speaker, text) for speaker, text in map(_spoken, entry["Dialogue"]) if text]
    speakers, texts = zip(*said, strict=True) if said else ((), ())
    target = detokenise(_text(entry["Target"]))
    if texts.count(target) != 1:
        raise ValueError(f"the target {target!r} is {texts.count(target)} of its utterances, expected 1")
    choices = tuple(detokenise(_text(choice)) for choice in entry["Choices"])
    right = tuple(sorted(entry["Correct Answers"]))
    if not right or not set(right) <= set(range(len(choices))):
        raise ValueError(f"the right answers are {list(right)}, expected some of the {len(choices)} choices, from 0")
    return Inference(
        talk=Talk(talk_id=_text(entry["ID"]), speakers=speakers, texts=texts),
        target=target,
        target_at=texts.index(target),
        question=_text(entry["Question"]),
        choices=choices,
        right=right,
    )


def _spoken(line: str) -> tuple[str, str]:
    """Return who says a line of CICERO, and what."""
    prefix = PREFIX.match(line)
    if prefix is None:
        raise ValueError(f"the utterance {line!r} has no speaker, expected 'A: ..' or 'B: ..'")
    return prefix[1], detokenise(line[prefix.end() :])


def _talk(talk_id: str, texts: Sequence[str]) -> Talk:
    if not texts:
        raise ValueError("the dialogue has no utterance")
    speakers = tuple(SPEAKERS[at % 2] for at in range(len(texts)))
    return Talk(talk_id=talk_id, speakers=speakers, texts=tuple(texts))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _utterances(file: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line's number, the dialogue, the number of the utterance in it, and its text."""
    reader = csv.reader(io.StringIO(_content(file)), strict=True)
    try:
        header = next(reader, [])
        if tuple(header) != COLUMNS:
            message = f"expected one utterance a line under {','.join(COLUMNS)}, got {','.join(header)[:120]!r}."
            raise FormatError(f"{message} The file of that form is {EMPATHETIC}.", path=str(file), line=1)
        for row in reader:
            if len(row) != len(COLUMNS):
                message = f"expected {len(COLUMNS)} columns, got {len(row)}."
                raise FormatError(message, path=str(file), line=reader.line_num)
            name, index, _, text = row
            yield reader.line_num, name, index, " ".join(text.replace("_comma_", ",").split())
    except csv.Error as exc:
        raise FormatError(f"expected CSV: {exc}.", path=str(file), line=reader.line_num) from exc


def _json_lines(file: Path, read: Callable[[Mapping[str, Any]], Read], form: str) -> list[Read]:
    items = []
    for number, line in enumerate(_content(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            items.append(read(json.loads(line)))
        except KeyError as exc:
            raise FormatError(f"expected {form}; there is no {exc}.", path=str(file), line=number) from exc
        except (ValueError, TypeError, AttributeError) as exc:
            raise FormatError(f"expected {form}; {exc}.", path=str(file), line=number) from exc
    if not items:
        raise FormatError(f"expected {form} a line; it holds none.", path=str(file))
    return items


def _content(file: Path) -> str:
    if not file.is_file():
        raise NotFoundError(f"There is no file {file}. Give the file of the test set, or its folder.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise FormatError(f"expected UTF-8: {exc}.", path=str(file)) from exc


def _check_once(names: Sequence[str], file: Path) -> None:
    if len(set(names)) != len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise FormatError(f"expected every dialogue once and in one piece; {twice!r} comes again.", path=str(file))
