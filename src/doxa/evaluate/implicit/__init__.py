"""implicit: stated preferences, distractors -> are they found by questions that share no word with them?

`material` reads the workloads in `worlds/`, `chatter` the unrelated talk, `generate` and `asking` draw `dialogue`s;
`run` holds them and asks ours, its `ablations` and `rivals`; `report` sums up.
"""

from doxa.evaluate.implicit.chatter import Chatter, read_chatter
from doxa.evaluate.implicit.dialogue import PreferenceDialogue, PreferenceQuery, PreferenceTurn
from doxa.evaluate.implicit.generate import draw_dialogues
from doxa.evaluate.implicit.material import WORKLOADS
from doxa.evaluate.implicit.report import AskedQuery, ImplicitReport, Scored
from doxa.evaluate.implicit.run import run

__all__ = [
    "WORKLOADS",
    "AskedQuery",
    "Chatter",
    "ImplicitReport",
    "PreferenceDialogue",
    "PreferenceQuery",
    "PreferenceTurn",
    "Scored",
    "draw_dialogues",
    "read_chatter",
    "run",
]
