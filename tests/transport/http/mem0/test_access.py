"""Nobody reads or changes what the key does not open."""

import httpx
import pytest
from mem0 import MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, MemoryQuotaExceededError

HERS = {"user_id": "ana"}


def test_a_client_with_a_wrong_key_is_turned_away(served):
    """At its construction, with what is wrong."""
    with httpx.Client() as http, pytest.raises(ValueError, match="unknown or was revoked"):
        MemoryClient(api_key="doxa_000000000000_" + "x" * 43, host=served[0], client=http)


def test_a_key_of_one_user_needs_no_name(ana, texts):
    """Who has one user only means that one."""
    ana.add("I live in Rome.")
    assert texts(ana.get_all()) == ["Ana lives in Rome"]
    assert texts(ana.search("Where do I live?")) == ["Ana lives in Rome"]


def test_a_key_of_several_users_has_to_name_one(place):
    """A search without a user is no search over all."""
    client = place.client("ana", "bob")
    for asked in (lambda: client.get_all(), lambda: client.search("Rome"), lambda: client.add("I live in Rome.")):
        with pytest.raises(AuthenticationError, match="user_id"):
            asked()


def test_another_users_memory_is_closed(ana, place):
    """Neither by an id nor by a name, and nothing of it is in the refusal."""
    memory_id = ana.add("I live in Rome.", user_id="ana")["results"][0]["id"]
    bob = place.client("bob")
    for asked in (
        lambda: bob.get(memory_id),
        lambda: bob.history(memory_id),
        lambda: bob.update(memory_id, text="I live in Bonn."),
        lambda: bob.delete(memory_id),
        lambda: bob.batch_delete([{"memory_id": memory_id}]),
        lambda: bob.get_all(filters=HERS),
        lambda: bob.get_all(filters={"OR": [{"user_id": "bob"}, HERS]}),
        lambda: bob.search("Rome", filters={"user_id": {"in": ["bob", "ana"]}}),
        lambda: bob.add("I live in Bonn.", user_id="ana"),
        lambda: bob.delete_all(user_id="ana"),
        lambda: bob.delete_users(user_id="ana"),
        lambda: bob.get_summary(filters=HERS),
    ):
        with pytest.raises((AuthenticationError, MemoryNotFoundError)) as refused:
            asked()
        assert "Rome" not in str(refused.value)
    assert ana.get(memory_id)["memory"] == "Ana lives in Rome"


def test_the_same_user_of_another_tenant_is_another_user(ana, place, served):
    """An id of one tenant stands for nothing in another."""
    memory_id = ana.add("I live in Rome.", user_id="ana")["results"][0]["id"]
    other = type(place)(*served)
    with pytest.raises(MemoryNotFoundError):
        other.client("ana").get(memory_id)
    other.clients[0].client.close()


def test_an_id_of_another_user_than_the_header_names_is_not_found(place):
    """A request is about one user."""
    client = place.client()
    memory_id = client.add("I live in Rome.", user_id="ana")["results"][0]["id"]
    answer = client.client.get(f"/v1/memories/{memory_id}/", headers={"Doxa-User": "bob"})
    assert answer.status_code == 404 and "Rome" not in answer.text


def test_a_key_that_may_list_users_searches_all_of_them(place, texts):
    """`*` stands for every user that the key opens, and for none that it does not."""
    client = place.client()
    client.add("I live in Rome.", user_id="ana")
    client.add("I live in Bonn.", user_id="bob")
    everybody = {"user_id": "*"}
    assert sorted(texts(client.get_all(filters=everybody))) == ["Ana lives in Rome", "Bob lives in Bonn"]
    assert sorted(texts(client.search("live", filters=everybody))) == ["Ana lives in Rome", "Bob lives in Bonn"]
    assert texts(place.client("bob").get_all(filters=everybody)) == ["Bob lives in Bonn"]
    with pytest.raises(AuthenticationError, match="admin"):
        place.client(rights=("read",)).get_all(filters=everybody)


def test_a_key_that_may_only_write_is_told_nothing_of_what_is_remembered(ana, place):
    """What became of a message would tell what was said before it."""
    ana.add("I live in Rome.", user_id="ana")
    writer = place.client("ana", rights=("write",))
    told = writer.add("I moved to Bonn.", user_id="ana")
    assert told["status"] == "PENDING" and "Rome" not in str(told)
    with pytest.raises(AuthenticationError, match="not read"):
        writer.get_all(filters=HERS)


def test_errors_have_the_shape_that_the_client_reads(ana):
    """`detail` says what was expected, what came, and what to do; the rest is kept beside it."""
    with pytest.raises(MemoryNotFoundError) as refused:
        ana.get("nonsense")
    assert refused.value.message.startswith("There is no memory 'nonsense'")
    assert refused.value.details["error"] == "not-found" and refused.value.details["request_id"]
    assert refused.value.debug_info["status_code"] == 404


def test_doxas_own_paths_keep_their_own_shape(ana):
    """`/v1/memory` is not `/v1/memories`."""
    own = ana.client.get("/v1/memory/nothing", headers={"Doxa-User": "ana"})
    assert own.headers["content-type"] == "application/problem+json"


def test_a_body_that_is_too_large_is_told_in_the_shape_of_the_client(ana):
    """What is refused before it is read has the same shape."""
    with pytest.raises(MemoryQuotaExceededError, match="max_body_bytes"):
        ana.add("x" * 9_000_000, user_id="ana")


def test_the_client_reports_to_nobody(ana):
    """Its telemetry is off by its own setting; that nothing leaves this machine is watched in every test."""
    from mem0.memory.telemetry import client_telemetry

    ana.add("I live in Rome.", user_id="ana")
    assert client_telemetry.posthog is None
