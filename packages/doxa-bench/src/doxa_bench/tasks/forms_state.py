"""A form, told to several systems -> which of its slots each had right after every turn.

A slot is right when the system holds the last value that was given, and no earlier one, under a name that fits the
field; all fields so far are judged after every turn, by the rules of the scenarios (`scoring`). The reply to the
closing turn has to have every value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from doxa.core.config import Config
from doxa_bench.metrics import ratio
from doxa_bench.tasks.baselines import BASELINES
from doxa_bench.tasks.scenarios import Expectation, Scenario
from doxa_bench.tasks.scoring import ScenarioScore, score
from doxa_bench.tasks.systems import OURS, SYSTEMS, System

__all__ = ["STATEFUL", "FormState", "expected", "form_scenario", "measure_states"]

Opens = Callable[[Config, int], AbstractContextManager[System]]
STATEFUL: Mapping[str, Opens] = {name: SYSTEMS[name] for name in (OURS, "flat-history", *BASELINES)}
"""The systems whose states are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormState:
    """What one system held of a form."""

    scored: ScenarioScore
    fields: Sequence[int]
    """Of each turn, how many fields there were."""
    tokens: Sequence[int]
    """Of each turn, those of the prompt."""

    def to_dict(self) -> dict[str, Any]:
        """Return the slots that were right, in all and by turn, and what was made up."""
        counts = self.scored.counts
        missed = [one.turn for one in self.scored.violations if one.kind == "state"]
        return {
            "rounds": len(self.fields),
            "slots": ratio(counts["slots_ok"], counts["slots_n"]),
            "slots_ok": counts["slots_ok"],
            "slots_n": counts["slots_n"],
            "by_round": [[n - missed.count(turn), n] for turn, n in enumerate(self.fields, start=1)],
            "hallucinations": counts["hallucinations"],
            "closing_reply": bool(counts["reply_ok"]),
            "tokens": sum(self.tokens),
            "wrong": [
                {"round": one.turn, "slot": one.slot, "expected": one.expected, "came": one.came}
                for one in self.scored.violations
            ],
        }


def expected(after: int, current: Mapping[str, str], *, says: bool = False) -> Expectation:
    """Return what is right after a turn: every field with its value, with `says` in the reply too."""
    return Expectation(
        after=after,
        intents=(),
        every=(),
        state=dict(current),
        absent=(),
        says=tuple((value,) for value in current.values()) if says else (),
        avoids=(),
        history={},
    )


def form_scenario(turns: Sequence[str], expect: Mapping[int, Expectation]) -> Scenario:
    """Return a scenario of the turns of a form."""
    return Scenario(
        id="form-state",
        domain="form",
        turns=tuple(turns),
        expect=expect,
        slot_aliases={},
        value_aliases={},
        loose=frozenset(),
        other_slots=(),
        derived=frozenset(),
        ops=(),
    )


def measure_states(
    scenario: Scenario,
    systems: Mapping[str, Opens],
    config: Config,
    seed: int,
    tell: Callable[[str, int, int], None],
) -> tuple[dict[str, FormState], dict[str, str | None]]:
    """Return the state of every system, and the models that took part, by role."""
    states: dict[str, FormState] = {}
    models: dict[str, str | None] = {}
    fields = [len(scenario.expect[turn].state) for turn in range(1, len(scenario.turns) + 1)]
    for done, (name, open_system) in enumerate(systems.items()):
        tell(f"state of {name}", done, len(systems))
        with open_system(config, seed) as system:
            models |= system.models
            played = system.play(scenario)
        tokens = [one.tokens for one in played]
        states[name] = FormState(scored=score(scenario, played), fields=fields, tokens=tokens)
    return states, models
