"""revise: claims + beliefs -> changes.

`resolve` is a pure function from the live claims of a slot to the facts of that slot; `settle` is the same for slots
that cases of rules connect, and keeps them consistent with the rules after every turn. Changes are the difference
between what they give and what was held. So withdrawing a claim or a rule is the same function on fewer of them, and
what it had displaced comes back by construction. `judging` lets a language model name what clashes in meaning alone,
which comes in as claims.
"""

from doxa.revise.accepting import restated
from doxa.revise.axioms import axioms as axioms_of
from doxa.revise.changes import bring_back, cut_short, give_up, retract, revise, withdraw
from doxa.revise.judging import Denials, Docket, Judgement, denials, docket_of, judge_with_model, upheld
from doxa.revise.policies import Policy
from doxa.revise.resolve import resolve
from doxa.revise.settle import settle

__all__ = [
    "Denials",
    "Docket",
    "Judgement",
    "Policy",
    "axioms_of",
    "bring_back",
    "cut_short",
    "denials",
    "docket_of",
    "give_up",
    "judge_with_model",
    "resolve",
    "restated",
    "retract",
    "revise",
    "settle",
    "upheld",
    "withdraw",
]
