"""conditions: instructions that hold if something happens, and what settles them."""

from __future__ import annotations

import re

from doxa.core.tasks import Dependency, NodeKind
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects
from doxa.tasks.scene import Scene

__all__ = ["hold", "settles"]

GOOD = {
    "fine",
    "well",
    "good",
    "great",
    "ok",
    "okay",
    "smoothly",
    "perfectly",
    "pass",
    "passed",
    "win",
    "won",
    "clear",
    "sunny",
    "dry",
    "positive",
    "success",
    "successful",
    "healthy",
    "approve",
    "approved",
    "accept",
    "accepted",
    "free",
    "available",
    "open",
    "early",
}

BAD = {
    "badly",
    "bad",
    "poorly",
    "fail",
    "failed",
    "wrong",
    "terribly",
    "lose",
    "lost",
    "rain",
    "wet",
    "stormy",
    "negative",
    "sick",
    "ill",
    "reject",
    "rejected",
    "decline",
    "declined",
    "late",
    "closed",
    "unavailable",
    "full",
    "broken",
    "short",
}

SMALL = {
    "the",
    "a",
    "an",
    "to",
    "be",
    "do",
    "have",
    "it",
    "they",
    "we",
    "i",
    "he",
    "she",
    "you",
    "for",
    "of",
    "in",
    "on",
    "at",
    "and",
    "so",
    "then",
    "still",
    "get",
    "go",
    "will",
    "can",
    "that",
    "this",
    "my",
    "our",
    "if",
    "unless",
    "with",
    "there",
    "not",
    "turn",
    "out",
    "come",
    "say",
    "by",
    "up",
}


def hold(scene: Scene, condition: Clause, instruction: str) -> None:
    """Note what is to be done if something happens; it is no part of the tasks until then."""
    noun = next((one.text for one in objects(scene, condition) if one.words and not one.pronoun), "")
    if noun:  # "if they want a sponsor, that's my aunt" is about the sponsor
        instruction = re.sub(
            r"^(?:that|it|this)(?:'s| is| would be| will be)\b", f"the {noun} is", instruction, flags=re.I
        )
    text = re.sub(r"^(?:if|unless|in case|when|once)\s+", "", condition.text.strip(), flags=re.I)
    key = scene.editor.add(instruction.strip(" .,"), parent=scene.root(), kind=NodeKind.TASK)
    scene.editor.depend(
        key, Dependency(on="", kind="condition", text=f"unless {text}" if condition.mark == "unless" else text)
    )
    scene.touched.append(key)


def settles(clause: Clause, condition: str) -> bool | None:
    """Tell whether a statement settles a condition: that it holds, or that it does not; None where it says nothing."""
    inverse = condition.startswith("unless ")
    asked = condition.removeprefix("unless ")
    wanted = {_base(word) for word in re.findall(r"[a-z']+", asked.lower())} - SMALL
    said = {_base(token.lemma) for token in clause.tokens} | {_base(token.lower) for token in clause.tokens}
    wanted = wanted - GOOD - BAD or wanted
    shared = wanted & said
    if not shared or clause.mood == "question" or (len(shared) < 2 and len(wanted) > 3):
        return None
    lowered = set(re.findall(r"[a-z']+", clause.lowered)) | {token.lemma for token in clause.tokens}
    asked_words = set(re.findall(r"[a-z']+", asked.lower()))
    holds = True
    if (bool(lowered & GOOD) != bool(asked_words & GOOD) and bool(asked_words & BAD)) or (
        bool(lowered & BAD) and bool(asked_words & GOOD)
    ):
        holds = not holds
    if re.search(r"\b(?:rather (?:stay|not)|stay(?:ing|s)? (?:home|at home|put))\b", clause.lowered):
        holds = not holds
    negations = (
        "not",
        "n't",
        "no",
        "never",
        "nobody",
        "nothing",
        "cancelled",
        "cancel",
        "canceled",
        "declined",
        "refused",
    )
    if any(word in lowered for word in negations) != any(
        word in asked_words for word in (*negations, "doesn't", "don't", "can't", "isn't", "won't")
    ):
        holds = not holds
    return holds != inverse


def _base(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word
