"""One more look where a ranking is doubtful, and what is left out when time is short."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from doxa.recall import Plan, RecallSpec, evidence_of, look_up, read_query
from doxa.recall.doubt import doubt, flatness, unshared
from doxa.recall.watch import Watch


def ticking(*seconds: float) -> Iterator[float]:
    yield from seconds
    while True:
        yield seconds[-1]


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_a_ranking_is_flat_when_nothing_stands_out():
    assert flatness(array(*[0.5] * 12)) == pytest.approx(1)
    assert flatness(array(0.9, *[0.1] * 9)) < 0.1
    assert flatness(array()) == flatness(array(1)) == 1


def test_views_disagree_when_their_best_are_others():
    """Ten places each, none of them shared; a view that says nothing disagrees with none."""
    words = array(*[1.0] * 10, *[0.0] * 10)
    assert unshared({"lexical": words, "dense": words}) == 0
    assert unshared({"lexical": words, "dense": words[::-1]}) == 1
    assert unshared({"lexical": words, "dense": 0 * words}) == unshared({"lexical": words}) == 0
    assert doubt({"lexical": words, "dense": words[::-1]}, np.linspace(0, 3, 20, dtype=np.float32)) == "views disagree"


@pytest.fixture
def doubtful(meaning):
    """A memory in which nothing bears on the query more than anything else."""
    for number in range(200):
        meaning.say(f"Note {number} about gardens and trains.", session=f"s{number}")
    query = read_query("Who was it?", meaning.state)
    return replace(query, vector=meaning.encode("Who was it?")), meaning.state


def test_a_doubtful_ranking_is_looked_at_once_more(doubtful):
    """At most so many places come in, and every one has all scores."""
    query, state = doubtful
    once = look_up(query, state, spec=RecallSpec(expand=False, route=False))
    twice = look_up(query, state, spec=RecallSpec(route=False))
    assert once.doubt == "" and once.expanded == ""
    assert twice.doubt and twice.expanded == "dense" and twice.note["expanded"] == f"dense: {twice.doubt}"
    assert len(once.places) < len(twice.places) <= len(once.places) + 16
    assert set(once.places) < set(twice.places) and len(set(twice.places)) == len(twice.places)
    assert all(len(scores) == len(twice.places) for scores in twice.scores.values())


def test_a_plan_may_forbid_the_expansion(doubtful):
    query, state = doubtful
    assert look_up(query, state, spec=RecallSpec(), plan=Plan(expand=False)).expanded == ""


def test_what_would_exceed_the_deadline_is_left_out(doubtful):
    """The leading view has always run; what it found is the evidence, and the note says what is missing."""
    query, state = doubtful
    clock = ticking(0, 0.2)
    found = look_up(
        replace(query, terms=("garden",)),
        state,
        spec=RecallSpec(deadline_ms=100, route=False),
        clock=lambda: next(clock),
    )
    assert list(found.proposed) == ["lexical"] and found.expanded == ""
    assert set(found.skipped) >= {"dense", "graph", "speaker", "time"} and "dense" in str(found.note["skipped"])
    evidence = evidence_of(found)
    assert len(evidence) == 10 and all(item.path == ("lexical",) for item in evidence)


def test_without_a_deadline_nothing_is_left_out(doubtful):
    query, state = doubtful
    clock = ticking(0, 1000)
    assert look_up(query, state, spec=RecallSpec(deadline_ms=0), clock=lambda: next(clock)).skipped == ()


def test_a_step_is_not_begun_when_one_like_the_longest_would_end_too_late():
    """After 60 of 100 ms, of which one step took 50, there is no time for another one."""
    clock = ticking(0, 0.05, 0.06, 0.07)
    watch = Watch(100, lambda: next(clock))
    assert watch.allows("second") is True
    assert watch.allows("third") is False and watch.skipped == ["third"]
