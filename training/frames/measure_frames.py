"""Scores of checkpoints, of their ensemble, or of an exported file, on the held-out documents or on EWT test.

python training/frames/measure_frames.py --work WORK_FOLDER --checkpoints student-1 student-2 --part test
python training/frames/measure_frames.py --work WORK_FOLDER --onnx FOLDER --part test
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from framed import FrameBatcher, Framed, load
from roles import FRAMES, Frame, spans_of
from score import Found, mean_of, measure, scores_of
from teach import batcher_of, make_model

from doxa.backends.parser.labels import best_labels
from doxa.backends.parser.tree import best_tree

NEVER = -1e4


def main() -> None:
    """Print the scores as JSON."""
    parser = argparse.ArgumentParser(description="Measure the parser with frames.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--checkpoints", nargs="*", default=[], help="names; their weights are averaged")
    parser.add_argument("--onnx", type=Path, help="folder of an exported file")
    parser.add_argument("--part", default="dev", choices=("dev", "test"))
    args = parser.parse_args()
    prepared = load(args.work / "prepared.pickle.gz")
    batcher = batcher_of(prepared)
    part = getattr(prepared, args.part)
    if args.onnx:
        scores = scores_of(part, run(args.onnx / "model.onnx", batcher, part, prepared.roles), batcher)
    else:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        models = [make_model(args.work, prepared, device, name, depth=None) for name in args.checkpoints]
        scores = measure(mean_of(models), batcher, part, prepared.roles)
    print(json.dumps({"model": args.checkpoints or str(args.onnx), "part": args.part, **scores}))


def run(path: Path, batcher: FrameBatcher, sentences: Sequence[Framed], roles: Sequence[str]) -> dict[int, Found]:
    """What an exported file says of each sentence, by the sentence's `id()`; there are no spans by tree."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    found = {}
    for one in sentences:
        batch = batcher.batch([one])
        feed = {name: batch[name].numpy() for name in ("ids", "first", "pool", "features")}
        found[id(one)] = _found(dict(zip(names, session.run(None, feed), strict=True)), roles)
    return found


def _found(out: dict[str, np.ndarray], roles: Sequence[str]) -> Found:
    arcs = out["arcs"][0]
    rows = np.arange(len(arcs))
    arcs[rows, rows + 1] = NEVER
    heads = best_tree(arcs) + 1
    labels = np.einsum("nld,nd->nl", out["label_dep"][0], out["label_head"][0][heads])
    best = {name: tuple(out[name][0].argmax(-1).tolist()) for name in ("upos", "kinds", "tenses", "negated")}
    chosen = [at for at, (_, word) in enumerate(out["frames"].tolist()) if best["kinds"][word] in FRAMES]
    frames = []
    if chosen:
        raised = out["roles"][chosen]
        shifted = raised - np.log(np.exp(raised - raised.max(-1, keepdims=True)).sum(-1, keepdims=True))
        for at, row in zip(chosen, best_labels(shifted - raised.max(-1, keepdims=True)), strict=True):
            frames.append(Frame(int(out["frames"][at, 1]), spans_of(row.tolist(), roles)))
    return Found(
        heads=tuple(heads.tolist()),
        deprels=tuple(labels.argmax(-1).tolist()),
        traits=out["traits"][0],
        frames=tuple(frames),
        by_tree=(),
        **best,
    )


if __name__ == "__main__":
    main()
