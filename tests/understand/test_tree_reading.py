"""What single turns say by their dependency trees: one row for each construction."""

from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser

CASES: dict[str, tuple[list[str | tuple[str, str]], list[str]]] = {
    "copula": (["My neighbour Olga is a dentist."], ["Nora neighbour Olga", "Olga works_as dentist"]),
    "adjective": (["The kitchen is tiny."], ["kitchen has_state tiny"]),
    "possession": (["Olga has two parrots and a canoe."], ["Olga has two parrots", "Olga has canoe"]),
    "kin in apposition": (["My stepbrother, Anton, plays the cello."], ["Nora stepbrother Anton", "Anton plays cello"]),
    "kin before a name": (["My aunt Vera keeps chickens."], ["Nora aunt Vera", "Vera has chickens"]),
    "employment": (
        ["Anton works at Brightside as an electrician."],
        ["Anton works_at Brightside", "Anton works_as electrician"],
    ),
    "move": (
        ["Anton moved from Graz to Linz in April."],
        ["Anton lives_in Linz [since April 2024]"],
    ),
    "love and hate": (["Olga loves opera but hates musicals."], ["Olga likes opera", "not Olga likes musicals"]),
    "preference": (["Vera prefers trains to planes."], ["Vera prefers trains"]),
    "allergy": (["Anton is allergic to peanuts."], ["Anton allergic_to peanuts"]),
    "ownership": (["Vera owns a bakery."], ["Vera has bakery"]),
    "belonging": (["The red scooter belongs to Anton."], ["red scooter belong_to Anton"]),
    "number with unit": (["The tank holds 60 litres."], ["tank hold 60 litres"]),
    "weight": (["Our puppy weighs 4 kilos."], ["Nora's puppy weighs 4 kilos"]),
    "age": (["Anton is 34 years old."], ["Anton has_age 34"]),
    "birthday": (["Vera's birthday is on 9 October."], ["Vera birthday 9 October"]),
    "birth": (["Anton was born in Graz in 1990."], ["Anton born_in Graz [1990]"]),
    "price": (["The lamp cost 40 euros."], ["lamp costs 40 euros"]),
    "rate": (["My rent is 700 euros a month."], ["Nora's rent costs 700 euros a month"]),
    "opening hours": (["The library opens at 9:00."], ["library open_at 9:00"]),
    "appointment": (
        ["My dentist appointment is on 20 June."],
        ["planned Nora dentist_appointment 20 June 2024 [20 June 2024]"],
    ),
    "denied": (["Anton doesn't eat pork."], ["not Anton eats pork"]),
    "never": (["Vera has never flown a kite."], ["not Vera fly kite"]),
    "going to": (["Olga is going to study law."], ["planned Olga studies law"]),
    "dated plan": (["I will visit Anton on Saturday."], ["planned Nora visits Anton [15 June 2024]"]),
    "wish": (["Vera wants to learn Finnish."], ["desired Vera learns Finnish"]),
    "polite wish": (["I would like to visit Iceland."], ["desired Nora visits Iceland"]),
    "may be": (["Anton might sell his van."], ["possible Anton sells van"]),
    "hedge": (["Perhaps Olga owns a boat."], ["possible Olga has boat"]),
    "unreal": (["If Anton won the lottery, he would buy a castle."], []),
    "obligation": (["I must call the plumber."], []),
    "two subjects": (["Anton and Olga play chess."], ["Anton plays chess", "Olga plays chess"]),
    "three objects": (
        ["Vera grows tomatoes, beans and leeks."],
        ["Vera grow tomatoes", "Vera grow beans", "Vera grow leeks"],
    ),
    "two verbs": (["Anton drives a taxi and plays the harp."], ["Anton drives taxi", "Anton plays harp"]),
    "relative clause": (["Vera, who runs a bakery, rides a motorbike."], ["Vera runs bakery", "Vera ride motorbike"]),
    "whose": (["I met Anton, whose wife repairs clocks."], ["Nora meet Anton", "Anton's wife repair clocks"]),
    "relative object": (["The guitar that Anton bought is broken."], ["Anton has guitar", "guitar has_state broken"]),
    "word about oneself": (["Olga says she plays the harp."], ["Olga plays harp"]),
    "word about another": (["Olga said that Anton drives a taxi."], ["Anton drives taxi"]),
    "used to": (["Vera used to play hockey."], ["ended Vera plays hockey"]),
    "part and whole": (["The cabin has a stove."], ["cabin has stove"]),
    "there is": (["There is a piano in the hall."], ["hall has piano"]),
    "there are": (["There are 12 chairs in the garage."], ["garage has 12 chairs"]),
    "comparison": (["Anton is taller than Vera."], ["Anton taller_than Vera"]),
    "adjective with preposition": (["I am responsible for the budget."], ["Nora be_responsible_for budget"]),
    "fear": (["My sister is afraid of heights."], ["Nora's sister be_afraid_of heights"]),
    "receiver": (
        ["Vera sent Anton a parcel in May."],
        ["Vera send parcel [May 2024]", "Vera send_to Anton [May 2024]"],
    ),
    "neither subject": (
        ["Neither Anton nor Vera drinks coffee."],
        ["not Anton drinks coffee", "not Vera drinks coffee"],
    ),
    "neither object": (["I have neither a car nor a bike."], ["not Nora has car", "not Nora has bike"]),
    "neither does he": (["Vera doesn't own a car, and neither does Anton."], ["not Vera has car"]),
    "height": (["Olga is 1.75 m tall."], ["Olga height 1.75 m"]),
    "material": (["The table is made of oak."], ["table be_made_of oak"]),
    "called": (["I have a parrot called Kiwi."], ["Nora has Kiwi", "parrot is_called Kiwi"]),
    "repaired day": (
        ["The meeting is on Monday, no, on Tuesday."],
        ["planned meeting takes_place_on 18 June 2024 [18 June 2024]"],
    ),
    "counterfactual": (["If I had set an alarm, I would have caught the train."], ["not Nora set alarm"]),
    "he": (["Anton visited me.", "He lives in Linz."], ["Anton lives_in Linz"]),
    "she of kin": (["My aunt Vera came by.", "She sold her bakery."], ["not Vera has bakery", "Vera sells bakery"]),
    "the new one": (
        ["My old phone is broken. The new one is a Pixel."],
        ["Nora's phone has_state broken", "new phone is_a Pixel"],
    ),
    "it": (["I bought a kayak. It is yellow."], ["Nora has kayak", "kayak has_state yellow"]),
    "passive": (["The bridge was built by Anton."], ["bridge be_built_by Anton"]),
    "marriage": (["Anton is married to Olga."], ["Anton married_to Olga"]),
    "reason": (
        ["I sold the van because it was too old."],
        ["not Nora has van", "Nora sells van", "ended van has_state old"],
    ),
    "favourite": (["Olga's favourite singer is Bowie."], ["Olga favourite_singer Bowie"]),
    "started": (["Anton started learning Czech."], ["Anton learns Czech"]),
    "forgot": (["I forgot to lock the shed."], ["not Nora lock shed"]),
    "hope": (["I hope Anton gets the job."], ["desired Anton get job"]),
    "question": (["Does Anton live in Linz?"], []),
    "quoted title": (['My favourite film is "Alien".'], ["Nora favourite_film Alien"]),
    "quoted speech": (['Olga wrote: "I own a castle."'], []),
    "phone": (["Olga's phone number is 0171 555 013."], ["Olga phone_number 0171 555 013"]),
    "since": (["I have played the oboe since 2015."], ["Nora plays oboe [since 2015]"]),
    "both": (["Both Anton and Vera speak Greek."], ["Anton speaks Greek", "Vera speaks Greek"]),
    "instead": (["Vera plays chess instead of cards."], ["Vera plays chess"]),
}
"""The turns, of which a pair names its speaker, and the claims of the last one."""


@pytest.mark.parametrize(("turns", "expected"), CASES.values(), ids=CASES.keys())
def test_a_turn_gives_exactly_these_claims(
    turns: list[str | tuple[str, str]], expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    assert said.claims_of(*turns, parser=parser) == expected


@pytest.mark.parametrize(
    "text",
    [
        'Olga said, "I own a castle."',
        'Olga wrote: "We live in Leeds!"',
        '"I own a castle." Those were her words.',
        '"I own a castle," said Olga.',
        "“I own a castle.”",
    ],
    ids=["said", "written", "before a sentence", "before its source", "curly"],
)
def test_direct_speech_is_no_word_of_the_one_who_quotes_it(text: str, said: SimpleNamespace, parser: Parser) -> None:
    assert said.claims_of(text, parser=parser) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [("Write to olga@example.org", "olga@example.org"), ("I live in leeds", "Leeds")],
    ids=["address", "name"],
)
def test_names_get_their_capital_and_addresses_do_not(
    text: str, words: str, said: SimpleNamespace, parser: Parser
) -> None:
    understood = said.after(f"My contact is {text.split()[-1]}." if "@" in text else text, parser=parser)[2]
    assert [claim.object.label for claim in understood.claims] == [words]
