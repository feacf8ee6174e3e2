"""Concepts and stances of turns, the rolling profile, and what both do to a search for advice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.values import Change, ChangeKind, Fact, Relation, Status, Term, Turn
from doxa.memory import UserState
from doxa.recall import RecallSpec, index_of, read_query
from doxa.recall.graph.graph import Standpoint
from doxa.recall.graph.tags import hashed
from doxa.recall.profile import SLOTS, Counts
from doxa.recall.route import glance_of
from doxa.recall.views import Look
from doxa.recall.views.graph import Graph
from doxa.recall.views.profile import Profile

NOW = Standpoint()
DAY = datetime(2024, 1, 1, tzinfo=UTC)


def say(state: UserState, text: str, *facts: tuple[str, str, str], role: str = "user", days: int = 0) -> str:
    """Have a turn said that tells facts, and return its id."""
    ordinal = len(state.turns) + 1
    turn = Turn(
        turn_id=f"t{ordinal}",
        user="ana",
        session=f"s{ordinal}",
        speaker="Ana" if role == "user" else "assistant",
        role=role,
        text=text,
        at=DAY + timedelta(days=days),
        ordinal=ordinal,
    )
    state.receive(turn)
    changes = [
        Change(
            kind=ChangeKind.ASSERT,
            fact=Fact(
                fact_id=f"f{ordinal}-{number}",
                subject=Term(subject.casefold(), subject),
                relation=Relation(relation, relation),
                object=Term(thing.casefold(), thing),
                turn_ids=(turn.turn_id,),
                confidence=0.8,
            ),
            turn_id=turn.turn_id,
            known_at=turn.at,
        )
        for number, (subject, relation, thing) in enumerate(facts)
    ]
    state.maintain(turn, [], changes, None)
    return turn.turn_id


def look(state: UserState, *seeks: str, spec: RecallSpec | None = None, **fields: object) -> Look:
    query = replace(read_query("What should I watch?", state), seeks=frozenset(seeks), **fields)
    return Look(query=query, state=state, index=index_of(state), spec=spec or RecallSpec())


@pytest.fixture
def state() -> UserState:
    return UserState(user="ana", dims=2)


def test_a_turn_is_tagged_with_what_it_is_about(state):
    """A film is named by its word; small talk is about nothing."""
    say(state, "I really love a good romantic comedy, it is my favourite kind of movie.")
    say(state, "See you tomorrow then.")
    tags = index_of(state).tags
    assert tags.of(0)["film"] > 0.5 and tags.of(1) == {}
    places = np.arange(2)
    assert tags.about(places, {"film": 1.0})[0] > 0.5 and tags.about(places, {"film": 1.0})[1] == 0
    assert tags.about(places, {"no such concept": 1.0}).tolist() == [0, 0]


def test_what_is_stated_is_told_from_what_is_suggested(state):
    """A liking of the user counts; the same words of an assistant do not."""
    say(state, "I love romantic movies.")
    say(state, "I love romantic movies.", role="assistant")
    stances = index_of(state).tags.stances(np.arange(2))
    assert stances[0] > 0.5 and stances[1] == 0


def test_advice_leads_to_a_stated_taste_without_its_words(state):
    """ "Can you suggest a film?" leads to the turn that loves comedies, whatever else was said since."""
    say(state, "I love a good comedy, that movie had me in tears.")
    for number in range(30):
        say(state, f"Somebody has to move meeting {number}, the room is taken.", days=number)
    query = replace(read_query("Can you suggest a film?", state), seeks=frozenset(["preference"]))
    seen = Look(query=query, state=state, index=index_of(state), spec=RecallSpec())
    assert Graph().propose(seen, 3).places[0] == 0
    assert Graph().scores(seen, np.array([0]))["graph_taste"][0] > 0.5
    assert Graph().path(seen, 0).endswith(" <-about- turn t1")


def test_tastes_count_for_advice_alone(state):
    """For a question of fact, what somebody likes is no path and no prior."""
    say(state, "I love romantic movies.", ("Ana", "likes", "romantic movies"))
    places = np.arange(1)
    scores = Graph().scores(look(state, "time"), places) | Profile().scores(look(state, "time"), places)
    assert {scores[name][0] for name in ("graph_taste", "graph_stance", "graph_concept", "profile")} == {0}
    scores = Graph().scores(look(state, "preference"), places) | Profile().scores(look(state, "preference"), places)
    assert min(scores[name][0] for name in ("graph_taste", "graph_stance", "graph_concept", "profile")) > 0


def test_a_taste_of_another_kind_is_held_down(state):
    """Asked for a film, a love of jazz said just as surely stands behind a love of comedies."""
    say(state, "I love comedies, every funny movie.", ("Ana", "likes", "comedies"))
    say(state, "I love jazz, every jazz concert.", ("Ana", "likes", "jazz"))
    asked = look(state, "preference", concepts=(("film", 1.0),), own=True)
    scores = Graph().scores(asked, np.arange(2))
    for name in ("graph_stance", "graph_subject", "graph_sought"):
        assert scores[name][0] > 2 * scores[name][1] > 0


def promoted(state: UserState, score: float = 0.9) -> None:
    turns = [say(state, "I love comedies, every funny movie.", ("Ana", "likes", "comedies")) for _ in range(3)]
    state.promotions.promote(
        Promotion(
            promotion_id="p1",
            subject=Term("ana", "Ana"),
            relation="prefers",
            concept="film/comedy",
            label="comedies",
            score=score,
            support=tuple(Support(turn_id=turn_id) for turn_id in turns),
            known_at=DAY,
        )
    )


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        (RecallSpec(), True),
        (RecallSpec(promotions=False), False),
        (RecallSpec(tau=0.95), False),
        (RecallSpec(tau=0.7), True),
    ],
    ids=["promotions", "no promotions", "above its score", "below its score"],
)
def test_a_promoted_taste_says_what_kind_is_meant(state, spec, counts):
    """Asked about films, what is known of Ana makes comedies weigh more; both switches take it out."""
    promoted(state)
    horror, comedy = (say(state, f"That was a {kind} movie.") for kind in ("horror", "comedy"))
    places = np.array([state.place(state.turn(one).ordinal) for one in (horror, comedy)])
    seen = look(state, "preference", spec=spec, concepts=(("film", 1.0),))
    scores = Graph().scores(seen, places)["graph_concept"]
    if counts:
        assert scores[1] > scores[0] > 0
        assert Graph().path(seen, int(places[1])).startswith("Ana -prefers-> comedies <-about- turn")
    else:
        assert scores[1] == scores[0] > 0


def test_a_question_that_names_no_topic_loses_nothing_by_a_promoted_taste(state):
    """Whatever Ana likes most, what else she said bears on "Any ideas?" as it did before."""
    promoted(state)
    place = state.place(state.turn(say(state, "I play the cello.", ("Ana", "plays", "the cello"))).ordinal)
    found = []
    for spec in (RecallSpec(), RecallSpec(promotions=False)):
        seen = look(state, "preference", spec=spec, text="Any ideas?", own=True)
        scores = Graph().scores(seen, np.array([place]))
        found.append([float(scores[name][0]) for name in ("graph_subject", "graph_sought", "graph_stance")])
    assert found[0] == found[1] and found[0][0] > 0


def test_the_router_is_told_what_is_promoted_and_whether_the_question_is_about_it(state):
    promoted(state)
    films, dogs = (glance_of(look(state, "preference", concepts=((name, 0.8),)), {}) for name in ("film", "pets"))
    assert films.promotions == dogs.promotions == 1
    assert films.promoted == pytest.approx(0.8) and dogs.promoted == 0


def test_a_promotion_without_its_support_is_no_path(state):
    """When the turns that it rests on are withdrawn, it stops counting at once."""
    promoted(state)
    people = np.array([index_of(state).graph.node("ana")])
    assert list(index_of(state).graph.tastes(people, NOW)) == ["film/comedy"]
    state.withdraw(["t1", "t2", "t3"], DAY, by=("turn", "t1"))
    assert list(index_of(state).graph.tastes(people, NOW)) == []


def test_the_profile_weighs_what_came_up_often_and_lately(state):
    """Ten old mentions of tea weigh less than three of jazz a year later."""
    for day in range(10):
        say(state, "...", ("Ana", "drinks", "tea"), days=day)
    for day in range(3):
        say(state, "...", ("Ana", "plays", "jazz"), days=400 + day)
    things = index_of(state).profile.things
    tea, jazz = things.shares(np.array([hashed("tea"), hashed("jazz")], dtype=np.uint32))
    assert jazz == 1 and 0 < tea < 0.2


def test_the_profile_of_a_log_is_the_same_however_often_it_was_read():
    """Turn by turn or at one go, with what was given up since."""
    profiles = []
    for often in (True, False):
        state = UserState(user="ana", dims=2)
        for day in range(40):
            say(state, "I like movies.", ("Ana", "likes", f"thing {day % 7}"), days=day)
            if day % 5 == 4:
                known = state.beliefs.facts[f"f{day}-0"]
                gone = replace(known, status=Status.RETRACTED)
                change = Change(
                    kind=ChangeKind.RETRACT, fact=gone, turn_id=f"t{day}", known_at=DAY + timedelta(days=day)
                )
                state.beliefs.learn([], [change])
            if often:
                index_of(state)
        profile = index_of(state).profile
        profiles.append([profile.things.heaviest(10), profile.concepts.heaviest(10), profile.relations.heaviest(10)])
    assert profiles[0] == profiles[1]


def test_the_profile_stays_small_whatever_the_history(state):
    """Thousands of things and answers leave it at a few kilobytes."""
    for number in range(3000):
        say(state, "...", ("Ana", f"verb{number}", f"thing {number}"), days=number // 10)
    feedback = [Feedback(channel="used", at=DAY, turn_ids=(f"t{number}",)) for number in range(1, 3000)]
    state.feedback.append(tuple(feedback))
    profile = index_of(state).profile
    assert profile.nbytes < 50_000
    assert len(profile.used) <= 64 and "t2999" in profile.used


def test_a_new_key_takes_the_lightest_slot():
    """What weighs most survives any number of things that came up once."""
    counts = Counts()
    for _ in range(5):
        counts.add(7, 1.0, 0.0)
    for key in range(100, 100 + 3 * SLOTS):
        counts.add(key, 0.5, 1.0)
    assert counts.heaviest(1)[0][0] == 7
    assert len(counts.heaviest(10 * SLOTS)) == SLOTS


def test_what_was_used_lately_is_part_of_the_prior(state):
    """A turn that an answer rested on comes before its twin."""
    used = say(state, "I love romantic movies.")
    say(state, "I love romantic movies.")
    state.feedback.append((Feedback(channel="used", at=DAY, turn_ids=(used,)),))
    scores = Profile().scores(look(state, "preference"), np.arange(2))["profile"]
    assert scores[0] > scores[1] > 0


def test_feedback_moves_the_edges_of_the_facts_it_names(state):
    """A fact that an answer rested on carries more from then on."""
    told = say(state, "...", ("Ana", "likes", "tea"))
    graph = index_of(state).graph
    source = graph.told(np.array([0]))[1]
    before = float(graph.strengths(source, NOW)[0])
    state.feedback.append((Feedback(channel="used", at=DAY, turn_ids=(told,), edges=(("f1-0", "likes"),)),))
    index_of(state)
    assert float(graph.strengths(source, NOW)[0]) > before
