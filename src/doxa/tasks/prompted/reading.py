"""reading: material -> what a language model says that a turn does, as acts. One call with a flat JSON schema.

Source: Task Memory Engine, section 4.2 and appendix D, "TRIM Prompt Template Examples". There an answer has new, update
or check, a title and the names of nodes; here the acts are those of the grammar, nodes are named by id, and each act
has the words that it rests on. The model writes neither replies nor states.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import LanguageModel, Request, ask, posed
from doxa.tasks.prompted.material import Material

__all__ = ["CHANGING", "INTENTS", "Reading", "prompt_version", "read_with_model"]

CHANGING = ("new", "update", "remove", "replace", "rollback", "undo", "reset", "split", "merge")
SAYING = ("check", "finalize", "chat")
INTENTS = (*CHANGING, *SAYING)
MOST_ACTS = 40
"""Acts of one turn; what lists more is a loop."""
MOST_NEW = 24
"""Nodes of the same answer that can be named in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a model says that a turn does, and what that cost."""

    acts: tuple[Mapping[str, Any], ...] = ()
    """In order; nodes are named by path (`Material.places`), or "+1" for the first one that the turn adds."""
    by: str = ""
    """Version of the prompt and name of the model."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failed: str = ""
    """Why there are no acts; empty when the model read the turn."""

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data; a replay reads it from there and asks no model."""
        tokens = [self.calls, self.prompt_tokens, self.completion_tokens]
        data = {"by": self.by, "acts": [dict(act) for act in self.acts], "cost": tokens, "failed": self.failed}
        return {key: value for key, value in data.items() if value or key == "acts"}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Reading | None:
        """Return the reading of stored data; None where there is none."""
        if not data:
            return None
        calls, prompt, completion = data.get("cost", (0, 0, 0))
        return cls(
            acts=tuple(data.get("acts", ())),
            by=data.get("by", ""),
            calls=calls,
            prompt_tokens=prompt,
            completion_tokens=completion,
            failed=data.get("failed", ""),
        )


def prompt_version() -> str:
    """Return the version of the prompt; it is stored with every turn that was read with it."""
    return str(_prompt()["version"])


def read_with_model(model: LanguageModel, material: Material, *, max_tokens: int) -> Reading:
    """Return what a model says that a turn does. Never raises for a failure of the model: `failed` says it.

    Args:
        model: any language model.
        material: what it is shown; nothing else is sent.
        max_tokens: most tokens of the answer.

    Cost: one call; two when the first answer did not fit its schema, or named what was not shown.
    """
    by = f"{prompt_version()} {model.name}"
    messages = posed(str(_prompt()["system"]).strip(), material.text())
    request = Request(messages=messages, schema=_schema(list(material.places)), max_tokens=max_tokens)
    done = ask(model, request, setting="understand.max_tokens")
    cost = Reading(by=by, **asdict(done.usage))
    if done.failed:
        return replace(cost, failed=done.failed)
    return replace(cost, acts=tuple(_placed(act, material.places) for act in done.parsed["acts"]))


@cache
def _prompt() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))


def _schema(ids: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema of the answer: of the nodes that are there it can name only those that are shown."""
    one: dict[str, Any] = {"type": "string", "enum": [*ids, *(f"+{number}" for number in range(1, MOST_NEW + 1))]}
    text, names = {"type": ["string", "null"]}, {"type": "array", "items": {"type": "string"}}
    nodes, maybe = {"type": "array", "items": one}, {"anyOf": [one, {"type": "null"}]}
    fields: dict[str, Any] = {
        "intent": {"type": "string", "enum": list(INTENTS)},
        "targets": nodes,
        "under": maybe,
        "names": names,
        "value": text,
        "kind": {"enum": ["task", "item", "slot", "loop", None]},
        "status": {"enum": ["done", "active", None]},
        "needs": nodes,
        "follows": maybe,
        "condition": text,
        "holds": {"type": ["boolean", "null"]},
        "quote": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    }
    required = ["intent", "quote", "confidence"]
    act = {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
    acts = {"acts": {"type": "array", "items": act, "maxItems": MOST_ACTS}}
    return {"type": "object", "properties": acts, "required": ["acts"], "additionalProperties": False}


def _placed(act: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    """Return an act with the paths of its nodes for their ids, without the fields that say nothing."""
    found: dict[str, Any] = {}
    for name, said in act.items():
        if name in ("targets", "needs"):
            said = [places.get(key, key) for key in said]
        elif name in ("under", "follows"):
            said = places.get(said, said)
        if said is not None and said != []:
            found[name] = said
    return found
