"""Asking a model for objects: failures are values, calls go out together, and a budget holds."""

import json
import threading
import time
from dataclasses import replace
from itertools import repeat

import pytest

from doxa.backends.llm import Budget, Completion, Message, Request, Usage, ask, ask_together, posed
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.errors import BackendReplyError, BackendUnavailableError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
ONE = Request(messages=posed("Count.", "1"), schema=SCHEMA, max_tokens=10)
REFUSED = Completion(text="no", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0)
CUT_OFF = replace(REFUSED, text='{"n": 1}', refused=False, truncated=True)
PLENTY = {"calls": 100, "tokens": 100_000, "seconds": 60.0}


def numbered(request):
    """Answer with the number that the message asks for."""
    return json.dumps({"n": int(request.messages[1].content)})


def requests(count):
    """Return requests for the numbers from 0."""
    return [Request(messages=posed("Count.", str(n)), schema=SCHEMA, max_tokens=10) for n in range(count)]


def test_what_was_asked_for_comes_back_with_its_cost():
    answered = ask(ScriptedModel([numbered]), ONE)
    assert answered.parsed == {"n": 1} and answered.usage.calls == 1 and not answered.failed


def test_posed_messages_begin_with_what_all_calls_share():
    first, *rest = posed("All of it.", "one", "two")
    assert first == Message(role="system", content="All of it.")
    assert [(message.role, message.content) for message in rest] == [("user", "one"), ("user", "two")]


@pytest.mark.parametrize(
    ("reply", "reason", "calls"),
    [
        (BackendUnavailableError("it is away"), "it is away", 1),
        (BackendReplyError("prose", reply="Well"), "prose", 2),
        (
            Completion(text="no", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0),
            "refus",
            1,
        ),
        (
            Completion(text='{"n": 1}', parsed=None, refused=False, truncated=True, usage=Usage(calls=1), seconds=0),
            "raise the setting reason.max_tokens",
            1,
        ),
    ],
    ids=["away", "unusable", "refused", "cut off"],
)
def test_a_failure_is_a_value_and_its_calls_count(reply, reason, calls):
    answered = ask(ScriptedModel([reply]), ONE, setting="reason.max_tokens")
    assert reason in answered.failed and not answered.parsed and answered.usage.calls == calls


def test_answers_keep_the_order_of_requests_whatever_comes_first():
    def late(request):
        n = int(request.messages[1].content)
        time.sleep(0.03 * (4 - n))
        return json.dumps({"n": n})

    answers = ask_together(ScriptedModel(repeat(late)), requests(5), budget=Budget(**PLENTY), parallel=5)
    assert [answered.parsed["n"] for answered in answers] == list(range(5))


@pytest.mark.parametrize("parallel", [1, 3])
def test_no_more_calls_are_under_way_than_allowed(parallel):
    under_way, most, guard = 0, 0, threading.Lock()

    def counting(request):
        nonlocal under_way, most
        with guard:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with guard:
            under_way -= 1
        return numbered(request)

    answers = ask_together(ScriptedModel(repeat(counting)), requests(7), budget=Budget(**PLENTY), parallel=parallel)
    assert all(not answered.failed for answered in answers) and most == parallel


def test_one_failed_call_leaves_the_others_alone():
    def second_fails(request):
        if request.messages[1].content == "1":
            raise BackendUnavailableError("it is away")
        return numbered(request)

    answers = ask_together(ScriptedModel(repeat(second_fails)), requests(3), budget=Budget(**PLENTY), parallel=3)
    assert [bool(answered.failed) for answered in answers] == [False, True, False]


def test_calls_beyond_the_budget_are_not_made():
    model, budget = ScriptedModel(repeat(numbered)), Budget(calls=2, tokens=10_000, seconds=60)
    answers = ask_together(model, requests(4), budget=budget, parallel=4)
    assert [answered.failed[:26] for answered in answers] == ["", "", *["the budget of 2 calls is s"] * 2]
    assert len(model.requests) == 2 and budget.usage.calls == 2


def test_tokens_are_set_aside_before_a_call_and_settled_after_it():
    model = ScriptedModel(repeat(numbered))
    budget = Budget(calls=9, tokens=80, seconds=60)
    answers = ask_together(model, requests(4), budget=budget, parallel=4)
    asked = sum(not answered.failed for answered in answers)
    assert 0 < asked < 4 and "80 tokens" in answers[-1].failed
    spent = budget.usage.prompt_tokens + budget.usage.completion_tokens
    assert spent == sum(a.usage.prompt_tokens + a.usage.completion_tokens for a in answers) <= 80


def test_a_part_of_a_budget_spends_the_same_money_and_leaves_the_rest():
    model, whole = ScriptedModel(repeat(numbered)), Budget(calls=3, tokens=10_000, seconds=60)
    answers = ask_together(model, requests(3), budget=whole.less(calls=1), parallel=3)
    assert [bool(answered.failed) for answered in answers] == [False, False, True]
    (last,) = ask_together(model, requests(1), budget=whole, parallel=1)
    assert not last.failed and whole.usage.calls == 3


def test_what_stalls_beyond_the_seconds_is_not_waited_for():
    held = threading.Event()

    def stalls(request):
        if request.messages[1].content == "1":
            held.wait(20)
        return numbered(request)

    budget = Budget(calls=9, tokens=10_000, seconds=0.3)
    start = time.perf_counter()
    answers = ask_together(ScriptedModel(repeat(stalls)), requests(3), budget=budget, parallel=2)
    took = time.perf_counter() - start
    held.set()
    assert took < 5
    assert [answered.parsed.get("n") for answered in answers] == [0, None, 2] and "in time" not in answers[0].failed
    assert "seconds" in answers[1].failed
