"""Settings: file, then environment, then arguments; every mistake is named."""

import pytest

from doxa.core.config import Config, settings
from doxa.core.errors import ConfigError


def test_the_environment_beats_the_file(tmp_path):
    """Both are read, and the later one wins."""
    file = tmp_path / "doxa.toml"
    file.write_text('user = "ana"\n[recall]\ntop_k = 5\n[llm]\nname = "openai:a"\n')
    config = Config.load(file, environ={"DOXA_RECALL_TOP_K": "7", "DOXA_LLM": "openai:b"})
    assert (config.user, config.recall.top_k, config.llm.name) == ("ana", 7, "openai:b")


def test_every_setting_has_its_own_name_in_the_environment():
    """No two settings share a name."""
    names = [name for name, _, _, _ in settings()]
    assert len(names) == len(set(names)) and "DOXA_LLM" in names and "DOXA_STORE_DURABILITY" in names


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"DOXA_LLM_TIMEOUT": "3"}, "DOXA_LLM_TIMEOUT_S"),
        ({"DOXA_RECALL_TOP_K": "many"}, "recall.top_k"),
        ({"DOXA_STORE_DURABILITY": "never"}, "store.durability"),
        ({"DOXA_PARSER_HEAD": "marks.jsonl"}, "ends in .npz"),
    ],
    ids=["near miss", "no number", "no choice", "no file of a head"],
)
def test_a_bad_variable_is_named_with_what_to_do(environ, says):
    """The message shows the setting, or the one that was meant."""
    with pytest.raises(ConfigError, match=says):
        Config.load(environ=environ)


@pytest.mark.parametrize(
    ("text", "says"),
    [("= broken", "no TOML"), ("[llm]\nnam = 1", "llm.name"), ("[recall]\ntop_k = 0", "recall.top_k")],
    ids=["broken", "unknown", "out of range"],
)
def test_a_bad_file_is_named_with_what_to_do(text, says, tmp_path):
    """A mistake in the file is found before anything is opened."""
    file = tmp_path / "doxa.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=says):
        Config.load(file, environ={})


def test_a_missing_file_that_was_named_is_an_error_and_the_default_one_is_not(tmp_path, monkeypatch):
    """Only a file that somebody asked for has to be there."""
    monkeypatch.chdir(tmp_path)
    assert Config.load(environ={}) == Config()
    with pytest.raises(ConfigError, match="No such file"):
        Config.load(tmp_path / "other.toml", environ={})


def test_keys_are_secret(tmp_path):
    """A key is read from the environment or a file, and shown nowhere."""
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")
    config = Config.load(environ={"OPENAI_API_KEY": "sk-secret"})
    assert config.secret("llm") == "sk-secret" and "sk-secret" not in repr(config)
    assert Config.load(environ={"DOXA_LLM_API_KEY_FILE": str(file)}).secret("llm") == "sk-from-file"
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load(environ={"DOXA_LLM_API_KEY_FILE": str(tmp_path / "none")}).secret("llm")


def test_a_variable_of_somebody_else_is_left_alone():
    """The prefix may be used by other tools; only a slip of a known name is an error."""
    assert Config.load(environ={"DOXA_HOME": "/somewhere", "DOXA_FIXTURES": "x"}) == Config()


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "\x00", "a = '\udcff'"])
def test_a_file_that_cannot_be_read_to_its_end_is_refused(tmp_path, text):
    """Too deep, a number that is too long, and no UTF-8: each has an error of its own."""
    path = tmp_path / "doxa.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match="no TOML"):
        Config.load(path, environ={})


def test_a_path_that_can_be_none_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load("a\0b", environ={})
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_tree({"llm": {"api_key_file": "a\0b"}}).secret("llm")
    (tmp_path / "key").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_tree({"llm": {"api_key_file": tmp_path / "key"}}).secret("llm")
