"""Doxa as a store for `side.py`; what it is in its own environment, with the settings it comes with."""

from pathlib import Path

from side import Stopwatch, versions

from doxa.backends.encoder import CachedEncoder
from doxa.core.config import Config
from doxa.engine import Doxa


class DoxaStore:
    """A database in a folder."""

    def __init__(self, folder: Path) -> None:
        self.encoder = Stopwatch()
        CachedEncoder.encode = self.encoder.around(CachedEncoder.encode)
        self._doxa = Doxa.open(folder / "memory.db", config=Config())

    def add(self, user: str, turn: dict) -> None:
        """Keep a turn."""
        chat = self._doxa.dialogue(user=user, session=turn["session"] or "default")
        chat.absorb(turn["said"], speaker=turn["speaker"], role=turn["role"], at=turn["at"], turn_id=turn["id"])

    def settle(self) -> None:
        """Wait until every turn is understood."""
        self._doxa.flush()

    def search(self, user: str, query: str, k: int) -> list[str]:
        """Return the ids of turns, best first."""
        return [turn_id for item in self._doxa.memory(user=user).search(query, k=k) for turn_id in item.turn_ids]

    def close(self) -> None:
        """Close the database."""
        self._doxa.close()


opened = DoxaStore


def about() -> dict[str, str]:
    """Return the versions that matter."""
    return versions("doxa", "onnxruntime")
