"""Accepted is kept: crashes, several processes, a memory that is full of work."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from doxa.core.config import Config
from doxa.core.errors import BackendUnavailableError, ClosedError, StoreReadOnlyError
from doxa.engine import Doxa
from doxa.engine.absorb import turn
from doxa.engine.reading import turns as reading
from doxa.memory import MemoryLog, UserState

TURNS = [
    f"I moved to Town{n % 7}." if n % 5 == 0 else f"I like game{n % 11} and I talked to Person{n % 13} about it."
    for n in range(600)
]

WRITER = textwrap.dedent(
    """
    import json, sys
    from doxa.core.config import Config
    from doxa.engine import Doxa

    path, first, last, prefix = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    turns = json.loads(open(sys.argv[5]).read())
    with Doxa.open(path, config=Config()) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        for n in range(first, last):
            at = f"2024-01-01T00:{n // 60:02d}:{n % 60:02d}"
            receipt = chat.absorb(turns[n % len(turns)], at=at, turn_id=f"{prefix}{n}")
            print(receipt.turn_id, flush=True)
        if prefix != "t":
            chat.flush()
    """
)


@pytest.fixture
def writer(tmp_path, started):
    """Give a function that starts a process which absorbs turns and prints the id of each acknowledged one."""
    script = tmp_path / "turns.json"
    script.write_text(json.dumps(TURNS))
    return lambda path, first, last, prefix="t": started(WRITER, path, first, last, prefix, script)


def snapshot(path, config):
    """Return turns, facts and changes of a file, once everything in it is processed."""
    with Doxa.open(path, config=config) as doxa:
        doxa.flush()
        memory = doxa.memory(user="ana")
        with doxa.parts.log.user("ana") as state:
            turns = [(t.turn_id, t.text) for t in state.turns.values()]
            rows = state.vectors.rows().copy()
            places = list(state.places)
        return turns, memory.facts(current=False), [str(c) for c in state.beliefs.changes], rows.tobytes(), len(places)


def test_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path, writer):
    """Killed again and again while it ingests, the memory ends like one that was never interrupted."""
    rng = random.Random(7)
    path, acknowledged, done, turns, kills = tmp_path / "killed.db", set(), 0, 240, 8
    for kill in range(kills + 1):
        process = writer(path, done, turns)
        if kill < kills:
            target = rng.randint(1, max(1, (turns - done) // (kills + 1 - kill) * 2))
            for _ in range(target):
                line = process.stdout.readline()
                if not line:
                    break
                acknowledged.add(line.strip())
            time.sleep(rng.random() * 0.02)
            process.send_signal(signal.SIGKILL)
        acknowledged |= set(process.stdout.read().split())
        errors = process.stderr.read()
        process.wait()
        if kill == kills:
            assert process.returncode == 0, errors
        done = len(acknowledged)
    killed = snapshot(path, Config())
    ids = [turn_id for turn_id, _ in killed[0]]
    assert len(ids) == len(set(ids)) == turns and acknowledged <= set(ids)
    whole = writer(tmp_path / "whole.db", 0, turns)
    whole.stdout.read()
    assert whole.wait() == 0
    assert killed[-1] == turns
    assert killed == snapshot(tmp_path / "whole.db", Config())


def test_four_processes_write_one_file(tmp_path, writer):
    """Four writers of 80 turns each leave 320 turns, no error, and nothing unprocessed."""
    path = tmp_path / "memory.db"
    processes = [writer(path, 0, 80, prefix=f"{name}:") for name in "abcd"]
    failures = []
    for process in processes:
        _, errors = process.communicate(timeout=120)
        if process.returncode:
            failures.append(errors)
    assert failures == []
    turns = snapshot(path, Config())[0]
    assert len(turns) == len(set(turns)) == 320


def test_a_crash_between_receiving_and_understanding_is_made_good(config, tmp_path):
    """A turn that was only received is processed at the next start."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa:
        doxa._maintenance.schedule = lambda user, **_: None  # as if the process had died right after receiving
        doxa.dialogue(user="ana").absorb("I live in Lisbon.", turn_id="t1")
    with Doxa.open(path, config=config) as doxa:
        doxa.flush()
        assert [str(f.object) for f in doxa.memory(user="ana").facts()] == ["Lisbon"]


@pytest.mark.parametrize("backlog", [0, 200], ids=["at once", "far behind"])
def test_what_a_turn_means_does_not_depend_on_when_it_is_processed(config, backlog):
    """A pronoun means whom the turn before it names, however many turns came in since."""
    with Doxa.open(":memory:", config=config) as doxa:
        schedule, doxa._maintenance.schedule = doxa._maintenance.schedule, lambda user, **_: None
        chat = doxa.dialogue(user="ana", agent="helper", session="s")
        chat.absorb("My sister Mia called.", at="2024-01-01")
        chat.absorb("She lives in Lisbon.", at="2024-01-01")
        for _ in range(backlog):
            chat.absorb("All right.", at="2024-01-02")
        doxa._maintenance.schedule = schedule
        chat.flush()
        lives = doxa.memory(user="ana").facts(relation="lives in")
        assert [(str(fact.subject), str(fact.object)) for fact in lives] == [("Mia", "Lisbon")]


def test_a_failing_encoder_keeps_the_turn_and_says_so(config, tmp_path, monkeypatch):
    """Without vectors the turn is found by its words; the next start makes the vectors."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa:

        def broken(texts):
            raise BackendUnavailableError("the encoder is down")

        monkeypatch.setattr(doxa.parts.encoder, "encode", broken)
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        chat.flush()
        reply = chat.ask("Where do I live?")
        assert reply.value == "Lisbon" and any("encoder" in reason for reason in reply.trace.degraded)
        assert doxa.memory(user="ana").stats()["degraded"] == 1
    with Doxa.open(path, config=config) as doxa, doxa.parts.log.user("ana") as state:
        assert state.vectors.rows().any()


def test_an_encoder_that_stays_down_does_not_close_the_memory(config, tmp_path, monkeypatch):
    """What could not be encoded is still read, and found by its words, after a restart without an encoder too."""
    path = tmp_path / "memory.db"
    for _ in range(2):
        with Doxa.open(path, config=config) as doxa:

            def broken(texts):
                raise BackendUnavailableError("the encoder is down")

            monkeypatch.setattr(doxa.parts.encoder, "encode", broken)
            chat = doxa.dialogue(user="ana")
            chat.absorb("I live in Lisbon.", turn_id="t1")
            chat.flush()
            assert chat.ask("Where do I live?").value == "Lisbon"
            assert doxa.memory(user="ana").search("Lisbon")


def test_an_interrupt_inside_a_fold_leaves_no_half_state(config, monkeypatch):
    """Ctrl-C between storing a change and folding it: the state is folded anew, so nothing is there twice."""
    with Doxa.open(":memory:", config=config) as doxa:
        chat, memory = doxa.dialogue(user="ana"), doxa.memory(user="ana")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        chat.flush()

        def interrupted(self, ordinal):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(UserState, "advance", interrupted)
            with pytest.raises(KeyboardInterrupt):
                memory.withdraw(turn_id="t1")
        assert [str(change.kind) for change in memory.history()] == ["assert", "retract"]


def test_an_error_in_processing_reaches_flush_and_keeps_the_turn(config, monkeypatch):
    """Nobody is told that all is well when it is not; the turn is processed once the cause is gone."""
    calls = {"n": 0}
    real = turn.revise

    def failing(*args, **more):
        calls["n"] += 1
        if calls["n"] == 1:
            raise RuntimeError("a bug")
        return real(*args, **more)

    monkeypatch.setattr(turn, "revise", failing)
    with Doxa.open(":memory:", config=config) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        with pytest.raises(RuntimeError, match="a bug"):
            chat.flush()
        chat.flush()
        assert chat.ask("Where do I live?").value == "Lisbon"


def test_waiting_ends_when_the_engine_is_closed(config, tmp_path):
    """Turns are left to the next start; whoever waits for them, then or later, is told so instead of hanging."""
    doxa = Doxa.open(tmp_path / "memory.db", config=config)
    doxa._maintenance.schedule = lambda user, **_: None
    chat, told = doxa.dialogue(user="ana"), []
    chat.absorb("I live in Lisbon.")

    def wait():
        try:
            chat.flush()
        except ClosedError as error:
            told.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.05)
    doxa._close(drain=False)
    thread.join(10)
    assert told and not thread.is_alive()
    with pytest.raises(ClosedError):
        chat.flush()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_is_told_to_open_its_own(config, tmp_path):
    """Its copy has no thread, and shares the parent's connections; the parent goes on undisturbed."""
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.")
        chat.flush()
        child = os.fork()
        if child == 0:
            try:
                chat.absorb("I live in Rome.")
            except ClosedError:
                doxa.close()
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert chat.ask("Where do I live?").value == "Lisbon"


def test_one_users_backlog_does_not_hold_up_another(config):
    """Users take turns by blocks."""
    with Doxa.open(":memory:", config=config) as doxa:
        schedule, doxa._maintenance.schedule = doxa._maintenance.schedule, lambda user, **_: None
        busy, other = doxa.dialogue(user="ana"), doxa.dialogue(user="ben")
        for _ in range(600):
            busy.absorb("I like tea and I live in Lisbon.")
        other.absorb("I live in Oslo.")
        doxa._maintenance.schedule = schedule
        schedule("ana")
        other.flush()
        assert doxa.parts.log.head("ana").maintained < 600
        busy.flush()
        assert doxa.memory(user="ana").stats()["pending"] == 0


def test_states_that_are_not_in_use_are_dropped_and_come_back(config, tmp_path):
    """More users than fit in memory still answer."""
    small = config.model_copy(update={"engine": config.engine.model_copy(update={"memory_mb": 1})})
    with Doxa.open(tmp_path / "memory.db", config=small) as doxa:
        log: MemoryLog = doxa.parts.log
        log._capacity = 3 << 16  # three of the smallest do not fit
        for n in range(6):
            chat = doxa.dialogue(user=f"user{n}")
            chat.absorb(f"I live in Town{n}.")
            chat.flush()
        assert 1 <= len(log._loaded) <= 2
        assert [doxa.dialogue(user=f"user{n}").ask("Where do I live?").value for n in range(6)] == [
            f"Town{n}" for n in range(6)
        ]


def test_a_state_that_is_larger_than_all_that_may_stay_loaded_is_not_read_again_and_again(config, tmp_path):
    """The latest state stays, whatever it takes."""
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        log: MemoryLog = doxa.parts.log
        log._capacity = 1
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.")
        chat.flush()
        doxa.memory(user="ana").facts()
        reads, read = [], log.store.read
        log.store.read = lambda scope, *, after=0: reads.append(scope) or read(scope, after=after)
        assert [str(fact.object) for fact in doxa.memory(user="ana").facts(relation="lives in")] == ["Lisbon"]
        assert not reads


def test_importing_is_fast_and_opens_nothing(tmp_path):
    """`import doxa` loads none of the heavy packages."""
    heavy = ("numpy", "onnxruntime", "sqlalchemy", "openai", "pydantic")
    code = f"import sys, doxa; print([m for m in {heavy} if m in sys.modules])"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert out.stdout.strip() == "[]"


def test_a_turn_that_cannot_be_understood_is_kept_as_text(config, monkeypatch):
    """One turn that breaks the rules holds up none of those after it, and is counted."""
    real = reading.understand

    def brittle(said, *rest, **more):
        if "crash" in said.text:
            raise RecursionError("too deep")
        return real(said, *rest, **more)

    monkeypatch.setattr(reading, "understand", brittle)
    with Doxa.open(":memory:", config=config) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Rome.", turn_id="t0")
        chat.absorb("This will crash the parser.", turn_id="t1")
        chat.absorb("I live in Lisbon.", turn_id="t2")
        chat.flush()
        memory = doxa.memory(user="ana")
        assert memory.stats()["degraded"] == 1
        assert chat.ask("Where do I live?").value == "Lisbon"
        assert memory.search("parser")[0].turn_ids == ("t1",)
        memory.forget(turn_id="t0")
        assert memory.stats()["degraded"] == 1
        assert [str(fact.object) for fact in memory.facts(current=False)] == ["Lisbon"]


def test_a_copy_that_cannot_be_read_whole_is_refused(config, tmp_path, monkeypatch):
    """On a read-only medium the write-ahead log cannot be applied, and without it turns would be missing."""
    live, copy = tmp_path / "live", tmp_path / "copy"
    live.mkdir()
    with Doxa.open(live / "memory.db", config=config) as doxa:
        doxa.dialogue(user="ana").absorb("I live in Lisbon.")
        doxa.flush()
        shutil.copytree(live, copy)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != copy and access(path, mode))
    with pytest.raises(StoreReadOnlyError, match="memory.db-wal"):
        Doxa.open(copy / "memory.db", config=config)


def test_reading_goes_on_when_processing_is_stuck(config, monkeypatch):
    """An answer comes from what is there, and the trace says what is missing."""
    with Doxa.open(":memory:", config=config) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I live in Lisbon.", turn_id="t1")
        chat.flush()

        def failing(*_, **__):
            raise RuntimeError("no room")

        monkeypatch.setattr(turn, "revise", failing)
        chat.absorb("I moved to Berlin.", turn_id="t2")
        reply = chat.ask("Where do I live?")
        assert reply.value == "Lisbon" and any("no room" in reason for reason in reply.trace.degraded)
        monkeypatch.undo()
        chat.flush()
        assert chat.ask("Where do I live?").value == "Berlin"
