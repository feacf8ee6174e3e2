"""A vault of notes in Markdown: blocks as turns, what the note says of itself, and ids that outlive edits."""

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends.transcripts import Line, Transcript
from doxa.backends.transcripts import read_archive as read
from doxa.core.errors import FormatError

WRITTEN = datetime(2023, 5, 6, 7, 8, tzinfo=UTC)


def write(folder: Path, text: str | bytes, name: str = "note.md") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (WRITTEN.timestamp(), WRITTEN.timestamp()))
    return path


def lines(transcript: Transcript) -> tuple[Line, ...]:
    assert transcript.format == "notes"
    (conversation,) = transcript.conversations
    assert not conversation.problems
    return conversation.lines


def note(folder: Path, text: str, name: str = "note.md") -> tuple[Line, ...]:
    return lines(read(write(folder, text, name)))


def only(folder: Path, text: str, name: str = "note.md") -> Line:
    (line,) = note(folder, text, name)
    return line


def test_a_block_is_a_turn_of_the_user(tmp_path: Path) -> None:
    write(tmp_path, "# Home\n\nWe moved to Berlin.\n\n## Garden\n\nIt has a pond.\n", "life/Home.md")
    first, second = lines(read(tmp_path))
    assert (first.text, first.speaker, first.role, first.session) == ("We moved to Berlin.", None, "user", "life/Home")
    assert (first.line, second.line) == (3, 7)
    assert first.metadata == {"path": "life/Home.md", "headings": ["Home"]}
    assert second.metadata["headings"] == ["Home", "Garden"]
    assert first.turn_id is not None and first.turn_id.startswith("notes/life/Home.md#")


def test_headings_of_a_level_follow_each_other(tmp_path: Path) -> None:
    found = note(tmp_path, "# A\n## B\none\n### C\ntwo\n## D\nthree\n# E\nfour\n")
    assert [line.metadata["headings"] for line in found] == [["A", "B"], ["A", "B", "C"], ["A", "D"], ["E"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [[Page]].", "See Page."),
        ("See [[Page|the page]].", "See the page."),
        ("See [[Page#Part]] and [[#Here]]", "See Page > Part and Here"),
        ("See [[Page#^a1b2]]", "See Page"),
        ("See [it](https://x.org/a).", "See it (https://x.org/a)."),
        ("See [it](other.md).", "See it."),
        ("See <https://x.org> or https://y.org", "See https://x.org or https://y.org"),
        ("See [it][1].\n\n[1]: https://x.org", "See it (https://x.org)."),
        ("**Very** _good_ `x = 1` 5 \\* 3 &amp; so on", "Very good x = 1 5 * 3 & so on"),
        ("`[[code]]` stays", "[[code]] stays"),
        ("one\ntwo  \nthree", "one\ntwo\nthree"),
        ("A block. ^a1b2", "A block."),
        ("An [[open link", "An [[open link"),
        ("Seen by all. %%and by nobody%%", "Seen by all."),
        ("Up 5%, `%%code%%`", "Up 5%, %%code%%"),
    ],
)
def test_links_and_signs_become_readable(tmp_path: Path, text: str, expected: str) -> None:
    assert only(tmp_path, text).text == expected


def test_embeds_and_images_are_counted(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, "![[plan.png]]\n\nLook ![alt](a.png) here ![[Other#Part|x]]\n"))
    assert [line.text for line in lines(transcript)] == ["Look  here"]
    assert transcript.left == {"images and embeds": 3}


def test_line_ends_of_any_program_are_read(tmp_path: Path) -> None:
    text = "---\r\nmood: good\r\n---\r\n# A\r\n\r\none\r\ntwo\r\n\r\n```\r\nx\r\n```\r\n"
    first, second = note(tmp_path, text)
    assert (first.text, second.text, second.line) == ("one\ntwo", "```\nx\n```", 9)
    assert first.metadata["properties"] == {"mood": "good"}


def test_a_list_is_one_turn(tmp_path: Path) -> None:
    text = "Buy:\n\n- milk\n- [ ] tea\n  - green\n\n  or **black**\n\n3. three\n4. four\n"
    assert [line.text for line in note(tmp_path, text)] == [
        "Buy:",
        "- milk\n- [ ] tea\n  - green\n  or black",
        "3. three\n4. four",
    ]


def test_a_long_list_is_taken_item_by_item(tmp_path: Path) -> None:
    items = [f"- {number} {'word ' * 30}".strip() for number in range(50)]
    before = note(tmp_path, "\n".join(items))
    assert [line.text for line in before] == items
    assert [line.line for line in before] == list(range(1, 51))
    after = note(tmp_path, "\n".join(["- new", *items]))
    assert {line.turn_id for line in before} < {line.turn_id for line in after}


def test_a_long_paragraph_is_cut_at_a_word(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(3000)]
    found = note(tmp_path, " ".join(words))
    assert len(found) > 1 and all(len(line.text) <= 4000 for line in found)
    assert " ".join(line.text for line in found).split() == words


def test_lines_of_a_long_table_are_cut_at_their_ends(tmp_path: Path) -> None:
    rows = ["| a | b |", "|---|---|", *(f"| {number} | {'x' * 50} |" for number in range(200))]
    found = note(tmp_path, "\n".join(rows))
    assert "\n".join(line.text for line in found).split("\n") == rows
    assert all(rows[(line.line or 0) - 1] == line.text.split("\n")[0] for line in found)


@pytest.mark.parametrize(
    "text",
    [
        "```py\nx = [[1]]\n\ny = 2\n```",
        "| a | b |\n|---|---|\n| [[1]] | 2 |",
        "<div>\n*x*\n</div>",
        "    x = 1\n    y = 2",
    ],
    ids=["fence", "table", "html", "indented"],
)
def test_code_tables_and_html_stay_as_they_stand(tmp_path: Path, text: str) -> None:
    first, second = note(tmp_path, f"Before.\n\n{text}\n")
    assert (first.verbatim, second.verbatim, second.text) == (False, True, text)


def test_a_quote_is_verbatim_and_a_callout_is_not(tmp_path: Path) -> None:
    quote, callout = note(tmp_path, "> I was born in 1809.\n> - Lincoln\n\nx\n\n> [!note]- Mine\n> Read *it*.\n")[::2]
    assert (quote.text, quote.verbatim) == ("I was born in 1809.\n- Lincoln", True)
    assert (callout.text, callout.verbatim) == ("Mine\nRead it.", False)


def test_tags_are_those_of_obsidian(tmp_path: Path) -> None:
    head = "---\ntags: [garden, '#home']\n---\n"
    text = "# Title #top\n\nA #plan/2024 for #déjà-vu, not #1984 or a#b or `#code` or C#.\n\nNone.\n"
    first, second = note(tmp_path, head + text)
    assert first.metadata["tags"] == ["garden", "home", "top", "plan/2024", "déjà-vu"]
    assert second.metadata["tags"] == ["garden", "home", "top"]
    assert first.text.startswith("A #plan/2024 for")


def test_tags_may_be_a_text(tmp_path: Path) -> None:
    assert only(tmp_path, "---\ntags: 'one, #two three'\n---\nx").metadata["tags"] == ["one", "two", "three"]


def test_other_properties_are_kept(tmp_path: Path) -> None:
    head = "---\nmood: good\nrating: 4\nborn: 1990-02-30\nhalf: .nan\nlinks: ['[[A]]']\nempty:\n---\n"
    line = only(tmp_path, head + "Text.")
    assert line.metadata["properties"] == {
        "mood": "good",
        "rating": 4,
        "born": "1990-02-30",
        "half": "nan",
        "links": ["[[A]]"],
    }
    assert line.line == 9


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        ("date: 2024-01-02", "2024-03-02.md", datetime(2024, 1, 2, tzinfo=UTC)),
        ("created: 2024-01-02T10:11\nupdated: 2025-01-01", "a.md", datetime(2024, 1, 2, 10, 11, tzinfo=UTC)),
        ("Updated: 2024-01-02 10:11:12", "a.md", datetime(2024, 1, 2, 10, 11, 12, tzinfo=UTC)),
        ("date: [[2024-01-02]]", "a.md", datetime(2024, 1, 2, tzinfo=UTC)),
        ("date: '[[2024-01-02]]'", "a.md", datetime(2024, 1, 2, tzinfo=UTC)),
        ("date:", "daily/2024-03-02.md", datetime(2024, 3, 2, tzinfo=UTC)),
        ("mood: good", "2024_03_02.md", datetime(2024, 3, 2, tzinfo=UTC)),
        ("mood: good", "20240302.md", datetime(2024, 3, 2, tzinfo=UTC)),
        ("mood: good", "2024-13-02.md", WRITTEN),
        ("mood: good", "a.md", WRITTEN),
    ],
)
def test_a_note_is_dated_by_itself_its_name_or_its_file(
    tmp_path: Path, head: str, name: str, expected: datetime
) -> None:
    assert only(tmp_path, f"---\n{head}\n---\nText.", name).at == expected


def test_a_zip_is_read_with_the_dates_of_its_files(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.md", (2023, 5, 6, 7, 8, 0)), "One.")
        archive.writestr(zipfile.ZipInfo("b.md"), "Two.")
        archive.writestr(".obsidian/app.json", "{}")
        archive.writestr("plan.canvas", "{}")
    transcript = read(path)
    assert [(line.text, line.at) for line in lines(transcript)] == [("One.", WRITTEN), ("Two.", None)]
    assert transcript.left == {"other files of the folder (pictures, drawings, settings)": 1}


@pytest.mark.parametrize(
    "head",
    [
        "tags: [a",
        "a: b: c",
        "{{date}}: 1",
        "n: !!int x",
        "t: !!timestamp x",
        "a: &a [*a]",
        "x: !!python/object:os.x {}",
    ],
)
def test_broken_properties_are_a_problem_and_the_note_is_read(tmp_path: Path, head: str) -> None:
    transcript = read(write(tmp_path, f"---\n{head}\n---\nText.\n"))
    assert [line.text for line in transcript.conversations[0].lines] == ["Text."]
    assert "properties" in str(transcript.problems[0])


def test_properties_that_grow_without_end_are_a_problem(tmp_path: Path) -> None:
    grown = "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 9))
    transcript = read(write(tmp_path, f"---\nx0: &x0 [1]\n{grown}\n---\nText.\n"))
    assert [line.text for line in transcript.conversations[0].lines] == ["Text."]
    assert "more than 1,000" in str(transcript.problems[0])


def test_properties_that_are_too_long_are_counted(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, f"---\ntags: a\nx: {'y' * 5000}\n---\nText.\n"))
    assert lines(transcript)[0].metadata == {"path": "note.md", "tags": ["a"]}
    assert transcript.left == {"properties of notes that are too long": 1}


def test_text_between_rules_is_no_head(tmp_path: Path) -> None:
    assert [line.text for line in note(tmp_path, "---\nA line.\n\n---\nText.\n")] == ["A line.", "Text."]
    assert only(tmp_path, "---\nnot closed: x\n").text == "not closed: x"


def test_a_bad_date_is_a_problem_once(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, "---\ndate: soon\n---\nOne.\n\nTwo.\n"))
    assert [line.at for line in transcript.conversations[0].lines] == [WRITTEN, WRITTEN]
    (problem,) = transcript.problems
    assert "expected a date as `date`" in str(problem)


def test_editing_a_paragraph_adds_one_turn(tmp_path: Path) -> None:
    text = "---\nmood: good\n---\n# A\n\nOne.\n\nTwo.\n\nTwo.\n\n- x\n- y\n"
    before = [line.turn_id for line in note(tmp_path, text)]
    assert before == [line.turn_id for line in note(tmp_path, text)]
    assert len(set(before)) == 4
    edited = text.replace("One.", "Zero.\n\nChanged.").replace("good", "bad").replace("# A", "# B")
    after = {line.turn_id for line in note(tmp_path, edited)}
    assert len(after - set(before)) == 2 and set(before) - after == {before[0]}


def test_what_has_no_text_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "", "empty.md")
    write(tmp_path, "---\ntags: a\n---\n![[x.png]]\n", "picture.md")
    write(tmp_path, "# A\n## B\n\nText.\n\n## C\n", "note.md")
    transcript = read(tmp_path)
    assert [line.text for line in lines(transcript)] == ["Text."]
    assert transcript.left == {
        "notes without text": 2,
        "images and embeds": 1,
        "headings with nothing under them": 1,
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(categories=("L", "N", "Zs")), min_size=1), min_size=1))
def test_every_word_of_a_note_comes_back(paragraphs: list[str]) -> None:
    with TemporaryDirectory() as folder:
        found = lines(read(write(Path(folder), "\n\n".join(f"x{one}" for one in paragraphs))))
    assert " ".join(line.text for line in found).split() == " ".join(f"x{one}" for one in paragraphs).split()


@settings(max_examples=60, deadline=None)
@given(st.text("# -*>`|[]!()<&;:\\~_=\n\t a1^%$\"'", max_size=200))
def test_any_markdown_can_be_read(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder), text)
        first, again = read(path, format="notes"), read(path, format="notes")
    assert first == again
    assert all(line.text.strip() for line in first.conversations[0].lines)


def test_what_is_nested_too_deeply_is_read_as_paragraphs(tmp_path: Path) -> None:
    transcript = read(write(tmp_path, f"{'> ' * 500}deep\n\nText.\n"))
    assert transcript.conversations[0].lines[-1].text == "Text."
    assert "in one another" in str(transcript.problems[0])


@pytest.mark.parametrize("sign", ["[", "[[", "![", "*a ", "`", "<", "> ", "- ", "| a "])
def test_many_signs_are_read_in_time(tmp_path: Path, sign: str) -> None:
    assert read(write(tmp_path, sign * 3000 + "x"), format="notes").conversations


def test_a_binary_note_and_bad_bytes_cost_only_themselves(tmp_path: Path) -> None:
    write(tmp_path, b"\0\1\2" * 99, "a.md")
    write(tmp_path, b"Jos\xe9.\n\nText.\n", "b.md")
    transcript = read(tmp_path)
    assert [line.text for line in transcript.conversations[0].lines] == ["Text."]
    assert ["UTF-8" in one.message for one in transcript.problems] == [False, True]


def test_a_damaged_note_in_a_zip_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.md", "One is damaged.")
        archive.writestr("b.md", "Two.")
    path.write_bytes(path.read_bytes().replace(b"damaged", b"d4maged"))
    transcript = read(path)
    assert [line.text for line in transcript.conversations[0].lines] == ["Two."]
    assert "could not unpack it" in str(transcript.problems[0])


def test_a_long_path_has_an_id_that_can_be_stored(tmp_path: Path) -> None:
    folder = "/".join(["a" * 120] * 4)
    write(tmp_path, "One.\n\nTwo.\n", f"{folder}/note.md")
    ids = [line.turn_id or "" for line in lines(read(tmp_path))]
    assert len(set(ids)) == 2 and all(len(one) <= 390 for one in ids)


def test_a_transcript_in_markdown_is_no_note(tmp_path: Path) -> None:
    assert read(write(tmp_path, "# 2024-03-02\nAna: hi\nBo: hello\nAna: bye\n")).format == "text"
    assert read(write(tmp_path, "User: hi\nAssistant: hello\n")).format == "text"
    assert read(write(tmp_path, "Address: Main street 5\nPhone: 123\n")).format == "notes"


def test_notes_are_taken_only_where_nobody_else_knows_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "Text.\n")
    assert read(tmp_path).format == "notes"
    write(tmp_path, "not JSON", "a.json")
    assert read(tmp_path).format == "notes"
    write(tmp_path, "12/05/24, 10:11 - Ana: hi\n", "WhatsApp Chat with Ana.txt")
    assert read(tmp_path).format == "whatsapp"


def test_hidden_files_are_no_notes(tmp_path: Path) -> None:
    write(tmp_path, "Gone.\n", ".trash/a.md")
    with pytest.raises(FormatError, match="expected an archive"):
        read(tmp_path)
