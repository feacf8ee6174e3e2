"""A fact and the turns that it rests on -> where their texts say it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from doxa.core.values import Claim, Fact, Turn
from doxa.core.views import Place, Quote
from doxa.memory import Beliefs

__all__ = ["quotes_of"]


def quotes_of(fact: Fact, turns: Iterable[Turn], beliefs: Beliefs) -> tuple[Quote, ...]:
    """Return where turns say a fact; a turn alone where that is not clear. Cost: linear in the texts."""
    said: dict[str, Claim] = {}
    for claim in beliefs.supporting(fact) if not fact.premises else ():
        said[claim.turn_id] = claim
    return tuple(_quote(turn, said.get(turn.turn_id)) for turn in turns)


def _quote(turn: Turn, claim: Claim | None) -> Quote:
    if claim is None or not claim.span or (start := turn.text.find(claim.span)) < 0:
        return Quote(turn_id=turn.turn_id)
    sentence = (start, start + len(claim.span))
    return Quote(
        turn_id=turn.turn_id,
        sentence=sentence,
        subject=_words(claim.subject.label, turn.text, sentence),
        object=_words(claim.object.label, turn.text, sentence),
    )


def _words(label: str, text: str, within: Place) -> Place | None:
    """Return where whole words stand in a part of a text."""
    match = re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.IGNORECASE).search(text, *within)
    return match.span() if match and label else None
