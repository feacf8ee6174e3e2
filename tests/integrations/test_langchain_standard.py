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

from doxa.integrations.langchain import (
    DoxaByteStore,
    DoxaForget,
    DoxaRecall,
    DoxaRemember,
    DoxaRetriever,
    DoxaWhy,
)

SAID = ("I live in Rome.", "I have two cats.", "I work at Mareluz.", "I am allergic to walnuts.")


@pytest.fixture
def place(request, shared):
    """The engine and a user whom no other test has: what every class here is made with."""
    return {"doxa": shared, "user": request.node.nodeid}


class Told:
    """A memory that knows something, for the suites that need one."""

    @pytest.fixture(autouse=True)
    def _told(self, place):
        self.place = place
        talk = place["doxa"].dialogue(user=place["user"], session="s", speaker="Ana")
        for at, text in enumerate(SAID):
            talk.absorb(text, turn_id=f"t{at}")


class TestRetriever(Told, RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return DoxaRetriever

    @property
    def retriever_constructor_params(self):
        return self.place

    @property
    def retriever_query_example(self):
        return "Where do I live, and with how many cats?"


class TestByteStore(BaseStoreSyncTests[bytes]):
    @pytest.fixture
    def kv_store(self, place):
        return DoxaByteStore(**place)

    @pytest.fixture
    def three_values(self):
        return b"foo", b"\x00\xff", b""


class TestByteStoreAsync(BaseStoreAsyncTests[bytes]):
    @pytest.fixture
    async def kv_store(self, place):
        return DoxaByteStore(**place)

    @pytest.fixture
    def three_values(self):
        return b"foo", b"\x00\xff", b""


class OfATool(Told):
    """What the suites ask of every tool."""

    tool_kind, example = DoxaRecall, {"query": "cats"}

    @property
    def tool_constructor(self):
        return self.tool_kind

    @property
    def tool_constructor_params(self):
        return self.place

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
        return {"fact_id": self.place["doxa"].memory(user=self.place["user"]).facts()[0].fact_id}


class TestWhyUnit(OfWhy, ToolsUnitTests):
    pass


class TestWhy(OfWhy, ToolsIntegrationTests):
    pass
