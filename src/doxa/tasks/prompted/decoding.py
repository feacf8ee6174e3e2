"""decoding: reading, forest -> step, or why there is none.

A reading is carried out whole or not at all: where one act is refused, the grammar reads the turn. A change that the
model is not sure of, or that the turn only proposes, is asked back. Questions are answered by `asking`, and every reply
is put together from the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from doxa.backends.parser import Parser
from doxa.core.tasks import NodeKind
from doxa.memory import TaskForest
from doxa.tasks.amounts import read_values
from doxa.tasks.asking import answer, asks
from doxa.tasks.prompted.acts import Desk
from doxa.tasks.prompted.material import places_of
from doxa.tasks.prompted.reading import CHANGING, Reading
from doxa.tasks.prompted.support import Refusal, Support
from doxa.tasks.reading import read_clauses
from doxa.tasks.saying import named, sentence, summary, value_text
from doxa.tasks.scene import Scene
from doxa.tasks.trim import Step, closed, opened
from doxa.tasks.verbs import lexicon

__all__ = ["Decoded", "carry_out", "unsure"]

SURE = 0.5
"""Confidence of the grammar from which no model has to be asked."""
DOUBTED = 0.5
"""Confidence below which a change is asked back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What came of a reading."""

    step: Step | None = None
    refused: str = ""
    """Why there is no step: which act does not hold, and why. It repeats nothing that the model wrote."""


def unsure(step: Step, *, sure: float = SURE) -> bool:
    """Tell whether the grammar leaves open what a turn does: it asks back, doubts it, or makes nothing of it."""
    return bool(step.asked) or step.confidence < sure or (step.intents == ("chat",) and not step.edits)


def carry_out(
    reading: Reading,
    text: str,
    forest: TaskForest,
    parser: Parser,
    at: datetime,
    *,
    said_before: str = "",
    doubted: float = DOUBTED,
) -> Decoded:
    """Carry out what a model read in a turn over a forest, which stays as it is.

    Args:
        reading: what the model said; one that failed is refused.
        text: the turn.
        forest: the tasks so far.
        parser: reads the sentences; a clause that asks is no ground for a change.
        at: when it was said.
        said_before: what the assistant said just before.
        doubted: confidence below which a change is asked back.

    Raises:
        BackendError: the parser failed.

    Cost: one parse a sentence, and O(nodes) for the paths; no model is called. Deterministic.
    """
    if reading.failed:
        return Decoded(refused=reading.failed)
    scene = opened(text, forest, at, said_before)
    scene.clauses = read_clauses(text, parser, at)
    scene.text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    scene.typed = read_values(scene.text, at)
    desk = Desk(scene=scene, support=Support(scene, _grounds(scene)), parser=parser, places=places_of(forest))
    for number, act in enumerate(reading.acts, start=1):
        try:
            desk.do(act)
        except Refusal as exc:
            return Decoded(refused=f"act {number} ({act['intent']}): {exc}")
    replies = _answers(desk, reading)
    step = replace(closed(scene, replies), confidence=_confidence(reading), by=reading.by)
    left_open = desk.proposed or step.confidence < doubted
    return Decoded(step=_asked_back(step, forest) if step.edits and left_open else step)


def _grounds(scene: Scene) -> list[str]:
    """Return the texts that a turn may take its words from: itself, and what it answers."""
    commits = scene.editor.forest.commits
    asked = [commits[-1].text] if commits and commits[-1].asked else []
    return [scene.text, scene.said_before, *asked]


def _answers(desk: Desk, reading: Reading) -> list[str]:
    """Return the answers to the questions of the turn, from the state as the turn leaves it."""
    scene, replies, said = desk.scene, list[str](), list[str]()
    telling = [act for act in reading.acts if act["intent"] in ("check", "finalize")]
    for clause in scene.clauses:
        asking = asks(clause) if telling else clause.mood == "question"
        if asking and clause.lowered not in lexicon()["cues"]["discourse"]:
            said.append(answer(scene, clause, replies))
    if not telling:
        scene.intents += said
        return replies
    asked = _asked_about(desk, telling)
    if not said:
        roots = list(dict.fromkeys(scene.root_of(key) for key in asked)) or [key for key in (scene.root(),) if key]
        replies.append(summary(scene, roots))
    for key in asked:
        text = value_text(scene, key)
        if scene.editor.node(key).kind is NodeKind.SLOT and text not in " ".join(replies):
            replies.append(sentence(f"{named(scene, key)} is {text}"))
    return replies


def _asked_about(desk: Desk, acts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the nodes that a model says are asked about, as far as they are there."""
    found: dict[str, None] = {}
    for act in acts:
        try:
            found |= dict.fromkeys(desk.targets(act))
        except Refusal:  # an answer needs none of them
            continue
    return list(found)


def _confidence(reading: Reading) -> float:
    """Return how sure a model is of a turn: of its least sure change, or else of what it says least surely."""
    changing = [float(act["confidence"]) for act in reading.acts if act["intent"] in CHANGING]
    return min(changing or [float(act["confidence"]) for act in reading.acts] or [1.0])


def _asked_back(step: Step, forest: TaskForest) -> Step:
    """Return the question whether a step is meant, in place of the step."""
    asked = f"I am not sure what is meant. Is it this? {step.reply}"
    focus = tuple(key for key in step.focus if forest.get(key) is not None)
    return replace(step, intents=("chat",), edits=(), undoes=None, reply=asked, asked=asked, focus=focus)
