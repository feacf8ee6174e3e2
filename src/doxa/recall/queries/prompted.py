"""Query -> the query in words that stand alone, by a language model: the prompted twin of `enrich.py`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import Answered, LanguageModel, Message, Request, ask, posed
from doxa.core.values import Turn
from doxa.language import stems
from doxa.recall.queries.enrich import Meant

__all__ = ["Rewriting", "meant_by", "rewrite_with_model"]

KINDS = ("person", "place", "time", "duration", "count", "reason", "preference", "other")
MOST_WORDS = 10
LONGEST = 400
"""Characters of a rewritten question; a longer one is no question."""
FILLED_IN, ADDED = 0.7, 0.3
"""Weight of the words that the model put in place of others, and of those that it adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """What a model made of a query, and what that cost."""

    question: str = ""
    words: tuple[str, ...] = ()
    seeks: frozenset[str] = frozenset()
    by: str = ""
    """Version of the prompt and name of the model."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failed: str = ""
    """Why the query was read the built-in way; empty when the model rewrote it."""
    sent: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The prompt word for word, with what came back: for a trace."""


def rewrite_with_model(
    model: LanguageModel, text: str, recent: Sequence[Turn], *, asker: str, context_tokens: int, max_tokens: int
) -> Rewriting:
    """Return what a model makes of a query. Never raises for a failure of the model: `failed` says it.

    Args:
        model: any language model.
        text: the query.
        recent: the turns before it, oldest first; nothing else of the memory is sent.
        asker: who asks.
        context_tokens: most tokens of the turns; the oldest are left out.
        max_tokens: most tokens of the answer.

    Cost: one call; two when the first answer did not fit its schema.
    """
    by = f"{_prompt()['version']} {model.name}"
    messages = posed(_prompt()["system"].strip(), _material(model, text, recent, asker, context_tokens))
    done = ask(model, Request(messages=messages, schema=SCHEMA, max_tokens=max_tokens))
    cost = Rewriting(by=by, sent=_sent(model, messages, done), **asdict(done.usage))
    if done.failed:
        return replace(cost, failed=_builtin(done.failed))
    question = " ".join(str(done.parsed["question"]).split())
    if not question or len(question) > LONGEST + len(text):
        return replace(cost, failed=_builtin(f"{model.name} gave back no question"))
    return replace(
        cost,
        question=question,
        words=tuple(dict.fromkeys(map(str, done.parsed["words"])))[:MOST_WORDS],
        seeks=frozenset([done.parsed["seeks"]]) - {"other"},
    )


def _sent(model: LanguageModel, messages: Sequence[Message], done: Answered) -> Mapping[str, object]:
    """Return the prompt word for word with what came back, in the form of those of the search (`Asking.sent`)."""
    system, message = (one.content for one in messages)
    spent = {"prompt_tokens": done.usage.prompt_tokens, "completion_tokens": done.usage.completion_tokens}
    came = {name: value for name, value in (("reply", done.text), ("failed", done.failed)) if value}
    return {
        "system": system,
        "system_tokens": model.count_tokens(system),
        "message": message,
        "message_tokens": model.count_tokens(message),
        "calls": [{"role": "rewriter", **spent, **came}],
    }


def meant_by(text: str, rewriting: Rewriting) -> Meant:
    """Return what a query means by a rewriting. Its own words stay what they are; the model's weigh less."""
    own = set(stems(text))
    weights = {stem: ADDED for word in rewriting.words for stem in stems(word) if stem not in own}
    weights |= {stem: FILLED_IN for stem in stems(rewriting.question) if stem not in own}
    return Meant(text=rewriting.question, wording=rewriting.question, expansions=weights)


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "words": {"type": "array", "items": {"type": "string"}, "maxItems": 2 * MOST_WORDS},
        "seeks": {"type": "string", "enum": list(KINDS)},
    },
    "required": ["question", "words", "seeks"],
    "additionalProperties": False,
}


@cache
def _prompt() -> Mapping[str, str]:
    found: Mapping[str, str] = tomllib.loads(files(__package__).joinpath("rewriting.toml").read_text(encoding="utf-8"))
    return found


def _material(model: LanguageModel, text: str, recent: Sequence[Turn], asker: str, budget: int) -> str:
    """Return what the model is shown, with as many of the latest turns as fit."""
    said = [{"speaker": turn.speaker, "text": turn.text} for turn in recent]
    while True:
        shown = json.dumps({"dialogue": said, "asker": asker, "query": text}, ensure_ascii=False)
        if not said or model.count_tokens(shown) <= budget:
            return shown
        said = said[1:]


def _builtin(reason: str) -> str:
    return f"the query was not rewritten by the language model, so it was read the built-in way: {reason}"
