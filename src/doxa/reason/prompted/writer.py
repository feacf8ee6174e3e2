"""State -> answer, written by a language model over facts and turns, with citations that are checked to exist."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doxa.core.values import Draft
from doxa.language import stems
from doxa.reason.drafts import citation_of
from doxa.reason.prompted.asking import Asking
from doxa.reason.prompted.shown import prompts
from doxa.reason.tree import State, Task

__all__ = ["SCHEMA", "PromptedWriter", "Written", "written"]

LONGEST = 8
"""Characters a token: an answer longer than `max_tokens` of these was not held to its limit, and nobody reads it."""
CITED, UNCITED = 0.8, 0.4
"""Confidence of an answer that names its turns, and of one that does not."""
VERDICT = re.compile(r"(?:yes|no|none|nothing|nobody|never|unknown)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d")
SCHEMA: Mapping[str, Any] = {
    "title": "answer",
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "value": {"type": ["string", "null"]},
        "citations": {"type": "array", "items": {"type": "string"}},
        "abstained": {"type": "boolean"},
    },
    "required": ["answer", "value", "citations", "abstained"],
    "additionalProperties": False,
}


OPEN_SCHEMA: Mapping[str, Any] = {
    **SCHEMA,
    "properties": {**SCHEMA["properties"], "general": {"type": "boolean"}},
    "required": [*SCHEMA["required"], "general"],
}
"""Of an answer that may rest on what the model knows: it says whether it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote, held against what it was shown."""

    draft: Draft | None
    """The answer; None when it rests on nothing that was shown."""
    strange: bool = False
    """Whether no word of its value was shown: an inference, or an invention."""
    dropped: tuple[str, ...] = ()
    """What of it does not count, and why."""


@dataclass(frozen=True, slots=True)
class PromptedWriter:
    """Writes answers with a language model, as the Protocol `Writer` says."""

    asking: Asking

    def write(self, states: Sequence[State], task: Task) -> list[Draft | None]:
        """Return an answer for each state; None for a call that failed or an answer that rests on nothing.

        Cost: one call a state, all at once (two where an answer did not fit its schema).
        """
        return [one.draft if one is not None else None for one in self.written(states, task)]

    def written(self, states: Sequence[State], task: Task) -> list[Written | None]:
        """Return what the model wrote for each state, held against what it was shown; None for a call that failed."""
        prompt = prompts()["writer"]
        text = self.asking.told(prompt["text"], task, "answer")
        schema = OPEN_SCHEMA if self.asking.general else SCHEMA
        parts = [text if not state.steps else f"{text}\n{self.asking.material(state)}" for state in states]
        answers = self.asking.ask("writer", parts, [schema] * len(parts), temperature=prompt["temperature"], last=True)
        found: list[Written | None] = []
        for state, answered in zip(states, answers, strict=True):
            one = None if answered.failed else written(answered.parsed, state, task, self.asking)
            self.asking.dropped.extend(one.dropped if one is not None else ())
            found.append(one)
        return found


def written(parsed: Mapping[str, Any], state: State, task: Task, asking: Asking) -> Written:
    """Return an answer in JSON as a draft, as far as it holds against what the model was shown.

    Ids of turns that were not shown are left out. A value that names no turn and of which no word was shown is an
    invention, and so is an answer far longer than was allowed; neither is a draft. What a question does not ask for (a
    greeting) needs no turn, and neither does what the model says to know itself, where it may (`Asking.general`).
    """
    text = str(parsed["answer"]).strip()
    if not text:
        return Written(draft=None, dropped=("the language model gave an empty answer",))
    if len(text) > LONGEST * asking.max_tokens:
        return Written(draft=None, dropped=(f"the language model's answer of {len(text)} characters is too long",))
    named = [key.strip("[] ") for key in dict.fromkeys(map(str, parsed.get("citations") or ()))]
    may = asking.shown.turn_ids | set(state.turn_ids)
    cited = [turn for key in named if key in may and (turn := asking.turn(key)) is not None]
    unknown = [key[:40] for key in named if key not in {turn.turn_id for turn in cited}]
    dropped = [f"the language model cited turns that it was not shown: {', '.join(unknown[:5])}"] if unknown else []
    abstained = bool(parsed.get("abstained"))
    value = None if abstained or not parsed.get("value") else str(parsed["value"])
    strange = value is not None and _is_strange(value, state, task, asking)
    general = asking.general and not abstained and parsed.get("general") is True
    if strange and not cited and not general:
        dropped.append(f"the language model's answer rests on nothing that it was shown: {value!r:.80}")
        return Written(draft=None, strange=True, dropped=tuple(dropped))
    draft = Draft(
        text=text,
        value=value,
        citations=tuple(citation_of(turn) for turn in cited),
        confidence=0.0 if abstained else CITED if cited else UNCITED,
        abstained=abstained,
        general=general,
    )
    return Written(draft=draft, strange=strange, dropped=tuple(dropped))


def _is_strange(value: str, state: State, task: Task, asking: Asking) -> bool:
    """Tell whether none of a value's words was shown; yes, no and numbers, which may be worked out, never are."""
    if task.question is None or VERDICT.match(value.strip()) or NUMBER.search(value):
        return False
    wanted = set(stems(value))
    known = asking.shown.stems | set(stems(" ".join((*state.observations(), *map(_words, state.steps)))))
    return bool(wanted) and not wanted & known


def _words(step: object) -> str:
    """Return the words of what a step found."""
    facts = getattr(step, "facts", ())
    return " ".join(f"{fact.subject} {fact.relation} {fact.object}" for fact in facts)
