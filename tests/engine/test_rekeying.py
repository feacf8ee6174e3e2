"""A memory that is encrypted, gets another key, or loses it: all of it is there, whatever comes between."""

import shutil
import sqlite3
import stat
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from doxa.backends.store import hold
from doxa.core.errors import InputError, NotFoundError, StoreDamagedError, StoreKeyError, StoreLockedError
from doxa.core.sealing import MemoryKey
from doxa.engine import Doxa, rekey
from doxa.engine.wiring.sealed import overwritten

from .test_encrypted import erasure, filled, keyed, seen

PLAIN = erasure.SETTINGS
KEY = MemoryKey(f"x'{'5a' * 32}'")
OTHER = MemoryKey(f"x'{'5b' * 32}'")
WORD = "Fabrikam"


def config(key):
    return PLAIN if key is None else keyed(PLAIN, key.said)


def files(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def words(folder):
    """Return the files in which a word that was said can be read."""
    return erasure.leaks(folder, WORD)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a memory that is not encrypted, and one whose memory is; neither is to be changed."""
    folders = {}
    for key in (None, KEY):
        folders[key] = tmp_path_factory.mktemp("made")
        filled(folders[key] / "memory.db", config(key))
    return folders


@pytest.fixture
def copied(made, tmp_path):
    """Give a function that copies such a folder, and returns the memory in it."""

    def copy(key, name="copy"):
        return Path(shutil.copytree(made[key], tmp_path / name)) / "memory.db"

    return copy


@pytest.mark.parametrize(
    ("old", "new"), [(None, KEY), (KEY, OTHER), (KEY, None)], ids=["encrypt", "another key", "take it off"]
)
def test_all_of_it_is_there_under_the_new_key_and_nothing_under_the_old(copied, old, new):
    path = copied(old)
    whole, names = seen(path, config(old)), {name for name in files(path.parent) if ".folds" not in name}
    (path.parent / "memory.db.bak").write_bytes(b"somebody's copy")
    found = rekey(str(path), new, config=config(old))
    assert (found.was_encrypted, found.encrypted, found.files) == (old is not None, new is not None, 3)
    assert found.untouched == (str(path.parent / "memory.db.bak"),) and found.rows > 5
    assert set(files(path.parent)) == {*names, "memory.db.bak"}  # and no snapshot
    assert bool(words(path.parent)) is (new is None)
    assert all(stat.S_IMODE(one.stat().st_mode) & 0o077 == 0 for one in path.parent.glob("memory.db.*/**/*"))
    if old is not None or new is not None:
        with pytest.raises(StoreKeyError):
            Doxa.open(path, config=config(old))
    assert seen(path, config(new)) == whole


def test_the_file_that_was_there_before_is_overwritten(copied, tmp_path):
    """As far as a program can: its place on the disk is written to, where the file system does so in place."""
    path = copied(None)
    (tmp_path / "links").mkdir()
    for number, one in enumerate(path.parent.rglob("*")):
        if one.is_file():
            (tmp_path / "links" / str(number)).hardlink_to(one)
    assert words(tmp_path / "links")
    rekey(str(path), KEY, config=PLAIN)
    assert not words(tmp_path / "links")


def test_a_memory_that_is_open_is_refused(copied):
    path = copied(None)
    with Doxa.open(path, config=PLAIN) as doxa:
        with pytest.raises(StoreLockedError, match="open"):
            rekey(str(path), KEY, config=PLAIN)
        assert len(doxa.memory(user="ana").turns()) == 3
    rekey(str(path), KEY, config=PLAIN)


def test_what_cannot_be_done_changes_nothing(copied, made):
    """The wrong key, none where one is needed, none at all, a file beside it under another key, damage."""
    path = copied(KEY)
    for given in (OTHER, None):
        with pytest.raises(StoreKeyError):
            rekey(str(path), KEY, config=config(given))
    assert files(path.parent) == files(made[KEY])
    shutil.copytree(copied(KEY, "other").with_name("memory.db.taught"), path.with_name("memory.db.taught") / "x")
    other = copied(KEY, "third")
    rekey(str(other), OTHER, config=config(KEY))
    shutil.copy(other.with_name("memory.db.taught") / "default" / "ana.jsonl", path.with_name("memory.db.taught") / "x")
    names = set(files(path.parent))
    with pytest.raises(StoreKeyError, match="ana.jsonl"):
        rekey(str(path), None, config=config(KEY))
    assert set(files(path.parent)) == names and not words(path.parent)  # nor in what was begun
    plain = copied(None, "plain")
    with pytest.raises(InputError, match="not encrypted"):
        rekey(str(plain), None, config=PLAIN)
    assert seen(plain, PLAIN) == seen(copied(None, "again"), PLAIN)
    data = plain.read_bytes()
    plain.write_bytes(data.replace(b"Fabrikam", b"Fabrikom", 1))
    with pytest.raises(StoreDamagedError):
        rekey(str(plain), KEY, config=PLAIN)
    with pytest.raises(NotFoundError):
        rekey(str(plain.with_name("none.db")), KEY, config=PLAIN)
    with pytest.raises(InputError):
        rekey(":memory:", KEY, config=PLAIN)


class CrashError(BaseException):
    """The process has ended here."""


class Steps:
    """Ends what runs before a step of its own: a file that is opened to be written, renamed or removed."""

    def __init__(self):
        self.left = None

    def __call__(self, event, arguments):
        if self.left is None:
            return
        writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        if writes or event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"):
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise CrashError


STEPS = Steps()
sys.addaudithook(STEPS)


@pytest.mark.parametrize(("old", "new"), [(None, KEY), (KEY, OTHER)], ids=["encrypt", "another key"])
def test_a_crash_between_any_two_steps_loses_nothing(copied, old, new):
    """One of the keys opens all of it, and with the old one the same command can be given again."""
    whole = seen(copied(old, "whole"), config(old))
    exchanged, count, number = set(), 0, -1
    while True:
        number += 1
        path = copied(old, f"crash{number}")
        STEPS.left = number
        try:
            rekey(str(path), new, config=config(old))
        except CrashError:
            count += 1
        else:
            break
        finally:
            STEPS.left = None
        key = new if is_exchanged(path, old) else old
        exchanged.add(key is new)
        if number % 2:  # whoever opens it next goes on with it
            assert seen(path, config(key)) == whole
        else:
            rekey(str(path), OTHER if key is new else new, config=config(key))
            assert seen(path, config(OTHER if key is new else new)) == whole
        assert {one.name for one in path.parent.iterdir()} <= {
            "memory.db", "memory.db.folds", "memory.db.learned", "memory.db.taught", *UNDONE,
        }  # fmt: skip
    assert count > 10 and exchanged == {True, False}


UNDONE = ("memory.db.rekeying", "memory.db.rekeyed", "memory.db.rekeyed.dead")
"""What is left of an exchange that was cut short before it was made, until the next one."""


def is_exchanged(path, old):
    """Tell whether a memory is not to be opened by the old key any more."""
    try:
        Doxa.open(path, config=config(old)).close()
    except StoreKeyError:
        return True
    return False


def test_zeros_are_written_over_all_of_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"word" * 600_000)
    with path.open("r+b") as file:
        overwritten(file)
    assert path.read_bytes() == bytes(2_400_000)


def test_a_memory_that_is_opened_between_two_steps_of_a_hold_is_refused(copied, monkeypatch):
    """What is written there meanwhile is in its write-ahead log, and would be lost with the old file."""
    path, came = copied(None), []

    class Driver(sqlite3.Connection):
        def execute(self, sql, *given):
            if sql == "BEGIN EXCLUSIVE":
                came.append(Doxa.open(path, config=PLAIN))
                came[0].dialogue(user="ana").absorb("I was late.", turn_id="late")
            return super().execute(sql, *given)

    real = sqlite3.connect
    monkeypatch.setattr(hold, "driver", lambda _: SimpleNamespace(connect=partial(real, factory=Driver)))
    with pytest.raises(StoreLockedError, match="open"):
        rekey(str(path), KEY, config=PLAIN)
    came[0].close()
    with Doxa.open(path, config=PLAIN) as doxa:
        assert "late" in [turn.turn_id for turn in doxa.memory(user="ana").turns()]


def test_what_an_exchange_left_that_was_cut_short_goes_with_what_is_erased(copied):
    """Each is a whole copy of the memory, or not encrypted while that is."""
    path = copied(None)
    for name in UNDONE:
        shutil.copytree(path.parent, path.parent.parent / "left" / name)
        (path.parent.parent / "left" / name).rename(path.parent / name)
    for end in (".mended", ".mended-wal"):
        shutil.copy(path, f"{path}{end}")
    with Doxa.open(path, config=PLAIN) as doxa:
        doxa.memory(user="ana").forget(everything=True)
    assert not [one for one in path.parent.iterdir() if one.name in UNDONE or ".mended" in one.name]
    assert not words(path.parent)
