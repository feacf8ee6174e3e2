"""`doxa cluster`, as far as it goes without Ray."""

import subprocess
import sys

import pytest

from doxa.core.config import Config
from doxa.core.errors import ConfigError, InputError, NotFoundError
from doxa.transport.cluster import ingest, placed, taken_in
from doxa.transport.cluster.running import require_shared


def test_files_are_for_ingest_alone(cli):
    assert "doxa cluster ingest FILE" in cli("cluster", "status", "some.jsonl").output
    assert "doxa cluster ingest FILE" in cli("cluster", "ingest").output


def test_without_ray_it_says_what_to_install(cli):
    """In a process of its own, where no such package can be found."""
    code = "import sys; sys.modules['ray'] = None; from doxa.transport.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "cluster", "status"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "doxa cluster needs the package 'ray'" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_cluster_code_loads_ray_before_it_is_asked_to():
    code = "import sys; from doxa.transport import cluster; print('ray' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_paths_of_settings_hold_in_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = placed(Config.from_tree({"db": "memory.db", "ontology": ["own.ttl"], "parser": {"head": "head.npz"}}))
    assert found.db == str(tmp_path / "memory.db")
    assert found.ontology == (tmp_path / "own.ttl",)
    assert found.parser.head == tmp_path / "head.npz"
    assert placed(Config(db="sqlite:///memory.db")).db == str(tmp_path / "memory.db")
    for url in (":memory:", "postgresql+psycopg://doxa@db/doxa"):
        assert placed(Config(db=url)).db == url


def test_a_database_that_replicas_cannot_share_is_refused():
    with pytest.raises(InputError, match="a memory of its own"):
        require_shared(Config(db="sqlite+pysqlite:///:memory:"), nodes=1)
    with pytest.raises(InputError, match="is on one machine and the cluster has 2"):
        require_shared(Config(db="memory.db"), nodes=2)
    require_shared(Config(db="memory.db"), nodes=1)
    require_shared(Config(db="postgresql+psycopg://doxa@db/doxa"), nodes=2)


def test_more_replicas_at_least_than_at_most_are_refused():
    with pytest.raises(ConfigError, match="max_replicas"):
        Config.from_tree({"cluster": {"replicas": 4, "max_replicas": 2}})


def test_a_file_that_is_not_there_is_said_before_anything_is_done(tmp_path):
    for way in (ingest, taken_in):
        with pytest.raises(NotFoundError, match="There is no file"):
            list(way(Config(), [tmp_path / "nowhere.jsonl"]))


def test_a_transcript_goes_in_once_and_its_user_is_its_name(cli):
    config = placed(Config.load())
    file = cli.transcript()
    (first,) = taken_in(config, [file])
    assert (first.users, first.new, first.known, first.failed) == (("ana",), 4, 0, 0)
    (again,) = taken_in(config, [file], user="ana")
    assert (again.new, again.known) == (0, 4)
    assert cli.json("ask", "Where do I live?")["value"] == "Bonn"


def test_conversations_of_locomo_are_users_of_their_own(cli, locomo):
    (work,) = taken_in(placed(Config.load()), [locomo])
    assert (work.users, work.new) == (("conv-1",), 2)


def test_one_users_trouble_is_not_anothers(cli):
    broken, whole = cli.file("bo.jsonl", '{"id": "1", "role": "user", "content": "Hello."}\n{'), cli.transcript()
    of_bo, of_ana = taken_in(placed(Config.load()), [broken, whole])
    assert (of_bo.new, of_bo.failed) == (1, 1)
    assert of_bo.problems
    assert of_ana.new == 4
