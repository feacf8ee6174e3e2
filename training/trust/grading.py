"""The grader: the trunk of the NLI model with low-rank adapters, and a head for each task.

The trunk and the adapters are those of `training/reader/network.py`; what is learned here is small (1.5 MB).
"""

import sys
from pathlib import Path

import torch
from torch import nn

from doxa.backends.grader import GRADES

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))
from network import ADAPTED, HIDDEN, LINEAR, Adapted, trunk

__all__ = ["Grader", "Head"]

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

    def __init__(self) -> None:
        super().__init__()
        self.trunk = trunk()
        for layer in self.trunk.encoder.layer[ADAPTED]:
            for name in LINEAR:
                parent, _, last = name.rpartition(".")
                owner = layer.get_submodule(parent)
                setattr(owner, last, Adapted(getattr(owner, last)))
        self.heads = nn.ModuleDict({task: Head(len(grades)) for task, grades in GRADES.items()})

    def learned(self) -> dict[str, torch.Tensor]:
        """What is learned here, by name."""
        return {name: value.detach() for name, value in self.named_parameters() if value.requires_grad}

    def forward(self, task: str, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Scores `(n, grades)` of a task, of ids, mask and segments `(n, length) int64`."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        return self.heads[task](states, mask, types)
