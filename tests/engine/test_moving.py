"""Moving in and out: archives become memories once, and go back to where they came from as they were."""

import json
import uuid
import zipfile
from datetime import UTC, datetime

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig
from doxa.core.errors import FormatError, InputError
from doxa.engine import IMPORTED, OURS

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


@pytest.fixture
def doxa():
    """An engine in memory; what it has not understood at the end, nobody waits for."""
    engine = Doxa.open(":memory:", config=LIGHT)
    yield engine
    engine.close(limit_s=0)


def memory(number, text, user="ana", **more):
    """A memory as mem0 gives it out."""
    at = f"2024-01-{1 + number % 28:02d}T00:00:00+00:00"
    made = str(uuid.UUID(int=number))
    return {"id": made, "memory": text, "user_id": user, "metadata": {}, "created_at": at, "updated_at": at, **more}


@pytest.fixture
def archive(tmp_path):
    """What writes memories of mem0 to a file."""

    def write(*records, name="mem0.json"):
        path = tmp_path / name
        path.write_text(json.dumps({"results": records}))
        return path

    return write


def told(doxa, user):
    """What is believed of a user's memory, as sentences."""
    mine = doxa.memory(user=user)
    return [mine.describe(fact) for fact in mine.facts()]


def test_later_memories_revise_earlier_ones_whatever_their_order_in_the_file(doxa, archive):
    taken = doxa.import_(archive(memory(9, "I moved to Oslo."), memory(1, "I live in Rome.")), user="me")
    doxa.flush()
    assert (taken.format, taken.new, taken.users) == ("mem0", 2, ["ana"])
    assert told(doxa, "ana") == ["Ana lives in Oslo since 10 January 2024"]
    assert [str(one.kind) for one in doxa.memory(user="ana").history()].count("close") == 1


def test_importing_again_adds_nothing(doxa, archive):
    path = archive(*(memory(n, f"Project {n} is in Rome.") for n in range(50)))
    first, second = doxa.import_(path, user="me"), doxa.import_(path, user="me")
    doxa.flush()
    assert (first.new, first.known, second.new, second.known) == (50, 0, 0, 50)
    assert len(doxa.memory(user="ana").turns()) == 50


def test_each_turn_says_where_it_comes_from(doxa, archive):
    doxa.import_(archive(memory(1, "I live in Rome.", agent_id="bot", metadata={"k": 1}, hash="h")), user="me")
    doxa.flush()
    (turn,) = doxa.memory(user="ana").turns()
    assert turn.metadata["k"] == 1
    assert turn.metadata[OURS]["agent_id"] == "bot"
    assert turn.metadata[OURS][IMPORTED]["from"] == "mem0"
    assert turn.metadata[OURS][IMPORTED]["hash"] == "h"
    assert doxa.memory(user="ana").facts()[0].turn_ids == (turn.turn_id,)


def test_users_of_an_archive_are_users_unless_all_is_one_users(doxa, archive):
    path = archive(memory(1, "I live in Rome."), memory(2, "I live in Oslo.", user="bo"))
    doxa.import_(path, user="me")
    doxa.flush()
    assert doxa.users() == ["ana", "bo"]
    assert told(doxa, "bo") == ["Bo lives in Oslo"]
    taken = doxa.import_(path, user="all", one_user=True)
    assert taken.users == ["all"] and len(doxa.memory(user="all").turns()) == 2


def test_a_memory_that_was_changed_there_is_told_and_stays_here(doxa, archive):
    doxa.import_(archive(memory(1, "I live in Rome.")), user="me")
    taken = doxa.import_(archive(memory(1, "I live in Oslo.")), user="me")
    doxa.flush()
    assert (taken.new, taken.known, taken.clashes) == (0, 0, [f"mem0/{uuid.UUID(int=1)}"])
    assert told(doxa, "ana") == ["Ana lives in Rome"]


def test_what_cannot_be_taken_is_told_with_its_id(archive):
    config = LIGHT.model_copy(update={"engine": EngineConfig(max_turn_chars=1000)})
    with Doxa.open(":memory:", config=config) as doxa:
        records = [memory(1, "x" * 2000), memory(2, "I live in Rome."), memory(3, "Hi.", user="u" * 300)]
        taken = doxa.import_(archive(*records, memory(4, "Yes.", metadata={OURS: 1})), user="me")
    assert taken.new == 1
    assert any(str(uuid.UUID(int=1)) in one and "1,000" in one for one in taken.problems)
    assert any("1 turn" in one and "left out" in one for one in taken.problems)
    assert any(OURS in one for one in taken.problems)


def test_undated_turns_are_of_now_or_of_a_date(doxa, archive):
    undated = memory(1, "I live in Rome.", created_at=None, updated_at=None)
    taken = doxa.import_(archive(undated), user="me")
    assert taken.undated == 1
    assert doxa.memory(user="ana").turns()[0].at.date() == datetime.now(UTC).date()
    taken = doxa.import_(archive(undated | {"id": "other"}, name="b.json"), user="me", date="2020-05-01")
    assert taken.undated == 0
    assert doxa.memory(user="ana").turns()[1].at == datetime(2020, 5, 1, tzinfo=UTC)


def test_it_goes_on_where_it_broke_off(doxa, archive):
    """What a block brought before is kept, and is known the next time."""
    path = archive(*(memory(n, f"Project {n} is in Rome.") for n in range(2500)))
    steps = []

    def interrupt(done, whole):
        steps.append((done, whole))
        if done >= 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        doxa.import_(path, user="me", told=interrupt)
    assert steps == [(1000, 2500), (2000, 2500)]
    taken = doxa.import_(path, user="me")
    assert (taken.new, taken.known) == (500, 2000)
    assert doxa.parts.log.head("ana").received >= 2500


def test_storing_costs_a_few_statements_a_thousand_turns(doxa, archive, monkeypatch):
    """Counted in transactions, since seconds depend on the machine."""
    calls = []
    store = doxa.parts.log.store
    kept = store.receive_many
    monkeypatch.setattr(store, "receive_many", lambda scope, turns: calls.append(len(turns)) or kept(scope, turns))
    monkeypatch.setattr(store, "receive", lambda *args, **kw: pytest.fail("one at a time"))
    doxa.import_(archive(*(memory(n, f"Project {n} is in Rome.") for n in range(3000))), user="me")
    assert calls == [1000, 1000, 1000]


def test_nothing_is_stored_of_what_is_no_archive(doxa, tmp_path):
    with pytest.raises(FormatError):
        doxa.import_(tmp_path, user="me")
    with pytest.raises(InputError):
        doxa.import_(tmp_path, user="")
    assert doxa.users() == []


@pytest.mark.parametrize("name", ["mem0", "openmemory", "langgraph"])
def test_what_was_taken_goes_back_as_it_was(doxa, archive, tmp_path, name):
    """As long as it holds: what was revised is given as what is so instead, under another id."""
    records = [memory(1, "Likes hiking, and tea"), memory(2, "I live in Rome."), memory(3, "Works with Bo!!")]
    doxa.import_(archive(*records), user="me")
    doxa.flush()
    first = doxa.memory(user="ana").export(tmp_path / "first", format=name)
    doxa.import_(first, user="x", one_user=True)
    doxa.flush()
    again = doxa.memory(user="x").export(tmp_path / "again", format=name)
    read = [sorted(_records(path, name)) for path in (first, again)]
    assert read[0] == read[1]
    if name == "mem0":
        assert read[0] == sorted((one["id"], one["memory"], one["updated_at"]) for one in records)


def _records(path, name):
    from doxa.backends.transcripts import read_archive as read

    for one in read(path, format=name).conversations:
        for line in one.lines:
            yield line.origin.get("key") or line.origin["id"], line.text, line.at.isoformat()


def test_a_revised_memory_does_not_go_back(doxa, archive, tmp_path):
    doxa.import_(archive(memory(1, "I live in Rome."), memory(2, "I play chess.")), user="me")
    doxa.dialogue(user="ana").absorb("I moved to Oslo.", at="2024-06-01")
    doxa.flush()
    out = json.loads(doxa.memory(user="ana").export(tmp_path / "out", format="mem0").read_text())["results"]
    assert [one["memory"] for one in out if one["id"] == str(uuid.UUID(int=2))] == ["I play chess."]
    assert str(uuid.UUID(int=1)) not in {one["id"] for one in out}
    assert not any("Rome" in one["memory"] for one in out) and any("Oslo" in one["memory"] for one in out)


def exported(doxa, tmp_path, name, user="ana"):
    """What an export in JSON holds."""
    return json.loads(doxa.memory(user=user).export(tmp_path / f"{name}.out", format=name).read_text())


def test_what_still_holds_goes_back_though_it_is_past_or_was_said_twice(doxa, archive, tmp_path):
    texts = [
        "I worked at Siemens from 2010 to 2015.",
        "I live in Rome.",
        "Ana lives in Rome.",
        "I lived in Paris until 2019.",
    ]
    records = [memory(n, text) for n, text in enumerate(texts)]
    doxa.import_(archive(*records), user="me")
    doxa.flush()
    out = exported(doxa, tmp_path, "mem0")["results"]
    assert sorted((one["id"], one["memory"]) for one in out) == [(one["id"], one["memory"]) for one in records]


def test_what_was_no_longer_believed_there_leaves_only_for_there(doxa, tmp_path):
    edge = {"uuid": "f1", "fact": "Ana lives in Oslo", "source_node_uuid": "1", "target_node_uuid": "2", "name": "IN"}
    over = {**edge, "group_id": "ana", "valid_at": "2020-01-01", "invalid_at": "2024-01-01T00:00:00Z"}
    (tmp_path / "edges.json").write_text(json.dumps([over, {**edge, "uuid": "f2", "fact": "Ana plays chess"}]))
    doxa.import_(tmp_path / "edges.json", user="ana", one_user=True)
    doxa.flush()
    assert told(doxa, "ana") == ["Ana plays chess"]
    assert [one["memory"] for one in exported(doxa, tmp_path, "mem0")["results"]] == ["Ana plays chess"]
    assert "Oslo" not in doxa.memory(user="ana").export(tmp_path / "said", format="messages").read_text()
    graph = exported(doxa, tmp_path, "graphiti")
    edges = {one["uuid"]: one for one in graph["edges"]}
    assert set(edges) == {"f1", "f2"} and graph["episodes"] == []
    assert edges["f1"]["invalid_at"] == over["invalid_at"] and edges["f1"]["source_node_uuid"] == "1"


def test_a_memory_that_has_expired_is_not_believed(doxa, archive, tmp_path):
    over = memory(1, "I live in Rome.", expiration_date="2020-01-01")
    doxa.import_(archive(over, memory(2, "I play chess.", expiration_date="2999-01-01")), user="me")
    doxa.flush()
    assert told(doxa, "ana") == ["Ana plays chess"]
    back = {one["id"]: one.get("expiration_date") for one in exported(doxa, tmp_path, "mem0")["results"]}
    assert back == {over["id"]: "2020-01-01", str(uuid.UUID(int=2)): "2999-01-01"}


def test_facts_that_leave_name_the_episodes_that_leave_with_them(doxa, tmp_path):
    """So that coming back, what was said is read again and nothing twice."""
    episode = {
        "uuid": "e1",
        "content": "I live in Rome.",
        "source": "text",
        "group_id": "ana",
        "valid_at": "2024-01-01",
    }
    (tmp_path / "graph.json").write_text(json.dumps({"episodes": [episode]}))
    doxa.import_(tmp_path / "graph.json", user="me")
    doxa.flush()
    graph = exported(doxa, tmp_path, "graphiti")
    assert [one["episodes"] for one in graph["edges"]] == [["e1"]]
    taken = doxa.import_(tmp_path / "graphiti.out", user="me")
    assert (taken.new, taken.known) == (0, 1)


def test_blocks_and_messages_of_an_agent_go_back_as_what_they_were(doxa, tmp_path):
    agent = {"name": "Sam", "block_ids": ["b"], "messages": [{"role": "user", "content": "I sail.", "otid": "o1"}]}
    block = {"id": "b", "label": "persona", "value": "I am Sam."}
    (tmp_path / "sam.af").write_text(json.dumps({"agents": [agent], "blocks": [block]}))
    doxa.import_(tmp_path / "sam.af", user="ana")
    doxa.flush()
    out = exported(doxa, tmp_path, "letta")
    assert [(one["otid"], one["content"][0]["text"]) for one in out["agents"][0]["messages"]] == [("o1", "I sail.")]
    assert ("persona", "I am Sam.") in [(one["label"], one["value"]) for one in out["blocks"]]
    rewritten = {"agents": [agent], "blocks": [block | {"value": "I am Sam, and I sail."}]}
    (tmp_path / "sam.af").write_text(json.dumps(rewritten))
    taken = doxa.import_(tmp_path / "sam.af", user="ana")
    assert (taken.new, taken.known, taken.clashes) == (1, 1, [])
    doxa.flush()
    labels = [(one["label"], one["value"]) for one in exported(doxa, tmp_path, "letta")["blocks"]]
    assert [value for label, value in labels if label == "persona"] == ["I am Sam, and I sail."]


def test_a_memory_of_openmemory_keeps_its_state_and_its_labels(doxa, tmp_path):
    record = {"id": str(uuid.UUID(int=1)), "content": "Works at Mareluz", "created_at": "2024-01-01"}
    more = {"state": "paused", "app": "cursor", "categories": ["work"]}
    (tmp_path / "memories.json").write_text(json.dumps({"user": {"user_id": "ana"}, "memories": [record | more]}))
    doxa.import_(tmp_path / "memories.json", user="me")
    doxa.flush()
    assert told(doxa, "ana") == []
    out = doxa.memory(user="ana").export(tmp_path / "out.zip", format="openmemory")
    with zipfile.ZipFile(out) as backup:
        (back,) = json.loads(backup.read("memories.json"))["memories"]
    assert (back["id"], back["state"], back["app_id"], back["categories"]) == (
        record["id"],
        "paused",
        "cursor",
        ["work"],
    )


def test_a_session_that_is_called_like_a_graph_is_none(doxa, tmp_path):
    talk = doxa.dialogue(user="ana", session="graph theory")
    talk.absorb("I live in Rome.")
    doxa.dialogue(user="ana", session='graph {"name": 1}').absorb("I play chess.")
    doxa.flush()
    out = doxa.memory(user="ana").export(tmp_path / "out.jsonl", format="mcp").read_text()
    assert "Rome" in out and "chess" in out


def test_notes_have_names_that_every_file_system_takes(doxa, tmp_path):
    from doxa.backends.transcripts import Line
    from doxa.backends.transcripts import written_notes as notes

    lines = [Line(text="x", origin={"subject": name}) for name in ("Ana", "ana", "a/b", "..", "\U0001f600" * 100)]
    names = list(notes(lines))
    assert len({name.casefold() for name in names}) == len(names) == 4
    assert all(len(name.encode()) <= 255 and "/" not in name and name.strip(".") for name in names)
    assert notes(lines)["Ana.md"].decode().count("- x") == 2


def test_the_graph_of_mcp_goes_back_letter_for_letter(doxa, tmp_path):
    graph = [
        {"type": "entity", "name": "Ana_K", "entityType": "person", "observations": ["Speaks French", "ana_k's cat"]},
        {"type": "entity", "name": "Bo", "entityType": "person", "observations": []},
        {"type": "relation", "from": "Ana_K", "to": "Bo", "relationType": "works_with"},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, graph)))
    doxa.import_(path, user="me")
    doxa.flush()
    out = doxa.memory(user="me").export(tmp_path / "out.jsonl", format="mcp")
    assert [json.loads(line) for line in out.read_text().splitlines()] == graph


@pytest.mark.parametrize("name", ["letta", "graphiti", "messages"])
def test_what_was_said_comes_back_word_for_word(doxa, tmp_path, name):
    talk = doxa.dialogue(user="ana", agent="bot", session="s")
    talk.absorb("I live in Rome: by the sea.", at="2024-01-01", turn_id="t1")
    talk.absorb("Noted.", role="assistant", at="2024-01-02", turn_id="t2")
    doxa.flush()
    path = doxa.memory(user="ana").export(tmp_path / "out", format=name)
    taken = doxa.import_(path, user="x", one_user=True)
    doxa.flush()
    turns = [turn for turn in doxa.memory(user="x").turns() if not turn.verbatim]
    assert [(turn.text, turn.at.date().isoformat()) for turn in turns] == [
        ("I live in Rome: by the sea.", "2024-01-01"),
        ("Noted.", "2024-01-02"),
    ]
    assert not taken.problems
    assert all("t1" in turn.turn_id or "t2" in turn.turn_id for turn in turns)


def test_export_says_what_it_can_write(doxa, tmp_path):
    doxa.dialogue(user="ana").absorb("I live in Rome.")
    with pytest.raises(InputError, match="graphiti"):
        doxa.memory(user="ana").export(tmp_path / "out", format="mem1")
    with pytest.raises(InputError, match="a file"):
        doxa.memory(user="ana").export(tmp_path, format="mem0")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.md").write_text("mine")
    with pytest.raises(InputError, match="empty"):
        doxa.memory(user="ana").export(tmp_path / "notes", format="notes")


def test_user_in_a_memory_is_the_user_and_what_is_told_later_revises_it(doxa, archive, tmp_path):
    """Also in possessives, and after the log was carried elsewhere; in what people say it is whoever they mean."""
    texts = ["User lives in Rome", "User's favorite color is blue", "The user is married to Bo"]
    doxa.import_(archive(*(memory(n, text) for n, text in enumerate(texts))), user="me")
    doxa.dialogue(user="ana").absorb("I moved to Oslo.", at="2024-06-01")
    doxa.dialogue(user="ana").absorb("The user is called Max.", at="2024-06-02")
    doxa.flush()
    assert {"Ana lives in Oslo since 1 June 2024", "Ana's favourite color is blue", "Ana is married to Bo"} <= {
        one.replace("colour", "color") for one in told(doxa, "ana")
    }
    assert not any("Rome" in one for one in told(doxa, "ana"))
    assert not any("Ana" in one and "Max" in one for one in told(doxa, "ana"))
    doxa.memory(user="copy").import_(doxa.memory(user="ana").export(tmp_path / "log.jsonl"))
    assert doxa.memory(user="copy").turns()[0].called == ("User",)


def test_a_list_of_a_note_is_a_list_again(doxa, tmp_path):
    """Each memory is an item, with its day as a comment that is no part of it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "me.md").write_text("---\ndate: 2024-02-01\n---\n- I like tea\n- I play chess\n")
    doxa.import_(tmp_path / "in", user="ana")
    doxa.flush()
    out = doxa.memory(user="ana").export(tmp_path / "out", format="notes")
    text = "# Ana\n\n- I like tea %%2024-02-01%%\n- I play chess %%2024-02-01%%\n"
    assert {path.name: path.read_text() for path in out.iterdir()} == {"Ana.md": text}
    taken = doxa.import_(out, user="copy")
    assert taken.new == 1 and doxa.memory(user="copy").turns()[0].text == "- I like tea\n- I play chess"


def test_who_a_memory_is_about_may_be_left_out(doxa, archive):
    """A note about somebody says "Lives in Oslo"; said in a chat, that is of whatever was spoken of."""
    texts = ["Lives in Rome", "Loves hiking", "Is a nurse", "Lives in Oslo"]
    doxa.import_(archive(*(memory(n, text) for n, text in enumerate(texts))), user="me")
    doxa.dialogue(user="bo").absorb("Lives in Oslo")
    doxa.flush()
    assert set(told(doxa, "ana")) >= {"Ana lives in Oslo since 4 January 2024", "Ana likes hiking"}
    assert not any("Rome" in one for one in told(doxa, "ana"))
    assert told(doxa, "bo") == []


def test_a_turn_of_a_program_may_be_a_note_too(doxa):
    talk = doxa.dialogue(user="ana")
    talk.absorb("User lives in Rome.", called=["User"])
    doxa.flush()
    assert told(doxa, "ana") == ["Ana lives in Rome"]
    for wrong in ("User", [""], [1]):
        with pytest.raises(InputError, match="called"):
            talk.absorb("User lives in Rome.", called=wrong)
