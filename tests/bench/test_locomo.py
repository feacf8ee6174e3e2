"""The LoCoMo benchmark on a file of two small conversations."""

import json

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_locomo

WORDS = Config(encoder=EncoderConfig(name="hash"))


def sample(name, qa):
    return {
        "sample_id": name,
        "qa": qa,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a kitten yesterday."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a photo of a telescope"},
            ],
            "session_2_date_time": "10:00 am on 1 June, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I moved to Oslo."}],
        },
    }


def question(text, evidence, category=4):
    return {"question": text, "answer": "", "evidence": evidence, "category": category}


@pytest.fixture
def locomo(tmp_path):
    """Writes samples to a file and gives back its path."""

    def write(content):
        path = tmp_path / "locomo.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def test_the_report_measures_every_question_with_evidence(locomo):
    path = locomo(
        [
            sample("a", [question("Who adopted a kitten?", ["D1:1"]), question("Where is Oslo?", ["D2:1"], 2)]),
            sample("b", [question("Who has a telescope?", ["D1:2"], 1)]),
        ]
    )
    report = run_locomo(path, k=1, config=WORDS).to_dict()
    assert (report["n"], report["recall@1"], report["ndcg@1"], report["mrr"]) == (3, 1.0, 1.0, 1.0)
    assert list(report["categories"]) == ["multi-hop", "temporal", "single-hop"]
    assert report["conversations"] == 2 and report["turns"] == 6 and report["turns_per_s"] > 0
    assert report["latency_ms"]["p95"] >= report["latency_ms"]["p50"] > 0
    assert report["models"]["llm"] is None and "versions" in report and "revision" in report
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize(
    ("evidence", "n", "skipped", "unknown"),
    [
        (["D1:1; D2:1"], 1, 0, 0),
        (["D1:1 D2:1", "D9:9"], 1, 0, 1),
        (["D:1:01"], 1, 0, 0),
        (["D9:9"], 0, 1, 1),
        (["D"], 0, 1, 1),
        ([], 0, 1, 0),
        (None, 0, 1, 0),
        ("D1:1", 1, 0, 0),
    ],
    ids=repr,
)
def test_odd_evidence_is_read_or_counted(locomo, evidence, n, skipped, unknown):
    report = run_locomo(locomo([sample("a", [question("kitten or Oslo?", evidence)])]), config=WORDS)
    assert (len(report.scores), report.skipped, report.unknown_evidence) == (n, skipped, unknown)


def test_several_ids_in_one_string_all_count(locomo):
    report = run_locomo(locomo([sample("a", [question("kitten or Oslo?", ["D1:1; D2:1"])])]), k=1, config=WORDS)
    assert report.scores[0].recall == 0.5


def test_limit_and_progress(locomo):
    """Only the first conversations are run, and the caller is told."""
    told = []
    path = locomo([sample(name, [question("kitten", ["D1:1"])]) for name in "abc"])
    report = run_locomo(path, config=WORDS, limit=1, progress=lambda *step: told.append(step))
    assert report.conversations == 1 and told[0] == ("absorb a", 0, 3) and told[-1] == ("search a", 0, 1)


@pytest.mark.parametrize(
    "content",
    ["[]", "{}", "not json", '[{"conversation": {"session_1": []}}]', '{"role": "user", "content": "hi"}'],
    ids=repr,
)
def test_a_file_without_questions_is_refused(locomo, content):
    with pytest.raises(FormatError, match="LoCoMo"):
        run_locomo(locomo(content), config=WORDS)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nowhere\.json"):
        run_locomo(tmp_path / "nowhere.json", config=WORDS)


def test_the_implicit_slice_is_measured_by_itself(locomo):
    path = locomo([sample("a", [question("Who adopted a kitten?", ["D1:1"]), question("Any pets?", ["D1:1"])])])
    report = run_locomo(path, config=WORDS)
    assert [score.implicit for score in report.scores] == [False, True]
    assert report.to_dict()["implicit"]["n"] == 1 and "systems" not in report.to_dict()


def test_baselines_rank_the_same_turns(locomo):
    asked = [question("Who adopted a kitten?", ["D1:1"]), question("Any pets for Ana?", ["D1:1"])]
    report = run_locomo(locomo([sample("a", asked), sample("b", asked)]), k=1, config=WORDS, baselines=True).to_dict()
    systems = report["systems"]["all"]
    assert list(systems) == [
        "doxa",
        "bm25",
        "dense",
        "rrf",
        "dense, as the speaker says it",
        "rrf, as the speaker says it",
    ]
    assert all(row["n"] == 4 for row in systems.values()) and systems["bm25"]["recall@1"] >= 0.5
    assert report["systems"]["implicit"]["bm25"]["n"] == 2
    assert sum(row["doxa"]["n"] for row in report["domains"].values()) == 2
    assert sum(row["doxa"]["n"] for row in report["subtypes"].values() if row) == 2
    assert report["tokens"]["long-context"] > report["tokens"]["evidence"] > 0
    assert json.loads(json.dumps(report)) == report
