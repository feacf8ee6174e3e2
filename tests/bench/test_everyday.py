"""The everyday benchmark marks answers, facts and verdicts as its README says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Citation, Fact, Interval, Modality, Relation, Reply, Term
from doxa_bench import run_everyday
from doxa_bench.everyday.chats import read_chats, read_grades
from doxa_bench.everyday.marks import mark_answer, mark_fact

ROOT = Path(__file__).parents[2]
TURNS = [
    ("t1", "user", "i live in gorgie, rent is 800"),
    ("t2", "assistant", "Noted: Gorgie."),
    ("t3", "user", "moved to leith yesterday! rent is 920 now"),
    ("t4", "user", "might get a dog one day lol"),
]
CHAT = {
    "id": "tiny", "domain": "tests", "user": "Tess", "assistant": "Assistant",
    "turns": [
        {"id": key, "at": f"2025-03-0{place}T18:20", "speaker": "Tess" if role == "user" else "Assistant", "role": role,
         "text": text}
        for place, (key, role, text) in enumerate(TURNS, start=1)
    ],
    "questions": [
        {"question": "where do i live?", "kind": "current", "answer": ["leith"], "not": ["gorgie"], "evidence": ["t3"]},
        {"question": "do i have a dog?", "kind": "plan", "answer": ["no"], "not": ["yes"], "evidence": ["t4"]},
        {"question": "whats my landlord called?", "kind": "never", "answer": [], "evidence": []},
    ],
    "facts": {
        "required": [{"subject": "Tess", "relation": ["live in", "home"], "object": ["leith"], "turn": "t3"}],
        "allowed": [{"subject": "Tess", "relation": ["live in"], "object": ["gorgie"], "ended": True}],
        "forbidden": [{"subject": "Tess", "relation": ["have", "own"], "object": ["dog"], "why": "only perhaps"}],
    },
    "statements": [
        {"text": "You live in Leith.", "label": "true", "evidence": ["t3"]},
        {"text": "You have a dog.", "label": "planned", "evidence": ["t4"]},
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "tiny.json").write_text(json.dumps(CHAT), encoding="utf-8")
    return tmp_path


@pytest.fixture
def chat(folder):
    return read_chats(folder / "dev")[0]


def quoting(text: str, *turns: str) -> Reply:
    said = {key: words for key, _, words in TURNS}
    cited = tuple(
        Citation(turn_id=key, text=said[key], speaker="Tess", at=datetime(2025, 3, 3, tzinfo=UTC)) for key in turns
    )
    return Reply(text=text, citations=cited, confidence=0.7)


LIVES = Reply(
    text="You live in Leith.", value="Leith", citations=(Citation(turn_id="t3", fact_id="f1"),), confidence=0.9
)


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        (LIVES, "right"),
        (Reply(text="You live in Gorgie.", value="Gorgie", citations=(Citation(turn_id="t1", fact_id="f1"),)), "wrong"),
        (Reply(text="I don't know.", abstained=True), "silent"),
        (quoting("you wrote: “moved to leith yesterday! rent is 920 now”", "t3"), "right"),
        (quoting("you wrote: “i live in gorgie, rent is 800”", "t1"), "wrong"),
        (quoting("“i live in gorgie, rent is 800” “moved to leith yesterday! rent is 920 now”", "t1", "t3"), "right"),
        (quoting("you wrote: “moved”", "t3"), "wrong"),
    ],
    ids=["value", "stale value", "silence", "quote", "stale quote", "both quotes, the last one right", "half a quote"],
)
def test_an_answer_is_right_by_its_value_or_by_what_it_quotes(chat, reply: Reply, mark: str) -> None:
    """A dated quote of the turn that answers is an answer; one of an older turn is not."""
    assert mark_answer(chat, chat.queries[0], reply).mark == mark


def test_to_what_was_never_said_only_silence_is_right(chat) -> None:
    """A nearest thing that is told with the silence does no harm."""
    query = chat.queries[2]
    assert mark_answer(chat, query, Reply(text="I don't know.", abstained=True)).mark == "right"
    assert (
        mark_answer(chat, query, quoting("you wrote: “moved to leith yesterday! rent is 920 now”", "t3")).mark
        == "wrong"
    )


def test_a_yes_or_no_is_answered_by_the_turn_that_tells(chat) -> None:
    """The quote says neither word."""
    assert mark_answer(chat, chat.queries[1], quoting("“might get a dog one day lol”", "t4")).mark == "right"


def fact(relation: str, value: str, **more: object) -> Fact:
    said = {"fact_id": "f", "subject": Term("tess", "Tess"), "relation": Relation(relation.replace(" ", "_"), relation)}
    return Fact(**(said | {"object": Term(value, value)} | more))  # type: ignore[arg-type]


def test_facts_are_right_wrong_or_noise_by_the_lists_and_grades(chat) -> None:
    """What is over is wrong as current, what was only perhaps is wrong as certain, what nobody listed is noise."""
    past = Interval(end=datetime(2025, 3, 3).date())
    assert mark_fact(chat, fact("lives in", "Leith"), {}).grade == "right"
    assert mark_fact(chat, fact("lives in", "Gorgie"), {}).grade == "wrong"
    assert mark_fact(chat, fact("lives in", "Gorgie", valid=past), {}).grade == "right"
    assert mark_fact(chat, fact("has", "dog"), {}).grade == "wrong"
    assert mark_fact(chat, fact("has", "dog", modality=Modality.POSSIBLE), {}).grade == "noise"
    unlisted = fact("rent", "920")
    assert mark_fact(chat, unlisted, {}).grade == "noise"
    assert mark_fact(chat, unlisted, {("tiny", str(unlisted)): "right"}).grade == "right"


def test_a_run_reports_its_half_with_shares_and_intervals(folder) -> None:
    """Through the engine's front door, with the mistakes of `dev` on request."""
    config = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
    report = run_everyday(folder, config=config)
    found = report.to_dict(errors=5)
    dev = found["dev"]
    assert dev["chats"] == 1
    assert dev["questions"] == 3
    assert sum(dev["answers"][mark]["share"] for mark in ("right", "wrong", "silent")) == pytest.approx(1)
    assert sum(sum(row.values()) for row in dev["checker"]["confusion"].values()) == 2
    assert found["turns"] == 4
    report.write_predictions(folder / "out")
    assert set(json.loads((folder / "out" / "dev.json").read_text())) == {"tiny"}


def test_what_is_no_chat_is_told_by_its_file(folder) -> None:
    """With the field that is missing."""
    (folder / "dev" / "other.json").write_text(json.dumps({**CHAT, "statements": [{"label": "true"}]}))
    with pytest.raises(FormatError, match=r"other\.json.*'text'"):
        read_chats(folder / "dev")
    with pytest.raises(NotFoundError, match="benchmarks/everyday"):
        read_chats(folder / "nowhere")


def test_grades_are_read_by_chat_and_fact(folder) -> None:
    """None without a file."""
    assert read_grades(folder / "grades.jsonl") == {}
    (folder / "grades.jsonl").write_text('{"chat": "tiny", "fact": "Tess | rent | 920", "grade": "right"}\n')
    assert read_grades(folder / "grades.jsonl") == {("tiny", "Tess | rent | 920"): "right"}


@pytest.mark.parametrize("half", ["dev", "held_out"])
def test_the_shipped_chats_can_be_read(half: str) -> None:
    """Eight of each half, none of them in both."""
    chats = read_chats(ROOT / "benchmarks" / "everyday" / half)
    assert len(chats) == 8
    assert all(60 <= len(chat.turns) <= 90 and 30 <= len(chat.queries) <= 40 for chat in chats)
