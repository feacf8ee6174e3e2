"""A sequence-to-sequence model that knows the texts it was given, for tests and examples."""

from collections.abc import Mapping, Sequence

from doxa.backends.seq2seq import Generated
from doxa.core.errors import BackendError, ClosedError, ConfigError, InputError

__all__ = ["Answer", "ScriptedSeq2Seq", "open_seq2seq"]

Answer = Sequence[Generated] | BackendError
"""What is written to a text, best first, or the error that it ends in."""


class ScriptedSeq2Seq:
    """Writes what it was given for a text, and nothing to any other; keeps what it was asked."""

    def __init__(self, answers: Mapping[str, Answer], name: str = "scripted") -> None:
        """Takes answers by text.

        Raises:
            ConfigError: A score is not within 0 and 1.
        """
        for text, answer in answers.items():
            if not isinstance(answer, BackendError) and not all(0 <= one.score <= 1 for one in answer):
                raise ConfigError(f"Expected scores from 0 to 1, got {[one.score for one in answer]} for {text!r}.")
        self._answers = dict(answers)
        self._name = name
        self._closed = False
        self.asked: list[tuple[str, ...]] = []
        """The texts of each call."""

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def generate(self, texts: Sequence[str], *, n: int, max_tokens: int) -> list[list[Generated]]:
        """Gives back the first `n` of what it was given for each text; `max_tokens` shortens nothing.

        Raises:
            InputError: `n` or `max_tokens` is below 1.
            BackendError: One of the answers is that error.
            ClosedError: It was closed.
        """
        if self._closed:
            raise ClosedError("The sequence-to-sequence model was closed; open a new one.")
        if n < 1 or max_tokens < 1:
            raise InputError(f"Expected n and max_tokens of 1 or more, got {n} and {max_tokens}.")
        self.asked.append(tuple(texts))
        return [self._written(text, n) for text in texts]

    def close(self) -> None:
        """Takes no more texts."""
        self._closed = True

    def _written(self, text: str, n: int) -> list[Generated]:
        answer = self._answers.get(text, ())
        if isinstance(answer, BackendError):
            raise answer
        return list(answer[:n])


def open_seq2seq(name: str = "", *, answers: Mapping[str, Answer] | None = None) -> ScriptedSeq2Seq:
    """Gives back a sequence-to-sequence model that knows some texts."""
    return ScriptedSeq2Seq(answers or {}, name or "scripted")
