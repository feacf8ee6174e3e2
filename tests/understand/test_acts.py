"""What a turn does to earlier ones: puts right, takes back, accepts, confirms, quotes, and meets rules."""

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
    "a day that is denied by its number": (
        ["We have a booth at the fair on the 9th of October.", "Oops, I meant the 19th, not the 9th."],
        ["correct planned Nora has booth at the fair [since 19 October 2024]"],
    ),
    "a clock time": (["The ferry leaves at 17:20.", "Make that 17:50."], ["correct ferry leave_at 17:50"]),
    "a price keeps its currency": (
        ["The kayak cost 300 euros.", "I misremembered the kayak, it was 350."],
        ["correct kayak costs 350 euros"],
    ),
    "a spelling": (
        ["The tailor is called Jonson.", "Correction, it's Johnson, with an h."],
        ["correct tailor is_called Johnson"],
    ),
    "a starred word": (["The tailor is called Jonson.", "*Johnson"], ["correct tailor is_called Johnson"]),
    "part of a phrase": (
        ["We painted the blue shed.", "I said blue but I meant green."],
        ["withdraw Nora paint blue shed", "correct Nora paint green shed"],
    ),
    "two who were taken for each other": (
        ["Liv plays the harp and Odd plays the horn.", "I got Liv and Odd the wrong way round."],
        [
            "withdraw Liv plays harp",
            "correct Odd plays harp",
            "withdraw Odd plays horn",
            "correct Liv plays horn",
        ],
    ),
    "it is another one who": (
        ["Liv is allergic to wool.", "I mixed up my cousins: it's Max who is allergic to wool."],
        ["withdraw Liv allergic_to wool", "correct Max allergic_to wool"],
    ),
    "a noun before the value": (["My gym is Fitzone.", "Wrong gym: it's Corework."], ["correct Nora gym Corework"]),
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


def test_an_event_that_never_was_takes_its_claims_along(said: SimpleNamespace, parser: Parser) -> None:
    """ "We never sold it" takes back the sale."""
    found = said.claims_of("We sold the mill in March.", "The bank said no, we never sold the mill.", parser=parser)
    assert "withdraw Nora sells mill [March 2024]" in found


ANSWERED: dict[str, tuple[Said, list[str]]] = {
    "accepts": (
        ["Our cat was born in 2018.", ("Odd", "No Nora, in 2019."), "You're right, 2019."],
        ["correct Nora's cat born_on 2019 [2019]"],
    ),
    "accepts by name": (
        ["The gate code is 4711.", ("Odd", "It's 4117 actually."), "Odd is right."],
        ["correct Nora gate_code 4117"],
    ),
    "contradicts": ([("Odd", "The museum opens at 10:00."), "No Odd, at 11:00."], ["museum open_at 11:00"]),
    "confirms with the value": (
        [("Odd", "The toll is 7 euros."), "7 euros for the toll, same here."],
        ["toll costs 7 euros"],
    ),
    "confirms with a nod": ([("Odd", "The museum opens at 10:00."), "I can confirm that."], ["museum open_at 10:00"]),
    "repeats": ([("Odd", "The tram takes 20 minutes."), "20 minutes."], ["tram take 20 minutes"]),
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
    "a bare value": (
        ["Our mill was built in 1911.", "The deed says 1908, though."],
        "Nora's mill be_built_in 1908 [1908]",
        "deed",
    ),
    "according to": (["According to the poster the gala starts at 19:00."], "gala start_at 19:00", "poster"),
    "what stands on it": (["The gala starts at 19:00.", "I have 19:30 on my ticket."], "gala start_at 19:30", "ticket"),
    "what was found": (
        ["Found my vaccination card. It says my last rabies shot was in 2017."],
        "Nora's last rabies shot be_in 2017 [2017]",
        "vaccination card",
    ),
    "somebody asked": (
        ["The gala starts at 19:00.", "Checked with Liv, who runs it: 19:15."],
        "correct gala start_at 19:15",
        "Liv",
    ),
}


@pytest.mark.parametrize(("turns", "claim", "source"), QUOTED.values(), ids=QUOTED.keys())
def test_what_is_quoted_carries_its_source(
    turns: Said, claim: str, source: str, said: SimpleNamespace, parser: Parser
) -> None:
    """The source is called as the memory calls it."""
    found = {said.short([claim])[0]: claim.source for claim in said.after(*turns, parser=parser)[2].claims}
    assert found.get(claim) == source


def test_a_source_that_is_called_wrong_gives_way(said: SimpleNamespace, parser: Parser) -> None:
    """What another source says of the same thing takes the place of its word."""
    turns = [("Helper", "Your calendar has the gala at 18:00."), "The invitation says the gala is at 19:00."]
    found = said.after(*turns, "The calendar entry is stale.", parser=parser)[2].claims
    assert said.short(found) == ["correct gala be_at 19:00"]
    assert found[0].replaces == "18:00"


MET: dict[str, tuple[Said, str]] = {
    "by a verb of its class": (
        ["Liv can do karate or rugby this year, not both.", "She signed up for karate."],
        "Liv does karate [2024]",
    ),
    "by the weather": (["If it rains, we play inside.", "It's pouring."], "it rain "),
    "by a noun with less said": (
        ["If Liv passes her sailing exam, we buy a boat.", "Liv passed the exam!"],
        "Liv passes sailing exam",
    ),
    "by what was told somebody": (
        ["I'm only going to the gala if Odd goes.", "I've told the hostess I'm coming."],
        "Nora go_to gala",
    ),
    "by a class": (["Every volunteer gets a badge.", "Liv has signed up as a volunteer."], "Liv is_a volunteer"),
    "by what does not come": (
        ["I'm buying the loom only if the bonus comes through.", "No bonus this year."],
        "not bonus come_through ",
    ),
}


@pytest.mark.parametrize(("turns", "expected"), MET.values(), ids=MET.keys())
def test_a_claim_is_told_in_the_words_of_the_rule_it_meets(
    turns: Said, expected: str, said: SimpleNamespace, parser: Parser
) -> None:
    """Facts and rules join by what they say, so they have to say it alike."""
    assert expected in said.claims_of(*turns, parser=parser)


def test_without_rules_no_claim_is_told_twice(said: SimpleNamespace, parser: Parser) -> None:
    """The words of rules are taken only where a rule waits for them."""
    assert said.claims_of("Liv signed up for karate.", parser=parser) == ["Liv sign_up_for karate"]


GIVEN_UP: dict[str, tuple[str, int]] = {
    "by its topic": ("Forget that rule about the rain.", 0),
    "as over": ("The dessert rule no longer holds.", 1),
    "the last one": ("Our deal is off.", 1),
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
