"""An export that is signed comes in as it went out, and any other is refused before anything is written."""

import shutil
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from doxa.core.errors import ConfigError, FormatError, InputError, MissingDependencyError, NotFoundError
from doxa.engine import require_signed, signature_of


def private(path, key=None, *, password=None):
    """Write a private key, a new one by default."""
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    key = key or Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock))
    return path, key


@pytest.fixture
def keys(tmp_path):
    """The files of a private and a public key."""
    path, key = private(tmp_path / "key.pem")
    public = tmp_path / "public.pem"
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path, public


@pytest.fixture
def signed(doxa, tmp_path, keys):
    """A signed export of three turns."""
    chat = doxa.dialogue(user="ana")
    for text in ("I live in Rome.", "I moved to Oslo.", "I like tea."):
        chat.absorb(text, at="2024-01-01")
    return doxa.memory(user="ana").export(tmp_path / "ana.jsonl", sign=keys[0])


def refused(doxa, path, public, match):
    """Check that nothing is taken in of a file."""
    with pytest.raises(FormatError, match=match):
        doxa.memory(user="copy").import_(path, verify=public)
    assert "copy" not in doxa.users()
    with pytest.raises(FormatError, match=match):
        require_signed(path, public)


@pytest.mark.parametrize("format", ["jsonl", "turtle", "nquads", "jsonld"])
def test_what_was_signed_comes_in(doxa, tmp_path, keys, signed, format):
    """Every format that can be imported; the signature is 64 bytes beside it, for its owner alone."""
    path = doxa.memory(user="ana").export(tmp_path / f"again.{format}", format=format, sign=keys[0])
    beside = signature_of(path)
    assert len(beside.read_bytes()) == 64 and beside.stat().st_mode & 0o077 == 0
    require_signed(path, keys[1])
    assert doxa.memory(user="copy").import_(path, verify=keys[1]) == 3


def test_a_byte_that_was_altered_is_seen_wherever_it_is(doxa, keys, signed):
    """So is one more, and a cut."""
    whole = signed.read_bytes()
    places = [*range(0, len(whole), len(whole) // 60), len(whole) - 1]
    for place in places:
        signed.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(FormatError, match="does not fit"):
            require_signed(signed, keys[1])
    for other in (whole + b"\n", whole[:-1], whole[: len(whole) // 2], b"", whole.replace(b"Rome", b"Roma")):
        signed.write_bytes(other)
        refused(doxa, signed, keys[1], "does not fit")
    signed.write_bytes(whole)
    assert doxa.memory(user="copy").import_(signed, verify=keys[1]) == 3


def test_a_signature_that_was_altered_is_none(doxa, keys, signed):
    """Every bit of it counts."""
    beside = signature_of(signed)
    whole = beside.read_bytes()
    for place in range(64):
        beside.write_bytes(whole[:place] + bytes([whole[place] ^ 128]) + whole[place + 1 :])
        with pytest.raises(FormatError, match="does not fit"):
            require_signed(signed, keys[1])
    for other in (b"", whole[:-1], whole + b"\n"):
        beside.write_bytes(other)
        refused(doxa, signed, keys[1], "64 bytes")


def test_what_is_not_signed_or_signed_with_another_key_is_refused(doxa, tmp_path, keys, signed):
    """An unsigned one says where the signature should be."""
    doxa.memory(user="ana").export(signed, sign=private(tmp_path / "other.pem")[0])
    refused(doxa, signed, keys[1], "another key")
    signature_of(signed).unlink()
    refused(doxa, signed, keys[1], r"ana\.jsonl\.sig")


def test_a_signature_is_of_the_file_that_it_lies_beside(doxa, tmp_path, keys, signed):
    """That of another export of the same owner does not fit."""
    doxa.dialogue(user="ben").absorb("I live in Bergen.")
    other = doxa.memory(user="ben").export(tmp_path / "ben.jsonl", sign=keys[0])
    shutil.copy(signature_of(other), signature_of(signed))
    refused(doxa, signed, keys[1], "does not fit")


def test_keys_that_are_none_say_what_is_expected(doxa, tmp_path, keys, signed):
    """Before anything is written or read."""
    key, public = keys
    memory = doxa.memory(user="ana")
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("hello")
    wrong = {
        public: "private key",
        nothing: "openssl genpkey",
        tmp_path / "there is none": "could not read it",
        tmp_path: "could not read it",
        private(tmp_path / "locked.pem", password=b"x")[0]: "password",
        private(tmp_path / "ec.pem", generate_private_key(SECP256R1()))[0]: "another kind",
    }
    for path, match in wrong.items():
        with pytest.raises(ConfigError, match=match):
            memory.export(tmp_path / "new.jsonl", sign=path)
    assert not (tmp_path / "new.jsonl").exists()
    ec = tmp_path / "ec.pub"
    of_ec = generate_private_key(SECP256R1()).public_key()
    ec.write_bytes(of_ec.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    for path, match in {key: "a private one", nothing: "pubout", tmp_path / "none": "not read", ec: "kind"}.items():
        with pytest.raises(ConfigError, match=match):
            doxa.memory(user="copy").import_(signed, verify=path)
    assert "copy" not in doxa.users()


def test_a_folder_has_no_signature(doxa, tmp_path, keys):
    """Neither one of notes nor one that is read; a file that is not there is said to be so."""
    with pytest.raises(InputError, match="one file"):
        doxa.memory(user="ana").export(tmp_path / "notes", format="notes", sign=keys[0])
    with pytest.raises(InputError, match="folder"):
        require_signed(tmp_path, keys[1])
    with pytest.raises(NotFoundError):
        require_signed(tmp_path / "nothing.jsonl", keys[1])


def test_without_the_package_it_says_what_to_install(doxa, tmp_path, keys, signed, monkeypatch):
    """Signing and verifying; what is not signed goes out and in as ever."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(MissingDependencyError, match="cryptography"):
        doxa.memory(user="ana").export(tmp_path / "new.jsonl", sign=keys[0])
    with pytest.raises(MissingDependencyError, match="cryptography"):
        doxa.memory(user="copy").import_(signed, verify=keys[1])
    assert doxa.memory(user="copy").import_(signed) == 3


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_openssl_makes_and_checks_the_same(doxa, tmp_path, keys, signed):
    """By the commands of the docs."""

    def run(*command):
        return subprocess.run(["openssl", *command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    if run("version").split()[1] < "3":
        pytest.skip("an openssl before 3 signs no digest with -rawin")
    run("dgst", "-sha512", "-binary", "-out", "digest", "ana.jsonl")
    verify = "pkeyutl -verify -pubin -inkey public.pem -rawin -in digest -sigfile ana.jsonl.sig"
    assert "Success" in run(*verify.split())
    run(*"genpkey -algorithm ed25519 -out mine.pem".split())
    run(*"pkey -in mine.pem -pubout -out mine.pub".split())
    run(*"pkeyutl -sign -inkey mine.pem -rawin -in digest -out ana.jsonl.sig".split())
    require_signed(signed, tmp_path / "mine.pub")
