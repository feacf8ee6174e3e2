"""The built-in NLI model: a cross-encoder on MiniLM-L6 with int8 weights, run by ONNX Runtime on the CPU.

Source: Bowman et al. 2015 (the task); Wang et al. 2020, MiniLM; Reimers and Gurevych 2019 (the weights it started
from). How it was trained, and how good it is: `training/nli`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import LABELS, Pair
from doxa.backends.onnx import (
    BuiltinModel,
    card_of,
    encodable,
    encoded_pair,
    folder_of,
    open_session,
    open_tokenizer,
    shared,
)

__all__ = ["OnnxNli", "open_nli"]

MODEL: Final = "minilm-l6-nli-int8"
MAX_CHARS: Final = 4_000  # about four times the text that fits into 256 tokens
OUTPUT: Final = "probabilities"

Row = NDArray[np.float32]


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
    own = folder_of(name, MODEL, Path(__file__).parent, "NLI model")
    return OnnxNli(folder or own, threads=threads)


class OnnxNli(BuiltinModel[Pair, Row]):
    """A pair has one row."""

    def __init__(self, folder: Path, *, threads: int | None) -> None:
        """Reads the card of the model and nothing else yet."""
        with card_of(folder, "NLI model", recipe="training/nli") as card:
            name = card["name"]
        super().__init__(name, shared(_load, folder, folder), threads=threads, what="NLI model")

    def classify(self, pairs: Sequence[Pair]) -> Row:
        """Gives back calibrated probabilities, `(n, 3) float32`. One call to the model per pair.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: It was closed.
        """
        rows = self._run(pairs)
        return np.stack(rows) if rows else np.empty((0, len(LABELS)), dtype=np.float32)


def _load(folder: Path) -> Callable[[Pair], Row]:
    session = open_session(folder / "model.onnx", "NLI model")
    tokenizer = open_tokenizer(folder / "tokenizer.json", "NLI model")

    def run(pair: Pair) -> Row:
        premise, hypothesis = (encodable(text.lstrip()[:MAX_CHARS]) for text in pair)
        _, feed = encoded_pair(tokenizer, premise, hypothesis)
        row: Row = session.run([OUTPUT], feed, about=f"a pair of {sum(map(len, pair))} characters")[0][0]
        return row

    return run
