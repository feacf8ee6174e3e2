"""Dialogues told in claims: the format, and revision without language on them."""

import json
from pathlib import Path

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError
from doxa.core.values import Act, Interval, Modality
from doxa_bench import run_revision
from doxa_bench.told import read_told

WORDS = Config(encoder=EncoderConfig(name="hash"))
CLAIMS = Path(__file__).parents[2] / "benchmarks" / "revision" / "dev-claims.jsonl"
GOLD = Path(__file__).parents[2].parent / "shared" / "gold" / "revision" / "dev.jsonl"
WHERE = {"kind": "where", "asks": "object", "s": "Ana", "r": "lives_in"}


def probe(after, answer, wrong, as_of=None):
    texts = {"question": "?", "answer": [answer], "not": [wrong], "why": ""}
    return {"after": after, "type": "value", "as_of": as_of, **texts}


DIALOGUE = {
    "id": "x1",
    "kind": "update",
    "tags": [],
    "turns": [{"speaker": "Ana", "text": "?", "date": day} for day in ("2024-01-10", "2024-06-02")],
    "probes": [probe(1, "Paris", "Berlin"), probe(2, "Berlin", "Paris"), probe(2, "Paris", "Berlin", "2024-02-01")],
}


def told(*claims, **more):
    turns = [{"speaker": "Ana", "date": "2024-01-10", "claims": [{"s": "Ana", "r": "lives_in", "o": "Paris"}]}]
    turns.append({"speaker": "Ana", "date": "2024-06-02", "claims": list(claims)})
    return {"id": "x1", "turns": turns, "questions": [WHERE, WHERE, {**WHERE, "past": True}], **more}


MOVED = {"s": "Ana", "r": "lives_in", "o": "Berlin", "from": "2024-06-01"}


@pytest.fixture
def files(tmp_path):
    """Writes dialogues and claims and gives back their paths."""

    def write(dialogue, claims):
        for name, entry in (("dialogues", dialogue), ("claims", claims)):
            (tmp_path / f"{name}.jsonl").write_text(json.dumps(entry), encoding="utf-8")
        return tmp_path / "dialogues.jsonl", tmp_path / "claims.jsonl"

    return write


def test_claims_are_revised_and_answered_without_their_words(files):
    """No text is read: the dialogue has none."""
    data, claims = files(DIALOGUE, told(MOVED))
    found = run_revision(data, claims=claims, config=WORDS)
    assert [entry["value"] for entry in found.predictions] == ["Paris", "Berlin", "Paris"]
    assert found.to_dict()["accuracy"] == 1 and found.to_dict()["claims"] == "claims.jsonl"


def test_a_claim_may_say_everything_that_a_claim_has(files):
    full = {
        "s": ["jordan (colleague)", "Jordan"],
        "r": "shoe size",
        "o": "39",
        "not": True,
        "mood": "possible",
        "act": "correct",
        "replaces": "40",
        "source": "Dad",
        "at": "2024-05",
        "ended": True,
    }
    _, path = files(DIALOGUE, told(full))
    claim = read_told(path)["x1"].turns[1].claims[0]
    assert (claim.subject.key, claim.subject.label, claim.relation.name) == (
        "jordan (colleague)",
        "Jordan",
        "shoe_size",
    )
    assert (claim.polarity, claim.modality, claim.act) == (False, Modality.POSSIBLE, Act.CORRECT)
    assert (claim.replaces, claim.source, claim.ended, claim.functional) == ("40", "Dad", True, True)
    month = Interval(start=claim.valid.start, end=claim.valid.start, start_precision="month", end_precision="month")
    assert claim.valid == month and claim.valid.start.isoformat() == "2024-05-01"


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (told({**MOVED, "when": "2024"}), "unknown fields when"),
        (told({**MOVED, "from": "June"}), "'June'"),
        (told(MOVED, questions=[WHERE]), "expected 3 questions"),
        (told(MOVED, questions=[{**WHERE, "hole": 1}] * 3), "unknown fields hole"),
        (told(MOVED, turns=told(MOVED)["turns"][:1]), "speakers and days"),
        (told(MOVED, id="x2"), "'x1' are missing"),
    ],
    ids=["field", "day", "questions", "question", "turns", "dialogue"],
)
def test_what_does_not_tell_the_dialogues_is_named(files, claims, message):
    data, path = files(DIALOGUE, claims)
    with pytest.raises(FormatError, match=message):
        run_revision(data, claims=path, config=WORDS)


def test_the_claims_of_the_repository_are_well_formed():
    assert len(read_told(CLAIMS)) == 45


@pytest.mark.skipif(not GOLD.exists(), reason="the gold data is not beside this checkout")
def test_revision_without_language_answers_nearly_everything():
    """The floor is what was reached; a lower number is a step back of the revision."""
    assert run_revision(GOLD, claims=CLAIMS, config=WORDS).to_dict()["accuracy"] >= 0.985
