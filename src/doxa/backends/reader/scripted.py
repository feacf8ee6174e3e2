"""A reader that knows the answers it was given, for tests and examples."""

from collections.abc import Mapping, Sequence

from doxa.backends.reader import Pair, Reading, Span
from doxa.core.errors import ClosedError, ConfigError

__all__ = ["ScriptedReader", "open_reader"]

SURE, UNSURE = 0.95, 0.02


class ScriptedReader:
    """Finds the answer that it was given for a question in the passages that hold it; keeps what it was asked."""

    def __init__(self, answers: Mapping[str, str], name: str = "scripted") -> None:
        """Takes answers by question, as it is put to the speaker of the passage ("what did i buy?").

        Raises:
            ConfigError: An answer is empty.
        """
        if not all(answers.values()):
            raise ConfigError("Expected answers with text, got an empty one.")
        self._answers = dict(answers)
        self._name = name
        self._closed = False
        self.asked: list[Pair] = []

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """Gives back one reading per pair."""
        if self._closed:
            raise ClosedError("The reader was closed; open a new one.")
        self.asked.extend(pairs)
        return [self._reading(question, passage) for question, passage in pairs]

    def close(self) -> None:
        """Takes no more questions."""
        self._closed = True

    def _reading(self, question: str, passage: str) -> Reading:
        answer = self._answers.get(question, "")
        start = passage.find(answer) if answer else -1
        if start < 0:
            return Reading(answerable=UNSURE)
        span = Span(start=start, end=start + len(answer), text=answer, score=SURE)
        return Reading(answerable=SURE, spans=(span,))


def open_reader(name: str = "", *, answers: Mapping[str, str] | None = None) -> ScriptedReader:
    """Gives back a reader that knows some answers."""
    return ScriptedReader(answers or {}, name or "scripted")
