"""The generator of the implicit benchmark: what it promises of every dialogue."""

from collections import Counter

import pytest

from doxa.language import stems
from doxa_bench.implicit import WORKLOADS, draw_dialogues, read_chatter
from doxa_bench.implicit.material import talk, workload

COUNT = 60


@pytest.fixture(scope="module", params=["train", "test"])
def dialogues(request):
    return list(draw_dialogues(COUNT, seed=3, split=request.param))


def in_the_end(dialogue):
    """Return the queries that come after everything has been said."""
    said = sum(turn.part != "lead" for turn in dialogue.turns)
    return [query for query in dialogue.queries if query.after >= said]


def test_the_same_seed_gives_the_same_dialogues_and_the_first_ones_whatever_their_number():
    twice = [list(draw_dialogues(count, seed=1)) for count in (12, 20)]
    assert twice[0] == twice[1][:12]
    assert twice[0] != list(draw_dialogues(12, seed=2))


def test_no_question_shares_a_stem_with_its_evidence(dialogues):
    checked = 0
    for dialogue in dialogues:
        said = {turn.turn_id: turn for turn in dialogue.turns}
        for query in dialogue.queries:
            if query.kind != "explicit":
                words = {stem for turn_id in query.gold for stem in stems(said[turn_id].text)}
                assert not words & set(stems(query.text)), query.text
                checked += 1
    assert checked > 2 * COUNT


def test_an_explicit_question_repeats_words_of_its_evidence(dialogues):
    for dialogue in dialogues:
        said = {turn.turn_id: turn for turn in dialogue.turns}
        for query in dialogue.queries:
            if query.kind == "explicit":
                assert all(set(stems(query.text)) & set(stems(said[turn_id].text)) for turn_id in query.gold)


def test_gold_turns_are_evidence_that_was_said_before_the_question(dialogues):
    for dialogue in dialogues:
        order = {turn.turn_id: place for place, turn in enumerate(dialogue.turns)}
        for query in dialogue.queries:
            assert 1 <= len(query.gold) <= 8
            for turn_id in query.gold:
                turn = dialogue.turns[order[turn_id]]
                assert turn.part == "evidence" and turn.role == "user" and order[turn_id] < query.after
                assert turn.concept in query.concepts
            assert not query.gold & query.stale
            assert all(dialogue.turns[order[turn_id]].part == "stale" for turn_id in query.stale)


def test_fifty_to_a_hundred_distractors_lie_between_the_last_evidence_and_the_questions(dialogues):
    for dialogue in dialogues:
        parts = [turn.part for turn in dialogue.turns if turn.part != "lead"]
        last = max(place for place, part in enumerate(parts) if part in ("evidence", "stale"))
        low, high = workload(dialogue.workload, dialogue.split).distractors
        assert 50 <= low <= len(parts) - 1 - last <= high <= 100
        assert parts.count("near") >= 6


def test_a_recurring_taste_shows_in_different_sessions(dialogues):
    recurring = 0
    for dialogue in dialogues:
        sessions = Counter(
            (turn.concept, turn.session) for turn in dialogue.turns if turn.part in ("evidence", "stale")
        )
        assert set(sessions.values()) == {1}
        shown = Counter(turn.concept for turn in dialogue.turns if turn.part == "evidence")
        recurring += max(shown.values()) >= 3
    assert COUNT / 4 < recurring < COUNT


def test_a_long_dialogue_shows_its_tastes_over_months_and_none_of_them_in_the_last_sessions():
    questions = 0
    for dialogue in draw_dialogues(20, seed=3, long=400):
        turns = [turn for turn in dialogue.turns if turn.part != "lead"]
        assert 400 <= len(turns) <= 450 and len({turn.turn_id for turn in dialogue.turns}) == len(dialogue.turns)
        times = [turn.at for turn in turns]
        assert times == sorted(times) and (times[-1] - times[0]).days > 45
        told = [place for place, turn in enumerate(turns) if turn.part in ("evidence", "stale")]
        assert len(turns) - max(told) > 60 and 8 < sum(turn.part == "near" for turn in turns) < 80
        shown = Counter((turn.concept, turn.session) for turn in turns if turn.part in ("evidence", "stale"))
        assert set(shown.values()) == {1}
        questions += sum(query.kind != "explicit" for query in in_the_end(dialogue))
    assert questions > 20


def test_long_dialogues_are_others_than_the_usual_ones_and_leave_those_as_they_were():
    (usual,), (long,) = (list(draw_dialogues(1, seed=3, long=turns)) for turns in (0, 300))
    assert usual.user != long.user and len(usual.turns) < 200


def test_sessions_go_forward_over_two_weeks_or_more(dialogues):
    for dialogue in dialogues:
        times = [turn.at for turn in dialogue.turns]
        assert times == sorted(times) and (times[-1] - times[0]).days >= 8
        assert len({turn.session for turn in dialogue.turns}) >= 5
        assert len({turn.turn_id for turn in dialogue.turns}) == len(dialogue.turns)


def test_every_kind_of_question_comes_up(dialogues):
    subsets = {subset for dialogue in dialogues for query in dialogue.queries for subset in query.subsets}
    wanted = {"alias", "ellipsis", "temporal-gap", "cross-domain", "cold-start", "revised", "recurring", "once"}
    assert subsets == wanted


def test_a_question_by_another_name_can_be_led_back_to_what_was_said(dialogues):
    for dialogue in dialogues:
        bridges = [set(stems(turn.text)) for turn in dialogue.turns if turn.part == "bridge"]
        for query in dialogue.queries:
            if "alias" in query.subsets:
                assert any(set(stems(query.text)) & bridge for bridge in bridges)


def test_an_elliptical_question_follows_on_its_lead(dialogues):
    for dialogue in dialogues:
        for query in dialogue.queries:
            if "ellipsis" in query.subsets:
                assert dialogue.turns[query.after - 1].text == query.lead and query.lead
            else:
                assert not query.lead


def test_most_questions_come_in_the_end(dialogues):
    assert sum(len(in_the_end(dialogue)) for dialogue in dialogues) > 2 * COUNT


def test_workloads_come_in_the_proportions_of_the_paper():
    counts = Counter(dialogue.workload for dialogue in draw_dialogues(125))
    assert counts == {"films": 50, "food": 40, "productivity": 35}


def sentences_of(name, split):
    """Return every frame, whole sentence and question of a workload in a split."""
    one = workload(name, split)
    yield from (text for manners in one.frames.values() for texts in manners.values() for text in texts)
    yield from (text for concept in one.concepts for texts in concept.said.values() for text in texts)
    yield from (text for ask in one.asks for text in (*ask.texts, *ask.leads))
    yield from (*one.openers, *one.offers)


def fillers_of(name, split):
    for concept in workload(name, split).concepts:
        yield from (*concept.things, *concept.aspects, *concept.aliases.values())


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("parts", [sentences_of, fillers_of], ids=["sentences", "fillers"])
def test_the_splits_share_nothing(name, parts):
    shared = set(map(str.casefold, parts(name, "train"))) & set(map(str.casefold, parts(name, "test")))
    assert shared == set()


def test_the_talk_of_the_splits_shares_nothing():
    train, test = talk("train"), talk("test")
    assert not set(train.small) & set(test.small)
    assert not set(train.replies) & set(test.replies)
    assert not {text for ask in train.asks for text in ask.texts} & {text for ask in test.asks for text in ask.texts}


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_forty_ways_to_state_and_twenty_five_to_ask(name):
    one = workload(name, "test")
    frames = [text for key in ("like", "dislike", "revised") for texts in one.frames[key].values() for text in texts]
    said = [text for concept in one.concepts for texts in concept.said.values() for text in texts]
    assert len(frames) + len(said) >= 40
    assert sum(len(ask.texts) for ask in one.asks) >= 25


def test_talk_without_data_is_built_in(tmp_path):
    assert read_chatter(None, "test").source == read_chatter(tmp_path, "test").source == "built in"


def test_open_dialogues_are_dealt_to_one_split_each(data_dir):
    train, test = (read_chatter(data_dir, split) for split in ("train", "test"))
    assert set(train.conversations) & set(test.conversations) == set()
    assert 200 < sum(map(len, test.conversations)) <= 1200
