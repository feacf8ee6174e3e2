"""The built-in parser on a treebank: tags, trees, lemmas, words, and sentences per second.

    python benchmarks/parser.py --data ../shared/data/open/ud/EWT/en_ewt-ud-test.conllu

Words are the treebank's own for all scores but the last two lines: `words` and `sentences` are the F1 of splitting
the raw text. UAS, LAS and the rest are over all words, punctuation too; LAS counts a label without its subtype, as
in the CoNLL 2018 shared task, and `las_subtypes` with it. The lemma of a word that the treebank gives as `_` is not
counted. Source: Zeman et al. 2018.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from doxa.backends import load
from doxa.backends.parser import Parse, split


@dataclass(frozen=True, slots=True)
class Gold:
    """A sentence of a treebank: its words, its text as tokens with the space behind each, and where it comes from."""

    rows: tuple[tuple[str, str, str, int, str], ...]  # form, lemma, upos, head from 0, deprel
    tokens: tuple[tuple[str, bool], ...]
    new_paragraph: bool
    genre: str


def main() -> None:
    """Parse, compare, print."""
    args = read_arguments()
    gold = [one for path in args.data for one in read(path)]
    parser = load("parser", "builtin", threads=args.threads)
    parser.parse([["warm", "up"]])
    started = time.perf_counter()
    parses = parser.parse([[row[0] for row in one.rows] for one in gold])
    seconds = time.perf_counter() - started
    report: dict[str, object] = {
        "data": [path.name for path in args.data],
        "sentences": len(gold),
        "tokens": sum(len(one.rows) for one in gold),
        **scores(gold, parses),
        "sentences_per_s": round(len(gold) / seconds, 1),
        "threads": args.threads,
        **splitting(gold),
    }
    if args.genres:
        report["genres"] = by_genre(gold, parses)
    print(json.dumps(report, indent=2))


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure the built-in parser on CoNLL-U files.")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="CoNLL-U files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--genres", action="store_true", help="also by genre, the first part of a sentence's id")
    return parser.parse_args()


def read(path: Path) -> list[Gold]:
    """The sentences of a CoNLL-U file."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.split("\n")
        rows = [line.split("\t") for line in lines if line[:1].isdigit()]
        if rows:
            notes = [line for line in lines if line.startswith("#")]
            found.append(_gold(rows, notes))
    return found


def _gold(rows: list[list[str]], notes: list[str]) -> Gold:
    words = [row for row in rows if row[0].isdigit()]
    ranges = {int(row[0].split("-")[0]): row for row in rows if "-" in row[0]}
    tokens, covered = [], 0
    for row in words:
        number = int(row[0])
        if number <= covered:
            continue
        token = ranges.get(number, row)
        covered = int(token[0].split("-")[-1])
        tokens.append((token[1], "SpaceAfter=No" not in token[9]))
    name = next((note.split("= ")[1] for note in notes if note.startswith("# sent_id")), "")
    return Gold(
        rows=tuple((row[1], row[2], row[3], int(row[6]) - 1, row[7]) for row in words),
        tokens=tuple(tokens),
        new_paragraph=any(note.startswith(("# newpar", "# newdoc")) for note in notes),
        genre=name.removeprefix("GUM_").split("_")[0].split("-")[0],
    )


def scores(gold: Sequence[Gold], parses: Sequence[Parse]) -> dict[str, float]:
    """Shares of words that are right, in percent, and the standard error of LAS; lemmas where the treebank has one."""
    counts = [_right(one, parse) for one, parse in zip(gold, parses, strict=True)]
    total = {name: sum(one[name] for one in counts) for name in counts[0]}
    words, lemmas = max(1, total["words"]), max(1, total["lemmas"])
    shares = {name: total[name] / words for name in ("upos", "uas", "las", "las_subtypes")}
    # Words of one sentence err together, so sentences are the units of the error.
    spread = sum((one["las"] - shares["las"] * one["words"]) ** 2 for one in counts)
    shares |= {"las_se": math.sqrt(spread) / words, "lemma": total["lemma"] / lemmas}
    return {name: round(100 * share, 2) for name, share in shares.items()}


def _right(one: Gold, parse: Parse) -> dict[str, int]:
    right = dict.fromkeys(("words", "lemmas", "upos", "uas", "las", "las_subtypes", "lemma"), 0)
    for at, (form, lemma, upos, head, deprel) in enumerate(one.rows):
        right["words"] += 1
        right["upos"] += parse.upos[at] == upos
        if parse.heads[at] == head:
            right["uas"] += 1
            right["las"] += parse.deprels[at].split(":")[0] == deprel.split(":")[0]
            right["las_subtypes"] += parse.deprels[at] == deprel
        if lemma != "_" or form == "_":
            right["lemmas"] += 1
            right["lemma"] += parse.lemmas[at] == lemma
    return right


def by_genre(gold: Sequence[Gold], parses: Sequence[Parse]) -> dict[str, dict[str, float]]:
    """The same, for each genre."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(gold):
        groups[one.genre].append(at)
    return {
        genre: {"sentences": len(places)} | scores([gold[at] for at in places], [parses[at] for at in places])
        for genre, places in sorted(groups.items())
    }


def splitting(gold: Iterable[Gold]) -> dict[str, float]:
    """F1 of words and of sentences found in the raw text, by their characters without white space, in percent."""
    ours_words, gold_words, ours_ends, gold_ends = set(), set(), set(), set()
    for number, paragraph in enumerate(paragraphs(gold)):
        text = "".join(form + " " * space for one in paragraph for form, space in one.tokens)
        place = [0]
        for char in text:
            place.append(place[-1] + (not char.isspace()))
        for sentence in split(text):
            ours_words |= {(number, place[word.start], place[word.end]) for word in sentence}
            ours_ends.add((number, place[sentence[0].start], place[sentence[-1].end]))
        at = 0
        for one in paragraph:
            start = at
            for begin, end in _places(one, at):
                gold_words.add((number, begin, end))
                at = end
            gold_ends.add((number, start, at))
    return {"words_f1": f1(ours_words, gold_words), "sentences_f1": f1(ours_ends, gold_ends)}


def _places(one: Gold, at: int) -> list[tuple[int, int]]:
    """The characters of each word; a word whose form is not in its token (rare) takes what is left of the token."""
    forms = iter([row[0].replace(" ", "") for row in one.rows])
    places = []
    for token, _ in one.tokens:
        left = token.replace(" ", "")
        while left:
            form = next(forms)
            size = len(form) if left.startswith(form) else len(left)
            places.append((at, at + size))
            at += size
            left = left[size:]
    return places


def paragraphs(gold: Iterable[Gold]) -> list[list[Gold]]:
    """Sentences in paragraphs, which is the raw text that a treebank knows."""
    found: list[list[Gold]] = []
    for one in gold:
        if one.new_paragraph or not found:
            found.append([])
        found[-1].append(one)
    return found


def f1(ours: set[tuple[int, int, int]], gold: set[tuple[int, int, int]]) -> float:
    """Twice what both have over what each has, in percent."""
    return round(200 * len(ours & gold) / max(1, len(ours) + len(gold)), 2)


if __name__ == "__main__":
    main()
