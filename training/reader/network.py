"""The span reader: MiniLM-L6 over "[CLS] question [SEP] passage [SEP]", and a head for where an answer stands."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import AutoModel

HIDDEN = 384


class SpanHead(nn.Module):
    """Scores of every token as the first and last one of the answer, and the score that there is one."""

    def __init__(self, width: int = HIDDEN, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.ends = nn.Linear(width, 2)
        self.hidden = nn.Linear(2 * width, width)
        self.there = nn.Linear(width, 1)
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
    """The trunk with the head of spans."""

    def __init__(self, source: str | Path, *, attention: str = "sdpa") -> None:
        super().__init__()
        self.trunk = AutoModel.from_pretrained(source, attn_implementation=attention, dtype=torch.float32)
        self.trunk.pooler = None
        self.trunk.embeddings.word_embeddings.weight.requires_grad = False
        self.span = SpanHead()

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores of ends and of there being an answer, of ids, mask and segments `(n, length) int64`."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        inside = types * mask
        inside = inside * (torch.cumsum(inside.flip(1), 1).flip(1) > 1)  # the last [SEP] is no place for an answer
        return self.span(states, inside)
