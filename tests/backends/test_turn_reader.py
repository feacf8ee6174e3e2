"""The built-in parser reads turns: what it hears stands in the lines it was given, and depends on them alone."""

from collections.abc import Iterator, Sequence

import pytest

from doxa.backends import load
from doxa.backends.parser import Heard, Line, Parse, Parser, Place, TurnReader, cached
from doxa.core.errors import ClosedError

CHAT = (
    Line("Ana", "My brother Piet works for a mill in Ghent since May."),
    Line("Bea", "Does he like it?"),
    Line("Ana", "He hates the noise, and my sister Vera, who sells boats, bought two horses yesterday."),
)
JUNK = ("", " ", "\ud800", "\x00", "🧑‍🚀" * 50, "ẍ" * 3_000, "漢字かな交じり文", "and then " * 2_000)


@pytest.fixture(scope="module")
def reader() -> Iterator[Parser]:
    """The parser in the wheel."""
    parser = load("parser", "builtin")
    yield parser
    parser.close()


def words(lines: Sequence[Line], place: Place) -> str:
    """Return what stands at a place."""
    line = lines[place.line]
    return line.speaker if place.start < 0 else line.text[place.start : place.end]


def test_claims_stand_in_the_words_of_the_lines(reader: Parser) -> None:
    """Who is told of, and what, in the words that say it."""
    assert isinstance(reader, TurnReader)
    heard = reader.hear([CHAT[:1]])[0]
    told = {(words(CHAT, one.subject), words(CHAT, one.object)) for one in heard.claims}
    assert {("My", "Piet"), ("Piet", "a mill")} <= told
    (since,) = {words(CHAT, place) for one in heard.claims for part, place in one.times if part == "from"}
    assert since == "since May"


def test_words_that_refer_have_what_they_mean(reader: Parser) -> None:
    """ "He" means who was named two lines before, and "who" the sister."""
    assert isinstance(reader, TurnReader)
    heard = reader.hear([CHAT])[0]
    meant = {words(CHAT, one): words(CHAT, goal) for one, goal in heard.meant}
    assert meant["He"].endswith("Piet")
    assert meant["who"].endswith("Vera")


def test_a_question_that_claims_nothing_still_refers(reader: Parser) -> None:
    """ "He" is Piet, whatever is said of him."""
    assert isinstance(reader, TurnReader)
    heard = reader.hear([CHAT[:2]])[0]
    assert not heard.claims
    assert {words(CHAT, one): words(CHAT, goal) for one, goal in heard.meant}["he"].endswith("Piet")


def test_sentences_of_a_turn_are_parsed_on_the_way(reader: Parser) -> None:
    """Each with the places of its words."""
    assert isinstance(reader, TurnReader)
    line = Line("Ana", "I left. Vera stayed at home.")
    heard = reader.hear([[line]])[0]
    assert [parse.forms for _, parse in heard.parses] == [("I", "left", "."), ("Vera", "stayed", "at", "home", ".")]
    for starts, parse in heard.parses:
        assert all(line.text.startswith(form, start) for form, start in zip(parse.forms, starts, strict=True))


def test_a_turn_is_heard_the_same_in_any_company(reader: Parser) -> None:
    """Bit for bit, whatever else is in the call."""
    assert isinstance(reader, TurnReader)
    alone = [reader.hear([CHAT[: at + 1]])[0] for at in range(3)]
    assert reader.hear([CHAT[:1], CHAT[:2], CHAT]) == alone


@pytest.mark.parametrize("text", JUNK, ids=range(len(JUNK)))
def test_any_text_is_heard_without_an_error(reader: Parser, text: str) -> None:
    """Nothing in it, signs, words without end, too many words."""
    assert isinstance(reader, TurnReader)
    heard = reader.hear([[Line("Ana", text)]])[0]
    assert all(0 < one.p <= 1 and one.object.end <= len(text) for one in heard.claims)


def test_a_closed_reader_says_so() -> None:
    """After `close()`, `hear` raises our error."""
    parser = load("parser", "builtin")
    parser.close()
    with pytest.raises(ClosedError):
        parser.hear([CHAT])


class Counting:
    """A double that reads nothing and writes down what it was given."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Is not asked."""
        raise NotImplementedError

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Notes the last lines."""
        self.asked += [lines[-1].text for lines in turns]
        return [Heard(claims=(), meant=(), parses=()) for _ in turns]

    def close(self) -> None:
        """Has nothing to close."""


def test_a_turn_reaches_the_model_once() -> None:
    """Unless it stands behind other turns, or was forgotten."""
    inner = Counting()
    kept = cached(inner)
    assert isinstance(kept, TurnReader)
    kept.hear([CHAT[:1], CHAT[:1]])
    kept.hear([CHAT[:1]])
    kept.hear([(CHAT[1], CHAT[0])])
    assert inner.asked == [CHAT[0].text] * 2
    kept.forget()
    kept.hear([CHAT[:1]])
    assert inner.asked == [CHAT[0].text] * 3


def test_who_only_parses_hears_nothing() -> None:
    """A parser that does not read turns is remembered all the same."""

    class Plain:
        name = "plain"

        def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
            raise NotImplementedError

        def close(self) -> None:
            """Has nothing to close."""

    assert not isinstance(cached(Plain()), TurnReader)
