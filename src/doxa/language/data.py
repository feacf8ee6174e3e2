"""What is known of a language, as data: one folder of tables each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["table"]

LANGUAGE = "en"


@cache
def table(name: str) -> dict[str, Any]:
    """Return a table by its path below the folder of the language, without ".toml"; read once."""
    path = files("doxa.language").joinpath(LANGUAGE, f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
