"""Chats that WhatsApp exported: both layouts, whatever the phone's language, and what is no speech."""

import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends.transcripts import Line, Transcript
from doxa.backends.transcripts import read_archive as read
from doxa.core.errors import FormatError, NotFoundError

ANDROID = "12/05/24, 10:11 - Ana: "
IOS = "[12/05/24, 10:11:12] Ana: "
NAME = "WhatsApp Chat with Ana.txt"
LRM = "\u200e"


def write(folder: Path, text: str, name: str = NAME) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def lines(transcript: Transcript) -> tuple[Line, ...]:
    assert transcript.format == "whatsapp"
    (conversation,) = transcript.conversations
    assert not conversation.problems
    return conversation.lines


def texts(transcript: Transcript) -> list[str]:
    return [line.text for line in lines(transcript)]


@pytest.mark.parametrize("head", [ANDROID, IOS, LRM + IOS], ids=["android", "ios", "ios with a mark"])
def test_a_message_is_a_turn_of_its_author(tmp_path: Path, head: str) -> None:
    (line,) = lines(read(write(tmp_path, f"{head}I moved to Berlin.\r\n")))
    assert (line.text, line.speaker, line.role, line.session) == (
        "I moved to Berlin.",
        "Ana",
        "user",
        "WhatsApp Chat with Ana",
    )
    assert line.turn_id is not None and line.turn_id.startswith("whatsapp/WhatsApp Chat with Ana/")


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("25/12/24, 22:11 - ", "2024-12-25T22:11"),
        ("12/25/24, 10:11 PM - ", "2024-12-25T22:11"),
        ("12/25/24, 10:11\u202fPM - ", "2024-12-25T22:11"),
        ("25/12/2024, 10:11 p. m. - ", "2024-12-25T22:11"),
        ("25/12/2024, 10:11\u00a0p.\u00a0m. - ", "2024-12-25T22:11"),
        ("25/12/2024, 12:11 am - ", "2024-12-25T00:11"),
        ("25/12/2024, 12:11 pm - ", "2024-12-25T12:11"),
        ("03.02.24, 22:11 - ", "2024-02-03T22:11"),
        ("2024-12-25, 22:11 - ", "2024-12-25T22:11"),
        ("2024/12/25, 22:11 - ", "2024-12-25T22:11"),
        ("25-12-2024 22:11 - ", "2024-12-25T22:11"),
        ("2024. 12. 25. 22:11 - ", "2024-12-25T22:11"),
        ("25.12.2024 kl. 22.11 - ", "2024-12-25T22:11"),
        ("25/12/2024 à 22:11 - ", "2024-12-25T22:11"),
        ("٢٥/١٢/٢٠٢٤، ٢٢:١١ - ", "2024-12-25T22:11"),
        ("[25.12.24, 22:11:12] ", "2024-12-25T22:11:12"),
        ("[12/25/24, 10:11:12\u202fPM] ", "2024-12-25T22:11:12"),
        ("[2024-12-25, 10:11:12 p.m.] ", "2024-12-25T22:11:12"),
    ],
)
def test_stamps_of_many_phones_are_read(tmp_path: Path, stamp: str, expected: str) -> None:
    (line,) = lines(read(write(tmp_path, f"{stamp}Ana: hi\n")))
    assert line.at == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_one_date_tells_the_order_of_all(tmp_path: Path) -> None:
    first, second = lines(read(write(tmp_path, f"{ANDROID}a\n13/05/24, 10:11 - Bo: b\n")))
    assert first.at == datetime(2024, 5, 12, 10, 11, tzinfo=UTC)
    assert second.at == datetime(2024, 5, 13, 10, 11, tzinfo=UTC)


def test_a_date_in_a_text_does_not_tell_the_order(tmp_path: Path) -> None:
    (line,) = lines(read(write(tmp_path, f"{ANDROID}born 30/01/1999\nor 31/01/1999")))
    assert line.at == datetime(2024, 12, 5, 10, 11, tzinfo=UTC)


def test_where_no_date_tells_time_does_not_go_back(tmp_path: Path) -> None:
    found = lines(read(write(tmp_path, f"{ANDROID}a\n01/06/24, 10:11 - Bo: b\n")))
    assert [line.at.month for line in found if line.at] == [5, 6]


def test_marks_of_the_half_day_are_told_by_the_order_of_messages(tmp_path: Path) -> None:
    text = "2024/5/12 오전 9:00 - Ana: a\n2024/5/12 오전 11:00 - Bo: b\n2024/5/12 오후 1:00 - Ana: c\n"
    found = lines(read(write(tmp_path, text)))
    assert [line.at.hour for line in found if line.at] == [9, 11, 13]


def test_one_unknown_mark_of_the_half_day_is_a_problem(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, "2024/5/12 오후 1:00 - Ana: a\n"))
    assert [line.text for line in transcript.conversations[0].lines] == ["a"]
    assert "wrong by 12 hours" in str(transcript.problems[0])


@pytest.mark.parametrize("head", [ANDROID, IOS], ids=["android", "ios"])
def test_a_message_goes_on_over_lines(tmp_path: Path, head: str) -> None:
    text = f"{head}one\n\n  two: 2\nBo: three\n{head}end\n"
    assert texts(read(write(tmp_path, text))) == ["one\n\n  two: 2\nBo: three", "end"]


@pytest.mark.parametrize("head", [ANDROID, IOS], ids=["android", "ios"])
@settings(max_examples=40, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\u200e<\r"), min_size=1))
def test_any_text_comes_back_whole(head: str, text: str) -> None:
    with TemporaryDirectory() as folder:
        transcript = read(write(Path(folder), f"{head}{text}\n{head}end\n"))
    assert texts(transcript) == [*([text.strip()] if text.strip() else []), "end"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ana María O'Neil", "Ana María O'Neil"),
        ("\u202a+49\u00a0170\u00a01234567\u202c", "+49 170 1234567"),
        ("🦊 Fox 🦊", "🦊 Fox 🦊"),
        ("~\u202fZoe", "Zoe"),
        ("אנה", "אנה"),
    ],
)
def test_names_of_any_kind_are_speakers(tmp_path: Path, name: str, expected: str) -> None:
    (line,) = lines(read(write(tmp_path, f"12/05/24, 10:11 - {name}: see: http://x.org\n")))
    assert (line.speaker, line.text) == (expected, "see: http://x.org")


@pytest.mark.parametrize(
    "notice",
    [
        "Messages and calls are end-to-end encrypted.\nTap to learn more.",
        "Ana hat die Gruppe erstellt",
        'Ana changed the group name to "Trip: 2025"',
        "Ana changed the group name from “Trip: old” to “Trip: new”",
        "Ana added https://x.org",
    ],
)
def test_a_notice_is_counted_and_glued_to_nothing(tmp_path: Path, notice: str) -> None:
    transcript = read(write(tmp_path, f"{ANDROID}one\n12/05/24, 10:12 - {notice}\n12/05/24, 10:13 - Bo: two\n"))
    assert texts(transcript) == ["one", "two"]
    assert transcript.left == {"notices of WhatsApp": 1}


@pytest.mark.parametrize(
    "text",
    [
        f"{ANDROID}<Media omitted>\n",
        f"{ANDROID}<Medien ausgeschlossen>\n",
        f"{ANDROID}{LRM}IMG-20240512-WA0001.jpg (file attached)\n",
        f"{IOS}{LRM}image omitted\n",
        f"{IOS}{LRM}<attached: 00000012-PHOTO.jpg>\n",
        f"{IOS}<attached: IMG.jpg>\n",
        f"{IOS}{LRM}Messages are end-to-end encrypted.\nMore of it\n",
    ],
)
def test_a_medium_is_counted_and_not_taken(tmp_path: Path, text: str) -> None:
    head = text[: text.index("Ana")]
    transcript = read(write(tmp_path, f"{text}{head}Bo: end\n"))
    assert texts(transcript) == ["end"]
    assert transcript.left == {"media and what WhatsApp writes in their place": 1}


def test_what_was_typed_with_a_medium_is_taken(tmp_path: Path) -> None:
    android = read(write(tmp_path, f"{ANDROID}{LRM}IMG.jpg (file attached)\nOur house\n"))
    ios = read(write(tmp_path, f"{IOS}Our house {LRM}<attached: 0012-PHOTO.jpg>\n"))
    assert texts(android) == texts(ios) == ["Our house"]


def test_a_message_without_text_is_counted(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, f"{ANDROID}\n{ANDROID}end\n"))
    assert texts(transcript) == ["end"]
    assert transcript.left == {"messages without text": 1}


def test_a_stamp_of_the_other_layout_is_text(tmp_path: Path) -> None:
    assert texts(read(write(tmp_path, f"{ANDROID}look\n{IOS}what\n"))) == [f"look\n{IOS}what"]
    pasted = "12.05.24, 10:11 - Bo: no"
    assert texts(read(write(tmp_path, f"{ANDROID}look\n{pasted}\n"))) == [f"look\n{pasted}"]


@pytest.mark.parametrize(
    ("path", "read_path", "session"),
    [
        ("WhatsApp Chat with Ana (1).txt", "WhatsApp Chat with Ana (1).txt", "WhatsApp Chat with Ana"),
        ("Ana/_chat.txt", "Ana/_chat.txt", "Ana"),
        ("Ana/_chat.txt", "Ana", "Ana"),
        ("all/Ana/_chat.txt", "all", "Ana"),
    ],
)
def test_the_session_is_the_chat(tmp_path: Path, path: str, read_path: str, session: str) -> None:
    write(tmp_path, f"{IOS}hi\n", path)
    (line,) = lines(read(tmp_path / read_path))
    assert line.session == session


def test_a_zip_with_media_is_read_and_its_media_counted(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat - Ana.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", f"{IOS}hi\n")
        archive.writestr("0012-PHOTO.jpg", b"\xff\xd8\x00")
    transcript = read(path)
    assert [(line.text, line.session) for line in lines(transcript)] == [("hi", "WhatsApp Chat - Ana")]
    assert transcript.left == {"media and other files of the archive": 1}


def test_several_chats_are_several_sessions(tmp_path: Path) -> None:
    write(tmp_path, f"{ANDROID}a\n", "WhatsApp Chat with Ana.txt")
    write(tmp_path, f"{ANDROID}a\n", "WhatsApp Chat with Bo.txt")
    write(tmp_path, "nothing of the kind\n", "readme.txt")
    found = lines(read(tmp_path))
    assert {line.session for line in found} == {"WhatsApp Chat with Ana", "WhatsApp Chat with Bo"}
    assert len({line.turn_id for line in found}) == 2


def test_a_longer_export_keeps_the_ids(tmp_path: Path) -> None:
    text = f"{ANDROID}ok\n{ANDROID}ok\n12/05/24, 10:11 - Bo: ok\n"
    before = [line.turn_id for line in lines(read(write(tmp_path, text)))]
    assert before == [line.turn_id for line in lines(read(write(tmp_path, text)))]
    longer = text.replace(", ", ",\u202f") + f"{ANDROID}ok\n13/05/24, 10:11 - Ana: new\n"
    after = [line.turn_id for line in lines(read(write(tmp_path, longer)))]
    assert after[:3] == before and len(set(after)) == 5


@settings(max_examples=25, deadline=None)
@given(said=st.lists(st.tuples(st.sampled_from(["Ana", "Bo"]), st.sampled_from(["ok", "no", "a: b"])), min_size=1))
def test_ids_of_a_part_are_the_first_of_the_whole(said: list[tuple[str, str]]) -> None:
    whole = [f"12/05/24, 10:11 - {name}: {text}\n" for name, text in said]
    with TemporaryDirectory() as folder:
        part = [one.turn_id for one in lines(read(write(Path(folder), "".join(whole[: len(whole) // 2 + 1]))))]
        all_of_it = [one.turn_id for one in lines(read(write(Path(folder), "".join(whole))))]
    assert all_of_it[: len(part)] == part
    assert len(set(all_of_it)) == len(said)


@pytest.mark.parametrize(
    "text",
    [
        "Ana: hi\nBo: hello\n",
        "[2024-03-02 09:14] Ana: hi\n",
        "2024-03-02T09:14 - Ana: hi\n",
        "12/05/2024 10:11 - Ana: hi\n",
        "[12/05/24, 10:11] Ana: hi\n",
        "# 2024-03-02\nAna: hi\n",
        "12/05/24, 10:11, Ana: hi\n",
    ],
)
def test_other_transcripts_stay_what_they_are(tmp_path: Path, text: str) -> None:
    assert read(write(tmp_path, text, "talk.txt")).format == "text"


@pytest.mark.parametrize("head", [ANDROID, IOS], ids=["android", "ios"])
def test_its_layout_tells_it_whatever_the_file_is_called(tmp_path: Path, head: str) -> None:
    assert read(write(tmp_path, f"\n{head}hi\n", "talk.log")).format == "whatsapp"


def test_its_name_tells_it_where_the_layout_leaves_a_doubt(tmp_path: Path) -> None:
    text = "12/05/2024 10:11 - Ana: hi\n"
    assert read(write(tmp_path, text, "Conversa do WhatsApp com Ana.txt")).format == "whatsapp"
    assert read(write(tmp_path, text, "talk.txt"), format="whatsapp").format == "whatsapp"


def test_a_bad_date_costs_only_itself(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, f"{ANDROID}one\n99/99/24, 10:11 - Bo: two\n"))
    assert [(line.text, line.at is None) for line in transcript.conversations[0].lines] == [
        ("one", False),
        ("two", True),
    ]
    assert "expected a date" in str(transcript.problems[0])


def test_text_before_the_first_message_is_a_problem(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, f"a copy\n{ANDROID}one\n"), format="whatsapp")
    assert [line.text for line in transcript.conversations[0].lines] == ["one"]
    assert "before any" in str(transcript.problems[0])


def test_bytes_that_are_no_text_cost_their_message(tmp_path: Path) -> None:
    path = write(tmp_path, f"{ANDROID}one\n{ANDROID}two\n")
    path.write_bytes(path.read_bytes().replace(b"two", b"tw\xff") + b"\0\0")
    transcript = read(path)
    assert [line.text for line in transcript.conversations[0].lines] == ["one"]
    assert ["UTF-8" in str(one) for one in transcript.problems] == [False, True]


def test_a_binary_file_in_a_folder_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, f"{ANDROID}one\n")
    (tmp_path / "other.txt").write_bytes(b"\0\1\2" * 99)
    assert texts(read(tmp_path)) == ["one"]


def test_a_damaged_chat_in_a_zip_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "chats.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("WhatsApp Chat with Ana.txt", f"{ANDROID}one is damaged\n")
        archive.writestr("WhatsApp Chat with Bo.txt", f"{ANDROID}two\n")
    path.write_bytes(path.read_bytes().replace(b"damaged", b"d4maged"))
    transcript = read(path)
    assert [line.text for line in transcript.conversations[0].lines] == ["two"]
    assert "could not unpack it" in str(transcript.problems[0])


def test_nothing_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected an archive"):
        read(tmp_path)
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.txt")
    assert read(write(tmp_path, ""), format="whatsapp").problems


def test_a_long_chat_is_read_whole(tmp_path: Path) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    text = "".join(f"{start + timedelta(minutes=n):%d/%m/%y, %H:%M} - Ana: {n}\n" for n in range(5000))
    assert len(lines(read(write(tmp_path, text)))) == 5000
