"""Coverage of observations and repetition of facts, on a small conversation of our own."""

import json
from dataclasses import replace
from datetime import date

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Interval, Modality, Relation
from doxa.engine import Doxa
from doxa_bench import run_observations
from doxa_bench.observations import duplicates

WORDS = Config(encoder=EncoderConfig(name="hash"))
SAMPLE = {
    "sample_id": "conv-1",
    "qa": [],
    "observation": {
        "session_1_observation": {
            "Ana": [["Ana lives in Lisbon.", "D1:1"], ["Ana lives in Rome.", "D1:2"], ["Ana enjoys chess.", ["D1:1"]]],
            "Bo": [["Bo lives in Rome.", "D1:2"]],
        }
    },
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Lisbon. Lovely!"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "I live in Rome."},
        ],
    },
}


@pytest.fixture
def observed(tmp_path):
    """Writes samples to a file and gives back its path."""

    def write(content):
        path = tmp_path / "locomo.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


def test_an_observation_is_covered_by_its_own_speaker(observed):
    """Bo lives in Rome, which says nothing of Ana; nobody mentioned chess."""
    report = run_observations(observed([SAMPLE]), config=WORDS).to_dict()
    assert (report["observations"], report["coverage"], report["coverage_by_fact"]) == (4, 0.5, 0.5)
    assert (report["claims"], report["claims_per_turn"], report["facts"]) == (2, 1.0, 2)
    assert (report["duplicates"], report["duplicate_share"]) == (0, 0.0)
    assert report["turns"] == 2 and report["turns_per_s"] > 0
    assert len(report["resident_mib"]) in (0, 2)
    assert json.loads(json.dumps(report)) == report


def test_only_the_first_conversations_of_a_folder(observed):
    path = observed([SAMPLE, {**SAMPLE, "sample_id": "conv-2"}])
    assert run_observations(path.parent, config=WORDS, limit=1).conversations == 1
    assert run_observations(path.parent, config=WORDS).counts["observations"] == 8


@pytest.fixture
def known():
    """A memory with one fact, its encoder, and that fact."""
    with Doxa.open(":memory:", config=WORDS) as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I like green tea.", at="2024-05-01")
        chat.flush()
        memory = doxa.memory(user="ana")
        (fact,) = memory.facts()
        yield memory, doxa.parts.encoder, fact


@pytest.mark.parametrize(
    ("changes", "repeated"),
    [
        ({}, 1),
        ({"relation": Relation("likes_a_lot", "likes")}, 1),
        ({"relation": Relation("sells", "sells")}, 0),
        ({"polarity": False}, 0),
        ({"modality": Modality.PLANNED}, 0),
        ({"valid": Interval(start=date(2024, 1, 1), end=date(2024, 1, 1))}, 1),
    ],
    ids=str,
)
def test_a_fact_in_other_words_is_a_duplicate(known, changes, repeated):
    memory, encoder, fact = known
    assert len(duplicates([fact, replace(fact, fact_id="other", **changes)], memory, encoder)) == repeated


def test_the_same_event_at_two_times_is_two_facts(known):
    memory, encoder, fact = known
    days = [Interval(start=date(2024, 1, n), end=date(2024, 1, n)) for n in (1, 2)]
    facts = [replace(fact, fact_id=str(day), valid=day) for day in days]
    assert duplicates(facts, memory, encoder) == []
    assert duplicates([], memory, encoder) == []


def test_conversations_without_observations_are_refused(observed):
    with pytest.raises(FormatError, match="observations"):
        run_observations(observed([{key: value for key, value in SAMPLE.items() if key != "observation"}]))


BROKEN = [b"", b'{"a": 1', b"\xfe\x88", json.dumps([SAMPLE | {"observation": {"session_1": {"Ana": 5}}}]).encode()]


@pytest.mark.parametrize("content", BROKEN, ids=["empty", "cut off", "no text", "a number"])
def test_a_file_that_is_broken_is_refused(tmp_path, content):
    path = tmp_path / "locomo10.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="observations"):
        run_observations(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"locomo10\.json"):
        run_observations(tmp_path)
