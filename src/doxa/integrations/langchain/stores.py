"""Keys and bytes of a program -> records beside a memory: `DoxaByteStore`."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from langchain_core.stores import BaseStore, InvalidKeyException

from doxa.core.errors import InputError
from doxa.engine import Records, finished, short

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaByteStore"]

SHELF = "langchain.store"
NAME, VALUE, GOING = "name/", "value/", "going/"


class DoxaByteStore(BaseStore[str, bytes]):
    """A key-value store in the database of an engine, durable on return; sync and async, safe between processes.

    Every text is a key, the empty one too. What is kept is a program's and nobody's statement: it is never read or
    believed. Calls that change several keys change all or none.

    Args:
        doxa: the engine; it stays open when the store goes.
        user: with whose memory the store is forgotten; users never share a key.
        namespace: the name of one of several stores of a user.

    Raises:
        InputError: the namespace is no text.
    """

    def __init__(self, doxa: Doxa, *, user: str, namespace: str = "default") -> None:
        if not isinstance(namespace, str):
            raise InputError(f"namespace: expected a name, got {namespace!r}.")
        doxa.memory(user=user)  # which raises where it is no name
        self.doxa = doxa
        self._records = Records(doxa, user=user, shelf=SHELF)
        self._place = f"{short(namespace)}/"

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of some keys in their order, None for what is not there.

        Raises:
            InvalidKeyException: a key is no text.
        """
        places = [self._at(VALUE, key) for key in keys]
        held = self._records.get(*dict.fromkeys(places))
        return [held.get(place) for place in places]

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Set the values of some keys; of several values for one key the last one counts.

        Raises:
            InvalidKeyException: a key is no text; nothing was stored.
            TypeError: a value is not bytes; nothing was stored.
        """
        bodies: dict[str, bytes | None] = {}
        for key, value in key_value_pairs:
            if not isinstance(value, bytes):
                raise TypeError(f"Expected bytes for the key {key!r}, got {type(value).__name__}; encode it first.")
            bodies |= {self._at(NAME, key): _encoded(key), self._at(VALUE, key): value}
        self._records.put(bodies)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Erase some keys with their values; those that are not there are left out.

        Raises:
            InvalidKeyException: a key is no text; nothing was erased.
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        gone: dict[str, bytes | None] = {self._at(part, key): None for key in keys for part in (NAME, VALUE)}
        if self._records.get(*gone):
            # Keys are removed together; then one record more is erased, so that the bytes of all are wiped.
            self._records.put(gone | {f"{self._place}{GOING}{uuid4().hex}": b""})
            self._records.erase(self._place + GOING)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the keys that begin alike, in the order of their code points. O(keys) of the store."""
        names = self._records.all(self._place + NAME).values()
        yield from sorted(key for key in map(_decoded, names) if key.startswith(prefix or ""))

    async def amget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Await `mget`."""
        return await to_thread(self.mget, keys)

    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Await `mset`."""
        await finished(partial(self.mset, key_value_pairs))

    async def amdelete(self, keys: Sequence[str]) -> None:
        """Await `mdelete`."""
        await finished(partial(self.mdelete, keys))

    async def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[str]:
        """Yield what `yield_keys` does."""
        for key in await to_thread(lambda: [*self.yield_keys(prefix=prefix)]):
            yield key

    def _at(self, part: str, key: str) -> str:
        if not isinstance(key, str):
            raise InvalidKeyException(f"Expected a text as the key, got {key!r}.")
        return f"{self._place}{part}{short(key)}"


def _encoded(key: str) -> bytes:
    return key.encode(errors="surrogatepass")


def _decoded(name: bytes) -> str:
    return name.decode(errors="surrogatepass")
