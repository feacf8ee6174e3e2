"""Relations of a dialogue, on two small dialogues of our own."""

import json

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_dialogre
from doxa_bench.dialogre import covered_labels

WORDS = Config(encoder=EncoderConfig(name="hash"))
DIALOGUES = [
    [
        ["Speaker 1: My sister Mia lives in Graz.", "Speaker 2: I don't like Mia.", "Speaker 1, Speaker 2: Oh!"],
        [
            {"x": "Speaker 1", "y": "Mia", "r": ["per:siblings"], "rid": [1], "t": [""]},
            {"x": "Mia", "y": "Speaker 1", "r": ["per:siblings"], "rid": [1], "t": [""]},
            {"x": "Mia Berger", "y": "Graz", "r": ["per:place_of_residence"], "rid": [1], "t": [""]},
            {"x": "Speaker 2", "y": "Mia", "r": ["per:negative_impression"], "rid": [1], "t": [""]},
            {"x": "Speaker 2", "y": "Graz", "r": ["unanswerable"], "rid": [1], "t": [""]},
            {"x": "Mia", "y": "Speaker 2", "r": ["per:client"], "rid": [1], "t": [""]},
        ],
    ],
    [
        ["Speaker 1: I work at Siemens."],
        [{"x": "Speaker 1", "y": "Siemens", "r": ["per:pet"], "rid": [1], "t": [""]}],
    ],
]


@pytest.fixture
def dialogues(tmp_path):
    """Writes dialogues to a file and gives back its path."""

    def write(content):
        path = tmp_path / "test.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def test_labels_are_found_in_either_direction(dialogues):
    report = run_dialogre(dialogues(DIALOGUES), config=WORDS, limit=1).to_dict()
    assert (report["right"], report["gold"], report["recall"], report["precision"]) == (4, 4, 1.0, 1.0)
    assert report["labels"]["per:siblings"]["right"] == 2
    assert report["left_out"] == {"per:client": 1}
    assert (report["dialogues"], report["turns"]) == (1, 3)
    assert json.loads(json.dumps(report)) == report


def test_a_wrong_label_lowers_precision(dialogues):
    """Place of work and employer are predicted for a pair that is annotated as something else."""
    report = run_dialogre(dialogues(DIALOGUES).parent, config=WORDS).to_dict()
    assert (report["right"], report["gold"]) == (4, 5)
    assert report["labels"]["per:place_of_work"] == {
        "precision": 0.0, "recall": None, "f1": None, "right": 0, "predicted": 1, "gold": 0,
    }  # fmt: skip
    assert report["predicted"] == 6


def test_dialogues_do_not_know_each_other(dialogues):
    """Speaker 1 of the second is not the brother of Mia."""
    pair = {"x": "Speaker 1", "y": "Mia", "r": ["unanswerable"], "rid": [1], "t": [""]}
    report = run_dialogre(dialogues([DIALOGUES[0], [["Speaker 1: Hi."], [pair]]]), config=WORDS).to_dict()
    assert (report["right"], report["predicted"]) == (4, 4)


def test_the_table_names_labels_of_the_benchmark():
    assert all(label.startswith(("per:", "gpe:", "org:")) for label in covered_labels())


@pytest.mark.parametrize("content", ["{}", "not json", "[[1, 2]]", '[[["no speaker"], []]]'], ids=repr)
def test_a_foreign_file_is_refused(dialogues, content):
    with pytest.raises(FormatError, match="DialogRE"):
        run_dialogre(dialogues(content), config=WORDS)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nowhere\.json"):
        run_dialogre(tmp_path / "nowhere.json")
