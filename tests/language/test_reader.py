"""What a sentence says as frames, with places in the turn as it was typed."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from doxa.backends.parser import CachedParser
from doxa.backends.registry import load
from doxa.core.values import Turn
from doxa.language.reader import read_sentences

AT = datetime(2026, 6, 1, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def parser():
    parser = CachedParser(load("parser", "builtin"))
    yield parser
    parser.close()


def read(parser, text):
    turn = Turn(turn_id="t", user="ana", session="s", speaker="Ana", role="user", text=text, at=AT)
    return read_sentences(turn, parser)


def test_places_are_those_in_the_turn(parser):
    """Line breaks, chat spelling and sentences before it move nothing."""
    text = "ok so...\nMy brother bought 12 old chairs. didn't he pay\nnothing for them?"
    for sentence in read(parser, text):
        assert " ".join(text[sentence.start :].split("\n")).startswith(sentence.text)
        for frame in sentence.frames:
            assert text[frame.start : frame.end].strip() == text[frame.start : frame.end] != ""
            for argument in frame.arguments:
                assert argument.label in text[argument.start : argument.end].replace("\n", " ")


def test_a_frame_has_its_predicate_and_what_it_is_said_with(parser):
    """Numbers and prepositions are apart from the noun."""
    text = "My brother bought 12 old chairs in Lyon."
    (frame,) = read(parser, text)[0].frames
    assert (frame.verb, text[frame.start : frame.end]) == ("buy", "bought")
    assert frame.subject is not None
    assert text[frame.subject.start : frame.subject.end] == "My brother"
    chairs = next(one for one in frame.arguments if one.role == "object")
    assert (chairs.head, chairs.value, chairs.label) == ("chair", Fraction(12), "old chairs")
    assert text[chairs.start : chairs.end] == "12 old chairs"
    place = next(one for one in frame.arguments if one.role == "in")
    assert (place.label, place.name) == ("Lyon", True)


def test_what_follows_a_verb_may_have_frames_of_its_own(parser):
    """A subject that is left out is that of the clause before."""
    frames = read(parser, "Rosa sold two lamps and kept the third.")[0].frames
    assert [frame.verb for frame in frames] == ["sell", "keep"]
    assert {frame.subject.label for frame in frames if frame.subject} == {"Rosa"}


def test_a_question_is_told_from_what_is_stated(parser):
    """By its mark; polarity is that of the predicate."""
    said, asked = read(parser, "Rosa did not sell the lamp. Will she keep it?")
    assert (said.question, asked.question) == (False, True)
    assert said.frames[0].negative
    assert asked.frames[0].future
    assert not asked.frames[0].negative


@pytest.mark.parametrize("text", ["", "\n\n", "?!", "  …  ", "ok", "\u200b", "12", "a" * 3000])
def test_any_text_is_read(parser, text):
    """Whatever comes, there is an answer and no place outside of the turn."""
    for sentence in read(parser, text):
        for frame in sentence.frames:
            assert 0 <= frame.start < frame.end <= len(text)
