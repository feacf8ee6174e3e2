"""score: laws of the one score by which places are ranked, and what a turn is like."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.recall import RecallSpec, read_query, shipped
from doxa.recall.score import SPEAKING, unified
from doxa.recall.search import look_up
from doxa.recall.traits import TRAITS, traits_of
from doxa.recall.weights import LEADS

NAMES = tuple(shipped().of("lexical"))
ROWS = 6
tables = st.lists(st.floats(0, 1, width=32), min_size=len(NAMES) * ROWS, max_size=len(NAMES) * ROWS)


def scores_of(numbers: list[float]) -> dict[str, np.ndarray]:
    table = np.array(numbers, dtype=np.float32).reshape(ROWS, len(NAMES))
    return dict(zip(NAMES, table.T, strict=True))


@given(tables, st.integers(0, len(NAMES) - 1), st.sampled_from(LEADS))
def test_a_score_never_falls_when_a_view_rises(numbers, rising, lead):
    """Monotone in every score that the shipped weights know."""
    scores = scores_of(numbers)
    before = unified(scores, shipped(), lead)
    raised = scores | {NAMES[rising]: scores[NAMES[rising]] + np.float32(0.5)}
    assert (unified(raised, shipped(), lead) >= before - 1e-6).all()


@given(tables, st.permutations(range(ROWS)), st.sampled_from(LEADS))
def test_the_order_of_the_candidates_changes_no_score(numbers, order, lead):
    """Every candidate is scored for itself."""
    scores = scores_of(numbers)
    total = unified(scores, shipped(), lead)
    moved = unified({name: values[list(order)] for name, values in scores.items()}, shipped(), lead)
    assert moved.tolist() == total[list(order)].tolist()


def test_what_a_turn_is_like_is_no_evidence():
    """A place for which no view speaks scores 0, however much it tells."""
    scores = {name: np.full(2, name not in SPEAKING, dtype=np.float32) for name in NAMES}
    scores["lexical"][1] = 0.1
    total = unified(scores, shipped(), "lexical")
    assert total[0] == 0 < total[1]


def test_scores_are_finite_without_vectors(words):
    """A query and turns with vectors of zeros give numbers, not a division by 0."""
    words.say("I play the cello.")
    words.say("And you?", speaker="Ben")
    query = read_query("Who plays the cello?", words.state)
    found = look_up(query, words.state, spec=RecallSpec())
    assert np.isfinite(found.total).all()
    assert all(np.isfinite(values).all() for values in found.scores.values())


def test_a_turn_that_tells_wins_over_one_that_asks_the_same(meaning):
    """The statement comes before the question of the same topic."""
    meaning.say("Do you like jazz?", speaker="Ben", session="a")
    told = meaning.say("I love jazz, mostly old trumpet records.", session="b")
    assert meaning.ids("What music does Ana like, is it jazz?")[0] == told


def test_a_session_lends_its_best_turn_to_the_others(words):
    """`session` is the best of the session's candidates, and alike for all of them."""
    words.say("The cello is mine.", session="a")
    words.say("A cello needs a bow.", session="a")
    words.say("Cello and bow.", session="b")
    found = look_up(read_query("cello bow", words.state), words.state, spec=RecallSpec())
    by_place = dict(zip(found.places.tolist(), found.scores["session"].tolist(), strict=True))
    assert by_place[0] == by_place[1]


@pytest.mark.parametrize(
    ("text", "trait", "expected"),
    [
        ("Do you like jazz?", "asks", 1.0),
        ("I play the cello. And you?", "asks", 0.5),
        ("I play the cello.", "ends_asking", 0.0),
        ("I moved here two years ago.", "time", 1.0),
        ("It is near the lake.", "place", 1.0),
        ("I left because I was tired.", "reason", 1.0),
        ("", "content", 0.0),
    ],
)
def test_traits_of_a_text(text, trait, expected):
    """What it asks is no part of what it tells."""
    assert traits_of(text)[TRAITS.index(trait)] == pytest.approx(expected)


def test_a_long_question_tells_as_well():
    """Who asks for help tells of themselves in the same sentence; a plain question tells nothing."""
    plain = traits_of("Can you suggest a novel?")
    told = traits_of(
        "I met Kelly at the library book club in Porto on 12 October and she lent me a trilogy about whales, so could "
        "you suggest a novel for her birthday in spring?"
    )
    content, asks, last = (TRAITS.index(name) for name in ("content", "asks", "ends_asking"))
    assert plain[content] == 0 and plain[asks] == plain[last] == 1
    assert told[content] == 1 and told[asks] == told[last] < 0.6


@given(st.text())
def test_traits_are_shares(text):
    """Every trait lies between 0 and 1, whatever the text."""
    traits = traits_of(text)
    assert traits.shape == (len(TRAITS),) and (traits >= 0).all() and (traits <= 1).all()
