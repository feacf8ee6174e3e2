"""Conversations with questions whose evidence is known, to fit what ranks turns: from open data alone.

- Synthetic-Persona-Chat: chats of two people are joined into long dated conversations of one pair. A question that one
  asks the other becomes a question about the other ("What do you do?" -> "What does Ana do?"), the reply is its
  evidence, and seven times in ten the question itself is taken out, since people seldom ask twice. One question in five
  names the wrong one of the two: who asks a memory is mistaken at times, and what is asked for is there all the same.
- LongMemEval: what 500 questions rest on, and sessions of other users between them, as one memory.
- Worlds of preferences: the training split of the implicit benchmark (`doxa_bench.implicit`), which shares no frame,
  thing or question with the split that is measured.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from doxa.language import stems
from doxa_bench.implicit import draw_dialogues, read_chatter

__all__ = ["Conversation", "Line", "Question", "draw_worlds", "read_longmemeval", "read_persona_chats"]

NAMES = (
    "Alice Ben Clara David Elena Frank Grace Henry Irene Jack Karen Leo Maria Nathan Olivia Peter Quinn Rachel Sam "
    "Tina Victor Wendy Zoe Hannah Oscar Ruth Simon Laura Mark Nina"
).split()
CHATS, SHORTEST = 18, 8
"""Chats that are joined, and the turns of the shortest one that is taken."""
TAKEN_OUT, MISTAKEN = 0.7, 0.2
ADVICE = frozenset({"recommendation", "preference"})
"""Kinds of questions in the worlds that want advice."""
SENTENCE = re.compile(r"[^.!?]+[.!?]+|[^.!?]+$")
TURN = re.compile(r"\s*User ([12]): ?(.*)")
LEAD = re.compile(r"^\W*(?:(?:so|oh|wow|and|but|well|really|cool|nice|yeah|yes|ok|okay|hi|hello|hey)\b[,.! ]*)+", re.I)
SECOND = re.compile(r"\byou(?:r|rs)?\b|\byou've", re.IGNORECASE)
SMALL_TALK = re.compile(
    r"\b(?:how|what) about you|how are you|how(?:'s| is) (?:it|your day)|how've you been|how do you do\b", re.IGNORECASE
)
THIRD = tuple(
    (re.compile(pattern, re.IGNORECASE), text)
    for pattern, text in (
        (r"\bdo you\b", "does {}"),
        (r"\bare you\b", "is {}"),
        (r"\bhave you\b", "has {}"),
        (r"\bwere you\b", "was {}"),
        (r"\byou(?:'re| are)\b", "{} is"),
        (r"\byou(?:'ve| have)\b", "{} has"),
        (r"\byou'd\b", "{} would"),
        (r"\byours?\b", "{}'s"),
        (r"\byou(?:rself)?\b", "{}"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One turn of a conversation."""

    turn_id: str
    text: str
    speaker: str
    role: str
    session: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the ids of the turns that it rests on."""

    text: str
    evidence: frozenset[str]
    kind: str
    at: datetime | None = None
    after: int | None = None
    """How many turns had been said when it was asked; None is all."""
    advice: bool = False
    """It wants advice, whatever its words."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The memory of one user, and what is asked of it."""

    name: str
    lines: list[Line] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def say(self, text: str, speaker: str, role: str, session: str, at: datetime) -> str:
        """Append a turn and return its id."""
        turn_id = f"{self.name}:{len(self.lines)}"
        self.lines.append(Line(turn_id=turn_id, text=text, speaker=speaker, role=role, session=session, at=at))
        return turn_id


def read_persona_chats(data: Path, *, seed: int = 0) -> Iterator[Conversation]:
    """Yield conversations of two people, about 450 turns and 60 questions each. Deterministic for a seed."""
    rng, chats = random.Random(seed), list(_chats(data))
    rng.shuffle(chats)
    for first in range(0, len(chats) - CHATS + 1, CHATS):
        names = rng.sample(NAMES, 2)
        conversation = Conversation(name=f"persona-{first // CHATS}")
        day = datetime(2022, 1, 5, 10, tzinfo=UTC) + timedelta(days=rng.randrange(300))
        for number, chat in enumerate(chats[first : first + CHATS]):
            day += timedelta(days=rng.randrange(3, 20), hours=rng.randrange(5))
            _join(conversation, chat, names, f"s{number}", day, rng)
        conversation.questions[:] = _told_apart(conversation.questions)
        yield conversation


def read_longmemeval(data: Path) -> Conversation:
    """Return one memory with the evidence of all answerable questions, in order of time."""
    folder = data / "open" / "longmemeval"
    items = json.loads((folder / "longmemeval_evidence_turns_500.json").read_text(encoding="utf-8"))
    pool = json.loads((folder / "haystack_session_pool.json").read_text(encoding="utf-8"))
    sessions = [(_when(session["date"]), session["session_id"], session["turns"], "") for session in pool]
    for item in items:
        for number, session in enumerate(item["evidence_sessions"]):
            key = item["question_id"]
            sessions.append((_when(session["date"]), f"{key}-{number}", session["turns"], key))
    conversation, known, evidence = Conversation(name="longmemeval"), dict[str, str](), dict[str, set[str]]()
    for at, session, turns, key in sorted(sessions, key=lambda row: row[:2]):
        for number, turn in enumerate(turns):
            text = turn["content"].strip()
            if not (key and text in known):
                later = at + timedelta(minutes=number)
                known[text] = conversation.say(text, turn["role"], turn["role"], session, later)
            if key:
                evidence.setdefault(key, set()).add(known[text])
    conversation.questions += [
        Question(
            text=item["question"],
            evidence=frozenset(evidence[item["question_id"]]),
            kind=item["question_type"],
            at=_when(item["question_date"]),
        )
        for item in items
        if item["question_id"] in evidence and not item["question_id"].endswith("_abs")
    ]
    return conversation


def draw_worlds(data: Path, count: int, *, seed: int = 3) -> Iterator[Conversation]:
    """Yield dialogues of the training split, about 80 turns each, with what is asked without the words."""
    chatter = read_chatter(data, "train")
    for number, dialogue in enumerate(draw_dialogues(count, seed=seed, split="train", chatter=chatter)):
        conversation, ids = Conversation(name=f"world-{number}"), dict[str, str]()
        for turn in dialogue.turns:
            ids[turn.turn_id] = conversation.say(turn.text, turn.speaker, turn.role, turn.session, turn.at)
        conversation.questions += [
            Question(
                text=query.text,
                evidence=frozenset(ids[turn_id] for turn_id in query.gold),
                kind=query.kind,
                at=dialogue.turns[query.after - 1].at,
                after=query.after,
                advice=query.kind in ADVICE,
            )
            for query in dialogue.queries
        ]
        yield conversation


def _chats(data: Path) -> Iterator[list[tuple[int, str]]]:
    csv.field_size_limit(1 << 24)
    for part in ("valid", "test"):
        path = data / "open" / "synthetic_persona_chat" / f"Synthetic-Persona-Chat_{part}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found = map(TURN.match, row["Best Generated Conversation"].split("\n"))
                turns = [(int(match[1]) - 1, match[2].strip()) for match in found if match and match[2].strip()]
                if len(turns) >= SHORTEST and not any("[" in text for _, text in turns):
                    yield turns


def _join(
    conversation: Conversation,
    turns: list[tuple[int, str]],
    names: list[str],
    session: str,
    day: datetime,
    rng: random.Random,
) -> None:
    """Append a chat; every question with an answer becomes a question about who answered."""
    waiting = ""
    for number, (who, text) in enumerate(turns):
        at = day + timedelta(minutes=number)
        asked, rest = _asked(text)
        answer = turns[number + 1][1] if number + 1 < len(turns) and turns[number + 1][0] != who else ""
        fits = bool(asked and answer) and not waiting and _answers(asked, answer)
        if fits and rng.random() < TAKEN_OUT:
            text = rest if len(rest.split()) >= 3 else ""
        turn_id = conversation.say(text, names[who], "user", session, at) if text else ""
        if waiting and turn_id:
            mistaken = rng.random() < MISTAKEN
            about = names[1 - who] if mistaken else names[who]
            kind = "mistaken" if mistaken else "asked"
            question = Question(text=_of(waiting, about), evidence=frozenset({turn_id}), kind=kind)
            conversation.questions.append(question)
        waiting = asked if fits else ""


def _asked(text: str) -> tuple[str, str]:
    """Return the last question of a text, and the text without it."""
    sentences = [sentence.strip() for sentence in SENTENCE.findall(text) if sentence.strip()]
    asked = [sentence for sentence in sentences if sentence.endswith("?")]
    last = asked[-1] if asked else ""
    return LEAD.sub("", last), " ".join(sentence for sentence in sentences if sentence != last)


def _answers(question: str, answer: str) -> bool:
    about = SECOND.search(question) and not SMALL_TALK.search(question) and len(set(stems(question))) >= 2
    return bool(about) and len(answer.split()) >= 4 and not re.fullmatch(r"[^.!]*\?", answer)


def _of(question: str, name: str) -> str:
    for pattern, text in THIRD:
        question = pattern.sub(text.format(name), question)
    return question[:1].upper() + question[1:]


def _told_apart(questions: list[Question]) -> list[Question]:
    """Return the questions with those of the same words as one; what is asked more than three times is too vague."""
    same: dict[tuple[str, frozenset[str]], list[Question]] = {}
    for question in questions:
        same.setdefault((question.kind, frozenset(stems(question.text))), []).append(question)
    return [
        Question(text=group[0].text, evidence=frozenset().union(*(one.evidence for one in group)), kind=group[0].kind)
        for group in same.values()
        if len(group) <= 3
    ]


def _when(text: str) -> datetime:
    plain = re.sub(r" \(\w+\)", "", text)
    pattern = "%Y-%m-%dT%H:%M:%S" if "T" in plain else "%Y/%m/%d %H:%M"
    return datetime.strptime(plain, pattern).replace(tzinfo=UTC)
