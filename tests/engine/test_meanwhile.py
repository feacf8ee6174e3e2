"""What another process does between two steps of this one: nothing that it erased comes back, and nothing fails raw."""

import shutil
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doxa.backends.store import NewRow
from doxa.core.answers import Answered
from doxa.core.errors import NotFoundError, StoreConflictError
from doxa.core.values import ToTasks
from doxa.engine import Doxa, Handle, Shelf, amend, remove
from doxa.engine.api import learning, teaching
from doxa.engine.history import erasure, replay
from doxa.engine.history.answers import store_answers
from doxa.engine.shelf import changing
from doxa.engine.wiring import copies
from doxa.engine.wiring.offers import Offer

CANARY = "Zanzibar-7731"
NOW = datetime(2024, 4, 1, tzinfo=UTC)
FORGETTING = pytest.mark.parametrize("how", [{"turn_id": "t2"}, {"everything": True}], ids=["turn", "everything"])


def holds(folder):
    """Tell which files of a folder hold the word."""
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return [path.name for path in files if CANARY.encode() in path.read_bytes()]


@pytest.fixture
def filled(light, tmp_path):
    """A file with two turns of which the second says a word, an engine on it, and what opens another one."""
    path = tmp_path / "memory" / "memory.db"
    path.parent.mkdir()

    @contextmanager
    def another():
        with Doxa.open(path, config=light(answers=9)) as other:
            yield other

    with Doxa.open(path, config=light(answers=9)) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb(f"I moved to {CANARY}.", at="2024-02-01", turn_id="t2")
        chat.flush()
        yield doxa, another, path


def meanwhile(monkeypatch, place, name, act):
    """Have something done once, before a function is called."""
    real, done = getattr(place, name), []

    def called(*given, **named):
        if not done:
            done.append(True)
            act()
        return real(*given, **named)

    monkeypatch.setattr(place, name, called)


@FORGETTING
def test_a_dialogue_goes_on_from_no_answer_that_another_process_erased_the_ground_of(filled, how):
    doxa, another, path = filled
    chat = doxa.dialogue(user="ana", session="s")
    assert CANARY in chat.ask("Where do I live?").text
    doxa.memory(user="ana").answers()
    with another() as other:
        other.memory(user="ana").forget(**how)
    chat.ask("And where do I work?")
    assert CANARY not in str(doxa.memory(user="ana").answers())
    assert holds(path.parent) == []


@FORGETTING
def test_a_claim_that_was_shown_is_not_marked_once_its_turn_is_erased(config, tmp_path, how):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb(f"My sister Rita works at {CANARY} and her dog is called Rex.", at="2024-02-01", turn_id="t2")
        chat.flush()
        taught = doxa.memory(user="ana").teaching()
        shown = taught.unsure()
        with Doxa.open(path, config=config) as other:
            other.memory(user="ana").forget(**how)
        with pytest.raises(NotFoundError):
            taught.mark(shown[0], keep=True)
    assert holds(tmp_path) == []


def test_a_mark_that_is_written_while_its_turn_is_erased_goes_with_it(config, tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        doxa.dialogue(user="ana", session="s").absorb(f"My sister works at {CANARY}.", turn_id="t2")
        doxa.flush()
        taught = doxa.memory(user="ana").teaching()
        meanwhile(monkeypatch, teaching, "append_marks", lambda: other.memory(user="ana").forget(turn_id="t2"))
        with pytest.raises(NotFoundError):
            taught.mark_missed("t2", subject="Ana", relation="sister", object="Rita")
    assert holds(tmp_path) == []


def test_a_head_that_was_fitted_to_what_is_erased_meanwhile_is_not_used(config, tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        doxa.dialogue(user="ana", session="s").absorb(f"My sister Rita works at {CANARY}.", turn_id="t2")
        doxa.flush()
        taught, real = doxa.memory(user="ana").teaching(), teaching.teach
        for claim in taught.unsure():
            taught.mark(claim, keep=True)

        def accepted(turns, reader, name):
            head, found = real(turns, reader, name=name)
            other.memory(user="ana").forget(everything=True)
            return head or teaching.Head.untaught(), replace(found, accepted=True)  # of 20 marks and more it would be

        monkeypatch.setattr(teaching, "teach", accepted)
        assert not taught.teach().in_use
        assert taught.head() is None


@FORGETTING
def test_a_sampled_question_that_is_written_while_something_is_erased_goes_with_it(filled, monkeypatch, how):
    doxa, another, path = filled
    doxa.dialogue(user="ana", session="s").ask(f"Do I live in {CANARY}?")

    def erases():
        with another() as other:
            other.memory(user="ana").forget(**how)

    meanwhile(monkeypatch, doxa.parts.log.store, "keep_records", erases)
    doxa.memory(user="ana").drift()
    monkeypatch.undo()
    doxa.parts.answers.drop("ana")
    assert holds(path.parent) == []


def test_undo_takes_back_what_another_process_did_last(config, tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        doxa.dialogue(user="ana", session="s").absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        doxa.flush()
        tells = other.tasks(user="ana")
        meanwhile(monkeypatch, doxa.parts.log, "rows_after", lambda: tells.tell("Plan a dinner for Friday."))
        doxa.memory(user="ana").undo()
        assert [fact.object.key for fact in doxa.memory(user="ana").facts()] == ["lisbon"]
        assert not doxa.tasks(user="ana").forest().nodes


def test_what_was_offered_to_be_erased_may_be_erased_already(filled):
    doxa, another, _ = filled
    doxa.parts.offers.make("ana", "s", Offer(turn_ids=("t2",)))
    with another() as other:
        other.memory(user="ana").forget(turn_id="t2")
    assert doxa.dialogue(user="ana", session="s").respond("Yes.", turn_id="t3").text == "That is erased already."


def test_a_turn_is_erased_however_fast_another_process_goes_on(filled, monkeypatch):
    """While later turns are read again one more comes, and is processed there: until those who do that have to wait."""
    doxa, another, path = filled
    real, told = replay._rewrite, []
    with another() as other:
        log = other.parts.log

        def slow(*given, **named):
            told.append(f"n{len(told)}")
            other.dialogue(user="ana", session="s").absorb("I like chess.", turn_id=told[-1])
            end = time.monotonic() + 0.5
            while not any(row.kind == "maintained" for row in log.rows("ana")[-1:]) and time.monotonic() < end:
                time.sleep(0.02)
            return real(*given, **named)

        monkeypatch.setattr(replay, "_rewrite", slow)
        assert doxa.memory(user="ana").forget(turn_id="t2").turn_ids == ("t2",)
        assert len(told) > erasure.ALONGSIDE  # others were faster at first
        other.flush()
        assert [turn.turn_id for turn in other.memory(user="ana").turns()] == ["t1", *told]
        assert [fact.object.key for fact in other.memory(user="ana").facts()] == ["lisbon", "chess"]
    assert holds(path.parent) == []


@FORGETTING
def test_a_reply_that_took_its_time_is_not_stored_once_something_was_erased(filled, how):
    """What was said meanwhile is no reason to leave it out, nor is that its question was asked before."""
    doxa, another, path = filled
    chat, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
    place = memory.place()
    chat.absorb("Where do I live?", turn_id="t3")
    chat.absorb("In Zanzibar.", role="assistant", turn_id="t4", unless_erased_since=place)
    with another() as other:
        other.memory(user="ana").forget(**how)
    with pytest.raises(StoreConflictError):
        chat.absorb(f"In {CANARY}.", role="assistant", turn_id="t5", unless_erased_since=place)
    assert holds(path.parent) == []
    chat.absorb("I do not know.", role="assistant", turn_id="t6", unless_erased_since=memory.place())
    assert memory.turns()[-1].turn_id == "t6"


def test_a_place_in_an_empty_memory_stands(filled, tmp_path):
    """Nothing was told that a reply could repeat; a log that begins says itself that others were erased."""
    doxa, _, _ = filled
    doxa.memory(user="ana").forget(everything=True)
    chat, place = doxa.dialogue(user="ben", session="s"), doxa.memory(user="ben").place()
    chat.absorb("Hi.", turn_id="b1")
    chat.absorb("Hello.", role="assistant", turn_id="b2", unless_erased_since=place)
    assert place == 0 and [turn.turn_id for turn in doxa.memory(user="ben").turns()] == ["b1", "b2"]


def test_a_reply_that_another_process_wrote_while_a_turn_is_erased_goes_with_it(filled, monkeypatch):
    doxa, _, path = filled
    log = doxa.parts.log

    def writes():
        body = {"session": "s", "speaker": "h", "role": "assistant", "text": CANARY, "generated": True}
        log.store.receive("default/ana", NewRow(kind="turn", known_at=NOW, body=body), turn_id="t3/reply")

    meanwhile(monkeypatch, replay, "_rewrite", writes)
    assert doxa.memory(user="ana").forget(turn_id="t2").turn_ids == ("t2", "t3/reply")
    assert holds(path.parent) == []


@pytest.mark.parametrize("step", ["load_weights", "save_weights"])
def test_weights_that_are_put_back_while_all_is_erased_go_with_it(filled, monkeypatch, step):
    import doxa.recall as recall

    doxa, another, path = filled
    learned = doxa.parts.learned
    for _ in range(2):
        now = learned.of("ana")
        assert learned.put("ana", replace(now), expected=now)

    def erases():
        with another() as other:
            other.memory(user="ana").forget(everything=True)

    meanwhile(monkeypatch, recall, step, erases)
    with pytest.raises(NotFoundError, match="No weights"):
        doxa.memory(user="ana").drift(rollback=True)
    assert [one for one in path.with_name("memory.db.learned").rglob("*") if one.is_file()] == []


def test_a_prompt_that_is_stored_while_a_turn_is_erased_loses_what_it_was_told(filled, monkeypatch):
    """It was told of the tasks, and names no turn."""
    doxa, another, path = filled
    sent = [{"role": "user", "content": f"Tasks: dinner/place: {CANARY}"}]
    told = Answered(
        answer_id="a_1", question="Hi?", text="Hello.", at=datetime(2024, 3, 1, tzinfo=UTC), session="s",
        speaker="Ana", agent="assistant", trace={"steps": [{"name": "write", "ms": 1.0, "detail": {"sent": sent}}]},
    )  # fmt: skip

    def stores():
        with another() as other:
            with other.parts.log.user("ana") as state:
                other.parts.answers.add("ana", (state.ordinal, told))
            store_answers(other.parts, "ana")

    meanwhile(monkeypatch, erasure, "forget_turns", stores)
    doxa.memory(user="ana").forget(turn_id="t2")
    assert holds(path.parent) == []


def test_what_was_said_before_a_turn_of_the_tasks_is_not_kept_of_one_that_comes_meanwhile(filled, monkeypatch):
    doxa, another, path = filled

    def tells():
        with another() as other:
            chat = other.dialogue(user="ana", session="tasks")
            turn = chat._turn("Yes.", speaker="Ana", role="user", at="2024-06-03", turn_id="t3")
            asked = ToTasks(said_before=f"Shall I book a table in {CANARY}?")
            other.parts.log.receive(replace(turn, to_tasks=asked))

    meanwhile(monkeypatch, replay, "_rewrite", tells)
    assert doxa.memory(user="ana").forget(turn_id="t2").turn_ids == ("t2",)
    assert holds(path.parent) == []


def test_turns_that_were_needed_may_be_erased_before_it_is_noted(filled, monkeypatch):
    doxa, another, _ = filled

    def erases():
        with another() as other:
            other.memory(user="ana").forget(turn_id="t2")

    meanwhile(monkeypatch, learning, "encoded_queries", erases)
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").feedback("Where do I live?", needed=["t2"])
    assert "feedback" not in {row.kind for row in doxa.parts.log.rows("ana")}


def test_what_is_noted_of_one_memory_leaves_what_another_process_notes_of_its_turn(config, tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        doxa.dialogue(user="ana", session="s").absorb(
            "I live in Lisbon. The weather has been quite dreadful all through this long week.", turn_id="t1"
        )
        doxa.flush()
        memory, words = doxa.memory(user="ana"), Handle("ana", "turn", "t1")
        fact = next(one for one in Shelf(memory).entries if "Lisbon" in one.text)
        theirs = other.memory(user="ana")
        meanwhile(monkeypatch, memory, "annotate", lambda: remove(theirs, [words]))
        amend(fact, None, {"metadata": {"a": 1}}, memory=memory, dialogue=None)
        left = {str(one.handle): one.metadata for one in Shelf(theirs).entries}
        assert str(words) not in left and left[str(fact.handle)] == {"a": 1}


def test_a_fact_that_comes_while_others_are_removed_is_no_error(config, tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa, Doxa.open(path, config=config) as other:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I moved to Oslo.", at="2023-01-01", turn_id="t1")
        chat.absorb("I moved to Lisbon.", at="2024-03-01", turn_id="t2")
        doxa.flush()

        def tells():
            other.dialogue(user="ana", session="s").absorb("I moved to Porto.", at="2023-06-01", turn_id="t3")
            other.flush()

        memory = doxa.memory(user="ana")
        (now,) = (one.handle for one in Shelf(memory).entries if "Lisbon" in one.text)
        meanwhile(monkeypatch, changing, "_with_displaced", tells)
        assert remove(memory, [now], linked=True)["erased_messages"] == 2
        assert "Lisbon" not in str(memory.turns())


def test_two_who_put_a_mended_file_in_its_place_keep_it(filled, light, monkeypatch):
    """Both saw that there was none; the other one was faster, and has written to it since."""
    doxa, _, path = filled
    doxa.close()
    shutil.copy(path, path.with_name("memory.db.mended"))
    path.rename(path.with_name("memory.db.damaged-20261130T000000Z"))
    opened = []

    def other():
        copies.finish_mending(str(path))
        opened.append(Doxa.open(path, config=light()))
        opened[0].dialogue(user="ana", session="s").absorb("I moved to Turin.", at="2024-03-01", turn_id="t3")

    meanwhile(monkeypatch, Path, "rename", other)
    copies.finish_mending(str(path))
    with Doxa.open(path, config=light()) as again:
        assert [turn.turn_id for turn in again.memory(user="ana").turns()] == ["t1", "t2", "t3"]
    opened[0].close()
