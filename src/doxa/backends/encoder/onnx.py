"""The built-in encoder: MiniLM-L6 with int8 weights, run by ONNX Runtime on the CPU.

Source: Reimers and Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM. How it was made: `training/encoder`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean
from doxa.backends.encoder.tokens import open_token_model
from doxa.backends.onnx import (
    BuiltinModel,
    SideBySide,
    card_of,
    folder_of,
    model_input,
    open_session,
    open_tokenizer,
    shared,
    threads_of,
)

__all__ = ["OnnxEncoder", "open_encoder"]

MODEL: Final = "minilm-l6-int8"
MAX_CHARS: Final = 4_000  # about four times the text that fits into 256 tokens

Vector = NDArray[np.float32]


def open_encoder(name: str, *, threads: int | None = None) -> "OnnxEncoder":
    """Gives back the built-in encoder; its files are read on the first call of `encode`.

    Args:
        name: Empty or `minilm-l6-int8`.
        threads: Texts encoded side by side; by default one per core, four at most.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    return OnnxEncoder(folder_of(name, MODEL, Path(__file__).parent, "encoder"), threads=threads)


class OnnxEncoder(BuiltinModel[str, Vector]):
    """A text has one vector."""

    def __init__(self, folder: Path, *, threads: int | None) -> None:
        """Reads the card of the model and nothing else yet."""
        with card_of(folder, "encoder") as card:
            name, self._dims = card["name"], int(card["dims"])
        super().__init__(name, shared(_load, folder, folder), threads=threads, what="encoder")
        load_tokens = partial(open_token_model, folder, MAX_CHARS)
        self._tokens: SideBySide[str, Vector] = SideBySide(load_tokens, threads=threads_of(threads), what="encoder")

    @property
    def dims(self) -> int:
        """The length of a vector."""
        return self._dims

    def encode(self, texts: Sequence[str]) -> Vector:
        """Gives back one unit row per text, `(n, dims) float32`. One call to the model per text.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The encoder was closed.
        """
        rows = self._run(texts)
        return np.stack(rows) if rows else np.empty((0, self.dims), dtype=np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Gives back the vectors of the tokens of each text in its context, unit rows, `(n_i, dims) float32`.

        They are for measures that compare texts token by token, as BERTScore does. The model is opened a second time
        at the first call (its file is 23 MB); `encode` stays as it is. One call to the model per text.

        Returns:
            Per text, a row for each of its word pieces that fit into 256 tokens, without `[CLS]` and `[SEP]`; an empty
            text has none. The vector of `encode` is the mean of all tokens, those two among them, before they are
            brought to unit length: it points nearly, not exactly, where the mean of these rows does (cosine 0.98 and
            more for a sentence, 0.84 for a single word).

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The encoder was closed.
        """
        return self._tokens(texts)

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        super().close()
        self._tokens.close()


def _load(folder: Path) -> Callable[[str], Vector]:
    session = open_session(folder / "model.onnx", "encoder")
    tokenizer = open_tokenizer(folder / "tokenizer.json", "encoder")

    def run(text: str) -> Vector:
        tokens = tokenizer.encode(clean(text, MAX_CHARS))
        row: Vector = session.run(None, model_input(tokens), about=f"a text of {len(text)} characters")[0][0]
        return row

    return run
