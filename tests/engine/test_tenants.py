"""Several tenants on one database: nothing is shared but models, and one close ends all."""

import pytest

from doxa.core.errors import ClosedError, InputError
from doxa.engine import Doxa


def test_users_of_the_same_name_share_nothing(doxa):
    """Turns, facts and users are those of a tenant."""
    acme = doxa.tenant("acme")
    for engine, city in ((doxa, "Rome"), (acme, "Oslo")):
        engine.dialogue(user="ana").absorb(f"I live in {city}.", turn_id="t1")
        engine.flush()
    found = [[str(fact.object) for fact in engine.memory(user="ana").facts()] for engine in (doxa, acme)]
    assert found == [["Rome"], ["Oslo"]]
    doxa.memory(user="ana").forget(everything=True)
    assert doxa.users() == [] and acme.users() == ["ana"]


def test_a_tenant_is_the_same_engine_whenever_it_is_asked_for(doxa):
    """With the models of the first one, opened once."""
    acme = doxa.tenant("acme")
    assert doxa.tenant("acme") is acme and doxa.tenant("default") is doxa
    assert acme.parts.encoder is doxa.parts.encoder and acme.parts.opened is doxa.parts.opened


def test_a_tenant_is_the_one_of_the_settings(tmp_path, config):
    """What one engine stored for a tenant, an engine of that tenant finds."""
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        doxa.tenant("a/b").dialogue(user="ana").absorb("I live in Rome.")
    with Doxa.open(tmp_path / "m.db", config=config.model_copy(update={"tenant": "a/b"})) as doxa:
        assert [str(fact.object) for fact in doxa.memory(user="ana").facts()] == ["Rome"]


def test_closing_ends_every_tenant_once_what_was_received_is_processed(tmp_path, config):
    """A tenant cannot be used after it."""
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        acme = doxa.tenant("acme")
        for place in range(20):
            acme.dialogue(user="ana").absorb(f"I like tea number {place}.")
    with pytest.raises(ClosedError):
        acme.users()
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        assert doxa.tenant("acme").parts.log.pending() == []


@pytest.mark.parametrize("name", ["", " ", "x" * 300])
def test_a_name_that_is_none_is_refused(doxa, name):
    with pytest.raises(InputError, match="tenant"):
        doxa.tenant(name)
