"""What the memory graph counts by: `graph.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["settings"]


@cache
def settings() -> Mapping[str, Any]:
    """Return the tables of `graph.toml`."""
    return tomllib.loads(files(__package__).joinpath("graph.toml").read_text(encoding="utf-8"))
