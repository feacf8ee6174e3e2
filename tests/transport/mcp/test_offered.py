"""What every profile offers: names, hints, schemas, and nothing by which a user could be named."""

import json
import re

import pytest

from doxa.core.config import MCP_PROFILES
from doxa.core.errors import ConfigError
from doxa.transport.mcp.server import server

from .conftest import MODES

TOOLS = {
    "doxa": "remember recall why correct forget tasks",
    "reference": "create_entities create_relations add_observations delete_entities delete_observations "
    "delete_relations read_graph search_nodes open_nodes",
    "mem0": "add_memory search_memories get_memories get_memory update_memory delete_memory delete_all_memories "
    "delete_entities list_entities list_events get_event_status",
    "graphiti": "add_memory search_nodes search_memory_facts get_entity_edge delete_entity_edge get_episodes "
    "delete_episode add_triplet get_episode_entities clear_graph build_communities summarize_saga get_status",
}
DESTROYING = {
    "correct", "forget", "delete_entities", "delete_observations", "delete_relations", "update_memory", "delete_memory",
    "delete_all_memories", "delete_entity_edge", "delete_episode", "clear_graph",
}  # fmt: skip


@MODES
@pytest.mark.parametrize("profile", MCP_PROFILES)
def test_a_profile_offers_its_tools_each_with_words_hints_and_schemas(play, profile, mode):
    """Every tool says what it is for, what it takes and gives, and what it may do."""

    async def test(host):
        tools = (await host.client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS[profile].split()
        for tool in tools:
            assert tool.title and len(tool.description) > 20
            assert tool.output_schema["type"] == "object"
            assert tool.annotations.open_world_hint is False
            assert tool.annotations.destructive_hint is (tool.name in DESTROYING)
            assert not (tool.annotations.read_only_hint and tool.annotations.destructive_hint)

    play(test, mode, profile)


@pytest.mark.parametrize("profile", MCP_PROFILES)
def test_no_tool_has_an_argument_that_names_a_user(play, profile):
    """Whose memory it is says the key or the start command alone."""

    async def test(host):
        for tool in (await host.client.list_tools()).tools:
            names = re.findall(r'"(\w+)": \{', json.dumps(tool.input_schema))
            assert not [name for name in names if re.search(r"user|group|tenant|owner", name)], tool.name

    play(test, profile=profile)


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [
        ("doxa", "recall", {"query": "x", "user": "bo"}),
        ("mem0", "search_memories", {"query": "x", "user_id": "bo"}),
        ("graphiti", "get_episodes", {"group_ids": ["bo"]}),
        ("reference", "read_graph", {"user": "bo"}),
    ],
)
def test_an_argument_that_there_is_not_is_refused_and_not_ignored(play, profile, tool, arguments):
    """Who names a user is told that nothing was done, instead of being shown somebody else's memory."""

    async def test(host):
        assert "never an argument" in await host.fails(tool, **arguments)

    play(test, profile=profile)


def test_an_argument_that_is_missing_is_named(play):
    """In words for a model, and not in those of the library that looks at arguments."""

    async def test(host):
        assert await host.fails("correct") == "correct needs action. Nothing was done."

    play(test)


def test_an_unknown_profile_is_refused():
    """A slip in the name says which names there are."""
    with pytest.raises(ConfigError, match="reference, mem0, graphiti"):
        server("mem", lambda _: None)


def test_tools_of_a_request_without_a_room_touch_nothing(doxa):
    """Where nobody said whose memory a request works on, it fails."""
    import anyio

    from .conftest import connected

    async def run():
        async with connected(server("doxa", lambda _: None), "auto") as host:
            await host.fails("recall", query="Where does Ana live?")

    anyio.run(run)


def test_making_a_server_leaves_the_logging_of_the_process_alone():
    """The SDK sets up logging for everybody; that is undone."""
    import logging

    before = logging.getLogger().handlers[:], logging.getLogger().level
    server("doxa", lambda _: None)
    assert (logging.getLogger().handlers, logging.getLogger().level) == before
