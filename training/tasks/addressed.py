"""Fits what tells turns that are said to tasks from turns that are not, by their vectors; writes `addressed.npz`.

    python training/tasks/addressed.py --data $DOXA_DATA        # three minutes on two cores

Positive: turns of the task corpus that open or change something, and requests of SGD and SMCalFlow. Negative: turns
of the corpus that do nothing, turns that tell of people's lives (`corpus/train/marked`) and persona chats.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "training" / "corpus"))

from marked import read_marked  # noqa: E402
from task_turns import read_scenarios  # noqa: E402
from turns import sgd, smcalflow  # noqa: E402

from doxa import backends  # noqa: E402

DEV = re.compile(r"T9-|[UV]\d+-(?:07|19|31)$")
MOST = {"open": 4500, "change": 11000, "idle": 6000, "life": 14000, "chat": 3000}
HIDDEN, ROUNDS, BATCH, RATE, DECAY, DROPPED = 64, 40, 256, 2e-3, 1e-2, 0.3
Rows = dict[str, list[str]]


def task_turns() -> Iterator[tuple[str, str, bool]]:
    """Give the turns of the corpus with what they do, and whether they are for choices."""
    for path in sorted((ROOT / "training" / "corpus" / "tasks").glob("*.txt")):
        for scenario in read_scenarios(path) if path.name != "T10.txt" else ():
            opened = False
            for turn in scenario.turns:
                does = any(act.kind not in ("ask", "offer") for act in turn.acts)
                yield turn.text, "idle" if not does else "change" if opened else "open", bool(DEV.match(scenario.id))
                opened |= does


def gathered(data: Path, drawn: random.Random) -> tuple[Rows, Rows]:
    """Return turns to learn from, and turns for choices, by what they are."""
    known: Rows = {name: [] for name in MOST}
    dev: Rows = {name: [] for name in MOST}
    for text, kind, chosen in task_turns():
        (dev if chosen else known)[kind].append(text)
    for dialogue in [*sgd(data / "open" / "sgd"), *smcalflow(data / "open" / "smcalflow" / "revise_dialogues.jsonl")]:
        for turn in dialogue.turns:
            if turn.label in ("new", "update"):
                known["open" if turn.label == "new" else "change"].append(turn.text)
    for part, into in (("train", known), ("dev", dev)):
        for path in sorted((ROOT / "training" / "corpus" / part / "marked").glob("*.txt")):
            into["life"] += [turn.text for dialogue in read_marked(path) for turn in dialogue.turns]
    with (data / "open" / "synthetic_persona_chat" / "Synthetic-Persona-Chat_valid.csv").open(encoding="utf-8") as file:
        talks = [row["Best Generated Conversation"] for row in csv.DictReader(file)]
    known["chat"] = [line.partition(": ")[2] for talk in talks for line in talk.splitlines() if ": " in line]
    return {name: drawn.sample(texts, min(len(texts), MOST[name])) for name, texts in known.items()}, dev


def fitted(
    vectors: np.ndarray,
    wanted: np.ndarray,
    *,
    seed: int,
    rounds: int = ROUNDS,
    dropped: float = DROPPED,
    decay: float = DECAY,
) -> dict[str, np.ndarray]:
    """Return a network of one hidden layer, by Adam with decoupled decay (Loshchilov and Hutter 2019)."""
    rng = np.random.default_rng(seed)
    size = vectors.shape[1]
    now = {
        "in": rng.normal(0, 1 / np.sqrt(size), (size, HIDDEN)), "in_bias": np.zeros(HIDDEN),
        "out": rng.normal(0, 1 / np.sqrt(HIDDEN), HIDDEN), "out_bias": np.zeros(1),
    }  # fmt: skip
    first, second = ({name: np.zeros_like(one) for name, one in now.items()} for _ in range(2))
    step, steps = 0, rounds * (len(vectors) // BATCH)
    for _ in range(rounds):
        order = rng.permutation(len(vectors))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            own = order[start : start + BATCH]
            step += 1
            kept = (rng.random((BATCH, HIDDEN)) > dropped) / (1 - dropped)
            hidden = np.maximum(vectors[own] @ now["in"] + now["in_bias"], 0.0) * kept
            chance = 1.0 / (1.0 + np.exp(-(hidden @ now["out"] + now["out_bias"])))
            wrong = (chance - wanted[own]) / BATCH
            back = np.outer(wrong, now["out"]) * (hidden > 0) * kept
            slopes = {
                "in": vectors[own].T @ back,
                "in_bias": back.sum(0),
                "out": hidden.T @ wrong,
                "out_bias": wrong.sum()[None],
            }
            for name, slope in slopes.items():
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                move = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                now[name] = now[name] - RATE * (1 - step / steps) * (move + decay * now[name])
    return now


def main() -> None:
    """Fit both networks, write them, say what they make of the turns for choices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of `open`")
    parser.add_argument("--out", type=Path, default=ROOT / "src" / "doxa" / "tasks" / "addressed.npz")
    args = parser.parse_args()
    known, dev = gathered(args.data, random.Random(1))
    encoder = backends.load("encoder", "builtin")
    vectors = {name: np.asarray(encoder.encode(texts), dtype=np.float64) for name, texts in known.items()}
    networks = []
    for kinds in (("open",), ("open", "change")):
        used = [name for name in MOST if name in kinds or name not in ("open", "change")]
        wanted = np.concatenate([np.full(len(known[name]), float(name in kinds)) for name in used])
        networks.append(fitted(np.concatenate([vectors[name] for name in used]), wanted, seed=1))
    names = ("in", "in_bias", "out", "out_bias")
    np.savez_compressed(
        args.out, **{name: np.stack([one[name] for one in networks]).astype(np.float16) for name in names}
    )
    for name, texts in dev.items():
        if texts:
            made = np.asarray(encoder.encode(texts), dtype=np.float64)
            scores = [
                np.maximum(made @ one["in"] + one["in_bias"], 0) @ one["out"] + one["out_bias"] for one in networks
            ]
            print(
                name, len(texts), "opens", (scores[0] > 0).mean().round(3), "changes", (scores[1] > 0).mean().round(3)
            )


if __name__ == "__main__":
    main()
