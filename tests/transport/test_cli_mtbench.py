"""`doxa bench mtbench101` and `mtbench101-refined`: what is written and shown, and what is refused."""

import io
import json

import pytest
from rich.console import Console

from doxa_bench.cli.mtbench import show_mtbench

ROW = {"task": "CM", "id": 1, "history": [{"user": "My dog is called Rex.", "bot": "A fine name."}]}
FOUND = {
    "stand_in": True,
    "tables": {"all": {"title": "All", "heads": ["system", "CS"], "rows": [["base", [0.6, 0.5, 0.7]]], "note": "N."}},
    "left_out": {"score": "no judge."},
    "counts": {"failed_replies": 2},
    "models": {"llm": "openai:stand-in", "judge": None},
    "files": ["out/tables.md"],
    "revision": None,
}  # fmt: skip


@pytest.fixture
def data(cli):
    """A file of one dialogue."""
    return cli.file("mtbench101.jsonl", json.dumps(ROW) + "\n")


def test_tables_are_shown_with_what_failed_and_that_a_model_stood_in():
    """Nobody takes a stand-in's numbers for a model's."""
    out = io.StringIO()
    show_mtbench(Console(file=out, width=120), FOUND)
    shown = out.getvalue()
    assert shown.startswith("STAND-IN model")
    assert "0.600 (0.50-0.70)" in shown and "N." in shown and "Not measured: score: no judge." in shown
    assert "2 failed replies" in shown and "llm openai:stand-in" in shown and "out/tables.md" in shown


def test_the_refined_subset_is_written_and_shown(cli, data):
    found = cli.json("bench", "mtbench101-refined", "--data", data, "--out", cli.folder / "out", "--no-record")
    assert found["statistics"]["turns"][0] == 1.0
    assert json.loads((cli.folder / "out" / "refined.json").read_text())["kept_by_stage_1"] == 1


def test_a_benchmark_without_its_data_says_so(cli):
    done = cli("bench", "mtbench101")
    assert done.exit_code != 0 and "--data" in done.stderr


def test_a_system_that_needs_a_model_says_what_to_set(cli, data):
    done = cli("bench", "mtbench101", "--data", data, "--systems", "without-tree", "--out", cli.folder / "out")
    assert done.exit_code != 0 and "DOXA_LLM" in done.stderr


def test_the_server_of_a_judge_needs_a_judge(cli, data):
    done = cli("bench", "mtbench101", "--data", data, "--judge-base-url", "http://judge/v1", "--out", cli.folder / "o")
    assert done.exit_code != 0 and "add --judge" in done.stderr and not (cli.folder / "o").exists()


def test_options_reach_the_benchmark(cli, data):
    """Whatever their order in the signature; no figure is drawn that nobody asked for."""
    out = cli.folder / "out"
    options = ("--systems", "reference", "--parallel", "2", "--limit", "1", "--no-record")
    found = cli.json("bench", "mtbench101", "--data", data, "--out", out, *options)
    assert list(found["systems"]) == ["reference"] and not list(out.glob("*.png"))


def test_the_help_says_what_each_benchmark_is_about(cli):
    shown = cli("bench", "--help").stdout
    assert "mtbench101:" in shown and "beliefbank:" in shown and "git revision" in shown
