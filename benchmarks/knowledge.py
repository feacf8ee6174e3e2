"""What a base of background knowledge costs to build and to open, at any size.

python benchmarks/knowledge.py scale --sentences 1000000 --from GenericsKB.txt --to base

Larger bases than there are files for are made by `enlarge`. The same command goes on with a run that was interrupted.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from doxa.commonsense import KnowledgeBase
from doxa.commonsense.base.reading import read_sentences
from doxa.engine import build_base

HINGES = frozenset(
    "is are was were has have had can may must will do does need use eat live grow make include contain provide occur "
    "become produce cause require help feed serve".split()
)
DETERMINERS = frozenset("a an the some most many all every each this these".split())
FRUITLESS = 10_000
"""Draws one after the other that give nothing new, after which there is taken to be nothing new."""


def enlarge(sentences: Sequence[str], n: int, seed: int = 0) -> Iterator[str]:
    """Yield `n` distinct sentences: those given, then ones that are mixed from them.

    "A tiger is a cat." and "An old truck is a machine." have one shape, and give "A tiger is a machine."; half of the
    subjects of two words also swap the first ("old tiger"), so that the number of concepts grows as well. What comes of
    it is not true, and mostly no sense: it is for measuring time and memory, never for what is found.

    Args:
        sentences: to begin with.
        n: how many.
        seed: of the mixing; the same seed gives the same sentences.

    Raises:
        ValueError: the sentences have too few in common to make so many.
    """
    told = set(sentences)
    yield from islice(dict.fromkeys(sentences), n)
    draw, shapes = random.Random(seed), _shapes(sentences)
    names = sorted(shapes)
    weights = [len(shapes[name]) ** 2 for name in names]
    fruitless = 0
    while len(told) < n:
        if not names or fruitless > FRUITLESS:
            raise ValueError(f"{len(sentences)} sentences make only {len(told)} different ones, not {n}.")
        parts = shapes[draw.choices(names, weights)[0]]
        (subject, _), (other, predicate) = draw.choice(parts), draw.choice(parts)
        if len(subject) == len(other) == 2 and subject[0].lower() not in DETERMINERS and draw.random() < 0.5:
            subject = (other[0], subject[1])
        made = f"{' '.join(subject)} {predicate}"
        fruitless += 1
        if made not in told:
            told.add(made)
            fruitless = 0
            yield made


def _shapes(sentences: Sequence[str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return subjects and predicates of sentences by what joins them; a sentence without such a word is left out."""
    shapes: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for sentence in sentences:
        words = sentence.split()
        hinge = next((place for place, word in enumerate(words) if word.lower() in HINGES), 0)
        if 0 < hinge <= 5:
            shapes.setdefault(words[hinge].lower(), []).append((tuple(words[:hinge]), " ".join(words[hinge:])))
    return shapes


class Watch:
    """Takes the time of every step of a build."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}
        self._now = ("reading", time.perf_counter())

    def __call__(self, step: str, done: int, whole: int) -> None:
        """Be told how far a step is."""
        name, since = self._now
        if step != name:
            self.steps[name] = self.steps.get(name, 0.0) + time.perf_counter() - since
            self._now = (step, time.perf_counter())
            if step:
                print(f"  {step}: {whole:,}", flush=True)

    def stop(self) -> None:
        """Be told that it is over."""
        self("", 0, 0)


def scale(files: Sequence[Path], inferences: Sequence[Path], folder: Path, count: int, seed: int) -> None:
    """Enlarge the sentences of files, build a base of them, open it, and print what it cost."""
    lines = folder.with_name(f"{folder.name}.txt")
    sentences = list(dict.fromkeys(sentence for path in files for sentence in read_sentences(path)))
    with lines.open("w", encoding="utf-8") as out:
        out.writelines(f"{sentence}\n" for sentence in enlarge(sentences, count, seed))
    del sentences
    watch = Watch()
    card = build_base([lines], folder, inferences=inferences, tell=watch)
    watch.stop()
    for step, seconds in watch.steps.items():
        print(f"{step}: {seconds:.1f} s")
    print(f"sentences {card.sentences:,}, concepts {card.concepts:,}, groups {card.groups:,}, words {card.words:,}")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB, mapped files included")
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    print(f"on disk: {size / 2**20:,.1f} MiB, {size / card.sentences:,.0f} bytes for each sentence")
    start = time.perf_counter()
    base = KnowledgeBase(folder)
    print(f"opened in {(time.perf_counter() - start) * 1e3:.1f} ms; the last sentence: {base.sentences[-1]}")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command = parser.add_subparsers(dest="command", required=True).add_parser("scale", help=scale.__doc__)
    command.add_argument("--sentences", type=int, default=1_000_000)
    command.add_argument("--from", dest="files", type=Path, nargs="+", required=True, metavar="FILE")
    command.add_argument("--inferences", type=Path, nargs="*", default=[], metavar="FILE")
    command.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    command.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    scale(given.files, given.inferences, given.to, given.sentences, given.seed)


if __name__ == "__main__":
    main()
