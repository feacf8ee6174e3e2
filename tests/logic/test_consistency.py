"""Checks of facts against an ontology, by the rules of OWL 2 RL and by a reasoner for OWL 2 DL."""

import shutil
import subprocess
from importlib.util import find_spec

import pytest

from doxa.core.errors import BackendReplyError, BackendUnavailableError, MissingDependencyError
from doxa.core.values import Fact, Modality, Relation, Status, Term
from doxa.logic import Hermit, builtin_ontology, check_dl, check_rl, read_axioms
from doxa.logic import hermit as reasoner

ONTOLOGY = builtin_ontology()
needs_java = pytest.mark.skipif(
    shutil.which("java") is None or find_spec("owlready2") is None, reason="HermiT needs owlready2 and Java"
)
NOBODY_HAS_A_SISTER = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <urn:x#> . @prefix doxa: <urn:doxa:vocabulary#> .
:A a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:complementOf doxa:Person ] .
:B a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:complementOf doxa:Person ] .
doxa:sister rdfs:domain [ a owl:Class ; owl:unionOf (:A :B) ] .
"""
"""Who has a sister is A or B and so no person: no rule of OWL 2 RL looks at both cases."""


def facts(*rows, **more):
    for place, row in enumerate(rows):
        subject, *no, relation, value = row.split()
        yield Fact(
            fact_id=f"f{place}",
            subject=Term(subject, subject),
            relation=Relation(relation, relation),
            object=Term(value, value),
            polarity=not no,
            **more,
        )


def test_facts_that_agree_are_consistent():
    found = check_rl(facts("ana lives_in rome", "ana sister mia"), "ana", ONTOLOGY)
    assert (found.method, found.consistent, found.facts) == ("owl-rl", True, 2)
    assert found.inferred > 3 and found.inconsistencies == ()


def test_two_clashes_are_told_apart():
    rows = ("ana born_in rome", "ana born_in bonn", "bo sister bo", "bo likes tea")
    found = check_rl(facts(*rows), "ana", ONTOLOGY)
    assert [{one.fact_id for one in clash.facts} for clash in found.inconsistencies] == [{"f0", "f1"}, {"f2"}]


@pytest.mark.parametrize("more", [{"status": Status.RETRACTED}, {"modality": Modality.DESIRED}], ids=str)
def test_only_what_is_believed_is_checked(more):
    assert check_rl(facts("bo sister bo", **more), "ana", ONTOLOGY).facts == 0


@needs_java
@pytest.mark.parametrize(
    ("rows", "clashes"),
    [
        (("ana lives_in rome", "ana sister mia", "bo lives_in rome", "ana not likes tea"), []),
        (("ana born_in rome", "ana likes tea", "ana born_in bonn"), [("prp-fp", {"f0", "f2"})]),
        (("ana lives_in rome", "ana lives_in bonn"), []),
    ],
    ids=["none", "functional", "one as a rule"],
)
def test_the_reasoner_agrees_with_the_rules(rows, clashes):
    found = check_dl(facts(*rows), "ana", ONTOLOGY)
    assert (found.method, found.facts) == ("owl-dl", len(rows))
    assert [(one.rule, {fact.fact_id for fact in one.facts}) for one in found.inconsistencies] == clashes


@needs_java
def test_the_reasoner_finds_what_rules_do_not(tmp_path):
    """And the two facts of many that make it, beside what the rules have found."""
    path = tmp_path / "more.ttl"
    path.write_text(NOBODY_HAS_A_SISTER)
    rows = ("bo likes tea", "ana sister mia", "cy likes tea", "dee sister dee", "ana married_to bo")
    axioms = read_axioms(path, known=ONTOLOGY)
    assert [one.rule for one in check_rl(facts(*rows), "ana", ONTOLOGY, axioms).inconsistencies] == ["prp-irp"]
    by_rule, by_reasoner = check_dl(facts(*rows), "ana", ONTOLOGY, axioms).inconsistencies
    assert by_rule.rule == "prp-irp"
    assert (by_reasoner.rule, by_reasoner.minimal) == ("owl-dl", True)
    assert {one.fact_id for one in by_reasoner.facts} == {"f1", "f4"}
    assert "ana's sister is mia" in by_reasoner.text and "cannot both hold" in by_reasoner.text


@needs_java
def test_axioms_about_the_inverse_of_what_was_said_count(tmp_path):
    """The reasoner is told of `parent` although the facts say `child` only."""
    path = tmp_path / "more.ttl"
    path.write_text(NOBODY_HAS_A_SISTER.replace("doxa:sister rdfs:domain", "doxa:parent rdfs:range"))
    rows = ("bo likes tea", "ana child mia", "ana married_to bo")
    (clash,) = check_dl(facts(*rows), "ana", ONTOLOGY, read_axioms(path, known=ONTOLOGY)).inconsistencies
    assert clash.rule == "owl-dl" and {one.fact_id for one in clash.facts} == {"f1", "f2"}


class Scripted:
    """A reasoner that says no to every set with certain facts in it, until it is tired."""

    def __init__(self, wrong, patience):
        self.wrong, self.patience, self.asked = wrong, patience, 0

    def consistent(self, triples, *, timeout_s):
        self.asked += 1
        if self.asked > self.patience:
            raise BackendUnavailableError("It did not answer.")
        text = " ".join(map(str, triples))
        return not all(name in text for name in self.wrong)


def test_the_search_for_a_smallest_set_is_short(monkeypatch):
    """Two of a hundred facts are found with a few questions, of which none is asked in vain."""
    scripted = Scripted(("thing#p17>", "thing#p80>"), patience=60)
    monkeypatch.setattr(Hermit, "find", lambda: scripted)
    found = check_dl(facts(*(f"p{n} likes tea" for n in range(100))), "ana", ONTOLOGY)
    assert [{one.fact_id for one in clash.facts} for clash in found.inconsistencies] == [{"f17", "f80"}]
    assert scripted.asked < 40


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    """With facts that do clash, and more than it takes."""
    monkeypatch.setattr(Hermit, "find", lambda: Scripted(("thing#p17>", "thing#p80>"), patience=5))
    (clash,) = check_dl(facts(*(f"p{n} likes tea" for n in range(100))), "ana", ONTOLOGY).inconsistencies
    assert not clash.minimal and {"f17", "f80"} <= {one.fact_id for one in clash.facts}
    assert len(clash.facts) < 100 and "time was up" in clash.text


def test_axioms_that_clash_by_themselves_blame_no_fact(monkeypatch):
    monkeypatch.setattr(Hermit, "find", lambda: Scripted((), patience=9))
    (clash,) = check_dl(facts("ana likes tea"), "ana", ONTOLOGY).inconsistencies
    assert clash.facts == () and "axioms clash" in clash.text


def test_without_owlready2_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(reasoner, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*owlready2"):
        check_dl([], "ana", ONTOLOGY)


@pytest.mark.skipif(find_spec("owlready2") is None, reason="needs owlready2")
def test_without_java_a_runtime_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BackendUnavailableError, match="default-jre"):
        check_dl([], "ana", ONTOLOGY)


@pytest.mark.parametrize(
    ("code", "out", "err", "error"),
    [
        (1, "", "java.lang.IllegalArgumentException: no simple role\n\tat x", BackendReplyError),
        (0, "", "", BackendReplyError),
    ],
)
def test_a_reasoner_that_fails_is_no_answer(monkeypatch, code, out, err, error):
    done = subprocess.CompletedProcess([], code, out, err)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(error, match="could not check"):
        Hermit("java", "x.jar").consistent([], timeout_s=1)


def test_a_reasoner_that_takes_too_long_is_stopped(monkeypatch):
    def run(command, **_):
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(BackendUnavailableError, match="--limit"):
        Hermit("java", "x.jar").consistent([], timeout_s=1)
