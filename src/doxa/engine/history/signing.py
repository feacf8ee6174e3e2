"""A file -> who wrote it: a detached Ed25519 signature beside it, that others can make and check as well.

`FILE.sig` is 64 bytes: the signature (RFC 8032, pure Ed25519) of the SHA-512 digest of the file's bytes, 64 bytes too.
So a file of any size is read once and in pieces, and `openssl dgst -sha512 -binary` with `openssl pkeyutl -rawin` does
the same. Ed25519ph would be the standard's own way, which neither OpenSSL's command line nor cryptography offers.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from doxa.core.errors import ConfigError, FormatError, InputError, MissingDependencyError, NotFoundError
from doxa.memory import replacing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["read_private", "require_signed", "require_signed_bytes", "sign", "signature_of"]

ENDING = ".sig"
LENGTH = 64
"""Bytes of a signature."""
MADE = "openssl genpkey -algorithm ed25519 -out KEY.pem"
SHOWN = "openssl pkey -in KEY.pem -pubout -out PUBLIC.pem"


def signature_of(path: Path) -> Path:
    """Return where the signature of a file is, whether it is there or not."""
    return path.with_name(f"{path.name}{ENDING}")


def sign(path: Path, key: Ed25519PrivateKey) -> Path:
    """Write the signature of a file beside it, and return its path. Cost: reading the file.

    Raises:
        StoreReadOnlyError: it cannot be written.
    """
    beside = signature_of(path)
    with replacing(beside) as new:
        new.write_bytes(key.sign(_digest(path)))
    return beside


def require_signed(path: Path, key: str | Path) -> None:
    """Raise unless a file is as it was when the owner of a key signed it. Cost: reading the file, in pieces.

    Args:
        path: the file; its signature is beside it.
        key: the file of the public key, in PEM.

    Raises:
        ConfigError: there is no such key.
        FormatError: the file has no signature, was altered, or was signed with another key.
        InputError: it is a folder.
        NotFoundError: there is no such file.
        MissingDependencyError: cryptography is not installed.
    """
    public = _read_public(key)
    if path.is_dir():
        raise InputError(f"import: expected a file with a signature beside it, {path} is a folder. Give a zip of it.")
    try:
        digest = _digest(path)
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no file {path}.") from exc
    except OSError as exc:
        raise FormatError(f"expected a signed file, could not read it: {exc.strerror}", path=str(path)) from exc
    _require(path, digest, public, key)


def require_signed_bytes(path: Path, data: bytes, key: str | Path) -> None:
    """Raise unless what was read of a file is what the owner of a key signed. Raises as `require_signed`."""
    _require(path, hashlib.sha512(data).digest(), _read_public(key), key)


def _require(path: Path, digest: bytes, public: Ed25519PublicKey, key: str | Path) -> None:
    from cryptography.exceptions import InvalidSignature

    beside = signature_of(path)
    try:
        with beside.open("rb") as file:
            signature = file.read(LENGTH + 1)
    except OSError as exc:
        message = f"expected its signature in {beside}, could not read one: {exc.strerror}; nothing was imported"
        raise FormatError(message, path=str(path)) from exc
    if len(signature) != LENGTH:
        message = f"expected a signature of {LENGTH} bytes in {beside}, that is none; nothing was imported"
        raise FormatError(message, path=str(path))
    try:
        public.verify(signature, digest)
    except InvalidSignature as exc:
        message = f"the signature in {beside} does not fit: the file was altered since, or signed with another key"
        raise FormatError(f"{message} than {key}; nothing was imported", path=str(path)) from exc


def read_private(path: str | Path) -> Ed25519PrivateKey:
    """Return the key to sign with, from a file in PEM.

    Raises:
        ConfigError: there is no such key in the file.
        MissingDependencyError: cryptography is not installed.
    """
    pem, data = _pem(), _read(path, f"a private key of Ed25519 in PEM ({MADE})")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    expected = f"Expected a private key of Ed25519 in PEM in {path}"
    try:
        key = pem.load_pem_private_key(data, password=None)
    except TypeError as exc:
        raise ConfigError(f"{expected}, got one under a password. Take that off: openssl pkey -in {path}") from exc
    except (ValueError, UnsupportedAlgorithm) as exc:
        raise ConfigError(f"{expected}, got something else. Make one: {MADE}") from exc
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{expected}, got one of another kind. Make one: {MADE}")
    return key


def _read_public(path: str | Path) -> Ed25519PublicKey:
    pem, data = _pem(), _read(path, f"a public key of Ed25519 in PEM ({SHOWN})")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    expected = f"Expected a public key of Ed25519 in PEM in {path}"
    try:
        key = pem.load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as exc:
        got = "a private one" if b"PRIVATE KEY" in data else "something else"
        raise ConfigError(f"{expected}, got {got}. Whoever signed makes one: {SHOWN}") from exc
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigError(f"{expected}, got one of another kind. Whoever signed makes one: {SHOWN}")
    return key


def _pem() -> ModuleType:
    """Return what reads keys."""
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as exc:
        raise MissingDependencyError("cryptography", extra="signed", purpose="Signing an export") from exc
    return serialization


def _read(path: str | Path, expected: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as exc:
        raise ConfigError(f"Expected {expected} in {path}, could not read it: {exc.strerror}.") from exc


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha512").digest()
