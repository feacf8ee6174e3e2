"""clearing: a step that is not sure -> a question; what is said to it -> the step that was meant.

A change that is likely not the one that was meant is not made: what it would do is asked, or, where several nodes fit
equally well, which of them it is. So is what should change where a change was asked for and none was read. The next
turn settles it: "yes", "no", or the one that was meant. Anything else is a turn of its own, and drops the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from doxa.core.tasks import TaskCommit, TaskEdit
from doxa.memory import TaskForest
from doxa.tasks.confidence import ties_of
from doxa.tasks.phrases import ORDINALS, words_of
from doxa.tasks.saying import named
from doxa.tasks.scene import Scene

__all__ = ["Answer", "DROPPED", "UNREAD", "answer_to", "choice", "options", "question"]

YES = re.compile(
    r"(?:(?:oh|ah|well|yes|yeah|yep|yup|right|ok|okay|sure|please|exactly|correct|indeed|of course|that one|go ahead|"
    r"(?:please )?do(?: it| that)?|i (?:did|do|mean that)|that'?s (?:it|right|what i (?:meant|mean))|it is|thanks|"
    r"thank you)[,.! ]*)+"
)
NO = re.compile(
    r"(?:oh |ah |well |sorry,? )?(?:no|nope|nah|not that(?: one)?|i did(?:n't| not)|neither|never ?mind)\b[,.! ]*"
    r"(?:thanks|thank you)?[.! ]*"
)
CHOSEN = re.compile(
    r"(?:i (?:mean|meant) |make (?:it|that) |it'?s |for |of |from |on |in |to |the one (?:of|for|in|on) |just )*"
)
CIVIL = re.compile(r"(?:,? (?:please|thanks|thank you|then|of course))+$")
SHORT = 6
"""Words of an answer that names what was meant; longer ones are turns of their own."""
DROPPED = "All right, nothing is changed."
UNREAD = "I could not tell what should change there. Could you say it in other words?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said to a question that was asked back."""

    pending: TaskCommit
    """The turn that was asked about."""
    agrees: bool = False
    denies: bool = False
    words: tuple[str, ...] = ()
    """What names the one that was meant."""
    place: int = 0
    """Which one, where they were counted: 1 is the first, -1 the last."""


def options(scene: Scene, edits: Sequence[TaskEdit]) -> list[str]:
    """Return the nodes that fit as well as one that was changed, that one first; none where it fits best."""
    for tie in ties_of(scene, edits):
        chosen = next((key for key, one in scene.ties.items() if one is tie), "")
        rest = [key for key in tie.keys if key != chosen and scene.seen(key)]
        if rest:
            return [chosen, *rest]
    return []


def question(scene: Scene, edits: Sequence[TaskEdit], told: str) -> str:
    """Return what is asked about a change that was not made.

    Args:
        scene: the turn, carried out.
        edits: what it would change.
        told: what would be said of it.
    """
    names = list(dict.fromkeys(named(scene, key) for key in options(scene, edits)))
    if len(names) > 1:
        return f"Did you mean {', '.join(names[:-1])} or {names[-1]}? Nothing is changed yet."
    return f"Is this what you meant? \u201c{told}\u201d Nothing is changed yet."


def answer_to(text: str, forest: TaskForest) -> Answer | None:
    """Return what a turn says to the question that was asked just before; None where it says nothing to one."""
    pending = forest.commits[-1] if forest.commits else None
    if pending is None or not pending.asked or pending.by or not pending.text or pending.asked == UNREAD:
        return None
    said = CIVIL.sub("", text.lower().replace("\u2019", "'").strip(" .!"))
    if YES.fullmatch(said):
        return Answer(pending=pending, agrees=True)
    denial = NO.match(said)
    said = said[denial.end() :] if denial else said
    if not said:
        return Answer(pending=pending, denies=True)
    named_one = said[match.end() :] if (match := CHOSEN.match(said)) else said
    words = words_of(named_one)
    if len(named_one.split()) > SHORT or not words:
        return None
    place = next((ORDINALS[word] for word in named_one.split() if word in ORDINALS), 0)
    return Answer(pending=pending, words=words, place=place)


def choice(answer: Answer, scene: Scene, edits: Sequence[TaskEdit]) -> str:
    """Return the node that an answer names out of those that fit equally well; empty where it does not name one."""
    keys = options(scene, edits)
    fits = [key for key in keys if set(answer.words) <= _called(scene, key)]
    others = [key for key in keys if set(answer.words) <= _called(scene, key) - _common(scene, keys)]
    if len(fits) == 1 or len(others) == 1:
        return (fits if len(fits) == 1 else others)[0]
    if "other" in answer.words and len(keys) == 2:
        return keys[1]
    at = answer.place - 1 if answer.place > 0 else len(keys) - 1
    return keys[at] if answer.place and at < len(keys) else ""


def _called(scene: Scene, key: str) -> set[str]:
    """Return the words by which a node, or what it is under, is called."""
    above = (word for one in scene.editor.ancestors(key) for word in words_of(scene.editor.node(one).name))
    return {*scene.words(key), *above, "one"}


def _common(scene: Scene, keys: Sequence[str]) -> set[str]:
    return set.intersection(*(_called(scene, key) for key in keys)) if keys else set()
