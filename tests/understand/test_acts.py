"""What a turn does to earlier ones: puts right, takes back, accepts, confirms and quotes."""

from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser
from doxa.memory import rule_id

Said = list[str | tuple[str, str]]

CORRECTED: dict[str, tuple[Said, list[str]]] = {
    "a day in its month": (
        ["The fair is on the 3rd of September.", "Sorry, I meant the 13th."],
        ["correct planned fair be_on 13 September 2024 [since 13 September 2024]"],
    ),
    "a clock time": (["The ferry leaves at 17:20.", "Make that 17:50."], ["correct ferry leave_at 17:50"]),
    "a price keeps its currency": (["The kayak cost 300 euros.", "No wait, 350."], ["correct kayak costs 350 euros"]),
    "one of several values": (
        ["Olga lives in Linz with Anton.", "Sorry, I meant Wels, not Linz."],
        ["correct Olga lives_in Wels", "Olga lives_with Anton"],
    ),
    "an apology is no correction": (
        ["I live in Graz.", "Sorry for the delay, I moved to Linz."],
        ["Nora lives_in Linz"],
    ),
    "a question is no correction": (["The fair is in Linz.", "Wasn't it Graz?"], []),
}


@pytest.mark.parametrize(("turns", "expected"), CORRECTED.values(), ids=CORRECTED.keys())
def test_a_slip_is_put_right_where_it_was_made(
    turns: Said, expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    """The month, the unit and the noun that the new value leaves out are those of the old one."""
    assert said.claims_of(*turns, parser=parser) == expected


TAKEN_BACK: dict[str, tuple[Said, list[str]]] = {
    "by a noun": (
        ["My locker code is 4410.", "You can delete the locker code I gave you."],
        ["withdraw Nora locker_code 4410"],
    ),
    "by a noun alone": (
        ["My locker code is 4410.", "Please delete the locker code."],
        ["withdraw Nora locker_code 4410"],
    ),
    "a joke about it": (["We bought a lighthouse.", "The lighthouse was a joke."], ["withdraw Nora has lighthouse"]),
    "made up": (["I ran a marathon.", "I made that up."], ["withdraw Nora runs marathon"]),
    "of no effect": (["Liv lives in Oslo.", "Don't take my word for Liv."], ["withdraw Liv lives_in Oslo"]),
    "what another said stays": ([("Odd", "The pool is in Linz."), "Forget what I said about the pool."], []),
    "delete is a verb like others": (["Delete the app from the phone."], []),
}


@pytest.mark.parametrize(("turns", "expected"), TAKEN_BACK.values(), ids=TAKEN_BACK.keys())
def test_only_what_the_speaker_said_is_taken_back(
    turns: Said, expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    """What is meant follows from the words of the topic."""
    found = said.claims_of(*turns, parser=parser)
    assert [claim for claim in found if claim.startswith("withdraw")] == expected


ANSWERED: dict[str, tuple[Said, list[str]]] = {
    "confirms with the value": (
        [("Odd", "The toll is 7 euros."), "7 euros for the toll, same here."],
        ["toll costs 7 euros"],
    ),
    "after an echo": ([("Odd", "The talk is in room 4."), "The talk? That's in room 6."], ["talk located_in room 6"]),
    "a bare name says nothing": ([("Odd", "The museum opens at 10:00."), "Bosch."], []),
}


@pytest.mark.parametrize(("turns", "expected"), ANSWERED.values(), ids=ANSWERED.keys())
def test_an_answer_takes_up_what_another_said(
    turns: Said, expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    """Subject and relation are those of the claim that is answered."""
    assert said.claims_of(*turns, parser=parser) == expected


QUOTED: dict[str, tuple[Said, str, str]] = {
    "a relative": (["Dad says our mill was built in 1911."], "Nora's mill be_built_in 1911 [1911]", "Nora's father"),
    "a document": (
        ["The survey report says our mill was built in 1911."],
        "Nora's mill be_built_in 1911 [1911]",
        "survey report",
    ),
}


@pytest.mark.parametrize(("turns", "claim", "source"), QUOTED.values(), ids=QUOTED.keys())
def test_what_is_quoted_carries_its_source(
    turns: Said, claim: str, source: str, said: SimpleNamespace, parser: Parser
) -> None:
    """The source is called as the memory calls it."""
    found = {said.short([claim])[0]: claim.source for claim in said.after(*turns, parser=parser)[2].claims}
    assert found.get(claim) == source


GIVEN_UP: dict[str, tuple[str, int]] = {
    "by its topic": ("Forget that rule about the rain.", 0),
    "by what was said": ("Forget what I said about the rain.", 0),
}


@pytest.mark.parametrize(("text", "place"), GIVEN_UP.values(), ids=GIVEN_UP.keys())
def test_a_rule_is_given_up_in_words(text: str, place: int, said: SimpleNamespace, parser: Parser) -> None:
    """The turn names the rules by their ids; the engine lets them go."""
    rules = ["If it rains, we play inside.", "If Liv cooks, we skip dessert."]
    _, beliefs, understanding = said.after(*rules, text, parser=parser)
    assert understanding.withdrawn_rules == (rule_id(beliefs.rules[place]),)
    assert not understanding.claims


@pytest.mark.parametrize("text", ["The rule is that nobody smokes.", "We skip dessert now.", "Forget the keys."])
def test_what_gives_up_no_rule(text: str, said: SimpleNamespace, parser: Parser) -> None:
    """To speak of rules, or of what they are about, leaves them as they are."""
    assert said.after("If Liv cooks, we skip dessert.", text, parser=parser)[2].withdrawn_rules == ()
