"""When an alarm is raised, and how seldom where nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import exp
from random import Random

import pytest

from doxa.core.drift import Alarm, Window
from doxa.recall import AlarmSpec, alarms_of, reference_of
from doxa.recall.learning.alarms import Counts, shiryaev_roberts

START = datetime(2026, 1, 5, tzinfo=UTC)
SPEC = AlarmSpec()


def window(number: int, rng: Random, *, recall: float, apart: float = 0.3, asked: int = 30, ms: float = 20) -> Window:
    found = sum(rng.random() < recall for _ in range(asked)) / asked
    gaps = sum(min(1.0, max(0.0, rng.gauss(apart, 0.2))) for _ in range(asked)) / asked
    at = START + timedelta(days=number)
    return Window(
        number=number, start=at, end=at, asked=asked, judged=asked, recall=found, abstained=(1 - found) / 2,
        unsupported=0.0, compared=asked, disagreement=gaps, p95_ms=ms,
    )  # fmt: skip


def life(seed: int, recall: Callable[[int], float], *, days: int = 60, **more: Callable[[int], float]) -> list[Window]:
    rng = Random(seed)
    return [window(n, rng, recall=recall(n), **{k: of(n) for k, of in more.items()}) for n in range(days)]  # type: ignore[arg-type]


def first_alarm(windows: list[Window], *, every: int = 1) -> Alarm | None:
    """Return the first alarm, looked for after every so many windows; one of the test stands until it is looked for."""
    for end in range(len(windows) % every or every, len(windows) + 1, every):
        if found := alarms_of(windows[:end], SPEC):
            return found[0]
    return None


@pytest.mark.parametrize("recall", [0.95, 0.65, 0.4])
def test_calm_lives_raise_no_alarm(recall: float) -> None:
    """The bound of the test for 60 windows is 60 / 365 of 0.05: two of 60 lives would be too many by far."""
    assert sum(first_alarm(life(seed, lambda _: recall), every=4) is not None for seed in range(60)) <= 1


@pytest.mark.parametrize(("before", "after"), [(0.9, 0.5), (0.8, 0.4), (0.97, 0.6)])
def test_a_large_drop_is_found_within_three_windows(before: float, after: float) -> None:
    late = 0
    for seed in range(40):
        alarm = first_alarm(life(seed, lambda day: before if day < 30 else after, days=33))
        late += alarm is None or alarm.signal == "disagreement" or alarm.window < 30
    assert late <= 2


def test_an_alarm_tells_what_it_was_what_it_is_and_since_when() -> None:
    (alarm, *_) = alarms_of(life(3, lambda day: 0.9 if day < 30 else 0.4), SPEC)
    assert alarm.signal == "recall" and alarm.grade == "critical"
    assert 29 <= alarm.since <= 31 and alarm.value == pytest.approx(0.4, abs=0.15)
    assert "since 2026-02-0" in alarm.text and f"was {alarm.usual:.2f}" in alarm.text


def test_an_alarm_stands_whatever_comes_after_it() -> None:
    windows = life(3, lambda day: 0.4 if 30 <= day < 35 else 0.9)
    raised = first_alarm(windows)
    assert raised is not None and raised.window < 35 and raised in alarms_of(windows, SPEC)


def test_nothing_is_said_before_it_is_known_what_is_usual() -> None:
    windows = life(1, lambda day: 0.9 if day < 3 else 0.1, days=6)
    assert reference_of(windows, SPEC) is None and not alarms_of(windows, SPEC)


def test_few_questions_make_the_reference_longer_not_the_test_looser() -> None:
    rng = Random(0)
    windows = [window(n, rng, recall=0.9, asked=5) for n in range(60)]
    reference = reference_of(windows, SPEC)
    assert reference is not None and reference.asked >= SPEC.questions and reference.last == 19


def test_views_that_come_apart_slowly_raise_no_alarm_and_a_step_does() -> None:
    """As a memory grows each view has more to choose from; a change of wording is a step."""
    slow = [first_alarm(life(seed, lambda _: 0.9, apart=lambda day: 0.2 + day / 200), every=6) for seed in range(30)]
    assert sum(one is not None for one in slow) <= 1
    step = [
        first_alarm(life(seed, lambda _: 0.9, apart=lambda day: 0.2 if day < 30 else 0.6), every=6)
        for seed in range(30)
    ]
    assert all(one is not None and one.signal == "disagreement" and one.window <= 33 for one in step)


def test_a_decay_that_is_too_slow_for_the_test_ends_at_the_threshold() -> None:
    """Recall that was always low is no drift, one that has come to be is."""
    sinking = first_alarm(life(2, lambda day: max(0.9 - day / 150, 0.5), days=90))
    assert sinking is not None and sinking.signal in ("recall", "abstained")
    assert first_alarm(life(2, lambda _: 0.5)) is None


def test_a_slow_search_is_told_after_six_windows_in_a_row() -> None:
    spike = life(1, lambda _: 0.9, ms=lambda day: 900.0 if day % 6 == 5 else 20.0)
    assert first_alarm(spike) is None
    alarm = first_alarm(life(1, lambda _: 0.9, ms=lambda day: 20.0 if day < 40 else 301.0))
    assert alarm is not None and (alarm.signal, alarm.window) == ("p95_ms", 45)


def test_a_window_without_judged_questions_changes_nothing() -> None:
    counts = [Counts(asked=30, bad=12.0), Counts(asked=0, bad=0.0)]
    (one, _), (other, _) = shiryaev_roberts(counts, [0.2, 0.2], (0.2,))
    assert exp(other) == pytest.approx(exp(one) + 1)


@pytest.mark.parametrize("shape", [(1, 4), (5, 20), (0.2, 0.8)])
def test_the_statistic_grows_by_no_more_than_one_a_window_whatever_the_scores_are(shape: tuple[float, float]) -> None:
    """Scores of any distribution on [0, 1] with a mean of 0.2, where 0.2 is usual: E[R] is the number of windows."""
    rng = Random(7)
    ends = []
    for _ in range(3000):
        counts = [Counts(asked=3, bad=sum(rng.betavariate(*shape) for _ in range(3))) for _ in range(4)]
        *_, (statistic, _) = shiryaev_roberts(counts, [0.2] * 4, SPEC.drops)
        ends.append(exp(statistic))
    mean = sum(ends) / len(ends)
    assert mean <= 4.0 + 3 * (sum((one - mean) ** 2 for one in ends) / len(ends)) ** 0.5 / len(ends) ** 0.5
