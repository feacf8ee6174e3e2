"""Dialogues for which knowledge is sought: read from small files of the same form, and from those of the test sets."""

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from doxa.core.errors import FormatError, NotFoundError
from doxa_bench.knowledge.detokenising import detokenise
from doxa_bench.knowledge.dialogues import read_cicero, read_dailydialog, read_empathetic

ROOT = Path(__file__).parents[2]
MEASURE = Path(os.environ.get("DOXA_DATA", ROOT.parent / "shared" / "data")) / "measure"
NEEDS_DATA = pytest.mark.skipif(not MEASURE.exists(), reason="the test sets are not at hand")
HEADER = "conv_id,utterance_idx,prompt,utterance"
QUESTION = {
    "ID": "made-1",
    "Dialogue": ["A: Is the kettle on ?", "B: : Not yet , sorry .", "B:", "A: Then I ' ll do it ."],
    "Target": "Not yet , sorry .",
    "Question": "What is the cause?",
    "Choices": ["It broke .", "B forgot.", "It's Sunday."],
    "Correct Answers": [1, 0],
}


def lines(path, *entries):
    """A file of JSON Lines; gives its path."""
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def table(path, *rows):
    """A file of CSV under the usual header; gives its path."""
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def daily(index, *texts):
    """A dialogue as DailyDialog has it."""
    return {"index": index, "topic": "work", "dialogue": [{"text": text, "act": "inform"} for text in texts]}


@pytest.mark.parametrize(
    ("apart", "joined"),
    [
        ("man , you ' Ve won !", "man, you've won!"),
        ("I don ' t know , I ' m new .", "I don't know, I'm new."),
        ("She ca n't , it 's late .", "She can't, it's late."),
        ("It is 3 o ' clock , ma ' am .", "It is 3 o'clock, ma'am."),
        ("in the ' 90s , ask ' em", "in the '90s, ask 'em"),
        ("Say ' cheese ' please .", "Say 'cheese' please."),
        ("Paris ' s roofs and the neighbours ' dogs", "Paris's roofs and the neighbours' dogs"),
        ("Does ' bon jour ' mean hello ?", "Does 'bon jour' mean hello?"),
        ('He wrote " The Pond " , and " I " .', 'He wrote "The Pond", and "I".'),
        ('an inch is 1 " long', 'an inch is 1 " long'),
        ("It costs $ 12 . 50 ( or 8 % ) .", "It costs $12.50 (or 8%)."),
        ("At 9 a . m . in the U . S . , Mr . Reed", "At 9 a.m. in the U.S., Mr. Reed"),
        ("see www . pond . org now", "see www.pond.org now"),
        ("What ? ! Well ... no ; yes : both", "What?! Well... no; yes: both"),
        ("day / night , .5 miles :)", "day/night, .5 miles :)"),
        ("Rooms 12 , 300 and 7 - 9", "Rooms 12, 300 and 7 - 9"),
        ("IT'S   here\n", "IT'S here"),
        ("", ""),
    ],
)
def test_marks_are_joined_where_people_write_them(apart, joined):
    assert detokenise(apart) == joined
    assert detokenise(joined) == joined


SPOKEN = st.lists(
    st.sampled_from(["we", "Anna's", "don't", "they've", "pond", "you'll", "12", "o'clock", "I'm", "ten-year-old"]),
    min_size=1,
    max_size=5,
)


@given(st.lists(st.tuples(SPOKEN, st.sampled_from([",", ".", "?", "!", ";", "..."])), min_size=1, max_size=4))
def test_what_was_taken_apart_is_put_together_again(clauses):
    ends = [(words[-1], mark, after[0]) for (words, mark), (after, _) in pairwise(clauses)]
    assume(("12", ".", "12") not in ends)  # "12 . 12" is one number
    text = " ".join(" ".join(words) + mark for words, mark in clauses)
    apart = " ".join(" ".join(words).replace("'", " ' ") + f" {mark}" for words, mark in clauses)
    assert detokenise(apart) == detokenise(text) == text


def test_dailydialog_is_detokenised_and_speakers_alternate(tmp_path):
    lines(tmp_path / "multireftest.json", daily(0, "Hi , Tom .", "I ' m Ann !", "Oh ."), daily(7, "Bye .", "Bye ."))
    first, second = read_dailydialog(tmp_path)
    assert (first.talk_id, second.talk_id) == ("0", "7")
    assert first.speakers == ("A", "B", "A")
    assert first.texts == ("Hi, Tom.", "I'm Ann!", "Oh.")
    assert read_dailydialog(tmp_path / "multireftest.json") == (first, second)


def test_empathetic_has_its_commas_and_quotes_back(tmp_path):
    table(
        tmp_path / "fixed_test.csv",
        "hit:1_conv:2,1,I was glad_comma_ so glad,My cat_comma_ Tom_comma_ came back",
        'hit:1_conv:2,2,I was glad_comma_ so glad,"He said ""meow"""',
        "hit:3_conv:4,1,other,It cost 1_comma_000 euros",
    )
    first, second = read_empathetic(tmp_path)
    assert (first.talk_id, first.speakers) == ("hit:1_conv:2", ("A", "B"))
    assert first.texts == ("My cat, Tom, came back", 'He said "meow"')
    assert second.texts == ("It cost 1,000 euros",)


def test_cicero_gives_the_dialogue_the_target_and_what_is_right(tmp_path):
    lines(tmp_path / "test.json", QUESTION)
    lines(tmp_path / "val.json", QUESTION | {"ID": "made-2"})
    first, second = read_cicero(tmp_path)
    assert (first.talk.talk_id, second.talk.talk_id) == ("made-1", "made-2")
    assert first.talk.texts == ("Is the kettle on?", "Not yet, sorry.", "Then I'll do it.")
    assert first.talk.speakers == ("A", "B", "A")
    assert (first.target, first.target_at) == ("Not yet, sorry.", 1)
    assert first.choices == ("It broke.", "B forgot.", "It's Sunday.")
    assert first.right == (0, 1)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{"index": 0}], "there is no 'dialogue'"),
        ([["a"]], "expected a dialogue of DailyDialog"),
        ([daily(0)], "no utterance"),
        ([{"index": 0, "dialogue": [{"text": 5}]}], "5 is no text"),
        ([daily(0, "Hi"), daily(0, "Hi")], "'0' comes again"),
        ([], "it holds none"),
    ],
    ids=["field", "list", "empty", "number", "twice", "nothing"],
)
def test_a_file_that_is_not_dailydialog_is_named(tmp_path, entries, expected):
    with pytest.raises(FormatError, match=expected) as caught:
        read_dailydialog(lines(tmp_path / "some.json", *entries))
    assert str(tmp_path / "some.json") in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["a,1,p,Hi", "a,3,p,Ho"], "3: expected utterance 2 of 'a', got number '3'"),
        (["a,1,p"], "2: expected 4 columns, got 3"),
        (["a,1,p,Hi", "b,1,p,Hi", "a,1,p,Ho"], "'a' comes again"),
        (['a,1,p,"Hi'], "expected CSV"),
        ([], "it holds none"),
    ],
    ids=["gap", "columns", "pieces", "quote", "nothing"],
)
def test_a_file_that_is_not_empathetic_is_named(tmp_path, rows, expected):
    with pytest.raises(FormatError, match=expected):
        read_empathetic(table(tmp_path / "some.csv", *rows))


def test_utterances_that_are_glued_together_are_refused_with_the_file_to_use(tmp_path):
    path = tmp_path / "test.csv"
    path.write_text("conv_id,prompt,utterance_data,speaker_utterance,speaker_info\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"conv_id,utterance_idx.*got 'conv_id,prompt.*fixed_test\.csv"):
        read_empathetic(path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"Target": "What?"}, "'What\\?' is 0 of its utterances"),
        ({"Correct Answers": [1, 3]}, r"\[1, 3\], expected some of the 3 choices, from 0"),
        ({"Correct Answers": []}, "the right answers are"),
        ({"Dialogue": ["Not yet , sorry ."]}, "has no speaker"),
        ({"Dialogue": []}, "is 0 of its utterances"),
        ({"Choices": None}, "expected a question of CICERO"),
    ],
    ids=["target", "outside", "none-right", "speaker", "empty", "choices"],
)
def test_a_file_that_is_not_cicero_is_named(tmp_path, change, expected):
    with pytest.raises(FormatError, match=expected):
        read_cicero(lines(tmp_path / "some.json", QUESTION | change))


@pytest.mark.parametrize("read", [read_dailydialog, read_empathetic, read_cicero])
def test_a_file_that_is_missing_or_no_text_is_named(tmp_path, read):
    with pytest.raises(NotFoundError, match="There is no file"):
        read(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="expected UTF-8"):
        read(tmp_path / "bytes")


@NEEDS_DATA
def test_dailydialog_has_a_thousand_dialogues():
    talks = read_dailydialog(MEASURE / "dailydialog")
    assert len(talks) == 1_000
    assert sum(len(talk.texts) for talk in talks) == 7_740
    assert not [text for talk in talks for text in talk.texts if text.endswith((" .", " ?", " !")) or " , " in text]


@NEEDS_DATA
def test_empathetic_has_2547_dialogues_of_single_utterances():
    talks = read_empathetic(MEASURE / "empathetic_dialogues")
    assert len(talks) == 2_547
    assert sum(len(talk.texts) for talk in talks) == 10_973
    assert all(text and "_comma_" not in text for talk in talks for text in talk.texts)


@NEEDS_DATA
def test_cicero_has_2910_questions_about_745_dialogues():
    items = read_cicero(MEASURE / "cicero_v2")
    assert len(items) == 2_910
    assert len({item.talk for item in items}) == 745
    assert all(item.talk.texts[item.target_at] == item.target and len(item.right) > 1 for item in items)
