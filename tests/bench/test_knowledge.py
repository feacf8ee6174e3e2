"""`doxa bench knowledge` on a tiny base and made-up dialogues: its report, a model's part, CICERO."""

import json
from itertools import repeat

import numpy as np
import pytest

from doxa.backends.llm import Completion, Usage
from doxa.backends.llm.scripted import ScriptedModel
from doxa.backends.seq2seq import Generated
from doxa.commonsense import KnowledgeBase
from doxa.core.config import CommonsenseConfig, Config
from doxa.core.errors import BackendError, BackendUnavailableError, ConfigError, FormatError, InputError, NotFoundError
from doxa.engine import build_base
from doxa_bench.knowledge import opening
from doxa_bench.knowledge.cicero import KINDS, _kind
from doxa_bench.knowledge.cicero import run as run_cicero
from doxa_bench.knowledge.figures import draw_alignment
from doxa_bench.knowledge.inferences import compare
from doxa_bench.knowledge.measure import measure, measure_cicero
from doxa_bench.knowledge.overlap import nearness, semantic_overlap
from doxa_bench.knowledge.systems import ABLATIONS, OURS, REFERENCE, SYSTEMS

THINGS = {
    "tea": ("hot water", "a kettle", "a cup", "the morning", "milk"),
    "rain": ("an umbrella", "wet streets", "dark clouds", "a flood", "the garden"),
    "a train": ("a ticket", "the station", "a delay", "passengers", "rails"),
    "a dog": ("a long walk", "a bone", "a leash", "the park", "a friend"),
    "a job": ("a salary", "a boss", "an office", "stress", "colleagues"),
    "a party": ("music", "guests", "a cake", "loud neighbours", "dancing"),
    "money": ("a bank", "savings", "a debt", "a purse", "shopping"),
    "illness": ("a doctor", "medicine", "a fever", "rest", "a hospital"),
}
SENTENCES = [f"People who think of {thing} often think of {other}." for thing in THINGS for other in THINGS[thing]]
FOLLOWS = """PersonX misses the train\txWant\tto take the next train
PersonX misses the train\txReact\tangry
PersonX misses the train\txNeed\tto be late
PersonX misses the train\txIntent\tto sleep longer
PersonX has a fever\txWant\tto see a doctor
PersonX has a fever\txReact\tsick
PersonX has a fever\txEffect\tstays in bed
PersonX gives a party\txWant\tto dance
PersonX gives a party\txNeed\tto invite guests
PersonX gives a party\txIntent\tto have fun
PersonX walks the dog\txEffect\tgets wet in the rain
PersonX walks the dog\txReact\ttired
"""
DIALOGUES = [
    ("I missed the train this morning.", "Again? Is your boss angry?", "He is, and I am tired of it.", "Take a taxi."),
    ("I have a fever and I feel sick.", "You should see a doctor today.", "I will go to the hospital this evening."),
    ("We give a party on Friday.", "Who are the guests this time?", "All of my colleagues from the office."),
    ("Nothing comes after this.",),
]

ALIKE = ("dense", "rerank", "mmr", REFERENCE, "no_bridging", "no_check")
"""Systems that give as many sentences as ours."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A base of forty sentences by the built-in models."""
    folder = tmp_path_factory.mktemp("knowledge")
    (folder / "facts.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    (folder / "follows.tsv").write_text(FOLLOWS, encoding="utf-8")
    build_base([folder / "facts.txt"], folder / "base", inferences=[folder / "follows.tsv"], groups=8)
    return folder / "base"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The folder of all data, with three dialogues as DailyDialog has them and one of a single utterance."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "measure" / "dailydialog").mkdir(parents=True)
    rows = [{"index": at, "dialogue": [{"text": text} for text in texts]} for at, texts in enumerate(DIALOGUES)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "measure" / "dailydialog" / "multireftest.json").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def report(base, data):
    return measure(data, examples=3, config=set_to(base))


def set_to(base):
    return Config(commonsense=CommonsenseConfig(base=base))


def test_the_report_has_the_form_that_is_promised(report):
    found = report.to_dict()
    assert found["n"] == 3 and set(found["systems"]) == {OURS, "dense", "rerank", "bm25", "mmr"}
    assert set(found["ablations"]) == set(ABLATIONS) and set(found["reference"]) == {REFERENCE}
    for row in (found["systems"] | found["ablations"] | found["reference"]).values():
        assert all(0 <= row[name] <= 1 for name in ("rouge1", "rouge2", "rougeL"))
        assert -1 <= row["next_similarity"] <= 1
        assert -1 <= row["semantic_overlap"] <= 1.0001 and row["ms_p95"] >= row["ms_p50"] > 0
        assert row["alignment@0.5"] is None or 0 <= row["alignment@0.5"] <= 1
    assert json.loads(json.dumps(found)) == found and "model" not in found
    assert found["base"]["sentences"] == len(SENTENCES)


def test_all_systems_give_equally_many_sentences_of_the_base(report):
    assert len(report.examples) == 3
    for example in report.examples:
        retrieved = example["retrieved"]
        assert set(retrieved) == set(SYSTEMS) and retrieved[OURS]
        assert {len(retrieved[name]) for name in ALIKE} == {len(retrieved[OURS])}
        assert len(retrieved["bm25"]) <= len(retrieved[OURS])  # some have no word in common with anything
        assert all(set(sentences) <= set(SENTENCES) for sentences in retrieved.values())


def test_ratios_are_those_of_the_means(report):
    found = report.to_dict()
    ours, dense = (found["systems"][name]["rougeL"] for name in (OURS, "dense"))
    assert found["compared"]["rougeL_to_dense"] == pytest.approx(ours / dense)
    low, high = found["compared"]["rougeL_to_dense_95"]
    assert low <= found["compared"]["rougeL_to_dense"] <= high


def test_some_systems_and_some_dialogues(base, data):
    found = measure(data, systems=["dense", OURS], limit=2, config=set_to(base)).to_dict()
    assert found["n"] == 2 and set(found["systems"]) == {"dense", OURS} and found["examples"] == []
    assert found["ablations"] == found["reference"] == {}


def test_what_is_not_there_is_refused(base, data, tmp_path, monkeypatch):
    monkeypatch.delenv("DOXA_DATA", raising=False)
    with pytest.raises(InputError, match="out of dailydialog, empathetic; got 'other'"):
        measure(data, set="other", config=set_to(base))
    with pytest.raises(InputError, match="got 'nope'"):
        measure(data, systems=["nope"], config=set_to(base))
    with pytest.raises(InputError, match="Give --data PATH"):
        measure(config=set_to(base))
    with pytest.raises(InputError, match="there is no .*gone"):
        measure(tmp_path / "gone", config=set_to(base))
    with pytest.raises(InputError, match="DOXA_COMMONSENSE_BASE"):
        measure(data, config=Config())
    with pytest.raises(NotFoundError, match=r"fixed_test\.csv"):
        measure(tmp_path, set="empathetic", config=set_to(base))


@pytest.fixture(scope="module")
def hashed(tmp_path_factory):
    """A base by another encoder, and the settings that name both."""
    folder = tmp_path_factory.mktemp("hashed")
    (folder / "facts.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    (folder / "follows.tsv").write_text(FOLLOWS, encoding="utf-8")
    config = Config.from_tree({"encoder": {"name": "hash:32"}, "commonsense": {"base": str(folder / "base")}})
    build_base([folder / "facts.txt"], folder / "base", config=config, inferences=[folder / "follows.tsv"], groups=8)
    return config


def test_a_base_of_another_encoder_than_the_configured_one_is_refused(data, hashed):
    with pytest.raises(InputError, match=r"configured encoder builtin.*made by hash:32"):
        measure(data, config=set_to(hashed.commonsense.base))


def test_the_configured_encoder_searches_and_the_built_in_one_measures(data, hashed):
    """Both are named in the report."""
    report = measure(data, systems=[OURS, "dense", "rerank"], limit=2, config=hashed)
    assert report.models["encoder"] == "hash:32" and report.models["measure"].startswith("builtin")
    assert report.models["reasoner"] == "builtin" and report.to_dict()["degraded"] == {"dialogues": 0, "first": ""}
    assert all(row["semantic_overlap"] > 0 for row in report.to_dict()["systems"].values())


@pytest.fixture
def comet(monkeypatch):
    """A model of common sense that says one thing of everything, or fails."""
    written = {"text": "see a doctor at the hospital", "fails": False}

    class Comet:
        name = "hf:comet"

        def generate(self, texts, *, n, max_tokens):
            if written["fails"]:
                raise BackendError("no weights")
            return [[Generated(text=written["text"], score=0.9)] for _ in texts]

        def close(self):
            written["closed"] = True

    monkeypatch.setattr("doxa.engine.wiring.reasoners.load", lambda kind, name: Comet())
    return written


def test_the_configured_reasoner_infers(base, data, comet):
    """And is named; what it infers is what is retrieved for."""
    config = Config.from_tree({"commonsense": {"base": str(base)}, "roles": {"infer": "hf:comet"}})
    report = measure(data, systems=[OURS], examples=1, config=config)
    assert report.models["reasoner"] == "hf:comet" and comet["closed"]
    builtin = measure(data, systems=[OURS], examples=1, config=set_to(base))
    ours, theirs = (one.examples[0]["retrieved"][OURS] for one in (report, builtin))
    assert ours != theirs and any("hospital" in text or "doctor" in text for text in ours)


def test_a_reasoner_that_fails_is_told_in_the_report(base, data, comet, tmp_path):
    """Of each dialogue or question, with the first reason."""
    comet["fails"] = True
    config = Config.from_tree({"commonsense": {"base": str(base)}, "roles": {"infer": "hf:comet"}})
    failed = measure(data, systems=[OURS], config=config).to_dict()["degraded"]
    assert failed["dialogues"] == 3 and "no weights" in failed["first"]
    path = cicero(tmp_path / "made.json", asked(EVENT, ["The speaker slept.", "The speaker waits."], [1]))
    report = measure_cicero(path, config=config)
    assert report.models["reasoner"] == "hf:comet" and report.to_dict()["degraded"]["dialogues"] == 1


def test_a_language_model_can_be_the_reasoner(base, data, monkeypatch, tmp_path):
    """Of dialogues and of CICERO; without one it is refused."""
    tree = {"commonsense": {"base": str(base)}, "roles": {"infer": "prompted"}}
    with pytest.raises(ConfigError, match=r"bench knowledge: no language model.*roles\.infer"):
        measure(data, config=Config.from_tree(tree))
    models = []

    def opened(kind, name, **_):
        models.append(ScriptedModel(repeat(answer), name=name))
        return models[-1]

    monkeypatch.setattr("doxa_bench.models.load", opened)
    config = Config.from_tree({**tree, "llm": {"name": "openai:m"}})
    report = measure(data, systems=[OURS], limit=1, config=config)
    assert report.models["reasoner"] == "prompted, openai:m" and report.models["llm"] == "openai:m"
    path = cicero(tmp_path / "made.json", asked(EVENT, ["The speaker slept.", "The speaker sees a doctor."], [1]))
    assert measure_cicero(path, config=config).models["reasoner"] == "prompted, openai:m"
    assert [len(model.requests) for model in models] == [3, 1]


def answer(request):
    """What a model says when it infers, labels transitions, or tells knowledge."""
    fields = request.schema["properties"]
    if "inferences" in fields:
        return json.dumps({"inferences": [{"relation": "xWant", "tail": "to see a doctor", "confidence": 0.9}]})
    if "transitions" in fields:
        after = json.loads(request.messages[-1].content)["after"]
        return json.dumps({"transitions": [after[0].rstrip(".").upper(), "a dragon"]})
    return said("Trains can be late.", "Doctors help people who are ill.")


def test_a_language_model_labels_the_transitions_and_what_nobody_said_is_left_out(base, data, monkeypatch, tmp_path):
    """The labels can be written, and read in place of a model."""
    model = ScriptedModel(repeat(answer))
    monkeypatch.setattr("doxa_bench.models.load", lambda kind, name, **_: model)
    config = Config.from_tree({"llm": {"name": "openai:m"}, "commonsense": {"base": str(base)}})
    kept = tmp_path / "labels.jsonl"
    found = measure(data, systems=[OURS], examples=3, config=config)
    found.labelled.write(kept)
    told = found.to_dict()["transitions"]
    assert told == {"by": "scripted (transitions/1)", "phrases": 3, "missing": 0, "strange": 3}
    assert [one["next"] for one in found.examples] == [
        ["HE IS, AND I AM TIRED OF IT"],
        ["I WILL GO TO THE HOSPITAL THIS EVENING"],
        ["ALL OF MY COLLEAGUES FROM THE OFFICE"],
    ]
    asked = json.loads(model.requests[0].messages[-1].content)
    assert asked == {"before": list(DIALOGUES[0][:2]), "after": list(DIALOGUES[0][2:])}
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[1:]))
    again = measure(data, systems=[OURS], examples=3, labels=kept, config=set_to(base))
    assert again.to_dict()["transitions"] == {"by": "file labels.jsonl", "phrases": 2, "missing": 1, "strange": 0}
    assert [one["next"] for one in again.examples][1:] == [one["next"] for one in found.examples][1:]
    plain = measure(data, systems=[OURS], limit=1, config=set_to(base)).to_dict()
    assert plain["transitions"] == {"by": "what is said next"}


def test_a_file_of_labels_that_is_none_is_refused(base, data, tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "1", "transitions": "all of it"}\n')
    with pytest.raises(FormatError, match="no list of phrases"):
        measure(data, labels=path, config=set_to(base))


def test_without_a_base_one_is_built_once_from_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("DOXA_DATA", str(tmp_path))
    (tmp_path / "open" / "genericskb").mkdir(parents=True)
    (tmp_path / "open" / "genericskb" / "GenericsKB.txt").write_text("\n".join(SENTENCES[:9]), encoding="utf-8")
    (tmp_path / "open" / "genericskb" / "SOURCE.txt").write_text("Where it comes from.\n", encoding="utf-8")
    (tmp_path / "open" / "atomic2020").mkdir()
    (tmp_path / "open" / "atomic2020" / "test.tsv").write_text(FOLLOWS, encoding="utf-8")
    told, folder = [], tmp_path / "runs" / "knowledge"
    hashed = Config.from_tree({"encoder": {"name": "hash"}})

    def opened():
        told.clear()
        return opening.open_base(hashed, tmp_path / "measure", folder=folder, tell=lambda *step: told.append(step))

    first = opened()
    assert (len(first), first.card.inferences, first.folder) == (9, 12, folder.with_name("knowledge-hash")) and told
    assert first.card.encoder.startswith("hash")
    assert len(opened()) == 9 and not told


def test_the_figure_is_drawn(report, tmp_path):
    pytest.importorskip("matplotlib")
    draw_alignment(tmp_path / "alignment.png", report)
    assert (tmp_path / "alignment.png").read_bytes().startswith(b"\x89PNG")


def words(texts):
    """Token vectors by which equal words are equal and others have nothing in common."""
    known = sorted({word for text in (*SENTENCES, "a b c d") for word in text.split()})
    unit = np.eye(len(known), dtype=np.float32)
    return [unit[[known.index(word) for word in text.split()]] for text in texts]


def said(*sentences):
    return json.dumps({"knowledge": sentences})


def test_what_was_retrieved_is_compared_with_what_a_model_infers():
    examples = [
        {"context": ["Hello."], "retrieved": {"same": ["a b"], "half": ["a d"], "none": []}},
        {"context": ["Bye."], "retrieved": {"same": ["c d"], "half": ["c a"], "none": ["a"]}},
        {"context": ["Refused."], "retrieved": {"same": ["a"]}},
    ]
    model = ScriptedModel(
        [
            said("a b", " a  b ", "c"),
            said("c d"),
            Completion(text="", parsed=None, refused=True, truncated=False, usage=Usage(), seconds=0.0),
        ]
    )
    found = compare(examples, model, words)
    assert (found["dialogues"], found["failed"]) == (2, 1)
    rows = found["systems"]
    assert rows["same"] == {"average": pytest.approx((0.5 + 1) / 2), "max": pytest.approx(1.0)}
    assert rows["half"] == {"average": pytest.approx((0.25 + 0.5) / 2), "max": pytest.approx(0.5)}
    assert rows["none"] == {"average": 0.0, "max": 0.0}
    asked = model.requests[0].messages[-1].content
    assert json.loads(asked) == {"conversation": ["Hello."]} and model.requests[0].schema["required"] == ["knowledge"]


def test_a_model_that_never_answers_ends_the_run():
    example = {"context": ["Hello."], "retrieved": {"same": ["a"]}}
    model = ScriptedModel(repeat(BackendError("away")))
    assert compare([example] * 9, model, words)["failed"] == 9
    with pytest.raises(BackendUnavailableError, match="none of 10 calls: away"):
        compare([example] * 12, ScriptedModel(repeat(BackendError("away"))), words)


def test_a_configured_model_has_a_part_of_the_report(base, data, monkeypatch):
    model = ScriptedModel(repeat(answer))
    monkeypatch.setattr("doxa_bench.models.load", lambda kind, name, **_: model)
    config = Config.from_tree({"llm": {"name": "openai:any"}, "commonsense": {"base": str(base)}})
    report = measure(data, systems=[OURS, "bm25"], limit=2, examples=1, config=config)
    part = report.to_dict()["model"]
    assert len(model.requests) == 2 * part["dialogues"] == 4 and set(part["systems"]) == {OURS, "bm25"}
    assert all(0 < row["average"] < row["max"] < 1 for row in part["systems"].values())
    assert len(report.examples) == 1 and report.models["llm"] == "scripted"


def test_match_is_overlap_between_two_lists():
    first, second = words(["a b", "c"]), words(["a c d"])
    scores = [semantic_overlap([one, second[0]]).f1 for one in first]
    assert nearness(first, second) == pytest.approx((sum(scores) / 2, max(scores)))
    assert nearness(first, []) == nearness([], second) == (0.0, 0.0)


def cicero(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def asked(question, choices, right, target="I missed the train this morning."):
    lines = ["B: Good morning.", f"A: {target}", "B: Poor you."]
    return {
        "ID": "made", "Dialogue": lines, "Target": target, "Question": question, "Choices": choices,
        "Correct Answers": right,
    }  # fmt: skip


EVENT = "What subsequent event happens or could happen following the target?"
REACTION = "What is the possible emotional reaction of the listener in response to target?"


def test_an_inference_leads_to_a_choice_that_the_utterance_does_not(base, tmp_path):
    """The nearest to the utterance is wrong; what is wanted because of it is right. Then nothing at all is inferred."""
    choices = ["The speaker never missed the train this morning.", "The speaker wants to take the next one."]
    strange = asked(REACTION, ["Quarks.", "The zxqv is grmbl."], [1], target="The zxqv of grmbl.")
    path = cicero(tmp_path / "made.json", asked(EVENT, choices, [1]), strange)
    found = run_cicero(path, KnowledgeBase(base)).to_dict()
    event, reaction = found["kinds"]["subsequent event"], found["kinds"]["reaction"]
    assert (event["accuracy"], event["target"], event["chance"], event["nothing_inferred"]) == (1.0, 0.0, 0.5, 0)
    assert reaction["nothing_inferred"] == 1 and reaction["accuracy"] == reaction["target"] == 1.0
    assert found["n"] == 2 and found["accuracy"] == 1.0 and found["accuracy_95"][0] < 0.5
    assert run_cicero(path, KnowledgeBase(base), limit=1).to_dict()["n"] == 1


def test_questions_of_cicero_are_told_apart(base, tmp_path):
    told = {
        "What is or could be the cause of target?": "cause",
        "What is or could be the prerequisite of target?": "prerequisite",
        "What is or could be the motivation of target?": "motivation",
        REACTION: "reaction",
        EVENT: "subsequent event",
    }
    assert {question: _kind(question) for question in told} == told and set(told.values()) == set(KINDS)
    with pytest.raises(FormatError, match="Who said it"):
        measure_cicero(cicero(tmp_path / "made.json", asked("Who said it?", ["A", "B"], [0])), config=set_to(base))
