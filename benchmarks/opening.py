"""Opens several databases at once, each in a thread of its own, and says how many failed.

    python benchmarks/opening.py [--threads 16] [--postgres URL]

Without a URL they are files in a new folder. With one (of a database on a server where databases may be made) each
thread first opens a new database of its own, and then all of them one and the same.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from doxa import Doxa


def main() -> None:
    """Open, count, print."""
    parser = argparse.ArgumentParser(description="Open several databases at once.")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--postgres", help="URL of a database on a server")
    args = parser.parse_args()
    if args.postgres is None:
        with tempfile.TemporaryDirectory() as folder:
            report("files of their own", [str(Path(folder, f"{number}.db")) for number in range(args.threads)])
            report("one file", [str(Path(folder, "shared.db"))] * args.threads)
        return
    url = sa.make_url(args.postgres).set(drivername="postgresql+psycopg")
    with sa.create_engine(url, isolation_level="AUTOCOMMIT").connect() as connection:
        for name in ("doxa_shared", *(f"doxa_{number}" for number in range(args.threads))):
            connection.execute(sa.text(f'DROP DATABASE IF EXISTS "{name}"'))
            connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    plain = [url.set(database=f"doxa_{number}") for number in range(args.threads)]
    report("databases of their own", [one.render_as_string(hide_password=False) for one in plain])
    shared = url.set(database="doxa_shared").render_as_string(hide_password=False)
    report("one database", [shared] * args.threads)


def report(what: str, places: Sequence[str]) -> None:
    """Open every place in a thread, have a turn remembered in each, and print what failed."""
    failed: list[str] = []

    def remember(number: int, place: str) -> None:
        try:
            with Doxa.open(place) as doxa:
                chat = doxa.dialogue(user=f"user {number}")
                chat.absorb("I live in Lisbon.", at="2024-05-01")
                chat.flush()
        except Exception as exc:  # noqa: BLE001  whatever it is, it counts
            failed.append(repr(exc))

    threads = [threading.Thread(target=remember, args=pair) for pair in enumerate(places)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{what}: {len(places)} threads, {len(failed)} failed {failed[:1]}")


if __name__ == "__main__":
    main()
