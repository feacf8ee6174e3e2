"""prompted: states -> moves, values and answers, by a language model.

The three roles of the reasoning tree, each a prompt with a JSON schema. What they share of a question, the model, the
memory they are shown and the budget, is an `Asking`; with it alone the writer answers without a tree, in one call.
"""

from doxa.reason.prompted.asking import Asking, prompt_version
from doxa.reason.prompted.policy import PromptedPolicy
from doxa.reason.prompted.shown import Shown, show, talks_to_models
from doxa.reason.prompted.value import PromptedValuer
from doxa.reason.prompted.writer import PromptedWriter, Written

__all__ = [
    "Asking",
    "PromptedPolicy",
    "PromptedValuer",
    "PromptedWriter",
    "Shown",
    "Written",
    "prompt_version",
    "show",
    "talks_to_models",
]
