"""From the first turn to the last erasure, in a file and in Postgres; several processes on one database."""

import signal
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from doxa.core.config import StoreConfig
from doxa.core.errors import InputError, NotFoundError, TurnError
from doxa.engine import Doxa, Keys, Records

SRC = Path(__file__).parents[2] / "src"
TOLD = [
    ("t1", "2024-01-01", "I live in Lisbon."),
    ("t2", "2024-02-01", "I work for Siemens."),
    ("t3", "2024-03-01", "I moved to Bonn."),
]

WRITER = textwrap.dedent(
    """
    import sys
    from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
    from doxa.engine import Doxa

    url, first, last, prefix = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    plain = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(url, config=plain) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        for n in range(first, last):
            said = f"I moved to Town{n % 7}." if n % 5 == 0 else f"I like game{n % 11}."
            at = f"2024-01-01T00:{n // 60:02d}:{n % 60:02d}"
            print(chat.absorb(said, at=at, turn_id=f"{prefix}{n}").turn_id, flush=True)
        chat.flush()
    """
)


@pytest.fixture
def config(light):
    return light()


@pytest.fixture
def writer(started):
    """Give a function that starts a process which absorbs turns and prints the id of each acknowledged one."""
    return lambda url, first, last, prefix="t": started(WRITER, url, first, last, prefix)


def tell(doxa, turns=TOLD, user="ana"):
    chat = doxa.dialogue(user=user, session="s")
    for turn_id, at, text in turns:
        chat.absorb(text, at=at, turn_id=turn_id)
    chat.flush()
    return doxa.memory(user=user)


def lives_in(memory):
    return {str(fact.object): str(fact.status) for fact in memory.facts(relation="lives in", current=False)}


def current(memory):
    return sorted(str(fact.object) for fact in memory.facts() if not fact.premises)


def test_what_was_told_is_believed_answered_and_there_after_a_restart(location, config):
    with Doxa.open(location, config=config) as doxa:
        memory = tell(doxa)
        assert "Bonn" in doxa.dialogue(user="ana").ask("Where do I live?").text
        before = current(memory), lives_in(memory), [str(hit) for hit in memory.search("Siemens")]
        assert before[0] == ["Bonn", "Siemens"]
    with Doxa.open(location, config=config) as doxa:
        memory = doxa.memory(user="ana")
        assert (current(memory), lives_in(memory), [str(hit) for hit in memory.search("Siemens")]) == before
        assert doxa.users() == ["ana"] and doxa.dialogue(user="ana").absorb(TOLD[0][2], turn_id="t1").duplicate


def test_what_is_withdrawn_comes_back_by_undo(location, config):
    with Doxa.open(location, config=config) as doxa:
        memory = tell(doxa)
        assert memory.withdraw(turn_id="t3") and current(memory) == ["Lisbon", "Siemens"]
        assert memory.undo() and current(memory) == ["Bonn", "Siemens"]
    with Doxa.open(location, config=config) as doxa:
        assert current(doxa.memory(user="ana")) == ["Bonn", "Siemens"]


def test_what_is_forgotten_is_gone_for_other_processes_too(location, config):
    with Doxa.open(location, config=config) as doxa, Doxa.open(location, config=config) as other:
        memory = tell(doxa)
        assert current(other.memory(user="ana")) == ["Bonn", "Siemens"]
        certificate = memory.forget(turn_id="t3")
        assert certificate.turn_ids == ("t3",)
        assert current(memory) == current(other.memory(user="ana")) == ["Lisbon", "Siemens"]
        with pytest.raises(NotFoundError):
            memory.forget(turn_id="t3")
        assert memory.forget(everything=True).erased["turns"] == 2
        assert doxa.users() == other.users() == [] and current(other.memory(user="ana")) == []
        assert current(tell(other, TOLD[1:2])) == current(memory) == ["Siemens"]


def test_answers_records_and_keys_are_kept(location, config):
    with Doxa.open(location, config=config) as doxa:
        memory = tell(doxa)
        chat = doxa.dialogue(user="ana")
        asked = [chat.ask(question).answer_id for question in ("Where do I live?", "Where do I work?")]
        records = Records(doxa, user="ana", shelf="notes")
        records.put({"a": b"1", "b": b"2"}, said_by={"a": "t1", "b": "t3"})
        key, secret = Keys(doxa).add(users=["ana"])
    with Doxa.open(location, config=config) as doxa:
        memory = doxa.memory(user="ana")
        assert [reason.answer.answer_id for reason in memory.answers()] == asked
        assert "Bonn" in memory.why_answered(asked[0]).text
        assert Keys(doxa).recognise(secret) == key
        memory.forget(turn_id="t3")
        assert Records(doxa, user="ana", shelf="notes").all() == {"a": b"1"}


@pytest.mark.parametrize("session", ["x" * 1000, "a\0b"], ids=["long", "NUL"])
def test_a_turn_without_an_id_gets_one_whatever_its_session_is_called(location, config, session):
    with Doxa.open(location, config=config) as doxa:
        talk = doxa.dialogue(user="ana", session=session)
        assert talk.absorb("I live in Lisbon.").turn_id != talk.absorb("I work for Siemens.").turn_id
        assert {turn.session for turn in doxa.memory(user="ana").turns()} == {session}


def test_an_id_that_not_every_database_can_store_is_refused(location, config):
    """In a file as well, so that it can be carried to Postgres later on."""
    with Doxa.open(location, config=config) as doxa:
        with pytest.raises(TurnError, match="NUL"):
            doxa.dialogue(user="ana", session="s").absorb("I live in Lisbon.", turn_id="a\0b")
        assert doxa.memory(user="ana").turns() == []


def test_a_tenant_and_a_user_with_names_too_long_for_postgres_are_told_so(postgres_url, config):
    with (
        Doxa.open(postgres_url, config=config) as doxa,
        pytest.raises(InputError, match="three for each of its bytes"),
    ):
        doxa.tenant("名" * 40).dialogue(user="u" * 60, session="s").absorb("I live in Lisbon.")


def test_processes_that_write_one_user_lose_and_double_nothing(postgres_url, config, writer):
    """One of them is killed, and sends all of its turns again."""
    killed, other = writer(postgres_url, 0, 20, prefix="a:"), writer(postgres_url, 0, 20, prefix="b:")
    acknowledged = {killed.stdout.readline().strip() for _ in range(8)}
    killed.send_signal(signal.SIGKILL)
    acknowledged |= set(killed.stdout.read().split())
    killed.wait()
    again = writer(postgres_url, 0, 20, prefix="a:")
    for process in (other, again):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    with Doxa.open(postgres_url, config=config) as doxa:
        assert doxa.parts.log.pending() == []
        rows = doxa.parts.log.rows("ana")
    turns = {row.ordinal: row.turn_id for row in rows if row.kind == "turn"}
    assert len(acknowledged) >= 8
    assert sorted(turns.values()) == sorted(f"{name}:{n}" for name in "ab" for n in range(20))
    assert sorted(row.about for row in rows if row.kind == "maintained") == sorted(turns)


def test_writers_of_many_users_in_one_process_are_all_served(location, config):
    with Doxa.open(location, config=config) as doxa:
        with ThreadPoolExecutor(8) as threads:
            list(
                threads.map(lambda n: tell(doxa, [(f"t{n}", "2024-01-01", "I live in Rome.")], f"u{n % 5}"), range(20))
            )
        assert doxa.users() == [f"u{n}" for n in range(5)]
        for user in doxa.users():
            assert current(doxa.memory(user=user)) == ["Rome"]


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_a_fold_in_use_is_caught_up_when_another_process_writes(postgres_url, config):
    with Doxa.open(postgres_url, config=config) as reader, Doxa.open(postgres_url, config=config) as other:
        tell(other, TOLD[:1])
        with reader.parts.log.user("ana") as state:
            pass
        loaded = reader.parts.log._loaded["ana"]
        tell(other, TOLD[1:])
        until(lambda: loaded.state.ordinal == other.parts.log.head("ana").ordinal)
        tell(other, TOLD[:1], user="ben")  # nobody reads that one
        other.memory(user="ana").forget(turn_id="t3")
        until(lambda: loaded.state is not state and list(loaded.state.turns.values())[-1].turn_id == "t2")
        assert list(reader.parts.log._loaded) == ["ana"]


def test_a_fold_is_right_where_nobody_tells_of_changes(postgres_url, config):
    deaf = config.model_copy(update={"store": StoreConfig(notify=False)})
    with Doxa.open(postgres_url, config=deaf) as reader, Doxa.open(postgres_url, config=deaf) as other:
        tell(other, TOLD[:1])
        assert current(reader.memory(user="ana")) == ["Lisbon"]
        tell(other, TOLD[1:])
        assert current(reader.memory(user="ana")) == ["Bonn", "Siemens"]
