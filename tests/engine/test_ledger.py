"""Claims in, answers out: the ledger, and the order of turns of one moment."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Claim, Interval, Question, Term, Turn
from doxa.engine import Ledger

DAY = datetime(2024, 3, 6, tzinfo=UTC)


def claim(subject, relation, value, **more):
    kind = Ledger.relation(relation)
    terms = (Term(text.casefold(), text) for text in (subject, value))
    return Claim(
        **dict(zip(("subject", "object"), terms, strict=True)),
        relation=kind.relation,
        functional=kind.functional,
        **more,
    )


def tell(ledger, place, *claims, speaker="Ana", at=DAY):
    turn = Turn(turn_id=f"t{place}", user="u", session="s", speaker=speaker, role="user", text="", at=at, ordinal=place)
    ledger.tell(turn, claims)


def asked(subject=None, relation="lives_in", value=None, asks="object", **more):
    terms = {name: Term(text.casefold(), text) for name, text in (("subject", subject), ("object", value)) if text}
    return Question(text="", asks=asks, relation=Ledger.relation(relation).relation, **terms, **more)


@pytest.mark.parametrize(
    ("name", "label", "functional"),
    [("lives_in", "lives in", True), ("pick_up", "picks up", False), ("gym membership", "gym membership", True)],
    ids=["inventory", "verb", "noun"],
)
def test_a_relation_is_named_as_in_claims(name, label, functional):
    found = Ledger.relation(name)
    assert (found.label, found.functional) == (label, functional)


def test_what_is_told_is_revised_and_answered():
    """As the world was on a day, too; what nobody said is not known."""
    ledger = Ledger()
    tell(ledger, 1, claim("Ana", "lives_in", "Paris"))
    moved = claim("Ana", "lives_in", "Berlin", valid=Interval(start=date(2024, 6, 1)))
    tell(ledger, 2, moved, at=datetime(2024, 6, 2, tzinfo=UTC))
    assert ledger.ask(asked("Ana")).value == "Berlin"
    assert ledger.ask(asked("Ana", past=True), as_of=date(2024, 4, 1)).value == "Paris"
    assert ledger.ask(asked("Ana", "shoe size")).abstained
    assert [fact.status.value for fact in ledger.facts()] == ["superseded", "held"]


@pytest.mark.parametrize("names", [("Sunniva", "Chidi"), ("Chidi", "Sunniva")], ids=" then ".join)
def test_of_turns_of_one_moment_the_later_one_counts_as_later(names):
    """A date without a time of day is the same for many turns; slots that an axiom joins keep the order of turns."""
    ledger = Ledger()
    for place, name in enumerate(names, start=1):
        tell(ledger, place, claim(name, "on_call_for", "payments"))
    assert ledger.ask(asked(relation="on_call_for", value="payments", asks="subject", kind="who")).value == names[1]
