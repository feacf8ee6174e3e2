"""Many rows at once: COPY where the database is Postgres, else one INSERT after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.schema import Bytes

COPIED_FROM = 32
"""From how many rows COPY is faster than INSERT."""
BATCH = 2000
"""How many rows are sent at once by INSERT."""


def insert_all(connection: sa.Connection, table: sa.Table, rows: Iterable[Mapping[str, Any]]) -> int:
    """Insert rows that have all columns of the first, inside the transaction; returns how many there were.

    Cost: one statement in Postgres from `COPIED_FROM` rows on, and no more memory than a batch.
    """
    left = iter(rows)
    first = list(islice(left, COPIED_FROM))
    if not first:
        return 0
    if connection.dialect.name == "postgresql" and len(first) == COPIED_FROM:
        return _copied(connection, table, first[0].keys(), chain(first, left))
    count = 0
    while first:
        connection.execute(sa.insert(table), first)
        count += len(first)
        first = list(islice(left, BATCH))
    return count


def _copied(
    connection: sa.Connection, table: sa.Table, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]
) -> int:
    names = list(columns)
    quoted = ", ".join(f'"{name}"' for name in names)
    count = 0
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({quoted}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types([_TYPES[type(table.c[name].type)] for name in names])
        for row in rows:
            copy.write_row([row[name] for name in names])
            count += 1
    return count


_TYPES: Mapping[type[Any], str] = {
    sa.BigInteger: "int8",
    sa.Float: "float8",
    sa.Integer: "int4",
    Bytes: "bytea",
    sa.String: "varchar",
    sa.Text: "text",
}
