"""Engines whose encoder needs no model and that nothing grades, so that these tests are about the integrations."""

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


@pytest.fixture(scope="module")
def shared():
    """An engine in memory for tests that use it as a user of their own."""
    with Doxa.open(":memory:", config=LIGHT) as engine:
        yield engine


@pytest.fixture
def doxa(shared, request):
    """An engine in memory, a tenant of its own: as good as a new one, and nothing is opened for it."""
    return shared.tenant(request.node.name)
