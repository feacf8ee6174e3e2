"""Claims get the probability that they are right, and the unsure ones a mark."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from doxa.backends import load
from doxa.core.values import Act, Claim, Interval, Modality, Relation, Term, Turn
from doxa.understand import foreign_language, weighed, worded

TURN = Turn(
    turn_id="t1", user="ana", session="s", speaker="Ana", role="user", text="I live in Oslo.",
    at=datetime(2025, 5, 3, tzinfo=UTC),
)  # fmt: skip


NOTHING = np.zeros(384, dtype=np.float32)


def encode(_: str) -> NDArray[np.float32]:
    """Return the vector of a text that says nothing."""
    return NOTHING


def claim(value: str = "Oslo", **more: object) -> Claim:
    said = {"subject": Term("ana", "Ana"), "relation": Relation("lives_in", "lives in"), "object": Term(value, value)}
    return Claim(**(said | more))  # type: ignore[arg-type]


def test_a_claim_that_fits_its_turn_is_firm_and_one_that_does_not_is_tentative() -> None:
    """Nothing is dropped."""
    grader = load("grader", "scripted", grades={worded(claim("Rome")): "wrong"})
    right, wrong = weighed([claim(), claim("Rome")], TURN, None, grader, encode, firm=0.6)
    assert (right.tentative, wrong.tentative) == (False, True)
    assert right.confidence > 0.9 > 0.1 > wrong.confidence


def test_a_claim_of_a_long_turn_is_graded_beside_its_own_words() -> None:
    """Not beside the end of the turn, which may be about anything."""
    told = claim(span="I live in Oslo.")
    more = 8 * "We painted the kitchen, and it took all day. My sister came with two dogs. It rained, so we stayed in. "
    turns = [replace(TURN, text=f"{before}{TURN.text} {after}") for before in ("", more) for after in ("", more)]
    with closing(load("grader", "builtin")) as grader:
        found = [weighed([told], turn, None, grader, encode, firm=0.6)[0].confidence for turn in turns]
    assert min(found) > 0.85


def test_what_takes_back_has_to_be_meant() -> None:
    """It is graded as what it is, and unsure where the grade says no."""
    told = claim(act=Act.WITHDRAW)
    assert worded(told) == "Ana | lives in | Oslo (taken back)"
    meant = weighed([told], TURN, None, load("grader", "scripted"), encode, firm=0.5)
    unmeant = weighed([told], TURN, None, load("grader", "scripted", grades={worded(told): "wrong"}), encode, firm=0.5)
    assert (meant[0].tentative, unmeant[0].tentative) == (False, True)


def test_what_puts_nothing_right_may_be_news() -> None:
    """A correction that is none is weighed as what it says: the new value stands, and no old one was wrong."""
    told = claim(act=Act.CORRECT, replaces="rome")
    grader = load("grader", "scripted", grades={"Ana | lives in | Oslo (put right)": "wrong"})
    (found,) = weighed([told], TURN, None, grader, encode, firm=0.5)
    assert (found.act, found.replaces, found.tentative) == (Act.STATE, None, False)


@pytest.mark.parametrize(
    ("before", "said", "taken", "meant"),
    [
        ("Ana: i won the lottery", "Ana: haha no i made that up", "Ana | wins | lottery", True),
        ("Ana: my boss quit", "Ana: scratch that, it was a joke", "Ana's boss | quits | ", True),
        ("Ana: we got a dog", "Ana: i take it youre coming on sunday?", "Ana | has | dog", False),
        ("Ben: how was bonn", "Ana: been quiet because i was ill all week", "Ana | visits | Bonn", False),
        ("Ana: the rent is 900", "Ana: cant take the sofa back, no receipt", "Ana's rent | costs | 900", False),
    ],
)
def test_the_grader_that_ships_knows_what_is_taken_back(before: str, said: str, taken: str, meant: bool) -> None:
    """Cue words alone take nothing back."""
    subject, relation, value = taken.split(" | ")
    told = Claim(
        subject=Term(subject.casefold(), subject), relation=Relation(relation, relation), object=Term(value, value),
        act=Act.WITHDRAW,
    )  # fmt: skip
    turns = [
        Turn(turn_id=str(n), user="ana", session="s", speaker=line.split(": ")[0], role="user",
             text=line.split(": ", 1)[1], at=datetime(2025, 5, 3, 12, n, tzinfo=UTC))
        for n, line in enumerate((before, said))
    ]  # fmt: skip
    with closing(load("grader", "builtin")) as grader, closing(load("encoder", "builtin")) as encoder:
        (found,) = weighed([told], turns[1], turns[0], grader, lambda text: encoder.encode([text])[0], firm=0.5)
    assert found.tentative is not meant


def test_a_threshold_of_nothing_believes_everything() -> None:
    """`revise.firm = 0`."""
    grader = load("grader", "scripted", grades={worded(claim()): "wrong"})
    assert not weighed([claim()], TURN, None, grader, encode, firm=0.0)[0].tentative


def test_the_wording_has_all_that_a_claim_says() -> None:
    """Polarity, modality, time and end."""
    told = claim(
        polarity=False,
        modality=Modality.PLANNED,
        ended=True,
        valid=Interval(start=datetime(2025, 6, 1).date()),
    )
    assert worded(told) == "Ana | lives in | Oslo (not, planned, no longer, since 1 June 2025)"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich wohne in Berlin und arbeite bei Siemens.", "de"),
        ("J'habite à Paris avec ma soeur et mon chat", "fr"),
        ("mieszkam w warszawie", "pl"),
        ("私は東京に住んでいます", "ja"),
        ("i live in berlin w my sister lol", ""),
        ("dentist thursday", ""),
        ("Zdzisława", ""),
        ("😂😂", ""),
        ("", ""),
    ],
)
def test_other_languages_are_recognised_where_it_is_sure(text: str, language: str) -> None:
    """Short English, names and no words at all are none."""
    assert foreign_language(text) == language
