"""Questions that no single fact answers, asked of memories with what is near and wrong in them."""

import json
import re
from pathlib import Path

import pytest

from doxa import Config, Doxa

WORLDS = [json.loads(line) for line in Path(__file__).with_name("multihop.jsonl").read_text("utf-8").splitlines()]
CASES = [(world["id"], question) for world in WORLDS for question in world["questions"]]
NUMBERS = {"two": "2", "three": "3"}


def told(world_id, **reason):
    """Return the engine, and a dialogue that knows what a world tells."""
    world = next(world for world in WORLDS if world["id"] == world_id)
    doxa = Doxa.open(":memory:", config=Config.from_tree({"reason": reason, "grader": {"name": "none"}}))
    chat = doxa.dialogue(user=world["user"].casefold(), speaker=world["user"])
    for day, text in world["turns"]:
        chat.absorb(text, at=day)
    chat.flush()
    return doxa, chat


@pytest.fixture(scope="module")
def chats():
    opened = {world["id"]: told(world["id"]) for world in WORLDS}
    yield {name: chat for name, (_, chat) in opened.items()}
    for doxa, _ in opened.values():
        doxa.close()


def names(reply, value):
    said, wanted = (f"{text}".casefold() for text in (reply.value, value))
    return bool(re.search(rf"\b{re.escape(wanted)}\b", said)) or NUMBERS.get(said, said) == NUMBERS.get(wanted, wanted)


def tree_of(reply):
    return next(step.detail for step in reply.trace.steps if step.name == "reason").get("tree")


@pytest.mark.parametrize(("world", "case"), CASES, ids=[case["ask"] for _, case in CASES])
def test_answers_over_several_facts(world, case, chats):
    """What follows is answered and cited; what does not is not; no superseded or neighbouring value is given."""
    reply = chats[world].ask(case["ask"])
    accepted = case["answer"]
    if not accepted or (reply.abstained and "unknown" in accepted):
        assert reply.abstained, reply.text
        return
    if accepted == ["?"]:
        assert reply.disputed or "?" in reply.text
        return
    assert reply.citations
    if case["kind"] == "path":
        assert all(tie in reply.value for tie in accepted[0].split(", ")), reply.value
        return
    assert any(names(reply, value) for value in accepted), reply.text
    assert not any(names(reply, value) for value in case.get("trap", ())), reply.text


def test_every_link_of_an_answer_is_cited(chats):
    """The turn that says where Leo works is cited beside the one that says where his company is."""
    reply = chats["firm"].ask("In which city is the company based where Leo works?")
    assert [citation.text for citation in reply.citations] == [
        "Bosch is based in Stuttgart.",
        "Leo left Siemens and now works at Bosch.",
    ]
    assert "Leo works at Bosch." in reply.text


def test_an_earlier_state_of_knowledge_gives_another_chain(chats):
    """What was known in May leads from Leo to Siemens."""
    reply = chats["firm"].ask("In which city is the company based where Leo works?", known_at="2024-05-01")
    assert reply.value == "Munich"


def test_the_trace_tells_the_whole_search(chats):
    """Every state has its parent, its worth by both measures, and the ids of what it rests on."""
    reply = chats["firm"].ask("What does the man my sister lives with play?")
    tree = tree_of(reply)
    states = tree["states"]
    assert [state["id"] for state in states] == list(range(len(states)))
    assert all({"parent", "action", "p", "log_p"} <= state.keys() for state in states[1:])
    assert states[tree["best"]]["answer"] == "cello"
    recalled = [state for state in states if state.get("do") == "recall"]
    assert all(state["facts"] and state["turns"] for state in recalled if state["standing"] != "merged")
    assert tree["stopped_because"]
    assert len(json.dumps(tree)) < 4096


def test_a_plain_question_is_not_searched_for(chats):
    """Facts answer it as it stands, so no state is made."""
    for text in ("Where does Mia live?", "Where does my boss's sister live?", "Who is Leo's wife?"):
        assert tree_of(chats["firm"].ask(text)) is None


def test_both_orders_give_the_same_answers():
    """Best-first looks at the states in another order and comes to the same answers."""
    world = next(world for world in WORLDS if world["id"] == "firm")
    doxa, chat = told("firm", order="best-first", expansions=50)
    wide, other = told("firm", expansions=50)
    with doxa, wide:
        for case in world["questions"]:
            assert chat.ask(case["ask"]).value == other.ask(case["ask"]).value


def test_the_search_keeps_its_budget():
    """One expansion is all that is spent where one is allowed; without a tree there is no search."""
    doxa, chat = told("firm", expansions=1)
    with doxa:
        tree = tree_of(chat.ask("In which city is the company based where Leo works?"))
        assert tree["expanded"] == 1
        assert tree["stopped_because"] == "the expansions were used up"
    doxa, chat = told("firm", tree=False)
    with doxa:
        assert tree_of(chat.ask("In which city is the company based where Leo works?")) is None


def test_a_correction_changes_the_chain():
    """After a correction the chain goes another way, and the old end is not cited."""
    doxa, chat = told("firm")
    with doxa:
        chat.absorb("Sorry, Bosch is based in Gerlingen.", at="2024-09-01")
        chat.flush()
        reply = chat.ask("In which city is the company based where Leo works?")
        assert reply.value == "Gerlingen"
        assert all("Stuttgart" not in citation.text for citation in reply.citations)


def test_who_is_only_described_is_asked_on_by_name():
    """The one who cuts the hair is called by her name in what is said later."""
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ina", speaker="Ina")
        for said in ("The woman who walks my dog is called Jette.", "Jette plays the harp."):
            chat.absorb(said)
        chat.flush()
        assert "harp" in f"{chat.ask('What does the woman who walks my dog play?').value}"
