"""Marked dialogues: a text file -> turns with their claims, each in the words that say it.

    python training/corpus/marked.py FILE ...     # checks files, and counts what they hold
    python training/corpus/marked.py --agree ONE OTHER     # two annotators of the same dialogues

How they are marked: `MARKING.md`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from corpus import CLAIM_FLAGS, CLAIM_VALUES, CorpusError, Span, View, agree, flags_of, read_file, span_of, starts_of

NAME = re.compile(r"[a-z][a-z_-]*$")
BEFORE = 2
"""Turns before in which words may stand."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A claim in words of the turns."""

    subject: Span | None
    """Without one it is the speaker."""
    words: tuple[Span, ...]
    """The verb or noun that names the relation, with its particle and preposition."""
    relation: str
    """By name; empty where its words name it."""
    object: Span | None
    flags: frozenset[str]
    values: tuple[tuple[str, Span], ...] = ()


@dataclass(slots=True)
class Turn:
    """What one speaker says at once."""

    speaker: str
    text: str
    day: date
    claims: list[Mark] = field(default_factory=list)
    references: list[tuple[Span, Span]] = field(default_factory=list)
    """Words, and those that they mean."""


@dataclass(slots=True)
class Dialogue:
    """Turns in order."""

    id: str
    domain: str
    register: str
    turns: list[Turn] = field(default_factory=list)


def read_marked(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file.

    Raises:
        CorpusError: a line is no mark; all such lines are told, one a line.
    """
    return read_file(path, Dialogue, Turn, lambda dialogue, line: _annotate(dialogue.turns, line))


def _annotate(turns: Sequence[Turn], line: str) -> None:
    near, kind, rest = turns[-1 - BEFORE :], line[:2], line[2:].strip()
    if kind == "r ":
        words, equals, meant = rest.partition(" = ")
        if not equals:
            raise CorpusError("expected 'r words = words'")
        turns[-1].references.append((_own(words, near, len(turns)), _anywhere(meant, near, len(turns))))
    elif kind == "c ":
        turns[-1].claims.append(_mark(rest, near, len(turns)))
    else:
        raise CorpusError("expected c or r")


def _mark(text: str, near: Sequence[Turn], count: int) -> Mark:
    parts = [part.strip() for part in text.split("|")]
    if len(parts) not in (3, 4) or not all(parts[:3]):
        raise CorpusError("expected 'c subject | relation | object', and perhaps '| flags'")
    words, equals, name = parts[1].rpartition("=") if "=" in parts[1] else (parts[1], "", "")
    if equals and not NAME.match(name):
        raise CorpusError(f"{name!r} is no name of a relation")
    flags, values = flags_of(parts[3], CLAIM_FLAGS, CLAIM_VALUES) if len(parts) == 4 else (frozenset(), [])
    goal = None if parts[2] == "-" else _own(parts[2], near, count)
    own = goal is not None and goal.turn == count - 1
    said = tuple(_apart(words, near, count, goal.start if goal is not None and own else None))
    ahead = [one.start for one in (*said, *((goal,) if goal and own else ())) if one.turn == count - 1]
    return Mark(
        None if parts[0] == "-" else _own(parts[0], near, count, before=min(ahead, default=None)),
        said,
        name,
        goal,
        flags,
        tuple((key, _anywhere(value, near, count)) for key, value in values),
    )


def _own(words: str, near: Sequence[Turn], count: int, before: int | None = None) -> Span:
    """Return where words stand, each in the turn of its number; of several places the last one before a character."""
    found = span_of(words, near)
    if found.turn is None and before is not None and "#" not in words:
        start = max(starts_of(found.words, near[-1].text, 0, before), default=found.start)
        found = Span(found.words, start, start + len(found.words))
    turn = len(near) - 1 if found.turn is None else found.turn
    return Span(found.words, found.start, found.end, turn + count - len(near))


def _anywhere(words: str, near: Sequence[Turn], count: int) -> Span:
    try:
        return _own(words, near, count)
    except CorpusError:
        return _own(f"^{words.removeprefix('^')}", near, count)


def _apart(words: str, near: Sequence[Turn], count: int, before: int | None) -> Iterator[Span]:
    """Yield the words of a relation, which may stand apart but in their order: before the object, if they do."""
    places = range(len(near) - 2, -1, -1) if words.startswith("^") else [len(near) - 1]
    bare = words.removeprefix("^").split()
    for place in places:
        text = near[place].text
        found = _before(bare, text, before) if before is not None and not words.startswith("^") else []
        found = found or _after(bare, text)
        if found or not bare:
            yield from (Span(text[start:end], start, end, place + count - len(near)) for start, end in found)
            return
    raise CorpusError(f"{words!r} do not stand in this order")


def _before(bare: Sequence[str], text: str, end: int) -> list[tuple[int, int]]:
    """Return the places of words, each the last one before the next; none where they do not all stand there."""
    found: list[tuple[int, int]] = []
    for one in reversed(bare):
        places = [] if "#" in one else list(starts_of(one, text, 0, end))
        if not places:
            return []
        end = places[-1]
        found.insert(0, (end, end + len(one)))
    return found


def _after(bare: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Return the places of words, each the first one behind the one before; `word#2` is the second of all."""
    found: list[tuple[int, int]] = []
    for one in bare:
        word, _, number = one.partition("#")
        at = 0 if number or not found else found[-1][1]
        places = list(starts_of(word, text, at))[int(number or 1) - 1 :]
        if not places:
            return []
        found.append((places[0], places[0] + len(word)))
    return found


def _place(span: Span | None) -> tuple[int | None, int]:
    return (span.turn, span.start) if span else (None, -1)


def _kept(turn: Turn) -> Iterator[Mark]:
    return (claim for claim in turn.claims if "minor" not in claim.flags)


VIEWS: Mapping[str, View] = {
    "objects": lambda turn: {_place(one.object or next(iter(one.words), None)) for one in _kept(turn)},
    "with subject": lambda turn: {(*_place(one.subject), *_place(one.object)) for one in _kept(turn)},
    "with relation": lambda turn: {
        (
            *_place(one.subject),
            *_place(one.object),
            one.relation or " ".join(word.words for word in one.words),
            "not" in one.flags,
        )
        for one in _kept(turn)
    },
    "references": lambda turn: ((_place(source), _place(goal)) for source, goal in turn.references),
}


def main() -> None:
    """Check and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--agree", action="store_true")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    read: list[list[Dialogue]] = []
    for path in given.files:
        try:
            read.append(read_marked(path))
        except CorpusError as exc:
            print(exc, file=sys.stderr)
            counts["files with mistakes"] += 1
            continue
        counts["dialogues"] += len(read[-1])
        for dialogue in read[-1]:
            for turn in dialogue.turns:
                counts.update(turns=1, references=len(turn.references), claims=len(turn.claims))
                counts["without a claim"] += not turn.claims
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if given.agree and len(read) == 2:
        agree(*read, VIEWS)
    sys.exit(bool(counts["files with mistakes"]))


if __name__ == "__main__":
    main()
