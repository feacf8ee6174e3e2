"""Annotated dialogues: a text file -> turns with their frames, references and claims, each in its place in the turn.

    python training/corpus/corpus.py FILE ...     # checks files, and counts what they hold
    python training/corpus/corpus.py --agree ONE OTHER     # two annotators of the same dialogues

How they are annotated: `GUIDELINES.md`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Protocol, TypeVar

ROLES = frozenset(
    "agent theme value recipient content place source goal time span company means manner cause aim owner part".split()
)
MODES = frozenset("plan wish maybe if".split())
ACTS = frozenset("ask request advise offer agree deny correct withdraw greet joke".split())
FRAME_FLAGS = MODES | ACTS | frozenset("not past future over".split())
CLAIM_FLAGS = frozenset("not plan wish maybe over withdraw minor".split())
FRAME_VALUES = frozenset(("asks", "by", "cond"))
CLAIM_VALUES = frozenset(("from", "to", "on", "by", "instead"))
HEAD = re.compile(
    r"# (?P<id>[\w.-]+) \| domain: (?P<domain>[^|]+) \| register: (?P<register>[^|]+) \| day: (?P<day>\S+)$"
)
NUMBERED = re.compile(r"\S#\d+$")
DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?$")


class CorpusError(ValueError):
    """A line is no annotation; says which, and what was expected."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a turn: of this one, of an earlier one (`turn` is its number), or of none (`start` is -1)."""

    words: str
    start: int = -1
    end: int = -1
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What is said in one predicate."""

    predicate: Span
    implied: str
    """The lemma of a predicate that is not said."""
    roles: tuple[tuple[str, Span], ...]
    flags: frozenset[str]
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What a memory stores of a turn."""

    subject: str
    relation: str
    object: str
    flags: frozenset[str]
    values: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Turn:
    """What one speaker says at once, and what it says."""

    speaker: str
    text: str
    day: date
    frames: list[Frame] = field(default_factory=list)
    references: list[tuple[Span, str]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


@dataclass(slots=True)
class Dialogue:
    """Turns in order."""

    id: str
    domain: str
    register: str
    turns: list[Turn] = field(default_factory=list)


class WithTurns(Protocol):
    """A dialogue of any kind."""

    turns: list[Any]


Kept = TypeVar("Kept", bound=WithTurns)
View = Callable[[Any], Iterable[tuple[object, ...]]]
"""What of a turn two annotators are compared by."""


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file.

    Raises:
        CorpusError: a line is no annotation; all such lines are told, one a line.
    """
    return read_file(path, Dialogue, Turn, lambda dialogue, line: _annotate(dialogue.turns, line))


def read_file(
    path: Path,
    dialogue: Callable[[str, str, str], Kept],
    turn: Callable[[str, str, date], Any],
    annotate: Callable[[Kept, str], None],
) -> list[Kept]:
    """Return what the dialogues of a file are made into, with the turns in their `turns`.

    Args:
        path: the file.
        dialogue: makes one of its id, domain and register.
        turn: makes one of its speaker, text and day.
        annotate: takes a line that begins with two blanks, for the last turn of a dialogue.

    Raises:
        CorpusError: a line is no annotation; all such lines are told, one a line.
    """
    found: list[Kept] = []
    day = date.min
    wrong: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            if not line.strip():
                continue
            if line.startswith("# "):
                if (head := HEAD.match(line)) is None:
                    raise CorpusError("expected '# id | domain: ... | register: ... | day: YYYY-MM-DD'")
                day = date.fromisoformat(head["day"])
                found.append(dialogue(head["id"], head["domain"].strip(), head["register"].strip()))
            elif line.startswith("@ "):
                day = date.fromisoformat(line[2:].strip())
            elif line.startswith("  "):
                annotate(found[-1], line.strip())
            else:
                speaker, colon, text = line.partition(": ")
                if not colon or not text.strip():
                    raise CorpusError("expected 'Speaker: text', or two blanks before an annotation")
                found[-1].turns.append(turn(speaker.strip(), text.strip(), day))
        except (CorpusError, ValueError, IndexError) as exc:
            wrong.append(f"{path.name}:{number}: {exc}: {line.strip()}")
    if wrong:
        raise CorpusError("\n".join(wrong))
    return found


def _annotate(turns: Sequence[Turn], line: str) -> None:
    turn, kind, rest = turns[-1], line[:2], line[2:].strip()
    if kind == "f ":
        turn.frames.append(_frame(rest, turns))
    elif kind == "r ":
        words, equals, meant = rest.partition(" = ")
        if not equals:
            raise CorpusError("expected 'r words = what they mean'")
        turn.references.append((span_of(words, turns), meant.strip()))
    elif kind == "c ":
        turn.claims.append(_claim(rest))
    else:
        raise CorpusError("expected f, r or c")


def _frame(text: str, turns: Sequence[Turn]) -> Frame:
    parts = [part.strip() for part in text.split(" | ")]
    said, tilde, implied = parts[0].partition("~")
    roles: list[tuple[str, Span]] = []
    flags: frozenset[str] = frozenset()
    values: list[tuple[str, str]] = []
    for place, part in enumerate(parts[1:], 1):
        name, equals, words = part.partition("=")
        if equals and name in ROLES:
            roles.append((name, span_of(words, turns)))
        elif place == len(parts) - 1:
            flags, values = flags_of(part, FRAME_FLAGS, FRAME_VALUES)
        else:
            raise CorpusError(f"{name!r} is no role")
    predicate = span_of(said.strip(), turns) if said.strip() else Span("")
    if not tilde and not said.strip():
        raise CorpusError("expected a predicate")
    return Frame(predicate, implied.strip(), tuple(roles), flags, tuple(values))


def _claim(text: str) -> Claim:
    parts = [part.strip() for part in text.split(" | ")]
    if len(parts) not in (3, 4) or not all(parts[:3]):
        raise CorpusError("expected 'c subject | relation | object', and perhaps '| flags'")
    flags, values = flags_of(parts[3], CLAIM_FLAGS, CLAIM_VALUES) if len(parts) == 4 else (frozenset(), [])
    for key, value in values:
        if key in ("from", "to", "on") and not DAY.match(value):
            raise CorpusError(f"{key}={value} is no day, month or year")
    return Claim(*parts[:3], flags, tuple(values))


def flags_of(text: str, flags: frozenset[str], keys: frozenset[str]) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """Return what stands behind the last bar: the flags, and the values by their keys."""
    found: set[str] = set()
    values: list[tuple[str, str]] = []
    for word in text.split():
        key, equals, value = word.partition("=")
        if equals and key in keys:
            values.append((key, value))
        elif word in flags:
            found.add(word)
        elif values:  # the value goes on: by=the doctor
            values[-1] = (values[-1][0], f"{values[-1][1]} {word}")
        else:
            raise CorpusError(f"{word!r} is no flag")
    return frozenset(found), values


def span_of(words: str, turns: Sequence[Turn]) -> Span:
    """Return where words stand in the last turn, or, after ^, in the latest earlier one that holds them."""
    words = words.strip()
    if words.startswith("~"):
        return Span(words[1:])
    earlier = words.startswith("^")
    bare, _, count = (
        words.removeprefix("^").rpartition("#") if NUMBERED.search(words) else (words.removeprefix("^"), "", "")
    )
    places = range(len(turns) - 2, -1, -1) if earlier else [len(turns) - 1]
    for place in places:
        starts = list(starts_of(bare, turns[place].text))
        wanted = int(count or 1)
        if bare and len(starts) >= wanted:
            start = starts[wanted - 1]
            return Span(bare, start, start + len(bare), place if earlier else None)
    raise CorpusError(f"{bare!r} does not stand in {'an earlier' if earlier else 'this'} turn")


def starts_of(words: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where words begin between two characters of a text, as whole words."""
    at = text.find(words, start, end) if words else -1
    while at >= 0:
        before, behind = text[:at][-1:], text[at + len(words) :][:1]
        if not (_in_word(before) and _in_word(words[0])) and not (_in_word(behind) and words[-1].isalnum()):
            yield at
        at = text.find(words, at + 1, end)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _shared(one: Counter[object], other: Counter[object]) -> float:
    """Return F1 of one annotator against another; 1 where both found nothing."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _frames_of(turn: Turn) -> Iterator[tuple[object, ...]]:
    for frame in turn.frames:
        yield (frame.predicate.start, frame.implied and "implied")


def _roles_of(turn: Turn) -> Iterator[tuple[object, ...]]:
    for frame in turn.frames:
        for role, span in frame.roles:
            yield (frame.predicate.start, role, span.words.casefold())


def _claims_of(turn: Turn) -> Iterator[tuple[object, ...]]:
    for claim in turn.claims:
        if "minor" not in claim.flags:
            yield (claim.subject.casefold(), claim.relation, claim.object.casefold(), "not" in claim.flags)


def agree(one: Sequence[WithTurns], other: Sequence[WithTurns], views: Mapping[str, View]) -> None:
    """Print how far two annotators agree on the same turns."""
    both = zip(one, other, strict=True)
    pairs = [pair for mine, theirs in both for pair in zip(mine.turns, theirs.turns, strict=True)]
    for name, view in views.items():
        found = [Counter((at, *item) for at, pair in enumerate(pairs) for item in view(pair[side])) for side in (0, 1)]
        print(f"{name:<12} F1 {_shared(*found):.3f}  ({found[0].total()} and {found[1].total()})")


VIEWS: Mapping[str, View] = {
    "frames": _frames_of,
    "roles": _roles_of,
    "references": lambda turn: ((span.start, meant.casefold()) for span, meant in turn.references),
    "claims": _claims_of,
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
            read.append(read_dialogues(path))
        except CorpusError as exc:
            print(exc, file=sys.stderr)
            counts["files with mistakes"] += 1
            continue
        for dialogue in read[-1]:
            counts["dialogues"] += 1
            for turn in dialogue.turns:
                counts.update(turns=1, frames=len(turn.frames))
                counts.update(references=len(turn.references), claims=len(turn.claims))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if given.agree and len(read) == 2:
        agree(*read, VIEWS)
    sys.exit(bool(counts["files with mistakes"]))


if __name__ == "__main__":
    main()
