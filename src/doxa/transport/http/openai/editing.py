"""A JSON object as bytes -> the same bytes with words added to some of its texts.

Everything else keeps its bytes: blanks, the order and the repetition of keys, the digits of numbers, escapes. `members`
and `elements` find places in text that `json` has read before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any

from doxa.core.errors import InputError

__all__ = ["Body", "Part", "elements", "insertion", "members", "require_plain"]

DECODER = JSONDecoder()
BLANKS = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Part:
    """A value and where it stands in its text."""

    value: Any
    start: int
    end: int


class Body:
    """A JSON object.

    Raises:
        ValueError: it is no JSON object in UTF-8.
    """

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.text = raw.decode()
        try:
            data = json.loads(self.text)
        except RecursionError as exc:
            raise ValueError("it is nested too deeply") from exc
        if not isinstance(data, dict):
            raise ValueError("it is no object")
        self.data: dict[str, Any] = data
        told = list(_entries(self.text, _past_blanks(self.text, 0)))
        self.parts = dict(told)
        self.names = [name for name, _ in told]
        """The names of its fields as they are written, a repeated one as often as it is."""

    def names_in(self, field: str) -> list[str]:
        """Return the names in an object that a field holds, as `names`."""
        return [name for name, _ in _entries(self.text, self.parts[field].start)]

    def with_added(self, added: Sequence[tuple[int, str]]) -> bytes:
        """Return the bytes with texts added at places (see `insertion`)."""
        pieces, last = [], 0
        for place, text in sorted(added, key=lambda one: one[0]):
            pieces += [self.text[last:place], text]
            last = place
        return "".join([*pieces, self.text[last:]]).encode() if added else self.raw


def require_plain(body: Body) -> None:
    """Refuse what is read and cannot be written again: halves of characters, numbers that are none.

    Raises:
        InputError: there is such a thing in it.
    """
    try:
        json.dumps(body.data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as exc:
        raise InputError(f"The body is no plain JSON: {exc}.") from exc


def members(text: str, start: int) -> dict[str, Part]:
    """Return the values of the object that begins at `start`; of a repeated key the last, as everybody reads it."""
    return dict(_entries(text, start))


def elements(text: str, start: int) -> Iterator[Part]:
    """Give the elements of the array that begins at `start`, in order."""
    at = _past_blanks(text, start + 1)
    while text[at] != "]":
        part = _part(text, at)
        yield part
        at = _past_blanks(text, part.end)
        if text[at] == ",":
            at = _past_blanks(text, at + 1)


def insertion(content: Part, words: str, *, kind: str) -> tuple[int, str]:
    """Return where and what to insert so that a content, a text or a list of parts, ends with words.

    Args:
        content: the content.
        words: what is added.
        kind: the type of a part that is a text: `text`, `input_text`.
    """
    if isinstance(content.value, str):
        return content.end - 1, json.dumps(words)[1:-1]
    part = json.dumps({"type": kind, "text": words})
    return content.end - 1, f",{part}" if content.value else part


def _entries(text: str, start: int) -> Iterator[tuple[str, Part]]:
    """Give the names and values of the object that begins at `start`, in order."""
    at = _past_blanks(text, start + 1)
    while text[at] != "}":
        name, at = DECODER.raw_decode(text, at)
        colon = _past_blanks(text, at)
        part = _part(text, _past_blanks(text, colon + 1))
        yield name, part
        at = _past_blanks(text, part.end)
        if text[at] == ",":
            at = _past_blanks(text, at + 1)


def _part(text: str, start: int) -> Part:
    value, end = DECODER.raw_decode(text, start)
    return Part(value, start, end)


def _past_blanks(text: str, at: int) -> int:
    found = BLANKS.match(text, at)
    return found.end() if found else at
