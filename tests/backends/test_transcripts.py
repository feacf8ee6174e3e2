"""Transcripts: three formats, what stands in them, and what happens to input that is damaged."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.backends.transcripts import FORMATS, Conversation, Line, Transcript, detect, read
from doxa.backends.transcripts.times import instant
from doxa.core.errors import DoxaError, FormatError, NotFoundError

ROOT = Path(__file__).parents[2]
MORNING = datetime(2024, 3, 2, 9, 14, tzinfo=UTC)
MIDNIGHT = datetime(2024, 3, 2, tzinfo=UTC)

SAMPLE = {
    "sample_id": "conv-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_10": [{"speaker": "Ana", "dia_id": "D10:1", "text": "Ten."}],
        "session_10_date_time": "10:37 am on 27 June, 2023",
        "session_9": [
            {"speaker": "Bo", "dia_id": "D9:1", "text": "Look!", "blip_caption": "a red kite"},
            {"speaker": "Ana", "dia_id": "D9:2", "text": "Nice."},
        ],
        "session_9_date_time": "1:56 pm on 8 May, 2023",
    },
}


def read_bytes(content: str | bytes, **options: str) -> Transcript:
    return read(None, content=content.encode() if isinstance(content, str) else content, **options)


def only(content: str | bytes, **options: str) -> Conversation:
    (conversation,) = read_bytes(content, **options).conversations
    return conversation


def lines(content: str | bytes, **options: str) -> tuple[Line, ...]:
    """The turns of a file that has no problem."""
    conversation = only(content, **options)
    assert conversation.problems == ()
    return conversation.lines


def texts(conversation: Conversation) -> list[str]:
    return [line.text for line in conversation.lines]


def message(content: object = "hi", **fields: object) -> dict[str, object]:
    return {"role": "user", "content": content, **fields}


def jsonl(*values: object) -> str:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)


# --- which format it is


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (json.dumps([message()]), "openai"),
        (json.dumps({"messages": [message()]}, indent=1), "openai"),
        (jsonl(message(), message()), "openai"),
        (jsonl("broken {", message(), message()), "openai"),
        (json.dumps([SAMPLE]), "locomo"),
        (json.dumps(SAMPLE, indent=2), "locomo"),
        (json.dumps(SAMPLE["conversation"]), "locomo"),
        ("Ana: hi", "text"),
        ("[2024-03-02 09:14] Ana: hi", "text"),
        ('Ana: look at {"role": "user"}\n{"role": "user"}\nBo: I see\nAna: ok', "text"),
        ("", "text"),
    ],
)
def test_format_is_told_from_the_content(content, expected):
    """The shape of the content decides, not the name of the file."""
    assert detect(content.encode()) == expected
    assert read_bytes(content).format == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(encoding):
    """A byte order mark says how to decode, and is no part of the text."""
    (line,) = lines("Zoë: olá".encode(encoding))
    assert (line.speaker, line.text) == ("Zoë", "olá")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_line_ends_of_every_system_are_read(end):
    """Unix, Windows and old Macintosh line ends give the same turns."""
    assert [line.text for line in lines(f"Ana: hi{end}Bo: ho{end}")] == ["hi", "ho"]


# --- messages


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([message("a"), message("b")]),
        json.dumps([message("a"), message("b")], indent=2),
        json.dumps({"messages": [message("a"), message("b")]}),
        '{"messages": [\n{"role": "user", "content": "a"},\n{"role": "user", "content": "b"}\n]}',
        jsonl(message("a"), message("b")),
        jsonl(message("a"), "", message("b"), ""),
    ],
    ids=["list", "list-indented", "object", "object-odd-layout", "jsonl", "jsonl-blank-lines"],
)
def test_messages_come_in_several_layouts(content):
    """A list, an object with messages and JSONL give the same turns with the same ids."""
    assert [(line.turn_id, line.text) for line in lines(content)] == [("1", "a"), ("2", "b")]


def test_fields_of_a_message_are_kept():
    """Id, session, time, name and role stand in the turn as they stand in the file."""
    given_fields = message("hi", id="D1:1", session="s1", at="2024-03-02T09:14:00", name="Ana")
    assert lines(jsonl(given_fields)) == (
        Line(text="hi", speaker="Ana", role="user", at=MORNING, session="s1", turn_id="D1:1", line=1),
    )


@pytest.mark.parametrize(
    ("role", "expected"),
    [("Assistant", "assistant"), ("developer", "system"), ("function", "tool"), ("human", "user"), ("tool", "tool")],
)
def test_role_words_are_understood(role, expected):
    """Other vendors' and older words for the four roles are no problem."""
    assert [line.role for line in lines(jsonl(message(role=role)))] == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb"),
        ([{"type": "image_url", "image_url": {"url": "u", "detail": "low"}}], "[image]"),
        ([{"type": "image_url", "image_url": {"url": "u", "detail": "a cat"}}], "[image: a cat]"),
        ([{"type": "input_image", "alt": "a dog"}, "plain"], "[image: a dog]\nplain"),
        ([{"type": "input_file", "filename": "plan.pdf"}], "[file: plan.pdf]"),
        ([{"type": "refusal", "refusal": "I cannot."}], "I cannot."),
    ],
)
def test_parts_of_a_message_become_text(content, expected):
    """Text parts are joined; an image or file is named in brackets."""
    assert [line.text for line in lines(jsonl(message(content)))] == [expected]


def test_tool_call_without_text_is_skipped_quietly():
    """A message that only calls a tool says nothing; it still counts, so later ids stay."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
    assert [line.turn_id for line in lines(jsonl(message(), call, message()))] == ["1", "3"]


def test_conversations_by_line_are_sessions():
    """Each line's conversation has its own session: its id, or the line."""
    file = jsonl({"messages": [message("a")]}, {"messages": [message("b")]}, {"id": "x", "messages": [message("c")]})
    assert [(line.session, line.turn_id) for line in lines(file)] == [(None, "1"), ("2", "2:1"), ("x", "x:1")]
    assert [line.turn_id for line in lines(file, session="mon")] == ["mon:1", "mon/2:1", "x:1"]


CHATGPT = {
    "conversation_id": "c1",
    "create_time": 1709370840.0,
    "current_node": "d",
    "mapping": {
        "a": {"message": None, "parent": None},
        "b": {
            "message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}},
            "parent": "a",
        },
        "c": {
            "message": {
                "id": "m1",
                "author": {"role": "user", "name": None},
                "create_time": 1709370840.0,
                "content": {"content_type": "text", "parts": ["I live in Oslo."]},
            },
            "parent": "b",
        },
        "other": {
            "message": {"id": "m3", "author": {"role": "assistant"}, "content": {"parts": ["Not taken."]}},
            "parent": "c",
        },
        "d": {
            "message": {"id": "m2", "author": {"role": "assistant"}, "content": {"parts": ["Nice."]}},
            "parent": "c",
        },
    },
}
CLAUDE = {
    "uuid": "c1",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I live in Oslo.", "created_at": "2024-03-02T09:14:00.000000Z"},
        {"uuid": "m2", "sender": "assistant", "text": "Nice."},
    ],
}
SHAREGPT = {
    "id": "c1",
    "created": 1709370840,
    "conversations": [
        {"id": "m1", "from": "human", "value": "I live in Oslo."},
        {"id": "m2", "from": "gpt", "value": "Nice."},
    ],
}


@pytest.mark.parametrize("export", [CHATGPT, CLAUDE, SHAREGPT], ids=["chatgpt", "claude", "sharegpt"])
def test_exports_of_chat_programs_are_read(export):
    """They hold the same messages under other names."""
    for content in (json.dumps([export]), json.dumps(export, indent=2)):
        assert lines(content) == tuple(
            Line(text=text, role=role, at=MORNING, session="c1", turn_id=turn_id, line=line.line)
            for line, text, role, turn_id in zip(
                lines(content), ("I live in Oslo.", "Nice."), ("user", "assistant"), ("m1", "m2"), strict=True
            )
        )


@pytest.mark.parametrize("nodes", [{}, {"a": {"parent": "a"}}, {"a": None}, {"a": {"message": 3, "parent": None}}])
def test_damaged_chatgpt_exports_end(nodes):
    """A branch that leads nowhere or back to itself costs no more than itself."""
    assert only(json.dumps([{"mapping": nodes, "current_node": "a"}])).lines == ()


def test_an_export_of_doxa_is_sent_to_import(tmp_path):
    """It is no transcript, and hundreds of problems would not say so."""
    path = tmp_path / "backup.jsonl"
    path.write_text('{"format": "doxa-export/1", "user": "ana"}\n{"kind": "turn"}\n')
    with pytest.raises(FormatError, match="doxa import"):
        read(path)


def test_message_without_time_has_the_time_before():
    """A time that is not given is taken over, without a problem."""
    assert [line.at for line in lines(jsonl(message(created_at=1709370840), message()))] == [MORNING, MORNING]


def test_example_file_is_read_whole():
    """The conversation that ships gives its 148 turns and no problem."""
    found = read(ROOT / "examples" / "ana.jsonl")
    (conversation,) = found.conversations
    assert (found.format, len(conversation.lines), conversation.problems) == ("openai", 148, ())
    assert {line.role for line in conversation.lines} == {"user", "assistant"}


# --- LoCoMo


def test_locomo_sessions_go_by_number_with_a_second_between_turns():
    """Session 10 follows 9; captions are appended; the second turn is a second later."""
    (conversation,) = read_bytes(json.dumps([SAMPLE])).conversations
    assert conversation.name == "conv-1"
    assert conversation.problems == ()
    assert [(line.turn_id, line.session, line.speaker, line.role, line.text) for line in conversation.lines] == [
        ("D9:1", "session_9", "Bo", "user", "Look! [image: a red kite]"),
        ("D9:2", "session_9", "Ana", "user", "Nice."),
        ("D10:1", "session_10", "Ana", "user", "Ten."),
    ]
    assert [line.at for line in conversation.lines] == [
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
        datetime(2023, 6, 27, 10, 37, 0, tzinfo=UTC),
    ]


def test_locomo_keeps_what_is_sound():
    """A sample, a turn and a date that cannot be read cost only themselves."""
    damaged = {"conversation": {"session_1": ["x", {"speaker": "A", "text": "hi"}], "session_1_date_time": "soon"}}
    found = read_bytes(json.dumps([damaged, {"a": 1}]), format="locomo")
    assert [texts(conversation) for conversation in found.conversations] == [["hi"], []]
    assert [line.turn_id for line in found.conversations[0].lines] == ["session_1:2"]
    assert len(found.problems) == 3


def test_real_locomo_file_is_read_whole(data_dir):
    """The benchmark file gives six conversations with 3,290 dated turns and no problem."""
    path = data_dir / "measure" / "locomo" / "locomo_dev6.json"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the data folder")
    found = read(path)
    assert (found.format, len(found.conversations), found.problems) == ("locomo", 6, ())
    every = [line for conversation in found.conversations for line in conversation.lines]
    assert len(every) == 3290
    assert all(line.at for line in every)


# --- plain text


@pytest.mark.parametrize(
    ("text", "at", "session"),
    [
        ("Ana: hi", None, None),
        ("**Ana:** hi", None, None),
        ("Ana：hi", None, None),
        ("[2024-03-02 09:14] Ana: hi", MORNING, "2024-03-02"),
        ("2024-03-02 Ana: hi", MIDNIGHT, "2024-03-02"),
        ("2024-03-02T09:14 - Ana: hi", MORNING, "2024-03-02"),
        ("2024-03-02 09:14: Ana: hi", MORNING, "2024-03-02"),
        ("3/2/2024, 9:14 AM - Ana: hi", MORNING, "2024-03-02"),
        ("(2 March 2024) Ana: hi", MIDNIGHT, "2024-03-02"),
        ("2024-03-02\nAna: hi", MIDNIGHT, "2024-03-02"),
        ("--- 2 March 2024 ---\nAna: hi", MIDNIGHT, "2024-03-02"),
        ("# 2024-03-02\nAna: hi", MIDNIGHT, "2024-03-02"),
        ("# 2024-03-02\n[09:14] Ana: hi", MORNING, "2024-03-02"),
        ("Session 1 (9:14 am on 2 March, 2024)\nAna: hi", MORNING, "2024-03-02"),
        ("=== Session 7 ===\nAna: hi", None, "Session 7"),
    ],
)
def test_text_turn_with_its_date(text, at, session):
    """A date stands before the name or in a line of its own, and names the session."""
    (line,) = lines(text)
    assert (line.speaker, line.text, line.at, line.session) == ("Ana", "hi", at, session)
    assert line.turn_id == (f"{session}:1" if session else "1")


@pytest.mark.parametrize("text", ["2024-03-02 Ana: hi", "# 2024-03-02\nAna: hi"], ids=["turn", "header"])
def test_two_files_of_one_day_do_not_clash(text):
    """The date is a session within that of the file, so the made ids of two chats differ."""
    (one,), (other,) = lines(text, session="family"), lines(text, session="work")
    assert (one.session, one.turn_id) == ("family/2024-03-02", "family/2024-03-02:1")
    assert other.turn_id == "work/2024-03-02:1"


def test_text_lines_without_a_speaker_belong_to_the_turn_above():
    """Continuation lines are joined; words before a colon and links are no speakers."""
    text = "Ana: Hi.\n\n  Second line.\nNote: milk\nthings to buy: tea\nhttps://x.org: a link\n-----\nBo: ok"
    assert [(line.speaker, line.text, line.line) for line in lines(text)] == [
        ("Ana", "Hi.\nSecond line.\nNote: milk\nthings to buy: tea\nhttps://x.org: a link", 1),
        ("Bo", "ok", 8),
    ]


def test_text_names_may_be_small_where_the_first_is():
    """In a chat of small nicknames every single word before a colon is a name, save words such as `also`."""
    assert [line.speaker for line in lines("ana: hi\nalso: tea\nbob42: ho")] == ["ana", "bob42"]
    assert [line.speaker for line in lines("Ana: hi\nbob42: ho")] == ["Ana"]


@pytest.mark.parametrize(
    ("name", "role"),
    [("Helper", "assistant"), ("AI", "assistant"), ("user", "user"), ("System", "system"), ("Ana de Sousa", "user")],
)
def test_text_role_follows_from_the_name(name, role):
    """The usual names of an assistant mark its turns; anybody else is a user."""
    assert [(line.speaker, line.role) for line in lines(f"{name}: hi")] == [(name, role)]


def test_text_without_speakers_is_a_problem():
    """Prose is not taken for one long turn."""
    found = only("Once upon a time\nthere was a king.")
    assert found.lines == ()
    (problem,) = found.problems
    assert problem.line == 1 and "Ana: Good morning!" in problem.message


def test_text_before_the_first_speaker_is_a_problem():
    """What belongs to no turn is reported, and the turns are read."""
    found = only("Exported chat\nAna: hi")
    assert texts(found) == ["hi"]
    assert [problem.line for problem in found.problems] == [1]


def test_text_times_without_any_date_are_one_problem():
    """Hundreds of clock times do not make hundreds of problems."""
    found = only("[09:14] Ana: hi\n[09:15] Ana: ho")
    assert [line.at for line in found.lines] == [None, None]
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    ("other", "expected"),
    [("13/05/2024", (5, 12)), ("05/13/2024", (12, 5)), ("11/05/2024", (12, 5)), ("2024/05/06", (12, 5))],
    ids=["day-first", "month-first", "either", "year-first"],
)
def test_one_date_shows_the_order_of_all(other, expected):
    """A messenger writes every date one way; `13/05/2024` says which."""
    first, second = lines(f"12/05/2024, 14:03 - Ana: hi\n{other}, 14:04 - Bo: he was born on 30/01/1999")
    assert (first.at.month, first.at.day) == expected
    assert second.at.month == 11 if other.startswith("11") else second.at.month == 5


def test_a_date_in_what_is_said_shows_nothing():
    """Only dates of turns and headers count."""
    (line,) = lines("12/05/2024, 14:03 - Ana: born on 30/01/1999\nor on 31/01/1999")
    assert line.at.month == 12


def test_time_may_go_backwards():
    """Turns stay in the order of the file."""
    assert [line.text for line in lines("2024-03-03 Ana: b\n2024-03-02 Ana: a")] == ["b", "a"]


# --- ids


@pytest.mark.parametrize(
    "content",
    ["# 2024-03-02\nAna: a\nBo: b\n# 2024-03-03\nAna: c", jsonl(message("a"), message("b", session="s")), "Ana: a"],
)
def test_ids_last(content):
    """The same file gives the same ids, and one that has grown keeps those it had."""
    before = [line.turn_id for line in lines(content)]
    more = content + ("\nBo: more" if detect(content.encode()) == "text" else "\n" + jsonl(message("more")))
    assert [line.turn_id for line in lines(content)] == before
    assert [line.turn_id for line in lines(more)][: len(before)] == before
    assert len(set(before)) == len(before)


def test_repaired_line_does_not_move_other_ids():
    """A broken line keeps its place, so that only it is new after its repair."""
    broken = {line.turn_id: line.text for line in only(jsonl(message("a"), '{"role"', message("c"))).lines}
    repaired = {line.turn_id: line.text for line in lines(jsonl(message("a"), message("b"), message("c")))}
    assert repaired == broken | {"2": "b"}


def test_made_id_avoids_given_ones():
    """A turn without an id never takes the id of another."""
    assert [line.turn_id for line in lines(jsonl(message("a", id="2"), message("b")))] == ["2", "2'"]


def test_id_that_comes_twice():
    """With the same text it is one turn; with another text the first is kept and the second reported."""
    assert len(lines(jsonl(message("a", id=1), message("a", id="1")))) == 1
    found = only(jsonl(message("a", id="x"), message("b", id="x")))
    assert texts(found) == ["a"]
    assert [problem.line for problem in found.problems] == [2]


# --- bad input


@pytest.mark.parametrize(
    ("content", "kept", "at_lines"),
    [
        (jsonl(message("a"), '{"role": "user", "content": "b', "none", message("c")), ["a", "c"], [2, 3]),
        (jsonl(message("a"), "[" * 100_000, message("c")), ["a", "c"], [2]),
        (jsonl(message("a"), '{"n": ' + "1" * 5000 + "}", message("c")), ["a", "c"], [2]),
        (jsonl(message("a"), message(""), message(None), message(3)), ["a"], [2, 3, 4]),
        (jsonl(message("a"), 7, {}, {"messages": [8]}), ["a"], [2, 3, 4]),
        (jsonl(message("a"), message("b", role="boss"), {"content": "c"}), ["a", "b", "c"], [2, 3]),
        (jsonl(message("a"), message("b", at="32 March"), message("c", at=5)), ["a", "b", "c"], [2, 3]),
        (jsonl(message("a"), message("b", id=[1]), message("c", session={})), ["a", "b", "c"], [2, 3]),
        (jsonl(message("a"), message(["\ud83d", {"type": "text", "text": "b"}])), ["a", "\ufffd\nb"], [2]),
        (jsonl(message("a"), message("b\0")), ["a", "b\ufffd"], [2]),
        ('[{"role": "user", "content": "a"},\n{"role": oops},\n{"content": "c", "role": "user"}]', ["a", "c"], [2]),
        ('[{"role": "user", "content": "a"},\n{"role": "us', ["a"], [2, 2]),
        ("[" + "\n{x}," * 150 + "]", [], [*range(2, 102), 101]),
        ("[" * 100_000, [], [1, 1]),
        ('{"a":' * 100_000, [], [1]),
        ("{}", [], [1]),
        ("[]", [], [None]),
        ("", [], [None]),
        (" \n ", [], [None]),
        (b"\0" * 500, [], [None]),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", [], [None]),
        (b"Ana: a" + b"\0" * 500, ["a"], [None]),
        ("Ana: a\nBo:\nAna: c", ["a", "c"], [2]),
        ("2024-03-02 Ana: a\n[2024-13-45] Ana: b\n# 32 March 2024\nAna: c", ["a", "b", "c"], [2, 3]),
        ("Ana: a\nJosé: b\nstill b\nAna: c".encode("latin-1"), ["a", "c"], [2]),
        (jsonl(message("a"), message("é")).replace("\\u00e9", "é").encode("latin-1"), ["a"], [2]),
    ],
)
def test_damage_costs_only_itself(content, kept, at_lines):
    """Each thing that cannot be read is one problem at its line, and the rest goes in."""
    found = only(content)
    assert texts(found) == kept
    assert [problem.line for problem in found.problems] == at_lines
    assert all("expected" in problem.message and " got " in problem.message for problem in found.problems[:1])


def test_problem_keeps_the_previous_time():
    """A date that cannot be read leaves the turn with the time before it."""
    found = only(jsonl(message(at="2024-03-02T09:14"), message("b", at="soon")))
    assert [line.at for line in found.lines] == [MORNING, MORNING]


def test_problem_names_file_and_line(tmp_path):
    """A problem prints as `file:line: what`, where an editor can jump to it."""
    path = tmp_path / "chat.jsonl"
    path.write_text(jsonl(message(), "{oops", message()))
    (problem,) = read(path).problems
    assert str(problem).startswith(f"{path}:2: expected a message")


def test_huge_line_is_read():
    """A turn of a megabyte is as good as any other."""
    long = "word " * 200_000 + "end"
    assert [line.text for line in lines(f"Ana: {long}")] == [long]
    assert [line.text for line in lines(jsonl(message(long)))] == [long]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-03-02T09:14:00Z", MORNING),
        ("2024-03-02 10:14+01:00", MORNING),
        ("Sat, 02 Mar 2024 04:14:00 EST", MORNING),
        ("2.3.2024", MIDNIGHT),
        (1709370840, MORNING),
        (1709370840000, MORNING),
        ("1709370840", MORNING),
    ],
)
def test_instant_is_read(value, expected):
    """ISO, epochs and dates in words are moments in UTC."""
    assert instant(value) == expected


@pytest.mark.parametrize(
    "value", ["", "Monday", "May 2023", "09:14", "2024-03-02 09:14 CET", "9" * 99, True, 5, 1e300, float("nan"), None]
)
def test_no_single_instant_is_refused(value):
    """What leaves out day, month or year is never filled in from today."""
    with pytest.raises(ValueError, match=r"."):
        instant(value)


def test_missing_file_is_named(tmp_path):
    """The message holds the path that was asked for."""
    with pytest.raises(NotFoundError, match="nowhere.txt"):
        read(tmp_path / "nowhere.txt")


def test_folder_is_refused(tmp_path):
    """A folder gets a message that says what to give instead."""
    with pytest.raises(FormatError, match="folder"):
        read(tmp_path)


def test_unknown_format_lists_the_known_ones():
    """A misspelt format is refused before anything is read."""
    with pytest.raises(FormatError, match="openai, locomo or text, got 'csv'"):
        read_bytes("Ana: hi", format="csv")


def test_nothing_to_read_is_refused():
    """Neither a path nor content is a mistake of the caller."""
    with pytest.raises(FormatError, match="neither"):
        read(None)


# --- laws

SNIPPETS = st.sampled_from(
    [b'{"role":', b'"user",', b'"content":', b'"a"', b"}", b"{", b"[", b"]", b",", b"\n", b"Ana: ", b"2024-03-02 ",
     b"[09:14] ", b"# ", b"--- ", b'"at":', b"1e999", b"null", b'"session_1":', b'"text":', b"\xff\xfe", b"\xe9",
     b'{"messages":', b'{"conversation":', b'"\\ud800"', b"\0"]
)  # fmt: skip
CONTENTS = st.binary(max_size=300) | st.lists(SNIPPETS, max_size=40).map(b"".join) | st.text().map(str.encode)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "role content messages id at name session text session_1 conversation session_1_date_time".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


def check_laws(content: bytes, format: str) -> None:
    """Nothing but a DoxaError; storable text; ids that are unique and last; never nothing without a reason."""
    try:
        found = read(None, content=content, format=format)
    except DoxaError:
        return
    assert found == read(None, content=content, format=format)
    assert found.problems or any(conversation.lines for conversation in found.conversations)
    for conversation in found.conversations:
        ids = [line.turn_id for line in conversation.lines]
        assert None not in ids and len(set(ids)) == len(ids)
        for line in conversation.lines:
            assert line.text.strip()
            "\n".join((line.text, line.speaker or "", line.session or "", line.turn_id or "")).encode()
            assert line.at is None or line.at.tzinfo is UTC
    "\n".join(map(str, found.problems)).encode()


@given(content=CONTENTS, format=st.sampled_from(["auto", *FORMATS]))
def test_any_bytes_can_be_read(content, format):
    """Arbitrary bytes never raise a foreign error, whatever the format asked for."""
    check_laws(content, format)


@given(value=st.lists(JSON_VALUES, max_size=4), by_line=st.booleans(), format=st.sampled_from(["auto", *FORMATS]))
def test_any_json_can_be_read(value, by_line, format):
    """Arbitrary JSON with our field names never raises a foreign error."""
    check_laws((jsonl(*map(json.dumps, value)) if by_line else json.dumps(value)).encode(), format)


@given(
    st.lists(
        st.tuples(st.sampled_from(["Ana", "Helper"]), st.from_regex(r"[a-z]{1,9}( [a-z]{1,9}){0,3}", fullmatch=True))
    )
)
def test_text_round_trip(turns):
    """What is written as `Name: text` is read back as it was."""
    if turns:
        assert [(line.speaker, line.text) for line in lines("\n".join(f"{n}: {t}" for n, t in turns))] == turns
