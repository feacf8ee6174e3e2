import json
from pathlib import Path

import pytest

from doxa import Doxa
from doxa.core.values import Reply
from doxa.transport.cli.demo import matches

DEMO = Path(__file__).parent / "data/demo.tsv"
"""What the demo believes and changed its mind about, each line graded right, noise or wrong by hand."""
WRONG_LINES, NEW_LINES = 24, 4
"""Lines that may be wrong, or ungraded since processors round differently: 24 of 119 were wrong."""


def test_doctor_says_that_all_is_well(cli):
    """A memory that does not exist yet is no fault, and is not made."""
    found = cli.json("doctor")
    assert found["works"] is True
    assert {check["name"]: check["state"] for check in found["checks"]}["encoder"] == "ok"
    assert not cli.db.exists()


def test_doctor_masks_secrets(cli, monkeypatch):
    """Keys and passwords."""
    monkeypatch.setenv("DOXA_LLM_API_KEY", "sk-secret")
    monkeypatch.setenv("DOXA_DB", "postgresql://ana:hidden@localhost:1/doxa")
    done = cli("doctor")
    assert "sk-secret" not in done.output and "hidden" not in done.output
    assert "****" in done.stdout


def test_doctor_shows_the_server_its_partitions_and_the_pool(cli, postgres_url):
    """Of a memory in Postgres."""
    (about,) = [check for check in cli.json("doctor", "--db", postgres_url)["checks"] if check["name"] == "memory"]
    assert about["state"] == "ok" and "4 partitions, pool of 8+8" in about["detail"]
    assert "; Postgres 1" in about["detail"]


def test_doctor_finds_a_model_that_is_away(cli, monkeypatch):
    """One short call, no retries."""
    monkeypatch.setenv("DOXA_LLM", "openai:nobody")
    monkeypatch.setenv("DOXA_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    found = cli.json("doctor", code=1)
    assert {check["name"]: check["state"] for check in found["checks"]}["language model"] == "failed"
    assert cli.json("doctor", "--offline")["works"] is True


def test_doctor_finds_a_foreign_file(cli):
    """And says which."""
    cli.db.write_text("a shopping list")
    done = cli("doctor")
    assert done.exit_code == 1
    assert "not a Doxa memory" in done.stdout


def test_doctor_names_the_command_that_adds_an_extra(cli, monkeypatch):
    """A missing extra is no fault unless it is configured."""
    monkeypatch.setenv("DOXA_ENCODER", "nope")
    found = cli.json("doctor", code=1)
    assert next(check for check in found["checks"] if check["name"] == "encoder")["state"] == "failed"


def test_bench_locomo_reports_and_records(cli, locomo):
    """The record lies under runs/."""
    found = cli.json("bench", "locomo", "--data", locomo, "--k", "5")
    assert found["n"] == 1
    assert found["recall@5"] == 1.0
    assert len(list((cli.folder / "runs").glob("*-locomo.json"))) == 1
    assert "recall@10" in cli("bench", "locomo", "--data", locomo, "--no-record").stdout
    assert len(list((cli.folder / "runs").iterdir())) == 1


GOLD = {
    "id": "x1",
    "date": "2024-05-03",
    "context": [],
    "turn": {"speaker": "Ana", "text": "I live in Bonn. I like tea."},
    "facts": [
        {
            "subject": "Ana",
            "relation": ["live in"],
            "object": ["Bonn"],
            "polarity": True,
            "modality": "asserted",
            "valid_from": None,
            "valid_to": None,
        }
    ],
    "rules": [],
    "forbidden": [],
    "tags": ["residence"],
}


def test_bench_understanding_scores_and_writes_what_was_extracted(cli):
    """Mistakes are shown on demand."""
    gold = cli.file("gold.jsonl", json.dumps(GOLD))
    command = ("bench", "understanding", "--data", gold, "--no-record", "--errors", "3")
    found = cli.json(*command, "--predictions", cli.folder / "predictions.jsonl")
    assert (found["recall"], found["precision"]) == (1.0, 0.5)
    assert [error["kind"] for error in found["errors"]] == ["extra"]
    assert json.loads((cli.folder / "predictions.jsonl").read_text())["id"] == "x1"
    shown = cli(*command).stdout
    assert "x1 extra" in shown and "residence" in shown


def test_bench_revision_plays_the_dialogue_and_shows_what_is_wrong(cli):
    """One probe is right, one is about something that nobody said."""
    probe = {
        "after": 1,
        "question": "Where does Ana live?",
        "answer": ["Bonn"],
        "not": [],
        "as_of": None,
        "type": "value",
    }
    lost = {**probe, "question": "What is Ana's shoe size?", "answer": ["39"]}
    turns = [{"speaker": "Ana", "text": "I live in Bonn.", "date": "2024-05-03"}]
    gold = {"id": "x1", "kind": "update", "turns": turns, "probes": [probe, lost], "tags": ["residence"]}
    data = cli.file("dialogues.jsonl", json.dumps(gold))
    command = ("bench", "revision", "--data", data, "--no-record", "--errors", "3")
    found = cli.json(*command, "--predictions", cli.folder / "predictions.jsonl")
    assert (found["accuracy"], found["dialogue_accuracy"], found["wrong"]["lost"]) == (0.5, 0.0, 1)
    assert len((cli.folder / "predictions.jsonl").read_text().splitlines()) == 2
    shown = cli(*command).stdout
    assert "x1/1 lost: after turn 1: What is Ana's shoe size?" in shown and "update" in shown


def test_bench_openie_scores_by_the_rules_of_the_data(cli):
    """The test part of a CaRB folder."""
    cli.file("test.tsv", "Ana lives in Bonn .\tlives in\tAna\tBonn\n")
    found = cli.json("bench", "openie", "--data", cli.folder, "--no-record")
    assert found["scorer"] == "carb" and found["f1"] >= 0.7
    assert "1 extractions for 1 gold tuples" in cli("bench", "openie", "--data", cli.folder, "--no-record").stdout


def test_bench_dialogre_scores_by_label(cli):
    """What is not covered is named."""
    lives = {"x": "Speaker 1", "y": "Bonn", "r": ["per:place_of_residence"]}
    pairs = [lives, {"x": "Bo", "y": "Al", "r": ["per:client"]}]
    data = cli.file("dev.json", json.dumps([[["Speaker 1: I live in Bonn."], pairs]]))
    assert cli.json("bench", "dialogre", "--data", data, "--no-record")["f1"] == 1.0
    shown = cli("bench", "dialogre", "--data", data, "--no-record").stdout
    assert "per:place_of_residence" in shown and "per:client (1)" in shown


def test_bench_observations_reports_coverage(cli, locomo):
    """Of the conversations that come with observations."""
    samples = json.loads(locomo.read_text())
    samples[0]["observation"] = {"session_1_observation": {"Ana": [["Ana lives in Lisbon.", "D1:1"]]}}
    data = cli.file("observed.json", json.dumps(samples))
    assert cli.json("bench", "observations", "--data", data, "--no-record")["coverage"] == 1.0
    assert "duplicate share" in cli("bench", "observations", "--data", data, "--no-record").stdout


def test_bench_worlds_needs_no_data_and_says_that_it_is_simulated(cli):
    """In JSON and over every table."""
    found = cli.json("bench", "worlds", "--seed", "3", "--dialogues", "4", "--no-record")
    assert list(found)[:2] == ["simulated", "conditions"]
    wanted = "setting mode system dialogues raw_accuracy final_accuracy inconsistent contradictions retractions"
    assert set(wanted.split()) < set(found["conditions"][0])
    shown = cli("bench", "worlds", "--dialogues", "4", "--no-record").stdout
    assert shown.count("SIMULATED answerer") == 3
    rated = cli("bench", "worlds", "--dialogues", "2", "--family", "paper", "--error-rate", "0.3", "--no-record").stdout
    assert rated.count("SIMULATED answerer") == 1 and "Table 1" not in rated


def test_bench_worlds_tells_what_was_given_up_and_why(cli):
    """With --details; sums over the settings are there in any case."""
    wanted = ("bench", "worlds", "--dialogues", "3", "--family", "paper", "--error-rate", "0.5", "--no-record")
    plain, told = cli(*wanted).stdout, cli(*wanted, "--contradiction-rate", "0.5", "--details").stdout
    assert "all      direct" in plain and "gives up" not in plain
    assert "gives up" in told and "because of" in told and "literals in all" in told


def test_bench_worlds_records_its_seed(cli):
    """So that it can be run again."""
    cli("bench", "worlds", "--seed", "5", "--dialogues", "1", "--family", "hard")
    (record,) = (cli.folder / "runs").glob("*-worlds.json")
    assert json.loads(record.read_text())["seeds"] == {"seed": 5}


def test_bench_beliefbank_reports_every_policy(cli):
    """One entity, one constraint."""
    cli.file("silver_facts.json", json.dumps({"oak": {"IsA,tree": "yes", "IsA,plant": "yes"}}))
    link = {"source": "IsA,tree", "target": "IsA,plant", "weight": "yes_yes", "direction": "forward"}
    cli.file("constraints_v2.json", json.dumps({"links": [link]}))
    found = cli.json("bench", "beliefbank", "--data", cli.folder, "--no-record")
    assert found["policies"]["recency"]["consistency"] == found["consistency"] == 1.0
    assert "weighted" in cli("bench", "beliefbank", "--data", cli.folder, "--no-record").stdout


def test_bench_refuses_an_option_of_another_benchmark(cli, locomo):
    """It names the option."""
    done = cli("bench", "dialogre", "--data", locomo, "--errors", "3")
    assert done.exit_code == 1
    assert "--errors" in done.stderr


def test_bench_without_its_data_is_an_error(cli):
    """It says what is missing."""
    assert cli("bench", "locomo", "--data", "none.json").exit_code == 1
    done = cli("bench", "locomo")
    assert done.exit_code == 1 and "--data" in done.stderr


def test_demo_tells_everything(cli):
    """Facts, revisions, ten answers, and how to go on; what it believes has been graded, and no more of it is wrong."""
    done = cli("demo", "--keep", "kept.db")
    assert done.exit_code == 0
    for part in (
        "What it believes now",
        "changed its mind",
        "10. What is Marta's phone number?",
        "of 10 answers",
        "Go on",
    ):
        assert part in done.stdout
    assert cli.json("stats", "--db", "kept.db")["turns"] == 148
    grades = dict(line.split("\t")[::-1] for line in DEMO.read_text(encoding="utf-8").splitlines())
    with Doxa.open("kept.db") as doxa:
        memory = doxa.memory(user="ana")
        lines = [memory.describe(fact) for fact in memory.facts()]
        lines += [f"{one.kind}: {memory.describe(one.fact)}" for one in memory.history() if one.revises]
    assert [line for line in lines if line not in grades][NEW_LINES:] == []
    assert sum(grades.get(line) == "wrong" for line in lines) <= WRONG_LINES


def test_demo_as_json(cli):
    """For programs that check it."""
    found = cli.json("demo")
    assert len(found["questions"]) == 10
    assert found["right"] == sum(question["right"] for question in found["questions"]) >= 8


@pytest.mark.parametrize(
    ("value", "expected", "right"),
    [
        ("Bonn", ["Bonn"], True),
        ("bonn.", ["Bonn"], True),
        ("Berlin", ["Bonn"], False),
        ("German, English and Spanish", ["English, Spanish, German"], True),
        ("English, Spanish", ["English, Spanish, German"], False),
        ("the walnuts", ["walnut", "walnuts"], True),
        (None, ["Bonn"], False),
    ],
)
def test_an_answer_is_compared_with_every_form(value, expected, right):
    """Lists in any order, case and articles aside; nothing is right by halves."""
    assert matches(Reply(text="", value=value), expected) is right


def test_where_nothing_is_expected_only_not_knowing_is_right():
    """A guess is wrong."""
    assert matches(Reply(text="", abstained=True), [])
    assert not matches(Reply(text="5", value="5"), [])


def roles(cli, *arguments, code=0):
    """Return the checks of the roles and of the profile by name."""
    checks = cli.json("doctor", *arguments, code=code)["checks"]
    return {check["name"].removeprefix("role "): check for check in checks}


def test_doctor_shows_the_profile_and_who_plays_each_role(cli, monkeypatch):
    """Without a model all is built in; with one, it plays what the profile leaves to it."""
    found = roles(cli)
    assert found["profile"]["detail"].startswith("offline") and "the parser" in found["extract"]["detail"]
    assert "solver" in found["judge"]["detail"] and "recency" in found["judge"]["detail"]
    assert found["distil"]["state"] == "off" and "grammar" in found["tasks"]["detail"]
    monkeypatch.setenv("DOXA_LLM", "scripted")
    found = roles(cli, "--offline")
    asked = [name for name, check in found.items() if ": scripted" in check["detail"]]
    assert asked == ["extract", "judge", "rewrite", "reason", "write", "tasks"]
    assert found["profile"]["detail"].startswith("full") and "where it fails, the parser" in found["extract"]["detail"]
    monkeypatch.setenv("DOXA_PROFILE", "writer")
    monkeypatch.setenv("DOXA_ROLES_TASKS", "hybrid")
    found = roles(cli, "--offline")
    assert "the parser" in found["extract"]["detail"] and "scripted" in found["write"]["detail"]
    assert "a grammar, and scripted where that is unsure" in found["tasks"]["detail"]


@pytest.mark.parametrize(
    ("role", "by", "missing"),
    [
        ("extract", "prompted", "DOXA_LLM"),
        ("extract", "amr", "DOXA_AMR"),
        ("validate", "prompted", "DOXA_LLM"),
        ("judge", "prompted", "DOXA_LLM"),
        ("tasks", "hybrid", "DOXA_LLM"),
        ("infer", "prompted", "DOXA_LLM"),
    ],
)
def test_doctor_finds_a_role_that_nobody_can_play(cli, monkeypatch, role, by, missing):
    """A role left to what is not configured is a failure, with the command that mends it."""
    monkeypatch.setenv(f"DOXA_ROLES_{role.upper()}", by)
    found = roles(cli, code=1)
    assert (
        found[role]["state"] == "failed" and missing in found[role]["fix"] and f"roles.{role}" in found[role]["detail"]
    )


def test_doctor_says_which_amr_parser_reads(cli, monkeypatch):
    monkeypatch.setenv("DOXA_ROLES_EXTRACT", "amr")
    monkeypatch.setenv("DOXA_AMR", "spring:http://127.0.0.1:9")
    assert "spring" in roles(cli, "--offline")["extract"]["detail"]


def test_doctor_reads_the_ontology_that_is_configured(cli, monkeypatch):
    """How much it adds, and once what is wrong with it."""
    path = cli.file("more.ttl", "<http://example.org/x#climbs> a <http://www.w3.org/2002/07/owl#ObjectProperty> .")
    monkeypatch.setenv("DOXA_ONTOLOGY", str(path))
    found = cli.json("doctor")
    checks = {check["name"]: check for check in found["checks"]}
    assert f"1 from {path}" in checks["ontology"]["detail"] and found["config"]["ontology"] == str(path)
    cli.file("more.ttl", "@prefix x <")
    cli.db.touch()
    checks = {check["name"]: check for check in cli.json("doctor", code=1)["checks"]}
    assert "more.ttl:1" in checks["ontology"]["detail"] and checks["memory"]["detail"] == "not opened; see ontology"


@pytest.mark.parametrize(
    ("name", "said"), [("llm", "none is configured"), ("spring:http://127.0.0.1:9/api", "did not answer")]
)
def test_doctor_finds_an_amr_parser_that_cannot_work(cli, monkeypatch, name, said):
    assert {check["name"]: check["state"] for check in cli.json("doctor")["checks"]}["AMR parser"] == "off"
    monkeypatch.setenv("DOXA_AMR", name)
    checks = {check["name"]: check for check in cli.json("doctor", code=1)["checks"]}
    assert checks["AMR parser"]["state"] == "failed" and said in checks["AMR parser"]["detail"]


def test_bench_prefeval_prints_every_form_and_topic(cli):
    """Beside the baselines, from files in the form of PrefEval."""
    folder, opened = cli.folder / "data" / "measure" / "prefeval", cli.folder / "data" / "open" / "sgd"
    folder.mkdir(parents=True)
    opened.mkdir(parents=True)
    entry = {"preference": "I never eat fish.", "question": "Where should I eat?"}
    (folder / "explicit_preference__dinner.json").write_text(json.dumps([entry]), encoding="utf-8")
    turns = [{"speaker": "USER", "utterance": "A taxi."}, {"speaker": "SYSTEM", "utterance": "When?"}]
    (opened / "dev_dialogues_001.json").write_text(json.dumps([{"turns": turns}]), encoding="utf-8")
    found = cli.json("bench", "prefeval", "--data", folder, "--no-record")
    assert found["forms"]["explicit"]["doxa"]["n"] == 1 and found["distractors"] == 100
    shown = cli("bench", "prefeval", "--data", folder, "--no-record").stdout
    assert "explicit" in shown and "dinner" in shown and "rrf" in shown


def test_bench_implicit_needs_no_data_and_prints_every_system(cli):
    """Beside the baselines, with unrelated talk that is made up."""
    found = cli.json("bench", "implicit", "--dialogues", "1", "--seed", "4", "--no-record")
    assert {"dense", "hipporag", "summary", "doxa"} <= set(found["main"]) and found["distractors"] == "built in"
    shown = cli("bench", "implicit", "--dialogues", "1", "--seed", "4", "--no-record").stdout
    assert "hipporag" in shown and "long context" in shown and "recommendation" in shown


def test_bench_locomo_answers_shows_measures_and_mistakes(cli, locomo):
    """By category, with what was expected; mistakes are for answers only."""
    samples = json.loads(locomo.read_text())
    samples[0]["qa"].append({"question": "Where is Ana?", "answer": "Lima", "evidence": [], "category": 4})
    locomo.write_text(json.dumps(samples))
    shown = cli("bench", "locomo", "--answers", "--data", locomo, "--errors", "2", "--no-record").stdout
    assert "false abstention" in shown and "Risk over coverage" in shown and "expected" in shown
    refused = cli("bench", "locomo", "--data", locomo, "--errors", "3")
    assert refused.exit_code == 1 and "--answers" in refused.stderr
