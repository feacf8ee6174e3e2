"""What a memory and tasks need of the engine that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from doxa.core.values import Receipt, Turn
    from doxa.engine.wiring.parts import Parts

__all__ = ["Host"]


class Host(Protocol):
    """The engine, as those see it that it lends itself to; see `Doxa`."""

    @property
    def parts(self) -> Parts:
        """What the engine is made of."""

    def receive(self, turn: Turn) -> tuple[Turn, Receipt]:
        """Store a turn and have it processed behind the caller's back."""

    def settle(self, user: str) -> str:
        """Wait a moment for received turns; say why some are not processed."""

    def wait(self, user: str) -> None:
        """Wait for all received turns."""
