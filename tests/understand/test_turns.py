"""What single turns say: patterns by construction."""

from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser
from doxa.core.values import Modality
from doxa.memory import Beliefs
from doxa.understand import understand

CASES = {
    "residence": ("I live in Ghent.", ["Nora lives_in Ghent"]),
    "residence since": ("We've lived in Ghent since 2019.", ["Nora lives_in Ghent [since 2019]"]),
    "move": ("I moved to Turin in March.", ["Nora lives_in Turin [since March 2024]"]),
    "planned move": ("I'm moving to Turin on 3 August.", ["planned Nora lives_in Turin [since 3 August 2024]"]),
    "past residence": ("I used to live in Cork.", ["ended Nora lives_in Cork"]),
    "dated past residence": ("From 2010 to 2014 I lived in Oslo.", ["ended Nora lives_in Oslo [from 2010 until 2014]"]),
    "origin": ("I'm from Malaga, but I grew up in Lyon.", ["Nora comes_from Malaga", "Nora grew_up_in Lyon"]),
    "third person": ("Jonas lives in Bern.", ["Jonas lives_in Bern"]),
    "employment": ("I work for Nexora.", ["Nora works_at Nexora"]),
    "occupation": ("I'm a nurse at Saint Luke.", ["Nora works_as nurse", "Nora works_at Saint Luke"]),
    "new job": ("Petra started at Nexora last month.", ["Petra works_at Nexora [since May 2024]"]),
    "left job": ("I left Nexora in April.", ["not Nora works_at Nexora [since April 2024]"]),
    "kin by apposition": ("My brother Emil speaks Danish.", ["Nora brother Emil", "Emil speaks Danish"]),
    "kin by name": ("My daughter is called Ida.", ["Nora daughter Ida"]),
    "kin after name": ("Ida, my daughter, likes chess.", ["Nora daughter Ida", "Ida likes chess"]),
    "relative clause": (
        "My cousin Ole, who lives in Aarhus, works for Nexora.",
        ["Nora cousin Ole", "Ole lives_in Aarhus", "Ole works_at Nexora"],
    ),
    "children": (
        "My children, Ida and Per, love kites.",
        ["Nora child Ida", "Nora child Per", "Ida likes kites", "Per likes kites"],
    ),
    "age": ("Ida is nine years old.", ["Ida has_age 9"]),
    "allergy": ("I'm allergic to shrimp and latex.", ["Nora allergic_to shrimp", "Nora allergic_to latex"]),
    "diet": ("I've been vegan since 2020.", ["Nora follows_diet vegan [since 2020]"]),
    "hate": ("I hate liquorice.", ["not Nora likes liquorice"]),
    "negation": ("I don't like olives.", ["not Nora likes olives"]),
    "no longer": ("I don't drink beer any more.", ["not Nora drinks beer"]),
    "a number with a comma in it": ("The car costs 12,500 euros.", ["car costs 12,500 euros"]),
    "languages": ("I speak Dutch, Thai and Greek.", ["Nora speaks Dutch", "Nora speaks Thai", "Nora speaks Greek"]),
    "favourite": ("My favourite book is Middlemarch.", ["Nora favourite_book Middlemarch"]),
    "price": ("My gym membership is 29 euros a month.", ["Nora's gym membership costs 29 euros a month"]),
    "phone": ("Emil's new phone number is 0171 555 010.", ["Emil phone_number 0171 555 010"]),
    "landlord": ("My landlord is called Herr Voss.", ["Nora landlord Herr Voss"]),
    "birthday": ("Ida's birthday is on 4 July.", ["Ida birthday 4 July"]),
    "appointment": (
        "I have a dentist appointment on 20 June at 8:45.",
        ["planned Nora dentist_appointment 20 June 2024 at 8:45 [20 June 2024]"],
    ),
    "sale": (
        "I sold my scooter on 3 May.",
        ["not Nora has scooter [since 3 May 2024]", "Nora sells scooter [3 May 2024]"],
    ),
    "wish": ("I want a telescope.", ["desired Nora wants telescope"]),
    "hedge": ("Maybe Jonas lives in Bern.", ["possible Jonas lives_in Bern"]),
    "hypothetical": ("If I won a prize, I'd buy a house in Sintra.", []),
    "question": ("Do I live in Porto?", []),
    "small talk": ("Haha, that was great!", []),
    "suggestion": ("You could try the soup.", []),
    "new hobby": ("I started learning Czech last week.", ["Nora learns Czech [since 3 June 2024]"]),
    "joined": ("I joined a choir in May.", ["Nora member_of choir [since May 2024]"]),
    "terse": ("moved to Riga last month", ["Nora lives_in Riga [since May 2024]"]),
    "contrast": (
        "Leo's allergic to cashews but I like cashews.",
        ["Leo allergic_to cashews", "Nora likes cashews"],
    ),
    "the pet": ("The cat is called Miso.", ["Nora cat Miso"]),
    "death": (
        "My uncle died on 2 June.",
        ["Nora's uncle died_on 2 June 2024 [2 June 2024]", "Nora's uncle vital_status dead [since 2 June 2024]"],
    ),
    "order is no fact": ("Fry some garlic and add the beans.", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_a_turn_gives_exactly_these_claims(text: str, expected: list[str], said: SimpleNamespace) -> None:
    assert said.claims_of(text) == expected


def test_a_claim_carries_its_source(said: SimpleNamespace) -> None:
    turns, _, understanding = said.after("Hello. I live in Ghent.")
    claim = understanding.claims[0]
    assert (claim.turn_id, claim.speaker, claim.role, claim.known_at) == ("t1", "Nora", "user", turns[0].at)
    assert claim.span == "I live in Ghent"
    assert claim.functional


def test_a_pronoun_is_the_last_person_that_fits(said: SimpleNamespace) -> None:
    assert said.claims_of("My sister Ada called.", "She lives in Kyiv.") == ["Ada lives_in Kyiv"]


def test_a_pronoun_without_anybody_says_nothing(said: SimpleNamespace) -> None:
    assert said.claims_of("She lives in Kyiv.") == []


def test_a_relative_is_known_by_name_later(said: SimpleNamespace) -> None:
    assert said.claims_of("My sister is called Ada.", "My sister works at Nexora.") == ["Ada works_at Nexora"]


def test_an_unnamed_relative_is_named_after_its_owner(said: SimpleNamespace) -> None:
    assert said.claims_of("My uncle lives in Kyiv.") == ["Nora's uncle lives_in Kyiv"]


def test_the_same_thing_under_a_shorter_name_keeps_its_subject(said: SimpleNamespace) -> None:
    assert said.claims_of("My membership is 20 euros.", "My gym membership is 25 euros.") == [
        "Nora's membership costs 25 euros"
    ]


def test_a_plan_that_moves_keeps_its_place_and_gets_a_new_day(said: SimpleNamespace) -> None:
    claims = said.claims_of("I have an eye test on 20 June at 9:00.", "They moved the eye test to 27 June.", "ok")
    assert claims == []
    moved = said.claims_of("I have an eye test on 20 June at 9:00.", "We moved the eye test to 27 June.")
    assert moved == ["planned Nora eye_test 27 June 2024 at 9:00 [27 June 2024]"]


def test_what_an_assistant_says_is_marked_as_its_word(said: SimpleNamespace) -> None:
    _, _, understanding = said.after(("Helper", "Emil lives in Bern."))
    assert [claim.role for claim in understanding.claims] == ["assistant"]


def test_an_assistant_gives_no_orders_and_no_facts_about_itself(said: SimpleNamespace) -> None:
    assert said.claims_of(("Helper", "Fry the garlic. I have it down: Friday. I love that idea.")) == []


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("Hello!", ("greet",)),
        ("I live in Ghent.", ("inform",)),
        ("Where do I live?", ("ask",)),
        ("I'm moving to Turin on 3 August.", ("inform", "plan")),
        ("Hm.", ("chat",)),
        ("Thanks, that helps.", ("chat",)),
    ],
    ids=["greet", "inform", "ask", "plan", "chat", "thanks"],
)
def test_a_turn_has_its_intents(text: str, intents: tuple[str, ...], said: SimpleNamespace) -> None:
    assert said.after(text)[2].intents == intents


def test_statements_and_questions_are_kept_as_text(said: SimpleNamespace) -> None:
    understanding = said.after("Maybe I have a cold. What helps?")[2]
    assert [(s.text, s.modality) for s in understanding.statements] == [("Maybe I have a cold", Modality.POSSIBLE)]
    assert understanding.questions == ("What helps?",)


def test_understanding_is_deterministic(said: SimpleNamespace, parser: Parser) -> None:
    text = "My brother Emil, who lives in Bern, joined Nexora in May, and I like olives."
    one = understand(said.turn(text), [], Beliefs(), parser)
    assert one == understand(said.turn(text), [], Beliefs(), parser)


@pytest.mark.parametrize(
    ("known", "said_now", "denied"),
    [
        ("My dog is called Rex.", "I don't have a dog any more.", "not Nora dog Rex"),
        ("My cat is called Miso.", "We no longer have a cat.", "not Nora cat Miso"),
        ("My girlfriend is called Ida.", "I don't have a girlfriend any more.", "not Nora girlfriend Ida"),
    ],
    ids=["dog", "cat", "girlfriend"],
)
def test_who_has_none_any_more_does_not_have_the_one_by_name(
    known: str, said_now: str, denied: str, said: SimpleNamespace
) -> None:
    assert denied in said.claims_of(known, said_now)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("We no longer live in Rome.", "not Nora lives_in Rome"),
        ("Leo no longer works at Siemens.", "not Leo works_at Siemens"),
        ("Mia no longer studies law.", "not Mia studies law"),
        ("Tom no longer has a car.", "not Tom has car"),
    ],
    ids=["first person", "-s", "-ies", "has"],
)
def test_no_longer_is_a_denial(text: str, claim: str, said: SimpleNamespace) -> None:
    assert claim in said.claims_of(text)
