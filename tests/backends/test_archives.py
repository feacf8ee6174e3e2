"""Archives of other memories and chat programs -> turns: ids, dates, sources, what is left out, what is broken."""

import gzip
import json
import zipfile
from datetime import UTC, datetime

import pytest

from doxa.backends.transcripts import ARCHIVES
from doxa.backends.transcripts import read_archive as read
from doxa.core.errors import FormatError, NotFoundError

MEM0 = {
    "id": "m1",
    "memory": "Likes hiking",
    "user_id": "ana",
    "agent_id": "bot",
    "run_id": "r1",
    "hash": "x",
    "metadata": {"place": "alps"},
    "created_at": "2024-01-02T03:04:05Z",
    "updated_at": "2024-02-02T00:00:00+01:00",
}


@pytest.fixture
def written(tmp_path):
    """What writes a file of an archive: text, bytes, or data as JSON."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def lines(archive, user=None):
    """The turns of one user."""
    return next((one.lines for one in archive.conversations if one.name == user), ())


@pytest.mark.parametrize(
    "content",
    [[MEM0], {"results": [MEM0]}, {"memories": [MEM0], "count": 1}, json.dumps(MEM0) + "\n" + json.dumps(MEM0)],
)
def test_memories_of_mem0_keep_id_date_and_source(written, content):
    archive = read(written("export.txt", content))
    (line,) = lines(archive, "ana")
    assert archive.format == "mem0"
    assert (line.turn_id, line.text, line.session) == ("mem0/m1", "Likes hiking", "r1")
    assert line.at == datetime(2024, 2, 1, 23, tzinfo=UTC)  # when these words were written, not the first ones
    assert line.metadata == {"place": "alps"}
    assert line.origin["id"] == "m1" and line.origin["agent_id"] == "bot"
    assert line.origin["created_at"] == MEM0["created_at"]


def test_users_are_kept_apart_and_each_memory_comes_by_its_date(written):
    records = [
        {**MEM0, "id": "late", "updated_at": "2025-01-01T00:00:00Z"},
        {**MEM0, "id": "undated", "updated_at": None, "created_at": None},
        {**MEM0, "id": "early", "updated_at": "2023-01-01T00:00:00Z"},
        {**MEM0, "id": "other", "user_id": "bo"},
    ]
    archive = read(written("m.json", records))
    assert [line.turn_id for line in lines(archive, "ana")] == ["mem0/early", "mem0/late", "mem0/undated"]
    assert [line.turn_id for line in lines(archive, "bo")] == ["mem0/other"]
    assert lines(archive, "ana")[-1].at is None


def test_what_is_no_memory_is_told_and_the_rest_is_read(written):
    bad_date = {**MEM0, "id": "m2", "updated_at": "yesterday"}
    archive = read(written("m.json", [MEM0, {"milk": 2}, {**MEM0, "id": "m3", "memory": "  "}, bad_date]))
    assert [line.turn_id for line in lines(archive, "ana")] == ["mem0/m1", "mem0/m2"]
    told = " ".join(map(str, archive.problems))
    assert "'milk'" in told and "empty turn" in told and "'yesterday'" in told


def test_a_file_that_breaks_off_gives_what_came_before(written):
    text = json.dumps([MEM0, {**MEM0, "id": "m2"}])
    archive = read(written("m.json", text[: text.index('"m2"') + 10]))
    assert [line.turn_id for line in lines(archive, "ana")] == ["mem0/m1"]
    assert archive.problems


def test_embeddings_are_counted_as_not_carried(written):
    archive = read(written("m.json", [{**MEM0, "embedding": [0.1]}, {**MEM0, "id": "m2", "vector": [0.2]}]))
    assert list(archive.left.values()) == [2]


def backup(records, **more):
    """What OpenMemory's backup holds as `memories.json`."""
    return {
        "user": {"id": "0", "user_id": "ana"},
        "apps": [{"id": "a", "name": "cursor"}],
        "categories": [{"id": "c", "name": "work"}],
        "memories": records,
        **more,
    }


RECORD = {"id": "o1", "content": "Works at Mareluz", "state": "active", "created_at": "2024-01-01T00:00:00Z"}


def test_a_backup_of_openmemory_is_read_once_with_names_for_ids(tmp_path):
    record = RECORD | {"app_id": "a", "category_ids": ["c"], "metadata": {"k": 1}}
    path = tmp_path / "backup.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memories.json", json.dumps(backup([record, RECORD | {"id": "gone", "state": "deleted"}])))
        archive.writestr("memories.jsonl.gz", gzip.compress(json.dumps(RECORD).encode()))
    found = read(path)
    (line,) = lines(found, "ana")
    assert (found.format, line.turn_id, line.text) == ("openmemory", "openmemory/o1", "Works at Mareluz")
    assert (line.origin["app_id"], line.origin["categories"], line.metadata) == ("cursor", ["work"], {"k": 1})
    assert found.left == {"deleted memories": 1} and not found.problems


def test_the_lines_of_openmemory_alone_are_read_too(written):
    record = RECORD | {"app": "cursor", "categories": ["work"]}
    (line,) = lines(read(written("memories.jsonl.gz", gzip.compress(json.dumps(record).encode()))))
    assert (line.turn_id, line.origin["app_id"], line.origin["categories"]) == ("openmemory/o1", "cursor", ["work"])


def item(value, **more):
    """An item of a LangGraph store."""
    return {"namespace": ["memories", "ana"], "key": "k1", "value": value, "created_at": "2024-01-01T00:00:00Z", **more}


def test_items_of_a_store_are_of_the_user_that_their_namespace_is(written):
    value = {"kind": "Memory", "content": {"content": "Ana likes tea"}}
    table = {"prefix": "memories.bo", "key": "k", "value": {"content": "Bo likes coffee"}}
    archive = read(written("items.json", [item(value), table]))
    (line,) = lines(archive, "memories/ana")
    assert (archive.format, line.turn_id, line.text) == ("langgraph", "langgraph/memories/ana/k1", "Ana likes tea")
    assert line.origin["value"] == value and line.session == "memories/ana" and not line.verbatim
    assert lines(archive, "memories/bo")[0].text == "Bo likes coffee"


def test_an_item_that_is_no_sentence_is_kept_word_for_word(written):
    (line,) = lines(read(written("items.json", [item({"age": 31})])), "memories/ana")
    assert json.loads(line.text) == {"age": 31} and line.verbatim


def message(text, role="user", **more):
    """A message of an agent file."""
    return {"id": f"m-{text}", "role": role, "content": [{"type": "text", "text": text}], **more}


def test_an_agent_of_letta_gives_messages_and_blocks(written):
    said = [message("Hi, I'm Bo.", created_at="2024-01-01T00:00:00Z"), message("Hello!", "assistant")]
    agent = {
        "name": "Sam",
        "block_ids": ["b1"],
        "messages": [*said, message("be kind", "system"), message("x", "tool")],
    }
    blocks = [{"id": "b1", "label": "human", "value": "Name: Bo"}, {"id": "b2", "label": "of nobody", "value": "no"}]
    archive = read(written("sam.af", {"agents": [agent], "blocks": blocks, "tools": [{}, {}]}))
    hi, hello, block = sorted(lines(archive), key=lambda line: line.verbatim)
    assert archive.format == "letta"
    assert (hi.turn_id, hi.role, hi.speaker, hi.session) == ("letta/Sam/m-Hi, I'm Bo.", "user", None, "Sam")
    assert (hello.role, hello.speaker) == ("assistant", "Sam")
    assert (block.text, block.role, block.verbatim) == ("Name: Bo", "assistant", True)
    assert sum(archive.left.values()) == 4  # two messages that nobody said, two tools


def test_the_older_layout_of_an_agent_and_passages_are_read(written):
    agent = {"name": "Sam", "core_memory": [{"label": "persona", "value": "I am Sam."}], "messages": [message("Hi.")]}
    assert [line.text for line in lines(read(written("old.af", agent)))] == ["I am Sam.", "Hi."]
    passage = {"id": "passage-1", "text": "Bo sails.", "created_at": "2024-01-01T00:00:00Z", "embedding": [0.0]}
    archive = read(written("passages.json", [passage]))
    assert (archive.format, lines(archive)[0].turn_id) == ("letta", "letta/passage-1")


EPISODE = {
    "uuid": "e1",
    "name": "chat",
    "content": "Ana lives in Oslo.",
    "source": "text",
    "source_description": "",
    "group_id": "ana",
}
EDGE = {"uuid": "f1", "fact": "Ana lives in Oslo", "source_node_uuid": "1", "target_node_uuid": "2", "group_id": "ana"}


def test_an_edge_is_a_sentence_where_its_episode_is_not_there(written):
    whole = {
        "episodes": [EPISODE | {"valid_at": "2024-01-01T00:00:00Z"}],
        "edges": [EDGE | {"episodes": ["e1"]}, EDGE | {"uuid": "f2", "episodes": ["e0"], "valid_at": "2023-01-01"}],
        "nodes": [{"uuid": "1", "name": "Ana", "labels": ["Entity"], "summary": "..."}],
    }
    archive = read(written("graph.json", whole))
    assert [line.turn_id for line in lines(archive, "ana")] == ["graphiti/f2", "graphiti/e1"]
    assert lines(archive, "ana")[0].at == datetime(2023, 1, 1, tzinfo=UTC)
    assert sum(archive.left.values()) == 2 and not archive.problems


def test_nothing_is_believed_of_an_edge_that_was_invalidated(written):
    over = EDGE | {"invalid_at": "2024-05-01T00:00:00Z"}
    (line,) = lines(read(written("edges.json", [over])), "ana")
    assert line.verbatim and line.origin["invalid_at"] == over["invalid_at"]


def test_an_episode_of_messages_is_a_turn_for_each_speaker(written):
    talk = EPISODE | {"source": "message", "content": "Ana: I live in Oslo.\nBo: Nice.\nassistant: Noted."}
    archive = read(written("episodes.json", {"episodes": [talk]}))
    said = lines(archive, "ana")
    assert [(one.speaker, one.text) for one in said] == [
        ("Ana", "I live in Oslo."),
        ("Bo", "Nice."),
        ("assistant", "Noted."),
    ]
    assert [one.turn_id for one in said] == ["graphiti/e1/1", "graphiti/e1/2", "graphiti/e1/3"]
    assert said[2].role == "assistant"


def test_messages_of_a_thread_of_zep_are_turns(written):
    said = {
        "uuid": "z1",
        "role": "Ana",
        "role_type": "user",
        "name": "Ana",
        "content": "Hi.",
        "created_at": "2024-01-01",
    }
    (line,) = lines(read(written("thread.json", {"messages": [said]})))
    assert (line.turn_id, line.speaker, line.role) == ("graphiti/z1", "Ana", "user")


GRAPH = [
    {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["Lives in Oslo", "Ana sails"]},
    {"type": "relation", "from": "Ana", "to": "Bo_B", "relationType": "works_with"},
]


def test_the_memory_file_of_mcp_becomes_sentences(written):
    archive = read(written("memory.jsonl", "\n".join(map(json.dumps, [*GRAPH, {"type": "entity"}]))))
    assert archive.format == "mcp"
    assert [line.text for line in lines(archive)] == [
        "Ana is a person.",
        "Ana lives in Oslo",
        "Ana sails",
        "Ana works with Bo_B.",
    ]
    assert len(archive.problems) == 1


def test_the_archive_of_claude_is_found_among_its_other_files(tmp_path):
    path = tmp_path / "data.zip"
    said = {"uuid": "m1", "sender": "human", "text": "Hi.", "created_at": "2024-01-01T00:00:00Z"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("conversations.json", json.dumps([{"uuid": "c1", "name": "x", "chat_messages": [said]}]))
    found = read(path)
    (line,) = lines(found)
    assert (found.format, line.turn_id, line.session) == ("claude", "m1", "c1")
    assert sum(found.left.values()) == 1


def test_the_archive_of_chatgpt_may_be_in_parts(tmp_path):
    for place in (0, 1):
        node = {
            "message": {"id": f"m{place}", "author": {"role": "user"}, "content": {"parts": ["Hi."]}},
            "parent": None,
        }
        talk = {"conversation_id": f"c{place}", "mapping": {"n": node}, "current_node": "n"}
        (tmp_path / f"conversations-00{place}.json").write_text(json.dumps([talk]))
    found = read(tmp_path)
    assert (found.format, [line.turn_id for line in lines(found)]) == ("chatgpt", ["m0", "m1"])


def test_points_of_the_vector_store_of_mem0_are_its_memories(written):
    payload = {"data": "Likes tea", "user_id": "ana", "hash": "h", "created_at": "2024-01-01", "place": "alps"}
    for content in (
        [{"id": "p", "payload": payload, "vector": [0.1]}],
        {"result": {"points": [{"id": "p", "payload": payload}]}, "status": "ok"},
        [{"id": "p", "payload": json.dumps(payload)}],
    ):
        archive = read(written("points.json", content))
        (line,) = lines(archive, "ana")
        assert (archive.format, line.turn_id, line.text, line.metadata) == (
            "mem0",
            "mem0/p",
            "Likes tea",
            {"place": "alps"},
        )
        assert line.origin["hash"] == "h" and "data" not in line.origin


def test_memories_of_mem0_keep_who_said_them(written):
    said = [MEM0 | {"role": "assistant", "actor_id": "helper"}, MEM0 | {"id": 7}]
    helper, other = lines(read(written("m.json", said)), "ana")
    assert (helper.role, helper.speaker) == ("assistant", "helper")
    assert (other.turn_id, other.role, other.speaker) == ("mem0/7", "user", None)


def test_what_is_of_nobody_who_can_be_told_is_nobody_elses(written):
    archive = read(written("m.json", [MEM0, MEM0 | {"id": "m2", "user_id": ["ana", "bo"]}]))
    assert [line.turn_id for one in archive.conversations for line in one.lines] == ["mem0/m1"]
    assert "the user of m2" in str(archive.problems[0])


def test_relations_and_other_files_are_counted_as_not_carried(written):
    written("all/m.json", {"results": [MEM0], "relations": [{"source": "ana"}]})
    archive = read(written("all/picture.png", b"\x89PNG").parent)
    assert sorted(archive.left.values()) == [1, 1] and not archive.problems


def test_a_hidden_memory_of_openmemory_is_kept_and_not_believed(written):
    archive = read(written("m.json", backup([RECORD | {"state": "archived"}, RECORD | {"id": "o2"}])))
    hidden, shown = lines(archive, "ana")
    assert (hidden.verbatim, shown.verbatim) == (True, False)
    assert hidden.origin["invalid"] and "invalid" not in shown.origin


def test_labels_with_a_slash_make_no_user_of_two(written):
    items = [item({"content": "One."}, namespace=["a", "b"]), item({"content": "Two."}, namespace=["a/b"])]
    archive = read(written("items.json", items))
    assert [one.name for one in archive.conversations if one.lines] == ["a/b", "a%2Fb"]


@pytest.mark.parametrize("value", [{"data": "Likes tea"}, {"memory": "Likes tea"}, {"text": "Likes tea"}, "Likes tea"])
def test_the_one_text_of_an_item_is_what_it_says(written, value):
    for stored in (value, json.dumps(value) if isinstance(value, dict) else value):
        (line,) = lines(read(written("items.json", [item(stored)])), "memories/ana")
        assert line.text == "Likes tea" and not line.verbatim and line.origin["value"] == value
    (line,) = lines(read(written("items.json", [item({"text": "x", "score": 3})])), "memories/ana")
    assert line.verbatim


def wrapped(**data):
    """What an agent of MemGPT's kind hears."""
    return json.dumps({**data, "time": "2024-01-01 10:00:00 AM UTC+0000"})


def test_an_agent_that_speaks_by_calls_gives_what_was_said(written):
    call = {"function": {"name": "send_message", "arguments": json.dumps({"message": "Nice!"})}}
    told = [
        message(wrapped(type="login", last_login="Never"), id="a"),
        message(wrapped(type="user_message", message="I live in Rome."), id="b"),
        message("She lives in Rome. I save it.", "assistant", id="c", tool_calls=[call]),
        message("I look it up.", "assistant", id="d", tool_calls=[{"function": {"name": "search", "arguments": "{}"}}]),
    ]
    agent = {"name": "Sam", "agent_type": "memgpt_agent", "block_ids": [], "messages": told}
    archive = read(written("sam.af", {"agents": [agent, agent], "blocks": []}))
    assert [(one.turn_id, one.text) for one in lines(archive)] == [
        ("letta/Sam/b", "I live in Rome."),
        ("letta/Sam/c", "Nice!"),
        ("letta/Sam 2/b", "I live in Rome."),
        ("letta/Sam 2/c", "Nice!"),
    ]
    assert sum(archive.left.values()) == 4 and not archive.problems


def test_messages_of_an_agent_as_its_api_lists_them(written):
    def told(key, kind, text):
        return {"id": key, "date": "2024-01-01T00:00:00Z", "message_type": kind, "content": text}

    listed = [
        told("message-1", "user_message", "Hi."),
        told("message-2", "reasoning_message", "Hm."),
        told("message-3", "assistant_message", "Hello!"),
    ]
    archive = read(written("messages.json", listed))
    assert [(one.turn_id, one.role, one.text) for one in lines(archive)] == [
        ("letta/message-1", "user", "Hi."),
        ("letta/message-3", "assistant", "Hello!"),
    ]
    assert lines(archive)[0].at == datetime(2024, 1, 1, tzinfo=UTC)


def test_an_agent_and_its_passages_are_read_together(written):
    written("sam/sam.af", {"agents": [{"name": "Sam", "messages": [message("Hi.")]}], "blocks": []})
    archive = read(written("sam/passages.json", [{"id": "passage-1", "text": "Bo sails."}]).parent)
    assert [line.text for line in lines(archive)] == ["Bo sails.", "Hi."] and not archive.problems


def test_an_episode_of_the_server_of_graphiti_names_who_spoke(written):
    told = [
        EPISODE | {"uuid": key, "source": "message", "content": content}
        for key, content in (("e1", "Ana(user): I sail: often."), ("e2", "(assistant): Noted."))
    ]
    ana, other = lines(read(written("episodes.json", told)), "ana")
    assert (ana.turn_id, ana.speaker, ana.role, ana.text) == ("graphiti/e1", "Ana", "user", "I sail: often.")
    assert (other.speaker, other.role, other.text) == (None, "assistant", "Noted.")


def test_an_episode_in_which_not_all_is_said_by_name_is_whole(written):
    talk = EPISODE | {"source": "message", "content": "They met at noon.\nAna: Hi.\nBo: Hello."}
    (line,) = lines(read(written("episodes.json", [talk])), "ana")
    assert line.text == talk["content"]


def test_the_graph_that_the_tool_of_mcp_reads_is_known(written):
    entities = [{"name": "Ana", "entityType": "person", "observations": ["Sails", None]}]
    relations = [{"from": "Ana", "to": "Bo", "relationType": "knows"}]
    archive = read(written("graph.json", {"entities": entities, "relations": relations}))
    assert [line.text for line in lines(archive)] == ["Ana is a person.", "Ana sails", "Ana knows Bo."]
    assert archive.format == "mcp" and "observation" in str(archive.problems[0])


def test_conversations_in_files_of_their_own_are_found_and_say_where_they_come_from(written):
    said = {"uuid": "m1", "sender": "human", "text": "Hi.", "created_at": "2024-01-01", "attachments": [{}, {}]}
    written("claude/trip.json", [{"uuid": "c1", "chat_messages": [said]}])
    archive = read(written("claude/users.json", []).parent)
    (line,) = lines(archive)
    assert line.origin == {"from": "claude", "id": "m1"}
    assert sorted(archive.left.values()) == [1, 2]


def test_messages_of_branches_that_were_left_are_counted(written):
    def node(key, parent):
        return {"message": {"id": key, "author": {"role": "user"}, "content": {"parts": [key]}}, "parent": parent}

    nodes = {"a": node("a", None), "b": node("b", "a"), "c": node("c", "a")}
    archive = read(written("conversations.json", [{"id": "x", "mapping": nodes, "current_node": "c"}]))
    assert [line.text for line in lines(archive)] == ["a", "c"]
    assert list(archive.left.values()) == [1]


AGENT = {
    "agents": [{"name": "Sam", "block_ids": ["b"], "messages": [message("Hi.")]}],
    "blocks": [{"id": "b", "label": "human", "value": "x"}],
    "tools": [],
}
TALK = [
    {
        "id": "c",
        "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi."]}}, "parent": None}},
        "current_node": "a",
    }
]
WHOLE = {
    "mem0": {"results": [MEM0]},
    "openmemory": backup([RECORD | {"app_id": "a", "category_ids": ["c"]}]),
    "langgraph": [item({"kind": "Memory", "content": {"content": "Ana likes tea"}})],
    "letta": AGENT,
    "graphiti": {"episodes": [EPISODE], "edges": [EDGE | {"episodes": ["e0"]}]},
    "mcp": GRAPH,
    "chatgpt": TALK,
}
ODD = (
    None,
    0,
    -1,
    True,
    float("nan"),
    "",
    "x" * 500,
    [],
    {},
    [1],
    [None],
    [[]],
    {"a": 1},
    "\ud800",
    10**30,
    "2024-13-45",
)


def places(value, path=()):
    """Every place in JSON data."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed(value, path, new):
    """The data with something else at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("name", WHOLE)
def test_whatever_stands_at_whatever_place_costs_only_itself(written, name):
    for path in places(WHOLE[name]):
        for new in ODD:
            archive = read(written("odd.json", json.dumps(changed(WHOLE[name], path, new))), format=name)
            assert all(line.turn_id for one in archive.conversations for line in one.lines)


def test_what_is_no_archive_is_read_as_a_transcript(written):
    assert read(written("chat.txt", "Ana: Hi.\nBo: Hello.")).format == "text"
    assert read(written("chat.jsonl", '{"role": "user", "content": "Hi."}')).format == "openai"


def test_errors_say_what_is_expected(written, tmp_path):
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.json")
    with pytest.raises(FormatError, match="mem0"):
        read(written("folder/picture.png", b"\x89PNG").parent)
    with pytest.raises(FormatError, match="expected the format"):
        read(written("m.json", [MEM0]), format="mem1")
    empty = read(written("m.json", [MEM0]), format="letta")
    assert empty.problems and not lines(empty)


def test_a_broken_zip_is_one_error(written):
    whole = written("a.zip", b"")
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("conversations.json", "[" + " " * 5000 + "]")
    content = bytearray(whole.read_bytes())
    content[60:70] = b"garbage!!!"
    with pytest.raises(FormatError, match="a.zip"):
        read(written("a.zip", bytes(content)))


def test_every_format_has_a_name_of_its_own():
    assert len(set(ARCHIVES)) == len(ARCHIVES)
