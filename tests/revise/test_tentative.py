"""What was not surely read is kept and changes nothing, until it is said again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from doxa.core.values import Act, ChangeKind, Claim, Relation, Status, Term
from doxa.memory import Beliefs
from doxa.revise import resolve, revise

LIVES = Relation("lives_in", "lives in")


def claim(
    value: str, day: int, *, p: float = 1.0, polarity: bool = True, act: Act = Act.STATE, adds: bool = False
) -> Claim:
    return Claim(
        subject=Term("ana", "Ana"), relation=LIVES, object=Term(value.casefold(), value), functional=True, act=act,
        polarity=polarity, confidence=p, tentative=p < 0.6, turn_id=f"t{day}", speaker="Ana", adds=adds,
        known_at=datetime(2025, 3, day, tzinfo=UTC), span=f"{value} on {day}",
    )  # fmt: skip


def standings(*claims: Claim) -> dict[str, Status]:
    return {one.first.object.label: one.status for one in resolve(claims)}


def test_an_unsure_value_does_not_displace_a_firm_one() -> None:
    """Ana lives in Bonn still, and Rome is kept beside it."""
    assert standings(claim("Bonn", 1), claim("Rome", 2, p=0.4)) == {"Bonn": Status.HELD, "Rome": Status.TENTATIVE}


@pytest.mark.parametrize("act", [Act.STATE, Act.CORRECT, Act.REFINE])
def test_no_unsure_act_changes_what_is_held(act: Act) -> None:
    """Neither an update nor a correction nor a refinement."""
    assert standings(claim("Bonn", 1), claim("Rome", 2, p=0.4, act=act))["Bonn"] is Status.HELD


def test_what_was_not_surely_taken_back_stands() -> None:
    """An unsure withdrawal retracts nothing, a sure one does."""
    assert standings(claim("Bonn", 1), claim("Bonn", 2, p=0.4, act=Act.WITHDRAW)) == {"Bonn": Status.HELD}
    assert standings(claim("Bonn", 1), claim("Bonn", 2, act=Act.WITHDRAW)) == {"Bonn": Status.RETRACTED}


def test_an_unsure_denial_ends_nothing() -> None:
    """ "Ana does not live in Bonn", perhaps."""
    found = resolve([claim("Bonn", 1), claim("Bonn", 2, p=0.3, polarity=False)])
    assert [one.status for one in found] == [Status.HELD, Status.TENTATIVE]
    assert found[0].valid.end is None


def test_a_firm_claim_raises_an_unsure_one_and_displaces() -> None:
    """Said again, and surely read, it does what it would have done."""
    found = standings(claim("Bonn", 1), claim("Rome", 2, p=0.4), claim("Rome", 3))
    assert found == {"Bonn": Status.SUPERSEDED, "Rome": Status.HELD}


def test_two_turns_that_are_unsure_alone_are_sure_together() -> None:
    """Noisy-or of 0.5 and 0.55 is 0.775; the same turn read twice is no second witness."""
    assert standings(claim("Rome", 1, p=0.5), claim("Rome", 2, p=0.55))["Rome"] is Status.HELD
    assert standings(claim("Rome", 1, p=0.5), claim("Rome", 1, p=0.55))["Rome"] is Status.TENTATIVE
    assert standings(claim("Rome", 1, p=0.2), claim("Rome", 2, p=0.3))["Rome"] is Status.TENTATIVE


def test_a_firm_value_makes_no_history_of_an_unsure_one() -> None:
    """What was never believed has no past to keep."""
    found = standings(claim("Rome", 1, p=0.4), claim("Bonn", 2))
    assert found == {"Rome": Status.TENTATIVE, "Bonn": Status.HELD}


def test_an_unsure_claim_is_a_note_and_revises_nothing() -> None:
    """The history says that it is kept, and no reply calls it a change."""
    (change,) = revise([claim("Rome", 1, p=0.4)], Beliefs(), turn_id="t1", known_at=datetime(2025, 3, 1, tzinfo=UTC))
    assert change.kind is ChangeKind.NOTE
    assert not change.revises
    assert "misread" in change.reason


def test_also_closes_nothing_and_is_no_dispute() -> None:
    """Two homes; the next plain value takes the place of the first alone."""
    assert set(standings(claim("Bonn", 1), claim("Rome", 2, adds=True)).values()) == {Status.HELD}
    found = resolve([claim("Bonn", 1), claim("Rome", 2, adds=True), claim("Oslo", 3)])
    assert [one.status for one in found] == [Status.SUPERSEDED, Status.HELD, Status.HELD]
    assert not any(one.disputed for one in found)
