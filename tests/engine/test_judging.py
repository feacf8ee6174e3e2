"""What clashes in meaning alone, judged by a language model behind `absorb`: closed, restored, replayed without it."""

import json
import threading
from datetime import UTC, datetime
from itertools import repeat

import pytest

from doxa.backends.llm import Completion, Usage
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, LLMConfig, ReviseConfig, RolesConfig
from doxa.core.errors import BackendUnavailableError, ConfigError
from doxa.engine import Doxa
from doxa.memory import Retracted
from doxa.revise import retract

OLD, NEW = "I eat steak.", "I am a strict plant eater."
THINGS = (
    "tea coffee jazz chess cheese rain snow wine bread honey soup opera tennis golf poetry trains birds cats dogs "
    "horses roses tulips maps clocks stamps"
).split()
LATER = datetime(2024, 1, 20, tzinfo=UTC)
CUT = Completion(text='{"verdicts": []}', parsed=None, refused=False, truncated=True, usage=Usage(calls=1), seconds=0.0)
REFUSAL = Completion(text="", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)


def clash(one, other, kind):
    """A model that finds one kind of clash wherever these words meet, and nothing else."""

    def judge(request):
        shown = json.loads(request.messages[1].content)
        pairs = [
            {"claim": said["id"], "fact": held["id"], "kind": kind}
            for said in shown["said"]
            for held in shown["held"]
            if one in said["text"] and other in held["text"]
        ]
        return json.dumps({"verdicts": pairs})

    return judge


def opened(config, *replies, location=":memory:", kind="update", budget=2000, **settings):
    """An engine whose clashes are judged by a scripted model."""
    llm = LLMConfig(name="scripted", context_tokens=budget)
    roles = RolesConfig(judge="prompted", write="prompted")
    update = {"llm": llm, "roles": roles, "revise": ReviseConfig(**settings)}
    doxa = Doxa.open(location, config=config.model_copy(update=update))
    model = ScriptedModel(replies or repeat(clash("plant eater", "steak", kind)))
    doxa.parts.opened.model = model
    return doxa, model


def tell(doxa, *texts, speaker="Ana", first=1):
    """Say one thing a month, from January on, as t1, t2, ..."""
    chat = doxa.dialogue(user="ana", speaker=speaker)
    for number, text in enumerate(texts, start=first):
        chat.absorb(text, turn_id=f"t{number}", at=f"2024-{number:02d}-01")
        chat.flush()
    return doxa.memory(user="ana")


def believed(memory):
    return {str(fact) for fact in memory.facts()}


def test_a_clash_in_other_words_ends_the_older_fact(config):
    """Neither an axiom nor a common slot joins the two; the model's verdict does, and `why` shows the words."""
    doxa, model = opened(config)
    with doxa:
        memory = tell(doxa, OLD, NEW)
        assert believed(memory) == {"Ana | is | strict plant eater", "Ana | not: eats | steak (since 1 February 2024)"}
        (old,) = [fact for fact in memory.facts(current=False) if "eats" in str(fact) and fact.polarity]
        assert str(old) == "Ana | eats | steak (until 1 February 2024, superseded)"
        assert "strict plant eater" in str(memory.why(old.fact_id))
        assert [str(fact.object) for fact in memory.facts(as_of="2024-01-15")] == ["steak", "strict plant eater"]
        assert len(model.requests) == 1


def test_a_correction_means_that_the_older_fact_never_was_true(config):
    doxa, _ = opened(config, kind="correction")
    with doxa:
        memory = tell(doxa, OLD, NEW)
        assert {str(fact.status) for fact in memory.facts(current=False) if fact.turn_ids == ("t1",)} == {"retracted"}


@pytest.mark.parametrize("kind", ["refinement", "none"])
def test_what_does_not_clash_changes_nothing(config, kind):
    doxa, _ = opened(config, kind=kind)
    with doxa:
        assert believed(tell(doxa, OLD, NEW)) == {"Ana | eats | steak", "Ana | is | strict plant eater"}


def test_withdrawing_the_turn_brings_back_what_it_denied(config):
    """And undoing that closes it again: the denial is a claim like any other, and no model is asked."""
    doxa, model = opened(config)
    with doxa:
        memory = tell(doxa, OLD, NEW)
        after = believed(memory)
        memory.withdraw(turn_id="t2")
        assert believed(memory) == {"Ana | eats | steak"}
        memory.undo()
        assert believed(memory) == after and len(model.requests) == 1


def test_a_replay_asks_no_model(config, tmp_path):
    """After a restart, at an earlier time, and from an export, the verdict is in the log."""
    doxa, _ = opened(config, location=tmp_path / "memory.db")
    with doxa:
        after = believed(tell(doxa, OLD, NEW))
        path = doxa.memory(user="ana").export(tmp_path / "ana.jsonl")
    with Doxa.open(tmp_path / "memory.db", config=config) as again:
        memory = again.memory(user="ana")
        assert believed(memory) == after
        assert {str(fact) for fact in memory.facts(known_at="2024-03-01")} == after
        assert {str(fact) for fact in memory.facts(known_at="2024-01-15")} == {"Ana | eats | steak"}
    with Doxa.open(":memory:", config=config) as other:
        other.memory(user="ana").import_(path)
        assert believed(other.memory(user="ana")) == after


def test_erasing_the_denied_turn_erases_its_denial(config):
    """What the denial repeats goes as well; without asking a model."""
    doxa, model = opened(config)
    with doxa:
        memory = tell(doxa, OLD, NEW)
        memory.forget(turn_id="t1")
        assert believed(memory) == {"Ana | is | strict plant eater"}
        assert "steak" not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
        assert len(model.requests) == 1


def test_erasing_another_turn_leaves_the_denial(config):
    """Later turns are read again; a verdict that still has its two sides stands, and so does who judged."""
    doxa, model = opened(config, *repeat(clash("plant eater", "steak", "update"), 9))
    with doxa:
        memory = tell(doxa, "I drink wine.", OLD, NEW)
        asked = len(model.requests)
        memory.forget(turn_id="t1")
        assert believed(memory) == {"Ana | is | strict plant eater", "Ana | not: eats | steak (since 1 March 2024)"}
        assert len(model.requests) == asked
        (row,) = [row for row in doxa.parts.log.rows("ana") if row.body.get("denials")]
        assert row.body["judged_by"].startswith("judge/2") and row.body["denials"] == 1


@pytest.mark.parametrize(
    "replies",
    [
        ("no", "still no"),
        ('{"verdicts": [{"claim": 1, "fact": 9, "kind": "update"}]}',) * 2,
        ('{"verdicts": [{"claim": 1, "fact": 1, "kind": "clash"}]}',) * 2,
        (BackendUnavailableError("away"),),
        (REFUSAL,),
        (CUT,),
    ],
    ids=["prose", "index", "kind", "away", "refused", "cut off"],
)
def test_a_judge_of_no_use_leaves_the_turn_to_the_axioms(config, replies):
    """Everything stays believed, the turn counts as degraded and says why, and the next one is judged again."""
    doxa, model = opened(config, *replies, clash("teetotaller", "wine", "update"))
    with doxa:
        memory = tell(doxa, OLD, NEW)
        assert believed(memory) == {"Ana | eats | steak", "Ana | is | strict plant eater"}
        assert memory.stats()["degraded"] == 1 and len(model.requests) == len(replies)
        with doxa.parts.log.user("ana") as state:
            assert "not judged" in state.degraded["t2"]


def test_a_second_answer_that_fits_counts(config):
    """A reply that names a fact which was not shown is asked for once more."""
    outside = '{"verdicts": [{"claim": 1, "fact": 2, "kind": "update"}]}'
    doxa, model = opened(config, outside, clash("plant eater", "steak", "update"))
    with doxa:
        assert "Ana | is | strict plant eater" in believed(tell(doxa, OLD, NEW))
        assert doxa.memory(user="ana").stats()["degraded"] == 0 and len(model.requests) == 2
        assert len(doxa.memory(user="ana").facts()) == 2


def test_the_model_is_not_asked_when_nothing_is_near(config):
    """A first fact, small talk, another slot value, what is said again, what was over, and other people."""
    doxa, model = opened(config, BackendUnavailableError("nobody may ask"))
    with doxa:
        chat = doxa.dialogue(user="ana")
        for text in ("I live in Oslo.", "Hello!", "I live in Bergen.", "I live in Bergen.", "My cat is black."):
            chat.absorb(text)
            chat.flush()
        assert model.requests == [] and doxa.memory(user="ana").stats()["degraded"] == 0


def test_nothing_is_sent_beyond_the_neighbourhood(config):
    """Facts of other people and things, closed facts, and what other turns said stay here."""
    doxa, model = opened(config, *repeat('{"verdicts": []}', 20))
    with doxa:
        tell(doxa, "My brother Ben has a boat.", "I live in Oslo.", "I live in Bergen.", OLD, NEW)
        shown = json.loads(model.requests[-1].messages[1].content)
        assert [row["text"] for row in shown["said"]] == ["Ana is strict plant eater"]
        assert {row["text"] for row in shown["held"]} >= {"Ana eats steak"}
        sent = " ".join(message.content for message in model.requests[-1].messages)
        assert "boat" not in sent and "Oslo" not in sent


@pytest.mark.parametrize(("budget", "most"), [(2000, 20), (200, 19)], ids=["roomy", "tight"])
def test_a_long_memory_does_not_make_a_long_prompt(config, budget, most):
    """Twenty facts at most, and fewer where they do not fit the budget of tokens."""
    doxa, model = opened(config, *repeat('{"verdicts": []}', 99), budget=budget)
    with doxa:
        chat = doxa.dialogue(user="ana")
        for number, thing in enumerate(THINGS, start=1):
            chat.absorb(f"I like {thing}.", at=f"2024-01-{number:02d}")
        chat.absorb(NEW, at="2024-03-01")
        chat.flush()
        sent = model.requests[-1].messages[1].content
        assert 0 < len(json.loads(sent)["held"]) <= most and model.count_tokens(sent) <= budget
        assert len(json.loads(sent)["held"]) == 20 or budget == 200


def test_whoever_is_less_close_to_it_cannot_deny_it(config):
    """Ben's word about Ana does not end what Ana said about herself; the turn keeps a note of it."""
    doxa, _ = opened(config)
    with doxa:
        tell(doxa, OLD)
        memory = tell(doxa, "Ana is a strict plant eater.", speaker="Ben", first=2)
        assert "Ana | eats | steak" in believed(memory)
        with doxa.parts.log.user("ana") as state:
            assert "less close" in state.notes["t2"].dropped[0]


@pytest.mark.parametrize(
    ("policy", "kept"), [("recency", False), ("trust", False), ("reject-new", True), ("ask", True)]
)
def test_the_policy_decides_about_a_contradiction(config, policy, kept):
    """What the policy does not give up is not denied."""
    doxa, _ = opened(config, kind="contradiction", policy=policy)
    with doxa:
        assert ("Ana | eats | steak" in believed(tell(doxa, OLD, NEW))) is kept


def test_the_trace_says_who_judged_and_what_it_cost(config):
    """Prompt, model and tokens, in the step `understand`; what changed is told with the answer."""
    answer = '{"answer": "Noted.", "value": null, "citations": [], "abstained": false}'
    doxa, _ = opened(config, clash("plant eater", "steak", "update"), answer)
    with doxa:
        tell(doxa, OLD)
        reply = doxa.dialogue(user="ana").respond(NEW, at="2024-02-01")
        step = next(step for step in reply.trace.steps if step.name == "understand")
        assert step.detail["judged_by"] == "judge/2 scripted" and step.detail["judge_prompt_tokens"] > 0
        assert [str(change.kind) for change in reply.revisions] == ["close"]


def test_a_slow_judge_holds_up_no_read(config):
    """While it is waited for, the memory answers from what is there."""
    waiting, go = threading.Event(), threading.Event()

    def slow(request):
        waiting.set()
        go.wait(20)
        return clash("plant eater", "steak", "update")(request)

    engine = config.engine.model_copy(update={"settle_s": 0})
    doxa, _ = opened(config.model_copy(update={"engine": engine}), slow)
    with doxa:
        tell(doxa, OLD)
        chat = doxa.dialogue(user="ana")
        chat.absorb(NEW)
        assert waiting.wait(10)
        assert believed(doxa.memory(user="ana")) == {"Ana | eats | steak"}
        go.set()
        chat.flush()
        assert "Ana | eats | steak" not in believed(doxa.memory(user="ana"))


def test_what_is_retracted_while_the_judge_thinks_is_not_denied(config):
    """A verdict about what is no longer believed counts for nothing."""
    waiting, go = threading.Event(), threading.Event()

    def slow(request):
        waiting.set()
        go.wait(20)
        return clash("plant eater", "steak", "update")(request)

    engine = config.engine.model_copy(update={"settle_s": 0})
    doxa, _ = opened(config.model_copy(update={"engine": engine}), slow)
    with doxa:
        memory = tell(doxa, OLD)
        chat = doxa.dialogue(user="ana")
        chat.absorb(NEW, at="2024-02-01")
        assert waiting.wait(10)
        with doxa.parts.log.user("ana") as state:
            (fact,) = state.beliefs.facts.values()
            changes = retract(fact, state.beliefs, known_at=LATER)
            doxa.parts.log.append("ana", state, Retracted(known_at=LATER, target=fact.fact_id, changes=changes))
        go.set()
        chat.flush()
        assert believed(memory) == {"Ana | is | strict plant eater"}


def test_a_prompted_judge_needs_a_model(config):
    """The message says which two settings fit together."""
    with pytest.raises(ConfigError, match=r"roles\.judge.*DOXA_LLM"):
        Doxa.open(":memory:", config=config.model_copy(update={"roles": RolesConfig(judge="prompted")}))


@pytest.fixture
def server(chat_server):
    """A chat server that judges every turn in the same words."""
    return chat_server(json.dumps({"verdicts": [{"claim": 1, "fact": 1, "kind": "update"}]}), tokens=(70, 7))


def test_a_server_named_in_the_environment_judges(server):
    """Settings from the environment, one request with the schema, and the tokens that the server counted."""
    environ = {
        "DOXA_LLM": "openai:tiny",
        "DOXA_LLM_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "DOXA_PROFILE": "writer",
        "DOXA_ROLES_JUDGE": "prompted",
        "DOXA_ENCODER": "hash",
        "DOXA_GRADER": "none",
    }
    with Doxa.open(":memory:", config=Config.load(environ=environ)) as doxa:
        assert "Ana | eats | steak" not in believed(tell(doxa, OLD, NEW))
        (request,) = server.requests
        assert request["response_format"]["json_schema"]["strict"] is True
        with doxa.parts.log.user("ana") as state:
            note = state.notes["t2"]
        assert (note.judged_by, note.judge_prompt_tokens) == ("judge/2 openai:tiny", 70)
