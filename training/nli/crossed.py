"""Pairs without labels, made from the captions and hypotheses of SNLI, for other models to judge.

Hypotheses of one premise are set against each other, premise and hypothesis change places, and a premise is set
against hypotheses of the premises nearest to it. Only premises outside the held-out fold are used.

    python training/nli/crossed.py --work WORK --count 40000
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NEIGHBOURS = 4


def main() -> None:
    """Write `crossed.jsonl`."""
    parser = argparse.ArgumentParser(description="Cross the pairs of SNLI.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--learn", default="snli.learn.jsonl")
    parser.add_argument("--out", default="crossed.jsonl")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    hypotheses: dict[str, list[str]] = {}
    for line in (args.work / args.learn).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        hypotheses.setdefault(row["premise"], []).append(row["hypothesis"])
    found = list(dict.fromkeys(crossed(hypotheses, random.Random(args.seed))))
    kept = random.Random(args.seed).sample(found, min(args.count, len(found)))
    lines = [json.dumps({"premise": one, "hypothesis": other}, ensure_ascii=False) + "\n" for one, other in kept]
    (args.work / args.out).write_text("".join(lines), encoding="utf-8")
    print(f"{len(kept)} of {len(found)} crossed pairs of {len(hypotheses)} premises")


def crossed(hypotheses: dict[str, list[str]], chooser: random.Random) -> Iterator[tuple[str, str]]:
    """All crossed pairs, those of near premises in random choice."""
    premises = list(hypotheses)
    near = nearest(premises)
    for place, premise in enumerate(premises):
        own = list(dict.fromkeys(hypotheses[premise]))
        yield from permutations(own, 2)
        yield from ((hypothesis, premise) for hypothesis in own)
        for other in near[place]:
            theirs = hypotheses[premises[other]]
            yield from ((premise, hypothesis) for hypothesis in theirs)
            yield chooser.choice(own), chooser.choice(theirs)


def nearest(texts: list[str]) -> NDArray[np.int64]:
    """For each text the places of the nearest others by their words, `(n, NEIGHBOURS)`."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(texts)
    found = np.zeros((len(texts), NEIGHBOURS), dtype=np.int64)
    for place in range(0, len(texts), 500):
        likeness = (rows[place : place + 500] @ rows.T).toarray()
        likeness[np.arange(len(likeness)), np.arange(place, place + len(likeness))] = -1
        found[place : place + 500] = np.argsort(-likeness, axis=1, kind="stable")[:, :NEIGHBOURS]
    return found


if __name__ == "__main__":
    main()
