"""Whether a page keeps copies of what was erased: SQLite leaves them in its free space when it splits one.

    python benchmarks/fire/splits.py [--files 100] [--as-sqlite-does]

Every file holds the logs of three users, with turns of one word to pages of them, in each other's pages; then one log
is erased, and the bytes of the file are searched for its words. `--as-sqlite-does` does not write the file anew after
an erasure: what `secure_delete` alone leaves, and what this would find if Doxa left it.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.backends.store.sql.erasing import Erasing

AT = datetime(2024, 1, 1, tzinfo=UTC)
ERASED = "b"


def left(path: Path, seed: int) -> tuple[set[str], set[str]]:
    """Fill a new file and erase one of its logs; return the words of others that are in it, and those of that one."""
    chance = random.Random(seed)
    with closing(load("store", f"sql:{path}")) as store:
        for number in range(chance.choice((10, 20, 40, 80))):
            user = chance.choice("abc")
            text = f"SECRET-{user}-{number:04} " * chance.choice((1, 2, 5, 20, 60, 200))
            turn = NewRow(kind="turn", known_at=AT, body={"session": "s", "text": text})
            row = store.receive(f"t/{user}", turn, turn_id=f"{user}{number}").row
            if seed % 2:
                known = NewRow(kind="maintained", known_at=AT, about=row.ordinal, body={"claims": [text]})
                state = store.head(f"t/{user}").state
                store.append(f"t/{user}", known, expected_state=state, vector=("m", bytes(768)))
        store.erase(f"t/{ERASED}")
        found = {word.decode() for word in re.findall(rb"SECRET-[abc]-\d{4}", path.read_bytes())}
    erased = {word for word in found if word.startswith(f"SECRET-{ERASED}")}
    return found - erased, erased


def main() -> None:
    """Print in how many files a word is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--as-sqlite-does", action="store_true")
    options = parser.parse_args()
    if options.as_sqlite_does:
        Erasing._compact = lambda self, *, wait: None  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        found = [left(Path(folder) / f"{seed}.db", seed)[1] for seed in range(options.files)]
    print(f"{options.files} files: {sum(map(bool, found))} hold a word that was erased, {sum(map(len, found))} words")


if __name__ == "__main__":
    main()
