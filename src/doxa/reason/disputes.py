"""Several values where a question can only have one: the last word of each source, and whether those agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from doxa.core.values import EARLIEST, Fact, Question
from doxa.memory import Beliefs

__all__ = ["last_words"]


def last_words(
    question: Question, facts: Sequence[Fact], beliefs: Beliefs, value: Callable[[Fact], str | None]
) -> list[Fact]:
    """Return the facts that are the last word of some source; marked as disputed when those give different values.

    A source that says two things in turn has changed its mind; two sources that end on different values disagree.
    Facts of questions that may have several answers, and facts that nobody said, are returned as they are.

    Args:
        question: "on which date", "how many square metres".
        facts: those that hold at the time asked about.
        beliefs: the claims behind them.
        value: gives what a fact answers.
    """
    several = question.asks == "count" and not all(re.match(r"[€$£]?\d", fact.object.label) for fact in facts)
    if several or not _singular(question) or len({value(fact) for fact in facts}) < 2:
        return list(facts)
    said: dict[str, tuple[datetime, int]] = {}
    for number, fact in enumerate(facts):
        claims = beliefs.supporting(fact)
        if not claims or fact.premises:
            return list(facts)
        for claim in claims:
            moment = (claim.known_at or EARLIEST, number)
            name = (claim.source or claim.speaker).casefold()
            said[name] = max(said.get(name, moment), moment)
    last = [facts[number] for number in sorted({number for _, number in said.values()})]
    disagree = len({value(fact) for fact in last}) > 1
    return [replace(fact, disputed=True) for fact in last] if disagree else last


def _singular(question: Question) -> bool:
    """Tell whether a question can have one answer only: a number, a date, "which room"."""
    if question.asks not in ("object", "start", "count", "anything"):
        return False
    one = question.noun.islower() and not question.noun.endswith("s") and question.kind in ("value", "where")
    return one or question.kind in ("when", "how_much", "count")
