"""A turn read by a language model: distil -> extract -> validate, each one call with a flat JSON schema.

What comes back is checked here as far as the text goes: a quote has to stand in the turn, and an object has to be
spoken of. Who is meant, when it was and which relation it is are settled afterwards, by `ground`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import LanguageModel, Request, Usage, ask, posed
from doxa.core.errors import BackendError
from doxa.core.values import Act, Modality, Turn
from doxa.memory import relation_names, stems
from doxa.understand.values import Extraction

__all__ = ["Roles", "extract_with_model", "prompt_version"]

MOST_FACTS = 40
"""Facts and rules taken from one turn; what a model lists beyond them is a loop."""
TEXT: Mapping[str, Any] = {"type": "string"}
MAYBE: Mapping[str, Any] = {"type": ["string", "null"]}
FLAG: Mapping[str, Any] = {"type": "boolean"}


def _listed(name: str, fields: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    item = {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}
    return {name: {"type": "array", "items": item}}


def _object(lists: Mapping[str, Any], *, required: Sequence[str]) -> Mapping[str, Any]:
    return {"type": "object", "properties": lists, "required": list(required), "additionalProperties": False}


STATEMENTS = _object(_listed("statements", {"text": TEXT, "quote": TEXT}, ["text", "quote"]), required=["statements"])
FACT = {
    "subject": TEXT,
    "relation": TEXT,
    "object": TEXT,
    "polarity": FLAG,
    "modality": {"enum": [str(modality) for modality in Modality]},
    "valid_from": MAYBE,
    "valid_to": MAYBE,
    "ended": FLAG,
    "act": {"enum": [str(act) for act in Act]},
    "quote": TEXT,
}
FACTS = _object(
    _listed("facts", FACT, ["subject", "relation", "object", "quote"])
    | _listed("rules", {"if": TEXT, "then": TEXT, "quote": TEXT}, ["if", "then", "quote"]),
    required=["facts"],
)
VERDICTS = _object(
    _listed("verdicts", {"id": {"type": "integer"}, "said": FLAG, "relation": TEXT}, ["id", "said"]),
    required=["verdicts"],
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which steps a model does; extraction always is one of them."""

    distil: bool = False
    validate: bool = False


@dataclass(slots=True)
class _Asking:
    """The calls for one turn."""

    model: LanguageModel
    turn: Turn
    context: Sequence[Turn]
    max_tokens: int
    usage: Usage = field(default_factory=Usage)
    dropped: list[str] = field(default_factory=list)

    def ask(self, role: str, schema: Mapping[str, Any], more: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the model's answer to a role.

        Raises:
            BackendError: the model failed, refused, or twice gave something that does not fit.
        """
        messages = posed(_prompt(role), json.dumps({**self._material(), **more}, ensure_ascii=False))
        request = Request(messages=messages, schema=schema, max_tokens=self.max_tokens)
        done = ask(self.model, request, setting="understand.max_tokens")
        self.usage += done.usage
        if done.failed:
            raise BackendError(done.failed)
        return done.parsed

    def _material(self) -> dict[str, Any]:
        said = [{"speaker": turn.speaker, "text": turn.text} for turn in self.context]
        message = {"speaker": self.turn.speaker, "text": self.turn.text}
        return {"date": self.turn.at.date().isoformat(), "context": said, "message": message}


@cache
def _prompts() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("prompts.toml").read_text(encoding="utf-8"))


def prompt_version() -> str:
    """Return the version of the prompts; it is stored with every turn that they read."""
    return str(_prompts()["version"])


def _prompt(role: str) -> str:
    text: str = _prompts()[role]["system"]
    return text.replace("{relations}", ", ".join(relation_names())).strip()


def extract_with_model(
    model: LanguageModel,
    turn: Turn,
    context: Sequence[Turn],
    *,
    roles: Roles,
    context_tokens: int,
    max_tokens: int,
) -> Extraction:
    """Return what a model reads out of a turn. Never raises for a failure of the model: `failed` says it.

    Args:
        model: any language model.
        turn: what was said; a turn longer than `context_tokens` is not given to the model.
        context: earlier turns, oldest first; the oldest are left out when they do not fit.
        roles: the steps beside extraction that the model does.
        context_tokens: most tokens of turn and context together.
        max_tokens: most tokens of one answer.

    Cost: one call, and one each for distilling and validating; one more for each answer that did not fit its schema.
    """
    by = f"{prompt_version()} {model.name}"
    left = context_tokens - model.count_tokens(turn.text)
    if left < 0:
        return Extraction(by=by, failed=f"the turn is longer than {context_tokens} tokens (setting llm.context_tokens)")
    asking = _Asking(model, turn, _fitting(model, context, left), max_tokens)
    try:
        facts, rules = _extract(asking, distil=roles.distil)
        facts = _validated(asking, facts) if roles.validate and facts else facts
    except BackendError as exc:
        failed = f"the language model failed, so the turn was read without it: {exc}"
        return Extraction(by=by, failed=failed, **asdict(asking.usage))
    dropped = tuple(asking.dropped)
    return Extraction(by=by, facts=tuple(facts), rules=tuple(rules), dropped=dropped, **asdict(asking.usage))


def _fitting(model: LanguageModel, context: Sequence[Turn], left: int) -> list[Turn]:
    """Return the latest turns that fit."""
    taken: list[Turn] = []
    for turn in reversed(context):
        left -= model.count_tokens(turn.text)
        if left < 0:
            break
        taken.append(turn)
    return taken[::-1]


def _extract(asking: _Asking, *, distil: bool) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    more: dict[str, Any] = {}
    if distil:
        found = asking.ask("distil", STATEMENTS, {})["statements"][:MOST_FACTS]
        more = {"statements": [told["text"] for told in found if _quoted(told["quote"], asking.turn.text)]}
        if not more["statements"]:
            return [], []  # nothing is said
    answer = asking.ask("extract", FACTS, more)
    facts = [fact for fact in answer["facts"][:MOST_FACTS] if _stands(fact, asking)]
    rules = [rule for rule in answer.get("rules", [])[:MOST_FACTS] if _rule_stands(rule, asking)]
    return facts, rules


def _validated(asking: _Asking, facts: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the facts that the model says yes to, under the relation that it names. One call for all of them."""
    fields = ("subject", "relation", "object", "polarity", "modality")
    listed = [{"id": i, **{key: fact[key] for key in fields if key in fact}} for i, fact in enumerate(facts, start=1)]
    verdicts = {row["id"]: row for row in asking.ask("validate", VERDICTS, {"facts": listed})["verdicts"]}
    kept: list[Mapping[str, Any]] = []
    known = set(relation_names())
    for number, fact in enumerate(facts, start=1):
        verdict = verdicts.get(number)
        if verdict is None or not verdict["said"]:
            asking.dropped.append(f"{_short(fact)}: {'not confirmed' if verdict is None else 'not said'}")
            continue
        name = verdict.get("relation", "").strip()
        kept.append({**fact, "canonical": name} if name in known else fact)
    return kept


def _stands(fact: Mapping[str, Any], asking: _Asking) -> bool:
    """Tell whether a fact has what a claim needs, and stands in the turn; note why when it does not."""
    reason = ""
    spoken = " ".join(f"{turn.speaker} {turn.text}" for turn in (*asking.context, asking.turn))
    if not fact["subject"].strip() or not fact["relation"].strip() or not fact["object"].strip():
        reason = "a part is missing"
    elif not _quoted(fact["quote"], asking.turn.text):
        reason = "its quote is not in the turn"
    elif not _spoken_of(fact["object"], spoken):
        reason = "nobody spoke of its object"
    if reason:
        asking.dropped.append(f"{_short(fact)}: {reason}")
    return not reason


def _rule_stands(rule: Mapping[str, Any], asking: _Asking) -> bool:
    stands = bool(rule["if"].strip() and rule["then"].strip()) and _quoted(rule["quote"], asking.turn.text)
    if not stands:
        asking.dropped.append(f"if {rule['if']}, {rule['then']}: its quote is not in the turn")
    return stands


def _quoted(quote: str, text: str) -> bool:
    """Tell whether a quote stands in a text, whatever its marks, spaces and case."""
    bare = _bare(quote)
    return bool(bare) and f" {bare} " in f" {_bare(text)} "


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("’", "'")))


def _spoken_of(thing: str, spoken: str) -> bool:
    """Tell whether a word of an object was said; numbers count by their digits, function words do not count."""
    wanted = set(stems(thing))
    return not wanted or bool(wanted & set(stems(spoken))) or bool(re.search(r"\d", thing))


def _short(fact: Mapping[str, Any]) -> str:
    return f"{fact['subject']} {fact['relation']} {fact['object']}"[:120]
