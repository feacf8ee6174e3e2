"""The same thing under another noun, the same relation under another verb."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from doxa.backends.reader import Reading, Span
from doxa.core.values import Change, ChangeKind, Claim, Evidence, Fact, Question, Relation, Status, Term, Turn
from doxa.memory import Beliefs, relation_type
from doxa.reason import PassageReader, answer

TODAY = date(2024, 12, 1)


def term(label: str) -> Term:
    return Term(label.casefold(), label)


def relation(name: str) -> Relation:
    label = name.replace("_", " ")
    return relation_type(name, label).relation


def held(*told: tuple[str, str, str] | tuple[str, str, str, bool]) -> Beliefs:
    """Return beliefs with a fact for each subject, relation, object and polarity."""
    beliefs = Beliefs()
    for number, (subject, name, value, *polarity) in enumerate(told):
        one = Fact(
            fact_id=f"f{number}",
            subject=term(subject),
            relation=relation(name),
            object=term(value),
            polarity=polarity[0] if polarity else True,
            turn_ids=(f"t{number}",),
        )
        beliefs.learn((), [Change(kind=ChangeKind.ASSERT, fact=one, reason="said")])
    return beliefs


FACTS = held(
    ("Ana", "husband", "Rui"),
    ("Ana", "boat", "Heron"),
    ("Ana", "son", "Gil"),
    ("Ana", "daughter", "Eva"),
    ("Ana", "drives", "red Volvo"),
    ("Ana", "has", "kids", False),
    ("plumber for the bath", "is_called", "Horst"),
    ("Ana", "dog", "Bo"),
    ("Ana's flat", "costs", "900 euros"),
)
ASKED = {
    "synonym relation": ("Ana", "married_to", None, "object", "Rui"),
    "kinds": ("Ana", "child", None, "object", "Gil, Eva"),
    "count of kinds": ("Ana", "child", None, "count", "2"),
    "owned by name": ("Ana", "has", "a boat", "truth", "yes"),
    "kind of pet": ("Ana", "pet", None, "object", "Bo"),
    "other verb": ("Ana", "has", "Volvo", "truth", "yes"),
    "same word": ("Ana", "has", "children", "truth", "no"),
    "subject in other words": ("bath plumber", "is_called", None, "object", "Horst"),
    "name of a thing": ("Ana's boat", "is_called", None, "object", "Heron"),
    "place is no part": ("Ana", "drives", "Volvo", "anything", None),
    "another's": ("Zoe", "married_to", None, "object", None),
}


@pytest.mark.parametrize(("subject", "name", "value", "asks", "expected"), ASKED.values(), ids=ASKED.keys())
def test_a_question_finds_facts_in_other_words(subject, name, value, asks, expected):
    """The wording of question and fact need not be the same; people are never mixed up."""
    question = Question(
        text="?", subject=term(subject), relation=relation(name), object=term(value) if value else None, asks=asks
    )
    draft = answer(question, FACTS, [], lambda _: None, asker="Ana", day=None, today=TODAY)
    assert draft.value == expected


def test_who_somebody_is_is_told_by_the_tie():
    """ "Who is Rui?" is answered by what he is to somebody."""
    question = Question(text="Who is Rui?", kind="who", subject=term("Rui"), terms=("rui",))
    draft = answer(question, FACTS, [], lambda _: None, asker="Ana", day=None, today=TODAY)
    assert draft.value == "Ana's husband"


def said(text: str) -> Turn:
    at = datetime(2024, 6, 1, tzinfo=UTC)
    return Turn(turn_id="t0", user="u", session="s", speaker="Ana", role="user", text=text, at=at)


def workplace(passage: str) -> Reading:
    start = passage.index("Mareluz")
    return Reading(answerable=0.9, spans=(Span(start=start, end=len(passage) - 1, text="Mareluz", score=0.9),))


def test_what_no_longer_holds_is_not_read():
    """A turn whose fact was displaced answers questions about the past only."""
    beliefs = held(("Ana", "works_at", "Mareluz"))
    old = replace(beliefs.facts["f0"], status=Status.SUPERSEDED)
    beliefs.facts["f0"] = old
    said_then = Claim(subject=old.subject, relation=old.relation, object=old.object, turn_id="t0")
    beliefs.learn([said_then], ())
    turn = said("I work at Mareluz.")
    evidence = [Evidence(text=turn.text, turn_ids=("t0",), score=1.0)]
    reader = PassageReader(lambda pairs: [workplace(passage) for _, passage in pairs], lambda _: None)
    for past, abstained in ((False, True), (True, False)):
        question = Question(text="Where do I work?", kind="where", terms=("work",), past=past)
        draft = answer(
            question, beliefs, evidence, lambda _: turn, asker="Ana", day=None, today=TODAY, reader=reader
        )  # fmt: skip
        assert draft.abstained == abstained
