"""How well the shipped parser finds times and slots, on held-out sentences of SGD and recognizers_datetime.

python training/parser/measure_spans.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from spans import ANY, TAGS, Spanned, slot_sentences, time_sentences

from doxa.backends import load

Span = tuple[str, int, int]


def main() -> None:
    """Print precision, recall and F1 of whole spans by type, and of all words that are in a span."""
    parser = argparse.ArgumentParser(description="Measure tagged spans.")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    data = parser.parse_args().data
    for name, sentences in (("SGD", slot_sentences(data, held=True)), ("times", time_sentences(data, held=True))):
        report(name, list(sentences))


def report(name: str, sentences: Sequence[Spanned]) -> None:
    """The numbers of one source. Words whose tag is open count neither way."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    parses = load("parser", "builtin").parse([forms for forms, _ in sentences])
    for (_, allowed), parse in zip(sentences, parses, strict=True):
        gold = spans([_one(bits) for bits in allowed])
        open_words = {at for at, bits in enumerate(allowed) if bits == ANY}
        found = {span for span in spans(parse.tags) if not open_words & set(range(span[1], span[2]))}
        for kind in {span[0] for span in gold | found}:
            ours, theirs = ({span for span in part if span[0] == kind} for part in (found, gold))
            for at, part in enumerate((ours & theirs, ours, theirs)):
                counts[kind][at] += len(part)
    for kind, (right, ours, theirs) in sorted(counts.items()):
        precision, recall = right / max(1, ours), right / max(1, theirs)
        f1 = 2 * right / max(1, ours + theirs)
        print(f"{name} {kind}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}, {theirs} spans")


def _one(bits: int) -> str:
    return TAGS[bits.bit_length() - 1] if bits.bit_count() == 1 else "O"


def spans(tags: Iterable[str]) -> set[Span]:
    """Type, start and end of each span."""
    found: set[Span] = set()
    kind, start = "", 0
    for at, tag in enumerate([*tags, "O"]):
        if kind and tag != f"I-{kind}":
            found.add((kind, start, at))
            kind = ""
        if tag != "O" and not kind:
            kind, start = tag[2:], at
    return found


if __name__ == "__main__":
    main()
