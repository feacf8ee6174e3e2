"""A memory that begins with a snapshot is the one that its log tells, whenever the snapshot was written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from tests.engine.test_replay import CONFIG, SAID, play

from doxa import Doxa
from doxa.core.errors import PackError
from doxa.memory import UserState
from doxa.memory.snapshots import Snapshots

STEPS = st.lists(st.tuples(SAID, st.integers(0, 4)), min_size=2, max_size=8)


def everything(state: UserState) -> dict[str, object]:
    """Return all that a state holds, as plain values."""
    beliefs = state.beliefs
    slots = {slot: said for slot, said in beliefs.claims.items() if said}
    names = [name for said in slots.values() for claim in said for name in (claim.subject.key, claim.object.key)]
    return {
        "turns": dict(state.turns),
        "facts": list(beliefs.facts.items()),
        "changes": list(beliefs.changes),
        "claims": slots,
        "numbers": [[claim.number for claim in said] for said in slots.values()],
        "of turns": [beliefs.claims_of(turn.turn_id) for turn in state.turns.values()],
        "of names": {name: (beliefs.said_of(name), beliefs.about(name), beliefs.identities(name)) for name in names},
        "valued": {name: beliefs.valued_at(name) for name in names},
        "named": {word: (beliefs.naming([word]), beliefs.subjects_with([word])) for word in ("kim", "rome", "tea")},
        "related": [beliefs.of_relations(["lives_in", "likes"], some) for some in ((), ("tea", "rome"))],
        "why": {key: (beliefs.changes_of(key), beliefs.consequences.of(key)) for key in beliefs.facts},
        "alike": {name: beliefs.names.alike(name, name) for name in names},
        "slots": list(beliefs.latest_slots(None)),
        "latest": list(beliefs.latest_slots(3)),
        "places": list(state.places),
        "vectors": state.vectors.rows().tobytes(),
        "words": {word: state.lexical.holding([word]) for word in ("live", "tea", "lisbon", "rome")},
        "withdrawn": state.withdrawn,
        "aside": state.aside,
        "sessions": {name: list(ordinals) for name, ordinals in state.sessions.items()},
        "tasks": (list(state.tasks.commits), dict(state.tasks.nodes)),
        "notes": state.notes,
        "counts": state.counts(),
        "person": (state.person(), state.now(), state.maintained, state.ordinal, state.state),
    }


@tries(max_examples=30, deadline=None)
@given(STEPS)
def test_a_snapshot_changes_nothing(script):
    """Saved and let go in between (4), withdrawn and retracted (1, 2): the same as the log folded in one go."""
    with tempfile.TemporaryDirectory() as folder, Doxa.open(Path(folder) / "m.db", config=CONFIG) as doxa:
        log = doxa.parts.log
        for number, step in enumerate(script):
            play(doxa, [step], first=number)
            if step[1] == 4:
                with log.user("ana") as state:
                    before = everything(state)
                assert log.save("ana", least=1, share=0.0)
                log.let_go("ana")
                with log.user("ana") as state:
                    assert state.packed is not None
                    assert everything(state) == before
        with log.user("ana") as state:
            grown = everything(state)
        log.forget_state("ana")
        with log.user("ana") as state:
            assert state.packed is None
            assert everything(state) == grown


def test_a_search_goes_on_where_a_snapshot_ends(tmp_path):
    """Also where most turns were displaced, so that it leaves them out: as of the log folded in one go."""
    with Doxa.open(tmp_path / "m.db", config=CONFIG) as doxa:
        memory, log = play(doxa, [(f"I live in Town{number}.", 0) for number in range(12)]), doxa.parts.log
        memory.search("Where do I live?")
        assert log.save("ana", least=1, share=0.0)
        log.let_go("ana")
        play(doxa, [("I live in Rome.", 0)], first=12)
        with log.user("ana") as state:
            assert state.packed is not None
        found = memory.search("Where do I live?")
        log.forget_state("ana")
        assert found == memory.search("Where do I live?") != []


@pytest.fixture
def path(tmp_path):
    """A file with a memory, and its snapshot beside it."""
    path = tmp_path / "m.db"
    with Doxa.open(path, config=CONFIG) as doxa:
        play(doxa, [(f"I live in Town{number}.", 0) for number in range(12)])
    assert len(snapshots(path)) == 1
    return path


def snapshots(path):
    """Return the snapshots of a database."""
    return sorted(Path(f"{path}.folds").rglob("*.fold"))


def told(path):
    """Return whether a memory began with its snapshot, and how many facts it has."""
    with Doxa.open(path, config=CONFIG) as doxa, doxa.parts.log.user("ana") as state:
        return state.packed is not None, len(state.beliefs.facts)


def test_a_memory_that_was_closed_opens_with_its_snapshot(path):
    assert told(path) == (True, 12)


@pytest.mark.parametrize("place", ["beginning", "middle", "end"])
def test_a_damaged_snapshot_is_thrown_away_and_nothing_is_lost(path, place):
    (file,) = snapshots(path)
    data = bytearray(file.read_bytes())
    data[{"beginning": 3, "middle": len(data) // 2, "end": -1}[place]] ^= 1
    file.write_bytes(data)
    with Doxa.open(path, config=CONFIG) as doxa:
        for _ in range(2):  # a part that is damaged may be come upon later
            try:
                with doxa.parts.log.user("ana") as state:
                    found = len(everything(state)["facts"])
                break
            except PackError:
                assert not snapshots(path)
        assert found == 12


def test_a_snapshot_that_ends_too_early_is_removed(path):
    """Nobody would read it again, nor remove it with what is erased by then."""
    (file,) = snapshots(path)
    file.write_bytes(file.read_bytes()[:-64])
    with Doxa.open(path, config=CONFIG) as doxa, doxa.parts.log.user("ana") as state:
        assert len(state.beliefs.facts) == 12 and not snapshots(path)


def test_the_snapshot_of_another_log_is_not_taken_for_that_of_this_one(path):
    path.unlink()
    with Doxa.open(path, config=CONFIG) as doxa:
        play(doxa, [(f"I like drink{number}.", 0) for number in range(20)])
        doxa.parts.log.let_go("ana")
        assert not any(b"Town3" in file.read_bytes() for file in snapshots(path))
        with doxa.parts.log.user("ana") as state:
            assert all("drink" in turn.text for turn in state.turns.values())
            assert len(state.turns) == 20


def test_a_snapshot_of_other_code_or_another_policy_is_not_used(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("doxa.memory.snapshots.folding", lambda: "other code")
        assert told(path) == (False, 12)
    other = CONFIG.model_copy(update={"revise": CONFIG.revise.model_copy(update={"policy": "trust"})})
    with Doxa.open(path, config=other) as doxa, doxa.parts.log.user("ana") as state:
        assert state.packed is None


def test_what_is_forgotten_is_in_no_snapshot(path):
    assert any(b"Town3" in file.read_bytes() for file in snapshots(path))
    with Doxa.open(path, config=CONFIG) as doxa:
        doxa.memory(user="ana").forget(turn_id="t3")
        assert not any(b"Town3" in file.read_bytes() for file in snapshots(path))
    assert not any(b"Town3" in file.read_bytes() for file in snapshots(path))
    with Doxa.open(path, config=CONFIG) as doxa:
        doxa.memory(user="ana").forget(everything=True)
    assert not snapshots(path)


def test_another_process_that_forgets_is_noticed(path):
    with Doxa.open(path, config=CONFIG) as one, one.parts.log.user("ana") as state:
        assert state.packed is not None
    with Doxa.open(path, config=CONFIG) as one, Doxa.open(path, config=CONFIG) as other:
        assert len(one.memory(user="ana").facts(current=False)) == 12
        other.memory(user="ana").forget(turn_id="t3")
        assert "Town3" not in str(one.memory(user="ana").facts(current=False))


@pytest.mark.parametrize("how", [{"turn_id": "t3"}, {"everything": True}], ids=["turn", "everything"])
def test_another_process_that_was_loaded_before_writes_no_snapshot_of_it(path, how):
    """Neither when it is closed, nor where something is erased while it writes."""
    with Doxa.open(path, config=CONFIG) as other:
        assert len(other.memory(user="ana").facts(current=False)) == 12
        with Doxa.open(path, config=CONFIG) as one:
            one.memory(user="ana").forget(**how)
        other.parts.log.save("ana", least=0, share=0.0)
    assert not any(b"Town3" in file.read_bytes() for file in snapshots(path))


def test_what_is_erased_while_a_snapshot_is_written_is_in_none(path, monkeypatch):
    real = Snapshots.write

    def slow(self, *given, **named):
        written = real(self, *given, **named)
        with monkeypatch.context() as patch, Doxa.open(path, config=CONFIG) as one:
            patch.setattr(Snapshots, "write", real)
            one.memory(user="ana").forget(turn_id="t3")
            one.parts.log.snapshots.drop("default/ana")
        return real(self, *given, **named) and written

    with Doxa.open(path, config=CONFIG) as doxa:
        assert len(doxa.memory(user="ana").facts(current=False)) == 12
        monkeypatch.setattr(Snapshots, "write", slow)
        assert not doxa.parts.log.save("ana", least=0, share=0.0)
        monkeypatch.undo()
        assert not snapshots(path)


def test_a_memory_opens_where_no_snapshot_can_be_written(path, monkeypatch):
    for file in snapshots(path):
        file.unlink()

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert told(path) == (False, 12)
    assert not snapshots(path)


def test_what_lies_in_a_snapshot_is_not_read_to_answer_for_a_few(path):
    """Opening reads no turn and no fact."""
    with Doxa.open(path, config=CONFIG) as doxa:
        calls = []
        read = doxa.parts.log.store.read
        doxa.parts.log.store.read = lambda scope, *, after=0: calls.append(after) or read(scope, after=after)
        with doxa.parts.log.user("ana") as state:
            assert calls == [state.ordinal - 1]
            assert not state.turns._turns._read
            assert not state.beliefs.facts._values._read
