"""Engines whose encoder needs no model and that nothing grades, so that these tests are about the integrations."""

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


@pytest.fixture
def doxa():
    """An engine in memory."""
    with Doxa.open(":memory:", config=LIGHT) as engine:
        yield engine


@pytest.fixture(scope="module")
def shared():
    """An engine in memory for tests that use it as a user of their own."""
    with Doxa.open(":memory:", config=LIGHT) as engine:
        yield engine
