"""tasks: utterance -> acts -> edits -> commit.

`take` reads a turn (`clauses`, `phrases`) and carries out what it asks for (`frames`) or answers it (`asking`). An
`Editor` carries out what a turn does to the task forest, over a state that it never changes; its `edits` are what
the turn changed in the end.
"""

from doxa.tasks.context import context_of
from doxa.tasks.editing import Editor
from doxa.tasks.inverse import Undone
from doxa.tasks.propagation import Moved, ShiftBy
from doxa.tasks.saying import summary
from doxa.tasks.trim import Step, opened, take

__all__ = ["Editor", "Moved", "ShiftBy", "Step", "Undone", "context_of", "opened", "summary", "take"]
