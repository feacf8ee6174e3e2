"""The key of a memory -> what encrypts its database and the files beside it.

A key is what SQLCipher takes: a passphrase, or `x'...'` with 64 hexadecimal digits, which are the 256 bits themselves.
Of a passphrase the bits are derived as SQLCipher 4 does (PBKDF2-HMAC-SHA512, 256,000 rounds, over a salt of 16 bytes),
once for each salt in a process. A database begins with its salt.

A file beside it is AES-256-GCM over the whole file, with a key of its own for each kind of file:

    bytes = "DoxaSeal" 01, salt (16), nonce (12), what AES-GCM makes of the content, with its tag (16)
    key   = HKDF-SHA256(bits of the memory's key for the salt, salt, "doxa file " kind)

The first 25 bytes and the kind are authenticated. Since each file has its salt, it can be opened by the key alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from doxa.core.errors import ConfigError, MissingDependencyError, StoreKeyError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = [
    "EXTRA",
    "PURPOSE",
    "SALT",
    "Kind",
    "MemoryKey",
    "Seal",
    "is_sealed",
    "read_key",
    "require_cryptography",
    "unsealed",
]

EXTRA: Final = "encrypted"
PURPOSE: Final = "An encrypted memory (setting store.key)"
SALT: Final = 16
"""Bytes with which an encrypted database begins."""
ROUNDS: Final = 256_000
"""Those of SQLCipher 4; see https://www.zetetic.net/sqlcipher/design/."""
NONCE: Final = 12
MAGIC: Final = b"DoxaSeal\x01"
LONGEST: Final = 2**31 - 64
"""Bytes that AES-GCM is given at once; the library takes no more."""
BITS: Final = re.compile(r"x'([0-9a-fA-F]{64})'")

Kind = Literal["snapshot", "learned", "marks"]


@dataclass(frozen=True, slots=True)
class MemoryKey:
    """A key as it was given. It is not shown, and not written anywhere.

    Raises:
        ConfigError: it is empty, or begins like 64 digits and is something else.
    """

    said: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.said:
            raise ConfigError("Expected a key in store.key, got an empty text. Make one: openssl rand -hex 32")
        if any("\ud800" <= sign <= "\udfff" for sign in self.said):
            raise ConfigError("Expected a key that is text in UTF-8 (setting store.key).")
        if self.said.startswith("x'") and not BITS.fullmatch(self.said):
            raise ConfigError("Expected x'...' with 64 hexadecimal digits, or a passphrase that begins otherwise.")

    def bits(self, salt: bytes) -> bytes:
        """Return the 256 bits that encrypt, 32 bytes. Cost: about 0.2 s for the first time that a salt is seen."""
        given = BITS.fullmatch(self.said)
        return bytes.fromhex(given[1]) if given else _derived(self.said.encode(), salt)


class Seal:
    """What encrypts files beside a database, and opens them again. Safe between threads.

    Args:
        key: the key.
        salt: of files that are written; by default a new one.

    Raises:
        MissingDependencyError: the extra `encrypted` is not installed.
    """

    def __init__(self, key: MemoryKey, salt: bytes | None = None) -> None:
        require_cryptography()
        self._key = key
        self._salt = salt or os.urandom(SALT)

    def closed(self, content: bytes, kind: Kind) -> bytes:
        """Return content as it is written. Cost: O(bytes), about 1 GB/s.

        Raises:
            OSError: it is longer than 2 GiB.
        """
        if len(content) > LONGEST:
            raise OSError(errno.EFBIG, "it is too long to be encrypted in one piece")
        nonce = os.urandom(NONCE)
        head = MAGIC + self._salt
        return head + nonce + _cipher(self._key, self._salt, kind).encrypt(nonce, content, head + kind.encode())

    def opened(self, data: bytes, kind: Kind) -> bytes:
        """Return the content of what `closed` gave.

        Raises:
            StoreKeyError: another key made it, or it is damaged, or of another kind; which of it cannot be told.
        """
        from cryptography.exceptions import InvalidTag

        head, nonce, rest = (
            data[: len(MAGIC) + SALT],
            data[len(MAGIC) + SALT :][:NONCE],
            data[len(MAGIC) + SALT + NONCE :],
        )
        try:
            return _cipher(self._key, head[len(MAGIC) :], kind).decrypt(nonce, rest, head + kind.encode())
        except (InvalidTag, ValueError) as exc:  # ValueError: too short
            raise StoreKeyError("it was encrypted by another key than store.key, or is damaged") from exc


def require_cryptography() -> None:
    """Raise MissingDependencyError where the library is not installed, and not in the middle of writing."""
    try:
        import cryptography.exceptions  # noqa: F401
    except ImportError as exc:
        raise MissingDependencyError("cryptography", extra=EXTRA, purpose=PURPOSE) from exc


def is_sealed(data: bytes) -> bool:
    """Tell whether bytes are what a seal made of some content."""
    return data.startswith(MAGIC)


def unsealed(data: bytes, kind: Kind, seal: Seal | None) -> bytes:
    """Return the content of a file, which may be encrypted or not.

    Raises:
        StoreKeyError: it is encrypted and cannot be opened by this seal.
    """
    if not is_sealed(data):
        return data
    if seal is None:
        raise StoreKeyError("it is encrypted, and no key was given; set store.key_file (DOXA_STORE_KEY_FILE)")
    return seal.opened(data, kind)


def read_key(path: Path, setting: str = "store.key_file") -> MemoryKey:
    """Return the key of a file, without blanks and line ends at its end.

    Raises:
        ConfigError: it cannot be read, or holds none.
    """
    try:
        said = path.read_text(encoding="utf-8").rstrip()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path, or no UTF-8
        reason = exc.strerror if isinstance(exc, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"The key file {path} (setting {setting}) cannot be read: {reason}.") from None
    if not said:
        raise ConfigError(
            f"The key file {path} (setting {setting}) is empty. Make a key: openssl rand -hex 32 > {path}"
        )
    return MemoryKey(said)


@lru_cache(maxsize=64)
def _derived(passphrase: bytes, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha512", passphrase, salt, ROUNDS, 32)


@lru_cache(maxsize=64)
def _cipher(key: MemoryKey, salt: bytes, kind: Kind) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"doxa file " + kind.encode())
    return AESGCM(derived.derive(key.bits(salt)))
