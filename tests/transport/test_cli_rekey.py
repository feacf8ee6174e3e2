"""`doxa rekey`, and what the other commands say of a memory that is encrypted."""

import pytest

from doxa.core.config import Config


@pytest.fixture
def key(ana):
    """A file with a key, which nobody else may read."""
    path = ana.file("memory.key", "5a" * 32 + "\n")
    path.chmod(0o600)
    return path


def test_a_memory_is_encrypted_read_and_decrypted(ana, key, monkeypatch):
    before = ana("facts").stdout
    made = ana("rekey", ana.db, "--to", key)
    assert made.exit_code == 0 and f"DOXA_STORE_KEY_FILE={key}" in made.stdout, made.output
    assert b"Lisbon" not in ana.db.read_bytes()
    assert "no key was given" in ana("facts").stderr and "no key was given" in ana("check-file", ana.db).stderr
    monkeypatch.setenv("DOXA_STORE_KEY_FILE", str(key))
    assert ana("facts").stdout == before
    assert "is as it was written: 4 turns of 1 user" in ana("check-file", ana.db).stdout
    assert ana.json("rekey", ana.db, "--plain")["encrypted"] is False
    assert "doxa rekey" in ana("facts").stderr
    monkeypatch.delenv("DOXA_STORE_KEY_FILE")
    assert ana("facts").stdout == before


@pytest.mark.parametrize("options", [(), ("--plain", "--to", "memory.key")], ids=["neither", "both"])
def test_one_of_two_ways_is_asked_for(ana, options):
    done = ana("rekey", ana.db, *options)
    assert done.exit_code == 1 and "--to KEYFILE and --plain" in done.stderr


def test_doctor_says_whether_a_memory_is_encrypted_and_who_may_read_its_key(ana, key, monkeypatch):
    assert ", not encrypted" in ana("doctor", "--offline").stdout.replace("\n", " ")
    ana("rekey", ana.db, "--to", key)
    monkeypatch.setenv("DOXA_STORE_KEY_FILE", str(key))
    told = ana.json("doctor", "--offline")
    checks = {check["name"]: check for check in told["checks"]}
    assert ", encrypted" in checks["memory"]["detail"] and checks["key"]["state"] == "ok"
    key.chmod(0o640)
    checks = {check["name"]: check for check in ana.json("doctor", "--offline", code=1)["checks"]}
    assert checks["key"]["state"] == "failed" and checks["key"]["fix"] == f"chmod 600 {key}"


def test_doctor_masks_the_key(ana, monkeypatch):
    monkeypatch.setenv("DOXA_STORE_KEY", "hunter2")
    assert Config.load().store.secret() is not None
    done = ana("doctor", "--offline")
    assert "hunter2" not in done.output and "****" in done.stdout
