"""A reply + the memory -> a verdict, sentence by sentence: logic, then what was said, then the NLI model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import NamedTuple

from doxa.core.values import Claim, SentenceVerdict, Turn, Verdict
from doxa.verify.alignment import another_detail
from doxa.verify.findings import Finding, Known
from doxa.verify.logic import by_logic, listed_many
from doxa.verify.mentions import mentions
from doxa.verify.promises import Promise, broken, due, promises_of
from doxa.verify.scores import consistency_score
from doxa.verify.sentences import Clause, Spoken, affirmed, cue, read_reply, turned
from doxa.verify.wording import Passage, by_wording, closeness, facts_of, passages_of, quoted

__all__ = ["CheckSpec", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """How a reply is checked."""

    pairs: int = 6
    """Most pairs that the NLI model reads; 0 asks it none."""
    contradiction: float = 0.9
    """P(contradiction) from which the model alone decides."""
    entailment: float = 0.8
    """P(entailment) from which it does."""
    close: float = 0.5
    """Share of the content words of a clause that a passage has to share for the model to be asked about them."""


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
        checked.take(place, sentence)
    checked.ask()
    verdict = _verdict([checked.told(place, one) for place, one in enumerate(spoken)])
    return replace(verdict, due=due(text, checked.promises, known))


class _Open(NamedTuple):
    """A clause that neither logic nor wording decides, with the passages that are close to it."""

    place: int
    clause: Clause
    passages: tuple[Passage, ...]
    many: bool


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

    def take(self, place: int, sentence: Spoken) -> None:
        """Check one sentence by logic and wording."""
        promised = broken(sentence, self.promises, self.known)
        found = [promised] if promised is not None else []
        for clause in sentence.clauses:
            one = self._clause(place, clause)
            self.read = f"{self.read} {clause.told}.".strip()
            if one is not None:
                found.append(one)
        self.found.append(found)

    def _clause(self, place: int, clause: Clause) -> Finding | None:
        claims = self._claims(clause)
        turns = self.known.said(clause.told)
        theirs = [turn for turn in turns if turn.role != "assistant"]
        found = by_logic(claims, clause, facts_of(theirs, self.known), self.known)
        passages = passages_of(theirs, self.known)
        many = listed_many(claims)
        said = by_wording(clause, passages, self.known, many=many)
        wrong = next((one for one in found if one.label == "contradicted"), None)
        if wrong is not None:
            return None if said is not None and said.label == "supported" and said.p >= 1.0 else wrong
        if said is not None and said.label == "contradicted" and _unread(clause, claims, self.known):
            return said
        if said is None and (other := self._elsewhere(clause, passages)) is not None:
            return other
        if found and len(found) == len(claims):
            return found[0]
        if said is not None and (said.label == "contradicted" or not found):
            return said
        if found:
            return found[0]
        before = self._by_history(clause, turns, many=many)
        if before is None:
            self._leave(place, clause, passages, many=many)
        return before

    def _elsewhere(self, clause: Clause, passages: Sequence[Passage]) -> Finding | None:
        """Return the sentence that says all that a clause says but for one detail, in place of which it has another."""
        for passage in (one for one in passages if one.standing == "held"):
            differing = another_detail(clause.told, passage.text, by=self.known.user, speaker=passage.turn.speaker)
            if differing is not None:
                mine, theirs = differing
                because = (*passage.fact_ids, passage.turn.turn_id)
                reason = f"{quoted(passage)}; “{theirs}”, not “{mine}”"
                return Finding(label="contradicted", because=because, reason=reason, by="wording", p=0.9)
        return None

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

    def _leave(self, place: int, clause: Clause, passages: Sequence[Passage], *, many: bool) -> None:
        """Put a clause aside for the NLI model, with the passages that are closest to it."""
        held = [one for one in passages if one.standing == "held"]
        close = [one for one in held if closeness(clause, one, self.known) >= self.spec.close]
        if close:
            best = sorted(close, key=lambda one: -closeness(clause, one, self.known))
            self.open.append(_Open(place, clause, tuple(best[:2]), many))

    def ask(self) -> None:
        """Ask the NLI model about what is left, all at once."""
        pairs = [(one, passage) for one in self.open for passage in one.passages][: self.spec.pairs]
        if self.known.classify is None or not pairs:
            return
        rows = self.known.classify([(passage.text, _written(one.clause.told)) for one, passage in pairs])
        for (one, passage), (entailed, _, against) in zip(pairs, rows, strict=True):
            because = (*passage.fact_ids, passage.turn.turn_id)
            reason = quoted(passage)
            if against >= self.spec.contradiction and not one.many and not cue("ahead", passage.text):
                found = Finding(label="contradicted", because=because, reason=reason, by="nli", p=float(against))
            elif entailed >= self.spec.entailment:
                found = Finding(label="supported", because=because, reason=reason, by="nli", p=float(entailed))
            else:
                found = Finding(label="neutral", p=float(entailed), against=float(against), by="nli")
            self.found[one.place].append(found)

    def told(self, place: int, sentence: Spoken) -> SentenceVerdict:
        """Return the verdict of one sentence."""
        found = self.found[place]
        order = ("contradicted", "supported", "neutral")
        best = next((one for label in order for one in found if one.label == label), None)
        if best is None:
            return SentenceVerdict(text=sentence.text, kind=sentence.kind)
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


def _written(told: str) -> str:
    """Return a clause as a sentence, which is what the model was trained on."""
    return f"{told[:1].upper()}{told[1:].rstrip('.')}."


def _unread(clause: Clause, claims: Sequence[Claim], known: Known) -> bool:
    """Tell whether a number, a time of day or a name of a clause is in none of its claims."""
    told = " ".join(f"{one.subject.label} {one.object.label} {one.relation.label}" for one in claims).casefold()
    values = [one for one in mentions(clause.told, known.at) if one.kind in ("number", "clock", "name", "weekday")]
    return any(one.text.casefold() not in told for one in values)


def _verdict(sentences: Sequence[SentenceVerdict]) -> Verdict:
    wrong = [one for one in sentences if one.label == "contradicted"]
    right = [one for one in sentences if one.label == "supported"]
    claiming = [one for one in sentences if one.kind in ("statement", "promise") or one in wrong]
    best = (wrong or right or [SentenceVerdict(text="")])[0]
    entailed = fsum(one.p_entailment for one in claiming) / len(claiming) if claiming and not wrong else 0.0
    against = max((one.p_contradiction for one in claiming), default=0.0)
    return Verdict(
        label=best.label,
        because=tuple(dict.fromkeys(key for one in (wrong or right) for key in one.because)),
        reason=best.reason,
        p_entailment=entailed,
        p_contradiction=against,
        consistency=consistency_score(entailed, against),
        sentences=tuple(sentences),
    )
