"""How long each page of an inspector waits for the memory.

    python benchmarks/inspector/pages.py GROWN.db [--calls 200] [--seed 0]

`GROWN.db` comes from `grown.py`. Every call is made with other arguments; times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from doxa.engine import Doxa, View

USER = "ana"


def main() -> None:
    """Open, look, and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("grown", type=Path)
    arguments.add_argument("--calls", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    with Doxa.open(options.grown) as doxa:
        view, start = View(doxa.parts, USER), time.perf_counter()
        view.latest(limit=1)
        loaded = time.perf_counter()
        counts = view.counts()
        told: dict[str, object] = {
            "load_s": round(loaded - start, 2),
            "index_s": round(time.perf_counter() - loaded, 2),
        }
        told |= {"facts": counts.facts, "entities": counts.entities, "to_review": dict(counts.to_review)}
        for name, call in calls(view, random.Random(options.seed)).items():
            took = [timed(call) for _ in range(options.calls)]
            told[name] = [round(float(one), 2) for one in np.percentile(took, (50, 95, 100))]
    print(json.dumps(told, indent=1))


def timed(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def calls(view: View, chance: random.Random) -> dict[str, Callable[[], object]]:
    """Return what pages ask for, by name."""
    people = [one.entity for one in view.people(limit=100_000).items]
    facts = [fact.fact_id for one in chance.sample(people, 200) for fact in view.about(one.key, "firm").items]
    facts += [side.fact_id for one in view.review("disputed", limit=200).items for side in one.facts]
    facts += [fact.fact_id for fact in view.about("Ana", "past", limit=200).items]
    turns = [turn for fact in facts for turn in view.fact(fact).turn_ids]
    ends = view.people(limit=2_000).next
    review = view.review(limit=200).next
    return {
        "people": view.people,
        "people, further on": lambda: view.people(after=ends),
        "people, one letter": lambda: view.people(chance.choice(string.ascii_letters) + chance.choice(" aeiou")),
        "people, three letters": lambda: view.people(chance.choice(people).label[: chance.randint(2, 5)]),
        "people, within": lambda: view.people(chance.choice(people).label[2:6]),
        "entity": lambda: view.entity(chance.choice(people).label),
        "about somebody": lambda: view.about(chance.choice(people).key),
        "about Ana": lambda: view.about("Ana", chance.choice(("firm", "tentative", "past"))),
        "review": view.review,
        "review, further on": lambda: view.review(after=review),
        "why": lambda: view.why(chance.choice(facts)),
        "quotes": lambda: view.quotes(chance.choice(facts)),
        "facts_of_turn": lambda: view.facts_of_turn(chance.choice(turns)),
        "latest": view.latest,
        "counts": view.counts,
    }


if __name__ == "__main__":
    main()
