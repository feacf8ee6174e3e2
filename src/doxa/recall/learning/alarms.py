"""Windows -> what is usual, and whether it still is: a sequential test whose false alarms are bounded over a year.

Of the five signals of appendix B.5 three are tested against what was usual: Recall@10 on the shadow set (i), the gap
between the views (iv), and in place of the validator's trigger rate (v) the share of questions without an answer. The
p95 of search (iii) is held against the paper's threshold alone: it follows the load of the machine more than it follows
the memory. Serving cost (ii) is that of the plan, which `doxa learn --status` shows.

The paper sums a divergence of scores for (iv). Scores change with the weights that are fitted, so that every refresh
would move the signal; here it is which turns the views put first (`recall.apart`), whatever the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, log

from doxa.core.drift import Alarm, Reference, Signal, Window

__all__ = ["AlarmSpec", "Counts", "alarms_of", "reference_of", "shiryaev_roberts"]

TESTED: tuple[Signal, ...] = ("recall", "disagreement", "abstained")
NAMES = {
    "recall": "Recall@10 of what was asked",
    "disagreement": "The disagreement of the views",
    "abstained": "The share of questions without an answer",
}
TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmSpec:
    """What is usual is learned from, and when an alarm is raised."""

    reference: int = 7
    """Windows that tell what is usual, at least."""
    questions: int = 100
    """Questions that they hold, at least."""
    false: float = 0.05
    """The chance of any alarm of the test within `horizon` windows while nothing has changed, at most."""
    horizon: int = 365
    tolerance: float = 0.05
    """A change of recall, or of what is answered, that nobody needs to hear of."""
    step: float = 0.1
    """One of the disagreement of the views, which is held against windows shortly before."""
    lag: int = 3
    """Windows between those and the one that is looked at: a change shows in so many before it is usual."""
    errors: float = 2.0
    """Standard errors that what is usual may be off by."""
    drops: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35)
    """Changes that are looked for."""
    low: float = 0.65
    critical: float = 0.60
    """Recall@10 below which it is too little, whatever is usual (appendix B.5)."""
    slow_ms: float = 300.0
    """The p95 of search above which it is too slow (appendix B.5)."""
    persists: int = 6
    """Windows in a row for which a threshold has to be passed (appendix B.5: hours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """One window as the test reads it: `bad` of `asked`, each between 0 and 1."""

    asked: int
    bad: float


def counts_of(signal: Signal, window: Window) -> Counts:
    """Return a window by one signal."""
    if signal == "disagreement":
        return Counts(asked=window.compared, bad=window.compared * window.disagreement)
    if signal == "recall":
        return Counts(asked=window.judged, bad=window.judged * (1 - window.recall))
    return Counts(asked=window.asked, bad=window.asked * window.abstained)


def reference_of(windows: Sequence[Window], spec: AlarmSpec) -> Reference | None:
    """Return what is usual by the first windows; None while there are too few. O(windows)."""
    asked = 0
    for count, window in enumerate(windows, start=1):
        asked += window.judged
        if count >= spec.reference and asked >= spec.questions:
            first = windows[:count]
            means = {signal: _mean(signal, first) for signal in TESTED}
            return Reference(
                first=first[0].number,
                last=window.number,
                asked=asked,
                recall=1 - means["recall"][0],
                recall_spread=means["recall"][1],
                disagreement=means["disagreement"][0],
                disagreement_spread=means["disagreement"][1],
                abstained=means["abstained"][0],
                abstained_spread=means["abstained"][1],
            )
    return None


def _mean(signal: Signal, windows: Sequence[Window]) -> tuple[float, float]:
    """Return the mean of what is bad and its standard error: by the windows, or by the questions if that is more.

    Questions of one window are alike, so that they tell less than as many that are not.
    """
    counts = [counts_of(signal, window) for window in windows]
    asked = sum(one.asked for one in counts)
    if not asked:
        return 0.0, 1.0
    mean = sum(one.bad for one in counts) / asked
    between = sum((one.bad - mean * one.asked) ** 2 for one in counts) * len(counts) / max(len(counts) - 1, 1)
    return mean, max(between**0.5 / asked, (mean * (1 - mean) / asked) ** 0.5)


def alarms_of(windows: Sequence[Window], spec: AlarmSpec) -> list[Alarm]:
    """Return the alarms that stand after the last of some windows, by signal.

    Args:
        windows: closed ones since the last refresh that followed an alarm, oldest first.
        spec: when to raise one.

    Cost: O(windows).
    """
    reference = reference_of(windows, spec)
    if reference is None:
        return []
    first = sum(window.number <= reference.last for window in windows)
    found = [alarm for signal in TESTED if (alarm := _changed(signal, windows, first, spec)) is not None]
    known = {alarm.signal for alarm in found}
    return found + [alarm for alarm in _passed(windows[first:], reference, spec) if alarm.signal not in known]


def shiryaev_roberts(
    counts: Sequence[Counts], usual: Sequence[float], drops: Sequence[float]
) -> Iterator[tuple[float, int]]:
    """Yield after each window the statistic of the test (as its logarithm), and where the change most likely began.

    For a mean of at most u and any scores in [0, 1], (q/u)^bad ((1-q)/(1-u))^(asked-bad) has an expectation of at most
    1 given the past, whatever the distribution: e^x is convex, so that a score does most where it is 0 or 1. The
    statistic R = (R + 1) times that, averaged over the changes q - u that are looked for, grows by at most 1 a window
    in expectation then, and passes c within T windows with a chance of at most T / c. That u is known before the
    window is all it takes, so that it may follow the windows before.

    Args:
        counts: the windows in order.
        usual: u for each.
        drops: the changes.

    Source: Shin, Ramdas and Rinaldo 2022, "E-detectors: a nonparametric framework for sequential change detection".
    """
    sums = [-inf] * len(drops)  # the logarithm of R for each change
    best, since = [0.0] * len(drops), [0] * len(drops)  # the sum of logarithms since the likeliest beginning
    for number, (one, level) in enumerate(zip(counts, usual, strict=True)):
        for row, drop in enumerate(drops):
            changed = min(level + drop, 1 - TINY)
            step = one.bad * log(changed / level) + (one.asked - one.bad) * log((1 - changed) / (1 - level))
            sums[row] = _log_add(sums[row], 0.0) + step
            if best[row] <= 0:
                best[row], since[row] = 0.0, number
            best[row] += step
        likeliest = max(range(len(drops)), key=lambda row: best[row])
        whole = -inf
        for value in sums:
            whole = _log_add(whole, value)
        yield whole - log(len(drops)), since[likeliest]


def _log_add(one: float, other: float) -> float:
    high, low = max(one, other), min(one, other)
    return high if low == -inf else high + log(1 + exp(low - high))


def _changed(signal: Signal, windows: Sequence[Window], first: int, spec: AlarmSpec) -> Alarm | None:
    """Return the alarm of the test, if it was raised after any window: it stands until there is a refresh.

    Args:
        signal: what is tested.
        windows: all of them.
        first: how many of them are the reference.
        spec: when to raise one.
    """
    usual = [_usual(signal, windows, at, first, spec) for at in range(first, len(windows))]
    counts = [counts_of(signal, window) for window in windows[first:]]
    enough = log(spec.horizon * len(TESTED) / spec.false)
    allowed = [level for _, level in usual]
    for at, (statistic, since) in enumerate(shiryaev_roberts(counts, allowed, spec.drops)):
        if statistic >= enough:
            bad = sum(one.bad for one in counts[since : at + 1]) / sum(one.asked for one in counts[since : at + 1])
            mean = usual[since][0]
            value, was = (1 - bad, 1 - mean) if signal == "recall" else (bad, mean)
            begun = windows[first + since]
            text = f"{NAMES[signal]} is {value:.2f} since {begun.start:%Y-%m-%d}, and was {was:.2f}."
            critical = signal == "recall" and value < spec.critical
            return _alarm(signal, windows[first + at], begun, value, was, text, critical=critical)
    return None


def _usual(signal: Signal, windows: Sequence[Window], at: int, first: int, spec: AlarmSpec) -> tuple[float, float]:
    """Return what is usual before a window, and what it may be without a change.

    Recall and answers are held against the reference, so that a slow decay is seen too. The views come apart as a
    memory grows, since each has more to choose from: there only a step counts, against the windows shortly before.
    """
    if signal == "disagreement":
        base = windows[max(0, at - spec.lag - first) : max(first, at - spec.lag)]
        tolerance = spec.step
    else:
        base, tolerance = windows[:first], spec.tolerance
    mean, spread = _mean(signal, base)
    return mean, min(max(mean + max(tolerance, spec.errors * spread), TINY), 1 - 2 * TINY)


def _passed(windows: Sequence[Window], reference: Reference, spec: AlarmSpec) -> Iterator[Alarm]:
    """Yield an alarm for each threshold that is passed in the latest windows; a change too slow for the test ends so.

    Recall that was about its threshold or below as a rule is no change: an alarm would come again and again.
    """
    last = windows[-spec.persists :]
    if len(last) < spec.persists:
        return
    row = f"in {spec.persists} windows in a row"
    judged = sum(window.judged for window in last)
    surely = reference.recall - max(spec.tolerance, spec.errors * reference.recall_spread)
    if surely >= spec.low and all(window.judged and window.recall < spec.low for window in last):
        value = sum(window.recall * window.judged for window in last) / judged
        text = f"{NAMES['recall']} is {value:.2f}, below {spec.low:.2f} {row}."
        yield _alarm("recall", last[-1], last[0], value, spec.low, text, critical=value < spec.critical)
    if all(window.p95_ms > spec.slow_ms for window in last):
        text = f"The p95 of search is {last[-1].p95_ms:.0f} ms, above {spec.slow_ms:.0f} ms {row}."
        yield _alarm("p95_ms", last[-1], last[0], last[-1].p95_ms, spec.slow_ms, text)


def _alarm(
    signal: Signal, window: Window, since: Window, value: float, usual: float, text: str, *, critical: bool = False
) -> Alarm:
    return Alarm(
        signal=signal,
        window=window.number,
        since=since.number,
        value=value,
        usual=usual,
        grade="critical" if critical else "warning",
        text=text,
    )
