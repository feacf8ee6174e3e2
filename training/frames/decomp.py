"""Universal Decompositional Semantics -> traits of words: factuality, genericity, duration.

The nodes are named by the number of a sentence in an older release of EWT's parts and of a word in it. Numbers of dev
and test follow the order of the parts. The order of train is not kept here, but the layer of documents says which
numbers are in which; a document's first number is then the one at which the nodes fall on fitting words.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TRAITS = (
    "factual",
    "pred-particular",
    "pred-dynamic",
    "pred-hypothetical",
    "arg-particular",
    "arg-kind",
    "arg-abstract",
)
"""Real numbers, mostly between -2 and 2; the first four belong to predicates, the others to nouns and pronouns."""
DURATIONS = (
    "instant",
    "seconds",
    "minutes",
    "hours",
    "days",
    "weeks",
    "months",
    "years",
    "decades",
    "centuries",
    "forever",
)
NODE = re.compile(r"ewt-(train|dev|test)-(\d+)-(?:semantics|document)-(pred|arg)-(\d+)")
FITS = {
    "pred": {"VERB": 1, "ADJ": 1, "NOUN": 0, "AUX": 0, "PUNCT": -3, "DET": -2, "ADP": -1, "PART": -2},
    "arg": {"NOUN": 1, "PRON": 1, "PROPN": 1, "VERB": 0, "PUNCT": -3, "DET": -1, "ADP": -2, "PART": -3, "AUX": -2},
}
Traits = NDArray[np.float32]
Nodes = dict[tuple[str, int], dict[tuple[str, int], dict[str, float]]]
Lost = Counter[str]


def nodes(data: Path) -> Nodes:
    """By part and number of a sentence, by kind and number of a word: the normalised values of its traits."""
    folder = data / "open" / "decomp" / "decomp" / "data" / "2.0" / "normalized" / "sentence" / "annotations"
    found: Nodes = defaultdict(lambda: defaultdict(dict))
    for name in ("factuality", "genericity", "time"):
        for graph in _load(folder / f"{name}.zip").values():
            for node, kinds in graph.items():
                match = NODE.fullmatch(node)
                if match is None:
                    continue
                at = found[match[1], int(match[2])][match[3], int(match[4])]
                at.update({trait: value["value"] for part in kinds.values() for trait, value in part.items()})
    return found


def _load(path: Path) -> Mapping[str, Any]:
    with zipfile.ZipFile(path) as archive:
        loaded: Mapping[str, Any] = json.loads(archive.read(archive.namelist()[0]))["data"]
    return loaded


def documents(data: Path) -> dict[str, dict[str, set[int]]]:
    """By document, by part: the numbers of sentences that are known to be in it."""
    folder = data / "open" / "decomp" / "decomp" / "data" / "2.0"
    found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for path in (
        folder / "normalized" / "document" / "annotations" / "event_structure_mereology.zip",
        folder / "raw" / "document" / "annotations" / "time.zip",
    ):
        for document, edges in _load(path).items():
            for edge in edges:
                for match in NODE.finditer(edge):
                    found[document][match[1]].add(int(match[2]))
    return found


def traits(
    layer: Mapping[tuple[str, int], dict[str, float]], upos: Sequence[str], lost: Lost
) -> tuple[Traits, list[int]]:
    """The traits of a sentence's words, `(n, 7)` with NaN where unknown, and durations, -100 where unknown."""
    values = np.full((len(upos), len(TRAITS)), np.nan, dtype=np.float32)
    durations = [-100] * len(upos)
    for (kind, number), found in layer.items():
        lost["nodes"] += 1
        if not 0 < number <= len(upos) or FITS[kind].get(upos[number - 1], 0) < -1:
            lost["nodes without a fitting word"] += 1
            continue
        for at, trait in enumerate(TRAITS):
            if trait in found:
                values[number - 1, at] = found[trait]
        lasting = [found.get(f"dur-{name}") for name in DURATIONS]
        if None not in lasting:
            durations[number - 1] = int(np.argmax(np.array(lasting, dtype=np.float64)))
    return values, durations


def first_number(known: set[int], parses: Sequence[Sequence[str]], part: str, layer: Nodes) -> int | None:
    """The number of a document's first sentence, given its sentences' parts of speech and some of its numbers."""
    if not known:
        return None
    slack = 2  # a sentence that was split or joined since
    starts = range(max(1, max(known) - len(parses) + 1 - slack), min(known) + slack + 1)
    return max(starts, key=lambda start: _fit(start, parses, part, layer), default=None)


def numbers(
    start: int, parses: Sequence[Sequence[str]], part: str, layer: Nodes, *, drift: int = 2
) -> Iterator[tuple[int, int]]:
    """Pairs of a place in the document and its number; where sentences were split or joined, the numbers shift."""
    shift = 0
    for place, upos in enumerate(parses):
        fits = {by: fit(layer.get((part, start + place + shift + by)), upos) for by in range(-drift, drift + 1)}
        best = max(fits, key=lambda by: (fits[by], -abs(by)))
        if fits[best] > fits[0] + 4 and _later(start + place + shift, best, parses[place : place + 6], part, layer):
            shift += best
        yield place, start + place + shift


def _later(number: int, by: int, parses: Sequence[Sequence[str]], part: str, layer: Nodes) -> bool:
    return _fit(number + by, parses, part, layer) > _fit(number, parses, part, layer)


def _fit(start: int, parses: Sequence[Sequence[str]], part: str, layer: Nodes) -> int:
    return sum(fit(layer.get((part, start + place)), upos) for place, upos in enumerate(parses))


def fit(found: Mapping[tuple[str, int], dict[str, float]] | None, upos: Sequence[str]) -> int:
    """How well nodes fall on words that may be such."""
    if not found:
        return 0
    return sum(FITS[kind].get(upos[at - 1], -1) if 0 < at <= len(upos) else -5 for kind, at in found)
