import json
from itertools import repeat

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.llm import Completion, Usage
from doxa.backends.seq2seq import Generated
from doxa.commonsense.context import Context, Utterance
from doxa.commonsense.reasoner.comet import CometReasoner
from doxa.commonsense.reasoner.prompted import PromptedReasoner, prompt_version
from doxa.core.background import RELATIONS
from doxa.core.errors import BackendError, BackendUnavailableError

SAID = (("Bo", "Hi Ann."), ("Ann", "I had a bad day."), ("Bo", "What happened?"), ("Ann", "I lost my job  today!"))
LAST = "I had a bad day. What happened? I lost my job today!"


@pytest.fixture
def encoder():
    made = load("encoder", "hash:32")
    yield made
    made.close()


def conversation(*said):
    none = np.empty((0, 32), dtype=np.float32)
    return Context(
        utterances=tuple(Utterance(speaker=speaker, text=text) for speaker, text in said),
        vector=np.zeros(32, dtype=np.float32),
        utterance_vectors=none,
        concepts=(),
        concept_vectors=none,
        groups=np.empty(0, dtype=np.int32),
        word_vectors=none,
    )


def comet(encoder, tails, **options):
    """Return a reasoner whose model writes tails, each with its score, by relation as COMET spells it."""
    answers = {
        f"{LAST} {relation} [GEN]": [Generated(text=text, score=score) for text, score in written]
        for relation, written in tails.items()
    }
    model = load("seq2seq", "scripted", answers=answers)
    return model, CometReasoner(model, encoder, **options)


def prompted(encoder, *replies, **options):
    model = load("llm", "scripted:muse", replies=replies)
    return model, PromptedReasoner(model, encoder, **options)


def answer(*rows):
    fields = ("relation", "tail", "confidence")
    return json.dumps({"inferences": [dict(zip(fields, row, strict=True)) for row in rows]})


def check_vectors(candidates, encoder):
    assert np.array_equal(candidates.vectors, encoder.encode([one.text for one in candidates.inferences]))
    assert candidates.vectors.shape == (len(candidates.inferences), 32)


# -- COMET


def test_comet_is_asked_for_every_relation_at_once_in_its_own_spelling(encoder):
    model, reasoner = comet(encoder, {})
    assert reasoner.infer(conversation(*SAID)).inferences == ()
    (asked,) = model.asked
    spelled = "Causes xReason HinderedBy isBefore isAfter xNeed xAttr xEffect xReact xWant xIntent".split()
    assert list(asked) == [f"{LAST} {relation} [GEN]" for relation in spelled]
    assert len(spelled) == len(RELATIONS)


def test_comet_tails_become_statements_about_the_last_speaker_best_first(encoder):
    tails = {
        "xWant": [(" to find  a new job", 0.5), ("ask PersonY for help", 0.4)],
        "xReact": [("sad", 0.9)],
        "isAfter": [("PersonX is late", 0.7)],
    }
    candidates = comet(encoder, tails)[1].infer(conversation(*SAID))
    assert [(one.text, one.relation, one.tail, one.score) for one in candidates.inferences] == [
        ("as a result, Ann feels sad", "xReact", "sad", 0.9),
        ("I lost my job today happens after Ann is late", "IsAfter", "PersonX is late", 0.7),
        ("as a result, Ann wants to find a new job", "xWant", "to find a new job", 0.5),
        ("as a result, Ann wants to ask Bo for help", "xWant", "ask PersonY for help", 0.4),
    ]
    assert {one.event for one in candidates.inferences} == {"I lost my job today"}
    assert candidates.degraded == ""
    check_vectors(candidates, encoder)


def test_comet_tails_that_say_nothing_are_dropped(encoder):
    tails = {"xNeed": [("none", 0.9), ("", 0.9), ("None.", 0.8), (" _ .", 0.8), ("work", 0.1)], "xAttr": [(" none", 1)]}
    candidates = comet(encoder, tails)[1].infer(conversation(*SAID))
    assert [one.text for one in candidates.inferences] == ["but before, Ann needed to work"]


def test_of_equal_texts_the_best_score_stays(encoder):
    tails = {"xWant": [("rest", 0.2), ("to rest", 0.6), ("to REST", 0.4)], "xIntent": [("rest", 0.3)]}
    candidates = comet(encoder, tails)[1].infer(conversation(*SAID))
    assert [(one.text, one.score) for one in candidates.inferences] == [
        ("as a result, Ann wants to rest", 0.6),
        ("because Ann wanted to rest", 0.3),
    ]
    check_vectors(candidates, encoder)


def test_comet_gives_as_many_tails_as_there_are_beams(encoder):
    tails = {"xReact": [("sad", 0.9), ("angry", 0.8), ("tired", 0.7)]}
    assert [one.tail for one in comet(encoder, tails, beams=2)[1].infer(conversation(*SAID)).inferences] == [
        "sad",
        "angry",
    ]


def test_comet_reads_as_many_utterances_as_it_is_told_to(encoder):
    model, reasoner = comet(encoder, {}, latest=1)
    reasoner.infer(conversation(*SAID))
    assert model.asked[0][0] == "I lost my job today! Causes [GEN]"


def test_a_comet_that_fails_is_told_and_is_no_exception(encoder):
    away = BackendUnavailableError("the checkpoint cannot be read")
    model = load("seq2seq", "scripted", answers={f"{LAST} xAttr [GEN]": away})
    candidates = CometReasoner(model, encoder).infer(conversation(*SAID))
    assert candidates.inferences == () and candidates.vectors.shape == (0, 32)
    assert candidates.degraded == "scripted failed, so nothing was inferred: the checkpoint cannot be read"


# -- a language model


def test_what_a_model_proposes_becomes_statements_best_first(encoder):
    rows = [("xWant", "find a new job", 0.8), ("causes", "money trouble.", 0.9), (" xReact ", "worried", 0.85)]
    candidates = prompted(encoder, answer(*rows))[1].infer(conversation(*SAID))
    assert [(one.text, one.relation, one.score) for one in candidates.inferences] == [
        ("I lost my job today causes money trouble", "Causes", 0.9),
        ("as a result, Ann feels worried", "xReact", 0.85),
        ("as a result, Ann wants to find a new job", "xWant", 0.8),
    ]
    assert candidates.degraded == ""
    check_vectors(candidates, encoder)


def test_a_model_is_told_the_relations_and_what_was_said_in_one_call(encoder):
    model, reasoner = prompted(encoder, answer(), most=7)
    assert reasoner.infer(conversation(*SAID)).inferences == ()
    (request,) = model.requests
    system, user = request.messages
    assert all(f"- {one.name}: {one.statement}" in system.content for one in RELATIONS.values())
    assert json.loads(user.content) == {
        "conversation": [{"speaker": speaker, "text": text} for speaker, text in SAID],
        "x": "Ann",
        "most": 7,
    }
    assert request.temperature == 0
    assert prompt_version().startswith("commonsense/")


def test_unknown_relations_are_dropped_and_counted(encoder):
    rows = [("xWish", "rest", 0.9), ("xWant", "rest", 0.5), ("", "sad", 0.7)]
    candidates = prompted(encoder, answer(*rows))[1].infer(conversation(*SAID))
    assert [one.text for one in candidates.inferences] == ["as a result, Ann wants to rest"]
    assert candidates.degraded == "2 of 3 inferences of muse have an unknown relation"


def test_a_model_says_the_same_twice_and_it_counts_once(encoder):
    rows = [("xReact", "sad", 0.4), ("xReact", "Sad", 0.7), ("xReact", "none", 0.9), ("xReact", " ", 0.9)]
    candidates = prompted(encoder, answer(*rows))[1].infer(conversation(*SAID))
    assert [(one.text, one.score) for one in candidates.inferences] == [("as a result, Ann feels sad", 0.7)]
    assert candidates.degraded == ""


def test_no_more_is_taken_than_was_asked_for(encoder):
    rows = [("xWant", f"thing {number}", 0.5) for number in range(9)]
    assert len(prompted(encoder, answer(*rows), most=4)[1].infer(conversation(*SAID)).inferences) == 4


def test_near_json_is_mended_and_a_bad_answer_is_asked_for_again(encoder):
    mended = f"Here you are:\n```json\n{answer(('xReact', 'sad', 0.5))[:-1]},}}\n```"
    model, reasoner = prompted(encoder, "I cannot say.", mended)
    assert [one.tail for one in reasoner.infer(conversation(*SAID)).inferences] == ["sad"]
    assert len(model.requests) == 2


REFUSAL = Completion(text="No.", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        (repeat("no JSON here"), "fits the schema"),
        (repeat(answer(("xReact", "sad", 85))), "85 is greater than the maximum"),
        (repeat('{"inferences": [{"relation": "xReact", "tail": "sad"}]}'), "'confidence' is a required property"),
        ([BackendError("the server is away")], "the server is away"),
        ([REFUSAL], "muse refused"),
    ],
    ids=["no JSON", "percent", "no confidence", "away", "refused"],
)
def test_a_model_that_fails_is_told_and_is_no_exception(encoder, replies, why):
    reasoner = PromptedReasoner(load("llm", "scripted:muse", replies=replies), encoder)
    candidates = reasoner.infer(conversation(*SAID))
    assert candidates.inferences == () and candidates.vectors.shape == (0, 32)
    assert candidates.degraded.startswith("the language model failed, so nothing was inferred: ")
    assert why in candidates.degraded


def test_the_earliest_utterances_are_left_out_when_they_do_not_fit(encoder):
    model, reasoner = prompted(encoder, answer(), context_tokens=20)
    reasoner.infer(conversation(("Bo", "word " * 100), *SAID[-2:]))
    assert [one["text"] for one in json.loads(model.requests[0].messages[1].content)["conversation"]] == [
        text for _, text in SAID[-2:]
    ]


def test_a_last_utterance_that_does_not_fit_is_not_asked_about(encoder):
    model, reasoner = prompted(encoder, context_tokens=20)
    candidates = reasoner.infer(conversation(*SAID, ("Bo", "word " * 100)))
    assert candidates.inferences == () and model.requests == []
    assert "longer than 20 tokens" in candidates.degraded


# -- both


@pytest.mark.parametrize("kind", [comet, prompted])
def test_from_nothing_nothing_follows_and_no_model_is_asked(encoder, kind):
    model, reasoner = comet(encoder, {}) if kind is comet else prompted(encoder)
    candidates = reasoner.infer(conversation())
    assert candidates.inferences == () and candidates.degraded == ""
    assert candidates.vectors.shape == (0, 32)
    assert (model.asked if kind is comet else model.requests) == []


def test_a_speaker_without_a_name_is_the_person(encoder):
    reasoner = prompted(encoder, answer(("xWant", "talk to PersonY", 0.5)))[1]
    (one,) = reasoner.infer(conversation(("  ", "It rains."))).inferences
    assert one.text == "as a result, the person wants to talk to the other"
