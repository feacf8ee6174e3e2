"""Where a memory may keep a word beside its turns: filled, and measured in bytes.

`fill_beside` fills what `erasure.fill` does not reach: another user's answers and deeds over a shared memory, API keys,
failures, what is on its way through a server, and what processes that were killed left. `bytes_by_place` counts.
"""

from __future__ import annotations

import gc
import tempfile
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.util import LRUCache

from doxa.backends.store.schema import metadata
from doxa.core.config import ServerConfig
from doxa.engine import Doxa, Keys

READER, BOOK = "ben", "book"
"""A user of whom nothing is forgotten, and the memory that everybody reads beneath their own."""
FILES = {".folds": "snapshots", ".learned": "learned weights", ".taught": "marks", "-wal": "write-ahead log"}
"""Places by what the names of files hold."""
KILLED = ".4194304-7.part"
"""How the name of a file ends that a killed process was writing."""


def fill_beside(doxa: Doxa, user: str, secret: str) -> None:
    """Have a word of one user, and of a shared memory, be in the other places; a user is called by it as well."""
    call(doxa, secret)
    share(doxa, secret)
    fail(doxa, user, secret)
    send(doxa, user)


def forget_beside(doxa: Doxa, secret: str, *, everything: bool) -> None:
    """Forget the user who is called by the word, and what the shared memory says of it."""
    book = doxa.memory(user=BOOK)
    if everything:
        book.forget(everything=True)
    else:
        book.forget(turn_id=[turn.turn_id for turn in book.turns(withdrawn=True)])
    doxa.memory(user=f"user {secret}").forget(everything=True)


def call(doxa: Doxa, secret: str) -> None:
    """Have a user whose name is the word, and a revoked key of this user; one that works goes on naming its user."""
    name = f"user {secret}"
    doxa.dialogue(user=name, speaker=secret).absorb("I live in Rome.", turn_id=f"n {secret}")
    doxa.flush()
    keys = Keys(doxa)
    keys.revoke(keys.add(users=[name], label=f"{secret} phone")[0].key_id)


def share(doxa: Doxa, secret: str) -> None:
    """Have another user be answered from a shared memory, and set aside what it says."""
    book = doxa.dialogue(user=BOOK, speaker="Book")
    book.absorb(f"The Lisbon office is in {secret}.", turn_id=f"o {secret}")
    book.absorb(f'"{secret}", it says over the door.', turn_id=f'quoted "{secret}"')
    book.flush()
    for number, question in enumerate(("Where is the Lisbon office?", "What does it say over the door?")):
        reply = doxa.dialogue(user=READER, session=f"r{number}").ask(question)
        for one in reply.citations:
            if one.fact_id is not None:
                doxa.memory(user=READER).retract(one.fact_id)
            doxa.memory(user=READER).withdraw(turn_id=one.turn_id)
    doxa.flush()


def fail(doxa: Doxa, user: str, secret: str) -> None:
    """Have a worker have failed with a turn of the user."""
    import sqlalchemy as sa

    heads, told = metadata.tables["heads"], {"failures": 1, "failed_at": 0.0, "failure": f"ValueError: {secret}?"}
    with doxa.parts.log.store._write() as connection:  # type: ignore[attr-defined]  # a worker would need a bad turn
        connection.execute(sa.update(heads).where(heads.c.scope == doxa.parts.log.scope(user)).values(told))


def send(doxa: Doxa, user: str) -> None:
    """Have a server send a memory and take it in; another one was killed meanwhile."""
    from fastapi.testclient import TestClient

    from doxa.transport.http import application

    _, key = Keys(doxa).add(users=[user], rights=["read", "write"])
    with TestClient(application(doxa, ServerConfig()), "http://localhost") as http:
        http.headers["Authorization"] = f"Bearer {key}"
        sent = http.get("/v1/memory/export").content
        http.post("/v1/memory/import", content=sent).raise_for_status()
    for kind in ("export", "import"):
        (doxa.memory(user=user).spool_folder(kind) / "memory.jsonl").write_bytes(sent)


def leave_unfinished(place: str, user: str) -> None:
    """Have unfinished copies of a user's files lie there, as of processes that were killed while they wrote them."""
    for folder in (f"{place}{ending}" for ending in FILES):
        for path in [one for one in Path(folder).rglob(f"{user}.*") if one.is_file()]:
            path.with_name(f"{path.name}{KILLED}").write_bytes(path.read_bytes())


def bytes_by_place(folder: Path, wanted: Mapping[str, bytes]) -> dict[str, int]:
    """Return how many bytes of the forms of a word each place holds; those of none are left out."""
    told: dict[str, int] = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        inside = str(path.relative_to(folder))
        place = next((name for ending, name in FILES.items() if ending in inside), inside.partition("/")[0])
        place = "left by a killed process" if inside.endswith(KILLED) else place
        told[place] = told.get(place, 0) + count_in(path.read_bytes(), wanted)
    return {place: count for place, count in told.items() if count}


def count_in(content: bytes, wanted: Mapping[str, bytes]) -> int:
    """Return how many bytes of some content are a word, in any form; what is of two forms counts once."""
    small, told = content.lower(), 0
    for form in {form if "base64" in name else form.lower() for name, form in wanted.items()}:
        told += len(form) * (small.count(form) if form == form.lower() else content.count(form))
    return told


def bytes_by_table(doxa: Doxa, wanted: Mapping[str, bytes]) -> dict[str, int]:
    """Return how many bytes of a word the rows of each table hold, of the log by the kind of event."""
    import sqlalchemy as sa

    told: dict[str, int] = {}
    with doxa.parts.log.store._read() as connection:  # type: ignore[attr-defined]  # the rows, whatever made them
        for table in metadata.sorted_tables:
            for row in connection.execute(sa.select(table)):
                place = f"log: {row.kind}" if table.name == "events" else table.name
                values = (one.encode() if isinstance(one, str) else one for one in row)
                count = sum(count_in(one, wanted) for one in values if isinstance(one, bytes))
                told[place] = told.get(place, 0) + count
    return told


def texts_in(doxa: Doxa, needle: str) -> int:
    """Return how many bytes of texts that an engine holds on to, in its caches as anywhere, are a word."""
    small = needle.casefold()
    return sum(len(needle.encode()) * text.casefold().count(small) for text in _texts(doxa))


def _texts(root: Any) -> Iterator[str]:
    """Give every text that is reached from an object, but for code and the statements that SQLAlchemy compiled."""
    seen, waiting = {id(root)}, [root]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes | bytearray):
            yield bytes(one).decode("utf-8", "replace")
        elif isinstance(one, types.FunctionType):
            _wait(one.__closure__ or (), seen, waiting)
        elif not isinstance(one, types.ModuleType | types.FrameType | type | LRUCache):
            _wait(gc.get_referents(one), seen, waiting)


def _wait(found: Any, seen: set[int], waiting: list[Any]) -> None:
    for one in found:
        if id(one) not in seen:
            seen.add(id(one))
            waiting.append(one)


@contextmanager
def spooling_in(folder: Path) -> Iterator[None]:
    """Have what this process spools lie in a folder, so that it is searched as well."""
    folder.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
