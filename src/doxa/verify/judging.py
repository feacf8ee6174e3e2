"""A reply + the memory -> a verdict, sentence by sentence: logic, then what was said, then the NLI model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Literal, NamedTuple

from doxa.core.values import Claim, SentenceVerdict, Turn, Verdict
from doxa.language import stems
from doxa.language.words import EMPTY
from doxa.verify.conflicts import conflict_of
from doxa.verify.evidence import Evidence, p_contradicted
from doxa.verify.findings import Finding, Known
from doxa.verify.logic import by_logic, by_own_word, listed_many
from doxa.verify.mentions import mentions
from doxa.verify.premises import Premise, bears, premise_of, premised
from doxa.verify.promises import Promise, broken, due, promises_of
from doxa.verify.sentences import Clause, Spoken, affirmed, read_reply, turned
from doxa.verify.witnesses import heard
from doxa.verify.wording import by_wording, facts_of, passages_of, told_by

__all__ = ["CheckSpec", "check", "consistency_score", "together"]

SETTLED = 6
"""Statements of a reply that logic and wording support and witnesses are heard on all the same."""
UNDERSTOOD = 0.34
"""Share of the words of a clause that its claims may lack and still say what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """How a reply is checked."""

    clauses: int = 6
    """Most clauses of a reply that the NLI model reads; 0 asks it about none."""
    contradiction: float = 0.6
    """Probability, by all evidence, from which a clause is contradicted."""
    entailment: float = 0.8
    """P(entailment) from which the NLI model alone supports a clause."""


def check(text: str, known: Known, spec: CheckSpec | None = None) -> Verdict:
    """Return whether a reply agrees with the memory, and each of its sentences.

    Deterministic for a deterministic model. Cost: one reading and one look-up for each clause that claims something,
    and at most `spec.pairs` pairs for the NLI model, all in one call.

    Raises:
        BackendError: the NLI model failed.
    """
    checked = _Check(known, spec or CheckSpec(), promises_of(known))
    spoken = read_reply(text)
    for place, sentence in enumerate(spoken):
        checked.take(place, sentence, spoken[place - 1] if place else None)
    checked.ask()
    told = [checked.told(place, one) for place, one in enumerate(spoken)]
    verdict = together(_heard(told, spoken, known))
    return replace(verdict, due=due(text, checked.promises, known))


def _heard(told: Sequence[SentenceVerdict], spoken: Sequence[Spoken], known: Known) -> list[SentenceVerdict]:
    """Return the verdicts on sentences, those on statements once the turns that bear on them are heard.

    What logic and wording do not support is always heard, of the rest the first `SETTLED`: a list of facts is long.
    """
    if known.witnesses is None:
        return list(told)
    found: list[SentenceVerdict] = []
    settled = 0
    for sentence, said in zip(told, spoken, strict=True):
        settled += sentence.kind == "statement" and sentence.label == "supported"
        claims = sentence.kind == "statement" and not said.unread
        listens = claims and (sentence.label != "supported" or settled <= SETTLED)
        found.append(heard(sentence, known.witnesses(sentence.text)) if listens else sentence)
    return found


class _Open(NamedTuple):
    """A clause, or a sentence that claims nothing outright, and what was said that bears on it."""

    place: int
    text: str
    premise: Premise
    evidence: Evidence


@dataclass(slots=True)
class _Check:
    """A reply while it is checked."""

    known: Known
    spec: CheckSpec
    promises: Sequence[Promise] = ()
    found: list[list[Finding]] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)
    read: str = ""
    """What stood before, for names and pronouns."""

    def take(self, place: int, sentence: Spoken, before: Spoken | None) -> None:
        """Check one sentence by logic and wording; `before` is the sentence that stands before it."""
        if sentence.unread:
            self.found.append([])
            return
        promised = broken(sentence, self.promises, self.known)
        self.found.append([promised] if promised is not None else [])
        premise = premise_of(premised(sentence, _read_of(before)), self.known) if bears(sentence) else None
        for clause in sentence.clauses:
            claims = self._claims(clause)
            found = self._clause(clause, claims)
            self.read = f"{self.read} {clause.told}.".strip()
            if found is not None and (found.label == "contradicted" or _understood(clause, claims, found, self.known)):
                self.found[place].append(found)
            else:
                self._leave(place, clause.text, premise, Evidence(finding=found))
        if not sentence.clauses:
            self._leave(place, sentence.text, premise, Evidence(), kind=sentence.kind)

    def _clause(self, clause: Clause, claims: Sequence[Claim]) -> Finding | None:
        turns = self.known.said(clause.told)
        theirs = [turn for turn in turns if turn.role != "assistant"]
        found = by_logic(claims, clause, facts_of(theirs, self.known), self.known)
        many = listed_many(claims)
        said = by_wording(clause, passages_of(theirs, self.known), self.known, many=many)
        wrong = next((one for one in found if one.label == "contradicted"), None)
        if wrong is not None:
            return None if said is not None and said.label == "supported" and said.p >= 1.0 else wrong
        if said is not None and said.label == "contradicted" and _unread(clause, claims, self.known):
            return said
        if found and len(found) == len(claims):
            return found[0]
        if said is not None and (said.label == "contradicted" or not found):
            return said
        if found:
            return found[0]
        return by_own_word(claims, clause, self.known) or self._by_history(clause, turns, many=many)

    def _claims(self, clause: Clause) -> Sequence[Claim]:
        """Return what a clause claims; where its denial is not understood, the opposite of what it denies."""
        claims = self.known.read(clause, self.read)
        opposite = affirmed(clause)
        if opposite is None:
            return claims
        denied = self.known.read(opposite, self.read)
        said = {(one.subject.key, one.relation.name, one.object.key, one.polarity) for one in claims}
        lost = not claims or any((d.subject.key, d.relation.name, d.object.key, d.polarity) in said for d in denied)
        return [replace(one, polarity=not one.polarity) for one in denied[:1]] if lost else claims

    def _by_history(self, clause: Clause, turns: Sequence[Turn], *, many: bool) -> Finding | None:
        """Hold a clause against what the agent said before; what the user said counts first."""
        own = {
            turn.turn_id or str(turn.ordinal): turn for turn in (*self.known.own, *turns) if turn.role == "assistant"
        }
        told = [replace(turn, text=turned(turn.text)) for turn in own.values()]
        found = by_wording(clause, passages_of(told, self.known, facts=False), self.known, many=many)
        return None if found is None or found.label != "contradicted" else replace(found, by="history")

    def _leave(self, place: int, text: str, premise: Premise | None, evidence: Evidence, *, kind: str = "") -> None:
        """Put aside what is to be weighed; where nobody said anything that bears on it, it is as wording found it.

        `kind` is that of a sentence that claims nothing outright.
        """
        if premise is not None and self.known.classify is not None and len(self.open) < self.spec.clauses:
            conflict = conflict_of(text, premise.said, self.known.at)
            if conflict.shared or conflict.related or evidence.finding is not None:
                conflict = conflict.presupposed(asked=kind == "question") if kind else conflict
                self.open.append(_Open(place, text, premise, replace(evidence, conflict=conflict)))
                return
        if evidence.finding is not None:
            self.found[place].append(evidence.finding)

    def ask(self) -> None:
        """Ask the NLI model about all clauses at once, and weigh what is found of each."""
        if self.known.classify is None or not self.open:
            return
        rows = self.known.classify([(one.premise.text, _written(one.text)) for one in self.open])
        for one, (entailed, _, against) in zip(self.open, rows, strict=True):
            evidence = replace(one.evidence, entailed=float(entailed), contradicted=float(against))
            self.found[one.place].append(self._weighed(one, evidence))

    def _weighed(self, one: _Open, evidence: Evidence) -> Finding:
        """Return what all evidence together says of a clause."""
        found, against = evidence.finding, p_contradicted(evidence)
        turn = one.premise.turns[0]
        said = f"{told_by(turn)}: “{turn.text.rstrip('. ')}”"
        if against >= self.spec.contradiction:
            instead = evidence.conflict.instead
            reason = f"{said}; {instead}" if instead else said
            by: Literal["wording", "nli"] = "wording" if instead else "nli"
            return Finding(label="contradicted", because=(turn.turn_id,), reason=reason, by=by, p=against)
        if found is not None:
            return found
        entailed = evidence.entailed
        if entailed >= self.spec.entailment and turn.role != "assistant":  # nobody is their own witness
            return Finding(label="supported", because=(turn.turn_id,), reason=said, by="nli", p=entailed)
        return Finding(label="neutral", p=entailed, against=against, by="nli")

    def told(self, place: int, sentence: Spoken) -> SentenceVerdict:
        """Return the verdict of one sentence."""
        found = self.found[place]
        order = ("contradicted", "supported", "neutral")
        best = next((one for label in order for one in found if one.label == label), None)
        if best is None:
            return SentenceVerdict(text=sentence.text, kind=sentence.kind, reason=sentence.unread)
        return SentenceVerdict(
            text=sentence.text,
            label=best.label,
            kind=sentence.kind,
            because=best.because,
            reason=best.reason,
            by=best.by,
            p_entailment=0.0 if best.label == "contradicted" else best.p,
            p_contradiction=best.p if best.label == "contradicted" else best.against,
        )


def _read_of(before: Spoken | None) -> str:
    return "" if before is None or before.unread else before.text


def _written(clause: str) -> str:
    """Return a clause as a sentence, which is what the model was trained on."""
    return f"{clause[:1].upper()}{clause[1:].rstrip('.')}."


def _understood(clause: Clause, claims: Sequence[Claim], found: Finding, known: Known) -> bool:
    """Tell whether logic decides a clause: its claims say nearly all that it says, and the fact has its time."""
    if found.by != "logic" or not claims or _unread(clause, claims, known):
        return False
    dated = [one.text for one in mentions(clause.told, known.at) if one.kind == "date"]
    fact = known.beliefs.facts.get(found.because[0]) if found.because else None
    if dated and (fact is None or (fact.valid.start is None and fact.valid.end is None)):
        return False
    said = " ".join(
        f"{one.subject.label} {one.relation.name.replace('_', ' ')} {one.relation.label} {one.object.label}"
        for one in claims
    )
    wanted = frozenset(stems(clause.told)) - EMPTY
    left = wanted - frozenset(stems(said)) - frozenset(stems(" ".join(dated)))
    return len(left) <= UNDERSTOOD * len(wanted)


def _unread(clause: Clause, claims: Sequence[Claim], known: Known) -> bool:
    """Tell whether a number, a time of day or a name of a clause is in none of its claims."""
    told = " ".join(f"{one.subject.label} {one.object.label} {one.relation.label}" for one in claims).casefold()
    values = [one for one in mentions(clause.told, known.at) if one.kind in ("number", "clock", "name", "weekday")]
    return any(one.text.casefold() not in told for one in values)


def together(sentences: Sequence[SentenceVerdict]) -> Verdict:
    """Return the verdict on a text, out of those on its sentences."""
    wrong = [one for one in sentences if one.label == "contradicted"]
    unsure = [one for one in sentences if one.label == "uncertain"]
    right = [one for one in sentences if one.label == "supported"]
    claiming = [one for one in sentences if one.kind in ("statement", "promise") or one in wrong]
    best = (wrong or unsure or right or [SentenceVerdict(text="")])[0]
    entailed = fsum(one.p_entailment for one in claiming) / len(claiming) if claiming and not wrong else 0.0
    against = max((one.p_contradiction for one in claiming), default=0.0)
    return Verdict(
        label=best.label,
        because=tuple(dict.fromkeys(key for one in (wrong or unsure or right) for key in one.because)),
        reason=best.reason,
        p_entailment=entailed,
        p_contradiction=against,
        consistency=consistency_score(entailed, against),
        sentences=tuple(sentences),
    )


def consistency_score(p_entailment: float, p_contradiction: float) -> float:
    """Return CS, 0 to 1: `((P(entailment) - P(contradiction)) + 1) / 2`. Source: D-SMART, equation 4."""
    return ((p_entailment - p_contradiction) + 1) / 2
