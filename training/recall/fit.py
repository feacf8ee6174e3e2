"""Replays -> the weights that ship: the scorers of the graph and the dense view, what every view weighs, the router.

    python training/recall/fit.py REPLAYS.pkl [MORE.pkl ...] [--out src/doxa/recall/weights.npz]

The first 70 % of every file is learned from, the rest is held out (dialogues are in the order in which they were drawn,
and no dialogue is on both sides). A file that is named twice counts twice. numpy and scipy, two minutes; seeds are
fixed.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from doxa.recall import Replay, Weights, figures, save_weights, shipped
from doxa.recall.learning.align import LAMBDA, AlignSpec
from doxa.recall.learning.learn import aligned_weights, routed_weights
from doxa.recall.learning.policy import PolicySpec
from doxa.recall.learning.replays import measure, rewards_of
from doxa.recall.route import PLANS, flips
from doxa.recall.weights import LEADS

HELD_OUT = 0.3
ROUNDS = 3
ALIGN = AlignSpec(steps=120)
LEAD = AlignSpec(weight=0.0, decay=0.05, steps=40)
EPOCHS = 20


def fit(train: Sequence[Replay], start: Weights, *, weight: float = 0.0) -> Weights:
    """Return fitted weights: views first, then a row of the mix for each lead, then the router over all plans."""
    weights = led(aligned_weights(start, train, replace(ALIGN, weight=weight)), train)
    return routed_weights(replace(weights, router=None), train, PolicySpec(epochs=EPOCHS))


def led(weights: Weights, train: Sequence[Replay]) -> Weights:
    """Return weights with a row of the mix for each lead, fitted to the queries that this lead serves best.

    Hard assignment and refit, in turn, from rows in which the leading view counts half as much again: as in a mixture
    of experts, of which the router is the gate.
    """
    rows = np.tile(weights.mix.mean(axis=0), (len(LEADS), 1)).astype(np.float32)
    for number, lead in enumerate(LEADS):
        if lead in weights.views:
            rows[number, weights.views.index(lead)] *= 1.5
    plans = [next(name for name, plan in PLANS.items() if plan.lead == lead) for lead in LEADS]
    current = replace(weights, mix=rows)
    for _ in range(ROUNDS):
        rewards = rewards_of(train, current, plans)
        # A query that all leads serve alike says nothing about any of them.
        told = rewards.max(axis=1) - rewards.min(axis=1) > 1e-6
        best = rewards.argmax(axis=1)
        fitted = []
        for number in range(len(LEADS)):
            own = [replay for replay, lead, says in zip(train, best, told, strict=True) if lead == number and says]
            base = replace(current, mix=np.tile(current.mix[number], (len(LEADS), 1)))
            fitted.append(_mixed(base, own) if len(own) >= 20 else current.mix[number])
        current = replace(current, mix=np.stack(fitted).astype(np.float32))
    return current


def _mixed(base: Weights, own: Sequence[Replay]) -> np.ndarray:
    """Return a mix fitted to some queries; what the scorers would change is left alone."""
    return aligned_weights(base, own, LEAD).mix[0]


def folds(paths: Sequence[Path]) -> Iterator[tuple[list[Replay], list[Replay]]]:
    """Yield what is learned from and what is held out of every file."""
    for path in paths:
        replays = [row[-1] for row in pickle.loads(path.read_bytes())]
        cut = round(len(replays) * (1 - HELD_OUT))
        yield replays[:cut], replays[cut:]


def main() -> None:
    """Fit, print the held-out figures, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replays", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sweep", action="store_true", help="Also print lambda, coverage and both gradients.")
    options = parser.parse_args()
    parts = list(zip((path.stem for path in options.replays), folds(options.replays), strict=True))
    train = [replay for _, (learned, _) in parts for replay in learned]
    held = {name: later for name, (_, later) in parts}
    start = replace(shipped(), router=None)
    print(f"{len(train)} queries to learn from, {sum(map(len, held.values()))} held out")
    show("as they were", start, held)
    for weight in (0.0, 1.0, LAMBDA, 3.0, 6.0) if options.sweep else (0.0, LAMBDA):
        show(f"lambda {weight}", aligned_weights(start, train, replace(ALIGN, weight=weight)), held)
    for coverage in (0.25, 0.5, 0.75) if options.sweep else ():
        known = covered(train, coverage)
        show(f"coverage {coverage:.0%}", aligned_weights(start, known, replace(ALIGN, weight=LAMBDA)), held)
    weights = fit(train, start)
    show(f"lambda {ALIGN.weight}, static plan", replace(weights, router=None), held)
    static(weights, train, held)
    show("with the router", weights, held)
    if options.sweep:
        policy = PolicySpec(epochs=EPOCHS, sampled=True)
        show("router by REINFORCE", routed_weights(replace(weights, router=None), train, policy), held)
    assert weights.router is not None
    for name, replays in held.items():
        print(f"flips, {name}: {flips(weights.router, np.stack([replay.psi for replay in replays])):.3f}")
    if options.out:
        _write(replace(weights, note="training/recall/fit.py"), options.out)
        aligned = replace(fit(train, start, weight=LAMBDA), note="training/recall/fit.py, aligned")
        _write(aligned, options.out.with_name(f"{options.out.stem}_lambda_{LAMBDA:g}.npz"))


def _write(weights: Weights, path: Path) -> None:
    save_weights(weights, path)
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB, {weights.checksum()[:12]}")


def covered(replays: Sequence[Replay], share: float) -> list[Replay]:
    """Return replays of which only a share has verified citations (table 12)."""
    random = np.random.default_rng(0)
    return [
        replay if random.random() < share else replace(replay, cited=np.zeros_like(replay.cited)) for replay in replays
    ]


def static(weights: Weights, train: Sequence[Replay], held: Mapping[str, Sequence[Replay]]) -> None:
    """Print what the plan that is best on the training queries finds, and what an oracle would."""
    names = list(PLANS)
    best = names[int(rewards_of(train, weights).mean(axis=0).argmax())]
    for name, replays in held.items():
        outcome, rewards = measure(replays, weights, plan=best), rewards_of(replays, weights)
        told = f"R@10 {outcome.recall:.3f} nDCG@10 {outcome.ndcg:.3f} cost {outcome.cost:.3f}"
        gain = f"reward {rewards[:, names.index(best)].mean():.3f}, of an oracle {rewards.max(axis=1).mean():.3f}"
        print(f"best single plan {best:<18} {name:<12} {told}; {gain}")


def show(name: str, weights: Weights, held: Mapping[str, Sequence[Replay]]) -> None:
    """Print the figures of some weights on every held-out set."""
    for part, replays in held.items():
        told = figures(weights, replays)
        print(
            f"{name:<22}{part:<12}" + "  ".join(f"{figure} {value:.3f}" for figure, value in told.items()), flush=True
        )


if __name__ == "__main__":
    main()
