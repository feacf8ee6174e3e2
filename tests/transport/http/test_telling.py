"""Spans of the steps, and lines of the log: what the server tells of itself, and to which request it belongs."""

import logging
from hashlib import sha256

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from doxa.core.access import pseudonym
from doxa.core.errors import BackendError
from doxa.core.trace import Step, Trace
from doxa.transport.http import telling

WORDS = "I live in Reykjavik."
SAID = {"model": "doxa", "messages": [{"role": "user", "content": WORDS}]}


@pytest.fixture
def exporter(monkeypatch):
    """What is told of spans; the provider of the process stays as it is, since it can be set but once."""
    kept, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(telling, "tracer", provider.get_tracer("doxa"))
    yield kept
    provider.shutdown()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memory/ask", {"text": "Where do I live?"}),
        ("/v1/memory/respond", {"text": WORDS}),
        ("/openai/v1/chat/completions", SAID),
        ("/openai/v1/responses", {"model": "doxa", "input": WORDS}),
    ],
    ids=["ask", "respond", "chat completions", "responses"],
)
def test_the_steps_of_a_reply_are_spans_of_one_trace(ana, exporter, path, body):
    """Each is a child of the span of the whole, lies within it, and holds no words."""
    assert ana.post(path, json=body).status_code == 200
    *steps, whole = exporter.get_finished_spans()
    assert whole.name == "doxa.reply" and whole.parent is None and steps
    assert {step.parent.span_id for step in steps} == {whole.context.span_id}
    assert all(whole.start_time <= step.start_time <= step.end_time <= whole.end_time for step in steps)
    assert "doxa.recall" in {step.name for step in steps}
    kinds = {type(value) for span in (*steps, whole) for value in span.attributes.values()}
    assert kinds <= {bool, int, float}


def test_a_step_on_a_lesser_path_is_marked(exporter):
    """Its numbers are attributes of the span, and its words are not."""
    detail = {"found": 3, "said": WORDS}
    telling.spans("doxa.reply", Trace(steps=(Step(name="recall", ms=2.0, degraded="no model", detail=detail),)))
    recall, whole = exporter.get_finished_spans()
    assert dict(recall.attributes) == {"doxa.degraded": True, "doxa.found": 3}
    assert recall.end_time - recall.start_time == 2_000_000 and recall.end_time <= whole.end_time


@pytest.fixture
def logged(capsys):
    """Write the log in a style, and read what was written so far."""

    def to(style):
        telling.log_to(style)
        return lambda: capsys.readouterr().err

    yield to
    logging.getLogger("doxa").handlers.clear()
    logging.getLogger("doxa").propagate = True
    logging.getLogger("doxa").setLevel(logging.NOTSET)


@pytest.mark.parametrize("style", ["text", "json"])
def test_warnings_name_the_request_that_they_belong_to(ana, doxa, monkeypatch, logged, style):
    """Also those that a thread of the engine writes while it answers; names of users are in none of them."""
    engine, read = logging.getLogger("doxa.engine.answer.respond"), logged(style)

    def check(*_, **__):
        engine.warning("search for user %s: the model is away", pseudonym("default/ana"))
        raise BackendError("the model is away")

    monkeypatch.setattr(doxa, "receive", check)
    ana.post("/v1/memory/turns", json={"turns": [{"text": WORDS}]}, headers={"X-Request-Id": "abc-1"})
    engine.warning("nobody asked for this")
    ours = ("the model is away", "/v1/memory/turns", "nobody asked")
    warning, request, other = (line for line in read().splitlines() if any(part in line for part in ours))
    assert "abc-1" in warning and "abc-1" in request and "abc-1" not in other
    assert "the model is away" in warning and "ana" not in warning


def test_a_pseudonym_is_found_by_who_knows_the_name():
    """As the manual says: `printf %s default/ana | sha256sum`."""
    assert pseudonym("default/ana") == sha256(b"default/ana").hexdigest()[:12] != pseudonym("other/ana")


def test_speeds_are_read_off_the_histogram():
    """Within a bucket they are taken for evenly spread; what is slower than the last bound has no number."""
    numbers = telling.Numbers()
    numbers.seconds.labels("GET", "/a").observe(0.004)
    for seconds in (0.02, 0.02, 0.02, 100.0):
        numbers.seconds.labels("GET", "/b").observe(seconds)
    most, least = numbers.requests()
    assert (most.name, most.count, least.name, least.count) == ("GET /b", 4, "GET /a", 1)
    assert most.p50_ms == pytest.approx(10 + 15 * 2 / 3) and most.p95_ms == float("inf")
    assert 2.5 < least.p50_ms < least.p95_ms < 5


def test_a_server_that_was_asked_nothing_has_no_speeds():
    numbers = telling.Numbers()
    assert numbers.requests() == numbers.steps_taken() == [] and numbers.lesser() == {} and numbers.uptime_s() >= 0


def test_what_models_cost_is_counted_by_step():
    numbers, detail = telling.Numbers(), {"calls": 2, "prompt_tokens": 10, "completion_tokens": 3}
    numbers.count(Trace((Step(name="reason", ms=1.0, detail=detail), Step(name="recall", ms=1.0))))
    numbers.count(Trace((Step(name="reason", ms=1.0, detail={"judge_prompt_tokens": 5}),)))
    (spent,) = numbers.spending()
    assert (spent.step, spent.calls, spent.prompt_tokens, spent.completion_tokens) == ("reason", 2, 15, 3)
