"""Dialogues of the revision benchmark: turns with dates, and questions to put to the memory between them.

The file is JSON Lines. A dialogue has `id`, `kind`, `turns`, `probes` and `tags`; a probe says after how many turns it
is put, and lists the accepted forms of its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from doxa_bench.gold import read_entries
from doxa_bench.wording import words

__all__ = ["ASSISTANT", "Dialogue", "DialogueTurn", "Probe", "read_dialogues"]

ASSISTANT = "Assistant"
"""The speaker of a turn that is the assistant's."""
AnswerType = Literal["value", "yesno", "count", "list"]
Wanted = Literal["answer", "unknown", "conflict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueTurn:
    """What somebody says on an ISO date."""

    speaker: str
    text: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question, the state to which it is put, and what is right."""

    after: int
    """Turns absorbed before it is put, from 1."""
    question: str
    type: AnswerType
    wanted: Wanted
    """An answer, that the memory does not know, or that its sources disagree."""
    answer: tuple[str, ...]
    """Accepted forms; empty exactly if it is unknown."""
    wrong: tuple[str, ...]
    """Forms that must not be given as the answer."""
    groups: tuple[tuple[str, ...], ...]
    """Of a list or a conflict: every group has to be matched by one of its forms."""
    as_of: str | None
    """ISO date of the world that is asked about; None is the date of the last turn."""

    @property
    def about_history(self) -> bool:
        """Tell whether it asks for what was."""
        return self.as_of is not None or "before" in words(self.question)

    @property
    def label(self) -> str:
        """What is wanted, in short."""
        if self.wanted == "unknown":
            return "not known"
        first = [group[0] for group in self.groups]
        if self.wanted == "conflict":
            return f"the sources disagree: {' / '.join(first)}"
        return ", ".join(first) or self.answer[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Turns in order, and the questions about them."""

    id: str
    kind: str
    turns: tuple[DialogueTurn, ...]
    probes: tuple[Probe, ...]
    tags: tuple[str, ...]

    @property
    def asker(self) -> str:
        """The first speaker who is not the assistant: whose memory it is, and who asks."""
        return next((turn.speaker for turn in self.turns if turn.speaker != ASSISTANT), ASSISTANT)

    def day(self, probe: Probe) -> str:
        """Return the ISO date on which a probe is put: that of the last turn before it."""
        return self.turns[probe.after - 1].day


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue, or an id comes twice; the message names it.
    """
    return read_entries(path, _dialogue)


def _dialogue(entry: Mapping[str, Any]) -> Dialogue:
    turns = tuple(
        DialogueTurn(speaker=turn["speaker"], text=turn["text"], day=date.fromisoformat(turn["date"]).isoformat())
        for turn in entry["turns"]
    )
    probes = tuple(_probe(probe, len(turns)) for probe in entry["probes"])
    return Dialogue(id=str(entry["id"]), kind=entry["kind"], turns=turns, probes=probes, tags=tuple(entry["tags"]))


def _probe(entry: Mapping[str, Any], turns: int) -> Probe:
    after, form = entry["after"], entry["type"]
    if not 1 <= after <= turns:
        raise ValueError(f"a probe after turn {after} of {turns}")
    if form not in get_args(AnswerType):
        raise ValueError(f"a probe of type {form!r}; expected one of {', '.join(get_args(AnswerType))}")
    wanted: Wanted = "unknown" if entry.get("unknown") else "conflict" if entry.get("conflict") else "answer"
    if wanted != "unknown" and not entry["answer"]:
        raise ValueError(f"no answer to {entry['question']!r}, which is not marked as unknown")
    return Probe(
        after=after,
        question=entry["question"],
        type=form,
        wanted=wanted,
        answer=tuple(entry["answer"]),
        wrong=tuple(entry["not"]),
        groups=tuple(tuple(group) for group in entry.get("all") or ()),
        as_of=date.fromisoformat(entry["as_of"]).isoformat() if entry["as_of"] else None,
    )
