"""The built-in encoder: MiniLM-L6 with int8 weights, run by ONNX Runtime on the CPU.

Source: Reimers and Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM. How it was made: `training/encoder`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean
from doxa.backends.encoder.tokens import open_token_model
from doxa.backends.onnx import SideBySide, model_input, open_session, open_tokenizer, threads_of
from doxa.core.errors import BackendError, ConfigError

__all__ = ["OnnxEncoder", "open_encoder"]

MODEL: Final = "minilm-l6-int8"
MAX_CHARS: Final = 4_000  # about four times the text that fits into 256 tokens

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What `model.json` says about a model that ships with Doxa."""

    name: str
    dims: int
    folder: Path


def open_encoder(name: str, *, threads: int | None = None) -> "OnnxEncoder":
    """Gives back the built-in encoder; its files are read on the first call of `encode`.

    Args:
        name: Empty or `minilm-l6-int8`.
        threads: Texts encoded side by side; by default one per core, four at most.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    if name not in ("", MODEL):
        raise ConfigError(f"There is no built-in encoder called {name!r}; there is {MODEL!r}. Write 'builtin'.")
    return OnnxEncoder(_read_card(Path(__file__).parent / MODEL), threads=threads_of(threads))


class OnnxEncoder:
    """Deterministic: on one machine, a text has one vector, bit for bit, in any batch and order."""

    def __init__(self, card: ModelCard, *, threads: int) -> None:
        """Takes note of the model; nothing is loaded yet."""
        self._card = card
        self._rows: SideBySide[str, Vector] = SideBySide(partial(_load, card), threads=threads, what="encoder")
        load_tokens = partial(open_token_model, card.folder, MAX_CHARS)
        self._tokens: SideBySide[str, Vector] = SideBySide(load_tokens, threads=threads, what="encoder")

    @property
    def name(self) -> str:
        """`builtin:` and the name of the model."""
        return f"builtin:{self._card.name}"

    @property
    def dims(self) -> int:
        """The length of a vector."""
        return self._card.dims

    def encode(self, texts: Sequence[str]) -> Vector:
        """Gives back one unit row per text, `(n, dims) float32`. One call to the model per text.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The encoder was closed.
        """
        rows = self._rows(texts)
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
        self._rows.close()
        self._tokens.close()


def _load(card: ModelCard) -> Callable[[str], Vector]:
    session = open_session(card.folder / "model.onnx", "encoder")
    tokenizer = open_tokenizer(card.folder / "tokenizer.json", "encoder")

    def run(text: str) -> Vector:
        tokens = tokenizer.encode(clean(text, MAX_CHARS))
        try:
            row: Vector = session.run(None, model_input(tokens))[0][0]
        except Exception as exc:  # its exception classes share no base of their own
            raise BackendError(f"The built-in encoder failed on a text of {len(text)} characters: {exc}") from exc
        return row

    return run


def _read_card(folder: Path) -> ModelCard:
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return ModelCard(name=card["name"], dims=card["dims"], folder=folder)
    except (OSError, ValueError, KeyError) as exc:
        raise BackendError(f"The built-in encoder is not complete: {exc}. Reinstall doxa.") from exc
