"""Checkpoints to ONNX, int8, with tokenizer and model card: the parser's outputs, then those of frames.

python training/frames/export_joint.py --work WORK_FOLDER --checkpoints student-1 student-2 --out FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from decomp import DURATIONS, TRAITS
from export import OUTPUTS, batch_of, card, export_fp32, per_word, quantise, write_card, write_tokenizer
from framed import Prepared, load
from joint import MARKS, Joint
from roles import FRAMES, KINDS, TENSES
from score import mean_of
from teach import make_model

NAME = "minilm-l6-frames-int8"
SOURCES = "UD English EWT, PUD, ESLSpok, Atis; PropBank and UDS on EWT"
LICENCE = "Apache-2.0; trained on data under CC BY-SA 4.0 and 3.0"
OWN = (*MARKS, "frames", "roles")


class Exported(torch.nn.Module):
    """The network with plain inputs, for one sentence, set to the conventions of EWT."""

    def __init__(self, joint: Joint) -> None:
        super().__init__()
        self.joint = joint

    def forward(
        self, ids: torch.Tensor, first: torch.Tensor, pool: torch.Tensor, features: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """The parser's scores, the marks, the places of frames `(frames, 2)`, and their roles."""
        batch = batch_of(ids, first, pool, features)
        out = self.joint(batch)
        share = torch.softmax(out["kinds"], -1)[..., list(FRAMES)].sum(-1)
        # The likeliest word is always read, so that no tensor is ever empty; `kinds` tells whether it is a predicate.
        chosen = (share > 0.5) | (share >= share.max(-1, keepdim=True).values)
        places = torch.nonzero(chosen)
        labels, _ = self.joint.roles(out, batch, places[:, 0], places[:, 1])
        return (*(out[name] for name in OUTPUTS), *(out[name] for name in MARKS), places, labels)


def main() -> None:
    """Export, quantise, write the card."""
    parser = argparse.ArgumentParser(description="Export the parser with frames to ONNX int8.")
    parser.add_argument("--work", type=Path, required=True, help="folder of the checkpoints")
    parser.add_argument("--checkpoints", nargs="+", required=True, help="names of the checkpoints that are averaged")
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    prepared = load(args.work / "prepared.pickle.gz")
    models = [make_model(args.work, prepared, torch.device("cpu"), name, depth=None) for name in args.checkpoints]
    axes = per_word((*OUTPUTS, *MARKS)) | {"frames": {0: "count"}, "roles": {0: "count", 1: "words"}}
    fp32 = export_fp32(Exported(mean_of(models)).eval(), args.work / "model.fp32.onnx", (*OUTPUTS, *OWN), axes)
    int8 = quantise(fp32, args.out / "model.onnx")
    write_tokenizer(args.out / "tokenizer.json")
    write_card(args.out / "model.json", frame_card(int8, prepared))
    for path in sorted(args.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def frame_card(model: Path, prepared: Prepared) -> dict[str, object]:
    """The parser's card, and the classes of the outputs for frames."""
    own = {
        "name": NAME,
        "treebanks": SOURCES,
        "licence": LICENCE,
        "outputs": [*OUTPUTS, *OWN],
        "kinds": KINDS,
        "tenses": TENSES,
        "traits": TRAITS,
        "durations": DURATIONS,
        "roles": prepared.roles,
    }
    known = [one for one in prepared.train + prepared.dev if one.source == "EWT" or one.source == "PUD"]
    return card(model, prepared.classes, known) | own


if __name__ == "__main__":
    main()
