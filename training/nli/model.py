"""The cross-encoder: MiniLM-L6 over "[CLS] premise [SEP] hypothesis [SEP]" and a head for three classes."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import AutoModel

LABELS = ("entailment", "neutral", "contradiction")


class CrossEncoder(nn.Module):
    """MiniLM over a pair; the head reads [CLS] and the means of both sides with their difference and product."""

    def __init__(self, source: str | Path, *, dropout: float = 0.1, attention: str = "sdpa") -> None:
        super().__init__()
        self.trunk = AutoModel.from_pretrained(source, attn_implementation=attention, dtype=torch.float32)
        self.trunk.pooler = None
        width = self.trunk.config.hidden_size
        self.hidden = nn.Linear(5 * width, width)
        self.out = nn.Linear(width, len(LABELS))
        self.dropout = nn.Dropout(dropout)

    def head(self) -> list[nn.Parameter]:
        """The parameters that are new."""
        return [*self.hidden.parameters(), *self.out.parameters()]

    def prune(self, kept: torch.Tensor) -> None:
        """Keep the vectors of some word pieces only, in this order."""
        words = self.trunk.embeddings.word_embeddings
        self.trunk.embeddings.word_embeddings = nn.Embedding.from_pretrained(words.weight[kept].clone(), padding_idx=0)

    def shorten(self, length: int) -> None:
        """Keep the vectors of the first positions only."""
        embeddings = self.trunk.embeddings
        kept = embeddings.position_embeddings.weight[:length].clone()
        embeddings.position_embeddings = nn.Embedding.from_pretrained(kept)
        embeddings.position_ids = embeddings.position_ids[:, :length]
        if hasattr(embeddings, "token_type_ids"):
            embeddings.token_type_ids = embeddings.token_type_ids[:, :length]

    def encode(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Hidden states `(n, length, 384)`."""
        return self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Logits `(n, 3)` of token ids, mask and segment ids, each `(n, length) int64`."""
        states = self.encode(ids, mask, types)
        premise = ((1 - types) * mask).unsqueeze(-1).to(states.dtype)
        hypothesis = (types * mask).unsqueeze(-1).to(states.dtype)
        u = (states * premise).sum(1) / premise.sum(1).clamp(min=1.0)
        v = (states * hypothesis).sum(1) / hypothesis.sum(1).clamp(min=1.0)
        features = torch.cat([states[:, 0], u, v, (u - v).abs(), u * v], dim=1)
        hidden = torch.nn.functional.gelu(self.hidden(self.dropout(features)))
        return self.out(self.dropout(hidden))
