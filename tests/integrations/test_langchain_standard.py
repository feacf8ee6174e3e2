"""The standard tests that LangChain publishes for whoever implements its contracts, as they are."""

import pytest

pytest.importorskip("langchain_tests")

from langchain_tests.integration_tests import (
    BaseStoreAsyncTests,
    BaseStoreSyncTests,
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.integrations.langchain import (
    DoxaByteStore,
    DoxaForget,
    DoxaRecall,
    DoxaRemember,
    DoxaRetriever,
    DoxaWhy,
)

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
SAID = ("I live in Rome.", "I have two cats.", "I work at Mareluz.", "I am allergic to walnuts.")


@pytest.fixture(autouse=True)
def told(request, doxa):
    """A memory that knows something, for the suites that need one; it forgets it after each test."""
    talk = doxa.dialogue(user="ana", session="s")
    for at, text in enumerate(SAID):
        talk.absorb(text, turn_id=f"t{at}")
    doxa.flush()
    if request.instance is not None:
        request.instance.doxa = doxa


@pytest.fixture
def doxa():
    """An engine in memory."""
    with Doxa.open(":memory:", config=LIGHT) as engine:
        yield engine


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return DoxaRetriever

    @property
    def retriever_constructor_params(self):
        return {"doxa": self.doxa, "user": "ana"}

    @property
    def retriever_query_example(self):
        return "Where do I live, and with how many cats?"


class TestByteStore(BaseStoreSyncTests[bytes]):
    @pytest.fixture
    def kv_store(self, doxa):
        return DoxaByteStore(doxa, user="ana")

    @pytest.fixture
    def three_values(self):
        return b"foo", b"\x00\xff", b""


class TestByteStoreAsync(BaseStoreAsyncTests[bytes]):
    @pytest.fixture
    async def kv_store(self, doxa):
        return DoxaByteStore(doxa, user="ana")

    @pytest.fixture
    def three_values(self):
        return b"foo", b"\x00\xff", b""


class OfATool:
    """What the suites ask of every tool."""

    tool_kind, example = DoxaRecall, {"query": "cats"}

    @property
    def tool_constructor(self):
        return self.tool_kind

    @property
    def tool_constructor_params(self):
        return {"doxa": self.doxa, "user": "ana"}

    @property
    def tool_invoke_params_example(self):
        return self.example


class TestRecallUnit(OfATool, ToolsUnitTests):
    pass


class TestRecall(OfATool, ToolsIntegrationTests):
    pass


class TestRememberUnit(OfATool, ToolsUnitTests):
    tool_kind, example = DoxaRemember, {"text": "I moved to Paris."}


class TestRemember(OfATool, ToolsIntegrationTests):
    tool_kind, example = DoxaRemember, {"text": "I moved to Paris."}


class TestForgetUnit(OfATool, ToolsUnitTests):
    tool_kind, example = DoxaForget, {"turn_ids": ["t1"]}


class TestForget(OfATool, ToolsIntegrationTests):
    tool_kind, example = DoxaForget, {"turn_ids": ["t1"]}


class OfWhy(OfATool):
    """A fact that is believed, to explain."""

    tool_kind = DoxaWhy

    @property
    def example(self):
        return {"fact_id": self.doxa.memory(user="ana").facts()[0].fact_id}


class TestWhyUnit(OfWhy, ToolsUnitTests):
    pass


class TestWhy(OfWhy, ToolsIntegrationTests):
    pass
