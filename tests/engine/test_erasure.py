"""What is forgotten is gone from every copy."""

import threading
from datetime import UTC, datetime

import pytest

from doxa.backends.store import NewRow
from doxa.backends.store.sql import SQLStore
from doxa.core.answers import Answered
from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Turn
from doxa.engine import Doxa
from doxa.engine.answer import respond as answering_loop
from doxa.engine.history import replay, withdrawal
from doxa.engine.history.replay import erase_turns
from doxa.engine.tenure import held

CANARY = "Zanzibar-7731"
NOW = datetime(2024, 4, 1, tzinfo=UTC)


def holds(folder, needle):
    """Tell which files of a folder hold a byte string."""
    return [path.name for path in folder.iterdir() if path.is_file() and needle.encode() in path.read_bytes()]


@pytest.fixture
def filled(config, tmp_path):
    """A file in which a secret was said, corroborated by nothing, used in a reply, and followed by other turns."""
    folder = tmp_path / "memory"
    folder.mkdir()
    with Doxa.open(folder / "memory.db", config=config) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb(f"I moved to {CANARY}.", at="2024-02-01", turn_id="t2")
        chat.respond("Where do I live?", at="2024-02-02", turn_id="t3")
        chat.absorb("I moved to Berlin.", at="2024-03-01", turn_id="t4")
        chat.flush()
        yield doxa, folder


def test_a_forgotten_turn_leaves_no_byte(filled):
    """Log, facts, changes, replies and the write-ahead log are clean, after a restart too."""
    doxa, folder = filled
    assert holds(folder, CANARY)
    certificate = doxa.memory(user="ana").forget(turn_id="t2")
    assert holds(folder, CANARY) == []
    assert "t2" in certificate.turn_ids and certificate.erased["turns"] >= 1 and len(certificate.digest) == 64
    assert CANARY not in str(certificate)
    doxa.close()
    assert holds(folder, CANARY) == []


def test_what_is_left_is_as_if_it_had_never_been_said(filled, config):
    """Later turns are revised without it: the value that it had displaced is displaced by what came after."""
    doxa, _ = filled
    memory = doxa.memory(user="ana")
    memory.forget(turn_id="t2")
    facts = {str(f.object): (str(f.status), f.valid.end) for f in memory.facts(relation="lives in", current=False)}
    with Doxa.open(":memory:", config=config) as other:
        chat = other.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb("I moved to Berlin.", at="2024-03-01", turn_id="t4")
        chat.flush()
        never = other.memory(user="ana").facts(relation="lives in", current=False)
    assert facts == {str(f.object): (str(f.status), f.valid.end) for f in never}
    assert all("t2" not in item.turn_ids for item in memory.search(CANARY))


def lives_in(memory):
    """Return where somebody lives or lived, with the standing of each."""
    return [(str(fact.object), str(fact.status)) for fact in memory.facts(relation="lives in", current=False)]


def test_forgetting_the_only_source_of_a_retracted_fact(filled, config):
    """The retraction goes with what it retracted, and the memory opens again."""
    doxa, folder = filled
    memory = doxa.memory(user="ana")
    (fact,) = memory.facts(relation="lives in")
    memory.retract(fact.fact_id, reason="wrong")
    memory.forget(turn_id="t4")
    assert lives_in(memory) == [("Lisbon", "superseded"), (CANARY, "held")]
    doxa.close()
    with Doxa.open(folder / "memory.db", config=config) as again:
        assert lives_in(again.memory(user="ana")) == [("Lisbon", "superseded"), (CANARY, "held")]


def test_a_retraction_outlives_the_forgetting_of_an_earlier_turn(doxa):
    """The second stay in Lisbon was retracted; without the first it is the only one, and still retracted."""
    chat, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
    for month, town in enumerate(["Lisbon", "Berlin", "Lisbon"], start=1):
        chat.absorb(f"I moved to {town}.", at=f"2024-0{month}-01", turn_id=f"t{month}")
    chat.flush()
    memory.retract(memory.facts(relation="lives in")[0].fact_id)
    memory.forget(turn_id="t1")
    assert lives_in(memory) == [("Berlin", "held"), ("Lisbon", "retracted")]


def test_another_process_sees_the_erasure(filled, config):
    """A state that was loaded before the erasure is read again."""
    doxa, folder = filled
    with Doxa.open(folder / "memory.db", config=config) as other:
        assert any(CANARY in item.text for item in other.memory(user="ana").search(CANARY, superseded=True))
        doxa.memory(user="ana").forget(turn_id="t2")
        assert not any(CANARY in item.text for item in other.memory(user="ana").search(CANARY, superseded=True))


def test_another_process_does_not_take_a_new_log_for_the_old_one(filled, config):
    """After everything was forgotten and as many turns came in as before, nobody still holds the old state."""
    doxa, folder = filled
    with Doxa.open(folder / "memory.db", config=config) as other:
        assert other.memory(user="ana").facts()
        rows = len(doxa.parts.log.rows("ana"))
        doxa.memory(user="ana").forget(everything=True)
        chat = doxa.dialogue(user="ana", session="s")
        while doxa.parts.log.head("ana").ordinal < rows:
            chat.absorb("All right.")
            chat.flush()
        assert other.memory(user="ana").facts(current=False) == []
        assert not any(CANARY in item.text for item in other.memory(user="ana").search(CANARY, superseded=True))


def test_a_turn_that_is_erased_before_it_is_processed_does_not_come_back(config):
    """The maintenance had it in hand when everything was forgotten."""
    with Doxa.open(":memory:", config=config) as doxa:
        schedule, doxa._maintenance.schedule = doxa._maintenance.schedule, lambda user, **_: None
        doxa.dialogue(user="ana").absorb(f"I live in {CANARY}.", turn_id="t1")
        block, log = doxa._maintenance._pending("ana"), doxa.parts.log
        with held(log.store, log.scope("ana"), owner="somebody", seconds=30) as tenure:
            doxa.memory(user="ana").forget(everything=True)
            doxa._maintenance._process_block(tenure, block)
        assert doxa.parts.log.rows("ana") == [] and doxa.users() == []
        doxa._maintenance.schedule = schedule


def test_forgetting_a_reply_that_is_not_processed_leaves_nobody_waiting(filled):
    """The last turn of the log was a pending reply, and it is erased: nothing is left to wait for."""
    doxa, _ = filled
    schedule, doxa._maintenance.schedule = doxa._maintenance.schedule, lambda user, **_: None
    reply = Turn(
        turn_id="x", user="ana", session="s", speaker="h", role="assistant", text=CANARY, at=NOW, generated=True
    )
    doxa.receive(reply)
    erase_turns(doxa.parts.log, "ana", ["t2"], doxa.parts.parser, context_turns=6)
    doxa._maintenance.schedule = schedule
    assert doxa._maintenance.wait("ana", 5)


@pytest.mark.parametrize("how", [{"turn_id": "t2"}, {"everything": True}], ids=["turn", "everything"])
def test_a_reply_does_not_bring_back_what_was_forgotten_meanwhile(filled, monkeypatch, how):
    """It was written from the erased turn while somebody erased it: it is said, and not kept."""
    doxa, folder = filled
    answering = answering_loop.respond

    def slow(*args):
        reply = answering(*args)
        doxa.memory(user="ana").forget(**how)
        return reply

    monkeypatch.setattr(answering_loop, "respond", slow)
    reply = doxa.dialogue(user="ana", session="s").respond("Did I ever move to a city with four digits?", turn_id="t9")
    assert reply.text
    doxa.flush()
    assert "t9/reply" not in [row.turn_id for row in doxa.parts.log.rows("ana")] and holds(folder, CANARY) == []


def test_forgetting_does_not_wait_for_a_pause(config, tmp_path):
    """While another thread keeps absorbing, a turn is forgotten all the same."""
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb(f"I live in {CANARY}.", turn_id="t1")
        for n in range(60):
            chat.absorb(f"I like game{n}.")
        done = threading.Event()

        def talk():
            while not done.is_set():
                chat.absorb("All right.")

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            doxa.memory(user="ana").forget(turn_id="t1")
        finally:
            done.set()
            thread.join()
        assert holds(tmp_path, CANARY) == []
        doxa.close(limit_s=0)  # what the other thread said meanwhile need not be understood


def test_wiping_is_made_good_after_a_crash(filled, config, monkeypatch):
    """The process died between erasing and wiping: opening the file again wipes it, and so does forgetting again."""
    doxa, folder = filled
    with monkeypatch.context() as patch:
        patch.setattr(SQLStore, "wipe", lambda self, scope=None: None)
        doxa.memory(user="ana").forget(turn_id="t2")
    assert holds(folder, CANARY)
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").forget(turn_id="t2")
    assert holds(folder, CANARY) == []
    with monkeypatch.context() as patch:
        patch.setattr(SQLStore, "wipe", lambda self, scope=None: None)
        doxa.memory(user="ana").forget(turn_id="t4")
    assert holds(folder, "Berlin")
    with Doxa.open(folder / "memory.db", config=config):
        assert holds(folder, "Berlin") == []


def test_a_reply_of_another_process_is_forgotten_too(filled, monkeypatch):
    """It came in between reading the state and reading the log."""
    doxa, folder = filled
    log, rows = doxa.parts.log, doxa.parts.log.rows

    def later(user):
        if not any(row.turn_id == "x" for row in rows(user)):
            body = {"session": "s", "speaker": "h", "role": "assistant", "text": CANARY, "generated": True}
            log.store.receive(log.scope(user), NewRow(kind="turn", known_at=NOW, body=body), turn_id="x")
        return rows(user)

    monkeypatch.setattr(log, "rows", later)
    assert "x" in doxa.memory(user="ana").forget(turn_id="t2").turn_ids
    assert holds(folder, CANARY) == []


@pytest.mark.parametrize("how", [{"turn_id": "t2"}, {"everything": True}])
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_turn_that_another_process_erases_meanwhile_is_there_no_more(filled, config, monkeypatch, how, goes_on):
    """It went in between reading the state and reading the log, and the log may be empty."""
    doxa, folder = filled
    log, rows, done = doxa.parts.log, doxa.parts.log.rows, []

    def later(user):
        if not done:
            with Doxa.open(folder / "memory.db", config=config) as other:
                done.append(other.memory(user="ana").forget(**how))
                if goes_on:
                    other.dialogue(user="ana", session="s").absorb("I live in Turin.", turn_id="t9")
        return rows(user)

    monkeypatch.setattr(log, "rows", later)
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").forget(turn_id="t2")
    monkeypatch.undo()
    assert "t2" in done[0].turn_ids and holds(folder, CANARY) == []
    assert [row.turn_id for row in rows("ana") if row.turn_id == "t9"] == ["t9"] * goes_on


def test_no_cache_keeps_what_was_forgotten(filled):
    """The encoder's answers to queries are kept by their text; they go too."""
    doxa, _ = filled
    doxa.dialogue(user="ana").ask(f"Do I live in {CANARY}?")
    assert any(CANARY in text for text in doxa.parts.queries._kept._kept)
    doxa.memory(user="ana").forget(turn_id="t2")
    assert not doxa.parts.queries._kept._kept


def test_everything_leaves_nothing(filled):
    """A user who is forgotten is no user any more, and others stay."""
    doxa, folder = filled
    ben = doxa.dialogue(user="ben")
    ben.absorb("I live in Oslo.")
    ben.flush()
    doxa.memory(user="ana").forget(everything=True)
    assert doxa.users() == ["ben"]
    assert doxa.memory(user="ana").facts(current=False) == []
    assert holds(folder, CANARY) == [] and holds(folder, "Lisbon") == []
    assert ben.ask("Where do I live?").value == "Oslo"


def test_forgetting_needs_to_be_told_what(filled):
    """Neither or both is an error, and nothing is erased."""
    memory = filled[0].memory(user="ana")
    with pytest.raises(InputError):
        memory.forget()
    with pytest.raises(InputError):
        memory.forget(turn_id="t1", everything=True)
    assert memory.stats()["turns"] >= 4


def test_turns_before_an_erased_one_are_not_read_again(doxa, monkeypatch):
    """Also where all of them were received before the first was processed."""
    dialogue = doxa.dialogue(user="ana")
    ids = [dialogue.absorb(text).turn_id for text in ("I live in Rome.", "I like tea.", "My sister is Eva.")]
    dialogue.flush()
    read = []
    reading_of = replay.reading_of
    monkeypatch.setattr(replay, "reading_of", lambda turn, *rest: read.append(turn.text) or reading_of(turn, *rest))
    doxa.memory(user="ana").forget(turn_id=ids[1])
    assert read == ["My sister is Eva."]


TOLD = (
    "I live in Rome.",
    "I moved to Oslo.",
    "My sister is Eva.",
    "I moved to Bonn.",
    "Eva lives in Oslo.",
    "I like tea.",
)


@pytest.mark.parametrize("places", [(1, 3), (0,), (5, 2), (0, 1, 2, 3, 4, 5)])
def test_several_turns_at_once_go_as_one_after_the_other(config, places):
    """The same is left, and the same is counted as gone."""
    left = []
    for at_once in (True, False):
        with Doxa.open(":memory:", config=config) as doxa:
            talk, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
            for number, text in enumerate(TOLD):
                talk.absorb(text, at=f"2024-01-{number + 1:02d}", turn_id=f"t{number}")
                talk.respond("Where do I live?", at=f"2024-01-{number + 1:02d}", turn_id=f"q{number}")
            doxa.flush()
            ids = [f"t{place}" for place in places]
            for some in [ids] if at_once else [[one] for one in sorted(ids, reverse=True)]:
                assert set(some) <= set(memory.forget(turn_id=some).turn_ids)
            facts = {str(fact) for fact in memory.facts(current=False)}
            left.append((facts, [turn.turn_id for turn in memory.turns()], len(memory.history())))
    assert left[0] == left[1]


def test_several_turns_cost_one_reading_of_what_follows(doxa, monkeypatch):
    dialogue = doxa.dialogue(user="ana")
    ids = [dialogue.absorb(text).turn_id for text in TOLD]
    dialogue.flush()
    read = []
    reading_of = replay.reading_of
    monkeypatch.setattr(replay, "reading_of", lambda turn, *rest: read.append(turn.text) or reading_of(turn, *rest))
    certificate = doxa.memory(user="ana").forget(turn_id=[ids[1], "gone", ids[3]])
    assert set(certificate.turn_ids) == {ids[1], ids[3]}
    assert sorted(read) == sorted([TOLD[2], TOLD[4], TOLD[5]])
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").forget(turn_id=[ids[1], "gone"])


@pytest.mark.parametrize(
    "turn_id", ['said "so"', "a\\b", "a\nb", "é"], ids=["quotes", "a backslash", "lines", "letters"]
)
def test_an_answer_that_names_a_forgotten_turn_goes_whatever_its_id(doxa, turn_id):
    """An id is written otherwise in an answer that is kept than it is."""
    chat = doxa.dialogue(user="ana", session="s")
    chat.absorb(f'"{CANARY}", it says over the door.', turn_id=turn_id)
    chat.absorb("I like tea.", turn_id="other")
    chat.flush()
    assert chat.ask("What does it say over the door?").citations[0].turn_id == turn_id
    doxa.dialogue(user="ana", session="other").ask("What do I like?")
    doxa.flush()
    doxa.memory(user="ana").forget(turn_id=turn_id)
    kept = doxa.parts.log.store.answers(doxa.parts.log.scope("ana"))
    assert CANARY not in str(kept) and turn_id not in str(kept)


def test_the_parser_keeps_no_sentence_of_what_is_forgotten(filled):
    """It keeps the latest ones, with what they say."""
    doxa, _ = filled
    parser = doxa.parts.parser
    sentence = ["I", "moved", "to", f"{CANARY}", "."]
    parser.parse([sentence])
    assert parser._parses._kept
    doxa.memory(user="ana").forget(turn_id="t2")
    assert CANARY not in str(parser._parses._kept) + str(parser._turns._kept)


@pytest.mark.parametrize("everything", [False, True], ids=["a turn", "everything"])
def test_what_a_killed_server_left_of_sending_a_memory_goes(filled, config, everything):
    """That of the same user in another database is somebody else's."""
    doxa, folder = filled
    memory = doxa.memory(user="ana")
    left = [memory.spool_folder("export"), memory.spool_folder("import")]
    with Doxa.open(folder / "other.db", config=config) as other:
        kept = other.memory(user="ana").spool_folder("export")
        kept_too = doxa.memory(user="ben").spool_folder("export")
    try:
        memory.export(left[0] / "memory.jsonl")
        memory.forget(everything=True) if everything else memory.forget(turn_id="t2")
        assert not left[0].exists() and not left[1].exists() and kept.exists() and kept_too.exists()
    finally:
        kept.rmdir()
        kept_too.rmdir()


def test_a_reply_that_was_annotated_goes_with_the_turn_before_it(filled):
    doxa, folder = filled
    memory = doxa.memory(user="ana")
    memory.annotate("t3/reply", {"rating": CANARY})
    memory.withdraw(turn_id="t3/reply")
    assert "t3/reply" in memory.forget(turn_id="t2").turn_ids
    assert holds(folder, CANARY) == [] and "t3/reply" not in str(doxa.parts.log.rows("ana"))
    assert [turn.turn_id for turn in memory.turns()] == ["t1", "t3", "t4"]


@pytest.mark.parametrize("how", [{"turn_id": "t2"}, {"everything": True}], ids=["turn", "everything"])
def test_an_answer_of_another_process_does_not_outlive_what_it_repeats(filled, config, how):
    """It waits there to be stored, and names neither turn nor fact."""
    doxa, folder = filled
    with Doxa.open(folder / "memory.db", config=config) as other:
        other.dialogue(user="ana").ask(f"Who is the aunt of {CANARY}?")
        doxa.memory(user="ana").forget(**how)
        other.parts.answers.add("ana", (1, _given(other, f"{CANARY}?")))
        other.memory(user="ana").answers()
        assert holds(folder, CANARY) == []
    assert "everything" not in how or doxa.parts.log.users() == []


def test_an_answer_that_is_stored_while_a_turn_is_erased_goes_with_it(filled, config, monkeypatch):
    doxa, folder = filled
    real = replay.erase_turns
    with Doxa.open(folder / "memory.db", config=config) as other:

        def slow(*given, **named):
            other.dialogue(user="ana").ask("Where did I move to in February 2024?")
            assert other.memory(user="ana").answers()
            return real(*given, **named)

        monkeypatch.setattr(withdrawal, "erase_turns", slow)
        doxa.memory(user="ana").forget(turn_id="t2")
        assert CANARY not in str(other.parts.log.store.answers("default/ana"))
    assert holds(folder, CANARY) == []


def _given(doxa, question):
    return Answered(
        answer_id="a_0", question=question, text="I do not know.", at=NOW, session="s", speaker="Ana", agent="Doxa"
    )
