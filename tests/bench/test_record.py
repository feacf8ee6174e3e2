"""Run records hold what is needed to measure again, and nothing secret."""

import json
import subprocess

from doxa.core.config import Config
from doxa_bench import environment, write_record
from doxa_bench import record as module
from doxa_bench.record import masked, models_of


def test_models_are_named_by_role():
    """A role that the engine lacks is left out, one without a model is None."""
    assert models_of({"encoder": {"name": "hash", "dims": 4}, "llm": None}) == {"encoder": "hash", "llm": None}
    assert models_of({"parser": {"name": "builtin:x"}, "store": {"name": "sqlite"}}) == {"parser": "builtin:x"}


def test_a_record_holds_settings_models_seeds_and_report(tmp_path):
    path = write_record(
        "locomo", {"n": 3}, config=Config(), models={"encoder": "builtin:x", "llm": None}, folder=tmp_path / "runs"
    )
    record = json.loads(path.read_text(encoding="utf-8"))
    assert path.parent == tmp_path / "runs" and path.name.endswith("Z-locomo.json")
    assert record["report"] == {"n": 3} and record["models"] == {"encoder": "builtin:x", "llm": None}
    assert record["config"]["recall"]["top_k"] == Config().recall.top_k
    assert record["seeds"] == {} and {"revision", "versions", "machine", "at"} <= record.keys()


def test_records_are_never_overwritten(tmp_path):
    paths = {write_record("x", {}, config=Config(), models={}, folder=tmp_path) for _ in range(3)}
    assert len(paths) == 3 == len(list(tmp_path.iterdir()))


def test_secrets_are_masked(tmp_path):
    config = Config.from_tree(
        {"llm": {"api_key": "sk-very-secret"}, "db": "postgresql://ana:hunter2@host/db", "encoder": {"api_key": "k2"}}
    )
    text = write_record("x", {}, config=config, models={}, folder=tmp_path).read_text(encoding="utf-8")
    assert "sk-very-secret" not in text and "hunter2" not in text and '"k2"' not in text
    assert masked(config)["llm"]["api_key"] == "****"
    assert masked(config)["db"] == "postgresql://ana:****@host/db"


def test_the_environment_names_versions_and_machine():
    found = environment()
    assert {"python", "doxa", "numpy"} <= found["versions"].keys()
    assert found["machine"]["cpus"]


def test_without_git_there_is_no_revision(monkeypatch):
    def missing(*args, **kwargs):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", missing)
    assert module.environment()["revision"] is None
