"""What is forgotten is gone from every copy."""

import pytest

from doxa.core.errors import InputError
from doxa.engine import Doxa

CANARY = "Zanzibar-7731"


def holds(folder, needle):
    """Tell which files of a folder hold a byte string."""
    return [path.name for path in folder.iterdir() if path.is_file() and needle.encode() in path.read_bytes()]


@pytest.fixture
def filled(config, tmp_path):
    """A file in which a secret was said, corroborated by nothing, used in a reply, and followed by other turns."""
    folder = tmp_path / "memory"
    folder.mkdir()
    with Doxa.open(folder / "memory.db", config=config) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb(f"I moved to {CANARY}.", at="2024-02-01", turn_id="t2")
        chat.respond("Where do I live?", at="2024-02-02", turn_id="t3")
        chat.absorb("I moved to Berlin.", at="2024-03-01", turn_id="t4")
        chat.flush()
        yield doxa, folder


def test_a_forgotten_turn_leaves_no_byte(filled):
    """Log, facts, changes, replies and the write-ahead log are clean, after a restart too."""
    doxa, folder = filled
    assert holds(folder, CANARY)
    certificate = doxa.memory(user="ana").forget(turn_id="t2")
    assert holds(folder, CANARY) == []
    assert "t2" in certificate.turn_ids and certificate.erased["turns"] >= 1 and len(certificate.digest) == 64
    assert CANARY not in str(certificate)
    doxa.close()
    assert holds(folder, CANARY) == []


def test_what_is_left_is_as_if_it_had_never_been_said(filled, config):
    """Later turns are revised without it: the value that it had displaced is displaced by what came after."""
    doxa, _ = filled
    memory = doxa.memory(user="ana")
    memory.forget(turn_id="t2")
    facts = {str(f.object): (str(f.status), f.valid.end) for f in memory.facts(relation="lives in", current=False)}
    with Doxa.open(":memory:", config=config) as other:
        chat = other.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb("I moved to Berlin.", at="2024-03-01", turn_id="t4")
        chat.flush()
        never = other.memory(user="ana").facts(relation="lives in", current=False)
    assert facts == {str(f.object): (str(f.status), f.valid.end) for f in never}
    assert all("t2" not in item.turn_ids for item in memory.search(CANARY))


def lives_in(memory):
    """Return where somebody lives or lived, with the standing of each."""
    return [(str(fact.object), str(fact.status)) for fact in memory.facts(relation="lives in", current=False)]


def test_forgetting_the_only_source_of_a_retracted_fact(filled, config):
    """The retraction goes with what it retracted, and the memory opens again."""
    doxa, folder = filled
    memory = doxa.memory(user="ana")
    (fact,) = memory.facts(relation="lives in")
    memory.retract(fact.fact_id, reason="wrong")
    memory.forget(turn_id="t4")
    assert lives_in(memory) == [("Lisbon", "superseded"), (CANARY, "held")]
    doxa.close()
    with Doxa.open(folder / "memory.db", config=config) as again:
        assert lives_in(again.memory(user="ana")) == [("Lisbon", "superseded"), (CANARY, "held")]


def test_a_retraction_outlives_the_forgetting_of_an_earlier_turn(doxa):
    """The second stay in Lisbon was retracted; without the first it is the only one, and still retracted."""
    chat, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
    for month, town in enumerate(["Lisbon", "Berlin", "Lisbon"], start=1):
        chat.absorb(f"I moved to {town}.", at=f"2024-0{month}-01", turn_id=f"t{month}")
    chat.flush()
    memory.retract(memory.facts(relation="lives in")[0].fact_id)
    memory.forget(turn_id="t1")
    assert lives_in(memory) == [("Berlin", "held"), ("Lisbon", "retracted")]


def test_another_process_sees_the_erasure(filled, config):
    """A state that was loaded before the erasure is read again."""
    doxa, folder = filled
    with Doxa.open(folder / "memory.db", config=config) as other:
        assert any(CANARY in item.text for item in other.memory(user="ana").search(CANARY))
        doxa.memory(user="ana").forget(turn_id="t2")
        assert not any(CANARY in item.text for item in other.memory(user="ana").search(CANARY))


def test_everything_leaves_nothing(filled):
    """A user who is forgotten is no user any more, and others stay."""
    doxa, folder = filled
    ben = doxa.dialogue(user="ben")
    ben.absorb("I live in Oslo.")
    ben.flush()
    doxa.memory(user="ana").forget(everything=True)
    assert doxa.users() == ["ben"]
    assert doxa.memory(user="ana").facts(current=False) == []
    assert holds(folder, CANARY) == [] and holds(folder, "Lisbon") == []
    assert ben.ask("Where do I live?").value == "Oslo"


def test_forgetting_needs_to_be_told_what(filled):
    """Neither or both is an error, and nothing is erased."""
    memory = filled[0].memory(user="ana")
    with pytest.raises(InputError):
        memory.forget()
    with pytest.raises(InputError):
        memory.forget(turn_id="t1", everything=True)
    assert memory.stats()["turns"] >= 4
