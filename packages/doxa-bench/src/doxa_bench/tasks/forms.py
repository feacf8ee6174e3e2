"""Filling in a form, round by round: how many tokens a prompt takes with a linear history and with a task memory.

The first six rounds are those of the paper: an opening, name, e-mail, address, a corrected name, "repeat, then submit".
Longer forms go on in the same way: three new fields, one correction. Every length is closed by the last round, whose
prompt has to hold all fields. Values are drawn from a seed; only the first six rounds are fixed.

A saving is worth nothing if what is needed was left out. So it is counted as well how many of the current values stand
in the closing prompt, and how many superseded ones do. And the state itself is scored (`forms_state`): which slots are
right after each turn of a form, in our memory, in a linear history and, where a language model is configured, in the
conversations of the baselines that ask it.

Source: Task Memory Engine, section 6.2 and appendix A: 725 tokens against 899 over six rounds, 19.4% saved.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from doxa.core.config import Config
from doxa_bench.record import environment
from doxa_bench.tasks.forms_state import STATEFUL, FormState, expected, form_scenario, measure_states
from doxa_bench.tasks.prompts import TOKENIZER, history_tokens, memory_tokens
from doxa_bench.tasks.scenarios import Expectation, Scenario
from doxa_bench.tasks.systems import OURS, Memory, Tasks, opened
from doxa_bench.tasks.table import chosen
from doxa_bench.tasks.values import contains

__all__ = ["CLOSING", "FormsReport", "Round", "Saving", "form", "run_forms"]

OPENING = "Help me fill out a form, I will provide some of my information to you."
CLOSING = "Help to repeat my information, then submit."
FIRST = (("name", "John Doe"), ("email", "john@example.com"), ("address", "Market Street, San Francisco"))
CORRECTED = "John Smith"
EVERY = 4
"""One round in so many corrects a field."""
PAPER_ROUNDS = 6
PAPER = {"flat": 899, "ours": 725, "saving": 1 - 725 / 899}
SHOWN = (6, 10, 20, 50, 100)
"""Lengths whose totals are reported."""
STATE_ROUNDS = 20
"""Rounds of the form whose states are scored: a language model is asked twice a round or more."""
BUDGET = 4000
"""Tokens: enough for the longest form, so that nothing is cut."""
OWNERS = [
    f"my {owner}".strip()
    for owner in "|employer's|doctor's|landlord's|sister's|brother's|lawyer's|accountant's|neighbour's".split("|")
]
FIELDS = "phone number|postcode|city|street|email|surname|birthday|passport number|reference number".split("|")
CITIES = "Leeds|Ghent|Porto|Turin|Bergen|Graz|Malmo|Lyon|Bonn|Cork|Split|Vilnius|Tampere|Brno|Utrecht".split("|")
STREETS = "Mill Lane|Station Road|Park Avenue|Church Street|Harbour Way|Oak Drive|Castle Hill|Bridge Street".split("|")
NAMES = "Okafor|Lindqvist|Moreau|Tanaka|Petrov|Silva|Novak|Brandt|Haddad|Kowalski|Rossi|Nguyen|Murphy".split("|")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December".split("|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A turn of the user, the field that it fills in, and its value; both are empty in the first one."""

    text: str
    name: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What a form of so many rounds, the closing one among them, takes in all."""

    rounds: int
    flat: int
    ours: int
    closing: int
    """Of `ours`, the tokens of the closing prompt, which has all fields."""
    held: int
    """Of `fields` current values, how many stand in the closing prompt."""
    fields: int
    stale: int
    """Of `replaced` values that were corrected, how many stand there."""
    replaced: int

    @property
    def saving(self) -> float:
        """The share of the tokens that a task memory saves."""
        return 1 - self.ours / self.flat

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        counts = {"fields": self.fields, "held": self.held, "replaced": self.replaced, "stale": self.stale}
        return {"rounds": self.rounds, "flat": self.flat, "ours": self.ours, "saving": self.saving, **counts}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    seed: int
    six: Sequence[tuple[str, int, int]]
    """Text, tokens of a linear history and of ours in each of the first six rounds."""
    by_round: Sequence[tuple[int, int]]
    """The same tokens in each round of the longest form, without a closing one."""
    savings: Sequence[Saving]
    """By the number of rounds."""
    environment: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str | None] = field(default_factory=dict)
    states: Mapping[str, FormState] = field(default_factory=dict)
    """System -> which slots it had right."""

    def to_dict(self) -> dict[str, Any]:
        """Return the six rounds, the totals by length, the states of every system, and what the paper has."""
        shown = [one for one in self.savings if one.rounds in SHOWN or one is self.savings[-1]]
        return {
            "benchmark": "tasks",
            "set": "forms",
            "seed": self.seed,
            "tokenizer": TOKENIZER,
            "rounds": [
                {"round": number, "text": text, "flat": flat, "ours": ours, "saving": 1 - ours / flat}
                for number, (text, flat, ours) in enumerate(self.six, start=1)
            ],
            "totals": [one.to_dict() for one in shown],
            "states": {name: one.to_dict() for name, one in self.states.items()},
            "paper": PAPER,
            "models": dict(self.models),
            **self.environment,
        }


def form(rounds: int, seed: int = 0) -> list[Round]:
    """Return the rounds of a form but for the closing one. Deterministic.

    Raises:
        ValueError: there are fewer than one.
    """
    if rounds < 1:
        raise ValueError(f"a form of {rounds} rounds; expected at least 1.")
    drawn = random.Random(seed)
    made, open_fields = [Round(text=OPENING)], _fields(drawn)
    current: dict[str, str] = {}
    while len(made) < rounds:
        if len(made) % EVERY == 0:
            name = drawn.choice(sorted(current)) if len(made) > EVERY else FIRST[0][0]
            value = _value(name, drawn, current[name]) if len(made) > EVERY else CORRECTED
            text = f"Sorry, to correct, {_said(name)} is {value}."
        else:
            name, value = next(open_fields)
            text = f"{_capital(_said(name))} is {value}."
        current[name] = value
        made.append(Round(text=text, name=name, value=value))
    return made


def _fields(drawn: random.Random) -> Iterator[tuple[str, str]]:
    """Yield fields and their first values; after those of the paper in a drawn order."""
    yield from FIRST
    names = [f"{owner} {name}" for owner, name in product(OWNERS, FIELDS) if f"{owner} {name}" != "my email"]
    drawn.shuffle(names)
    for name in names:
        yield name, _value(name, drawn, "")


def _said(name: str) -> str:
    return name if name.startswith("my ") else f"my {name}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _value(name: str, drawn: random.Random, before: str) -> str:
    """Return a value that fits the last word of a field, and is another than before."""
    number = drawn.randrange(1000, 10000)
    match name.split()[-1]:
        case "number":
            value = f"555 {number}" if "phone" in name else f"{drawn.choice('ABCDEFGH')}{number}{number % 97:02d}"
        case "postcode":
            value = f"{number}{number % 10}"
        case "city":
            value = drawn.choice(CITIES)
        case "street" | "address":
            value = f"{number % 90 + 1} {drawn.choice(STREETS)}"
        case "email":
            value = f"{drawn.choice(NAMES).lower()}{number % 100}@example.com"
        case "birthday":
            value = f"{number % 28 + 1} {drawn.choice(MONTHS)}"
        case _:
            value = drawn.choice(NAMES)
    return value if value != before else _value(name, drawn, before)


def run_forms(
    *,
    rounds: int = 100,
    seed: int = 0,
    config: Config | None = None,
    systems: Sequence[str] = (),
    progress: Callable[[str, int, int], None] | None = None,
    memory: Callable[[Config], AbstractContextManager[Memory]] = opened,
) -> FormsReport:
    """Return the tokens of forms of up to so many rounds, at least two, and the states of one of them.

    Args:
        rounds: of the longest form, the closing one among them.
        seed: of its values.
        config: the settings; by default those of `doxa.toml` and the environment.
        systems: some of `STATEFUL`, whose states are scored; by default all that the settings allow.
        progress: is told how far the run is.
        memory: makes the memory.

    One form is told; a shorter one is its beginning, closed after the same number of rounds. Deterministic, as far as a
    language model is. The states are those of a form of at most 20 rounds; a baseline that asks a language model makes
    two calls a round or more.

    Raises:
        InputError: there is no such system.
        ConfigError: one of them asks a language model, and none is configured.
        BackendUnavailableError: the model answered none of its first 20 calls.
    """
    settings = Config.load() if config is None else config
    names = chosen(systems, STATEFUL, settings)
    told = form(max(rounds - 1, PAPER_ROUNDS - 1), seed)
    tell = progress or (lambda what, done, total: None)
    with memory(settings) as system:
        found, models = _count(system.tasks("form"), told, tell), system.models
    kinds = {**STATEFUL, OURS: lambda config, seed: memory(config)}
    states, more = measure_states(_scenario(told), {name: kinds[name] for name in names}, settings, seed, tell)
    texts = [*(one.text for one in told[: PAPER_ROUNDS - 1]), CLOSING]
    six = zip(texts, [*found.by_round[: PAPER_ROUNDS - 1], found.closing], strict=True)
    return FormsReport(
        seed=seed,
        six=[(text, flat, ours) for text, (flat, ours) in six],
        by_round=found.by_round,
        savings=found.savings,
        models={**models, **more},
        environment=environment(),
        states=states,
    )


class _Counted(NamedTuple):
    """Tokens of a linear history and of ours."""

    by_round: list[tuple[int, int]]
    closing: tuple[int, int]
    """Of the last of the first six rounds."""
    savings: list[Saving]


def _count(tasks: Tasks, told: Sequence[Round], tell: Callable[[str, int, int], None]) -> _Counted:
    """Tell a form, and count the tokens of each round and of a closing one after it."""
    found = _Counted([], (0, 0), [])
    for number, one in enumerate(told, start=1):
        tell("form", number - 1, len(told))
        tasks.tell(one.text)
        said = [each.text for each in told[:number]]
        ours = memory_tokens(tasks.context(one.text, budget=BUDGET), one.text)
        found.by_round.append((history_tokens(said), ours))
        closed = tasks.context(CLOSING, budget=BUDGET)
        last = (history_tokens([*said, CLOSING]), memory_tokens(closed, CLOSING))
        found = found._replace(closing=last) if number == PAPER_ROUNDS - 1 else found
        found.savings.append(_saving(found.by_round, last, told[:number], closed))
    return found


def _scenario(told: Sequence[Round]) -> Scenario:
    """Return the first rounds of a form and the closing one as a scenario: every field is expected after every turn."""
    told = told[: STATE_ROUNDS - 1]
    current: dict[str, str] = {}
    expect: dict[int, Expectation] = {}
    for number, one in enumerate(told, start=1):
        current |= {one.name.removeprefix("my "): one.value} if one.name else {}
        expect[number] = expected(number, current)
    expect[len(told) + 1] = expected(len(told) + 1, current, says=True)
    return form_scenario([*(one.text for one in told), CLOSING], expect)


def _saving(by_round: Sequence[tuple[int, int]], last: tuple[int, int], told: Sequence[Round], closed: str) -> Saving:
    flat, ours = (sum(column) for column in zip(*by_round, last, strict=True))
    current = {one.name: one.value for one in told if one.name}
    replaced = {one.value for one in told if one.name} - set(current.values())
    return Saving(
        rounds=len(told) + 1,
        flat=flat,
        ours=ours,
        closing=last[1],
        held=sum(contains(closed, value) for value in current.values()),
        fields=len(current),
        stale=sum(contains(closed, value) for value in replaced),
        replaced=len(replaced),
    )
