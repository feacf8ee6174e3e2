"""Text or AMR to OWL: the parts together."""

import pytest

from doxa.backends.amr.scripted import ScriptedParser
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config
from doxa.core.errors import ConfigError, FormatError, InputError
from doxa.engine import extract_graph
from doxa.engine.api import graphs as route

GO = "(g / go-02 :ARG0 (i / i) :ARG4 (b / bank))"
EAT = "(e / eat-01 :ARG0 (i / i) :ARG1 (n / nut))"


def config(**tree) -> Config:
    """Return settings without a lexicon, unless given."""
    return Config.from_tree({"encoder": {"name": "hash"}, "lexicon": {"name": "none"}, **tree})


def test_graphs_need_no_parser():
    found = extract_graph(f"# ::id a b\n# ::snt I go.\n{GO}\n\n{EAT}", config=config())
    assert [(one.name, one.text) for one in found.sentences] == [("a_b", "I go."), ("s2", "")]
    assert "<urn:doxa:amr:a_b#go_1>" in found.turtle or "a_b\\#go_1" in found.turtle
    assert [str(claim.object) for claim in found.sentences[1].claims] == ["nut"]


def test_two_graphs_of_one_name_are_two():
    found = extract_graph(f"# ::id x\n{GO}\n\n# ::id x\n{EAT}", config=config())
    assert len({one.name for one in found.sentences}) == 2


def test_sentences_go_through_the_parser_one_by_one():
    parser = ScriptedParser({"I go to the bank.": GO, "I ate (some) nuts!": EAT})
    found = extract_graph("I go to the bank. I ate (some) nuts!", config=config(), parser=parser, speaker="Ana")
    assert parser.asked == ["I go to the bank.", "I ate (some) nuts!"]
    assert [one.text for one in found.sentences] == parser.asked
    assert found.sentences[1].claims[0].subject.label == "Ana"
    assert found.trace.steps[0].name == "parse"


def test_a_language_model_can_be_the_parser(monkeypatch):
    """The first answer is no graph, and is asked for again."""
    model = ScriptedModel(["Sorry.", GO])
    settings = config(amr={"name": "llm"}, llm={"name": "scripted"})
    monkeypatch.setattr(route, "open_model", lambda config: model)
    assert "Go-02" in extract_graph("I go to the bank.", config=settings).turtle
    assert len(model.requests) == 2
    assert model.requests[1].messages[-1].role == "user"


def test_text_without_a_parser_says_what_to_set():
    with pytest.raises(ConfigError, match="DOXA_AMR"):
        extract_graph("I go to the bank.", config=config())
    with pytest.raises(ConfigError, match="DOXA_LLM"):
        extract_graph("I go to the bank.", config=config(amr={"name": "llm"}))


@pytest.mark.parametrize("text", ["", " \n", "... !"])
def test_nothing_is_an_error(text):
    with pytest.raises((InputError, ConfigError)):
        extract_graph(text, config=config(amr={"name": "scripted"}))


@pytest.mark.parametrize("base", ["no iri", "http://example.org/amr#", ""])
def test_a_base_that_no_name_can_start_with_is_an_error(base):
    with pytest.raises(InputError, match="IRI that names can start with"):
        extract_graph(GO, config=config(), senses=False, base=base)


def test_broken_graphs_are_an_error():
    with pytest.raises(FormatError, match="PENMAN"):
        extract_graph("(g / go-02 :ARG0 (i / i)", config=config())


def test_without_wordnet_the_trace_says_so_and_the_rest_is_there(tmp_path):
    found = extract_graph(GO, config=config(lexicon={"name": f"wordnet:{tmp_path}"}))
    assert found.sentences[0].senses == 0
    assert "apt install wordnet-base" in found.trace.degraded[0]
    assert "Go-02" in found.turtle


def test_senses_may_be_left_out(tmp_path):
    found = extract_graph(GO, config=config(lexicon={"name": f"wordnet:{tmp_path}"}), senses=False)
    assert found.trace.degraded == ()


def test_the_same_text_gives_the_same_graph():
    assert extract_graph(GO, config=config()).turtle == extract_graph(GO, config=config()).turtle
