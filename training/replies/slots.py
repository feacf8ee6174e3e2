"""Values for the slots of facts.txt: drawn, written in one of their notations, and changed for another one."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SPEC = tomllib.loads((Path(__file__).parent / "values.toml").read_text(encoding="utf-8"))
POOLS: dict[str, list[str]] = {name: row.split("|") for name, row in SPEC["pools"].items()}
WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
SLOT = re.compile(r"\{(?P<mark>[_*]?)(?P<name>[a-z]+)(?P<nth>\d?)\}")
CURRENCIES = (
    "{} euros",
    "{} euros",
    "{} dollars",
    "{} pounds",
    "{} crowns",
    "{} kroner",
    "€{}",
    "${}",
    "£{}",
    "{} francs",
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a slot: its pool, and what it is, apart from how it is written."""

    pool: str
    what: str | int | tuple[int, ...]
    form: str = ""
    """How prices of one fact are written."""


def draw(pool: str, rng: random.Random, form: str) -> Value:
    """A random value of a pool."""
    match pool:
        case "n":
            return Value(pool, rng.choice([2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 12]))
        case "num":
            return Value(pool, rng.choice([rng.randint(10, 99), rng.randint(2, 40) * 5, rng.randint(10, 95) * 10]))
        case "age":
            return Value(pool, rng.choice([rng.randint(3, 18), rng.randint(18, 90)]))
        case "year":
            return Value(pool, rng.randint(1950, 2025))
        case "pct":
            return Value(pool, rng.randint(40, 99))
        case "kg":
            return Value(pool, rng.randint(3, 110))
        case "cm":
            return Value(pool, rng.randint(140, 205))
        case "money":
            some = (rng.randint(2, 99), rng.randint(2, 90) * 10, rng.randint(10, 99) * 100, rng.randint(100, 3000))
            return Value(pool, rng.choice(some), form)
        case "date":
            return Value(pool, (rng.randint(1, 12), rng.randint(1, 28)))
        case "time":
            return Value(pool, (rng.randint(6, 21), rng.choice([0, 0, 0, 30, 15, 45])))
    return Value(pool, rng.choice(POOLS[pool]))


def other(value: Value, rng: random.Random) -> Value:
    """Another value of the same kind, often one that is close."""
    what = value.what
    while True:
        if isinstance(what, tuple) and value.pool == "date":
            month, day = what
            near = (month % 12 + 1, day), (month, (day + rng.randint(1, 26)) % 28 + 1), ((month + 1) % 12 + 1, day)
            new = Value(value.pool, rng.choice([*near, (rng.randint(1, 12), rng.randint(1, 28))]))
        elif isinstance(what, int):
            steps = [what + 1, what + 2, what + 10, what - 1, what * 2, what + rng.randint(3, 30), round(what * 1.25)]
            if what >= 100:
                steps = [what + 50, what + 100, what - 50, what + 200, round(what * 1.2, -1), what * 2, what + 1000]
            new = Value(value.pool, max(1 if value.pool == "n" else 2, int(rng.choice(steps))), value.form)
            if value.pool == "year":
                new = Value(value.pool, what + rng.choice([-10, -4, -3, -2, -1, 1, 2, 3, 5]))
        else:
            new = draw(value.pool, rng, value.form)
        if new.what != what and not _inside(new, value):
            return new


def _inside(one: Value, two: Value) -> bool:
    if not isinstance(one.what, str) or not isinstance(two.what, str):
        return False
    return one.what.lower() in two.what.lower() or two.what.lower() in one.what.lower()


def written(value: Value, rng: random.Random) -> str:
    """A value in one of its notations."""
    what = value.what
    if isinstance(what, tuple):
        return _date(what, rng) if value.pool == "date" else _time(what, rng)
    if isinstance(what, str):
        return what
    if value.pool == "n":
        return WORDS[what] if what < len(WORDS) and rng.random() < 0.65 else str(what)
    number = f"{what:,}" if what >= 1000 and value.pool != "year" and rng.random() < 0.7 else str(what)
    match value.pool:
        case "money":
            return value.form.format(number)
        case "pct":
            return number + rng.choice(["%", " percent", " per cent"])
        case "kg":
            return number + rng.choice([" kilos", " kg", " kilograms"])
        case "cm":
            return number + rng.choice([" cm", " centimetres"])
    return number


def _date(what: tuple[int, ...], rng: random.Random) -> str:
    month, day = POOLS["month"][what[0] - 1], what[1]
    nth = f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
    return rng.choice([f"{day} {month}", f"{day} {month}", f"{month} {day}", f"the {nth} of {month}", f"{month} {nth}"])


def _time(what: tuple[int, ...], rng: random.Random) -> str:
    hour, minute = what
    twelve, half = (hour - 1) % 12 + 1, "am" if hour < 12 else "pm"
    if minute:
        forms = [f"{hour}:{minute:02}", f"{twelve}:{minute:02} {half}", f"{twelve}.{minute:02} {half}"]
        word = WORDS[twelve]
        forms += {30: [f"half past {word}"], 15: [f"quarter past {word}"]}.get(minute, [])
        return rng.choice(forms)
    return rng.choice([f"{twelve} {half}", f"{twelve} {half}", f"{hour}:00", f"{WORDS[twelve]} o'clock"])
