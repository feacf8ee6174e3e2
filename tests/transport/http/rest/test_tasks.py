"""Tasks over HTTP: told, shown, changed by hand, taken back."""

import pytest

TRIP = [
    {"act": "add", "name": "Trip", "kind": "task", "as": "trip"},
    {"act": "add", "name": "city", "under": "trip", "value": {"text": "Rome"}},
]


@pytest.fixture
def trip(client):
    """A client with a task."""
    client.post("/tasks/edit", {"acts": TRIP})
    return client


def edit(client, *acts, expect=200, **params):
    return client.post("/tasks/edit", {"acts": list(acts)}, expect, **params)


def state(client):
    return client.get("/tasks")["state"]


def test_a_turn_is_told_to_the_tasks(client):
    """What it changed is told, node by node, and remembered as a turn."""
    told = client.post("/tasks/tell", {"text": "Plan a team dinner for Friday at 7 pm."}, author="Bo")
    assert "team dinner/time" in {change["path"] for change in told["changes"]}
    assert state(client)["team dinner/time"] == "7 pm"
    assert client.get("/turns")["items"][0]["turn"]["speaker"] == "Bo"
    assert "7 pm" in client.get("/tasks/summary")["text"]
    assert "team dinner" in client.post("/tasks/context", {"text": "When is the dinner?", "budget": 100})["text"]
    client.post("/tasks/tell", {"text": " "}, 400)


def test_the_forest_is_shown_as_nested_nodes(trip):
    """Each has its path and what is under it; what was removed is shown on demand."""
    root = trip.get("/tasks")["tasks"][0]
    assert (root["path"], root["children"][0]["value"]) == ("Trip", "Rome")
    edit(trip, {"act": "status", "node": "Trip/city", "status": "removed"})
    assert trip.get("/tasks")["tasks"][0]["children"] == []
    assert trip.get("/tasks", hidden=True)["tasks"][0]["children"][0]["visible"] is False


def test_acts_by_hand_are_one_change_or_none(trip):
    """An act that cannot be carried out leaves nothing of those before it."""
    problem = edit(trip, {"act": "set", "node": "Trip/city", "value": {"text": "Oslo"}},
                   {"act": "rename", "node": "Nope", "name": "x"}, expect=404)  # fmt: skip
    assert "'Trip/city'" in problem["detail"]
    assert state(trip) == {"Trip/city": "Rome"}
    cycle = edit(trip, {"act": "move", "node": "Trip", "under": "Trip/city"}, expect=400)
    assert cycle["type"] == "urn:doxa:task-cycle"


def test_every_act_does_what_the_editor_does(client):
    """One of each, over one small forest."""
    done = edit(
        client,
        {"act": "add", "name": "Trip", "kind": "task", "as": "trip", "aliases": ["journey"]},
        {"act": "add", "name": "city", "under": "trip", "value": {"text": "Rome"}, "as": "city"},
        {"act": "add", "name": "hotel", "under": "trip", "value": {"text": "Ibis", "kind": "choice"}, "as": "hotel"},
        {"act": "add", "name": "Budget", "kind": "task", "as": "budget"},
        {"act": "set", "node": "city", "value": {"text": "Paris"}},
        {"act": "swap", "node": "city", "other": "hotel"},
        {"act": "rename", "node": "hotel", "name": "lodging"},
        {"act": "alias", "node": "hotel", "names": ["inn"]},
        {"act": "share", "node": "trip", "users": ["Bo"]},
        {"act": "link", "node": "hotel", "under": "budget"},
        {"act": "unlink", "node": "hotel", "under": "budget"},
        {"act": "move", "node": "budget", "under": "trip"},
        {"act": "depend", "node": "hotel", "kind": "before", "on": "city"},
        {"act": "undepend", "node": "hotel"},
        {"act": "depend", "node": "budget", "kind": "condition", "text": "if Bo agrees"},
        {"act": "settle", "node": "budget", "holds": True},
        {"act": "replace", "node": "Trip/city", "name": "town"},
        {"act": "copy", "node": "trip", "name": "Trip 2", "without": ["budget"]},
        {"act": "split", "node": "trip", "names": ["out", "back"]},
        {"act": "merge", "nodes": ["Trip/out", "Trip/back"]},
        {"act": "add", "name": "Rehearse", "kind": "loop", "bound": 2, "as": "loop"},
        {"act": "repeat", "node": "loop"},
        {"act": "status", "node": "loop", "status": "done"},
        wait=True,
    )
    trip = next(node for node in client.get("/tasks", hidden=True)["tasks"] if node["name"] == "Trip")
    under = {node["name"]: node for node in trip["children"]}
    assert len(done["nodes"]) == 23
    assert under["lodging"]["value"] == "Paris" and under["town"]["visible"] and under["Budget"]["status"] == "active"
    assert {"Trip 2", "Rehearse"} <= {node["name"] for node in client.get("/tasks")["tasks"]}
    assert client.get("/tasks/changes")["items"][0]["author"] == client.user


def test_changes_are_taken_back_done_again_and_rolled_back(trip):
    """Undo, redo, and an earlier value."""
    edit(trip, {"act": "set", "node": "Trip/city", "value": {"text": "Oslo"}}, author="Bo")
    back = trip.post("/tasks/undo")
    assert state(trip) == {"Trip/city": "Rome"} and back["changes"][0]["change"] == "Oslo -> Rome"
    assert trip.post("/tasks/redo")["changes"][0]["change"] == "Rome -> Oslo"
    assert trip.post("/tasks/rollback", {"path": "Trip/city", "to": "Rome"})["changes"]
    assert trip.post("/tasks/rollback", {"path": "Trip/city", "to": "Rome"})["changes"] == []
    assert trip.get("/tasks/history")["values"]["Trip/city"][-1] == "Rome"
    assert trip.post("/tasks/undo", {"number": 1})["version"]
    trip.post("/tasks/undo", {"number": 99}, 404)
    trip.post("/tasks/rollback", {"path": "Nope", "to": 1}, 404)


def test_what_was_changed_since_stays_and_is_named(trip):
    """Of an undo that finds nothing left nothing is said to be otherwise."""
    edit(trip, {"act": "set", "node": "Trip/city", "value": {"text": "Oslo"}})
    edit(trip, {"act": "set", "node": "Trip/city", "value": {"text": "Bergen"}})
    back = trip.post("/tasks/undo", {"number": 2})
    assert (back["kept"], back["changes"]) == ([["n2", "value"]], [])
    assert state(trip) == {"Trip/city": "Bergen"}


def test_changes_of_the_tasks_are_listed_page_by_page(trip):
    """Who did what, in order."""
    edit(trip, {"act": "set", "node": "Trip/city", "value": {"text": "Oslo"}}, author="Bo")
    first = trip.get("/tasks/changes", limit=1)
    second = trip.get("/tasks/changes", limit=1, cursor=first["next"])
    assert [change["path"] for change in first["items"][0]["changes"]] == ["Trip", "Trip/city"]
    assert second["items"][0]["author"] == "Bo" and second["next"] is None


@pytest.mark.parametrize(
    "act", [{"act": "dance"}, {"act": "set", "node": "n1"}, {"act": "add", "name": "x", "colour": 1}]
)
def test_an_act_of_another_shape_is_refused(client, act):
    """The problem names the field."""
    assert edit(client, act, expect=422)["fields"][0]["where"].startswith("acts.0")


def test_there_is_nothing_to_take_back_in_an_empty_memory(client):
    """404 says so."""
    client.post("/tasks/undo", None, 404)
    client.post("/tasks/redo", None, 404)


def test_what_is_too_deep_to_be_told_is_not_made(client):
    """400 levels were made, and `GET /tasks` failed from then on."""
    chain = [
        {"act": "add", "name": f"x{n}", "kind": "task", "under": f"a{n - 1}", "as": f"a{n}"} for n in range(1, 400)
    ]
    first = {"act": "add", "name": "x0", "kind": "task", "as": "a0"}
    assert "levels deep" in edit(client, first, *chain, expect=400)["detail"]
    edit(client, first, *chain[:99])
    assert client.get("/tasks")["tasks"][0]["name"] == "x0"
