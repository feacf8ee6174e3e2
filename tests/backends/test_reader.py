"""Readers find answers in passages, or say that there is none."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.reader import onnx
from doxa.backends.reader.onnx import open_reader, spans_of
from doxa.core.errors import BackendError, ClosedError, ConfigError

PASSAGE = "i: I bought a hat."
WEIGHTS = Path(onnx.__file__).parent / onnx.MODEL
OFFSETS = [(0, 1), (1, 2), (3, 4), (5, 11), (12, 13), (14, 17), (17, 18)]


def _ends(first: int, last: int) -> np.ndarray:
    ends = np.full((len(OFFSETS), 2), -4.0, dtype=np.float32)
    ends[first, 0] = ends[last, 1] = 4.0
    return ends


def test_the_likeliest_span_runs_from_its_first_to_its_last_token() -> None:
    """Both ends are cut out of the passage as it is written."""
    spans = spans_of(_ends(4, 5), OFFSETS, PASSAGE)
    assert spans[0].text == "a hat"
    assert PASSAGE[spans[0].start : spans[0].end] == spans[0].text
    assert spans[0].score > 0.9


def test_no_span_ends_before_it_begins() -> None:
    """The likeliest ends in the wrong order are no span."""
    assert all(span.start < span.end for span in spans_of(_ends(5, 2), OFFSETS, PASSAGE))


def test_further_spans_do_not_overlap() -> None:
    """Every span that is given back has words of its own."""
    spans = spans_of(_ends(4, 5), OFFSETS, PASSAGE)
    places = [set(range(span.start, span.end)) for span in spans]
    assert all(not one & two for at, one in enumerate(places) for two in places[:at])


def test_a_passage_without_tokens_has_no_spans() -> None:
    """Nothing to read gives nothing."""
    assert spans_of(np.empty((0, 2), dtype=np.float32), [], "") == ()


def test_a_scripted_reader_answers_where_the_passage_holds_the_answer() -> None:
    """It is sure there, and unsure elsewhere."""
    reader = load("reader", "scripted", answers={"what did i buy?": "a hat"})
    here, elsewhere = reader.read([("what did i buy?", PASSAGE), ("what did i buy?", "i: Hello.")])
    assert here.spans[0].text == "a hat"
    assert here.answerable > 0.5 > elsewhere.answerable
    assert not elsewhere.spans


def test_a_closed_scripted_reader_says_so() -> None:
    """Use after the end is a mistake of the caller."""
    reader = load("reader", "scripted")
    reader.close()
    with pytest.raises(ClosedError):
        reader.read([("what?", "i: this.")])


def test_a_folder_without_a_model_is_reported_with_the_way_out(tmp_path: Path) -> None:
    """The message names the folder and the recipe."""
    with pytest.raises(BackendError, match="training/reader"):
        open_reader("", folder=tmp_path)
    (tmp_path / "model.json").write_text(json.dumps({"name": "x", "calibration": [1.0]}), encoding="utf-8")
    with pytest.raises(BackendError, match="not complete"):
        open_reader("", folder=tmp_path)


def test_an_unknown_built_in_reader_is_refused() -> None:
    """Its name is part of the message."""
    with pytest.raises(ConfigError, match="nonesuch"):
        load("reader", "builtin:nonesuch")


@pytest.fixture(scope="module")
def reader():
    """The built-in reader."""
    model = load("reader", "builtin", threads=1)
    yield model
    model.close()


@pytest.mark.parametrize(
    ("question", "passage", "answer"),
    [
        ("what did i buy?", "i: I bought a red bicycle at the market.", "red bicycle"),
        ("where does my brother live?", "you: How is your brother? i: He lives in Lisbon now.", "Lisbon"),
        ("who taught me to swim?", "i: My aunt Vera taught me to swim when I was six.", "aunt Vera"),
    ],
)
def test_the_built_in_reader_finds_the_words_that_answer(reader, question, passage, answer) -> None:
    """The likeliest span holds the answer and little else."""
    (found,) = reader.read([(question, passage)])
    assert answer in found.spans[0].text
    assert len(found.spans[0].text) < 2 * len(answer)


def test_the_built_in_reader_sees_where_nothing_answers(reader) -> None:
    """A turn about something else, or about the other person, is less likely to answer."""
    here, elsewhere, other = reader.read([
        ("what did i buy?", "i: I bought a red bicycle at the market."),
        ("what did i buy?", "i: My sister lives in Oslo."),
        ("what did you buy?", "i: I bought a red bicycle at the market."),
    ])  # fmt: skip
    assert here.answerable > 0.5 > elsewhere.answerable
    assert here.answerable > other.answerable


def test_a_pair_has_one_reading_in_any_batch(reader) -> None:
    """A replay gives the same, bit for bit."""
    pairs = [("what did i buy?", "i: I bought a red bicycle at the market."), ("who am i?", "i: I am Ana. " * 200)]
    assert reader.read(pairs) == [*reader.read(pairs[:1]), *reader.read(pairs[1:])]
    assert reader.read(pairs) == reader.read(pairs[::-1])[::-1]


def test_anything_can_be_read(reader) -> None:
    """A question that fills the window, text of one token a letter, nothing at all, a lone surrogate."""
    assert len(reader.read([("\u6f22" * 500, "i: " + "\u5b57" * 3000), ("", ""), ("who?", "i: \ud800 Ana")])) == 3


def test_a_reader_does_not_stand_on_other_weights(tmp_path: Path) -> None:
    """The trunk is the NLI model's; if that changes, the reader has to be made again."""
    folder = Path(shutil.copytree(WEIGHTS, tmp_path / "reader"))
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    card["trunk"]["sha256"] = "0" * 64
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(BackendError, match="other weights"):
        open_reader("", folder=folder).read([("who am i?", "i: I am Ana.")])


def test_the_files_are_those_that_were_made() -> None:
    """The card tells the checksum of the model."""
    card = json.loads((WEIGHTS / "model.json").read_text(encoding="utf-8"))
    assert hashlib.sha256((WEIGHTS / "model.onnx").read_bytes()).hexdigest() == card["sha256"]
