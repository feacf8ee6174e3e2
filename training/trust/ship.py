"""The taught grader as it ships: the graph with its adapters and heads; the trunk's weights stay where they are.

    python training/trust/ship.py --weights WORK/grader.pt --examples WORK/examples.jsonl --out FOLDER

The temperatures are fitted on the chats of `dev`, from which it did not learn.
"""

import argparse
import hashlib
import io
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from grading import Grader
from onnx import compose, numpy_helper
from scipy.optimize import minimize_scalar
from teach import LENGTH, TOKENIZER, Row, measure, rows_of, scores_of
from tokenizers import Tokenizer

from doxa.backends.onnx import open_session

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))
from export import STATES, adapted, leave_out, quantised

TRUNK = TOKENIZER.parent


class Heads(torch.nn.Module):
    """All heads with what they are fed in a graph."""

    def __init__(self, heads: torch.nn.ModuleDict) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, states: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Scores of every task, in order."""
        return tuple(head(states, mask, types) for head in self.heads.values())


def main() -> None:
    """Build, calibrate, compare."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--weights", type=Path, required=True)
    reader.add_argument("--examples", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--of", nargs="+", required=True, help="what it was taught on, for its card")
    reader.add_argument("--every", type=int, default=1, help="compare and calibrate on every n-th pair")
    args = reader.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    learned = torch.load(args.weights)
    model = Grader(sorted({name.split(".")[1] for name in learned if name.startswith("heads.")}))
    model.load_state_dict(learned, strict=False)
    graph = adapted(onnx.load(TRUNK / "model.onnx"), model)
    whole = compose.merge_models(graph, heads_of(model.heads), [(STATES, "states")], outputs=list(model.heads))
    leave_out(whole, (TRUNK / "model.onnx").read_bytes())
    onnx.save(whole, args.out / "model.onnx")
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(LENGTH, strategy="only_second", direction="left")
    lines = [json.loads(line) for line in args.examples.read_text(encoding="utf-8").splitlines()]
    rows = rows_of([one for one in lines if one["dev"]], tokenizer)[:: args.every]
    found = outputs(args.out / "model.onnx", rows)
    print("fp32", measure(rows, scores_of(model, rows)))
    print("int8", measure(rows, found))
    temperatures = {task: temperature(rows, found, task) for task in model.heads}
    card = {
        "name": args.out.name,
        "trunk": {"name": TRUNK.name, "sha256": hashlib.sha256((TRUNK / "model.onnx").read_bytes()).hexdigest()},
        "trained_on": args.of,
        "licence": "Apache-2.0",
        "temperatures": temperatures,
        "sha256": hashlib.sha256((args.out / "model.onnx").read_bytes()).hexdigest(),
    }
    (args.out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    print(f"{sum(path.stat().st_size for path in args.out.iterdir()) / 1e6:.2f} MB, temperatures {temperatures}")


def heads_of(heads: torch.nn.ModuleDict) -> onnx.ModelProto:
    """The graph of the heads; it reads mask and segments under the names of the trunk's inputs."""
    width = next(iter(heads.values())).hidden.in_features // 3
    ids, types = torch.ones((2, 8), dtype=torch.int64), torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    buffer = io.BytesIO()
    torch.onnx.export(
        Heads(heads).eval(),
        (torch.zeros(2, 8, width), ids, types),
        buffer,
        input_names=["states", "head_mask", "head_types"],
        output_names=list(heads),
        dynamic_axes={name: {0: "batch", 1: "length"} for name in ("states", "head_mask", "head_types")}
        | {task: {0: "batch"} for task in heads},
        opset_version=17,
        dynamo=False,
    )
    whole = onnx.load_from_string(buffer.getvalue())
    for wide in [one for one in whole.graph.initializer if one.name.endswith("hidden.weight")]:
        tensors, node = quantised(wide.name, numpy_helper.to_array(wide), 0)
        whole.graph.initializer.remove(wide)
        whole.graph.initializer.extend(tensors)
        whole.graph.node.insert(0, node)
    return whole


def outputs(path: Path, rows: list[Row]) -> list[np.ndarray]:
    """The scores of the exported model, one call a row."""
    session = open_session(path, "grader", weights={TRUNK.name: (TRUNK / "model.onnx").read_bytes()})
    found = []
    for row in rows:
        feed = {"input_ids": row.ids, "attention_mask": [1] * len(row.ids), "token_type_ids": row.types}
        found.append(session.run([row.task], {k: np.array([v], dtype=np.int64) for k, v in feed.items()})[0][0])
    return found


def temperature(rows: list[Row], scores: list[np.ndarray], task: str) -> float:
    """The temperature with the least cross-entropy on some rows (Guo et al. 2017, section 4.2)."""
    pairs = [(score, row.labels[0]) for row, score in zip(rows, scores, strict=True) if row.task == task]
    if not pairs:
        return 1.0
    table, labels = np.stack([score for score, _ in pairs]), np.array([label for _, label in pairs])

    def loss(value: float) -> float:
        scaled = table / value
        return float((np.logaddexp.reduce(scaled, 1) - scaled[np.arange(len(labels)), labels]).mean())

    return round(float(minimize_scalar(loss, bounds=(0.2, 10), method="bounded").x), 3)


if __name__ == "__main__":
    main()
