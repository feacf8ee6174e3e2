"""recall: what is found, what is never found, in which order, and why."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doxa.recall import RecallSpec, read_query, recall, shipped


def day(month: int, day: int, year: int = 2023) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


def test_a_turn_is_found_by_a_word_alone(words):
    """Without vectors, one shared stem is enough, inflected or not."""
    words.say("The weather is lovely.")
    found = words.say("My sister adopted two kittens.", session="s2")
    assert words.ids("adopting a kitten") == [found]


def test_a_turn_is_found_by_meaning_alone(meaning):
    """A paraphrase without a shared word comes first."""
    meaning.say("The printer is out of paper again.", session="s1")
    found = meaning.say("I was let go from my job.", session="s2")
    meaning.say("We had pancakes for breakfast.", session="s3")
    evidence = meaning.search("Who became unemployed?")
    assert evidence[0].turn_ids == (found,)
    assert evidence[0].scores["lexical"] == 0 and evidence[0].scores["dense"] > 0


def test_evidence_shows_the_turn_with_its_speaker_and_scores(words):
    """Text names the speaker, scores are per view and add up to the score."""
    words.say("I bought a kayak.", speaker="Caroline")
    evidence = words.search("kayak")[0]
    assert evidence.text == "Caroline: I bought a kayak."
    assert evidence.kind == "turn" and evidence.path == ("lexical",)
    total = shipped().unified({name: np.array([score]) for name, score in evidence.scores.items()}, "lexical")
    assert evidence.score == pytest.approx(float(total[0]))


def test_a_withdrawn_turn_is_never_found(words):
    """It stays in the indexes, and search leaves it out."""
    gone = words.say("I collect stamps.")
    kept = words.say("My brother collects stamps.", session="s2")
    words.state.withdrawn[gone] = datetime(2030, 1, 1, tzinfo=UTC)
    assert words.ids("stamps") == [kept]


def test_a_generated_reply_is_never_found(words):
    """What Doxa said itself is no evidence."""
    words.say("You collect stamps.", role="assistant", generated=True)
    assert words.ids("stamps") == []


def test_turns_after_known_at_are_never_found(words):
    """A look back sees what had been said by then, to the microsecond."""
    moment = day(5, 1)
    early = words.say("I collect stamps.", at=moment)
    words.say("I collect old stamps.", at=moment + timedelta(microseconds=1), session="s2")
    assert words.ids("stamps", known_at=moment) == [early]
    assert words.ids("stamps", known_at=moment.replace(tzinfo=None)) == [early]


def test_a_session_can_be_searched_alone(words):
    """With `session`, other sessions are left out; an unknown one is empty."""
    words.say("I collect stamps.", session="a")
    found = words.say("More stamps.", session="b")
    assert words.ids("stamps", session="b") == [found]
    assert words.ids("stamps", session="c") == []


def test_the_named_speaker_comes_first(words):
    """Of two turns that say the same, the one by the speaker whom the query names wins."""
    by_ana = words.say("I ran a marathon.", speaker="Ana", session="a")
    by_ben = words.say("I ran a marathon.", speaker="Ben", session="b")
    assert words.ids("When did Ana run a marathon?") == [by_ana, by_ben]
    assert words.ids("When did Ben run a marathon?") == [by_ben, by_ana]


def test_i_is_the_user_and_you_is_the_assistant(words):
    """The side that the query speaks of wins."""
    own = words.say("I like the book Dune.", speaker="Ana", session="a")
    told = words.say("A good book is Dune.", speaker="helper", role="assistant", session="b")
    assert words.ids("Which book do I like?")[0] == own
    assert words.ids("Which book did you name?")[0] == told


def test_the_named_days_come_first(words):
    """A month in the query prefers turns of that month, though an equal one is newer."""
    may = words.say("We went hiking.", at=day(5, 20), session="a")
    june = words.say("We went hiking.", at=day(6, 20), session="b")
    assert words.ids("Where did we go hiking in May 2023?") == [may, june]
    assert words.ids("Where did we go hiking?") == [june, may]


def test_last_week_counts_from_the_moment_of_asking(words):
    """The same words mean other days at another time."""
    early = words.say("We went hiking.", at=day(5, 3), session="a")
    late = words.say("We went hiking.", at=day(8, 3), session="b")
    assert words.ids("What hiking was there last week?", at=day(5, 10))[0] == early
    assert words.ids("What hiking was there last week?", at=day(8, 10))[0] == late


def test_a_short_answer_is_found_through_the_question_before_it(words):
    """The elliptic answer outranks a turn elsewhere that shares no more with the query."""
    words.say("Which instrument do you play?", speaker="Ben", session="a")
    answer = words.say("The cello, since 2010.", session="a")
    for number in range(5):
        words.say(f"The play was sold out, night {number}.", session=f"other{number}")
    evidence = {item.turn_ids[0]: item for item in words.search("Which instrument does Ana play?")}
    assert list(evidence).index(answer) <= 1
    assert evidence[answer].path[-1] == "answer to t1" and evidence[answer].turn_ids == (answer,)


def test_neighbours_do_not_reach_across_sessions(words):
    """The first turn of another session gains nothing, even where two sessions are interleaved."""
    words.say("Which instrument do you play?", speaker="Ben", session="a")
    words.say("Good morning.", session="b")
    answer = words.say("The cello.", session="a")
    assert set(words.ids("instrument")) == {"t1", answer}


def test_equal_scores_go_by_recency(words):
    """Of equal turns the newest comes first, also when only some of them are sorted."""
    turns = [words.say("I like tea.", session=str(number)) for number in range(30)]
    assert words.ids("tea", spec=RecallSpec(top_k=3)) == turns[:-4:-1]
    assert words.ids("tea", spec=RecallSpec(top_k=3, pool=1)) == turns[:-4:-1]


def test_the_same_search_gives_the_same_evidence(bench_of):
    """Two memories of the same turns agree to the last bit."""
    found = []
    for _ in range(2):
        bench = bench_of()
        for number in range(20):
            bench.say(f"Note {number} about gardens and trains.", session=str(number % 3))
        found.append(bench.search("What about the garden?", spec=RecallSpec(deadline_ms=0)))
    assert found[0] == found[1]


def test_an_empty_memory_has_no_evidence(meaning):
    """Searching before anything was said is no error."""
    assert meaning.search("anything at all") == []


def test_more_is_asked_for_than_there_is(meaning):
    """`top_k` beyond the number of turns gives what there is."""
    meaning.say("I like tea.")
    assert len(meaning.search("tea", spec=RecallSpec(top_k=500))) == 1


@pytest.mark.parametrize("query", ["", "   ", "what was it?", "\u200b", "!!!", "\U0001f600"], ids=repr)
def test_a_query_without_words_is_no_error(words, meaning, query):
    """Function words and signs match nothing by words; meaning may still find something."""
    words.say("I like tea.")
    meaning.say("I like tea.")
    assert words.search(query) == []
    assert len(meaning.search(query)) <= 1


def test_a_name_alone_finds_who_is_meant(words):
    """When the name is all there is, it is searched for as a word too."""
    words.say("Good morning.", speaker="Ben", session="a")
    mention = words.say("Ben is my cousin.", speaker="Ana", session="b")
    assert set(words.ids("Ben")) == {"t1", mention}


def test_a_turn_without_a_vector_is_found_by_words(meaning):
    """When the encoder failed for a turn, words still find it."""
    state = meaning.state
    meaning.say("I like tea.")
    turn = replace(state.turns[1], turn_id="t2", ordinal=2, text="My telescope arrived.", session="s2")
    state.receive(turn)
    state.maintain(turn, [], [], None)
    assert meaning.ids("telescope")[0] == "t2"


def test_received_turns_are_not_found_before_they_are_processed(words):
    """Only indexed turns are searched."""
    words.say("I like tea.")
    state = words.state
    state.receive(replace(state.turns[1], turn_id="t2", ordinal=2))
    assert recall(read_query("tea", state), state)[0].turn_ids == ("t1",)
