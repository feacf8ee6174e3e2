"""questions: what a question speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.tasks.phrases import Element, elements, stem
from doxa.tasks.reading import Clause
from doxa.tasks.roles import numbered
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import Token

__all__ = ["CLAIMING", "SMALL", "followers", "found_in", "nodes_in"]

CLAIMING = (
    "i thought",
    "i think",
    "i could have sworn",
    "i'm sure",
    "i am sure",
    "i believe",
    "i said",
    "i told you",
    "i never said",
    "i never",
    "i didn't say",
    "i remember",
    "pretty sure",
    "i'm fairly sure",
    "i recall",
    "i had it down as",
    "i had in mind",
    "in mind",
    "weren't we",
    "you said",
    "you told me",
    "thought it was",
    "thought we",
)

SMALL = {
    "i",
    "you",
    "we",
    "it",
    "the",
    "a",
    "an",
    "to",
    "of",
    "in",
    "on",
    "at",
    "for",
    "did",
    "do",
    "does",
    "was",
    "were",
    "is",
    "are",
    "be",
    "been",
    "say",
    "said",
    "ever",
    "never",
    "not",
    "n't",
    "that",
    "this",
    "my",
    "our",
    "from",
    "with",
    "right",
    "have",
    "has",
    "had",
    "there",
    "and",
    "as",
    "would",
    "could",
    "couldn't",
    "can",
    "can't",
    "supposed",
    "going",
    "think",
    "thought",
    "told",
    "tell",
    "me",
    "about",
    "part",
    "mention",
    "mentioned",
    "still",
    "before",
    "really",
    "actually",
    "any",
    "again",
    "meant",
    "already",
    "so",
    "just",
    "now",
    "originally",
    "first",
    "put",
    "ask",
    "asked",
    "set",
    "though",
    "sure",
    "wasn't",
    "isn't",
    "didn't",
    "up",
    "some",
    "by",
    "way",
}


def found_in(scene: Scene, tokens: Sequence[Token]) -> list[Element]:
    """Return the elements of a question, those attached to others beside them."""
    flat: list[Element] = []
    part: list[Token] = []
    parts = [part]
    for token in tokens:
        inside = any(typed.start <= token.start < typed.end for typed in scene.typed)
        named = token.upos == "VERB" and any(
            stem(token.lower) in scene.words(key) for key in scene.editor.find(token.lower)[:3]
        )
        if (
            token.upos in ("VERB", "AUX")
            and not inside
            and not named
            and not (token.form.endswith("ing") and token.deprel != "root")
        ):
            part = []
            parts.append(part)
        else:
            part.append(token)
    for said in (one for part in parts for one in elements(part, scene.text, scene.typed)):
        one = numbered(scene, said)
        flat.append(one)
        flat += [inner for _, inner in one.attached]
    return [one for one in flat if one.words or one.pronoun or one.value is not None]


def nodes_in(scene: Scene, clause: Clause, *, hidden: bool = False) -> list[str]:
    """Return the nodes that a question names, in order."""
    keys: dict[str, None] = {}
    for one in found_in(
        scene,
        [
            token
            for token in clause.tokens
            if token.lower not in ("what", "who", "why", "which", "how", "when", "where")
        ],
    ):
        if not one.words or one.pronoun or (one.value is not None and not one.text):
            continue
        trimmed = replace(one, attached=(), other=False)
        found = scene.find(trimmed) or (scene.find(trimmed, hidden=True) if hidden else [])
        if not found and len(one.words) > 1:
            split = [
                scene.find(replace(trimmed, words=one.words[:size], text=" ".join(one.words[:size])))
                for size in range(len(one.words) - 1, 0, -1)
            ]
            found = next((keys_ for keys_ in split if keys_), [])
            slot = scene.slot_named(found[0], one.words) if found else None
            found = [slot] if slot else found or scene.find(replace(trimmed, words=one.words[-1:], text=one.words[-1]))
        for key in found[: None if one.det in ("both", "all") else 2]:
            keys.setdefault(key)
    return list(keys)


def followers(scene: Scene, key: str) -> list[str]:
    """Return everything that follows a node by a rule or waits for it."""
    found: dict[str, None] = {}
    waiting_for = [key, *scene.slots(key)]
    while waiting_for:
        for one in scene.editor.dependents(waiting_for.pop()):
            if scene.seen(one) and one not in found:
                found[one] = None
                waiting_for.append(one)
    return list(found)
