"""What a model read out of a turn -> claims: who is meant, which relation it is, when it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Any

from doxa.backends.parser import Parser
from doxa.core.ontology import Ontology
from doxa.core.values import Act, Atom, Claim, Interval, Modality, Precision, Rule, Term, Turn
from doxa.language import from_third_person, third_person
from doxa.language.syntax import trees
from doxa.language.times import find_times
from doxa.language.verbs import base_of
from doxa.memory import Beliefs, RelationType, attribute, inventory, relation_names, relation_type, verb_type
from doxa.understand.atoms import ANYONE, VARIABLE, AtomReader, atoms_of
from doxa.understand.clauses import worded_clause
from doxa.understand.propose import propose
from doxa.understand.referents import Referents, clean, kin_of, term
from doxa.understand.repairs import taken_back
from doxa.understand.text import sentences
from doxa.understand.values import Extraction, Statement, Understanding

__all__ = ["ground"]

CONFIDENCE = 0.8
ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?$")
NEGATION = re.compile(
    r"^(?:(?:do|does|did|is|was|are|were|has|have|had) )?(?:not|never|no longer) |^(?:do|does|did)n't "
)
PRECISIONS: tuple[Precision, ...] = ("year", "month", "day")


@dataclass(slots=True)
class _Grounding:
    """One turn while the model's facts are read."""

    turn: Turn
    referents: Referents
    parser: Parser | None
    dropped: list[str] = field(default_factory=list)


def ground(
    extraction: Extraction, turn: Turn, context: Sequence[Turn], beliefs: Beliefs, parser: Parser | None = None
) -> Understanding:
    """Return the claims and rules of what a model read; a fact about nobody who is known is dropped and named.

    Deterministic, without a call of a model: the same extraction gives the same claims for the same beliefs. The parser
    is for rules that are stored as clauses.
    """
    work = _Grounding(turn, Referents.of(turn, context, beliefs), parser)
    lifted = [fact["lifts"] for fact in extraction.facts if fact.get("lifts")]
    claims = [claim for fact in extraction.facts if not fact.get("lifts") for claim in _claims(fact, work)]
    claims = [*taken_back(claims), *claims]
    rules = [rule for data in extraction.rules for rule in _rules(data, work)]
    spans = dict.fromkeys([*(claim.span for claim in claims), *(rule.span for rule in rules)])
    return Understanding(
        claims=tuple(dict.fromkeys(claims)),
        rules=tuple(dict.fromkeys(rules)),
        withdrawn_rules=tuple(dict.fromkeys(lifted)),
        statements=tuple(Statement(text=span) for span in spans),
        intents=_intents(claims, rules),
        dropped=(*extraction.dropped, *work.dropped),
    )


def _intents(claims: Sequence[Claim], rules: Sequence[Rule]) -> tuple[str, ...]:
    acts = {claim.act for claim in claims}
    found = [name for act, name in ((Act.CORRECT, "correct"), (Act.WITHDRAW, "withdraw")) if act in acts]
    found += ["inform"] if rules or Act.STATE in acts else []
    return (*found, *(["plan"] if any(claim.modality is Modality.PLANNED for claim in claims) else []))


def _claims(fact: Mapping[str, Any], work: _Grounding) -> list[Claim]:
    target = fact.get("target") or {}
    subject = Term(*target["subject"]) if target else _who(fact["subject"], work)
    if subject is None:
        work.dropped.append(f"{fact['subject']} {fact['relation']} {fact['object']}: nobody that it could mean")
        return []
    assistant = work.turn.role == "assistant"
    if assistant and subject == work.referents.speaker:
        return []
    kind, thing, polarity = _said(fact, target, work)
    turn = work.turn
    claim = Claim(
        subject=subject,
        relation=kind.relation,
        object=thing,
        polarity=polarity,
        modality=Modality(fact.get("modality", "asserted")),
        act=Act.STATE if assistant else Act(fact.get("act", "state")),
        valid=_interval(fact.get("valid_from"), fact.get("valid_to"), turn),
        ended=bool(fact.get("ended", False)),
        replaces=_what(fact["replaces"], work.referents).key if fact.get("replaces") else None,
        functional=bool(target.get("functional", kind.functional)),
        adds=bool(fact.get("adds", False)),
        confidence=CONFIDENCE,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        source=fact.get("source") or "",
        role=turn.role,
        known_at=turn.at,
        span=fact["quote"].strip(),
    )
    work.referents.mention(subject)
    return [claim]


def _said(fact: Mapping[str, Any], target: Mapping[str, Any], work: _Grounding) -> tuple[RelationType, Term, bool]:
    """Return the relation, the object and the polarity of a fact, in the terms of its target where it has one."""
    relation, polarity = _affirmed(fact["relation"], fact.get("polarity", True))
    if not target:
        thing = _what(fact["object"], work.referents)
        kind, holds = _kind(fact.get("canonical", ""), relation, thing, work)
        return kind, thing, polarity == holds
    key, label = target["object"]
    thing = Term(key, label) if fact["object"] == label else _what(fact["object"], work.referents)
    return relation_type(target["relation"], fact["relation"]), thing, bool(fact.get("polarity", True))


def _who(name: str, work: _Grounding) -> Term | None:
    referents, bare = work.referents, clean(name).casefold()
    if bare in (referents.speaker.key, "i", "speaker", "the speaker"):
        return referents.speaker
    if bare in ("user", "the user"):
        return referents.speaker if work.turn.role == "user" else term(clean(name))
    return referents.resolve(name)


def _what(noun: str, referents: Referents) -> Term:
    if not noun.strip():
        return Term("", "")
    if (day := _iso(noun)) is not None and day[1] != "year":
        return term(Interval.format(*day))
    if re.match(r"(?:my|our|your|his|her) |(?:me|him|her|us|you)$", noun.strip(), re.IGNORECASE) or "'s " in noun:
        return referents.resolve(noun) or _bare(noun)
    return _bare(noun)


def _bare(noun: str) -> Term:
    """Return a thing without article and marks; a bracket that it opens stays closed."""
    label = clean(noun) or noun
    return term(f"{label})" if label.count("(") > label.count(")") else label)


def _affirmed(relation: str, polarity: bool) -> tuple[str, bool]:
    """Return a relation without a negation in its words, and what then is said of it: "not" is never said twice."""
    text = " ".join(relation.split())
    match = NEGATION.match(f"{text} ")
    if match is None:
        return text, polarity
    return text[match.end() :] or text.split()[0], False  # "is not"


def _kind(canonical: str, relation: str, thing: Term, work: _Grounding) -> tuple[RelationType, bool]:
    """Return the relation that a phrase means, and whether it is affirmed by it ("hates" denies `likes`)."""
    if canonical:
        return relation_type(canonical), not _denies(relation, thing, work)
    phrase = relation.casefold().replace("_", " ").strip()
    name = phrase.replace(" ", "_")
    if name in relation_names():
        return relation_type(name), True
    if kin_of(re.sub(r"^(?:has|have|is|'s) (?:an? )?", "", phrase)):
        return attribute(kin_of(re.sub(r"^(?:has|have|is|'s) (?:an? )?", "", phrase)) or phrase), True
    if phrase == "is" and thing.label[:1].isdigit():
        return relation_type("has_state"), True  # ages are "is aged"
    found = _by_patterns(phrase, thing, work)
    if found is not None and not found[1]:
        return found
    if (listed := _labels(inventory()).get(phrase)) is not None:
        return relation_type(listed), True
    if found is not None:
        return found
    first, _, rest = phrase.partition(" ")
    base = base_of(first, "base", "third", "past", "participle", "gerund")
    if base is None and first.endswith("s") and not first.endswith(("ss", "us", "is")):
        base = from_third_person(first)  # models are asked for verbs in the third person and for nouns in the singular
    if base is None and first not in ("is", "are", "was", "has"):
        return attribute(phrase), True
    label = f"{third_person(base or from_third_person(first))} {rest}".strip()
    known = next((relation_type(n) for n in relation_names() if relation_type(n).label == label), None)
    own = f"{base or from_third_person(first)} {rest}".strip()
    return known or (verb_type(own) if not rest else relation_type(own.replace(" ", "_"))), True


def named_by(kind: RelationType, thing: Term, turn: Turn, referents: Referents) -> tuple[RelationType, bool]:
    """Return the relation that a verb means with an object ("moves to" Bergen: `lives_in`), and if it holds."""
    if kind.kind == "noun" or not kind.label or not thing.label:
        return kind, True
    return _by_patterns(kind.label, thing, _Grounding(turn, referents, None)) or (kind, True)


def _by_patterns(phrase: str, thing: Term, work: _Grounding) -> tuple[RelationType, bool] | None:
    """Read "Somebody RELATION OBJECT" with the patterns for claims, so that models and patterns agree on names."""
    scratch = replace(work.referents, people=list(work.referents.people), gender=dict(work.referents.gender))
    for told in propose(*worded_clause(ANYONE, phrase, thing.label), scratch, work.turn.at):
        if told.object.key == thing.key and told.subject.key == ANYONE.casefold():
            return told.kind, told.polarity
    return None


def _denies(relation: str, thing: Term, work: _Grounding) -> bool:
    found = _by_patterns(relation.casefold(), thing, work)
    return found is not None and not found[1]


def _interval(start: str | None, end: str | None, turn: Turn) -> Interval:
    """Return when something holds, from the words that the model copied or from ISO dates."""
    first, last = _day(start, turn), _day(end, turn)
    if first is None and last is None:
        return Interval()
    if first is not None and start == end:
        return Interval(start=first[0], end=first[0], start_precision=first[1], end_precision=first[1])
    if first is not None and last is not None and last[0] < first[0] and not _within(first[0], *last):
        last = None
    return Interval(
        start=first[0] if first else None,
        end=last[0] if last else None,
        start_precision=first[1] if first else "day",
        end_precision=last[1] if last else "day",
    )


def _day(text: str | None, turn: Turn) -> tuple[date, Precision] | None:
    text = (text or "").strip()
    if ISO.match(text):
        return _iso(text)
    past = not re.search(
        r"\b(?:next|tomorrow|will|coming|in \w+ (?:days?|weeks?|months?|years?))\b", text, re.IGNORECASE
    )
    for wording in (text, f"in {text}", f"since {text}"):
        for span in find_times(wording, turn.at, past=past):
            valid = span.valid
            if span.kind != "clock" and valid.start is not None:
                return valid.start, valid.start_precision
            if span.kind != "clock" and valid.end is not None:
                return valid.end, valid.end_precision
    return None


def _within(day: date, coarse: date, precision: Precision) -> bool:
    """Tell whether a day is in a month or year that begins on another one."""
    return day.year == coarse.year and (precision == "year" or (precision == "month" and day.month == coarse.month))


def _iso(text: str) -> tuple[date, Precision] | None:
    """Return a date in the ISO form, as coarse as it is; None where it is none, or no day of the calendar."""
    iso = ISO.match(text.strip())
    parts = [int(part) for part in iso.groups() if part] if iso else []
    try:
        return (date(*[*parts, 1, 1][:3]), PRECISIONS[len(parts) - 1]) if parts else None
    except ValueError:
        return None


@lru_cache(maxsize=8)
def _labels(ontology: Ontology) -> Mapping[str, str]:
    """Return the relations of an ontology by their labels, as the prompt lists them, where those mean one alone."""
    names = [(kind.label, name) for name, kind in ontology.relations.items()]
    counts = Counter(label for label, _ in names)
    return {label: name for label, name in names if counts[label] == 1}


def _rules(data: Mapping[str, Any], work: _Grounding) -> list[Rule]:
    reader = AtomReader(referents=work.referents, at=work.turn.at)
    if_, then = (
        _stored(data[side], reader, work) if isinstance(data[side], str) else _atoms(data[side], data["quote"], work)
        for side in ("if", "then")
    )
    variables = {one.get(part) for side in ("if", "then") for one in data[side] if isinstance(one, Mapping)
                 for part in ("subject", "object") if str(one.get(part) or "").startswith("?")}  # fmt: skip
    if not if_ or not then or len(variables) > 1:
        work.dropped.append(f"“{data['quote']}”: it cannot be read as a rule")
        return []
    turn = work.turn
    return [
        Rule(
            if_=if_,
            then=then,
            turn_id=turn.turn_id,
            speaker=turn.speaker,
            role=turn.role,
            span=data["quote"].strip(),
            known_at=turn.at,
            confidence=CONFIDENCE,
        )
    ]


def _atoms(listed: Sequence[Mapping[str, Any]], span: str, work: _Grounding) -> tuple[Atom, ...]:
    """Return one side of a rule; nothing where a part of it is about nobody who is known."""
    found: list[Atom] = []
    for one in listed:
        subject, thing = _part(one["subject"], work), _part(one["object"] or "", work)
        if subject is None or thing is None:
            return ()
        relation, polarity = _affirmed(one["relation"], one["holds"])
        kind, holds = _kind("", relation, thing, work)
        atom = Atom(
            subject=subject, relation=kind.relation, object=thing, polarity=polarity == holds,
            deontic=one["demand"] or "", span=span,
        )  # fmt: skip
        found.append(atom)
    return tuple(found)


def _part(name: str, work: _Grounding) -> Term | None:
    """Return what a part of a rule is about; what begins with "?" is a variable."""
    if name.startswith("?"):
        return VARIABLE
    return Term("", "") if not name.strip() else _who(name, work) or _bare(name)


def _stored(clause: str, reader: AtomReader, work: _Grounding) -> tuple[Atom, ...]:
    """Return one side of a rule that is stored as a clause."""
    text = next((sentence.text for sentence in sentences(clause) if sentence.text), "")
    text = re.sub(r"^(?:if|when|then) ", "", text, flags=re.IGNORECASE)
    tree = next(trees(f"{text[:1].upper()}{text[1:]}", work.parser), None) if work.parser is not None else None
    return atoms_of(tree, reader) if tree is not None else ()
