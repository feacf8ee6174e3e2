"""What was promoted and demoted: the fold of those events, and which promotions stand now.

A promotion is never the truth about anything: it stands while enough of the turns that it rests on are trusted and
what they say is believed, and it stands again once they are.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from doxa.core.promotions import Promotion, Support
from doxa.memory.beliefs import Beliefs
from doxa.memory.codec import promotion_from, promotion_to
from doxa.memory.paged import Pack, PackWriter
from doxa.memory.validity import is_current

__all__ = ["LEAST_SUPPORT", "Promotions", "live_support", "promotion_id", "standing"]

LEAST_SUPPORT = 3
"""Turns that a promotion rests on at least (paper, appendix A.4 and B.1: minimum support)."""
ID_VERSION = "p1"


class Remembered(Protocol):
    """What is looked at to tell which promotions stand; see `UserState`."""

    @property
    def beliefs(self) -> Beliefs: ...
    @property
    def promotions(self) -> Promotions: ...
    def trusts(self, turn_id: str) -> bool: ...
    def today(self) -> date | None: ...


def promotion_id(subject_key: str, relation: str, concept: str) -> str:
    """Return the id of a promotion; the same on every machine."""
    name = "\n".join((subject_key, relation, concept))
    return f"{ID_VERSION}_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Demotion:
    """Why something was demoted, and whether the gate did it, which may then take it back."""

    reason: str
    automatic: bool = False


class Promotions:
    """Promotions by id, in the order in which they came to be. Folding one costs O(its support)."""

    def __init__(self) -> None:
        self._known: dict[str, Promotion] = {}
        self._demoted: dict[str, Demotion] = {}
        self._by_concept: dict[str, dict[str, None]] = defaultdict(dict)
        self.version = 0
        """Grows with every change, for whoever keeps something that was made from them."""

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Promotion]:
        """Yield all of them, whether or not they stand."""
        yield from map(self._marked, list(self._known))

    def get(self, key: str) -> Promotion | None:
        """Return the promotion of an id, or None; `active` is False only when it was demoted."""
        return self._marked(key) if key in self._known else None

    def of_concept(self, concept: str) -> list[Promotion]:
        """Return the promotions of a concept, without those of its kinds."""
        return [self._marked(key) for key in self._by_concept.get(concept, ())]

    def demotion(self, key: str) -> Demotion | None:
        """Return why and how a promotion was demoted; None when it was not."""
        return self._demoted.get(key)

    def promote(self, promotion: Promotion) -> None:
        """Fold a promotion, or a known one with its support as it is now; one demoted by hand stays so."""
        self.version += 1
        key = promotion.promotion_id
        self._known[key] = promotion
        self._by_concept[promotion.concept][key] = None
        if (gone := self._demoted.get(key)) is not None and gone.automatic:
            del self._demoted[key]

    def demote(self, key: str, reason: str, *, automatic: bool = False) -> None:
        """Fold that a promotion no longer stands, whatever speaks for it."""
        self.version += 1
        self._demoted[key] = Demotion(reason, automatic)

    def enable(self, key: str) -> None:
        """Fold that a demotion was taken back."""
        self.version += 1
        self._demoted.pop(key, None)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        known = [promotion_to(one) for one in self._known.values()]
        demoted = [(key, one.reason, one.automatic) for key, one in self._demoted.items()]
        writer.value(name, (self.version, known, demoted))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        version, known, demoted = pack.value(name)
        for data in known:
            self.promote(promotion_from(data))
        self._demoted = {key: Demotion(reason, automatic) for key, reason, automatic in demoted}
        self.version = version

    def _marked(self, key: str) -> Promotion:
        known, gone = self._known[key], self._demoted.get(key)
        return known if gone is None else replace(known, active=False, demoted=gone.reason or "by hand")


def live_support(promotion: Promotion, state: Remembered) -> tuple[Support, ...]:
    """Return the turns that still speak for a promotion: trusted, and believed in what they say. O(support)."""
    today, facts = state.today(), state.beliefs.facts

    def stands(one: Support) -> bool:
        if not state.trusts(one.turn_id):
            return False
        known = [fact for key in one.fact_ids if (fact := facts.get(key)) is not None]
        if len(known) < len(one.fact_ids):  # told under another name by now: the turn still says it
            return bool(state.beliefs.said_in(one.turn_id))
        return not known or any(is_current(fact, today) for fact in known)

    return tuple(one for one in promotion.support if stands(one))


def standing(state: Remembered) -> list[Promotion]:
    """Return the promotions that stand now, each with the support that is left. O(promotions and their support)."""
    found = []
    for promotion in state.promotions:
        left = live_support(promotion, state) if promotion.active else ()
        if len(left) >= LEAST_SUPPORT:
            found.append(replace(promotion, support=left))
    return found
