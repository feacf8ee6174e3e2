"""The export of a Slack workspace: who said what in which channel, and what is no speech."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends.transcripts import Line, Transcript
from doxa.backends.transcripts import read_archive as read
from doxa.core.errors import FormatError

USERS = [
    {"id": "U1", "name": "ana", "profile": {"display_name": "Ana", "real_name": "Ana Lima"}},
    {"id": "U2", "name": "bo", "profile": {"display_name": "", "real_name": "Bo Berg"}},
    {"id": "U3", "name": "buildo", "is_bot": True, "profile": {"real_name": "Builder"}},
]
CHANNELS = [{"id": "C1", "name": "general"}]
AT = "1709370840.000100"


def said(text: str = "Hi.", *, user: str = "U1", ts: str = AT, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


def export(root: Path, *messages: Any, **files: Any) -> Path:
    """Write an export; of `files` the names have no ending, and bytes are written as they are."""
    held = {"users": USERS, "channels": CHANNELS, "general/2024-03-02": list(messages), **files}
    for name, content in held.items():
        path = root / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return root


def zipped(root: Path) -> Path:
    path = root.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted(root.rglob("*.json")):
            archive.write(one, one.relative_to(root))
    return path


def lines(transcript: Transcript) -> tuple[Line, ...]:
    (conversation,) = transcript.conversations
    assert not conversation.problems
    return conversation.lines


def only(root: Path, *messages: Any, **files: Any) -> Line:
    (line,) = lines(read(export(root, *messages, **files)))
    return line


def test_a_message_is_a_turn_of_its_author(tmp_path: Path) -> None:
    transcript = read(export(tmp_path, said("I moved to Berlin.")))
    (line,) = lines(transcript)
    assert transcript.format == "slack"
    assert (line.text, line.speaker, line.role, line.session) == ("I moved to Berlin.", "Ana", "user", "general")
    assert line.turn_id == f"slack/C1/{AT}"
    assert line.at == datetime.fromtimestamp(float(AT), UTC)
    assert line.origin == {"from": "slack", "id": f"C1/{AT}", "channel": "C1", "author": "U1"}


def test_a_zip_and_its_folder_give_the_same(tmp_path: Path) -> None:
    root = export(tmp_path / "export", said(), said("Hello.", user="U2", ts="1709370841.0"))
    assert lines(read(root)) == lines(read(zipped(root)))


def test_an_export_in_a_folder_of_its_own_keeps_its_ids(tmp_path: Path) -> None:
    export(tmp_path / "outer" / "workspace", said())
    (line,) = lines(read(tmp_path / "outer"))
    assert (line.turn_id, line.session) == (f"slack/C1/{AT}", "general")


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"profile": {"display_name": "Zoe", "real_name": "Zoe Q"}}, "Zoe"),
        ({"profile": {"display_name": "  ", "real_name": "Zoe Q"}}, "Zoe Q"),
        ({"real_name": "Zoe R", "name": "zoe"}, "Zoe R"),
        ({"name": "zoe"}, "zoe"),
        ({}, "U9"),
    ],
    ids=["display", "blank display", "real", "handle", "id"],
)
def test_a_person_has_the_name_that_the_workspace_shows(tmp_path: Path, user: dict[str, Any], expected: str) -> None:
    assert only(tmp_path, said(user="U9"), users=[{"id": "U9", **user}]).speaker == expected


def test_two_people_of_one_name_stay_two(tmp_path: Path) -> None:
    users = [{"id": f"U{n}", "name": f"ana{n}", "profile": {"display_name": "Ana"}} for n in (1, 2)]
    found = lines(read(export(tmp_path, said(), said(user="U2", ts="1709370841.0"), users=users)))
    assert [line.speaker for line in found] == ["Ana (ana1)", "Ana (ana2)"]


def test_a_person_who_is_not_listed_is_named_by_the_message(tmp_path: Path) -> None:
    profile = {"display_name": "Guest", "real_name": "A Guest"}
    assert only(tmp_path / "a", said(user="U8", user_profile=profile)).speaker == "Guest"
    assert only(tmp_path / "b", said(user="U8")).speaker == "U8"
    assert only(tmp_path / "c", {"text": "Hi.", "ts": AT}).speaker == "unknown"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask <@U2>.", "Ask Bo Berg."),
        ("Ask <@U7|cleo>.", "Ask cleo."),
        ("Ask <@U7>.", "Ask U7."),
        ("In <#C1|general>", "In #general"),
        ("In <#C1|> and <#C9>", "In #general and #C9"),
        ("<https://x.org/a|the page>", "the page (https://x.org/a)"),
        ("<https://x.org/a?b=1&amp;c=2>", "https://x.org/a?b=1&c=2"),
        ("<http://x.org|x.org>", "x.org"),
        ("<mailto:a@x.org|a@x.org>", "a@x.org"),
        ("<!here> <!subteam^S1|@team>", "@here @team"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
        ("a <b> c", "a <b> c"),
    ],
)
def test_references_and_links_are_readable(tmp_path: Path, text: str, expected: str) -> None:
    assert only(tmp_path, said(text)).text == expected


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1))
def test_any_text_comes_back_whole(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    with TemporaryDirectory() as folder:
        transcript = read(export(Path(folder), said(escaped), said("end", ts="1709370999.0")))
    assert [line.text for line in lines(transcript)] == [*([text.strip()] if text.strip() else []), "end"]


def test_a_thread_is_a_session(tmp_path: Path) -> None:
    reply = said("Me too.", user="U2", ts="1709370850.0", thread_ts=AT, parent_user_id="U1")
    also = said("To all.", ts="1709370860.0", thread_ts=AT, subtype="thread_broadcast")
    other = said("Else.", ts="1709370870.0")
    found = lines(read(export(tmp_path, said(thread_ts=AT), reply, also, other)))
    assert [line.session for line in found] == [*[f"general/{AT}"] * 3, "general"]
    assert found[1].origin["thread"] == AT


@pytest.mark.parametrize(
    ("message", "speaker"),
    [
        (said(user="U3"), "Builder"),
        ({"subtype": "bot_message", "text": "Hi.", "ts": AT, "username": "Deploys", "bot_id": "B1"}, "Deploys"),
        ({"text": "Hi.", "ts": AT, "bot_id": "B1", "bot_profile": {"name": "Poster"}}, "Poster"),
        (said(user="USLACKBOT"), "USLACKBOT"),
        ({"subtype": "bot_message", "ts": AT, "bot_id": "B1", "text": "", "attachments": [{"fallback": "Hi."}]}, "B1"),
    ],
    ids=["listed bot", "bot_message", "bot profile", "slackbot", "only an attachment"],
)
def test_what_a_program_posts_is_of_a_tool(tmp_path: Path, message: dict[str, Any], speaker: str) -> None:
    line = only(tmp_path, message)
    assert (line.text, line.role, line.speaker) == ("Hi.", "tool", speaker)


def test_a_person_who_posts_through_a_program_is_a_person(tmp_path: Path) -> None:
    line = only(tmp_path, said(bot_id="B1"))
    assert (line.role, line.speaker) == ("user", "Ana")


def test_what_is_no_speech_is_counted(tmp_path: Path) -> None:
    joined = [said("joined", ts=f"170937090{n}.0", subtype="channel_join") for n in range(2)]
    topic = said("set the topic", ts="1709370910.0", subtype="channel_topic")
    away = said("waves", ts="1709370920.0", subtype="me_message")
    transcript = read(export(tmp_path, *joined, topic, away))
    assert [line.text for line in lines(transcript)] == ["waves"]
    assert transcript.left == {
        "what happened in a channel (channel_join)": 2,
        "what happened in a channel (channel_topic)": 1,
    }


def test_reactions_files_and_previews_are_counted(tmp_path: Path) -> None:
    message = said(
        "Look.",
        files=[{"title": "Plan", "name": "plan.pdf"}, {"name": "b.png"}, {"mode": "tombstone"}],
        reactions=[{"name": "+1", "count": 3}, {"name": "eyes"}],
        attachments=[{"fallback": "a page"}],
    )
    transcript = read(export(tmp_path, message))
    assert lines(transcript)[0].text == "Look.\n[file: Plan]\n[file: b.png]\n[file]"
    assert transcript.left == {
        "files that were shared (their names stand in the turns)": 3,
        "reactions": 4,
        "attachments and previews of links": 1,
    }


def test_a_comment_on_a_file_is_of_who_wrote_it(tmp_path: Path) -> None:
    comment = {"user": "U2", "comment": "Nice."}
    message = {"subtype": "file_comment", "text": "...", "ts": AT, "comment": comment, "file": {"title": "Plan"}}
    line = only(tmp_path, message)
    assert (line.speaker, line.text) == ("Bo Berg", "Nice.\n[file: Plan]")


def test_an_edited_message_has_its_latest_text(tmp_path: Path) -> None:
    edited = {"user": "U1", "ts": "1709371000.0"}
    changed = {"subtype": "message_changed", "ts": "1709371000.0", "message": said("Right.", edited=edited)}
    first = only(tmp_path / "a", said("Right.", edited=edited))
    again = only(tmp_path / "b", said("Wrong."), changed)
    assert first.text == again.text == "Right."
    assert first.turn_id == again.turn_id
    assert again.origin["edited"] == edited


def test_a_deleted_message_is_counted(tmp_path: Path) -> None:
    gone = {"subtype": "message_deleted", "ts": "1709371000.0", "deleted_ts": "1709370841.0"}
    tomb = said("This message was deleted.", user="USLACKBOT", ts="1709370842.0", subtype="tombstone")
    transcript = read(export(tmp_path, said(), said("Oops.", ts="1709370841.0"), gone, tomb))
    assert [line.text for line in lines(transcript)] == ["Hi."]
    assert transcript.left == {"deleted messages": 2}


def test_messages_without_text_and_other_files_are_counted(tmp_path: Path) -> None:
    transcript = read(export(tmp_path, said(), said("", ts="1709370841.0"), canvases=[], integration_logs=[]))
    assert transcript.left["messages without text"] == 1
    assert transcript.left["other files of the archive (canvases, settings, uploads)"] == 2


def test_private_and_direct_messages_are_read_too(tmp_path: Path) -> None:
    files = {
        "groups": [{"id": "G1", "name": "secret"}],
        "dms": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims": [{"id": "G2", "name": "mpdm-ana--bo-1"}],
        "secret/2024-03-02": [said("one")],
        "D1/2024-03-02": [said("two")],
        "mpdm-ana--bo-1/2024-03-03": [said("three")],
    }
    found = lines(read(export(tmp_path, **files)))
    assert {(line.text, line.session, line.turn_id) for line in found} == {
        ("one", "secret", f"slack/G1/{AT}"),
        ("two", "D1", f"slack/D1/{AT}"),
        ("three", "mpdm-ana--bo-1", f"slack/G2/{AT}"),
    }


def test_a_later_export_keeps_the_ids(tmp_path: Path) -> None:
    before = {line.turn_id for line in lines(read(export(tmp_path, said(), said("B", ts="1709370841.0"))))}
    export(tmp_path, said(), said("B", ts="1709370841.0"), **{"general/2024-03-03": [said("C", ts="1709460000.0")]})
    after = {line.turn_id for line in lines(read(tmp_path))}
    assert before < after and len(after) == 3


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (json.dumps([said("B", ts="1709460000.0"), said("C")]).encode()[:-20], "expected a message"),
        (b"\x00\x01\x02\x03" * 50, "got a binary file"),
        (b'["text", 3, null, {"type": "message"}]', "expected a message with the time"),
        (
            json.dumps([said("B\udcff", ts="1709460000.0")], ensure_ascii=False).encode("utf-8", "surrogateescape"),
            "UTF-8",
        ),
    ],
    ids=["cut off", "binary", "no messages", "not UTF-8"],
)
def test_a_broken_day_costs_only_itself(tmp_path: Path, broken: bytes, problem: str) -> None:
    transcript = read(export(tmp_path, said(), **{"general/2024-03-03": broken}))
    assert "Hi." in [line.text for line in transcript.conversations[0].lines]
    assert any(problem in str(one) and "2024-03-03.json" in one.path for one in transcript.problems)


def test_a_damaged_file_in_a_zip_costs_only_itself(tmp_path: Path) -> None:
    path = zipped(export(tmp_path / "export", said(), **{"general/2024-03-03": [said("other", ts="1709460000.0")]}))
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"text": "other"', b'"text": "0ther"', 1))
    transcript = read(path)
    assert [line.text for line in transcript.conversations[0].lines] == ["Hi."]
    assert "could not unpack it" in str(transcript.problems[0])


def test_without_the_list_of_people_their_ids_remain(tmp_path: Path) -> None:
    transcript = read(export(tmp_path, said(), users=b'[{"id": "U1", '))
    assert transcript.format == "slack"
    assert [line.speaker for line in transcript.conversations[0].lines] == ["U1"]
    assert "expected a person or a channel" in str(transcript.problems[0])


def test_a_bad_time_leaves_the_turn_without_one(tmp_path: Path) -> None:
    transcript = read(export(tmp_path, said(ts="soon"), said("B", ts=AT, edited={"ts": "later"})))
    found = transcript.conversations[0].lines
    assert [(line.text, line.at is None) for line in found] == [("B", False), ("Hi.", True)]
    assert "expected a date" in str(transcript.problems[0])


def test_two_messages_of_one_time_are_reported(tmp_path: Path) -> None:
    transcript = read(export(tmp_path, said(), said("Other.")))
    assert [line.text for line in transcript.conversations[0].lines] == ["Hi."]
    assert "expected one message" in str(transcript.problems[0])


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    path = zipped(export(tmp_path / "export", said()))
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(mark, at + 4)
    path.write_bytes(content)
    with pytest.raises(FormatError, match="password"):
        read(path)


def test_a_folder_of_messages_alone_can_be_given_with_its_format(tmp_path: Path) -> None:
    root = export(tmp_path, said())
    (root / "users.json").unlink()
    (root / "channels.json").unlink()
    with pytest.raises(FormatError, match="expected an archive"):
        read(root)
    (line,) = lines(read(root, format="slack"))
    assert (line.speaker, line.turn_id) == ("U1", f"slack/general/{AT}")


def test_an_export_without_messages_says_so(tmp_path: Path) -> None:
    (problem,) = read(export(tmp_path)).problems
    assert "found nothing that could be read" in str(problem)
