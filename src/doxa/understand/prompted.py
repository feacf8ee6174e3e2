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
from doxa.core.values import Modality, Turn
from doxa.language import stems
from doxa.memory import relation_names, relation_type
from doxa.understand.entries import facts_of
from doxa.understand.known import Known
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
ATOM = {"subject": TEXT, "relation": TEXT, "object": MAYBE, "holds": FLAG, "demand": {"enum": ["must", "may", None]}}


def _entry(kind: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of one kind of entry: every field is there, as strict servers demand."""
    shape = {"kind": {"type": "string", "enum": [kind]}, **fields, "quote": TEXT}
    return {"type": "object", "properties": shape, "required": list(shape), "additionalProperties": False}


def _entries(known: Known) -> Mapping[str, Any]:
    """Return the schema of what is extracted: a target is one of what was shown."""
    ids = known.ids()
    facts = [key for key in ids if known.fact(key) is not None]
    target = {"type": ["string", "null"], "enum": [*facts, None]} if facts else {"type": "null"}
    atoms = _listed("atoms", ATOM, list(ATOM))["atoms"]
    named = {"target": target, "subject": MAYBE, "relation": MAYBE, "old": MAYBE, "new": MAYBE, "source": MAYBE}
    span = {"from": MAYBE, "to": MAYBE}
    mood = {"type": "string", "enum": [str(modality) for modality in Modality]}
    stated = {"subject": TEXT, "relation": TEXT, "object": MAYBE, "holds": FLAG, "mood": mood, **span}
    kinds = [
        _entry("fact", {**stated, "over": FLAG, "beside": FLAG, "source": MAYBE}),
        _entry("change", {**named, "when": MAYBE}),
        _entry("correction", {**named, **span}),
        _entry("rule", {"if": atoms, "then": atoms}),
    ]
    kinds += [_entry("withdrawal", {"target": {"type": "string", "enum": ids}})] if ids else []
    entries = {"entries": {"type": "array", "items": {"anyOf": kinds}}}
    return _object(entries, required=["entries"])


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
    known: Known
    max_tokens: int
    usage: Usage = field(default_factory=Usage)
    entries: list[Mapping[str, Any]] = field(default_factory=list)
    """What was extracted, as the model put it."""
    dropped: list[str] = field(default_factory=list)

    @property
    def spoken(self) -> str:
        """What an entry may take its words from, but for what is known."""
        return " ".join(f"{turn.speaker} {turn.text}" for turn in (*self.context, self.turn))

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
        known = {"known": self.known.listed(), "context": said, "message": message}
        return {"date": self.turn.at.strftime("%A %Y-%m-%d"), **known}


@cache
def _prompts() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("prompts.toml").read_text(encoding="utf-8"))


def prompt_version() -> str:
    """Return the version of the prompts; it is stored with every turn that they read."""
    return str(_prompts()["version"])


def _prompt(role: str) -> str:
    text: str = _prompts()[role]["system"]
    names = relation_names() if role == "validate" else dict.fromkeys(relation_type(n).label for n in relation_names())
    return text.replace("{relations}", ", ".join(names)).strip()


def extract_with_model(
    model: LanguageModel,
    turn: Turn,
    context: Sequence[Turn],
    known: Known | None = None,
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
        known: what is believed near the turn (`known_near`); what is furthest is left out when it does not fit.
        roles: the steps beside extraction that the model does.
        context_tokens: most tokens of turn and context together.
        max_tokens: most tokens of one answer.

    Cost: one call, and one each for distilling and validating; one more for each answer that did not fit its schema.
    """
    by = f"{prompt_version()} {model.name}"
    left = context_tokens - model.count_tokens(turn.text)
    if left < 0:
        return Extraction(by=by, failed=f"the turn is longer than {context_tokens} tokens (setting llm.context_tokens)")
    taken = _fitting(model, context, left)
    left -= sum(model.count_tokens(one.text) for one in taken)
    asking = _Asking(model, turn, taken, (known or Known()).fitting(left, model.count_tokens), max_tokens)
    try:
        facts, rules = _extract(asking, distil=roles.distil)
        facts = _validated(asking, facts) if roles.validate and facts else facts
    except BackendError as exc:
        failed = f"the language model failed, so the turn was read without it: {exc}"
        return Extraction(by=by, failed=failed, **asdict(asking.usage))
    return Extraction(
        by=by,
        facts=tuple(facts),
        rules=tuple(rules),
        saw=asking.known.told_in(asking.entries, asking.spoken),
        dropped=tuple(asking.dropped),
        **asdict(asking.usage),
    )


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
    entries = asking.entries = list(asking.ask("extract", _entries(asking.known), more)["entries"][:MOST_FACTS])
    found = [fact for entry in entries if entry["kind"] != "rule" for fact in facts_of(entry, asking.known)]
    facts = [fact for fact in found if _stands(fact, asking)]
    rules = [entry for entry in entries if entry["kind"] == "rule" and _rule_stands(entry, asking)]
    return facts, rules


def _validated(asking: _Asking, facts: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the facts that the model says yes to, under the relation that it names. One call for all of them."""
    fields = ("subject", "relation", "object", "polarity", "modality")
    listed = [{"id": i, **{key: fact[key] for key in fields if key in fact}} for i, fact in enumerate(facts, start=1)]
    verdicts = {row["id"]: row for row in asking.ask("validate", VERDICTS, {"facts": listed})["verdicts"]}
    kept: list[Mapping[str, Any]] = []
    known = set(relation_names())
    for number, fact in enumerate(facts, start=1):
        if "lifts" in fact or fact.get("act") == "withdraw":
            kept.append(fact)  # it says nothing that could be so or not
            continue
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
    if "lifts" in fact or ("target" in fact and fact["object"] == fact["target"]["object"][1]):
        pass  # it speaks of what was shown
    elif not fact["subject"].strip() or not fact["relation"].strip():
        reason = "a part is missing"
    elif not _spoken_of(fact["object"], asking.spoken):
        reason = "nobody spoke of its object"
    if not _quoted(fact["quote"], asking.turn.text):
        reason = "its quote is not in the turn"
    if reason:
        asking.dropped.append(f"{_short(fact)}: {reason}")
    return not reason


def _rule_stands(rule: Mapping[str, Any], asking: _Asking) -> bool:
    reason = "" if _quoted(rule["quote"], asking.turn.text) else "its quote is not in the turn"
    if not rule["if"] or not rule["then"]:
        reason = "a part is missing"
    if reason:
        asking.dropped.append(f"a rule (“{rule['quote'][:80]}”): {reason}")
    return not reason


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
    return " ".join(str(fact.get(part) or "") for part in ("subject", "relation", "object"))[:120].strip()
