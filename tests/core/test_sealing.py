"""Keys of a memory, which nobody is shown, and what they encrypt."""

import pytest

from doxa.core.config import Config
from doxa.core.errors import ConfigError, StoreKeyError
from doxa.core.sealing import MemoryKey, Seal, is_sealed, unsealed

KEY = MemoryKey(f"x'{'5a' * 32}'")
OTHER = MemoryKey(f"x'{'5b' * 32}'")


def test_what_is_sealed_is_opened_by_its_key_alone():
    """Whatever the salt of who opens it; and the same content is never written alike twice."""
    content = b"I live in Rome. " * 99
    one, other = Seal(KEY).closed(content, "marks"), Seal(KEY).closed(content, "marks")
    assert Seal(KEY).opened(one, "marks") == Seal(KEY).opened(other, "marks") == content
    assert one != other and b"Rome" not in one and is_sealed(one) and not is_sealed(content)


def test_nothing_else_opens_it():
    """Another key, another kind of file, no key, one byte that is another, and an end that is missing."""
    sealed = Seal(KEY).closed(b"I live in Rome.", "marks")
    refused = [(OTHER, "marks", sealed), (KEY, "learned", sealed), (KEY, "marks", sealed[:20])]
    refused += [
        (KEY, "marks", sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]) for at in range(9, len(sealed))
    ]
    for key, kind, data in refused:
        with pytest.raises(StoreKeyError, match="another key"):
            Seal(key).opened(data, kind)
    with pytest.raises(StoreKeyError, match="no key was given"):
        unsealed(sealed, "marks", None)


def test_a_passphrase_is_derived_for_each_salt_and_bits_are_taken_as_they_are():
    assert KEY.bits(b"a" * 16) == KEY.bits(b"b" * 16) == bytes([0x5A] * 32)
    said = MemoryKey("correct horse")
    assert said.bits(b"a" * 16) != said.bits(b"b" * 16) and len(said.bits(b"a" * 16)) == 32


@pytest.mark.parametrize(
    "said", ["", "x'5a5a'", "x'" + "zz" * 32 + "'", "\udc80"], ids=["empty", "short", "digits", "text"]
)
def test_what_can_be_no_key_is_refused(said):
    with pytest.raises(ConfigError):
        MemoryKey(said)


def test_a_key_file_is_read_without_what_ends_its_line(tmp_path):
    path = tmp_path / "key"
    path.write_text("correct horse \r\n\n")
    assert Config.from_tree({"store": {"key_file": path}}).store.secret() == MemoryKey("correct horse")
    for content in (b"\n", b"\xff"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="key file"):
            Config.from_tree({"store": {"key_file": path}}).store.secret()
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_tree({"store": {"key_file": tmp_path / "none"}}).store.secret()
    with pytest.raises(ConfigError, match="got both"):
        Config.from_tree({"store": {"key_file": path, "key": "x"}}).store.secret()


def test_a_key_is_named_in_the_environment_like_every_setting(tmp_path):
    (tmp_path / "key").write_text("of a file")
    assert Config.load(environ={"DOXA_STORE_KEY": "hunter2"}).store.secret() == MemoryKey("hunter2")
    assert Config.load(environ={"DOXA_STORE_KEY_FILE": str(tmp_path / "key")}).store.secret() == MemoryKey("of a file")
    assert Config.load(environ={}).store.secret() is None


def test_a_key_is_not_shown():
    """In no form of the settings, and in no error about them."""
    config = Config.from_tree({"store": {"key": "hunter2"}})
    shown = [repr(config), str(config.model_dump()), config.model_dump_json(), repr(config.store.options())]
    shown += [repr(MemoryKey("hunter2")), repr(Seal(MemoryKey("hunter2")))]
    wrong = [
        {"key": ["hunter2"]},
        {"key": "hunter2", "timeout_s": -1},
        {"key": "hunter2", "kee": 1},
        {"key": "x'hunter2"},
    ]
    for tree in wrong:
        with pytest.raises(ConfigError) as told:
            Config.from_tree({"store": tree}).store.secret()
        shown.append(str(told.value))
    assert not any("hunter2" in one for one in shown)
