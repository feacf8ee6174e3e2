"""A memory that everybody reads, over HTTP: read under one's own key, written by a key that opens its name."""

import pytest

from doxa.core.config import MemoryConfig

HANDBOOK = "acme-handbook"
TOLD = {"turns": [{"text": "The Lisbon office opens at nine.", "turn_id": "hours", "speaker": "Handbook"}]}
ASKED = {"text": "When does the Lisbon office open?"}


@pytest.fixture
def config(config):
    """Settings with a handbook."""
    return config.model_copy(update={"memory": MemoryConfig(shared=(HANDBOOK,))})


@pytest.fixture
def editor(client, keys):
    """A client of whoever keeps the handbook, who has put a turn into it."""
    one = client(keys.add(users=[HANDBOOK], rights=["read", "write", "erase"])[1])
    assert one.post("/v1/memory/turns?wait=true", json=TOLD).status_code == 201
    return one


def test_whoever_reads_is_told_whose_it_is(editor, ana):
    reply = ana.post("/v1/memory/ask", json=ASKED).json()
    assert reply["value"] == "nine" and reply["memories"] == [HANDBOOK]
    assert [(one["turn_id"], one["memory"]) for one in reply["citations"]] == [("shared:acme-handbook/hours", HANDBOOK)]
    (found,) = ana.post("/v1/memory/search", json={"query": ASKED["text"]}).json()["items"]
    assert found["memory"] == HANDBOOK and found["turn_ids"] == ["shared:acme-handbook/hours"]


def test_a_key_of_a_user_writes_nothing_to_it_and_erases_nothing_from_it(editor, ana):
    named = {"Doxa-User": HANDBOOK}
    assert ana.post("/v1/memory/turns", json=TOLD, headers=named).status_code == 403
    assert ana.delete("/v1/memory/turns/hours", headers=named).status_code == 403
    assert ana.delete("/v1/memory/turns/shared:acme-handbook/hours").status_code == 404
    assert editor.post("/v1/memory/ask", json=ASKED).json()["value"] == "nine"


def test_an_answer_that_is_kept_by_its_etag_is_read_again_once_the_shared_memory_changes(editor, ana):
    first = ana.get("/v1/memory/summary")
    again = ana.get("/v1/memory/summary", headers={"If-None-Match": first.headers["ETag"]})
    editor.post("/v1/memory/turns?wait=true", json={"turns": [{"text": "The Porto office opens at six."}]})
    after = ana.get("/v1/memory/summary", headers={"If-None-Match": first.headers["ETag"]})
    assert [first.status_code, again.status_code, after.status_code] == [200, 304, 200]


def test_what_a_user_says_of_it_is_seen_by_this_user_alone(editor, ana, client, keys):
    ben = client(keys.add(users=["ben"])[1])
    ana.post("/v1/memory/turns?wait=true", json={"turns": [{"text": "The Lisbon office opens at ten."}]})
    values = [one.post("/v1/memory/ask", json=ASKED).json()["value"] for one in (ana, ben)]
    assert values == ["ten", "nine"]
    for one in (ben, editor):
        found = one.post("/v1/memory/search", json={"query": "Lisbon office ten"}).json()["items"]
        assert not any("ten" in item["text"] for item in found)


def test_a_shared_fact_is_set_aside_and_explained_by_its_id(editor, ana):
    fact_id = ana.post("/v1/memory/ask", json=ASKED).json()["citations"][0]["fact_id"]
    why = ana.get(f"/v1/memory/facts/{fact_id}/why").json()
    assert HANDBOOK in why["text"] and why["turns"][0]["turn_id"] == "shared:acme-handbook/hours"
    assert ana.post(f"/v1/memory/facts/{fact_id}/retract", json={}).status_code == 200
    assert ana.post("/v1/memory/ask", json=ASKED).json()["abstained"]
    assert editor.post("/v1/memory/ask", json=ASKED).json()["value"] == "nine"
    assert ana.post(f"/v1/memory/facts/{fact_id}/accept", json={}).status_code == 200
    assert ana.post("/v1/memory/ask", json=ASKED).json()["value"] == "nine"


def test_the_proxy_shows_a_model_what_is_shared(doxa, editor):
    """A search by meaning finds it, and a look at the memory tells it with who said it."""
    from doxa.engine import Notebook

    doxa.dialogue(user="ana").absorb("I like tea.", at="2024-01-01")
    doxa.flush()
    notebook = Notebook(doxa.parts, "ana")
    found = notebook.search(ASKED["text"])
    with notebook.opened(found) as look:
        page = look.news(ASKED["text"], session="s", since=0, told=(), said=None, found=found, max_tokens=300)
        assert look.keeps(found)
    assert "shared:acme-handbook/hours" in {note.key for note in page.notes}
    doxa.memory(user=HANDBOOK).forget(turn_id="hours")
    with notebook.opened(found) as look:
        assert not look.keeps(found)
