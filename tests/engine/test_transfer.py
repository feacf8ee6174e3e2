"""A memory goes out and comes in whole, or not at all."""

import json

import pytest

from doxa.core.errors import FormatError, InputError, StoreError
from doxa.engine import Doxa

HEADER = {"format": "doxa-export/1", "user": "ana"}
BODY = {"session": "s", "speaker": "Ana", "role": "user", "text": "I live in Rome."}
TURN = {"kind": "turn", "at": "2024-01-01T00:00:00+00:00", "turn_id": "t1", "body": BODY}
EVENT = {"kind": "maintained", "at": "2024-01-01T00:00:00+00:00", "about": "t1", "body": {}}


def write(path, *records):
    """Write an export by hand."""
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


CLAIM = {"s": ["ana", "Ana"], "r": ["lives_in", "lives in"], "o": ["rome", "Rome"], "turn": "t1", "speaker": "Ana"}
FACT = {"id": "f1", "s": ["ana", "Ana"], "r": ["lives_in", "lives in"], "o": ["rome", "Rome"]}
ATOM = {"s": ["it", "it"], "r": ["rain", "rains"], "o": ["", ""]}


@pytest.mark.parametrize(
    "record",
    [
        {**TURN, "turn_id": None},
        {**TURN, "turn_id": "t1"},
        {**TURN, "turn_id": "t2", "at": "yesterday"},
        {**TURN, "turn_id": "t2", "body": {"text": "x"}},
        {**TURN, "turn_id": "t2", "body": {**BODY, "role": "king"}},
        {**TURN, "turn_id": "t2", "body": {**BODY, "text": 5}},
        {**EVENT, "body": {"changes": [{}]}},
        {**EVENT, "about": "t9"},
        {**EVENT, "about": ["t1"]},
        {**EVENT, "kind": "retracted", "about": None, "body": {"target": "nothing"}},
        {**EVENT, "kind": "from the future"},
        {**EVENT, "kind": "annotated", "about": None, "body": {"target": "t9", "metadata": {}}},
        {**EVENT, "body": {"claims": [{**CLAIM, "conf": "sure"}]}},
        {**EVENT, "body": {"claims": [{**CLAIM, "conf": 7}]}},
        {**EVENT, "body": {"claims": [{**CLAIM, "s": [1, "Ana"]}]}},
        {**EVENT, "body": {"claims": [CLAIM], "changes": [{"kind": "assert", "fact": {**FACT, "turns": [1]}}]}},
        {**EVENT, "body": {"claims": [{**CLAIM, "span": "\ud800"}]}},
        {**EVENT, "body": {"rules": [{"if": [{**ATOM, "o": [["a"], "b"]}], "then": [ATOM]}]}},
        {**EVENT, "body": {"degraded": 5}},
        {**EVENT, "body": {"tasks": {"n": "one", "edits": []}}},
        {**EVENT, "body": {"tasks": {"n": 1, "edits": [{"id": "n9", "set": 5}]}}},
        {**EVENT, "body": {"extraction": {"facts": 5}}},
        {**EVENT, "body": {"task_reading": {"acts": ["none"]}}},
        [1],
    ],
    ids=str,
)
def test_a_damaged_export_is_refused_whole(doxa, tmp_path, record):
    """The line is named, nothing of the file is stored, and the memory can still be read."""
    path, memory = write(tmp_path / "in.jsonl", HEADER, TURN, record), doxa.memory(user="ana")
    with pytest.raises(FormatError, match=r"in\.jsonl:3"):
        memory.import_(path)
    assert memory.stats()["turns"] == 0 and doxa.users() == []


def test_an_export_of_nothing_is_imported(doxa, tmp_path):
    memory = doxa.memory(user="ana")
    assert memory.import_(memory.export(tmp_path / "none.jsonl")) == 0


@pytest.mark.parametrize("piece", ['{"urn:a":', '{"@included":', "["])
def test_an_export_that_is_nested_without_an_end_is_refused(doxa, tmp_path, piece):
    """What reads JSON-LD goes down a level by a call: some thousand ended the process."""
    (tmp_path / "in.jsonld").write_text('{"@context": {}, "@graph": ' + piece * 30_000)
    with pytest.raises(FormatError, match="levels"):
        doxa.memory(user="ana").import_(tmp_path / "in.jsonld")


def test_an_import_that_breaks_off_leaves_nothing(config, tmp_path, monkeypatch):
    """All rows are one transaction, so the next attempt starts from an empty memory."""
    with Doxa.open(":memory:", config=config) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        chat.absorb("I moved to Rome.", turn_id="t2")
        doxa.memory(user="ana").withdraw(turn_id="t2")
        path = doxa.memory(user="ana").export(tmp_path / "ana.jsonl")
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        memory, calls = doxa.memory(user="ana"), []
        monkeypatch.setattr(
            "doxa.backends.store.sql.rows.dumps", lambda body: calls.append(body) or 1 / (len(calls) < 4)
        )
        with pytest.raises(ZeroDivisionError):
            memory.import_(path)
        monkeypatch.undo()
        assert doxa.users() == []
        assert memory.import_(path) == 2
        assert memory.export(tmp_path / "again.jsonl").read_text() == path.read_text()


def test_a_forgotten_memory_can_be_imported_again(doxa, tmp_path):
    """Withdrawn, retracted and generated turns come back as they were, after everything had been erased."""
    chat, memory = doxa.dialogue(user="ana", agent="helper", session="s"), doxa.memory(user="ana")
    for n, text in enumerate(["I live in Lisbon.", "I like tea.", "I moved to Rome.", "Where do I live?"]):
        chat.respond(text, at=f"2024-01-0{n + 1}", turn_id=f"t{n}")
    memory.withdraw(turn_id="t2")
    memory.retract(memory.facts(relation="likes")[0].fact_id)
    path, facts = memory.export(tmp_path / "ana.jsonl"), memory.facts(current=False)
    memory.forget(everything=True)
    assert memory.import_(path) == 8
    assert memory.facts(current=False) == facts
    assert memory.export(tmp_path / "again.jsonl").read_text() == path.read_text()


def test_an_export_while_another_process_writes_is_whole(config, tmp_path, monkeypatch):
    """Rows that came in after the state was read are exported with their turns."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        chat.flush()
        log, rows = doxa.parts.log, doxa.parts.log.rows

        def later(user):
            other.dialogue(user="ana").absorb("I like tea.", turn_id="t2")
            other.flush()
            return rows(user)

        monkeypatch.setattr(log, "rows", later)
        out = doxa.memory(user="ana").export(tmp_path / "out.jsonl")
    abouts = [json.loads(line).get("about") for line in out.read_text().splitlines()]
    assert [about for about in abouts if about] == ["t1", "t2"]


@pytest.mark.parametrize("name", ["", "missing/out.jsonl"])
def test_an_export_that_cannot_be_written_leaves_no_part(doxa, tmp_path, name):
    """A folder or a missing folder is refused with one of our errors."""
    doxa.dialogue(user="ana").absorb("I live in Lisbon.")
    with pytest.raises((InputError, StoreError)):
        doxa.memory(user="ana").export(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
