"""AMR to OWL: each design pattern by example, and laws over arbitrary graphs."""

import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.errors import FormatError, InputError
from doxa.core.values import Modality
from doxa.logic import (
    WordSense,
    amr_to_turtle,
    enrich_amr,
    interval_of,
    read_amr,
    read_amrs,
    scopes,
    translate_amr,
)

BASE = "urn:test#"
NAMES = {
    BASE: ":",
    "urn:doxa:amr:": "amr:",
    "http://www.ontologydesignpatterns.org/ont/boxer/boxing.owl#": "boxing:",
    "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#": "dul:",
    "http://www.ontologydesignpatterns.org/ont/fred/quantifiers.owl#": "quant:",
    "http://www.ontologydesignpatterns.org/ont/vn/abox/role/vnrole.owl#": "vn.role:",
    "https://w3id.org/framester/data/propbank-3.4.0/RoleSet/": "pbrs:",
    "https://w3id.org/framester/wn/wn30/instances/": "wn30:",
    "http://dbpedia.org/resource/": "dbpedia:",
    "http://www.wikidata.org/entity/": "wikidata:",
    "https://schema.org/": "schema:",
    "http://www.w3.org/2002/07/owl#": "owl:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
}


def short(term) -> str:
    """Return a term with a prefix, a literal as its text, a blank node as an underscore."""
    value = getattr(term, "value", None)
    if type(term).__name__ == "BlankNode":
        return "_"
    for start, prefix in NAMES.items():
        if value.startswith(start):
            return prefix + value.removeprefix(start)
    return value


def told(amr: str, **options) -> set[str]:
    """Return the triples of a graph in short form."""
    triples = translate_amr(amr, base=BASE, **options).triples
    return {" ".join(map(short, (t.subject, t.predicate, t.object))) for t in triples}


PATTERNS = {
    "an event is an individual of its roleset's class": (
        "(b / believe-01 :ARG0 (g / girl))",
        [
            ":believe_1 rdf:type :Believe-01",
            ":Believe-01 rdfs:subClassOf dul:Event",
            ":Believe-01 owl:equivalentClass pbrs:believe-01",
            ":believe_1 amr:ARG0 :girl_1",
            ":girl_1 rdf:type :Girl",
        ],
        [],
    ),
    "an inverse role is turned round": (
        "(g / girl :ARG0-of (b / believe-01))",
        [":believe_1 amr:ARG0 :girl_1", ":sentence amr:focus :girl_1"],
        [":girl_1 amr:ARG0-of :believe_1"],
    ),
    "consist-of is no inverse": (
        "(t / team :consist-of (m / monkey))",
        [":team_1 dul:hasConstituent :monkey_1"],
        [":monkey_1 amr:consist :team_1"],
    ),
    "a re-entrant node is one individual": (
        "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))",
        [":want_1 amr:ARG0 :boy_1", ":go_1 amr:ARG0 :boy_1", ":go_1 boxing:hasModality amr:Desired"],
        [":boy_2 rdf:type :Boy"],
    ),
    "two nodes of one concept are two individuals": (
        "(s / see-01 :ARG0 (b / boy) :ARG1 (b2 / boy))",
        [":see_1 amr:ARG0 :boy_1", ":see_1 amr:ARG1 :boy_2"],
        [],
    ),
    "a name is a label and a name, and no thing": (
        '(p / person :wiki "Barack_Obama" :name (n / name :op1 "Barack" :op2 "Obama"))',
        [
            ":Barack_Obama rdf:type :Person",
            ":Person rdfs:subClassOf dul:Person",
            ":Barack_Obama schema:name Barack Obama",
            ":Barack_Obama owl:sameAs dbpedia:Barack_Obama",
        ],
        [":name_1 rdf:type :Name"],
    ),
    "a Wikidata id leads to Wikidata": ("(c / city :wiki Q90)", [":city_1 owl:sameAs wikidata:Q90"], []),
    "no wiki entry is no identity": ("(c / city :wiki -)", [], [":city_1 owl:sameAs dbpedia:-"]),
    "a denied event has the truth value false": (
        "(s / see-01 :polarity - :ARG0 (i / i))",
        [":see_1 boxing:hasTruthValue boxing:False", ":i_1 rdf:type dul:Person"],
        [],
    ),
    "what is asked has an unknown truth value": (
        "(s / see-01 :polarity (a / amr-unknown))",
        [":see_1 boxing:hasTruthValue amr:Unknown"],
        [],
    ),
    "what is possible has its modality": (
        "(p / possible-01 :ARG1 (g / go-02))",
        [":go_1 boxing:hasModality boxing:Possible", ":possible_1 amr:ARG1 :go_1"],
        [":go_1 boxing:hasTruthValue boxing:False"],
    ),
    "not possible is necessary that not": (
        "(p / possible-01 :polarity - :ARG1 (g / go-02))",
        [
            ":possible_1 boxing:hasTruthValue boxing:False",
            ":go_1 boxing:hasModality boxing:Necessary",
            ":go_1 boxing:hasTruthValue boxing:False",
        ],
        [":go_1 boxing:hasModality boxing:Possible"],
    ),
    "an obligation is necessary": (
        "(o / obligate-01 :ARG1 (i / i) :ARG2 (g / go-02 :ARG0 i))",
        [":go_1 boxing:hasModality boxing:Necessary"],
        [],
    ),
    "advice is recommended": (
        "(r / recommend-01 :ARG1 (g / go-02))",
        [":go_1 boxing:hasModality amr:Recommended"],
        [],
    ),
    "what is likely is possible": (
        "(l / likely-01 :ARG1 (g / go-02))",
        [":go_1 boxing:hasModality boxing:Possible"],
        [],
    ),
    "a thing that is wanted has no modality": (
        "(w / want-01 :ARG0 (i / i) :ARG1 (a / apple))",
        [":want_1 amr:ARG1 :apple_1"],
        [":apple_1 boxing:hasModality amr:Desired"],
    ),
    "a date has its fields and its bounds": (
        "(d / date-entity :year 2024 :month 2 :day 29)",
        [
            ":date-entity_1 amr:inYear 2024",
            ":date-entity_1 amr:start 2024-02-29T00:00:00",
            ":date-entity_1 amr:end 2024-03-01T00:00:00",
            ":DateEntity rdfs:subClassOf dul:TimeInterval",
        ],
        [],
    ),
    "a day that no calendar has has no bounds": (
        "(d / date-entity :year 2024 :month 6 :day 31)",
        [":date-entity_1 amr:onDay 31"],
        [":date-entity_1 amr:start 2024-06-01T00:00:00"],
    ),
    "a temporal quantity has number and unit": (
        "(t / temporal-quantity :quant 6 :unit (y / year))",
        [
            ":temporal-quantity_1 dul:hasDataValue 6",
            ":temporal-quantity_1 amr:unit :year_1",
            ":TemporalQuantity rdfs:subClassOf dul:Amount",
        ],
        [":temporal-quantity_1 quant:hasQuantifier quant:multiple"],
    ),
    "a monetary quantity keeps its decimals": (
        "(m / monetary-quantity :quant 2.50 :unit (e / euro))",
        [":monetary-quantity_1 dul:hasDataValue 2.50"],
        [],
    ),
    "a count is a value and multiple": (
        "(c / cat :quant 3)",
        [":cat_1 dul:hasDataValue 3", ":cat_1 quant:hasQuantifier quant:multiple"],
        [],
    ),
    "one is not multiple": ("(c / cat :quant 1)", [], [":cat_1 quant:hasQuantifier quant:multiple"]),
    "a quantifier is no thing": (
        "(c / cat :mod (a / all) :quant (m / many))",
        [":cat_1 quant:hasQuantifier quant:every", ":cat_1 quant:hasQuantifier quant:many"],
        [":all_1 rdf:type :All"],
    ),
    "little is a quality of a prince, and a quantity of water": (
        "(s / see-01 :ARG0 (p / prince :mod (l / little)) :ARG1 (w / water :quant (l2 / little)))",
        [":prince_1 dul:hasQuality :little_1", ":water_1 quant:hasQuantifier quant:few"],
        [":prince_1 quant:hasQuantifier quant:few", ":little_2 rdf:type :Little"],
    ),
    "a determiner is no thing": (
        "(c / cat :mod (t / that))",
        [":cat_1 quant:hasDeterminer quant:that"],
        [":cat_1 dul:hasQuality :that_1"],
    ),
    "a modifier is a quality and makes a narrower class": (
        "(p / picture :mod (m / magnificent))",
        [
            ":picture_1 dul:hasQuality :magnificent_1",
            ":picture_1 rdf:type :MagnificentPicture",
            ":MagnificentPicture rdfs:subClassOf :Picture",
        ],
        [],
    ),
    "a noun as predicate is the same thing": (
        "(c / cat :domain (i / it))",
        [":it_1 owl:sameAs :cat_1", ":it_1 rdf:type :Cat"],
        [],
    ),
    "a denied predicate is a complement": (
        "(c / cat :polarity - :domain (i / it))",
        [":it_1 rdf:type _", "_ owl:complementOf :Cat", ":cat_1 amr:domain :it_1"],
        [":it_1 owl:sameAs :cat_1", ":it_1 rdf:type :Cat"],
    ),
    "not a good cat may be a cat": (
        "(c / cat :polarity - :domain (i / it) :mod (g / good))",
        ["_ owl:complementOf :Cat_c", ":Cat_c rdfs:subClassOf :Cat"],
        ["_ owl:complementOf :Cat"],
    ),
    "a predicate that is only possible is not asserted": (
        "(p / possible-01 :ARG1 (c / cat :domain (i / it)))",
        [":cat_1 amr:domain :it_1", ":cat_1 boxing:hasModality boxing:Possible"],
        [":it_1 owl:sameAs :cat_1"],
    ),
    "and has members, and a role that leads to it leads to them": (
        "(l / like-01 :ARG1 (a / and :op1 (c / cat) :op2 (d / dog)))",
        [
            ":and_1 dul:hasMember :cat_1",
            ":And rdfs:subClassOf boxing:Conjunct",
            ":like_1 amr:ARG1 :cat_1",
            ":like_1 amr:ARG1 :dog_1",
        ],
        [],
    ),
    "of an alternative no part is asserted": (
        "(l / like-01 :ARG1 (o / or :op1 (c / cat) :op2 (d / dog)))",
        [":or_1 dul:hasMember :cat_1", ":Or rdfs:subClassOf boxing:Disjunct"],
        [":like_1 amr:ARG1 :cat_1"],
    ),
    "an order has its mode": ("(g / go-02 :mode imperative :ARG0 (y / you))", [":go_1 amr:mode amr:Imperative"], []),
    "a question has its mode": ("(g / go-02 :mode interrogative)", [":go_1 amr:mode amr:Interrogative"], []),
    "a degree is kept": ("(n / nice-01 :degree (v / very))", [":nice_1 amr:degree :very_1"], []),
    "a comparison names its parts": (
        "(h / have-degree-91 :ARG1 (i / i) :ARG2 (t / tall) :ARG3 (m / more) :ARG4 (h2 / he))",
        [
            ":have-degree_1 amr:entity :i_1",
            ":have-degree_1 amr:attribute :tall_1",
            ":have-degree_1 amr:degree :more_1",
            ":have-degree_1 amr:comparedTo :he_1",
        ],
        [":i_1 dul:hasQuality :tall_1"],
    ),
    "a relative is a relation": (
        '(h / have-rel-role-91 :ARG0 (p / person :name (n / name :op1 "Mia")) :ARG1 (i / i) :ARG2 (s / sister))',
        [":Mia :sisterOf :i_1", ":Mia dul:hasRole :sister_1", ":have-rel-role_1 amr:firstParty :Mia"],
        [],
    ),
    "a denied relative is none": (
        "(h / have-rel-role-91 :polarity - :ARG0 (s / she) :ARG1 (i / i) :ARG2 (x / sister))",
        [":have-rel-role_1 boxing:hasTruthValue boxing:False"],
        [":she_1 :sisterOf :i_1"],
    ),
    "an office is a relation to the organization": (
        "(h / have-org-role-91 :ARG0 (s / she) :ARG1 (c / company) :ARG2 (d / director))",
        [":she_1 :directorOf :company_1", ":have-org-role_1 amr:organization :company_1"],
        [],
    ),
    "an office without a title is membership": (
        "(h / have-org-role-91 :ARG0 (s / she) :ARG1 (c / company))",
        [":she_1 dul:isMemberOf :company_1"],
        [],
    ),
    "being somewhere is a location": (
        "(b / be-located-at-91 :ARG1 (c / cat) :ARG2 (h / here))",
        [":cat_1 vn.role:Location :here_1", ":BeLocatedAt-91 rdfs:subClassOf dul:Situation"],
        [],
    ),
    "possession, part, order and mark are kept": (
        '(c / cat :poss (i / i) :part (t / tail) :ord (o / ordinal-entity :value 2) :li "a")',
        [
            ":cat_1 amr:poss :i_1",
            ":cat_1 dul:hasPart :tail_1",
            ":cat_1 amr:ord :ordinal-entity_1",
            ":ordinal-entity_1 dul:hasDataValue 2",
            ":cat_1 amr:listMark a",
        ],
        [],
    ),
    "sentences are members": (
        "(m / multi-sentence :snt1 (s / see-01) :snt2 (g / go-02))",
        [":multi-sentence_1 dul:hasMember :see_1", ":multi-sentence_1 dul:hasMember :go_1"],
        [],
    ),
    "a condition is kept": (
        "(g / go-02 :condition (r / rain-01))",
        [":go_1 amr:condition :rain_1"],
        [],
    ),
    "an unknown role is kept": ("(a / abc :prep-unlike (d / def))", [":abc_1 amr:prep-unlike :def_1"], []),
    "a constant in a role for things is a value": ('(a / abc :ARG1 "x")', [":abc_1 amr:ARG1Value x"], []),
}


@pytest.mark.parametrize(("amr", "there", "absent"), PATTERNS.values(), ids=PATTERNS.keys())
def test_pattern(amr, there, absent):
    found = told(amr)
    assert set(there) <= found, sorted(found)
    assert not set(absent) & found


def test_an_adjective_as_predicate_is_a_quality():
    """The lexicon tells which words are adjectives."""
    found = told("(n / nice :domain (i / it))", pos_of={"nice": "a"}.get)
    assert ":it_1 dul:hasQuality :nice_1" in found
    assert ":it_1 owl:sameAs :nice_1" not in found


SCOPES = {
    "a plain event": ("(g / go-02)", "g", Modality.ASSERTED, False),
    "a wish": ("(w / want-01 :ARG1 (g / go-02))", "g", Modality.DESIRED, False),
    "a wish inside a possibility": (
        "(p / possible-01 :ARG1 (w / want-01 :ARG1 (g / go-02)))",
        "g",
        Modality.POSSIBLE,
        False,
    ),
    "a condition": ("(g / go-02 :condition (r / rain-01))", "r", Modality.HYPOTHETICAL, False),
    "what depends on a condition": ("(g / go-02 :condition (r / rain-01))", "g", Modality.HYPOTHETICAL, False),
    "not possible": ("(p / possible-01 :polarity - :ARG1 (g / go-02))", "g", Modality.POSSIBLE, True),
    "a double denial": ("(d / deny-01 :polarity - :ARG1 (g / go-02))", "g", Modality.POSSIBLE, False),
    "neither of two": ("(a / and :polarity - :op1 (g / go-02) :op2 (c / come-01))", "g", Modality.ASSERTED, True),
    "a relative clause in a wish": (
        "(w / want-01 :ARG1 (g / go-02 :ARG0 (x / girl :ARG0-of (l / live-01))))",
        "l",
        Modality.ASSERTED,
        False,
    ),
    "denial as a frame": ("(g / go-02 :ARG1-of (h / have-polarity-91 :ARG2 -))", "g", Modality.ASSERTED, True),
    "what something is instead of": (
        "(t / tree :domain (i / it) :ARG1-of (x / instead-of-91 :ARG2 (b / bush :domain i)))",
        "b",
        Modality.POSSIBLE,
        True,
    ),
    "an alternative": ("(o / or :op1 (g / go-02) :op2 (c / come-01))", "g", Modality.POSSIBLE, False),
    "an order": ("(g / go-02 :mode imperative)", "g", Modality.DESIRED, False),
    "a purpose": ("(g / go-02 :purpose (b / buy-01))", "b", Modality.DESIRED, False),
}


@pytest.mark.parametrize(("amr", "variable", "modality", "denied"), SCOPES.values(), ids=SCOPES.keys())
def test_scope(amr, variable, modality, denied):
    found = scopes(read_amr(amr))[variable]
    assert (found.modality, found.denied) == (modality, denied)


def test_a_question_asks_what_holds_the_unknown():
    found = scopes(read_amr("(k / know-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG4 (a / amr-unknown)))"))
    assert found["g"].asked
    assert not found["i"].asked


@pytest.mark.parametrize(
    ("amr", "shown"),
    [
        ("(d / date-entity :year 2024)", "2024"),
        ("(d / date-entity :year 2024 :month 6)", "June 2024"),
        ("(d / date-entity :year 2024 :month 6 :day 1)", "1 June 2024"),
        ("(d / date-entity :decade 1990)", "from 1990 until 1999"),
        ("(d / date-entity :century 19)", "from 1801 until 1900"),
        (
            "(d / date-interval :op1 (a / date-entity :year 2001) :op2 (b / date-entity :year 2003 :month 5))",
            "from 2001 until May 2003",
        ),
    ],
)
def test_dates_are_intervals(amr, shown):
    assert str(interval_of(read_amr(amr), "d")) == shown


@pytest.mark.parametrize("amr", ["(w / want-01", "()", "(/ x)", "want", "", "(a / b) (c / d)", '(a / "b'])
def test_what_is_not_one_graph_is_refused_in_plain_words(amr):
    """It says what was expected."""
    with pytest.raises(FormatError, match=r"Expected an AMR graph"):
        read_amr(amr)


@pytest.mark.parametrize("base", ["", "no iri", "<urn:x#", "x#"])
def test_a_base_that_begins_no_iri_is_refused(base):
    with pytest.raises(InputError, match="IRI"):
        translate_amr("(a / b)", base=base)


def test_an_endless_nesting_is_refused():
    with pytest.raises(FormatError, match="150"):
        read_amr("(a / x :ARG0 " * 2000 + "b" + ")" * 2000)


def test_brackets_in_strings_and_comments_are_no_nesting():
    assert len(read_amrs('# ::snt ((((\n(a / x :op1 "' + "(" * 400 + '")')) == 1


def test_variables_that_are_not_there_are_constants_and_second_concepts_are_told():
    found = translate_amr("(a / x :ARG0 b :ARG1 (a / z) :ARG2 :ARG3 (c))", base=BASE)
    assert len(found.warnings) == 3
    assert "amr:ARG0Value" in {short(triple.predicate) for triple in found.triples}


def test_metadata_and_alignments_are_read():
    graph = read_amr("# ::id s1\n# ::snt I go.\n(g / go-02~e.1 :ARG0 (i / i~e.0))")
    assert (graph.text, graph.metadata["id"], graph.nodes["g"].concept) == ("I go.", "s1", "go-02")


SENSE = WordSense(synset="synset-bank-noun-1", supersense="noun.object", dul="PhysicalPlace", gloss="sloping land")


def enriched(amr: str, senses) -> tuple[set[str], tuple[str, ...]]:
    found = enrich_amr(translate_amr(amr, base=BASE), senses)
    return {" ".join(map(short, (t.subject, t.predicate, t.object))) for t in found.triples}, found.warnings


def test_a_word_is_tied_to_synset_supersense_and_dul_class():
    found, _ = enriched("(b / bank)", {"b": SENSE})
    assert {
        ":Bank owl:equivalentClass wn30:synset-bank-noun-1",
        ":Bank rdfs:subClassOf wn30:supersense-noun_object",
        ":Bank rdfs:subClassOf dul:PhysicalPlace",
        "wn30:synset-bank-noun-1 rdf:type owl:Class",
    } <= found


def test_two_senses_of_one_word_do_not_make_their_synsets_equal():
    other = WordSense(synset="synset-depository_financial_institution-noun-1", supersense="noun.group", dul="")
    found, _ = enriched("(n / near-02 :ARG1 (b / bank) :ARG2 (b2 / bank))", {"b": SENSE, "b2": other})
    assert ":Bank owl:equivalentClass wn30:synset-bank-noun-1" in found
    assert f":Bank owl:equivalentClass wn30:{other.synset}" not in found
    assert f":bank_2 rdf:type :Bank_{other.synset}" in found


def test_a_disjoint_dul_class_is_left_out_and_told():
    sense = WordSense(synset="synset-deep-adj-1", supersense="adj.all", dul="Quality")
    found, warnings = enriched("(d / deep-02)", {"d": sense})
    assert ":Deep-02 rdfs:subClassOf dul:Quality" not in found
    assert ":Deep-02 rdfs:subClassOf wn30:synset-deep-adj-1" in found
    assert len(warnings) == 1


CONCEPTS = st.one_of(
    st.sampled_from(
        "and or name date-entity have-rel-role-91 have-org-role-91 possible-01 amr-unknown cat want-01 deny-01 "
        "multi-sentence temporal-quantity be-located-at-91 i all that nice have-degree-91 include-91".split()
    ),
    st.text(string.ascii_letters + "0123456789-éß中%+.'", min_size=1, max_size=8),
)
ROLES = st.one_of(
    st.sampled_from(
        "ARG0 ARG1 ARG2 ARG0-of ARG1-of op1 op2 mod domain quant polarity name condition snt1 wiki".split()
    ),
    st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,6}", fullmatch=True),
)
CONSTANTS = st.one_of(
    st.sampled_from(["-", "+", "imperative", "v0", "v1", "v3", "2024", "1.5", '""', '"\\""']),
    st.integers().map(str),
    st.text(st.characters(exclude_characters='"\\\n\r', exclude_categories=["Cs", "Cc"])).map(lambda text: f'"{text}"'),
)


@st.composite
def graphs(draw, depth: int = 4) -> str:
    """PENMAN of arbitrary nested graphs, with roles, concepts and re-entrancies of all kinds."""
    count = iter(range(10_000))

    def node(left: int) -> str:
        variable = f"v{next(count)}"
        parts = [f"({variable} / {draw(CONCEPTS)}"]
        for role in draw(st.lists(ROLES, max_size=3)):
            inner = node(left - 1) if left and draw(st.booleans()) else draw(CONSTANTS)
            parts.append(f":{role} {inner}")
        return " ".join(parts) + ")"

    return node(depth)


@given(graphs())
def test_any_graph_translates_into_declared_owl(amr):
    """It never raises, and every name has its kind: no property is both for things and for values."""
    triples = translate_amr(amr, base=BASE).triples
    kinds: dict[str, set[str]] = {}
    for triple in triples:
        if short(triple.predicate) == "rdf:type":
            kinds.setdefault(short(triple.subject), set()).add(short(triple.object))
    for triple in triples:
        name = short(triple.predicate)
        if not name.startswith(("rdf:", "rdfs:", "owl:")):
            wanted = "owl:DatatypeProperty" if type(triple.object).__name__ == "Literal" else "owl:ObjectProperty"
            assert kinds[name] == {wanted}
        elif name == "rdf:type" and not short(triple.object).startswith(("owl:", "_")):
            assert "owl:Class" in kinds[short(triple.object)]


@given(graphs())
def test_the_same_graph_gives_the_same_text(amr):
    first, second = (amr_to_turtle([translate_amr(amr, base=BASE)]) for _ in range(2))
    assert first == second


@given(graphs())
def test_every_node_that_is_a_thing_has_one_individual(amr):
    """Re-entrancy is coreference."""
    found = translate_amr(amr, base=BASE)
    assert len(set(found.nodes.values())) == len(found.nodes)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(FormatError):
        assert isinstance(read_amrs(text), tuple)


def test_all_of_the_little_prince_translates(data_dir):
    path = data_dir / "measure/amr_little_prince/amr-bank-struct-v3.0.txt"
    if not path.is_file():
        pytest.skip(f"no {path}")
    found = [translate_amr(graph, base=BASE) for graph in read_amrs(path.read_text()) if "id" in graph.metadata]
    assert len(found) == 1562
    assert not [translation.warnings for translation in found if translation.warnings]
