"""Revised values of SGD and SMCalFlow: what is read from the data, and when a memory is right."""

import json
from contextlib import nullcontext
from datetime import datetime
from types import SimpleNamespace

import pytest

from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench.tasks import run_revised
from doxa_bench.tasks.revised import RevisedDialogue, Revision, UserTurn, agrees, judge, recent
from doxa_bench.tasks.sgd import read_sgd
from doxa_bench.tasks.smcalflow import program, read_smcalflow, values_in
from doxa_bench.tasks.systems import Memory

DAY = datetime(2019, 3, 1)
SEATS = Revision(turn=1, slot="S/seats", new=("2",), old=("4",))


def frame(**values):
    return [{"service": "S", "state": {"slot_values": {slot: [value] for slot, value in values.items()}}}]


SGD = [
    {
        "dialogue_id": "1",
        "turns": [
            {"speaker": "USER", "utterance": "Four seats at 6 pm.", "frames": frame(seats="4", time="6 pm")},
            {"speaker": "SYSTEM", "utterance": "Four seats, right?", "frames": [{"service": "S"}]},
            {"speaker": "USER", "utterance": "No, two.", "frames": frame(seats="2", time="6 pm")},
            {"speaker": "SYSTEM", "utterance": "Two. At 7 pm?", "frames": [{"service": "S"}]},
            {"speaker": "USER", "utterance": "Yes.", "frames": frame(seats="2", time="7 pm")},
            {"speaker": "SYSTEM", "utterance": "Done, 12 places left.", "frames": [{"service": "S"}]},
        ],
    }
]
INDEX = [
    {
        "file": "dev.json",
        "dialogue_id": "1",
        "revisions": [
            {"turn": 2, "service": "S", "slot": "seats", "old": ["4"], "new": ["2"], "utterance": "No, two."},
            {"turn": 2, "service": "S", "slot": "city", "old": ["dontcare"], "new": ["Bonn"], "utterance": "No, two."},
            {"turn": 4, "service": "S", "slot": "time", "old": ["6 pm"], "new": ["7 pm"], "utterance": "Yes."},
            {"turn": 4, "service": "S", "slot": "seats", "old": ["2"], "new": ["5"], "utterance": "Yes."},
        ],
    },
    {"file": "away.json", "dialogue_id": "2", "revisions": [{}, {}]},
]


@pytest.fixture
def sgd(tmp_path):
    (tmp_path / "dev.json").write_text(json.dumps(SGD))
    (tmp_path / "slot_revision_index.json").write_text(json.dumps(INDEX))
    return tmp_path


def turn(text, lispress, reply="Is this good?"):
    return {
        "lispress": lispress,
        "user_utterance": {"original_text": text},
        "agent_utterance": {"original_text": reply},
    }


def revise(constraint):
    revised = f'ReviseConstraint (refer (Path.apply "output")) (^(Event) ConstraintTypeIntension) {constraint}'
    return f"(Yield (Execute ({revised})))"


MAKE = "(Yield (CreateCommitEventWrapper (CreatePreflightEventWrapper (& {}))))"
FIVE = "(Event.start_? (DateTime.time_? (?= (NumberPM 5L))))"
SIX = FIVE.replace("5L", "6L")


@pytest.fixture
def calflow(tmp_path):
    path = tmp_path / "revise.jsonl"
    entry = {
        "dialogue_id": "d",
        "turns": [
            turn("Lunch at 5.", MAKE.format(f'(Event.subject_? (?= "lunch")) {FIVE}')),
            turn("Make it 6 pm.", revise(SIX)),
            turn("And an hour longer.", revise("(Event.duration_? (?= (addDurations (toHours 1))))")),
            turn("With Kim.", revise('(Event.attendees_? (ListHasRecipient (refer (PersonName.apply "Kim"))))')),
            turn("When is it?", "(Yield (FindEventWrapperWithDefaults (Event.start_? (?= (NumberAM 1L)))))"),
            turn("And at 6 pm?", revise(SIX)),
        ],
    }  # fmt: skip
    path.write_text(json.dumps(entry) + "\n")
    return path


@pytest.mark.parametrize(
    ("gold", "held", "equal"),
    [
        ("quarter past 1 in the afternoon", "13:15", True),
        ("6:45 pm", "March 2nd at 6:45", True),
        ("next Thursday", "2019-03-07", True),
        ("2", "two tickets", True),
        ("2", "12 tickets", False),
        ("Big 4", "The Big 4", True),
        ("Napa", "I want a table for two in Napa at noon", False),
        ("6 pm", "7 pm", False),
    ],
)
def test_a_held_value_agrees_in_words_or_as_the_same_time(gold, held, equal):
    assert agrees(gold, held, DAY) is equal


def test_a_revision_is_right_when_the_new_value_is_held_and_the_old_one_is_not():
    assert judge(SEATS, {"table/people": "two people"}, DAY) == "right"
    assert judge(SEATS, {"table/people": "4"}, DAY) == "lost"
    assert judge(SEATS, {"table/people": "2", "seats": "4"}, DAY) == "kept"
    assert judge(SEATS, {"guests": ["Ana", "2"], "note": None}, DAY) == "right"


def test_the_most_recent_mention_is_of_a_known_value_or_a_time():
    known = {"S/seats": frozenset({"2", "4"}), "S/city": frozenset({"Long Beach", "Beach"})}

    def said(*texts):
        turns = tuple(UserTurn(text=text) for text in texts)
        return RevisedDialogue(id="d", turns=turns, revisions=(), day=DAY, known=known)

    assert recent(said("Four, please.", "Two."), SEATS) == "right"
    assert recent(said("Two.", "Not two but four."), SEATS) == "lost"
    assert recent(said("Two.", "At noon."), SEATS) == "right"
    time = Revision(turn=0, slot="S/time", new=("18:15",))
    assert recent(said("At 6:15 in the evening for 4."), time) == "right"
    city = Revision(turn=0, slot="S/city", new=("Long Beach",))
    assert recent(said("I am off to Long Beach."), city) == "right"
    kim = Revision(turn=0, slot="guests", new=("Kim",), adds=True)
    assert recent(said("Kim and Bo."), kim) == "right" and recent(said("Bo."), kim) == "lost"


def test_sgd_gives_revisions_that_can_be_known_and_counts_the_others(sgd):
    (dialogue,), left = read_sgd(sgd)
    assert [(one.turn, one.slot, one.new, one.old) for one in dialogue.revisions] == [
        (1, "S/seats", ("2",), ("4",)),
        (2, "S/time", ("7 pm",), ("6 pm",)),
    ]
    assert dialogue.turns[1] == UserTurn(text="No, two.", said_before="Four seats, right?")
    assert [(one.turn, one.slot, one.new, one.old) for one in dialogue.final] == [
        (2, "S/seats", ("2",), ("4",)),
        (2, "S/time", ("7 pm",), ("6 pm",)),
    ]
    assert left == {"file not there": 2, "no value before or after": 1, "new value not said": 1}


def test_smcalflow_gives_values_of_events_that_are_made_and_said(calflow):
    (dialogue,), left = read_smcalflow(calflow)
    assert [(one.turn, one.slot, one.new[0], one.old, one.adds) for one in dialogue.revisions] == [
        (1, "start time", "6:00 pm", ("5:00 pm", "5:00", "5"), False),
        (3, "attendees", "Kim", (), True),
    ]
    assert left == {"no value in the program": 1, "of a query": 1}
    assert len(dialogue.turns) == 4 and dialogue.final == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('(Event.location_? (?= (LocationKeyphrase.apply "the attic")))', [("location", ("the attic",))]),
        ("(Event.start_? (DateTime.date_? (?= (MD 5L (June)))))", [("start date", ("June 5", "the 5th"))]),
        ("(EventOnDate (Friday) (^(Event) EmptyStructConstraint))", [("start date", ("Friday",))]),
        ("(Event.duration_? (?= (toHours 2)))", [("duration", ("2 hours",))]),
        ("(Event.end_? (DateTime.time_? (?= (HourMinutePm 1L 30L))))", [("end time", ("1:30 pm", "1:30"))]),
        ("(Event.start_? (DateTime.time_? (?> (NumberPM 5L))))", []),
        ("(Event.start_? (?= (refer (NumberPM 5L))))", []),
    ],
)  # fmt: skip
def test_values_are_read_from_a_program_where_they_are_set(text, found):
    assert list(values_in(program(text))) == found


def test_data_that_is_something_else_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="slot_revision_index"):
        read_sgd(tmp_path)
    (tmp_path / "slot_revision_index.json").write_text("[{}]")
    with pytest.raises(FormatError, match="'file'"):
        read_sgd(tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"dialogue_id": "d", "turns": [turn("Hi", "(Yield")]}) + "\n")
    with pytest.raises(FormatError, match="opens more"):
        read_smcalflow(bad)


def test_a_run_tells_every_turn_with_what_was_said_before_and_compares(sgd):
    told = []

    class Seats:
        """Holds the last number that the user says, and asks whenever there is none."""

        def tell(self, text, *, intent=None, said_before=""):
            told.append((said_before, text))
            return SimpleNamespace(intents=(), text="", asks=text == "Yes.")

        def state(self):
            return {"seats": "2" if len(told) > 1 else "4", "time": "6 pm"}

    report = run_revised(sgd, set="sgd", config=Config(), memory=lambda _: nullcontext(Memory(lambda _: Seats())))
    found = report.to_dict(details=True)
    assert told == [("", "Four seats at 6 pm."), ("Four seats, right?", "No, two."), ("Two. At 7 pm?", "Yes.")]
    row = found["at the turn"]
    assert (row["n"], row["ours"], row["recent"], row["lost"], row["asked"]) == (2, 0.5, 1.0, 1, 1)
    assert found["with an old value"]["n"] == 2 == found["at the end"]["n"] and found["slots"]["time"]["ours"] == 0
    assert [(one["slot"], one["outcome"]) for one in found["details"]] == [("S/time", "asked")]


def test_the_published_data_gives_the_revisions_that_the_report_counts(data_dir):
    dialogues, left = read_sgd(data_dir / "open" / "sgd")
    assert (len(dialogues), sum(len(one.revisions) for one in dialogues)) == (88, 120)
    assert left["no value before or after"] == 10
    dialogues, left = read_smcalflow(data_dir / "open" / "smcalflow" / "revise_dialogues.jsonl")
    assert (len(dialogues), sum(len(one.revisions) for one in dialogues)) == (473, 745)
    assert left["of a query"] == 184
