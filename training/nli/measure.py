"""The sets that only measure, as files for `doxa bench nli`. They are never trained on.

    python training/nli/measure.py --work WORK

Labels: SICK and ANLI as they are. MoNLI's `neutral` stays neutral. FraCaS: yes, no and don't know as the three
classes, all premises of a problem as one; problems without a clear answer are left out. DECODE: the pairs of one
speaker's earlier statement and last utterance, `contradiction` or not; in its dialogues the speaker's earlier turns are
the premise (all as one). What is left of SNLI is `snli.held.jsonl`, the held-out fold.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from sets import LABELS

Row = tuple[str, str, str]
ANLI = {"e": "entailment", "n": "neutral", "c": "contradiction"}
FRACAS = {"yes": "entailment", "no": "contradiction", "unknown": "neutral"}


def main() -> None:
    """Write one file per set."""
    parser = argparse.ArgumentParser(description="Convert the measuring sets.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = parser.parse_args()
    root = args.data / "measure"
    found = {"sick": sick(root / "sick" / "SICK_test_annotated.txt"), "fracas": fracas(root / "fracas" / "fracas.xml")}
    found |= {f"anli.r{number}": anli(root / "anli" / f"R{number}_test.jsonl") for number in (1, 2, 3)}
    found |= {name: monli(root / "monli" / f"{name}.jsonl") for name in ("nmonli_test", "pmonli")}
    found["decode"] = decode(root / "decode")
    found["snli"] = snli_held(args.work / "snli.held.jsonl")
    for name, rows in found.items():
        write(args.work / f"measure.{name}.jsonl", list(rows))


def sick(path: Path) -> Iterator[Row]:
    """SICK's test part."""
    for line in path.read_text(encoding="utf-8").splitlines():
        _, premise, hypothesis, _, label = line.split("\t")
        if label.lower() in LABELS:
            yield premise, hypothesis, label.lower()


def anli(path: Path) -> Iterator[Row]:
    """One round of ANLI."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["context"], row["hypothesis"], ANLI[row["label"]]


def monli(path: Path) -> Iterator[Row]:
    """A part of MoNLI."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["sentence1"], row["sentence2"], row["gold_label"]


def fracas(path: Path) -> Iterator[Row]:
    """The problems with a clear answer."""
    for problem in ElementTree.parse(path).getroot().iter("problem"):
        label = FRACAS.get(problem.get("fracas_answer", ""))
        premises = [" ".join("".join(premise.itertext()).split()) for premise in problem.iter("p")]
        hypothesis = problem.find("h")
        if label and premises and hypothesis is not None:
            yield " ".join(premises), " ".join("".join(hypothesis.itertext()).split()), label


def decode(folder: Path, seed: int = 3) -> Iterator[Row]:
    """Dialogues without a contradiction, and as many pairs with one."""
    clean = []
    for line in (folder / "rct.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        turns = row["turns"]
        earlier = [turn["text"] for turn in turns[:-1] if turn["agent_id"] == turns[-1]["agent_id"]]
        if not row["is_contradiction"] and earlier:
            clean.append((" ".join(earlier), turns[-1]["text"], "not_contradiction"))
    with (folder / "DECODE_contradiction_pairs.tsv").open(encoding="utf-8", newline="") as file:
        pairs = [(row["seg1"], row["seg2"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    yield from clean
    yield from ((*pair, "contradiction") for pair in random.Random(seed).sample(pairs, len(clean)))


def snli_held(path: Path) -> Iterator[Row]:
    """The fold of SNLI that nothing was trained on."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["premise"], row["hypothesis"], LABELS[row["allowed"][0]]


def write(path: Path, rows: list[Row], seed: int = 3) -> None:
    """One pair per line, in random order, so that `--limit` takes a fair part."""
    random.Random(seed).shuffle(rows)
    lines = [
        json.dumps({"premise": premise, "hypothesis": hypothesis, "label": label}, ensure_ascii=False) + "\n"
        for premise, hypothesis, label in rows
    ]
    path.write_text("".join(lines), encoding="utf-8")
    labels = {label: sum(row[2] == label for row in rows) for label in sorted({row[2] for row in rows})}
    print(f"{path.name}: {len(rows)} {labels}")


if __name__ == "__main__":
    main()
