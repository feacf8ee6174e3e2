"""The values of a JSON or JSONL file one after the other, so that a broken one costs only itself."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from doxa.backends.transcripts.encoding import numbered, whole

__all__ = ["Broken", "Value", "is_json", "values"]

_BETWEEN: Final = re.compile(r"[\s,]*")
_NEXT_OBJECT: Final = re.compile(r"\n[ \t]*(?=\{)")
_DECODER: Final = json.JSONDecoder()
_MOST_BREAKS: Final = 100  # each may look through the rest of the file
_SAMPLE_LINES: Final = 50


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands for a value that could not be read; `reason` says why."""

    reason: str
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """One value, the line where it starts, and its place in the file: the line in JSONL, else the index from 1."""

    value: Any
    line: int
    place: int


def is_json(content: bytes) -> bool:
    """Tells whether the file holds JSON values rather than lines of text; a few broken lines do not matter.

    A list starts with `[{`, which no date in brackets does. Of JSONL the first lines decide by majority.
    """
    if re.match(rb"\s*\[\s*[\[{\]\"]", content) or re.match(rb"\s*\{\s*[\"}\r\n]", content):
        return True
    sample = [text for _, text in islice(numbered(content), _SAMPLE_LINES)]
    return 2 * sum(text.startswith('{"') for text in sample) >= len(sample) > 0


def values(content: bytes) -> Iterator[Value]:
    """Yields what the file holds: the items of a list, the lines of JSONL, or the one value that there is.

    Cost: O(n); one value in memory at a time, beside the text of a file that is not JSONL.
    """
    return _from_lines(content) if _is_by_line(content) else _from_document(whole(content))


def _is_by_line(content: bytes) -> bool:
    sample = [text for _, text in islice(numbered(content), _SAMPLE_LINES)]
    if len(sample) < 2 or sample[0].startswith("["):
        return False
    if isinstance(_load(sample[0]), dict):
        return True
    # One object over many lines may be laid out so that a line of it is an object too; the whole decides.
    if sample[0].startswith("{") and not isinstance(_decode(whole(content).lstrip(), 0)[0], Broken):
        return False
    return any(text.startswith("{") and isinstance(_load(text), dict) for text in sample[1:])


def _from_lines(content: bytes) -> Iterator[Value]:
    for number, text in numbered(content):
        yield Value(_load(text), number, number)


def _from_document(text: str) -> Iterator[Value]:
    start = _BETWEEN.match(text, 0).end()  # type: ignore[union-attr]  # it matches the empty string too
    is_list = text.startswith("[", start)
    at, line, counted, place, breaks = start + is_list, 1, 0, 0, 0
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, at), at
        if at >= len(text) or (is_list and text[at] == "]"):
            break
        place += 1
        value, end = _decode(text, at)
        if isinstance(value, Broken):
            breaks += 1
            following = _NEXT_OBJECT.search(text, at)
            end = following.end() if following else len(text)
        yield Value(value, line, place)
        if breaks == _MOST_BREAKS:
            yield Value(Broken(f"{breaks} parts are broken, and the rest was not looked at", is_end=True), line, 0)
            return
        at = end
    yield from _after_end(text, at, line, is_list)


def _after_end(text: str, at: int, line: int, is_list: bool) -> Iterator[Value]:
    """Yields what is wrong with how the list ends, where something is."""
    if is_list and at >= len(text):
        yield Value(Broken("the list has no closing bracket; the file may be cut off", is_end=True), line, 0)
    elif text[at + 1 :].strip():
        yield Value(Broken("there is more text after the end of the list", is_end=True), line, 0)


def _load(text: str) -> Any:
    value, end = _decode(text, 0)
    if isinstance(value, Broken) or not text[end:].strip():
        return value
    return Broken(f"more text after the value, at column {end + 1}")


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as exc:
        line = f"line {exc.lineno}, " if exc.lineno > 1 else ""
        return Broken(f"{exc.msg.removesuffix(' at')} at {line}column {exc.colno}"), at
    except ValueError:  # Python refuses integers of thousands of digits
        return Broken("a number is too long"), at
    except RecursionError:
        return Broken("it is nested too deeply"), at
