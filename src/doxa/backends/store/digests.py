"""Rows -> the digests that they carry, and whether a row that was read is the one that was written.

A digest finds damage by chance (a sector, a bit, a write that went elsewhere), not a forger: it has no key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.schema import answers, events, heads, keys, records, vectors

__all__ = ["DIGESTED", "digest_of", "is_whole", "part", "with_digest"]

VERSION = b"\x01"
SIZE = 8
DIGESTED: Mapping[str, tuple[str, ...]] = {
    events.name: ("scope", "ordinal", "kind", "turn_id", "about", "known_at", "body", "fence", "previous"),
    vectors.name: ("scope", "ordinal", "model", "data"),
    answers.name: ("scope", "ordinal", "answer_id", "body"),
    keys.name: ("key_id", "body"),
    records.name: ("scope", "shelf", "key", "body", "turn_id"),
    heads.name: ("scope", "ordinal", "state", "received", "maintained"),
}
"""What the digest of a row of each table is of. A lease is not: it changes at every turn, and losing it costs time."""


def digest_of(values: Iterable[object]) -> bytes:
    """Return the digest of the values of a row, `(9,)` bytes: a version and 64 bits of BLAKE2b. Some microseconds."""
    return VERSION + blake2b(b"".join(map(part, values)), digest_size=SIZE).digest()


def with_digest(table: sa.Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row with its digest."""
    return {**values, "digest": digest_of([values[name] for name in DIGESTED[table.name]])}


def is_whole(values: Iterable[object], digest: object, *, may_lack: bool = True) -> bool:
    """Tell whether values are those that a digest is of; a row without one was written before there were any."""
    if digest is None:
        return may_lack
    try:
        return digest_of(values) == digest
    except TypeError:
        return False


def part(value: object) -> bytes:
    """Return a value as bytes that tell where it ends and what it is, so that no two rows are written alike.

    Raises:
        TypeError: it is nothing that a column of ours holds.
    """
    if isinstance(value, str):  # the most by far, and patterns are slower
        data = value.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(data), data)
    if isinstance(value, int):
        return b"i%d;" % value
    match value:
        case None:
            return b"n;"
        case bytes() | bytearray() | memoryview():
            return b"b%d:" % len(value) + bytes(value)
        case float():
            return b"f%s;" % value.hex().encode()
    raise TypeError(f"Expected a number, a text or bytes in a row, got {type(value).__name__}.")
