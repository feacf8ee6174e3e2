"""Workload files -> what dialogues are made of: concepts, frames, questions, talk.

Each workload is two files of the same form, `worlds/NAME.train.toml` and `worlds/NAME.test.toml`, without a frame,
a title or a question in common: what is learned on the one is measured on the other.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

__all__ = ["WORKLOADS", "Ask", "Concept", "Split", "Talk", "Workload", "fill", "talk", "workload"]

Split = Literal["train", "test"]
WORKLOADS = ("films", "food", "productivity")
"""Source: the paper's MovieRec, FoodPref and ProductivityAssist (section 2.2)."""
AGREEING = re.compile(r"\{(\w+)\|(\w+)\}")
"""`{is|are}`: the word for one thing, and for several."""
HEAD = re.compile(r"\s(?:on|in|with|of|for|to|over|beside|al|over|I)\s.*")
ONE = ("ss", "us", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """Something one can have a taste for: what stands for it, and what people say who have it."""

    workload: str
    name: str
    facet: str
    """The kind of question that it answers, such as `taste` or `limits`."""
    label: str
    things: tuple[str, ...]
    aspects: tuple[str, ...]
    aliases: Mapping[str, str]
    """Thing -> another name for it that shares no word with it."""
    excludes: frozenset[str]
    """Concepts that nobody likes who has this one."""
    said: Mapping[str, tuple[str, ...]]
    """`like` and `dislike` -> whole sentences, for concepts without things."""

    @property
    def polarities(self) -> tuple[str, ...]:
        """`like`, `dislike` or both."""
        return ("like", "dislike") if self.things else tuple(self.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A kind of question: which facets answer it, and its wordings."""

    seeks: frozenset[tuple[str, str]]
    """(workload, facet); `alias` and `explicit` are facets of no concept."""
    kind: str
    subset: str | None
    texts: tuple[str, ...]
    leads: tuple[str, ...]
    """What is said right before, where the question cannot be understood without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One of the three workloads in one split."""

    name: str
    share: int
    distractors: tuple[int, int]
    openers: tuple[str, ...]
    frames: Mapping[str, Mapping[str, tuple[str, ...]]]
    """`like`, `dislike`, `revised`, `near`, `alias` -> manner -> sentences with slots."""
    hints: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Word -> `like` and `dislike` -> remarks that people add, with that word of the subject in them."""
    offers: tuple[str, ...]
    concepts: tuple[Concept, ...]
    asks: tuple[Ask, ...]
    singular: frozenset[str]
    titles: bool

    def several(self, thing: str) -> bool:
        """Tell whether a thing takes the verb of many."""
        head = HEAD.sub("", thing)
        return not self.titles and thing not in self.singular and head.endswith("s") and not head.endswith(ONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What belongs to no workload: small talk, names, replies, and questions across workloads."""

    names: tuple[str, ...]
    replies: tuple[str, ...]
    prompts: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    small: tuple[tuple[str, str], ...]
    """(what the user says, what the assistant answers), with slots."""
    asks: tuple[Ask, ...]


@cache
def workload(name: str, split: Split) -> Workload:
    """Return a workload as its file has it."""
    table = _read(name, split)
    low, high = table["distractors"]
    return Workload(
        name=name,
        share=table["share"],
        distractors=(low, high),
        openers=tuple(table["openers"]),
        frames=_groups(table["frames"]),
        hints=_groups(table["hints"]),
        offers=tuple(table["offers"]["choice"]),
        concepts=tuple(_concept(name, entry) for entry in table["concept"]),
        asks=tuple(_ask(entry, name) for entry in table["query"]),
        singular=frozenset(table.get("singular", ())),
        titles=table.get("titles", False),
    )


@cache
def talk(split: Split) -> Talk:
    """Return the talk of a split as its file has it."""
    table = _read("talk", split)
    return Talk(
        names=tuple(table["names"]),
        replies=tuple(table["replies"]),
        prompts=tuple(table["prompts"]),
        slots={name: tuple(words) for name, words in table["slots"].items()},
        small=tuple((entry["user"], entry["assistant"]) for entry in table["small"]),
        asks=tuple(_ask(entry, None) for entry in table["cross"]),
    )


def fill(frame: str, slots: Mapping[str, str], *, several: bool = False) -> str:
    """Return a frame with its slots filled and a capital letter in front.

    Args:
        frame: a sentence with `{name}` for a slot, `{Name}` for one with a capital, `{is|are}` for agreement.
        slots: name -> words; a name that is missing is an error of the file.
        several: whether the verb of many is wanted.
    """
    text = AGREEING.sub(lambda match: match[2 if several else 1], frame)
    capitals = {name.capitalize(): words[:1].upper() + words[1:] for name, words in slots.items()}
    text = text.format_map({**slots, **capitals})
    return text[:1].upper() + text[1:]


def _read(name: str, split: Split) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "worlds" / f"{name}.{split}.toml").read_text(encoding="utf-8"))


def _groups(table: Mapping[str, Mapping[str, list[str]]]) -> dict[str, dict[str, tuple[str, ...]]]:
    return {name: {key: tuple(texts) for key, texts in group.items()} for name, group in table.items()}


def _concept(name: str, entry: Mapping[str, Any]) -> Concept:
    return Concept(
        workload=name,
        name=entry["name"],
        facet=entry["facet"],
        label=entry["label"],
        things=tuple(entry.get("things", ())),
        aspects=tuple(entry.get("aspects", ())),
        aliases=dict(entry.get("aliases", {})),
        excludes=frozenset(entry.get("excludes", ())),
        said={key: tuple(entry[key]) for key in ("like", "dislike") if key in entry},
    )


def _ask(entry: Mapping[str, Any], name: str | None) -> Ask:
    """`name` is the workload of its facets; without one they are written `workload.facet`."""
    pairs = [(name, seek) if name else tuple(seek.split(".", 1)) for seek in entry["seeks"]]
    return Ask(
        seeks=frozenset((str(first), str(second)) for first, second in pairs),
        kind=entry.get("kind", "recommendation"),
        subset=entry.get("subset", None if name else "cross-domain"),
        texts=tuple(entry["texts"]),
        leads=tuple(entry.get("leads", ())),
    )
