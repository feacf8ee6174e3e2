"""What a user has been on about lately: a rolling summary of fixed size, folded turn by turn.

Source: the profile cache of section 3.1 and appendix D of the paper ("uses only 50 KB per user").
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Change, ChangeKind
from doxa.memory import Pack, PackWriter, UserState, is_identity, microseconds
from doxa.recall.graph.tags import TurnTags, hashed

__all__ = ["Counts", "Profile"]

SLOTS = 256
"""Things, relations and concepts that are kept of each: those that weigh most."""
USED = 64
"""Turns that answers rested on that are kept: the latest."""
COUNTED = ("concepts", "things", "relations")
HALF_LIFE_DAYS = 60
MICROSECONDS_A_DAY = 86_400_000_000
TOLD = (ChangeKind.ASSERT, ChangeKind.SUPPORT)
GIVEN_UP = (ChangeKind.CLOSE, ChangeKind.RETRACT)


class Counts:
    """How often each of `SLOTS` keys came up, an older time counting less. Adding costs O(SLOTS), with no allocation.

    Weights are kept as of `day`, and halve every `HALF_LIFE_DAYS`. A new key takes the slot that weighs least.
    """

    def __init__(self) -> None:
        self._keys = np.zeros(SLOTS, dtype=np.uint32)
        self._weights = np.zeros(SLOTS, dtype=np.float32)
        self._day = 0.0

    def add(self, key: int, weight: float, day: float) -> None:
        """Count a key once more, or once less for a weight below 0."""
        ahead = day - self._day
        if ahead > 0:
            self._weights *= np.float32(0.5 ** (ahead / HALF_LIFE_DAYS))
            self._day, ahead = day, 0.0
        weight *= 0.5 ** (-ahead / HALF_LIFE_DAYS)
        known = np.flatnonzero((self._keys == key) & (self._weights > 0))
        if len(known):
            self._weights[known[0]] = max(self._weights[known[0]] + weight, 0.0)
        elif weight > 0:
            slot = int(np.argmin(self._weights))
            self._keys[slot], self._weights[slot] = key, weight

    def shares(self, keys: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return how much each key weighs against the heaviest, `(k,) float32` in 0..1; 0 for unknown ones."""
        heaviest = float(self._weights.max())
        if heaviest <= 0:
            return np.zeros(len(keys), dtype=np.float32)
        order = np.argsort(self._keys, kind="stable")
        found = order[np.minimum(np.searchsorted(self._keys, keys, sorter=order), SLOTS - 1)]
        shares: NDArray[np.float32] = np.where(self._keys[found] == keys, self._weights[found] / heaviest, 0)
        return shares.astype(np.float32)

    def heaviest(self, most: int) -> list[tuple[int, float]]:
        """Return the keys that weigh most with their weights, the heaviest first."""
        order = np.lexsort((self._keys, -self._weights))[:most]
        return [(int(self._keys[slot]), float(self._weights[slot])) for slot in order if self._weights[slot] > 0]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write them."""
        writer.array(f"{name}.keys", self._keys)
        writer.array(f"{name}.weights", self._weights)
        writer.value(f"{name}.day", self._day)

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._keys = pack.array(f"{name}.keys").copy()
        self._weights = pack.array(f"{name}.weights").copy()
        self._day = pack.value(f"{name}.day")

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self._keys.nbytes + self._weights.nbytes


class Profile:
    """Recent and frequent concepts, things and relations of a user, and what answers rested on lately.

    At most 10 KB, whatever the history. A fold of turns, changes and feedback in the order of the log, so the same log
    gives the same profile, however often it was brought up to date.
    """

    def __init__(self) -> None:
        self.concepts = Counts()
        self.things = Counts()
        self.relations = Counts()
        self._used: deque[str] = deque(maxlen=USED)
        self._places = self._changes = self._batches = 0

    def sync(self, state: UserState, tags: TurnTags) -> None:
        """Take in what came since. Cost O(what is new)."""
        for place in range(self._places, len(state.places)):
            turn = state.turns[state.places[place]]
            if turn.role == "user":
                for concept, weight in tags.of(place).items():
                    self.concepts.add(hashed(concept), weight, days(microseconds(turn.at)))
        self._places = len(state.places)
        for number in range(self._changes, len(state.beliefs.changes)):
            self._count(state.beliefs.changes[number])
        self._changes = len(state.beliefs.changes)
        for batch in state.feedback[self._batches :]:
            for told in batch:
                self._used.extend(told.turn_ids)
        self._batches = len(state.feedback)

    def _count(self, change: Change) -> None:
        fact = change.fact
        if change.known_at is None or is_identity(fact) or change.kind not in (*TOLD, *GIVEN_UP):
            return
        weight, day = fact.confidence, days(microseconds(change.known_at))
        if change.kind in GIVEN_UP:
            weight = -weight
        self.things.add(hashed(fact.object.key), weight, day)
        self.relations.add(hashed(fact.relation.name), weight, day)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        for part in COUNTED:
            getattr(self, part).save(writer, f"{name}.{part}")
        writer.value(f"{name}.values", (list(self._used), self._places, self._changes, self._batches))

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of all that is here."""
        for part in COUNTED:
            getattr(self, part).load(pack, f"{name}.{part}")
        used, self._places, self._changes, self._batches = pack.value(f"{name}.values")
        self._used = deque(used, maxlen=USED)

    @property
    def used(self) -> frozenset[str]:
        """Ids of the turns that the latest answers rested on, or should have."""
        return frozenset(self._used)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes, without the ids of turns, which the state holds."""
        return self.concepts.nbytes + self.things.nbytes + self.relations.nbytes + USED * 8


def days(at: int) -> float:
    """Return microseconds since 1970 as days."""
    return at / MICROSECONDS_A_DAY
