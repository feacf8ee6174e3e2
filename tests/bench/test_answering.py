"""The scorer of answers, and the benchmarks that use it."""

import json

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import FormatError, MissingDependencyError, NotFoundError
from doxa.core.values import Reply
from doxa_bench import run_locomo_answers, run_longmemeval
from doxa_bench.answering import (
    Answered,
    contains,
    draw_risk_coverage,
    list_f1,
    measures,
    risk_coverage,
    score_of,
    token_f1,
)
from doxa_bench.longmemeval import read_questions

WORDS = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("7 May 2023", "7 May 2023", 1.0),
        ("The Becoming Nicole!", "becoming nicole", 1.0),
        ("1,000 euros", "1000 euro", 1.0),
        ("running and swimming", "swims", 2 / 3),
        ("May 2023", "7 May 2023", 0.8),
        ("Berlin", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("very very good", "very good good", 2 / 3),
    ],
    ids=repr,
)
def test_token_f1_is_that_of_the_published_scorer(answer, gold, f1):
    """Case, articles, punctuation and endings do not count; how often a token comes does."""
    assert token_f1(answer, gold) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("pottery, camping, painting", "painting, pottery", 1.0),
        ("pottery", "painting, pottery", 0.5),
        ("old clay pottery", "pottery, painting", 0.25),
    ],
    ids=repr,
)
def test_list_f1_is_the_mean_of_the_best_matches_of_the_gold_parts(answer, gold, f1):
    """Parts that are too much cost nothing."""
    assert list_f1(answer, gold) == pytest.approx(f1)


def test_what_is_not_known_is_right_by_abstention_alone():
    """An answer in words counts as one even when it says that it does not know."""
    assert score_of("unknown", Reply(text="I don't know.", abstained=True), "") == 1.0
    assert score_of("unknown", Reply(text="No idea.", value=""), "") == 0.0


def test_containment_takes_every_token():
    """An empty answer is contained in nothing."""
    assert contains("It was the 7 May 2023.", "7 May, 2023") and not contains("7 May", "7 May 2023")
    assert not contains("anything", "")


def answered(score, confidence, *, abstained=False, answerable=True):
    return Answered(
        question="?", group="single-hop", gold="x" if answerable else "", value="" if abstained else "y", score=score,
        contained=score, abstained=abstained, answerable=answerable, confidence=confidence, milliseconds=1.0,
    )  # fmt: skip


def test_risk_falls_with_coverage_when_confidence_is_right():
    """The surest answers come first and abstentions last."""
    rows = [answered(1.0, 0.9), answered(0.0, 0.2), answered(0.5, 0.5), answered(0.0, 0.99, abstained=True)]
    found = risk_coverage(rows)
    assert [risk for _, risk in found["curve"]] == [0.0, 0.25, 0.5, 0.625]
    assert found["aurc"] == found["best"] == pytest.approx(0.3438, abs=1e-4)
    assert risk_coverage([])["aurc"] is None


def test_measures_keep_the_answerable_apart():
    """False abstentions are of questions with an answer, abstentions of those without."""
    rows = [
        answered(1.0, 0.9),
        answered(0.0, 0.1, abstained=True),
        answered(1.0, 0.0, abstained=True, answerable=False),
    ]
    found = measures(rows, intervals=True)
    assert (found["n"], found["f1"], found["false_abstention"], found["abstention"]) == (3, 0.5, 0.5, 1.0)
    assert found["f1_95"] == [0.0, 1.0] and found["abstention_95"] is None
    assert measures([])["f1"] is None


def test_the_curve_is_drawn(tmp_path):
    """It is a PNG in a folder that is made."""
    pytest.importorskip("matplotlib")
    path = draw_risk_coverage(tmp_path / "new" / "risk.png", [answered(1.0, 0.9), answered(0.0, 0.2)])
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_curve_needs_its_extra(tmp_path, monkeypatch):
    """What is missing is named."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match="pip install .*matplotlib"):
        draw_risk_coverage(tmp_path / "risk.png", [])


LOCOMO = [
    {
        "sample_id": "a",
        "qa": [
            {"question": "Where does Ana live?", "answer": "Oslo", "evidence": ["D1:1"], "category": 4},
            {"question": "What does Ana own?", "answer": "a telescope; likely", "evidence": [], "category": 3},
            {"question": "Where does Ben live?", "adversarial_answer": "Oslo", "evidence": ["D1:1"], "category": 5},
        ],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Oslo."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice!"},
            ],
        },
    }
]


def test_locomo_answers_are_scored_by_category(tmp_path):
    """A fact is answered, what only the other speaker did is not, and questions without evidence count."""
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(LOCOMO), encoding="utf-8")
    found = run_locomo_answers(path, config=WORDS).to_dict(errors=1)
    assert (found["n"], found["turns"], found["conversations"]) == (3, 2, 1)
    assert found["categories"]["single-hop"]["f1"] == 1.0 and found["categories"]["adversarial"]["abstention"] == 1.0
    assert [one["question"] for one in found["errors"]] == ["What does Ana own?"] and found["errors"][0][
        "gold"
    ] == "a telescope"
    assert json.loads(json.dumps(found)) == found


def entry(name, question, answer, said):
    turns = [{"role": "user", "content": said}] if said else []
    return {
        "question_id": name, "question_type": "single-session-user", "question": question, "answer": answer,
        "question_date": "2023/05/30 (Tue) 10:00",
        "evidence_sessions": [{"date": "2023/05/20 (Sat) 09:00", "turns": turns}],
    }  # fmt: skip


@pytest.fixture
def longmemeval(tmp_path):
    """Writes questions, and dialogues to draw distractors from, and gives back the folder."""

    def write(content):
        folder = tmp_path / "longmemeval"
        folder.mkdir()
        (folder / "longmemeval_evidence_turns_500.json").write_text(json.dumps(content), encoding="utf-8")
        talk = [{"role": role, "content": "Why is the sky blue?"} for role in ("user", "assistant")]
        pool = [{"session_id": "s", "date": "2023/05/20 (Sat) 02:21", "turns": talk}]
        (folder / "haystack_session_pool.json").write_text(json.dumps(pool), encoding="utf-8")
        return folder

    return write


def test_longmemeval_asks_every_question_of_a_memory_of_its_own(longmemeval):
    """What one user said is not known of another, and knowing nothing is right for `_abs`."""
    folder = longmemeval(
        [
            entry("one", "Where do I live?", "Oslo (or the capital)", "I live in Oslo."),
            entry("two_abs", "Where do I live?", "You did not mention it.", ""),
        ]
    )
    found = run_longmemeval(folder, config=WORDS).to_dict()
    assert (found["f1"], found["contained"], found["abstention"]) == (1.0, 1.0, 1.0)
    assert found["turns"] == 41 and found["distractors"] == 20


def test_a_published_record_is_all_that_a_memory_holds(tmp_path):
    """Its sessions are heard at their dates, without turns of other dialogues."""
    record = {
        "question_id": "q",
        "question_type": "single-session-user",
        "question": "Where do I live?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "Oslo",
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I moved to Oslo."}, {"role": "assistant", "content": "How nice."}],
            [{"role": "user", "content": "I live in Bergen."}],
        ],
    }
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    found = run_longmemeval(path, config=WORDS).to_dict()
    assert (found["contained"], found["turns"], found["distractors"]) == (1.0, 3, 0)


def test_answers_count_in_every_form_that_is_given(longmemeval):
    """Explanations in brackets are no part of it, other forms are forms."""
    also = "7 days. 8 days (including the last day) is also acceptable."
    first, second = read_questions(
        longmemeval([entry("a", "?", also, ""), entry("b", "?", "25 minutes (or 25:00)", "")])
    )
    assert {"7 days", "8 days"} <= set(first.forms) and {"25 minutes", "25:00"} <= set(second.forms)


def test_what_is_no_longmemeval_is_refused(longmemeval, tmp_path):
    """It says what was expected."""
    with pytest.raises(NotFoundError, match="longmemeval_evidence_turns_500"):
        read_questions(tmp_path)
    with pytest.raises(FormatError, match="evidence_sessions"):
        read_questions(longmemeval([{"question": "?"}]))
