"""Frames of the dependency tree against annotated turns: which predicates are found, and which of their roles.

    python benchmarks/frames.py training/corpus/dev/*.txt

A predicate is found where that of a frame shares characters with an annotated one; what is implied is left out. A role
is found where an argument of any frame of the turn shares characters with it, whatever it is called.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "corpus"))

from corpus import Turn as Annotated
from corpus import read_dialogues

from doxa.backends import load
from doxa.backends.parser import Parser
from doxa.core.values import Turn
from doxa.language.reader import read_sentences
from doxa_bench.metrics import bootstrap_error, f1_of_counts

Place = tuple[int, int]


def overlap(one: Place, other: Place) -> bool:
    """Tell whether two stretches of characters share one."""
    return one[0] < other[1] and other[0] < one[1]


def matched(found: Sequence[Place], wanted: Sequence[Place]) -> int:
    """Return how many stretches can be paired, each once, first come first."""
    left = list(found)
    pairs = 0
    for place in wanted:
        hit = next((one for one in left if overlap(one, place)), None)
        if hit is not None:
            left.remove(hit)
            pairs += 1
    return pairs


def counts(turn: Annotated, number: int, parser: Parser) -> tuple[list[float], list[float]]:
    """Return matching, found, matching and wanted predicates of a turn, and the same of roles."""
    at = datetime.combine(turn.day, time(12), UTC)
    said = Turn(turn_id=str(number), user="u", session="s", speaker=turn.speaker, role="user", text=turn.text, at=at)
    frames = [frame for sentence in read_sentences(said, parser) for frame in sentence.frames]
    wanted = [frame for frame in turn.frames if frame.predicate.start >= 0 and not frame.implied]
    found = [(frame.start, frame.end) for frame in frames]
    pairs = matched(found, [(one.predicate.start, one.predicate.end) for one in wanted])
    roles = [(span.start, span.end) for one in wanted for _, span in one.roles if span.start >= 0 and span.turn is None]
    arguments = [(one.start, one.end) for frame in frames for one in (*filter(None, [frame.subject]), *frame.arguments)]
    shared = matched(arguments, roles)
    return [pairs, len(found), pairs, len(wanted)], [shared, len(arguments), shared, len(roles)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    model: Parser = load("parser", "builtin")
    turns = [turn for path in parser.parse_args().files for one in read_dialogues(path) for turn in one.turns]
    rows = [counts(turn, number, model) for number, turn in enumerate(turns)]
    for name, part in (("predicates", 0), ("roles, unlabelled", 1)):
        table = [row[part] for row in rows]
        total = [sum(column) for column in zip(*table, strict=True)]
        f1, error = f1_of_counts(*total), bootstrap_error(table, f1_of_counts)
        print(f"{name:<18} F1 {f1 or 0.0:.3f} ({error:.3f}), found {total[1]:.0f}, wanted {total[3]:.0f}")


if __name__ == "__main__":
    main()
