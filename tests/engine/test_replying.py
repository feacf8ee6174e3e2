"""What is done with a language model's reply that contradicts the memory."""

import json
from dataclasses import replace

import pytest

from doxa.core.config import Config, EncoderConfig, VerifyConfig
from doxa.core.values import Draft, SentenceVerdict, Verdict
from doxa.engine import Doxa
from doxa.engine.answer.replying import settled
from doxa.engine.asked import Asked

WRONG, RIGHT = Draft(text="You live in Porto.", confidence=0.9), Draft(text="You live in Bonn.", confidence=0.9)


@pytest.fixture(params=["annotate", "repair", "block", "off"])
def told(request):
    """A memory that knows a home, with one mode of the check."""
    config = Config(encoder=EncoderConfig(name="hash"), verify=VerifyConfig(mode=request.param, repairs=2))
    with Doxa.open(":memory:", config=config) as doxa:
        dialogue = doxa.dialogue(user="ana", speaker="Ana")
        dialogue.absorb("I live in Bonn.", at="2024-05-02")
        dialogue.flush()
        yield request.param, doxa


def _settled(doxa, *, again, builtin=RIGHT):
    with doxa.parts.log.user("ana") as state:
        at = state.now()
    asked = Asked(user="ana", text="Where do I live?", speaker="Ana", agent="assistant", session="default", at=at)
    note = {}
    return settled(WRONG, asked, doxa.parts, note, builtin=builtin, again=again), note


def test_a_wrong_reply_is_noted_repaired_held_back_or_let_through(told):
    mode, doxa = told
    why = []

    def again(conflict):
        why.append(conflict)
        return RIGHT

    found, note = _settled(doxa, again=again)
    if mode == "off":
        assert found.draft is WRONG and found.verdict.label == "neutral" and not why
    elif mode == "annotate":
        assert found.draft is WRONG and found.verdict.label == "contradicted" and not why
    elif mode == "repair":
        assert found.draft is RIGHT and found.verdict.repaired == 1 and note["repaired"] == 1
        assert "You live in Porto" in why[0] and "Bonn" in why[0]
    else:
        assert found.draft.abstained and "Bonn" in found.draft.text and "Porto" not in found.draft.text and not why


def test_a_model_that_goes_on_being_wrong_gives_way_to_what_memory_says(told):
    """After as many repairs as are allowed; to a hedge that says what is known where memory has no answer itself."""
    mode, doxa = told
    if mode != "repair":
        return
    tries = []
    found, _ = _settled(doxa, again=lambda conflict: tries.append(conflict) or WRONG)
    assert found.draft is RIGHT and len(tries) == 2
    found, _ = _settled(doxa, again=lambda conflict: WRONG, builtin=Draft(text="I don't know.", abstained=True))
    assert found.draft.abstained and "Bonn" in found.draft.text


def test_the_trace_names_what_contradicts(told):
    mode, doxa = told
    if mode != "annotate":
        return
    found, note = _settled(doxa, again=lambda conflict: WRONG)
    assert note["verdict"] == "contradicted" and set(note["because"]) == set(found.verdict.because)
    assert len(json.dumps(note)) < 1000


def test_an_answer_that_quotes_a_turn_does_not_claim_what_it_says():
    """The reason why somebody moved is told in the words of the turn; nothing speaks against that."""
    with Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        ana = doxa.dialogue(user="ana", speaker="Ana")
        ana.absorb("My sister Mia lives in Porto.", at="2024-03-02")
        ana.absorb("Mia moved to Braga last week because the flat was too expensive.", at="2024-05-02")
        ana.flush()
        reply = ana.ask("Why did Mia move?")
    assert "too expensive" in reply.text
    assert reply.verdict.label != "contradicted"


@pytest.mark.parametrize(("by", "leaves"), [("wording", True), ("nli", True), ("logic", False)])
def test_what_only_words_object_to_is_looked_at_again_and_may_be_said_again(by, leaves, monkeypatch):
    """Facts overrule whoever wrote it; a comparison of words asks once, and lets it go as uncertain."""
    wrong = SentenceVerdict(text=WRONG.text, label="contradicted", kind="statement", reason="so it is", by=by)
    verdict = Verdict(label="contradicted", reason="so it is", sentences=(wrong,))

    def checked(text, *_, **__):
        return verdict if text == WRONG.text else Verdict()

    monkeypatch.setattr("doxa.engine.answer.replying.check_reply", checked)
    config = Config(encoder=EncoderConfig(name="hash"), verify=VerifyConfig(mode="repair", repairs=2))
    why = []
    with Doxa.open(":memory:", config=config) as doxa:
        doxa.dialogue(user="ana", speaker="Ana").absorb("I live in Bonn.")
        doxa.flush()
        found, note = _settled(doxa, again=lambda told: why.append(told) or replace(WRONG))
    assert len(why) == (1 if leaves else 2)
    if leaves:
        assert found.draft.text == WRONG.text and found.verdict.label == "uncertain" and note["stands_by"]
        assert "Look again" in why[0]
    else:
        assert found.draft is RIGHT and "Do not say that again" in why[0]
