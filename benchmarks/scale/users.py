"""Very many users on one machine: how long a search takes under a Zipf load, and how much memory (paper 001).

    python benchmarks/scale/users.py LOCOMO_JSON --db FILE [--users 12400] [--turns 100] [--queries 20000]
        [--memory-mb 1000] [--saved]

Stretches of so many turns of the conversations are understood, each as a memory of its own, and copied with their
vectors until there are enough users; a file that has them is used as it is. Then one process asks searches: the user is
drawn with a probability of 1 / rank, the question is one of his conversation. Nothing is loaded when it begins. With
`--saved` every memory that will be asked was opened and let go before, so that its snapshot is there; that is not part
of the times. Resident is what the process had at most, `own` without the pages of files that it maps.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from resident import resident

from doxa.backends.transcripts import read
from doxa.core.config import Config, EngineConfig
from doxa.engine import Doxa

TOP = 10
SEED = 7


def stretches(path: Path, turns: int) -> Iterator[tuple[str, list[Any], list[str]]]:
    """Give a name, so many turns of a conversation and the questions asked of the whole of it."""
    talks = json.loads(path.read_text(encoding="utf-8"))
    for talk, conversation in zip(talks, read(path).conversations, strict=True):
        questions = [str(one["question"]) for one in talk["qa"]]
        for start in range(0, len(conversation.lines) - turns + 1, turns):
            yield f"{conversation.name}-{start}", list(conversation.lines[start : start + turns]), questions


def filled(options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Have enough users in the file, and return them with their questions."""
    found: list[tuple[str, list[str]]] = []
    with Doxa.open(options.db, config=Config()) as doxa:
        log, there = doxa.parts.log, set(doxa.users())
        origins = []
        for name, lines, questions in stretches(options.locomo, options.turns):
            if name not in there:
                talk = doxa.dialogue(user=name)
                for line in lines:
                    talk.absorb(line.text, speaker=line.speaker, at=line.at)
                talk.flush()
            origins.append((name, questions))
        kept: dict[str, Any] = {}
        for number, (name, questions) in enumerate(islice(cycle(origins), options.users)):
            user = name if number < len(origins) else f"{name}-{number}"
            found.append((user, questions))
            if user in there or user == name:
                continue
            if name not in kept:
                scope = log.scope(name)
                kept[name] = (log.store.read(scope), log.store.vectors(scope, model=log.encoder.name))
            rows, vectors = kept[name]
            log.store.restore(log.scope(user), rows)
            log.store.put_vectors(log.scope(user), model=log.encoder.name, vectors=vectors)
    return found


def saved(options: argparse.Namespace, users: list[tuple[str, list[str]]]) -> float:
    """Open every memory once, so that its snapshot is written, and return how long one takes in seconds."""
    began = time.perf_counter()
    with Doxa.open(options.db, config=Config()) as doxa:
        for user, questions in users:
            doxa.memory(user=user).search(questions[0])
            doxa.parts.log.save(user, least=1)
            doxa.parts.log.let_go(user)
    return (time.perf_counter() - began) / len(users)


def main() -> None:
    """Fill, ask, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--users", type=int, default=12_400)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--memory-mb", type=int, default=1_000)
    parser.add_argument("--saved", action="store_true")
    options = parser.parse_args()
    began = time.perf_counter()
    users = filled(options)
    told: dict[str, Any] = {"users": len(users), "fill_s": round(time.perf_counter() - began)}
    chance = np.random.default_rng(SEED)
    weights = 1 / np.arange(1, len(users) + 1)
    order = chance.permutation(len(users))
    drawn = order[chance.choice(len(users), options.queries, p=weights / weights.sum())]
    if options.saved:
        told["save_ms_a_user"] = round(saved(options, [users[at] for at in sorted(set(drawn.tolist()))]) * 1000, 1)
    most = {"resident": 0, "own": 0}
    took, found = [], 0
    with Doxa.open(options.db, config=Config(engine=EngineConfig(memory_mb=options.memory_mb))) as doxa:
        for number, at in enumerate(drawn.tolist()):
            user, questions = users[at]
            question = questions[int(chance.integers(len(questions)))]
            began = time.perf_counter()
            found += len(doxa.memory(user=user).search(question, k=TOP))
            took.append((time.perf_counter() - began) * 1000)
            if number % 100 == 0:
                now = resident()
                most = {"resident": max(most["resident"], sum(now.values())), "own": max(most["own"], now["own"])}
    told |= {"queries": len(took), "users asked": len(set(drawn.tolist())), "found a query": found / len(took)}
    for name, part in (("all", took), ("second half", took[len(took) // 2 :])):
        told[name] = {f"p{cut}_ms": round(float(np.percentile(part, cut)), 1) for cut in (50, 95, 99)}
    packs = sum(file.stat().st_size for file in Path(f"{options.db}.folds").rglob("*.fold"))
    told |= {
        "most_mb": {name: size // 2**20 for name, size in most.items()},
        "database_mb": options.db.stat().st_size // 10**6,
        "snapshots_mb": packs // 10**6,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
