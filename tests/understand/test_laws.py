"""Whatever is said, understanding gives values and never an error."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from doxa.memory import Beliefs
from doxa.understand import read_question, understand

WORDS = (
    "I you my the a Ada Ada's sister is are was not live work in at to for since 2019 on 3 May , . ? ! ; : and but if "
    "never sorry meant no wait forget that said about who where when what how many much do does did have has been "
    "going moved called like 780 euros yesterday it she he \" ' ( )".split()
)
texts = st.one_of(st.text(max_size=400), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))


@given(first=texts, second=texts)
def test_any_text_is_understood_without_an_error_and_the_same_way_twice(
    first: str, second: str, said: SimpleNamespace
) -> None:
    turns = [said.turn(first, speaker="Helper"), said.turn("I live in Graz. I like tea.", number=2)]
    _, beliefs, _ = said.after("I live in Graz. I have an eye test on 20 June.")
    turn = said.turn(second, number=3)
    one = understand(turn, turns, beliefs)
    assert one == understand(turn, turns, beliefs)
    assert all(claim.subject.key and claim.object.key and claim.turn_id == "t3" for claim in one.claims)


@given(text=texts)
def test_any_question_is_read(text: str, said: SimpleNamespace) -> None:
    asked = read_question(text, asker="Nora", at=said.AT, context=[], beliefs=Beliefs())
    assert asked.text is not None and "Qhole" not in f"{asked.subject} {asked.object}"


def test_a_very_long_turn_is_read_in_part(said: SimpleNamespace) -> None:
    text = "I live in Graz. " + "and so on and so forth " * 2000
    assert said.claims_of(text) == ["Nora lives_in Graz"]
