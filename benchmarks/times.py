"""Time expressions on the English cases of Recognizers-Text, against other packages where they are installed.

    python benchmarks/times.py $DOXA_DATA/open/recognizers_datetime [--json] [--misses FILE]
    python benchmarks/times.py $DOXA_DATA/open/recognizers_datetime --turns $DOXA_DATA/measure/locomo/locomo_dev6.json

The second form prints the microseconds that our reader takes for a turn of a conversation instead.

A case agrees when every expected expression is found with its span and its value. The rules of comparing:

- Spans are compared without leading prepositions and articles and without outer punctuation.
- Where the set gives a reading in the past and one in the future, ours must be the one for the tense of the sentence
  (past or perfect: the past one; anything else: the future one); the engine's own clause reader says which tense it is.
- Where the set gives a clock time both before and after noon, either is accepted.
- In the files of one kind (`DateParser` ...) the set lists that kind only, so other kinds that we find are not counted;
  in `DateTimeModel` and `MergedParser` everything that is found must be expected.
- Cases that the reference implementation is flagged not to support are left out, as are inputs repeated in a file.
- A season has no dates in the set: its TIMEX value is compared. Repetitions are compared by TIMEX, lengths by seconds.

Half of the inputs (by a hash) were looked at while the grammar was written; the other half is reported as `held out`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FILES = (
    "DateParser", "DatePeriodParser", "TimeParser", "TimePeriodParser", "DateTimeParser", "DateTimePeriodParser",
    "DurationParser", "SetParser", "HolidayParser", "MergedParser", "DateTimeModel",
)  # fmt: skip
WHOLE = ("MergedParser", "DateTimeModel")
KIND = {
    "DateParser": "date", "DatePeriodParser": "daterange", "TimeParser": "time", "TimePeriodParser": "timerange",
    "DateTimeParser": "datetime", "DateTimePeriodParser": "datetimerange", "DurationParser": "duration",
    "SetParser": "set", "HolidayParser": "date",
}  # fmt: skip
LEAD = re.compile(r"^(?:(?:on|in|at|the|for|of|during|from the)\s+|[\s,.;:'\"(-])+", re.IGNORECASE)
Value = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One input, when it is said, and what should be found: span and the values accepted in the past and the future."""

    file: str
    text: str
    at: datetime
    expected: tuple[tuple[tuple[int, int], frozenset[Value], frozenset[Value]], ...]

    @property
    def held_out(self) -> bool:
        """Tell whether it is in the half that was not looked at."""
        return bool(hashlib.sha1(self.text.encode(), usedforsecurity=False).digest()[0] & 1)


def main() -> None:
    """Print the share of cases that agree, by file and half, for each system that is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=Path, help="a LoCoMo file: time our reader on its turns, and do nothing else")
    parser.add_argument("--misses", type=Path, help="write the looked-at half's misses of our reader to a file")
    arguments = parser.parse_args()
    if arguments.turns:
        print(json.dumps(speed(arguments.turns)))
        return
    cases = [case for name in FILES for case in read_cases(arguments.folder / f"{name}.json", name)]
    report = {
        name: score(find, cases, arguments.misses if name == "doxa" else None) for name, find in systems().items()
    }
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for name, rows in report.items():
        print(f"\n{name}")
        for row, numbers in rows.items():
            print(f"  {row:22}", "  ".join(f"{key} {value}" for key, value in numbers.items()))


# --- the cases


def read_cases(path: Path, name: str) -> list[Case]:
    """Return the cases of one file, each input once."""
    found: dict[tuple[str, str], Case] = {}
    for item in json.loads(path.read_text(encoding="utf-8-sig")):
        flags = f"{item.get('NotSupported', '')},{item.get('NotSupportedByDesign', '')}"
        if "dotnet" in flags:
            continue
        said = (item.get("Context") or {}).get("ReferenceDateTime", "2016-11-07T00:00:00")
        at = datetime.fromisoformat(said[:19])
        expected = tuple(expectation(result) for result in item.get("Results") or [])
        found.setdefault((item["Input"], said), Case(file=name, text=item["Input"], at=at, expected=expected))
    return list(found.values())


def expectation(result: dict[str, Any]) -> tuple[tuple[int, int], frozenset[Value], frozenset[Value]]:
    """Return where an expression stands and its accepted values, read in the past and in the future."""
    start = result["Start"]
    end = start + result["Length"] if "Length" in result else result["End"] + 1
    told = result.get("Value") or result.get("Resolution") or {}
    if "Timex" in told:
        kind = result["Type"].split(".")[-1]
        past = frozenset([gold(kind, told["Timex"], told.get("PastResolution") or {}, told.get("Mod", ""))])
        future = frozenset([gold(kind, told["Timex"], told.get("FutureResolution") or {}, told.get("Mod", ""))])
        return (start, end), past, future
    values = [
        (value, gold(value["type"], value.get("timex", ""), value, value.get("Mod", "")))
        for value in told.get("values", [])
    ]
    days = sorted({day_of(value) for _, value in values})
    past = frozenset(value for _, value in values if not days or day_of(value) == days[0])
    future = frozenset(value for _, value in values if not days or day_of(value) == days[-1])
    return (start, end), past, future


def day_of(value: Value) -> str:
    """Return the first day in a value; empty for a time of day, a length or a repetition."""
    return next((match[0] for part in value for match in [re.match(r"\d{4}-\d\d-\d\d", part)] if match), "")


def gold(kind: str, timex: str, told: dict[str, str], mod: str) -> Value:
    """Return a value of the set in the form in which values are compared."""
    if kind == "set":
        return ("set", timex)
    if kind == "duration":
        return ("duration", f"{float(told.get('duration') or told.get('value') or 0):g}")
    first = next((told[key] for key in ("start", "startDate", "startTime", "startDateTime") if key in told), None)
    last = next((told[key] for key in ("end", "endDate", "endTime", "endDateTime") if key in told), None)
    point = next((told[key] for key in ("value", "date", "time", "dateTime") if key in told), None)
    if (point == "not resolved" or point is None) and first is None and last is None:
        return (kind, timex)
    if first is not None or last is not None:
        return ("range", plain(first or ""), plain(last or ""))
    return ("point", plain(point or ""))


def plain(moment: str) -> str:
    """Return a moment without a midnight that adds nothing."""
    return moment.replace("T", " ").removesuffix(" 00:00:00").removesuffix(" 0:00:00")


# --- the systems


Find = Callable[[str, datetime, bool], list[tuple[tuple[int, int], str, Value]]]


def systems() -> dict[str, Find]:
    """Return our reader, and those of other packages that are installed."""
    found: dict[str, Find] = {"doxa": ours()}
    for name, make in (("dateparser", dateparser), ("parsedatetime", parsedatetime), ("recognizers-text", recognizers)):
        try:
            found[name] = make()
        except ImportError:
            print(f"{name} is not installed; left out", file=sys.stderr)
    return found


def ours() -> Find:
    """Return the reader of this package."""
    from doxa.language.times import read_times

    def find(text: str, at: datetime, past: bool) -> list[tuple[tuple[int, int], str, Value]]:
        return [((e.start, e.end), e.kind, value_of(e)) for e in read_times(text, at, past=past)]

    return find


def value_of(expression: Any) -> Value:
    """Return what our reader found in the form in which values are compared."""
    value, kind = expression.value, expression.kind
    bound = getattr(value, "bound", "")
    match kind:
        case "duration":
            return ("duration", f"{value.seconds:g}")
        case "set":
            return ("set", value.timex)
        case "time":
            clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
            return opened(bound, clock, clock) or ("point", clock)
        case "timerange":
            first, last = of_day(value.start), of_day(value.end)
            return opened(bound, first, last) or ("range", first, last)
    if getattr(value, "grain", "") == "season":
        return ("daterange", value.timex)
    midnight = kind == "datetimerange" and value.end.time() == datetime.min.time()
    first, last = shown(value.start), shown(value.end - timedelta(seconds=midnight))
    if kind in ("date", "datetime"):
        return opened(bound, first, first) or ("point", first)
    staged = value.timex if bound in ("before", "until", "after", "since") else ""
    return opened(bound, first, last, staged == "end") or ("range", first, last)


def opened(bound: str, first: str, last: str, ended: bool = False) -> Value | None:
    """Return the range that a bound leaves open on one side; None without one."""
    return {
        "before": ("range", "", last if ended else first), "until": ("range", "", last),
        "after": ("range", last, ""), "since": ("range", first, ""),
    }.get(bound)  # fmt: skip


def of_day(seconds: int) -> str:
    """Return a time of day; the end of the day is its last second, as in the set."""
    seconds = 86399 if seconds == 86400 else seconds % 86400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def shown(moment: datetime) -> str:
    """Return a moment as the set writes it."""
    return plain(moment.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0"))


def dateparser() -> Find:
    """Return the search of `dateparser`, which finds points only."""
    from dateparser.search import search_dates

    def find(text: str, at: datetime, past: bool) -> list[tuple[tuple[int, int], str, Value]]:
        settings = {"RELATIVE_BASE": at, "PREFER_DATES_FROM": "past" if past else "future"}
        place, found = 0, []
        for words, moment in search_dates(text, languages=["en"], settings=settings) or []:
            start = text.find(words, place)
            place = start + len(words)
            found.append(((start, place), "point", ("moment", moment.strftime("%Y-%m-%d %H:%M:%S"))))
        return found

    return find


def parsedatetime() -> Find:
    """Return the search of `parsedatetime`, which finds points only and knows no tense."""
    import parsedatetime as package

    calendar = package.Calendar()

    def find(text: str, at: datetime, past: bool) -> list[tuple[tuple[int, int], str, Value]]:
        return [
            ((start, end), "point", ("moment", moment.strftime("%Y-%m-%d %H:%M:%S")))
            for moment, _, start, end, _ in calendar.nlp(text, at) or ()
        ]

    return find


def recognizers() -> Find:
    """Return the Python port of the recognizer whose cases these are."""
    from recognizers_date_time import recognize_datetime

    def find(text: str, at: datetime, past: bool) -> list[tuple[tuple[int, int], str, Value]]:
        found = []
        for result in recognize_datetime(text, "en-us", reference=at):
            item = {"Start": result.start, "End": result.end, "Resolution": result.resolution}
            span, before, after = expectation(item)
            accepted = sorted(before if past else after)
            found.extend((span, result.type_name.split(".")[-1], value) for value in accepted[:1])
        return found

    return find


# --- speed


def speed(path: Path) -> dict[str, float]:
    """Return the microseconds that `find_times` takes for a turn, in the second of two rounds."""
    from doxa.language.times import find_times

    sessions = [part for item in json.loads(path.read_text()) for part in item["conversation"].values()]
    turns = [turn["text"] for session in sessions if isinstance(session, list) for turn in session]
    seconds: list[float] = []
    for round_ in range(2):
        for text in turns:
            began = time.perf_counter()
            find_times(text, datetime(2023, 6, 1, 12, tzinfo=UTC), past=True)
            if round_:
                seconds.append(time.perf_counter() - began)
    micros = sorted(second * 1e6 for second in seconds)
    return {
        "turns": len(turns),
        "mean_us": round(statistics.mean(micros)),
        "p50_us": round(micros[len(micros) // 2]),
        "p95_us": round(micros[int(len(micros) * 0.95)]),
        "max_us": round(micros[-1]),
    }


# --- the score


def score(find: Find, cases: list[Case], misses: Path | None) -> dict[str, dict[str, float]]:
    """Return by file, and for all inputs once, how many cases agree."""
    rows: dict[str, list[tuple[Case, bool, bool]]] = {}
    seconds, missed, once = [], [], set()
    for case in cases:
        past = in_the_past(case.text)
        began = time.perf_counter()
        try:
            found = find(case.text, case.at, past)
        except Exception:  # noqa: BLE001 - a package that fails on a case has missed it
            found = [((0, 0), "failed", ("failed",))]
        seconds.append(time.perf_counter() - began)
        spans, values = agreement(case, found, past)
        for row in (case.file, *(["all, each input once"] if (case.text, case.at) not in once else [])):
            rows.setdefault(row, []).append((case, spans, values))
        once.add((case.text, case.at))
        if misses and not values and not case.held_out:
            shown_gold = [
                (case.text[slice(*span)], sorted(before if past else after)) for span, before, after in case.expected
            ]
            missed.append(
                f"{case.file} @{case.at} {'past' if past else 'future'}: {case.text}\n   gold {shown_gold}\n   ours "
                f"{[(case.text[slice(*span)], kind, value) for span, kind, value in found]}"
            )
    if misses:
        misses.write_text("\n".join(missed), encoding="utf-8")
    table = {row: summary(told) for row, told in rows.items()}
    table["microseconds a case"] = {
        "median": round(statistics.median(seconds) * 1e6),
        "mean": round(statistics.mean(seconds) * 1e6),
    }
    return table


def summary(told: list[tuple[Case, bool, bool]]) -> dict[str, float]:
    """Return counts and shares of one row."""
    halves = {"looked at": [t for t in told if not t[0].held_out], "held out": [t for t in told if t[0].held_out]}
    numbers: dict[str, float] = {"n": len(told), "span": share(told, 1), "span and value": share(told, 2)}
    return numbers | {half: share(part, 2) for half, part in halves.items()}


def share(told: list[tuple[Case, bool, bool]], place: int) -> float:
    """Return the share of rows that are true at a place."""
    return round(sum(bool(row[place]) for row in told) / len(told), 3) if told else 0.0


def agreement(case: Case, found: list[tuple[tuple[int, int], str, Value]], past: bool) -> tuple[bool, bool]:
    """Tell whether the spans, and the spans with their values, are those expected."""
    wanted = {trimmed(case.text, span): before if past else after for span, before, after in case.expected}
    got = {trimmed(case.text, span): value for span, _, value in found}
    if case.file in WHOLE:
        spans = set(wanted) == set(got)
    else:
        spans = set(wanted) <= set(got)
        if not wanted:
            spans = not any(kind == KIND[case.file] for _, kind, _ in found)
    return spans, spans and all(agrees(got[span], accepted) for span, accepted in wanted.items())


def agrees(value: Value, accepted: frozenset[Value]) -> bool:
    """Tell whether a value is accepted; the moment of a package that knows nothing else, by its day or its time."""
    if value[0] != "moment":
        return value in accepted
    return any(one[0] == "point" and one[1] in (value[1], value[1][:10], value[1][11:]) for one in accepted)


def trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span without leading prepositions and articles and outer punctuation."""
    start, end = span
    lead = LEAD.match(text[start:end])
    if lead and lead.end() < end - start:
        start += lead.end()
    while end > start and text[end - 1] in " ,.;:'\")-":
        end -= 1
    return start, end


def in_the_past(text: str) -> bool:
    """Tell whether the first verb of a text that has a form of the past is one, and nothing else."""
    from doxa.language.verbs import base_of
    from doxa.understand.text import sentences, words

    verbs = [word for sentence in sentences(text) for word in words(sentence.text) if base_of(word, "past")]
    return bool(verbs) and base_of(verbs[0], "base") is None


if __name__ == "__main__":
    main()
