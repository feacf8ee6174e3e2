"""verify: reply + memory -> verdict.

`sentences` takes a reply apart, `logic` holds its claims against the theory of the memory, `wording` what it says
against what was said, `promises` against what the agent undertook. `premises` finds what was said that bears on a
sentence, `conflicts` how the two differ, the NLI model judges the pair; `evidence` weighs all of it, `judging` puts it
together.
"""

from __future__ import annotations

from doxa.verify.findings import Classify, Known
from doxa.verify.judging import CheckSpec, check, consistency_score, together
from doxa.verify.sentences import Clause
from doxa.verify.witnesses import Witness

__all__ = ["CheckSpec", "Classify", "Clause", "Known", "Witness", "check", "consistency_score", "together"]
