"""Whether a turn of a conversation is said to the tasks at all."""

import pytest

from doxa import backends
from doxa.tasks import Addressed, addressed_of


@pytest.fixture(scope="module")
def encoder():
    encoder = backends.load("encoder", "builtin")
    yield encoder
    encoder.close()


@pytest.mark.parametrize(
    ("requests", "going_on", "least"), [(False, False, 0.7), (True, False, 0.5), (False, True, 0.5), (True, True, 0.15)]
)
def test_less_is_enough_where_it_is_expected(requests, going_on, least):
    for chance in (least - 0.01, least + 0.01):
        found = Addressed(opens=0.0, changes=chance)
        assert found.meant(opens=False, requests=requests, going_on=going_on) is (chance > least)


def test_what_opens_a_task_is_told_from_what_changes_one(encoder):
    found = addressed_of(encoder.encode(["Undo that, and make it eight people."])[0])
    assert found.meant(opens=False, requests=False, going_on=False)
    assert not found.meant(opens=True, requests=False, going_on=False)


@pytest.mark.parametrize("text", ["Plan a trip to Rome in May.", "Add milk to my shopping list."])
def test_requests_are_said_to_the_tasks(encoder, text):
    assert addressed_of(encoder.encode([text])[0]).meant(opens=True, requests=True, going_on=False)


@pytest.mark.parametrize(
    "text", ["My sister lives in Graz.", "I moved to Berlin last year.", "We lost the final again."]
)
def test_what_people_tell_of_their_lives_is_not(encoder, text):
    found = addressed_of(encoder.encode([text])[0])
    assert not any(found.meant(opens=opens, requests=False, going_on=False) for opens in (True, False))
