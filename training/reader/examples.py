"""Parsed dialogues -> pairs of question and passage with the place of the answer, or with none.

python training/reader/examples.py --work WORK --out WORK/examples.pickle

A passage is a turn with the end of the turn before it, told as its speaker would: "you: What do you do? i: I paint."
A question about its speaker says "i", one about the other "you" (see `doxa.reason.spans`, which asks in the same way).
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sources
from clauses import questions
from sources import Said, Talk
from trees import OWN, SPEAKER, Asked, lexicon

from doxa.language import stems

MOST_CHARS = 440
WH = ("what", "who", "where", "when", "why", "how", "which", "whose")
INTERJECTION = re.compile(r"^(?:so|oh|and|but|well|wow|cool|nice|hey|hi|ok|okay|yeah|yes|no|that's \w+)[,!. ]+", re.I)
OPENINGS = ("a photo of ", "a photography of ", "")
FILLERS = (
    "Thanks!",
    "That sounds great!",
    "Wow, that is so cool!",
    "I know what you mean.",
    "Hey there, good to see you!",
    "It's been a while.",
    "That's awesome, congrats!",
    "I totally agree with you.",
    "Yeah, for sure.",
    "I really appreciate your support.",
    "Check it out!",
    "Take a look at this!",
    "Guess what!",
    "It means a lot to me.",
)
SEEN = (
    "what did S share a photo of",
    "what does S's photo show",
    "what was in the picture that S shared",
    "what did S take a picture of",
    "what is in the photo of S",
    "what did S show O",
    "what photo did S share",
)


@dataclass(frozen=True, slots=True)
class Example:
    """A pair; `first` and `last` are the characters of the answer in the passage, -1 where it has none."""

    question: str
    passage: str
    first: int
    last: int
    kind: str


@dataclass(frozen=True, slots=True)
class Place:
    """A passage with the turn it is made of and where the turn's text begins in it."""

    passage: str
    turn: Said
    offset: int


def framed(question: str, *, swapped: bool = False) -> str:
    """A question told to the speaker of a passage: S is "i" and O "you", or the other way round."""
    mine, yours = (("you", "your"), ("i", "my")) if swapped else (("i", "my"), ("you", "your"))
    for mark, (name, own) in (("S", mine), ("O", yours)):
        question = re.sub(rf"\b{mark}'s\b", own, question)
        question = re.sub(rf"\b{mark}\b", name, question)
    return question.lower()


def place(talk: Talk, at: int, chance: random.Random) -> Place | None:
    """The passage of a turn: what the other said last, at times an earlier turn of the same speaker or small talk."""
    turn = talk.turns[at]
    before = ""
    if at and talk.turns[at - 1].speaker != turn.speaker and chance.random() < 0.8:
        last = talk.turns[at - 1].text[-120:]
        before = f"you: {last[last.find(' ') + 1 :] if len(last) == 120 else last} "
    own = ""
    if len(turn.text) < 200:
        for back in (at - 2, at - 4):
            if back >= 0 and talk.turns[back].speaker == turn.speaker and chance.random() < 0.35:
                own = f"{talk.turns[back].text} {own}"
        if chance.random() < 0.25:
            own = f"{chance.choice(FILLERS)} {own}"
    lead = f"{before}i: {own}"
    if len(lead) + len(turn.text) > MOST_CHARS:
        lead = "i: "
    return Place(lead + turn.text, turn, len(lead))


def window(passage: str, first: int, last: int) -> tuple[str, int, int]:
    """A passage cut to its longest size round the answer, at spaces."""
    if len(passage) <= MOST_CHARS:
        return passage, first, last
    start = max(0, min(max(first, 0) - MOST_CHARS // 2, len(passage) - MOST_CHARS))
    if start:
        start = passage.find(" ", start) + 1
    cut = passage[start : start + MOST_CHARS - 3]
    return f"i: {cut}" if start else cut, first - start + (3 if start else 0), last - start + (3 if start else 0)


def synonyms(word: str, pos: str) -> list[str]:
    """Other words for the most usual sense of a word."""
    senses = sorted(lexicon().senses(word, pos), key=lambda sense: -sense.count)  # type: ignore[attr-defined]
    return [w for sense in senses[:1] for w in sense.words if w != word and "_" not in w and w.islower()]


def reworded(question: str, chance: random.Random) -> str:
    """A question in which some words are replaced by synonyms, or left out."""
    words = question.rstrip("?").split()
    for at in range(1, len(words)):
        if chance.random() < 0.16 and len(words[at]) > 3 and words[at].islower():
            others = (
                synonyms(words[at], "v") if at > 1 and words[at - 1] in ("S", "O", "to") else synonyms(words[at], "n")
            )
            if others:
                words[at] = chance.choice(others)
    if len(words) > 5 and chance.random() < 0.15:
        words = words[: chance.randrange(4, len(words))]
    return " ".join(words) + "?"


def of_statements(talk: Talk, chance: random.Random) -> Iterator[tuple[str, int, int, int, str]]:
    """Yield questions over the sentences of a dialogue: text, turn, first and last character, kind."""
    for at, turn in enumerate(talk.turns):
        for sentence in turn.sentences:
            if sentence.parse is None:
                continue
            for asked in questions(sentence.parse, chance):
                yield asked.text, at, sentence.spans[asked.first][0], sentence.spans[asked.last][1], asked.kind


def of_notes(talk: Talk, chance: random.Random) -> Iterator[tuple[str, int, int, int, str]]:
    """Yield questions made of what is known of a speaker, over the turn that says it in its own words."""
    for note in talk.notes:
        for sentence in note.sentences:
            if sentence.parse is None:
                continue
            for asked in questions(sentence.parse, chance):
                answer = note.text[sentence.spans[asked.first][0] : sentence.spans[asked.last][1]]
                found = _found(talk, note.speaker, asked, answer)
                if found:
                    yield asked.text, *found, f"note {asked.kind}"


def _found(talk: Talk, speaker: int, asked: Asked, answer: str) -> tuple[int, int, int] | None:
    bare = re.sub(r"^(?:a|an|the|my|to|our|some) ", "", answer.strip(), flags=re.I)
    if len(bare) < 3:
        return None
    topic = set(stems(asked.text)) - set(stems(bare))
    best: tuple[int, int, int, int] | None = None
    for at, turn in enumerate(talk.turns):
        if turn.speaker != speaker:
            continue
        match = re.search(rf"\b(?:(?:a|an|the|my|our|some) )?{re.escape(bare)}\b", turn.text, re.I)
        if match:
            shared = len(topic & set(stems(turn.text)))
            if best is None or shared > best[0]:
                best = (shared, at, match.start(), match.end())
    if best is None or (best[0] < 1 and len(bare.split()) < 2):
        return None
    return best[1:]


def of_replies(talk: Talk, chance: random.Random) -> Iterator[tuple[str, int, int, int, str]]:
    """Yield what one speaker asks the other, over the reply: the part of it that answers a question most like it."""
    for at in range(len(talk.turns) - 1):
        turn, reply = talk.turns[at], talk.turns[at + 1]
        if turn.speaker == reply.speaker or not turn.text.rstrip().endswith("?"):
            continue
        sentence = turn.sentences[-1] if turn.sentences else None
        if sentence is None or sentence.parse is None:
            continue
        text = turn.text[sentence.spans[0][0] : sentence.spans[-1][1]]
        asked = _turned(text)
        if asked is None:
            continue
        span = _answered(asked, reply, chance)
        if span:
            yield asked, at + 1, *span, "reply"


def _turned(text: str) -> str | None:
    """A question put to somebody as a question about them."""
    while (shorter := INTERJECTION.sub("", text)) != text:
        text = shorter
    words = re.findall(r"[A-Za-z0-9']+", text)
    if (
        not words
        or words[0].lower().split("'")[0] not in WH
        or len(words) > 18
        or "about" in [w.lower() for w in words[1:2]]
    ):
        return None
    flat: list[str] = []
    for word in words:
        low = word.lower()
        base = low.removesuffix("'s")
        flat += [base, "is"] if low != base and base in WH else [word]
    turned, you = [], False
    for at, word in enumerate(flat):
        low = word.lower()
        after = flat[at + 1].lower() if at + 1 < len(flat) else ""
        if after == "you" and low in ("do", "are", "have", "were"):
            turned.append({"do": "does", "are": "is", "have": "has", "were": "was"}[low])
        elif low in ("you", "your", "yours", "yourself"):
            turned.append({"you": "S", "your": "S's", "yours": "S's", "yourself": "herself"}[low])
            you = True
        elif low in SPEAKER | {"i'm"}:
            turned.append("O")
        elif low in OWN:
            turned.append("O's")
        else:
            turned.append(word)
    if not you or not set(stems(text)) - set(stems("be do have name go like think you up know")):
        return None
    return " ".join(turned) + "?"


SAME = {
    "what": {"object", "kind", "deed", "is", "name", "oblique", "inner", "clause"},
    "which": {"object", "kind", "is", "name"},
    "where": {"place", "oblique"},
    "when": {"time"},
    "who": {"company", "name", "is", "object"},
    "why": {"why", "clause"},
    "how": {"how", "means", "deed"},
}


def _answered(asked: str, reply: Said, chance: random.Random) -> tuple[int, int] | None:
    first = asked.split()[0].lower()
    goal, topic = SAME.get(first, set()), set(stems(asked))
    best: tuple[float, int, int] | None = None
    if asked.lower().startswith(("how long", "how often", "how many", "how much", "how old")):
        goal = {"how long": {"duration", "time"}, "how often": {"frequency", "time"}}.get(
            asked.lower()[:8].strip(), {"count", "amount"}
        )
    for order, sentence in enumerate(reply.sentences[:2]):
        if sentence.parse is None:
            continue
        start, end = sentence.spans[0][0], sentence.spans[-1][1]
        text = reply.text[start:end]
        if text.endswith("?"):
            continue
        for made in questions(sentence.parse, chance):
            if made.kind not in goal:
                continue
            answer = set(stems(reply.text[sentence.spans[made.first][0] : sentence.spans[made.last][1]]))
            fit = (
                len(topic & set(stems(made.text)))
                - 0.7 * len(topic & answer)
                - 0.5 * order
                + (0.3 if made.kind in ("object", "is", "name") else 0)
            )
            if best is None or fit > best[0]:
                best = (fit, sentence.spans[made.first][0], sentence.spans[made.last][1])
        if (
            best is None
            and order == 0
            and "VERB" not in sentence.parse.upos
            and "AUX" not in sentence.parse.upos
            and 0 < len(text.split()) < 9
        ):
            bare = text.rstrip(".!,")
            if set(stems(bare)):
                return start, start + len(bare)
    return (best[1], best[2]) if best and best[0] > -0.4 else None


class Elsewhere:
    """Turns of all dialogues by the words in them: where a question finds most of its words, and not its answer."""

    def __init__(self, talks: list[Talk], captions: list[str]) -> None:
        self.talks, self.captions = talks, captions
        self.places: dict[str, list[tuple[int, int]]] = {}
        for number, talk in enumerate(talks):
            for at, turn in enumerate(talk.turns):
                for stem in set(stems(turn.text)):
                    self.places.setdefault(stem, []).append((number, at))

    def find(self, topic: set[str], bare: str, chance: random.Random) -> Place | None:
        """A passage with some of the words of a question, but not all of them, and without its answer."""
        rare = sorted((len(self.places[stem]), stem) for stem in topic if stem in self.places)[:3]
        pool = [
            place for _, stem in rare for place in chance.sample(self.places[stem], min(12, len(self.places[stem])))
        ]
        ranked = []
        for number, at in pool:
            text = self.talks[number].turns[at].text
            shared = len(topic & set(stems(text)))
            if shared < len(topic) and bare not in text.lower():
                ranked.append((shared + chance.random(), number, at))
        if not ranked:
            return None
        _, number, at = max(ranked)
        found = place(self.talks[number], at, chance)
        return found if found and bare not in found.passage.lower() else None

    def pictured(self, passage: str, chance: random.Random) -> str:
        """A passage, at times with a photo behind it that has nothing to do with it."""
        if chance.random() > 0.22 or len(passage) > MOST_CHARS - 80:
            return passage
        return f"{passage} [image: {chance.choice(OPENINGS)}{chance.choice(self.captions)}]"


def corrupted(question: str, chance: random.Random, words: list[str]) -> str | None:
    """A question with one of its nouns or verbs replaced by that of another question: it is not answered."""
    parts = question.rstrip("?").split()
    places = [at for at, word in enumerate(parts) if at > 1 and len(word) > 3 and word.islower() and set(stems(word))]
    if not places or not words:
        return None
    at = chance.choice(places)
    parts[at] = chance.choice(words)
    return None if set(stems(parts[at])) & set(stems(question)) else " ".join(parts) + "?"


def of_talk(talk: Talk, elsewhere: Elsewhere, chance: random.Random, *, most: int) -> Iterator[Example]:
    """Yield the examples of a dialogue: its questions over the right passage and over wrong ones."""
    natural = [*of_notes(talk, chance), *of_replies(talk, chance)]
    plain = list(of_statements(talk, chance))
    chance.shuffle(plain)
    limits: dict[str, int] = {}
    chosen = list(natural)
    for item in plain:
        if len(chosen) >= most + len(natural):
            break
        limits[item[4]] = limits.get(item[4], 0) + 1
        if limits[item[4]] <= max(2, most // 6):
            chosen.append(item)
    for text, at, first, last, kind in chosen:
        where = place(talk, at, chance)
        if where is None:
            continue
        answer = where.turn.text[first:last]
        if not answer.strip() or (set(stems(answer)) <= set(stems(text)) and set(stems(answer))):
            continue
        asked = text if kind == "reply" or chance.random() < 0.35 else reworded(text, chance)
        passage, begin, end = window(where.passage, where.offset + first, where.offset + last)
        if chance.random() < 0.85:
            yield Example(framed(asked), elsewhere.pictured(passage, chance), begin, end, kind)
        for one in _wrong(talk, elsewhere, asked, at, answer, first, last, chance):
            yield Example(one.question, elsewhere.pictured(one.passage, chance), -1, -1, one.kind)
        if chance.random() < 0.12:
            words = [
                w
                for item in chance.sample(chosen, min(4, len(chosen)))
                for w in item[0].rstrip("?").split()[2:]
                if len(w) > 3 and w.islower()
            ]
            wrong = corrupted(asked, chance, words)
            if wrong:
                yield Example(framed(wrong), passage, -1, -1, "other word")


def _wrong(
    talk: Talk, elsewhere: Elsewhere, asked: str, at: int, answer: str, first: int, last: int, chance: random.Random
) -> Iterator[Example]:
    """Yield the question where it has no answer: of the other person, elsewhere, or with the sentence taken out."""
    draw = chance.random()
    bare = answer.lower()
    if draw < 0.33 and re.search(r"\b[SO]\b", asked):
        where = place(talk, at, chance)
        assert where is not None
        yield Example(
            framed(asked, swapped=True), window(where.passage, where.offset + first, 0)[0], -1, -1, "other person"
        )
    elif draw < 0.55:
        topic = set(stems(asked))
        ranked = sorted(
            (len(topic & set(stems(turn.text))) + chance.random(), index)
            for index, turn in enumerate(talk.turns)
            if index != at and bare not in turn.text.lower()
        )
        for _, index in ranked[-1:]:
            where = place(talk, index, chance)
            if where is not None and bare not in where.passage.lower():
                swapped = talk.turns[index].speaker != talk.turns[at].speaker
                yield Example(framed(asked, swapped=swapped), where.passage[:MOST_CHARS], -1, -1, "elsewhere")
    elif draw < 0.85:
        where = elsewhere.find(set(stems(asked)), bare, chance)
        if where is not None:
            yield Example(framed(asked), where.passage[:MOST_CHARS], -1, -1, "alike")
    elif draw < 0.95:
        where = place(talk, at, chance)
        assert where is not None
        for sentence in where.turn.sentences:
            start, end = sentence.spans[0][0], sentence.spans[-1][1]
            if start <= first < end and len(where.turn.sentences) > 1:
                left = (where.passage[: where.offset] + where.turn.text[:start] + where.turn.text[end:]).strip()
                if bare not in left.lower():
                    yield Example(framed(asked), left[:MOST_CHARS], -1, -1, "taken out")


def of_captions(talks: list[Talk], chance: random.Random) -> Iterator[Example]:
    """Yield questions about photos, which stand in a turn as "[image: a photo of ...]"."""
    for at, talk in enumerate(talks):
        caption = talk.turns[0].text.rstrip(". ")
        lead = f"i: {chance.choice(FILLERS)} {chance.choice(FILLERS)} [image: {chance.choice(OPENINGS)}"
        passage = f"{lead}{caption.lower()}]"
        if at % 3 == 0:
            asked = chance.choice(SEEN)
            yield Example(framed(asked), passage, len(lead), len(passage) - 1, "photo")
            if chance.random() < 0.6:
                yield Example(framed(asked, swapped=True), passage, -1, -1, "other photo")
        for asked, _turn, first, last, kind in of_notes(talk, chance):
            yield Example(framed(asked), passage, len(lead) + first, len(lead) + last, kind)
            other = chance.choice(talks).turns[0].text.lower()
            if chance.random() < 0.6 and caption[first:last].lower() not in other:
                yield Example(framed(asked), f"{lead}{other}]", -1, -1, "elsewhere")


def of_longmemeval(data: Path, half: int, chance: random.Random) -> Iterator[Example]:
    """Yield the questions of one half of LongMemEval whose answer stands in a turn, there and elsewhere."""
    items = json.loads((data / "open/longmemeval/longmemeval_evidence_turns_500.json").read_text(encoding="utf-8"))
    kept = [item for at, item in enumerate(items) if at % 2 == half and item["evidence_sessions"]]
    for item in kept:
        found = False
        for session in item["evidence_sessions"]:
            for turn in session["turns"]:
                match = _stated(str(item["answer"]), turn["content"])
                swapped = turn["role"] == "assistant"
                if match:
                    found = True
                    passage, first, last = window("i: " + turn["content"], match[0] + 3, match[1] + 3)
                    yield Example(own_question(item["question"], swapped), passage, first, last, "longmemeval")
        if found or "not enough" in str(item["answer"]):
            for other in chance.sample(kept, 2):
                turns = chance.choice(other["evidence_sessions"])["turns"]
                if not turns:
                    continue
                turn = chance.choice(turns)
                if other is not item and not _stated(str(item["answer"]), turn["content"]):
                    yield Example(
                        own_question(item["question"], turn["role"] == "assistant"),
                        window("i: " + turn["content"], 0, 0)[0],
                        -1,
                        -1,
                        "longmemeval none",
                    )


def own_question(question: str, swapped: bool) -> str:
    """A question of the user to the assistant, told to the speaker of the turn."""
    if swapped:
        mark = {"i": "you", "me": "you", "my": "your", "you": "i", "your": "my", "i'm": "you're"}
        return re.sub(r"\b(?:i'm|i|me|my|you|your)\b", lambda m: mark[m[0]], question.lower())
    return question.lower()


def _stated(answer: str, text: str) -> tuple[int, int] | None:
    bare = re.sub(r"^(?:the|a|an|my|your|about) |[.]$", "", re.sub(r"\bYou\b", "I", answer.strip()))
    bare = re.split(r"\. |\(", bare)[0].strip().rstrip(".")
    if not bare or len(bare) > 120:
        return None
    match = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.I)
    return (match.start(), match.end()) if match else None


def main() -> None:
    """Make all examples and write them."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--work", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = reader.parse_args()
    chance = random.Random(args.seed)
    found: list[Example] = []
    captions = pickle.loads((args.work / "snli.pickle").read_bytes())
    shown = [talk.turns[0].text.rstrip(". ").lower() for talk in captions]
    for name, most in (("persona", 10), ("longmemeval", 30), ("sgd", 10), ("carb", 4), ("genericskb", 4)):
        path = args.work / f"{name}.pickle"
        if not path.exists():
            continue
        talks: list[Talk] = pickle.loads(path.read_bytes())
        before = len(found)
        elsewhere = Elsewhere(talks, shown)
        for talk in talks:
            found += of_talk(talk, elsewhere, chance, most=most)
        print(name, len(talks), "dialogues,", len(found) - before, "examples", flush=True)
    before = len(found)
    found += of_captions(captions, chance)
    print("snli", len(found) - before)
    own = list(of_longmemeval(args.data, 0, chance))
    print("longmemeval questions", len(own))
    chance.shuffle(found)
    args.out.write_bytes(pickle.dumps({"made": found, "asked": own, "folder": args.data}))
    print(len(found), "examples,", sum(one.first >= 0 for one in found), "with an answer")


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({k: getattr(sources, k) for k in ("Sentence", "Said", "Talk")})
    main()
