"""Somebody said that a thing never happened, after having said that it did -> both turns, since nothing decides.

What is, may change: the later word counts. What has happened, has: whoever says later that it never did contradicts
themselves, and which of the two is true only they can tell. Source: ours; BEAM (Tavakoli et al. 2025) measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from doxa.backends.nli import LABELS, Judge
from doxa.core.values import Question, Turn
from doxa.language import stems
from doxa.language.words import HAVE
from doxa.reason import SENTENCE, Doubt, Graded, told_to

__all__ = ["contradiction"]

READ = 2
"""Sentences of a turn that are held against a question: those with most of its words."""
SAID, DENIED = 0.25, 0.5
"""Least chance that a turn says what is asked, and that one denies it: the reader's that it answers, by the NLI model's
for one of its sentences."""
ENTAILS, DENIES = LABELS.index("entailment"), LABELS.index("contradiction")


@dataclass(frozen=True, slots=True)
class _Side:
    """A turn with the chances that it says what is asked, and that it denies it."""

    turn: Turn
    says: float
    denies: float


def contradiction(
    question: Question, graded: Iterable[Graded], more: Callable[[], Sequence[Graded]], judge: Judge, *, asker: str
) -> Doubt | None:
    """Return two turns of one person: the one says that what is asked has happened, a later one that it never did.

    Args:
        question: what is asked; none but one of yes or no about history finds any.
        graded: turns that bear on it, in any order, as the reader sees them.
        more: gives further ones; asked for where one of the first denies what is asked.
        judge: tells what a sentence says to the statement that the question tests.
        asker: whose "I" the question's is.

    Raises:
        BackendError: the model failed.

    Cost: `READ` calls of the model for each turn.
    """
    if not question.tests or not _of_history(question) or question.source:
        return None
    sides = [_side(question, one, judge, asker) for one in graded if one.turn.role == "user"]
    denying = [side for side in sides if side.denies >= DENIED]
    if denying:
        sides += [_side(question, one, judge, asker) for one in more() if one.turn.role == "user"]
    pairs = [
        (said, denied)
        for denied in denying
        for said in sides
        if said.says >= max(SAID, said.denies)
        and said.turn.speaker == denied.turn.speaker and said.turn.ordinal < denied.turn.ordinal
    ]  # fmt: skip
    if not pairs:
        return None
    said, denied = max(pairs, key=lambda pair: pair[0].says * pair[1].denies)
    return Doubt(turns=(said.turn, denied.turn), disputed=True)


def _of_history(question: Question) -> bool:
    """Tell whether a question asks what happened, or has happened ("Have I met Kelly?")."""
    return question.past or question.text.split()[0].casefold() in HAVE


def _side(question: Question, graded: Graded, judge: Judge, asker: str) -> _Side:
    """Return what the sentences of a turn that are nearest to a question say to what it tests."""
    statement, turn = question.tests, graded.turn
    if turn.speaker.casefold() != asker.casefold():
        statement = told_to(statement, turn, (), asker=asker)
    asked = set(stems(statement))
    sentences = sorted(filter(None, SENTENCE.split(turn.text)), key=lambda one: -len(asked & set(stems(one))))
    rows = judge([(one, statement) for one in sentences[:READ]])
    return _Side(turn, *(graded.p * float(rows[:, label].max()) for label in (ENTAILS, DENIES)))
