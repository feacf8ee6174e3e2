"""A JSON object as bytes -> the same bytes with words added to some of its texts.

Everything else keeps its bytes: blanks, the order and the repetition of keys, the digits of numbers, escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any

__all__ = ["Body", "Part", "elements", "insertion", "members"]

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
        start = _past_blanks(self.text, 0)
        if self.text[start : start + 1] != "{":
            raise ValueError("expected a JSON object")
        try:
            self.parts = members(self.text, start)
        except RecursionError as exc:
            raise ValueError("the object is nested too deeply") from exc
        self.data: dict[str, Any] = {name: part.value for name, part in self.parts.items()}

    def with_added(self, added: Sequence[tuple[int, str]]) -> bytes:
        """Return the bytes with texts added at places (see `insertion`)."""
        pieces, last = [], 0
        for place, text in sorted(added, key=lambda one: one[0]):
            pieces += [self.text[last:place], text]
            last = place
        return "".join([*pieces, self.text[last:]]).encode() if added else self.raw


def members(text: str, start: int) -> dict[str, Part]:
    """Return the values of the object that begins at `start`; of a repeated key the last, as everybody reads it."""
    found: dict[str, Part] = {}
    at = _past_blanks(text, start + 1)
    while text[at : at + 1] == '"':
        name, at = DECODER.raw_decode(text, at)
        at = _past_blanks(text, at)
        if text[at : at + 1] != ":":
            raise ValueError("expected a colon")
        part = found[name] = _part(text, _past_blanks(text, at + 1))
        at = _past_blanks(text, part.end)
        if text[at : at + 1] == ",":
            at = _past_blanks(text, at + 1)
    if text[at : at + 1] != "}":
        raise ValueError("expected the end of an object")
    return found


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


def _part(text: str, start: int) -> Part:
    value, end = DECODER.raw_decode(text, start)
    return Part(value, start, end)


def _past_blanks(text: str, at: int) -> int:
    found = BLANKS.match(text, at)
    return found.end() if found else at
