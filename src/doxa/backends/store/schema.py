"""The tables. A change here needs a new file in `migrations/versions/` and a test that starts from the oldest.

A new file gets these tables as they are here, an older one those that the migrations make, and both are the same to the
order of the columns, by which `salvage` knows what it finds in a damaged file: new columns come last.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()
LONGEST_SCOPE = 400
"""Characters of a scope that Postgres has room for."""


class Bytes(LargeBinary):
    """Bytes as the driver gives them: what a damaged file has in their place is seen, and not made into bytes."""

    cache_ok = True

    def result_processor(self, dialect: object, coltype: object) -> None:
        """Return nothing that a value goes through."""


events = Table(
    "events",
    metadata,
    Column("scope", String(LONGEST_SCOPE), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(32), nullable=False),
    Column("turn_id", String(400)),
    Column("about", Integer),
    Column("known_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("fence", Integer),
    Column("digest", Bytes),
    Column("previous", Integer),
    Index("events_turn", "scope", "turn_id", unique=True),
    sqlite_with_rowid=False,
)
"""The log: one row for a received turn or a change of state, in the order of `ordinal` within a scope (tenant/user).

`kind` is `turn`, `maintained`, `withdrawn`, `distrusted`, `retracted`, `identified`, `accepted`, `undone`, `promoted`,
`demoted`, `tasked`, `annotated`, `set_aside`, `feedback` or `erased`; `about` is the ordinal of the turn that a row
concerns; `known_at` is microseconds since 1970 in UTC; `body` is JSON; `turn_id` is set on received turns only; `fence`
is the token of the lease that a row was written under, and along a log it never falls; `previous` is the ordinal of
the row before it in the log, 0 for none. `digest`, in every table, is that of the row (`digests`)."""

vectors = Table(
    "vectors",
    metadata,
    Column("scope", String(LONGEST_SCOPE), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("model", String(200), primary_key=True),
    Column("data", Bytes, nullable=False),
    Column("digest", Bytes),
)
"""`data` is little-endian float16; `ordinal` is that of the turn."""

answers = Table(
    "answers",
    metadata,
    Column("scope", String(LONGEST_SCOPE), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("answer_id", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("digest", Bytes),
    Index("answers_id", "scope", "answer_id", unique=True),
)
"""The latest answers of a scope with their traces, in the order of `ordinal`; they are no part of the log."""

keys = Table(
    "keys",
    metadata,
    Column("key_id", String(64), primary_key=True),
    Column("body", Text, nullable=False),
    Column("digest", Bytes),
)
"""Who may use this database through a server; `body` is JSON, and holds the hash of a secret and never the secret."""

records = Table(
    "records",
    metadata,
    Column("scope", String(LONGEST_SCOPE), primary_key=True),
    Column("shelf", String(64), primary_key=True),
    Column("key", String(400), primary_key=True),
    Column("body", Bytes, nullable=False),
    Column("turn_id", String(400)),
    Column("digest", Bytes),
    Index("records_by_turn", "scope", "turn_id"),
)
"""What programs keep beside a memory, byte for byte: nothing of it is read or believed, and no log tells of it.

A record that a turn says goes when the turn is erased.
"""

heads = Table(
    "heads",
    metadata,
    Column("scope", String(LONGEST_SCOPE), primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("state", Integer, nullable=False),
    Column("received", Integer, nullable=False),
    Column("maintained", Integer, nullable=False),
    Column("owner", String(200)),
    Column("lease_until", Float),
    Column("fence", Integer, nullable=False, default=0, server_default="0"),
    Column("failures", Integer, nullable=False, default=0, server_default="0"),
    Column("failed_at", Float),
    Column("failure", Text),
    Column("digest", Bytes),
    Column("undigested", Integer, nullable=False, default=0, server_default="0"),
)
"""One row a scope: where its log stands, and who is processing it until when (seconds since 1970).

`fence` counts who has held its lease: each holder gets the next number, and writes while it is the latest. `failures`
says how often in a row a worker failed to process the first turn that waits, and `failure` why the last time. Rows of
the log up to the ordinal `undigested` may carry no digest, for they were written before there were any.

The row of the empty scope holds the highest ordinal of any log that was erased; new logs start above it."""
