"""What is kept of what was let in: small inputs, and all that ever were faults, one file an entrance."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CORPUS", "Kept", "kept", "write"]

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An input that is kept."""

    data: bytes
    fault: str = ""
    """What came out of it once; empty where it only leads to where others do not."""


def kept(entrance: str) -> list[Kept]:
    """Return what is kept of an entrance."""
    path = CORPUS / f"{entrance}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [_read(json.loads(line)) for line in lines]


def write(entrance: str, held: Iterable[Kept]) -> None:
    """Keep these of an entrance in place of what was, each once, faults first."""
    unique = {one.data: one for one in sorted(held, key=lambda one: bool(one.fault))}
    ordered = sorted(unique.values(), key=lambda one: (not one.fault, one.fault, len(one.data), one.data))
    text = "".join(json.dumps(_told(one), ensure_ascii=True) + "\n" for one in ordered)
    (CORPUS / f"{entrance}.jsonl").write_text(text, encoding="utf-8")


def _read(told: dict[str, str]) -> Kept:
    data = told["text"].encode() if "text" in told else b64decode(told["base64"])
    return Kept(data=data, fault=told.get("fault", ""))


def _told(one: Kept) -> dict[str, str]:
    try:
        held = {"text": one.data.decode("utf-8")}
    except UnicodeDecodeError:
        held = {"base64": b64encode(one.data).decode()}
    return held | ({"fault": one.fault} if one.fault else {})
