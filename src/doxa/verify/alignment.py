"""A clause of a reply + a sentence that was said -> the one detail in which they differ.

"Inga runs a bakery in Bruges" beside "Pavel is married to Inga, who runs a bakery in Ghent": word by word the same but
for what stands after "in". Source: MacCartney and Manning 2008, "Modeling Semantic Containment and Exclusion in Natural
Language Inference": an edit in an aligned pair decides the relation of the whole.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from doxa.language import stems
from doxa.verify.values import relation_of

__all__ = ["another_detail"]

WORD = re.compile(r"[\w'’-]+")
BEFORE = frozenset("in at as from near".split())
"""What a detail stands after that an event or state has one of: a place, a capacity, an origin."""
LEAST = 3
"""Content words that both have in common before the detail, so that they speak of one thing."""
LONGEST = 3
"""Most words of a detail."""
SKIPPED = frozenset("a an the my our your his her their its who which that is was".split())


def another_detail(told: str, said: str, *, by: str, speaker: str) -> tuple[str, str] | None:
    """Return the detail of a clause and the one that was said in its place; None where they differ otherwise.

    Args:
        told: the clause, put as `by` would say it.
        said: a sentence that was said.
        by: whom "I" of the clause means.
        speaker: whom "I" of the sentence means.

    They have to agree on `LEAST` content words or more right before it, and the values have to exclude each other.
    Cost O(words squared) of two sentences.
    """
    mine, theirs = _words(told, by), _words(said, speaker)
    matched = SequenceMatcher(None, [_form(word) for word in mine], [_form(word) for word in theirs], autojunk=False)
    shared: set[str] = set()
    for tag, start, end, other, stop in matched.get_opcodes():
        if tag == "equal":
            shared |= {stem for word in mine[start:end] for stem in stems(word)}
            continue
        if tag != "replace" or len(shared) < LEAST or not start or mine[start - 1].casefold() not in BEFORE:
            if tag == "delete" or (tag == "replace" and shared):
                return None
            continue
        if end - start > LONGEST or end != len(mine):
            return None
        one, instead = " ".join(mine[start:end]), " ".join(theirs[other : min(stop, other + end - start)])
        return (one, instead) if relation_of(one, instead) == "rival" else None
    return None


def _words(text: str, speaker: str) -> list[str]:
    words = (speaker if word in ("I", "me") else word for word in WORD.findall(text))
    return [word for word in words if word.casefold() not in SKIPPED]


def _form(word: str) -> str:
    return next(iter(stems(word)), word.casefold())
