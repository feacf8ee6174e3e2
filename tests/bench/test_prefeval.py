"""The PrefEval benchmark on three small preferences, and on its own files where they are at hand."""

import json
import os
from pathlib import Path

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import run_prefeval
from doxa_bench.distractors import Said, draw, read_distractors
from doxa_bench.prefeval import FORMS, read_prefeval, sample

WORDS = Config(encoder=EncoderConfig(name="hash"))
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DOXA_DATA", ROOT.parent / "shared" / "data"))
NEEDS_DATA = pytest.mark.skipif(not (DATA / "measure" / "prefeval").exists(), reason="PrefEval is not at hand")
PREFERENCE = {"preference": "I avoid stairs because of my knee.", "question": "Which hotel suits me, without stairs?"}
CHOICE = {
    "query": "Which room?",
    "assistant_options": "1. The attic. 2. The ground floor.",
    "user_selection": "The ground floor please, no stairs.",
    "assistant_acknowledgment": "Good choice.",
}
PERSONA = {
    "10": {"user": "Thanks for all of it.", "assistant": "You are welcome."},
    "2": {"user": "My knee hurts, so I avoid stairs.", "assistant": "Get well soon."},
    "0": {"user": "Hello!", "assistant": "Hello."},
}
CHATS = [
    {"turns": [{"role": "user", "content": "Tell me about rivers."}, {"role": "assistant", "content": "They flow."}]}
]
SERVICES = [{"turns": [{"speaker": "USER", "utterance": "A taxi."}, {"speaker": "SYSTEM", "utterance": "When?"}]}]


@pytest.fixture
def prefeval(tmp_path):
    """A data folder with one preference in three forms, and two sessions of distractors; gives its folder."""
    folder, opened = tmp_path / "measure" / "prefeval", tmp_path / "open"
    for where in (folder, opened / "longmemeval", opened / "sgd"):
        where.mkdir(parents=True)
    entries = {
        "explicit": PREFERENCE,
        "choice": {**PREFERENCE, "conversation": CHOICE},
        "persona": {**PREFERENCE, "conversation": PERSONA},
    }
    for form, entry in entries.items():
        (folder / f"{FORMS[form]}__hotels.json").write_text(json.dumps([entry]), encoding="utf-8")
    (opened / "longmemeval" / "haystack_session_pool.json").write_text(json.dumps(CHATS), encoding="utf-8")
    (opened / "sgd" / "dev_dialogues_001.json").write_text(json.dumps(SERVICES), encoding="utf-8")
    return folder


def test_a_preference_is_found_in_every_form(prefeval):
    report = run_prefeval(prefeval, turns_between=6, config=WORDS).to_dict()
    assert report["items"] == 3 and report["turns"] == (1 + 4 + 6) + 3 * 6
    for form in FORMS:
        assert report["forms"][form]["doxa"]["recall@5"] == 1.0
        assert report["forms"][form]["bm25"]["recall@1"] == 1.0
    assert set(report["all"]) == {"doxa", "bm25", "dense", "rrf"}
    assert report["implicit"]["doxa"]["n"] == 2 and list(report["topics"]) == ["hotels"]
    assert report["tokens"]["history"] > report["tokens"]["evidence"] > 0
    assert json.loads(json.dumps(report)) == report


def test_the_turn_that_states_it_is_the_one_nearest_to_the_preference(prefeval):
    persona = next(item for item in read_prefeval(prefeval) if item.form == "persona")
    assert [turn.text for turn in persona.turns][::2] == [
        "Hello!",
        "My knee hurts, so I avoid stairs.",
        "Thanks for all of it.",
    ]
    assert persona.stated == (0, 2, 4)
    found = run_prefeval(prefeval, turns_between=2, config=WORDS).found
    assert next(one for one in found if one.form == "persona").ranks["bm25"] == 1, "not the greeting"


def test_a_sample_is_the_same_preferences_in_every_form():
    items = [item(form, topic, number) for form in FORMS for topic in "ab" for number in range(3)]
    drawn = sample(items, 3)
    assert {(one.topic, one.number) for one in drawn} == {("a", 0), ("b", 0), ("a", 1)}
    assert len(drawn) == 9


def item(form, topic, number):
    from doxa_bench.prefeval import PrefItem

    return PrefItem(form=form, topic=topic, number=number, preference="", question="", turns=(), stated=())


def test_distractors_come_in_both_roles_and_in_one_order_by_seed(prefeval):
    sessions = read_distractors(prefeval.parent.parent / "open")
    assert [session[0].text for session in sessions] == ["Tell me about rivers.", "A taxi."]
    drawn = draw(sessions, turns=7, seed=3)
    assert sum(map(len, drawn)) == 7 and draw(sessions, turns=7, seed=3) == drawn
    assert {turn.role for session in drawn for turn in session} == {"user", "assistant"}


def test_a_long_turn_is_cut_at_a_sentence(prefeval):
    chats = prefeval.parent.parent / "open" / "longmemeval" / "haystack_session_pool.json"
    content = [{"turns": [{"role": "user", "content": "One. " * 200}, {"role": "assistant", "content": "x " * 500}]}]
    chats.write_text(json.dumps(content), encoding="utf-8")
    first, second = read_distractors(chats.parents[1])[0]
    assert isinstance(first, Said) and first.text.endswith("One.") and len(first.text) <= 600
    assert second.text.endswith("x") and len(second.text) <= 600


def test_missing_files_are_told(prefeval, tmp_path):
    with pytest.raises(NotFoundError, match="No files of PrefEval"):
        run_prefeval(tmp_path, config=WORDS)
    with pytest.raises(NotFoundError, match="No distractors"):
        run_prefeval(prefeval, distractors=tmp_path / "none", config=WORDS)


def test_a_file_in_another_form_is_told(prefeval):
    (prefeval / f"{FORMS['choice']}__hotels.json").write_text(
        '[{"preference": "x", "question": "y"}]', encoding="utf-8"
    )
    with pytest.raises(FormatError, match="'choice'"):
        run_prefeval(prefeval, config=WORDS)


@NEEDS_DATA
def test_the_published_files_are_a_thousand_preferences_in_three_forms():
    items = read_prefeval(DATA / "measure" / "prefeval")
    assert {form: sum(item.form == form for item in items) for form in FORMS} == dict.fromkeys(FORMS, 1000)
    assert len({item.topic for item in items}) == 20
