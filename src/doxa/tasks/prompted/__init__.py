"""prompted: turn, forest -> acts by a language model -> step.

The prompted twin of the grammar. `material_of` is what a model is shown, `read_with_model` what it makes of the turn (a
`Reading`, which is stored), `refusals` what of that does not hold and is sent back, and `carry_out` does the rest over
the forest. What is said to the turn comes from the state in either way, never from the model.
"""

from doxa.tasks.prompted.decoding import Decoded, carry_out, refusals, unsure
from doxa.tasks.prompted.material import Material, material_of
from doxa.tasks.prompted.reading import Reading, Refused, pruned, read_with_model

__all__ = [
    "Decoded",
    "Material",
    "Reading",
    "Refused",
    "carry_out",
    "material_of",
    "pruned",
    "read_with_model",
    "refusals",
    "unsure",
]
