"""The server at /mcp of the HTTP application: keys, sessions, profiles, notices."""

import json
import threading
import time
from contextlib import AsyncExitStack

import anyio
import httpx2
import pytest
from mcp import MCPError
from mcp.types import ElicitResult

from doxa.core.config import ServerConfig
from doxa.engine import Keys
from doxa.transport.http import application

from .conftest import MODES, accept, listening, over_http

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
GRAPH = "memory://knowledge-graph"
ENTITY = {"name": "X", "entityType": "thing", "observations": []}
ACCEPTS = {"Accept": "application/json, text/event-stream"}


def key(doxa, *users, rights=("read", "write", "erase")):
    return Keys(doxa).add(users=users, rights=rights)[1]


def bearer(secret, **more):
    return {**ACCEPTS, "Authorization": f"Bearer {secret}", **more}


@MODES
def test_each_key_reaches_the_memory_of_its_user_alone(served, doxa, mode):
    """Two clients at once remember, recall, explain and erase, and neither sees anything of the other."""
    secrets = {"ana": key(doxa, "ana"), "bo": key(doxa, "bo")}

    async def run():
        async with (
            over_http(f"{served}/mcp", secrets["ana"], mode) as ana,
            over_http(f"{served}/mcp", secrets["bo"], mode) as bo,
        ):
            await ana.call("remember", text="I live in Porto.", id="t1")
            await bo.call("remember", text="I live in Bonn.", id="t1")
            for host, place in ((ana, "Porto"), (bo, "Bonn")):
                out = await host.call("recall", query="Where do I live?")
                assert out["answer"]["value"] == place and len(out["quotes"]) == 1
            fact = (await ana.call("recall", query="Porto"))["facts"][0]["id"]
            assert fact in await bo.fails("why", id=fact)
            (content,) = (await bo.client.read_resource("doxa://summary")).contents
            assert "Porto" not in content.text
            await bo.call("forget", everything=True, confirm="erase everything")
            assert len((await ana.call("recall", query="Porto"))["quotes"]) == 1

    anyio.run(run)


@MODES
def test_the_user_is_asked_over_http(served, doxa, mode):
    """A question reaches the user in the middle of a call, in either revision."""

    async def run():
        async with over_http(f"{served}/mcp", key(doxa, "ana"), mode, accept(erase=True)) as host:
            await host.call("remember", text="I live in Porto.")
            assert (await host.call("forget", everything=True))["erased"]
            assert len(host.asked) == 1

    anyio.run(run)


def test_an_answer_counts_only_for_the_call_and_the_key_that_asked(served, doxa):
    """What travels with a question cannot be made up, used for another call, or used with another key."""
    doxa.dialogue(user="bo").absorb("I live in Bonn.")
    everything = {"everything": True}
    yes = {"answer": ElicitResult(action="accept", content={"erase": True})}

    async def run():
        async with (
            over_http(f"{served}/mcp", key(doxa, "ana"), "auto", accept(erase=True)) as ana,
            over_http(f"{served}/mcp", key(doxa, "bo"), "auto", accept(erase=True)) as bo,
        ):
            await ana.call("remember", text="I live in Porto.")
            asked = await ana.client.session.call_tool("forget", everything, allow_input_required=True)
            state = asked.request_state
            for host, arguments, sent in (
                (bo, everything, state),
                (ana, {"everything": True, "confirm": "x"}, state),
                (ana, everything, state[:-4] + "AAAA"),
            ):
                with pytest.raises(MCPError, match="requestState"):
                    await host.client.session.call_tool(
                        "forget", arguments, input_responses=yes, request_state=sent, allow_input_required=True
                    )
            # An answer without the question is asked once more.
            again = await bo.client.session.call_tool(
                "forget", everything, input_responses=yes, allow_input_required=True
            )
            assert again.input_requests

    anyio.run(run)
    assert len(doxa.memory(user="ana").turns()) == len(doxa.memory(user="bo").turns()) == 1


@pytest.mark.parametrize(
    ("path", "tool"), [("/mcp", "remember"), ("/mcp/reference", "read_graph"), ("/mcp/mem0", "list_entities")]
)
def test_a_path_chooses_the_profile(served, doxa, path, tool):
    """At /mcp are the tools of the setting, at /mcp/NAME those of the name."""

    async def run():
        async with over_http(served + path, key(doxa, "ana"), "auto") as host:
            assert tool in [one.name for one in (await host.client.list_tools()).tools]

    anyio.run(run)
    assert httpx2.post(f"{served}/mcp/none", headers=bearer(key(doxa, "ana"))).status_code == 404


def test_the_setting_chooses_the_profile_of_the_short_path(doxa, loopback):
    """`server.mcp_profile` is heeded over HTTP too."""

    async def run(address):
        async with over_http(f"{address}/mcp", key(doxa, "ana"), "auto") as host:
            assert len((await host.client.list_tools()).tools) == 13

    with listening(application(doxa, ServerConfig(mcp_profile="graphiti"))) as address:
        anyio.run(run, address)


def test_a_key_of_several_users_takes_the_user_from_the_header(served, doxa):
    """The header Doxa-User says whose memory is meant, and cannot name whom the key does not open."""
    secret = key(doxa, "ana", "bo")

    def status(**headers):
        done = httpx2.post(f"{served}/mcp", json=INITIALIZE, headers=bearer(secret, **headers))
        return done.status_code

    assert status(**{"Doxa-User": "bo"}) == 200
    assert status(**{"Doxa-User": "eve"}) == status() == 403


def test_without_a_key_that_counts_the_error_is_one_of_json_rpc(served, doxa):
    """Missing, unknown and revoked keys are told apart from none, at every message."""
    made, secret = Keys(doxa).add(users=["ana"])
    missing = httpx2.post(f"{served}/mcp", json=INITIALIZE, headers=ACCEPTS)
    assert missing.status_code == 401 and missing.headers["WWW-Authenticate"] == "Bearer"
    assert missing.json()["error"]["data"]["type"] == "urn:doxa:unauthorized"
    opened = httpx2.post(f"{served}/mcp", json=INITIALIZE, headers=bearer(secret))
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    assert httpx2.post(f"{served}/mcp", json=LIST, headers=bearer(secret, **session)).status_code == 200
    Keys(doxa).revoke(made.key_id)
    assert httpx2.post(f"{served}/mcp", json=LIST, headers=bearer(secret, **session)).status_code == 401


def test_a_session_answers_only_to_the_key_that_began_it(served, doxa):
    """Whoever learns a session's id cannot use it with another key, or for another user."""
    secret, other = key(doxa, "ana", "bo"), key(doxa, "ana")
    opened = httpx2.post(f"{served}/mcp", json=INITIALIZE, headers=bearer(secret, **{"Doxa-User": "ana"}))
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    for headers in (bearer(other), bearer(secret, **{"Doxa-User": "bo"})):
        assert httpx2.post(f"{served}/mcp", json=LIST, headers={**headers, **session}).status_code == 404
    assert httpx2.delete(f"{served}/mcp", headers={**bearer(other), **session}).status_code == 404


def test_pages_of_strangers_may_not_call(doxa, loopback):
    """The origin of a page has to be this machine or one of the settings."""
    secret = key(doxa, "ana")
    with listening(application(doxa, ServerConfig(cors=("https://chat.example",)))) as address:

        def called(origin):
            return httpx2.post(f"{address}/mcp", json=INITIALIZE, headers=bearer(secret, Origin=origin))

        assert [called(origin).status_code for origin in ("https://evil.example", "null")] == [403, 403]
        assert called("http://localhost:5173").status_code == 200
        welcome = called("https://chat.example")
        assert welcome.status_code == 200
        assert (
            welcome.headers["Access-Control-Expose-Headers"] == "ETag, Mcp-Session-Id, Retry-After, X-Request-Id"
        )  # a page needs it for a session


def test_without_keys_no_other_name_leads_here(doxa, loopback):
    """A name that was made to lead to this machine does not open the memory to a page."""
    with listening(application(doxa, ServerConfig(open=True))) as address:

        def status(host):
            headers = {**ACCEPTS, "Host": host, "Doxa-User": "ana"}
            return httpx2.post(f"{address}/mcp", json=INITIALIZE, headers=headers).status_code

        assert status("evil.example") == 403
        assert status("localhost:8377") == status("[::1]:8377") == 200


def test_what_is_too_large_is_refused(doxa, loopback):
    """The limit of bodies holds for messages too."""
    secret = key(doxa, "ana")
    with listening(application(doxa, ServerConfig(max_body_bytes=2000))) as address:
        done = httpx2.post(f"{address}/mcp", json={**INITIALIZE, "more": "x" * 3000}, headers=bearer(secret))
        assert done.status_code == 413


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
def test_sessions_that_only_wait_keep_nobody_out_and_hear_of_their_own_user(doxa, loopback):
    """Open streams of notices are not among the requests that are worked on, and carry a user's own changes alone.

    More sessions wait than requests are worked on at once. A client goes on as soon as it has read an answer, while
    the server is still closing the request: hence room for a few of those.
    """
    most = 6
    names = ["ana", *["bo"] * most]
    heard = [[] for _ in names]

    def noting(at):
        async def noted(message):
            heard[at].append(getattr(message, "method", ""))

        return noted

    async def run(address):
        url, secrets = f"{address}/mcp/reference", {name: key(doxa, name) for name in set(names)}
        async with AsyncExitStack() as open_sessions:
            for at, name in enumerate(names):
                session = over_http(url, secrets[name], "legacy", message_handler=noting(at))
                host = await open_sessions.enter_async_context(session)
                await host.client.subscribe_resource(GRAPH)
            await anyio.sleep(1.5)  # until all have opened the stream on which notices come
            async with over_http(url, secrets["ana"], "auto") as writer:
                await writer.call("create_entities", entities=[ENTITY])
            with anyio.move_on_after(5):
                while not heard[0]:
                    await anyio.sleep(0.02)

    with listening(application(doxa, ServerConfig(concurrency=most))) as address:
        anyio.run(run, address)
    assert heard == [["notifications/resources/updated"], *[[]] * most]


def test_listeners_keep_nobody_out_and_hear_of_their_own_user(doxa, loopback):
    """So it is with the streams of the stateless revision."""

    async def run(address):
        url, secrets = f"{address}/mcp/reference", {name: key(doxa, name) for name in ("ana", "bo")}
        async with (
            over_http(url, secrets["ana"], "auto") as ana,
            over_http(url, secrets["bo"], "auto") as bo,
            ana.client.listen(resource_subscriptions=[GRAPH]) as hers,
            bo.client.listen(resource_subscriptions=[GRAPH]) as his,
        ):
            await ana.call("create_entities", entities=[ENTITY])
            with anyio.fail_after(5):
                assert (await anext(aiter(hers))).uri == GRAPH
            with anyio.move_on_after(0.2):
                raise AssertionError(await anext(aiter(his)))

    with listening(application(doxa, ServerConfig(concurrency=2))) as address:
        anyio.run(run, address)


def test_many_clients_at_once_each_get_their_own(served, doxa):
    """Calls of several users at the same time never mix."""
    secrets = {f"user{n}": key(doxa, f"user{n}") for n in range(6)}

    async def one(name, secret):
        async with over_http(f"{served}/mcp", secret, "legacy" if int(name[-1]) % 2 else "auto") as host:
            await host.call("remember", text=f"My code word is {name}.", id=name)
            out = await host.call("recall", query="code word", answer=False)
            assert [quote["turn_id"] for quote in out["quotes"]] == [name]

    async def run():
        async with anyio.create_task_group() as tasks:
            for name, secret in secrets.items():
                tasks.start_soon(one, name, secret)

    anyio.run(run)


def test_a_shutdown_does_not_wait_for_those_who_only_wait(doxa, loopback):
    """Streams of notices end at once, in order, when the server is to stop."""
    secret, ended = key(doxa, "ana"), []

    def wait(address, headers):
        with httpx2.stream("GET", f"{address}/mcp", headers=headers, timeout=30) as stream:
            opened.set()
            ended.append([*stream.iter_lines()])

    opened = threading.Event()
    with listening(application(doxa)) as address:
        begun = httpx2.post(f"{address}/mcp", json=INITIALIZE, headers=bearer(secret))
        headers = bearer(secret, **{"Mcp-Session-Id": begun.headers["mcp-session-id"]})
        thread = threading.Thread(target=wait, args=(address, headers))
        thread.start()
        assert opened.wait(10)
        stopping = time.monotonic()
    thread.join(10)
    assert time.monotonic() - stopping < 10 and len(ended) == 1


def test_an_application_can_be_started_again(doxa, loopback):
    """Sessions end with the server, which may be started anew."""
    app, secret = application(doxa), key(doxa, "ana")
    for _ in range(2):
        with listening(app) as address:
            assert httpx2.post(f"{address}/mcp", json=INITIALIZE, headers=bearer(secret)).status_code == 200
    assert not [thread for thread in threading.enumerate() if "uvicorn" in thread.name]


def test_nothing_said_is_in_the_log(served, doxa, caplog):
    """Tools that fail are not logged with what they were called with."""
    caplog.set_level("INFO")

    async def run():
        async with over_http(f"{served}/mcp", key(doxa, "ana"), "auto") as host:
            await host.fails("why", id="secretword")

    anyio.run(run)
    assert "secretword" not in json.dumps([record.getMessage() for record in caplog.records])
