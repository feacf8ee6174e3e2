"""What the server tells of itself: a line for each request, numbers for Prometheus, spans for OpenTelemetry.

Nothing that anybody said, no user's name and no secret is in any of them.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from opentelemetry import trace as otel
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.core.drift import Alarm, Refreshed, Window
from doxa.core.trace import Step, Trace
from doxa.transport.measures import Speed, Spending

__all__ = ["METHODS", "Numbers", "Telling", "declared", "log_to", "spans"]

REQUEST_ID = "X-Request-Id"
SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""Headers of every answer that does not set them: what is remembered is nobody's to keep on the way."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FIELDS = ("request_id", "method", "path", "status", "ms", "key_id", "tenant")
"""What a line of the log may say beside its message."""
NS_PER_MS = 1_000_000
SHARES = tuple(step / 20 for step in range(1, 21))
"""Where shares are told apart: the thresholds of appendix B.5, 0.60 and 0.65, are among them."""
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Where speeds are told apart: search takes milliseconds, and a model seconds."""

logger = logging.getLogger("doxa.server")
tracer = otel.get_tracer("doxa")
_REQUEST: ContextVar[str | None] = ContextVar("doxa_request", default=None)
"""The id of the request that is being answered; threads that work for it have it too."""


class Numbers:
    """The metrics of one server."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, of when it began, which nobody reads
        self.registry = CollectorRegistry()
        self._started = time.monotonic()
        self.seconds = Histogram(
            "doxa_request_seconds", "Time to answer a request.", ["method", "path"], registry=self.registry,
            buckets=BUCKETS_S,
        )  # fmt: skip
        self.answered = Counter(
            "doxa_requests", "Requests answered, by status.", ["method", "path", "status"], registry=self.registry
        )
        self.under_way = Gauge("doxa_requests_under_way", "Requests that are worked on.", registry=self.registry)
        self.steps = Histogram(
            "doxa_step_seconds", "Time of a step of the method.", ["step"], registry=self.registry, buckets=BUCKETS_S
        )
        self.degraded = Counter(
            "doxa_degraded_steps", "Steps that ran on a lesser path.", ["step"], registry=self.registry
        )
        self.calls = Counter(
            "doxa_model_calls", "Calls to a language model, as far as a step tells.", ["step"], registry=self.registry
        )
        self.tokens = Counter(
            "doxa_model_tokens", "Tokens of prompts and of answers.", ["step", "of"], registry=self.registry
        )
        self.windows = {
            name: Histogram(f"doxa_drift_{name}", said, registry=self.registry, buckets=buckets)
            for name, said, buckets in (
                ("recall", "Recall@10 of the questions of a window that closed.", SHARES),
                ("disagreement", "How far the views were apart in it.", SHARES),
                ("abstained", "The share of its questions without an answer.", SHARES),
                ("p95_seconds", "The 95th percentile of its searches.", BUCKETS_S),
            )
        }
        self.alarms = Counter(
            "doxa_drift_alarms", "Alarms that search drifts for a user.", ["signal", "grade"], registry=self.registry
        )
        self.refreshes = Counter(
            "doxa_drift_refreshes", "Refreshes of what was learned.", ["weights"], registry=self.registry
        )

    def count(self, trace: Trace) -> None:
        """Count the steps of a trace."""
        for step in trace.steps:
            self.steps.labels(step.name).observe(step.ms / 1000)
            if step.degraded:
                self.degraded.labels(step.name).inc()
            self._count_cost(step)

    def drifted(self, what: Window | Alarm | Refreshed) -> None:
        """Count a window of questions that closed, an alarm, or a refresh."""
        match what:
            case Window():
                told = {"recall": (what.judged, what.recall), "disagreement": (what.compared, what.disagreement)}
                told |= {"abstained": (what.asked, what.abstained), "p95_seconds": (what.asked, what.p95_ms / 1000)}
                for name, (known, value) in told.items():
                    if known:
                        self.windows[name].observe(value)
            case Alarm():
                self.alarms.labels(what.signal, what.grade).inc()
            case Refreshed():
                self.refreshes.labels("new" if what.lesson.accepted else "kept").inc()

    def _count_cost(self, step: Step) -> None:
        prompt, answer = (
            sum(step.detail.get(f"{whose}{kind}_tokens", 0) for whose in ("", "judge_"))
            for kind in ("prompt", "completion")
        )
        if prompt or answer:
            self.calls.labels(step.name).inc(step.detail.get("calls", 0))
            self.tokens.labels(step.name, "prompts").inc(prompt)
            self.tokens.labels(step.name, "answers").inc(answer)

    def uptime_s(self) -> float:
        """Return for how many seconds the server has run."""
        return time.monotonic() - self._started

    def requests(self) -> list[Speed]:
        """Return how long requests took, those asked most first. Cost: O(paths)."""
        return sorted(_speeds(self.seconds), key=lambda one: -one.count)

    def steps_taken(self) -> list[Speed]:
        """Return how long the steps of answers took."""
        return _speeds(self.steps)

    def lesser(self) -> dict[str, int]:
        """Return how many times which step ran on a lesser path."""
        return {labels["step"]: int(value) for labels, value in _totals(self.degraded)}

    def spending(self) -> list[Spending]:
        """Return what the steps of answers asked of language models."""
        tokens = {(labels["step"], labels["of"]): int(value) for labels, value in _totals(self.tokens)}
        return [
            Spending(
                step=labels["step"],
                calls=int(value),
                prompt_tokens=tokens.get((labels["step"], "prompts"), 0),
                completion_tokens=tokens.get((labels["step"], "answers"), 0),
            )
            for labels, value in _totals(self.calls)
        ]


def _totals(counter: Counter) -> Iterator[tuple[Mapping[str, str], float]]:
    for metric in counter.collect():
        yield from ((one.labels, one.value) for one in metric.samples if one.name.endswith("_total"))


def _speeds(histogram: Histogram) -> list[Speed]:
    """Return the speeds of a histogram, by the labels of its series."""
    series: dict[str, list[tuple[float, float]]] = {}
    for metric in histogram.collect():
        for one in metric.samples:
            if one.name.endswith("_bucket"):
                name = " ".join(value for key, value in one.labels.items() if key != "le")
                series.setdefault(name, []).append((float(one.labels["le"]), one.value))
    return [
        Speed(name=name, count=int(found[-1][1]), p50_ms=_quantile(found, 0.5), p95_ms=_quantile(found, 0.95))
        for name, found in series.items()
    ]


def _quantile(buckets: Sequence[tuple[float, float]], share: float) -> float:
    """Return a quantile in milliseconds, taking what is in a bucket for evenly spread, as Prometheus does.

    Args:
        buckets: upper bound in seconds, and how many took no longer, in ascending order; the last bound is infinite.
        share: 0 to 1.
    """
    wanted, low, before = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= wanted and count > before:
            return 1000 * (bound if math.isinf(bound) else low + (bound - low) * (wanted - before) / (count - before))
        low, before = bound, count
    return 0.0


class Telling:
    """An ASGI application in front of another that gives each request an id and tells what became of it.

    Args:
        app: the other one.
        numbers: where it is counted.
    """

    def __init__(self, app: ASGIApp, *, numbers: Numbers) -> None:
        self._app = app
        self._numbers = numbers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if SANE_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault(REQUEST_ID, request_id)  # an answer that is relayed has one
                for name, value in SAFE.items():
                    headers.setdefault(name, value)
            await send(message)

        self._numbers.under_way.inc()
        token = _REQUEST.set(request_id)
        try:
            await self._app(scope, receive, noted)
        finally:
            self._numbers.under_way.dec()
            self._tell(scope, request_id, status, time.perf_counter() - started)
            _REQUEST.reset(token)

    def _tell(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        # The path as it is declared: one with ids in it would be a new series for each of them, and say too much.
        path = getattr(declared(scope), "path_format", None) or "(none)"
        method = scope["method"] if scope["method"] in METHODS else "(other)"
        self._numbers.seconds.labels(method, path).observe(seconds)
        self._numbers.answered.labels(method, path, str(status)).inc()
        about = {
            "request_id": request_id,
            "method": method,
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key_id": scope["state"].get("key_id"),
            "tenant": scope["state"].get("tenant"),
        }
        logger.info("%s %s %d", method, path, status, extra=about)


def declared(scope: Scope) -> Any:
    """Return the route of a request as it is declared, with the prefixes of routers around it; None where none fits.

    FastAPI keeps a route of an included router as it was written, and the whole of it beside it.
    """
    return scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")


def spans(name: str, trace: Trace) -> None:
    """Tell the steps of a finished trace as spans, one after the other and the last one ending now."""
    end = time.time_ns()
    at = end - sum(_ns(step) for step in trace.steps)
    whole = tracer.start_span(name, start_time=at)
    with otel.use_span(whole, end_on_exit=False):
        for step in trace.steps:
            span = tracer.start_span(f"doxa.{step.name}", start_time=at)
            if step.degraded:
                span.set_attribute("doxa.degraded", True)
            for key, value in step.detail.items():
                if isinstance(value, bool | int | float):  # words may be those of somebody
                    span.set_attribute(f"doxa.{key}", value)
            at += _ns(step)
            span.end(end_time=at)
    whole.end(end_time=end)


def _ns(step: Step) -> int:
    return round(step.ms * NS_PER_MS)


class _Asked(logging.Filter):
    """Gives each record the id of the request that is being answered, where it has none."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id") and (request_id := _REQUEST.get()) is not None:
            record.request_id = request_id
        return True


class _Lines(logging.Formatter):
    """One line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


class _Words(logging.Formatter):
    """One line for people."""

    def format(self, record: logging.LogRecord) -> str:
        said = [f"{self.formatTime(record, '%H:%M:%S')} {record.getMessage()}"]
        if (ms := getattr(record, "ms", None)) is not None:
            said.append(f"{ms} ms")
        if request_id := getattr(record, "request_id", None):
            said.append(request_id)
        line = "  ".join(said)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def log_to(style: str, *, quiet: bool = False) -> None:
    """Write the log to standard error, as `text` or as `json`; when quiet, only what went wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Asked())
    handler.setFormatter(_Lines() if style == "json" else _Words())
    root = logging.getLogger("doxa")
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING if quiet else logging.INFO)
    root.propagate = False
