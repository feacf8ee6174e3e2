"""The trained reader as it ships: the graph with its adapters and head; the trunk's weights stay where they are.

python training/reader/export.py --weights WORK/reader.pt --groups WORK/groups.pickle --out FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from groups import Group, Passage
from network import TRUNK, Reader, SpanHead, inside_of
from onnx import TensorProto, compose, helper, numpy_helper
from train import Row, measure, parted, tokenizer_of

from doxa.backends.onnx import open_session

NAME = "minilm-l6-read-int8"
OUTPUTS = ("ends", "answerable")
STATES = "/model/trunk/encoder/layer.5/output/LayerNorm/LayerNormalization_output_0"
TRAINED_ON = ["Doxa's corpus of questions", "Synthetic-Persona-Chat", "QAMR", "LongMemEval (half)", "SNLI (part)",
              "SGD", "CaRB", "GenericsKB", "benchmarks/answers/dev.json"]  # fmt: skip
LARGE = 1_000
"""Bytes from which a tensor of the trunk is left where it is."""


def main() -> None:
    """Build, calibrate, compare."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--weights", type=Path, required=True)
    reader.add_argument("--groups", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    args = reader.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    model = Reader()
    model.load_state_dict(torch.load(args.weights), strict=False)
    graph = adapted(onnx.load(TRUNK / "model.onnx"), model)
    whole = compose.merge_models(graph, head_of(model.span), [(STATES, "states")], outputs=list(OUTPUTS))
    leave_out(whole, (TRUNK / "model.onnx").read_bytes())
    onnx.save(whole, args.out / "model.onnx")
    _, held = parted(pickle.loads(args.groups.read_bytes()), tokenizer_of())
    shipping = Shipping(args.out / "model.onnx")
    for source, groups in held.items():
        print(source, {name: round(value, 3) for name, value in measure(shipping, groups).items()}, flush=True)
    rows = [row for groups in held.values() for group in groups for row in group]
    calibration = calibrate(shipping, rows)
    card = {
        "name": NAME,
        "trunk": {"name": TRUNK.name, "sha256": hashlib.sha256((TRUNK / "model.onnx").read_bytes()).hexdigest()},
        "trained_on": TRAINED_ON,
        "licence": "Apache-2.0",
        "calibration": calibration,
        "sha256": hashlib.sha256((args.out / "model.onnx").read_bytes()).hexdigest(),
    }
    (args.out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    print(f"{sum(path.stat().st_size for path in args.out.iterdir()) / 1e6:.2f} MB, calibration {calibration}")


def adapted(base: onnx.ModelProto, model: Reader) -> onnx.ModelProto:
    """The NLI model up to its last hidden states, with the adapters beside its linear layers."""
    weights = model.learned()
    nodes, stored = [], []
    for node in base.graph.node:
        nodes.append(node)
        place = node.name.removeprefix("/model/trunk/").removesuffix("/MatMul_quant_output_scale_mul").replace("/", ".")
        if f"trunk.{place}.down" not in weights:
            continue
        plain = node.output[0]
        node.output[0] = f"{plain}/trunk"
        source = input_of(base, node.name.removesuffix("_output_scale_mul"))
        step = source
        for part, axis in (("down", 1), ("up", 0)):
            name = f"{plain}/{part}"
            tensors, node_of = quantised(name, weights[f"trunk.{place}.{part}"].numpy(), axis)
            stored += tensors
            nodes.append(node_of)
            nodes.append(helper.make_node("MatMul", [step, name], [f"{name}/MatMul"], name=f"{name}/MatMul"))
            step = f"{name}/MatMul"
        nodes.append(helper.make_node("Add", [node.output[0], step], [plain], name=f"{plain}/adapted"))
    graph = helper.make_graph(
        nodes,
        "reader",
        list(base.graph.input),
        [helper.make_tensor_value_info(STATES, TensorProto.FLOAT, None)],
        [*base.graph.initializer, *stored],
    )
    whole = helper.make_model(graph, opset_imports=base.opset_import, ir_version=base.ir_version)
    return onnx.utils.Extractor(whole).extract_model([one.name for one in base.graph.input], [STATES])


def input_of(base: onnx.ModelProto, product: str) -> str:
    """The states in full precision that a quantised product reads."""
    by_name = {node.name: node for node in base.graph.node}
    makes = {name: node for node in base.graph.node for name in node.output}
    return makes[by_name[product].input[0]].input[0]


def quantised(name: str, values: np.ndarray, axis: int) -> tuple[list[onnx.TensorProto], onnx.NodeProto]:
    """A matrix as int8 with a scale per row (axis 0) or column (1), and the node that gives it back as floats."""
    scale = np.maximum(np.abs(values).max(axis=1 - axis, keepdims=True), 1e-8) / 127
    whole = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
    tensors = [
        numpy_helper.from_array(whole, f"{name}_quantized"),
        numpy_helper.from_array(scale.ravel().astype(np.float32), f"{name}_scale"),
    ]
    names = [tensor.name for tensor in tensors]
    return tensors, helper.make_node("DequantizeLinear", names, [name], name=name, axis=axis)


class Head(torch.nn.Module):
    """The head with what it is fed in a graph."""

    def __init__(self, span: SpanHead) -> None:
        super().__init__()
        self.span = span

    def forward(self, states: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Scores of ends and of there being an answer."""
        return self.span(states, inside_of(mask, types))


def head_of(span: SpanHead) -> onnx.ModelProto:
    """The graph of the head; it reads mask and segments under the names of the trunk's inputs."""
    import io

    ids = torch.ones((2, 8), dtype=torch.int64)
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    buffer = io.BytesIO()
    torch.onnx.export(
        Head(span).eval(),
        (torch.zeros(2, 8, span.ends.in_features), ids, types),
        buffer,
        input_names=["states", "head_mask", "head_types"],
        output_names=list(OUTPUTS),
        dynamic_axes={name: {0: "batch", 1: "length"} for name in ("states", "head_mask", "head_types", "ends")}
        | {"answerable": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    whole = onnx.load_from_string(buffer.getvalue())
    wide = next(one for one in whole.graph.initializer if one.name == "span.hidden.weight")
    tensors, node = quantised(wide.name, numpy_helper.to_array(wide), 0)
    whole.graph.initializer.remove(wide)
    whole.graph.initializer.extend(tensors)
    whole.graph.node.insert(0, node)
    return whole


def leave_out(whole: onnx.ModelProto, trunk: bytes) -> None:
    """Tensors that stand in the trunk's file are named by their place there (external data of ONNX)."""
    for node in whole.graph.node:  # one input for what both graphs read
        for at, name in enumerate(node.input):
            node.input[at] = {"head_mask": "attention_mask", "head_types": "token_type_ids"}.get(name, name)
    for one in [one for one in whole.graph.input if one.name.startswith("head_")]:
        whole.graph.input.remove(one)
    for tensor in whole.graph.initializer:
        raw = numpy_helper.to_array(tensor).tobytes()
        at = trunk.find(raw) if len(raw) >= LARGE else -1
        if at < 0:
            continue
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", TRUNK.name), ("offset", str(at)), ("length", str(len(raw)))):
            tensor.external_data.add(key=key, value=value)


class Shipping:
    """The files, asked as the network is; one row at a time, as Doxa asks them."""

    def __init__(self, path: Path) -> None:
        self.session = open_session(path, "reader", weights={TRUNK.name: (TRUNK / "model.onnx").read_bytes()})
        self.known: dict[tuple[int, ...], tuple[np.ndarray, float]] = {}

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores of ends `(n, length, 2)` and of there being an answer `(n,)`."""
        found = [
            self.scores(row[: int(inside.sum())].tolist(), kinds[: int(inside.sum())].tolist())
            for row, inside, kinds in zip(ids, mask, types, strict=True)
        ]
        ends = torch.full((*ids.shape, 2), -1e4)
        for at, (own, _) in enumerate(found):
            ends[at, : len(own)] = torch.from_numpy(own)
        return ends, torch.tensor([there for _, there in found])

    def scores(self, ids: Sequence[int], types: Sequence[int]) -> tuple[np.ndarray, float]:
        """What the files say of one row."""
        if (key := (*ids, *types)) not in self.known:
            feed = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
            inputs = {name: np.array([row], dtype=np.int64) for name, row in feed.items()}
            ends, there = self.session.run(list(OUTPUTS), inputs)
            self.known[key] = (ends[0], float(there[0]))
        return self.known[key]

    def eval(self) -> None:
        """It never learns."""

    def train(self) -> None:
        """It never learns."""


def calibrate(shipping: Shipping, rows: Sequence[Row]) -> list[float]:
    """Scale and shift of the score of an answer with the least log loss (Platt 1999)."""
    from scipy.optimize import minimize

    scores = np.array([shipping.scores(row.ids, row.types)[1] for row in rows])
    known = np.array([row.answers for row in rows], dtype=float)

    def loss(values: np.ndarray) -> float:
        logits = values[0] * scores + values[1]
        return float(np.logaddexp(0, logits).mean() - (known * logits).mean())

    return [round(float(value), 4) for value in minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x]


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Group": Group, "Passage": Passage})
    main()
