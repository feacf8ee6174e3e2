"""The tables and figures of the paper: from made-up measurements, and from a few small dialogues."""

import json
import sys

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import MissingDependencyError
from doxa.engine import Doxa
from doxa.recall import LAMBDA, Weights
from doxa_bench.implicit import AskedQuery, Scored, draw_dialogues
from doxa_bench.paper import run, studies
from doxa_bench.paper.figures import draw_figures, require_plots
from doxa_bench.paper.scaling import scaling, stretch
from doxa_bench.paper.tables import Cell, Table, measured, tables_of
from doxa_bench.prefeval import keep_readings

WORDS = Config(encoder=EncoderConfig(name="hash"))
SYSTEMS = ("bm25", "dense", "hipporag", "summary", "doxa", "no promotion")
SCALED = [
    {
        "factor": factor, "questions": 4, "turns": 80 * factor, "facts": 30, "p50_ms": 1.0, "p95_ms": 2.0,
        "disk_kb": 90.0 * factor,
        **{f"{name} {measure}": 0.5 for name in ("doxa", "dense") for measure in ("recall", "ndcg")},
        **{f"{name} {measure}_95": (0.4, 0.6) for name in ("doxa", "dense") for measure in ("recall", "ndcg")},
    }
    for factor in (1, 2)
]  # fmt: skip
FIGURES = {"recall": 0.5, "ndcg": 0.4, "disagreement": 0.2, "disagreement_steady": 0.3}
STUDIED = {
    "consistency": [{"lambda": weight, "steps": steps, **FIGURES} for weight in (0.1, 0.0) for steps in (0.0, 8.0)],
    "strength": [{"lambda": weight, **FIGURES, "reduction": weight, "reduction_steady": 0.1} for weight in (0.0, 0.1)],
    "coverage": [{"coverage": share, **FIGURES, "reduction": share / 2} for share in (0.0, 1.0)],
    "sensitivity": [{"tau": tau, "lambda": weight, **FIGURES} for tau in (0.6, 0.7) for weight in (0.0, 0.1)],
    "routing": {
        "shipped": True, "queries": 9, "error_routes": 0.1, "error_routes_static": 0.2, "flips": 0.03, "expanded": 0.1,
        "expansion_gain": None,
        "leads": {"recommendation": {"graph": 0.7, "dense": 0.2, "lexical": 0.1, "n": 9}},
        "policies": [{"name": name, "recall": 0.5, "ndcg": 0.4, "cost": 0.9}
                     for name in ("router", "static plan", "best plan in hindsight")],
        "plans": [{"name": "graph:40/16/8", "recall": 0.4, "ndcg": 0.3, "cost": 1.0}],
    },
    "scaling": SCALED,
    "view_times": {"lexical": {"mean_ms": 1.0, "p95_ms": 2.0}, "dense": {"mean_ms": 2.0, "p95_ms": 3.0}},
}  # fmt: skip
LOCOMO = {
    group: {"all": {"doxa": {"n": 3, "recall@10": 0.8, "recall@10_95": [0.7, 0.9], "ndcg@10": 0.6, "ndcg@10_95": None}}}
    for group in ("systems", "domains", "subtypes")
}


def asked(dialogue, kind="recommendation", after=60, distance=30, recall=0.5):
    scores = {
        name: Scored(recall=recall + 0.01 * place, ndcg=recall, faithful=1.0, stale=0, ms=2.0, tokens=100)
        for place, name in enumerate(SYSTEMS)
    }
    return AskedQuery(
        dialogue=dialogue, workload="films", query_id="q", text="?", kind=kind, subsets=("alias",), after=after,
        user_turns=after // 2, distance=distance, gold=1, systems=scores,
    )  # fmt: skip


ASKED = [
    asked("a", recall=0.2),
    asked("b", recall=0.8),
    asked("b", after=8, distance=5),
    asked("c", kind="explicit", recall=0.9),
]


def test_a_mean_has_an_interval_over_dialogues():
    cell = measured(ASKED[:2], lambda one: one.systems["bm25"].recall)
    assert cell.value == pytest.approx(0.5) and cell.low == pytest.approx(0.2) and cell.high == pytest.approx(0.8)
    assert str(cell) == "0.500 (0.20-0.80)" and str(Cell(value=0.5)) == "0.500"


def test_questions_of_one_dialogue_are_drawn_together():
    assert measured([ASKED[1], ASKED[1]], lambda one: one.systems["bm25"].recall).low is None


def test_every_table_has_a_row_for_what_was_measured():
    tables = {
        table.name: table
        for table in tables_of(ASKED, ablations=["no promotion"], history_tokens=900.0, locomo=LOCOMO, studied=STUDIED)
    }
    wanted = "main ablations workloads kinds robustness maturity distance no-regression locomo locomo-domains"
    wanted += " locomo-subtypes consistency strength coverage routing sensitivity scaling cost"
    assert list(tables) == wanted.split()
    assert [row[0] for row in tables["main"].rows] == [*SYSTEMS[:-1], "long context"]
    assert tables["main"].rows[-1][-1] == pytest.approx(9.0)
    assert [row[0] for row in tables["no-regression"].rows] == ["implicit (3)", "explicit (1)", "all (4)"]
    assert [row[0] for row in tables["maturity"].rows] == ["<= 10 turns (1)", "> 50 turns (2)"]
    lost = tables["ablations"].rows[1][-1]
    assert lost.value == pytest.approx(-0.01)


def test_nothing_measured_gives_no_table():
    assert tables_of([]) == []


def test_a_table_is_markdown_and_plain_data():
    table = Table(name="x", title="X", heads=("a", "b"), rows=((1, Cell(value=0.5, low=0.4, high=0.6)),), note="n")
    assert table.markdown() == "## X\n\n| a | b |\n| --- | --- |\n| 1 | 0.500 (0.40-0.60) |\n\nn\n"
    assert json.loads(json.dumps(table.to_dict()))["rows"] == [[1, [0.5, 0.4, 0.6]]]


def test_every_figure_is_a_png(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need the extra `plots`")
    paths = draw_figures(tmp_path, ASKED, STUDIED)
    assert [path.name.split("-")[1] for path in paths] == ["1", "3", "4", "5", "6", "7"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    assert draw_figures(tmp_path, [], {}) == []


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*matplotlib"):
        require_plots()
    with pytest.raises(MissingDependencyError):
        run(tmp_path / "out", dialogues=1, config=WORDS)
    assert not (tmp_path / "out").exists(), "nothing is measured for nothing"


def test_a_history_grows_between_what_is_needed_and_the_question():
    dialogue, *fillers = draw_dialogues(4, seed=3)
    once, twice = stretch(dialogue, fillers, 1), stretch(dialogue, fillers, 2)
    assert once.turns == dialogue.turns and twice.queries == once.queries
    assert len(twice.turns) > 1.5 * len(once.turns)
    needed = {turn_id for query in once.queries for turn_id in query.gold}
    before = [turn.turn_id for turn in twice.turns if turn.turn_id in needed]
    assert before == [turn.turn_id for turn in once.turns if turn.turn_id in needed]
    assert len({turn.turn_id for turn in twice.turns}) == len(twice.turns)


def test_scaling_measures_quality_time_and_room():
    dialogue, *fillers = draw_dialogues(3, seed=3)
    first, last = scaling([dialogue], fillers, factors=(1, 2), config=WORDS)
    assert last["turns"] > first["turns"] and last["disk_kb"] > first["disk_kb"] > 0
    assert 0 <= last["doxa recall"] <= 1 and last["p95_ms"] >= last["p50_ms"] > 0


@pytest.fixture(scope="module")
def logged():
    """Replays of two training and two test dialogues, with the engine that holds them."""
    train, test = (list(draw_dialogues(2, seed=seed, split=split)) for seed, split in ((1, "train"), (0, "test")))
    with Doxa.open(":memory:", config=WORDS) as doxa:
        doxa.parts.queries = keep_readings(doxa)
        yield studies.collect(train, doxa), studies.collect(test, doxa), test, doxa


def test_the_studies_say_what_they_varied(logged):
    train, test, _, _ = logged
    assert [one.dialogue for one in test] == sorted(one.dialogue for one in test)
    pair = [one.replay for one in train], [one.replay for one in test]
    curve = studies.consistency(Weights(), *pair)
    assert {(row["lambda"], row["steps"]) for row in curve} == {(w, s) for w in (LAMBDA, 0.0) for s in studies.STEPS}
    assert curve[0]["recall"] == curve[len(studies.STEPS)]["recall"], "before the first step there is no lambda"
    assert [row["coverage"] for row in studies.coverage(Weights(), *pair)] == [0.0, *studies.SHARES]
    strong = studies.strength(Weights(), *pair)
    assert [row["lambda"] for row in strong] == list(studies.STRENGTHS) and strong[0]["reduction"] == 0.0
    grid = studies.sensitivity(Weights(), {0.7: pair})
    assert [row["lambda"] for row in grid] == list(studies.LAMBDAS)


def test_routing_is_measured_against_what_every_plan_would_have_found(logged):
    train, test, _, _ = logged
    found = studies.routing(Weights(), train, test)
    assert not found["shipped"] and found["queries"] == len(test)
    assert [one["name"] for one in found["policies"]] == ["router", "static plan", "best plan in hindsight"]
    assert 0 <= found["error_routes"] <= 1 and 0 <= found["flips"] <= 1 and found["plans"]
    assert all(
        sum(row[lead] for lead in ("graph", "dense", "lexical")) == pytest.approx(1) for row in found["leads"].values()
    )


def test_every_view_is_timed(logged):
    *_, test, doxa = logged
    times = studies.view_times(test, doxa)
    assert {"lexical", "dense", "graph"} <= set(times) and all(row["mean_ms"] >= 0 for row in times.values())


def test_the_gate_of_promotion_is_set_in_the_settings():
    assert studies.with_tau(WORDS, 0.9).recall.tau == 0.9 and studies.with_tau(WORDS, None) is WORDS


def test_a_run_writes_markdown_and_json(tmp_path):
    report = run(tmp_path / "out", dialogues=2, parts=("implicit",), plots=False, config=WORDS)
    assert {path.name for path in report.files} == {"tables.md", "tables.json"}
    assert "## Main results (table 5)" in (tmp_path / "out" / "tables.md").read_text(encoding="utf-8")
    assert json.loads(json.dumps(report.to_dict()))["tables"]["main"]["rows"]
    assert report.models["encoder"].startswith("hash")
