"""tasks: utterance -> acts -> edits -> commit.

An `Editor` carries out what a turn does to the task forest, over a state that it never changes; its `edits` are what
the turn changed in the end.
"""

from doxa.tasks.editing import Editor
from doxa.tasks.inverse import Undone
from doxa.tasks.propagation import Moved, ShiftBy

__all__ = ["Editor", "Moved", "ShiftBy", "Undone"]
