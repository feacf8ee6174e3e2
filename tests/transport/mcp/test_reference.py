"""The profile `reference`: a graph of entities, observations and relations, as the reference server keeps it."""

import json

import anyio
import pytest

from doxa.transport.mcp.server import server

from .conftest import MODES, connected, room

JOHN = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish", "graduated in 2019"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "John_Smith", "to": "Acme", "relationType": "works_at"}
GRAPH = "memory://knowledge-graph"


async def create(host):
    await host.call("create_entities", entities=[JOHN, ACME])
    await host.call("create_relations", relations=[WORKS])


@MODES
def test_what_is_written_is_read_back_letter_for_letter(play, mode):
    """Entities, observations and relations come back as they were given, as text and as structured content."""

    async def test(host):
        done = await host.result("create_entities", entities=[JOHN, ACME])
        assert done.structured_content == {"entities": [JOHN, ACME]}
        assert json.loads(done.content[0].text) == [JOHN, ACME]
        assert (await host.call("create_relations", relations=[WORKS])) == {"relations": [WORKS]}
        done = await host.result("read_graph")
        assert done.structured_content == {"entities": [JOHN, ACME], "relations": [WORKS]}
        assert json.loads(done.content[0].text) == done.structured_content
        (content,) = (await host.client.read_resource(GRAPH)).contents
        assert json.loads(content.text) == done.structured_content and content.mime_type == "application/json"

    play(test, mode, "reference")


def test_what_is_written_is_believed(play, doxa):
    """Sentences are made of it, and facts are read from them as from any others."""

    async def test(host):
        await create(host)

    play(test, profile="reference")
    memory = doxa.memory(user="ana")
    assert {memory.describe(fact) for fact in memory.facts()} >= {
        "John_Smith speaks fluent Spanish",
        "John_Smith works at Acme",
    }


def test_what_there_is_already_is_not_written_again(play):
    """A second creation gives back what is new alone, also of another type, and loses nothing."""

    async def test(host):
        await create(host)
        again = [JOHN, {"name": "John_Smith", "entityType": "company", "observations": ["x"]}]
        assert await host.call("create_entities", entities=again) == {"entities": []}
        assert await host.call("create_relations", relations=[WORKS, WORKS]) == {"relations": []}
        added = [{"entityName": "Acme", "contents": ["Has 20 people", "Has 20 people"]}]
        assert await host.call("add_observations", observations=added) == {
            "results": [{"entityName": "Acme", "addedObservations": ["Has 20 people"]}]
        }
        graph = await host.call("read_graph")
        assert graph["entities"] == [JOHN, {**ACME, "observations": ["Has 20 people"]}]

    play(test, profile="reference")


def test_what_an_unknown_entity_is_given_is_refused(play, doxa):
    """Nothing is written where an end is missing."""

    async def test(host):
        await create(host)
        links = [{**WORKS, "relationType": "founded"}, {**WORKS, "to": "Nobody"}]
        assert "Entity with name Nobody not found" in await host.fails("create_relations", relations=links)
        gone = [{"entityName": "Nobody", "contents": ["x"]}]
        assert "Nobody" in await host.fails("add_observations", observations=gone)
        assert (await host.call("read_graph"))["relations"] == [WORKS]

    play(test, profile="reference")


def test_deleting_erases_and_says_what_was_not_there(play, doxa):
    """Deletions count like the reference server's, and what is deleted is gone from the memory."""

    async def test(host):
        await create(host)
        some = [{"entityName": "John_Smith", "observations": ["Speaks fluent Spanish", "plays chess"]}]
        done = await host.call("delete_observations", deletions=some)
        assert done == {"success": True, "message": "Deleted 1 of 2 observations."}
        assert not any("Spanish" in turn.text for turn in doxa.memory(user="ana").turns())
        done = await host.result("delete_relations", relations=[WORKS])
        assert done.content[0].text == "Relations deleted successfully"
        assert "0 of 1" in (await host.call("delete_relations", relations=[WORKS]))["message"]
        done = await host.call("delete_entities", entityNames=["John_Smith", "Nobody"])
        assert done["message"] == "Deleted 1 of 2 entities. Not found: Nobody"
        assert await host.call("read_graph") == {"entities": [ACME], "relations": []}
        await host.call("create_entities", entities=[JOHN])
        assert JOHN in (await host.call("read_graph"))["entities"]

    play(test, profile="reference")


def test_an_entity_goes_with_its_relations(play):
    """No relation is left without an end."""

    async def test(host):
        await create(host)
        await host.call("delete_entities", entityNames=["Acme"])
        assert await host.call("read_graph") == {"entities": [JOHN], "relations": []}

    play(test, profile="reference")


def test_nodes_are_found_by_letters_and_opened_by_name(play):
    """Both give the relations that touch what is found."""

    async def test(host):
        await create(host)
        for found in (
            await host.call("search_nodes", query="SPANISH"),
            await host.call("open_nodes", names=["John_Smith", "Nobody"]),
        ):
            assert found == {"entities": [JOHN], "relations": [WORKS]}
        assert await host.call("open_nodes", names=["Nobody"]) == {"entities": [], "relations": []}

    play(test, profile="reference")


def test_what_was_told_in_conversation_is_in_the_graph(play, doxa):
    """Facts between entities are relations, others observations; deleting one retracts it."""
    dialogue = doxa.dialogue(user="ana")
    dialogue.absorb("I work at Acme. My birthday is on 3 May.")
    dialogue.flush()

    async def test(host):
        graph = await host.call("read_graph")
        assert {"from": "Ana", "to": "Acme", "relationType": "works_at"} in graph["relations"]
        (ana,) = (one for one in graph["entities"] if one["name"] == "Ana")
        assert ana["observations"] == ["Ana's birthday is 3 May"]
        await host.call("delete_observations", deletions=[{"entityName": "Ana", "observations": ana["observations"]}])
        assert "birthday" not in json.dumps(await host.call("read_graph"))

    play(test, profile="reference")
    assert len(doxa.memory(user="ana").turns()) == 1


def test_deleting_takes_the_right_to_erase(play, doxa):
    """Without it nothing goes, not even a part."""

    async def create_only(host):
        await create(host)

    async def test(host):
        assert "erase" in await host.fails("delete_entities", entityNames=["John_Smith"])
        assert len((await host.call("read_graph"))["entities"]) == 2

    play(create_only, profile="reference")
    play(test, profile="reference", rights=("read", "write"))


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
@pytest.mark.parametrize("user", ["ana", "bo"])
def test_subscribers_of_the_same_user_are_told_of_changes_in_sessions(doxa, user):
    """A session that subscribed hears that the graph changed; one of another user does not."""
    heard = []

    async def noted(message):
        heard.append(getattr(message, "method", None))

    async def run():
        made = server("reference", lambda _: room(doxa, whose[0]))
        async with connected(made, "legacy", message_handler=noted) as host:
            await host.client.subscribe_resource(GRAPH)
            whose[0] = user
            await host.call("create_entities", entities=[JOHN])
            await anyio.sleep(0.05)
            before = len(heard)
            whose[0] = "ana"
            await host.client.unsubscribe_resource(GRAPH)
            await host.call("create_entities", entities=[ACME])
            await anyio.sleep(0.05)
            assert len(heard) == before

    whose = ["ana"]
    anyio.run(run)
    assert heard == (["notifications/resources/updated"] if user == "ana" else [])


@pytest.mark.parametrize("user", ["ana", "bo"])
def test_listeners_of_the_same_user_are_told_of_changes(doxa, user):
    """So does a stream of the stateless revision."""

    async def run():
        whose = ["ana"]
        made = server("reference", lambda _: room(doxa, whose[0]))
        async with (
            connected(made, "auto") as host,
            host.client.listen(resource_subscriptions=[GRAPH]) as stream,
        ):
            whose[0] = user
            await host.call("create_entities", entities=[JOHN])
            await host.fails("create_relations", relations=[{**WORKS, "to": "Nobody"}])
            heard = []
            with anyio.move_on_after(0.2):
                async for event in stream:
                    heard.append(event.uri)
            assert heard == ([GRAPH] if user == "ana" else [])

    anyio.run(run)
