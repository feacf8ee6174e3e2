"""Talk that bears on no question: from open dialogue sets when they are there, else made from small talk.

What touches a workload is left out (`worlds/topics.toml`): somebody's remark about noodles would be evidence that no
gold label knows of. Conversations are dealt alternately to the two splits.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from doxa.language import stems
from doxa_bench.implicit.material import Split, talk

__all__ = ["Chatter", "Exchange", "read_chatter"]

MAX_WORDS = 40
"""Of one turn: longer ones are pasted texts."""
POOL = 1200
"""Exchanges that a run draws from: turns that come again need not be analysed again."""
RUN = 3
"""Exchanges of one conversation that are said in a row, at most."""
SPEAKER = re.compile(r"^User [12]:\s*", re.MULTILINE)

Exchange = tuple[str, str]
"""What the user says and what is answered; "" for no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chatter:
    """Where unrelated talk is drawn from."""

    source: str
    """Names of the data sets, or `built in`."""
    conversations: tuple[tuple[Exchange, ...], ...]
    """Runs of exchanges; empty for built-in talk, which is filled anew at every draw."""
    split: Split

    def draw(self, rng: Random) -> tuple[Exchange, ...]:
        """Return one to three exchanges that follow on each other."""
        if self.conversations:
            conversation = rng.choice(self.conversations)
            start = rng.randrange(len(conversation))
            return conversation[start : start + rng.randint(1, RUN)]
        words = talk(self.split)
        said, answered = rng.choice(words.small)
        drawn = {name: rng.choice(options) for name, options in words.slots.items()}
        return ((said.format_map(drawn), answered.format_map(drawn)),)


def read_chatter(folder: Path | None, split: Split, *, pool: int = POOL) -> Chatter:
    """Return the talk of a split.

    Args:
        folder: the data folder, which holds `open/`; without one, or without dialogues in it, talk is made.
        split: its half of the conversations.
        pool: how many exchanges at most.
    """
    sources: dict[str, int] = {}
    conversations: list[tuple[Exchange, ...]] = []
    left = pool
    for name, conversation in _dealt(folder, split) if folder is not None else ():
        apt = tuple(exchange for exchange in conversation if _is_apt(exchange))[:left]
        if apt and left:
            conversations.append(apt)
            left -= len(apt)
            sources[name] = sources.get(name, 0) + len(apt)
    named = ", ".join(f"{name} ({count} exchanges)" for name, count in sources.items())
    return Chatter(source=named or "built in", conversations=tuple(conversations), split=split)


def _dealt(folder: Path, split: Split) -> Iterator[tuple[str, list[Exchange]]]:
    """Yield every second conversation of each set, the sets in turn so that a pool holds some of each."""
    sets = [
        ("longmemeval", list(_haystack(folder / "open" / "longmemeval" / "haystack_session_pool.json"))),
        ("mteval", list(_questions(folder / "open" / "mteval" / "global_inst.jsonl"))),
        ("synthetic_persona_chat", list(_persona_chat(folder / "open" / "synthetic_persona_chat"))),
    ]
    half = {name: conversations[split == "train" :: 2] for name, conversations in sets}
    for place in range(max(map(len, half.values()), default=0)):
        for name, conversations in half.items():
            if place < len(conversations):
                yield name, conversations[place]


def _persona_chat(folder: Path) -> Iterator[list[Exchange]]:
    """The first speaker is the user. Source: Jandaghi et al. 2023, Synthetic-Persona-Chat, CC BY 4.0."""
    for path in sorted(folder.glob("Synthetic-Persona-Chat_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                lines = [line.strip() for line in SPEAKER.split(row["Best Generated Conversation"]) if line.strip()]
                yield list(zip(lines[::2], lines[1::2], strict=False))


def _haystack(path: Path) -> Iterator[list[Exchange]]:
    """Source: Wu et al. 2024, LongMemEval: sessions without evidence, MIT. Answers of a page are left out."""
    for session in _json(path, []):
        turns = session["turns"]
        pairs = [(a["content"], b["content"]) for a, b in itertools.pairwise(turns) if a["role"] == "user"]
        yield [(said, answered if len(answered.split()) <= MAX_WORDS else "") for said, answered in pairs]


def _questions(path: Path) -> Iterator[list[Exchange]]:
    """Source: Kwan et al. 2024, MT-Eval, MIT: questions that anybody might put."""
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield [(json.loads(line)["query"], "")]


def _json(path: Path, otherwise: list[Any]) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else otherwise


def _is_apt(exchange: Exchange) -> bool:
    said, answered = exchange
    fits = 3 <= len(said.split()) <= MAX_WORDS and len(answered.split()) <= MAX_WORDS
    return fits and not set("\n[(\\") & set(said + answered) and not _topics() & set(stems(f"{said} {answered}"))


@cache
def _topics() -> frozenset[str]:
    table: Mapping[str, str] = tomllib.loads(
        (files(__package__) / "worlds" / "topics.toml").read_text(encoding="utf-8")
    )
    words: Sequence[str] = " ".join(table.values()).split()
    return frozenset(stem for word in words for stem in stems(word))
