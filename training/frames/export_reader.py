"""A checkpoint to ONNX, int8, with tokenizer and model card: the parser's outputs, then what turns say.

python training/frames/export_reader.py --work WORK_FOLDER --checkpoints reader-1 --out FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import onnx
import torch
from export import OUTPUTS, batch_of, card, export_fp32, per_word, quantise, write_card, write_tokenizer
from framed import load
from onnx import TensorProto, numpy_helper
from reading import MARKS, Reading
from reading import OUTPUTS as SEEN
from score import mean_of
from teach_turns import start
from turns import ACTS, CLAIM_FLAGS, FRAME_FLAGS, PARTS, ROLES, load_turns

NAME = "minilm-l6-frames-int8"
SOURCES = "UD English EWT, PUD, ESLSpok, Atis; PropBank and UDS on EWT; Doxa's corpus of annotated turns"
LICENCE = "Apache-2.0; trained on data under CC BY-SA 4.0 and 3.0, and CC BY 4.0"
ENCODER = Path(__file__).parents[2] / "src" / "doxa" / "backends" / "encoder" / "minilm-l6-int8"
LARGE = 1_000_000
"""Bytes of a tensor that is worth looking for in another file."""
OWN = ("said", "points", "places", *SEEN, "relations")


class Exported(torch.nn.Module):
    """The network with plain inputs, for one sequence, set to the conventions of EWT."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading

    def forward(
        self,
        ids: torch.Tensor,
        first: torch.Tensor,
        pool: torch.Tensor,
        features: torch.Tensor,
        least: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        """The parser's scores; per word marks and pointers; the places that are looked from, and what is seen there.

        `least`, `(2,)`, is how likely a word has to be a predicate or an anchor to be looked from.
        """
        batch = batch_of(ids, first, pool, features)
        out = self.reading(batch)
        shares = out["said"].sigmoid()
        likely = shares.amax(-1)
        # The likeliest word is always looked from, so that no tensor is ever empty.
        chosen = (shares > least).float().amax(-1).bool() | (likely >= likely.max(-1, keepdim=True).values)
        places = torch.nonzero(chosen)
        seen = self.reading.seen(out, batch, places[:, 0], places[:, 1])
        return (*(out[name] for name in OUTPUTS), out["said"], out["points"], places[:, 1], *seen.values())


def main() -> None:
    """Export, quantise, write the card."""
    parser = argparse.ArgumentParser(description="Export the reader of turns to ONNX int8.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the checkpoints")
    parser.add_argument("--checkpoints", nargs="+", required=True, help="names of the checkpoints that are averaged")
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    prepared = load(args.work / "prepared.pickle.gz")
    relations = torch.load(args.work / f"{args.checkpoints[0]}.pt", map_location="cpu", weights_only=True)["relations"]
    turns = load_turns(args.work / "turns.pickle.gz")
    if relations != turns.relations:
        raise ValueError(f"expected checkpoints with the {len(turns.relations)} relations of turns.pickle.gz")
    models = [start(args.work, prepared, relations, turns.meanings, name) for name in args.checkpoints]
    seen = {name: {0: "count", 1: "words"} for name in (*SEEN, "relations")}
    axes = per_word((*OUTPUTS, "said", "points")) | seen | {"places": {0: "count"}}
    whole, least = Exported(mean_of(models)).eval(), {"least": torch.tensor([1.0, 0.5])}
    fp32 = export_fp32(whole, args.work / "reader.fp32.onnx", (*OUTPUTS, *OWN), axes, more=least)
    int8 = quantise(fp32, args.out / "model.onnx")
    table = lend(int8, ENCODER / "model.onnx")
    write_tokenizer(args.out / "tokenizer.json")
    known = [one for one in prepared.train + prepared.dev if one.source == "EWT" or one.source == "PUD"]
    own = {
        "name": NAME, "treebanks": SOURCES, "licence": LICENCE, "outputs": [*OUTPUTS, *OWN], "roles": ROLES,
        "marks": MARKS, "parts": PARTS, "claim_flags": CLAIM_FLAGS, "frame_flags": FRAME_FLAGS, "acts": ACTS,
        "relations": relations, "table": {"name": ENCODER.name, "sha256": table},
    }  # fmt: skip
    write_card(args.out / "model.json", card(int8, prepared.classes, known) | own)
    for path in sorted(args.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def lend(model: Path, encoder: Path) -> str:
    """Take out of a model what stands in the encoder's file, the table of words: ONNX calls it external data.

    Returns:
        The digest of the encoder's file.
    """
    whole, lender = onnx.load(model), encoder.read_bytes()
    for tensor in whole.graph.initializer:
        raw = numpy_helper.to_array(tensor).tobytes()
        at = lender.find(raw) if len(raw) >= LARGE else -1
        if at < 0:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", encoder.parent.name), ("offset", str(at)), ("length", str(len(raw)))):
            tensor.external_data.add(key=key, value=value)
    onnx.save(whole, model)
    return hashlib.sha256(lender).hexdigest()


if __name__ == "__main__":
    main()
