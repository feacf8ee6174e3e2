"""verify: reply + memory -> verdict.

First version, by logic alone: what a draft says in functional slots is compared with the facts that are held.
"""

from __future__ import annotations

from collections.abc import Sequence

from doxa.core.values import Act, Claim, Draft, Fact, Modality, Status, Verdict
from doxa.memory import Beliefs
from doxa.verify.check import CheckSpec, check
from doxa.verify.findings import Known
from doxa.verify.scores import (
    Classify,
    DialogueScore,
    PremiseSpec,
    TurnScore,
    consistency_score,
    entailment_rate,
    score_dialogue,
    score_replies,
)
from doxa.verify.sentences import Clause

__all__ = [
    "CheckSpec",
    "Classify",
    "Clause",
    "DialogueScore",
    "Known",
    "PremiseSpec",
    "TurnScore",
    "check",
    "consistency_score",
    "entailment_rate",
    "score_dialogue",
    "score_replies",
    "verify",
]


def verify(draft: Draft, claims: Sequence[Claim], beliefs: Beliefs) -> Verdict:
    """Return whether a draft agrees with what is held.

    Args:
        draft: the answer with its citations.
        claims: what the text of the draft says, as understood.
        beliefs: what is held.

    A claim contradicts a held fact when both fill one functional slot with different values, or one value with
    opposite polarity. Sound for the slots it looks at; it sees nothing that was not understood as a claim.
    """
    if draft.abstained:
        return Verdict(label="neutral", reason="it does not claim anything")
    for claim in map(beliefs.identity.told, claims):
        for fact in beliefs.in_slot(beliefs.slot(claim)):
            if _clash(claim, fact):
                return Verdict(label="contradicted", because=(fact.fact_id,), reason=f"the memory holds: {fact}")
    cited = tuple(dict.fromkeys(c.fact_id for c in draft.citations if c.fact_id))
    held = [key for key in cited if key in beliefs.facts and beliefs.facts[key].status is not Status.RETRACTED]
    if held:
        return Verdict(label="supported", because=tuple(held), reason="it follows from the facts that it cites")
    return Verdict(label="neutral", reason="it rests on what was said, not on a fact that is held")


def _clash(claim: Claim, fact: Fact) -> bool:
    if fact.status is not Status.HELD or fact.disputed or claim.act is not Act.STATE or claim.ended:
        return False
    if claim.modality is not Modality.ASSERTED or not fact.functional:
        return claim.object.key == fact.object.key and claim.polarity != fact.polarity
    if claim.polarity != fact.polarity:
        return claim.object.key == fact.object.key
    return claim.polarity and claim.object.key != fact.object.key
