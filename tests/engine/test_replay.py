"""What was believed is told again the same: after a restart, and without a turn that was forgotten."""

from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.engine import Doxa

CONFIG = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10))
TOWNS = st.sampled_from(["Lisbon", "Berlin", "Rome"])
SAID = st.one_of(
    TOWNS.map("I live in {}.".format),
    TOWNS.map("I moved to {}.".format),
    TOWNS.map("Sorry, I meant {}.".format),
    TOWNS.map("I used to live in {}.".format),
    TOWNS.map("I don't live in {} any more.".format),
    st.sampled_from(["I like tea.", "I don't like tea.", "Forget that.", "All right.", "My sister Kim lives in Rome."]),
)
SCRIPT = st.lists(st.tuples(SAID, st.integers(0, 3)), min_size=2, max_size=7)


def play(doxa, script, *, without=None, first=0):
    """Absorb a script of `(text, what follows)`: 1 withdraws the turn, 2 retracts the last fact of it."""
    chat, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
    for n, (text, then) in enumerate(script, start=first):
        if n == without:
            continue
        chat.absorb(text, at=f"2024-01-{n + 1:02d}", turn_id=f"t{n}")
        if then == 1:
            memory.withdraw(turn_id=f"t{n}")
        elif then == 2:
            chat.flush()
            said = [fact for fact in memory.facts() if f"t{n}" in fact.turn_ids]
            if said:
                memory.retract(said[-1].fact_id)
    chat.flush()
    return memory


def believed(memory):
    """Return what stands, without ids."""
    facts = [fact for fact in memory.facts(current=False) if fact.status != "retracted"]
    return [(str(f), f.status, f.disputed, f.turn_ids, f.known_at) for f in facts]


def picture(doxa):
    """Return everything that a state holds."""
    with doxa.parts.log.user("ana") as state:
        beliefs = state.beliefs
        claims = {slot: claims for slot, claims in beliefs.claims.items() if claims}
        vectors = state.vectors.rows().tobytes()
        facts, changes = dict(beliefs.facts), list(beliefs.changes)
        return dict(state.turns), facts, changes, claims, list(state.places), vectors, state.withdrawn


@tries(max_examples=25)
@given(SCRIPT)
def test_a_state_that_is_read_again_is_the_same(script):
    """Folding the log gives the live state: facts, changes, claims, places, vectors."""
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        play(doxa, script)
        live = picture(doxa)
        doxa.parts.log.forget_state("ana")
        assert picture(doxa) == live


@tries(max_examples=30)
@given(SCRIPT, st.integers(0, 6))
def test_forgetting_a_turn_equals_never_having_heard_it(script, index):
    """Whatever was said, withdrawn and forgotten; a retraction by hand stays where its fact stays."""
    script = [(text, then if then == 1 else 0) for text, then in script]
    index %= len(script)
    with Doxa.open(":memory:", config=CONFIG) as doxa, Doxa.open(":memory:", config=CONFIG) as other:
        memory = play(doxa, script)
        memory.forget(turn_id=f"t{index}")
        assert believed(memory) == believed(play(other, script, without=index))
        assert f"t{index}" not in str(picture(doxa))


@tries(max_examples=25)
@given(SCRIPT, st.integers(0, 6))
def test_a_memory_can_be_read_after_any_forgetting(script, index):
    """With retractions by hand too: the log folds, and no fact rests on the forgotten turn."""
    index %= len(script)
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        memory = play(doxa, script)
        memory.forget(turn_id=f"t{index}")
        live = picture(doxa)
        doxa.parts.log.forget_state("ana")
        assert picture(doxa) == live and f"t{index}" not in str(live)
        memory.facts(known_at="2024-01-03")
