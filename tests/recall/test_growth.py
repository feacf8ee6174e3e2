"""What a search touches does not grow with the history, and nothing that only one view knows is lost in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doxa.core.values import Turn
from doxa.memory import UserState
from doxa.recall import RecallSpec, evidence_of, look_up, read_query

DIMS = 64
START = datetime(2023, 1, 1, 12, tzinfo=UTC)
COMMON = "garden train coffee music window street summer kitchen paper river".split()


def grown(turns: int) -> UserState:
    """A memory of turns of one person about ten common things, and a word of its own in every hundredth."""
    state, random = UserState(user="ana", dims=DIMS), np.random.default_rng(1)
    vectors = random.standard_normal((turns, DIMS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for number, vector in enumerate(vectors, start=1):
        words = " ".join(random.choice(COMMON, 4))
        own = f" zq{number}" if number % 100 == 0 else ""
        turn = Turn(
            turn_id=f"t{number}",
            user="ana",
            session=f"s{number // 20}",
            speaker="Ana",
            role="user",
            text=f"The {words}{own}.",
            at=START + timedelta(minutes=number),
            ordinal=number,
        )
        state.receive(turn)
        state.maintain(turn, [], [], vector)
    return state


@pytest.fixture(scope="module")
def histories() -> dict[int, UserState]:
    """One history, and one eight times as long."""
    return {size: grown(size) for size in (2500, 20_000)}


def work(state: UserState, text: str) -> tuple[int, int, int]:
    """Return the rows compared in full, the postings read, and the places scored for one query."""
    vector = np.random.default_rng(5).standard_normal(DIMS).astype(np.float32)
    query = replace(read_query(text, state), vector=vector / np.linalg.norm(vector))
    rows, postings = state.vectors.read, state.lexical.read
    found = look_up(query, state, spec=RecallSpec(deadline_ms=0, expand=False))
    return state.vectors.read - rows, state.lexical.read - postings, len(found.places)


def test_the_rows_compared_in_full_do_not_grow(histories):
    """Eight times the history, the same number but for those that tie by sign."""
    small, large = (work(state, "the river near the kitchen")[0] for state in histories.values())
    assert large < 1.2 * small + 400


def test_the_postings_of_a_rare_word_are_all_that_is_read(histories):
    """Common words beside it are scored where it stands, not read through."""
    assert [work(state, "zq100")[1] for state in histories.values()] == [1, 1]


def test_of_common_words_a_bounded_number_of_postings_is_read(histories):
    """At most the latest 8,192 of each."""
    assert work(histories[20_000], "coffee music river")[1] <= 3 * 8192


def test_the_places_scored_in_full_do_not_grow(histories):
    small, large = (work(state, "coffee music river")[2] for state in histories.values())
    assert max(small, large) <= 64 + 2 * 8 * 4


def test_syncing_reads_only_what_is_new(histories):
    """A second search of the same memory finds the index as it is."""
    state = histories[2500]
    work(state, "coffee")
    index = state.kept["recall"]
    before = index.timeline
    work(state, "coffee")
    assert state.kept["recall"] is index and index.timeline is before


@pytest.mark.parametrize("number", [100, 10_000, 20_000])
def test_a_word_alone_is_found_in_a_long_history(histories, number):
    """A sign that stands once among 20,000 turns is evidence, though the vectors of hundreds are nearer."""
    state = histories[20_000]
    vector = np.random.default_rng(number).standard_normal(DIMS).astype(np.float32)
    query = replace(read_query(f"what about zq{number}", state), vector=vector / np.linalg.norm(vector))
    found = {item.turn_ids[0]: item for item in evidence_of(look_up(query, state, spec=RecallSpec()))}
    assert len(found) == 10 and "lexical" in found[f"t{number}"].path


@pytest.mark.parametrize("number", [7, 9999, 19_999])
def test_a_meaning_alone_is_found_in_a_long_history(histories, number):
    """A turn that shares no word with the query is found by its vector, in spite of all that share words."""
    state = histories[20_000]
    query = replace(read_query("unheard of", state), vector=state.vectors.row(number - 1))
    first = evidence_of(look_up(query, state, spec=RecallSpec()))[0]
    assert first.turn_ids == (f"t{number}",) and first.scores["lexical"] == 0


def test_what_was_said_early_is_found_in_an_early_state(histories):
    """What came later takes no room among the candidates."""
    state = histories[20_000]
    known_at = START + timedelta(minutes=300)
    query = read_query("coffee music river", state, known_at=known_at)
    query = replace(query, vector=state.vectors.row(19_000))
    found = evidence_of(look_up(query, state, spec=RecallSpec()))
    assert len(found) == 10 and all(int(item.turn_ids[0][1:]) <= 300 for item in found)


def test_the_named_days_propose_turns_by_themselves(histories):
    """Of 20,000 turns those of one day are looked at, though others fit the words as well."""
    state = histories[20_000]
    query = read_query("what was it about the river on 3 January 2023", state)
    found = look_up(query, state, spec=RecallSpec())
    days = {state.turns[state.places[place]].at.day for place in found.proposed["time"].places.tolist()}
    assert len(found.proposed["time"].places) and days <= set(range(3, 11))
