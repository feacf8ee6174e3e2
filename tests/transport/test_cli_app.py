import json
import subprocess
import sys

import pytest
import typer

from doxa.transport.cli import app

COMMANDS = sorted(typer.main.get_command(app).list_commands(None))
READERS = [
    ("ask", "Where do I live?"),
    ("search", "Lisbon"),
    ("facts",),
    ("history", "Ana", "lives in"),
    ("why", "f1_x"),
    ("stats",),
    ("entities",),
    ("merge", "Kim", "Kimberly"),
    ("retract", "f1_x"),
    ("withdraw", "D1:1"),
    ("forget", "--everything", "--yes"),
    ("export", "out.jsonl"),
]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example(cli, name):
    """Every command explains itself and shows one line to copy."""
    done = cli(name, "--help")
    assert done.exit_code == 0
    assert f"Example: doxa {name}" in done.stdout
    assert "--json" in done.stdout


def test_every_command_of_the_contract_is_there():
    """The names that scripts rely on."""
    wanted = "ingest ask chat search facts rules entities history why stats doctor bench demo"
    changing = "retract withdraw merge split forget export import"
    assert {*wanted.split(), *changing.split()} <= set(COMMANDS)


def test_a_command_that_comes_with_a_missing_package_says_what_to_install(cli, monkeypatch):
    """Whatever else was typed."""
    monkeypatch.setattr(sys.modules["doxa.transport.cli.app"], "entry_points", lambda **_: ())
    done = cli("bench", "locomo", "-k", "3")
    assert done.exit_code == 1 and done.stderr.rstrip().endswith("Run: pip install doxa-bench")
    assert cli.json("bench", code=1)["error"]["type"] == "MissingDependencyError"


def test_version_is_an_option_and_a_command(cli):
    """Both say the same."""
    assert cli("--version").stdout == cli("version").stdout
    assert set(cli.json("version")) == {"doxa", "python"}


@pytest.mark.parametrize(
    "arguments",
    [("nothing",), ("facts", "--nope"), ("ask",), ("search", "x", "-k", "0"), ("bench", "nope", "--data", "x")],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(cli, arguments):
    """Nothing is printed on standard output then."""
    done = cli(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", READERS, ids=lambda arguments: arguments[0])
def test_a_command_on_a_missing_memory_makes_none(cli, arguments):
    """It says how to make one."""
    done = cli(*arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: There is no memory at")
    assert "doxa ingest FILE --db" in done.stderr
    assert done.stdout == ""
    assert not cli.db.exists()


def test_errors_are_json_too(cli):
    """A program reads the type and the message."""
    error = cli.json("facts", code=1)["error"]
    assert error["type"] == "NotFoundError"
    assert "doxa ingest" in error["message"]


@pytest.mark.parametrize(
    "order", [("--db", "other.db", "facts"), ("facts", "--db", "other.db")], ids=["before", "after"]
)
def test_options_work_before_and_after_the_command(cli, order):
    """And win over the environment."""
    assert "no memory at other.db" in cli(*order).stderr


def test_options_win_over_the_settings_file(cli):
    """File < environment < options."""
    settings = cli.file("mine.toml", 'user = "bob"\n')
    assert cli.json("doctor", "--config", settings)["config"]["user"] == "ana"
    assert cli.json("doctor", "--config", settings, "--user", "eve")["config"]["user"] == "eve"


def test_a_bad_settings_file_is_one_clear_line(cli):
    """No traceback."""
    done = cli("facts", "--config", cli.file("bad.toml", "recall = 3\nnope"))
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: The settings file")


def test_a_foreign_file_is_refused_and_kept(cli):
    """The file is as it was."""
    cli.db.write_text("a shopping list")
    done = cli("facts")
    assert done.exit_code == 1
    assert "not a Doxa memory" in done.stderr
    assert cli.db.read_text() == "a shopping list"


def test_a_reader_that_leaves_early_is_no_error(ana):
    """`doxa search ... | head -1` prints no traceback."""
    process = ana.process("search", "Lisbon", "--json")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=30)
    assert err == b""


def test_help_loads_nothing_heavy():
    """The first thing that a person types answers at once."""
    code = (
        "import sys; import doxa.transport.cli; "
        "print([m for m in ('numpy', 'sqlalchemy', 'onnxruntime', 'openai', 'doxa.engine') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_facts_do_not_load_the_encoder(ana, monkeypatch):
    """Looking at what is stored needs no model."""
    monkeypatch.setenv("DOXA_ENCODER", "hf:no/such-model")
    assert json.loads(ana("facts", "--json").stdout)
