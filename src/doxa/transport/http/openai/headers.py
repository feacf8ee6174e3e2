"""Headers of a request -> those for the upstream, and of its answer -> those for the client.

What is between two machines alone (RFC 9110, section 7.6.1) stays there, and nothing of Doxa's leaves: no key of it and
no header that begins with its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers

from doxa.backends.upstream import Headers as Pairs

__all__ = ["for_client", "for_upstream", "named"]

HOP = frozenset(
    [
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    ]
)
OURS = HOP | {b"host", b"content-length", b"accept-encoding", b"expect"}
THEIRS = HOP | {b"date"}
"""The server in front of the client dates what it sends itself."""
SECRET = re.compile(rb"doxa_[0-9A-Za-z]+_")


def for_upstream(headers: Headers, *, key: str | None) -> list[tuple[bytes, bytes]]:
    """Return the headers for the upstream, which is asked not to encode its answer: what it says is read.

    Args:
        headers: those of the client. Its own `Authorization` goes on unless it is a key of Doxa's.
        key: the key for the upstream where the client has none for it.
    """
    dropped = OURS | _listed(headers.raw)
    kept = [
        (name, value)
        for name, value in headers.raw
        if name not in dropped and not name.startswith(b"doxa-") and not SECRET.search(value)
    ]
    if key is not None and not any(name == b"authorization" for name, _ in kept):
        kept.append((b"authorization", f"Bearer {key}".encode()))
    return [*kept, (b"accept-encoding", b"identity")]


def for_client(
    headers: Pairs, more: Mapping[str, str] | None = None, *, sized: bool = True
) -> list[tuple[bytes, bytes]]:
    """Return the headers for the client.

    Args:
        headers: those of the upstream.
        more: Doxa's own.
        sized: whether the body has the length that the upstream says.
    """
    dropped = THEIRS | _listed(headers) | (frozenset() if sized else {b"content-length"})
    kept = [(name.lower(), value) for name, value in headers if name.lower() not in dropped]
    return kept + [(name.lower().encode(), value.encode()) for name, value in (more or {}).items()]


def named(headers: Pairs, name: bytes) -> str:
    """Return the first value of a header in small letters; empty where there is none."""
    return next((value.decode("latin-1").strip().lower() for key, value in headers if key.lower() == name), "")


def _listed(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """Return the headers that a connection says are its own."""
    values = [value for name, value in headers if name.lower() == b"connection"]
    return frozenset(one.strip().lower() for value in values for one in value.split(b","))
