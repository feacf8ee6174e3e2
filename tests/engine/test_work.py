"""How the processing of turns goes, told without waiting for it."""

import pytest

from doxa.core.errors import StoreError
from doxa.engine import Doxa


def test_an_engine_that_did_nothing_yet_is_at_rest(doxa):
    assert not doxa.work("ana").busy and doxa.work("ana").per_second == 0 and doxa.work("ana").failed == ""


def test_turns_that_were_understood_lately_are_counted(doxa):
    chat = doxa.dialogue(user="ana")
    for text in ("I live in Porto.", "I have a dog.", "I like tea."):
        chat.absorb(text)
    chat.flush()
    assert doxa.work("ana").per_second == pytest.approx(3 / 60)


def test_what_stopped_the_processing_stays_known_until_it_goes_on(doxa, monkeypatch):
    """Whoever waits is told of it once; who looks afterwards still is."""
    from doxa.engine.absorb import maintenance

    def fails(*_, **__):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(maintenance, "absorb", fails)
        doxa.dialogue(user="ana").absorb("I live in Porto.")
        with pytest.raises(StoreError):
            doxa.wait("ana")
        told = doxa.work("ana")
        assert told.failed == "the disk is full" and told.failed_at is not None
        assert doxa.work("bo").failed == ""
    doxa.wait("ana")
    assert doxa.work("ana").failed == ""


def test_turns_are_counted_by_user_and_tenant(config):
    with Doxa.open(":memory:", config=config) as doxa:
        for engine, user in ((doxa, "ana"), (doxa, "ana"), (doxa, "bo"), (doxa.tenant("other"), "ana")):
            engine.dialogue(user=user).absorb("I live in Porto.")
        doxa.flush()
        assert doxa.sizes(["ana", "zoe"]) == {"ana": 2} and doxa.tenant("other").sizes(["ana", "bo"]) == {"ana": 1}
