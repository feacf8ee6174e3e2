"""The memory tool of the Anthropic SDK beside a memory: the same calls as on files, and what files cannot do."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip("anthropic.tools", reason="the SDK has no memory tool")

from anthropic.lib.tools import ToolError
from anthropic.tools import BetaAsyncLocalFilesystemMemoryTool, BetaLocalFilesystemMemoryTool

from doxa.integrations.anthropic import AsyncDoxaMemoryTool, DoxaMemoryTool

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ROME, PARIS = "Ben lives in Rome.\n", "Ben lives in Paris.\n"


@pytest.fixture
def own(shared, request):
    """A tool of a user whom nobody else has."""
    return DoxaMemoryTool(shared, user=request.node.name)


@pytest.fixture
def tool(doxa):
    """A tool of Ana."""
    return DoxaMemoryTool(doxa, user="ana", agent="claude")


def told(tool, command, **given):
    """Return what a tool says to one command as a model gives it, or the error that the model is told."""
    try:
        return tool.call({"command": command, **given})
    except ToolError as exc:
        return f"error: {exc}"


def view(path, *lines):
    """A command."""
    return {"command": "view", "path": path} | ({"view_range": list(lines)} if lines else {})


def create(path, text=ROME):
    """A command."""
    return {"command": "create", "path": path, "file_text": text}


def replace(path, old, new):
    """A command."""
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path, line, text):
    """A command."""
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path):
    """A command."""
    return {"command": "delete", "path": path}


def rename(old, new):
    """A command."""
    return {"command": "rename", "old_path": old, "new_path": new}


def without_folders(text):
    """Leave out how big folders are: of a file system that is how much room their lists of names take."""
    head, *lines = text.split("\n")
    if not head.startswith("Here're the files"):
        return text
    return [
        head,
        *(line.partition("\t")[2] if at == 0 or line.endswith("/") else line for at, line in enumerate(lines)),
    ]


A, B, DEEP = "/memories/a.md", "/memories/b.md", "/memories/d/e/f/deep.md"
MANY = "\n".join(f"line {at}" for at in range(1, 13))
CALLS = {
    "nothing is there": [view("/memories"), view("/memories/"), view(A), delete(A), rename(A, B), replace(A, "x", "y")],
    "files": [create(A), view(A), create(A), create(B, ""), view(B), view("/memories")],
    "other ways to write a path": [
        create("/memories//a.md"),
        view("/memories/./a.md"),
        view(A),
        create("/memories/d/"),
    ],
    "folders": [
        create(DEEP),
        create("/memories/d/x.md", "y" * 3000),
        create("/memories/d.md"),
        view("/memories"),
        view("/memories/d"),
        view("/memories/d/e"),
        view("/memories/d/"),
        create("/memories/d"),
        create("/memories"),
    ],
    "hidden": [create("/memories/.secret"), create("/memories/.d/a.md"), view("/memories"), view("/memories/.d")],
    "no file": [create(DEEP), replace("/memories/d", "a", "b"), insert("/memories/d", 0, "b"), view(f"{DEEP}/x")],
    "lines": [
        create(A, MANY + "\n"),
        *(view(A, *lines) for lines in ((2, 4), (11, -1), (0, 2), (5, 3), (99, 100), (3,))),
    ],
    "replace": [
        create(A, MANY),
        replace(A, "line 5", "LINE\nV"),
        view(A),
        replace(A, "line", "x"),
        replace(A, "no", ""),
        replace(A, "line 12", ""),
        replace(A, "line 1\n", ""),
        replace(A, "", "x"),
        view(A),
        replace(B, "a", "b"),
    ],
    "replace in lines that overlap": [
        create(A, "aaa\naaaa\n"),
        replace(A, "aa", "b"),
        replace(A, "a\na", "-"),
        view(A),
    ],
    "insert": [
        create(A, "one\r\ntwo"),
        insert(A, 0, "zero\n"),
        insert(A, 3, "three\n\n"),
        insert(A, 9, "x"),
        insert(A, -1, "x"),
        insert(A, 2, ""),
        view(A),
        insert(B, 0, "x"),
        create(B, ""),
        insert(B, 0, "x"),
        view(B),
        create("/memories/c", "\n\n"),
        insert("/memories/c", 2, "x"),
        view("/memories/c"),
    ],
    "delete": [
        create(A),
        create("/memories/a.md2"),
        create(DEEP),
        delete(A),
        view(A),
        delete(A),
        view("/memories"),
        delete(DEEP),
        view("/memories"),
        delete("/memories/d/e"),
        view("/memories/d"),
        delete("/memories/d/"),
        create(A),
        delete("/memories"),
        delete("/memories/"),
        view("/memories"),
    ],
    "rename": [
        create(A),
        create(DEEP),
        rename(A, B),
        view(A),
        view(B),
        rename(B, DEEP),
        rename(B, "/memories/n/b.md"),
        rename("/memories/d", "/memories/n/d"),
        view("/memories/n"),
        view("/memories"),
        rename("/memories", "/memories/x"),
        rename("/memories/n", "/memories/n"),
        create(A),
        view("/memories/n/d/e/f/deep.md"),
    ],
    "not under the root": [
        view("/etc/passwd"),
        create("memories/a"),
        create("/memories/../b"),
        view("/memories/../.."),
        rename("/memories/../b", A),
        delete("/memories/d/../../b"),
    ],
    "text of any kind": [
        create(A, "café 😀\u2028x\t\x00\ny"),
        view(A),
        view("/memories"),
        create("/memories/é %_"),
        view("/memories/é %_"),
        view("/memories/E %_"),
    ],
}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_the_same_commands_give_the_same_as_the_files_of_the_sdk(own, tmp_path, calls):
    """Word for word, errors too."""
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    expected = [without_folders(told(theirs, **call)) for call in calls]
    assert [without_folders(told(own, **call)) for call in calls] == expected


def test_it_is_a_tool_of_the_sdk(tool, doxa):
    """It describes itself as one, with what it was given, and leads to the engine."""
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"} and tool.doxa is doxa
    cached = DoxaMemoryTool(doxa, user="ana", cache_control={"type": "ephemeral"})
    assert cached.to_dict()["cache_control"] == {"type": "ephemeral"}


def test_the_tool_that_is_awaited_says_the_same(doxa, tmp_path):
    """To every command."""
    ours, theirs = AsyncDoxaMemoryTool(doxa, user="ana"), BetaAsyncLocalFilesystemMemoryTool(str(tmp_path))

    async def said(tool):
        calls = [create(A), replace(A, "Rome", "Paris"), insert(A, 0, "On Ben"), view(A), rename(A, B), delete(B)]
        return [await tool.call(call) for call in calls] + [await tool.clear_all_memory()]

    assert asyncio.run(said(ours)) == asyncio.run(said(theirs)) and ours.doxa is doxa


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../etc/passwd",
        "/memories/a/../b",
        "/memories/..",
        "/memories/a\x00b",
        "/memoriesx",
        "//memories/a",
        "/",
        "",
        "memories",
        "../memories/a",
        "/memories/" + "x" * 389,
        "/memories/" + "x/" * 200,
    ],
    ids=range(12),
)
def test_a_path_that_may_not_be_is_refused_by_every_command(own, path):
    """And nothing is stored."""
    own.call(create(A))
    calls = [view(path), create(path), replace(path, "a", "b"), insert(path, 0, "a"), delete(path)]
    for call in [*calls, rename(path, B), rename(A, path)]:
        assert re.match("error: Path .*(must start|would escape|NUL|too long)", told(own, **call), flags=re.DOTALL)
    assert list(own._records.all()) == ["/memories/a.md//"]


def test_the_longest_path_that_there_may_be(own):
    """As a file, and not below a folder that is moved."""
    longest = "/memories/d/" + "x" * 386
    assert len(longest) == 398 and told(own, **create(longest)).startswith("File created")
    assert "too long" in told(own, **rename("/memories/d", "/memories/dd"))
    assert told(own, **rename("/memories/d", "/memories/e")).startswith("Successfully")


def test_what_a_file_system_cannot_do_is_said_as_well(own):
    """A folder in itself, and a file as a folder."""
    own.call(create(A))
    own.call(create(DEEP))
    assert told(own, **create(f"{A}/b")) == "error: The path /memories/a.md is not a directory."
    assert told(own, **rename(DEEP, f"{A}/b")) == "error: The path /memories/a.md is not a directory."
    assert "inside it" in told(own, **rename("/memories/d", "/memories/d/e/g"))
    assert ROME.strip() in told(own, **view(DEEP))


def test_what_is_noted_is_found_and_leads_to_its_file(tool, doxa):
    """As a turn of the agent; after the file was moved too."""
    tool.call(create(A, "The boiler was serviced by Mario in May."))
    memory = doxa.memory(user="ana")
    (found, *_) = memory.search("boiler")
    turn = memory.turn(found.turn_ids[0])
    assert (turn.role, turn.speaker, turn.metadata) == ("assistant", "claude", {"path": A})
    tool.call(rename("/memories/a.md", DEEP))
    assert memory.turn(turn.turn_id).metadata == {"path": DEEP}
    tool.call(rename("/memories/d", "/memories/n"))
    assert memory.turn(turn.turn_id).metadata == {"path": "/memories/n/e/f/deep.md"}


def test_a_text_that_was_replaced_is_withdrawn_and_what_was_deleted_is_forgotten(tool, doxa):
    """All texts that the file ever had, under whatever name; other files stay."""
    memory = doxa.memory(user="ana")

    def texts(**which):
        return [turn.text for turn in memory.turns(**which)]

    tool.call(create(A, ROME))
    tool.call(replace(A, "Rome", "Paris"))
    tool.call(insert(A, 1, "He has a dog."))
    assert texts() == [f"{PARIS}He has a dog.\n"] and len(texts(withdrawn=True)) == 3
    tool.call(rename(A, B))
    tool.call(create(A, "Cleo likes tea."))
    assert len(texts(withdrawn=True)) == 4
    tool.call(delete(B))
    assert texts(withdrawn=True) == ["Cleo likes tea."]
    tool.call(create(DEEP))
    tool.call(delete("/memories/d"))
    assert texts(withdrawn=True) == ["Cleo likes tea."]
    doxa.dialogue(user="ana").absorb("I live in Oslo.")
    assert tool.clear_all_memory() == "All memory cleared" and texts(withdrawn=True) == ["I live in Oslo."]
    assert told(tool, **view("/memories")).endswith("\n0B\t/memories")


def test_a_text_without_words_or_too_long_for_a_turn_is_a_file_alone():
    """It can be read, changed and deleted."""
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 30})})
    with Doxa.open(":memory:", config=config) as doxa:
        tool, memory = DoxaMemoryTool(doxa, user="ana"), doxa.memory(user="ana")
        tool.call(create(A, ROME * 2))
        tool.call(create(B, " \n"))
        assert memory.turns() == [] and ROME.strip() in told(tool, **view(A))
        tool.call(insert(B, 0, ROME))
        assert [turn.text for turn in memory.turns()] == [f"{ROME} \n"]
        tool.call(delete(A))
        tool.call(rename(B, A))
        tool.call(delete(A))
        assert memory.turns(withdrawn=True) == []


def test_files_are_there_after_the_database_is_opened_again(tmp_path):
    """And are changed and erased as before."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        DoxaMemoryTool(doxa, user="ana").call(create(DEEP, ROME))
    with Doxa.open(path, config=LIGHT) as doxa:
        tool = DoxaMemoryTool(doxa, user="ana")
        tool.call(replace(DEEP, "Rome", "Paris"))
        assert PARIS.strip() in told(tool, **view(DEEP))
        assert [turn.text for turn in doxa.memory(user="ana").turns()] == [PARIS]


def test_what_is_deleted_leaves_no_byte(tmp_path):
    """Neither of the file nor of its turns, of what it said before either."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        tool = DoxaMemoryTool(doxa, user="ana")
        tool.call(create(DEEP, "The code word is canary4711."))
        tool.call(replace(DEEP, "canary4711", "nothing"))
        doxa.flush()
        assert b"canary4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        tool.call(delete("/memories/d"))
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_users_are_kept_apart_and_forgotten_with_their_files(doxa):
    """One path of two users."""
    ana, ben = (DoxaMemoryTool(doxa, user=user) for user in ("ana", "ben"))
    ana.call(create(A, ROME))
    ben.call(create(A, PARIS))
    doxa.memory(user="ana").forget(everything=True)
    assert "does not exist" in told(ana, **view(A)) and PARIS.strip() in told(ben, **view(A))


def test_many_commands_at_once_lose_no_change(tool, doxa):
    """One tool, several threads: one of them makes the file, and all write to it."""
    with ThreadPoolExecutor(4) as threads:
        made = [*threads.map(lambda _: told(tool, **create(A, "start\n")), range(4))]
        assert sorted(said.partition(" ")[0] for said in made) == ["File", "error:", "error:", "error:"]
        list(threads.map(lambda at: tool.call(insert(A, 0, f"line {at}")), range(8)))
    assert {line.split("\t")[1] for line in tool.call(view(A)).split("\n")[1:]} >= {f"line {at}" for at in range(8)}
    assert len(doxa.memory(user="ana").turns()) == 1


def test_of_two_writers_the_last_one_is_believed(tool, doxa, monkeypatch):
    """What the other wrote is withdrawn, whoever is done first; what was deleted meanwhile does not come back."""
    other, memory = DoxaMemoryTool(doxa, user="ana"), doxa.memory(user="ana")
    put, between = tool._records.put, []

    def late(bodies, **more):
        put(bodies, **more)
        between.pop()()

    monkeypatch.setattr(tool._records, "put", late)
    between.append(lambda: other._change(other._file(A), PARIS))
    tool.call(create(A, ROME))
    assert [turn.text for turn in memory.turns()] == [PARIS] and PARIS.strip() in tool.call(view(A))
    between.append(lambda: other.call(delete(A)))
    tool.call(insert(A, 0, "x"))
    assert memory.turns(withdrawn=True) == [] and "does not exist" in told(tool, **view(A))


def test_a_file_goes_with_the_turn_that_its_text_is(own):
    """What is forgotten in the memory is in no file either, moved and changed ones included."""
    own.call(create("/memories/a.txt", ROME))
    own.call(create("/memories/b.txt", PARIS))
    own.call({"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/c.txt"})
    own.call(replace("/memories/c.txt", "Rome", "Oslo"))
    memory = own.doxa.memory(user=own._dialogue.user)
    (turn,) = [turn for turn in memory.turns() if "Oslo" in turn.text]
    assert memory.forget(turn_id=turn.turn_id).erased["records"] == 1
    assert "c.txt" not in own.call(view("/memories")) and "b.txt" in own.call(view("/memories"))
