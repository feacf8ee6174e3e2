"""The annotated corpus can be read, and its parts share nothing."""

import sys
from collections import Counter
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "training" / "corpus"
FILES = sorted(path for part in ("train", "dev", "test", "asked") for path in CORPUS.glob(f"{part}/*.txt"))


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


def test_acts_that_can_be_carried_out_come_to_the_end_that_is_written(tools):
    paths = sorted(CORPUS.glob("tasks/[AU-Z]*.txt"))
    scenarios = [one for path in paths for one in tools[2].read_scenarios(path)]
    assert [wrong for one in scenarios for wrong in tools[2].wrong_in(one)] == []
    assert len({one.id for one in scenarios}) == len(scenarios) >= 2_000


PARTY = """# X-1 | domain: a | register: b | day: 2026-03-02
User: Party on the 12th. Cake and six candles. The hall the day before.
  t new | node=party <Party>
  t set | node=party | slot=day | value=2026-03-12 <the 12th>
  t add | node=party | value=cake <Cake> | value=6 candles <six candles>
  t new | node=hall
  t rule | node=hall | slot=day | value=1 day before party/day <the day before>
"""
AFTER = (
    (
        "rename | node=party | value=Gran's party <Gran's party>",
        ("Gran's party | day | 2026-03-12", "hall | day | 2026-03-11"),
    ),
    ("set | node=party | slot=day | value=2026-04-01 <the 1st>", ("hall | day | 2026-03-31",)),
    ("replace | node=party | from=cake | value=pie", ("party | items | pie; candles",)),
    ("remove | node=party/cake", ("party | items | candles",)),
    ("reset | node=party | value=candles", ("party | items | candles", "party/candles | count | 6")),
    ("move | node=party/cake | to=hall", ("hall | items | cake", "party | items | candles")),
    ("copy | node=party | into=second | without=cake", ("second | items | candles", "second | day | 2026-03-12")),
    ("depend | node=hall | on=party/cake", ("hall | on | cake",)),
    ("set | node=party | slot=day | value=2026-05-01 <May> | if=it rains", ("party | day | 2026-05-01 | if=it rains",)),
    ("undo", ()),
)


@pytest.mark.parametrize(("act", "lines"), AFTER)
def test_an_act_comes_to_what_a_careful_person_would_write(tools, tmp_path, act, lines):
    said = "User: Gran's party on the 1st, May if it rains, pie, and the second one\n"
    path = tmp_path / "X.txt"
    path.write_text(f"{PARTY}{said}  t {act}\n  s none | status | none\n", encoding="utf-8")
    (scenario,) = tools[2].read_scenarios(path)
    told = [line.partition("not written: ")[2] for line in tools[2].wrong_in(scenario)]
    held = {line.removesuffix(" | ") for line in told}
    assert set(lines) <= {line.replace("| it rains", "| if=it rains") for line in held}
    assert bool(lines) == bool(held)


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        ("remove | node=party/pudding", "nothing is at"),
        ("set | node=party | slot=day | value=2026-04-01", "nobody says '2026-04-01'"),
        ("set | node=party | slot=sponsor | value=Gran", "nobody says 'sponsor'"),
        ("rollback | node=party/cake", "never taken out"),
        ("swap | node=party | with=hall | slot=day", "both need the slot"),
        ("replace | node=party | value=pie", "expected from="),
    ],
)
def test_an_act_that_cannot_be_carried_out_is_told(tools, tmp_path, act, complaint):
    path = tmp_path / "X.txt"
    path.write_text(f"{PARTY}User: Gran's party, pie\n  t {act}\n  s none | status | none\n", encoding="utf-8")
    (scenario,) = tools[2].read_scenarios(path)
    assert any(complaint in line for line in tools[2].wrong_in(scenario))


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
