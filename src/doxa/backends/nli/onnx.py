"""The built-in NLI model: a cross-encoder on MiniLM-L6 with int8 weights, run by ONNX Runtime on the CPU.

Source: Bowman et al. 2015 (the task); Wang et al. 2020, MiniLM; Reimers and Gurevych 2019 (the weights it started
from). How it was trained, and how good it is: `training/nli`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import LABELS, Pair
from doxa.backends.onnx import SideBySide, encodable, encoded_pair, open_session, open_tokenizer, threads_of
from doxa.core.errors import BackendError, ConfigError

__all__ = ["OnnxNli", "open_nli"]

MODEL: Final = "minilm-l6-nli-int8"
MAX_CHARS: Final = 4_000  # about four times the text that fits into 256 tokens
OUTPUT: Final = "probabilities"

Row = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What `model.json` says about a model, and where it lies."""

    name: str
    folder: Path


def open_nli(name: str, *, threads: int | None = None, folder: Path | None = None) -> "OnnxNli":
    """Gives back the built-in NLI model; its weights are read on the first call of `classify`.

    Args:
        name: Empty or `minilm-l6-nli-int8`.
        threads: Pairs judged side by side; by default one per core, four at most.
        folder: Other weights of the same kind, as `training/nli` writes them.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    if name not in ("", MODEL):
        raise ConfigError(f"There is no built-in NLI model called {name!r}; there is {MODEL!r}. Write 'builtin'.")
    return OnnxNli(_read_card(folder or Path(__file__).parent / MODEL), threads=threads_of(threads))


class OnnxNli:
    """Deterministic: on one machine, a pair has one row, bit for bit, in any batch and order."""

    def __init__(self, card: ModelCard, *, threads: int) -> None:
        """Takes note of the model; nothing is loaded yet."""
        self._card = card
        self._rows: SideBySide[Pair, Row] = SideBySide(partial(_load, card), threads=threads, what="NLI model")

    @property
    def name(self) -> str:
        """`builtin:` and the name of the model."""
        return f"builtin:{self._card.name}"

    def classify(self, pairs: Sequence[Pair]) -> Row:
        """Gives back calibrated probabilities, `(n, 3) float32`. One call to the model per pair.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: It was closed.
        """
        rows = self._rows(pairs)
        return np.stack(rows) if rows else np.empty((0, len(LABELS)), dtype=np.float32)

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        self._rows.close()


def _load(card: ModelCard) -> Callable[[Pair], Row]:
    session = open_session(card.folder / "model.onnx", "NLI model")
    tokenizer = open_tokenizer(card.folder / "tokenizer.json", "NLI model")

    def run(pair: Pair) -> Row:
        premise, hypothesis = (encodable(text.lstrip()[:MAX_CHARS]) for text in pair)
        _, feed = encoded_pair(tokenizer, premise, hypothesis)
        try:
            row: Row = session.run([OUTPUT], feed)[0][0]
        except Exception as exc:  # its exception classes share no base of their own
            size = sum(map(len, pair))
            raise BackendError(f"The built-in NLI model failed on a pair of {size} characters: {exc}") from exc
        return row

    return run


def _read_card(folder: Path) -> ModelCard:
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return ModelCard(name=card["name"], folder=folder)
    except (OSError, ValueError, KeyError) as exc:
        raise BackendError(
            f"The NLI model in {folder} is not complete: {exc}. Reinstall doxa, or make it with training/nli."
        ) from exc
