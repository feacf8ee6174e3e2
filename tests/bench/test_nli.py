import json

import numpy as np
import pytest

from doxa.core.config import Config, NliConfig
from doxa.core.errors import ConfigError, FormatError, NotFoundError
from doxa_bench import run_nli
from doxa_bench.nli import calibration_error, read_pairs

SCRIPTED = Config(nli=NliConfig(name="scripted"))  # it takes every pair for neutral, with 0.9


def written(folder, *labels):
    path = folder / "pairs.jsonl"
    rows = [{"premise": f"It is {n}.", "hypothesis": f"It was {n}.", "label": label} for n, label in enumerate(labels)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def test_the_report_counts_what_each_label_was_taken_for(tmp_path):
    path = written(tmp_path, "neutral", "neutral", "neutral", "entailment", "contradiction")
    found = run_nli(path, config=SCRIPTED).to_dict()
    assert found["accuracy"] == 0.6
    assert found["confusion"]["entailment"] == {"entailment": 0, "neutral": 1, "contradiction": 0}
    assert found["classes"]["neutral"] == {"precision": 0.6, "recall": 1.0, "f1": 0.75, "pairs": 3}
    assert found["classes"]["contradiction"] == {"precision": None, "recall": 0.0, "f1": 0.0, "pairs": 1}
    assert found["macro_f1"] == 0.25
    assert found["ece"] == pytest.approx(0.3, abs=1e-4)
    assert found["models"] == {"nli": "scripted"}


def test_a_label_of_two_classes_is_right_and_sure_by_both_together(tmp_path):
    found = run_nli(written(tmp_path, "not_contradiction", "contradiction"), config=SCRIPTED).to_dict()
    assert found["accuracy"] == 0.5
    assert found["ece"] == pytest.approx(0.45, abs=1e-4)  # 0.95 sure twice, right once
    assert found["classes"]["not_contradiction"]["recall"] == 1.0


def test_a_limit_leaves_the_rest_unread(tmp_path):
    assert run_nli(written(tmp_path, "neutral", "entailment"), config=SCRIPTED, limit=1).pairs == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "line 2: expected a JSON object"),
        ("[1, 2]", "line 2: expected a JSON object, got list"),
        ('{"premise": "a", "label": "neutral"}', "line 2: expected text as 'hypothesis', got None"),
        ('{"premise": "a", "hypothesis": "b", "label": "maybe"}', "line 2: expected a label of entailment, neutral"),
        ('{"premise": 3, "hypothesis": "b", "label": "neutral"}', "line 2: expected text as 'premise', got 3"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, said):
    path = written(tmp_path, "neutral")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(FormatError, match=said):
        read_pairs(path)


def test_a_file_without_pairs_is_refused(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("\n\n")
    with pytest.raises(FormatError, match="it has none"):
        read_pairs(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"absent\.jsonl: cannot be read"):
        run_nli(tmp_path / "absent.jsonl", config=SCRIPTED)


def test_no_model_is_no_benchmark(tmp_path):
    with pytest.raises(ConfigError, match="nli.name is 'none'"):
        run_nli(written(tmp_path, "neutral"), config=Config(nli=NliConfig(name="none")))


def test_calibration_is_the_mean_gap_of_confidence_and_accuracy():
    sure = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    right = np.array([True, True, True, False, True, False])
    assert calibration_error(sure, right) == pytest.approx((4 * 0.20 + 2 * 0.05) / 6)
    assert calibration_error(np.ones(3), np.ones(3, dtype=bool)) == 0.0
    assert calibration_error(np.empty(0), np.empty(0, dtype=bool)) == 0.0
