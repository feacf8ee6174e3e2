"""One setting, and a language model plays every role of the method; when it is away, each role falls back."""

import json

import pytest

from doxa.core.config import Config, LLMConfig, RolesConfig, VerifyConfig
from doxa.core.errors import ConfigError
from doxa.core.roles import MOVED
from doxa.engine import Doxa

FACTS = {
    "My sister Eva lives in Graz.": [("Eva", "lives_in", "Graz", "Eva lives in Graz")],
    "Eva works at Siemens.": [("Eva", "works_at", "Siemens", "Eva works at Siemens")],
    "I am a strict plant eater.": [("Ana", "is_a", "plant eater", "I am a strict plant eater")],
    "I love steak.": [("Ana", "likes", "steak", "I love steak")],
}
PLAIN = {
    "kind": "fact", "holds": True, "mood": "asserted", "from": None, "to": None, "over": False, "beside": False,
    "source": None,
}  # fmt: skip
PLAN = "Plan a dinner for Friday."
QUESTION = "Where does the person who works at Siemens live?"
DINNER = {
    "intent": "new_task", "id": "+1", "name": "dinner", "under": None, "rounds": None, "quote": "a dinner",
    "confidence": 0.9,
}  # fmt: skip
GRAZ = {"move": "answer", "likelihood": 0.9, "text": "Eva lives in Graz.", "value": "Graz", "citations": ["t1", "t2"]}
ANSWER = {"answer": "Eva lives in Graz.", "value": "Graz", "citations": ["t1"], "abstained": False}
NOTED = {"answer": "I see.", "value": None, "citations": [], "abstained": False}
FAILED = {
    "extract": ("understand", "the turn was read without it"),
    "judge": ("understand", "was not judged by the language model"),
    "tasks": ("route", "was not told to the tasks"),
    "rewrite": ("rewrite", "the query was not rewritten"),
    "reason": ("search", "the answer is the built-in one"),
    "write": ("write", "the built-in writer answered"),
}
"""Where the trace says that a role fell back, and in which words."""
ALL = {"extract", "judge", "tasks", "rewrite", "reason", "write"}


def played(body):
    """Play whatever role asks as a sensible model would; roles are told apart by what their answer has to hold."""
    said = body["messages"][-1]["content"]
    match sorted(body["response_format"]["json_schema"]["schema"]["properties"]):
        case ["entries"]:
            names = ("subject", "relation", "object", "quote")
            read = FACTS.get(json.loads(said)["message"]["text"], [])
            answer = {"entries": [{**PLAIN, **dict(zip(names, one, strict=True))} for one in read]}
        case ["verdicts"]:
            answer = {"verdicts": []}
        case ["acts"]:
            told = json.loads(said)["message"] == PLAN
            answer = {"acts": [DINNER if told else {"intent": "chat", "quote": "", "confidence": 0.9}]}
        case ["question", "seeks", "words"]:
            answer = {"question": json.loads(said)["query"], "words": [], "seeks": "other"}
        case ["moves"]:
            looked = bool(json.loads(said.rpartition("\n")[2])["path"])
            look = {"move": "expand_entity", "likelihood": 0.7, "entity": "Siemens"}
            answer = {"moves": [GRAZ if looked else look]}
        case ["bears", "closer", "reach"]:
            answer = {"bears": 0.9, "closer": 0.6, "reach": 0.9}
        case ["clear", "true", "whole"]:
            good = "Graz" in said.partition('"answer"')[2]
            answer = dict.fromkeys(("true", "whole", "clear"), 1.0 if good else 0.1)
        case _:
            answer = ANSWER if QUESTION in said and "[t1]" in said else NOTED
    return json.dumps(answer)


@pytest.fixture
def server(chat_server):
    """A chat server whose model plays every role."""
    return chat_server(played, tokens=(100, 20))


@pytest.fixture
def talked(server):
    """A function that talks with the engine of an environment, and returns its replies, the question's last."""

    def talk(**more):
        environ = {
            "DOXA_LLM": "openai:tiny",
            "DOXA_LLM_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
            "DOXA_LLM_MAX_RETRIES": "0",
            "DOXA_ENCODER": "hash",
            "DOXA_GRADER": "none",
            "DOXA_NLI": "none",
            "DOXA_ENGINE_SETTLE_S": "30",
        }
        replies = []
        with Doxa.open(":memory:", config=Config.load(environ=environ | more)) as doxa:
            chat = doxa.dialogue(user="ana", session="s")
            for number, text in enumerate((*FACTS, PLAN, QUESTION), start=1):
                replies.append(chat.respond(text, turn_id=f"t{number}", at=f"2024-01-{number:02d}"))
                chat.flush()
        return replies

    return talk


def roles_seen(replies):
    """Return the roles that the traces say the model played."""
    details = [(step.name, step.detail) for reply in replies for step in reply.trace.steps]
    details += [("understand", detail["understood"]) for _, detail in details if "understood" in detail]
    keys = {
        ("understand", "by"): "extract", ("understand", "judged_by"): "judge", ("route", "by"): "tasks",
        ("rewrite", "by"): "rewrite", ("search", "model"): "reason", ("search", "written_by"): "write",
        ("write", "model"): "write",
    }  # fmt: skip
    told = {role: [d[key] for name, d in details if name == step and key in d] for (step, key), role in keys.items()}
    return {role for role, names in told.items() if any("openai:tiny" in name for name in names)}


def test_one_setting_gives_every_role_to_the_model(talked):
    """With `DOXA_LLM` alone each role is played by the model, and the trace shows each."""
    replies = talked()
    assert roles_seen(replies) == ALL
    assert replies[-1].value == "Graz" and not any(reply.trace.degraded for reply in replies)
    assert set(roles_seen(replies[4:5])) >= {"extract", "tasks"}  # the tasks replied, and the turn was read


def test_with_a_model_that_is_down_every_role_falls_back_and_says_so(talked, server):
    """The answers still come, from what is built in, and each role says that it did not run as configured."""
    server.failing = True
    replies = talked()
    assert all(reply.text for reply in replies)
    steps = [step for reply in replies for step in reply.trace.steps if step.degraded]
    told = {role for role, (name, why) in FAILED.items() for one in steps if one.name == name and why in one.degraded}
    assert told == ALL and sum("503" in one.degraded for one in steps) == len(steps)


@pytest.mark.parametrize(("profile", "seen"), [("offline", set()), ("writer", {"write"})])
def test_a_smaller_profile_asks_the_model_less(talked, server, profile, seen):
    """Offline never calls a model that is configured; `writer` has it write the answers, one call each."""
    replies = talked(DOXA_PROFILE=profile)
    assert roles_seen(replies) == seen and bool(server.requests) == bool(seen)
    assert {tuple(body["response_format"]["json_schema"]["schema"]["properties"]) for body in server.requests} <= {
        ("answer", "value", "citations", "abstained")
    }


def test_a_model_may_search_for_an_answer_that_the_built_in_writer_writes(talked, server):
    """The moves are its own; the answer is said in the words of facts."""
    replies = talked(DOXA_PROFILE="offline", DOXA_ROLES_REASON="prompted")
    assert roles_seen(replies) == {"reason"} and replies[-1].text
    schemas = [body["response_format"]["json_schema"]["name"] for body in server.requests]
    assert "moves" in schemas and "answer" not in schemas


def prompted(config):
    return {role for role, by in config.roles.model_dump().items() if by == "prompted"}


def test_the_profile_is_full_where_a_model_is_named_and_offline_elsewhere():
    """It and the roles read as what is in effect."""
    assert (Config().profile, prompted(Config()), Config().verify.mode) == ("offline", set(), "annotate")
    full = Config(llm=LLMConfig(name="scripted"))
    assert (full.profile, prompted(full), full.verify.mode) == ("full", ALL, "repair")
    assert Config.model_validate(full.model_dump()) == full


def test_single_settings_go_before_the_profile(tmp_path):
    """Whether they come as arguments, from the file or from the environment."""
    given = Config(llm=LLMConfig(name="x"), roles=RolesConfig(judge="builtin"), verify=VerifyConfig(repairs=5))
    assert prompted(given) == ALL - {"judge"} and (given.verify.mode, given.verify.repairs) == ("repair", 5)
    file = tmp_path / "doxa.toml"
    file.write_text('profile = "writer"\n[llm]\nname = "x"\n[roles]\nrewrite = "prompted"\n[verify]\nmode = "off"\n')
    assert prompted(Config.load(file, environ={})) == {"write", "rewrite"}
    environ = {"DOXA_ROLES_WRITE": "builtin", "DOXA_PROFILE": "full"}
    found = Config.load(file, environ=environ)
    assert prompted(found) == ALL - {"write"} and found.verify.mode == "off"


def test_another_profile_keeps_single_settings():
    """What the old profile set is what the new one sets."""
    full = Config(llm=LLMConfig(name="x"), roles=RolesConfig(validate="prompted"), verify=VerifyConfig(repairs=5))
    writer = full.with_profile("writer")
    assert prompted(writer) == {"write", "validate"} and (writer.verify.mode, writer.verify.repairs) == ("annotate", 5)
    assert writer.profile == "writer" and prompted(full.with_profile("full")) == prompted(full)


@pytest.mark.parametrize("old", MOVED)
def test_a_setting_that_has_moved_is_refused_with_its_new_name(old, tmp_path):
    """In the file and in the environment; it is not silently ignored."""
    group, name = old.split(".")
    file = tmp_path / "doxa.toml"
    file.write_text(f'[{group}]\n{name} = "builtin"\n')
    with pytest.raises(ConfigError, match=MOVED[old]):
        Config.load(file, environ={})
    variable = f"DOXA_{MOVED[old].replace('.', '_').upper()}"
    with pytest.raises(ConfigError, match=variable):
        Config.load(environ={f"DOXA_{group}_{name}".upper(): "builtin"})
    assert Config.load(environ={variable: "builtin"}) == Config()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (Config(profile="writer"), r"Role write is 'prompted' by the profile 'writer'.*DOXA_LLM.*profile to 'offline'"),
        (Config(roles=RolesConfig(distil="prompted")), r"Role distil .* the setting roles\.distil.*'builtin'"),
        (Config(roles=RolesConfig(extract="amr")), r"Role extract is 'amr'.*AMR parser.*DOXA_AMR"),
    ],
    ids=["profile", "setting", "parser"],
)
def test_a_role_without_a_model_is_refused_at_once(config, says):
    """The message names the role, what asked for it and what to set."""
    with pytest.raises(ConfigError, match=says):
        Doxa.open(":memory:", config=config)


def test_a_profile_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="profile"):
        Config.load(environ={"DOXA_PROFILE": "everything"})
