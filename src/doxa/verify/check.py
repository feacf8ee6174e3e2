"""A reply + the memory -> a verdict, sentence by sentence: logic first, then what was said, then the NLI model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from doxa.core.values import SentenceVerdict, Verdict
from doxa.verify.findings import Finding, Known
from doxa.verify.logic import by_logic, listed_many
from doxa.verify.scores import consistency_score
from doxa.verify.sentences import Clause, Spoken, read_reply
from doxa.verify.wording import by_wording, facts_of, passages_of

__all__ = ["CheckSpec", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """How a reply is checked."""

    pairs: int = 6
    """Most pairs that the NLI model reads."""
    contradiction: float = 0.9
    entailment: float = 0.8


def check(text: str, known: Known, spec: CheckSpec | None = None) -> Verdict:
    """Return whether a reply agrees with the memory, and each of its sentences.

    Deterministic for a deterministic model. Cost: one reading and one look-up for each clause that claims something,
    and at most `spec.pairs` pairs for the NLI model, all in one call.

    Raises:
        BackendError: the NLI model failed.
    """
    checked = _Check(known, spec or CheckSpec())
    spoken = read_reply(text)
    for sentence in spoken:
        checked.take(sentence)
    return _verdict([checked.told(place, one) for place, one in enumerate(spoken)])


@dataclass(slots=True)
class _Check:
    """A reply while it is checked."""

    known: Known
    spec: CheckSpec
    found: list[list[Finding]] = field(default_factory=list)
    read: str = ""
    """What stood before, for names and pronouns."""

    def take(self, sentence: Spoken) -> None:
        found: list[Finding] = []
        for clause in sentence.clauses:
            one = self._clause(clause)
            self.read = f"{self.read} {clause.told}.".strip()
            if one is not None:
                found.append(one)
        self.found.append(found)

    def _clause(self, clause: Clause) -> Finding | None:
        claims = self.known.read(clause, self.read)
        turns = self.known.said(clause.told)
        found = by_logic(claims, clause, facts_of(turns, self.known), self.known)
        passages = passages_of(turns, self.known)
        said = by_wording(clause, passages, self.known, many=listed_many(claims))
        wrong = next((one for one in found if one.label == "contradicted"), None)
        if wrong is not None:
            return None if said is not None and said.label == "supported" and said.p >= 1.0 else wrong
        if found and len(found) == len(claims):
            return found[0]
        if said is not None and (said.label == "contradicted" or not found):
            return said
        return found[0] if found else None

    def told(self, place: int, sentence: Spoken) -> SentenceVerdict:
        """Return the verdict of one sentence."""
        found = self.found[place]
        wrong = [one for one in found if one.label == "contradicted"]
        right = [one for one in found if one.label == "supported"]
        best = next(iter(wrong or right), None)
        if best is None:
            return SentenceVerdict(text=sentence.text, kind=sentence.kind)
        return SentenceVerdict(
            text=sentence.text,
            label=best.label,
            kind=sentence.kind,
            because=best.because,
            reason=best.reason,
            by=best.by,
            p_entailment=best.p if best.label == "supported" else 0.0,
            p_contradiction=best.p if best.label == "contradicted" else 0.0,
        )


def _verdict(sentences: Sequence[SentenceVerdict]) -> Verdict:
    wrong = [one for one in sentences if one.label == "contradicted"]
    right = [one for one in sentences if one.label == "supported"]
    claiming = [one for one in sentences if one.kind in ("statement", "promise")]
    best = (wrong or right or [SentenceVerdict(text="")])[0]
    entailed = fsum(one.p_entailment for one in claiming) / len(claiming) if claiming else 0.0
    against = max((one.p_contradiction for one in claiming), default=0.0)
    entailed = 0.0 if wrong else entailed
    return Verdict(
        label=best.label,
        because=tuple(dict.fromkeys(key for one in (wrong or right) for key in one.because)),
        reason=best.reason,
        p_entailment=entailed,
        p_contradiction=against,
        consistency=consistency_score(entailed, against),
        sentences=tuple(sentences),
    )
