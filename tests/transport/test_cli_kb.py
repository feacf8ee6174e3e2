"""`doxa kb`: a base of background knowledge is built, shown, and checked by the doctor."""

import json

import pytest

from doxa.backends.seq2seq import huggingface
from doxa.core.errors import BackendError


@pytest.fixture
def facts(cli):
    return cli.file(
        "facts.tsv", "dog\tDogs are animals.\t1.0\ncat\tCats catch mice.\t1.0\nsun\tThe sun is a star.\t0.9\n"
    )


@pytest.fixture
def follows(cli):
    return cli.file("follows.tsv", "PersonX eats lunch\txWant\tto rest\nPersonX eats lunch\txReact\tfull\n")


def test_kb_builds_a_base_once(cli, facts, follows):
    command = ("kb", "build", facts, "--to", "base", "--inferences", follows, "--groups", "2")
    found = cli.json(*command)
    assert (found["sentences"], found["groups"], found["events"], found["inferences"]) == (3, 2, 1, 2)
    assert found["built"] is True and found["encoder"].startswith("hash") and found["folder"] == "base"
    assert found["bytes"] == sum(path.stat().st_size for path in (cli.folder / "base").iterdir())
    assert cli.json(*command)["built"] is False
    assert "finished already" in cli(*command).stderr and "finished" not in cli(*command, "--quiet").stderr
    assert cli.json(*command, "--force")["built"] is True
    assert cli.json(*command, "--seed", "3")["built"] is True


def test_kb_shows_what_is_in_a_base(cli, facts):
    cli("kb", "build", facts, "--to", "base")
    found = cli.json("kb", "show", "base")
    assert (found["sentences"], found["inferences"], found["sources"]) == (3, 0, ["facts.tsv"])
    shown = cli("kb", "show", "base").stdout
    assert "sentences   3" in shown and "hash" in shown and "facts.tsv" in shown and "MiB" in shown


def test_the_setting_stands_for_the_folder(cli, facts, monkeypatch):
    for command in (("kb", "show"), ("kb", "build", facts)):
        done = cli(*command)
        assert done.exit_code == 1 and "DOXA_COMMONSENSE_BASE" in done.stderr
    monkeypatch.setenv("DOXA_COMMONSENSE_BASE", str(cli.folder / "set"))
    assert cli.json("kb", "build", facts)["folder"] == str(cli.folder / "set")
    assert cli.json("kb", "show")["sentences"] == 3


def test_several_files_make_one_base(cli, facts):
    more = cli.file("more.jsonl", json.dumps({"text": "Birds sing."}) + "\n")
    found = cli.json("kb", "build", facts, more, "--to", "base")
    assert found["sentences"] == 4 and found["sources"] == ["facts.tsv", "more.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "--to", "base"), "doxa kb build FILE"),
        (("build", "none.txt", "--to", "base"), "none.txt cannot be read"),
        (("build", ".", "--to", "base"), "is a folder"),
        (("show", "base"), "There is no base of knowledge in base"),
        (("show", "base", "other"), "one folder and nothing else"),
        (("show", "base", "--force"), "one folder and nothing else"),
    ],
)
def test_kb_says_what_was_expected(cli, arguments, said):
    done = cli("kb", *arguments)
    assert done.exit_code == 1 and said in done.stderr


def test_an_interrupted_build_says_how_to_go_on(cli, facts, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("doxa.engine.build_base", interrupted)
        done = cli("kb", "build", facts, "--to", "base")
    assert done.exit_code == 130 and "run the same command again" in done.stderr


def test_somebody_who_watches_sees_every_step(cli, facts, monkeypatch):
    """The bars are on a terminal only; here one is made up."""
    from rich.console import Console
    from rich.progress import Progress

    out = Console(force_terminal=True, width=100, record=True, file=(cli.folder / "screen").open("w"))
    shown = []

    class Bars(Progress):
        def add_task(self, description, **options):
            shown.append((description, options["total"]))
            return super().add_task(description, **options)

    monkeypatch.setattr("rich.progress.Progress", Bars)
    monkeypatch.setattr("doxa.transport.cli.request.Request.err", out)
    assert cli("kb", "build", facts, "--to", "base").exit_code == 0
    out.file.close()
    steps = [name for name, _ in shown]
    assert steps[:3] == ["truisms", "vectors of sentences", "concepts"] and "groups" in steps
    assert dict(shown)["vectors of sentences"] == 3


def knowledge(cli, code=0):
    checks = {check["name"]: check for check in cli.json("doctor", "--offline", code=code)["checks"]}
    return checks["knowledge"]


def test_doctor_asks_the_checkpoint_that_is_to_infer(cli, facts, monkeypatch):
    def absent(*_):
        raise BackendError("it is not there")

    cli("kb", "build", facts, "--to", "base")
    monkeypatch.setenv("DOXA_COMMONSENSE_BASE", "base")
    monkeypatch.setenv("DOXA_ROLES_INFER", "hf:some/comet")
    with monkeypatch.context() as patched:
        patched.setattr(huggingface.HuggingFaceSeq2Seq, "generate", lambda *args, **limits: [[]])
        assert "hf:some/comet, loaded and asked once" in knowledge(cli)["detail"]
    monkeypatch.setattr(huggingface, "_load", absent)
    assert knowledge(cli, code=1)["detail"] == "it is not there"


def test_doctor_looks_at_the_base(cli, facts, monkeypatch):
    """None is set; one is fine; another encoder made it; it is broken; the encoder does not load."""
    none = knowledge(cli)
    assert none["state"] == "off" and "doxa kb build" in none["fix"] and "DOXA_COMMONSENSE_BASE" in none["fix"]
    monkeypatch.setenv("DOXA_COMMONSENSE_BASE", "base")
    assert "There is no base" in knowledge(cli, code=1)["detail"]
    cli("kb", "build", facts)
    fine = knowledge(cli)
    assert fine["state"] == "ok" and "3 sentences" in fine["detail"] and "hash:64" in fine["detail"]
    monkeypatch.setenv("DOXA_ENCODER", "hash:32")
    other = knowledge(cli, code=1)
    assert other["state"] == "failed" and "hash:64" in other["detail"] and "hash:32" in other["detail"]
    assert "facts.tsv" in other["fix"] and "doxa kb build FILE" in other["fix"] and "--to base" in other["fix"]
    monkeypatch.setenv("DOXA_ENCODER", "nope")
    assert knowledge(cli, code=1)["detail"] == "not opened; see encoder"
    monkeypatch.setenv("DOXA_ENCODER", "hash")
    (cli.folder / "base" / "words.txt").unlink()
    broken = knowledge(cli, code=1)
    assert broken["state"] == "failed" and "is broken" in broken["detail"]


def test_a_build_by_a_model_that_fails_keeps_what_was_done(cli, facts, monkeypatch):
    from doxa.commonsense.base import parts

    def failing(*_):
        raise BackendError("the parser was cut off")

    with monkeypatch.context() as patched:
        patched.setattr(parts, "phrases_of", failing)
        assert "cut off" in cli("kb", "build", facts, "--to", "base").stderr
    assert (cli.folder / "base" / parts.FOLDER / "sentence_vectors.npy").is_file()
    assert cli.json("kb", "build", facts, "--to", "base")["sentences"] == 3
