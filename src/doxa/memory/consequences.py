"""Facts -> which others stand where they stand because of them, or follow from them."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.values import Fact
from doxa.memory.paged import Lists, Pack, PackWriter, Table

__all__ = ["Consequences"]

Names = Iterable[str]


class Consequences:
    """What hangs on each fact or rule, by its id. Noting a change costs O(ids that it names); `Beliefs` keeps it up.

    Args:
        facts: where they are.
    """

    def __init__(self, facts: Table[Fact]) -> None:
        self._facts = facts
        self._moved = Lists()
        self._following = Lists()

    def note(self, row: int, *, because: tuple[Names, Names], premises: tuple[Names, Names]) -> None:
        """Note what a fact names as the cause of its last change, and what it follows from: each before and after."""
        _replace(row, *because, self._moved)
        _replace(row, *premises, self._following)

    def of(self, key: str) -> list[str]:
        """Return the facts whose last change names a fact or rule as its cause, in the order in which they came up."""
        return [self._facts.key_at(row) for row in sorted(self._moved.get(key))]

    def following(self, key: str) -> list[str]:
        """Return the facts that have a fact or rule as a premise, in the order in which they came up."""
        return [self._facts.key_at(row) for row in sorted(self._following.get(key))]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        self._moved.save(writer, f"{name}.moved")
        self._following.save(writer, f"{name}.following")

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        self._moved.load(pack, f"{name}.moved")
        self._following.load(pack, f"{name}.following")


def _replace(row: int, before: Names, after: Names, index: Lists) -> None:
    """Let a fact be found by some ids in place of those by which it was found before."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    for key in old:
        if key not in new:
            index.remove(key, row)
    for key in new:
        if key not in old:
            index.append(key, row)
