"""Collections in Postgres with pgvector: a schema for each shelf, a table for each collection.

Vectors are `halfvec`: half the room of `vector`, cosines off by some 0.0005. What is asked by number reads the primary
key; cosines of given items are worked out by the server, exactly; the nearest come from an HNSW index.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from doxa.backends.collections import Collection, Ids, Item
from doxa.core.access import without_password
from doxa.core.errors import ConfigError, MissingDependencyError, StoreError

__all__ = ["PostgresShelf", "PostgresShelves", "open_shelves"]

SCHEMA = "doxa_shelf_"
KEPT = 2
"""Versions of a shelf that are kept: that which is read now, and the one before, which others may have open."""
LOCK = 0x446F7862
"""Keeps two who write apart."""
HEADER = 4
"""Bytes before the numbers of a vector as Postgres sends it: how many there are, and nothing."""
INDEX = "HNSW (v halfvec_ip_ops) WITH (m = 16, ef_construction = 128)"
LOOKED_AT, MOST_LOOKED_AT = 200, 1000
"""Neighbours that a look into the index follows at least, and at most, by pgvector; more find more."""
NO_VECTOR = (
    "The database {name} has no pgvector, and this user may not add it: {why}. Have its owner run CREATE EXTENSION "
    "vector; (package postgresql-NN-pgvector)."
)


def open_shelves(rest: str) -> PostgresShelves:
    """Return the shelves of a database.

    Args:
        rest: its address after `postgresql:`, such as `//user@host/name`.

    Raises:
        ConfigError: it is no address.
        MissingDependencyError: psycopg is not installed.
    """
    try:
        return PostgresShelves(sa.make_url(f"postgresql+psycopg:{rest}"))
    except (ArgumentError, ValueError) as exc:
        given = without_password(f"postgresql:{rest}")
        raise ConfigError(f"Expected an address such as postgresql://host/database, got {given}.") from exc


class PostgresShelves:
    """The shelves of one Postgres database."""

    def __init__(self, url: sa.URL) -> None:
        """Take the address; no connection is made yet."""
        try:
            self._engine = sa.create_engine(url, pool_pre_ping=True)
        except (ModuleNotFoundError, NoSuchModuleError) as exc:
            raise MissingDependencyError("psycopg", extra="postgres", purpose=f"The database {url.drivername}") from exc

    def open(self, name: str) -> PostgresShelf | None:
        """Return the shelf of a name as it is now; None where there is none.

        Raises:
            StoreError: the database cannot be reached, or failed.
        """
        with _reached(self._engine) as connection:
            if not sa.inspect(connection).has_table("doxa_shelves"):
                return None
            query = sa.text("SELECT schema, card FROM doxa_shelves WHERE name = :name ORDER BY number DESC LIMIT 1")
            row = connection.execute(query, {"name": name}).first()
        return None if row is None else PostgresShelf(self._engine, row.schema, json.loads(row.card))

    def write(self, name: str, collections: Mapping[str, Collection], *, card: Mapping[str, Any], dims: int) -> None:
        """Write a shelf, all or nothing, in the place of the one of that name. Cost: some thousand items a second.

        Raises:
            StoreError: the database failed, or has no pgvector; what was there is as it was.
        """
        schema = f"{SCHEMA}{secrets.token_hex(6)}"
        with _reached(self._engine) as connection, connection.begin():
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            self._prepare(connection)
            connection.exec_driver_sql(f'CREATE SCHEMA "{schema}"')
            for table, collection in collections.items():
                _fill(connection, f'"{schema}"."{table}"', collection, dims)
            found = {"name": name, "schema": schema, "card": json.dumps(card)}
            connection.execute(
                sa.text("INSERT INTO doxa_shelves (name, schema, card) VALUES (:name, :schema, :card)"), found
            )
            old = sa.text(
                "SELECT number, schema FROM doxa_shelves WHERE name = :name ORDER BY number DESC OFFSET :kept"
            )
            for number, gone in connection.execute(old, {"name": name, "kept": KEPT}).all():
                connection.exec_driver_sql(f'DROP SCHEMA "{gone}" CASCADE')
                connection.execute(sa.text("DELETE FROM doxa_shelves WHERE number = :number"), {"number": number})

    def _prepare(self, connection: sa.Connection) -> None:
        """Make what is missing: the extension, and the list of shelves."""
        have = "SELECT 1 FROM pg_extension WHERE extname = 'vector'"
        if connection.exec_driver_sql(have).first() is None:
            try:
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
            except DBAPIError as exc:
                why = str(exc.orig).splitlines()[0]
                raise StoreError(NO_VECTOR.format(name=self._engine.url.database, why=why)) from exc
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS doxa_shelves (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
            "name text NOT NULL, schema text NOT NULL, card text NOT NULL)"
        )

    def close(self) -> None:
        """Give back the connections; may be called twice."""
        self._engine.dispose()


class PostgresShelf:
    """Collections as they were when they were opened. Safe between threads."""

    def __init__(self, engine: sa.Engine, schema: str, card: Mapping[str, Any]) -> None:
        """Take where they are and what was written with them."""
        self._engine = engine
        self._schema = schema
        self.card = card

    def count(self, collection: str) -> int:
        """Return how many items there are."""
        ((count,),) = self._asked(f"SELECT count(*) FROM {self._table(collection)}")
        return int(count)

    def items(self, collection: str, ids: Ids) -> list[Item]:
        """Return the items of some numbers, in the order of these. One query."""
        table = self._table(collection)
        query = f"SELECT id, text, halfvec_send(v), a, b, x FROM {table} WHERE id = ANY(%(ids)s::int[])"
        rows = self._asked(query, ids=[*dict.fromkeys(map(int, ids))])
        found = {row[0]: _item(row) for row in rows}
        return [found[int(key)] for key in ids]

    def vectors(self, collection: str) -> NDArray[np.float32]:
        """Return the vectors of all items, `(n, dims)`. One query."""
        rows = self._asked(f"SELECT halfvec_send(v) FROM {self._table(collection)} ORDER BY id")
        return np.array([_numbers(vector) for (vector,) in rows], dtype=np.float32)

    def numbers(self, collection: str) -> NDArray[np.float32]:
        """Return the `number` of all items, `(n,)`. One query."""
        rows = self._asked(f"SELECT x FROM {self._table(collection)} ORDER BY id")
        return np.fromiter((number for (number,) in rows), dtype=np.float32, count=len(rows))

    def places(self, collection: str, texts: Sequence[str]) -> list[int]:
        """Return the numbers of the items with some texts, -1 where there is none. One query."""
        query = f"SELECT text, id FROM {self._table(collection)} WHERE text = ANY(%(texts)s::text[])"
        looked_up = [_storable(text) for text in texts]
        found = dict(self._asked(query, texts=[*dict.fromkeys(looked_up)])) if texts else {}
        return [found.get(text, -1) for text in looked_up]

    def sizes(self, collection: str, ids: Ids) -> NDArray[np.int64]:
        """Return how long the second list of each of some items is. One query."""
        query = f"SELECT id, cardinality(b) FROM {self._table(collection)} WHERE id = ANY(%(ids)s::int[])"
        return _in_order(self._asked(query, ids=[*map(int, ids)]), ids, width=1)[:, 0].astype(np.int64)

    def cosines(self, collection: str, ids: Ids, targets: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of some items with unit vectors `(t, dims)`, `(ids, t)`, by the database. One query."""
        if not len(ids) or not len(targets):
            return np.zeros((len(ids), len(targets)), dtype=np.float32)
        names = {f"t{place}": _written(target) for place, target in enumerate(targets)}
        columns = ", ".join(f"-(v <#> %({name})s::halfvec)" for name in names)
        query = f"SELECT id, {columns} FROM {self._table(collection)} WHERE id = ANY(%(ids)s::int[])"
        return _in_order(self._asked(query, ids=[*map(int, ids)], **names), ids, width=len(targets))

    def nearest(self, collection: str, target: NDArray[np.float32], most: int) -> list[tuple[int, float]]:
        """Return the items nearest to a unit vector, best first, each with its cosine. One query, by the index."""
        query = (
            f"SELECT id, -(v <#> %(target)s::halfvec) FROM {self._table(collection)} "
            "ORDER BY v <#> %(target)s::halfvec LIMIT %(most)s"
        )
        before = f"SET LOCAL hnsw.ef_search = {min(max(LOOKED_AT, most), MOST_LOOKED_AT)}"
        rows = self._asked(query, before=before, target=_written(target), most=most)
        return [(int(key), float(cosine)) for key, cosine in rows]

    def _table(self, collection: str) -> str:
        if not re.fullmatch(r"[a-z_]+", collection):
            raise ValueError(f"expected the name of a collection, got {collection!r}")
        return f'"{self._schema}"."{collection}"'

    def _asked(self, query: str, *, before: str = "", **given: object) -> list[tuple[Any, ...]]:
        with _reached(self._engine) as connection:
            if before:
                connection.exec_driver_sql(before)
            return [tuple(row) for row in connection.exec_driver_sql(query, given)]


def _fill(connection: sa.Connection, table: str, collection: Collection, dims: int) -> None:
    """Make the table of a collection, copy its items into it, and index them."""
    connection.exec_driver_sql(
        f"CREATE TABLE {table} (id int PRIMARY KEY, text text NOT NULL, v halfvec({dims}) NOT NULL, "
        "a int[] NOT NULL, b int[] NOT NULL, x real NOT NULL)"
    )
    cursor = connection.connection.cursor()
    with cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for place, item in enumerate(collection.items):
            first, second = [*map(int, item.first)], [*map(int, item.second)]
            row = (place, _storable(item.text), _written(item.vector), first, second, float(item.number))
            copy.write_row(row)
    if collection.nearest:
        connection.exec_driver_sql(f"CREATE INDEX ON {table} USING {INDEX}")
    if collection.found:
        connection.exec_driver_sql(f"CREATE INDEX ON {table} USING hash (text)")
    connection.exec_driver_sql(f"ANALYZE {table}")


@contextmanager
def _reached(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Give a connection; what fails is said in our words."""
    try:
        with engine.connect() as connection:
            yield connection
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as exc:  # COPY is the driver's own
        why = str(getattr(exc, "orig", None) or exc).splitlines()[0]
        raise StoreError(f"The database {engine.url.database} failed: {why}") from exc


def _storable(text: str) -> str:
    """Return a text without what Postgres cannot hold: NUL, and half surrogate pairs."""
    return text.replace("\x00", "�").encode(errors="replace").decode()


def _written(vector: NDArray[np.float32]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map('{:.5g}'.format, vector.tolist()))}]"


def _item(row: Sequence[Any]) -> Item:
    _, text, vector, first, second, number = row
    return Item(text=text, vector=_numbers(vector), first=first, second=second, number=number)


def _numbers(vector: bytes) -> NDArray[np.float32]:
    return np.frombuffer(vector, dtype=">f2", offset=HEADER).astype(np.float32)


def _in_order(rows: Sequence[tuple[Any, ...]], ids: Ids, *, width: int) -> NDArray[np.float32]:
    """Return what rows have beside their numbers, in the order of these, `(ids, width)`."""
    keys = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    values = np.array([row[1:] for row in rows], dtype=np.float32).reshape(len(rows), width)
    order = np.argsort(keys)
    return values[order[np.searchsorted(keys[order], np.asarray(ids, dtype=np.int64))]]
