"""The fold of promotions, their ids and their data."""

from __future__ import annotations

from datetime import UTC, datetime

from doxa.core.promotions import Promotion, Support
from doxa.core.values import Term
from doxa.memory import Promotions, UserState, promotion_from, promotion_id, promotion_to, standing


def promotion(concept: str = "film", count: int = 3) -> Promotion:
    return Promotion(
        promotion_id=promotion_id("ana", "+", concept),
        subject=Term("ana", "Ana"),
        relation="prefers",
        concept=concept,
        label=concept,
        score=0.8125,
        support=tuple(Support(turn_id=f"t{n}", fact_ids=(f"f{n}",) if n else ()) for n in range(count)),
        known_at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def test_data_and_back_is_the_same() -> None:
    assert promotion_from(promotion_to(promotion())) == promotion()


def test_ids_tell_subject_sign_and_concept_apart_and_never_change() -> None:
    ids = {promotion_id(*key) for key in (("ana", "+", "film"), ("ana", "-", "film"), ("bo", "+", "film"))}
    assert len(ids) == 3
    assert promotion_id("ana", "+", "film") == "p1_f2f2d5f74a4c"


def test_demoted_by_hand_it_stays_so_and_by_the_gate_it_may_return() -> None:
    known, one = Promotions(), promotion()
    known.promote(one)
    known.demote(one.promotion_id, "no", automatic=True)
    known.promote(one)
    assert known.get(one.promotion_id).active
    known.demote(one.promotion_id, "no")
    known.promote(promotion(count=9))
    assert not known.get(one.promotion_id).active and known.get(one.promotion_id).demoted == "no"
    assert len(known.get(one.promotion_id).support) == 9
    known.enable(one.promotion_id)
    assert known.get(one.promotion_id).active


def test_they_are_found_by_concept_and_every_change_is_counted() -> None:
    known = Promotions()
    known.promote(promotion("film"))
    known.promote(promotion("film/romance"))
    assert [one.concept for one in known.of_concept("film")] == ["film"]
    assert known.of_concept("food") == [] and len(known) == 2 and known.version == 2


def test_without_its_turns_none_stands() -> None:
    state = UserState(user="ana", dims=8)
    state.promotions.promote(promotion())
    assert standing(state) == []
