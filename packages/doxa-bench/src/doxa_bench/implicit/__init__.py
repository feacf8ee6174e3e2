"""implicit: stated preferences, distractors -> are they found by questions that share no word with them?

`material` reads the workloads in `worlds/`, `chatter` the unrelated talk, `generate` and `asking` draw `dialogue`s;
`run` holds them and asks ours, its `ablations` and `rivals`; `report` sums up.
"""

from doxa_bench.implicit.chatter import Chatter, read_chatter
from doxa_bench.implicit.dialogue import PreferenceDialogue, PreferenceQuery, PreferenceTurn
from doxa_bench.implicit.generate import draw_dialogues
from doxa_bench.implicit.material import WORKLOADS
from doxa_bench.implicit.report import AskedQuery, ImplicitReport, Scored
from doxa_bench.implicit.run import run

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
