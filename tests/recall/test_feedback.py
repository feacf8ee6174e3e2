from __future__ import annotations

from datetime import UTC, datetime

import pytest

from doxa.core.feedback import Feedback
from doxa.recall.feedback import EdgeStrengths, FeedbackSpec

AT = datetime(2026, 1, 5, tzinfo=UTC)


def used(*edges: str, session: str = "s", misled: tuple[str, ...] = ()) -> Feedback:
    pairs, wrong = tuple((edge, "likes") for edge in edges), tuple((edge, "likes") for edge in misled)
    return Feedback(channel="used", at=AT, session=session, edges=pairs, misled=wrong)


def missed(*edges: str, session: str = "s") -> Feedback:
    return Feedback(channel="missed", at=AT, session=session, edges=tuple((edge, "likes") for edge in edges))


def test_an_edge_that_was_used_and_right_gains_eta() -> None:
    """Equation 10 with nothing learned before: 1 + 0.01."""
    strengths = EdgeStrengths()
    strengths.learn([used("a")])
    assert strengths.strength("a") == pytest.approx(1.01)
    assert strengths.strength("never told of") == 1.0


def test_an_edge_that_was_needed_and_missed_gets_stronger_not_weaker() -> None:
    """Equation 10 as printed would take eta lambda from it."""
    strengths = EdgeStrengths()
    strengths.learn([missed("a")])
    assert strengths.strength("a") == pytest.approx(1.005)


def test_an_edge_that_led_to_something_else_pays_the_penalty() -> None:
    strengths = EdgeStrengths()
    strengths.learn([used(misled=("a",))])
    assert strengths.strength("a") == pytest.approx(0.995)


def test_the_next_step_is_scaled_by_equation_11() -> None:
    """One edge at 2 among 3 unseen ones at 1: the root of the mean square is sqrt(7 / 4)."""
    strengths = EdgeStrengths(spec=FeedbackSpec(rate=1.0, unseen=3, settled=10**9))
    strengths.learn([used("a", session="s1")])
    assert strengths.strength("a") == pytest.approx(2.0)
    strengths.learn([used("b", session="s2")])
    assert strengths.strength("b") == pytest.approx(1 + (7 / 4) ** 0.5)


def test_one_dialogue_counts_three_times_for_an_edge() -> None:
    burst, spread = EdgeStrengths(), EdgeStrengths()
    burst.learn([used("a", session="one")] * 100)
    spread.learn([used("a", session=str(number)) for number in range(100)])
    assert burst.strength("a") == pytest.approx(1.03, abs=1e-3)
    assert spread.strength("a") > 1.5


def test_one_dialogue_counts_thirty_times_in_all() -> None:
    strengths = EdgeStrengths()
    strengths.learn([used(*(f"e{number}" for number in range(100)), session="one")])
    assert len(strengths) == 30


def test_a_relation_that_is_settled_learns_slower_than_a_new_one() -> None:
    strengths = EdgeStrengths()
    for number in range(100):
        strengths.learn([used(f"e{number}", session=str(number))])
    strengths.learn([used("late", session="last")])
    new = Feedback(channel="used", at=AT, session="last", edges=(("other", "worksFor"),))
    strengths.learn([new])
    assert 1 < strengths.strength("late") < strengths.strength("other")


def test_no_edge_falls_below_the_floor() -> None:
    strengths = EdgeStrengths(spec=FeedbackSpec(rate=0.5))
    for number in range(200):
        strengths.learn([used(misled=("a",), session=str(number))])
    assert strengths.strength("a") == 0.1


def test_the_same_log_gives_the_same_strengths_whenever_it_is_read() -> None:
    """Synced after every batch or at the end: the micro-batches of the log decide, not the moment."""
    log = [(used("a", "b", session=str(n)), missed("c", session=str(n)))[: 1 + n % 2] for n in range(40)]
    often, once = EdgeStrengths(), EdgeStrengths()
    for stop in range(1, len(log) + 1):
        often.sync(log[:stop])
    once.sync(log)
    assert [often.strength(edge) for edge in "abc"] == [once.strength(edge) for edge in "abc"]


def test_a_batch_costs_what_it_says_however_much_was_learned() -> None:
    """Work is counted: only the edges of the batch are written."""

    class Counting(dict[str, float]):
        writes = 0

        def __setitem__(self, key: str, value: float) -> None:
            type(self).writes += 1
            super().__setitem__(key, value)

    strengths = EdgeStrengths()
    strengths._strengths = Counting()
    for number in range(2000):
        strengths.learn([used(f"e{number}", session=str(number))])
    assert Counting.writes == 2000
