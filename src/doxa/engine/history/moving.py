"""What another memory gave out -> turns of this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doxa.core.errors import InputError
from doxa.core.values import Turn
from doxa.engine.intake import Moment, display_name, read_metadata, read_moment, read_turn, require_name
from doxa.engine.noting import noted
from doxa.engine.wiring.parts import Parts

if TYPE_CHECKING:
    from doxa.backends.transcripts import Line

__all__ = ["IMPORTED", "Imported", "import_archive"]

IMPORTED = "imported"
"""Under which name it is noted of a turn where it comes from."""
BLOCK = 1000
"""Turns that are stored in one transaction."""
OWN = ("agent_id", "app_id", "run_id", "expiration_date")
"""What a memory of mem0 has beside its metadata, and is found by."""
Told = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class Imported:
    """What came of an import."""

    format: str
    """What the archive was."""
    new: int = 0
    known: int = 0
    """Turns that were there already."""
    clashes: list[str] = field(default_factory=list)
    """Ids of turns that are known with another text: it was changed there since; what is stored here stays."""
    users: list[str] = field(default_factory=list)
    """Whose memories took something."""
    problems: list[str] = field(default_factory=list)
    """What could not be read or taken, and what to do."""
    left: dict[str, int] = field(default_factory=dict)
    """What was not carried, by what it is."""
    undated: int = 0
    """New turns without a date, taken as said when they were imported."""


def import_archive(
    parts: Parts,
    path: Path,
    *,
    user: str,
    format: str,
    one_user: bool,
    date: Moment | None,
    told: Told | None,
) -> Imported:
    """Store the turns of an archive; see `Doxa.import_`.

    Raises:
        NotFoundError, FormatError, StoreError: as there.
    """
    from doxa.backends.transcripts import read_archive

    require_name(user, "user")
    at = None if date is None else read_moment(date, what="date")
    archive = read_archive(path, format=format, session="default")
    taken = Imported(format=archive.format, left=dict(archive.left))
    taken.problems += [str(problem) for problem in archive.problems]
    total, done = sum(len(one.lines) for one in archive.conversations), 0
    for conversation in archive.conversations:
        owner = user if one_user or conversation.name is None else conversation.name
        try:
            require_name(owner, "user")
        except InputError as exc:
            taken.problems.append(f"{path}: {exc} {len(conversation.lines):,} turns were left out.")
            continue
        speaker = _person(parts, owner)
        for start in range(0, len(conversation.lines), BLOCK):
            block = conversation.lines[start : start + BLOCK]
            _take(parts, owner, block, taken, speaker=speaker, at=at, where=str(path))
            done += len(block)
            if told is not None:
                told(done, total)
    taken.users = list(dict.fromkeys(taken.users))
    return taken


def _person(parts: Parts, user: str) -> str:
    """Return what a user is called; of somebody new nothing is looked up."""
    if not parts.log.head(user).received:
        return display_name(user)
    with parts.log.user(user) as state:
        return state.person() or display_name(user)


def _take(
    parts: Parts,
    user: str,
    lines: Sequence[Line],
    taken: Imported,
    *,
    speaker: str,
    at: datetime | None,
    where: str,
) -> None:
    most = parts.config.engine.max_turn_chars
    turns = list(_turns(lines, taken, user=user, speaker=speaker, at=at, where=where, most=most))
    receipts = parts.log.receive_many(user, [turn for turn, _ in turns])
    for (_, line), receipt in zip(turns, receipts, strict=True):
        if receipt is None:
            taken.clashes.append(str(line.turn_id))
        elif receipt.duplicate:
            taken.known += 1
        else:
            taken.new += 1
            taken.undated += line.at is None and at is None
    if turns:
        taken.users.append(user)


def _turns(
    lines: Sequence[Line], taken: Imported, *, user: str, speaker: str, at: datetime | None, where: str, most: int
) -> Iterator[tuple[Turn, Line]]:
    for line in lines:
        name = line.speaker or ("assistant" if line.role == "assistant" else speaker)
        try:
            turn = read_turn(
                line.text, user=user, session=line.session or "default", speaker=name, role=line.role,
                at=line.at or at, turn_id=line.turn_id, max_chars=most,
            )  # fmt: skip
            metadata = read_metadata(_noted(line), max_chars=most)
        except InputError as exc:
            place = ":".join(str(part) for part in (where, line.line) if part)
            taken.problems.append(f"{place}: {line.turn_id}: {exc}")
            continue
        yield replace(turn, verbatim=line.verbatim, called=line.called, metadata=metadata), line


def _noted(line: Line) -> Mapping[str, Any]:
    """Return the metadata of a turn: what was noted of it there, and where it comes from."""
    if not line.origin:
        return line.metadata
    own = {name: line.origin[name] for name in OWN if name in line.origin}
    return noted(line.metadata, **own, **{IMPORTED: dict(line.origin)})
