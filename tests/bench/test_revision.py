"""The revision benchmark: judging of single answers, scores, and the reference scorer where that is at hand."""

import importlib.util
import json
import random
from pathlib import Path

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_revision, write_predictions
from doxa_bench.dialogues import read_dialogues
from doxa_bench.judging import Answer, judge
from doxa_bench.revision import score

WORDS = Config(encoder=EncoderConfig(name="hash"))
GOLD = Path(__file__).parents[2].parent / "shared" / "gold"
NEEDS_GOLD = pytest.mark.skipif(not (GOLD / "score.py").exists(), reason="the gold data is not beside this checkout")
MEASURES = ("accuracy", "dialogue accuracy", "precision", "recall", "abstention precision", "abstention recall")
MEASURES += ("conflict recall", "history accuracy", "bystander accuracy")


def probe(question="Where does Ana live now?", answer=("Berlin",), wrong=("Paris",), **more):
    return {
        "after": 2,
        "question": question,
        "answer": list(answer),
        "not": list(wrong),
        "as_of": None,
        "type": "value",
        "why": "it was said",
        **more,
    }


UNKNOWN = probe(answer=(), unknown=True)
CONFLICT = probe(
    "In which room is it?", ("4", "6"), (), conflict=True, all=[["4", "room 4"], ["6", "room 6"]], type="value"
)
LIST = probe("Which languages does Ana speak?", ("Polish", "German"), (), type="list", all=[["Polish"], ["German"]])
NO = probe("Does Ana live in Paris?", ("no",), ("yes",), type="yesno")
SETTLED = probe("Is it settled that Ana moves?", ("no",), ("yes",), type="yesno")
DAY = probe("When did Ana move?", ("2024-06-01", "1 June 2024"), ("2 June",))
YEARS = probe("Where did Ana live in 2020?", ("Paris",), ("Berlin",), as_of="2020-06-01")


def dialogue(*probes, kind="update", name="x1", texts=("I live in Paris.", "I moved to Berlin yesterday.")):
    days = ("2024-01-10", "2024-06-02")
    turns = [{"speaker": "Ana", "text": text, "date": day} for text, day in zip(texts, days, strict=True)]
    return {"id": name, "kind": kind, "turns": turns, "probes": list(probes), "tags": ["residence"]}


@pytest.fixture
def data(tmp_path):
    """Writes dialogues to a file and gives back its path."""

    def write(*entries):
        path = tmp_path / "dialogues.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        return path

    return write


@pytest.fixture
def judged(data):
    """Judges one answer to one probe: "right", or the mistake."""

    def judge_one(entry, **answer):
        found = read_dialogues(data(dialogue(entry)))[0]
        return judge(found.probes[0], Answer.of(answer), found.day(found.probes[0])).mistake or "right"

    return judge_one


@pytest.mark.parametrize(
    ("entry", "answer", "wanted"),
    [
        (probe(), {"value": "Berlin"}, "right"),
        (probe(), {"value": "Paris"}, "stale"),
        (probe(), {"value": "Hamburg"}, "other"),
        (probe(), {}, "lost"),
        (probe(), {"value": "Berlin", "text": "Paris"}, "right"),
        (probe(), {"text": "She lives in Berlin, before that in Paris."}, "right"),
        (probe(), {"text": "Paris."}, "stale"),
        (probe(), {"text": "Berlin and Paris"}, "stale"),
        (probe(), {"text": "I don't know where she lives."}, "lost"),
        (probe(answer=("16",), wrong=()), {"value": "6"}, "other"),
        (probe(answer=("6",), wrong=()), {"value": "room six"}, "right"),
        (probe(answer=("1,350",), wrong=("1200",)), {"value": "1350 euros"}, "right"),
        (DAY, {"value": "June 1st"}, "right"),
        (DAY, {"value": "2 June 2024"}, "stale"),
        (probe(answer=("2024-06",), wrong=()), {"value": "3 June 2024"}, "right"),
        (YEARS, {"text": "Paris; she moved to Berlin later."}, "right"),
        (YEARS, {"text": "Berlin"}, "stale"),
        (LIST, {"value": ["Polish", "German"]}, "right"),
        (LIST, {"value": "Polish"}, "other"),
        (NO, {"value": "no"}, "right"),
        (NO, {"value": False}, "right"),
        (NO, {"text": "She does not live there."}, "right"),
        (NO, {"value": "yes"}, "stale"),
        (NO, {}, "lost"),
        (SETTLED, {}, "right"),
        (SETTLED, {"value": "yes"}, "stale"),
        (UNKNOWN, {"abstained": True}, "right"),
        (UNKNOWN, {"text": "That was never mentioned."}, "right"),
        (UNKNOWN, {"value": "Berlin"}, "invented"),
        (UNKNOWN, {"value": "Paris"}, "stale"),
        (CONFLICT, {"value": "4, 6"}, "right"),
        (CONFLICT, {"value": "4", "conflict": True}, "right"),
        (CONFLICT, {"text": "My sources disagree."}, "right"),
        (CONFLICT, {"text": "Room 6, not 4."}, "invented"),
        (CONFLICT, {}, "lost"),
    ],
    ids=str,
)
def test_an_answer_is_judged_by_what_it_gives(judged, entry, answer, wanted):
    assert judged(entry, **answer) == wanted


def test_the_engine_is_asked_after_the_turn_that_a_probe_names(data, tmp_path):
    """The first probe is about the first state although it stands behind the other."""
    first = probe("Where does Ana live?", ("Paris",), ("Berlin",), after=1)
    report = run_revision(data(dialogue(probe(), first)), config=WORDS)
    assert [entry["value"] for entry in report.predictions] == ["Berlin", "Paris"]
    found = report.to_dict(errors=5)
    assert (found["accuracy"], found["dialogue_accuracy"], found["precision"], found["recall"]) == (1, 1, 1, 1)
    assert found["accuracy_95"] is None and not found["errors"] and found["models"]["llm"] is None
    write_predictions(report.predictions, tmp_path / "predictions.jsonl")
    written = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text("utf-8").splitlines()]
    assert [(entry["id"], entry["probe"]) for entry in written] == [("x1", 0), ("x1", 1)]
    assert written[0].keys() == {"id", "probe", "value", "text", "abstained", "conflict"}


def test_the_scores_of_a_small_set_are_those_of_the_definitions(data):
    """Five probes: a right one, a lost one, a right "unknown", an invented one, and a "no" out of ignorance."""
    entries = (dialogue(probe(), probe(), UNKNOWN, UNKNOWN), dialogue(SETTLED, kind="no-conflict", name="x2"))
    answers = [{"id": "x1", "probe": 0, "value": "Berlin"}, {"id": "x1", "probe": 3, "value": "Rome"}]
    found = score(read_dialogues(data(*entries)), answers).to_dict()
    assert (found["accuracy"], found["dialogue_accuracy"]) == (3 / 5, 1 / 2)
    assert (found["precision"], found["recall"]) == (1, 2 / 3)
    assert (found["abstention_precision"], found["abstention_recall"]) == (1 / 2, 1 / 2)
    assert (found["conflict_recall"], found["history_accuracy"], found["bystander_accuracy"]) == (None, None, 1)
    assert found["wrong"] == {"stale": 0, "lost": 1, "invented": 1, "other": 0}
    assert found["kinds"]["update"] == {"accuracy": 1 / 2, "right": 2, "probes": 4}
    low, high = found["accuracy_95"]
    assert low <= found["accuracy"] <= high and found["accuracy_se"] > 0


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda entry: entry.pop("turns"), "'turns' is missing"),
        (lambda entry: entry["probes"][0].update(after=3), "after turn 3 of 2"),
        (lambda entry: entry["probes"][0].update(type="essay"), "'essay'"),
        (lambda entry: entry["probes"][0].update(answer=[]), "not marked as unknown"),
        (lambda entry: entry["turns"][0].update(date="soon"), "soon"),
    ],
    ids=["no turns", "no such state", "no such type", "no answer", "no date"],
)
def test_a_line_that_is_no_dialogue_is_named(data, spoil, message):
    entry = dialogue(probe())
    spoil(entry)
    with pytest.raises(FormatError, match="line 1") as caught:
        read_dialogues(data(entry))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nowhere\.jsonl"):
        run_revision(tmp_path / "nowhere.jsonl")


@pytest.fixture(scope="module")
def reference():
    """The reference scorer, as a module."""
    spec = importlib.util.spec_from_file_location("reference_scorer", GOLD / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_same_marks(reference, predictions):
    """Compares class of mistake and state of every probe, and all scores."""
    path = GOLD / "revision" / "dev.jsonl"
    raw = list(reference.read_jsonl(path))
    by_probe = {(entry["id"], entry["probe"]): entry for entry in predictions}
    states = {"not known for no": "no_by_ignorance"}
    for theirs, ours in zip(raw, read_dialogues(path), strict=True):
        for place, wanted in enumerate(ours.probes):
            entry = by_probe.get((ours.id, place), {})
            day = theirs["turns"][wanted.after - 1]["date"]
            _, mistake, state = reference.judge(theirs["probes"][place], reference.Answer(entry), day)
            found = judge(wanted, Answer.of(entry), ours.day(wanted))
            assert (found.mistake, found.state) == (mistake, states.get(state, state)), (ours.id, place, entry)
    expected = reference.score_revision(raw, by_probe)
    found = score(read_dialogues(path), predictions).to_dict()
    assert {name: found[name.replace(" ", "_")] for name in MEASURES} == expected["scores"]
    for name in ("kind", "type", "tag"):
        assert found[f"{name}s"] == expected[f"by_{name}"]


@NEEDS_GOLD
def test_our_scores_are_those_of_the_reference_scorer(reference):
    """On what the engine answers, probe by probe."""
    report = run_revision(GOLD / "revision" / "dev.jsonl", config=WORDS)
    assert_same_marks(reference, report.predictions)
    in_words = [{**entry, "value": None} for entry in report.predictions]
    assert_same_marks(reference, in_words)


FRAMES = (
    "{0}",
    "{0}.",
    "It is {0}.",
    "{0}, before that {1}.",
    "Formerly {1}, now {0}.",
    "Before that, {1}.",
    "Not {1} but {0}",
    "{0} and {1}",
    "No, {0}.",
    "Yes: {0}",
    "I don't know. Maybe {0}?",
    "My sources disagree: {0} or {1}",
    "{0}; she moved to {1} later",
    "{0} is more than {1}",
    "The {0} - was {1}",
    "no longer {1}, since then {0}",
)


@NEEDS_GOLD
@pytest.mark.parametrize("seed", range(5))
def test_answers_in_words_are_judged_as_by_the_reference_scorer(reference, seed):
    """On accepted and barred forms in sentences of many kinds."""
    draw = random.Random(seed)
    predictions = []
    for dialogue_ in reference.read_jsonl(GOLD / "revision" / "dev.jsonl"):
        forms = [form for entry in dialogue_["probes"] for form in (*entry["answer"], *entry["not"])]
        for place, entry in enumerate(dialogue_["probes"]):
            near = [*entry["answer"], *entry["not"]] or forms
            said = draw.choice(FRAMES).format(draw.choice(near), draw.choice([*near, *forms]))
            field = draw.choice(["value", "text"])
            marks = {name: draw.random() < 0.1 for name in ("abstained", "conflict")}
            predictions.append({"id": dialogue_["id"], "probe": place, field: said, **marks})
    assert_same_marks(reference, predictions)
