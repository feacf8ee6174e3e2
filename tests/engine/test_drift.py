"""Questions are sampled with their failures, alarms lead to a refresh, and a refresh can be taken back."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from doxa import Config, Doxa
from doxa.core.drift import Alarm, Outcome, Refreshed, Shadow, Window
from doxa.core.errors import InputError, NotFoundError
from doxa.core.trace import Step
from doxa.core.values import Citation, Draft, Verdict
from doxa.engine.answer.feedback import served
from doxa.engine.asked import Asked
from doxa.engine.history.shadow import SHELF, sampled, store_shadows
from doxa.engine.wiring.learned import LearnedWeights

SETTINGS = {"encoder": {"name": "hash"}, "engine": {"settle_s": 10}, "grader": {"name": "none"}}
SAID = ["I live in Berlin.", "I work at Siemens.", "I love the film Titanic.", "My sister is called Eva."]
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def doxa(tmp_path: Path) -> Iterator[Doxa]:
    with Doxa.open(tmp_path / "memory.db", config=Config.from_tree(SETTINGS)) as doxa:
        chat = doxa.dialogue(user="ana")
        for number, text in enumerate(SAID):
            chat.absorb(text, turn_id=f"t{number}", at=START - timedelta(days=1))
        chat.flush()
        yield doxa


def shadow(day: float, outcome: Outcome, *, recall: float | None = None, **more: object) -> Shadow:
    query = more.pop("query", f"Where do I live, asked on day {day:g}?")
    found = float(outcome == "used") if recall is None else recall
    needed = () if outcome in ("abstained", "unsupported") else ("t0",)
    at = START + timedelta(days=day)
    return Shadow(at=at, outcome=outcome, query=query, turn_ids=needed, shown=("t0",), recall=found, **more)  # type: ignore[arg-type]


def asked(doxa: Doxa, one: Shadow) -> None:
    doxa.parts.shadows.add("ana", (doxa.parts.log.head("ana").ordinal, one))


def live(doxa: Doxa, days: int, failing: int, *, first: int = 0) -> None:
    """Have 20 questions asked a day, of which some fail, without waiting for what follows."""
    for day in range(first, first + days):
        for number in range(20):
            outcome: Outcome = "abstained" if number % 20 < failing else "used"
            asked(doxa, shadow(day + number / 100, outcome))
        store_shadows(doxa.parts, "ana")


def kept_bytes(doxa: Doxa) -> str:
    found = doxa.parts.log.store.records(doxa.parts.log.scope("ana"), SHELF)
    return b"".join(found.values()).decode()


def test_every_question_is_sampled_whatever_became_of_it(doxa: Doxa) -> None:
    chat = doxa.dialogue(user="ana")
    chat.respond("Where do I live?", turn_id="q")
    chat.ask("Which instrument does my uncle play?")
    doxa.memory(user="ana").feedback("What should I watch?", needed=["t2"])
    one, two, three = sampled(doxa.parts, "ana").questions
    assert (one.outcome, one.asked, one.query, one.turn_ids) == ("used", "q", "", ("t0",))
    assert one.recall == 1.0 and "t0" in one.shown and one.ms > 0
    assert (two.outcome, two.query) == ("abstained", "Which instrument does my uncle play?")
    assert not two.turn_ids and two.recall == 0.0
    assert (three.outcome, three.turn_ids) == ("missed", ("t2",))


@pytest.mark.parametrize(
    ("draft", "label", "outcome"),
    [
        ({"citations": (Citation(turn_id="t0"),)}, "supported", "used"),
        ({"citations": (Citation(turn_id="t0"),)}, "neutral", "unjudged"),
        ({"citations": (Citation(turn_id="t0"),)}, "contradicted", "unsupported"),
        ({}, "supported", "unsupported"),
        ({"citations": (Citation(turn_id="t0"),), "abstained": True}, "supported", "abstained"),
    ],
)
def test_what_became_of_a_question_follows_from_answer_and_verdict(
    draft: dict[str, Any], label: Any, outcome: Outcome
) -> None:
    asked = Asked(user="ana", text="Where?", speaker="Ana", agent="helper", session="s", at=START)
    step = Step(name="recall", ms=3.0)
    found = served(Draft(text="Berlin.", **draft), Verdict(label=label), (), asked, step, kept=True)
    assert (found.outcome, found.turn_ids) == (outcome, ("t0",) if outcome == "used" else ())
    assert found.recall == 0.0 and found.judged == (outcome != "unjudged")


def test_a_statement_is_no_question(doxa: Doxa) -> None:
    doxa.dialogue(user="ana").respond("I bought a kayak.")
    assert not sampled(doxa.parts, "ana").questions


def test_what_a_person_says_of_a_question_takes_its_place(doxa: Doxa) -> None:
    chat = doxa.dialogue(user="ana")
    chat.ask("Which instrument does my uncle play?")
    doxa.memory(user="ana").feedback("Which instrument does my uncle play?", needed=["t3"])
    (one,) = sampled(doxa.parts, "ana").questions
    assert (one.outcome, one.turn_ids) == ("missed", ("t3",))


def test_a_question_that_goes_on_from_what_is_not_remembered_is_counted_and_not_kept(doxa: Doxa) -> None:
    chat = doxa.dialogue(user="ana")
    chat.ask("Where do I live?")
    chat.ask("And my sister?")
    one, two = sampled(doxa.parts, "ana").questions
    assert one.query == "Where do I live?" and (two.query, two.asked) == ("", "")


def test_questions_about_another_time_are_counted_and_not_kept(doxa: Doxa) -> None:
    doxa.dialogue(user="ana").ask("Where do I live?", as_of="2025-01-01")
    (one,) = sampled(doxa.parts, "ana").questions
    assert (one.query, one.asked) == ("", "")


@pytest.mark.parametrize("more", [{"drift": {"watch": False}}, {"engine": {"settle_s": 10, "answers": 0}}])
def test_settings_keep_questions_out(tmp_path: Path, more: dict[str, object]) -> None:
    """Where nothing is watched nothing is counted; where no answers are kept, no words of questions are."""
    with Doxa.open(tmp_path / "off.db", config=Config.from_tree({**SETTINGS, **more})) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Berlin.")
        chat.ask("Where do I live?")
        assert [one.query for one in sampled(doxa.parts, "ana").questions] == ([] if "drift" in more else [""])


def test_failures_count_as_failures_in_what_learning_tells(doxa: Doxa) -> None:
    """Of 12 questions 4 without an answer: what was found is two thirds, and not all."""
    chat = doxa.dialogue(user="ana", session="later")
    for number in range(8):
        assert chat.respond("Where do I live?", turn_id=f"q{number}").verdict.label == "supported"
    for number in range(4):
        assert chat.ask(f"Which instrument number {number} does my uncle play?").abstained
    chat.flush()
    lesson = doxa.memory(user="ana").learn(status=True)
    assert lesson.shadow == 12
    assert lesson.before["recall"] == pytest.approx(8 / 12) and lesson.before["failed"] == pytest.approx(4 / 12)


def test_windows_are_of_a_day_by_the_clock_of_the_memory(doxa: Doxa) -> None:
    live(doxa, 3, failing=5)
    now = doxa.memory(user="ana").drift()
    assert [window.asked for window in now.windows] == [20, 20, 20] and now.open
    assert {window.recall for window in now.windows} == {0.75} and now.state == "waiting"


def test_the_clock_ends_a_window_in_which_nothing_more_is_asked(doxa: Doxa) -> None:
    live(doxa, 1, failing=0)
    doxa.dialogue(user="ana").absorb("I bought a kayak.", at=START + timedelta(days=2))
    doxa.flush()
    now = doxa.memory(user="ana").drift()
    assert len(now.windows) == 1 and not now.open


def test_what_is_stored_stays_small_however_much_is_asked(doxa: Doxa) -> None:
    spec = {"hours": 24.0, "questions": 10}
    doxa.parts.config = doxa.parts.config.model_copy(update={"drift": doxa.parts.config.drift.model_copy(update=spec)})
    live(doxa, 70, failing=4)
    known = sampled(doxa.parts, "ana")
    assert len(known.windows) == 120 and known.windows[-1].number > 120
    assert len(known.all) < 100 and len(kept_bytes(doxa)) < 60_000
    assert [len(known.samples[window.number]) for window in known.windows[-4:]] == [5, 10, 10, 10]


def test_a_calm_memory_stays_calm_and_a_drop_is_told(doxa: Doxa, caplog: pytest.LogCaptureFixture) -> None:
    live(doxa, 15, failing=2)
    now = doxa.memory(user="ana").drift()
    assert now.state == "calm" and now.reference is not None and now.reference.recall == pytest.approx(0.9)
    live(doxa, 4, failing=14, first=15)
    with caplog.at_level(logging.WARNING, "doxa"):
        doxa.flush()
        doxa.wait("ana", rest_s=10)
    now = doxa.memory(user="ana").drift()
    assert now.state == "alarm" and {alarm.signal for alarm in now.alarms} == {"recall", "abstained"}
    assert "search drifts for user" in caplog.text and "ana" not in caplog.text


def test_an_alarm_waits_for_feedback_before_anything_is_refreshed(doxa: Doxa) -> None:
    """Of 60 questions that failed nobody said what they needed: there is nothing to learn from."""
    live(doxa, 12, failing=0)
    live(doxa, 4, failing=20, first=12)
    doxa.wait("ana", rest_s=10)
    now = doxa.memory(user="ana").drift()
    assert now.state == "alarm" and not now.refreshes


def drifted(doxa: Doxa) -> None:
    """Have recall fall by half, with feedback on every question."""
    live(doxa, 12, failing=0)
    for day in range(12, 16):
        for number in range(20):
            asked(doxa, shadow(day + number / 100, "missed", recall=float(number % 4 == 0)))
        store_shadows(doxa.parts, "ana")


def test_an_alarm_with_feedback_is_answered_by_a_refresh_behind_everything_else(doxa: Doxa) -> None:
    told: list[Window | Alarm | Refreshed] = []
    doxa.parts.drifts.append(told.append)
    drifted(doxa)
    doxa.wait("ana", rest_s=60)
    now = doxa.memory(user="ana").drift()
    (done,) = now.refreshes
    assert done.alarmed and "Recall@10" in done.why and done.lesson.trained and done.lesson.shadow
    assert done.before["usual"] == 1.0 and done.before["drifted"] < 0.5
    assert now.state == "waiting"  # what is usual is learned anew
    assert sum(isinstance(one, Window) for one in told) == 15
    assert sum(isinstance(one, Alarm) for one in told) >= 1 and told[-1] == done


def test_a_refresh_after_an_alarm_is_followed_by_another_that_learns_from_what_was_asked_since(doxa: Doxa) -> None:
    """Two windows after a change there is little to learn from, and what was asked before it misleads."""
    drifted(doxa)
    doxa.wait("ana", rest_s=60)
    for first in (16, 18, 20, 22):
        live(doxa, 2, failing=0, first=first)
        doxa.wait("ana", rest_s=60)
    one, other = doxa.memory(user="ana").drift().refreshes
    assert one.alarmed and one.since >= 12
    assert not other.alarmed and other.since == one.since and other.window >= one.window + 3


def test_nothing_is_refreshed_by_itself_where_that_is_not_wanted(tmp_path: Path) -> None:
    with Doxa.open(tmp_path / "m.db", config=Config.from_tree({**SETTINGS, "drift": {"refresh": False}})) as doxa:
        doxa.dialogue(user="ana").absorb(SAID[0], turn_id="t0", at=START - timedelta(days=1))
        doxa.flush()
        drifted(doxa)
        doxa.wait("ana", rest_s=10)
        now = doxa.memory(user="ana").drift()
        assert now.state == "alarm" and not now.refreshes


def test_a_schedule_refreshes_without_an_alarm_and_moves_nothing_that_is_usual(tmp_path: Path) -> None:
    with Doxa.open(tmp_path / "m.db", config=Config.from_tree({**SETTINGS, "drift": {"every": 5}})) as doxa:
        doxa.dialogue(user="ana").absorb(SAID[0], turn_id="t0", at=START - timedelta(days=1))
        doxa.flush()
        for first in range(0, 16, 2):
            live(doxa, 2, failing=0, first=first)
            doxa.wait("ana", rest_s=60)
        now = doxa.memory(user="ana").drift()
        assert len(now.refreshes) >= 2 and not any(done.alarmed for done in now.refreshes)
        assert now.reference is not None and now.reference.first == 0


def test_a_refresh_is_taken_back(doxa: Doxa) -> None:
    memory, learned = doxa.memory(user="ana"), doxa.parts.learned
    with pytest.raises(NotFoundError, match="No weights of before"):
        memory.drift(rollback=True)
    before = learned.of("ana")
    assert learned.put("ana", replace(before, note="new"), expected=before)
    assert memory.drift().can_roll_back
    assert not memory.drift(rollback=True).can_roll_back
    assert learned.of("ana").note == before.note and learned.of("ana").checksum() == before.checksum()
    with pytest.raises(NotFoundError):
        memory.drift(rollback=True)
    with pytest.raises(InputError, match="either"):
        memory.drift(refresh=True, rollback=True)


def test_what_was_learned_before_that_is_put_back_and_not_what_comes_with_doxa(doxa: Doxa) -> None:
    learned = doxa.parts.learned
    for note in ("first", "second"):
        now = learned.of("ana")
        assert learned.put("ana", replace(now, note=note), expected=now)
    doxa.memory(user="ana").drift(rollback=True)
    assert learned.of("ana").note == "first"


def test_weights_of_before_are_kept_where_there_is_no_file_too() -> None:
    learned = LearnedWeights(folder=None, tenant="t", encoder="hash")
    before = learned.of("ana")
    assert not learned.can_restore("ana") and not learned.restore("ana", stands=lambda: True)
    assert learned.put("ana", replace(before, note="new"), expected=before) and learned.can_restore("ana")
    assert learned.restore("ana", stands=lambda: True) and learned.of("ana") is before
    assert not learned.can_restore("ana")


def test_a_report_of_a_refresh_says_that_it_was_taken_back(doxa: Doxa) -> None:
    drifted(doxa)
    memory = doxa.memory(user="ana")
    now = memory.drift(refresh=True)
    if now.refreshes[-1].lesson.accepted:
        assert memory.drift(rollback=True).refreshes[-1].rolled_back
    else:
        assert not now.can_roll_back


def test_a_forgotten_turn_takes_the_questions_that_cite_it_or_were_shown_it(doxa: Doxa) -> None:
    live(doxa, 3, failing=5)
    doxa.dialogue(user="ana").respond("Who is my sister?", turn_id="q", at=START + timedelta(days=4))
    asked(doxa, replace(shadow(4.5, "missed", query="Secret?"), turn_ids=("t1",), shown=()))
    doxa.flush()
    assert "asked on day 2" in kept_bytes(doxa) and "Secret" in kept_bytes(doxa)
    doxa.memory(user="ana").forget(turn_id="t1")
    assert "Secret" not in kept_bytes(doxa)
    doxa.memory(user="ana").forget(turn_id="t0")
    assert "asked on day" not in kept_bytes(doxa)
    assert [window.asked for window in sampled(doxa.parts, "ana").windows] == [20, 20, 20]  # counted, not repeated


def test_a_question_about_what_was_erased_meanwhile_is_not_written(doxa: Doxa) -> None:
    asked(doxa, replace(shadow(1, "used"), shown=("t0", "gone")))
    assert not sampled(doxa.parts, "ana").questions


def test_forgetting_everything_leaves_nothing_of_the_sample_or_of_the_weights_of_before(doxa: Doxa) -> None:
    learned = doxa.parts.learned
    before = learned.of("ana")
    learned.put("ana", replace(before, note="new"), expected=before)
    live(doxa, 3, failing=5)
    doxa.memory(user="ana").forget(everything=True)
    assert not kept_bytes(doxa) and not learned.can_restore("ana")
    assert not doxa.memory(user="ana").drift().windows


def test_users_share_no_questions(doxa: Doxa) -> None:
    live(doxa, 2, failing=5)
    assert not doxa.memory(user="ben").drift().windows
    assert not doxa.tenant("other").memory(user="ana").drift().windows


def test_what_was_counted_is_still_there_after_a_restart(doxa: Doxa, tmp_path: Path) -> None:
    live(doxa, 3, failing=5)
    before = doxa.memory(user="ana").drift()
    with Doxa.open(tmp_path / "memory.db", config=Config.from_tree(SETTINGS)) as other:
        assert other.memory(user="ana").drift() == before


def test_two_processes_lose_no_question_to_each_other(doxa: Doxa, tmp_path: Path) -> None:
    with Doxa.open(tmp_path / "memory.db", config=Config.from_tree(SETTINGS)) as other:
        for number in range(10):
            one = (doxa, other)[number % 2]
            asked(one, shadow(number / 100, "used"))
            store_shadows(one.parts, "ana")
        assert len(sampled(doxa.parts, "ana").questions) == 10


def test_turns_whose_encoding_failed_are_encoded_by_a_refresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from doxa.core.errors import BackendError

    with Doxa.open(tmp_path / "m.db", config=Config.from_tree(SETTINGS)) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb(SAID[0])
        chat.flush()
        kind = type(doxa.parts.encoder)
        with monkeypatch.context() as broken:

            def fails(*_: object) -> None:
                raise BackendError("out of order")

            broken.setattr(kind, "encode", fails)
            chat.absorb(SAID[1])
            chat.flush()
        (done,) = doxa.memory(user="ana").drift(refresh=True).refreshes
        assert done.encoded == 1
        assert doxa.memory(user="ana").drift(refresh=True).refreshes[-1].encoded == 0
