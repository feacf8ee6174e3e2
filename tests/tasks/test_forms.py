"""One thing said in many ways: openings, additions and changes, and the state that they leave."""

from __future__ import annotations

from typing import Any

import pytest

PICNIC = "Picnic: rolls, ham, olives."
CHOIR = "Set up a rehearsal on Monday at 6 pm."
BAGS = "Left bag: map, torch. Right bag: rope, knife."
HIKE = "Plan a hike for Sunday at 9 am."

OPENINGS = [
    ("The smaller hall needs chairs, tables and a lectern.", {"smaller hall": ["chairs", "tables", "lectern"]}),
    ("Cellar: crates, a ladder. Attic: boxes.", {"Cellar": ["crates", "ladder"], "Attic": ["boxes"]}),
    (
        "There's a parents' evening on 9 June at Hollow Hill School.",
        {"parents' evening/date": "9 June", "parents' evening/location": "Hollow Hill School"},
    ),
    (
        "Here's the list for my driving test: licence, glasses and water.",
        {"driving test": ["licence", "glasses", "water"]},
    ),
    (
        "The van is due for its inspection: Tuesday at 9 am.",
        {"van inspection/day": "Tuesday", "van inspection/time": "9 am"},
    ),
    ("Buy screws, glue and sandpaper.", {"shopping list": ["screws", "glue", "sandpaper"]}),
    ("Pack towels, goggles and a snack for the pool.", {"pool": ["towels", "goggles", "snack"]}),
    ("I've got 900 euros to spend on the shed.", {"shed/budget": "900 euros"}),
    ("We want to spend 400 at most on the party.", {"party/budget": "400"}),
    ("Renew my passport by 20 May.", {"renew passport/date": "20 May"}),
    ("Chores: Mika does the windows, Sanna the floors.", {"Chores/windows": "Mika", "Chores/floors": "Sanna"}),
    ("Rooms: Ivo has the loft, Petra has the study.", {"Rooms/Ivo": "loft", "Rooms/Petra": "study"}),
    (
        "Juno has ballet every Tuesday at quarter past four.",
        {"Juno's ballet/day": "every Tuesday", "Juno's ballet/time": "4:15 pm"},
    ),
    ("Shelf 1: novels, poems. Shelf 2: maps.", {"Shelf 1": ["novels", "poems"], "Shelf 2": ["maps"]}),
    ("Keep track of the herb garden: thyme, sage and dill.", {"herb garden": ["thyme", "sage", "dill"]}),
    (
        "Courses: January drawing, February pottery.",
        {"Courses/January": ["drawing"], "Courses/February": ["pottery"]},
    ),
]


@pytest.mark.parametrize(("said", "state"), OPENINGS, ids=[said for said, _ in OPENINGS])
def test_a_task_is_opened(talk: Any, said: str, state: dict[str, Any]):
    assert talk(said).intents == ("new",)
    assert talk.state == state


ITEMS = [
    ("The shop is out of olives, so gherkins.", ["rolls", "ham", "gherkins"]),
    ("I'd rather have turkey than ham.", ["rolls", "turkey", "olives"]),
    ("No need for the ham.", ["rolls", "olives"]),
    ("The olives can go.", ["rolls", "ham"]),
    ("It's the ham I don't want.", ["rolls", "olives"]),
    ("Not the olives, thanks.", ["rolls", "ham"]),
    ("Strip it down to rolls and olives.", ["rolls", "olives"]),
    ("Rolls and ham will be enough.", ["rolls", "ham"]),
]


@pytest.mark.parametrize(("said", "items"), ITEMS, ids=[said for said, _ in ITEMS])
def test_a_list_is_changed(talk: Any, said: str, items: list[str]):
    talk(PICNIC)
    talk(said)
    assert talk.state == {"Picnic": items}


VALUES = [
    (CHOIR, "Could it start half an hour later?", "rehearsal/time", "6:30 pm"),
    (CHOIR, "Could it start half an hour later? Hmm, make that an hour.", "rehearsal/time", "7 pm"),
    (CHOIR, "It starts at seven.", "rehearsal/time", "7 pm"),
    (CHOIR, "They'd like us there at half past five.", "rehearsal/time", "5:30 pm"),
    (CHOIR, "It's in the Elm room.", "rehearsal/location", "Elm room"),
    (
        "Set up a rehearsal on Monday at 6 pm in the chapel.",
        "The chapel is closed, so we're singing at the school.",
        "rehearsal/location",
        "school",
    ),
    ("Set up a rehearsal on 3 March at 6 pm.", "We'll meet on the fifth.", "rehearsal/date", "5 March"),
    (
        "Set up a rehearsal on Monday at 6 pm with Mrs Abel.",
        "Mrs Abel is ill; Mr Stone will stand in.",
        "rehearsal/participants",
        ["Mr Stone"],
    ),
    (
        "Set up a rehearsal on Monday at 6 pm with Ana.",
        "Petra joins the team.",
        "rehearsal/participants",
        ["Ana", "Petra"],
    ),
    ("Form: name Ida Berg, street Elm Road 4.", "It's number 6, not 4.", "Form/street", "Elm Road 6"),
    ("Zoo budget: tickets 80, snacks 20.", "Tickets are 72 instead of 80.", "Zoo budget/tickets", "72"),
    ("Race: 12 km, start on Sunday.", "Knock two kilometres off.", "Race/quantity", "10 km"),
    (HIKE, "Sunday's no good for me, Saturday works.", "hike/day", "Saturday"),
    (HIKE, "Any chance of Saturday?", "hike/day", "Saturday"),
    (BAGS, "The rope goes in the left bag.", "Left bag", ["map", "torch", "rope"]),
    (BAGS, "My torch ought to be with the rope.", "Right bag", ["rope", "knife", "torch"]),
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














