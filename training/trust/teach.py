"""Teach the grader on the pairs of `pairs.py`; write its weights, and say how it does on the chats of `dev`.

    python training/trust/teach.py --examples WORK/examples.jsonl --out WORK/grader.pt

It learns from `training/trust/chats` alone; `dev` chooses when to stop and, later, the temperatures.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from grading import GRADES, Grader, learned_in
from tokenizers import Tokenizer
from torch import nn

TOKENIZER = Path(__file__).parents[2] / "src/doxa/backends/nli/minilm-l6-nli-int8/tokenizer.json"
LENGTH = 192
SIZE = 32
MASKED = 0.08
"""Share of the rarer words of both texts that are hidden while it learns."""
COMMON = 999
MEASURED = (
    ("claim", 0),
    ("question", 1),
    ("statement", 0),
    ("statement", 1),
    ("statement", 2),
    ("fact", 1),
    ("fact", 2),
)
"""Grades whose area under the curve is told."""
OLD = 0.3
"""Weight of a turn that answers a question with what is no longer so."""


class Row(NamedTuple):
    """A pair in tokens."""

    task: str
    ids: list[int]
    types: list[int]
    labels: tuple[int, ...]
    """The grades that it may have: one, or several where it is not known which."""
    weight: float
    group: str


def rows_of(lines: list[dict[str, Any]], tokenizer: Tokenizer) -> list[Row]:
    """Return the pairs in tokens."""
    coded = tokenizer.encode_batch([(one["text"], one["turn"]) for one in lines])
    return [
        Row(
            one["task"], c.ids, c.type_ids, _several(one["label"]), OLD if one.get("old") else 1.0,
            f"{one['task']}/{one['chat']}/{one.get('group')}",
        )
        for one, c in zip(lines, coded, strict=True)
    ]  # fmt: skip


def thinned(rows: list[Row], most: int) -> list[Row]:
    """Return rows with at most so many turns that say nothing to a question or a statement: those found first."""
    seen: dict[str, int] = defaultdict(int)
    found = []
    for row in rows:
        nothing = row.labels == (len(GRADES["statement"]) - 1 if row.task == "statement" else 0,)
        seen[row.group] += nothing and row.task != "claim"
        if row.task == "claim" or not nothing or seen[row.group] <= most:
            found.append(row)
    return found


def _several(label: int | list[int]) -> tuple[int, ...]:
    return (label,) if isinstance(label, int) else tuple(label)


def batches(rows: list[Row], chance: random.Random) -> Iterator[list[Row]]:
    """Yield batches of one task and about one length; the turns of one question stay together."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[row.group if row.task == "question" else f"{row.task} {place}"].append(row)
    parts: list[list[Row]] = []
    for task in GRADES:
        some = [group for group in groups.values() if group[0].task == task]
        some.sort(key=lambda group: max(len(row.ids) for row in group) + 12 * chance.random())
        last: list[Row] = []
        for group in some:
            if not last or len(last) + len(group) > SIZE:
                last = []
                parts.append(last)
            last += group
    chance.shuffle(parts)
    yield from parts


def tensors(part: list[Row], *, mask: int = 0, drop: float = 0.0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ids, mask and segments of a batch; a share `drop` of the rarer words is hidden."""
    length = max(len(row.ids) for row in part)
    ids = torch.tensor([row.ids + [0] * (length - len(row.ids)) for row in part])
    types = torch.tensor([row.types + [0] * (length - len(row.types)) for row in part])
    real = ids != 0
    hidden = (torch.rand(ids.shape) < drop) & (ids > COMMON)
    return ids.masked_fill(hidden, mask), real.long(), types


def weights_of(rows: list[Row]) -> dict[str, torch.Tensor]:
    """Return the weight of each grade: the root of how rare it is, so that the rare ones are learned as well."""
    found = {}
    for task, grades in GRADES.items():
        counts = np.bincount([row.labels[0] for row in rows if row.task == task], minlength=len(grades)).clip(1)
        found[task] = torch.tensor((counts.mean() / counts) ** 0.5, dtype=torch.float32)
    return found


def loss_of(scores: torch.Tensor, part: list[Row], weights: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of a batch: minus the log of the share of the grades that a row may have."""
    allowed = torch.zeros_like(scores, dtype=torch.bool)
    for at, row in enumerate(part):
        allowed[at, list(row.labels)] = True
    losses = torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~allowed, -1e9), 1)
    each = torch.tensor([row.weight for row in part]) * weights[[row.labels[0] for row in part]]
    return (losses * each).mean() + (listwise(scores[:, 1] - scores[:, 0], part) if part[0].task == "question" else 0)


def listwise(odds: torch.Tensor, part: list[Row]) -> torch.Tensor:
    """Return how surprising the turns that answer are among those of their question (Cao et al. 2007, ListNet)."""
    losses = []
    for group in dict.fromkeys(row.group for row in part):
        places = [at for at, row in enumerate(part) if row.group == group]
        right = [at for at in places if part[at].labels == (1,)]
        if right and len(right) < len(places):
            losses.append(torch.logsumexp(odds[places], 0) - torch.logsumexp(odds[right], 0))
    return torch.stack(losses).mean() if losses else odds.sum() * 0


@torch.no_grad()
def scores_of(model: Grader, rows: list[Row]) -> list[np.ndarray]:
    """Return the scores of all rows, in order."""
    model.eval()
    found: list[np.ndarray] = [np.empty(0)] * len(rows)
    order = sorted(range(len(rows)), key=lambda at: (rows[at].task, len(rows[at].ids)))
    for start in range(0, len(order), 64):
        for task in GRADES:
            places = [at for at in order[start : start + 64] if rows[at].task == task]
            if places:
                out = model(task, *tensors([rows[at] for at in places]))
                for at, row in zip(places, out.numpy(), strict=True):
                    found[at] = row
    model.train()
    return found


def measure(rows: list[Row], scores: list[np.ndarray]) -> dict[str, float]:
    """Return accuracy and area under the curve by task, and how often the best turn of a question answers it."""
    found: dict[str, float] = {}
    for task, good in MEASURED:
        some = [
            (s[good] - np.delete(s, good).max(), r.labels == (good,))
            for r, s in zip(rows, scores, strict=True)
            if r.task == task
        ]
        if some:
            yes, no = (np.array([s for s, y in some if y == side]) for side in (True, False))
            found[f"{task}/{GRADES[task][good]} auc"] = float((yes[:, None] > no[None]).mean())
    groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        if row.task == "question":
            groups[row.group].append((float(score[1] - score[0]), row.labels[0]))
    answered = [max(some)[1] for some in groups.values() if any(label for _, label in some)]
    found["right turn first"] = float(np.mean(answered)) if answered else 0.0
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    """Teach for some rounds."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--examples", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--rounds", type=int, default=4)
    reader.add_argument("--rate", type=float, default=1.2e-3)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--start", type=Path, help="weights to go on from, or a model that ships (.onnx)")
    reader.add_argument("--claims", type=int, default=1, help="how often a claim is seen in a round")
    reader.add_argument("--others", type=float, default=1.0, help="share of the other pairs that is seen")
    reader.add_argument("--rivals", type=int, default=5, help="turns beside those that answer a question")
    reader.add_argument(
        "--bf16", action="store_true", help="half of the numbers; faster where the processor knows them"
    )
    reader.add_argument("--most", type=int, default=10**9)
    args = reader.parse_args()
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(LENGTH, strategy="only_second", direction="left")
    lines = [json.loads(line) for line in args.examples.read_text(encoding="utf-8").splitlines()]
    learned = thinned(rows_of([one for one in lines if not one["dev"]], tokenizer), args.rivals)[: args.most]
    kept = rows_of([one for one in lines if one["dev"]], tokenizer)
    others = [row for row in learned if row.task != "claim" and chance.random() < args.others]
    learned = [row for row in learned if row.task == "claim"] * args.claims + others
    model, weights = Grader(sorted({row.task for row in learned})), weights_of(learned)
    if args.start:
        model.load_state_dict(learned_in(args.start), strict=False)
    rates = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(rates, lr=args.rate, weight_decay=0.02)
    total, step, seen, begun = args.rounds * len(learned), 0, 0, time.monotonic()
    for turn in range(args.rounds):
        for part in batches(learned, chance):
            share = seen / total
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(1.0, (step + 1) / 60) * max(0.02, 1 - share)
            task = part[0].task
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                out = model(task, *tensors(part, mask=tokenizer.token_to_id("[MASK]"), drop=MASKED))
            loss = loss_of(out, part, weights[task])
            loss.backward()
            nn.utils.clip_grad_norm_(rates, 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step, seen = step + 1, seen + len(part)
            if step % 50 == 0:
                print(f"{time.monotonic() - begun:.0f} s, {seen} of {total}, loss {loss.item():.3f}", flush=True)
        torch.save(model.learned(), args.out)
        print(turn + 1, measure(kept, scores_of(model, kept)), flush=True)


if __name__ == "__main__":
    main()
