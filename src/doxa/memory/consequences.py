"""Facts -> which others stand where they stand because of them, or follow from them, and which of two came first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Consequences"]

Keys = dict[str, None]
"""Ids of facts, in the order in which they were noted."""


@dataclass(slots=True)
class Consequences:
    """What hangs on each fact, by id. Noting a change costs O(ids that it names); `Beliefs` keeps it up."""

    _places: dict[str, int] = field(default_factory=dict)
    _noted: int = 0
    _because: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the last change of a fact names, where it names anything."""
    _premises: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _moved: dict[str, Keys] = field(default_factory=dict)
    _following: dict[str, Keys] = field(default_factory=dict)

    def note(self, fact_id: str, *, because: tuple[str, ...], premises: tuple[str, ...]) -> None:
        """Take over the last change of a fact, and what it follows from after it."""
        if fact_id not in self._places:
            self._places[fact_id] = self._noted
            self._noted += 1
        _replace(fact_id, because, self._because, self._moved)
        _replace(fact_id, premises, self._premises, self._following)

    def forget(self, fact_id: str) -> None:
        """Drop a fact that there is no more."""
        self._places.pop(fact_id, None)
        _replace(fact_id, (), self._because, self._moved)
        _replace(fact_id, (), self._premises, self._following)

    def place(self, fact_id: str) -> int | None:
        """Return a number that is higher for facts that came to be later; None where there is no such fact."""
        return self._places.get(fact_id)

    def of(self, key: str) -> list[str]:
        """Return the facts whose last change names a fact or rule as its cause, in the order in which they came up."""
        return self._ordered(self._moved.get(key, ()))

    def following(self, key: str) -> list[str]:
        """Return the facts that have a fact or rule as a premise, in the order in which they came up."""
        return self._ordered(self._following.get(key, ()))

    def _ordered(self, keys: Iterable[str]) -> list[str]:
        return sorted(keys, key=self._places.__getitem__)


def _replace(fact_id: str, new: tuple[str, ...], known: dict[str, tuple[str, ...]], index: dict[str, Keys]) -> None:
    """Let a fact be found by some ids in place of those by which it was found before."""
    old = known.get(fact_id, ())
    if old == new:
        return
    for key in old:
        if key in index and index[key].pop(fact_id, True) is None and not index[key]:
            del index[key]
    for key in new:
        index.setdefault(key, {})[fact_id] = None
    if new:
        known[fact_id] = new
    else:
        del known[fact_id]
