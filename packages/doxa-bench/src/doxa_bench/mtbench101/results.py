"""What every reply was worth -> a file, and back: for figures of one's own, and for stage 1 of the refined subset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError
from doxa_bench.mtbench101.measures import DialogueResult, TurnResult

__all__ = ["read_results", "write_json", "write_results"]

DIGITS = 5


def write_results(path: Path, results: Mapping[str, Sequence[DialogueResult]]) -> Path:
    """Write results, system by system, and return the file."""
    return write_json(path, {name: [_plain(one) for one in found] for name, found in results.items()}, indent=None)


def read_results(path: Path) -> dict[str, list[DialogueResult]]:
    """Return what `write_results` wrote; nothing where there is no such file.

    Raises:
        FormatError: it is something else.
    """
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: [_result(one) for one in found] for name, found in content.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise FormatError(f"expected results of `doxa bench mtbench101` in {path}, got something else: {exc}.") from exc


def write_json(path: Path, content: Mapping[str, Any], *, indent: int | None = 1) -> Path:
    """Write plain data, and return the file."""
    path.write_text(json.dumps(content, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _plain(one: DialogueResult) -> dict[str, Any]:
    content = asdict(one)
    content["turns"] = [
        {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in turn.items()}
        for turn in content["turns"]
    ]
    return content


def _result(content: dict[str, Any]) -> DialogueResult:
    return DialogueResult(**{**content, "turns": tuple(TurnResult(**turn) for turn in content["turns"])})
