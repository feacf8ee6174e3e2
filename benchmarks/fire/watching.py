"""What is seen of the inputs of one entrance: how many, how long, how much memory, and what came out that must not."""

from __future__ import annotations

import json
import mmap
import resource
import time
import traceback
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doors import Door, Fault

__all__ = ["LIMIT_S", "Watch", "place_of"]

LIMIT_S = 2.0
"""Processor time of one input that is too much."""
TOLD_S = 0.5
"""How often it is written down how things stand."""
SETTLED = 300
"""Inputs after which memory is measured first: caches fill up until then."""
KEPT = 3
"""Inputs that are kept of a fault, the shortest ones."""
CURRENT = 1 << 16
PAGE = resource.getpagesize()


@dataclass(slots=True)
class Watch:
    """Looks on while inputs come in.

    Args:
        folder: where it writes how things stand, and the input that is being let in, in case that ends the process.
    """

    door: Door
    folder: Path
    inputs: int = 0
    faulty: int = 0
    slow: int = 0
    slowest_s: float = 0.0
    mb: list[int] = field(default_factory=list)
    """Resident memory once it is settled, and now."""
    faults: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)
    """By what they are: length, input, and traceback."""
    counts: Counter[str] = field(default_factory=Counter)
    warm: bool = False
    """Whether what is loaded at its first use is loaded, so that time counts."""
    _told: float = 0.0
    _current: Any = None

    def __post_init__(self) -> None:
        path = self.folder / "current"
        path.write_bytes(bytes(CURRENT))
        with path.open("r+b") as file:
            self._current = mmap.mmap(file.fileno(), CURRENT)

    def __call__(self, data: bytes) -> None:
        """Let an input in."""
        data = bytes(data)
        self._current[:4] = len(data).to_bytes(4, "little")
        self._current[4 : 4 + min(len(data), CURRENT - 4)] = data[: CURRENT - 4]
        began = time.process_time()
        try:
            self.door(data)
        except Exception as exc:  # noqa: BLE001  whatever it is, it is written down
            self._note(place_of(exc), data, "".join(traceback.format_exception(exc)[-12:]))
        spent = time.process_time() - began
        self.inputs += 1
        if self.warm:
            self.slowest_s = max(self.slowest_s, spent)
        if self.warm and spent > LIMIT_S:
            self.slow += 1
            self._note(f"over {LIMIT_S:g} s", data, f"{spent:.1f} s")
        if self.inputs == SETTLED:
            self.mb = [resident_mb()]
        if time.monotonic() - self._told > TOLD_S:
            self.tell()

    def _note(self, what: str, data: bytes, how: str) -> None:
        self.faulty += 1
        self.counts[what] += 1
        held = self.faults.setdefault(what, [])
        held.append((len(data), b64encode(data).decode(), how))
        held.sort()
        del held[KEPT:]

    def tell(self) -> None:
        """Write down how things stand."""
        self._told = time.monotonic()
        now = resident_mb()
        told = {
            "inputs": self.inputs, "faulty": self.faulty, "slow": self.slow, "slowest_s": round(self.slowest_s, 3),
            "cpu_s": round(time.process_time(), 1), "mb": [*(self.mb[:1] or [now]), now],
            "counts": dict(self.counts), "faults": self.faults,
        }  # fmt: skip
        new = self.folder / "told.new"
        new.write_text(json.dumps(told), encoding="utf-8")
        new.replace(self.folder / "told.json")


def place_of(exc: BaseException) -> str:
    """Return what an exception is, and the innermost function of Doxa in which it came up."""
    if isinstance(exc, Fault):
        return str(exc)[:200]
    frames = traceback.extract_tb(exc.__traceback__)
    own = [one for one in frames if "/doxa/" in one.filename] or list(frames)
    where = f"{own[-1].filename.rpartition('/doxa/')[2]}:{own[-1].name}" if own else "nowhere"
    return f"{type(exc).__name__} in {where}"


def resident_mb() -> int:
    """Return the memory of this process in MB."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE >> 20
