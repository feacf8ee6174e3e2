"""The memory of one user, as transports that do not know who lets requests in may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from doxa.core.access import Right, Scope

if TYPE_CHECKING:
    from doxa.engine import Dialogue, Memory, Tasks

__all__ = ["Room"]


class Room(Protocol):
    """The memory of one user, as one request may use it; its methods raise a DoxaError where a right is missing."""

    @property
    def scope(self) -> Scope:
        """Whose it is, and what may be done there."""

    def memory(self, right: Right = "read") -> Memory:
        """Return the memory."""

    def dialogue(
        self, right: Right, *, session: str | None = None, agent: str | None = None, speaker: str | None = None
    ) -> Dialogue:
        """Return a dialogue."""

    def tasks(self, right: Right = "read", *, author: str | None = None) -> Tasks:
        """Return the tasks."""
