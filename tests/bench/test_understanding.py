"""The understanding benchmark: its scores on small items, and against the reference scorer where that is at hand."""

import importlib.util
import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, InputError, NotFoundError
from doxa.core.values import Relation, Term
from doxa_bench import run_understanding, write_predictions
from doxa_bench.gold import read_items
from doxa_bench.understanding import predicted, score

WORDS = Config(encoder=EncoderConfig(name="hash"))
GOLD = Path(__file__).parents[2].parent / "shared" / "gold"
NEEDS_GOLD = pytest.mark.skipif(not (GOLD / "score.py").exists(), reason="the gold data is not beside this checkout")
MEASURES = {
    "precision": "precision",
    "recall": "recall",
    "F1": "f1",
    "forbidden rate": "forbidden_rate",
    "safe precision": "safe_precision",
    "modality accuracy": "modality_accuracy",
    "time accuracy": "time_accuracy",
    "ended accuracy": "ended_accuracy",
    "strict F1": "strict_f1",
    "rule recall": "rule_recall",
    "rule precision": "rule_precision",
}


def fact(subject="Ana", relation=("live in", "reside in"), value=("Bonn",), **more):
    return {
        "subject": subject,
        "relation": list(relation),
        "object": list(value),
        "polarity": True,
        "modality": "asserted",
        "valid_from": None,
        "valid_to": None,
        **more,
    }


def item(facts=(), forbidden=(), rules=(), context=(), text="I live in Bonn now."):
    return {
        "id": "x1",
        "date": "2024-05-03",
        "context": [{"speaker": speaker, "text": said} for speaker, said in context],
        "turn": {"speaker": "Ana", "text": text},
        "facts": list(facts),
        "rules": [{"rule": rule} for rule in rules],
        "forbidden": [{"why": "it is not said", **entry} for entry in forbidden],
        "tags": ["residence"],
    }


@pytest.fixture
def items(tmp_path):
    """Writes items to a file and gives back its path."""

    def write(*entries):
        path = tmp_path / "gold.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        return path

    return write


@pytest.fixture
def marked(items):
    """Scores extracted facts and rules against one item."""

    def mark(entry, facts=(), rules=()):
        return score(read_items(items(entry)), {"x1": {"facts": facts, "rules": rules}}).to_dict()

    return mark


def said(relation="lives in", value="Bonn", subject="Ana", **more):
    return {"subject": subject, "relation": relation, "object": value, **more}


def test_the_engine_is_run_over_context_and_turn(items, tmp_path):
    """Only what the last turn says is extracted, in the words that the engine has for people."""
    gold = item([fact()], context=[("Ana", "I work at Siemens."), ("Assistant", "Where do you live?")])
    report = run_understanding(items(gold), config=WORDS)
    found = report.to_dict()
    assert (found["precision"], found["recall"], found["f1"], found["turns"]) == (1.0, 1.0, 1.0, 3)
    assert found["tags"]["residence"]["recall"] == 1.0 and "revision" in found and found["models"]["llm"] is None
    write_predictions(report.predictions, tmp_path / "predictions.jsonl")
    written = json.loads((tmp_path / "predictions.jsonl").read_text(encoding="utf-8"))
    extracted = {key: written["facts"][0][key] for key in ("subject", "relation", "object", "modality", "ended")}
    assert extracted == {**said(), "modality": "asserted", "ended": False}


def test_dates_are_as_coarse_as_they_were_said(items):
    gold = item([fact(valid_from="2021-03")], text="I have lived in Bonn since March 2021.")
    report = run_understanding(items(gold), config=WORDS)
    assert report.predictions[0]["facts"][0]["valid_from"] == "2021-03"
    assert report.to_dict()["time_accuracy"] == 1.0


def test_an_assistants_turn_is_understood_as_one(items):
    """What the assistant says of itself is not stored, what it says of the user is."""
    gold = item([fact()], text="You live in Bonn, Ana.", context=[("Ana", "Hello!")])
    gold["turn"]["speaker"] = "Assistant"
    report = run_understanding(items(gold), config=WORDS)
    assert report.to_dict()["recall"] == 1.0


class Recorded:
    """Stands in for a memory that has read a rule in each of two turns."""

    def claims(self, *, turn_id):
        return []

    def rules(self):
        def stated(text):
            subject, relation, value = text.split(" ")
            subject, value = Term(subject, subject), Term(value, value)
            return SimpleNamespace(subject=subject, relation=Relation(relation, relation), object=value, polarity=True)

        rains, stays = stated("it rains -"), stated("?x stays inside")
        return [SimpleNamespace(turn_id=turn_id, if_=(rains,), then=(stays,)) for turn_id in ("t1", "t2")]


def test_the_rules_of_the_turn_are_extracted_as_atoms():
    (rule,) = predicted("x1", Recorded(), "t2")["rules"]
    assert rule["if"] == [{**said("rains", "-", "it"), "polarity": True}]
    assert rule["then"] == [{**said("stays", "inside", "?x"), "polarity": True}]


def test_an_extra_lowers_precision_and_a_missed_fact_recall(marked):
    found = marked(item([fact(), fact(relation=["like"], value=["tea"])]), [said(), said("owns", "a boat")])
    assert (found["precision"], found["recall"], found["f1"], found["safe_precision"]) == (0.5, 0.5, 0.5, 1.0)


def test_the_standard_error_of_f1_is_over_items(items):
    """Items that are all alike leave no doubt; one item tells nothing of it."""
    gold = [{**item([fact()]), "id": name} for name in "abc"]
    extracted = {name: {"facts": [said()]} for name in "abc"}
    assert score(read_items(items(*gold)), extracted).to_dict()["f1_se"] == 0.0
    assert score(read_items(items(*gold)), {**extracted, "a": {}}).to_dict()["f1_se"] > 0.1


def test_a_hit_beats_a_match(marked):
    gold = item([fact()], forbidden=[{"subject": "Ana", "relation": ["live in"], "object": ["Bonn"]}])
    found = marked(gold, [said()])
    assert (found["recall"], found["forbidden_rate"], found["safe_precision"]) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("entry", "extraction", "rate"),
    [
        ({}, said(modality="possible"), 0.0),
        ({}, said("might live in"), 0.0),
        ({}, said("must live in"), 0.0),
        ({}, said(polarity=False), 0.0),
        ({"polarity": False}, said("does not live in"), 1.0),
        ({"modality": ["possible"]}, said("might live in"), 1.0),
        ({"current_only": True}, said(ended=True), 0.0),
        ({"current_only": True}, said(valid_to="2024"), 0.0),
        ({"current_only": True}, said(valid_from="2024-06"), 0.0),
        ({"current_only": True}, said("used to live in"), 0.0),
        ({"current_only": True}, said(), 1.0),
    ],
    ids=str,
)
def test_a_forbidden_entry_says_when_it_is_hit(marked, entry, extraction, rate):
    gold = item([], forbidden=[{"subject": "Ana", "relation": ["live in"], "object": ["Bonn"], **entry}])
    assert marked(gold, [extraction])["forbidden_rate"] == rate


@pytest.mark.parametrize(
    ("details", "extraction", "measure", "value"),
    [
        ({"modality": "planned"}, said("will live in"), "modality_accuracy", 1.0),
        ({"modality": "planned"}, said(), "modality_accuracy", 0.0),
        ({"modality": "planned", "modality_alt": ["asserted"]}, said(), "modality_accuracy", 1.0),
        ({"valid_from": "2024"}, said(valid_from="2024-04-02"), "time_accuracy", 1.0),
        ({"valid_from": "2024-04-02"}, said(valid_from="2024"), "time_accuracy", 0.0),
        ({"valid_from": "2024"}, said(), "time_accuracy", 0.0),
        ({"ended": True}, said(valid_to="2024-05-03"), "ended_accuracy", 1.0),
        ({"ended": True}, said("no longer lives in", polarity=False), "ended_accuracy", 1.0),
        ({"ended": True}, said(valid_to="2025"), "ended_accuracy", 0.0),
        ({"valid_from": "2023"}, said(valid_from="2024"), "strict_f1", 0.0),
        ({}, said(), "time_accuracy", None),
    ],
    ids=str,
)
def test_details_are_judged_on_what_matches(marked, details, extraction, measure, value):
    found = marked(item([fact(**details)]), [extraction])
    assert (found["recall"], found[measure]) == (1.0, value)


def test_of_several_extractions_the_one_with_most_details_right_counts(marked):
    found = marked(item([fact(valid_from="2024")]), [said(), said("resides in", valid_from="2024")])
    assert (found["precision"], found["time_accuracy"]) == (1.0, 1.0)


def test_an_alternative_encoding_matches_and_may_say_that_it_is_over(marked):
    other = {"subject": "Ana", "relation": ["leave"], "object": ["Bonn"], "polarity": False}
    assert marked(item([fact(ended=True, alt=[other])]), [said("did not leave")])["ended_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("gold", "extraction"),
    [
        (item([fact(), fact(relation=["like"], value=["tea"], optional=True)]), said("likes", "tea")),
        (item([fact()], context=[("Ana", "My cat is called Rex.")]), said("have", "cat Rex")),
        (
            item(
                [fact()],
                rules=[{"if": [fact("?x", ["be"], ["late"])], "then": [fact("Ana", ["take"], ["the bus"])]}],
            ),
            said("take", "the bus", modality="hypothetical"),
        ),
    ],
    ids=["optional", "context", "atom"],
)
def test_neutral_extractions_are_not_counted(marked, gold, extraction):
    found = marked(gold, [said(), extraction])
    assert (found["precision"], found["counts"]["scored"], found["counts"]["neutral"]) == (1.0, 1, 1)


def atom(subject, relation, value="", polarity=True):
    return {"subject": subject, "relation": relation, "object": value, "polarity": polarity}


RULE = {
    "if": [fact("?x", ["be"], ["trainee"]), fact("?x", ["pass"], ["test"])],
    "then": [fact("?x", ["get"], ["locker"])],
}


TRAINEE, PASSED, LOCKER = atom("?y", "is", "a trainee"), atom("?y", "pass", "a test"), atom("?y", "gets", "locker")


@pytest.mark.parametrize(
    ("rule", "recall"),
    [
        ({"if": [PASSED, TRAINEE], "then": [LOCKER]}, 1),
        ({"if": [PASSED, {**TRAINEE, "subject": "?z"}], "then": [LOCKER]}, 0),
        ({"if": [TRAINEE], "then": [LOCKER]}, 0),
        ({"if": [LOCKER], "then": [PASSED, TRAINEE]}, 0),
    ],
    ids=["any order and any variable", "two variables", "too few atoms", "the wrong way round"],
)
def test_rules_match_atom_by_atom(marked, rule, recall):
    found = marked(item([], rules=[RULE]), rules=[rule])
    assert (found["rule_recall"], found["rule_precision"]) == (recall, recall)


def test_the_contrapositive_is_the_same_rule(marked):
    gold = item([], rules=[{"if": [fact("Ana", ["come"], [""])], "then": [fact("Bo", ["stay"], [""])]}])
    rule = {"if": [atom("Bo", "stay", polarity=False)], "then": [atom("Ana", "come", polarity=False)]}
    assert marked(gold, rules=[rule])["rule_recall"] == 1.0


def test_a_ratio_of_nothing_is_none(marked):
    found = marked(item())
    assert [found[measure] for measure in MEASURES.values()] == [None] * len(MEASURES)


@pytest.mark.parametrize("text", ["", "[]", "not json", '{"id": "u1"}', '{"id": "u1", "date": "yesterday"}'], ids=repr)
def test_a_file_without_items_is_refused(tmp_path, text):
    path = tmp_path / "gold.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="gold item"):
        read_items(path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b"\xfe\x88\x00")
    with pytest.raises(FormatError, match="gold items.*UTF-8"):
        read_items(path)


def test_an_item_that_comes_twice_is_refused(items):
    with pytest.raises(FormatError, match="gold item.*'x1'"):
        read_items(items(item(), item()))


def test_predictions_that_cannot_be_written_are_an_error_of_ours(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        write_predictions([], tmp_path / "nowhere" / "out.jsonl")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nowhere\.jsonl"):
        run_understanding(tmp_path / "nowhere.jsonl")


@pytest.fixture(scope="module")
def reference():
    """The reference scorer, and the gold items as it reads them."""
    spec = importlib.util.spec_from_file_location("reference_scorer", GOLD / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entries():
    lines = (GOLD / "understanding" / "dev.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def oracle(entry, pick):
    """Return what the gold says, in one of its wordings."""

    def worded(one, **more):
        return {
            **more,
            "subject": pick([one["subject"], *one.get("subject_alt", [])]),
            "relation": pick(one["relation"]),
            "object": pick(one["object"]),
            "polarity": one.get("polarity", more.get("polarity", True)),
        }

    facts = []
    for one in entry["facts"]:
        details = {key: one[key] for key in ("modality", "valid_from", "valid_to", "polarity")}
        facts.append(worded(pick([one, *one.get("alt", [])]), **details, ended=one.get("ended", False)))
    rules = [{side: [worded(a) for a in one["rule"][side]] for side in ("if", "then")} for one in entry["rules"]]
    return {"id": entry["id"], "facts": facts, "rules": rules}


FOLDED = ("did not", "used to", "might", "is going to", "no longer")
IN_FRONT = ("the", "his", "no", "never", "3")


def split_off(text):
    """Return the first word and the rest."""
    return text.partition(" ")[::2]


SHAKES = {
    "polarity": lambda one, rng: {"polarity": not one.get("polarity", True)},
    "folded": lambda one, rng: {"relation": f"{rng.choice(FOLDED)} {one['relation']}"},
    "border": lambda one, rng: {
        "relation": f"{one['relation']} {split_off(one['object'])[0]}",
        "object": split_off(one["object"])[1],
    },
    "object": lambda one, rng: {"object": f"{rng.choice(IN_FRONT)} {one['object']}"},
    "subject": lambda one, rng: {"subject": rng.choice(["Ana", "?x", "Assistant", "the cat"])},
    "modality": lambda one, rng: {
        "modality": rng.choice(["asserted", "planned", "possible", "desired", "hypothetical"])
    },
    "start": lambda one, rng: {"valid_from": rng.choice([None, "2024", "2024-05", "2024-05-01T10:00", "soon"])},
    "end": lambda one, rng: {"valid_to": rng.choice([None, "2023", "2024-06", "2030-01-01"])},
    "ended": lambda one, rng: {"ended": not one.get("ended", False)},
    "swapped": lambda one, rng: {"relation": one["object"], "object": one["relation"]},
}
"""Ways to spoil an extraction."""


def shaken(entry, rng):
    """Return what the gold says and forbids, spoiled here and there."""
    prediction = oracle(entry, rng.choice)
    forbidden = [
        {"subject": one["subject"], "relation": rng.choice(one["relation"]), "object": rng.choice(one["object"])}
        for one in entry["forbidden"]
    ]
    facts = prediction["facts"] + rng.sample(forbidden, k=min(len(forbidden), rng.randint(0, 2)))
    for one in [*facts, *(a for rule in prediction["rules"] for side in rule.values() for a in side)]:
        for name in rng.sample(sorted(SHAKES), k=rng.choice([0, 0, 1, 2])):
            one.update(SHAKES[name](one, rng))
    return {**prediction, "facts": facts}


def compare(reference, predictions):
    """Ours and the reference give the same measures and counts, over all items and by tag."""
    gold = entries()
    wanted = reference.score_understanding(gold, {key: json.loads(json.dumps(p)) for key, p in predictions.items()})
    found = score(read_items(GOLD / "understanding" / "dev.jsonl"), predictions).to_dict()
    assert {ours: found[ours] for ours in MEASURES.values()} == {MEASURES[k]: v for k, v in wanted["scores"].items()}
    counts = {name: n for name, n in wanted["counts"].items() if name != "predicted_items"}
    assert {name: found["counts"].get(name, 0) for name in counts} == counts
    for tag, row in wanted["by_tag"].items():
        assert {ours: found["tags"][tag][ours] for ours in MEASURES.values()} == {MEASURES[k]: row[k] for k in MEASURES}
    return found


@NEEDS_GOLD
def test_the_reference_scorer_agrees_on_our_own_extractions(reference):
    report = run_understanding(GOLD / "understanding" / "dev.jsonl", config=WORDS)
    found = compare(reference, {prediction["id"]: prediction for prediction in report.predictions})
    assert found["f1"] > 0.5 and found["forbidden_rate"] <= 0.05


@NEEDS_GOLD
def test_the_reference_scorer_agrees_on_an_oracle(reference):
    found = compare(reference, {entry["id"]: oracle(entry, lambda forms: forms[0]) for entry in entries()})
    assert found["recall"] == 1.0 and found["rule_recall"] == 1.0 and found["forbidden_rate"] == 0.0


@NEEDS_GOLD
@pytest.mark.parametrize("seed", range(20))
def test_the_reference_scorer_agrees_on_spoiled_extractions(reference, seed):
    rng = random.Random(seed)
    found = compare(reference, {entry["id"]: shaken(entry, rng) for entry in entries()})
    assert 0 < found["precision"] < 1 and found["forbidden_rate"] > 0


@NEEDS_GOLD
def test_the_reference_scorer_agrees_on_nothing_at_all(reference):
    compare(reference, {})
