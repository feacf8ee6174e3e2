"""What processes told of what they did -> what of it does not add up, with itself and with the tables."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from doxa.backends.store import Row, Store

__all__ = ["History", "check", "lines_of", "scope_of", "text_of", "unsure_of"]

NEVER = 1 << 62
KINDS = (
    "lost", "doubled", "another text", "of another user", "never sent", "erased, and there", "stale reads",
    "reads of what was erased", "reads of what was never sent", "reads out of order", "read twice", "gaps in ordinals",
    "understood twice", "understood out of order", "tokens that fall", "raw errors",
)  # fmt: skip


def scope_of(user: str) -> str:
    """Return the name of a user's log."""
    return f"default/{user}"


def text_of(user: str, turn_id: str) -> str:
    """Return what a turn says: nobody else says the same."""
    return f"{turn_id} of {user}"


def unsure_of(journal: Path) -> Iterator[tuple[str, str]]:
    """Yield the turns of which a process did not learn whether they are stored, and that it did not begin to erase."""
    waiting: dict[str, str] = {}
    for line in lines_of(journal):
        if line[0] == "begin" and line[1] == "tell":
            waiting[line[3]] = line[2]
        elif (line[0] == "done" and line[1] == "tell") or (line[0] == "begin" and line[1] == "erase"):
            waiting.pop(line[3], None)
    for turn_id, user in waiting.items():
        yield user, turn_id


def lines_of(journal: Path) -> Iterator[list[Any]]:
    """Yield the lines of a journal; one that was cut off is left out."""
    with journal.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


@dataclass(slots=True)
class Told:
    """What the journals say of one turn."""

    sent: int = NEVER
    """When it was sent for the first time, in nanoseconds."""
    known: int = NEVER
    """When it was acknowledged for the first time."""
    erasing: int = NEVER
    """When its erasure began."""
    erased: int = NEVER
    """When its erasure was acknowledged."""

    @property
    def is_known(self) -> bool:
        """Whether it was acknowledged."""
        return self.known < NEVER

    @property
    def is_erased(self) -> bool:
        """Whether its erasure was acknowledged."""
        return self.erased < NEVER


@dataclass(slots=True)
class History:
    """What all journals say."""

    turns: dict[str, dict[str, Told]] = field(default_factory=dict)
    """By user, then by id."""
    reads: dict[str, list[tuple[int, int, int, list[str]]]] = field(default_factory=dict)
    """By user: when each began and ended, from behind which row, and the ids that it gave, in order."""
    outcomes: Counter[str] = field(default_factory=Counter)
    raw: Counter[str] = field(default_factory=Counter)
    strange: int = 0
    """Turns that were read with a text that is not theirs."""

    @classmethod
    def of(cls, folder: Path) -> History:
        """Read the journals of a folder."""
        made = cls()
        for path in sorted(folder.glob("*.journal")):
            for line in lines_of(path):
                made._take(line)
        return made

    def _take(self, line: list[Any]) -> None:
        match line:
            case ["read", user, began, ended, after, ids, strange]:
                self.reads.setdefault(user, []).append((began, ended, after, ids))
                self.strange += len(strange)
                self.outcomes["read"] += 1
            case ["begin", "tell", user, turn_id, began]:
                one = self._turn(user, turn_id)
                one.sent = min(one.sent, began)
            case ["begin", "erase", user, turn_id, began]:
                self._turn(user, turn_id).erasing = began
            case ["done", name, user, turn_id, _, ended, found]:
                self.outcomes[f"{name}: nothing" if name in ("process", "erase") and not found else name] += 1
                if name == "tell":
                    one = self._turn(user, turn_id)
                    one.known = min(one.known, ended)
                elif name == "erase":
                    self._turn(user, turn_id).erased = ended
            case ["failed", name, _, _, _, _, kind, raw]:
                self.outcomes[f"{name}: {kind}"] += 1
                if raw:
                    self.raw[f"{name}: {raw[:200]}"] += 1

    def _turn(self, user: str, turn_id: str) -> Told:
        return self.turns.setdefault(user, {}).setdefault(turn_id, Told())


def check(history: History, store: Store) -> dict[str, int]:
    """Return what does not add up, by kind; every count should be 0."""
    wrong: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    wrong["of another user"] += history.strange
    wrong["raw errors"] += history.raw.total()
    for user, turns in history.turns.items():
        rows = store.read(scope_of(user))
        _check_log(wrong, user, turns, rows)
        _check_reads(wrong, turns, history.reads.get(user, []), {str(r.turn_id): r.ordinal for r in rows if r.turn_id})
    for user in history.reads.keys() - history.turns.keys():
        wrong["reads of what was never sent"] += sum(len(ids) for _, _, _, ids in history.reads[user])
    return dict(wrong)


def _check_log(wrong: Counter[str], user: str, turns: dict[str, Told], rows: list[Row]) -> None:
    there = Counter(row.turn_id for row in rows if row.turn_id)
    wrong["doubled"] += sum(count - 1 for count in there.values())
    for row in rows:
        if row.turn_id is None:
            continue
        if row.turn_id not in turns:
            wrong["never sent"] += 1
        said = row.body["text"]
        if said != text_of(user, row.turn_id):
            wrong["of another user" if not said.endswith(f" of {user}") else "another text"] += 1
    for turn_id, one in turns.items():
        if one.known < NEVER and one.erasing == NEVER and turn_id not in there:
            wrong["lost"] += 1
        if one.erased < NEVER and turn_id in there:
            wrong["erased, and there"] += 1
    ordinals = [row.ordinal for row in rows]
    if all(one.erasing == NEVER for one in turns.values()):
        wrong["gaps in ordinals"] += ordinals != list(range(1, len(ordinals) + 1))
    read = [row for row in rows if row.kind == "maintained"]
    about = [row.about or 0 for row in read]
    wrong["understood twice"] += len(about) - len(set(about))
    wrong["understood out of order"] += about != sorted(about)
    wrong["tokens that fall"] += any((a.fence or 0) > (b.fence or 0) for a, b in pairwise(read))


def _check_reads(
    wrong: Counter[str], turns: dict[str, Told], reads: list[tuple[int, int, int, list[str]]], places: dict[str, int]
) -> None:
    """Hold what was read of one user against what was acknowledged and erased by then. Cost: O(reads x turns)."""
    by_time = sorted((one.known, turn_id) for turn_id, one in turns.items() if one.known < NEVER)
    times = [known for known, _ in by_time]
    for began, ended, after, ids in reads:
        given = set(ids)
        wrong["read twice"] += len(ids) - len(given)
        for _, turn_id in by_time[: bisect_right(times, began)]:
            one = turns[turn_id]
            if turn_id not in given and one.erasing > ended and places.get(turn_id, after) > after:
                wrong["stale reads"] += 1
        for turn_id in ids:
            told = turns.get(turn_id)
            wrong["reads of what was never sent"] += told is None or told.sent > ended
            wrong["reads of what was erased"] += told is not None and told.erased < began
        there = [places[turn_id] for turn_id in ids if turn_id in places]
        wrong["reads out of order"] += there != sorted(there)
