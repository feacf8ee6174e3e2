"""Windows of questions: when they end, what is measured, and what is kept of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from doxa.core.drift import Outcome, Shadow
from doxa.recall import WindowSpec, apart, filled, measured, quota, thinned
from doxa.recall.views import Candidates

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
SPEC = WindowSpec(questions=10)


def asked(hours: float = 0, outcome: Outcome = "used", recall: float = 1.0, **more: object) -> Shadow:
    return Shadow(at=AT + timedelta(hours=hours), outcome=outcome, recall=recall, query=f"Where, {hours}?", **more)


def test_a_window_ends_with_the_day_or_when_it_is_full() -> None:
    closed, held = filled([], [asked(n / 100) for n in range(12)] + [asked(24)], SPEC)
    assert [len(one) for one in closed] == [10, 2] and len(held) == 1


def test_a_question_that_comes_late_stays_in_the_window_that_is_open() -> None:
    closed, held = filled([asked(24)], [asked(0)], SPEC)
    assert not closed and len(held) == 2


@given(st.lists(st.floats(0, 500), max_size=80), st.integers(1, 7))
def test_windows_are_the_same_however_the_questions_come_in(hours: list[float], step: int) -> None:
    new = [asked(one) for one in hours]
    closed, held = filled([], new, SPEC)
    piecewise: list[list[Shadow]] = []
    rest: list[Shadow] = []
    for first in range(0, len(new), step):
        more, rest = filled(rest, new[first : first + step], SPEC)
        piecewise += more
    assert (piecewise, rest) == (closed, held)


def test_a_question_that_failed_counts_as_nothing_found_and_one_that_nobody_judged_does_not_count() -> None:
    four = [asked(outcome="abstained", recall=0.0)] * 3 + [asked(outcome="unsupported", recall=0.0)]
    window = measured(0, [asked()] * 8 + four + [asked(outcome="unjudged", recall=0.0)] * 4)
    assert (window.asked, window.judged) == (16, 12)
    assert window.recall == 8 / 12
    assert (window.abstained, window.unsupported) == (3 / 16, 1 / 16)


def test_the_disagreement_is_that_of_questions_on_which_views_could_be_compared() -> None:
    window = measured(0, [asked(disagreement=0.2), asked(disagreement=0.6), asked()])
    assert (window.compared, window.disagreement) == (2, 0.4)


def test_an_older_window_keeps_a_part_of_what_it_kept_and_all_together_stay_few() -> None:
    questions = [asked(n / 10) for n in range(10)]
    kept = [thinned(questions, age, SPEC) for age in range(SPEC.windows)]
    assert kept[0] == questions and not kept[-1]
    for younger, older in pairwise(kept):
        assert set(map(id, older)) <= set(map(id, younger))
        assert thinned(younger, kept.index(older), SPEC) == older
    usual = WindowSpec()
    assert sum(quota(age, usual) for age in range(usual.windows)) < 400


def test_a_question_that_cannot_be_asked_again_is_not_kept() -> None:
    counted = Shadow(at=AT, outcome="used", recall=1.0)
    assert thinned([counted, asked()], 0, SPEC) == [asked()]


def test_views_are_apart_by_the_turns_that_they_put_first() -> None:
    import numpy as np

    def first(*places: int) -> Candidates:
        return Candidates(np.array(places, dtype=np.intp), np.ones(len(places), dtype=np.float32))

    assert apart({"graph": first(1, 2), "dense": first(1, 2), "lexical": first(1, 2)}) == 0
    assert apart({"graph": first(1, 2), "dense": first(3, 4), "lexical": first(5)}) == 1
    assert apart({"graph": first(1, 2), "dense": first(2, 3)}) == 0.5
    assert apart({"graph": first(), "dense": first(3)}) is None
    assert apart({"profile": first(1), "speaker": first(2), "dense": first(3)}) is None
