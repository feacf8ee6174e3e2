"""API keys: what the database holds of one, who is recognised, and what is refused."""

import sqlite3
from contextlib import closing

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.engine import Doxa, Keys


def test_a_key_is_recognised_by_its_secret_until_it_is_revoked(doxa):
    """Any other text is nobody's."""
    keys = Keys(doxa)
    key, secret = keys.add(users=["ana"], rights=["read"], label="phone")
    assert keys.recognise(secret) == key and key.only_user == "ana" and not key.opens("ben")
    other, _ = keys.add()
    forged = secret.replace(key.key_id, other.key_id)
    for wrong in (secret[:-1] + ("A" if secret[-1] != "A" else "B"), forged, secret.upper(), "", "doxa_", secret + " "):
        assert keys.recognise(wrong) is None
    keys.revoke(key.key_id)
    assert keys.recognise(secret) is None and keys.revoke(key.key_id).revoked_at is not None


def test_the_database_holds_no_secret(tmp_path, config):
    """Not in any page of the file."""
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        _, secret = Keys(doxa).add()
    with closing(sqlite3.connect(tmp_path / "m.db")) as connection:
        (body,) = connection.execute("SELECT body FROM keys").fetchone()
    assert "sha256:" in body
    for path in tmp_path.iterdir():
        assert not path.is_file() or secret.split("_", 2)[2].encode() not in path.read_bytes()


def test_a_key_made_by_one_process_is_known_to_another(tmp_path, config):
    """And so is that it was revoked, at once."""
    with Doxa.open(tmp_path / "m.db", config=config) as one, Doxa.open(tmp_path / "m.db", config=config) as other:
        key, secret = Keys(one).add(tenant="acme")
        assert Keys(other).recognise(secret).tenant == "acme"
        Keys(other).revoke(key.key_id)
        assert Keys(one).recognise(secret) is None


def test_all_keys_are_listed_oldest_first(doxa):
    """The revoked ones too."""
    keys = Keys(doxa)
    made = [keys.add(label=str(place))[0] for place in range(3)]
    keys.revoke(made[1].key_id)
    assert [key.label for key in keys.list()] == ["0", "1", "2"]
    assert [key.revoked_at is not None for key in keys.list()] == [False, True, False]


@pytest.mark.parametrize(
    "wrong", [{"users": []}, {"users": "ana"}, {"users": [" "]}, {"rights": ["fly"]}, {"rights": []}, {"tenant": ""}]
)
def test_what_is_no_key_is_refused(doxa, wrong):
    """And nothing is kept."""
    with pytest.raises(InputError):
        Keys(doxa).add(**wrong)
    assert Keys(doxa).list() == []


def test_a_key_that_is_not_there_cannot_be_revoked(doxa):
    with pytest.raises(NotFoundError, match="doxa keys list"):
        Keys(doxa).revoke("nope")


def test_keys_tell_nothing_of_a_user_who_is_forgotten_but_whom_they_open(tmp_path, config):
    """The label of one that opens this user alone goes, and one that is revoked goes itself."""
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        for user in ("ana", "ben"):
            doxa.dialogue(user=user).absorb("I live in Rome.")
        doxa.flush()
        keys = Keys(doxa)
        live, secret = keys.add(users=["ana"], label="Zanzibar")
        gone, _ = keys.add(users=["ana"], label="Zanzibar")
        keys.revoke(gone.key_id)
        others = [
            keys.add(users=["ana", "ben"], label="both")[0],
            keys.add(users=["ben"], label="his")[0],
            keys.add(users=["ana"], label="hers", tenant="acme")[0],
        ]
        doxa.memory(user="ana").forget(everything=True)
        assert {key.key_id: key.label for key in keys.list()} == {
            live.key_id: "", **{key.key_id: key.label for key in others}
        }  # fmt: skip
        assert keys.recognise(secret).opens("ana")
        assert not any(b"Zanzibar" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_a_key_that_cannot_be_read_keeps_nothing_from_being_forgotten(tmp_path, config):
    """It is somebody's trouble later on."""
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        doxa.dialogue(user="ana").absorb("I live in Rome.")
        doxa.flush()
        Keys(doxa).add(users=["ana"], label="phone")
        with closing(sqlite3.connect(tmp_path / "m.db")) as connection, connection:
            connection.execute("UPDATE keys SET body = '{'")
        doxa.memory(user="ana").forget(everything=True)
        assert "ana" not in doxa.users()
