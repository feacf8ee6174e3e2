"""PropBank's layer of EWT, which has no words, joined with the treebank's documents.

Both sides know the parts of speech of the Penn treebank, so words are paired by these, sentence by sentence where the
sentences are as long, else by the best alignment of the document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from roles import PARTICLE, Frame, Span

OPEN = re.compile(r"\(([^()*]+)")
AUXILIARIES = ("be.03", "have.01", "do.01")
LIGHT = ".LV"
RENAMED = {"ARGA": "ARG0", "ARG1-DSP": "ARG1", "C-ARG1-DSP": "C-ARG1"}
Lost = Counter[str]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A sentence without words: parts of speech, and per predicate its place, sense and spans."""

    tags: tuple[str, ...]
    predicates: tuple[tuple[int, str], ...]
    spans: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class Annotated:
    """What PropBank says of a sentence of the treebank: the kind of each word (see `roles.KINDS`), and frames."""

    kinds: tuple[int, ...]
    frames: tuple[Frame, ...]


def skeletons(path: Path) -> list[Skeleton]:
    """The sentences of a `.gold_skel` file."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    rows = [[line.split() for line in block.split("\n") if line.strip()] for block in blocks]
    return [_skeleton(block) for block in rows if block]


def _skeleton(rows: Sequence[Sequence[str]]) -> Skeleton:
    predicates = [(at, row[7]) for at, row in enumerate(rows) if row[7] != "-"]
    columns = [[row[8 + column] for row in rows] for column in range(len(rows[0]) - 8)]
    # A column belongs to the predicate whose word it marks with V, not to the one of the same number.
    spans = [tuple(_spans(column)) for column in columns]
    places = [next((span.start for span in some if span.role == "V"), -1) for some in spans]
    kept = [(predicate, spans[places.index(predicate[0])]) for predicate in predicates if predicate[0] in places]
    return Skeleton(
        tags=tuple(row[4] for row in rows),
        predicates=tuple(predicate for predicate, _ in kept),
        spans=tuple(some for _, some in kept),
    )


def _spans(column: Sequence[str]) -> Iterator[Span]:
    start, role = 0, ""
    for at, cell in enumerate(column):
        if found := OPEN.search(cell):
            start, role = at, RENAMED.get(found[1], found[1])
        if ")" in cell and role:
            yield Span(start, at + 1, role)
            role = ""


def join(sentences: Sequence[Sequence[str]], layer: Sequence[Skeleton], lost: Lost) -> list[Annotated | None]:
    """What the layer says of each sentence of a document, given as parts of speech; what finds no word is counted."""
    lost["predicates"] += sum(len(one.predicates) for one in layer)
    lost["roles"] += sum(len(some) - 1 for one in layer for some in one.spans)
    if [len(one) for one in sentences] == [len(one.tags) for one in layer]:
        places = [{at: (row, at) for at in range(len(one))} for row, one in enumerate(sentences)]
    else:
        lost["documents joined by alignment"] += 1
        places = _aligned(sentences, layer)
    kinds: list[list[int]] = [[0] * len(one) for one in sentences]
    frames: list[list[Frame]] = [[] for _ in sentences]
    seen: set[int] = set()
    for one, place in zip(layer, places, strict=True):
        seen |= {row for row, _ in place.values()}
        for (predicate, sense), spans in zip(one.predicates, one.spans, strict=True):
            if predicate not in place:
                lost["predicates without a word"] += 1
                continue
            row, at = place[predicate]
            kinds[row][at] = 2 if sense in AUXILIARIES else 3 if sense.endswith(LIGHT) else 1
            if kinds[row][at] != 2:
                frames[row].append(Frame(at, tuple(_placed(spans, predicate, row, place, lost))))
    return [Annotated(tuple(kinds[row]), tuple(frames[row])) if row in seen else None for row in range(len(sentences))]


def _placed(
    spans: Sequence[Span], predicate: int, row: int, place: dict[int, tuple[int, int]], lost: Lost
) -> Iterator[Span]:
    """The spans at the treebank's words; what else belongs to the predicate, such as a particle, is a role too."""
    for span in spans:
        found = [place[at][1] for at in range(span.start, span.end) if at in place and place[at][0] == row]
        role = span.role
        if role == "V":
            found = [at for at in found if at != place[predicate][1]]
            role = PARTICLE
            if not found:
                continue
        if found:
            yield Span(min(found), max(found) + 1, role)
        else:
            lost["roles without a word"] += 1


def _aligned(sentences: Sequence[Sequence[str]], layer: Sequence[Skeleton]) -> list[dict[int, tuple[int, int]]]:
    """For each sentence of the layer, where its words are in the treebank."""
    ours = [(row, at) for row, one in enumerate(sentences) for at in range(len(one))]
    theirs = [(row, at) for row, one in enumerate(layer) for at in range(len(one.tags))]
    places: list[dict[int, tuple[int, int]]] = [{} for _ in layer]
    matcher = SequenceMatcher(
        None, [layer[row].tags[at] for row, at in theirs], [sentences[row][at] for row, at in ours], autojunk=False
    )
    for what, start, end, first, last in matcher.get_opcodes():
        if what == "delete" or what == "insert":
            continue
        for at in range(start, end):
            row, word = theirs[at]
            places[row][word] = ours[min(first + at - start, last - 1)]
    return places
