"""What a shared memory costs: searches and questions of users with and without one beneath, and memory for each user.

    PYTHONPATH=src python benchmarks/scale/shared.py [--turns 5000] [--users 40] [--rounds 5]

An organisation's handbook of so many turns is absorbed once; users of a few turns each then search and ask, in one
engine that reads it beneath their memories and in one that does not. Times are of one thread on a warm process; the
first use of the shared fold is told apart. Memory is what the process holds more after each user was opened.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from resident import resident

from doxa.core.config import Config
from doxa.engine import Doxa

HANDBOOK = "acme-handbook"
FACTS = (
    "The {place} office opens at {hour}.",
    "The {place} office has {number} desks.",
    "{name} manages the {place} office.",
    "The {place} office is on floor {floor} of the {name} tower.",
    "Parcels for the {place} office are left with {name}.",
    "The cafeteria of the {place} office closes at {hour}.",
    "The fire warden of the {place} office is {name}.",
    "The garage of the {place} office holds {number} cars.",
    "Visitors of the {place} office sign in with {name}.",
    "The {place} office was opened in {year}.",
)
QUESTIONS = (
    "When does the {place} office open?",
    "Who manages the {place} office?",
    "How many desks does the {place} office have?",
)
OWN = ("Where do I live?", "What do I do?", "Who is my sister?")
SAID = ("I live in {place}.", "I am a nurse.", "My sister is called {name}.", "I like long walks.", "I have two cats.")


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        told = _written(path, options.turns, options.users)
        apart = _measured(path, (), options)
        beneath = _measured(path, (HANDBOOK,), options)
    print(json.dumps({"load": os.getloadavg()[0], **told, "apart": apart, "beneath": beneath}, indent=2))


def _written(path: Path, turns: int, users: int) -> dict[str, float]:
    with Doxa.open(path, config=_config(())) as doxa:
        book = doxa.dialogue(user=HANDBOOK, speaker="Handbook")
        start = time.perf_counter()
        for text in _handbook(turns):
            book.absorb(text, at="2024-01-02")
        book.flush()
        taken = time.perf_counter() - start
        for number in range(users):
            chat = doxa.dialogue(user=f"u{number}", speaker=f"User{number}")
            for text in SAID:
                chat.absorb(text.format(place=_place(number), name=_name(number)), at="2024-02-02")
        doxa.flush()
        return {"turns": turns, "absorbed_per_s": round(turns / taken, 1)}


def _measured(path: Path, shared: tuple[str, ...], options: argparse.Namespace) -> dict[str, object]:
    with Doxa.open(path, config=_config(shared)) as doxa:
        names = [f"u{number}" for number in range(options.users)]
        _warm(doxa)
        before, start = _resident(), time.perf_counter()
        doxa.memory(user=names[0]).search("office")
        first, fold = time.perf_counter() - start, _resident() - before
        grown = _grown(doxa, names[1:])
        places = [_place(number) for number in range(min(options.turns // len(FACTS), 50))]
        asked = [text.format(place=place) for place in places for text in QUESTIONS]
        calls: dict[str, Callable[[str, str], object]] = {
            "search": lambda user, text: doxa.memory(user=user).search(text),
            "ask": lambda user, text: doxa.dialogue(user=user).ask(text),
        }
        rows: dict[str, object] = {"first_search_s": round(first, 2), "fold_mib": round(fold / 2**20, 1)}
        rows["kib_per_user"] = round(grown / 2**10, 1)
        for name, call in calls.items():
            rows[f"{name}_shared_ms"] = _timed(call, names, asked, options.rounds)
            rows[f"{name}_own_ms"] = _timed(call, names, OWN, options.rounds)
        replies = [doxa.dialogue(user=names[0]).ask(text) for text in asked]
        rows["answered"] = round(sum(not one.abstained for one in replies) / len(replies), 3)
        own = [doxa.dialogue(user=names[0]).ask(text) for text in OWN]
        rows["own_answered"] = sum(not one.abstained and not one.memories for one in own)
        return rows


def _warm(doxa: Doxa) -> None:
    """Load every model, and what is compiled at its first use, on a memory that is not measured."""
    chat = doxa.dialogue(user="warm", speaker="Warm")
    chat.absorb("I live in Rome.", at="2024-02-02")
    chat.flush()
    for text in (*OWN, "When does it open?"):
        chat.ask(text)


def _grown(doxa: Doxa, names: list[str]) -> float:
    """Return the bytes that each user more takes who searches."""
    gc.collect()
    before = _resident()
    for name in names:
        doxa.memory(user=name).search("office")
    gc.collect()
    return (_resident() - before) / len(names)


def _timed(
    call: Callable[[str, str], object], names: list[str], texts: list[str] | tuple[str, ...], rounds: int
) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds; every round asks another user."""
    taken = []
    for number in range(rounds):
        for text in texts:
            start = time.perf_counter()
            call(names[number % len(names)], text)
            taken.append(1000 * (time.perf_counter() - start))
    return {"p50": round(float(np.percentile(taken, 50)), 1), "p95": round(float(np.percentile(taken, 95)), 1)}


def _handbook(turns: int) -> Iterator[str]:
    for number in range(turns):
        place, which = divmod(number, len(FACTS))
        yield FACTS[which].format(
            place=_place(place), name=_name(number), hour=f"{7 + place % 4}:{place % 6}0", number=10 + place,
            floor=1 + place % 9, year=1950 + place % 70,
        )  # fmt: skip


def _place(number: int) -> str:
    """Return a name of a place; no two numbers have the same."""
    return _word(number).capitalize() + "ford"


def _name(number: int) -> str:
    return f"{_word(number).capitalize()} {_word(number // 7 + 31).capitalize()}son"


def _word(number: int) -> str:
    parts = ("bo", "ko", "li", "mu", "ne", "ra", "so", "ti", "ve", "zu")
    return "".join(parts[int(digit)] for digit in f"{number:03d}")


def _resident() -> int:
    """Return the bytes of memory that this process holds."""
    return sum(resident().values())


def _config(shared: tuple[str, ...]) -> Config:
    return Config.from_tree({"memory": {"shared": list(shared)}, "engine": {"memory_mb": 1000}})


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--turns", type=int, default=5000)
    options.add_argument("--users", type=int, default=40)
    options.add_argument("--rounds", type=int, default=5)
    return options.parse_args()


if __name__ == "__main__":
    main()
