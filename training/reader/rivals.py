"""Questions with the turns that a search would find for them: one answers, the others only look like it.

python training/reader/rivals.py --work WORK --out WORK/rivals.pickle

Dialogues of Synthetic-Persona-Chat are put together to long histories of two people, as if the same two had talked
again and again. What a search by meaning and by words finds for a question, less every turn that holds the answer, are
the rivals of its turn: they are what the reader has to tell from it in use.
"""

from __future__ import annotations

import argparse
import math
import pickle
import random
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import sources
from examples import MOST_CHARS, Example, framed, of_notes, of_replies, of_statements, place, reworded, window
from sources import Talk

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.language import stems

TOGETHER = 24
"""Dialogues of a history."""
NAMES = (("Ana", "Ben"), ("Maria", "John"), ("Lea", "Tom"), ("Emma", "Noah"), ("Nina", "Paul"), ("Iris", "Max"))
ALIKE = 0.6
"""Share of a question's words from which another turn of the same person may answer it as well."""
LEXICAL = 0.5
"""Weight of the words that a turn shares with a question, beside the cosine."""


def main() -> None:
    """Make groups and write them."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--work", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--most", type=int, default=7, help="questions of a dialogue")
    reader.add_argument("--rivals", type=int, default=5)
    reader.add_argument("--histories", type=int, default=1000)
    reader.add_argument("--seed", type=int, default=11)
    args = reader.parse_args()
    chance = random.Random(args.seed)
    talks: list[Talk] = pickle.loads((args.work / "persona.pickle").read_bytes())
    chance.shuffle(talks)
    encoder = load("encoder", "builtin")
    groups: list[list[Example]] = []
    for start in range(0, min(len(talks), args.histories * TOGETHER), TOGETHER):
        history = History(talks[start : start + TOGETHER], chance.choice(NAMES), encoder)
        groups += history.groups(chance, most=args.most, rivals=args.rivals)
        print(start, len(groups), flush=True)
    chance.shuffle(groups)
    args.out.write_bytes(pickle.dumps(groups))


class History:
    """What two people said to each other in several dialogues, with what a search needs."""

    def __init__(self, talks: list[Talk], names: tuple[str, str], encoder: Encoder) -> None:
        self.talks, self.names, self.encoder = talks, names, encoder
        self.turns = [(number, at) for number, talk in enumerate(talks) for at in range(len(talk.turns))]
        self.numbers = {turn: row for row, turn in enumerate(self.turns)}
        said = [self._said(turn) for turn in self.turns]
        named = [f"{self._name(turn)}: {text}" for turn, text in zip(self.turns, said, strict=True)]
        self.vectors = np.asarray(encoder.encode(named))
        self.words = [set(stems(text)) for text in said]
        having = Counter(stem for words in self.words for stem in words)
        self.weights = {stem: math.log(1 + len(said) / count) for stem, count in having.items()}

    def _said(self, turn: tuple[int, int]) -> str:
        return self.talks[turn[0]].turns[turn[1]].text

    def _name(self, turn: tuple[int, int]) -> str:
        return self.names[self.talks[turn[0]].turns[turn[1]].speaker]

    def groups(self, chance: random.Random, *, most: int, rivals: int) -> list[list[Example]]:
        """A question over its turn, then over the turns most like it that do not answer."""
        asked = []
        for number, talk in enumerate(self.talks):
            found = [*of_notes(talk, chance), *of_replies(talk, chance)]
            plain = list(of_statements(talk, chance))
            chance.shuffle(plain)
            chosen = [*found[:most], *plain[: max(2, most - len(found))]]
            asked += [(number, *one) for one in chosen]
        texts = [one[1] if one[-1] == "reply" or chance.random() < 0.35 else reworded(one[1], chance) for one in asked]
        named = [self._named(text, number, at) for text, (number, _, at, *_) in zip(texts, asked, strict=True)]
        if not named:
            return []
        near = np.asarray(self.encoder.encode(named)) @ self.vectors.T
        made = []
        for row, (text, (number, _, at, first, last, kind)) in enumerate(zip(texts, asked, strict=True)):
            group = self._group(text, (number, at), first, last, kind, near[row], chance, rivals)
            if group:
                made.append(group)
        return made

    def _named(self, text: str, number: int, at: int) -> str:
        speaker = self.talks[number].turns[at].speaker
        text = re.sub(r"\bS\b", self.names[speaker], text)
        return re.sub(r"\bO\b", self.names[1 - speaker], text)

    def _group(
        self, text: str, turn: tuple[int, int], first: int, last: int, kind: str, near: np.ndarray,
        chance: random.Random, rivals: int,
    ) -> list[Example]:  # fmt: skip
        where = place(self.talks[turn[0]], turn[1], chance)
        answer = self._said(turn)[first:last]
        if where is None or not set(stems(answer)) - set(stems(text)):
            return []
        passage, begin, end = window(where.passage, where.offset + first, where.offset + last)
        group = [Example(framed(text), passage, begin, end, kind)]
        topic = set(stems(text))
        total = sum(self.weights.get(stem, 0.0) for stem in topic) or 1.0
        shared = np.array([sum(self.weights[s] for s in topic & words) / total for words in self.words])
        speaker = self.talks[turn[0]].turns[turn[1]].speaker
        bare = set(stems(answer))
        for row in np.argsort(-(near + LEXICAL * shared)):
            number, at = self.turns[row]
            if len(group) > rivals:
                break
            if (number, at) == turn or (number == turn[0] and abs(at - turn[1]) == 1 and chance.random() < 0.5):
                continue
            other = place(self.talks[number], at, chance)
            if other is None or bare <= set(stems(other.passage)):
                continue
            swapped = self.talks[number].turns[at].speaker != speaker
            if not swapped and shared[row] >= min(ALIKE, shared[self.numbers[turn]]):
                continue  # it may answer too, in its own way
            group.append(Example(framed(text, swapped=swapped), other.passage[:MOST_CHARS], -1, -1, "rival"))
        return group if len(group) == rivals + 1 else []


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({k: getattr(sources, k) for k in ("Sentence", "Said", "Talk")})
    main()
