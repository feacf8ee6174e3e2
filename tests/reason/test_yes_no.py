"""Yes and no need a fact of what is asked, and of whom it is asked: one of something near says neither."""

import pytest

from doxa import Doxa


@pytest.fixture(scope="module")
def doxa():
    with Doxa.open(":memory:") as doxa:
        yield doxa


@pytest.mark.parametrize(
    ("said", "asked", "value"),
    [
        ("I'm allergic to penicillin.", "Am I allergic to cats?", None),
        ("I'm allergic to penicillin.", "Am I allergic to penicillin?", "yes"),
        ("I'm allergic to penicillin.", "Am I allergic to anything?", "yes"),
        ("I'm afraid of heights.", "Am I afraid of spiders?", None),
        ("My wife likes olives.", "Do I like olives?", None),
        ("My wife likes olives.", "Does my wife like olives?", "yes"),
        ("My daughter has diabetes.", "Do I have diabetes?", None),
        ("My brother smokes.", "Do I smoke?", None),
        ("My brother smokes.", "Does my brother smoke?", "yes"),
        ("My brother's daughter weighs seven pounds.", "Do I have a daughter?", None),
        ("I have two pensions.", "Do I have any debts?", None),
        ("I live in Oslo.", "Do I live in Rome?", "no"),
        ("I don't ski.", "Don't I ski?", "no"),
        ("I ski.", "Don't I ski?", "yes"),
    ],
)
def test_what_is_near_says_neither(doxa, said, asked, value):
    chat = doxa.dialogue(user=f"{said} {asked}", speaker="Ana")
    chat.absorb(said)
    chat.flush()
    reply = chat.ask(asked)
    assert (reply.value if reply.value in ("yes", "no") else None) == value
