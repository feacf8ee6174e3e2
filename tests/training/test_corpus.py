"""The annotated corpus can be read, and its parts share nothing."""

import sys
from collections import Counter
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "training" / "corpus"
FILES = sorted((*CORPUS.glob("train/*.txt"), *CORPUS.glob("dev/*.txt"), *CORPUS.glob("test/*.txt")))


@pytest.fixture(scope="module")
def tools():
    sys.path.insert(0, str(CORPUS))
    try:
        import corpus
        import marked
        import questions
        import task_turns

        yield corpus, questions, task_turns, marked
    finally:
        sys.path.remove(str(CORPUS))


@pytest.fixture(scope="module")
def dialogues(tools):
    return {path.stem: tools[0].read_dialogues(path) for path in FILES}


def test_each_line_is_an_annotation_and_each_dialogue_has_a_name_of_its_own(dialogues):
    found = [one for some in dialogues.values() for one in some]
    assert len({one.id for one in found}) == len(found)
    assert sum(len(one.turns) for one in found) >= 6_000


def test_domains_of_the_test_part_are_its_own(dialogues):
    of_test = {one.domain for one in dialogues["W6"]}
    assert not of_test & {one.domain for name, some in dialogues.items() if name != "W6" for one in some}


def test_each_question_is_over_a_dialogue_that_is_there(tools, dialogues):
    paths = sorted(CORPUS.glob("questions/*.txt"))
    asked = [question for path in paths for question in tools[1].read_questions(path, dialogues[path.stem])]
    assert len(asked) >= 6_000


def test_each_act_is_there_in_many_wordings_and_each_plan_has_an_end(tools):
    scenarios = [one for path in sorted(CORPUS.glob("tasks/*.txt")) for one in tools[2].read_scenarios(path)]
    counts = Counter(act.kind for one in scenarios for turn in one.turns for act in turn.acts)
    assert sum(len(one.turns) for one in scenarios) >= 3_000
    assert len({one.domain for one in scenarios}) >= 60
    assert min(counts[kind] for kind in tools[2].ACTS) >= 10


def test_each_mark_stands_in_words_of_the_turns(tools):
    paths = sorted(CORPUS.rglob("marked/*.txt"))
    turns = [turn for path in paths for one in tools[3].read_marked(path) for turn in one.turns]
    assert sum(len(turn.claims) for turn in turns) > len(turns) >= 3_000
    assert sum(not turn.claims for turn in turns) > len(turns) / 6


def test_a_mark_says_where_its_words_stand(tools, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text(
        "# a-1 | domain: d | register: r | day: 2026-01-01\nAna: Tom picked Mia up at noon, Tom?\n"
        "  c Tom#2 | picked up | Mia | on=at noon not\nBea: Nope.\n  c ^Tom | =visits | ^Mia\n"
    )
    first, second = tools[3].read_marked(path)[0].turns
    (mark,), (answer,) = first.claims, second.claims
    assert [(one.start, one.end) for one in (mark.subject, *mark.words, mark.object)] == [
        (27, 30), (4, 10), (15, 17), (11, 14),
    ]  # fmt: skip
    assert mark.flags == {"not"}
    assert mark.values[0][1].words == "at noon"
    assert (answer.subject.turn, answer.object.turn, answer.relation) == (0, 0, "visits")


def test_what_is_no_annotation_is_told_with_its_place(tools, tmp_path):
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(
        "# a-1 | domain: d | register: r | day: 2026-01-01\nAna: Hi there\n  f wave | agent=Ana\n  x what\n"
    )
    with pytest.raises(tools[0].CorpusError, match=r"wrong\.txt:3: 'Ana' does not stand[^\n]*\nwrong\.txt:4"):
        tools[0].read_dialogues(wrong)
