"""A damaged file: what is said of it, and that what is whole is there again, with all that was made of it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.backends.store.sql.rows import values_of
from doxa.core.errors import InputError, NotFoundError, StoreDamagedError, StoreForeignError, StoreLockedError
from doxa.engine import Doxa, check_file, mend_file
from doxa.engine.wiring.heads import Heads

SAID = ("I live in Oslo.", "My sister Eva works at Fabrikam.", "I moved to Rome yesterday.", "My dog is called Rex.")

UNREAD = (
    "UPDATE events SET body = '{{}}' WHERE scope = 'default/ana' AND kind = 'maintained' "
    "AND about = (SELECT ordinal FROM events WHERE turn_id = '{}')"
)
"""Damages how a turn was understood."""


@pytest.fixture
def path(tmp_path, light):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=light()) as doxa:
        for user in ("ana", "bob"):
            for n, text in enumerate(SAID):
                doxa.dialogue(user=user).absorb(text, turn_id=f"{user}-{n}", at=f"2024-03-{n + 1:02}")
            doxa.flush()
    return path


def overwritten(path, old, new):
    """Put other bytes in the place of some, wherever they first are."""
    data = path.read_bytes()
    at = data.index(old)
    path.write_bytes(data[:at] + new + data[at + len(new) :])


def changed(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def facts(path, light, user="ana"):
    with Doxa.open(path, config=light()) as doxa:
        return sorted(str(fact) for fact in doxa.memory(user=user).facts(current=False))


def turns(path, light, user="ana"):
    with Doxa.open(path, config=light()) as doxa:
        return [turn.text for turn in doxa.memory(user=user).turns()]


def test_a_sound_file_is_left_as_it_is(path, light):
    before = path.read_bytes()
    assert check_file(str(path)).sound and mend_file(str(path), light()).sound
    assert path.read_bytes() == before and not list(path.parent.glob("*.damaged-*"))
    assert not list(path.parent.glob("*-wal"))


def test_damage_is_told_to_who_reads_it_and_to_nobody_else(path, light):
    overwritten(path, b"sister Eva works at Fab", b"sister Eva works at Fob")
    with Doxa.open(path, config=light()) as doxa:
        with pytest.raises(StoreDamagedError, match="check-file"):
            doxa.memory(user="ana").facts()
        assert len(doxa.memory(user="bob").facts()) > 1
    assert [log.user for log in check_file(str(path)).logs if not log.whole] == ["ana"]


def test_where_a_turn_is_damaged_it_goes_with_what_was_made_of_it(path, light):
    """As if it had never been said; nothing is believed that no turn says."""
    with Doxa.open(path.with_name("other.db"), config=light()) as doxa:
        for n, text in enumerate(SAID):
            if n != 2:
                doxa.dialogue(user="ana").absorb(text, turn_id=f"ana-{n}", at=f"2024-03-{n + 1:02}")
    changed(path, "UPDATE events SET body = replace(body, 'Rome', 'Reme') WHERE turn_id = 'ana-2'")
    found = mend_file(str(path), light())
    assert [log.lost for log in found.logs] == [("ana-2",), ()]
    assert turns(path, light) == [SAID[0], SAID[1], SAID[3]]
    assert facts(path, light) == facts(path.with_name("other.db"), light)
    assert len(turns(path, light, "bob")) == 4 and check_file(str(path)).sound
    kept = path.with_name(found.kept.rpartition("/")[2])
    assert b"I moved to Reme" in kept.read_bytes()


def test_where_the_reading_of_a_turn_is_damaged_it_is_read_again(path, light):
    before = facts(path, light)
    changed(path, UNREAD.format("ana-1"))
    found = mend_file(str(path), light())
    assert [log.unread for log in found.logs] == [("ana-1",), ()] and not any(log.lost for log in found.logs)
    assert facts(path, light) == before
    assert turns(path, light) == [*SAID]


def test_where_the_last_reading_is_damaged_the_turn_waits_as_if_it_had_just_come_in(path, light):
    before = facts(path, light)
    changed(path, "DELETE FROM events WHERE scope = 'default/ana' AND ordinal = 8")
    mend_file(str(path), light())
    assert turns(path, light) == [*SAID] and facts(path, light) == before


def test_what_was_done_by_hand_stays(path, light):
    with Doxa.open(path, config=light()) as doxa:
        memory = doxa.memory(user="ana")
        memory.retract(next(fact for fact in memory.facts() if "Fabrikam" in str(fact)).fact_id)
    before = facts(path, light)
    changed(path, UNREAD.format("ana-3"))
    mend_file(str(path), light())
    assert facts(path, light) == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM heads WHERE scope = 'default/ana'",
        "UPDATE heads SET ordinal = 3 WHERE scope = 'default/ana'",
        "UPDATE vectors SET data = x'00'",
        "DELETE FROM vectors",
    ],
)
def test_what_can_be_made_of_the_log_is_made_again(path, light, statement):
    before, said = facts(path, light), turns(path, light)
    changed(path, statement)
    found = mend_file(str(path), light())
    assert not any(log.lost or log.unread or log.changes for log in found.logs)
    assert facts(path, light) == before and turns(path, light) == said


def test_a_turn_that_was_taken_in_twice_is_found_and_then_there_once(path, light):
    """The index that finds turns did not lead to it, so that it was taken for a new one when it was told again."""
    before = facts(path, light)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX events_turn")  # as if its pages were empty
    with closing(load("store", f"sql:{path}")) as store:
        row = next(row for row in store.read("default/ana") if row.turn_id == "ana-3")
        again = NewRow(kind="turn", known_at=row.known_at, body=row.body)
        store.receive("default/ana", again, turn_id="hidden")
        twice = values_of("default/ana", 9, again, "ana-3", previous=8)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET turn_id = :turn_id, digest = :digest WHERE ordinal = 9", twice)
    with Doxa.open(path, config=light()) as doxa, pytest.raises(StoreDamagedError, match="twice"):
        doxa.memory(user="ana").facts()
    assert not mend_file(str(path), light()).sound
    assert turns(path, light) == [*SAID] and facts(path, light) == before


@pytest.mark.parametrize("look", [None, check_file], ids=["opened", "looked at"])
def test_what_was_mended_takes_its_place_where_that_was_cut_short(path, light, monkeypatch, look):
    """The damaged file was out of it, and the new one not yet there: an empty memory would be made."""
    overwritten(path, SAID[0].encode(), b"I live in 0slo.")

    def killed(self, target):
        if self.name.endswith(".mended"):
            raise KeyboardInterrupt
        return real(self, target)

    real = Path.rename
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            mend_file(str(path), light())
    assert not path.exists()
    if look is not None:
        assert look(str(path), light()).sound
    assert turns(path, light) == [*SAID[1:]]
    assert not path.with_name("memory.db.mended").exists() and list(path.parent.glob("memory.db.damaged-*"))


def test_what_a_user_taught_is_used_where_turns_are_read_again(path, light, monkeypatch):
    asked = []
    monkeypatch.setattr(Heads, "of", lambda self, user: asked.append(self.path(user)))
    overwritten(path, SAID[1].encode(), b"My sister Eva works at Fabrik4m.")
    mend_file(str(path), light())
    assert asked and {one.parent.parent.name for one in asked} == {"memory.db.taught"}


def test_a_file_of_which_nothing_is_left_is_left_as_it_is(path, light):
    """An empty memory in its place would look like one that was never told anything."""
    path.write_bytes(path.read_bytes()[:4096])
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="Nothing"):
        mend_file(str(path), light())
    assert path.read_bytes() == before


def test_a_file_that_is_open_here_is_not_read_beside_sqlite(path, light):
    """To close such a file ends all locks that the process has on it, and two would write at once."""
    with Doxa.open(path, config=light()) as doxa:
        for look in (check_file, mend_file):
            with pytest.raises(StoreLockedError, match="doxa check-file"):
                look(str(path))
        assert len(doxa.memory(user="ana").turns()) == len(SAID)
    assert check_file(str(path)).sound


def test_what_is_no_memory_is_neither_sound_nor_mended(tmp_path, light):
    """A script that watches over memories has to learn that it watches another file."""
    other, text = tmp_path / "other.db", tmp_path / "diary.txt"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    text.write_text("Dear diary, this is not a database. " * 200)
    for path in (other, text):
        before = path.read_bytes()
        for look in (check_file, mend_file):
            with pytest.raises(StoreForeignError):
                look(str(path), light())
        assert path.read_bytes() == before


@pytest.mark.parametrize(("location", "error"), [(":memory:", InputError), ("nowhere.db", NotFoundError)])
def test_only_files_are_looked_at(location, error):
    for look in (check_file, mend_file):
        with pytest.raises(error):
            look(location)
