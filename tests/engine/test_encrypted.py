"""A memory with a key: it is all there again, and nothing of it can be read in any file without the key."""

import random
import sys
from contextlib import closing
from pathlib import Path

import pytest

from doxa.backends import load
from doxa.backends.store.cipher import PageCipher
from doxa.backends.store.pages import Pages
from doxa.core.config import Config, StoreConfig
from doxa.core.errors import ConfigError, PackError, StoreKeyError
from doxa.core.sealing import MemoryKey, Seal, unsealed
from doxa.engine import Doxa, Teaching, check_file, mend_file
from doxa.memory.paged import Pack
from doxa.understand import read_marks

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fire"))
import erasure

KEY = MemoryKey(f"x'{'5a' * 32}'")


def keyed(config: Config, said: str | None = KEY.said) -> Config:
    """Return settings with a key."""
    return config.model_copy(update={"store": StoreConfig.model_validate({"key": said})})


CONFIG = keyed(erasure.SETTINGS)


def opened_files(folder: Path, to: Path) -> Path:
    """Write what the files of a memory hold to another folder, as whoever has the key can read it."""
    pages = Pages(folder / "memory.db", PageCipher.of(folder / "memory.db", KEY))
    to.mkdir()
    numbers = range(1, len(pages) + 1)
    (to / "pages").write_bytes(pages._data + b"".join(pages._page(number) for number in numbers))
    seal = Seal(KEY)
    for number, path in enumerate(one for one in folder.glob("memory.db.*/**/*") if one.is_file()):
        if path.suffix == ".jsonl":
            (to / f"{number}.jsonl").write_text(repr(read_marks(path, seal=seal)))
        else:
            kind = "snapshot" if path.suffix == ".fold" else "learned"
            (to / f"{number}{path.suffix}").write_bytes(unsealed(path.read_bytes(), kind, seal))
    return to


@pytest.mark.parametrize("everything", [False, True], ids=["turns", "everything"])
def test_no_file_holds_a_word_and_when_it_is_forgotten_not_even_for_who_has_the_key(tmp_path, everything):
    """Database, write-ahead log, snapshots, weights, marks; while it is open, and closed."""
    secret = erasure.word(random.Random(3))
    folder, needle = tmp_path / "memory", secret[: erasure.LETTERS]
    folder.mkdir()
    place = folder / "memory.db"
    turns = erasure.filled(str(place), secret, CONFIG)
    assert erasure.leaks(folder, needle) == {}
    told = erasure.leaks(opened_files(folder, tmp_path / "before"), needle)
    assert {"pages"} < told.keys() and any(name.endswith(".fold") for name in told) and len(told) > 2
    with Doxa.open(place, config=CONFIG) as doxa:
        talk = doxa.dialogue(user="ben", speaker="Ben")
        talk.absorb(f"I live in {secret}.", turn_id="t")
        doxa.flush()
        assert (folder / "memory.db-wal").stat().st_size and erasure.leaks(folder, needle) == {}
        doxa.memory(user="ben").forget(everything=True)
        erasure.forget(doxa, turns, secret, everything=everything)
        erasure.settle(doxa)
        assert erasure.leaks(opened_files(folder, tmp_path / "after"), needle) == {}
    assert erasure.leaks(opened_files(folder, tmp_path / "closed"), needle) == {}


def filled(path: Path, config: Config) -> None:
    with Doxa.open(path, config=config) as doxa:
        talk = doxa.dialogue(user="ana", speaker="Ana")
        for number, text in enumerate(["I live in Rome.", "My sister Eva works at Fabrikam.", "I moved to Oslo."]):
            talk.absorb(text, turn_id=f"t{number}", at=f"2024-03-0{number + 1}")
        doxa.flush()
        Teaching(doxa, user="ana").mark_missed("t0", subject="Ana", relation="lives in", object="Rome")
        weights = doxa.parts.learned.of("ana")
        doxa.parts.learned.put("ana", weights, expected=weights)
        erasure.settle(doxa)


def seen(path: Path, config: Config) -> tuple[object, ...]:
    """Return what a memory holds, and what is kept beside it."""
    with Doxa.open(path, config=config) as doxa:
        memory, heads = doxa.memory(user="ana"), doxa.parts.heads
        facts = sorted(str(fact) for fact in memory.facts(current=False))
        marks = read_marks(heads.marks("ana"), seal=heads.seal)
        assert not marks.broken
        return [turn.text for turn in memory.turns()], facts, marks.turns, doxa.parts.learned.can_restore("ana")


def test_it_is_all_there_again_and_its_snapshot_is_used(tmp_path, caplog):
    path = tmp_path / "memory.db"
    filled(path, CONFIG)
    filled(tmp_path / "plain.db", erasure.SETTINGS)
    (fold,) = Path(f"{path}.folds").rglob("*.fold")
    assert Pack.open(fold, Seal(KEY)).about["scope"] == "default/ana"
    assert seen(path, CONFIG) == seen(tmp_path / "plain.db", erasure.SETTINGS)
    assert "snapshot" not in caplog.text and "learned" not in caplog.text
    with pytest.raises(PackError):
        Pack.open(fold)
    with pytest.raises(PackError, match="not"):
        Pack.open(next(Path(f"{tmp_path / 'plain.db'}.folds").rglob("*.fold")), Seal(KEY))


def test_without_the_key_nothing_is_opened_and_nothing_is_changed(tmp_path):
    path = tmp_path / "memory.db"
    filled(path, CONFIG)
    before = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    for said in (None, "x'" + "5b" * 32 + "'", "hunter2"):
        with pytest.raises(StoreKeyError):
            Doxa.open(path, config=keyed(erasure.SETTINGS, said))
    assert {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()} == before


def test_marks_under_another_key_are_told_and_left(tmp_path):
    """And a line that is not encrypted is read with those that are."""
    path = tmp_path / "memory.db"
    filled(path, CONFIG)
    marks = tmp_path / "memory.db.taught" / "default" / "ana.jsonl"
    line = marks.read_text()
    marks.write_text(line + '{"lines": [{"speaker": "Ana", "text": "hi"}]}\n# by hand\n')
    read = read_marks(marks, seal=Seal(KEY))
    assert len(read.turns) == 2 and not read.broken
    read = read_marks(marks, seal=Seal(MemoryKey("hunter2")))
    assert len(read.turns) == 1 and "another key" in str(read.broken[0])
    assert "no key was given" in str(read_marks(marks).broken[0])


def test_a_key_for_a_server_is_refused(postgres_url):
    """Nobody is to believe that it encrypts anything."""
    with pytest.raises(ConfigError, match="on a server"):
        Doxa.open(postgres_url, config=CONFIG)


def test_a_damaged_file_is_mended_and_stays_encrypted(tmp_path):
    path = tmp_path / "memory.db"
    filled(path, CONFIG)
    whole = seen(path, CONFIG)
    assert check_file(str(path), CONFIG).sound
    pages = Pages(path, PageCipher.of(path, KEY))
    (record,) = (one for one in pages.records() if len(one.values) > 6 and one.values[3] == "t1")
    data = bytearray(path.read_bytes())
    data[record.spans[0][1] - 60] ^= 1
    path.write_bytes(data)
    found = mend_file(str(path), CONFIG)
    assert found.kept and [log.lost for log in found.logs] == [("t1",)]
    turns, _, marks, learned = seen(path, CONFIG)
    assert turns == ["I live in Rome.", "I moved to Oslo."] and (marks, learned) == whole[2:]
    with pytest.raises(StoreKeyError), closing(load("store", f"sql:{path}")):
        pass
