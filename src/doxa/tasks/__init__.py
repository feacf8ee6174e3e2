"""tasks: utterance -> acts -> edits -> commit.

`route` tells whether a turn is said to the tasks (`opening`, `routing`). `take` reads a turn (`reading`, `phrases`) and
carries out what it asks for (`frames`) or answers it (`asking`). An `Editor` carries out what a turn does to the task
forest, over a state that it never changes; its `edits` are what the turn changed in the end. `prompted` is the twin of
`take` by a language model.
"""

from doxa.tasks.addressed import Addressed, addressed_of
from doxa.tasks.amounts import typed_value
from doxa.tasks.context import context_of
from doxa.tasks.editing import Editor
from doxa.tasks.inverse import Undone
from doxa.tasks.plausible import Encode
from doxa.tasks.prompted import (
    Decoded,
    Material,
    Reading,
    Refused,
    carry_out,
    material_of,
    pruned,
    read_with_model,
    refusals,
    unsure,
)
from doxa.tasks.propagation import Moved, ShiftBy
from doxa.tasks.routing import Route, names_known, only_asks, route, stands
from doxa.tasks.saying import summary
from doxa.tasks.trim import Step, by_amount, opened, take

__all__ = [
    "Addressed",
    "addressed_of",
    "Decoded",
    "Editor",
    "Encode",
    "Material",
    "Moved",
    "Reading",
    "Refused",
    "Route",
    "ShiftBy",
    "Step",
    "Undone",
    "by_amount",
    "carry_out",
    "context_of",
    "material_of",
    "names_known",
    "only_asks",
    "opened",
    "pruned",
    "read_with_model",
    "refusals",
    "route",
    "stands",
    "summary",
    "take",
    "typed_value",
    "unsure",
]
