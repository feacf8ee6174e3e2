"""LangMem's tools and store manager run on the store as they are."""

import uuid

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip("langmem")

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

from doxa.integrations.langgraph import DoxaStore

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
SPACE = ("memories", "ana")


class Scripted(BaseChatModel):
    """A model that answers with the calls of a script, one entry a time."""

    script: list[list[dict]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **_):
        """It knows its calls by heart."""
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        calls = [{**call, "id": str(uuid.uuid4()), "type": "tool_call"} for call in self.script.pop(0)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])


@pytest.fixture
def store(doxa):
    """A store over an empty memory."""
    return DoxaStore(doxa)


def test_the_tools_write_change_find_and_delete(store):
    """As LangMem's quickstart has them, with one object changed."""
    manage = create_manage_memory_tool(namespace=SPACE, store=store)
    search = create_search_memory_tool(namespace=SPACE, store=store)
    made = manage.invoke({"content": "Ana lives in Lisbon.", "action": "create"})
    key = made.rsplit(" ", 1)[-1]
    manage.invoke({"content": "Ana is allergic to walnuts.", "action": "create"})
    assert "Lisbon" in search.invoke({"query": "Where does Ana live?", "limit": 1})
    manage.invoke({"content": "Ana lives in Berlin.", "action": "update", "id": key})
    told = search.invoke({"query": "Where does Ana live?"})
    assert "Berlin" in told and "Lisbon" not in told
    store.doxa.flush()
    assert [str(one.object) for one in store.doxa.memory(user="memories/ana").facts(relation="lives_in")] == ["Berlin"]
    manage.invoke({"action": "delete", "id": key})
    assert "Berlin" not in search.invoke({"query": "Where does Ana live?"}) and store.get(SPACE, key) is None


def test_the_store_manager_keeps_what_its_model_makes_of_a_conversation(store):
    """Found again by the manager and by the memory behind the store."""
    model = Scripted(script=[[{"name": "Memory", "args": {"content": "Ana prefers dark mode in every app."}}]])
    manager = create_memory_store_manager(model, namespace=SPACE, store=store, enable_deletes=False)
    manager.invoke({"messages": [{"role": "user", "content": "I prefer dark mode everywhere."}]})
    (found,) = manager.search(query="dark mode")
    assert found.value.content == "Ana prefers dark mode in every app."
    store.doxa.flush()
    (evidence, *_) = store.doxa.memory(user="memories/ana").search("Which mode does Ana prefer?")
    assert "dark mode" in evidence.text
