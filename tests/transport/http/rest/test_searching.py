"""Search, summaries, queries and numbers over HTTP."""

import threading

from doxa.core.errors import BackendUnavailableError
from doxa.engine import Memory
from doxa.transport import querying
from doxa.transport.querying import QUERIES, Querying


def test_evidence_is_found_best_first(ana):
    """The turn that tells it leads; filters narrow it."""
    found = ana.post("/search", {"query": "Where does Ana work?", "k": 2})["items"]
    assert found[0]["turn_ids"] == ["t3"] and len(found) == 2
    later = ana.post("/search", {"query": "Where does Ana live?", "since": "2024-05-01"})["items"]
    assert [one["turn_ids"] for one in later] == [["t4"]]
    recent = [{"speaker": "Ana", "text": "Let us talk about my job."}]
    assert ana.post("/search", {"query": "Where is that?", "recent": recent})["items"]
    ana.post("/search", {"query": ""}, 400)
    ana.post("/search", {"query": "x", "k": 0}, 422)


def test_a_summary_says_what_is_believed_now(ana):
    """What no longer holds is in it on demand."""
    assert "Bonn" in ana.get("/summary")["text"] and "Lisbon" not in ana.get("/summary")["text"]
    assert "Lisbon" in ana.get("/summary", history=True)["text"]
    assert "Siemens" in ana.get("/summary", query="work", max_tokens=50)["text"]


def test_facts_are_queried_in_sparql(ana):
    """Rows, yes or no, and queries that cannot be read."""
    rows = ana.post("/sparql", {"query": "SELECT ?place WHERE { ?who doxa:livesIn ?place }"})
    assert rows["head"] == {"vars": ["place"]} and rows["boolean"] is None
    assert [row["place"]["value"].rsplit("#", 1)[-1] for row in rows["results"]["bindings"]] == ["bonn"]
    asked = ana.post("/sparql", {"query": "ASK { ?who doxa:livesIn thing:lisbon }", "as_of": "2024-03-10"})
    assert (asked["boolean"], asked["results"]) == (True, None)
    ana.post("/sparql", {"query": "SELECT"}, 400)


def test_a_query_that_takes_too_long_is_given_up(ana, app, monkeypatch):
    """504, with what to do."""
    limited(app, monkeypatch, query_s=7.0)
    asked = []

    def late(self, query, **how):
        asked.append(how["limit_s"])
        raise BackendUnavailableError("sparql: the query took too long.")

    monkeypatch.setattr(Memory, "sparql", late)
    assert ana.post("/sparql", {"query": "ASK {}"}, 504)["type"] == "urn:doxa:backend-unavailable"
    assert asked == [7.0]


def test_queries_that_cannot_be_stopped_are_so_many_at_most(ana, app, monkeypatch):
    """Nobody waits for them any longer, and there is no room for more of them until one ends."""
    limited(app, monkeypatch, query_s=0.2)
    monkeypatch.setattr(querying, "GRACE_S", 0.0)
    released = threading.Event()
    monkeypatch.setattr(Memory, "sparql", lambda *_, **__: released.wait(20))
    try:
        statuses = [
            ana.http.post("/v1/memory/sparql", json={"query": "ASK {}"}).status_code for _ in range(QUERIES + 1)
        ]
    finally:
        released.set()
    assert statuses == [504] * QUERIES + [503]


def test_a_check_takes_no_longer_than_the_server_lets_it(ana, app, monkeypatch):
    """Whatever the client would wait for."""
    limited(app, monkeypatch, query_s=5.0)
    asked = []
    verify = Memory.verify
    monkeypatch.setattr(Memory, "verify", lambda self, **how: (asked.append(how["limit_s"]), verify(self))[1])
    ana.get("/verify", limit_s=600)
    ana.get("/verify", limit_s=2)
    assert asked == [5.0, 2.0]


def test_checks_by_hermit_are_so_many_at_most(ana, app, monkeypatch):
    """Each starts a JVM; other checks have no such bound."""
    limited(app, monkeypatch, query_s=0.2)
    monkeypatch.setattr(querying, "GRACE_S", 0.0)
    released = threading.Event()
    verify = Memory.verify
    monkeypatch.setattr(Memory, "verify", lambda self, dl, **_: released.wait(20) if dl else verify(self))
    try:
        told = [ana.http.get("/v1/memory/verify", params={"dl": True}) for _ in range(QUERIES + 1)]
        assert ana.get("/verify")["consistent"] is True
    finally:
        released.set()
    assert [one.status_code for one in told] == [504] * QUERIES + [503]
    assert told[-1].json()["type"] == "urn:doxa:busy" and told[-1].headers["retry-after"]


def limited(app, monkeypatch, **settings):
    """Have the server run by other settings."""
    served = app.state.served
    monkeypatch.setattr(served, "settings", served.settings.model_copy(update=settings))
    monkeypatch.setattr(served, "querying", Querying(served.settings.query_s))


def test_what_is_believed_is_verified_and_counted(ana):
    """It can hold together, and there is so much of it."""
    assert ana.get("/verify")["consistent"] is True
    assert ana.get("/stats")["counts"]["turns"] == 4
    ana.get("/verify", 422, limit_s=0)


def test_search_learns_from_what_was_missed(ana):
    """Feedback is kept, and what it changes is told."""
    kept = ana.post("/feedback", {"query": "Where does Ana earn money?", "needed": ["t3"]})
    assert kept["feedback"]["turn_ids"] == ["t3"]
    assert ana.get("/stats")["counts"]["feedback"] == 1
    assert ana.post("/learn")["accepted"] is False and ana.get("/learn")["reason"]
    ana.post("/feedback", {"query": "Where?", "needed": ["none"]}, 404)
    ana.post("/feedback", {"query": "Where?", "needed": []}, 422)


def test_drift_is_told_refreshed_and_rolled_back(ana):
    """What was asked is counted; with nothing to learn from the weights stay, and there is nothing to put back."""
    ana.post("/ask", {"text": "Where do I live?"})
    now = ana.get("/drift")
    assert now["state"] == "waiting" and now["open"] and now["windows"][-1]["asked"] == 1
    done = ana.post("/drift")["refreshes"][-1]
    assert done["lesson"]["accepted"] is False and "too few" in done["lesson"]["reason"]
    ana.post("/drift/rollback", {}, 404)
