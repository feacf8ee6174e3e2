"""seq2seq: texts -> texts that a sequence-to-sequence model writes to them, scored.

Loaded by name through `doxa.backends.load("seq2seq", name)`:

| name | what it is |
|---|---|
| `hf:NAME` | a checkpoint such as COMET-BART or COMET-T5, by name or folder (extra `hf`) |
| `scripted` | writes what was given to it; a double for tests |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Generated", "Seq2Seq"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A text that a model wrote."""

    text: str
    """Without special tokens, and without spaces around it; may be empty."""
    score: float
    """The mean over its tokens of P(token | tokens before it, input), 0 to 1: equation 2 taken literally, so a mean of
    probabilities and not of their logarithms. Special tokens, such as the one that ends the sequence, are part of what
    a token is conditioned on and are not in the mean; a text without any other token has the score 0.

    Source: Liu et al., MCTS-Driven Knowledge Retrieval, section III-B, equation 2.
    """


class Seq2Seq(Protocol):
    """Writes texts to a text, by a model with an encoder and a decoder; each of them is scored by that model.

    The models are deterministic: the same call has the same answer.
    """

    @property
    def name(self) -> str:
        """Which model this is, such as `hf:mismayil/comet-bart-ai2`."""

    def generate(self, texts: Sequence[str], *, n: int, max_tokens: int) -> list[list[Generated]]:
        """Gives back at most `n` texts for each input, in the order in which the model prefers them.

        Args:
            texts: The inputs, as the model was trained to read them. Any text works, the empty one too; of one that is
                longer than what the model reads the end is kept, where such models are told what to do.
            n: Most texts for each input, 1 or more.
            max_tokens: Most tokens of a text, special ones included, 1 or more.

        Raises:
            InputError: `n` or `max_tokens` is below 1.
            BackendError: The model failed, or is not installed.
            ClosedError: It was closed.
        """

    def close(self) -> None:
        """Lets go of threads and memory; may be called twice."""
