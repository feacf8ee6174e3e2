"""Distractors: sessions about other things, to put between what is said and what is asked.

They come from dialogues whose licences allow it (`open/` of the data folder), both roles, each turn cut at the end of
a sentence. Services that are booked talk of the same topics as preferences do, so they are the hard ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Role

__all__ = ["Said", "draw", "read_distractors"]

CHATS = "longmemeval/haystack_session_pool.json"
SERVICES = "sgd"
MOST_CHARS = 600
"""A longer turn is cut: what is far down in an answer of a page costs minutes to parse and distracts nobody."""
MOST_TURNS = 12
MOST_SESSIONS = 60
"""Of each kind. Sessions are used again for other users, so that each is parsed and encoded once."""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: by whom, and what."""

    role: Role
    text: str


def read_distractors(folder: Path, *, seed: int = 0) -> list[list[Said]]:
    """Return sessions of chats and of booked services by turns, at most 60 of each.

    Args:
        folder: `open/` of the data folder.
        seed: of the choice among them.

    Raises:
        NotFoundError: it holds neither.
        FormatError: a file is not what it was.
    """
    rng = random.Random(seed)
    chats = _sample(_chats(folder / CHATS), rng)
    services = _sample((session for path in sorted(folder.glob(f"{SERVICES}/*_dialogues_*.json"))
                        for session in _services(path)), rng)  # fmt: skip
    if not chats and not services:
        raise NotFoundError(
            f"No distractors in {folder}: expected {CHATS} or {SERVICES}/*_dialogues_*.json there. Give the "
            "folder with open dialogues that lies beside the benchmark's own."
        )
    mixed = [session for pair in zip(chats, services, strict=False) for session in pair]
    return mixed or chats or services


def draw(sessions: Sequence[Sequence[Said]], *, turns: int, seed: int) -> list[list[Said]]:
    """Return some sessions with `turns` turns in all, in an order of their own; the last one may be cut.

    Deterministic by seed. Where there are too few sessions they come again.
    """
    rng, drawn, left = random.Random(seed), list[list[Said]](), turns
    while left > 0:
        for session in rng.sample(list(sessions), len(sessions)):
            drawn.append(list(session[:left]))
            left -= len(drawn[-1])
            if left <= 0:
                break
    return drawn


def _sample(sessions: Iterable[list[Said]], rng: random.Random) -> list[list[Said]]:
    kept = [session for session in sessions if len(session) > 1]
    return rng.sample(kept, min(MOST_SESSIONS, len(kept)))


def _chats(path: Path) -> Iterable[list[Said]]:
    for entry in _read(path):
        yield _session((turn["role"], turn["content"]) for turn in entry["turns"])


def _services(path: Path) -> Iterable[list[Said]]:
    for entry in _read(path):
        yield _session((turn["speaker"], turn["utterance"]) for turn in entry["turns"])


def _session(turns: Iterable[tuple[str, str]]) -> list[Said]:
    said = [Said("user" if role.lower() == "user" else "assistant", _cut(text)) for role, text in turns]
    return [turn for turn in said if turn.text][:MOST_TURNS]


def _cut(text: str) -> str:
    """Return the first sentences of a text, at most 600 characters; a text without sentences is cut at a word."""
    text = " ".join(text.split())
    if len(text) <= MOST_CHARS:
        return text
    start = text[:MOST_CHARS]
    end = max(start.rfind(mark) for mark in (". ", "! ", "? "))
    return start[: end + 1] if end > 0 else start[: start.rfind(" ")]


def _read(path: Path) -> list[Mapping[str, Any]]:
    if not path.exists():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise FormatError(f"expected the JSON of dialogues in {path}, got something else: {exc}.") from exc
    if not isinstance(content, list):
        raise FormatError(f"expected a list of dialogues in {path}, got {type(content).__name__}.")
    return content
