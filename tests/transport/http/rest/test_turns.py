"""Turns over HTTP: told, told twice, listed, withdrawn, erased."""

import pytest

from doxa.core.errors import BackendUnavailableError, StoreLockedError
from doxa.engine import Dialogue, Doxa


def test_turns_are_told_and_known_at_once_with_wait(client):
    """A read after a write with `wait=true` knows what was written."""
    told = client.post("/turns", {"turns": [{"text": "I live in Oslo."}], "speaker": "Ana"}, 201, wait=True)
    facts = client.get("/facts")
    assert [receipt["outcome"] for receipt in told["receipts"]] == ["stored"]
    assert [fact["object"] for fact in facts["items"]] == ["Oslo"]


def test_a_turn_that_comes_again_is_the_same_turn(client):
    """The same id and text is stored once."""
    body = {"turns": [{"turn_id": "a", "text": "I live in Oslo."}]}
    first, again = client.post("/turns", body, 201), client.post("/turns", body, 201)
    assert first["receipts"][0]["outcome"] == "stored"
    assert again["receipts"][0]["outcome"] == "duplicate"
    assert len(client.get("/turns")["items"]) == 1


def test_every_turn_is_taken_by_itself(client):
    """A turn that cannot be stored stops no other, and the receipt says why."""
    client.post("/turns", {"turns": [{"turn_id": "a", "text": "I live in Oslo."}]}, 201)
    turns = [
        {"turn_id": "a", "text": "I live in Rome."},
        {"turn_id": "b", "text": "  "},
        {"turn_id": "c", "text": "I have a cat.", "at": "yesterday"},
        {"turn_id": "d", "text": "I have a dog."},
    ]
    receipts = client.post("/turns", {"turns": turns}, 207)["receipts"]
    assert [receipt["outcome"] for receipt in receipts] == ["conflict", "refused", "refused", "stored"]
    assert "yesterday" in receipts[2]["detail"]
    assert [one["turn"]["turn_id"] for one in client.get("/turns")["items"]] == ["a", "d"]


def test_where_the_database_gives_out_the_rest_is_said_to_be_lost(client, monkeypatch):
    """What was stored before is told with what was not, so that it can be sent again."""
    absorb = Dialogue.absorb

    def failing(self, text, **how):
        if text == "two":
            raise StoreLockedError("another process has it")
        return absorb(self, text, **how)

    monkeypatch.setattr(Dialogue, "absorb", failing)
    turns = {"turns": [{"text": "one"}, {"text": "two"}, {"text": "three"}]}
    assert [one["outcome"] for one in client.post("/turns", turns, 207)["receipts"]] == ["stored", "failed", "failed"]
    problem = client.post("/turns", {"turns": [{"text": "two"}, {"text": "three"}]}, 503)
    assert problem["type"] == "urn:doxa:store-locked"


def test_what_is_stored_is_said_to_be_where_it_cannot_be_understood_yet(client, monkeypatch):
    """A model that does not answer is no reason to send the turns again."""

    def unreachable(self, user):
        raise BackendUnavailableError("no model")

    monkeypatch.setattr(Doxa, "wait", unreachable)
    told = client.post("/turns", {"turns": [{"text": "I live in Oslo."}]}, 202, wait=True)
    assert (told["receipts"][0]["outcome"], told["waiting"]) == ("stored", "no model")
    assert client.post("/turns", {"turns": [{"text": "I have a cat."}]}, 201)["waiting"] == ""


def test_the_only_turn_of_a_request_fails_as_a_problem(client):
    """There is nothing else to tell of, so that the status is that of the error."""
    client.post("/turns", {"turns": [{"turn_id": "a", "text": "I live in Oslo."}]}, 201)
    problem = client.post("/turns", {"turns": [{"turn_id": "a", "text": "I live in Rome."}]}, 409)
    assert problem["type"] == "urn:doxa:turn-conflict"
    assert client.post("/turns", {"turns": [{"text": ""}]}, 400)["type"] == "urn:doxa:turn"


def test_content_is_taken_as_openai_writes_it(client):
    """Parts with words are read, others are named; `name`, `id` and `developer` are known."""
    parts = [{"type": "text", "text": "I live"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    turns = [
        {"content": [*parts, {"type": "input_text", "text": "in Oslo."}], "name": "Ana", "id": "m/1"},
        {"content": "Be short.", "role": "developer"},
    ]
    receipts = client.post("/turns", {"turns": turns}, 201)["receipts"]
    heard = [one["turn"] for one in client.get("/turns")["items"]]
    assert receipts[0]["left_out"] == ["image_url"]
    assert [(turn["text"], turn["role"]) for turn in heard] == [("I live\nin Oslo.", "user"), ("Be short.", "system")]
    assert (heard[0]["speaker"], heard[0]["turn_id"]) == ("Ana", "m/1")
    wordless = client.post("/turns", {"turns": [{"content": parts[1:]}]}, 400)
    assert "image_url" in wordless["detail"]


@pytest.mark.parametrize("turn", [{}, {"text": "a", "content": "a"}, {"text": "a", "spaeker": "Ana"}, {"text": 1}])
def test_a_turn_of_another_shape_is_refused(client, turn):
    """Nothing is guessed of what does not fit."""
    problem = client.post("/turns", {"turns": [turn]}, 422)
    assert problem["fields"][0]["where"].startswith("turns.0")


@pytest.mark.parametrize(
    "turn_id", ["a/b/c", "D1:3", "urn:x/y:z", "naïve/日本語", "50% off?#1", "/a", "x/withdraw", "a b"]
)
def test_any_id_works_in_a_path(client, turn_id):
    """Slashes, colons, percent signs and other scripts are part of an id like any other character."""
    from urllib.parse import quote

    client.post("/turns", {"turns": [{"turn_id": turn_id, "text": "I live in Oslo."}]}, 201, wait=True)
    path = f"/turns/{quote(turn_id, safe='')}"
    assert client.get(path)["turn"]["turn_id"] == turn_id
    assert client.get(path)["claims"][0]["object"] == "Oslo"
    assert client.post(f"{path}/withdraw")["changes"][0]["kind"] == "retract"
    assert client.get(path)["withdrawn"] is True
    assert client("DELETE", path)["turn_ids"] == [turn_id]
    client.get(path, 404)


def test_pages_go_on_where_the_one_before_ended_while_turns_come_in(client):
    """Nothing is twice on the pages, nothing is missing, and what comes in meanwhile is on a later one."""
    client.tell(*(f"Line {number}." for number in range(5)))
    seen, cursor = [], None
    while True:
        page = client.get("/turns", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [one["turn"]["text"] for one in page["items"]]
        if len(seen) == 2:
            client.tell("Line 5.")
        if (cursor := page["next"]) is None:
            break
    assert seen == [f"Line {number}." for number in range(6)]


def test_turns_are_listed_by_session(client):
    """A session has its own turns alone."""
    for session in ("one", "two"):
        client.post("/turns", {"turns": [{"text": f"Hello {session}."}], "session": session}, 201)
    assert [one["turn"]["text"] for one in client.get("/turns", session="two")["items"]] == ["Hello two."]


@pytest.mark.parametrize("cursor", ["zzz", "%%%", "é", "ZmFjdHMKeA", "dHVybnMKeA", "dHVybnMK4pGg"])
def test_a_cursor_of_something_else_is_refused(client, cursor):
    """A cursor counts for the list that gave it."""
    assert "cursor" in client.get("/turns", 400, cursor=cursor)["detail"]


def test_an_erased_turn_is_gone_with_what_was_made_of_it(ana):
    """The certificate counts what went, and neither turns nor facts repeat it."""
    certificate = ana("DELETE", "/turns/t4")
    assert certificate["turn_ids"] == ["t4"] and certificate["erased"]["turns"] == 1
    assert "Bonn" not in str(ana.get("/turns")) + str(ana.get("/facts", current=False))
    ana("DELETE", "/turns/t4", 404)
