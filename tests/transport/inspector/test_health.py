"""The page of how it goes, the check-up, and a memory as a file."""

import json
import re
from datetime import UTC, datetime

import pytest
from tests.transport.inspector.conftest import HOSTILE, Browser

from doxa.core.config import ServerConfig
from doxa.core.drift import Alarm, Refreshed, Window
from doxa.core.errors import BackendError
from doxa.core.feedback import Lesson
from doxa.core.trace import Step, Trace
from doxa.transport.http import application
from doxa.transport.inspector.pages import health


def tile(page, name):
    """Return what a tile says."""
    return re.sub(r"<[^>]+>", "", re.search(rf"<dt>{name}</dt><dd[^>]*>(.*?)</dd>", page)[1]).strip()


@pytest.fixture
def failing(doxa, monkeypatch):
    """A function that makes the encoder fail with some words."""

    def fail(words):
        def encode(*_):
            raise BackendError(words)

        monkeypatch.setattr(type(doxa.parts.encoder), "encode", encode)

    return fail


def test_the_tiles_count_what_there_is(ana, told):
    told("I live in Porto.", "I moved to Lisbon.")
    page = ana.page("health")
    assert (tile(page, "Turns"), tile(page, "Waiting to be understood")) == ("2", "0")
    assert tile(page, "Revisions").startswith("1 ") and tile(page, "No longer so") == "1"
    assert re.fullmatch(r"\d+ in the last minute", tile(page, "Understood lately"))
    assert "hash" in page and tile(page, "Database").startswith("sqlite")


def test_an_empty_memory_is_healthy(ana):
    page = ana.page("health")
    assert tile(page, "Turns") == "0" and "No answer was given yet" in page


def test_the_tiles_alone_are_brought_up_to_date(ana):
    assert re.search(r'id="live"[^>]*hx-trigger="every 5s"[^>]*hx-select="#live"', ana.page("health"))


def test_speeds_of_requests_and_steps_are_told(ana, told):
    told("I live in Porto.")
    ana.post("/v1/memory/ask", json={"text": "Where do I live?"}, headers={"Doxa-User": "ana"})
    ana.page("health")
    page = ana.page("health")
    assert "POST /v1/memory/ask" in page and "GET /inspect/health" in page and ">recall<" in page
    assert re.search(r'<rect class="p95"[^>]* width="120"', page)


def test_steps_on_a_lesser_path_are_counted(doxa):
    app = application(doxa, ServerConfig(open=True))
    app.state.served.numbers.count(Trace((Step(name="reasoning", ms=3.0, degraded="it is away"),)))
    with Browser(app, "http://localhost") as one:
        page = one.page("health")
    assert re.search(r">(<bdi>)?reasoning(</bdi>)?</b> ran on a lesser path 1 time\.", page)


def test_tokens_are_told_by_step(doxa):
    app = application(doxa, ServerConfig(open=True))
    detail = {"calls": 3, "prompt_tokens": 4321, "completion_tokens": 77, "judge_prompt_tokens": 1000}
    app.state.served.numbers.count(Trace((Step(name="reasoning", ms=3.0, detail=detail),)))
    with Browser(app, "http://localhost") as one:
        page = one.page("health")
        assert "doxa_model_tokens_total" in one.get("/metrics").text
    assert "5,321" in page and ">77<" in page


def test_whether_search_finds_what_it_did_is_told_in_words_and_as_a_curve(ana, told):
    assert "not known yet" in ana.page("health")
    told("I live in Porto.")
    ana.post("/v1/memory/ask", json={"text": "Where do I live?"}, headers={"Doxa-User": "ana"})
    page = ana.page("health")
    assert "do not tell what is usual" in page and "still open" in page
    assert re.search(r'<svg class="curve"[^>]* role="img" aria-label="Recall at 10 in 1 windows?, from 1.00', page)


def test_windows_alarms_and_refreshes_are_counted_without_a_name(doxa):
    """What a window measured, which signal was raised and whether weights are new: for all users together."""
    app = application(doxa, ServerConfig(open=True))
    at = datetime(2026, 1, 5, tzinfo=UTC)
    window = Window(
        number=3, start=at, end=at, asked=20, judged=20, recall=0.62, abstained=0.3, unsupported=0.0, p95_ms=40
    )
    alarm = Alarm(signal="recall", window=3, since=2, value=0.6, usual=0.9, grade="critical")
    done = Refreshed(at=at, window=3, why="", lesson=Lesson(accepted=True, reason=""))
    for what in (window, alarm, done):
        for listener in doxa.parts.drifts:
            listener(what)
    with Browser(app, "http://localhost") as one:
        numbers = one.get("/metrics").text
    assert 'doxa_drift_recall_bucket{le="0.6"} 0.0' in numbers and 'doxa_drift_recall_bucket{le="0.65"} 1.0' in numbers
    assert 'doxa_drift_alarms_total{grade="critical",signal="recall"} 1.0' in numbers
    assert 'doxa_drift_refreshes_total{weights="new"} 1.0' in numbers
    assert "doxa_drift_disagreement_count 0.0" in numbers


def test_turns_that_were_not_processed_in_full_lead_to_why(ana, doxa, failing):
    failing("the <b>model</b> is away")
    for number in range(health.LESSER + 2):
        doxa.dialogue(user="ana").absorb("I live in Porto.", turn_id=f"t{number}")
    doxa.flush()
    page = ana.page("health")
    assert "the <b>model</b>" not in page and "the &lt;b&gt;model&lt;/b&gt; is away" in page
    assert "/inspect/why?turn=t21" in page and "turn=t1&" not in page
    further = re.search(r'href="([^"]*lesser=[^"]+)"', page)[1].replace("&amp;", "&")
    assert re.findall(r"why\?turn=(t\d+)", ana.get(further).text) == ["t1", "t0"]


def test_settings_that_leave_a_model_out_are_told_as_doctor_does(ana):
    page = ana.page("health")
    assert "all that is read is believed" in page and "export DOXA_LLM=openai:NAME" in page


def test_the_check_up_uses_the_models(ana):
    page = ana.page("health/checkup")
    assert "loaded and one text encoded" in page


def test_a_key_without_admin_does_not_learn_where_the_database_is(browser, keys):
    one = browser(rate=0)
    _, secret = keys.add(users=["ana"], rights=["read"])
    one.submit("enter", key=secret)
    page = one.page("health")
    assert tile(page, "Database") == "sqlite" and "format m" not in page
    assert "health/checkup" not in page and "health/forget" not in page
    assert one.get("/inspect/health/checkup").status_code == 403


@pytest.mark.parametrize("format", ["jsonl", "turtle", "nquads", "jsonld", "markdown"])
def test_a_memory_is_given_as_a_file(ana, told, format):
    told("I live in Porto.")
    response = ana.get("/inspect/health/export", params={"format": format})
    assert response.status_code == 200 and "Porto" in response.text
    assert response.headers["content-disposition"].startswith("attachment")


def test_the_file_is_that_of_the_api(ana, told):
    told("I live in Porto.")
    ours, theirs = (
        ana.get(path, headers={"Doxa-User": "ana"}).text for path in ("/inspect/health/export", "/v1/memory/export")
    )
    rows = [[json.loads(line) for line in text.splitlines()] for text in (ours, theirs)]
    assert rows[0][1:] == rows[1][1:] and len(rows[0]) > 1


@pytest.mark.parametrize("path", ["health?lesser=x", "health/export?format=exe"])
def test_parameters_that_do_not_fit_are_refused(ana, path):
    assert ana.get(f"/inspect/{path}").status_code == 400


def test_nobody_sees_the_health_of_another_memory(browser, keys, told):
    told("I live in Porto.")
    one = browser(rate=0)
    _, secret = keys.add(users=["bo"], rights=["read"])
    one.submit("enter", key=secret)
    for path in ("health", "health/forget", "health/preview", "health/export"):
        assert one.get(f"/inspect/{path}?user=ana&everything=1").status_code == 403
    assert "Porto" not in one.get("/inspect/health/export").text


def test_memories_are_listed_with_their_sizes(ana, told, monkeypatch):
    monkeypatch.setattr(health, "USERS", 2)
    told("One.", "Two.", user="ana")
    told("One.", user="bo")
    told("One.", user=HOSTILE[0])
    page = ana.page("users")
    assert HOSTILE[0] not in page and "&lt;script&gt;" in page and "Further" in page
    last = ana.page("users", after="ana")
    assert re.findall(r'<td class="num">(\d+)</td>', last) == ["1"]


def test_a_key_of_one_user_sees_no_other_name(browser, keys, told):
    told("One.", user="bo")
    one = browser(rate=0)
    _, secret = keys.add(users=["ana"], rights=["read"])
    one.submit("enter", key=secret)
    page = one.page("users")
    assert ">ana<" in page and ">bo<" not in page


@pytest.mark.parametrize(
    ("count", "said"), [(None, ""), (0, "0 B"), (999, "999 B"), (1_000_000, "1.0 MB"), (3 * 10**15, "3000.0 TB")]
)
def test_sizes_are_told_in_units(count, said):
    assert health.size_of(count) == said


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (61, "1 min 1 s"), (90_000, "1 d 1 h")])
def test_times_are_told_in_two_units(seconds, said):
    assert health.duration(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.21, "0.2 ms"), (12.3, "12 ms"), (2500.0, "2.5 s"), (float("inf"), "longer than 30 s")]
)
def test_speeds_are_told_in_units(value, said):
    assert health.ms(value) == said


def test_where_the_system_tells_nothing_there_is_no_tile(ana, monkeypatch, tmp_path):
    monkeypatch.setattr(health, "RESIDENT", tmp_path / "nothing")
    assert "Memory of the process" not in ana.page("health")
