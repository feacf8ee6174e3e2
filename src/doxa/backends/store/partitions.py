"""Tables of a user's rows in Postgres, cut by the hash of the user: one migration's work, for those of later ones too.

Every row of one scope lies in the part of the same number of every table, since all are cut alike.
"""

from __future__ import annotations

import sqlalchemy as sa

PREFIX = "_p"
"""Between a table's name and the number of a part."""


def cut(connection: sa.Connection, table: str, parts: int) -> None:
    """Cut a plain table, with all its rows, into parts by `scope`; with 0 leave it as it is. Cost: O(rows).

    Call inside a transaction: nobody sees the table half moved, and a failure leaves it as it was.
    """
    if not parts:
        return
    key, name = connection.exec_driver_sql(
        "SELECT pg_get_constraintdef(oid), conname FROM pg_constraint "
        f"WHERE conrelid = to_regclass('{table}') AND contype = 'p'"
    ).one()
    indexes = (
        connection.exec_driver_sql(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index "
            f"WHERE indrelid = to_regclass('{table}') AND NOT indisprimary"
        )
        .scalars()
        .all()
    )
    plain = f"{table}_plain"
    connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {plain}")
    connection.exec_driver_sql(f"CREATE TABLE {table} (LIKE {plain} INCLUDING DEFAULTS) PARTITION BY HASH (scope)")
    for number in range(parts):
        connection.exec_driver_sql(
            f"CREATE TABLE {part_of(table, number)} PARTITION OF {table} "
            f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {number})"
        )
    connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM {plain}")
    connection.exec_driver_sql(f"DROP TABLE {plain}")
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {key}")
    for index in indexes:
        connection.exec_driver_sql(index)


def part_of(table: str, number: int) -> str:
    """Return the name of a part."""
    return f"{table}{PREFIX}{number:03}"


def count_parts(connection: sa.Connection) -> int:
    """Return into how many parts the tables are cut; 0 where they are plain."""
    query = "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('heads')"
    return int(connection.exec_driver_sql(query).scalar() or 0)


def number_of(connection: sa.Connection, scope: str, parts: int) -> int:
    """Return the number of the part that the rows of a scope lie in."""
    query = sa.text(
        "SELECT n FROM generate_series(0, :parts - 1) AS n "
        "WHERE satisfies_hash_partition(to_regclass('heads'), :parts, n, CAST(:scope AS varchar))"
    )
    return int(connection.execute(query, {"parts": parts, "scope": scope}).scalar_one())
