"""Where the people take a conversation: what is said next, or the phrases of it that somebody labelled.

The paper has a language model label the phrases "that could guide the development of the conversation" (section IV-E).
Here the configured one is asked about what is said after the middle, or labels are read from a file; without either,
every sentence with four words or more counts. A phrase that is not in the text is not taken, and counted.

A file is JSON Lines, `{"id": .., "transitions": [..]}`, by the id of the dialogue; `Labelled.write` makes one.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from doxa.backends.llm import Request, posed
from doxa_bench.gold import read_entries
from doxa_bench.knowledge.dialogues import Talk
from doxa_bench.models import Asked

__all__ = ["Filed", "Labelled", "Prompted", "prompt_version"]

MOST = 8
"""Phrases that the model is asked for."""
MAX_TOKENS = 600
SCHEMA: Mapping[str, Any] = {
    "title": "transitions",
    "type": "object",
    "properties": {"transitions": {"type": "array", "items": {"type": "string"}}},
    "required": ["transitions"],
    "additionalProperties": False,
}


class Label(NamedTuple):
    """A line of a file of labels."""

    id: str
    phrases: tuple[str, ...]


class Labels(Protocol):
    """Somebody who tells where conversations go."""

    @property
    def name(self) -> str: ...

    def phrases(self, talk: Talk) -> Sequence[str] | None:
        """Return the phrases of a dialogue; None where nothing is known of it."""
        ...


@dataclass(frozen=True, slots=True)
class Filed:
    """Labels of a file."""

    name: str
    kept: Mapping[str, Sequence[str]]

    @classmethod
    def read(cls, path: Path) -> Filed:
        """Read a file of labels.

        Raises:
            NotFoundError: there is no such file.
            FormatError: a line is no such label, or an id comes twice; the message names it.
        """
        return cls(f"file {path.name}", {one.id: one.phrases for one in read_entries(path, _label)})

    def phrases(self, talk: Talk) -> Sequence[str] | None:
        """Return what the file has of a dialogue."""
        return self.kept.get(talk.talk_id)


@dataclass(frozen=True, slots=True)
class Prompted:
    """A language model that labels; one call for each dialogue."""

    asked: Asked

    @property
    def name(self) -> str:
        """The model, and the version of what it is asked."""
        return f"{self.asked.name} ({prompt_version()})"

    def phrases(self, talk: Talk) -> Sequence[str] | None:
        """Return what the model labels; None where its call failed, which is counted.

        Raises:
            BackendUnavailableError: the model answered none of its first 20 calls.
        """
        before, after = list(talk.texts[: talk.middle]), list(talk.texts[talk.middle :])
        material = json.dumps({"before": before, "after": after}, ensure_ascii=False)
        messages = posed(str(_prompt()["system"]).format(most=MOST).strip(), material)
        found = self.asked.object(Request(messages=messages, schema=SCHEMA, max_tokens=MAX_TOKENS))
        return None if found is None else found["transitions"][:MOST]


@dataclass(slots=True)
class Labelled:
    """The transitions of the dialogues of a run, as they are asked for, with what could not be used."""

    by: Labels | None = None
    """Who labels; None takes what is said next."""
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: int = 0
    """Dialogues of which nothing is known: no file has them, or the call failed. They have no transition."""
    strange: int = 0
    """Phrases that are not in the text."""

    def of(self, talk: Talk, said: tuple[str, ...]) -> tuple[str, ...]:
        """Return the transitions of a dialogue; `said` are the sentences that are said next."""
        if self.by is None:
            return said
        phrases = self.by.phrases(talk)
        if phrases is None:
            self.missing += 1
            return ()
        whole = _plain(" ".join(talk.texts[talk.middle :]))
        found = [" ".join(one.split()) for one in phrases if _plain(one)]
        there = tuple(dict.fromkeys(one for one in found if _plain(one) in whole))
        self.strange += sum(_plain(one) not in whole for one in found)
        self.kept[talk.talk_id] = there
        return there

    def to_dict(self) -> dict[str, Any]:
        """Return who labelled, and how many were and could not be."""
        if self.by is None:
            return {"by": "what is said next"}
        phrases = sum(map(len, self.kept.values()))
        return {"by": self.by.name, "phrases": phrases, "missing": self.missing, "strange": self.strange}

    def write(self, path: Path) -> None:
        """Write the labels that were taken, for another run."""
        lines = ({"id": name, "transitions": list(phrases)} for name, phrases in self.kept.items())
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")


def prompt_version() -> str:
    """Return the version of the prompt, for records of runs."""
    return str(_prompt()["version"])


def _label(entry: Mapping[str, Any]) -> Label:
    phrases = entry["transitions"]
    if not isinstance(phrases, list) or not all(isinstance(one, str) for one in phrases):
        raise ValueError(f"transitions that are no list of phrases: {phrases!r}")
    return Label(str(entry["id"]), tuple(phrases))


def _plain(text: str) -> str:
    """Return a text without what a copy may differ in: case, spaces, and a full stop at its end."""
    return " ".join(text.casefold().split()).rstrip(".")


@cache
def _prompt() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("transitions.toml").read_text(encoding="utf-8"))
