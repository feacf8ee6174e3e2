"""Who is told of changes, and how much of that is kept."""

from types import SimpleNamespace

import anyio
import pytest
from mcp.server.subscriptions import ResourceUpdated
from mcp.types import SubscribeRequestParams

from doxa.transport.mcp import feeds
from doxa.transport.mcp.feeds import Feeds
from doxa.transport.mcp.rooms import entered

from .conftest import room


class Session:
    """A session that keeps what it is told."""

    def __init__(self):
        self.told = []

    async def send_resource_updated(self, uri):
        self.told.append(uri)


@pytest.fixture
def told():
    """Which of some addresses a session is told of that subscribed to all of them, when each of them changes."""

    def found(uris):
        bus, session = Feeds(), Session()

        async def run():
            context = SimpleNamespace(request=None, session=session)
            with entered(room(None)):
                for uri in uris:
                    await bus.on_subscribe(context, SubscribeRequestParams(uri=uri))
                for uri in uris:
                    await bus.publish(ResourceUpdated(uri=uri))

        anyio.run(run)
        return session.told

    return found


def test_an_address_that_is_too_long_is_not_kept(told):
    """Nothing that changes has such a name, and a client could fill the memory of the server with them."""
    fits, too_long = "doxa://" + "x" * (feeds.LONGEST - 7), "doxa://" + "x" * feeds.LONGEST
    assert told([fits, too_long]) == [fits]


def test_of_too_many_subscriptions_the_first_is_forgotten(told, monkeypatch):
    """The latest are kept."""
    monkeypatch.setattr(feeds, "MOST", 2)
    assert told(["doxa://a", "doxa://b", "doxa://c"]) == ["doxa://b", "doxa://c"]
