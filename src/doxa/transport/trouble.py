"""What went wrong, for transports that do not know who serves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Trouble"]


class Trouble(Protocol):
    """What went wrong, whatever the protocol; see `doxa.transport.http.problems.Problem`."""

    @property
    def status(self) -> int:
        """The status."""

    @property
    def kind(self) -> str:
        """The kind, in words with hyphens: `turn-conflict`."""

    @property
    def detail(self) -> str:
        """What was expected, what came, what to do."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What the protocol does not see."""
