"""Whose word it is: what one source says, and who says a thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from doxa.core.values import Claim, Draft, Fact, Interval, Question, Status
from doxa.memory import Beliefs
from doxa.reason.drafts import FindTurn, draft_of, sentence_of
from doxa.reason.kinds import fitting
from doxa.reason.matching import matches
from doxa.reason.readings import readings, same_thing

__all__ = ["by_source", "who_says"]


def by_source(question: Question, facts: Sequence[Fact], beliefs: Beliefs, turn: FindTurn) -> Draft | None:
    """Return what a source says by the facts that rest on its word, believed or not; None for nothing."""
    theirs = [fact for fact in facts if any(_is_from(claim, question.source) for claim in beliefs.supporting(fact))]
    if not theirs:
        return None
    last = theirs[-1]
    if question.asks == "truth":
        yes = last.polarity == question.polarity
        return draft_of(f"By {question.source}: {sentence_of(last)}", "yes" if yes else "no", [last], turn)
    label = str(last.subject) if question.asks == "subject" else str(last.object)
    value = fitting(label, question.expects) if label else None
    if value is None and question.expects in ("time", "date", "day", "month", "year", ""):
        value = Interval.format(last.valid.start, last.valid.start_precision) or None
    return draft_of(f"By {question.source}: {sentence_of(last)}", value, [last], turn) if value else None


def who_says(question: Question, beliefs: Beliefs, turn: FindTurn, near: Iterable[Fact]) -> Draft | None:
    """Return those whose word a fact still rests on ("Who told me that ...?"); None when nothing matches.

    Facts that the question names exactly come before those in `near` that it means in other words.
    """

    def speaker(turn_id: str) -> str:
        said = turn(turn_id)
        return said.speaker if said else ""

    asked = replace(question, asks="truth", expects="")
    soft = ([match.fact for match in group] for group in matches(asked, beliefs, speaker, near))
    for facts in chain(_exact(asked, beliefs), soft):
        names = {
            claim.source or claim.speaker: None for fact in facts for claim in beliefs.supporting(fact) if claim.speaker
        }
        if names:
            return draft_of(f"{', '.join(names)}: {sentence_of(facts[-1])}", ", ".join(names), facts, turn)
    return None


def _exact(question: Question, beliefs: Beliefs) -> Iterator[list[Fact]]:
    """Yield the facts that are believed and that a question names by subject and relation, and by object if it does."""
    if question.subject is None:
        return
    for reading, known in readings(question, beliefs):
        wanted = reading.object
        named = [fact for fact in known if wanted is None or same_thing(wanted.label, fact.object.label)]
        yield [fact for fact in named if fact.status is Status.HELD and fact.polarity == question.polarity]


def _is_from(claim: Claim, source: str) -> bool:
    """Tell whether a claim is the word of a source that a question names."""
    wanted = re.sub(r"^(?:the|my|our|his|her|their|an?) ", "", source, flags=re.IGNORECASE)
    return any(name and same_thing(wanted, name) for name in (claim.source, "" if claim.source else claim.speaker))
