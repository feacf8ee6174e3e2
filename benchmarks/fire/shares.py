"""Which entrances there are, where each is opened, and how much of a run is its share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["DOORS", "ENGINES", "Where", "share_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a door is, and how much of a run is its share."""

    at: str
    """Module and class."""
    share: float
    """Of all inputs of a run."""
    traced: tuple[str, ...] = ("doxa",)
    """The packages whose coverage guides a run."""


DOORS: Mapping[str, Where] = {
    "transcripts": Where(at="archives:Transcripts", share=0.12, traced=("doxa.backends",)),
    "archives": Where(at="archives:Archives", share=0.06, traced=("doxa.backends",)),
    "rows": Where(at="rows:Rows", share=0.18, traced=("doxa.memory", "doxa.core")),
    "forest": Where(at="rows:Forests", share=0.16, traced=("doxa.memory", "doxa.core")),
    "snapshots": Where(at="packs:Snapshots", share=0.05, traced=("doxa.memory", "doxa.core")),
    "arrays": Where(at="packs:Arrays", share=0.02, traced=("doxa.memory", "doxa.core")),
    "turtle": Where(at="rdf:Turtle", share=0.13, traced=("doxa.logic", "doxa.core")),
    "sparql": Where(at="rdf:Sparql", share=0.04, traced=("doxa.logic", "doxa.core")),
    "amr": Where(at="rdf:Amr", share=0.02, traced=("doxa.logic", "doxa.core", "penman")),
    "config": Where(at="settings:Settings", share=0.2, traced=("doxa.core",)),
    "times": Where(at="wording:Times", share=0.01, traced=("doxa.language",)),
    "amounts": Where(at="wording:Amounts", share=0.04, traced=("doxa.language",)),
    "api": Where(at="engine:Api", share=0.002),
    "cli": Where(at="command:Cli", share=0.0008),
    "rest": Where(at="web:Rest", share=0.004),
    "openai": Where(at="web:OpenAI", share=0.002),
    "mem0": Where(at="web:Mem0", share=0.002),
    "mcp": Where(at="tools:Mcp", share=0.001),
    "exports": Where(at="rows:Exports", share=0.001),
}

ENGINES = ("api", "rest", "openai", "mem0", "mcp", "exports")
"""Those with an engine behind them that may have the models of the default settings."""
LEAST = 50


def share_of(name: str, inputs: int) -> int:
    """Return how many of all inputs are let in at an entrance."""
    whole = sum(one.share for one in DOORS.values())
    return max(LEAST, round(inputs * DOORS[name].share / whole))
