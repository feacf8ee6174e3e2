"""The profile `mem0`."""

import pytest

from .conftest import accept


def test_memories_are_added_found_and_read(play):
    """What is added is found by its meaning and by its id, in mem0's shapes."""

    async def test(host):
        (added,) = (await host.call("add_memory", text="I live in Porto.", run_id="r1"))["results"]
        assert (added["event"], added["memory"], added["user_id"]) == ("ADD", "Ana lives in Porto", "ana")
        (found,) = (await host.call("search_memories", query="Where does Ana live?"))["results"]
        assert found["id"] == added["id"] and found["score"] > 0
        assert (await host.call("get_memory", memory_id=added["id"]))["memory"] == "Ana lives in Porto"
        assert await host.call("list_entities") == {
            "count": 1,
            "results": [{"name": "ana", "type": "user", "total_memories": 1}],
        }

    play(test, profile="mem0")


def test_a_key_that_may_only_write_is_told_what_it_said_and_no_more(play):
    """What became of it would tell what was remembered before."""

    async def before(host):
        await host.call("add_memory", text="I live in Porto.")

    async def test(host):
        (added,) = (await host.call("add_memory", text="I moved to Lisbon."))["results"]
        assert (added["memory"], added["event"]) == ("I moved to Lisbon.", "ADD")
        assert "not read" in await host.fails("get_memories")

    play(before, profile="mem0")
    play(test, profile="mem0", rights=("write",))


def test_what_no_fact_is_read_from_is_a_memory_too(play):
    """Nothing that is added is lost from sight."""

    async def test(host):
        said = [{"role": "user", "content": "Hmm, sunsets."}]
        (added,) = (await host.call("add_memory", messages=said))["results"]
        assert (added["memory"], added["event"]) == ("Hmm, sunsets.", "ADD")
        assert (await host.call("get_memories"))["results"][0]["id"] == added["id"]
        await host.call("delete_memory", memory_id=added["id"])
        assert (await host.call("get_memories"))["count"] == 0

    play(test, profile="mem0")


def test_a_newer_statement_is_an_update(play):
    """What is replaced is told as deleted, and found no longer."""

    async def test(host):
        await host.call("add_memory", text="I live in Porto.")
        out = await host.call("add_memory", text="I moved to Lisbon.")
        assert [one["event"] for one in out["results"]] == ["DELETE", "ADD"]
        (found,) = (await host.call("get_memories"))["results"]
        assert found["memory"].startswith("Ana lives in Lisbon")

    play(test, profile="mem0")


def test_pages_and_filters(play, doxa):
    """Memories come in pages, and of one run or time where that is asked for."""
    dialogue = doxa.dialogue(user="ana", session="r1")
    dialogue.absorb("I live in Porto.", at="2024-03-01")
    doxa.dialogue(user="ana", session="r2").absorb("I work at Acme.", at="2024-05-01")
    dialogue.flush()

    async def test(host):
        page = await host.call("get_memories", page_size=1, page=2)
        assert page["previous"] == 1 and len(page["results"]) == 1
        (one,) = (await host.call("get_memories", filters={"run_id": "r1"}))["results"]
        assert one["memory"] == "Ana lives in Porto"
        late = {"AND": [{"created_at": {"gte": "2024-04-01", "lte": "2024-05-01"}}]}
        assert "Porto" not in str(await host.call("get_memories", filters=late))
        assert "Porto" not in str(await host.call("search_memories", query="Ana", filters=late))
        for filters in ({"user_id": "bo"}, {"AND": [{"user_id": "bo"}]}, {"OR": [{"run_id": "r1"}]}):
            assert "API key" in await host.fails("search_memories", query="Ana", filters=filters)
        assert "time" in await host.fails("get_memories", filters={"created_at": {"gte": "soon"}})

    play(test, profile="mem0")


def test_a_memory_is_overwritten(play):
    """The new text takes the place of the old."""

    async def test(host):
        (added,) = (await host.call("add_memory", text="I live in Porto."))["results"]
        out = await host.call("update_memory", memory_id=added["id"], text="I live in Bonn.")
        assert "Ana lives in Bonn" in [one["memory"] for one in out["results"]]
        assert [one["memory"] for one in (await host.call("get_memories"))["results"]] == ["Ana lives in Bonn"]
        assert "no memory" in await host.fails("update_memory", memory_id="f_none", text="x")

    play(test, profile="mem0")


def test_deleting_erases_a_turn_unless_it_says_other_things(play, doxa):
    """A deleted memory is found no longer; what else its turn says stays."""

    async def test(host):
        one, other = (await host.call("add_memory", text="I live in Porto. My birthday is on 3 May."))["results"]
        assert "kept" in (await host.call("delete_memory", memory_id=one["id"]))["message"]
        assert [kept["id"] for kept in (await host.call("get_memories"))["results"]] == [other["id"]]
        await host.call("delete_memory", memory_id=other["id"])
        assert "no memory" in await host.fails("get_memory", memory_id=other["id"])

    play(test, profile="mem0")
    assert doxa.memory(user="ana").turns() == []


@pytest.mark.parametrize("tool", ["delete_all_memories", "delete_entities"])
def test_all_memories_go_when_the_user_agrees(play, doxa, tool):
    """The user is asked first; without a way to ask, the words are needed."""

    async def refused(host):
        await host.call("add_memory", text="I live in Porto.")
        assert "Nothing was erased" in await host.fails(tool)

    async def agreed(host):
        assert (await host.call(tool))["erased"]

    play(refused, profile="mem0")
    play(agreed, profile="mem0", answer=accept(erase=True))
    assert doxa.memory(user="ana").turns() == []


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("list_events", {}, "no events"),
        ("get_event_status", {"event_id": "e1"}, "e1"),
        ("add_memory", {"text": "I live in Porto.", "metadata": {"a": 1}}, "nothing was stored"),
        ("add_memory", {}, "provide either"),
    ],
)
def test_what_has_no_meaning_here_says_so(play, doxa, tool, arguments, said):
    """It is refused in words, and nothing is stored."""

    async def test(host):
        assert said in await host.fails(tool, **arguments)

    play(test, profile="mem0")
    assert doxa.memory(user="ana").turns() == []
