"""A grader: the trunk of the NLI model with low-rank adapters, and a head for each of its tasks.

The trunk and the adapters are those of `training/reader/network.py`; what is learned here is small (1.5 MB).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from doxa.backends import grader

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))
from network import HIDDEN, adapt, trunk

__all__ = ["GRADES", "Grader", "Head", "learned_in"]

GRADES = {**grader.GRADES, "fact": ("stands", "over", "wrong")}
"""The grades of each task; of held facts a grader is taught, and none is in use."""
ADAPTED, RANK = slice(2, 6), 36
"""Layers with adapters, and how wide those are."""
WIDTH = 96
"""Of the hidden layer of a head."""


class Head(nn.Module):
    """Scores of the grades of one task."""

    def __init__(self, grades: int, *, dropout: float = 0.15) -> None:
        super().__init__()
        self.hidden = nn.Linear(3 * HIDDEN, WIDTH)
        self.out = nn.Linear(WIDTH, grades)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Scores `(n, grades)` of states `(n, length, width)`: of the first token, and the means of both parts."""
        first = (mask * (1 - types)).unsqueeze(-1).to(states.dtype)
        second = (mask * types).unsqueeze(-1).to(states.dtype)
        means = [(states * part).sum(1) / part.sum(1).clamp(min=1) for part in (first, second)]
        features = torch.cat([states[:, 0], *means], -1)
        hidden = nn.functional.gelu(self.hidden(self.dropout(features)))
        return self.out(self.dropout(hidden)).float()


class Grader(nn.Module):
    """The adapted trunk with the heads of all tasks."""

    def __init__(self, tasks: Sequence[str]) -> None:
        super().__init__()
        self.trunk = trunk()
        adapt(self.trunk.encoder.layer[ADAPTED], RANK)
        self.heads = nn.ModuleDict({task: Head(len(GRADES[task])) for task in tasks})

    def learned(self) -> dict[str, torch.Tensor]:
        """What is learned here, by name."""
        return {name: value.detach() for name, value in self.named_parameters() if value.requires_grad}

    def forward(self, task: str, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Scores `(n, grades)` of a task, of ids, mask and segments `(n, length) int64`."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        return self.heads[task](states, mask, types)


def learned_in(path: Path) -> dict[str, torch.Tensor]:
    """What was learned of a grader, by name: of a file of `teach.py`, or of a model that ships (int8, so rounded)."""
    if path.suffix != ".onnx":
        return torch.load(path)
    stored = {
        one.name: numpy_helper.to_array(one)
        for one in onnx.load(path, load_external_data=False).graph.initializer
        if one.data_location != onnx.TensorProto.EXTERNAL
    }
    found = {name: value for name, value in stored.items() if name.startswith("heads.") and "_" not in name}
    for name, whole in stored.items():
        base, _, kind = name.rpartition("_")
        if kind != "quantized" or not base.endswith(("/down", "/up", ".weight")) or base.startswith("model."):
            continue
        by_row = not base.endswith("/down")  # the axis that `ship.py` gives each of them
        scale = stored[f"{base}_scale"]
        place = base.removeprefix("/model/").replace("/MatMul_output_0", "").replace("/", ".")
        found[place] = whole.astype(np.float32) * (scale[:, None] if by_row else scale[None])
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in found.items()}
