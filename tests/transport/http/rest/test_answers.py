"""Questions and replies over HTTP, whole and as events."""

import asyncio
import json
import threading
import time

import pytest

from doxa.core.errors import BackendUnavailableError
from doxa.core.trace import Tracer
from doxa.engine import Dialogue, Doxa
from doxa.transport.http.problems import as_problem
from doxa.transport.streaming import streamed

EVENTS = {"Accept": "text/event-stream"}


def events_of(text):
    """Return the events of a stream: name and data."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event: ")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_a_question_is_answered_with_its_sources_and_not_remembered(ana):
    """The answer cites turns; the version is that of before."""
    before = ana.get("/stats")
    reply = ana.post("/ask", {"text": "Where do I live?", "speaker": "Ana"})
    assert reply["value"] == "Bonn" and reply["trace"] is None
    assert [citation["turn_id"] for citation in reply["citations"]] == ["t4"]
    assert ana.get("/stats") == before


def test_a_question_is_asked_of_another_day_with_the_steps(ana):
    """`as_of` and `known_at` reach the engine, and the trace is given where it is wanted."""
    reply = ana.post("/ask", {"text": "Where do I live?", "speaker": "Ana", "as_of": "2024-03-10", "trace": True})
    assert reply["value"] == "Lisbon"
    assert "recall" in {step["name"] for step in reply["trace"]["steps"]}
    assert "as_of" in ana.post("/ask", {"text": "Where?", "as_of": "soon"}, 400)["detail"]


def test_what_was_said_before_is_known_to_the_question_alone(ana):
    """A question goes on from messages that are sent with it."""
    said = [{"role": "user", "content": "Where do I live?"}, {"role": "assistant", "content": "Bonn."}]
    assert ana.post("/ask", {"text": "And where do I work?", "speaker": "Ana", "said": said})["value"] == "Siemens"
    assert len(ana.get("/turns")["items"]) == 4


def test_what_the_user_says_is_answered_and_remembered_with_the_reply(ana):
    """Both turns are there, and the same id again is the same turn."""
    said = {"text": "I adopted a dog. Where do I work?", "speaker": "Ana", "turn_id": "x/1"}
    reply = ana.post("/respond", said, wait=True)
    ana.post("/respond", said)
    turns = {one["turn"]["turn_id"]: one["turn"] for one in ana.get("/turns")["items"]}
    assert reply["value"] == "Siemens"
    assert turns["x/1/reply"]["generated"] is True and len(turns) == 6
    ana.post("/respond", said | {"text": "I adopted a cat."}, 409)


def test_a_reply_comes_as_events_step_by_step(ana):
    """Steps as they end, the reply as without events, then done."""
    said = {"text": "Where do I work?", "speaker": "Ana", "trace": True}
    answer = ana.http.post("/v1/memory/respond", json=said, headers=EVENTS)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer.text)
    names = [name for name, _ in events]
    reply = events[-2][1]
    assert names[:2] == ["step", "step"] and names[-2:] == ["reply", "done"]
    assert [data["name"] for name, data in events if name == "step"] == [one["name"] for one in reply["trace"]["steps"]]
    assert reply["value"] == "Siemens"
    assert events[-1][1]["version"] > 0


def unreachable(self, user):
    raise BackendUnavailableError("no model")


def test_a_reply_is_given_also_where_what_was_said_cannot_be_understood_yet(ana, monkeypatch):
    """With `wait` it is 202, and among events `done` says why."""
    monkeypatch.setattr(Doxa, "wait", unreachable)
    ana.post("/respond", {"text": "Where do I work?", "speaker": "Ana"}, 202, wait=True)
    said = {"text": "Where do I work?", "speaker": "Ana"}
    answer = ana.http.post("/v1/memory/respond", params={"wait": True}, json=said, headers=EVENTS)
    (_, reply), (name, done) = events_of(answer.text)[-2:]
    assert (reply["value"], name, done["waiting"]) == ("Siemens", "done", "no model")


def test_a_reply_that_cannot_begin_has_the_status_of_its_error(ana):
    """Nothing was sent yet, so that the status can still say it."""
    said = {"text": "I live in Rome.", "turn_id": "t1"}
    answer = ana.http.post("/v1/memory/respond", json=said, headers=EVENTS)
    assert answer.status_code == 409 and answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("error", "kind"),
    [(BackendUnavailableError("no model"), "urn:doxa:backend-unavailable"), (KeyError("x"), "urn:doxa:unexpected")],
    ids=["ours", "a bug"],
)
def test_a_reply_that_fails_later_says_so_as_an_event(ana, monkeypatch, error, kind):
    """The steps so far were sent; the stream ends with an error and without done."""

    def failing(self, text, **how):
        with Tracer().step("settle"):
            pass
        raise error

    monkeypatch.setattr(Dialogue, "respond", failing)
    answer = ana.http.post("/v1/memory/respond", json={"text": "Hello."}, headers=EVENTS)
    events = events_of(answer.text)
    assert [name for name, _ in events] == ["step", "error"]
    assert events[-1][1]["type"] == kind and "x" not in events[-1][1]["detail"].split()


def scope():
    return {"type": "http", "asgi": {"spec_version": "2.3"}}


def test_silence_is_filled_with_comments():
    """Nothing on the way takes the connection for dead while a model thinks."""

    def work():
        with Tracer().step("settle"):
            pass
        time.sleep(0.2)
        return {"text": "so"}

    async def read():
        response = await streamed(work, dict, problem=as_problem, heartbeat_s=0.05)
        return "".join([str(piece) async for piece in response.body_iterator])

    told = asyncio.run(read())
    assert told.count(": still at work") >= 2
    assert told.endswith('event: reply\ndata: {"text": "so"}\n\nevent: done\ndata: {}\n\n')


def test_a_client_that_hangs_up_leaves_the_work_to_its_end():
    """What was said is remembered with its reply, and the response ends after it."""
    gone, finished = threading.Event(), threading.Event()

    def work():
        with Tracer().step("settle"):
            pass
        assert gone.wait(5)
        finished.set()
        return {}

    async def hang_up():
        sent = []

        async def receive():
            while not sent:
                await asyncio.sleep(0.01)
            gone.set()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.body":
                sent.append(message)

        await (await streamed(work, dict, problem=as_problem))(scope(), receive, send)

    asyncio.run(asyncio.wait_for(hang_up(), 10))
    assert finished.is_set()


def test_a_draft_is_checked_sentence_by_sentence(ana):
    """What contradicts the memory is told from what it does not know."""
    verdict = ana.post("/check", {"text": "You live in Lisbon. It rains.", "speaker": "Ana"})
    assert verdict["label"] == "contradicted"
    assert [one["label"] for one in verdict["sentences"]] == ["contradicted", "neutral"]
    ana.post("/check", {"text": " "}, 400)


def test_answers_are_kept_explained_and_asked_again(ana):
    """An answer that no longer stands says why, and asked again it is another."""
    key = ana.post("/ask", {"text": "Where do I live?", "speaker": "Ana"})["answer_id"]
    assert [one["answer"]["answer_id"] for one in ana.get("/answers")["items"]] == [key]
    assert ana.get("/answers", stale=True)["items"] == []
    ana.post("/turns/t4/withdraw", {"reason": "a joke"})
    assert [one["answer"]["answer_id"] for one in ana.get("/answers", stale=True)["items"]] == [key]
    assert ana.get(f"/answers/{key}/why")["stale"]
    assert ana.post(f"/answers/{key}/again", trace=True)["value"] == "Lisbon"
    later = ana.post("/ask", {"text": "Where do I work?", "speaker": "Ana"})["answer_id"]
    first = ana.get("/answers", limit=1)
    assert first["items"][0]["answer"]["answer_id"] == later
    assert key in {one["answer"]["answer_id"] for one in ana.get("/answers", cursor=first["next"])["items"]}
    ana.get("/answers/a_none/why", 404)
    ana.post("/answers/a_none/again", None, 404)
