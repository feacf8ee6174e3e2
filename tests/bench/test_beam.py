"""BEAM on a small chat, and on its own files where they are at hand."""

import io
import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Citation, Reply
from doxa_bench import run_beam
from doxa_bench.beam import Asked, BeamQuestion, BeamReport, _cites_both, read_chats
from doxa_bench.cli.beam import show_beam

WORDS = Config(encoder=EncoderConfig(name="hash"))
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DOXA_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "measure" / "beam_100k"
NEEDS_DATA = pytest.mark.skipif(not FOLDER.exists(), reason="BEAM is not at hand")
FIRST = [
    {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I adopted a kitten. ->-> 1,1"},
    {"role": "assistant", "id": 1, "content": "Lovely! Kittens need food -> and water."},
]
SECOND = [{"role": "user", "id": 2, "time_anchor": "April-02-2024", "content": "I have never adopted a kitten."}]
BATCHES = [{"batch_number": 1, "turns": [FIRST]}, {"batch_number": 2, "turns": [SECOND]}]
QUESTIONS = {
    "contradiction_resolution": [
        {
            "question": "Have I adopted a kitten?",
            "source_chat_ids": {"first_statement": [2], "second_statement": [0]},
        }
    ],
    "information_extraction": [{"question": "What do kittens need?", "source_chat_ids": [1, 99]}],
    "abstention": [{"question": "Where does my uncle live?"}],
}


@pytest.fixture
def beam(tmp_path):
    """A folder with one chat of three turns and three questions."""
    (tmp_path / "3.chat.json").write_text(json.dumps(BATCHES), encoding="utf-8")
    (tmp_path / "3.questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return tmp_path


def test_a_time_anchor_dates_the_turns_up_to_the_next(beam):
    """And the place in the plan that the generator left behind a question is no part of the turn."""
    turns = read_chats(beam)[0].turns
    assert [turn.at.date().isoformat() for turn in turns] == ["2024-03-15", "2024-03-15", "2024-04-02"]
    assert turns[0].at == datetime(2024, 3, 15, 9, tzinfo=UTC) < turns[1].at
    assert [turn.text for turn in turns[:2]] == ["I adopted a kitten.", "Lovely! Kittens need food -> and water."]
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]


def test_sources_are_kept_by_side(beam):
    clash, found, unknown = read_chats(beam)[0].questions
    assert clash.sides == (frozenset({"turn-2"}), frozenset({"turn-0"}))
    assert found.sources == {"turn-1"} and unknown.sources == frozenset()


def test_sources_replies_and_marks_are_measured(beam):
    report = run_beam(beam, config=WORDS).to_dict(errors=9)
    assert set(report["retrieval"]) == {"contradiction_resolution", "information_extraction", "all"}
    assert list(report["retrieval"]["all"]) == ["doxa", "bm25", "dense", "rrf"]
    assert report["retrieval"]["all"]["bm25"]["recall@10"] == 1.0 and report["retrieval"]["all"]["doxa"]["n"] == 2
    assert report["contradictions"]["flagged"]["n"] == 1 and report["contradictions"]["false_flags"]["n"] == 2
    assert report["abstention"]["abstained"]["n"] == 1 and report["abstention"]["false_abstention"]["n"] == 1
    assert (report["chats"], report["turns"], report["questions"]) == (1, 3, 3)
    assert json.loads(json.dumps(report)) == report
    out = io.StringIO()
    show_beam(Console(file=out, width=140), report)
    assert "false flags" in out.getvalue() and "1 chats, 3 turns" in out.getvalue()


@pytest.mark.parametrize(
    ("sides", "cited", "both"),
    [
        ([{"a"}, {"b"}], "ab", True),
        ([{"a"}, {"b", "c"}], "ac", True),
        ([{"a"}, {"b"}], "a", False),
        ([{"a"}, {"a"}], "a", True),
        ([{"a"}], "a", False),
    ],
    ids=["both", "one of several", "one side", "both in one turn", "no sides"],
)
def test_a_reply_cites_both_sides(sides, cited, both):
    question = BeamQuestion(kind="contradiction_resolution", text="?", sides=tuple(map(frozenset, sides)))
    assert _cites_both(Reply(text="", citations=tuple(Citation(turn_id=one) for one in cited)), question) is both


def asked(kind, **marks):
    marks = {"disputed": False, "both_cited": False, "abstained": False} | marks
    return Asked(kind=kind, question="?", reply="", recall={}, ndcg={}, search_ms=1, ask_ms=1, **marks)


def test_marks_count_where_they_should_stand():
    """A contradiction is flagged by the mark together with both sides."""
    rows = (
        asked("contradiction_resolution", disputed=True, both_cited=True),
        asked("contradiction_resolution", disputed=True),
        asked("contradiction_resolution", both_cited=True),
        asked("summarization", disputed=True),
        asked("knowledge_update", abstained=True),
        asked("temporal_reasoning"),
        asked("abstention", abstained=True),
        asked("abstention"),
    )
    report = BeamReport(data="x", asked=rows, chats=1, turns=1, ingest_s=1).to_dict(errors=99)
    clashes, silent = report["contradictions"], report["abstention"]
    assert [clashes[name]["marked"] for name in ("flagged", "disputed", "both_cited", "false_flags")] == [1, 2, 2, 1]
    assert clashes["false_flags"]["n"] == 5
    assert silent["abstained"]["share"] == 0.5 and silent["false_abstention"]["share"] == 0.5
    assert silent["information_extraction"]["share"] is None
    kinds = [one["kind"] for one in report["errors"]]
    assert kinds == ["contradiction_resolution"] * 2 + ["summarization", "knowledge_update", "abstention"]


def test_what_is_no_chat_is_refused(beam, tmp_path):
    (tmp_path / "3.questions.json").unlink()
    with pytest.raises(NotFoundError, match=r"3\.questions\.json"):
        read_chats(beam)
    (tmp_path / "3.chat.json").write_text("{}", encoding="utf-8")
    (tmp_path / "3.questions.json").write_text("[]", encoding="utf-8")
    with pytest.raises(FormatError, match="BEAM"):
        read_chats(beam)
    with pytest.raises(NotFoundError, match="No BEAM"):
        read_chats(tmp_path / "nowhere")


@NEEDS_DATA
def test_the_ten_chats_are_read():
    chats = read_chats(FOLDER)
    assert [chat.name for chat in chats] == ["1", "3", "5", "7", "9", "11", "13", "15", "17", "19"]
    questions = Counter(question.kind for chat in chats for question in chat.questions)
    assert len(questions) == 10 and set(questions.values()) == {20}
    clashes = [one for chat in chats for one in chat.questions if one.kind == "contradiction_resolution"]
    assert all(len(one.sides) == 2 for one in clashes)
    assert all(turn.at.year > 2020 and "->->" not in turn.text[-12:] for chat in chats for turn in chat.turns)
