"""Questions over dialogues -> groups of passages, as a search finds them: those that answer, and their rivals.

python training/reader/groups.py --out WORK/groups.pickle

Of each source a group is one question with at most `SIZE` passages, made as in use (`doxa.reason.spans.passage_of`): a
turn as its speaker tells it, behind the end of what the other said before. The rivals are the turns nearest in meaning
that do not answer; so the reader learns what it is for, to tell the one that answers from those that are alike.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from doxa.backends.encoder.onnx import open_encoder
from doxa.core.values import Role, Turn
from doxa.language import stems
from doxa.reason.spans import PassageReader, passage_of

CORPUS = Path(__file__).parents[1] / "corpus"
sys.path.insert(0, str(CORPUS))
from corpus import CorpusError, read_dialogues  # noqa: E402
from questions import Question, read_questions  # noqa: E402

NEVER = frozenset({"W6"})
"""Held out: measured on, never read here."""
SIZE = 6
ELSEWHERE = 2
"""Rivals of a group that are of other dialogues of the file, told by the people of this one."""
OVERLAP = 0.6
"""Share of words (F1) from which a part of a turn counts as its answer in other words."""
WORDS = re.compile(r"\w[\w'’-]*")
ARTICLE = re.compile(r"^(?:a|an|the|my|your|his|her|their|our|in|on|at|to|about|with|by|for|\w+'s) ", re.I)
DAY = datetime(2026, 1, 1, tzinfo=UTC)
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with whether it answers, and the characters of what answers where it stands in so many words."""

    question: str
    text: str
    answers: bool
    spans: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A question with passages."""

    source: str
    kind: str
    passages: tuple[Passage, ...]


def main() -> None:
    """Make the groups of all sources and write them."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    reader.add_argument("--seed", type=int, default=1)
    args = reader.parse_args()
    chance = random.Random(args.seed)
    near = Near()
    found: list[Group] = []
    for path in sorted((CORPUS / "questions").glob("*.txt")):
        if path.stem not in NEVER:
            found += of_file(path, near, chance)
    found += of_longmemeval(args.data, near)
    found += of_qamr(args.data, near)
    args.out.write_bytes(pickle.dumps(found))
    for source in dict.fromkeys(group.source for group in found):
        own = [group for group in found if group.source == source]
        passages = [one for group in own for one in group.passages]
        spans = sum(bool(one.spans) for one in passages)
        print(f"{source}: {len(own)} questions, {len(passages)} passages, {spans} with a span")


class Near:
    """Ranks texts by meaning beside a question."""

    def __init__(self) -> None:
        self.encoder = open_encoder("")

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors `(n, dims)`."""
        return np.concatenate([self.encoder.encode(texts[at : at + 256]) for at in range(0, len(texts), 256)])


def of_file(path: Path, near: Near, chance: random.Random) -> list[Group]:
    """The groups of the questions over one file of annotated dialogues."""
    (dialogues_of,) = [one for one in CORPUS.glob(f"*/{path.name}") if one.parent.name in ("train", "dev", "asked")]
    dialogues = {one.id: one for one in read_dialogues(dialogues_of)}
    try:
        asked = read_questions(path, list(dialogues.values()))
    except CorpusError as exc:
        sys.exit(str(exc))
    turns = {key: told(one.id, [(turn.speaker, turn.text) for turn in one.turns]) for key, one in dialogues.items()}
    every = [(key, at) for key, one in turns.items() for at in range(len(one))]
    vectors = near.vectors([turns[key][at].text for key, at in every])
    likeness = near.vectors([one.text for one in asked]) @ vectors.T
    groups = []
    for question, row in zip(asked, likeness, strict=True):
        order = [every[at] for at in np.argsort(-row)[:60]]
        own = [at for at in np.argsort(-row) if every[at][0] == question.dialogue]
        rivals = [(turns[question.dialogue], every[at][1]) for at in own]
        other = [retold(turns[key], at, turns[question.dialogue]) for key, at in order if key != question.dialogue]
        chance.shuffle(other)
        groups.append(of_question(question, turns[question.dialogue], rivals, other, path.stem))
    return [group for group in groups if group.passages]


def told(name: str, said: Sequence[tuple[str, str]]) -> list[Turn]:
    """Turns as a memory has them."""
    return [turn_of(f"{name}-{at}", speaker, "user", text) for at, (speaker, text) in enumerate(said)]


def turn_of(key: str, speaker: str, role: Role, text: str) -> Turn:
    """A turn of which only the words and who says them matter."""
    return Turn(turn_id=key, user="user", session="", speaker=speaker, role=role, text=text, at=DAY)


def retold(turns: Sequence[Turn], at: int, people: Sequence[Turn]) -> tuple[list[Turn], int]:
    """A turn of another dialogue, with the one before it, as those of this one would say it."""
    names = list(dict.fromkeys(one.speaker for one in people))
    place = {name: names[index % len(names)] for index, name in enumerate(dict.fromkeys(t.speaker for t in turns))}
    part = turns[max(at - 1, 0) : at + 1]
    return told(f"{turns[at].turn_id}/", [(place[one.speaker], one.text) for one in part]), len(part) - 1


def of_question(
    question: Question,
    turns: list[Turn],
    rivals: Sequence[tuple[list[Turn], int]],
    elsewhere: Sequence[tuple[list[Turn], int]],
    source: str,
) -> Group:
    """The passages of one question: its turns, the nearest other ones of the dialogue, and some of other dialogues."""
    asker = question.asker or "user"
    made = [(at, passage(question, turns, at, asker, answers=True)) for at in question.turns]
    stating = [(at, one) for at, one in made if one.spans]
    right = stating or (made if question.kind != "hop" else made[-1:])
    right = right[: SIZE // 2]
    own, other = (
        [passage(question, by, at, asker, answers=False) for by, at in part if is_rival(question, by[at])]
        for part in ([one for one in rivals if one[1] not in question.turns], elsewhere[: 2 * ELSEWHERE])
    )
    own = own[: SIZE - ELSEWHERE - len(right)]
    return Group(source, question.kind, (*[one for _, one in right], *own, *other[: SIZE - len(right) - len(own)]))


def passage(question: Question, turns: Sequence[Turn], at: int, asker: str, *, answers: bool) -> Passage:
    """One turn as it is read for a question."""
    before = turns[at - 1] if at else None
    made = passage_of(question.text, turns[at], PassageReader(lambda _: [], lambda _: before), asker=asker)
    asked, text = made.pair
    spans = spans_in(question.answers, text, made.lead, asker) if answers else ()
    return Passage(asked, text, answers, spans)


def is_rival(question: Question, turn: Turn) -> bool:
    """Tell whether a turn holds none of the answers in so many words."""
    return not any(exact(one, turn.text, 0) for one in question.answers if one not in ("yes", "no"))


def spans_in(answers: Sequence[str], text: str, lead: int, asker: str) -> tuple[Place, ...]:
    """Where answers stand in a passage behind its lead: in so many words, or in words that are mostly the same."""
    found = []
    for answer in answers:
        if answer not in ("yes", "no"):
            found += [place] if (place := exact(answer, text, lead) or alike(answer, text, lead)) else []
    return tuple(dict.fromkeys(found))


def exact(answer: str, text: str, lead: int) -> Place | None:
    """The characters of an answer, less its article, in a text."""
    bare = ARTICLE.sub("", answer.strip(" ."))
    match = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text[lead:], re.IGNORECASE)
    return (match.start() + lead, match.end() + lead) if match else None


def alike(answer: str, text: str, lead: int) -> Place | None:
    """The characters of the part of a text that shares most stems with an answer of two words or more."""
    wanted = [stem for word in WORDS.findall(ARTICLE.sub("", answer)) if (stem := stem_of(word))]
    if len(wanted) < 2:
        return None
    words = [(match.start(), match.end(), stem_of(match[0])) for match in WORDS.finditer(text, lead)]
    best: tuple[float, Place] = (OVERLAP, (0, 0))
    for first in range(len(words)):
        for last in range(first, min(first + 2 * len(wanted) + 2, len(words))):
            part = [stem for *_, stem in words[first : last + 1] if stem]
            shared = len(set(part) & set(wanted))
            f1 = 2 * shared / (len(part) + len(wanted))
            if f1 > best[0] and words[first][2] in wanted and words[last][2] in wanted:
                best = (f1, (words[first][0], words[last][1]))
    return best[1] if best[0] > OVERLAP else None


def stem_of(word: str) -> str:
    """The stem of a word; empty for one that means little."""
    return next(iter(stems(word)), "")


def of_longmemeval(data: Path, near: Near) -> Iterator[Group]:
    """The questions of every other item of LongMemEval over the turns of their evidence sessions."""
    items = json.loads((data / "open/longmemeval/longmemeval_evidence_turns_500.json").read_text(encoding="utf-8"))
    for item in items[::2]:
        question = Question("", "user", item["question"], (re.split(r"\. |\(", str(item["answer"]))[0],), (), "one")
        known = "not enough" not in str(item["answer"])
        turns = [
            turn_of(f"{at}", one["role"], one["role"], one["content"])
            for at, one in enumerate(turn for session in item["evidence_sessions"] for turn in session["turns"])
        ]
        if not turns:
            continue
        order = np.argsort(-(near.vectors([question.text]) @ near.vectors([one.text for one in turns]).T)[0])
        made = [passage(question, turns, int(at), "user", answers=known) for at in order[:SIZE]]
        right = [one for one in made if one.spans]
        if right or not known:
            wrong = [Passage(one.question, one.text, False) for one in made if not one.spans]
            yield Group("longmemeval", "one", tuple((right + wrong)[:SIZE]))


def of_qamr(data: Path, near: Near) -> Iterator[Group]:
    """The questions of QAMR over their sentence and the two nearest ones of other articles."""
    sentences: dict[str, list[tuple[str, str]]] = {}
    for name in ("dev", "test"):
        lines = (data / "open/qamr/data/readable" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        for line, after in pairwise(lines):
            if line.startswith("#"):
                kept = sentences.setdefault(after, [])
            elif "?" in line and (answers := re.split(r"\t|\s{2,}", line.split("?", 1)[1].strip())):
                kept += [(line.split("?", 1)[0].strip() + "?", answer) for answer in answers[:1]]
    texts = list(sentences)
    vectors = near.vectors(texts)
    nearest = [np.argsort(-row)[1:3] for row in vectors @ vectors.T]
    for at, (text, asked) in enumerate(sentences.items()):
        for question, answer in asked:
            place = exact(answer, f"i: {text}", 3)
            if place is not None:
                rivals = [Passage(question.lower(), f"i: {texts[one]}", False) for one in nearest[at]]
                right = Passage(question.lower(), f"i: {text}", True, (place,))
                yield Group("qamr", "one", (right, *rivals))


if __name__ == "__main__":
    main()
