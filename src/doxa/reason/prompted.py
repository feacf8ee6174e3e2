"""Answers written by a language model over facts and evidence, with citations that are checked to exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from doxa.backends.llm import LanguageModel, Message, Usage
from doxa.core.values import Citation, Draft, Evidence, Turn

__all__ = ["PROMPT_VERSION", "Written", "write_with_model"]

PROMPT_VERSION = "answer/2"
"""Changes with the wording of the prompt; the trace of every written answer names it."""
INSTRUCTIONS = """You are {agent}, talking with {user}. Today is {today}.
Below is what your memory holds: facts that are believed now, and turns of earlier conversation with their ids.
Answer the last message from this memory alone. When it holds no answer, say so and set "abstained" to true;
never guess. When its sources disagree, say that and name both. A message that asks nothing gets a short, friendly
answer that agrees with the memory.
Give back JSON: "answer" (what you say), "value" (the bare answer in as few words as possible, "yes" or "no" for a
yes-or-no question, null if there is none), "citations" (ids of the turns that you used), "abstained"."""
SCHEMA: Mapping[str, Any] = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote, or that it refused, with what it cost."""

    draft: Draft | None
    usage: Usage
    refused: bool = False


def write_with_model(
    model: LanguageModel,
    text: str,
    *,
    agent: str,
    user: str,
    today: date,
    believed: str,
    evidence: Sequence[Evidence],
    recent: Sequence[Turn],
    turns: Mapping[str, Turn],
    context_tokens: int,
    max_tokens: int,
) -> Written:
    """Return the model's answer. One call (two when its first answer does not fit the schema).

    Args:
        model: any language model.
        text: the user's message.
        agent: name of the assistant.
        user: name of the user.
        today: the memory's today.
        believed: what is believed and bears on the message, with turn ids (`summarise`); empty for nothing.
        evidence: turns that bear on the message, best first.
        recent: the turns just before the message.
        turns: every turn that may be cited, by id.
        context_tokens: most tokens of beliefs and evidence; the least relevant evidence is left out.
        max_tokens: most tokens of the answer.

    Raises:
        BackendError: the model could not be reached, or answered something that cannot be used.
    """
    memory = _memory(model, believed, evidence, context_tokens)
    instructions = INSTRUCTIONS.format(agent=agent, user=user, today=today.isoformat())
    dialogue = "\n".join(f"{turn.speaker}: {turn.text}" for turn in recent)
    messages = [
        Message(role="system", content=f"{instructions}\n\n{memory}"),
        Message(role="user", content=f"{dialogue}\n{user}: {text}".strip()),
    ]
    completion = model.complete(messages, schema=SCHEMA, temperature=0.0, max_tokens=max_tokens)
    if completion.refused or completion.parsed is None:
        return Written(draft=None, usage=completion.usage, refused=completion.refused)
    return Written(draft=_draft(completion.parsed, turns), usage=completion.usage)


def _memory(model: LanguageModel, believed: str, evidence: Sequence[Evidence], context_tokens: int) -> str:
    """Return beliefs and evidence as text, the evidence cut where the budget ends."""
    left = context_tokens - model.count_tokens(believed)
    turn_lines = _fill(model, [f"[{item.turn_ids[0]}] {item.text}" for item in evidence], left)
    return "\n".join(["Facts:", believed or "(none)", "", "Turns:", *(turn_lines or ["(none)"])])


def _fill(model: LanguageModel, lines: Sequence[str], budget: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        budget -= model.count_tokens(line)
        if budget < 0:
            break
        taken.append(line)
    return taken


def _draft(parsed: Mapping[str, Any], turns: Mapping[str, Turn]) -> Draft:
    cited = [turns[key] for key in dict.fromkeys(parsed["citations"]) if key in turns]
    citations = tuple(Citation(turn_id=t.turn_id, text=t.text, speaker=t.speaker, at=t.at) for t in cited)
    abstained = bool(parsed["abstained"])
    value = None if abstained or not parsed["value"] else str(parsed["value"])
    confidence = 0.0 if abstained else 0.8 if citations else 0.4
    return Draft(
        text=str(parsed["answer"]), value=value, citations=citations, confidence=confidence, abstained=abstained
    )
