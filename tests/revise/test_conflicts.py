"""What is a conflict and what is none: the examples of D-SMART's prompt for conflicts, figures 9 and 10."""

from __future__ import annotations

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.values import Status

Turns = list[str]
MONTHS = ("2024-01-10", "2024-03-10", "2024-05-10")


def held(turns: Turns, *, same_day: bool = False) -> tuple[set[str], set[str]]:
    """Return what is held and what is not, in words, after some turns in different months."""
    config = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
    with Doxa.open(":memory:", config=config) as doxa:
        chat, memory = doxa.dialogue(user="Ana"), doxa.memory(user="Ana")
        for text, day in zip(turns, MONTHS[:1] * 3 if same_day else MONTHS, strict=False):
            chat.absorb(text, at=day)
        chat.flush()
        facts = memory.facts(current=False)
        told = {True: set(), False: set()}  # type: ignore[var-annotated]
        for fact in facts:
            told[fact.status is Status.HELD and not fact.disputed].add(f"{fact.relation} {fact.object}")
        return told[True], told[False]


@pytest.mark.parametrize(
    ("turns", "both"),
    [
        (["I like tea.", "I like coffee."], {"likes tea", "likes coffee"}),
        (["My son is Tom.", "My son is Ben."], {"son Tom", "son Ben"}),
        (["I play chess.", "I play tennis."], {"plays chess", "plays tennis"}),
        (["I work at Siemens.", "I also work at Bosch."], {"works at Siemens", "works at Bosch"}),
        (["I work at Siemens.", "I work at Bosch on Fridays."], {"works at Siemens", "works at Bosch"}),
        (["I work at Siemens. I work at Bosch."], {"works at Siemens", "works at Bosch"}),
        (["I live in Bonn. I live in Porto."], {"lives in Bonn", "lives in Porto"}),
        (["My phone number is 0171 111. My work phone number is 0171 222."],
         {"phone number 0171 111", "work phone number 0171 222"}),
        (["My address is 5 Elm Road.", "My holiday address is 7 Sea Lane."],
         {"lives at 5 Elm Road", "holiday address 7 Sea Lane"}),
        (["My car is a Fiat.", "My second car is a Volvo."], {"car Fiat", "second car Volvo"}),
        (["I live in Bonn.", "My sister lives in Rome."], {"lives in Bonn", "lives in Rome"}),
        (["My rent is 920 euros a month.", "I sold the car, a student paid 3,200 euros for it."],
         {"costs 920 euros a month"}),
    ],
)  # fmt: skip
def test_what_does_not_contradict_leaves_all_as_it_was(turns: Turns, both: set[str]) -> None:
    """Multiple values of what has several, additions, other subjects, other things with a price."""
    now, gone = held(turns)
    assert both <= now
    assert not both & gone


@pytest.mark.parametrize(
    ("turns", "now", "gone"),
    [
        (["My wife is Eva.", "My wife is Ida."], "wife Ida", "wife Eva"),
        (["Ben is alive.", "Ben has died."], None, "is alive"),
        (["My passport number is 111.", "My passport number is 222."], "passport number 222", "passport number 111"),
        (["I work at Siemens.", "I work at Bosch now."], "works at Bosch", "works at Siemens"),
        (["I live in Bonn.", "I moved to Porto."], "lives in Porto", "lives in Bonn"),
    ],
)
def test_what_does_is_settled(turns: Turns, now: str | None, gone: str) -> None:
    """One value at a time, opposite states, and news of what has one value as a rule."""
    held_now, not_held = held(turns)
    assert now is None or now in held_now
    assert gone in not_held
    assert gone not in held_now


def test_two_birth_dates_are_never_both_believed() -> None:
    """What was so from the start has one value whoever says it when."""
    now, _ = held(["I was born on 3 May 1990.", "I was born on 4 May 1990."])
    assert len({one for one in now if "born" in one}) <= 1
