"""AMR from a language model: a prompt with examples, a check of the answer, and a second try with what was wrong."""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Final

from doxa.backends.amr.notation import Unreadable, find_graph
from doxa.core.errors import BackendReplyError, ClosedError, ConfigError

__all__ = ["PROMPT_VERSION", "Ask", "PromptedParser", "open_parser"]

PROMPT_VERSION: Final = "amr-1"
ATTEMPTS: Final = 3
MAX_CHARS: Final = 2_000

Ask = Callable[[Sequence[tuple[str, str]]], str]
"""From `(role, text)` messages, oldest first, to the model's answer. Kinds of backends do not know each other, so the
engine hands over a model as this function."""


def open_parser(rest: str = "", *, ask: Ask | None = None, attempts: int = ATTEMPTS) -> "PromptedParser":
    """Gives back a parser that asks a language model.

    Args:
        rest: A name for traces; nothing else follows from it.
        ask: How to ask the model.
        attempts: How often one sentence is asked about.

    Raises:
        ConfigError: No model, or no attempt.
    """
    if ask is None:
        raise ConfigError("The AMR parser 'llm' needs a language model, and none is configured. Set DOXA_LLM.")
    if attempts < 1:
        raise ConfigError(f"Expected attempts of 1 or more, got {attempts}.")
    return PromptedParser(ask, name=f"llm:{rest}" if rest else "llm", attempts=attempts)


class PromptedParser:
    """One call per sentence, and one more for each answer that cannot be read, up to `attempts`."""

    def __init__(self, ask: Ask, *, name: str, attempts: int) -> None:
        """Takes the way to ask; the model stays its owner's."""
        self._ask = ask
        self._name = name
        self._attempts = attempts
        self._prompt = files("doxa.backends.amr").joinpath("prompt.txt").read_text(encoding="utf-8")
        self._closed = False

    @property
    def name(self) -> str:
        """`llm`, and the name of the model if it was given."""
        return self._name

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Gives back one graph per sentence; see `AmrParser`."""
        if self._closed:
            raise ClosedError("The AMR parser was closed; open a new one.")
        return [self._graph(sentence) for sentence in sentences]

    def close(self) -> None:
        """Asks no more."""
        self._closed = True

    def _graph(self, sentence: str) -> str:
        messages = [("system", self._prompt), ("user", f"Sentence: {sentence[:MAX_CHARS]}")]
        reply = problem = ""
        for _ in range(self._attempts):
            reply = self._ask(messages)
            try:
                return find_graph(reply)
            except Unreadable as exc:
                problem = str(exc)
            complaint = f"That cannot be used: {problem}. Write the whole graph again, and nothing else."
            # Some chat templates turn down an empty message.
            messages = [*messages[:2], ("assistant", reply.strip() or "(nothing)"), ("user", complaint)]
        raise BackendReplyError(
            f"Expected an AMR graph of {sentence[:80]!r} from {self.name}, asked {self._attempts} times; the last "
            f"answer cannot be used: {problem}. Try a larger model, or a SPRING service.",
            reply=reply,
        )
