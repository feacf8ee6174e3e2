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
from network import TRUNK, Reader
from tokenizers import Tokenizer
from torch import nn

LENGTH = 192
COMMON = 999
"""Pieces up to this number are frequent words; they are never hidden."""
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
    places = [order[at : at + size] for at in range(0, len(order), size)]
    chance.shuffle(places)
    for part in places:
        yield together([rows[at] for at in part], mask=mask, drop=drop)


def of_groups(groups: list[list[Row]], size: int, chance: random.Random, *, mask: int) -> Iterator[dict[str, Any]]:
    """Batches of whole groups of about one length: a question over its turn, then over the rivals of it."""
    order = sorted(groups, key=lambda group: max(len(row[0]) for row in group) + 12 * chance.random())
    parts = [order[at : at + size] for at in range(0, len(order), size)]
    chance.shuffle(parts)
    for part in parts:
        yield together([row for group in part for row in group], mask=mask, drop=0.05) | {"of": len(part[0])}


def mixed(rows: list[Row], groups: list[list[Row]], chance: random.Random, mask: int) -> Iterator[dict[str, Any]]:
    """Batches of single pairs, and two of groups after each if there are groups."""
    singles = batches(rows, 32, chance, mask=mask, drop=0.1)
    if not groups:
        yield from singles
    rivals = of_groups(groups, 6, chance, mask=mask)
    for single in singles:
        yield single
        for _ in range(2):
            one = next(rivals, None)
            if one is None:
                return
            yield one


def together(part: list[Row], *, mask: int, drop: float) -> dict[str, Any]:
    """Some rows as one batch; a share `drop` of the rarer words of the questions is hidden."""
    length = max(len(row[0]) for row in part)
    ids = torch.tensor([row[0] + [0] * (length - len(row[0])) for row in part])
    types = torch.tensor([row[1] + [0] * (length - len(row[1])) for row in part])
    real = ids != 0
    hidden = (torch.rand(ids.shape) < drop) & (types == 0) & (ids > COMMON)
    return {
        "ids": ids.masked_fill(hidden, mask),
        "mask": real.long(),
        "types": types,
        "first": torch.tensor([row[2] for row in part]),
        "last": torch.tensor([row[3] for row in part]),
    }


def loss_of(ends: torch.Tensor, there: torch.Tensor, batch: dict[str, Any]) -> torch.Tensor:
    """Cross-entropy of both ends where there is an answer, of whether there is one, and of which turn of a group."""
    known = batch["first"] >= 0
    has = nn.functional.binary_cross_entropy_with_logits(there, known.float())
    if "of" in batch:
        scores = there.view(-1, batch["of"])
        has = has + nn.functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))
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
    reader.add_argument("--rivals", type=Path, help="groups, as rivals.py writes them")
    reader.add_argument("--start", type=Path)
    reader.add_argument("--minutes", type=float, default=11)
    reader.add_argument("--most", type=int, default=1_000_000)
    reader.add_argument("--rate", type=float, default=1.5e-3)
    reader.add_argument("--asked", type=int, default=4)
    reader.add_argument("--seed", type=int, default=1)
    args = reader.parse_args()
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)
    tokenizer = Tokenizer.from_file(str(TRUNK / "tokenizer.json"))
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
    model = Reader()
    if args.start:
        model.load_state_dict(torch.load(args.start), strict=False)
    groups, held_groups = grouped(args.rivals, tokenizer) if args.rivals else ([], [])
    train(model, generated, groups, args, chance, tokenizer.token_to_id("[MASK]"))
    torch.save(model.learned(), args.out)
    if held_groups:
        print("right turn of a group first", chosen(model, held_groups, chance))
    print("held-out made", measure(model, held, chance))
    if questions:
        print("held-out LongMemEval", measure(model, questions, chance), len(questions))


def grouped(path: Path, tokenizer: Tokenizer) -> tuple[list[list[Row]], list[list[Row]]]:
    """Groups to train on and 200 to measure on."""
    made = [rows_of(group, tokenizer) for group in pickle.loads(path.read_bytes())]
    size = max(len(group) for group in made)
    whole = [group for group in made if len(group) == size]
    return whole[200:], whole[:200]


@torch.no_grad()
def chosen(model: Reader, groups: list[list[Row]], chance: random.Random) -> float:
    """How often the turn that answers has the highest score of its group."""
    model.eval()
    hits = 0
    for batch in of_groups(groups, 10, chance, mask=0):
        with torch.autocast("cpu", torch.bfloat16):
            _, there = model(batch["ids"], batch["mask"], batch["types"])
        hits += int((there.view(-1, batch["of"]).argmax(1) == 0).sum())
    model.train()
    return hits / len(groups)


def train(
    model: Reader, rows: list[Row], groups: list[list[Row]], args: argparse.Namespace, chance: random.Random, mask: int
) -> None:
    """One pass over the rows, or as much of it as the minutes allow; the step size falls with time."""
    rates = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(rates, lr=args.rate, weight_decay=0.01)
    begun, step, seen, mean = time.monotonic(), 0, 0, 0.0
    total = args.minutes * 60
    model.train()
    while (spent := time.monotonic() - begun) < total:
        for batch in mixed(rows, groups, chance, mask):
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
            if step % 1000 == 0:
                torch.save(model.learned(), args.out)
            if step % 40 == 0:
                print(
                    f"{spent:.0f} s, {seen} of {len(rows)} pairs, {seen / spent:.0f} a second, loss {mean:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Example": Example})
    main()
