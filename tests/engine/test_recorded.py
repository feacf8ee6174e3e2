"""A conversation with a model, recorded and played again: equal in all but the name of the model and the time."""

import json
import re
from datetime import UTC, datetime
from itertools import repeat

import pytest

from doxa.backends.llm import Recorder
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import LLMConfig, RolesConfig
from doxa.core.errors import ConfigError
from doxa.engine import Doxa
from doxa_bench.record import models_of

TURNS = ("I keep the lighthouse.", "I live in Oslo.", "Where do I live?", "What do I keep?")
KEEPS = {
    "kind": "fact", "subject": "Ana", "relation": "is the keeper of", "object": "lighthouse", "holds": True,
    "mood": "asserted", "from": None, "to": None, "over": False, "beside": False, "source": None,
    "quote": "I keep the lighthouse",
}  # fmt: skip


def model(request):
    """Answer as a model would, once in prose, and once not at all."""
    text = request.messages[-1].content
    if "entries" in (request.schema or {}).get("properties", {}):
        said = json.loads(request.messages[1].content)["message"]["text"]
        return json.dumps({"entries": [KEEPS] if said == TURNS[0] else []})
    if TURNS[3] in text and len(request.messages) < 4:
        return "The lighthouse, I think."
    return json.dumps({"answer": "In Oslo.", "value": "Oslo", "citations": [], "abstained": False})


def opened(config, **settings):
    roles = RolesConfig(extract="prompted", write="prompted")
    return Doxa.open(config=config.model_copy(update={"llm": LLMConfig(**settings), "roles": roles}))


def told(doxa):
    """What a conversation leaves: replies, their traces without times and names, facts."""
    with doxa:
        chat = doxa.dialogue(user="ana")
        replies = [chat.respond(text, at=f"2024-03-0{day}") for day, text in enumerate(TURNS, start=1)]
        chat.flush()
        facts = [(str(fact), fact.turn_ids) for fact in doxa.memory(user="ana").facts()]
        steps = [[(step.name, step.detail, step.degraded) for step in reply.trace.steps] for reply in replies]
        name = doxa.parts.model().name
        text = json.dumps([[reply.text, reply.value] for reply in replies] + [steps, facts], default=str)
        return re.sub(r'"model": "[^"]*"', "", text.replace(name, "MODEL")), models_of(doxa.describe())


def test_a_recorded_conversation_is_the_same_again(config, tmp_path):
    """Replies, traces and facts; and the run says that a recording answered, of which model and day."""
    doxa = opened(config, name="scripted")
    doxa.parts.opened.model = Recorder(ScriptedModel(repeat(model), name="scripted"), tmp_path)
    first, models = told(doxa)
    again, played = told(opened(config, name=f"recorded:{tmp_path}"))
    assert again == first and "keeper" in first
    assert models["llm"] == "scripted" and played["llm"] == f"recorded:scripted, {datetime.now(UTC).date()}"


def test_what_was_not_recorded_is_told_in_the_trace(config, tmp_path):
    """The memory answers without the model, and says so."""
    Recorder(ScriptedModel(name="scripted"), tmp_path)
    with opened(config, name=f"recorded:{tmp_path}") as doxa:
        reply = doxa.dialogue(user="ana").respond("I live in Oslo.")
    assert any("Expected a recorded answer of scripted" in reason for reason in reply.trace.degraded)


def test_a_setting_records(config, tmp_path):
    with opened(config, name="scripted:painter", record=tmp_path / "kept") as doxa:
        assert isinstance(doxa.parts.model(), Recorder)
    assert 'model = "painter"' in (tmp_path / "kept" / "model.toml").read_text()


def test_a_recording_that_is_not_there_is_refused_before_a_turn_comes(config):
    with pytest.raises(ConfigError, match="Expected recorded:FOLDER"):
        opened(config, name="recorded:nowhere")


def test_a_folder_that_cannot_be_recorded_into_is_refused_before_a_file_is_made(config, tmp_path):
    Recorder(ScriptedModel(name="another"), tmp_path / "kept")
    settings = config.model_copy(update={"llm": LLMConfig(name="scripted:painter", record=tmp_path / "kept")})
    with pytest.raises(ConfigError, match="one of another"):
        Doxa.open(tmp_path / "memory.db", config=settings)
    assert not (tmp_path / "memory.db").exists()
