"""What a head is worth that is taught by marks: claims kept on other turns, by the reader alone and with the head.

    python benchmarks/teaching.py FILE ... [--domain NAME] [--selfish] [--marks 100 300] [--repeats 5] [--json]

Files are marked turns (`training/corpus/MARKING.md`). A user is simulated who marks every claim that is heard as the
annotator would: right where subject and object are the same words, worth keeping unless `minor`. `--selfish` is a user
who wants claims about the speaker alone. Turns are drawn at random until there are enough marks, or taken in the order
in which `doxa teach` asks ("unsure"); a third of the turns is left to measure on, and no mark is on these. `after` is
the head as it was fitted, `in_use` what `doxa teach` leaves in use: the reader alone where the head was refused.

Needs the model of the parser; 30 ms a turn, then some seconds for each head.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "corpus"))

from marked import Dialogue, read_marked
from marked import Mark as Gold

from doxa.backends import load
from doxa.backends.parser import Heard, Line, Place
from doxa.core.marks import Mark, MarkedLine, MarkedTurn, Missed
from doxa.understand.hearing import BEFORE, SURE
from doxa.understand.teaching.head import Head
from doxa.understand.teaching.heard import claim_words, log_odds
from doxa.understand.teaching.teach import figures, lines_of, teach

LEFT = 1 / 3
"""Least share of the turns that is measured on."""
NAMES = ("f1", "precision", "recall", "log_loss")


@dataclass(frozen=True)
class Recorded:
    """A reader of turns that has read them all before."""

    read: dict[tuple[Line, ...], Heard]

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        return [self.read[tuple(lines)] for lines in turns]


def simulated(dialogues: Sequence[Dialogue], *, selfish: bool) -> tuple[list[MarkedTurn], Recorded]:
    """Return turns with the marks of a user who knows the annotation, and the reader that heard them."""
    places = [(one, at) for one in dialogues for at in range(len(one.turns))]
    lines = [
        tuple(Line(turn.speaker, turn.text) for turn in one.turns[max(0, at - BEFORE) : at + 1]) for one, at in places
    ]
    parser = load("parser", "builtin")
    heard = parser.hear(lines)
    parser.close()
    made = [
        _marked(some, what, one.turns[at].claims, max(0, at - BEFORE), selfish=selfish)
        for (one, at), some, what in zip(places, lines, heard, strict=True)
    ]
    return made, Recorded(dict(zip(lines, heard, strict=True)))


def _marked(lines: tuple[Line, ...], heard: Heard, claims: Sequence[Gold], first: int, *, selfish: bool) -> MarkedTurn:
    gold = [(_span(one.subject, first), _span(one.object or next(iter(one.words), None), first), one) for one in claims]
    marks: list[Mark] = []
    found: set[int] = set()
    for told in heard.claims:
        subject, thing = _place(told.subject), _place(told.object)
        hit = next((one for who, what, one in gold if (who, what) == (subject, thing)), None)
        wanted = hit is not None and "minor" not in hit.flags and not (selfish and _other(lines, told.subject))
        found.add(id(hit))
        name = hit.relation if hit is not None and hit.relation != told.relation else ""
        words = dict(zip(("subject", "words", "object"), claim_words(told, lines), strict=True))
        marks.append(Mark(**words, right=hit is not None, keep=wanted, relation=name))
    lost = [one for _, _, one in gold if id(one) not in found and "minor" not in one.flags]
    lost = [one for one in lost if not selfish or one.subject is None or one.subject.words.casefold() in OWN]
    missed = tuple(Missed(subject="-", relation="-", object=str(number)) for number, _ in enumerate(lost))
    said = tuple(MarkedLine(speaker=one.speaker, text=one.text) for one in lines)
    return MarkedTurn(lines=said, claims=tuple(marks), missed=missed)


OWN = frozenset(("i", "my", "me", "we", "our"))


def _other(lines: Sequence[Line], place: Place) -> bool:
    return place.start >= 0 and lines[place.line].text[place.start : place.end].casefold() not in OWN


def _span(span: object, first: int) -> tuple[int, int, int] | None:
    return None if span is None else (span.turn - first, span.start, span.end)


def _place(place: Place) -> tuple[int, int, int] | None:
    return None if place.start < 0 else (place.line, place.start, place.end)


def drawn(turns: Sequence[MarkedTurn], reader: Recorded, marks: int, seed: int, *, unsure: bool) -> tuple[list, list]:
    """Return turns with some marks, and turns to measure on, of which none has one."""
    order = list(turns)
    random.Random(seed).shuffle(order)
    apart = round(LEFT * len(order))
    rest, pool = order[:apart], order[apart:]
    if not unsure:
        stop = int(np.searchsorted(np.cumsum([len(one.claims) for one in pool]), marks)) + 1
        return pool[:stop], rest
    asked = [
        (abs(log_odds(told.p) - log_odds(SURE)), number, place)
        for number, one in enumerate(pool)
        for place, told in enumerate(reader.read[lines_of(one)].claims)
    ]
    chosen: dict[int, list[int]] = {}
    for _, number, place in sorted(asked)[:marks]:
        chosen.setdefault(number, []).append(place)
    return [replace(pool[n], claims=tuple(pool[n].claims[k] for k in sorted(ks))) for n, ks in chosen.items()], rest


def measured(turns: Sequence[MarkedTurn], reader: Recorded, marks: int, repeats: int, *, unsure: bool) -> dict:
    """Return the mean figures of the reader alone and with heads that were fitted to drawn marks."""
    rows, counts = [], []
    for seed in range(repeats):
        taught_on, rest = drawn(turns, reader, marks, seed, unsure=unsure)
        head, told = teach(taught_on, reader)
        before, after = (figures(rest, reader, one) for one in (Head.untaught(), head))
        in_use = after if told.accepted else before
        rows.append([[one[name] for name in NAMES] for one in (before, after, in_use)])
        counts.append((told.marks, told.accepted, len(rest)))
    every, count = np.array(rows), np.array(counts, dtype=float).mean(0)
    gain = every[:, 1] - every[:, 0]
    return {
        "asked": "unsure" if unsure else "random",
        "marks": count[0],
        "accepted": count[1],
        "turns_measured": count[2],
        "before": dict(zip(NAMES, every[:, 0].mean(0), strict=True)),
        "after": dict(zip(NAMES, every[:, 1].mean(0), strict=True)),
        "in_use": dict(zip(NAMES, every[:, 2].mean(0), strict=True)),
        "gain_se": dict(zip(NAMES, gain.std(0, ddof=1) / repeats**0.5, strict=True)),
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--domain")
    parser.add_argument("--selfish", action="store_true")
    parser.add_argument("--marks", nargs="+", type=int, default=[100, 300])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    dialogues = [one for path in given.files for one in read_marked(path)]
    dialogues = [one for one in dialogues if given.domain in (None, one.domain.strip())]
    turns, reader = simulated(dialogues, selfish=given.selfish)
    rows = [
        measured(turns, reader, marks, given.repeats, unsure=unsure)
        for unsure in (False, True)
        for marks in given.marks
    ]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{len(turns)} turns, {sum(len(one.claims) for one in turns)} claims that are heard")
    for row in rows:
        print(f"{row['asked']:>6} {row['marks']:.0f} marks, accepted {row['accepted']:.0%}", *_told(row))


def _told(row: dict) -> Iterator[str]:
    for name in NAMES:
        before, after, in_use = (row[which][name] for which in ("before", "after", "in_use"))
        yield f"| {name} {before:.3f} -> {after:.3f} (se {row['gain_se'][name]:.3f}), in use {in_use:.3f}"


if __name__ == "__main__":
    main()
