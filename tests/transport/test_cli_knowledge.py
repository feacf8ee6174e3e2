"""`doxa bench knowledge`: the tables of the paper, CICERO, where its base comes from, and what is refused."""

import json

import pytest

SENTENCES = [f"{one} need {other}." for one in ("Dogs", "Trains", "Guests") for other in ("rest", "water", "friends")]
DIALOGUE = [
    "I walk my dog every day.",
    "Does your dog like the rain?",
    "My dog hates to be wet.",
    "So does mine, I fear.",
]
FOLLOWS = "PersonX walks the dog\txWant\tto give the dog some water\nPersonX walks the dog\txReact\ttired\n"
QUESTION = {
    "ID": "made", "Dialogue": ["A: I walk my dog every day."], "Target": "I walk my dog every day.",
    "Question": "What is or could be the motivation of target?", "Choices": ["He is bored.", "It is late."],
    "Correct Answers": [0],
}  # fmt: skip


@pytest.fixture
def data(cli, monkeypatch):
    """The folder of all data, set: two dialogues, a question of CICERO, and what a base is made of."""
    rows = [{"index": at, "dialogue": [{"text": text} for text in DIALOGUE]} for at in range(2)]
    for name, content in {
        "measure/dailydialog/multireftest.json": "".join(json.dumps(row) + "\n" for row in rows),
        "measure/cicero_v2/test.json": json.dumps(QUESTION),
        "measure/cicero_v2/val.json": json.dumps(QUESTION),
        "open/genericskb/GenericsKB.txt": "\n".join(SENTENCES),
        "open/atomic2020/test.tsv": FOLLOWS,
    }.items():
        path = cli.folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv("DOXA_DATA", str(cli.folder / "data"))
    return cli.folder / "data"


def test_it_builds_its_base_once_and_prints_json_and_tables(cli, data):
    command = ("bench", "knowledge", "--set", "dailydialog", "--limit", "1", "--systems", "ours,dense,no-check")
    first = cli(*command, "--json")
    found = json.loads(first.stdout)
    assert found["n"] == 1 and {"ours", "dense"} == set(found["systems"]) and "no_check" in found["ablations"]
    wanted = {"rouge1", "rouge2", "rougeL", "semantic_overlap", "alignment@0.5", "ms_p95"}
    assert all(wanted <= set(row) for row in found["systems"].values())
    assert found["base"]["sentences"] == len(SENTENCES) and found["transitions"] == {"by": "what is said next"}
    models = {role: found["models"][role].partition(":")[0] for role in ("encoder", "reasoner", "measure")}
    assert models == {"encoder": "hash", "reasoner": "builtin", "measure": "builtin"}
    assert "Building a base of knowledge, once" in first.stderr and "vectors of sentences: 9" in first.stderr
    assert (cli.folder / "runs" / "knowledge-hash" / "base.json").is_file()
    assert list((cli.folder / "runs").glob("*-knowledge.json"))
    again = cli(*command, "--details", "--no-record")
    assert "Building" not in again.stderr and again.exit_code == 0
    for part in ("ROUGE-L (95%)", "aligned @0.5", "ablations", "no check", "rougeL to dense", DIALOGUE[0], "ms p95",
                 "Transitions by what is said next", "reasoner builtin"):  # fmt: skip
        assert part in again.stdout, again.stdout


def test_transitions_are_read_from_a_file_and_written_again(cli, data):
    """What nobody said is left out, and told."""
    labels = cli.file("labels.jsonl", json.dumps({"id": "0", "transitions": ["So does mine", "a dragon"]}) + "\n")
    out = cli.folder / "taken.jsonl"
    options = ("--systems", "ours", "--labels", labels, "--predictions", out, "--no-record")
    shown = cli("bench", "knowledge", *options).stdout
    assert "file labels.jsonl: 1 phrases; left out: 1 dialogues without labels, 1 phrases" in " ".join(shown.split())
    assert json.loads(out.read_text()) == {"id": "0", "transitions": ["So does mine"]}


def test_cicero_prints_its_table(cli, data):
    found = cli.json("bench", "knowledge", "--set", "cicero", "--no-record")
    assert found["n"] == found["kinds"]["motivation"]["n"] == 2 and found["chance"] == 0.5
    shown = cli("bench", "knowledge", "--set", "cicero", "--data", data, "--no-record", "--limit", "1").stdout
    assert "motivation" in shown and "target alone" in shown and "2 inferences" in shown


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "Give --data PATH"),
        (("--data", "gone"), "there is no gone"),
        (("--set", "other"), "out of dailydialog, empathetic"),
        (("--systems", "nope"), "got 'nope'"),
        (("--set", "cicero", "--systems", "ours"), "takes no --systems"),
        (("--set", "cicero", "--labels", "labels.jsonl"), "takes no --labels"),
        (("--seed", "1"), "takes no --seed"),
    ],
)
def test_it_says_what_was_expected(cli, more, said):
    done = cli("bench", "knowledge", "--no-record", *more)
    assert done.exit_code == 1 and said in done.stderr and not (cli.folder / "runs").exists()


def test_a_models_part_is_a_table_of_its_own(capsys):
    from rich.console import Console

    from doxa_bench.cli.knowledge import show_knowledge

    row = {
        "semantic_overlap": 0.2, "rouge1": 0.1, "rouge2": 0.0, "rougeL": 0.1, "alignment@0.5": None,
        "alignment@no threshold": 0.5, "next_similarity": 0.1, "ms_p95": 12.0,
    }  # fmt: skip
    part = {"systems": {"ours": {"average": 0.25, "max": 0.75}}, "dialogues": 3, "failed": 1, "name": "openai:any"}
    found = {
        "set": "dailydialog", "n": 4, "systems": {"ours": row}, "ablations": {}, "reference": {}, "compared": {},
        "model": part, "examples": [], "base": {"sentences": 5, "inferences": 0}, "models": {"llm": "openai:any"},
        "transitions": {"by": "openai:any", "phrases": 9, "missing": 1, "strange": 2},
        "degraded": {"dialogues": 2, "first": "away"},
    }  # fmt: skip
    show_knowledge(Console(width=200), found)
    shown = capsys.readouterr().out
    assert "0.250" in shown and "0.750" in shown and "3 dialogues asked of openai:any, 1 calls failed" in shown
    assert "openai:any: 9 phrases" in shown and "inferred less than it could for 2: away" in shown
