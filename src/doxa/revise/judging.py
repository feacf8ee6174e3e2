"""What clashes in meaning but not in form, judged by a language model: claims + nearby facts -> denials.

Axioms and the solver see a clash only where an axiom or a rule joins the relations of both sides. "Ana is vegan" and
"Ana eats meat" share nothing but Ana; here a model is shown the two and says how they relate. What it says becomes an
ordinary claim of the turn, the denial of the older fact, so all that holds for claims holds for it: it goes when the
turn is withdrawn, and a replay finds it in the log and asks no model.

Source: D-SMART, section "Dynamic Update and Conflict Resolution" and its prompt for conflict detection, which shows a
model the whole graph and prunes what it names. Ours shows only what is near, forgets nothing, and lets nobody deny what
somebody closer to it said.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import LanguageModel, Request, ask, posed
from doxa.core.turns import MACHINES
from doxa.core.values import Act, Claim, Conflict, Fact, Interval, Modality, Status
from doxa.memory import Beliefs, describe, is_current, is_identity
from doxa.revise.policies import Outcome, Policy, outcome_of, rank_of

__all__ = ["Denials", "Docket", "Finding", "Judgement", "denials", "docket_of", "judge_with_model", "upheld"]

MOST_FACTS = 20
"""Held facts that a model is shown at once."""
MOST_VOICES = 3
MOST_CLAIMS = 20
"""New claims of one turn that a model is shown; what a turn lists beyond them is left to the axioms."""
WORLD = (Modality.ASSERTED, Modality.PLANNED)
"""Modalities that can clash with a fact: what is, and what is settled to be."""
NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What is put before a judge: the new claims of a turn and the held facts near them."""

    claims: tuple[Claim, ...]
    facts: tuple[Fact, ...]
    voices: tuple[tuple[str, ...], ...]
    """Of each fact, who said it and when."""
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How one new claim relates to one held fact."""

    claim: Claim
    fact: Fact
    kind: Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a model found in a docket, and what that cost."""

    findings: tuple[Finding, ...] = ()
    by: str = ""
    """Version of the prompt and name of the model."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failed: str = ""
    """Why there are no findings; empty when the model judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denials:
    """What a judgement adds to a turn, and what of it does not count, with the reason."""

    claims: tuple[Claim, ...] = ()
    dropped: tuple[str, ...] = ()


def docket_of(
    claims: Sequence[Claim],
    beliefs: Beliefs,
    *,
    day: date,
    closeness: Callable[[Fact], float] = lambda fact: 0.0,
    most: int = MOST_FACTS,
) -> Docket | None:
    """Return what a judge has to compare; None when nothing is near. Pure.

    Near are facts that are believed on `day` and share a subject or object with a claim that says something new. Left
    out are facts in a slot that the claims touch, since `resolve` settles those, and what follows from other facts.

    Args:
        claims: what a turn says.
        beliefs: what was believed before it.
        day: the day on which the turn was said.
        closeness: how much a fact bears on the turn; higher is nearer. Asked only when there are more than `most`.
        most: facts that are shown; those about the same subject go first, then the nearest, then the latest.

    Cost: O(facts about the subjects and objects of the claims).
    """
    told = [claim for claim in claims if _may_clash(claim) and not _held(claim, beliefs, day)][:MOST_CLAIMS]
    settled = {beliefs.slot(claim) for claim in claims}
    subjects = {beliefs.key(claim.subject.key) for claim in told}
    near = {fact.fact_id: fact for term in _spoken_of(told, beliefs) for fact in _near(term, beliefs)}
    facts = [
        fact
        for fact in near.values()
        if is_current(fact, day) and fact.modality in WORLD and not fact.premises and beliefs.slot(fact) not in settled
    ]
    if not facts:
        return None
    if len(facts) > most:
        latest = sorted(facts, key=lambda fact: (fact.known_at is not None, fact.known_at), reverse=True)
        facts = sorted(latest, key=lambda fact: (fact.subject.key not in subjects, -closeness(fact)))[:most]
    voices = tuple(_voices(beliefs.supporting(fact)) for fact in facts)
    return Docket(claims=tuple(told), facts=tuple(facts), voices=voices, day=day)


def _voices(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Return who says a fact, from whom they have it, and on which day; the last of many."""
    told = dict[str, None]()
    for one in claims[-MOST_VOICES:]:
        source = f" (from {one.source})" if one.source else ""
        told[f"{one.speaker}{source}{f', {one.known_at:%Y-%m-%d}' if one.known_at else ''}"] = None
    return tuple(told)


def _may_clash(claim: Claim) -> bool:
    """Tell whether a claim says how things are; what was over when it was said, or a machine says, ends nothing."""
    says = claim.act is not Act.WITHDRAW and claim.modality in WORLD and not claim.ended
    return says and claim.role not in MACHINES and not is_identity(claim)


def _held(claim: Claim, beliefs: Beliefs, day: date) -> bool:
    """Tell whether it is believed already; what is only said again was judged when it was new."""
    value = beliefs.key(claim.object.key)
    same = (f for f in beliefs.in_slot(beliefs.slot(claim)) if f.object.key == value and f.polarity == claim.polarity)
    return any(is_current(fact, day) for fact in same)


def _spoken_of(claims: Sequence[Claim], beliefs: Beliefs) -> list[str]:
    """Return the keys of the entities that are the subjects and objects of claims, each once."""
    terms = (term for claim in claims for term in (claim.subject, claim.object))
    return list(dict.fromkeys(beliefs.key(term.key) for term in terms))


def _near(key: str, beliefs: Beliefs) -> Iterator[Fact]:
    """Yield the facts whose subject or object is an entity; some more than once."""
    yield from beliefs.about(key)
    for name in dict.fromkeys((key, *beliefs.identity.names(key))):
        slots = dict.fromkeys(beliefs.slot(claim) for claim in beliefs.said_of(name) if not is_identity(claim))
        yield from (fact for slot in slots for fact in beliefs.in_slot(slot) if fact.object.key == key)


@cache
def _prompt() -> Mapping[str, str]:
    found: Mapping[str, str] = tomllib.loads(files("doxa.revise").joinpath("judging.toml").read_text(encoding="utf-8"))
    return found


def judge_with_model(model: LanguageModel, docket: Docket, *, context_tokens: int, max_tokens: int) -> Judgement:
    """Return how a model says that claims and facts relate. Never raises for a failure of the model: `failed` says it.

    Args:
        model: any language model.
        docket: what to compare; nothing else is sent.
        context_tokens: most tokens of the claims and facts; the facts that come last are left out.
        max_tokens: most tokens of the answer.

    Cost: one call; two when the first answer did not fit its schema, or named what was not shown.
    """
    by = f"{_prompt()['version']} {model.name}"
    shown = _fitting(model, docket, context_tokens)
    if shown is None:
        return Judgement(by=by, failed=_unjudged(f"it does not fit into {context_tokens} tokens (llm.context_tokens)"))
    messages = posed(_prompt()["system"].strip(), json.dumps(_material(shown), ensure_ascii=False))
    done = ask(model, Request(messages=messages, schema=_schema(shown), max_tokens=max_tokens))
    cost = Judgement(by=by, **asdict(done.usage))
    if done.failed:
        return replace(cost, failed=_unjudged(done.failed))
    return replace(cost, findings=tuple(_findings(done.parsed["verdicts"], shown)))


def _unjudged(reason: str) -> str:
    return f"what the turn clashes with was not judged by the language model: {reason}"


def _fitting(model: LanguageModel, docket: Docket, budget: int) -> Docket | None:
    """Return a docket with as many facts as fit; None when none does."""
    facts = docket.facts
    while facts:
        shown = replace(docket, facts=facts, voices=docket.voices[: len(facts)])
        if model.count_tokens(json.dumps(_material(shown), ensure_ascii=False)) <= budget:
            return shown
        facts = facts[:-1]
    return None


def _material(docket: Docket) -> dict[str, Any]:
    said = [
        {"id": number, "speaker": claim.speaker, "text": describe(_as_fact(claim)), "words": claim.span}
        for number, claim in enumerate(docket.claims, start=1)
    ]
    held = [
        {"id": number, "text": describe(fact), "by": ", ".join(by)}
        for number, (fact, by) in enumerate(zip(docket.facts, docket.voices, strict=True), start=1)
    ]
    return {"date": docket.day.isoformat(), "said": said, "held": held}


def _as_fact(claim: Claim) -> Fact:
    return Fact(
        fact_id="",
        subject=claim.subject,
        relation=claim.relation,
        object=claim.object,
        polarity=claim.polarity,
        modality=claim.modality,
        valid=claim.valid,
        functional=claim.functional,
    )


def _schema(docket: Docket) -> Mapping[str, Any]:
    """Return the schema of the answer: it can name only what is shown."""
    fields = {
        "claim": {"type": "integer", "enum": list(range(1, len(docket.claims) + 1))},
        "fact": {"type": "integer", "enum": list(range(1, len(docket.facts) + 1))},
        "kind": {"type": "string", "enum": [*map(str, Conflict), NONE]},
    }
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    verdicts = {"verdicts": {"type": "array", "items": item}}
    return {"type": "object", "properties": verdicts, "required": ["verdicts"], "additionalProperties": False}


def _findings(verdicts: Sequence[Mapping[str, Any]], docket: Docket) -> Iterator[Finding]:
    for row in verdicts:
        if row["kind"] != NONE:
            claim, fact = docket.claims[row["claim"] - 1], docket.facts[row["fact"] - 1]
            yield Finding(claim=claim, fact=fact, kind=Conflict(row["kind"]))


def denials(judgement: Judgement, claims: Sequence[Claim], beliefs: Beliefs) -> Denials:
    """Return the claims by which a turn denies what its other claims clash with. Pure; O(findings).

    A finding counts as long as the claim is still part of the turn and the fact still believed; each fact is denied
    once. Whoever is less close to the subject than those who said the fact cannot deny it, and a contradiction that
    the policy does not settle in favour of what is new denies nothing.

    Args:
        judgement: what a model found.
        claims: what the turn says.
        beliefs: what is believed before it.
    """
    said = set(claims)
    denied: dict[str, Claim] = {}
    dropped: list[str] = []
    for finding in judgement.findings:
        fact = beliefs.facts.get(finding.fact.fact_id)
        if fact is None or fact.status is not finding.fact.status or finding.claim not in said:
            continue
        if finding.kind is Conflict.REFINEMENT or fact.fact_id in denied:
            continue
        denial = denial_of(finding.claim, fact, correct=finding.kind is Conflict.CORRECTION)
        reason = _objection(denial, finding.kind, beliefs.supporting(fact), Policy(beliefs.policy))
        if reason:
            dropped.append(f"{describe(fact)}: {reason}")
        else:
            denied[fact.fact_id] = denial
    return Denials(claims=tuple(denied.values()), dropped=tuple(dropped))


def denial_of(claim: Claim, fact: Fact, *, correct: bool) -> Claim:
    """Return what a claim says of a fact that it clashes with: its opposite, from when the claim holds."""
    return replace(
        claim,
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        polarity=not fact.polarity,
        modality=fact.modality,
        functional=fact.functional,
        act=Act.CORRECT if correct else Act.STATE,
        valid=Interval(start=claim.valid.start, start_precision=claim.valid.start_precision),
        replaces=None,
    )


def _objection(denial: Claim, kind: Conflict, believed: Sequence[Claim], policy: Policy) -> str:
    """Return why a denial does not count; empty when it does."""
    if not believed:
        return "nobody is known to have said it"
    if rank_of(denial) < max(map(rank_of, believed)):
        return f"{denial.speaker} is less close to it than whoever said it"
    if kind is Conflict.UPDATE and denial.valid.start is None and policy in (Policy.ASK, Policy.REJECT_NEW):
        kind = Conflict.CONTRADICTION  # as in `relation_of`: these want to be told that the world has changed
    if outcome_of(denial, believed, kind, policy) is not Outcome.NEW:
        return f"it was found to clash with “{denial.span}”, and the policy {policy} does not give it up"
    return ""


def upheld(stored: Sequence[Claim], claims: Sequence[Claim], beliefs: Beliefs) -> tuple[Claim, ...]:
    """Return the denials of a turn that still deny something, when what came before the turn has changed.

    Args:
        stored: the denials as they were when the turn was judged.
        claims: what the turn says by now.
        beliefs: what is believed before it by now.

    A denial is told in the terms of the fact that it denies now, so that a name that is gone does not live on in it.
    """
    spans = {claim.span for claim in claims}
    kept: list[Claim] = []
    for denial in stored:
        facts = beliefs.in_slot(beliefs.slot(denial)) if denial.span in spans else []
        value = beliefs.key(denial.object.key)
        for fact in facts:
            opposed = fact.polarity is not denial.polarity and fact.object.key == value
            if opposed and fact.status is Status.HELD:
                kept.append(replace(denial, subject=fact.subject, object=fact.object))
                break
    return tuple(kept)
