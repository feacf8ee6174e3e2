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


def test_what_was_only_asked_about_is_done_on_request(talk: Any):
    talk("Dinner: lamb, rice.")
    talk("And if I took rice out?")
    assert talk.state == {"Dinner": ["lamb", "rice"]}
    talk("Do that.")
    assert talk.state == {"Dinner": ["lamb"]}


def test_the_wrong_one_is_put_back(talk: Any):
    talk("Cart: green socks, grey socks, hat.")
    talk("Drop the grey ones.")
    assert talk.state == {"Cart": ["green socks", "hat"]}
    talk("Oops, I meant the other pair.")
    assert talk.state == {"Cart": ["grey socks", "hat"]}


def test_what_was_moved_goes_back_where_it_was(talk: Any):
    talk(BAGS)
    talk("The torch belongs in the right bag.")
    talk("Put it back where it was.")
    assert talk.state == {"Left bag": ["map", "torch"], "Right bag": ["rope", "knife"]}


def test_another_matter_is_a_task_of_its_own(talk: Any):
    talk(HIKE)
    talk("Not part of the hike: renew my library card by 3 May.")
    assert talk.state["renew library card/date"] == "3 May"
    talk("And the optician has a slot on Friday at 9:30.")
    assert talk.state["hike/day"] == "Sunday"
    assert [path for path in talk.state if path.endswith("optician/day")]


def test_whose_appointment_it_is(talk: Any):
    talk("Nora's eye test is on Monday at 9 am, she's got Dr. Hale.")
    talk("And Otto has his check-up on Thursday at 4 pm with Dr. Wen.")
    talk("Hers is an hour later now.")
    assert talk.state["Nora's eye test/time"] == "10 am"
    assert talk.state["Nora's eye test/participants"] == ["Dr. Hale"]
    assert talk.state["Otto's check-up/time"] == "4 pm"


def test_prices_for_one_are_reckoned_with_what_they_are_for(talk: Any):
    talk("Gala dinner, budget 2000.")
    talk("60 guests. Menu 20 a head, flowers 15 per table, 10 tables.")
    assert "1350" in talk("What is the total?").reply
    talk("Two tables fewer.")
    assert talk.state["Gala dinner/tables"] == "8"
    assert "1320" in talk("What is the total?").reply


def test_one_day_is_held_against_others(talk: Any):
    talk("Plan a wedding for 9 May.")
    talk("The fitting is on 2 May.")
    assert talk("Is the fitting before the wedding?").reply.startswith("Yes")
    assert talk("Is the fitting after the wedding?").reply.startswith("No")
