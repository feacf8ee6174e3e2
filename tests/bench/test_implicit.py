"""The implicit benchmark: a small run from end to end, its report, and the systems that it compares with."""

import json
from dataclasses import replace

import numpy as np
import pytest

from doxa.backends import load
from doxa.core.config import Config
from doxa.core.values import Fact, Relation, Term
from doxa_bench import run_implicit
from doxa_bench.baselines import Corpus
from doxa_bench.implicit.report import OURS, AskedQuery, ImplicitReport, Scored
from doxa_bench.implicit.rivals import History, rank_all

SYSTEMS = ["bm25", "dense", "rrf", "dense+user", "dense+turn", "dense+rerank", "hipporag", "summary", OURS]


@pytest.fixture(scope="module")
def report():
    return run_implicit(dialogues=2, seed=4, config=Config.from_tree({"encoder": {"name": "hash"}}))


def without_times(found):
    """Return a report as plain data, less what a clock tells."""
    kept = json.loads(json.dumps(found))
    for row in kept["main"].values():
        del row["ms"], row["time"]
    return {name: value for name, value in kept.items() if name not in ("turns_per_s", "encode_ms")}


def test_a_run_measures_every_system_on_every_question(report):
    found = report.to_dict()
    assert list(found["main"]) == SYSTEMS
    assert found["questions"] + found["explicit_questions"] == len(report.asked) >= 6
    assert found["dialogues"] == 2 and found["turns"] > 120 and found["distractors"] == "built in"
    for row in found["main"].values():
        low, high = row["recall@10_95"]
        assert 0 <= low <= row["recall@10"] <= high <= 1
        assert row["ms"]["p95"] >= 0 and row["tokens"] >= 0
    assert found["main"]["dense"]["cost"] == 1.0
    assert found["long_context"]["cost"] > 2


def test_words_find_nothing_but_what_a_question_repeats(report):
    found = report.to_dict()
    assert found["main"]["bm25"]["recall@10"] == 0.0
    assert found["no_regression"]["explicit"]["systems"]["bm25"]["recall@10"] > 0.9


def test_the_same_run_twice_says_the_same(report):
    """After a first run: with this encoder, what tells concepts is learned in the background while that one goes on."""
    config = Config.from_tree({"encoder": {"name": "hash"}})
    one, two = (run_implicit(dialogues=2, seed=4, config=config).to_dict() for _ in range(2))
    assert len(report.asked) == one["questions"] + one["explicit_questions"]
    assert without_times(one) == without_times(two)


def test_early_questions_are_asked_of_what_had_been_said_by_then(report):
    for one in report.asked:
        assert 0 < one.distance <= one.after and 0 < one.user_turns < one.after


def scored(recall):
    return Scored(recall=recall, ndcg=recall / 2, faithful=1.0, stale=0, ms=1.0, tokens=10)


def asked(dialogue, ours, dense):
    return AskedQuery(
        dialogue=dialogue,
        workload="films",
        query_id="Q1",
        text="What should I watch?",
        kind="recommendation",
        subsets=("alias",),
        after=70,
        user_turns=40,
        distance=65,
        gold=2,
        systems={"dense": scored(dense), OURS: scored(ours)},
    )


EMPTY = ImplicitReport(
    seed=0, split="test", distractors="built in", dialogues=0, turns=0, ingest_s=0.0, encode_ms=0.0, k=10,
    history_tokens=100.0, asked=(),
)  # fmt: skip


def test_a_gain_is_paired_by_dialogue():
    """Ours is always 0.1 above: the interval of the gain has no width, however much the dialogues differ."""
    report = replace(EMPTY, asked=tuple(asked(f"d{n}", n / 10 + 0.1, n / 10) for n in range(9)))
    found = report.to_dict()
    assert found["gains"]["dense"]["recall@10"] == pytest.approx(0.1)
    assert found["gains"]["dense"]["recall@10_95"] == pytest.approx([0.1, 0.1])
    low, high = found["main"][OURS]["recall@10_95"]
    assert high - low > 0.2


def test_intervals_draw_dialogues_and_not_questions():
    """Nine questions of one dialogue are one draw."""
    many = [asked("d0", 1.0, 0.0)] * 9 + [asked("d1", 0.0, 0.0)]
    low, high = replace(EMPTY, asked=tuple(many)).to_dict()["main"][OURS]["recall@10_95"]
    assert (low, high) == (0.0, 1.0)


def test_an_empty_run_is_a_report_without_rows():
    assert EMPTY.to_dict()["main"] == {}


class OneHot:
    """An encoder of four words, each a direction of its own."""

    name, dims = "one-hot", 4
    words = ("film", "sea", "Titanic", "bread")

    def encode(self, texts):
        rows = np.array([[float(word in text) for word in self.words] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def close(self):
        """Nothing to let go of."""


def history(facts=(), summary=""):
    texts = ("I cried over Titanic at sea", "I bake bread", "Titanic again last night", "Nothing to say")
    encoder = OneHot()
    return History(
        corpus=Corpus.of(["t1", "t2", "t3", "t4"], texts, encoder.encode(texts)),
        texts=texts,
        own=np.array([True, True, False, True]),
        facts=tuple(facts),
        summary=summary,
        encoder=encoder,
    )


def fact(number, subject, obj, *turn_ids):
    return Fact(
        fact_id=f"f{number}",
        subject=Term(subject, subject),
        relation=Relation("likes", "likes"),
        object=Term(obj, obj),
        turn_ids=turn_ids,
    )


def test_a_walk_over_facts_reaches_turns_that_are_not_near_the_question():
    """The question is near "sea"; the fact about the sea names Titanic, which turn t3 tells of."""
    facts = [fact(1, "Titanic", "sea", "t1"), fact(2, "Ana", "Titanic", "t3"), fact(3, "Ben", "bread", "t2")]
    found = rank_all("the sea", "", history(facts))
    assert found["dense"].turn_ids == ("t1",)
    assert found["hipporag"].turn_ids[:2] == ("t1", "t3")


def test_a_walk_without_facts_is_the_nearest_turns():
    assert rank_all("the sea", "", history())["hipporag"].turn_ids == ("t1",)


def test_a_summary_finds_only_what_it_kept():
    facts = [fact(1, "Ana", "Titanic", "t1"), fact(2, "Ana", "bread", "t2")]
    assert rank_all("Titanic?", "", history(facts, "Ana likes bread."))["summary"].turn_ids == ("t2",)


def test_the_turn_before_a_question_is_read_with_it():
    found = rank_all("And on Sunday?", "About the film Titanic.", history())
    assert found["dense"].turn_ids == () and "t3" in found["dense+turn"].turn_ids


def test_turns_of_the_user_alone_can_be_searched():
    found = rank_all("Titanic", "", history())
    assert found["dense"].turn_ids == ("t3", "t1") and found["dense+user"].turn_ids == ("t1",)


def test_a_question_that_a_model_rewrites_is_searched_in_its_words():
    model = load("llm", "scripted", replies=["film Titanic"])
    found = rank_all("What should I watch?", "", replace(history(), model=model))
    assert found["dense"].turn_ids == () and found["rewrite"].turn_ids == ("t3", "t1")
    assert found["rewrite"].read > 0 and "What should I watch?" in model.requests[0].messages[-1].content


def test_a_model_that_fails_leaves_the_question_as_it_is():
    found = rank_all("Titanic", "", replace(history(), model=load("llm", "scripted", replies=[])))
    assert found["rewrite"].turn_ids == found["dense"].turn_ids and found["rewrite"].read == 0


def test_a_second_look_prefers_a_sentence_that_fits():
    texts = ("film. sea sea bread", "film bread")
    encoder = OneHot()
    one = History(
        corpus=Corpus.of(["t1", "t2"], texts, encoder.encode(texts)),
        texts=texts,
        own=np.ones(2, dtype=bool),
        facts=(),
        summary="",
        encoder=encoder,
    )
    found = rank_all("film", "", one)
    assert found["dense"].turn_ids == ("t2", "t1") and found["dense+rerank"].turn_ids == ("t1", "t2")
