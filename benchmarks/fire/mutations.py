"""Inputs made from inputs: bytes, and the texts and values of the JSON that they may be. Same seed, same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

__all__ = ["LONGEST", "Mutator"]

LONGEST = 8192
"""Bytes of an input; how cost grows with length is measured by `hostile.py`."""
TEXTS = (
    *("", " ", "\x00", "\ud800", "\udfff\ud800", "\ufeff", "\u202e", "\u0130", "\u212a", "ß", "\u0301", "٣", "²", "½"),
    *("🧑‍🚀", "\r\n", "\u2028", "\x85", "\x1f", "\x7f", "'", '"', "\\", "%s", "{0}", "../..", "/dev/null", "a" * 300),
    *("0", "-1", "1e999", "NaN", "null", "true", "99999999999999999999", "0x10", "1_000", "9" * 5000, "-0"),
    *("0000-00-00", "9999-12-31T23:59:59Z", "0001-01-01", "2024-02-30", "2024-01-01T00:00:00+99:99", "31 April"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "10000 years ago", "in 9999999 weeks", "24:60"),
    *("[" * 3000, "{" * 3000, "(" * 3000, '{"a":' * 1200, "<<( a:b a:b " * 600, "a." * 3000, "!" * 3000),
    *("Where do I live?", "I live in Oslo.", "Forget that.", "If it rains, we stay in.", "Add milk to my list."),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**400, 0.5, -0.0, 1e308, 1e-320),
    *([], {}, [[]], [None], {"": None}, [{}], float("nan"), float("inf")),
)
DEEP = 60
"""Levels of what is nested on purpose; now and then many more."""
DEEPEST = 3000


class Mutator:
    """Makes inputs out of others.

    Args:
        words: what the texts of an entrance are made of, put in here and there.
    """

    def __init__(self, words: Sequence[str] = ()) -> None:
        self._words = [*words, *TEXTS]

    def mutated(self, data: bytes, other: bytes, seed: int) -> bytes:
        """Return an input that is like `data`, perhaps with parts of `other`, of at most `LONGEST` bytes."""
        random = Random(seed)
        for _ in range(random.choice((1, 1, 1, 1, 1, 2, 2, 3, 5))):
            data = self._once(data, other, random)
        return data[:LONGEST]

    def _once(self, data: bytes, other: bytes, random: Random) -> bytes:
        if random.random() < 0.9 and (value := _read(data)) is not None:
            changed = self._changed(value, _read(other), random)
            made = _written(changed)
            if len(made) <= LONGEST:
                return made
        if random.random() < 0.6:
            text = self._text(data.decode("utf-8", "surrogateescape"), other.decode("utf-8", "replace"), random)
            return _encoded(text)[:LONGEST]
        return _bytes(data, other, random)

    def _changed(self, value: Any, other: Any, random: Random) -> Any:
        """Return a value of which one part, any of them, is another."""
        path = random.choice(_paths(value))
        return _with(value, path, lambda part: self._part(part, other, random))

    def _part(self, value: Any, other: Any, random: Random) -> Any:
        if isinstance(value, dict) and value and random.random() < 0.8:
            return self._changed_names(value, other, random)
        if isinstance(value, list) and value and random.random() < 0.8:
            return self._changed_items(value, other, random)
        return self._leaf(value, other, random)

    def _changed_names(self, value: dict[str, Any], other: Any, random: Random) -> dict[str, Any]:
        names, made = [*value], dict(value)
        name = random.choice(names)
        match random.randrange(3):
            case 0:
                del made[name]
            case 1:
                made[self._text(name, "", random) if random.random() < 0.5 else random.choice(names)] = made.pop(name)
            case _:
                made[name] = random.choice(_parts(other)) if other is not None else random.choice(VALUES)
        return made

    def _changed_items(self, value: list[Any], other: Any, random: Random) -> list[Any]:
        made, at = list(value), random.randrange(len(value))
        match random.randrange(4):
            case 0:
                del made[at]
            case 1:
                made.insert(at, made[random.randrange(len(made))])
            case 2:
                made.insert(at, random.choice(_parts(other)) if other is not None else random.choice(VALUES))
            case _:
                random.shuffle(made)
        return made

    def _leaf(self, value: Any, other: Any, random: Random) -> Any:
        kind = random.random()
        if isinstance(value, str) and kind < 0.7:
            said = [one for one in _parts(other) if isinstance(one, str)] if other is not None else []
            return self._text(value, random.choice(said) if said else "", random)
        if isinstance(value, int | float) and not isinstance(value, bool) and kind < 0.5:
            return random.choice(
                (value + 1, value - 1, -value, value * 2, 0, value // 2 if value == value else 1, repr(value)[:99])
            )
        if kind < 0.85:
            return random.choice(VALUES) if random.random() < 0.5 else random.choice(self._words)
        if kind < 0.9:
            return nested(value, random)
        return random.choice(_parts(other)) if other is not None else [value]

    def _text(self, text: str, other: str, random: Random) -> str:
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((0, 1, 1, 2, 4, 16, 64)))
        match random.randrange(9):
            case 0:
                return text[:start] + text[end:]
            case 1:
                return text[:end] + text[start:end] * random.choice((1, 2, 9, 60)) + text[end:]
            case 2:
                return text[:start] + chr(random.choice((random.randrange(128), random.randrange(0xD800)))) + text[end:]
            case 3:
                other_start = random.randint(0, len(other))
                return text[:start] + other[other_start : other_start + random.choice((2, 8, 40, 200))] + text[end:]
            case 4:
                return text[:start] + text[start:end].swapcase() + text[end:]
            case 5:
                lines = text.splitlines(keepends=True)
                random.shuffle(lines)
                return "".join(lines)
            case 6:
                return text[:start]
            case _:
                return text[:start] + random.choice(self._words) + text[end if random.random() < 0.5 else start :]


def _paths(value: Any, path: tuple[Any, ...] = (), deep: int = 0) -> list[tuple[Any, ...]]:
    """Return where every part of a value is, names and places from the top."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, part in inner if deep < DEEP for one in _paths(part, (*path, key), deep + 1))]


def _with(value: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = _with(made[path[0]], path[1:], change)
    return made


def nested(value: Any, random: Random) -> Any:
    """Return a value under many lists or names."""
    for _ in range(random.choice((3, DEEP, DEEP, 600))):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _written(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except (RecursionError, ValueError):
        return b" " * (LONGEST + 1)


def _parts(value: Any) -> list[Any]:
    """Return a value and everything in it, at any depth, at most some hundred parts."""
    found, waiting = [], [value]
    while waiting and len(found) < 300:
        one = waiting.pop()
        found.append(one)
        waiting += [*one.values()] if isinstance(one, dict) else one if isinstance(one, list) else []
    return found


def _encoded(text: str) -> bytes:
    for errors in ("surrogateescape", "surrogatepass"):
        try:
            return text.encode("utf-8", errors)
        except UnicodeEncodeError:
            continue
    return text.encode("utf-8", "replace")


def _bytes(data: bytes, other: bytes, random: Random) -> bytes:
    made = bytearray(data or b"\0")
    at = random.randrange(len(made))
    size = random.choice((1, 1, 2, 4, 8, 64))
    match random.randrange(7):
        case 0:
            made[at] ^= 1 << random.randrange(8)
        case 1:
            made[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, 10, 34, random.randrange(256)))
        case 2:
            del made[at : at + size]
        case 3:
            made[at:at] = made[at : at + size] * random.choice((1, 2, 30))
        case 4:
            made[at : at + size] = random.randbytes(size)
        case 5:
            start = random.randint(0, len(other))
            made[at:at] = other[start : start + size * 4]
        case _:
            made[at : at + size] = bytes([random.choice((0, 0xFF))]) * size
    return bytes(made)
