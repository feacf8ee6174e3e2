"""Claims from AMR graphs, and word senses of their nodes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.backends import load
from doxa.backends.lexicon import Synset
from doxa.backends.lexicon.scripted import ScriptedLexicon
from doxa.core.errors import BackendUnavailableError, FormatError
from doxa.core.values import Modality
from doxa.logic import read_amr, read_amrs
from doxa.memory import Beliefs
from doxa.understand import Target, choose_senses, likely_pos, senses_of, understand_graph

MIA = '(p / person :name (n / name :op1 "Mia"))'
SISTER = "(p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (s / sister)))"
NAMED = '(h / have-rel-role-91 :ARG0 (p / person :name (n / name :op1 "Mia")) :ARG1 (i / i) :ARG2 (s / sister))'
LISBON = '(c / city :name (n2 / name :op1 "Lisbon"))'

GRAPHS = {
    "a frame of the table": (f"(l / live-01 :ARG0 (i / i) :location {LISBON})", ["Nora lives_in Lisbon"]),
    "a state that begins": (
        f"(m / move-01 :ARG0 (i / i) :ARG2 {LISBON} :time (d / date-entity :year 2023 :month 6))",
        ["Nora lives_in Lisbon [since June 2023]"],
    ),
    "a move of a thing is no change of home": (
        "(m / move-01 :ARG0 (i / i) :ARG1 (t / table) :ARG2 (c / corner))",
        ["Nora move table", "moving table agent Nora", "moving table theme table", "moving table beneficiary corner"],
    ),
    "a relative with a name": (NAMED, ["Nora sister Mia"]),
    "a relative without a name": (f"(d / doctor :domain {SISTER})", ["Nora's sister is_a doctor"]),
    "a lexical denial": ("(h / hate-01 :ARG0 (i / i) :ARG1 (m / milk))", ["not Nora likes milk"]),
    "a denied denial": ("(h / hate-01 :polarity - :ARG0 (i / i) :ARG1 (m / milk))", ["Nora likes milk"]),
    "a coordination": (
        "(l / like-01 :ARG0 (i / i) :ARG1 (a / and :op1 (c / cat) :op2 (d / dog)))",
        ["Nora likes cat", "Nora likes dog"],
    ),
    "a wish for an event": (
        "(w / want-01 :ARG0 (i / i) :ARG1 (b / buy-01 :ARG0 i :ARG1 (c / car)))",
        ["desired Nora buys car"],
    ),
    "a wish for a thing": ("(w / want-01 :ARG0 (i / i) :ARG1 (c / car))", ["Nora wants car"]),
    "a possibility": (
        "(p / possible-01 :ARG1 (b / buy-01 :ARG0 (i / i) :ARG1 (c / car)))",
        ["possible Nora buys car"],
    ),
    "a condition": (
        "(b / buy-01 :ARG0 (i / i) :ARG1 (c / car) :condition (e / earn-01 :ARG0 i :ARG1 (m / money)))",
        ["hypothetical Nora buys car", "hypothetical Nora earns money"],
    ),
    "a question": ("(l / live-01 :ARG0 (a / amr-unknown) :location (h / house))", []),
    "an unresolved pronoun": ("(l / like-01 :ARG0 (t / they) :ARG1 (c / cat))", []),
    "an alternative": ("(l / like-01 :ARG0 (i / i) :ARG1 (o / or :op1 (c / cat) :op2 (d / dog)))", []),
    "an unknown verb": (f"(c / climb-01 :ARG0 {MIA} :ARG1 (m / mountain))", ["Mia climb mountain"]),
    "an activity": ("(s / swim-01 :ARG0 (i / i))", ["Nora does swimming"]),
    "an activity that is liked": ("(l / like-01 :ARG0 (i / i) :ARG1 (s / swim-01 :ARG0 i))", ["Nora likes swimming"]),
    "a quality": (f"(t / tired-01 :ARG1 {MIA})", ["Mia has_state tired"]),
    "what is done to somebody": (f"(s / see-01 :ARG1 {MIA})", []),
    "an age": (
        "(a / age-01 :ARG1 (i / i) :ARG2 (t / temporal-quantity :quant 34 :unit (y / year)))",
        ["Nora has_age 34 years"],
    ),
    "a comparison": (
        f"(h / have-degree-91 :ARG1 (i / i) :ARG2 (o / old) :ARG3 (m / more) :ARG4 {MIA})",
        ["Nora older_than Mia"],
    ),
    "a comparison that the inventory does not have": (
        f"(h / have-degree-91 :ARG1 (i / i) :ARG2 (f / fast-02) :ARG3 (m / more) :ARG4 {MIA})",
        ["Nora is_more_fast_than Mia"],
    ),
    "more than what is not said": ("(h / have-degree-91 :ARG1 (i / i) :ARG2 (o / old) :ARG3 (m / more))", []),
    "an office": (
        f'(h / have-org-role-91 :ARG0 {MIA} :ARG1 (c / company :name (n3 / name :op1 "Acme")) :ARG2 (d / director))',
        ["Mia works_at Acme", "Mia works_as director"],
    ),
    "a pet by name": (
        '(s / sleep-01 :ARG0 (d / dog :name (n / name :op1 "Rex") :poss (i / i)))',
        ["Rex does sleeping", "Nora dog Rex"],
    ),
    "the manner of an event": ("(s / swim-01 :ARG0 (i / i) :ARG1-of (f / fast-02))", ["Nora does swimming"]),
    "an ordinal": (
        "(e / eat-01 :ARG0 (i / i) :ARG1 (c / cake :ord (o / ordinal-entity :value 2)))",
        ["Nora eats 2nd cake"],
    ),
    "speech about nothing that can be so": ("(s / say-01 :ARG0 (i / i) :ARG1 (h / hello))", []),
    "a relative day": (
        f"(v / visit-01 :ARG0 (i / i) :ARG1 {MIA} :time (y / yesterday))",
        ["Nora visits Mia [11 June 2024]"],
    ),
    "a date without its year": (
        f"(v / visit-01 :ARG0 (i / i) :ARG1 {MIA} :time (d / date-entity :month 7 :day 2))",
        ["Nora visits Mia [2 July 2024]"],
    ),
    "a participant more": (
        f"(g / give-01 :ARG0 (i / i) :ARG1 (b / book) :ARG2 {MIA})",
        ["Nora give book", "giving book agent Nora", "giving book theme book", "giving book beneficiary Mia"],
    ),
    "what somebody says": (
        f"(s / say-01 :ARG0 {MIA} :ARG1 (l / like-01 :ARG0 (i / i) :ARG1 (c / cat)))",
        ["possible Nora likes cat"],
    ),
}


@pytest.mark.parametrize(("amr", "claims"), GRAPHS.values(), ids=GRAPHS.keys())
def test_a_graph_gives_claims(said, amr, claims):
    assert said.short(understand_graph(amr, said.turn("x"))) == claims


def test_claims_carry_their_source(said):
    turn = said.turn("I live in Lisbon.")
    (claim,) = understand_graph(f"# ::snt I live in L.\n(l / live-01 :ARG0 (i / i) :location {LISBON})", turn)
    assert (claim.turn_id, claim.speaker, claim.known_at, claim.functional) == ("t1", "Nora", said.AT, True)
    assert claim.span == "I live in L."


def test_relatives_are_known_by_name(said):
    """A relative that an earlier turn named is that person."""
    _, beliefs, _ = said.after("My sister is Mia.")
    found = understand_graph(f"(d / doctor :domain {SISTER})", said.turn("x"), (), beliefs)
    assert said.short(found) == ["Mia is_a doctor"]


def test_an_assistant_tells_nothing_about_its_user(said):
    turn = said.turn("x", speaker="Helper")
    assert understand_graph("(l / like-01 :ARG0 (i / i) :ARG1 (c / cat))", turn) == ()


def test_an_adjective_is_a_state(said):
    amr = f"(h / happy :domain {MIA})"
    assert said.short(understand_graph(amr, said.turn("x"))) == ["Mia is_a happy"]
    assert said.short(understand_graph(amr, said.turn("x"), pos_of={"happy": "a"}.get)) == ["Mia has_state happy"]


def test_broken_notation_is_refused(said):
    with pytest.raises(FormatError):
        understand_graph("(l / live-01", said.turn("x"))


FRAMES = st.sampled_from(
    "live-01 move-01 like-01 want-01 have-rel-role-91 have-org-role-91 have-degree-91 and or cat i it date-entity "
    "possible-01 say-01 give-01 temporal-quantity person name amr-unknown nice-01 age-01 x".split()
)
ROLES = st.sampled_from(
    "ARG0 ARG1 ARG2 ARG3 ARG0-of ARG1-of location time poss mod domain op1 name quant month".split()
)


@st.composite
def graphs(draw) -> str:
    """Graphs of what the tables know, in every combination."""
    count = iter(range(10_000))

    def node(left: int) -> str:
        parts = [f"(v{next(count)} / {draw(FRAMES)}"]
        for role in draw(st.lists(ROLES, max_size=4)):
            constant = st.sampled_from(["-", "v0", "v1", "v2", '"Mia"', "7", "99999999999999999999", '""'])
            parts.append(f":{role} {node(left - 1) if left and draw(st.booleans()) else draw(constant)}")
        return " ".join(parts) + ")"

    return node(3)


@given(graphs())
def test_any_graph_gives_the_same_claims_twice(said, amr):
    """It never raises, and every claim has words."""
    first, second = (understand_graph(amr, said.turn("x")) for _ in range(2))
    assert first == second
    assert all(claim.subject.label and claim.object.label and claim.relation.name for claim in first)


def test_all_of_the_little_prince_is_read(said, data_dir):
    path = data_dir / "measure/amr_little_prince/amr-bank-struct-v3.0.txt"
    if not path.is_file():
        pytest.skip(f"no {path}")
    found = [understand_graph(graph, said.turn("x"), (), Beliefs()) for graph in read_amrs(path.read_text())]
    assert len(found) == 1563
    assert sum(len(claims) for claims in found) > 1000


def sense(
    name: str, definition: str, *, pos: str = "n", supersense: str = "noun.artifact", count: int = 0, word: str = ""
) -> Synset:
    """Return a sense of a word; by default of its own name."""
    return Synset(name=name, pos=pos, words=(word or name,), definition=definition, supersense=supersense, count=count)


@pytest.fixture(scope="module")
def encoder():
    found = load("encoder", "builtin")
    yield found
    found.close()


LEXICON = ScriptedLexicon(
    {
        "bank": [
            sense("slope", "sloping land beside a river", supersense="noun.object", count=1, word="bank"),
            sense("money", "a company that keeps money and gives loans", supersense="noun.group", count=1, word="bank"),
        ],
        "go": [sense("go", "change place", pos="v", supersense="verb.motion", count=5)],
        "nice": [sense("nice", "pleasant", pos="a", supersense="adj.all", count=3)],
        "Porto": [sense("Porto", "a city")],
    }
)


@pytest.mark.parametrize(
    ("text", "name"),
    [("We sat on the bank and looked at the water.", "slope"), ("The bank lends us money for the house.", "money")],
)
def test_the_sentence_decides_between_senses(encoder, text, name):
    (choice,) = choose_senses([(Target("bank", ("n",)), text)], LEXICON, encoder)
    assert choice is not None and choice.synset.name == name


def test_the_usual_sense_wins_where_the_sentence_says_nothing(encoder):
    lexicon = ScriptedLexicon({"bank": [sense("rare", "a row of things"), sense("usual", "a row of keys", count=500)]})
    (choice,) = choose_senses([(Target("bank", ("n",)), "x")], lexicon, encoder)
    assert choice is not None and choice.synset.name == "usual"


def test_nodes_that_are_words_get_senses_and_others_do_not(encoder):
    """Names, pronouns, dates and AMR's own frames are no words."""
    graph = read_amr(
        '(g / go-02 :ARG0 (i / i) :ARG4 (b / bank :name (n / name :op1 "X")) :time (d / date-entity :year 2024)'
        " :mod (b2 / bank) :ARG1-of (h / have-mod-91) :location (z / zzz))"
    )
    found = senses_of(graph, "I go to the bank to borrow money.", LEXICON, encoder)
    assert set(found) == {"g", "b2"}
    assert (found["g"].supersense, found["g"].dul) == ("verb.motion", "Event")
    assert found["b2"].synset == "money"


def test_a_common_word_is_no_proper_name(encoder):
    lexicon = ScriptedLexicon({"court": [sense("Court", "a tennis player"), sense("court", "where judges sit")]})
    (choice,) = choose_senses([(Target("court", ("n",)), "A tennis player.")], lexicon, encoder)
    assert choice is not None and choice.synset.name == "court"


def test_an_unknown_word_has_no_sense(encoder):
    assert choose_senses([(Target("qwxz", ("n", "v")), "x")], LEXICON, encoder) == [None]


def test_the_likeliest_part_of_speech_is_the_most_frequent():
    assert [likely_pos(word, LEXICON) for word in ("nice", "go", "qwxz")] == ["a", "v", None]


def test_the_real_wordnet_is_read_better_than_by_first_sense(encoder):
    """The sample is ours, by hand: ambiguous words in everyday sentences."""
    try:
        lexicon = load("lexicon", "wordnet")
    except BackendUnavailableError as exc:
        pytest.skip(f"no WordNet: {exc}")
    path = Path(__file__).parents[2] / "benchmarks" / "senses.jsonl"
    items = [json.loads(line) for line in path.read_text().splitlines()]
    choices = choose_senses([(Target(item["lemma"], (item["pos"],)), item["text"]) for item in items], lexicon, encoder)
    right = sum(c is not None and c.synset.name in i["synsets"] for c, i in zip(choices, items, strict=True))
    first = sum(lexicon.senses(item["lemma"], item["pos"])[0].name in item["synsets"] for item in items)
    assert right > first + 10


def test_modality_of_a_claim_is_one_of_the_inventory(said):
    (claim,) = understand_graph("(w / wish-01 :ARG1 (g / eat-01 :ARG0 (i / i) :ARG1 (c / cake)))", said.turn("x"))
    assert claim.modality is Modality.DESIRED
