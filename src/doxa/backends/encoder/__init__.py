"""encoder: texts -> unit vectors.

Loaded by name through `doxa.backends.load("encoder", name)`:

| name | what it is |
|---|---|
| `builtin` | MiniLM-L6, int8, in the wheel; offline, CPU |
| `hf:NAME` | a sentence-transformers model, by name or folder (extra `hf`) |
| `openai:NAME` | an embeddings endpoint that speaks the OpenAI protocol |
| `hash` | hashed words; a double for tests |
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.caching import CachedEncoder

__all__ = ["CachedEncoder", "Encoder", "TokenEncoder"]


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity.

    The built-in encoder and the double are deterministic: a text has one vector, whatever else is in the call.
    """

    @property
    def name(self) -> str:
        """Which model this is, such as `builtin:minilm-l6-int8`; stored beside vectors to detect a change of model."""

    @property
    def dims(self) -> int:
        """The length of a vector; may ask a remote model once."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Gives back one row of unit length per text, `(n, dims) float32`; any text works, the empty one too.

        Raises:
            BackendError: The model failed, did not answer, or is not installed.
            ClosedError: The encoder was closed.
        """

    def close(self) -> None:
        """Lets go of threads, memory and connections; may be called twice."""


class TokenEncoder(Encoder, Protocol):
    """An encoder that can also tell the vectors of single tokens; of those that come with Doxa, the built-in one."""

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Gives back the unit vectors of the tokens of each text in its context, `(n_i, dims) float32`.

        Raises:
            BackendError: The model failed.
            ClosedError: The encoder was closed.
        """
