"""capturing: what a turn says and no frame took -> the thing that it is said of, by the tree of the sentence.

A frame takes what it knows; a value that is left over would be lost. It goes where the parse hangs it: on its noun, on
the object or the subject of its verb, or else on what is spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.adding import add_element, attach, new_task
from doxa.tasks.amounts import Typed
from doxa.tasks.changing import set_value
from doxa.tasks.phrases import Element, elements
from doxa.tasks.reading import Clause
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.verbs import Token, lexicon

__all__ = ["capture"]

SPOKEN = ("because", "since", "if", "unless", "when", "while", "as", "although", "though", "until", "before", "after")
KINDS = (ValueKind.CLOCK, ValueKind.DATE, ValueKind.MONEY, ValueKind.DURATION, ValueKind.QUANTITY)
PAST = frozenset("was were had did went came said told got took".split())
NOT_SET = frozenset("not n't than from instead originally before previously until till".split())


def capture(scene: Scene, clause: Clause) -> bool:
    """Put the typed values of a clause that stand nowhere yet where its tree hangs them; tell whether there was one."""
    if clause.mood == "question" or clause.negated or clause.mark in SPOKEN or clause.question:
        return False
    told = any(token.lower in PAST for token in clause.tokens)
    if clause.mood == "statement" and told:
        return False
    found = False
    for typed in clause.values:
        value = typed.value
        vague = re.match(
            r"(?:that|this|the|all)\b|(?:morning|afternoon|evening|night|week|today)$",
            value.text if value else "",
            re.I,
        )
        if value is None or vague or value.kind not in KINDS or _stands(scene, value) or _denied(clause, typed):
            continue
        found = _put(scene, clause, typed, value) or found
    return found


def _stands(scene: Scene, value: TaskValue) -> bool:
    """Tell whether a value stands somewhere, in what this turn touched or before."""
    for key in (*scene.touched, *scene.everything()):
        own = scene.editor.value(key) if scene.editor.get(key) is not None else None
        if own is None:
            if value.text.lower() in scene.editor.node(key).name.lower():
                return True
            continue
        same = own.kind is value.kind and own.amount is not None and own.amount == value.amount
        if same or value.text.lower() in own.text.lower():
            return True
    return False


def _denied(clause: Clause, typed: Typed) -> bool:
    """Tell whether a value is named as one that is not to be: "not at five", "rather than Monday"."""
    before = [token.lower for token in clause.tokens if token.end <= typed.start][-3:]
    return bool(NOT_SET & set(before))


def _put(scene: Scene, clause: Clause, typed: Typed, value: TaskValue) -> bool:
    inside = [token for token in clause.tokens if typed.start <= token.start < typed.end]
    prep = next(iter(_case(clause.tokens, inside)), "")
    thing = _governor(scene, clause, inside)
    if thing is not None and (thing.words[-1] in FILLERS or clause.lowered in lexicon()["cues"]["discourse"]):
        return False
    if thing is None:
        spoken = clause.mood != "statement" and bool(scene.touched)
        return spoken and set_value(scene, None, value, prep=prep, new=True) is not None
    bare = replace(thing, attached=())
    if scene.find(bare):
        return set_value(scene, bare, value, prep=prep, new=True) is not None
    if scene.root() is None and not clause.verb:
        return False  # "on Saturday, for the neighbours" is no task
    root, held = scene.root(), ((prep, Element(text=value.text, value=value, each=typed.each)),)
    if root is not None:
        return bool(add_element(scene, replace(thing, attached=held), root))
    attach(scene, new_task(scene, thing.text), prep, held[0][1])
    return True


def _case(tokens: Sequence[Token], inside: Sequence[Token]) -> Iterator[str]:
    own = {token.index for token in inside}
    return (token.lower for token in tokens if token.deprel == "case" and token.head in own)


def _governor(scene: Scene, clause: Clause, inside: Sequence[Token]) -> Element | None:
    """Return the noun phrase that a value is said of; None where the tree names none."""
    by_index = {token.index: token for token in clause.tokens}
    own = {token.index for token in inside}
    head = next((by_index.get(token.head) for token in inside if token.head not in own), None)
    for _ in range(4):
        if head is None:
            return None
        if head.upos in ("NOUN", "PROPN"):
            return _phrase(scene, clause, head)
        below = [token for token in clause.tokens if token.head == head.index and token.index not in own]
        for role in ("obj", "nsubj", "nsubj:pass"):
            noun = next((token for token in below if token.deprel == role and token.upos in ("NOUN", "PROPN")), None)
            if noun is not None:
                return _phrase(scene, clause, noun)
        head = by_index.get(head.head)
    return None


def _phrase(scene: Scene, clause: Clause, noun: Token) -> Element | None:
    said = (clause.subject, clause.rest) if clause.verb else (clause.tokens,)
    for one in (one for part in said for one in elements(part, scene.text, scene.typed)):
        for found in (one, *(inner for _, inner in one.attached)):
            if found.words and found.start <= noun.start < found.end and found.value is None and not found.pronoun:
                return found
    return None
