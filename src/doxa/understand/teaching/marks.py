"""The file of marks: one marked turn a line, as JSON; its user owns it, and may read and change it.

    {"lines": [{"speaker": "Bea", "text": "And you?"}, {"speaker": "Ana", "text": "I sold my bike.", "turn": "t7"}],
     "claims": [{"subject": "I", "words": "sold", "object": "my bike", "right": true, "keep": false}],
     "missed": [{"subject": "Ana", "relation": "owns", "object": "a bike"}]}

`right` says whether the lines say it, `keep` whether it is worth keeping (by default what is right is), `relation`
which name it should have. A turn may have several lines of the file; of two marks on one claim the later one counts.
Empty lines, and those that begin with `#`, say nothing. What is added is only ever appended, and a line that cannot be
read stays where it is. Where the memory is encrypted each line that is added is as well, by itself:

    {"sealed": "..."}   what `Seal.closed` makes of the line, in base64
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from doxa.core.errors import FormatError, NotFoundError, StoreKeyError, StoreReadOnlyError
from doxa.core.marks import Mark, MarkedLine, MarkedTurn, Missed
from doxa.core.private import private_file, private_folder
from doxa.core.sealing import Seal, unsealed
from doxa.memory import replacing

__all__ = ["MarksRead", "append_marks", "drop_marks", "is_relation_name", "read_marks", "reseal_marks"]

EXPECTED: Final = (
    'expected {"lines": [{"speaker": ..., "text": ...}, ...], "claims": [{"subject": ..., "words": ..., '
    '"object": ..., "right": true or false}, ...]}'
)
NAME_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
"""What names of relations are written with."""
SEALED: Final = '{"sealed": "'


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksRead:
    """What a file of marks says."""

    turns: tuple[MarkedTurn, ...]
    broken: tuple[FormatError, ...] = ()
    """The lines that cannot be read, each with its number and what was expected."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Line(_Row):
    speaker: str = Field(min_length=1)
    text: str
    turn: str = ""


class _Claim(_Row):
    subject: str
    words: str
    object: str
    right: bool
    keep: bool
    relation: str = ""

    @field_validator("relation")
    @classmethod
    def _named(cls, given: str) -> str:
        if not is_relation_name(given):
            raise ValueError("expected a name such as works_at or sister")
        return given

    @model_validator(mode="before")
    @classmethod
    def _kept(cls, given: Any) -> Any:
        return {"keep": given.get("right"), **given} if isinstance(given, dict) else given


class _Missed(_Row):
    subject: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    object: str


class _Turn(_Row):
    lines: list[_Line] = Field(min_length=1)
    claims: list[_Claim] = []
    missed: list[_Missed] = []


def is_relation_name(name: str) -> bool:
    """Tell whether a text can name a relation in a mark; an empty one leaves the reader's."""
    return set(name) <= NAME_SIGNS and (not name or name[0].isalpha())


def read_marks(path: Path, *, seal: Seal | None = None) -> MarksRead:
    """Return the marks of a file, in order, and the lines of it that cannot be read; `seal` opens encrypted ones.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no text in UTF-8.
    """
    turns: list[MarkedTurn] = []
    broken: list[FormatError] = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        try:
            said = opened_line(line, seal)
            if said.strip() and not said.startswith("#"):
                turns.append(_turn_of(said))
        except ValidationError as exc:
            broken.append(FormatError(f"{EXPECTED}; {_wrong(exc)}", path=str(path), line=number))
        except StoreKeyError as exc:
            broken.append(FormatError(str(exc), path=str(path), line=number))
    return MarksRead(turns=tuple(turns), broken=tuple(broken))


def append_marks(turn: MarkedTurn, path: Path, *, seal: Seal | None = None) -> None:
    """Add a marked turn to the end of a file, which is made if need be. What is there already is never touched.

    It is on the disk when this returns; `seal` encrypts it.

    Raises:
        StoreReadOnlyError: the file cannot be written.
    """
    row = closed_line(json.dumps(_row_of(turn), ensure_ascii=False), seal)
    try:
        private_folder(path.parent)
        with private_file(path).open("ab+") as file:
            if file.tell() and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                row = f"\n{row}"  # somebody's last line has no end: it stays a line of its own
            file.write(f"{row}\n".encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise StoreReadOnlyError(f"{path} cannot be written: {exc.strerror}. Give another path.") from exc


def reseal_marks(path: Path, to: Path, *, old: Seal | None, new: Seal | None) -> None:
    """Write every line of a file to another one, encrypted by a new seal, or not where that is None.

    Raises:
        StoreKeyError: a line is encrypted, and cannot be opened by the old seal.
        OSError: the file cannot be written.
    """
    lines = [opened_line(line, old) for line in _text(path).split("\n")]
    private_file(to).write_text("\n".join(closed_line(line, new) if line else line for line in lines), encoding="utf-8")


def closed_line(line: str, seal: Seal | None) -> str:
    """Return a line as it is written: encrypted, where there is a seal."""
    if seal is None:
        return line
    sealed = seal.closed(line.encode("utf-8", "replace"), "marks")
    return f'{SEALED}{base64.b64encode(sealed).decode()}"}}'


def opened_line(line: str, seal: Seal | None) -> str:
    """Return what a line says, which may be encrypted or not.

    Raises:
        StoreKeyError: it is encrypted and cannot be opened by this seal.
    """
    if not line.startswith(SEALED):
        return line
    try:
        sealed = base64.b64decode(line.rstrip().removeprefix(SEALED).removesuffix('"}'), validate=True)
    except (binascii.Error, ValueError) as exc:
        raise StoreKeyError("it is encrypted, and damaged") from exc
    return unsealed(sealed, "marks", seal).decode("utf-8", "replace")


def drop_marks(path: Path, *, ids: Set[str], texts: Set[str], seal: Seal | None = None) -> int:
    """Remove every line of a file that repeats what is erased, and return how many there were.

    Args:
        path: the file; where there is none there is nothing to remove.
        ids: turns that are erased.
        texts: what they said.
        seal: what opens encrypted lines; one that it cannot open stays.

    Raises:
        StoreReadOnlyError: the file cannot be written; nothing was removed.
    """
    try:
        lines = _text(path).split("\n")
    except NotFoundError:
        return 0
    kept = [line for line in lines if not _repeats(line, ids, texts, seal)]
    if len(kept) < len(lines):
        with replacing(path, advice="Make it writable, and try again.") as new:
            new.write_text("\n".join(kept), encoding="utf-8")
    return len(lines) - len(kept)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no file {path} with marks. `doxa teach` makes one.") from exc
    except OSError as exc:
        raise FormatError(f"expected a file of marks, could not read it: {exc.strerror}", path=str(path)) from exc
    except UnicodeDecodeError as exc:
        raise FormatError(f"expected text in UTF-8: {exc}", path=str(path)) from exc


def _wrong(error: ValidationError) -> str:
    """Return what is wrong with a line, without its words."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _repeats(line: str, ids: Set[str], texts: Set[str], seal: Seal | None) -> bool:
    """Tell whether a line holds a turn that is erased; of one that cannot be read, whether it has its words."""
    try:
        line = opened_line(line, seal)
        said = _turn_of(line).lines
    except StoreKeyError:
        return False
    except ValidationError:
        return any(
            json.dumps(text, ensure_ascii=only)[1:-1] in line for text in texts if text for only in (True, False)
        )
    return any(one.text in texts and one.turn_id in {"", *ids} for one in said)


def _turn_of(line: str) -> MarkedTurn:
    row = _Turn.model_validate_json(line)
    return MarkedTurn(
        lines=tuple(MarkedLine(speaker=one.speaker, text=one.text, turn_id=one.turn) for one in row.lines),
        claims=tuple(Mark(**one.model_dump()) for one in row.claims),
        missed=tuple(Missed(**one.model_dump()) for one in row.missed),
    )


def _row_of(turn: MarkedTurn) -> dict[str, Any]:
    lines = [{"speaker": one.speaker, "text": one.text, "turn": one.turn_id} for one in turn.lines]
    found: dict[str, Any] = {"lines": [dict(_said(line)) for line in lines]}
    if turn.claims:
        found["claims"] = [
            {
                "subject": one.subject,
                "words": one.words,
                "object": one.object,
                "right": one.right,
                "keep": one.keep,
                **({"relation": one.relation} if one.relation else {}),
            }
            for one in turn.claims
        ]
    if turn.missed:
        found["missed"] = [
            {"subject": one.subject, "relation": one.relation, "object": one.object} for one in turn.missed
        ]
    return found


def _said(line: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a line; a turn that has no id is written without."""
    return ((name, value) for name, value in line.items() if value or name != "turn")
