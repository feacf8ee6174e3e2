"""A list of results, as they are or as deviations from a standard ("-2, +5, 0" from 28), and what is asked of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from doxa.language import stems
from doxa.language.amounts import Number, unit_named
from doxa.language.sentence import Sentence
from doxa.reason.compute.asked import AVERAGE, PERCENT, Asked
from doxa.reason.compute.expressions import Operation, Stated, steps, value_of, written
from doxa.reason.compute.ledger import comparatives
from doxa.reason.compute.solve import Result, in_words

__all__ = ["Series", "on_series", "series_of"]

LEAST = 3
"""Numbers in a row that make a list."""
STANDARD = re.compile(
    r"\b(?:standard|target|norm|reference|requirement|benchmark|quota|goal|par|baseline|nominal|pass mark)\b",
    re.I,
)
SIGNS = re.compile(r"\b(?P<word>positive|negative|plus|minus)\b|(?P<sign>[+\-−](?!\d))", re.IGNORECASE)
ABOVE = re.compile(
    r"\b(?:exceed\w*|above|over|more|surpass\w*|beyond|higher|longer|heavier|faster|better|extra|surplus|gain)\b",
    re.IGNORECASE,
)
BELOW = re.compile(
    r"\b(?:fall\w* short|short(?:fall)?|below|under|less|fewer|lower|shorter|lighter|slower|worse|missing)\b",
    re.IGNORECASE,
)
AT_LEAST = re.compile(
    r"\b(?:met|reached|hit|achieved|attained|meet|reach|matched)\b.{0,12}\bor\b|\bat least\b|"
    r"\bor (?:more|better|above|over)\b|"
    r"\bnot (?:below|under|less)\b|\b(?:passed|met|reached|fulfill?ed|satisf\w+|meet|reach|pass)\b",
    re.IGNORECASE,
)
NOT_REACHED = re.compile(
    r"\b(?:did|do|does)(?:n't| not) (?:meet|reach|pass|hit|achieve|exceed)|\bfail(?:ed|s)?\b|\bmiss(?:ed|es)?\b",
    re.IGNORECASE,
)
EXACT = re.compile(r"\bexactly\b|\bprecisely\b|\bjust met\b", re.IGNORECASE)
MOST = re.compile(
    r"\b(?:most|best|highest|maximum|largest|biggest|heaviest|longest|tallest|farthest|furthest|fastest|greatest|top|max)\b",
    re.I,
)
FEWEST = re.compile(r"\b(?:least|worst|lowest|minimum|smallest|lightest|shortest|fewest|slowest|min|poorest)\b", re.I)
EACH = re.compile(r"\b(?:actual(?:ly)?|each|real(?:ly)?|individual)\b", re.IGNORECASE)
WHOLE = re.compile(r"\b(?:total|altogether|in all|sum|together|combined)\b", re.IGNORECASE)
APART = re.compile(r"\b(?:difference|gap|range|how (?:many|much) more)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Results in the order in which they were given, each an expression; `deviations` from the standard, if any."""

    results: tuple[Operation | Stated, ...]
    deviations: tuple[Fraction, ...]
    standard: Fraction | None
    unit: str
    about: frozenset[str]
    """Stems of the sentences that give the list."""
    turn_ids: tuple[str, ...]


def series_of(sentences: Sequence[Sentence]) -> Series | None:
    """Return the latest list of results of a dialogue; None when there is none, or its signs are not explained.

    A list with signs counts from a standard, which has to be stated; which sign means more is read from the words
    beside "positive" and "negative". Cost O(words).
    """
    for place in range(len(sentences) - 1, -1, -1):
        listed = _listed(sentences[place])
        if not listed:
            continue
        before = [s for s in sentences[: place + 1] if not s.question or s is sentences[place]]
        signed = any(number.signed for number in listed)
        turn_id = sentences[place].turn.turn_id
        about = frozenset(stem for s in before[-5:] for stem in stems(s.text))
        deviations = tuple(number.value for number in listed)
        if not signed:
            own = tuple(Stated(value=value, turn_id=turn_id) for value in deviations)
            return Series(
                results=own,
                deviations=(),
                standard=None,
                unit=_unit(sentences[place]),
                about=frozenset(stems(sentences[place].text)),
                turn_ids=(turn_id,),
            )
        standard = next((s for s in reversed(before) if STANDARD.search(s.text) and _single(s) is not None), None)
        sense = _sense(" ".join(s.text for s in before[-6:]))
        if standard is None or not sense:
            return None
        value = _single(standard)
        assert value is not None
        base = Stated(value=value.value, turn_id=standard.turn.turn_id)
        results = tuple(
            Operation(operator="+" if sense * d >= 0 else "-", parts=(base, Stated(value=abs(d), turn_id=turn_id)))
            for d in deviations
        )
        return Series(
            results=results,
            deviations=tuple(sense * d for d in deviations),
            standard=value.value,
            unit=_unit(standard),
            about=about,
            turn_ids=tuple(dict.fromkeys((standard.turn.turn_id, turn_id))),
        )
    return None


def _listed(sentence: Sentence) -> list[Number]:
    """Return the longest run of numbers that only commas part."""
    best: list[Number] = []
    run: list[Number] = []
    for number in sentence.numbers:
        gap = sentence.text[run[-1].end : number.start] if run else ""
        if run and not re.fullmatch(r"\s*(?:,|;|and|,\s*and)\s*", gap):
            run = []
        run = [*run, number]
        best = run if len(run) > len(best) else best
    return best if len(best) >= LEAST else []


def _single(sentence: Sentence) -> Number | None:
    """Return the number of a standard: the one behind the word for it."""
    match = STANDARD.search(sentence.text)
    after = [
        n
        for n in sentence.numbers
        if match and n.start > match.start() and not n.signed and sentence.text[n.start : n.end] != "one"
    ]
    return after[0] if after else None


def _unit(sentence: Sentence) -> str:
    for frame in sentence.frames:
        for argument in frame.arguments:
            unit = unit_named(argument.head)
            if unit is not None and argument.number is not None:
                return unit.name
    return ""


def _sense(text: str) -> int:
    """Return 1 where a positive number means more, -1 where it means less, 0 where nobody says."""
    votes = 0
    done = 0
    for match in SIGNS.finditer(text):
        part = text[done : match.start()]
        done = match.end()
        above, below = list(ABOVE.finditer(part)), list(BELOW.finditer(part))
        if not above and not below:
            continue
        is_above = bool(above) and (not below or above[-1].start() > below[-1].start())
        positive = (match["word"] or "").casefold() in ("positive", "plus") or match["sign"] == "+"
        votes += 1 if is_above == positive else -1
    return (votes > 0) - (votes < 0)


def on_series(goal: Asked, series: Series) -> Result | None:
    """Return what a question asks of a list of results; None when it asks about something else."""
    text = goal.text
    if not _is_about(goal, series):
        return None
    values = [value_of(result) for result in series.results]
    most, fewest = MOST.search(text), FEWEST.search(text)
    condition = _condition(text) if series.standard is not None else None
    if AVERAGE.search(text):
        total = Operation(operator="+", parts=series.results) if not series.deviations else _sum(series)
        mean = Operation(operator="÷", parts=(total, Stated(value=Fraction(len(values)))))
        return _made(series, in_words(value_of(mean), series.unit), steps(mean))
    if condition is not None and re.search(r"\bhow many\b|\bpercent|\bwho\b|\bwhich\b", text, re.IGNORECASE):
        return _counted(goal, series, condition)
    if most and fewest:
        pair = (max(values), min(values)) if most.start() < fewest.start() else (min(values), max(values))
        if APART.search(text):
            gap = Operation(operator="-", parts=(Stated(value=max(values)), Stated(value=min(values))))
            return _made(series, in_words(value_of(gap), series.unit), steps(gap))
        return _made(series, "; ".join(in_words(value, series.unit) for value in pair), _shown(series, pair))
    if most or fewest:
        value = max(values) if most else min(values)
        return _made(series, in_words(value, series.unit), _shown(series, (value,)))
    if WHOLE.search(text):
        total = _sum(series)
        return _made(series, in_words(value_of(total), series.unit), steps(total))
    if EACH.search(text):
        listed = ", ".join(written(v) for v in values)
        return _made(series, listed, tuple(step for result in series.results for step in steps(result)))
    return None


def _is_about(goal: Asked, series: Series) -> bool:
    """Tell whether a question speaks of what the list is of: it names nothing that the list's sentences do not."""
    known = series.about | frozenset(
        stems("number result score each actual met exceed below above reach percentage represent total did do")
    )
    superlative = {stem for word in comparatives() for stem in stems(word)}
    named = ({goal.head} if goal.head else set()) | goal.filters | goal.words | {s for o in goal.owners for s in o}
    named -= superlative | frozenset(stems("average mean percentage percent among difference"))
    return {goal.head} - superlative <= known | {""} and len(named - known) <= len(named & known)


def _sum(series: Series) -> Operation:
    """Return the sum of all results; from a standard it is so many times that, and the deviations."""
    if series.standard is None:
        return Operation(operator="+", parts=series.results)
    base = Operation(
        operator="×",
        parts=(Stated(value=Fraction(len(series.results))), Stated(value=series.standard, turn_id=series.turn_ids[0])),
    )
    rest = Operation(operator="+", parts=tuple(Stated(value=d, turn_id=series.turn_ids[-1]) for d in series.deviations))
    return Operation(operator="+", parts=(base, rest))


def _condition(text: str) -> str | None:
    """Return which deviations a question counts: ">=", ">", "<", "<=" or "=" zero; None for no condition."""
    if NOT_REACHED.search(text):
        return "<"
    if EXACT.search(text):
        return "="
    above, below = ABOVE.search(text), BELOW.search(text)
    if AT_LEAST.search(text):
        return "<=" if below and not above and re.search(r"\bor\b", text) else ">="
    return ">" if above else "<" if below else None


def _counted(goal: Asked, series: Series, condition: str) -> Result:
    tests = {
        ">=": lambda d: d >= 0,
        ">": lambda d: d > 0,
        "<": lambda d: d < 0,
        "<=": lambda d: d <= 0,
        "=": lambda d: d == 0,
    }
    chosen = [value for value, d in zip(series.results, series.deviations, strict=True) if tests[condition](d)]
    count, whole = len(chosen), len(series.results)
    standard = written(series.standard or Fraction(0))
    sign = {">=": "≥", "<=": "≤"}.get(condition, condition)
    listed = ", ".join(written(value_of(value)) for value in chosen)
    working = [f"{sign} {standard}: {listed} = {count} of {whole}" if chosen else f"{sign} {standard}: none of {whole}"]
    if not PERCENT.search(goal.text):
        return _made(series, str(count), tuple(working))
    share = Operation(
        operator="×",
        parts=(
            Operation(operator="÷", parts=(Stated(value=Fraction(count)), Stated(value=Fraction(whole)))),
            Stated(value=Fraction(100)),
        ),
    )
    percent = f"{written(value_of(share))}%"
    both = re.search(r"\bhow many\b", goal.text, re.IGNORECASE)
    return _made(series, f"{count}; {percent}" if both else percent, (*working, *steps(share)))


def _shown(series: Series, values: Sequence[Fraction]) -> tuple[str, ...]:
    found = [
        step for value in values for result in series.results if value_of(result) == value for step in steps(result)[:1]
    ]
    return tuple(dict.fromkeys(found))


def _made(series: Series, value: str, working: tuple[str, ...]) -> Result:
    return Result(value=value, text=value, working=working, turn_ids=series.turn_ids)
