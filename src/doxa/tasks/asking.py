"""asking: questions about the tasks -> answers from their state, and from their history where they ask for it.

A question never changes anything. What it names is told as it stands; where it asks for the past, with what stood
before and the turn that changed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind
from doxa.tasks.context_view import read_turn
from doxa.tasks.phrases import Element, elements, stem
from doxa.tasks.reading import Clause
from doxa.tasks.roles import numbered
from doxa.tasks.saying import described, joined, named, sentence, summary, value_text
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import WH, Token, lexicon, verbs_of

__all__ = ["answer", "asks"]

CLAIMING = (
    "i thought", "i think", "i'm sure", "i am sure", "i believe", "i said", "i told you", "i never", "i didn't say",
    "i remember", "pretty sure", "i recall", "in mind", "you said", "you told me", "thought it was",
)  # fmt: skip
"""What says that something is, or was, so: it is held against the tasks, and changes nothing."""
HOLDING = frozenset("think believe say tell remember recall swear be have mention".split())
OTHERWISE = frozenset("see take look run give show get hear talk walk print".split())
"""Verbs that ask for something to be said only where words beside them do."""
TELLING = ("me", "us", "what", "who", "when", "where", "which", "how", "whether")


def asks(clause: Clause) -> bool:
    """Tell whether a clause asks for something to be said, and for nothing to be changed."""
    if clause.mood == "question":
        return True
    closing = bool(clause.has(lexicon()["cues"]["finalize"])) and not clause.values
    if clause.mood == "statement":
        return bool(clause.has(CLAIMING)) and (clause.verb in HOLDING or clause.negated)
    if clause.mood == "fragment":
        return not clause.listed and (closing or clause.tokens[0].lower in WH)
    if f"{clause.verb} {clause.particle}" in verbs_of("check"):
        return True
    if clause.verb not in verbs_of("check"):
        return closing and bool(clause.wrapped)
    return closing or clause.verb not in OTHERWISE or bool(clause.has(TELLING))


def answer(scene: Scene, clause: Clause, replies: list[str]) -> str:
    """Answer a question: append the answer, and return "check", or "finalize" for a closing summary."""
    keys = nodes_in(scene, clause) or nodes_in(scene, clause, hidden=True)
    scene.attend(*([key for key in keys if scene.editor.node(key).kind is not NodeKind.SLOT] or keys))
    past = read_turn(clause.text).past
    parts = [key for key in keys if not any(key in scene.editor.ancestors(other) for other in keys)]
    told = " ".join(dict.fromkeys(_told(scene, key, past=past) for key in parts))
    told = told or summary(scene, [root for root in (scene.root(),) if root is not None])
    if told not in replies:
        replies.append(told)
    final = clause.has(lexicon()["cues"]["finalize"]) and clause.tokens[0].lower not in WH
    return "finalize" if final else "check"


def _told(scene: Scene, key: str, *, past: bool) -> str:
    """Return what stands of a node, and, where the past is asked for, what stood before and what was said."""
    node, last = scene.editor.node(key), _last_change(scene, key)
    above = joined([scene.editor.node(parent).name for parent in node.parents if scene.seen(parent)])
    if not scene.seen(key):
        state = f"{named(scene, key)} is not {f'in {above}' if above else 'there'} any more"
    elif node.kind is NodeKind.ITEM:
        state = f"{scene.editor.label(key)} is in {above}"
    elif node.kind is NodeKind.SLOT and (text := value_text(scene, key)):
        state = f"{named(scene, key)} is {text}"
    else:
        state = described(scene, key)
    before = list(dict.fromkeys(one.text for one in scene.had(key)[:-1])) if past else []
    was = f"it was {joined(before)} before" if before else ""
    said = f"you said: “{last}”" if last and (before or past or not scene.seen(key)) else ""
    return " ".join(sentence(part) for part in (state, was, said) if part)


def _last_change(scene: Scene, key: str) -> str:
    """Return the words of the turn that changed a node last, or what the node follows by a rule."""
    follows = (one.on for one in scene.editor.node(key).depends if one.kind == "derived")
    source = next((one for one in follows if scene.editor.get(one) is not None), None)
    keys = {key, *scene.editor.descendants(key)} if source is None else {source}
    changing = (
        commit.text.strip()
        for commit in reversed(scene.editor.forest.commits)
        if commit.text and any(edit.node_id in keys for edit in commit.edits)
    )
    return next(changing, "")


def nodes_in(scene: Scene, clause: Clause, *, hidden: bool = False) -> list[str]:
    """Return the nodes that a question names, in order."""
    keys: dict[str, None] = {}
    for one in _elements_in(scene, [token for token in clause.tokens if token.lower not in WH]):
        if not one.words or one.pronoun or (one.value is not None and not one.text):
            continue
        bare = replace(one, attached=(), other=False)
        found = scene.find(bare, hidden=hidden) or (_in_parts(scene, bare) if not hidden else [])
        keys |= dict.fromkeys(found[: None if one.det in ("both", "all") else 2])
    return list(keys)


def _in_parts(scene: Scene, one: Element) -> list[str]:
    """Return what "the dinner day" names: a slot of what its first words name, or else that."""
    for size in range(len(one.words) - 1, 0, -1):
        found = scene.find(replace(one, words=one.words[:size], text=" ".join(one.words[:size])))
        slot = scene.slot_named(found[0], one.words) if found else None
        if found:
            return [slot] if slot else found
    return scene.find(replace(one, words=one.words[-1:], text=one.words[-1])) if len(one.words) > 1 else []


def _elements_in(scene: Scene, tokens: Sequence[Token]) -> list[Element]:
    """Return the elements between the verbs of a question, those attached to others beside them."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if _parts_it(scene, token):
            parts.append([])
        else:
            parts[-1].append(token)
    said = (numbered(scene, one) for part in parts for one in elements(part, scene.text, scene.typed))
    flat = [inner for one in said for inner in (one, *(inner for _, inner in one.attached))]
    return [one for one in flat if one.words or one.pronoun or one.value is not None]


def _parts_it(scene: Scene, token: Token) -> bool:
    """Tell whether a word is a verb of the question: it names nothing, and is no part of a value."""
    if token.upos not in ("VERB", "AUX") or (token.form.endswith("ing") and token.deprel != "root"):
        return False
    inside = any(typed.start <= token.start < typed.end for typed in scene.typed)
    named = token.upos == "VERB" and any(
        stem(token.lower) in scene.words(key) for key in scene.editor.find(token.lower)[:3]
    )
    return not inside and not named
