"""An engine whose encoder needs no model, so that these tests are about the engine."""

import pytest

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.engine import Doxa


@pytest.fixture(autouse=True)
def unlearned(monkeypatch):
    """What tells concepts by vectors is learned once a process for an encoder; here every test begins without."""
    monkeypatch.setattr("doxa.recall.concepts.concepts._LEARNED", {})


@pytest.fixture
def config():
    """Settings that read neither file nor environment."""
    return Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10))


@pytest.fixture
def doxa(config):
    """An engine in memory."""
    with Doxa.open(":memory:", config=config) as engine:
        yield engine
