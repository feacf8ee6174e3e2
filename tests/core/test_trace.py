"""Steps of a call, as they end."""

import pytest

from doxa.core.trace import Tracer, watched


def test_steps_are_told_as_they_end():
    """Each is told with what came out, in order, and the trace has them as well."""
    told = []
    with watched(told.append):
        tracer = Tracer()
        with tracer.step("first") as note:
            note["found"] = 2
        assert [step.name for step in told] == ["first"]
        with tracer.step("second") as note:
            note["degraded"] = "no model"
    assert tuple(told) == tracer.trace().steps
    assert (told[0].detail, told[1].degraded) == ({"found": 2}, "no model")


def test_a_step_that_fails_is_told_as_well():
    """It ended, and what it raised goes on."""
    told = []
    with watched(told.append), pytest.raises(KeyError), Tracer().step("first"):
        raise KeyError("x")
    assert [step.name for step in told] == ["first"]


def test_nobody_hears_of_calls_outside_of_the_block():
    """Watching ends with its block."""
    told = []
    with watched(told.append):
        pass
    with Tracer().step("first"):
        pass
    assert told == []
