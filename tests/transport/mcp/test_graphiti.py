"""The profile `graphiti`."""

import pytest

from .conftest import accept


async def add(host, body="I live in Porto. I work at Acme.", **more):
    return (await host.call("add_memory", name="chat", episode_body=body, reference_time="2024-03-01", **more))["uuid"]


def test_episodes_make_nodes_and_facts(play):
    """An episode is understood when it is stored, and is found as nodes and as facts with their episodes."""

    async def test(host):
        uuid = await add(host, uuid="e1")
        assert uuid == "e1"
        nodes = (await host.call("search_nodes", query="Where does Ana work?"))["nodes"]
        assert {"Ana", "Acme"} <= {one["name"] for one in nodes}
        kinds = await host.call("search_nodes", query="Where does Ana work?", entity_types=["Organisation"])
        assert [one["name"] for one in kinds["nodes"]] == ["Acme"]
        facts = (await host.call("search_memory_facts", query="Where does Ana work?", edge_types=["works_at"]))["facts"]
        assert [(one["fact"], one["episodes"], one["group_id"]) for one in facts] == [
            ("Ana works at Acme", ["e1"], "ana")
        ]
        assert await host.call("get_entity_edge", uuid=facts[0]["uuid"]) == facts[0]
        assert (await host.call("get_episodes"))["episodes"][0]["content"] == "I live in Porto. I work at Acme."
        assert {"Ana works at Acme"} <= {
            one["fact"] for one in (await host.call("get_episode_entities", episode_uuids=["e1"]))["edges"]
        }
        assert "1 episodes" in (await host.call("get_status"))["message"]

    play(test, profile="graphiti")


def test_facts_end_when_they_are_replaced(play):
    """`valid_at` and `invalid_at` are the days of the world."""

    async def test(host):
        await add(host, "I live in Porto.")
        uuid = (await host.call("add_memory", name="c", episode_body="I moved to Bonn.", reference_time="2024-05-01"))[
            "uuid"
        ]
        (fact,) = (await host.call("get_episode_entities", episode_uuids=[uuid]))["edges"]
        assert fact["valid_at"] == "2024-05-01" and "invalid_at" not in fact

    play(test, profile="graphiti")


def test_edges_and_episodes_are_deleted(play, doxa):
    """An edge is believed no longer; an episode is gone with what rests on it."""

    async def test(host):
        uuid = await add(host)
        edge = (await host.call("search_memory_facts", query="Ana works", edge_types=["works_at"]))["facts"][0]["uuid"]
        await host.call("delete_entity_edge", uuid=edge)
        assert (await host.call("search_memory_facts", query="Ana works", edge_types=["works_at"]))["facts"] == []
        await host.call("delete_episode", uuid=uuid)
        assert (await host.call("get_episodes"))["episodes"] == []
        assert uuid in await host.fails("delete_episode", uuid=uuid)

    play(test, profile="graphiti")
    assert doxa.memory(user="ana").facts() == []


def test_a_triplet_is_a_sentence(play):
    """Its statement is read like any other, and has to name both ends."""

    async def test(host):
        triplet = {"source_node_name": "Maria", "edge_name": "works_at", "target_node_name": "Acme"}
        out = await host.call("add_triplet", **triplet, fact="Maria works at Acme.")
        assert "Maria works at Acme" in [one["fact"] for one in out["edges"]]
        assert {"Maria", "Acme"} <= {one["name"] for one in out["nodes"]}
        assert "Acme" in await host.fails("add_triplet", **triplet, fact="Maria has a job.")

    play(test, profile="graphiti")


def test_a_key_that_may_only_write_adds_episodes_and_no_triplet(play, doxa):
    """What a triplet gives back tells of both of its ends; an episode has but a receipt."""

    async def test(host):
        triplet = {"source_node_name": "Ana", "edge_name": "lives_in", "target_node_name": "Lisbon"}
        assert "not read" in await host.fails("add_triplet", **triplet, fact="Ana lives in Lisbon.")
        out = await host.call("add_memory", name="chat", episode_body="I moved to Lisbon.", uuid="e2")
        assert out == {"message": "Episode 'chat' stored and processed", "uuid": "e2"}

    doxa.dialogue(user="ana").absorb("I live in Porto.", turn_id="e1")
    play(test, profile="graphiti", rights=("write",))
    assert [turn.turn_id for turn in doxa.memory(user="ana").turns()] == ["e1", "e2"]


def test_the_graph_is_cleared_when_the_user_agrees(play, doxa):
    """The user is asked first; without a way to ask, the words are needed."""

    async def refused(host):
        await add(host)
        assert "Nothing was erased" in await host.fails("clear_graph")

    async def agreed(host):
        assert (await host.call("clear_graph"))["erased"]

    play(refused, profile="graphiti")
    play(agreed, profile="graphiti", answer=accept(erase=True))
    assert doxa.memory(user="ana").turns() == []


@pytest.mark.parametrize(("tool", "arguments"), [("build_communities", {}), ("summarize_saga", {"saga_name": "s"})])
def test_what_has_no_meaning_here_says_so(play, tool, arguments):
    """It is refused in words that say what to do instead."""

    async def test(host):
        assert "here" in await host.fails(tool, **arguments)

    play(test, profile="graphiti")
