"""What a trace tells of a search: who proposed which turn, and how it was ranked."""

from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
from doxa.engine import Doxa
from doxa.recall import RecallSpec, evidence_of, look_up, ranking_of, read_query

QUERY = "Which lake did we swim in?"


def looked_up(state, query=QUERY):
    """Return what a search for a query looked at; without a vector, words lead."""
    return look_up(read_query(query, state, recent=(), asker="Ana", at=state.now()), state, spec=RecallSpec())


def told(count):
    """Return an engine whose memory holds a swim in a lake and much else that was said."""
    settings = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    doxa = Doxa.open(":memory:", config=settings)
    chat = doxa.dialogue(user="ana")
    chat.absorb("We swam in the lake of Bled.", at="2024-01-01", turn_id="bled")
    for number in range(count):
        chat.absorb(f"We had soup number {number} for lunch at the lake.", at="2024-02-01", turn_id=f"n{number}")
    chat.flush()
    return doxa


def test_each_view_is_told_with_the_rank_and_score_that_it_gave():
    with told(3) as doxa, doxa.parts.log.user("ana") as state:
        found = looked_up(state)
        rows = {row["turn"]: row for row in ranking_of(found)}
        first = int(found.proposed["lexical"].places[0])
        named = state.turns[state.places[first]].turn_id
        rank, score = rows[named]["views"]["lexical"]
    assert rank == 1
    assert score == round(float(found.proposed["lexical"].scores[0]), 3)


def test_turns_are_told_in_the_order_in_which_they_are_ranked():
    with told(6) as doxa, doxa.parts.log.user("ana") as state:
        found = looked_up(state)
        scores = [row["score"] for row in ranking_of(found)]
        best = evidence_of(found)[0].turn_ids[0]
        assert scores == sorted(scores, reverse=True)
        assert ranking_of(found)[0]["turn"] == best


def test_a_long_ranking_is_cut_and_keeps_the_first_of_every_view():
    with told(40) as doxa, doxa.parts.log.user("ana") as state:
        found = looked_up(state)
        rows = ranking_of(found)
        assert len(rows) < len(found.places)
        named = {row["turn"] for row in rows}
        for candidates in found.proposed.values():
            for place in candidates.places[:3].tolist():
                assert state.turns[state.places[place]].turn_id in named
