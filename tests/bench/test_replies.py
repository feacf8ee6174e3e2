"""Replies drawn from gold data, and how the check of them is measured."""

import json

from doxa.core.config import Config, EncoderConfig
from doxa_bench.replies import draw_cases, read_cases, run
from doxa_bench.replies.statements import from_question, from_relation

DIALOGUE = {
    "id": "d1",
    "turns": [
        {"speaker": "Ana", "text": "I live in Porto.", "at": "2024-03-01"},
        {"speaker": "Ana", "text": "I moved to Bonn yesterday.", "at": "2024-05-02"},
    ],
    "replies": [
        {"text": "You live in Porto.", "label": "contradicted", "kind": "state"},
        {"text": "You live in Bonn.", "label": "clean", "kind": "true"},
        {"text": "Do you like Porto?", "label": "clean", "kind": "question"},
    ],
}


def test_a_question_and_its_answer_make_a_statement():
    told = from_question("Where does Ana live now?", "Bonn", yes=None)
    assert told.said_to("Ana") == "you live in Bonn now" and told.said_to("Ben") == "Ana lives in Bonn now"
    denied = from_question("Does Ana have a printer?", "", yes=False)
    assert denied.said_to("Ana") == "you do not have a printer"


def test_a_gold_fact_makes_a_statement():
    sister = from_relation("Ana", ["sister", "have sister"], "Mia", polarity=True, past=False)
    assert sister.said_to("Ana") == "your sister is Mia"
    denied = from_relation("Leo", ["be allergic to"], "nuts", polarity=False, past=False)
    assert denied.said_to("Ana") == "Leo is not allergic to nuts"


def test_half_of_what_is_drawn_is_wrong_and_the_same_seed_draws_the_same(tmp_path):
    probes = [
        {"after": 1, "question": "Where does Ana live?", "answer": ["Porto"], "not": ["Bonn"]},
        {"after": 2, "question": "Where does Ana live now?", "answer": ["Bonn"], "not": ["Porto"]},
    ]
    probes = [{**one, "as_of": None, "type": "value"} for one in probes]
    turns = [{"speaker": one["speaker"], "text": one["text"], "date": one["at"]} for one in DIALOGUE["turns"]]
    (tmp_path / "revision").mkdir()
    entry = {"id": "r1", "kind": "update", "turns": turns, "probes": probes, "tags": []}
    (tmp_path / "revision" / "dev.jsonl").write_text(json.dumps(entry) + "\n")
    cases = draw_cases(tmp_path, count=20, seed=1)
    assert [case.planted for case in cases].count(True) == 10 and cases == draw_cases(tmp_path, count=20, seed=1)
    assert cases != draw_cases(tmp_path, count=20, seed=2)


def test_a_run_counts_catches_and_false_alarms(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text(json.dumps(DIALOGUE) + "\n")
    assert [case.person for case in read_cases(path)] == ["Ana"] * 3
    found = run(path, config=Config(encoder=EncoderConfig(name="hash"))).to_dict()
    assert (found["catch_rate"], found["false_alarms"], found["replies"]) == (1.0, 0.0, 3)
    assert found["kinds"]["state"] == {"replies": 1, "contradicted": 1}
