"""`doxa amr`, and what `doxa doctor` says of WordNet."""

import json

GO = "(g / go-02 :ARG0 (i / i) :ARG4 (b / bank))"
EAT = "(e / eat-01 :ARG0 (i / i) :ARG1 (n / nut))"


def test_the_command_writes_turtle_or_json(cli):
    path = cli.file("one.amr", GO)
    done = cli("amr", path, "--no-senses", "--base", "urn:mine:")
    assert done.exit_code == 0 and "@prefix : <urn:mine:s1#>" in done.stdout
    found = cli.json("amr", "-", "--no-senses", "--speaker", "Ana", input=EAT)
    assert found["sentences"][0]["claims"][0]["subject"] == "Ana"
    assert json.dumps(found["trace"])
    assert cli("amr", "none.amr").exit_code == 1
    assert cli("amr", cli.file("x.amr", b"\xff")).exit_code == 1


def test_a_broken_graph_is_told_with_its_file_and_line(cli):
    path = cli.file("broken.amr", f"{GO}\n\n(e / eat-01")
    done = cli("amr", path, "--no-senses")
    assert done.exit_code == 1 and "broken.amr:3: Expected an AMR graph" in done.stderr
    done = cli("amr", cli.file("deep.amr", "(a / a :ARG0 " * 200 + "b" + ")" * 200))
    assert done.exit_code == 1 and "deep.amr: Expected a graph of at most" in done.stderr


def test_the_doctor_tells_how_to_get_wordnet(cli, monkeypatch):
    """It is no fault unless a folder was named."""
    monkeypatch.setattr("doxa.backends.lexicon.wordnet.FOLDERS", ())
    monkeypatch.setattr("doxa.backends.lexicon.wordnet.NLTK_FOLDERS", ())
    checks = {check["name"]: check for check in cli.json("doctor")["checks"]}
    assert checks["WordNet"]["state"] == "off"
    assert "apt install wordnet-base" in checks["WordNet"]["fix"]
    monkeypatch.setenv("DOXA_LEXICON", f"wordnet:{cli.folder}")
    checks = {check["name"]: check for check in cli.json("doctor", code=1)["checks"]}
    assert checks["WordNet"]["state"] == "failed"
