"""What was stated -> questions that share no stem with it, and their gold evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from doxa.language import stems
from doxa_bench.implicit.dialogue import PreferenceQuery, PreferenceTurn
from doxa_bench.implicit.material import Ask, Concept

__all__ = ["Stated", "draw_queries"]

MAX_GOLD = 8
"""Turns that one question may seek, so that ten places hold them all."""
COLD_TURNS = 10
"""Turns of the user after which a memory is no longer cold. Source: section 4.6."""
GAP = timedelta(days=28)
"""From the last evidence to the question, from which on the question counts as one after a temporal gap."""
ASKED = (2, 2, 3, 3)
"""Questions in the end of a dialogue: 2.5 on average, as in table 15."""
EARLY, EXPLICIT, ELLIPTICAL, ALIASED = 0.25, 0.5, 0.35, 0.6
"""How often a dialogue has a question after the first sessions; one that repeats the words; one that follows on a
lead; one by another name, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A concept with the turns that state it, oldest first."""

    concept: Concept
    turned: bool
    turns: tuple[PreferenceTurn, ...]

    def gold(self, after: int, order: dict[str, int]) -> list[PreferenceTurn]:
        """Return the evidence among the first `after` turns."""
        return [turn for turn in self.turns if turn.part == "evidence" and order[turn.turn_id] < after]


def draw_queries(
    asks: Sequence[Ask], stated: Sequence[Stated], turns: Sequence[PreferenceTurn], rng: Random
) -> tuple[tuple[PreferenceQuery, ...], tuple[PreferenceTurn, ...]]:
    """Return questions about a dialogue, and the turns that elliptical ones follow on, which come last of all.

    A wording that shares an indexed stem with any of its gold turns is never used (but of `explicit` questions).
    """
    drawing = _Asking(asks, stated, turns, rng)
    drawing.in_the_end()
    drawing.explicit()
    drawing.early()
    return tuple(drawing.queries), tuple(drawing.leads)


class _Asking:
    def __init__(
        self, asks: Sequence[Ask], stated: Sequence[Stated], turns: Sequence[PreferenceTurn], rng: Random
    ) -> None:
        self._asks, self._stated, self._turns, self._rng = asks, stated, turns, rng
        self._order = {turn.turn_id: place for place, turn in enumerate(turns)}
        self.queries: list[PreferenceQuery] = []
        self.leads: list[PreferenceTurn] = []

    def in_the_end(self) -> None:
        """Ask after everything has been said: plain questions, then perhaps special ones."""
        rng, wanted = self._rng, self._rng.choice(ASKED)
        special = {
            "alias": rng.random() < ALIASED,
            "cross-domain": True,
            "ellipsis": rng.random() < ELLIPTICAL,
        }
        for subset in special:
            if special[subset] and len(self.queries) < wanted - 1:
                self._ask([ask for ask in self._asks if ask.subset == subset], len(self._turns))
        plain = [ask for ask in self._asks if ask.subset is None and ask.kind != "explicit"]
        for _ in range(wanted - len(self.queries)):
            self._ask(plain, len(self._turns))

    def early(self) -> None:
        """Ask plain questions when little has been said yet."""
        plain = [ask for ask in self._asks if ask.subset is None and ask.kind != "explicit"]
        ends = [place for place, turn in enumerate(self._turns) if turn.turn_id.endswith(":1")][1:4]
        if ends and self._rng.random() < EARLY:
            self._ask(plain, self._rng.choice(ends))

    def explicit(self) -> None:
        """Ask for one thing by its name."""
        named = [turn for one in self._stated for turn in one.gold(len(self._turns), self._order) if turn.thing]
        if named and self._rng.random() < EXPLICIT:
            turn = self._rng.choice(named)
            ask = self._rng.choice([ask for ask in self._asks if ask.kind == "explicit"])
            text = self._rng.choice(ask.texts).format(thing=turn.thing)
            one = next(one for one in self._stated if turn in one.turns)
            gold = {said.turn_id for said in one.turns if said.thing == turn.thing}
            self._add(text, ask, [one], gold, len(self._turns))

    def _ask(self, asks: Sequence[Ask], after: int) -> None:
        """Add the first question, in random order, that has evidence and shares no word with it."""
        rng = self._rng
        said = {query.text for query in self.queries}
        for ask in rng.sample(asks, len(asks)):
            if ask.subset == "alias":
                self._ask_by_alias(ask, after)
                return
            sought = [one for one in self._stated if (one.concept.workload, one.concept.facet) in ask.seeks]
            sought = [one for one in sought if one.gold(after, self._order)]
            gold = [turn for one in sought for turn in one.gold(after, self._order)]
            if not 0 < len(gold) <= MAX_GOLD:
                continue
            if ask.subset == "cross-domain" and len({one.concept.workload for one in sought}) < 2:
                continue
            for text in rng.sample(ask.texts, len(ask.texts)):
                if text not in said and not _overlap(text, gold):
                    self._add(text, ask, sought, {turn.turn_id for turn in gold}, after)
                    return

    def _ask_by_alias(self, ask: Ask, after: int) -> None:
        for bridge in [turn for turn in self._turns if turn.part == "bridge"]:
            one = next(one for one in self._stated if any(turn.concept == bridge.concept for turn in one.turns))
            gold = one.gold(after, self._order)
            for text in self._rng.sample(ask.texts, len(ask.texts)):
                text = text.format(alias=one.concept.aliases[bridge.thing])
                if not _overlap(text, gold):
                    self._add(text, ask, [one], {turn.turn_id for turn in gold}, after)
                    return

    def _add(self, text: str, ask: Ask, sought: Sequence[Stated], gold: set[str], after: int) -> None:
        before = self._turns[after - 1]
        lead = ""
        if ask.leads:
            lead = self._rng.choice(ask.leads)
            self._lead(lead)
            after = len(self._turns) + len(self.leads)
        last = max(turn.at for one in sought for turn in one.turns if turn.turn_id in gold)
        stale = {turn.turn_id for one in sought for turn in one.turns if turn.part == "stale"}
        self.queries.append(
            PreferenceQuery(
                query_id=f"Q{len(self.queries) + 1}",
                text=text,
                after=after,
                session=before.session,
                at=before.at + timedelta(minutes=5),
                gold=frozenset(gold),
                stale=frozenset(stale - gold),
                concepts=frozenset(f"{one.concept.workload}.{one.concept.name}" for one in sought),
                kind=ask.kind,
                subsets=self._subsets(ask, sought, after, before.at - last >= GAP),
                lead=lead,
            )
        )

    def _subsets(self, ask: Ask, sought: Sequence[Stated], after: int, gap: bool) -> frozenset[str]:
        said = sum(turn.role == "user" for turn in self._turns[:after])
        episodes = max(len(one.gold(after, self._order)) for one in sought)
        marks = {
            ask.subset or "": ask.subset is not None,
            "temporal-gap": gap,
            "cold-start": said <= COLD_TURNS,
            "revised": any(one.turned for one in sought),
            "recurring": episodes >= 3,
            "once": episodes == 1,
        }
        return frozenset(name for name, holds in marks.items() if holds)

    def _lead(self, text: str) -> None:
        last = (*self._turns, *self.leads)[-1]
        number = int(last.turn_id.split(":")[1]) + 1
        speaker = next(turn.speaker for turn in self._turns if turn.role == "user")
        self.leads.append(
            PreferenceTurn(
                turn_id=f"{last.session}:{number}",
                session=last.session,
                at=last.at + timedelta(seconds=40),
                role="user",
                speaker=speaker,
                text=text,
                part="lead",
            )
        )


def _overlap(text: str, gold: Sequence[PreferenceTurn]) -> set[str]:
    """Return the stems that a question shares with its evidence, as the memory indexes them."""
    return set(stems(text)) & {stem for turn in gold for stem in stems(turn.text)}
