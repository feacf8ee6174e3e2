"""The memory graph: what joins what, what a walk reaches, and that it grows as it would be made anew."""

import random
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from doxa.core.values import Change, ChangeKind, Fact, Interval, Relation, Status, Term, Turn
from doxa.memory import SAME_AS, UserState
from doxa.recall import Query, index_of
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.graph import EDGE_TYPES, MemoryGraph, Standpoint
from doxa.recall.graph.walk import MOST_EDGES, WIDTH
from doxa.recall.spec import RecallSpec
from doxa.recall.views import Look
from doxa.recall.views.graph import Graph

NOW = Standpoint()


class Told:
    """A memory of turns that tell facts, without a reader of sentences."""

    def __init__(self) -> None:
        self.state = UserState(user="ana", dims=2)

    def turn(self, *facts: Change, text: str = "...", speaker: str = "Ana", session: str = "s1", days: int = 0) -> int:
        ordinal = len(self.state.turns) + 1
        at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=days)
        turn = Turn(
            turn_id=f"t{ordinal}",
            user="ana",
            session=session,
            speaker=speaker,
            role="user",
            text=text,
            at=at,
            ordinal=ordinal,
        )
        self.state.receive(turn)
        self.state.maintain(turn, [], list(facts), None)
        return ordinal - 1

    def tell(self, subject: str, relation: str, thing: str, **fields: object) -> Change:
        """Return the change by which the next turn tells a fact."""
        turn_id = f"t{len(self.state.turns) + 1}"
        kind = fields.pop("kind", ChangeKind.ASSERT)
        known = fields.pop("turn_ids", (turn_id,))
        fact = Fact(
            fact_id=str(fields.pop("fact_id", f"{subject} {relation} {thing}")),
            subject=Term(subject.casefold(), subject),
            relation=fields.pop("is_", Relation(relation.replace(" ", "_"), relation)),
            object=Term(thing.casefold(), thing),
            turn_ids=known,
            **{"confidence": 0.8} | fields,
        )
        return Change(kind=kind, fact=fact, turn_id=turn_id)

    def say(
        self, subject: str, relation: str, thing: str, *, session: str = "", days: int = 0, **fields: object
    ) -> int:
        """Tell a fact in a turn of its own session and return the place of the turn."""
        change = self.tell(subject, relation, thing, **fields)
        return self.turn(change, session=session or f"s{len(self.state.turns)}", days=days)

    @property
    def graph(self) -> MemoryGraph:
        return index_of(self.state).graph

    def look(self, text: str = "", **fields: object) -> Look:
        query = Query(text=text, **fields)
        return Look(query=query, state=self.state, index=index_of(self.state), spec=RecallSpec())

    def scores(self, **fields: object) -> np.ndarray:
        places = np.arange(len(self.state.places))
        return Graph().scores(self.look(**fields), places)["graph"]


@pytest.fixture
def told() -> Told:
    return Told()


def dense(graph: MemoryGraph) -> np.ndarray:
    """Return the transition matrix of a graph, column by column."""
    size, edges = len(graph.nodes), np.arange(len(graph.edges))
    matrix = np.zeros((size, size))
    for start, end, weight in zip(
        graph.edges["start"], graph.edges["end"], graph.weights(edges, NOW).tolist(), strict=True
    ):
        matrix[start, end] += weight
        matrix[end, start] += weight
    out = matrix.sum(axis=0)
    return np.divide(matrix, out, out=np.zeros_like(matrix), where=out > 0)


def film_world(told: Told) -> None:
    told.say("Ana", "loves", "Titanic")
    told.say("Titanic", "is about", "a ship", days=3)
    told.say("Ben", "loves", "Alien", days=5, confidence=0.5)
    told.say("Ben", "knows", "Ana", days=6)


def test_a_walk_is_the_power_series_of_its_transitions_cut_off(told):
    """Small graphs are walked exactly: start, and three steps, each with half of the mass."""
    film_world(told)
    graph = told.graph
    start = graph.node("titanic")
    expected, mass = np.zeros(len(graph.nodes)), np.zeros(len(graph.nodes))
    mass[start] = 1.0
    for _ in range(4):
        expected += 0.5 * mass
        mass = 0.5 * dense(graph) @ mass
    walked = graph.walk({start: 3.0}, NOW, hops=3)
    np.testing.assert_allclose(walked.at(np.arange(len(graph.nodes))), expected, atol=1e-7)


def test_what_a_query_names_leads_to_the_turns_two_facts_away(told):
    """Nobody said "Ana" and "ship" in one turn; the film joins them."""
    film_world(told)
    scores = told.scores(terms=("ship",))
    assert scores[1] > scores[0] > 0
    assert scores[2] == 0


def test_an_alias_leads_to_what_is_told_under_the_other_name(told):
    """ "Kate Winslet" is asked about, "Kate" was said."""
    told.say("Kate", "wins", "an Oscar")
    told.say("Kate", "same as", "Kate Winslet", is_=SAME_AS)
    graph = told.graph
    walked = graph.walk({graph.node("kate winslet"): 1.0}, NOW)
    turn = int(graph.turns(np.array([0]))[0])
    assert walked.at(np.array([turn]))[0] > 0
    assert [str(graph.step(*step)) for step in walked.way(turn)] == [
        "Kate Winslet <-is the same as- Kate",
        "Kate -mention-> turn t1",
    ]


def test_what_belongs_to_somebody_is_joined_to_them(told):
    """ "Ana's sister" is one step from Ana, although no fact says so."""
    told.say("Ana's sister", "lives in", "Rome")
    graph = told.graph
    walked = graph.walk({graph.node("ana"): 1.0}, NOW)
    assert walked.at(np.array([graph.node("rome")]))[0] > 0


def test_a_fact_whose_relation_is_asked_about_scores_above_its_siblings(told):
    """Of two facts about Ana, the one that the words of the query fit comes first."""
    told.say("Ana", "paints", "a lake")
    told.say("Ana", "buys", "a kayak")
    scores = told.scores(terms=("paint",), speakers=frozenset(["Ana"]))
    assert scores[0] > scores[1] > 0


@pytest.mark.parametrize(
    ("seeks", "found"), [("preference", 0), ("place", 1), ("person", 2), ("time", 3), ("count", 4)], ids=str
)
def test_facts_that_tell_what_is_sought_score_above_others(told, seeks, found):
    """The kind of thing that a query seeks picks the fact of that kind."""
    told.say("Ana", "likes", "jazz")
    told.say("Ana", "lives in", "Rome")
    told.say("Ana", "sister", "Mia", is_=Relation("sister", "sister"))
    told.say("Ana", "runs", "a race", valid=Interval(start=date(2024, 1, 2), end=date(2024, 1, 2)))
    told.say("Ana", "owns", "three boats")
    scores = told.scores(speakers=frozenset(["Ana"]), seeks=frozenset([seeks]))
    assert int(np.argmax(scores)) == found


def test_a_superseded_fact_carries_nothing_unless_history_is_asked_for(told):
    """Where Ana lived is no path now, and is one for "where did Ana use to live"."""
    old = told.say("Ana", "lives in", "Rome", fact_id="f")
    new = told.say("Ana", "lives in", "Paris", fact_id="g")
    gone = told.tell("Ana", "lives in", "Rome", fact_id="f", turn_ids=("t1",), status=Status.SUPERSEDED)
    told.turn(gone, session="later")
    asked = {"terms": ("live",), "speakers": frozenset(["Ana"])}
    scores = told.scores(**asked)
    assert scores[old] == 0 and scores[new] > 0
    assert told.scores(**asked, historical=True)[old] > 0


def test_a_retracted_fact_is_no_path_even_for_history(told):
    """What never was true leads nowhere."""
    told.say("Ana", "lives in", "Rome", fact_id="f")
    gone = told.tell("Ana", "lives in", "Rome", fact_id="f", turn_ids=("t1",), status=Status.RETRACTED)
    told.turn(gone, session="later")
    assert told.scores(terms=("live",), speakers=frozenset(["Ana"]), historical=True)[0] == 0


def test_a_fact_counts_for_a_look_back_only_once_it_was_told(told):
    """On 3 January nobody had said yet that Ana paints."""
    place = told.say("Ana", "paints", "a lake", days=10)
    early = datetime(2024, 1, 3, tzinfo=UTC)
    asked = {"terms": ("paint",), "speakers": frozenset(["Ana"])}
    assert told.scores(**asked, known_at=early)[place] == 0
    assert told.scores(**asked)[place] > 0


def test_an_unrelated_fact_changes_no_score_elsewhere(told):
    """What is told of other people and things leaves every score as it was, to the last bit."""
    film_world(told)
    asked = {"terms": ("ship", "love"), "speakers": frozenset(["Ana"])}
    before = told.scores(**asked)
    told.say("Zoe", "grows", "tomatoes")
    np.testing.assert_array_equal(told.scores(**asked)[: len(before)], before)


def test_a_hub_that_grew_is_the_hub_made_anew(told):
    """Where a node has more edges than a walk looks at, the same ones are looked at."""
    for number in range(100):
        known = told.state.beliefs.facts.get(f"Ana sees thing {number % 30}")
        kind = ChangeKind.SUPPORT if known else ChangeKind.ASSERT
        told.say("Ana", "sees", f"thing {number % 30}", kind=kind)
        index_of(told.state)
    asked = {"terms": ("thing", "see"), "speakers": frozenset(["Ana"])}
    grown = told.scores(**asked)
    told.state.kept.clear()
    np.testing.assert_allclose(told.scores(**asked), grown, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_graph_that_grew_is_the_graph_made_anew(seed):
    """Whatever is told, supported, superseded and retracted, and whenever the graph is brought up to date."""
    told, chance = Told(), random.Random(seed)
    people, verbs = ["Ana", "Ben", "Zoe"], ["likes", "sees", "owns"]
    things = ["tea", "jazz", "a boat", "Rome", "Ana", "a car", "snow", "rain"]
    for day in range(40):
        subject, verb, thing = chance.choice(people), chance.choice(verbs), chance.choice(things)
        known = told.state.beliefs.facts.get(f"{subject} {verb} {thing}")
        fields: dict[str, object] = {"kind": ChangeKind.SUPPORT} if known else {}
        if known and chance.random() < 0.4:
            status = chance.choice([Status.SUPERSEDED, Status.RETRACTED, Status.HELD])
            fields = {"kind": ChangeKind.CLOSE, "status": status, "turn_ids": known.turn_ids[1:] or known.turn_ids}
        fields["session"] = f"s{day // 4}"
        told.say(subject, verb, thing, days=day, **fields)
        if chance.random() < 0.5:
            index_of(told.state)
    asked = {"terms": ("jazz", "own", "boat"), "speakers": frozenset(["Ana"]), "seeks": frozenset(["preference"])}
    grown = told.scores(**asked)
    told.state.kept.clear()
    np.testing.assert_allclose(told.scores(**asked), grown, atol=1e-6)


def test_what_a_walk_touches_does_not_grow_with_the_history():
    """A hub with ten times the facts costs the same, and never more than the frontier allows."""
    touched = []
    for size in (300, 3000):
        told = Told()
        for number in range(size):
            told.say("Ana", "sees", f"thing{number % 50} number{number}")
        graph = told.graph
        touched.append(graph.walk({graph.node("ana"): 1.0}, NOW).touched)
    assert touched[1] <= touched[0] * 1.2
    assert max(touched) <= 3 * WIDTH * MOST_EDGES


def test_bringing_a_graph_up_to_date_reads_only_what_is_new(told):
    """The work for one more turn does not depend on how many there were."""
    for number in range(50):
        told.say("Ana", "sees", f"thing {number}")
    graph = told.graph
    edges = len(graph.edges)
    index_of(told.state)
    assert len(graph.edges) == edges
    told.say("Ana", "sees", "a bird")
    index_of(told.state)
    # Subject-object, and both to the turn; the turn is alone in its session.
    assert len(graph.edges) == edges + 3


def test_the_edges_of_a_node_are_the_same_before_and_after_they_are_merged():
    """Thousands of edges come back as they were added, the latest of each node."""
    chance, adjacency, expected = random.Random(1), Adjacency(), {}
    for edge in range(5000):
        node = chance.randrange(40)
        adjacency.add(node, edge)
        expected.setdefault(node, []).append(edge)
        if edge % 701 == 0 or edge == 4999:
            nodes = np.array(sorted({node, 7, 39}))
            rows, edges = adjacency.of(nodes, 20)
            for row, wanted in enumerate(nodes.tolist()):
                assert sorted(edges[rows == row].tolist()) == expected.get(wanted, [])[-20:]
            assert adjacency.degree(nodes).tolist() == [len(expected.get(wanted, [])) for wanted in nodes.tolist()]


def test_learned_weights_move_the_edges_they_name_and_no_others(told):
    """A fact that served well carries more; forgetting its weight brings the old one back."""
    film_world(told)
    graph, edges = told.graph, np.arange(len(told.graph.edges))
    before = graph.weights(edges, NOW)
    graph.learn({"Ana loves Titanic": 2.0, "next": 0.5})
    changed = graph.weights(edges, NOW) / before
    of_fact = graph.edges["source"] == 0
    np.testing.assert_allclose(changed, np.where(of_fact, 2.0, 1.0))
    graph.learn({})
    np.testing.assert_array_equal(graph.weights(edges, NOW), before)


def test_every_type_of_edge_has_a_weight():
    """The table of weights and the list of types agree."""
    assert len(MemoryGraph()._types) == len(EDGE_TYPES)


def test_a_path_is_told_in_words(told):
    """Evidence says which fact led to it."""
    told.say("Ana", "loves", "Titanic")
    look = told.look(speakers=frozenset(["Ana"]), terms=("love",))
    assert Graph().path(look, 0) == "Ana -loves-> Titanic"


def test_a_path_through_several_facts_is_told_step_by_step(told):
    """Where no fact of the turn fits, the way of the walk is told."""
    film_world(told)
    told.turn(text="What a night!", session="s1")
    assert Graph().path(told.look(terms=("ship",)), 0) == "a ship <-is about- Titanic"
