"""Question + memory -> the text that every call of one question begins with, and what of the memory it leaves out.

Its beginning is the same for all messages of a session, byte by byte, and what changes comes last, since servers read
the beginnings of prompts that they know for a fraction of the time and price.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.lines import one_line
from doxa.core.values import EARLIEST, Evidence, Fact, Turn
from doxa.language import stems
from doxa.memory import describe
from doxa.reason.tree import Task

__all__ = ["Shown", "cited", "names_in", "prompts", "show", "talks_to_models"]

BACKGROUND_SHARE = 8
"""One part in how many of the room for memory may be general knowledge."""
LONGEST_SAID = 600
"""Characters of a turn of the dialogue."""
ALWAYS = ("Facts:", "Turns:")
"""What is shown though it is empty, so that a model sees that there is nothing."""
FindTurn = Callable[[str], Turn | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the calls of one question have in common, what changes least first."""

    system: str
    """Who asks and what they are like: the first message of every call of a session."""
    message: str
    """The dialogue, which grows at its end; then the memory and the message to answer: how the second one begins."""
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

    A turn is one line, whatever it, its id and its speaker hold, so that none can look like a part of the prompt. The
    turns that bear on the question are dated and in the order in which they were said, so that it can be seen what came
    after what.

    Args:
        task: the question with the facts and turns that bear on it, best first.
        turn: gives the turn of an id.
        believed: the facts as a summary with turn ids; empty lists `task.facts` one by one.
        context_tokens: most tokens of facts and turns; the least relevant are left out.
        count_tokens: how many tokens a text is.

    Deterministic; O(words).
    """
    facts = believed or "\n".join(_fill((cited(fact) for fact in task.facts), context_tokens // 2, count_tokens))
    history = task.recent if task.history is None else task.history
    told = {item.turn_ids[0]: turn(item.turn_ids[0]) for item in task.evidence}
    texts = {item.turn_ids[0]: found.text if (found := told[item.turn_ids[0]]) else item.text for item in task.evidence}
    texts |= {one.turn_id: one.text for one in history}
    withheld = {key for key, text in texts.items() if talks_to_models(text)}
    dialogue = [_said(one) for one in history if not talks_to_models(one.text)]
    background = _background(task, context_tokens // BACKGROUND_SHARE, count_tokens)
    room = context_tokens - count_tokens(facts) - (count_tokens(background) if background else 0)
    here = withheld | {one.turn_id for one in history if len(one.text) <= LONGEST_SAID}
    turns = _fitting([item for item in task.evidence if item.turn_ids[0] not in here], told, room, count_tokens)
    parts = {
        "Facts:": facts,
        "What you said yourself before:": _listed(task.own),
        "Turns:": "\n".join(turns),
        "Tasks:": task.tasks,
        "What the last message did to the memory:": _listed(task.noted),
    }
    memory = "\n\n".join(f"{head}\n{body or '(none)'}" for head, body in parts.items() if body or head in ALWAYS)
    last = json.dumps({"speaker": task.asker, "text": task.text}, ensure_ascii=False)
    today = f"Today is {task.today:%A} {task.today.isoformat()}."
    spoken = " ".join([facts, *turns, *dialogue, *task.profile, *task.own, *task.noted, task.tasks, task.text])
    ids = {*told, *(one.turn_id for one in history), *(key for fact in task.facts for key in fact.turn_ids)}
    return Shown(
        system=_system(task),
        message="\n\n".join(
            filter(None, ("\n".join(["Dialogue:", *dialogue]), today, memory, background, f"Last message:\n{last}"))
        ),
        turn_ids=frozenset(ids - withheld),
        stems=frozenset(stems(spoken)),
        withheld=tuple(sorted(withheld)),
    )


def _system(task: Task) -> str:
    """Return what is the same for every message of a session."""
    names = names_in(task)
    text: str = prompts()["shared"].strip().format(**names)
    profile = _listed(task.profile)
    return f"{text}\n\nWhat is known of {names['asker']} in general:\n{profile}" if profile else text


def names_in(task: Task) -> dict[str, str]:
    """Return the names that prompts call asker and agent by, each in one line: who chose it writes no other."""
    return {"asker": one_line(task.asker), "agent": one_line(task.agent)}


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line)}" for line in lines)


def _said(turn: Turn) -> str:
    text = one_line(turn.text)
    short = text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]} ..."
    line = f"{turn.at.date().isoformat()} {one_line(turn.speaker)}: {short}"
    return f"[{one_line(turn.turn_id)}] {line}" if turn.turn_id else line  # what was only asked is no turn


def _fitting(
    evidence: Sequence[Evidence],
    told: Mapping[str, Turn | None],
    budget: int,
    count_tokens: Callable[[str], int],
) -> list[str]:
    """Return the lines of the turns that fit, the best first of all, in the order in which they were said."""
    lines: dict[str, str] = {}
    for item in evidence:
        turn = told[item.turn_ids[0]]
        day = f"{turn.at.date().isoformat()} " if turn is not None else ""
        lines.setdefault(item.turn_ids[0], one_line(f"[{item.turn_ids[0]}] {day}{item.text}"))
    kept = dict(zip(lines, _fill(lines.values(), budget, count_tokens), strict=False))
    order = {key: (turn.at, turn.ordinal) for key, turn in told.items() if turn is not None}
    return [kept[key] for key in sorted(kept, key=lambda key: order.get(key, (EARLIEST, 0)))]


def _background(task: Task, budget: int, count_tokens: Callable[[str], int]) -> str:
    """Return the general knowledge that a reply may draw on, marked as such; empty without any."""
    lines = [f"- {one_line(one)}" for one in task.background if not talks_to_models(one)]
    taken = _fill(lines, budget, count_tokens)
    text = prompts()["background"]["text"].strip().format(**names_in(task))
    return "\n".join([text, *taken]) if taken else ""


def cited(fact: Fact) -> str:
    """Return a fact as a sentence with the ids of its turns, in one line."""
    ids = f" [{', '.join(fact.turn_ids)}]" if fact.turn_ids else ""
    return one_line(f"{describe(fact)}{ids}")


def talks_to_models(text: str) -> bool:
    """Tell whether somebody talks to a language model here and not to a person, by the wordings that are known."""
    return _withheld().search(text) is not None


def _fill(lines: Iterable[str], budget: int, count_tokens: Callable[[str], int]) -> list[str]:
    taken: list[str] = []
    for line in lines:
        budget -= count_tokens(line)
        if budget < 0:
            break
        taken.append(line)
    return taken
