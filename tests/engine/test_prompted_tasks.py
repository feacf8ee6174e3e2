"""Turns that a language model reads for the tasks: stored, replayed without it, and read by the grammar where it fails.

No model is asked here: a script or a small server on this machine says what one might say.
"""

import json
from itertools import repeat

import pytest

from doxa.backends.llm import Completion, Usage
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, LLMConfig, RolesConfig, TasksConfig
from doxa.core.errors import BackendUnavailableError, ConfigError
from doxa.engine import Doxa
from doxa.engine.tasking import edit_tasks, node_at

CANARY = "Zanzibar"
PLAN = "Dinner on Friday, I would say, with Carol."
MOVE = "Rather the day after."
CUT = Completion(text='{"acts": []}', parsed=None, refused=False, truncated=True, usage=Usage(calls=1), seconds=0.0)
REFUSAL = Completion(text="", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)


def act(intent, quote, confidence=0.9, **fields):
    return {"intent": intent, "quote": quote, "confidence": confidence, **fields}


def task(quote, name, number="+1"):
    return act("new_task", quote, id=number, name=name, under=None, rounds=None)


def items(quote, *names, under, first=5):
    named = [{"id": f"+{first + at}", "name": name} for at, name in enumerate(names)]
    return act("add_items", quote, under=under, items=named)


TABLE = {
    PLAN: [
        task("Dinner", "Dinner"),
        act("new_slot", "on Friday", id="+2", under="+1", name="day", value="Friday"),
        act("new_slot", "with Carol", id="+3", under="+1", name="participants", value=None),
        items("with Carol", "Carol", under="+3"),
    ],
    MOVE: [act("set_value", "Rather the day after", target="{Dinner/day}", value="Saturday")],
    "Ben as well.": [items("Ben", "Ben", under="{participants}")],
    "Who comes?": [act("check", "Who comes", targets=[])],
    "Hmm, blimey.": [act("remove", "blimey", targets=["{Carol}"], under=None)],
    "I like jazz.": [act("chat", "I like jazz")],
}


def saying(*acts):
    return json.dumps({"acts": acts})


def reading(request):
    """Answer as a model would: the acts of a little table, with the ids that the tasks have in the request."""
    if "task memory" not in request.messages[0].content:
        raise BackendUnavailableError("it reads for the tasks alone")
    shown = json.loads(request.messages[1].content)
    ids = {line.split(": ", 1)[1].split(" = ")[0]: line.split()[0] for line in shown["tasks"]}
    ids |= {f"Dinner/{name}": key for name, key in ids.items()}
    text = json.dumps(TABLE.get(shown["message"], []))
    for name, key in ids.items():
        text = text.replace(f"{{{name}}}", key)
    return f'{{"acts": {text}}}'


def opened(config, *replies, location=":memory:", reader="prompted", **settings):
    """An engine whose tasks are read for by a scripted model, and that model."""
    roles = RolesConfig(tasks=reader, write="prompted")
    update = {"llm": LLMConfig(name="scripted"), "roles": roles, "tasks": TasksConfig(**settings)}
    doxa = Doxa.open(location, config=config.model_copy(update=update))
    model = ScriptedModel(replies or repeat(reading))
    doxa.parts.opened.model = model
    return doxa, model


def bodies(doxa):
    return [row.body for row in doxa.parts.log.rows("ana") if row.kind == "maintained"]


def test_the_model_reads_what_the_tasks_are_told(config):
    doxa, model = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        reply = tasks.tell(PLAN)
        assert tasks.state() == {"Dinner/day": "Friday", "Dinner/participants": ["Carol"]}
        assert (reply.by, reply.confidence, reply.degraded) == ("trim/3 scripted", 0.9, "")
        assert "Dinner day: Friday" in reply.text and tasks.forest().commits[0].by == reply.by
        tasks.tell("Ben as well.")
        assert tasks.state()["Dinner/participants"] == ["Carol", "Ben"] and len(model.requests) == 2
        said = json.loads(model.requests[1].messages[1].content)
        assert said["before"] == [PLAN, reply.text] and said["speaker"] == "Ana"


def test_a_question_is_answered_from_the_state_and_changes_nothing(config):
    doxa, _ = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        tasks.tell(PLAN)
        reply = tasks.tell("Who comes?")
        assert reply.intents == ("check",) and reply.edits == () and "Carol" in reply.text


def test_a_replay_asks_no_model(config, tmp_path):
    """After a restart and from an export the acts are in the log, and what they did."""
    doxa, _ = opened(config, location=tmp_path / "m.db")
    with doxa:
        tasks = doxa.tasks(user="ana")
        tasks.tell(PLAN)
        tasks.tell("Ben as well.")
        before, path = tasks.forest(), doxa.memory(user="ana").export(tmp_path / "ana.jsonl")
        second = bodies(doxa)[1]
        assert second["task_reading"]["acts"][0]["under"] == "Dinner/participants"
        assert second["task_reading"]["by"] == "trim/3 scripted" and second["tasks"]["edits"]
    again, model = opened(config, BackendUnavailableError("nobody is to be asked"), location=tmp_path / "m.db")
    with again:
        assert again.tasks(user="ana").forest() == before and model.requests == []
    other, model = opened(config, BackendUnavailableError("nobody is to be asked"))
    with other:
        other.memory(user="ana").import_(path)
        assert other.tasks(user="ana").state() == before.state() and model.requests == []


def test_an_interrupted_turn_is_read_at_the_next_start(config, tmp_path, monkeypatch):
    """A turn that was received and not processed has no reading yet: then it is asked for, once."""
    doxa, model = opened(config, location=tmp_path / "m.db")
    with monkeypatch.context() as patch, doxa:
        patch.setattr(doxa, "wait", lambda user, **_: None)
        patch.setattr(doxa._maintenance, "schedule", lambda user, **_: None)
        with pytest.raises(Exception, match="erased"):
            doxa.tasks(user="ana").tell(PLAN)
        assert model.requests == []
    again, model = opened(config, location=tmp_path / "m.db")
    with again:
        again.flush()
        assert again.tasks(user="ana").state()["Dinner/day"] == "Friday" and len(model.requests) == 1


def test_the_hybrid_asks_the_model_only_where_the_grammar_is_unsure(config):
    doxa, model = opened(config, reader="hybrid", sure=0.5)
    with doxa:
        tasks = doxa.tasks(user="ana")
        assert tasks.tell("Plan a dinner for Friday with Carol.").by == "" and model.requests == []
        assert tasks.tell("Which day is the dinner?").by == "" and model.requests == []
        assert "task_reading" not in bodies(doxa)[0]
        reply = tasks.tell("Hmm, blimey.")
        assert reply.by == "trim/3 scripted" and reply.edits and len(model.requests) == 1


def test_the_hybrid_asks_about_everything_where_nothing_is_sure_enough(config, monkeypatch):
    """The threshold is that of the setting, on the confidence of the grammar."""
    from doxa.tasks import take

    def doubtful(*args, **more):
        step = take(*args, **more)
        object.__setattr__(step, "confidence", 0.7)
        return step

    monkeypatch.setattr("doxa.engine.reading.tasks.take", doubtful)
    for sure, asked in ((0.6, 0), (0.75, 1)):
        doxa, model = opened(config, reader="hybrid", sure=sure)
        with doxa:
            doxa.tasks(user="ana").tell("Plan a dinner for Friday.")
            assert len(model.requests) == asked


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        (("no", "still no"), "asked twice"),
        (('{"acts": [{"intent": "new_task"}]}',) * 2, "asked twice"),
        ((saying(act("explode", "Plan")),) * 2, "asked twice"),
        ((saying(act("set_value", "Plan", target="n7", value="Friday")),) * 2, "asked twice"),
        ((BackendUnavailableError("it timed out"),), "timed out"),
        ((REFUSAL,), "refused"),
        ((CUT,), "understand.max_tokens"),
    ],
    ids=["prose", "schema", "intent", "unknown id", "time-out", "refusal", "cut off"],
)
def test_where_the_model_fails_the_grammar_reads_the_turn(config, replies, why):
    """The reply, the log and `stats` say so; what was not carried out is not stored."""
    doxa, _ = opened(config, *replies)
    with doxa:
        tasks = doxa.tasks(user="ana")
        reply = tasks.tell("Plan a dinner for Friday.")
        assert tasks.state() == {"dinner/day": "Friday"} and reply.by == ""
        assert why in reply.degraded and "grammar read the turn" in reply.degraded
        assert bodies(doxa)[0]["task_reading"]["acts"] == []
        assert doxa.memory(user="ana").stats()["degraded"] == 1


def test_what_does_not_hold_is_sent_back_and_then_done(config):
    doxa, model = opened(config, saying(task("Plan", "hike")), saying(task("Plan a dinner", "dinner")))
    with doxa:
        reply = doxa.tasks(user="ana").tell("Plan a dinner for Friday.")
        assert (reply.asks, reply.degraded, reply.by) == (False, "", "trim/3 scripted")
        assert [view.path for view in doxa.tasks(user="ana").forest()] == ["dinner"]
        assert json.loads(model.requests[1].messages[-1].content)["refused"][0]["act"] == 1
        assert "hike" not in json.dumps(bodies(doxa)) and bodies(doxa)[0]["task_reading"]["cost"][0] == 2


def test_what_does_not_hold_again_is_asked_and_never_read_by_the_grammar(config):
    """The grammar would make a dinner on Friday of it."""
    wrong = saying(task("Plan a dinner", "hike"))
    doxa, model = opened(config, wrong, wrong)
    with doxa:
        tasks = doxa.tasks(user="ana")
        reply = tasks.tell("Plan a dinner for Friday.")
        assert tasks.state() == {} and reply.asks and len(model.requests) == 2
        assert "“Plan a dinner”" in reply.text and "neither in the turn" in reply.text
        assert "hike" not in json.dumps(bodies(doxa))


def test_of_a_conversation_the_model_reads_what_may_tell_the_tasks_something(config):
    """Where the grammar takes it for talk as well; a question is not shown to it while there are no tasks."""
    doxa, model = opened(config)
    with doxa:
        dialogue, tasks = doxa.dialogue(user="ana"), doxa.tasks(user="ana")
        for text in ("What is the capital of France?", "I like jazz."):
            dialogue.respond(text)
            dialogue.flush()
            assert tasks.forest().commits == ()
        dialogue.respond(PLAN)
        dialogue.flush()
        assert tasks.state()["Dinner/day"] == "Friday"
        read = [one.messages[1].content for one in model.requests if "task memory" in one.messages[0].content]
        assert [json.loads(one)["message"] for one in read] == ["I like jazz.", PLAN]
        assert {json.loads(one)["said_to"] for one in read} == {"conversation"}


def test_a_turn_that_does_not_fit_is_read_by_the_grammar(config):
    doxa, model = opened(config)
    with doxa:
        reply = doxa.tasks(user="ana").tell("Plan a dinner for Friday. " + "And a walk. " * 2000)
        assert "llm.context_tokens" in reply.degraded and model.requests == []


def test_what_changed_while_the_model_was_asked_is_seen(config):
    """It was shown a task that is gone when its acts are carried out."""
    doxa, model = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        tasks.tell(PLAN)

        def slow(request):
            said = reading(request)
            edit_tasks(doxa.parts.log, "ana", lambda editor: editor.remove(node_at(editor.forest, "Dinner")))
            return said

        model._replies = iter([slow])
        reply = tasks.tell("Ben as well.")
        assert "it names a task that is not there" in reply.text and reply.asks and tasks.state() == {}


def test_a_model_that_is_unsure_of_a_change_makes_the_reply_a_question(config):
    vague = [{**one, "confidence": 0.4} for one in TABLE[PLAN]]
    doxa, _ = opened(config, saying(*vague))
    with doxa:
        tasks = doxa.tasks(user="ana")
        reply = tasks.tell(PLAN)
        assert reply.asks and reply.edits == () and tasks.state() == {} and reply.confidence == 0.4


def test_what_is_said_elsewhere_or_taken_for_something_is_not_given_to_the_model(config):
    doxa, model = opened(config)
    with doxa:
        dialogue = doxa.dialogue(user="ana")
        dialogue.absorb(PLAN)
        dialogue.flush()
        doxa.tasks(user="ana").tell(PLAN, intent="check")
        assert model.requests == []


def test_taking_a_turn_back_takes_back_what_the_model_read(config):
    doxa, model = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        tasks.tell(PLAN)
        tasks.tell("Ben as well.")
        doxa.memory(user="ana").undo()
        assert tasks.state()["Dinner/participants"] == ["Carol"] and len(model.requests) == 2


def test_a_forgotten_turn_leaves_what_the_model_read_of_others(config):
    """No model is asked again: what still holds without the turn stands, under ids that are given out anew."""
    doxa, model = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        trip = f"First a trip to {CANARY}."
        model._replies = iter([saying(task(trip, f"trip to {CANARY}")), reading, reading])
        tasks.tell(trip, at="2025-03-03T09:00")
        tasks.tell(PLAN)
        tasks.tell("Ben as well.")
        gone = next(row.turn_id for row in doxa.parts.log.rows("ana") if CANARY in row.body.get("text", ""))
        doxa.memory(user="ana").forget(turn_id=gone)
        assert tasks.state() == {"Dinner/day": "Friday", "Dinner/participants": ["Carol", "Ben"]}
        assert [commit.by for commit in tasks.forest().commits] == ["trim/3 scripted"] * 2
        assert CANARY not in json.dumps(bodies(doxa)) and len(model.requests) == 3
        doxa.parts.log.forget_state("ana")
        assert tasks.state()["Dinner/participants"] == ["Carol", "Ben"]


def test_what_the_model_read_with_a_forgotten_turn_goes_with_it(config):
    """A later turn that rests on it is read by the grammar, and its acts are no longer stored."""
    doxa, model = opened(config)
    with doxa:
        tasks = doxa.tasks(user="ana")
        trip = f"First a trip to {CANARY}."
        renamed = act("rename", "it", target="n1", name=f"my {CANARY}")
        model._replies = iter([saying(task(trip, f"trip to {CANARY}")), saying(renamed)])
        tasks.tell(trip)
        tasks.tell("Call it mine.")
        assert CANARY in json.dumps(bodies(doxa)[1])
        gone = next(row.turn_id for row in doxa.parts.log.rows("ana") if CANARY in row.body.get("text", ""))
        doxa.memory(user="ana").forget(turn_id=gone)
        (left,) = bodies(doxa)
        assert CANARY not in json.dumps(left) and "task_reading" not in left
        assert "without the language model" in left["degraded"] and len(model.requests) == 2


@pytest.mark.parametrize("reader", ["prompted", "hybrid"])
def test_a_reader_that_needs_a_model_says_so(config, reader):
    with pytest.raises(ConfigError, match=r"roles\.tasks.*DOXA_LLM"):
        Doxa.open(":memory:", config=config.model_copy(update={"roles": RolesConfig(tasks=reader)}))


def test_a_server_named_in_the_environment_reads(chat_server):
    """Settings from the environment, one request with the schema, and the tokens that the server counted."""
    server = chat_server(saying(*TABLE[PLAN]), tokens=(900, 60))
    environ = {
        "DOXA_LLM": "openai:tiny",
        "DOXA_LLM_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "DOXA_PROFILE": "writer",
        "DOXA_ROLES_TASKS": "prompted",
        "DOXA_ENCODER": "hash",
    }
    with Doxa.open(":memory:", config=Config.load(environ=environ)) as doxa:
        reply = doxa.tasks(user="ana").tell(PLAN)
        assert reply.by == "trim/3 openai:tiny" and doxa.tasks(user="ana").state()["Dinner/day"] == "Friday"
        (request,) = server.requests
        schema = request["response_format"]["json_schema"]["schema"]
        assert "confidence" in schema["properties"]["acts"]["items"]["anyOf"][0]["required"]
        assert request["response_format"]["json_schema"]["strict"] is True
        assert bodies(doxa)[0]["task_reading"]["cost"] == [1, 900, 60]


def test_a_server_that_is_down_degrades_the_turn(chat_server):
    server = chat_server("", tokens=(1, 1))
    server.failing = True
    llm = LLMConfig(name="openai:tiny", base_url=f"http://127.0.0.1:{server.server_port}/v1", max_retries=0)
    config = Config(encoder={"name": "hash"}, llm=llm, profile="writer", roles=RolesConfig(tasks="prompted"))
    with Doxa.open(":memory:", config=config) as doxa:
        reply = doxa.tasks(user="ana").tell("Plan a dinner for Friday.")
        assert "503" in reply.degraded and doxa.tasks(user="ana").state() == {"dinner/day": "Friday"}
