"""Names of one person or thing, from what is said to what is answered: joined, told apart, told again, erased."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.core.errors import InputError, NotFoundError
from doxa.engine import Doxa
from doxa.memory import MOST_CANDIDATES

CONFIG = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10))
BOB = ["Robert lives in Ulm.", "Bob is short for Robert.", "Bob moved to Bonn."]


def memory_of(doxa, *turns, start=1):
    """Absorb turns of Ana, one a day, and return the memory."""
    chat = doxa.dialogue(user="ana")
    for day, text in enumerate(turns, start=start):
        chat.absorb(text, at=f"2024-05-{day:02d}", turn_id=f"t{day}")
    chat.flush()
    return doxa.memory(user="ana")


@pytest.fixture
def doxa():
    with Doxa.open(":memory:", config=CONFIG) as engine:
        yield engine


def believed(memory):
    return sorted(str(fact) for fact in memory.facts())


def picture(doxa):
    """Return everything that a state holds about beliefs."""
    with doxa.parts.log.user("ana") as state:
        beliefs = state.beliefs
        claims = {slot: claims for slot, claims in beliefs.claims.items() if claims}
        return beliefs.facts, beliefs.changes, claims, beliefs.identity, beliefs.names


def test_a_short_form_and_the_full_name_share_their_facts(doxa):
    memory = memory_of(doxa, *BOB)
    assert believed(memory) == ["Robert | lives in | Bonn (since 3 May 2024)"]
    assert doxa.dialogue(user="ana").ask("Where does Bob live?").value == "Bonn"
    assert memory.facts(subject="Bob") == memory.facts(subject="robert")


def test_a_relative_who_gets_a_name_brings_the_facts_along(doxa):
    memory = memory_of(doxa, "My sister lives in Graz.", "My sister is called Mia.", "Mia moved to Linz.")
    assert believed(memory) == ["Ana | sister | Mia", "Mia | lives in | Linz (since 3 May 2024)"]
    assert [entity.aliases for entity in memory.entities() if entity.label == "Mia"] == [("Ana's sister",)]


def test_why_names_what_joined_the_names_and_who_said_so(doxa):
    memory = memory_of(doxa, *BOB)
    (fact,) = memory.facts(subject="Bob")
    found = memory.why(fact.fact_id)
    assert [identity.turn_ids for identity in found.identities] == [("t2",)]
    assert "Bob is the same as Robert (t2)" in found.text


def test_a_split_by_hand_puts_every_fact_back_and_lasts(doxa):
    memory = memory_of(doxa, *BOB)
    changes = memory.split("Bob", "Robert", reason="two people")
    assert "split" in {change.kind for change in changes}
    memory = memory_of(doxa, "Bob plays chess.", start=4)
    assert believed(memory) == [
        "Bob | lives in | Bonn", "Bob | plays | chess", "Robert | lives in | Ulm",
    ]  # fmt: skip


def test_merging_by_hand_twice_changes_nothing_the_second_time(doxa):
    memory = memory_of(doxa, "Kim lives in Ulm.", "Zed plays chess.")
    assert {change.kind for change in memory.merge("Kim", "Zed")} == {"merge", "move"}
    before = picture(doxa)
    assert memory.merge("zed", "kim") == []
    assert picture(doxa) == before
    assert len(doxa.parts.log.rows("ana")) == 5


def test_merging_and_splitting_by_hand_leaves_the_facts_as_they_were(doxa):
    memory = memory_of(doxa, "Kim lives in Ulm.", "Zed lives in Bonn.", "Kim's dog likes cheese.")
    before = memory.facts(current=False)
    memory.merge("Kim", "Zed")
    assert memory.facts(current=False) != before
    memory.split("Kim", "Zed")
    key = lambda fact: fact.fact_id  # noqa: E731
    assert sorted(memory.facts(current=False), key=key) == sorted(before, key=key)


def test_names_that_are_not_known_or_not_clear_are_told(doxa):
    memory = memory_of(doxa, "Anna from work lives in Bonn.", "My cousin Anna lives in Ulm.", "Kim lives in Kiel.")
    with pytest.raises(NotFoundError, match="nobody and nothing called 'Zed'"):
        memory.merge("Zed", "Kim")
    with pytest.raises(InputError, match="Expected a name, got None"):
        memory.merge("Kim", None)
    with pytest.raises(InputError, match="expected a fact or a rule, got 'Kim'"):
        memory.describe("Kim")
    with pytest.raises(InputError, match="both are written"):
        memory.split("kim", "Kim")
    memory_of(doxa, "My aunt Kim lives in Rome.", "My dog Kim likes cheese.", start=4)
    with pytest.raises(InputError, match=r"'Kim' stands for several; give one of these instead: .*dog of ana"):
        memory.merge("Kim", "Anna from work")


def test_a_read_of_an_earlier_time_goes_by_the_identities_of_that_time(doxa):
    memory = memory_of(doxa, "Robert lives in Ulm.", "Bob lives in Bonn.", "Bob is short for Robert.")
    assert [str(fact) for fact in memory.facts(subject="Bob", known_at="2024-05-02")] == ["Bob | lives in | Bonn"]
    assert [fact.subject.label for fact in memory.facts(subject="Bob")] == ["Robert"]


@pytest.mark.parametrize("undo", ["withdraw", "forget"])
def test_without_its_evidence_an_identity_is_gone(doxa, undo):
    memory = memory_of(doxa, "Robert lives in Ulm.", "Zed is short for Robert.", "Zed moved to Bonn.")
    getattr(memory, undo)(turn_id="t2")
    assert believed(memory) == ["Robert | lives in | Ulm", "Zed | lives in | Bonn"]


def test_forgetting_a_name_forgets_what_was_done_with_it_by_hand(doxa):
    memory = memory_of(doxa, "Kim lives in Ulm.", "Zed plays chess.")
    memory.merge("Kim", "Zed", reason="Zed it is")
    memory.forget(turn_id="t2")
    assert "zed" not in json.dumps([row.body for row in doxa.parts.log.rows("ana")]).casefold()
    assert believed(memory) == ["Kim | lives in | Ulm"]


def test_an_export_brings_the_identities_along(doxa, tmp_path):
    memory = memory_of(doxa, *BOB)
    memory.split("Bob", "Robert")
    memory.export(tmp_path / "ana.jsonl")
    with Doxa.open(":memory:", config=CONFIG) as other:
        other.memory(user="ana").import_(tmp_path / "ana.jsonl")
        assert picture(other) == picture(doxa)


def test_people_of_one_name_stay_two_and_a_bare_name_is_who_was_spoken_of_last(doxa):
    memory = memory_of(
        doxa, "Anna from work lives in Bonn.", "My cousin Anna lives in Ulm.", "Anna plays the flute.",
        "Anna from work plays golf.",
    )  # fmt: skip
    facts = {str(fact.object): fact.subject.key for fact in memory.facts() if fact.relation.name != "cousin"}
    assert facts == {
        "Bonn": "anna (from work)",
        "Ulm": "anna (cousin of ana)",
        "flute": "anna (cousin of ana)",
        "golf": "anna (from work)",
    }
    assert len([entity for entity in memory.entities() if entity.label.startswith("Anna")]) == 2


def test_a_question_may_use_any_of_the_names(doxa):
    memory_of(doxa, *BOB, "Rosa lives in New York City.", "Otto moved to NYC.")
    chat = doxa.dialogue(user="ana")
    asked = {"Who is Bob?": "Robert", "Does Rosa live in NYC?": "yes", "Who lives in NYC?": "Rosa, Otto"}
    assert {question: chat.ask(question).value for question in asked} == asked


def test_the_history_of_a_name_goes_back_to_what_it_was_told_under(doxa):
    memory = memory_of(doxa, "My sister lives in Graz.", "My sister is called Mia.")
    assert [(c.kind, c.turn_id) for c in memory.history("Mia")] == [("assert", "t1"), ("merge", "t2"), ("move", "t2")]
    (fact,) = memory.facts(subject="Mia")
    assert [change.kind for change in memory.history(fact)] == ["assert", "move"]


def test_what_an_assistant_takes_for_one_is_not_believed(doxa):
    chat = doxa.dialogue(user="ana")
    chat.absorb("Robert lives in Ulm.", at="2024-05-01")
    chat.absorb("Zed is short for Robert.", role="assistant", at="2024-05-02")
    chat.absorb("Zed lives in Bonn.", at="2024-05-03")
    chat.flush()
    assert len(doxa.memory(user="ana").facts()) == 2


UNRELATED = ["I like tea.", "Otto Braun lives in Oslo.", "My aunt likes opera."]


@tries(max_examples=15)
@given(st.permutations([*BOB[:2], *UNRELATED]))
def test_the_order_of_unrelated_turns_does_not_matter(turns):
    with Doxa.open(":memory:", config=CONFIG) as engine:
        chat = engine.dialogue(user="ana")
        for text in turns:
            chat.absorb(text, at="2024-05-01")
        chat.flush()
        memory = engine.memory(user="ana")
        assert [entity.aliases for entity in memory.entities() if entity.label == "Robert"] == [("Bob",)]
        assert {fact.subject.label for fact in memory.facts()} == {
            "Ana",
            "Otto Braun",
            "Ana's aunt",
            "Robert",
        }


SAID = st.sampled_from([
    "My sister lives in Graz.", "My sister is called Mia.", "My sister Mia likes tea.", "Mia moved to Linz.",
    "My sister Eva lives in Bonn.", "Mia is not the same person as Mimi.", "Mimi is short for Mia.", "Mimi likes jazz.",
    "Mia Novak lives in Rome.", "My colleague Mia likes coffee.", "Forget that.", "My sister's dog likes cheese.",
])  # fmt: skip
SCRIPT = st.lists(st.tuples(SAID, st.integers(0, 4)), min_size=2, max_size=7)


def play(doxa, script, *, without=None):
    """Absorb a script of `(text, what follows)`: 1 withdraws the turn, 2 joins Mia and Eva by hand, 3 parts them."""
    chat, memory = doxa.dialogue(user="ana", session="s"), doxa.memory(user="ana")
    for n, (text, then) in enumerate(script):
        if n != without:
            chat.absorb(text, at=f"2024-01-{n + 1:02d}", turn_id=f"t{n}")
            if then == 1:
                memory.withdraw(turn_id=f"t{n}")
            elif then in (2, 3):
                with suppress(InputError, NotFoundError):
                    (memory.merge if then == 2 else memory.split)("mia", "eva")
    chat.flush()
    return memory


@tries(max_examples=25)
@given(SCRIPT)
def test_a_state_that_is_read_again_is_the_same(script):
    """Folding the log gives the live state, names and identities included."""
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        play(doxa, script)
        live = picture(doxa)
        doxa.parts.log.forget_state("ana")
        assert picture(doxa) == live


@tries(max_examples=25)
@given(SCRIPT, st.integers(0, 6))
def test_forgetting_a_turn_equals_never_having_heard_it(script, index):
    """Whatever it joined or parted."""
    script = [(text, then if then == 1 else 0) for text, then in script]
    index %= len(script)
    with Doxa.open(":memory:", config=CONFIG) as doxa, Doxa.open(":memory:", config=CONFIG) as other:
        memory = play(doxa, script)
        memory.forget(turn_id=f"t{index}")
        kept = [(str(f), f.status, f.turn_ids) for f in memory.facts(current=False) if f.status != "retracted"]
        never = play(other, script, without=index).facts(current=False)
        assert kept == [(str(f), f.status, f.turn_ids) for f in never if f.status != "retracted"]
        assert f'"t{index}"' not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])


def test_a_new_name_is_compared_with_a_bounded_number_of_others(doxa, monkeypatch):
    """The work per name does not grow with the memory; it is counted, not timed."""
    from doxa.understand import variants

    compared = []
    score = variants._score
    monkeypatch.setattr(variants, "_score", lambda new, known: compared.append(known) or score(new, known))
    chat = doxa.dialogue(user="ana")
    for n in range(60):
        chat.absorb(f"Maria Berg{chr(97 + n % 26)}{chr(97 + n // 26)}o works at Alta Bank {n}.", at="2024-05-01")
    chat.flush()
    compared.clear()
    chat.absorb("Maria Bergo works at Alta Bank.", at="2024-05-02")
    chat.flush()
    assert 0 < len(compared) <= 2 * MOST_CANDIDATES
