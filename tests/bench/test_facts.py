"""Facts that replace each other: a small file, drawn sets, and FactConsolidation itself where it is at hand."""

import io
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_facts
from doxa_bench.cli.facts import show_facts
from doxa_bench.facts import draw_set, read_set
from doxa_bench.facts.material import material

WORDS = Config(encoder=EncoderConfig(name="hash"))
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DOXA_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "measure" / "factconsolidation"
NEEDS_DATA = pytest.mark.skipif(not FOLDER.exists(), reason="FactConsolidation is not at hand")
CONTEXT = """Here is a list of facts:
0. The author of The Weir is Nils Harte.
1. Nils Harte is married to Olga Brand.
2. The author of The Weir is Rosa Quist.
3. Rosa Quist is married to Hugo Lund."""


@pytest.fixture
def facts(tmp_path):
    """A folder with both files, of four facts and a question each."""
    for kind, question, answer in (
        ("sh", "Who is the author of The Weir?", "Rosa Quist"),
        ("mh", "Who is the spouse of the author of The Weir?", "Hugo Lund"),
    ):
        table = {"context": CONTEXT, "questions": [question], "answers": [[answer, "nobody else"]]}
        (tmp_path / f"factconsolidation_{kind}_6k.json").write_text(json.dumps(table), encoding="utf-8")
    return tmp_path


def test_a_set_is_read_without_numbers(facts):
    found = read_set(facts)
    assert found.facts[2] == "The author of The Weir is Rosa Quist." and len(found.facts) == 4
    assert [(one.kind, one.accepted[0]) for one in found.questions] == [
        ("single-hop", "Rosa Quist"),
        ("multi-hop", "Hugo Lund"),
    ]


def test_replies_and_baselines_are_scored_in_one_run(facts):
    report = run_facts(facts, config=WORDS).to_dict(errors=5)
    assert list(report["kinds"]) == ["single-hop", "multi-hop"] and report["turns"] == 4
    single = report["kinds"]["single-hop"]
    assert list(single) == ["doxa", "bm25", "dense", "rrf"]
    assert single["doxa"]["right"] == 1.0 and single["bm25"]["right"] == 1.0, "the later of two equal facts"
    assert report["kinds"]["multi-hop"]["bm25"]["in_top_10"] == 0.0, "the second fact shares no word with it"
    assert single["bm25"]["abstained"] is None and report["hops"] == {}
    assert json.loads(json.dumps(report)) == report


def test_an_answer_must_stand_as_a_run_of_words(facts):
    """A name within a longer word is none."""
    table = {"context": CONTEXT, "questions": ["Who wrote The Weir?"], "answers": [["Ros"]]}
    (facts / "factconsolidation_sh_6k.json").write_text(json.dumps(table), encoding="utf-8")
    report = run_facts(facts, config=WORDS, limit=1).to_dict(errors=5)
    assert report["kinds"]["single-hop"]["doxa"]["in_top_10"] == 0.0
    assert report["errors"][0]["accepted"] == ["Ros"]


def test_what_is_no_set_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="--facts N"):
        read_set(tmp_path)
    for kind in ("sh", "mh"):
        (tmp_path / f"factconsolidation_{kind}_6k.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FormatError, match="FactConsolidation"):
        read_set(tmp_path)


def followed(drawn, question):
    """Return what the relations of a question lead to when the last value that was told of each thing holds."""
    held = {(one.thing, one.relation): one.value for one in drawn.told}
    thing = question.start
    for relation in question.way:
        thing = held[thing, relation]
    return thing


@pytest.mark.parametrize("count", [455, 2000])
def test_the_answer_of_a_drawn_question_is_what_the_facts_lead_to(count):
    """One of the steps of every multi-hop question was replaced, and no answer stands in its question."""
    drawn = draw_set(count, seed=3)
    kinds = Counter(one.kind for one in drawn.questions)
    assert kinds == {"single-hop": 100, "multi-hop": 100}
    told = Counter((one.thing, one.relation) for one in drawn.told)
    for question in drawn.questions:
        assert question.accepted == (followed(drawn, question),)
        assert question.accepted[0] not in question.text and question.start in question.text
        if question.kind == "multi-hop":
            held = {(one.thing, one.relation): one.value for one in drawn.told}
            things = [question.start]
            for relation in question.way[:-1]:
                things.append(held[things[-1], relation])
            assert max(told[step] for step in zip(things, question.way, strict=True)) == 2
            assert 2 <= len(question.way) <= 4 and len(set(question.way)) == len(question.way)


@pytest.mark.parametrize("count", [455, 2000])
def test_as_many_values_are_replaced_as_asked(count):
    """And the ways are as long as asked."""
    drawn, mix = draw_set(count), material().mix
    told = Counter((one.thing, one.relation) for one in drawn.told)
    assert len(drawn.facts) == count and set(told.values()) == {1, 2}
    assert sum(times == 2 for times in told.values()) / len(told) == pytest.approx(mix.replaced, abs=0.01)
    asked = [one for one in drawn.questions if one.kind == "single-hop"]
    assert sum(told[one.start, one.way[0]] == 2 for one in asked) == round(100 * mix.asked_replaced)
    hops = Counter(len(one.way) for one in drawn.questions if one.kind == "multi-hop")
    assert hops == {hops: round(100 * share) for hops, share in mix.hops.items()}


def test_nobody_is_married_to_two_people():
    """A relation that holds both ways leaves one answer, whichever side is asked about."""
    told = [one for one in draw_set(2000).told if one.relation == "spouse"]
    things, values = {one.thing for one in told}, [one.value for one in told]
    assert told and not things & set(values) and len(values) == len(set(values))


def test_the_same_seed_draws_the_same_set():
    assert draw_set(300, seed=1) == draw_set(300, seed=1) and draw_set(300, seed=1) != draw_set(300, seed=2)


def test_a_drawn_set_is_measured_by_hops_and_shown():
    report = run_facts(facts=60, limit=3, config=WORDS).to_dict(errors=2)
    assert report["data"] == "drawn-60-0" and report["turns"] == 60
    assert report["kinds"]["single-hop"]["doxa"]["n"] == 3 and report["hops"]
    out = io.StringIO()
    show_facts(Console(file=out, width=140), report)
    assert "single-hop" in out.getvalue() and "60 facts" in out.getvalue()


@NEEDS_DATA
def test_drawn_names_are_not_those_of_the_published_set():
    published = " ".join(read_set(FOLDER).facts)
    assert len(read_set(FOLDER).facts) == 455
    for one in draw_set(2000).told:
        assert f"{one.thing} " not in published and f" {one.value}." not in published
