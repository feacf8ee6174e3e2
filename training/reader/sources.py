"""Dialogues of `open/` -> parsed dialogues: what questions are made of.

python training/reader/sources.py --out WORK/persona.pickle --source persona
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from doxa.backends import load
from doxa.backends.parser import Parse, Parser, split

LONGEST_WORDS = 45
"""A sentence of more words is kept as text and not parsed: nothing is asked of it."""
MOST_SENTENCES = 14


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the places of its words in the turn; `parse` is None where it was not parsed."""

    spans: tuple[tuple[int, int], ...]
    parse: Parse | None


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: who of the two speaks (0, 1), the text, its sentences."""

    speaker: int
    text: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue; `notes` are sentences about each speaker in the first person (the persona), parsed as turns are."""

    turns: tuple[Said, ...]
    notes: tuple[Said, ...] = ()


Raw = tuple[list[tuple[int, str]], list[tuple[int, str]]]


def persona(data: Path) -> Iterator[Raw]:
    """Synthetic-Persona-Chat: both files, in order."""
    for name in ("valid", "test"):
        path = data / "open" / "synthetic_persona_chat" / f"Synthetic-Persona-Chat_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                turns = []
                for line in row["Best Generated Conversation"].splitlines():
                    match = re.match(r"User ([12]): (.+)", line.strip())
                    if match:
                        turns.append((int(match[1]) - 1, match[2].strip()))
                notes = [
                    (who, line.strip())
                    for who in (0, 1)
                    for line in row[f"user {who + 1} personas"].splitlines()
                    if line.strip()
                ]
                yield turns, notes


def longmemeval(data: Path) -> Iterator[Raw]:
    """LongMemEval: the evidence turns of each question's sessions, then the sessions of the pool."""
    folder = data / "open" / "longmemeval"
    for item in json.loads((folder / "longmemeval_evidence_turns_500.json").read_text(encoding="utf-8")):
        for session in item["evidence_sessions"]:
            yield [(int(t["role"] == "assistant"), t["content"][:1500]) for t in session["turns"]], []
    for session in json.loads((folder / "haystack_session_pool.json").read_text(encoding="utf-8")):
        yield [(int(t["role"] == "assistant"), t["content"][:700]) for t in session["turns"]], []


def sgd(data: Path) -> Iterator[Raw]:
    """SGD: the dialogues of the four files."""
    for path in sorted((data / "open" / "sgd").glob("*_dialogues_*.json")):
        for item in json.loads(path.read_text(encoding="utf-8")):
            yield [(int(t["speaker"] == "SYSTEM"), t["utterance"]) for t in item["turns"]], []


def snli(data: Path) -> Iterator[Raw]:
    """SNLI: each caption with a sentence that it entails, as one turn and its note."""
    folder = data / "open" / "snli"
    for part in ("dev", "test.first4912"):
        lines = [
            (folder / f"{name}.{part}").read_text(encoding="utf-8").splitlines() for name in ("s1", "s2", "labels")
        ]
        for premise, hypothesis, label in zip(*lines, strict=True):
            if label.strip() == "entailment":
                yield [(0, _untokenised(premise))], [(0, _untokenised(hypothesis))]


def carb(data: Path) -> Iterator[Raw]:
    """CaRB: sentences of news and encyclopedias, three to a turn."""
    for part in ("dev", "test"):
        lines = (data / "open" / "carb" / f"{part}.txt").read_text(encoding="utf-8").splitlines()
        for at in range(0, len(lines) - 2, 3):
            yield [(0, " ".join(_untokenised(line) for line in lines[at : at + 3]))], []


def genericskb(data: Path) -> Iterator[Raw]:
    """GenericsKB: every sixth of its longer sentences, three to a turn."""
    lines = (data / "open" / "genericskb" / "GenericsKB.txt").read_text(encoding="utf-8").splitlines()
    found = [parts[1] for line in lines if len(parts := line.split("\t")) > 1 and len(parts[1].split()) > 6][::6]
    for at in range(0, len(found) - 2, 3):
        yield [(0, " ".join(found[at : at + 3]))], []


SOURCES: dict[str, Callable[[Path], Iterator[Raw]]] = {
    "persona": persona,
    "longmemeval": longmemeval,
    "sgd": sgd,
    "snli": snli,
    "carb": carb,
    "genericskb": genericskb,
}


def _untokenised(text: str) -> str:
    text = re.sub(r"\s+([.,;:!?%)'])", r"\1", text.strip())
    text = re.sub(r"(\w) (n't)\b", r"\1\2", text.replace("``", '"').replace("''", '"'))
    return re.sub(r"([(]) ", r"\1", text)


def parsed(talks: list[Raw], parser: Parser) -> list[Talk]:
    """Parse dialogues, all their sentences in one call per hundred dialogues."""
    found: list[Talk] = []
    for start in range(0, len(talks), 100):
        block = talks[start : start + 100]
        texts = [text for turns, notes in block for _, text in (*turns, *notes)]
        words = [split(text)[:MOST_SENTENCES] for text in texts]
        wanted = [[w.form for w in s] for sentences in words for s in sentences if 2 < len(s) <= LONGEST_WORDS]
        parses = iter(parser.parse(wanted))
        made = iter(
            tuple(
                Sentence(tuple((w.start, w.end) for w in s), next(parses) if 2 < len(s) <= LONGEST_WORDS else None)
                for s in sentences
            )
            for sentences in words
        )
        for turns, notes in block:
            spoken = tuple(Said(who, text, next(made)) for who, text in turns)
            found.append(Talk(spoken, tuple(Said(who, text, next(made)) for who, text in notes)))
        print(len(found), "of", len(talks), flush=True)
    return found


def main() -> None:
    """Parse one source, or a sample of it."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--source", choices=sorted(SOURCES), required=True)
    reader.add_argument("--most", type=int, default=100_000)
    reader.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = reader.parse_args()
    talks = list(SOURCES[args.source](args.data))
    random.Random(0).shuffle(talks)
    parser = load("parser", "builtin")
    args.out.write_bytes(pickle.dumps(parsed(talks[: args.most], parser)))


if __name__ == "__main__":
    main()
