"""trim: turn, forest -> acts carried out, and what is said to them (Task Representation and Intent Management).

Source: Task Memory Engine, sections 4.2 and 4.3: decompose, classify, change the graph, retrieve, reply.
What the paper leaves to a language model is grammar here; what it leaves open (rollback, undo, conditions) is done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from doxa.backends.parser import Parser
from doxa.core.config import TasksConfig
from doxa.core.errors import TaskError
from doxa.core.tasks import NodeKind, TaskCommit, TaskEdit, TaskStatus, TaskValue, ValueKind
from doxa.memory import TaskForest
from doxa.tasks.adding import value_of
from doxa.tasks.amounts import read_values
from doxa.tasks.asking import answer, asks
from doxa.tasks.capturing import capture
from doxa.tasks.changing import coerced
from doxa.tasks.clearing import DROPPED, UNREAD, Answer, answer_to, choice, question
from doxa.tasks.conditions import hold, settles
from doxa.tasks.confidence import confidence, overlooks, signals
from doxa.tasks.editing import Editor
from doxa.tasks.frames import FRAMES
from doxa.tasks.moving import shifted
from doxa.tasks.phrases import Element, elements, stem
from doxa.tasks.plausible import LEAST, Encode, chances_of, without
from doxa.tasks.reading import Clause, read_clauses
from doxa.tasks.saying import changes_told, said_of
from doxa.tasks.scene import GENDERED, Scene, fits
from doxa.tasks.shifts import Shift
from doxa.tasks.statements import TELLING
from doxa.tasks.telling import label_frame
from doxa.tasks.verbs import lexicon

__all__ = []

AGREED = re.compile(
    r"(?:please )?(?:let's |let us )?(?:do (?:that|it|so|this)|"
    r"go (?:for it|ahead|with that|with it)|make it so|apply (?:that|it))"
    r"(?: then| please| with (?:that|it))*"
)
SUPPOSED = re.compile(
    r"(?:(?:and|so|ok|but|hm+|well),? )*(?:what (?:if|happens if|would happen if)|if|suppose|supposing|say)\b,? (.+?)"
    r"(?:,? (?:what|how|when|where|who|would|does|do|is|then)\b.*)?$",
    re.I | re.S,
)
ASK_BELOW = TasksConfig().ask_below
NOTED = "Noted."
CHANGING = ("new", "update", "remove", "replace", "rollback", "undo", "reset", "split", "merge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a turn did to the tasks, and what is said to it."""

    intents: tuple[str, ...]
    edits: tuple[TaskEdit, ...] = ()
    reply: str = ""
    focus: tuple[str, ...] = ()
    asked: str = ""
    """What is asked back; that was not changed."""
    confidence: float = 1.0
    """How likely it is that this is what was meant, from 0 to 1."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """What the confidence rests on, by name."""
    undoes: int | None = None
    by: str = ""
    """The prompt and the model that read the turn; empty for the grammar."""
    left_out: int = 0
    """Changes that were read and hardly meant, so that they are not made."""


def take(
    text: str,
    forest: TaskForest,
    parser: Parser,
    at: datetime,
    *,
    said_before: str = "",
    ask_below: float = ASK_BELOW,
    encode: Encode | None = None,
) -> Step:
    """Carry out a turn over a forest, which stays as it is, and put the reply together.

    Args:
        text: what the user said.
        forest: the tasks so far.
        parser: reads the sentences.
        at: when it was said.
        said_before: what the assistant said just before.
        ask_below: a change that is less sure than this, from 0 to 1, is asked about and not made; one that could as
            well be of another node always is.
        encode: makes the vectors by which changes that were hardly meant are left out; without it, none is.

    Raises:
        BackendError: the parser or the encoder failed.
    """
    said = answer_to(text, forest)
    step = None if said is None else cleared(said, forest, parser)
    if step is not None:
        return step
    scene, replies = carried(text, forest, parser, at, said_before=said_before)
    return asked_back(scene, closed(scene, replies, encode), ask_below)


def cleared(said: Answer, forest: TaskForest, parser: Parser) -> Step | None:
    """Return what a turn that was asked about does, now that it is known what was meant; None where it is not."""
    if said.denies:
        return Step(intents=("chat",), reply=DROPPED, focus=said.pending.focus)
    text, at = said.pending.text, said.pending.at
    scene, replies = carried(text, forest, parser, at)
    if not said.agrees:
        chosen = choice(said, scene, scene.editor.edits())
        if not chosen:
            return None
        scene, replies = carried(text, forest, parser, at, meant=chosen)
    step = closed(scene, replies)
    return replace(step, confidence=1.0) if step.edits else None


def asked_back(scene: Scene, step: Step, ask_below: float) -> Step:
    """Return a step as it is, or, where it is not sure, a question in its place that changes nothing."""
    if step.edits and (step.confidence < ask_below or step.signals["open tie"]):
        asked = question(scene, step.edits, step.reply)
        return replace(step, edits=(), undoes=None, asked=asked, reply=asked, focus=())  # nothing is spoken of yet
    if not step.edits and step.reply == NOTED and overlooks(step.confidence):
        return replace(step, asked=UNREAD, reply=UNREAD)
    return step


def carried(
    text: str, forest: TaskForest, parser: Parser, at: datetime, *, said_before: str = "", meant: str = ""
) -> tuple[Scene, list[str]]:
    """Return the scene of a turn, carried out, and the answers to its questions.

    The arguments are those of `take`; `meant` is the node that is meant where several fit equally well.
    """
    scene = opened(text, forest, at, said_before)
    if meant:
        scene.attend(meant)
    scene.clauses = read_clauses(text, parser, at)
    scene.text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    pronouns = {t.start for clause in scene.clauses for t in clause.tokens if t.lower == "one" and t.upos != "NUM"}
    scene.typed = [typed for typed in read_values(scene.text, at) if typed.start not in pronouns]
    replies: list[str] = []
    pending: Clause | None = None
    before = 0
    for clause in scene.clauses:
        scene.marks.append(scene.editor.mark())
        if (
            clause.lowered in lexicon()["cues"]["discourse"]
            or is_courtesy(clause)
            or any(clause is one for one in scene.consumed)
        ):
            continue
        if asks(clause):
            scene.intents.append(answer(scene, clause, replies))
        elif pending is not None and clause.join != ";":
            hold(scene, pending, clause.text)
            scene.intents.append("new")
        elif clause.mark in ("if", "unless") and clause.mood != "question":
            pending = None if held_back(scene, clause, before) else clause
        else:
            before = scene.marks[-1]
            carry_out_clause(scene, clause, parser)
    return scene, replies


MOST_SPOKEN_OF = 40
"""Nodes that one turn leaves in the focus."""
COURTESY = re.compile(
    r"(?:ok |well |oh |and )*(?:many thanks|thanks|thank you|cheers|nice to (?:meet|see|hear)|pleased to meet|"
    r"good to (?:know|hear)|see you|have a (?:nice|good|great)|"
    r"that(?:'s| is) (?:great|good|fine|lovely|perfect|brilliant|helpful|nice|all for))\b"
)


def is_courtesy(clause: Clause) -> bool:
    """Tell whether a clause is only kind: "thanks a lot", "nice to meet you"."""
    return COURTESY.match(clause.lowered) is not None and not clause.values and clause.mood != "question"


def held_back(scene: Scene, clause: Clause, mark: int) -> bool:
    """Hold back what was just carried out, where its condition follows it: "add a tent if it rains"."""
    at = list(scene.clauses).index(clause)
    if clause.join not in ("if", "unless") or not at or not scene.touched:
        return False
    scene.editor.back(mark)
    scene.touched.clear()
    hold(scene, clause, scene.clauses[at - 1].text)
    return True


def carry_out_clause(scene: Scene, clause: Clause, parser: Parser) -> None:
    """Carry out one clause, what it settles, and what is left over of it."""
    ruled, scene.ruled = scene.ruled, False
    if ruled and clause.join == "so" and clause.mood == "fragment":
        return  # "two days after the staining, so on Thursday" draws what the rule says
    if settle(scene, clause, parser) or agreed(scene, clause, parser):
        return
    intent = carry(scene, clause)
    if not scene.ruled and scene.moved is None and capture(scene, clause) and intent == "chat":
        intent = "new"
    scene.intents.append(intent)


def opened(text: str, forest: TaskForest, at: datetime, said_before: str) -> Scene:
    """Return the scene in which a turn is carried out: what the last turns spoke of is in the focus."""
    focus: dict[str, None] = {}
    for commit in reversed(forest.commits[-8:]):
        for key in (*commit.focus, *(edit.node_id for edit in reversed(commit.edits[-MOST_SPOKEN_OF:]))):
            focus.setdefault(key)
    group = next((ids for commit in reversed(forest.commits[-6:]) if len(ids := named_together(commit)) > 1), ())
    scene = Scene(editor=Editor(forest), text=text, at=at, said_before=said_before, focus=list(focus))
    scene.group = list(group)
    return scene


def named_together(commit: TaskCommit) -> tuple[str, ...]:
    """Return the tasks and items that a turn brought in together."""
    new = [edit.after for edit in commit.edits if edit.before is None and edit.after is not None]
    named = [node.node_id for node in new if node.kind is not NodeKind.SLOT and (node.parents or not node.waits)]
    return tuple(named) if len(named) <= MOST_SPOKEN_OF else ()


def carry(scene: Scene, clause: Clause) -> str:
    """Carry out one clause by the first frame that fits, and return its intent; "chat" where none does."""
    if again(scene, clause):
        return "update"
    clause = mended(scene, clause)
    referred(scene, clause)
    if clause.repair and clause.mood == "fragment" and corrected(scene, clause):
        return "update"
    for frame in (*FRAMES[:4], label_frame, *FRAMES[4:], *TELLING):
        mark = scene.editor.mark()
        try:
            intent = frame(scene, clause)
        except TaskError as exc:
            scene.editor.back(mark)
            scene.doubts.append(str(exc))
            return "chat"
        if intent is not None:
            return intent
        scene.editor.back(mark)
        scene.forget()
    noticed(scene, clause)
    return "chat"


def referred(scene: Scene, clause: Clause) -> None:
    """Note of whose task "he" or "she" is said, right after it was spoken of."""
    said = next((token.lower for token in clause.tokens if token.lower in GENDERED), "")
    if not said or not scene.touched or not scene.seen(scene.last):
        return
    task = scene.root_of(scene.last)
    if "'s " in scene.editor.node(task).name and not any(
        alias.startswith("pronoun:") for alias in scene.editor.node(task).aliases
    ):
        scene.refer(said, task)


def mended(scene: Scene, clause: Clause) -> Clause:
    """Take a clause that puts the one before it right: what that one changed is taken back first."""
    cue = next(
        (
            cue
            for cue in sorted(lexicon()["cues"]["repair"], key=len, reverse=True)
            if clause.lowered.startswith(f"{cue} ")
        ),
        "",
    )
    fragment = clause.mood == "fragment" or (clause.mood == "request" and clause.verb == "make")
    if (
        not cue
        or not scene.touched
        or not fragment
        or not (clause.values or clause.mood == "request" or len(clause.tokens) <= 6)
    ):
        return clause
    if any(typed.shift is not None for typed in clause.values) or clause.mood == "request":
        last = scene.last
        scene.editor.back(scene.marks[-2] if len(scene.marks) > 1 else 0)
        scene.last = last if scene.editor.get(last) is not None else ""
        scene.forget()
    tokens = clause.rest[len(cue.split()) :] if clause.mood == "fragment" else clause.rest
    while tokens and (tokens[0].form == "," or tokens[0].lower in cue.split()):
        tokens = tokens[1:]
    return replace(clause, repair=True, rest=tuple(tokens))


def again(scene: Scene, clause: Clause) -> bool:
    """Move by another amount what was just moved: "half an hour later. Hmm, make that an hour"."""
    typed = [one.value for one in clause.values if one.value is not None]
    if scene.moved is None or len(clause.values) != 1 or not typed or typed[0].kind is not ValueKind.DURATION:
        return False
    key, before, by = scene.moved
    said = clause.mood == "fragment" or (clause.mood == "request" and clause.verb == "make")
    value = shifted(before, replace(by, amount=math.copysign(typed[0].amount or 0.0, by.amount), unit=typed[0].unit))
    if not said or value is None or scene.last != key:
        return False
    scene.editor.set(key, value)
    return True


def corrected(scene: Scene, clause: Clause) -> bool:
    """Put the value that was given just before right: "phone is 555 0173. Sorry, 555 0137"."""
    found = [
        one
        for one in elements(clause.rest, scene.text, scene.typed)
        if one.text or one.value is not None or one.attached
    ]
    if len(found) != 1 or not scene.last or not scene.seen(scene.last) or found[0].shift is not None:
        return False
    said = found[0] if found[0].text or not found[0].attached else found[0].attached[0][1]
    old, value = scene.editor.value(scene.last), value_of(said)
    year = re.fullmatch(r"\d{4}", value.text) and old is not None and re.search(r"\b\d{4}$", old.text)
    if year and old is not None:  # "9 March 1991, no sorry, 1990"
        said_date = f"{old.text[:-4]}{value.text}"
        value = next((one.value for one in read_values(said_date, scene.at) if one.value is not None), value)
    if old is None or not (fits(old, value) or old.kind is ValueKind.TEXT):
        return False
    scene.editor.set(scene.last, coerced(old, value))
    return True


def noticed(scene: Scene, clause: Clause) -> None:
    """Put what a clause speaks of in the focus: "there's no celery", "the second one clashes with the all-hands"."""
    if clause.mood == "question":
        return
    found = [one for part in (clause.subject, clause.rest) for one in elements(part, scene.text, scene.typed)]
    found += [inner for one in found if not one.words for _, inner in one.attached]
    nouns = [Element(text=t.form, words=(stem(t.lower),)) for t in clause.tokens if t.upos in ("NOUN", "PROPN")]
    found = found if any(one.words and scene.find(one) for one in found) else nouns
    keys = [
        key
        for one in found
        if ((one.words or one.ordinal) and not one.pronoun) or one.ordinal
        for key in scene.find(one)[:1]
    ]
    if keys:
        scene.attend(*dict.fromkeys(keys))


def settle(scene: Scene, clause: Clause, parser: Parser) -> bool:
    """Carry out, or drop, what waited for a condition that a statement settles."""
    if clause.mood != "statement":
        return False
    for key in list(waiting(scene)):
        needed = next((one for one in scene.editor.node(key).depends if one.kind == "condition"), None)
        holds = settles(clause, needed.text) if needed is not None else None
        if holds is None:
            continue
        instruction = scene.editor.node(key).name
        scene.editor.settle(key, holds=False)
        scene.touched.append(key)
        if holds:
            run(scene, instruction, parser)
            scene.intents.append("new")
        else:
            scene.notes.append(f"“{instruction}” is off, since its condition did not come true")
            scene.intents.append("check")
        return True
    return False


def agreed(scene: Scene, clause: Clause, parser: Parser) -> bool:
    """Carry out what was only asked about: "And if I took lunch down to 12?", then "Do that."."""
    commits = scene.editor.forest.commits
    if not AGREED.fullmatch(clause.lowered) or scene.touched or not commits or commits[-1].edits:
        return False
    supposed = SUPPOSED.match(commits[-1].text)
    if supposed is None:
        return False
    run(scene, supposed[1].rstrip(" ?.!"), parser)
    scene.intents.append("update")
    return bool(scene.touched)


def waiting(scene: Scene) -> list[str]:
    """Return the nodes that wait for a stated condition."""
    forest = scene.editor.forest
    return [
        key
        for key in forest.nodes
        if scene.editor.node(key).status is TaskStatus.BLOCKED and scene.editor.node(key).waits
    ]


def run(scene: Scene, instruction: str, parser: Parser) -> None:
    """Carry out an instruction that was held back."""
    text, typed, clauses = scene.text, scene.typed, scene.clauses
    scene.text = instruction
    scene.clauses = read_clauses(instruction, parser, scene.at)
    scene.typed = read_values(instruction, scene.at)
    for clause in scene.clauses:
        carry(scene, clause)
    scene.text, scene.typed, scene.clauses = text, typed, clauses


def closed(scene: Scene, replies: Sequence[str], encode: Encode | None = None) -> Step:
    """Carry the changes on to what depends on them, and put the reply together.

    Args:
        scene: the turn, carried out.
        replies: the answers to its questions.
        encode: makes the vectors by which changes that were hardly meant are left out; without it, none is.
    """
    scene.marks.append(scene.editor.mark())
    moved = scene.editor.propagate(by_amount)
    edits = scene.editor.edits()
    intents = intents_of(scene, changes=bool(edits))
    found = signals(scene, edits, intents)
    sure = confidence(found, changes=bool(edits))
    left_out = 0
    if encode is not None and edits and not found["open tie"]:
        kept = meant_of(scene, edits, {**found, "confidence": sure}, encode)
        intents = intents if kept else tuple(one for one in intents if one not in CHANGING) or ("chat",)
        left_out, edits = len(edits) - len(kept), kept
    told = said_of(scene, edits, moved)
    reply = " ".join(part for part in (told, *scene.notes_said(), *replies) if part) or NOTED
    asked = " ".join(scene.doubts) if scene.doubts and not edits else ""
    return Step(
        intents=intents,
        edits=edits,
        reply=asked or reply,
        focus=tuple(dict.fromkeys(scene.focus[:8])),
        asked=asked,
        confidence=sure,
        signals=found,
        undoes=scene.undoes if edits else None,
        left_out=left_out,
    )


def intents_of(scene: Scene, *, changes: bool) -> tuple[str, ...]:
    """Return what a turn was taken for."""
    intents = tuple(dict.fromkeys(scene.intents)) or ("chat",)
    if len(intents) > 1:
        intents = tuple(one for one in intents if one != "chat") or ("chat",)
    if not changes and any(one in CHANGING for one in intents) and not scene.touched:
        intents = tuple(one for one in intents if one not in CHANGING) or ("chat",)
    return intents


def meant_of(
    scene: Scene, edits: tuple[TaskEdit, ...], found: Mapping[str, float], encode: Encode
) -> tuple[TaskEdit, ...]:
    """Return changes without those that were hardly meant, and without what rests on these."""
    told = changes_told(scene, edits)
    chances = chances_of(scene.text, told, edits, found, len(scene.editor.forest.nodes), encode)
    return without(edits, {key for key, chance in chances.items() if chance < LEAST})


def by_amount(value: TaskValue, amount: float, unit: str) -> TaskValue | None:
    """Return a value moved by an amount, as rules are carried on."""
    return shifted(value, Shift(amount=amount, unit=unit)) if amount else value
