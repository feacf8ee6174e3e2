"""Question + memory -> the text that every call of one question begins with, and what of the memory it leaves out."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Evidence, Fact, Turn
from doxa.memory import describe, stems
from doxa.reason.tree import Task

__all__ = ["Shown", "cited", "prompts", "show"]

BACKGROUND_SHARE = 8
"""One part in how many of the room for memory may be general knowledge."""
FindTurn = Callable[[str], Turn | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the calls of one question have in common."""

    system: str
    """Who asks, and the memory: the first message of every call."""
    message: str
    """The dialogue and the message to answer, as JSON: how the second one begins."""
    turn_ids: frozenset[str]
    """The turns that may be cited."""
    stems: frozenset[str]
    """Stems of every content word that is shown, but for those of the background: it bears out no answer."""
    withheld: tuple[str, ...] = ()
    """Turns that bear on the question and are not shown, since they read like instructions to a model."""


@cache
def prompts() -> Mapping[str, Any]:
    """Return the prompts of all roles."""
    found: Mapping[str, Any] = tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))
    return found


@cache
def _withheld() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in prompts()["withheld"]["patterns"]), re.IGNORECASE | re.MULTILINE)


def show(
    task: Task, turn: FindTurn, *, believed: str = "", context_tokens: int, count_tokens: Callable[[str], int]
) -> Shown:
    """Return what all calls of a question are shown.

    A turn is one line, whatever it holds, so that no turn can look like a part of the prompt.

    Args:
        task: the question with the facts and turns that bear on it, best first.
        turn: gives the turn of an id.
        believed: the facts as a summary with turn ids; empty lists `task.facts` one by one.
        context_tokens: most tokens of facts and turns; the least relevant are left out.
        count_tokens: how many tokens a text is.

    Deterministic; O(words).
    """
    facts = believed or "\n".join(_fill((cited(fact) for fact in task.facts), context_tokens // 2, count_tokens))
    withheld = {item.turn_ids[0] for item in task.evidence if _talks_to_models(_text(item, turn))}
    withheld |= {told.turn_id for told in task.recent if _talks_to_models(told.text)}
    kept = [item for item in task.evidence if item.turn_ids[0] not in withheld]
    lines = [f"[{item.turn_ids[0]}] {' '.join(item.text.split())}" for item in kept]
    background = _background(task, context_tokens // BACKGROUND_SHARE, count_tokens)
    room = context_tokens - count_tokens(facts) - (count_tokens(background) if background else 0)
    turns = _fill(lines, room, count_tokens)
    memory = "\n".join(["Facts:", facts or "(none)", "", "Turns:", *(turns or ["(none)"])])
    system = prompts()["shared"].strip().format(agent=task.agent, asker=task.asker, today=task.today.isoformat())
    recent = [told for told in task.recent if told.turn_id not in withheld]
    said = [{"speaker": told.speaker, "text": told.text} for told in recent]
    material = {"dialogue": said, "message": {"speaker": task.asker, "text": task.text}}
    ids = {key for item in task.evidence for key in item.turn_ids} | {key for f in task.facts for key in f.turn_ids}
    spoken = " ".join([memory, task.text, *(told.text for told in recent)])
    return Shown(
        system="\n\n".join(filter(None, (system, memory, background))),
        message=json.dumps(material, ensure_ascii=False),
        turn_ids=frozenset(ids - withheld),
        stems=frozenset(stems(spoken)),
        withheld=tuple(sorted(withheld)),
    )


def _background(task: Task, budget: int, count_tokens: Callable[[str], int]) -> str:
    """Return the general knowledge that a reply may draw on, marked as such; empty without any."""
    lines = [f"- {' '.join(one.split())}" for one in task.background if not _talks_to_models(one)]
    taken = _fill(lines, budget, count_tokens)
    text = prompts()["background"]["text"].strip().format(agent=task.agent, asker=task.asker)
    return "\n".join([text, *taken]) if taken else ""


def cited(fact: Fact) -> str:
    """Return a fact as a sentence with the ids of its turns."""
    ids = f" [{', '.join(fact.turn_ids)}]" if fact.turn_ids else ""
    return f"{describe(fact)}{ids}"


def _text(item: Evidence, turn: FindTurn) -> str:
    told = turn(item.turn_ids[0])
    return told.text if told is not None else item.text


def _talks_to_models(text: str) -> bool:
    """Tell whether somebody talks to a language model here and not to a person."""
    return _withheld().search(text) is not None


def _fill(lines: Iterable[str], budget: int, count_tokens: Callable[[str], int]) -> list[str]:
    taken: list[str] = []
    for line in lines:
        budget -= count_tokens(line)
        if budget < 0:
            break
        taken.append(line)
    return taken
