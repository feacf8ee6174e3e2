"""plausible: a turn and what was read from it -> which of the changes were hardly meant.

What people say of their plans is read as more than it says: "last quarter's sync ran two hours" sets no duration. A
network of one hidden layer tells of each change, by the vectors of the turn and of the change in words and by the
signals of the step, how likely it is what was meant. It was taught by the turns of the task corpus, read by the grammar
over what was on record before them (`training/tasks/plausible.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from doxa.core.tasks import NodeKind, TaskEdit

__all__ = ["Encode", "LEAST", "chances_of", "rows_of", "without"]

Numbers = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Numbers]
"""Texts -> the vectors of the built-in encoder, `(texts, 384)`."""
LEAST = 0.05
"""How likely a change has to be; of the changes below it, one in thirty was meant (training/tasks/README.md)."""
SIGNALS = (
    "unread", "left out", "stranger", "passed over", "odd verb", "nothing named", "tie", "open tie", "value lost",
    "misfit", "text for text", "intent", "chat", "check", "several", "explicit",
)  # fmt: skip
"""What of `confidence.signals` is looked at."""
FEW = 20
"""Nodes from which on a plan is not taken for larger."""
MOST = 12
"""Changes of a turn that are looked at; what has more is a list."""


def chances_of(
    text: str,
    told: Mapping[str, str],
    edits: Sequence[TaskEdit],
    signals: Mapping[str, float],
    nodes: int,
    encode: Encode,
) -> dict[str, float]:
    """Return how likely each change was meant, by the id of its node, from 0 to 1; of the first that are told
    alone, and not of what waited until the turn settled it.

    Args:
        text: the turn.
        told: what is said of each change, by the id of its node.
        edits: the changes.
        signals: those of the step, with its `confidence`.
        nodes: how many there were before.
        encode: makes the vectors; it is called once.

    Cost: the vectors of the turn and of the changes, and a product of 1,176 by 64 for each.
    """
    settled = {edit.node_id for edit in edits if edit.before is not None and edit.before.waits}
    shown = [edit for edit in edits if told.get(edit.node_id) and edit.node_id not in settled][:MOST]
    if not shown:
        return {}
    said, *of_edits = encode([text, *(told[edit.node_id] for edit in shown)])
    weights = _weights()
    rows = rows_of(shown, len(edits), signals, nodes, said, np.asarray(of_edits))
    hidden = np.maximum(rows @ weights["in"] + weights["in_bias"], 0.0)
    scores = hidden @ weights["out"] + weights["out_bias"]
    return dict(zip((edit.node_id for edit in shown), (1.0 / (1.0 + np.exp(-scores))).tolist(), strict=True))


def rows_of(
    shown: Sequence[TaskEdit],
    count: int,
    signals: Mapping[str, float],
    nodes: int,
    said: Numbers,
    of_edits: Numbers,
) -> Numbers:
    """Return what the network sees of changes, `(shown, 1176)`: signals, both vectors, and their product."""
    step = [*(signals.get(name, 0.0) for name in SIGNALS), signals.get("confidence", 1.0), float(count)]
    rows = []
    for edit in shown:
        node = edit.after or edit.before
        kinds = [
            float(node is not None and node.kind is kind) for kind in (NodeKind.SLOT, NodeKind.ITEM, NodeKind.TASK)
        ]
        rows.append([*step, float(edit.before is None), *kinds, float(nodes == 0), min(nodes, FEW) / FEW])
    turn = np.broadcast_to(said, of_edits.shape)
    return np.concatenate([np.array(rows, dtype=np.float32), turn, of_edits, turn * of_edits], axis=1)


def without(edits: Sequence[TaskEdit], gone: set[str]) -> tuple[TaskEdit, ...]:
    """Return changes without those of some nodes, without what would be under a node of these, and what follows it."""
    new = {edit.node_id for edit in edits if edit.before is None}
    gone, before = set(gone), -1
    while before != len(gone):
        before = len(gone)
        for edit in edits:
            node = edit.after
            if node is None or edit.node_id in gone:
                continue
            if any(key in gone & new for key in node.parents) or any(one.on in gone for one in node.depends):
                gone.add(edit.node_id)
    return tuple(edit for edit in edits if edit.node_id not in gone)


@cache
def _weights() -> dict[str, Numbers]:
    with files("doxa.tasks").joinpath("plausible.npz").open("rb") as file, np.load(file) as data:
        return {name: data[name].astype(np.float32) for name in data.files}
