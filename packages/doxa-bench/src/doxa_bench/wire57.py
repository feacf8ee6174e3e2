"""WiRe57: open information extraction scored by words, tuple by tuple.

Source: Léchelle, Gotti and Langlais 2019, "WiRe57: A Fine-Grained Benchmark for Open Information Extraction", section
4, with the matching function of their published scorer:

- an extracted tuple matches a gold one if arg1, relation and arg2 each share a word with it; a part of the gold tuple
  that was wholly inferred by its annotators needs no such word;
- its precision is the share of its words that the gold parts have; its recall the number of those words over the gold
  words that the sentence has, so guessing inferred ones as well can bring it above 1; further arguments count by place;
- tuples are paired one to one, best F1 first, until nothing matches;
- precision is the sum over pairs by the number of extractions, recall by the number of gold tuples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError
from doxa_bench.extraction import Extraction
from doxa_bench.metrics import f1

__all__ = ["GoldPart", "GoldTuple", "Wire57Sentence", "match", "read_wire57", "score_wire57"]

INFERRED = "inf"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPart:
    """One part of a gold tuple."""

    words: tuple[str, ...]
    said: int
    """How many of its words the sentence has; the others were inferred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTuple:
    """A gold tuple: arg1, relation and arg2, then further arguments."""

    parts: tuple[GoldPart, GoldPart, GoldPart]
    more: tuple[GoldPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire57Sentence:
    """A sentence as it was written, its tokens, and its gold tuples."""

    text: str
    tokens: tuple[str, ...]
    tuples: tuple[GoldTuple, ...]


def read_wire57(path: Path) -> list[Wire57Sentence]:
    """Return the sentences of the reference file.

    Raises:
        FormatError: it is no such file.
    """
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
        return [_sentence(sentence) for document in documents.values() for sentence in document]
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise FormatError(f"expected the WiRe57 reference, documents of sentences with 'tuples', in {path}.") from exc


def _sentence(value: Mapping[str, Any]) -> Wire57Sentence:
    tuples = (
        GoldTuple(
            parts=(_part(one["arg1"]), _part(one["rel"]), _part(one["arg2"])),
            more=tuple(_part(part) for part in one["arg3+"]),
        )
        for one in value["tuples"]
    )
    return Wire57Sentence(text=value["sent"], tokens=tuple(value["tokens"]), tuples=tuple(tuples))


def _part(value: Mapping[str, Any]) -> GoldPart:
    said = sum(index != INFERRED for index in value["words_indexes"])
    return GoldPart(words=tuple(value["words"]), said=said)


def score_wire57(
    gold: Sequence[Sequence[GoldTuple]], found: Sequence[Sequence[Extraction]]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of what was found in every sentence. Cost O(gold x found) a sentence, sorted."""
    precision = recall = 0.0
    for wanted, extractions in zip(gold, found, strict=True):
        for pair in _paired(wanted, extractions):
            precision, recall = precision + pair[0], recall + pair[1]
    extracted, required = sum(map(len, found)), sum(map(len, gold))
    precision, recall = precision / extracted if extracted else 0.0, recall / required if required else 0.0
    return precision, recall, f1(precision, recall) or 0.0


def _paired(wanted: Sequence[GoldTuple], extractions: Sequence[Extraction]) -> list[tuple[float, float]]:
    """Return precision and recall of the pairs of a greedy one-to-one pairing, best F1 first."""
    scored = []
    for row, one in enumerate(wanted):
        for column, extraction in enumerate(extractions):
            pair = match(one, extraction)
            if pair is not None and f1(*pair):
                scored.append((-(f1(*pair) or 0.0), row, column, pair))
    rows, columns, pairs = set(), set(), []
    for _, row, column, pair in sorted(scored):
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append(pair)
    return pairs


def match(gold: GoldTuple, found: Extraction) -> tuple[float, float] | None:
    """Return the precision and recall of an extracted tuple against a gold one; None when it is another one."""
    texts = (found.arg1, found.relation, found.args[0] if found.args else "")
    matching = extracted = required = 0
    for part, text in zip(gold.parts, texts, strict=True):
        words = text.split()
        shared = sum(word in part.words for word in words)
        if part.said and not shared:
            return None
        if words:
            matching, extracted, required = matching + shared, extracted + len(words), required + part.said
    for place, part in enumerate(gold.more, start=1):
        required += part.said
        words = found.args[place].split() if place < len(found.args) else []
        matching, extracted = matching + sum(word in part.words for word in words), extracted + len(words)
    return (matching / extracted, matching / required) if extracted and required else None
