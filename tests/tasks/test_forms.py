"""One thing said in many ways: openings, additions and changes, and the state that they leave."""

from __future__ import annotations

from typing import Any

import pytest

PICNIC = "Picnic: rolls, ham, olives."
CHOIR = "Set up a rehearsal on Monday at 6 pm."
BAGS = "Left bag: map, torch. Right bag: rope, knife."
HIKE = "Plan a hike for Sunday at 9 am."

OPENINGS = [
    ("Cellar: crates, a ladder. Attic: boxes.", {"Cellar": ["crates", "ladder"], "Attic": ["boxes"]}),
    (
        "There's a parents' evening on 9 June at Hollow Hill School.",
        {"parents' evening/date": "9 June", "parents' evening/location": "Hollow Hill School"},
    ),
    (
        "Here's the list for my driving test: licence, glasses and water.",
        {"driving test": ["licence", "glasses", "water"]},
    ),
    ("Renew my passport by 20 May.", {"renew passport/date": "20 May"}),
    ("Shelf 1: novels, poems. Shelf 2: maps.", {"Shelf 1": ["novels", "poems"], "Shelf 2": ["maps"]}),
]


@pytest.mark.parametrize(("said", "state"), OPENINGS, ids=[said for said, _ in OPENINGS])
def test_a_task_is_opened(talk: Any, said: str, state: dict[str, Any]):
    assert talk(said).intents == ("new",)
    assert talk.state == state


ITEMS = [
    ("I'd rather have turkey than ham.", ["rolls", "turkey", "olives"]),
    ("No need for the ham.", ["rolls", "olives"]),
    ("The olives can go.", ["rolls", "ham"]),
]


@pytest.mark.parametrize(("said", "items"), ITEMS, ids=[said for said, _ in ITEMS])
def test_a_list_is_changed(talk: Any, said: str, items: list[str]):
    talk(PICNIC)
    talk(said)
    assert talk.state == {"Picnic": items}


VALUES = [
    (CHOIR, "It starts at seven.", "rehearsal/time", "7 pm"),
    ("Set up a rehearsal on 3 March at 6 pm.", "We'll meet on the fifth.", "rehearsal/date", "5 March"),
]


@pytest.mark.parametrize(("opening", "said", "path", "value"), VALUES, ids=[said for _, said, _, _ in VALUES])
def test_a_value_is_changed(talk: Any, opening: str, said: str, path: str, value: object):
    before = set(talk(opening) and talk.state)
    talk(said)
    assert talk.state[path] == value
    assert set(talk.state) <= before | {path}


def test_a_rule_counts_from_what_it_names(talk: Any):
    talk("The fair is on 20 June.")
    talk("The banners always go up a week before it.")
    assert talk.state["fair/banners"] == "13 June"
    talk("They've moved the fair to 27 June.")
    assert talk.state == {"fair/date": "27 June", "fair/banners": "20 June"}
