"""What a sentence takes for granted against what was said before: who prints "on my printer" has one by now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.core.values import Modality, Status
from doxa.memory import relation_type
from doxa.understand.extract import Scope
from doxa.understand.referents import term
from doxa.understand.scene import Proposition

__all__ = ["presupposed"]

MINE = re.compile(
    r"\b(?:my|our) (?:(?:own|new|brand new|old|first) )?(?P<noun>[a-z][a-z-]*(?: [a-z-]+){0,2})", re.IGNORECASE
)
SPOUSE = re.compile(
    r"\b[Mm]y (?:husband|wife|hubby|missus)\b(?!-|'s ex)|"
    r"^(?i:(?:the )?(?:husband|wife|missus))(?: is|'s| has| was)\b"
)
COUPLE = ("marital_status", "married_to", "husband", "wife", "spouse")
UNREAL = re.compile(
    r"\b(?:if|wish|would|imagine|dream|sold|lost|gave away|no longer|any ?more|used to|want|need|not)\b", re.IGNORECASE
)


def presupposed(text: str, scope: Scope) -> Iterator[Proposition]:
    """Yield the possession of what the speaker calls his own although he said that he had none.

    Cost O(possessions that he denied); nothing is claimed of what he never spoke of, since "my bus" is not his.
    """
    if scope.role == "assistant" or UNREAL.search(text):
        return
    speaker, beliefs = scope.referents.speaker, scope.referents.beliefs
    spouse = SPOUSE.search(text)
    if spouse is not None and not any(beliefs.about(speaker.key, name) for name in COUPLE):
        married = relation_type("marital_status")
        yield Proposition(subject=speaker, kind=married, object=term("married"), confidence=0.5)
    denied = {
        fact.object.key: fact.object
        for fact in beliefs.about(speaker.key, "has")
        if not fact.polarity and fact.status is Status.HELD and fact.modality is Modality.ASSERTED
    }
    for match in MINE.finditer(text) if denied else ():
        words = match["noun"].casefold().split()
        heads = [" ".join(words[:size]) for size in range(len(words), 0, -1)]
        thing = next((denied[head] for head in heads if head in denied), None)
        if thing is not None:
            yield Proposition(subject=speaker, kind=relation_type("has"), object=thing, confidence=0.6)
