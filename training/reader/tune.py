"""The last step: the mean of some stages of the training, and some minutes on hand-written questions among made ones.

python training/reader/tune.py --starts WORK/a.pt WORK/b.pt --natural WORK/natural.pickle \
    --examples WORK/examples.pickle --rivals WORK/rivals.pickle --out WORK/reader.pt

The weights of three stages of one run, averaged, read better than any of them (Izmailov et al. 2018); the same is done
here with the stages of the last two thirds.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import time
from pathlib import Path

import torch
from examples import Example
from network import TRUNK, Reader
from tokenizers import Tokenizer
from torch import nn
from train import Row, grouped, loss_of, mixed, rows_of, together

EVERY = 20
"""Steps between the stages that are averaged."""
FROM = 0.3
"""Share of the time after which they are."""
Weights = dict[str, torch.Tensor]


def main() -> None:
    """Average, train, average, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--starts", type=Path, nargs="+", required=True)
    reader.add_argument("--natural", type=Path, required=True)
    reader.add_argument("--examples", type=Path, required=True)
    reader.add_argument("--rivals", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--minutes", type=float, default=4.5)
    reader.add_argument("--rate", type=float, default=4e-4)
    reader.add_argument("--conversations", type=int, nargs="+", help="only these of the natural questions, from 0")
    args = reader.parse_args()
    torch.manual_seed(1)
    chance = random.Random(2)
    tokenizer = Tokenizer.from_file(str(TRUNK / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    natural = pickle.loads(args.natural.read_bytes())
    wanted = args.conversations or range(len(natural))
    groups = [rows for at in wanted for group in natural[at] if len(rows := rows_of(group, tokenizer)) > 1]
    data = pickle.loads(args.examples.read_bytes())
    made = rows_of(data["made"][1000:40_000], tokenizer) + rows_of(data["asked"], tokenizer) * 8
    rivals, _ = grouped(args.rivals, tokenizer)
    model = Reader()
    model.load_state_dict(mean_of([torch.load(path) for path in args.starts]), strict=False)
    model.train()
    stages = tune(model, groups, mixed(made, rivals, chance, tokenizer.token_to_id("[MASK]")), args, chance)
    torch.save(mean_of(stages), args.out)


def tune(model: Reader, groups: list[list[Row]], made: object, args: argparse.Namespace, chance: random.Random) -> list:
    """Train a group at a time, with a batch of made pairs beside every other one; the stages to be averaged."""
    weights = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=args.rate, weight_decay=0.01)
    begun, total, step, stages = time.monotonic(), args.minutes * 60, 0, []
    while time.monotonic() - begun < total:
        for rows in chance.sample(groups, len(groups)):
            spent = time.monotonic() - begun
            if spent > total:
                break
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(1.0, (step + 1) / 30) * max(0.1, 1 - spent / total)
            natural_loss(model, rows).backward()
            if step % 2 == 0:
                batch = next(made)
                (0.5 * loss_of(*read(model, batch), batch)).backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step += 1
            if spent > FROM * total and step % EVERY == 0:
                stages.append({name: value.clone() for name, value in model.learned().items()})
    return stages


def natural_loss(model: Reader, rows: list[Row]) -> torch.Tensor:
    """Loss over the passages of one question; the one that answers, if any does, comes first."""
    batch = together(rows, mask=4, drop=0.1)
    ends, there = read(model, batch)
    loss = loss_of(ends, there, batch)
    if batch["first"][0] >= 0:
        loss = loss + nn.functional.cross_entropy(there.view(1, -1), torch.zeros(1, dtype=torch.long))
    return loss


def read(model: Reader, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What the model says of a batch, in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        return model(batch["ids"], batch["mask"], batch["types"])


def mean_of(stages: list[Weights]) -> Weights:
    """The mean of each weight."""
    return {name: torch.stack([stage[name] for stage in stages]).mean(0) for name in stages[0]}


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Example": Example})
    main()
