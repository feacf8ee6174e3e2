"""Somebody said that a thing never happened, after having said that it did -> both turns, since nothing decides.

What is, may change: the later word counts. What has happened, has: whoever says later that it never did contradicts
themselves, and which of the two is true only they can tell. Source: ours; BEAM (Tavakoli et al. 2025) measures it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from doxa.backends.nli import LABELS, Judge
from doxa.core.values import Question, Turn
from doxa.language import stems
from doxa.reason import SENTENCE, Doubt, told_to

__all__ = ["contradiction"]

READ = 2
"""Sentences of a turn that are held against a question: those with most of its words."""
SAID, DENIED = 0.35, 0.65
"""Least chance, as the NLI model sees it, that a sentence says what is asked, and that one denies it."""
ENTAILS, DENIES = LABELS.index("entailment"), LABELS.index("contradiction")


@dataclass(frozen=True, slots=True)
class _Side:
    """A turn with the chances that it says what is asked, and that it denies it."""

    turn: Turn
    says: float
    denies: float


def contradiction(question: Question, turns: Iterable[Turn], judge: Judge, *, asker: str) -> Doubt | None:
    """Return two turns of one person: the one says that what is asked has happened, a later one that it never did.

    Args:
        question: what is asked; none but one of yes or no about history finds any.
        turns: those that bear on it, in any order.
        judge: tells what a sentence says to the statement that the question tests.
        asker: whose "I" the question's is.

    Raises:
        BackendError: the model failed.

    Cost: `READ` calls of the model for each turn.
    """
    if not question.tests or not question.past or question.source:
        return None
    sides = [_side(question, turn, judge, asker) for turn in turns if turn.role == "user"]
    pairs = [
        (said, denied)
        for denied in sides
        for said in sides
        if denied.denies >= DENIED and said.says >= max(SAID, said.denies)
        and said.turn.speaker == denied.turn.speaker and said.turn.ordinal < denied.turn.ordinal
    ]  # fmt: skip
    if not pairs:
        return None
    said, denied = max(pairs, key=lambda pair: pair[0].says * pair[1].denies)
    return Doubt(turns=(said.turn, denied.turn), disputed=True)


def _side(question: Question, turn: Turn, judge: Judge, asker: str) -> _Side:
    """Return what the sentences of a turn that are nearest to a question say to what it tests."""
    statement = question.tests
    if turn.speaker.casefold() != asker.casefold():
        statement = told_to(statement, turn, (), asker=asker)
    asked = set(stems(statement))
    sentences = sorted(filter(None, SENTENCE.split(turn.text)), key=lambda one: -len(asked & set(stems(one))))
    rows = judge([(one, statement) for one in sentences[:READ]])
    return _Side(turn, says=float(rows[:, ENTAILS].max()), denies=float(rows[:, DENIES].max()))
