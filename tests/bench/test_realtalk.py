"""REALTALK on two small chats, and on its own files where they are at hand."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_realtalk, run_realtalk_answers
from doxa_bench.realtalk import read_chats

WORDS = Config(encoder=EncoderConfig(name="hash"))
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DOXA_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "measure" / "realtalk"
NEEDS_DATA = pytest.mark.skipif(not FOLDER.exists(), reason="REALTALK is not at hand")


def message(turn_id, speaker, text, date_time, **more):
    return {"dia_id": turn_id, "speaker": speaker, "clean_text": text, "date_time": date_time, **more}


def chat(speaker):
    return {
        "name": {"speaker_1": speaker, "speaker_2": "Ben"},
        "session_2": [message("D2:1", "Ben", "I moved to Oslo.", "01.01.2024, 08:00:00")],
        "session_1": [
            message("D1:1", speaker, "I adopted a kitten.", "29.12.2023, 22:42:04"),
            message("D1:2", "Ben", "Nice!", "29.12.2023, 22:43:00", blip_caption="a telescope"),
        ],
        "qa": [
            {"question": "What did Kate adopt?", "answer": "A kitten", "evidence": ["D1:1"], "category": 1},
            {"question": "Where does Ben live?", "answer": "Oslo", "evidence": ["D 2:1."], "category": 3},
            {"question": "Why?", "answer": "Kate knows.", "evidence": ["D9:9"], "category": 2},
        ],
    }


@pytest.fixture
def realtalk(tmp_path):
    """A folder with two chats; in the first, questions have another name for a speaker."""
    for name, speaker in (("Chat_1_Emi_Ben", "Emi"), ("Chat_5_Kate_Ben", "Kate")):
        (tmp_path / f"{name}.json").write_text(json.dumps(chat(speaker)), encoding="utf-8")
    return tmp_path


def test_messages_keep_their_times_and_captions_and_sessions_their_order(realtalk):
    lines = read_chats(realtalk)[0].conversation.lines
    assert [line.turn_id for line in lines] == ["D1:1", "D1:2", "D2:1"]
    assert lines[0].at == datetime(2023, 12, 29, 22, 42, 4, tzinfo=UTC) and lines[2].session == "session_2"
    assert lines[1].text == "Nice! [image: a telescope]"


def test_a_speaker_is_called_as_in_the_chat(realtalk):
    """Only in the chat that the table names."""
    first, second = read_chats(realtalk)
    assert first.asked[0].text == "What did Emi adopt?" and first.asked[2].answer == "Emi knows."
    assert second.asked[0].text == "What did Kate adopt?"
    assert [question.category for question in first.asked] == ["multi-hop", "commonsense", "temporal"]
    assert (len(first.questions), first.skipped, first.unknown_evidence) == (2, 1, 1)


def test_evidence_is_measured_beside_baselines(realtalk):
    report = run_realtalk(realtalk, k=1, config=WORDS, limit=1).to_dict()
    assert report["benchmark"] == "realtalk" and report["n"] == 2 and report["turns"] == 3
    assert list(report["categories"]) == ["multi-hop", "commonsense"]
    assert {"doxa", "bm25", "dense"} < set(report["systems"]["all"])
    assert json.loads(json.dumps(report)) == report


def test_answers_are_measured_by_category(realtalk):
    report = run_realtalk_answers(realtalk, config=WORDS).to_dict(errors=9)
    assert report["benchmark"] == "realtalk-answers" and report["n"] == 6
    assert set(report["categories"]) == {"multi-hop", "temporal", "commonsense"}


def test_what_is_no_chat_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="No REALTALK"):
        read_chats(tmp_path)
    (tmp_path / "Chat_2_A_B.json").write_text('{"session_1": [{"speaker": "A"}]}', encoding="utf-8")
    with pytest.raises(FormatError, match="Chat_2_A_B"):
        read_chats(tmp_path)


@NEEDS_DATA
def test_the_three_chats_are_read():
    chats = read_chats(FOLDER)
    assert [len(one.conversation.lines) for one in chats] == [476, 1548, 1044]
    assert sum(len(one.asked) for one in chats) == 217
    assert not any("Kate" in question.text for question in chats[0].asked)
