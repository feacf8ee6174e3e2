"""reading: material -> what a language model says that a turn does, as acts. What does not hold is sent back once.

Source: Task Memory Engine, section 4.2 and appendix D, "TRIM Prompt Template Examples". There an answer has new, update
or check, a title and the names of nodes; here the acts are those of the grammar and some more (`shapes`), nodes are
named by id, and each act has the words that it rests on. The model writes neither replies nor states.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import LanguageModel, Message, Request, Usage, ask, posed
from doxa.tasks.prompted.material import Material
from doxa.tasks.prompted.shapes import SAYING, placed, schema_of

__all__ = ["Check", "Reading", "Refused", "prompt_version", "pruned", "read_with_model"]

Act = Mapping[str, Any]
SHAPED = ("trim/2", "trim/3")
"""Versions of the prompt whose acts have the shapes that are carried out."""
BARE = ("intent", "quote", "confidence")
"""What is kept of an act that only says something."""
OLDER = "it was read with an older version of the prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An act that does not hold."""

    at: int
    """Its place among the acts, from 0."""
    intent: str
    quote: str
    """The words that it rests on, where they stand in the turn; else empty."""
    why: str
    """Repeats nothing that the model wrote."""


Check = Callable[[Sequence[Act]], Sequence[Refused]]
"""Tells which acts, carried out in order, do not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a model says that a turn does, and what that cost."""

    acts: tuple[Act, ...] = ()
    """In order; nodes are named by path (`Material.places`), or "+1" where the turn adds them."""
    asked: tuple[tuple[str, str], ...] = ()
    """What did not hold, also when it was sent back: the words of the turn, and why. The user is asked about it."""
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
        data["asked"] = [list(one) for one in self.asked]
        return {key: value for key, value in data.items() if value or key == "acts"}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Reading | None:
        """Return the reading of stored data; None where there is none.

        Acts of an older version of the prompt have other shapes: they are not carried out again, and `failed` says so.
        """
        if not data:
            return None
        calls, prompt, completion = data.get("cost", (0, 0, 0))
        by = data.get("by", "")
        known = by.partition(" ")[0] in SHAPED
        return cls(
            acts=tuple(data.get("acts", ())) if known else (),
            asked=tuple((quote, why) for quote, why in data.get("asked", ())),
            by=by,
            calls=calls,
            prompt_tokens=prompt,
            completion_tokens=completion,
            failed=data.get("failed", "") or ("" if known else OLDER),
        )


def pruned(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the stored data of a reading without what a model said of the tasks in words of its own.

    They may repeat what is erased; a turn that is told again is answered from the state.
    """
    if "acts" not in data:
        return data
    acts = [{k: v for k, v in act.items() if act.get("intent") not in SAYING or k in BARE} for act in data["acts"]]
    return {**data, "acts": acts}


@dataclass(slots=True, kw_only=True)
class _Talk:
    """The calls about one turn, and what they cost."""

    model: LanguageModel
    material: Material
    max_tokens: int
    messages: list[Message]
    usage: Usage = field(default_factory=Usage)

    def acts(self) -> tuple[list[Act], str]:
        """Return the acts of the next answer, and why there is none (empty when there is)."""
        request = Request(
            messages=tuple(self.messages), schema=schema_of(list(self.material.places)), max_tokens=self.max_tokens
        )
        done = ask(self.model, request, setting="understand.max_tokens")
        self.usage += done.usage
        if done.failed:
            return [], done.failed
        text = json.dumps(done.parsed, ensure_ascii=False)
        self.messages.append(Message(role="assistant", content=text))
        return [placed(act, self.material.places) for act in done.parsed["acts"]], ""

    def reading(self, **fields: Any) -> Reading:
        spent = self.usage
        by = f"{prompt_version()} {self.model.name}"
        return Reading(
            by=by, calls=spent.calls, prompt_tokens=spent.prompt_tokens, completion_tokens=spent.completion_tokens,
            **fields,
        )  # fmt: skip


def prompt_version() -> str:
    """Return the version of the prompt; it is stored with every turn that was read with it."""
    return str(_prompt()["version"])


def read_with_model(model: LanguageModel, material: Material, check: Check, *, max_tokens: int) -> Reading:
    """Return what a model says that a turn does. Never raises for a failure of the model: `failed` says it.

    Acts that do not hold are sent back once with the reason; what comes takes their place. What does not hold then is
    left out, and stands in `asked`.

    Args:
        model: any language model.
        material: what it is shown; nothing else is sent.
        check: tells which acts do not hold.
        max_tokens: most tokens of an answer.

    Cost: one call, and one more where an act does not hold; each may take two when its answer does not fit the schema,
    or names what was not shown.
    """
    told = posed(str(_prompt()["system"]).strip(), material.text())
    talk = _Talk(model=model, material=material, max_tokens=max_tokens, messages=list(told))
    acts, failed = talk.acts()
    if failed:
        return talk.reading(failed=failed)
    refused = check(acts)
    if refused:
        talk.messages.append(Message(role="user", content=_sent_back(acts, refused)))
        more, failed = talk.acts()
        if not failed:
            acts = _mended(acts, refused, more)
            refused = check(acts)
    asked = tuple(dict.fromkeys((one.quote, one.why) for one in refused))
    return talk.reading(acts=tuple(_without(acts, refused)), asked=asked)


@cache
def _prompt() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))


def _sent_back(acts: Sequence[Act], refused: Sequence[Refused]) -> str:
    """Return what a model is told of acts that do not hold."""
    held = len(acts) - len(refused)
    reasons = [{"act": one.at + 1, "intent": one.intent, "reason": one.why} for one in refused]
    data = {"refused": reasons, "carried_out": held, "note": str(_prompt()["sent_back"]).strip()}
    return json.dumps(data, ensure_ascii=False)


def _mended(acts: Sequence[Act], refused: Sequence[Refused], more: Sequence[Act]) -> list[Act]:
    """Return the acts with others in the place of those that were refused."""
    first = refused[0].at
    gone = {one.at for one in refused}
    before = [act for at, act in enumerate(acts) if at < first]
    after = [act for at, act in enumerate(acts) if at > first and at not in gone]
    return [*before, *more, *after]


def _without(acts: Sequence[Act], refused: Sequence[Refused]) -> list[Act]:
    gone = {one.at for one in refused}
    return [act for at, act in enumerate(acts) if at not in gone]
