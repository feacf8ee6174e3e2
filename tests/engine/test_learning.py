from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from doxa import Config, Doxa
from doxa.core.access import pseudonym
from doxa.core.errors import BackendError, InputError, NotFoundError, StoreConflictError
from doxa.core.feedback import Feedback, Lesson
from doxa.engine.answer.feedback import store_feedback
from doxa.engine.api import learning
from doxa.engine.wiring.pending import MICRO_BATCH, Pending
from doxa.recall import Weights

CONFIG = Config.from_tree({"encoder": {"name": "hash"}, "engine": {"settle_s": 10}})
SAID = ["I live in Berlin.", "I work at Siemens.", "I love the film Titanic.", "My sister is called Eva."]


@pytest.fixture
def doxa(tmp_path: Path) -> Iterator[Doxa]:
    with Doxa.open(tmp_path / "memory.db", config=CONFIG) as doxa:
        chat = doxa.dialogue(user="ana")
        for number, text in enumerate(SAID):
            chat.absorb(text, turn_id=f"t{number}")
        chat.flush()
        yield doxa


def told(doxa: Doxa) -> int:
    return int(doxa.memory(user="ana").stats()["feedback"])


def test_a_verified_answer_tells_which_turns_and_facts_it_used(doxa: Doxa) -> None:
    chat = doxa.dialogue(user="ana", session="later")
    assert chat.respond("Where do I live?", turn_id="q").verdict.label == "supported"
    chat.flush()
    with doxa.parts.log.user("ana") as state:
        ((feedback,),) = state.feedback
    assert (feedback.channel, feedback.asked, feedback.turn_ids) == ("used", "q", ("t0",))
    assert [relation for _, relation in feedback.edges] == ["lives_in"]
    assert (feedback.session, feedback.query) == ("later", "")


def test_what_is_only_asked_leaves_nothing_behind(doxa: Doxa) -> None:
    doxa.dialogue(user="ana").ask("Where do I live?")
    doxa.flush()
    doxa.memory(user="ana").learn(status=True)
    assert told(doxa) == 0


def test_the_setting_turns_it_off(tmp_path: Path) -> None:
    off = Config.from_tree({"encoder": {"name": "hash"}, "engine": {"settle_s": 10}, "recall": {"feedback": False}})
    with Doxa.open(tmp_path / "off.db", config=off) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Berlin.")
        assert chat.respond("Where do I live?").verdict.label == "supported"
        chat.flush()
        assert told(doxa) == 0


def test_answers_are_stored_in_micro_batches_behind_the_back_of_the_caller(doxa: Doxa) -> None:
    """No event before a batch is full, one event for all of it then."""
    chat = doxa.dialogue(user="ana")
    log, scope = doxa.parts.log, doxa.parts.log.scope("ana")
    for number in range(MICRO_BATCH):
        assert [row.kind for row in log.store.read(scope)].count("feedback") == 0
        chat.respond("Where do I live?", turn_id=f"q{number}")
    chat.respond("Where do I live?", turn_id="last")
    chat.flush()
    rows = [row for row in log.store.read(scope) if row.kind == "feedback"]
    assert next(len(row.body["feedback"]) for row in rows) >= MICRO_BATCH
    assert told(doxa) == MICRO_BATCH + 1


def test_feedback_that_others_keep_out_is_lost_with_a_warning(
    doxa: Doxa, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A writer that is always quicker costs the feedback, never the answer, and that is said."""

    def refuse(*_: object, **__: object) -> None:
        raise StoreConflictError("another process was quicker")

    buffer = Pending()
    buffer.add("ana", Feedback(channel="missed", at=datetime(2026, 1, 1, tzinfo=UTC), query="Where?"))
    monkeypatch.setattr(doxa.parts.log, "user", refuse)
    store_feedback(doxa.parts.log, buffer, "ana")
    whose = pseudonym(doxa.parts.log.scope("ana"))
    assert f"feedback on 1 answers of user {whose} was not kept" in caplog.text and "ana" not in caplog.text


def test_closing_stores_what_is_left(tmp_path: Path) -> None:
    with Doxa.open(tmp_path / "memory.db", config=CONFIG) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Berlin.")
        chat.respond("Where do I live?")
    with Doxa.open(tmp_path / "memory.db", config=CONFIG) as doxa:
        assert told(doxa) == 1


def test_what_was_missed_is_kept_with_the_facts_and_the_plan_that_lead_there(doxa: Doxa) -> None:
    feedback = doxa.memory(user="ana").feedback("What should I watch?", needed=["t2"])
    assert feedback.channel == "missed" and feedback.turn_ids == ("t2",)
    assert "likes" in {relation for _, relation in feedback.edges}
    assert feedback.plan  # four turns: every plan shows all of them
    assert told(doxa) == 1


def test_what_was_missed_has_to_be_a_turn(doxa: Doxa) -> None:
    memory = doxa.memory(user="ana")
    with pytest.raises(NotFoundError, match="no turn 'nowhere'"):
        memory.feedback("What should I watch?", needed=["nowhere"])
    with pytest.raises(InputError, match="one or more turns"):
        memory.feedback("What should I watch?", needed=[])
    with pytest.raises(InputError, match="needed"):
        memory.feedback("What should I watch?", needed=5)  # type: ignore[arg-type]
    assert told(doxa) == 0


def test_feedback_replays_and_moves_with_the_memory(doxa: Doxa, tmp_path: Path) -> None:
    doxa.dialogue(user="ana").respond("Where do I live?")
    memory = doxa.memory(user="ana")
    memory.feedback("What should I watch?", needed=["t2"])
    with doxa.parts.log.user("ana") as state:
        before = list(state.feedback)
    doxa.parts.log.forget_state("ana")
    with doxa.parts.log.user("ana") as state:
        assert state.feedback == before and sum(map(len, before)) == 2
    for name, kind in (("a.jsonl", "jsonl"), ("a.ttl", "turtle")):
        memory.export(tmp_path / name, format=kind)  # type: ignore[arg-type]
        other = doxa.memory(user=name)
        other.import_(tmp_path / name)
        with doxa.parts.log.user(name) as state:
            assert state.feedback == before


def test_erasing_a_turn_erases_what_was_told_of_it(doxa: Doxa, tmp_path: Path) -> None:
    memory = doxa.memory(user="ana")
    doxa.dialogue(user="ana").respond("Where do I live?", turn_id="q")
    memory.feedback("What should I watch?", needed=["t2"])
    memory.feedback("Who is my sister?", needed=["t3", "t1"])
    memory.forget(turn_id="t2")
    assert told(doxa) == 2
    assert "watch" not in memory.export(tmp_path / "a.jsonl").read_text()
    memory.forget(turn_id="q")
    memory.forget(turn_id="t1")
    assert told(doxa) == 0


def test_undo_takes_back_what_was_said_not_what_was_told(doxa: Doxa) -> None:
    memory = doxa.memory(user="ana")
    memory.feedback("What should I watch?", needed=["t2"])
    (change, *_) = memory.undo()
    assert change.fact.turn_ids == ("t3",)
    assert told(doxa) == 1


def test_a_forgotten_turn_leaves_no_id_of_its_facts_in_feedback_on_others(doxa: Doxa) -> None:
    """What misled a search is named by a hash of what it says, which could be guessed."""
    memory = doxa.memory(user="ana")
    misled = {key for key, _ in memory.feedback("What film should I watch?", needed=["t3"]).misled}
    gone = {fact.fact_id for fact in memory.facts() if fact.turn_ids == ("t2",)}
    assert misled & gone
    memory.forget(turn_id="t2")
    with doxa.parts.log.user("ana") as state:
        ((left,),) = state.feedback
    assert {key for key, _ in left.misled} == misled - gone


def test_a_turn_that_cannot_be_forgotten_costs_nothing_that_was_learned(doxa: Doxa) -> None:
    """A typo erases nothing, so it must not unlearn anything either."""
    from dataclasses import replace

    learned = doxa.parts.learned
    old = learned.of("ana")
    assert learned.put("ana", replace(old, note="learned"), expected=old)
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").forget(turn_id="nowhere")
    assert learned.of("ana").note == "learned"
    doxa.memory(user="ana").forget(turn_id="t1")
    assert learned.of("ana").note != "learned"


def test_a_search_whose_encoder_fails_says_so(
    doxa: Doxa, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes on by words alone; there is no trace, so the log tells."""

    def fails(texts: object) -> None:
        raise BackendError("out of order")

    monkeypatch.setattr(doxa.parts.queries, "encode", fails)
    found = doxa.memory(user="ana").search("Berlin")
    assert found[0].turn_ids == ("t0",)
    assert "only words are searched: out of order" in caplog.text


def test_too_little_feedback_teaches_nothing(doxa: Doxa) -> None:
    memory = doxa.memory(user="ana")
    memory.feedback("What should I watch?", needed=["t2"])
    lesson = memory.learn()
    assert not lesson.accepted and "1 answers with feedback are too few" in lesson.reason
    assert memory.learn(status=True).before["recall"] == 1.0


def test_what_was_learned_is_used_by_every_process_and_dropped_by_erasure(doxa: Doxa, tmp_path: Path) -> None:
    from dataclasses import replace

    learned = doxa.parts.learned
    old = learned.of("ana")
    new = replace(old, note="learned")
    assert learned.put("ana", new, expected=old) and learned.of("ana") is new
    assert not learned.put("ana", old, expected=old)  # others were faster
    assert learned.of("ben").note != "learned"
    path = learned.path("ana")
    assert path is not None and path.is_file()
    with Doxa.open(tmp_path / "memory.db", config=CONFIG) as other:
        assert other.parts.learned.of("ana").note == "learned"
        doxa.memory(user="ana").forget(everything=True)
        assert other.parts.learned.of("ana").note != "learned"
    assert not path.exists()


def test_a_damaged_file_of_what_was_learned_is_told_and_not_used(doxa: Doxa, caplog: pytest.LogCaptureFixture) -> None:
    learned = doxa.parts.learned
    path = learned.path("ana")
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not an archive")
    assert learned.of("ana") is learned.of("somebody else")
    assert "expected weights of recall" in caplog.text


@pytest.mark.parametrize("how", [{"turn_id": "t0"}, {"everything": True}], ids=["turn", "everything"])
def test_what_was_being_learned_while_something_was_erased_is_not_used(
    doxa: Doxa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """By another process as well, where nothing had been learned before."""
    other = Doxa.open(tmp_path / "memory.db", config=CONFIG)

    def refresh(current: Weights, _: object) -> tuple[Weights, Lesson]:
        other.memory(user="ana").forget(**how)
        return replace(current), Lesson(accepted=True, reason="", trained=1, shadow=1)

    with other:
        monkeypatch.setattr(learning, "refresh", refresh)
        lesson = doxa.memory(user="ana").learn()
    assert not lesson.accepted and "erased" in lesson.reason
    assert not list((tmp_path / "memory.db.learned").rglob("*.npz"))
