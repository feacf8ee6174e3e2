"""The gate: what is told of a concept, its features, and when it is lifted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doxa.core.values import Turn
from doxa.memory import UserState
from doxa.recall import Candidates, Gate
from doxa.recall.concepts.promote import (
    FEATURES,
    KEPT,
    MOST_A_TIME,
    Assertion,
    assertions_of,
    features_of,
    is_private,
    probability_of,
)

START = datetime(2025, 1, 1, tzinfo=UTC)


def state_of(*said: tuple[int, str]) -> UserState:
    """Return a memory of turns, each with the day on which it was said, one session a day."""
    state = UserState(user="ana", dims=8)
    for number, (day, text) in enumerate(said, start=1):
        turn = Turn(
            turn_id=f"t{number}",
            user="ana",
            session=f"s{day}",
            speaker="Ana",
            role="user",
            text=text,
            at=START + timedelta(days=day),
            ordinal=number,
        )
        state.receive(turn)
        state.maintain(turn, [], [], None)
    return state


def told(state: UserState) -> dict[str, str]:
    turn = state.turns[1]
    return {one.concept: one.tie for one in assertions_of(turn, None, state)}


def lifted(state: UserState, gate: Gate | None = None) -> dict[str, str]:
    candidates = Candidates()
    candidates.read(state, most=1000)
    found = candidates.proposals(state, gate or Gate())
    return {one.promotion.concept: one.promotion.relation for one in found if one.promotion}


SUSHI = (
    "I love sushi.",
    "A good ramen place is my favourite.",
    "I really enjoyed the tempura.",
    "I adore japanese food.",
    "I'm a fan of udon.",
)


def test_every_part_of_a_turn_speaks_for_its_own_concept() -> None:
    found = told(state_of((1, "I love sushi but I can't stand horror movies.")))
    assert found["food/cuisine/japanese"] == "prefers"
    assert found["film/horror"] == "dislikes"


def test_a_dislike_of_a_kind_is_none_of_its_domain() -> None:
    found = told(state_of((1, "I can't stand horror movies.")))
    assert found == {"film/horror": "dislikes"}


def test_a_question_asserts_nothing() -> None:
    assert not told(state_of((1, "Where can I get good sushi?")))


def test_agreeing_statements_over_time_are_lifted() -> None:
    found = lifted(state_of(*((day * 9, text) for day, text in enumerate(SUSHI))))
    assert found["food/cuisine/japanese"] == "prefers"


def test_what_is_said_in_a_row_is_a_burst() -> None:
    assert not lifted(state_of(*((1, text) for text in SUSHI)))


def test_one_thing_repeated_is_not_several() -> None:
    assert not lifted(state_of(*((day * 9, "I love sushi.") for day in range(5))))


def test_both_sides_are_contradictory() -> None:
    mixed = [
        text for one in zip(SUSHI, ["I hate sushi.", "Ramen is awful.", "Udon bores me."], strict=False) for text in one
    ]
    assert "food/cuisine/japanese" not in lifted(state_of(*((day * 9, text) for day, text in enumerate(mixed))))


@pytest.mark.parametrize("gate", [Gate(tau=1.0), Gate(quota=0), Gate(support=9)], ids=["tau", "quota", "support"])
def test_the_gate_can_be_closed(gate: Gate) -> None:
    assert not lifted(state_of(*((day * 9, text) for day, text in enumerate(SUSHI))), gate)


def test_private_categories_hold_for_their_kinds() -> None:
    assert is_private("health") and is_private("health/sleep") and is_private("religion")
    assert not is_private("food/healthy") and not is_private("film")


def assertion(number: int, *, day: float, session: str, thing: str = "", confidence: float = 0.9) -> Assertion:
    return Assertion(
        turn_id=f"t{number}",
        ordinal=number,
        session=session,
        day=day,
        tie="prefers",
        concept="film",
        confidence=confidence,
        object=thing or f"thing {number}",
        grounded=True,
    )


def p_of(told: list[Assertion], against: list[Assertion] | None = None) -> float:
    return probability_of(features_of(told, against or [], state_of((0, "Hello."))))


def test_more_sessions_things_and_turns_make_it_likelier_and_opposition_less() -> None:
    spread = [assertion(n, day=20000 + 10 * n, session=f"s{n}") for n in range(4)]
    crowded = [assertion(n, day=20000, session="s") for n in range(4)]
    same = [assertion(n, day=20000 + 10 * n, session=f"s{n}", thing="it") for n in range(4)]
    more = [assertion(n, day=20000 + 10 * n, session=f"s{n}") for n in range(8)]
    assert p_of(more) > p_of(spread) > max(p_of(crowded), p_of(same))
    assert p_of(spread, [assertion(9, day=20050, session="s9")]) < p_of(spread)


def test_features_are_finite_and_in_order() -> None:
    found = features_of([assertion(1, day=20000, session="s")], [], state_of((0, "Hello.")))
    assert found.shape == (len(FEATURES),) and np.isfinite(found).all() and found[0] == 1


def test_what_is_kept_is_bounded_and_every_turn_is_read_once() -> None:
    state = state_of(*((day, f"I love sushi, number {day}.") for day in range(KEPT + 20)))
    candidates = Candidates()
    while candidates.waiting(state):
        before = candidates.waiting(state)
        candidates.read(state, most=16)
        assert candidates.waiting(state) == max(0, before - 16)
    assert max(map(len, candidates._told.values())) == KEPT


def test_one_batch_lifts_a_few_and_the_next_one_the_rest() -> None:
    many = (
        "I love sushi and jazz records.",
        "I adore yoga class, cats and board games.",
        "I enjoy camping, tacos, poetry.",
    )
    said = [(place * 7, text) for place, text in enumerate(many * 5)]
    state = state_of(*((day, f"{text} {day}") for day, text in said))
    candidates = Candidates()
    candidates.read(state, most=1000)
    sizes = []
    while new := [one.promotion for one in candidates.proposals(state, Gate(tau=0.3)) if one.promotion]:
        sizes.append(len(new))
        for promotion in new:
            state.promotions.promote(promotion)
    assert max(sizes) <= MOST_A_TIME and len(sizes) > 1
