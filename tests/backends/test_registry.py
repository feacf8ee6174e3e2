"""Backends are found by name: ours, and those of installed packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from doxa.backends import load, names
from doxa.core.errors import BackendError, ConfigError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with the metadata and module of a foreign package."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[doxa.backends]\n"
        "encoder.stranger = stranger_backend:open_it\n"
        "encoder.hash = stranger_backend:open_it\n"
        "oracle.stranger = stranger_backend:open_it\n"
        "encoder.broken = stranger_backend:absent\n"
    )
    (tmp_path / "stranger_backend.py").write_text("def open_it(name, **options):\n    return name, options\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_scheme_alone_loads_its_default() -> None:
    """`hash` is the double at its default size."""
    assert load("encoder", "hash").name == "hash:64"


def test_what_follows_the_colon_reaches_the_factory() -> None:
    """`hash:32` is the double with 32 dimensions."""
    assert load("encoder", "hash:32").dims == 32


def test_a_second_colon_belongs_to_the_rest() -> None:
    """Model names may hold colons, as those of local servers do."""
    encoder = load("encoder", "openai:nomic:latest", base_url="http://127.0.0.1:9/v1")
    assert encoder.name == "openai:nomic:latest"
    encoder.close()


def test_an_unknown_scheme_lists_what_there_is() -> None:
    """The message names the alternatives."""
    with pytest.raises(ConfigError, match=r"no encoder called 'word2vec'; there is builtin, hash, hf, openai"):
        load("encoder", "word2vec")


def test_an_unknown_kind_lists_the_kinds() -> None:
    """The message names the kinds of backend."""
    with pytest.raises(ConfigError, match=r"no kind of backend called 'toaster'; there is .*encoder.*llm"):
        load("toaster", "any")


def test_an_unknown_option_lists_the_options() -> None:
    """A misspelt option is an error of the config, not a TypeError."""
    with pytest.raises(ConfigError, match="does not know the option 'treads'; it takes threads"):
        load("encoder", "builtin", treads=2)


@pytest.mark.parametrize("name", ["hash:many", "hash:0", "builtin:other", "hf", "openai", "openai:x"])
def test_a_name_that_cannot_be_used_is_a_config_error(name: str) -> None:
    """The factories check what follows the colon, and that a key is there."""
    with pytest.raises(ConfigError):
        load("encoder", name)


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_a_scheme() -> None:
    """An entry point `encoder.stranger` becomes the scheme `stranger`."""
    assert load("encoder", "stranger:big", size=3) == ("big", {"size": 3})


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_a_kind() -> None:
    """Kinds are open, too."""
    assert names("oracle") == ("stranger",)
    assert load("oracle", "stranger") == ("", {})


@pytest.mark.usefixtures("installed")
def test_an_installed_package_cannot_replace_ours() -> None:
    """A name of ours keeps its meaning whatever is installed."""
    assert load("encoder", "hash").name == "hash:64"


@pytest.mark.usefixtures("installed")
def test_a_broken_entry_point_names_the_package() -> None:
    """What cannot be imported is a backend error that tells where it came from."""
    with pytest.raises(BackendError, match=r"'encoder.broken' \(stranger_backend:absent\)"):
        load("encoder", "broken")


def test_finding_a_backend_imports_no_model_library() -> None:
    """Opening the built-in encoder does not yet import its runtime."""
    code = (
        "import sys; from doxa.backends import load; load('encoder', 'builtin').close(); "
        "heavy = {'onnxruntime', 'tokenizers', 'openai', 'torch'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
