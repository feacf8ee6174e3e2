"""Users, agents, apps and runs: listed, and deleted with all that they said."""

import pytest
from mem0.client.types import DeleteAllMemoryOptions
from mem0.exceptions import AuthenticationError, ValidationError

MINE = {"user_id": "ana"}


@pytest.fixture
def told(ana):
    """What Ana said to two agents in two runs."""
    ana.add("I live in Rome.", user_id="ana", agent_id="bot", run_id="r1", metadata={"n": 1})
    ana.add("My sister is Eva.", user_id="ana", agent_id="bot", run_id="r2", app_id="web")
    ana.add("What a gruesome day.", user_id="ana")
    return ana


def test_the_client_is_let_in_with_its_project(place):
    """A good key constructs a client, which knows the tenant as its project."""
    client = place.client("ana")
    assert (client.org_id, client.project_id) == ("doxa", place.tenant)
    assert client.project.get()["name"] == place.tenant


def test_entities_are_those_that_said_something(told):
    """Runs, agents and apps come before users, so that deleting one after the other finds each."""
    found = [(one["type"], one["name"], one["total_messages"]) for one in told.users()["results"]]
    assert found == [("run", "r1", 1), ("run", "r2", 1), ("agent", "bot", 2), ("app", "web", 1), ("user", "ana", 3)]


@pytest.mark.parametrize("method", ["delete_users", "delete_all"])
@pytest.mark.parametrize(
    ("whose", "left"),
    [
        ({"run_id": "r1"}, ["Ana's sister is Eva", "What a gruesome day."]),
        ({"agent_id": "bot"}, ["What a gruesome day."]),
        ({"app_id": "web"}, ["Ana lives in Rome", "What a gruesome day."]),
        ({"user_id": "ana"}, []),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_belongs_to_an_entity_is_deleted(told, texts, method, whose, left):
    """By both methods alike; what others said is kept."""
    getattr(told, method)(**whose)
    assert sorted(texts(told.get_all(filters=MINE))) == left


def test_a_reset_leaves_nothing(place, texts):
    """All users of the key, with everything."""
    client = place.client()
    client.add("I live in Rome.", user_id="ana", run_id="r1", agent_id="bot")
    client.add("I live in Bonn.", user_id="bob")
    client.reset()
    assert place.engine().users() == [] and client.users()["results"] == []


def test_filters_narrow_what_is_deleted(told, texts):
    """As the client sends them in a query, and as JSON."""
    told.delete_all(DeleteAllMemoryOptions(filters={**MINE, "metadata": {"n": 1}}))
    assert sorted(texts(told.get_all(filters=MINE))) == ["Ana's sister is Eva", "What a gruesome day."]
    told.client.delete("/v1/memories/", params={"filters": '{"user_id": "ana", "run_id": "r2"}'}).raise_for_status()
    assert texts(told.get_all(filters=MINE)) == ["What a gruesome day."]


def test_nothing_is_deleted_without_saying_whose(told, texts):
    """A call that names nobody, or what deletion does not go by, is an error."""
    with pytest.raises(ValidationError, match="whose"):
        told.delete_all()
    with pytest.raises(ValidationError, match="batch_delete"):
        told.delete_all(filters={**MINE, "keywords": "Rome"})
    with pytest.raises(ValidationError, match="got categories"):
        told.delete_all(user_id="ana", categories="food")
    with pytest.raises(ValidationError, match="expected filters"):
        told.delete_all(filters="__import__('os')")
    assert len(texts(told.get_all(filters=MINE))) == 3


@pytest.mark.parametrize(
    "asked",
    [
        {"metadata": "{}"},
        {"filters": "[[]]"},
        {"filters": '{"AND": []}'},
        {"filters": '{"AND": [{"OR": []}, {}]}'},
        {"filters": '{"OR": [{}, {"user_id": "ana"}]}'},
        {"filters": '{"NOT": []}'},
        {"filters": '{"user_id": {}}'},
        {"filters": '{"NOT": [{"agent_id": {"in": []}}]}'},
        {"filters": '{"metadata": {"n": {}}}'},
    ],
    ids=lambda asked: next(iter(asked.values())),
)
def test_a_filter_that_asks_nothing_deletes_nothing(told, texts, asked):
    """However it is written, all would fit it: that is said by '*' alone."""
    answer = told.client.delete("/v1/memories/", params=asked)
    assert answer.status_code == 400 and "say whose" in answer.json()["detail"]
    assert len(texts(told.get_all(filters=MINE))) == 3


def test_a_filter_with_an_empty_part_is_heeded(told, texts):
    """What is beside it counts."""
    filters = '{"AND": [{"run_id": "r1"}, {}, {"OR": [{"user_id": "ana"}, {"agent_id": "bot"}]}]}'
    told.client.delete("/v1/memories/", params={"filters": filters}).raise_for_status()
    assert len(texts(told.get_all(filters=MINE))) == 2


def test_an_entity_that_says_nothing_is_deleted_already(told, texts):
    """Deleting what is not there is no error, and says that it was nothing."""
    answer = told.client.delete("/v2/entities/run/r9/")
    assert answer.json()["erased_messages"] == 0 and len(texts(told.get_all(filters=MINE))) == 3


def test_a_user_with_a_slash_in_the_name_is_deleted(place):
    """Whatever a name holds, it is one part of the path."""
    client = place.client()
    client.add("I live in Rome.", user_id="team/ana")
    client.delete_users(user_id="team/ana")
    assert place.engine().users() == []


def test_users_are_listed_for_those_who_may_alone(place):
    """A key for all users needs the right to list them."""
    with pytest.raises(AuthenticationError, match="admin"):
        place.client(rights=("read", "write")).users()
