"""Contradictions that nothing decides, put to the user or told to the model."""

import pytest

from .conftest import MODES, accept, decline

BIRTHDAYS = ("My birthday is on 3 May.", "My birthday is on 4 June.")


@pytest.fixture(scope="module")
def policy():
    """No contradiction decides itself."""
    return "ask"


async def told(host, *texts):
    return [await host.call("remember", text=text, when="2024-03-01") for text in texts]


@MODES
def test_a_contradiction_is_put_to_the_user_who_decides_it(play, doxa, mode):
    """The user is asked once, the turn is stored once, and what they choose is believed."""

    async def test(host):
        await told(host, BIRTHDAYS[0])
        (out,) = await told(host, BIRTHDAYS[1])
        assert out["decided"] == "Ana's birthday is 4 June" and out["contradictions"] == []
        assert len(host.asked) == 1 and "Which is right" in host.asked[0]

    play(test, mode, answer=accept(choice="Ana's birthday is 4 June"))
    memory = doxa.memory(user="ana")
    assert [memory.describe(fact) for fact in memory.facts()] == ["Ana's birthday is 4 June"]
    assert len(memory.turns()) == 2


@MODES
@pytest.mark.parametrize("answer", [decline, accept(choice="Leave it open")], ids=["declined", "open"])
def test_a_contradiction_that_the_user_leaves_open_stays(play, doxa, mode, answer):
    """Who does not decide loses nothing."""

    async def test(host):
        *_, out = await told(host, *BIRTHDAYS)
        assert len(out["contradictions"]) == 1 and "open" in out["decided"]

    play(test, mode, answer=answer)
    assert len(doxa.memory(user="ana").facts()) == 2


@MODES
def test_an_answer_that_fits_no_question_decides_nothing(play, doxa, mode):
    """A client that makes up a choice is told so."""

    async def test(host):
        await told(host, BIRTHDAYS[0])
        assert "does not fit" in await host.fails("remember", text=BIRTHDAYS[1])

    play(test, mode, answer=accept(choice="Ana's birthday is 5 July"))
    assert len(doxa.memory(user="ana").facts()) == 2


@MODES
def test_without_a_way_to_ask_a_contradiction_is_told_and_decided_by_id(play, doxa, mode):
    """A client that cannot ask gets question and ids, for the model to ask."""

    async def test(host):
        *_, out = await told(host, *BIRTHDAYS)
        (dispute,) = out["contradictions"]
        assert dispute["question"].startswith("Which is right")
        right = dispute["facts"][1]
        assert right["id"] in await host.fails("correct", action="decide")
        assert "part of no contradiction" in await host.fails("correct", action="decide", id="f_none")
        done = await host.call("correct", action="decide", id=right["id"])
        assert done["decided"] == right["text"]
        assert "no contradiction" in await host.fails("correct", action="decide", id=right["id"])

    play(test, mode)
    assert len(doxa.memory(user="ana").facts()) == 1


@MODES
def test_decide_without_an_id_asks_the_user(play, doxa, mode):
    """What was left open can be decided later."""
    for text in BIRTHDAYS:
        doxa.dialogue(user="ana").absorb(text)

    async def test(host):
        assert (await host.call("correct", action="decide"))["decided"] == "Ana's birthday is 3 May"

    play(test, mode, answer=accept(choice="Ana's birthday is 3 May"))
    assert doxa.memory(user="ana").disputes() == []
