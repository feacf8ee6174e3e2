"""`doxa teach`: what is unsure is shown, answers go to a file of marks, and a head is learned from it."""

import json

import pytest

CHAT = [
    "My brother Piet works for a mill in Ghent since May.",
    "My sister Vera sells boats and bought two horses yesterday.",
    "I sold the old banjo to a guy from Tema for 600 cedis.",
    "The dentist is on Friday at 8:15 and the vet says Tassen has a heart murmur.",
    "We moved into the flat above the bakery, and my cousin Harleen helped us.",
    "I'm learning Portuguese with a teacher called Rita.",
]


@pytest.fixture
def chat(cli):
    """A memory of some chat; `cli.unsure` is what the reader is unsure of in it."""
    turns = [(f"t{n}", f"2026-03-02T09:{n:02}:00", "user", "Ana", text) for n, text in enumerate(CHAT)]
    assert cli("ingest", cli.transcript(turns)).exit_code == 0
    return cli


def marks(cli) -> list[dict]:
    """The marks that were written."""
    path = cli.folder / "memory.db.taught" / "default" / "ana.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def words(row: dict) -> tuple[str, str, str]:
    """What a claim is in, as it is shown and as it is written."""
    return row["subject"], row["words"], row["object"]


def test_it_lists_the_most_unsure_claims_and_asks_nothing(chat):
    """Nearest to being kept or not first, and nothing is written."""
    shown = chat.json("teach", "--show", 4)
    assert len(shown) == 4 and {"subject", "words", "object", "relation", "p", "kept", "lines"} <= set(shown[0])
    text = chat("teach", "--show", 1).stdout
    assert shown[0]["lines"][-1]["text"] in text and "wanted with probability" in text
    assert " | ".join((shown[0]["subject"], "")) in text
    assert marks(chat) == []


def test_answers_are_written_one_by_one_and_it_says_how_many_more_are_needed(chat):
    """Yes, no, true but not worth it, another relation, a missed claim, skip, and what is none of these."""
    shown = chat.json("teach", "--show", 5)
    done = chat("teach", input="y\nwhat\nn\nm\nWorks at\nr\nworks_at\na\nI\nowns\na dog\ns\nq\n")
    assert done.exit_code == 0, done.output
    assert "Expected one of y, n, m, r, a, s and q, got 'what'" in done.output and "got 'Works at'" in done.output
    assert "16 more are needed" in done.output and "1 missed claim" in done.output
    *judged, missed = marks(chat)
    given = [(one["right"], one["keep"], one.get("relation", "")) for row in judged for one in row["claims"]]
    assert given == [(True, True, ""), (False, False, ""), (True, False, ""), (True, True, "works_at")]
    assert [words(one) for row in judged for one in row["claims"]] == [words(one) for one in shown[:4]]
    assert missed["missed"] == [{"subject": "I", "relation": "owns", "object": "a dog"}]
    assert missed["lines"][-1]["text"] == shown[4]["lines"][-1]["text"]
    assert words(chat.json("teach", "--show", 1)[0]) == words(shown[4])


def test_the_end_of_the_input_is_the_end_of_the_questions(chat):
    """What was answered is kept; with --json the questions go elsewhere."""
    told = chat.json("teach", input="y\n")
    assert told["accepted"] is False and told["marks"] == 1 and "19 more" in told["reason"]
    assert len(marks(chat)) == 1


def test_it_learns_from_a_file_and_tells_its_broken_lines(chat):
    """Each by its number, with what was expected; the rest is learned from."""
    chat("teach", input="y\nn\n")
    rows = [json.dumps(row) for row in marks(chat)]
    path = chat.file("mine.jsonl", "\n".join(["# mine", rows[0], "{oops", rows[1], '{"lines": []}']))
    told = chat.json("teach", "--from", path)
    assert told["marks"] == 2 and [line.split(": ")[0] for line in told["broken"]] == [f"{path}:3", f"{path}:5"]
    assert all("expected" in line for line in told["broken"])
    assert "Left out" in chat("teach", "--from", path).stdout


def test_what_was_learned_is_shown_beside_the_reader_alone(chat):
    """Whether it is taken or not, with both figures and the reason; a dry run uses nothing."""
    shown = chat.json("teach", "--show", 50)
    kept = {one["object"]: len(one["object"]) % 2 for one in shown}
    rows = []
    for number in range(8):
        for one in shown:
            lines = [*one["lines"][:-1], {**one["lines"][-1], "speaker": f"Ana{number}"}]
            lines = [{"speaker": line["speaker"], "text": line["text"]} for line in lines]
            claim = {name: one[name] for name in ("subject", "words", "object")} | {"right": bool(kept[one["object"]])}
            rows.append(json.dumps({"lines": lines, "claims": [claim]}))
    path = chat.file("mine.jsonl", "\n".join(rows))
    told = chat.json("teach", "--from", path, "--dry-run")
    assert told["dev"] >= 3 and told["in_use"] is False and set(told["before"]) == set(told["after"])
    text = chat("teach", "--from", path, "--dry-run").stdout
    assert "F1 of what is kept" in text and "log loss" in text and "reader alone" in text
    assert not (chat.folder / "memory.db.taught").exists()


def test_nothing_marked_is_nothing_to_learn_from(chat):
    """It says so, and fails not."""
    done = chat("teach", input="q\n")
    assert done.exit_code == 0 and "Nothing was marked yet" in done.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--show", 3, "--from", "x.jsonl"), "one of them"),
        (("--from", "nowhere.jsonl"), "no file"),
        (("--show", 0), "limit"),
    ],
    ids=["both", "no file", "none"],
)
def test_what_cannot_be_done_is_said(chat, options, says):
    """In one line, with exit code 1."""
    done = chat("teach", *options)
    assert done.exit_code == 1 and says in done.output


def test_the_doctor_tells_of_a_head(chat, monkeypatch):
    """That it is in use, or that its file cannot be read."""
    import numpy as np

    from doxa.understand import Head, save_head
    from doxa.understand.teaching.heard import SIZE

    path = chat.folder / "head.npz"
    save_head(Head(weight=np.ones(SIZE, np.float32), naming=np.zeros((0, SIZE), np.float32), marks=42), path)
    monkeypatch.setenv("DOXA_PARSER_HEAD", str(path))
    (check,) = [one for one in chat.json("doctor", "--offline")["checks"] if one["name"] == "memory"]
    assert check["state"] == "ok" and "taught by 42 marks" in check["detail"] and str(path) in check["detail"]
    path.write_bytes(b"no head")
    found = chat.json("doctor", "--offline", code=1)
    (check,) = [one for one in found["checks"] if one["name"] == "memory"]
    assert check["state"] == "failed" and "expected a head" in check["detail"]
