"""Files that are damaged at random: does anything raw, anything wrong or anything less come out of them?

    python benchmarks/fire/corruption.py [--trials 10000] [--seed 1] [--json FILE]

A memory of some users is made (turns of several sentences, long ones, corrections, an undo, an erased turn, answers,
records, an API key), and what it says is noted. Then, for each trial, a copy is damaged once by one of `DAMAGES`, and

- is opened and read as a program would: every log, every fact, searches, an answer, the records, the answers that were
  given, and a turn is told again with its id. What comes back must be what was noted, or one of Doxa's own errors
  (`raw`, `wrong`; a snapshot beside the file is not used, so that the file is what is read);
- is checked and mended (`doxa check-file --mend`), opened again and read: every turn that has no byte in the damaged
  sectors must be there as it was said, nothing else, and where no row was lost everything as it was noted. Where a byte
  of a turn lies is known from the undamaged file.

Exit code 1 when anything of that is not so. The encoder is the one that hashes, and there are no other models.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from doxa.backends import load
from doxa.backends.store.pages import Pages
from doxa.core.config import Config
from doxa.core.errors import DoxaError, StoreDamagedError
from doxa.engine import Doxa, check_file, mend_file
from doxa.engine.wiring import parts

USERS = ("ana", "bob", "çiğdem")
TURNS = 8
SECTOR = 512
ASKED_EVERY = 10
"""In which trials the memory is searched and asked as well: that takes longer than all the rest."""
LIGHT = {
    "encoder": {"name": "hash"},
    "nli": {"name": "none"},
    "reader": {"name": "none"},
    "grader": {"name": "none"},
    # On a machine with much else to do a search may come to its deadline, and leaves steps out then.
    "recall": {"deadline_ms": 0},
}
SAID = (
    "I live in {place}.",
    "My sister Eva works at {firm}.",
    "My dog Rex is {n} years old.",
    "I moved to {place} yesterday.",
    "I like tea. My brother Tom lives in {place}.",
)
PLACES = ("Oslo", "Rome", "Lisbon", "Graz", "Bergen", "Izmir")
FIRMS = ("Mareluz", "Fabrikam", "Contoso")
Truth = dict[str, Any]


def kept_open() -> None:
    """Have models opened once for all trials, and asked once for each text: what is measured is the file."""
    opened: dict[tuple[Any, ...], Any] = {}
    really = parts.load

    def once(kind: str, name: str, **options: Any) -> Any:
        if kind not in ("parser", "encoder"):
            return really(kind, name, **options)
        key = (kind, name, *sorted(options.items()))
        if key not in opened:
            made = really(kind, name, **options)
            opened[key] = parts.cached(made) if kind == "parser" else made
            opened[key].close = lambda: None
            if kind == "encoder":
                opened[key].encode = remembered(made.encode)
        return opened[key]

    parts.load = once


def remembered(encode: Callable[[Sequence[str]], Any]) -> Callable[[Sequence[str]], Any]:
    """Return an encoding that is made once for each list of texts."""
    known: dict[tuple[str, ...], Any] = {}

    def once(texts: Sequence[str]) -> Any:
        if (*texts,) not in known:
            known[(*texts,)] = encode(texts)
        return known[(*texts,)]

    return once


def config() -> Config:
    """Return light settings."""
    return Config.from_tree(LIGHT)


def fill(path: Path) -> None:
    """Make the memory."""
    draw = random.Random(7)
    with Doxa.open(path, config=config()) as doxa:
        for user in USERS:
            chat = doxa.dialogue(user=user, session="s")
            memory = doxa.memory(user=user)
            for n in range(TURNS):
                said = SAID[n % len(SAID)].format(place=draw.choice(PLACES), firm=draw.choice(FIRMS), n=n)
                long = " The weather was fine, and nothing else is to be told of it." * (20 if n in (2, 5) else 0)
                chat.absorb(said + long, turn_id=f"{user}-{n}", at=f"2024-03-{n + 1:02}")
            chat.ask("Where do I live?")
            memory.forget(turn_id=f"{user}-3")
            memory.retract(memory.facts()[0].fact_id)
            memory.annotate(f"{user}-1", {"room": "kitchen"})
    store = load("store", f"sql:{path}")
    for user in USERS:
        bodies: dict[str, bytes | None] = {f"k{n}": f"{user} {n}".encode() * (n * 40 + 1) for n in range(6)}
        store.keep_records(f"default/{user}", "shelf", bodies)
    store.keep_key("k_1", {"hash": "of a secret"})
    store.close()


def readings(user: str, *, ask: bool = False) -> dict[str, Callable[[Doxa], Any]]:
    """Return what is read of a user, by name; each is plain data."""
    store = f"default/{user}"
    asked = {
        "found": lambda doxa: [one.turn_ids for one in doxa.memory(user=user).search("Where does Tom live?")],
        "answer": lambda doxa: doxa.dialogue(user=user).ask("Where does Eva work?").value,
    }
    return (asked if ask else {}) | {
        "turns": lambda doxa: [
            (turn.turn_id, turn.text, str(turn.at), dict(turn.metadata)) for turn in doxa.memory(user=user).turns()
        ],
        "facts": lambda doxa: sorted(str(fact) for fact in doxa.memory(user=user).facts(current=False)),
        "kept answers": lambda doxa: len(doxa.memory(user=user).answers()),
        "records": lambda doxa: sorted(doxa.parts.log.store.records(store, "shelf").items()),
        "keys": lambda doxa: doxa.parts.log.store.keys("k_1"),
    }


def told_again(doxa: Doxa, *, truth: Truth, user: str) -> Any:
    """Tell the last turn of a user again, and return all turns: it must not be there twice."""
    turn_id, text, at, _ = truth[f"{user} turns"][-1]
    doxa.dialogue(user=user, session="s").absorb(text, turn_id=turn_id, at=at)
    return readings(user)["turns"](doxa)


def noted(path: Path) -> Truth:
    """Return what a memory says."""
    found: Truth = {}
    with Doxa.open(path, config=config()) as doxa:
        for user in USERS:
            for name, read in readings(user, ask=True).items():
                found[f"{user} {name}"] = read(doxa)
    return found


def overwritten(draw: random.Random, data: bytearray, start: int, size: int, how: str) -> tuple[int, int]:
    """Change some bytes; returns which."""
    size = min(size, len(data) - start)
    other = draw.randrange(0, max(1, len(data) - size))
    data[start : start + size] = {
        "zeros": lambda: bytes(size),
        "ones": lambda: b"\xff" * size,
        "noise": lambda: draw.randbytes(size),
        "copy": lambda: bytes(data[other : other + size]),
    }[how]()
    return start, start + size


def damaged(draw: random.Random, data: bytearray) -> tuple[str, tuple[int, int]]:
    """Damage a file in one place; returns how, and which bytes."""
    kind = draw.choices(("bit", "byte", "sector", "page", "tail"), (20, 10, 45, 23, 2))[0]
    if kind == "bit":
        at = draw.randrange(len(data))
        data[at] ^= 1 << draw.randrange(8)
        return kind, (at, at + 1)
    if kind == "byte":
        at = draw.randrange(len(data))
        data[at] = draw.randrange(256)
        return kind, (at, at + 1)
    if kind == "tail":
        cut = draw.randrange(1, len(data) // SECTOR) * SECTOR
        end = len(data)
        del data[cut:]
        return kind, (cut, end)
    size = SECTOR if kind == "sector" else 4096
    how = draw.choice(("zeros", "ones", "noise", "copy"))
    return f"{kind} {how}", overwritten(draw, data, draw.randrange(len(data) // size) * size, size, how)


def places(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return where in the file each turn lies."""
    found: dict[str, list[tuple[int, int]]] = {}
    for record in Pages(path).records():
        if len(record.values) > 6 and record.values[2] == "turn":
            found[str(record.values[3])] = [*record.spans]
    return found


class Tally:
    """What came of the trials."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []

    def fail(self, kind: str, trial: int, told: str) -> None:
        """Note a failure."""
        self.counts[kind] += 1
        if len(self.failures) < 40:
            self.failures.append(f"{kind}, trial {trial}: {told}")


def read_all(path: Path, truth: Truth, tally: Tally, trial: int, *, exact: bool, where: str) -> dict[str, Any]:
    """Read a file as a program would, and compare; returns what was read."""
    seen: dict[str, Any] = {}
    try:
        with Doxa.open(path, config=config()) as doxa:
            for user in USERS:
                again = partial(told_again, truth=truth, user=user)
                for name, read in {**readings(user, ask=trial % ASKED_EVERY == 0), "turns told again": again}.items():
                    try:
                        value = read(doxa)
                    except DoxaError as exc:
                        tally.counts[f"{where}: {type(exc).__name__}"] += 1
                        continue
                    seen[f"{user} {name}"] = value
                    if exact and value != truth[f"{user} {name.removesuffix(' told again')}"]:
                        tally.fail(f"{where}: wrong", trial, f"{user} {name}: {value!r:.300}")
                    tally.counts[f"{where}: read"] += 1
    except DoxaError as exc:
        tally.counts[f"{where}: not opened, {type(exc).__name__}"] += 1
    except Exception:  # noqa: BLE001 - that is what is looked for
        tally.fail(f"{where}: raw", trial, traceback.format_exc()[-700:])
    return seen


def mended(path: Path, truth: Truth, hurt: tuple[int, int], spans: Any, tally: Tally, trial: int) -> None:
    """Mend a file, and see what is there."""
    try:
        check_file(str(path))
        found = mend_file(str(path), config())
    except StoreDamagedError:
        tally.counts["mend: nothing whole"] += 1
        left = {turn_id for turn_id, parts in spans.items() if not any(a < hurt[1] and hurt[0] < b for a, b in parts)}
        if left:
            tally.fail("mend: lost", trial, f"all, {sorted(left)} among them")
        return
    except Exception as exc:  # noqa: BLE001 - that is what is looked for
        kind = "refused" if isinstance(exc, DoxaError) else "raw"
        tally.fail(f"mend: {kind}", trial, traceback.format_exc()[-700:])
        return
    tally.counts["mend: sound" if found.sound else "mend: mended"] += 1
    touched = {turn_id for turn_id, parts in spans.items() if any(a < hurt[1] and hurt[0] < b for a, b in parts)}
    lost_any = any(log.lost or log.changes for log in found.logs) or len(found.logs) < len(USERS)
    refused = tally.counts["mended: StoreDamagedError"]
    seen = read_all(path, truth, tally, trial, exact=False, where="mended")
    if tally.counts["mended: StoreDamagedError"] > refused:
        tally.fail("mend: still damaged", trial, str(found)[:300])
    for user in USERS:
        was = {row[0]: row for row in truth[f"{user} turns"]}
        now = {row[0]: row for row in seen.get(f"{user} turns", ())}
        gone = set(was) - set(now)
        if gone - touched:
            tally.fail("mend: lost", trial, f"{sorted(gone - touched)} of {user}")
        if set(now) - set(was):
            tally.fail("mend: came back", trial, f"{sorted(set(now) - set(was))} of {user}")
        # What a turn carries beside its words is a row of its own.
        if any(now[key][:3] != was[key][:3] for key in now.keys() & was.keys()):
            tally.fail("mend: wrong", trial, f"turns of {user}")
        if not lost_any:
            same = (f"{user} {name}" for name in ("turns", "facts", "found", "answer"))
            for name in (one for one in same if one in seen and seen[one] != truth[one]):
                tally.fail("mend: not as it was", trial, f"{name}: {seen[name]!r:.300}")
    tally.counts["turns touched"] += len(touched)


def main() -> int:
    """Damage, read and mend, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable()
    kept_open()
    tally, began = Tally(), time.perf_counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        whole = folder / "whole.db"
        fill(whole)
        truth, spans, data = noted(whole), places(whole), whole.read_bytes()
        for trial in range(options.first, options.first + options.trials):
            draw = random.Random(f"{options.seed}/{trial}")
            copy = bytearray(data)
            how, hurt = damaged(draw, copy)
            tally.counts[f"trials: {how}"] += 1
            for act in ("read", "mend"):
                place = folder / act
                place.mkdir()
                path = place / "memory.db"
                path.write_bytes(copy)
                if act == "read":
                    read_all(path, truth, tally, trial, exact=True, where="read")
                else:
                    mended(path, truth, hurt, spans, tally, trial)
                shutil.rmtree(place)
    report = {
        "trials": options.trials,
        "bytes": len(data),
        "seconds": round(time.perf_counter() - began, 1),
        "counts": dict(sorted(tally.counts.items())),
        "failures": tally.failures,
    }
    print(json.dumps(report, indent=1, ensure_ascii=False))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
