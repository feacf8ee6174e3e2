"""MT-Bench-101: reading, the measures, the refined subset, and an offline run that is stopped and goes on."""

import json
import sys

import numpy as np
import pytest

from doxa.backends.nli.scripted import ScriptedNli
from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, InputError, MissingDependencyError, NotFoundError
from doxa_bench.mtbench101 import run, run_refined
from doxa_bench.mtbench101.complexity import complexity, refine
from doxa_bench.mtbench101.dialogues import BenchDialogue, Exchange, read_benchmark
from doxa_bench.mtbench101.entailment import JournalledNli
from doxa_bench.mtbench101.figures import draw_figures
from doxa_bench.mtbench101.journal import Journal, key_of
from doxa_bench.mtbench101.lexical import bleu, has_bleu, word_f1
from doxa_bench.mtbench101.measures import DialogueResult, TurnResult, by_task, by_turn, measured, overall, plain
from doxa_bench.mtbench101.results import read_results, write_results
from doxa_bench.paper.tables import Cell

WORDS = Config(encoder=EncoderConfig(name="hash"))
DIALOGUES = [
    ("CM", "1", [("My dog is called Rex.", "A fine name."), ("What is my dog called?", "Your dog is called Rex.")]),
    ("GR", "2", [("A is taller than B. Who is taller?", "A is taller than B.")]),
    (
        "CM",
        "3",
        [("I like tea. If it is green, never boil it.", "Noted, Ms Ito of Kyoto."), ("So?", "Do not boil it.")],
    ),
]


class CountingNli:
    """Entailed is what stands in the premise, contradicted what is said with `not`; it counts what it is asked."""

    def __init__(self, name="counting", neutral=0.05):
        self.name, self.asked, self.neutral = name, [], neutral

    def classify(self, pairs):
        self.asked += pairs
        return np.asarray([self.row(*pair) for pair in pairs], dtype=np.float32)

    def row(self, premise, hypothesis):
        likely = 0.95 - self.neutral
        if hypothesis.rstrip(".") in premise:
            return (likely, 0.05, self.neutral)
        return (
            (self.neutral, 0.05, likely) if "not" in hypothesis.casefold() else (0.1, 0.9 - self.neutral, self.neutral)
        )

    def close(self):
        """Nothing is held."""


@pytest.fixture
def data(tmp_path):
    """A file of three short dialogues."""
    path = tmp_path / "mtbench101.jsonl"
    rows = [
        {"task": task, "id": int(number), "history": [{"user": user, "bot": bot} for user, bot in turns]}
        for task, number, turns in DIALOGUES
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def dialogue(*turns, task="CM", number="1"):
    return BenchDialogue(id=number, task=task, turns=tuple(Exchange(*turn) for turn in turns))


def result(number="1", *, run=0, task="CM", turns=((0.5, "neutral", None),)):
    made = [
        TurnResult(turn=at, f1=0.5, cs=cs, label=label, score=score)
        for at, (cs, label, score) in enumerate(turns, start=1)
    ]
    return DialogueResult(system="base", run=run, id=number, task=task, turns=tuple(made))


def test_dialogues_are_read_from_a_file_or_its_folder(data):
    assert [(one.id, one.task, len(one.turns)) for one in read_benchmark(data)] == [
        ("1", "CM", 2), ("2", "GR", 1), ("3", "CM", 2),
    ]  # fmt: skip
    assert read_benchmark(data.parent) == read_benchmark(data)


def test_few_dialogues_come_from_every_task(data):
    assert [one.id for one in read_benchmark(data, limit=2)] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task": "XX", "id": 1, "history": [{"user": "a", "bot": "b"}]}', "task out of CM"),
        ('{"task": "CM", "id": 1, "history": []}', "at least one turn"),
        ('{"task": "CM", "id": 1}', "history"),
    ],
    ids=["task", "no turns", "no history"],
)
def test_what_is_no_dialogue_is_named(tmp_path, line, said):
    path = tmp_path / "x.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(FormatError, match=said):
        read_benchmark(path)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(NotFoundError):
        read_benchmark(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("reply", "reference", "expected"),
    [("A red car", "a red car", 1.0), ("a red car", "the blue bus", 0.0), ("red red", "red car", 0.5), ("", "a", 0.0)],
)
def test_word_f1_is_over_bags_of_words(reply, reference, expected):
    assert word_f1(reply, reference) == pytest.approx(expected)


def test_bleu_is_sacrebleus():
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra `bleu`")
    assert bleu("the cat sat on the mat", "the cat sat on the mat") == pytest.approx(1.0)
    # By hand: 5/6, 3/5, 1/4 and 1/6 (smoothed) of the n-grams are right, and there is no brevity penalty.
    expected = (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** 0.25
    assert bleu("the cat sat on a mat", "the cat lay on a mat") == pytest.approx(expected, rel=0.35)
    assert bleu("nothing alike", "the cat sat on the mat") < 0.1


def test_without_sacrebleu_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    monkeypatch.setattr("doxa_bench.mtbench101.lexical._scorer", _uncached())
    assert not has_bleu()
    with pytest.raises(MissingDependencyError, match=r"pip install .*sacrebleu"):
        bleu("a", "b")


def _uncached():
    from doxa_bench.mtbench101 import lexical

    return lexical._scorer.__wrapped__


def test_a_journal_outlives_its_process_and_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path).put({"a": 1, "b": "x\u2028y"})
    with path.open("a") as file:
        file.write('["c", 2')
    again = Journal(path)
    assert (again.get("a"), again.get("b"), again.get("c"), again.resumed) == (1, "x\u2028y", None, 2)
    again.put({"c": 3})
    assert Journal(path).get("c") == 3


def test_a_pair_is_classified_once(tmp_path):
    """In one call, in the next, and in the next process; but again by other weights under the same name."""
    nli = CountingNli()
    classify = JournalledNli(nli, Journal(tmp_path / "nli.jsonl"))
    rows = classify([("p", "p"), ("p", "not"), ("p", "p")])
    assert rows.shape == (3, 3) and rows[0].tolist() == rows[2].tolist()
    assert classify([("p", "not")]).tolist() == rows[1:2].tolist()
    assert (classify.asked, len(nli.asked)) == (2, 3)  # one more at the start, to know the weights
    assert JournalledNli(CountingNli(), Journal(tmp_path / "nli.jsonl"))([("p", "p")])[0].tolist() == rows[0].tolist()
    other = JournalledNli(CountingNli(neutral=0.2), Journal(tmp_path / "nli.jsonl"))
    assert other([("p", "p")])[0][0] == pytest.approx(0.75)


def test_the_score_of_a_dialogue_is_that_of_its_worst_turn():
    one = result(turns=((0.5, "neutral", None), (0.9, "entailment", 8.0), (0.1, "contradiction", 3.0)))
    assert one.score == 3.0
    assert one.measure("der") == pytest.approx(1 / 3) and one.measure("contradicted") == pytest.approx(1 / 3)
    assert one.measure("cs") == pytest.approx(0.5)
    assert result().score is None


def test_runs_of_a_dialogue_are_averaged_before_dialogues_are():
    """Two runs of one dialogue count as much as one run of another."""
    found = [result("1", run=at, turns=((cs, "neutral", None),)) for at, cs in enumerate((0.2, 0.4))]
    cell = overall([*found, result("2", turns=((0.9, "entailment", 7.0),))])["cs"]
    assert cell.value == pytest.approx((0.3 + 0.9) / 2)
    assert (cell.low, cell.high) == (pytest.approx(0.3), pytest.approx(0.9))
    assert measured([], lambda one: 1.0) is None


def test_measures_come_by_task_and_by_turn():
    found = [
        result("1", turns=((0.5, "neutral", 8.0), (0.9, "entailment", 4.0))),
        result("2", task="GR", turns=((0.7, "entailment", 6.0),)),
    ]
    assert by_task(found)["CM"]["score"].value == 4.0
    turns = by_turn(found)
    assert turns[1]["score"].value == pytest.approx(7.0) and turns[2]["score"].value == pytest.approx(4.0)
    assert turns[1]["der"].value == pytest.approx(0.5)
    assert "bleu" not in plain(turns[1]) and plain(turns[2])["cs_95"] is None


def test_complexity_counts_names_numbers_conditions_and_negations():
    found = complexity(
        dialogue(
            ("If Ana comes to Lisbon, do not call her.", "I will not call Ana."),
            ("It costs $20.", "Ana said that Lisbon costs 20% more than Bonn did."),
        )
    )
    assert (found.turns, found.conditional, found.negative) == (2, 0.5, 0.5)
    assert found.entities == 5  # Ana, Lisbon, Bonn, $20, 20%
    assert found.new_entities == 2.5
    assert found.words_per_turn == pytest.approx((9 + 5 + 3 + 10) / 2)


def test_the_refined_subset_leaves_out_what_is_too_easy_or_too_hard():
    hard = dialogue(("If Ana, Ben or Cem come to Bonn by 8, do not let Dee in.", "Unless Ana calls, no."), number="1")
    plain_ones = [dialogue(("hello there", "hello"), number=str(at)) for at in range(2, 9)]
    assert refine([*plain_ones, hard], share=0.125).ids == ("1",)
    judged = refine([*plain_ones, hard], {"1": 9.0, "2": 5.0, "3": 2.0}, share=0.5)
    assert (judged.ids, judged.kept, judged.judged) == (("2",), 1, True)
    found = refine([hard, *plain_ones], share=0.125).statistics
    assert found["entities"][1] > found["entities"][0]
    assert found["ttr_alike"][1] > found["ttr_alike"][0]


def test_results_are_read_as_they_were_written(tmp_path):
    found = {"base": [result(turns=((0.123456, "neutral", 7.0),))]}
    path = write_results(tmp_path / "results.json", found)
    assert read_results(path)["base"][0].turns[0] == TurnResult(turn=1, f1=0.5, cs=0.12346, label="neutral", score=7.0)
    assert read_results(tmp_path / "none.json") == {}
    path.write_text('{"base": [{"x": 1}]}')
    with pytest.raises(FormatError, match="results"):
        read_results(path)


def test_an_offline_run_scores_reference_and_built_in_replies(data, tmp_path):
    """The reference agrees with itself, and its replies are judged against what was said before them."""
    nli = CountingNli()
    report = run(data, out=tmp_path / "out", nli=nli, config=WORDS)
    found = report.to_dict()
    assert (found["dialogues"], found["turns"], found["stand_in"]) == (3, 5, False)
    assert set(found["systems"]) == {"reference", "builtin"}
    assert found["systems"]["reference"]["f1"] == 1.0
    assert found["systems"]["reference"]["turns"]["1"]["der"] == pytest.approx(1 / 3, abs=1e-3)  # of dialogue 2
    assert ("My dog is called Rex. A fine name. What is my dog called?", "Your dog is called Rex.") in nli.asked
    assert found["systems"]["builtin"]["f1"] < 1.0
    assert found["left_out"]["score"].startswith("no judge")
    assert {path.name for path in report.files} == {"tables.md", "tables.json", "results.json", "refined.json"}
    assert "| reference | 3 |" in (tmp_path / "out" / "tables.md").read_text()
    assert json.loads(json.dumps(found))["tables"]["overall"]["rows"][0][0] == "reference"


def test_the_built_in_replies_go_on_from_its_own_and_know_what_was_said(data, tmp_path):
    report = run(data, out=tmp_path / "out", systems=["builtin"], config=WORDS, nli=CountingNli())
    kept = [json.loads(line)[1] for line in (tmp_path / "out" / "replies.jsonl").read_text().splitlines()]
    assert "Rex" in kept[0][1]["text"]
    assert report.to_dict()["systems"]["builtin"]["runs"] == 1


def test_a_run_that_was_stopped_goes_on(data, tmp_path):
    """The second run asks no model again."""
    out, nli = tmp_path / "out", CountingNli()
    first = run(data, out=out, nli=nli, config=WORDS)
    size, asked = (out / "replies.jsonl").stat().st_size, len(nli.asked)
    again = run(data, out=out, nli=nli, config=WORDS)
    assert (out / "replies.jsonl").stat().st_size == size
    assert len(nli.asked) == asked + 1  # the pair that tells the weights
    assert again.to_dict()["systems"]["reference"] == first.to_dict()["systems"]["reference"]


def test_without_an_nli_model_the_rest_is_measured(data, tmp_path):
    config = WORDS.model_copy(update={"nli": WORDS.nli.model_copy(update={"name": "none"})})
    found = run(data, out=tmp_path / "out", config=config).to_dict()
    assert "nli.name" in found["left_out"]["CS and DER"]
    assert "cs" not in found["systems"]["reference"]


def test_an_nli_model_without_its_weights_is_left_out_with_the_reason(data, tmp_path):
    config = WORDS.model_copy(update={"nli": WORDS.nli.model_copy(update={"model": tmp_path / "nowhere"})})
    found = run(data, out=tmp_path / "out", config=config).to_dict()
    assert "nowhere" in found["left_out"]["CS and DER"] and found["systems"]["reference"]["f1"] == 1.0


def test_a_scripted_nli_model_is_named_as_a_stand_in(data, tmp_path):
    report = run(data, out=tmp_path, config=WORDS, nli=ScriptedNli({}))
    assert report.stand_in
    assert (tmp_path / "tables.md").read_text().startswith("# MT-Bench-101: STAND-IN model")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"systems": ["best"]}, InputError, "systems out of reference"),
        ({"runs": 0}, InputError, "at least 1 run"),
        ({"systems": ["base"]}, Exception, "need a language model"),
    ],
    ids=["system", "runs", "no model"],
)
def test_options_that_cannot_be_are_refused(data, tmp_path, options, error, said):
    with pytest.raises(error, match=said):
        run(data, out=tmp_path / "out", config=WORDS, **options)
    assert not (tmp_path / "out").exists()


def test_the_refined_subset_goes_by_the_judged_baseline_of_an_earlier_run(data, tmp_path):
    assert run_refined(data, out=tmp_path).to_dict()["left_out"] == {
        "stage 1": "no judged replies of base in the folder"
    }
    write_results(tmp_path / "results.json", {"base": [result("3", turns=((0.5, "neutral", 6.0),))]})
    found = run_refined(data, out=tmp_path).to_dict()
    assert (found["ids"], found["stage_1"], found["left_out"]) == (["3"], "judged", {})
    assert json.loads((tmp_path / "refined.json").read_text())["ids"] == ["3"]


def test_every_figure_is_a_png(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need the extra `plots`")
    found = {
        name: [result(str(at), turns=((0.5, "neutral", 8.0), (0.9, "entailment", 6.0))) for at in range(6)]
        for name in ("reference", "builtin", "base", "without tree", "without memory", "full")
    }
    size = {"name": "Conf-1", "depth": 1, "beam": 1, "branching": 3, "calls": 2.0}
    cells = {"score": Cell(value=7.0, low=6.0, high=8.0), "cs": Cell(value=0.6, low=0.5, high=0.7)}
    paths = draw_figures(tmp_path, found, ["1", "2"], [{**size, **cells}] * 2, mark="stand-in")
    assert [path.name.split("-")[1] for path in paths] == ["4", "5", "6", "7"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_keys_depend_on_every_part():
    assert key_of("a", 1) != key_of("a", 2) and key_of("a", 1) == key_of("a", 1)
