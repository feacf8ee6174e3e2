"""decoding: reading, forest -> step, or why there is none.

What does not hold of the acts of a model is told apart first (`refusals`), so that it can be sent back; a reading that
is carried out holds whole. A change that the model is not sure of, that the turn only proposes, or that stands in the
words of a question, is asked back, and the others are made. Questions are answered by `asking`, and every reply is put
together from the state.
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
from doxa.tasks.prompted.reading import Reading, Refused
from doxa.tasks.prompted.shapes import CHANGING
from doxa.tasks.prompted.support import Refusal, Support
from doxa.tasks.reading import read_clauses
from doxa.tasks.saying import named, said_of, sentence, summary, value_text
from doxa.tasks.scene import Scene
from doxa.tasks.trim import NOTED, Step, by_amount, closed, opened
from doxa.tasks.verbs import lexicon

__all__ = ["Decoded", "carry_out", "refusals", "unsure"]

Act = Mapping[str, Any]
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


def refusals(
    acts: Sequence[Act], text: str, forest: TaskForest, parser: Parser, at: datetime, *, said_before: str = ""
) -> list[Refused]:
    """Return the acts that do not hold, where the others are carried out in order; the forest stays as it is.

    The arguments are those of `carry_out`.

    Raises:
        BackendError: the parser failed.
    """
    return _tried(_desk(acts, text, forest, parser, at, said_before), acts)


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
        reading: what the model said; one that failed, or an act of which does not hold here, is refused.
        text: the turn.
        forest: the tasks so far.
        parser: reads the sentences; a change of what is there in the words of a question is asked back.
        at: when it was said.
        said_before: what the assistant said just before.
        doubted: confidence below which a change is asked back.

    Raises:
        BackendError: the parser failed.

    Cost: one parse a sentence, and O(nodes) for the paths; no model is called. Deterministic.
    """
    if reading.failed:
        return Decoded(refused=reading.failed)
    every = _desk(reading.acts, text, forest, parser, at, said_before)
    if refused := _tried(every, reading.acts):
        return Decoded(refused=f"act {refused[0].at + 1} ({refused[0].intent}): {refused[0].why}")
    left_open, supposed = _left_open(every, reading.acts, doubted), _supposed(reading.acts)
    meant = [act for at, act in enumerate(reading.acts) if at not in left_open | supposed]
    desk = _desk(meant, text, forest, parser, at, said_before)
    if _tried(desk, meant):  # what is meant rests on what is not sure
        meant, left_open = [], set(range(len(reading.acts)))
        desk = _desk(meant, text, forest, parser, at, said_before)
    step = replace(closed(desk.scene, _answers(desk, meant)), confidence=_confidence(reading.acts), by=reading.by)
    if supposed and not left_open - supposed:
        return Decoded(step=_supposing(every, step))
    asked = [_proposal(every, step)] if left_open else []
    asked += [_question(quote, why) for quote, why in reading.asked]
    return Decoded(step=_asking(step, " ".join(filter(None, asked))))


def _desk(acts: Sequence[Act], text: str, forest: TaskForest, parser: Parser, at: datetime, said_before: str) -> Desk:
    """Return where the acts of a turn are carried out."""
    scene = opened(text, forest, at, said_before)
    scene.clauses = read_clauses(text, parser, at)
    scene.text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    scene.typed = read_values(scene.text, at)
    changing = {act["intent"] for act in acts} & {*CHANGING}
    return Desk(
        scene=scene,
        support=Support(scene, _grounds(scene)),
        places=places_of(forest),
        alone=changing == {"settle"},
    )


def _grounds(scene: Scene) -> list[str]:
    """Return the texts that a turn may take its words from: itself, and what was said just before."""
    last = scene.editor.forest.commits[-1:]
    return [scene.text, scene.said_before, *(said for one in last for said in (one.text, one.reply))]


def _tried(desk: Desk, acts: Sequence[Act]) -> list[Refused]:
    """Carry out the acts that hold, and return the others."""
    refused: list[Refused] = []
    for at, act in enumerate(acts):
        try:
            desk.do(act)
        except Refusal as exc:
            refused.append(Refused(at=at, intent=act["intent"], quote=_quote(desk, act), why=str(exc)))
    return refused


def _quote(desk: Desk, act: Act) -> str:
    """Return the words of the turn that an act rests on."""
    try:
        start, end = desk.support.quoted(str(act.get("quote", "")))
    except Refusal:
        return ""
    return desk.scene.text[start:end]


def _left_open(desk: Desk, acts: Sequence[Act], doubted: float) -> set[int]:
    """Return the places of the changes that are not made but asked about."""
    found, proposed = set[int](), False
    for at, act in enumerate(acts):
        proposed |= act["intent"] == "propose"
        if act["intent"] not in CHANGING:
            continue
        asked = not _opens(act) and desk.support.asked(act.get("quote", ""))
        if proposed or asked or float(act["confidence"]) < doubted:
            found.add(at)
    return found


def _supposed(acts: Sequence[Act]) -> set[int]:
    """Return the places of what is only supposed, and of what is asked then: what comes behind "suppose"."""
    first = next((at for at, act in enumerate(acts) if act["intent"] == "suppose"), len(acts))
    return set(range(first + 1, len(acts)))


def _supposing(every: Desk, step: Step) -> Step:
    """Return a step that says what would be; `every` carried out what is supposed as well, the step did not."""
    told = _differing(every, step)
    reply = "" if step.reply == NOTED else step.reply
    return replace(step, reply=f"{reply} If so: {told}".strip()) if told else step


def _opens(act: Act) -> bool:
    """Tell whether an act opens a task of its own: that changes nothing that is there ("can you help me pack?")."""
    return act["intent"] == "new_task" and act.get("under") is None


def _proposal(every: Desk, step: Step) -> str:
    """Return the question whether what is not sure is meant; `every` carried out all acts, the step only the others."""
    told = _differing(every, step)
    return f"I am not sure what is meant. Is it this? {told}" if told else ""


def _differing(every: Desk, step: Step) -> str:
    """Return what all acts of a turn change beyond those that a step carries out, in words."""
    moved = every.scene.editor.propagate(by_amount)
    edits = [edit for edit in every.scene.editor.edits() if edit not in step.edits]
    notes = every.scene.notes_said() if edits else ()
    return " ".join(filter(None, (said_of(every.scene, edits, moved) if edits else "", *notes)))


def _question(quote: str, why: str) -> str:
    """Return what is asked about words that could not be carried out."""
    said = f"“{quote}”" if quote else "that"
    return f"I could not do what {said} asks for: {why}. What should change?"


def _asking(step: Step, asked: str) -> Step:
    """Return a step with a question about what it leaves out."""
    if not asked:
        return step
    reply = "" if step.reply == NOTED else step.reply
    return replace(step, reply=f"{reply} {asked}".strip(), asked=asked)


def _answers(desk: Desk, acts: Sequence[Act]) -> list[str]:
    """Return the answers to what a model says the turn asks, from the state as the turn leaves it."""
    scene, replies, said = desk.scene, list[str](), list[str]()
    telling = [act for act in acts if act["intent"] in ("check", "finalize")]
    if not telling:
        return replies
    written = " ".join(str(act["answer"]).strip() for act in telling if act.get("answer"))
    if written and desk.support.borne_out(written):
        return [written]
    for clause in scene.clauses:
        if asks(clause) and clause.lowered not in lexicon()["cues"]["discourse"]:
            said.append(answer(scene, clause, replies))
    asked = _asked_about(desk, telling)
    if not said:
        roots = list(dict.fromkeys(scene.root_of(key) for key in asked)) or [key for key in (scene.root(),) if key]
        replies.append(summary(scene, roots))
    for key in asked:
        text = value_text(scene, key)
        if scene.editor.node(key).kind is NodeKind.SLOT and text not in " ".join(replies):
            replies.append(sentence(f"{named(scene, key)} is {text}"))
    return replies


def _asked_about(desk: Desk, acts: Sequence[Act]) -> list[str]:
    """Return the nodes that a model says are asked about, as far as they are there."""
    found: dict[str, None] = {}
    for act in acts:
        try:
            found |= dict.fromkeys(desk.targets(act))
        except Refusal:  # an answer needs none of them
            continue
    return list(found)


def _confidence(acts: Sequence[Act]) -> float:
    """Return how sure a model is of a turn: of its least sure change, or else of what it says least surely."""
    changing = [float(act["confidence"]) for act in acts if act["intent"] in CHANGING]
    return min(changing or [float(act["confidence"]) for act in acts] or [1.0])
