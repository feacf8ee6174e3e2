"""implicit: stated preferences, distractors -> are they found by questions that share no word with them?

`material` reads the workloads in `worlds/`, `chatter` the unrelated talk, `generate` and `asking` draw `dialogue`s.
"""

from doxa.evaluate.implicit.chatter import Chatter, read_chatter
from doxa.evaluate.implicit.dialogue import PreferenceDialogue, PreferenceQuery, PreferenceTurn
from doxa.evaluate.implicit.generate import draw_dialogues
from doxa.evaluate.implicit.material import WORKLOADS

__all__ = [
    "WORKLOADS",
    "Chatter",
    "PreferenceDialogue",
    "PreferenceQuery",
    "PreferenceTurn",
    "draw_dialogues",
    "read_chatter",
]
