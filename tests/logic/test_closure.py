"""Every rule of OWL 2 RL by example, proofs, distinct names, and how much work a change is."""

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from doxa.logic.closure import Clash, Closure
from doxa.logic.closure.rules import rules
from doxa.logic.names import PREFIXES

HEAD = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in {**PREFIXES, "": "urn:x#"}.items())


def triples(text):
    """Return the triples of Turtle without its prefixes."""
    return [quad.triple for quad in parse((HEAD + text + (" ." if text else "")).encode(), format=RdfFormat.TURTLE)]


def x(name):
    return NamedNode("urn:x#" + name)


RESTRICTED = ":r owl:onProperty :p ; "
FOLLOWS = {
    "eq-sym": (":a owl:sameAs :b", ":b owl:sameAs :a"),
    "eq-trans": (":a owl:sameAs :b . :b owl:sameAs :c", ":a owl:sameAs :c"),
    "eq-rep-s": (":a owl:sameAs :b . :a :p :c", ":b :p :c"),
    "eq-rep-p": (":p owl:sameAs :q . :a :p :c", ":a :q :c"),
    "eq-rep-o": (":a owl:sameAs :b . :c :p :a", ":c :p :b"),
    "prp-dom": (":p rdfs:domain :c . :a :p :b", ":a a :c"),
    "prp-rng": (":p rdfs:range :c . :a :p :b", ":b a :c"),
    "prp-fp": (":p a owl:FunctionalProperty . :a :p :b, :c", ":b owl:sameAs :c"),
    "prp-ifp": (":p a owl:InverseFunctionalProperty . :a :p :c . :b :p :c", ":a owl:sameAs :b"),
    "prp-symp": (":p a owl:SymmetricProperty . :a :p :b", ":b :p :a"),
    "prp-trp": (":p a owl:TransitiveProperty . :a :p :b . :b :p :c", ":a :p :c"),
    "prp-spo1": (":p rdfs:subPropertyOf :q . :a :p :b", ":a :q :b"),
    "prp-spo2": (":u owl:propertyChainAxiom (:p :q :p) . :a :p :b . :b :q :c . :c :p :d", ":a :u :d"),
    "prp-eqp1": (":p owl:equivalentProperty :q . :a :p :b", ":a :q :b"),
    "prp-eqp2": (":p owl:equivalentProperty :q . :a :q :b", ":a :p :b"),
    "prp-inv1": (":p owl:inverseOf :q . :a :p :b", ":b :q :a"),
    "prp-inv2": (":p owl:inverseOf :q . :a :q :b", ":b :p :a"),
    "prp-key": (":c owl:hasKey (:p :q) . :a a :c ; :p 1 ; :q 2 . :b a :c ; :p 1 ; :q 2", ":a owl:sameAs :b"),
    "cls-int1": (":c owl:intersectionOf (:d :e :f) . :a a :d, :e, :f", ":a a :c"),
    "cls-int2": (":c owl:intersectionOf (:d :e :f) . :a a :c", ":a a :f"),
    "cls-uni": (":c owl:unionOf (:d :e) . :a a :e", ":a a :c"),
    "cls-svf1": (RESTRICTED + "owl:someValuesFrom :c . :a :p :b . :b a :c", ":a a :r"),
    "cls-svf2": (RESTRICTED + "owl:someValuesFrom owl:Thing . :a :p :b", ":a a :r"),
    "cls-avf": (RESTRICTED + "owl:allValuesFrom :c . :a a :r ; :p :b", ":b a :c"),
    "cls-hv1": (RESTRICTED + "owl:hasValue :b . :a a :r", ":a :p :b"),
    "cls-hv2": (RESTRICTED + "owl:hasValue :b . :a :p :b", ":a a :r"),
    "cls-maxc2": (
        RESTRICTED + 'owl:maxCardinality "1"^^xsd:nonNegativeInteger . :a a :r ; :p :b, :c',
        ":b owl:sameAs :c",
    ),
    "cls-maxqc3": (
        RESTRICTED + 'owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass :c .'
        ":a a :r ; :p :b, :d, :e . :b a :c . :d a :c",
        ":b owl:sameAs :d",
    ),
    "cls-maxqc4": (
        RESTRICTED + 'owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass owl:Thing .'
        ":a a :r ; :p :b, :d",
        ":b owl:sameAs :d",
    ),
    "cls-oo": (":c owl:oneOf (:a :b)", ":b a :c"),
    "cls-thing": ("", "owl:Thing a owl:Class"),
    "cls-nothing1": ("", "owl:Nothing a owl:Class"),
    "cax-sco": (":c rdfs:subClassOf :d . :a a :c", ":a a :d"),
    "cax-eqc1": (":c owl:equivalentClass :d . :a a :c", ":a a :d"),
    "cax-eqc2": (":c owl:equivalentClass :d . :a a :d", ":a a :c"),
    "scm-cls": (":c a owl:Class", ":c rdfs:subClassOf owl:Thing"),
    "scm-sco": (":c rdfs:subClassOf :d . :d rdfs:subClassOf :e", ":c rdfs:subClassOf :e"),
    "scm-eqc1": (":c owl:equivalentClass :d", ":d rdfs:subClassOf :c"),
    "scm-eqc2": (":c rdfs:subClassOf :d . :d rdfs:subClassOf :c", ":c owl:equivalentClass :d"),
    "scm-op": (":p a owl:ObjectProperty", ":p rdfs:subPropertyOf :p"),
    "scm-dp": (":p a owl:DatatypeProperty", ":p owl:equivalentProperty :p"),
    "scm-spo": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :u", ":p rdfs:subPropertyOf :u"),
    "scm-eqp1": (":p owl:equivalentProperty :q", ":q rdfs:subPropertyOf :p"),
    "scm-eqp2": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p", ":q owl:equivalentProperty :p"),
    "scm-dom1": (":p rdfs:domain :c . :c rdfs:subClassOf :d", ":p rdfs:domain :d"),
    "scm-dom2": (":q rdfs:domain :c . :p rdfs:subPropertyOf :q", ":p rdfs:domain :c"),
    "scm-rng1": (":p rdfs:range :c . :c rdfs:subClassOf :d", ":p rdfs:range :d"),
    "scm-rng2": (":q rdfs:range :c . :p rdfs:subPropertyOf :q", ":p rdfs:range :c"),
    "scm-hv": (
        RESTRICTED + "owl:hasValue :a . :s owl:onProperty :q ; owl:hasValue :a . :p rdfs:subPropertyOf :q",
        ":r rdfs:subClassOf :s",
    ),
    "scm-svf1": (
        RESTRICTED + "owl:someValuesFrom :c . :s owl:onProperty :p ; owl:someValuesFrom :d . :c rdfs:subClassOf :d",
        ":r rdfs:subClassOf :s",
    ),
    "scm-svf2": (
        RESTRICTED + "owl:someValuesFrom :c . :s owl:onProperty :q ; owl:someValuesFrom :c . :p rdfs:subPropertyOf :q",
        ":r rdfs:subClassOf :s",
    ),
    "scm-avf1": (
        RESTRICTED + "owl:allValuesFrom :c . :s owl:onProperty :p ; owl:allValuesFrom :d . :c rdfs:subClassOf :d",
        ":r rdfs:subClassOf :s",
    ),
    "scm-avf2": (
        RESTRICTED + "owl:allValuesFrom :c . :s owl:onProperty :q ; owl:allValuesFrom :c . :p rdfs:subPropertyOf :q",
        ":s rdfs:subClassOf :r",
    ),
    "scm-int": (":c owl:intersectionOf (:d :e)", ":c rdfs:subClassOf :e"),
    "scm-uni": (":c owl:unionOf (:d :e)", ":e rdfs:subClassOf :c"),
}
WRONG = {
    "eq-diff1": ":a owl:sameAs :b ; owl:differentFrom :b",
    "eq-diff2": "[] a owl:AllDifferent ; owl:members (:a :b :c) . :a owl:sameAs :c",
    "eq-diff3": "[] a owl:AllDifferent ; owl:distinctMembers (:a :b :c) . :b owl:sameAs :c",
    "prp-irp": ":p a owl:IrreflexiveProperty . :a :p :a",
    "prp-asyp": ":p a owl:AsymmetricProperty . :a :p :b . :b :p :a",
    "prp-pdw": ":p owl:propertyDisjointWith :q . :a :p :b ; :q :b",
    "prp-adp": "[] a owl:AllDisjointProperties ; owl:members (:p :q :u) . :a :p :b ; :u :b",
    "prp-npa1": "[] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetIndividual :b . :a :p :b",
    "prp-npa2": "[] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetValue 1 . :a :p 1",
    "cls-nothing2": ":a a owl:Nothing",
    "cls-com": ":c owl:complementOf :d . :a a :c, :d",
    "cls-maxc1": RESTRICTED + 'owl:maxCardinality "0"^^xsd:nonNegativeInteger . :a a :r ; :p :b',
    "cls-maxqc1": RESTRICTED
    + 'owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; owl:onClass :c . :a a :r ; :p :b . :b a :c',
    "cls-maxqc2": RESTRICTED
    + 'owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; owl:onClass owl:Thing . :a a :r ; :p :b',
    "cax-dw": ":c owl:disjointWith :d . :a a :c, :d",
    "cax-adc": "[] a owl:AllDisjointClasses ; owl:members (:c :d :e) . :a a :c, :e",
    "dt-diff": ":p a owl:FunctionalProperty . :a :p 1, 2",
    "dt-not-type": ':p rdfs:range xsd:integer . :a :p "twelve"',
}


def test_every_rule_has_an_example():
    named = {rule.name for rule in rules()} - {"list"}
    assert named == FOLLOWS.keys() | WRONG.keys()


@pytest.mark.parametrize("rule", FOLLOWS)
def test_a_rule_concludes_what_the_specification_says(rule):
    """Only with all of its premises, and its conclusion goes with any one of them."""
    given, conclusion = FOLLOWS[rule]
    said, (expected,) = triples(given), triples(conclusion)
    closure = Closure(said)
    assert expected in closure
    assert rule in {step.rule for step in closure.proof(expected).steps}
    assert not closure.clashes()
    for premise in closure.support(expected):
        closure.remove([premise])
        assert expected not in closure
        closure.add([premise])
        assert expected in closure


@pytest.mark.parametrize("rule", WRONG)
def test_a_rule_finds_what_is_wrong(rule):
    """And the smallest support of it is what the example says, nothing less."""
    said = triples(WRONG[rule])
    closure = Closure(said)
    found = closure.clashes()
    assert {clash.rule for clash in found} == {rule}
    support = closure.support(found[0])
    assert {tuple(one) for one in support} <= {tuple(one) for one in said}
    for one in support:
        closure.remove([one])
        assert not closure.clashes()
        closure.add([one])
        assert closure.clashes()


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (":c owl:intersectionOf (:d :e) . :a a :d", ":a a :c"),
        (":u owl:propertyChainAxiom (:p :q) . :a :p :b . :c :q :d", ":a :u :d"),
        (":c owl:hasKey (:p :q) . :a a :c ; :p 1 ; :q 2 . :b a :c ; :p 1 ; :q 3", ":a owl:sameAs :b"),
        (":c owl:hasKey (:p :q) . :a a :c ; :p 1 ; :q 2 . :b :p 1 ; :q 2", ":a owl:sameAs :b"),
        (RESTRICTED + "owl:someValuesFrom :c . :a :p :b", ":a a :r"),
        (RESTRICTED + "owl:someValuesFrom xsd:integer . :a :p true", ":a a :r"),
    ],
)
def test_half_of_the_premises_conclude_nothing(given, missing):
    assert triples(missing)[0] not in Closure(triples(given))


@pytest.mark.parametrize(
    "given",
    [
        "[] a owl:AllDifferent ; owl:members (:a :b) . :a owl:sameAs :c",
        "[] a owl:AllDisjointClasses ; owl:members (:c :d) . :c owl:sameAs :e . :a a :c",
        ':p a owl:FunctionalProperty . :a :p "1"^^xsd:integer, "01"^^xsd:integer, "1.0"^^xsd:decimal',
        ":p rdfs:range xsd:positiveInteger . :a :p 3",
        ":p rdfs:range xsd:duration . :a :p 'PT1H'^^xsd:duration",
    ],
    ids=["another name of a member", "another name of a class", "one number", "within a kind", "unknown datatype"],
)
def test_what_is_no_contradiction_is_none(given):
    assert Closure(triples(given)).clashes() == []


@pytest.mark.parametrize("value", ['"0"^^xsd:positiveInteger', '"300"^^xsd:byte', '"x"^^xsd:integer', "true", '"a"@en'])
def test_a_value_outside_the_range_is_wrong(value):
    closure = Closure(triples(f":p rdfs:range xsd:positiveInteger . :a :p {value}"))
    assert [clash.rule for clash in closure.clashes()] == ["dt-not-type"]


def test_a_value_of_a_datatype_is_one_of_its_class():
    closure = Closure(triples(RESTRICTED + "owl:someValuesFrom xsd:integer . :a :p 5"))
    assert triples(":a a :r")[0] in closure


def test_where_names_differ_two_values_of_a_functional_property_clash():
    """They are one thing otherwise; and to say that two of them are one is wrong then."""
    said = triples(":p a owl:FunctionalProperty . :a :p :b, :c . :b :q :d")
    assert triples(":c :q :d")[0] in Closure(said)
    closure = Closure(said, apart=lambda node: True)
    assert triples(":c :q :d")[0] not in closure
    assert [clash.rule for clash in closure.clashes()] == ["prp-fp"]
    closure.remove(triples(":a :p :c"))
    assert closure.clashes() == []
    closure.add(triples(":e owl:sameAs :f"))
    assert [clash.rule for clash in closure.clashes()] == ["eq-diff1"]


def test_a_circle_does_not_keep_itself_alive():
    """Two statements that each follow from the other go with what they came from."""
    closure = Closure(triples(":p owl:inverseOf :q . :q rdfs:subPropertyOf :u . :u owl:inverseOf :p . :a :p :b"))
    assert triples(":b :u :a")[0] in closure
    closure.remove(triples(":a :p :b"))
    assert triples(":b :q :a")[0] not in closure and triples(":a :p :b")[0] not in closure


def test_what_has_another_derivation_stays():
    """A withdrawn assertion that follows from others is inferred from then on."""
    closure = Closure(triples(":p a owl:TransitiveProperty . :a :p :b . :b :p :c . :a :p :d . :d :p :c . :a :p :c"))
    (direct,) = triples(":a :p :c")
    assert closure.remove([direct]).added == (tuple(direct),)
    assert direct in closure and not closure.is_asserted(direct)
    closure.remove(triples(":b :p :c"))
    assert {tuple(one) for one in closure.support(direct)} >= {tuple(one) for one in triples(":a :p :d . :d :p :c")}
    assert closure.remove(triples(":d :p :c")).removed == (tuple(direct),)
    assert closure.proof(direct) is None and closure.support(direct) == ()


def test_a_change_is_told_once():
    """What is asserted while it is inferred is no longer inferred; nothing else changes."""
    closure = Closure(triples(":p a owl:SymmetricProperty"))
    assert [str(one.subject) for one in closure.add(triples(":a :p :b")).added] == ["<urn:x#b>"]
    assert closure.add(triples(":b :p :a")).removed == (tuple(triples(":b :p :a")[0]),)
    assert closure.add(triples(":b :p :a")) == closure.remove(triples(":c :p :d")) == type(closure.add([]))()


def test_lists_leave_no_trace_of_our_own():
    """Neither among the statements nor in a proof."""
    closure = Closure(triples(FOLLOWS["prp-spo2"][0] + " . " + FOLLOWS["cls-int1"][0]))
    terms = {str(node) for statement in closure for node in statement}
    assert not any("doxa:closure" in one for one in terms)
    proof = closure.proof(triples(":a :u :d")[0])
    assert not any("doxa:closure" in str(node) for step in proof.steps for node in step.conclusion)
    assert len(proof.steps[-1].premises) == 3 + 1 + 6


def test_what_is_unknown_has_no_proof():
    assert Closure().proof((x("a"), x("p"), x("b"))) is None
    assert Closure().proof(Clash("cax-dw", (x("a"),))) is None


def test_a_literal_can_be_asked_for():
    """As a subject it appears only in what is inferred."""
    closure = Closure(triples(":p rdfs:range :c . :a :p 1"))
    one = Literal("1", datatype=NamedNode(PREFIXES["xsd"] + "integer"))
    assert (one, NamedNode(PREFIXES["rdf"] + "type"), x("c")) in closure


def firings_of(size):
    """Return the work of one fact, added and removed, beside so many others."""
    axioms = ":p rdfs:subPropertyOf :q ; rdfs:domain :c . :q a owl:SymmetricProperty . :t a owl:TransitiveProperty ."
    closure = Closure(triples(axioms + ":c rdfs:subClassOf :d"))
    closure.add((x(f"a{n}"), x("p"), x(f"a{n + 1}")) for n in range(size))
    closure.add((x(f"b{n // 10}"), x("t"), x(f"b{n}")) for n in range(1, size))
    before = closure.firings
    closure.add([(x("new"), x("p"), x("a5"))])
    closure.remove([(x("new"), x("p"), x("a5"))])
    return closure.firings - before


def test_the_work_of_a_change_does_not_grow_with_the_rest():
    """Not at all, here: the same rules fire beside a hundred facts and beside ten thousand."""
    assert firings_of(10_000) == firings_of(100) < 20
