"""The score of a scenario: what a task memory held and said after every turn, against what is right.

    violation       any expectation that is not met
    hallucination   at most one a turn: the state holds what was never set or is no longer current, or the reply gives
                    it as current; a wrong value that stays counts where it first appears
    confusion       at most one a turn: a question taken for a change or the other way round, a question that changed a
                    slot, a change of the wrong slot or not of the right one
    consistent      a scenario without a violation; `consistent_no_intent` leaves out those of labels

A missing value is an omission: a violation, but no hallucination.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from doxa_bench.tasks.mentions import is_given_as_current, is_mentioned
from doxa_bench.tasks.scenarios import CHANGING, Expectation, GoldValue, Scenario
from doxa_bench.tasks.slots import SlotCheck, absent_hits, assign, check_state
from doxa_bench.tasks.values import Held, History, State, contains, ends_with, flat, same_history, tokens

__all__ = ["COUNTS", "Played", "ScenarioScore", "Violation", "score"]

COUNTS = (
    "turns expected hallucinations confusions intent_n intent_fine intent_coarse multi_n multi_hit slots_n slots_ok "
    "derived_n derived_ok reply_n reply_ok consistent consistent_no_intent"
).split()
"""What is counted of a scenario, and summed over them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a system handed in after a turn."""

    intents: tuple[str, ...] = ()
    state: State = field(default_factory=dict)
    history: History | None = None
    """None where the system keeps none; then it is not judged."""
    reply: str = ""
    tokens: int = 0
    """Of the prompt from which a model would have replied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An expectation that was not met, or why a turn counts as a hallucination or a confusion."""

    turn: int
    kind: str
    """`intent`, `state`, `absent`, `reply_contains`, `reply_not`, `history`; of a note `hallucination`, `confusion`."""
    slot: str
    """The slot, or what else it is about."""
    expected: str
    came: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioScore:
    """The counts of one scenario and what is behind them."""

    id: str
    counts: Counter[str]
    violations: tuple[Violation, ...]
    notes: tuple[Violation, ...]
    """Why turns count as hallucinations and confusions."""


def score(scenario: Scenario, played: Sequence[Played]) -> ScenarioScore:
    """Return the score of what a system handed in, one entry a turn; turns that it did not hand in are empty.

    Deterministic. Cost O(turns x slots x keys). Source: the scoring rules of the gold set of task scenarios.
    """
    judge = _Judge(scenario)
    turns = [*played, *(Played() for _ in scenario.turns[len(played) :])]
    for number in range(1, len(scenario.turns) + 1):
        expected = scenario.expect.get(number)
        if expected is not None:
            judge.turn(expected, turns[number - 1], turns[number - 2].state if number > 1 else {})
    judge.counts["turns"] = len(scenario.turns)
    judge.counts["expected"] = len(scenario.expect)
    judge.counts["consistent"] = int(not judge.violations)
    judge.counts["consistent_no_intent"] = int(all(one.kind == "intent" for one in judge.violations))
    return ScenarioScore(
        id=scenario.id, counts=judge.counts, violations=tuple(judge.violations), notes=tuple(judge.notes)
    )


class _Judge:
    """Goes through the turns of a scenario in order and remembers what was set, and what was wrong already."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._gold: Mapping[str, GoldValue] = {}
        self._wrong: set[tuple[str, str]] = set()
        self._set: list[str] = []
        self.counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
        self.violations: list[Violation] = []
        self.notes: list[Violation] = []

    def turn(self, expected: Expectation, played: Played, before: State) -> None:
        """Judge one turn; `before` is the state after the turn before it."""
        kind = self._intents(expected, played)
        checks = check_state(expected.state, played.state, self._scenario)
        earlier = check_state(expected.state, before, self._scenario)
        reasons = self._kinds_differ(expected, played, kind) + self._targets(expected, checks, earlier, kind)
        wrong = self._state(expected, checks) | self._absent(expected, played)
        invented = [f"{slot or 'state'}: {value}" for slot, value in sorted(wrong - self._wrong)]
        self._wrong = wrong
        self._set += [flat(value) for value in expected.state.values() if value is not None]
        self._set += [flat(value) for seen in expected.history.values() for value in seen]
        invented += self._reply(expected, played)
        self._history(expected, played)
        self._set += [text for group in expected.says for text in group]
        self._gold = expected.state
        for name, found in (("hallucination", invented), ("confusion", reasons)):
            self.counts[f"{name}s"] += bool(found)
            self.notes += [_violation(expected, name, reason, "", "") for reason in found]

    def _intents(self, expected: Expectation, played: Played) -> str | None:
        """Judge the labels, and return the kind of the turn; None where it is not judged."""
        given = {_coarse(label) for label in played.intents}
        if expected.every:
            # Where both are acceptable, "new" and "update" stand in for each other.
            free = {"new", "update"} if {"new", "update"} <= set(expected.intents) else set()
            have = given | (free if given & free else set())
            self._count("multi", sum(_coarse(label) in have for label in expected.every), len(expected.every), "hit")
        if not expected.intents:
            return None
        coarse = bool(given & {_coarse(label) for label in expected.intents})
        self.counts["intent_n"] += 1
        self.counts["intent_fine"] += bool(set(expected.intents) & set(played.intents))
        self.counts["intent_coarse"] += coarse
        if not coarse:
            self._miss(expected, "intent", "label", " or ".join(expected.intents), ", ".join(played.intents))
        return _kind(expected.every or expected.intents)

    def _kinds_differ(self, expected: Expectation, played: Played, kind: str | None) -> list[str]:
        if kind is None or not played.intents or _kind(played.intents) == kind:
            return []
        return [f"taken for a turn that {'keeps' if kind == 'change' else 'changes'} the state"]

    def _state(self, expected: Expectation, checks: Mapping[str, SlotCheck]) -> set[tuple[str, str]]:
        """Judge the slots, and return the wrong values in them."""
        for slot, check in checks.items():
            self._count("slots", check.right, 1)
            if slot in self._scenario.derived:
                self._count("derived", check.right, 1)
            if not check.right:
                self._miss(expected, "state", slot, _shown(expected.state[slot]), _shown(check.seen))
        return {(slot, " ".join(tokens(one))) for slot, check in checks.items() for one in check.wrong}

    def _targets(
        self,
        expected: Expectation,
        checks: Mapping[str, SlotCheck],
        earlier: Mapping[str, SlotCheck],
        kind: str | None,
    ) -> list[str]:
        """Return the slots that were changed and should not have been, or the other way round."""
        reasons, due, done = [], 0, 0
        for slot, check in checks.items():
            before, moved = earlier[slot], check.form != earlier[slot].form
            stays = slot in self._gold and expected.state[slot] == self._gold[slot]
            stays = stays or (slot not in self._gold and expected.state[slot] is None)
            if kind == "keep" and moved:
                reasons.append(f"a question changed {slot}")
            if kind != "keep" and stays and before.right and not check.right:
                reasons.append(f"wrong target: {slot}")
            if kind == "change" and not stays:
                due, done = due + 1, done + moved
                if not check.right and not moved and before.seen:
                    reasons.append(f"missed target: {slot}")
        if due and not done:
            reasons.append("nothing was changed that should be")
        return reasons

    def _absent(self, expected: Expectation, played: Played) -> set[tuple[str, str]]:
        hits = absent_hits(expected.absent, played.state)
        for value, key in hits:
            self._miss(expected, "absent", key, f"nowhere {value}", _shown(played.state[key]))
        return {("", value) for value, _ in hits}

    def _reply(self, expected: Expectation, played: Played) -> list[str]:
        """Judge the reply, and return what it wrongly gives as current."""
        missing = [group for group in expected.says if not any(is_mentioned(played.reply, one) for one in group)]
        wrong = [
            text
            for text in expected.avoids
            if is_given_as_current(played.reply, text, was_set=any(contains(one, text) for one in self._set))
        ]
        for group in missing:
            self._miss(expected, "reply_contains", "reply", " or ".join(group[:3]), played.reply)
        for text in wrong:
            self._miss(expected, "reply_not", "reply", f"not {text}", played.reply)
        if expected.says or expected.avoids:
            self._count("reply", not missing and not wrong, 1)
        return [f"reply: {text}" for text in wrong]

    def _history(self, expected: Expectation, played: Played) -> None:
        if not expected.history or played.history is None:
            return
        aliases, keys = self._scenario.value_aliases, assign(self._scenario, played.history)
        for slot, gold in expected.history.items():
            held = [_with_current(played, key, aliases) for key in keys.get(slot, ())]
            if not any(same_history(gold, one, aliases) for one in held):
                came = " / ".join(" > ".join(map(_shown, one)) for one in held)
                self._miss(expected, "history", slot, " > ".join(map(_shown, gold)), came)

    def _miss(self, expected: Expectation, kind: str, slot: str, wanted: str, came: str) -> None:
        self.violations.append(_violation(expected, kind, slot, wanted, came))

    def _count(self, name: str, right: int, whole: int, part: str = "ok") -> None:
        self.counts[f"{name}_n"] += whole
        self.counts[f"{name}_{part}"] += right


def _violation(expected: Expectation, kind: str, slot: str, wanted: str, came: str) -> Violation:
    return Violation(turn=expected.after, kind=kind, slot=slot, expected=wanted, came=came or "nothing")


def _with_current(played: Played, key: str, aliases: Mapping[str, Sequence[str]]) -> list[Held]:
    """Return the history of a key with its current value last."""
    seen = list((played.history or {})[key])
    if key in played.state and not ends_with(seen, played.state[key], aliases):
        seen.append(played.state[key])
    return seen


def _coarse(label: str) -> str:
    return {"new": "new", "check": "check", "finalize": "check"}.get(label, "update")


def _kind(labels: Iterable[str]) -> str:
    return "change" if set(labels) & CHANGING else "keep"


def _shown(value: GoldValue | Held | Collection[Held]) -> str:
    if isinstance(value, Collection) and not isinstance(value, str):
        return ", ".join(_shown(one) for one in value) or "nothing"
    return "nothing" if value is None else str(value)
