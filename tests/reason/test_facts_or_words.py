"""Facts and what is read out of turns: which of the two answers."""

from unittest.mock import patch

from doxa.backends.reader import Reading, Span
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig
from doxa.engine import Doxa
from doxa.engine.answer import drafting

WORDS = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), engine=EngineConfig(settle_s=10))


class OneWord:
    """A reader that finds a word where it stands."""

    name = "one word"

    def __init__(self, word):
        self.word = word

    def read(self, pairs):
        """Every passage with the word answers."""
        return [self._reading(passage) for _, passage in pairs]

    def _reading(self, passage):
        start = passage.find(self.word)
        if start < 0:
            return Reading(answerable=0.01)
        span = Span(start=start, end=start + len(self.word), text=self.word, score=0.9)
        return Reading(answerable=0.7, spans=(span,))

    def close(self):
        """There is nothing to let go of."""


def answer(question, word, *said):
    """Return what is drafted after some turns by a memory whose reader sees one word, before it is weighed."""
    with patch.object(drafting, "chosen", lambda draft, *_: draft), Doxa.open(":memory:", config=WORDS) as doxa:
        doxa.parts.reader = OneWord(word)
        chat = doxa.dialogue(user="ana", speaker="Ana")
        for text in said:
            chat.absorb(text, at="2024-04-22")
        return chat.ask(question).value


def test_facts_that_cover_a_question_stand():
    """A reader is not even asked."""
    assert answer("Where do I live?", "Lima", "I live in Oslo.", "My sister likes Lima.") == "Oslo"


def test_a_fact_of_something_else_gives_way_to_what_is_read():
    """What Ana does all day is not what she realised."""
    said = ("I do a lot of yoga.", "After the race it hit me that patience wins.")
    assert answer("What did I realise after the race?", "patience wins", *said) == "patience wins"


def test_what_no_fact_answers_is_read():
    """The words of a turn answer where no fact does."""
    said = "That tattoo on my arm? Oh, freedom, pure and simple."
    assert answer("What does the tattoo on my arm mean?", "freedom", said) == "freedom"
