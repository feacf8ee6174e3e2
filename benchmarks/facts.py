"""Facts that replace each other, and questions over one or several of them: FactConsolidation of MemoryAgentBench.

    python benchmarks/facts.py $DOXA_DATA/measure/factconsolidation [--show]

Each fact is told as a turn, in order; a later one takes the place of an earlier one. An answer is right where it holds
an accepted answer as a run of words (lower case, without articles and punctuation), as the benchmark scores it; the
value of a reply alone is looked at, not the turns that it quotes.
"""

from __future__ import annotations

import argparse
import json
import re
import string
import time
from pathlib import Path

import numpy as np

from doxa import Doxa

DAY = "2026-01-01"
DROPPED = str.maketrans("", "", string.punctuation)


def main() -> None:
    """Tell the facts once, ask both kinds of questions, print the shares of right answers and the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was answered wrong")
    options = parser.parse_args()
    sets = {kind: json.loads((options.data / f"factconsolidation_{kind}_6k.json").read_text()) for kind in ("sh", "mh")}
    facts = [line.partition(". ")[2] for line in sets["sh"]["context"].splitlines()[1:]]
    with Doxa.open(":memory:") as doxa:
        told = doxa.dialogue(user="user", agent="helper", session="facts")
        start = time.perf_counter()
        for fact in facts:
            told.absorb(fact, at=DAY)
        told.flush()
        print(f"{len(facts)} facts, {len(facts) / (time.perf_counter() - start):.0f} a second")
        asked = doxa.dialogue(user="user", agent="helper", session="questions")
        for kind, found in sets.items():
            right, took = [], []
            for question, accepted in zip(found["questions"], found["answers"], strict=True):
                start = time.perf_counter()
                reply = asked.ask(question)
                took.append(1000 * (time.perf_counter() - start))
                right.append(any(plain(one) in plain(reply.value or reply.text) for one in accepted))
                if options.show and not right[-1]:
                    print(f"  {question} -> {reply.text[:100]}, not {accepted}")
            low, high = np.percentile(took, [50, 95])
            name = {"sh": "single-hop", "mh": "multi-hop"}[kind]
            print(f"{name}: {np.mean(right):.2f} of {len(right)}; ask p50 / p95 {low:.0f} / {high:.0f} ms")


def plain(text: str) -> str:
    """Return a text in lower case without articles and punctuation."""
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text.lower().translate(DROPPED)).split())


if __name__ == "__main__":
    main()
