"""Everyday chats: turns as people type them, with questions, facts and statements to check.

The format is described in `benchmarks/everyday/README.md`; one JSON file a chat, and `grades.jsonl` beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, cast, get_args

from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Role
from doxa_bench.dialogues import Probe
from doxa_bench.matching import Encoding

__all__ = ["Chat", "ChatTurn", "Grade", "Known", "Query", "Statement", "StatementLabel", "read_chats", "read_grades"]

StatementLabel = Literal["true", "false", "unknown", "planned"]
Grade = Literal["right", "noise", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """What somebody typed, and when (ISO)."""

    id: str
    speaker: str
    role: Role
    text: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question that the user puts after the last turn."""

    kind: str
    probe: Probe
    """What is right, in the form that `judging` takes."""
    evidence: tuple[str, ...]
    """Ids of the turns that give the answer; empty exactly if nothing was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A fact that should be held after the last turn, may be, or must not be."""

    encodings: tuple[Encoding, ...]
    modality: str
    ended: bool
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an assistant might say to the user, and what a check should find of it."""

    text: str
    label: StatementLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat with all that is asked of it."""

    id: str
    user: str
    assistant: str
    turns: tuple[ChatTurn, ...]
    queries: tuple[Query, ...]
    required: tuple[Known, ...]
    allowed: tuple[Known, ...]
    forbidden: tuple[Known, ...]
    statements: tuple[Statement, ...]

    @property
    def day(self) -> str:
        """ISO date of the last turn, on which everything is asked."""
        return self.turns[-1].at[:10]


def read_chats(folder: Path) -> list[Chat]:
    """Return the chats of a folder, by name.

    Raises:
        NotFoundError: there is no such folder, or no chat in it.
        FormatError: a file is no chat; the message names it.
    """
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not paths:
        raise NotFoundError(
            f"expected chats (*.json) in {folder}; found none. `benchmarks/everyday` has them: give --data PATH."
        )
    return [_read(path) for path in paths]


def read_grades(path: Path) -> dict[tuple[str, str], Grade]:
    """Return (chat, fact in words) -> what a person made of a fact that no list names; none without a file."""
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {(row["chat"], row["fact"]): row["grade"] for row in rows}


def _read(path: Path) -> Chat:
    try:
        return _chat(json.loads(path.read_text(encoding="utf-8")))
    except KeyError as exc:
        raise FormatError(f"{path}: expected an everyday chat, but its field {exc} is missing.") from exc
    except (ValueError, TypeError, AttributeError) as exc:
        raise FormatError(f"{path}: expected an everyday chat as one JSON object, got something else: {exc}.") from exc


def _chat(entry: Mapping[str, Any]) -> Chat:
    turns = tuple(_turn(turn) for turn in entry["turns"])
    day = turns[-1].at[:10]
    facts = entry.get("facts", {})
    required, allowed, forbidden = (
        tuple(_known(fact, day) for fact in facts.get(part, ())) for part in ("required", "allowed", "forbidden")
    )
    return Chat(
        id=str(entry["id"]),
        user=entry["user"],
        assistant=entry["assistant"],
        turns=turns,
        queries=tuple(_query(question, len(turns)) for question in entry["questions"]),
        required=required,
        allowed=allowed,
        forbidden=forbidden,
        statements=tuple(_statement(one) for one in entry["statements"]),
    )


def _turn(entry: Mapping[str, Any]) -> ChatTurn:
    role = cast("Role", entry["role"])
    if role not in get_args(Role):
        raise ValueError(f"a turn of the role {role!r}")
    at = datetime.fromisoformat(entry["at"]).isoformat()
    return ChatTurn(id=entry["id"], speaker=entry["speaker"], role=role, text=entry["text"], at=at)


def _query(entry: Mapping[str, Any], turns: int) -> Query:
    answer = tuple(str(form) for form in entry.get("answer") or ())
    groups = tuple(tuple(group) for group in entry.get("all") or ())
    verdict = bool(answer) and answer[0].casefold() in ("yes", "no")
    probe = Probe(
        after=turns,
        question=entry["question"],
        type="list" if groups else "yesno" if verdict else "value",
        wanted="answer" if answer or groups else "unknown",
        answer=tuple(form.casefold() for form in answer) if verdict else answer,
        wrong=tuple(entry.get("not") or ()),
        groups=groups,
        as_of=date.fromisoformat(entry["as_of"]).isoformat() if entry.get("as_of") else None,
    )
    return Query(kind=entry["kind"], probe=probe, evidence=tuple(entry.get("evidence") or ()))


def _known(entry: Mapping[str, Any], day: str) -> Known:
    polarity: bool = entry.get("polarity", True)
    others: Sequence[Mapping[str, Any]] = entry.get("alt") or ()
    own = Encoding.of(entry, day, polarity=polarity)
    return Known(
        encodings=(own, *(Encoding.of(one, day, polarity=one.get("polarity", polarity)) for one in others)),
        modality=entry.get("modality", "asserted"),
        ended=bool(entry.get("ended")),
        label=f"{entry['subject']} | {entry['relation'][0]} | {entry['object'][0]}",
    )


def _statement(entry: Mapping[str, Any]) -> Statement:
    if entry["label"] not in get_args(StatementLabel):
        raise ValueError(f"a statement with the label {entry['label']!r}")
    return Statement(text=entry["text"], label=entry["label"])
