"""The built-in encoder: MiniLM-L6 with int8 weights, run by ONNX Runtime on the CPU.

The model multiplies in int8 with a scale that it computes from all numbers of a call, so the vector of a text
would depend on its neighbours in a batch. Replay after a crash must give the same vectors, so every text is a
call of its own, without padding, and a few threads run the calls side by side.

Source: Reimers and Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM. How it was made: `training/encoder`.
"""

import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean
from doxa.core.errors import BackendError, ClosedError, ConfigError, MissingDependencyError

__all__ = ["OnnxEncoder", "open_encoder"]

MODEL: Final = "minilm-l6-int8"
MAX_CHARS: Final = 4_000  # about four times the text that fits into 256 tokens
MAX_THREADS: Final = 4
QUIET: Final = 4  # ONNX Runtime: fatal messages only

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
    if threads is not None and threads < 1:
        raise ConfigError(f"Expected threads of 1 or more, got {threads}.")
    return OnnxEncoder(_read_card(Path(__file__).parent / MODEL), threads=threads or _cores())


class OnnxEncoder:
    """Deterministic: on one machine, a text has one vector, bit for bit, in any batch and order."""

    def __init__(self, card: ModelCard, *, threads: int) -> None:
        """Takes note of the model; nothing is loaded yet."""
        self._card = card
        self._threads = threads
        self._lock = threading.Lock()
        self._run: Callable[[str], Vector] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

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
        run, pool = self._start()
        if len(texts) < 2 or self._threads == 1:
            rows = [run(text) for text in texts]
        else:
            rows = list(pool.map(run, texts))
        return np.stack(rows) if rows else np.empty((0, self.dims), dtype=np.float32)

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        with self._lock:
            pool, self._pool, self._run, self._closed = self._pool, None, None, True
        if pool is not None:
            pool.shutdown(wait=True)

    def _start(self) -> tuple[Callable[[str], Vector], ThreadPoolExecutor]:
        with self._lock:
            if self._closed:
                raise ClosedError("The encoder was closed; open a new one.")
            if self._run is None or self._pool is None:
                self._run = _load(self._card)
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="doxa-encoder")
            return self._run, self._pool


def _load(card: ModelCard) -> Callable[[str], Vector]:
    session = _open_session(card.folder / "model.onnx")
    tokenizer = _open_tokenizer(card.folder / "tokenizer.json")

    def run(text: str) -> Vector:
        tokens = tokenizer.encode(clean(text, MAX_CHARS))
        feed = {
            "input_ids": np.array([tokens.ids], dtype=np.int64),
            "attention_mask": np.array([tokens.attention_mask], dtype=np.int64),
            "token_type_ids": np.array([tokens.type_ids], dtype=np.int64),
        }
        try:
            row: Vector = session.run(None, feed)[0][0]
        except Exception as exc:  # its exception classes share no base of their own
            raise BackendError(f"The built-in encoder failed on a text of {len(text)} characters: {exc}") from exc
        return row

    return run


def _open_session(path: Path) -> Any:
    try:
        import onnxruntime  # type: ignore[import-untyped, unused-ignore]
    except ImportError as exc:
        raise MissingDependencyError("onnxruntime", extra="onnx", purpose="The built-in encoder") from exc
    options = onnxruntime.SessionOptions()
    # One thread per call: calls run side by side, and splitting so small a product costs more than it gains.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # its exception classes share no base of their own
        raise BackendError(f"The built-in encoder cannot be loaded: {exc}. Reinstall doxa.") from exc


def _open_tokenizer(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise MissingDependencyError("tokenizers", extra="onnx", purpose="The built-in encoder") from exc
    try:
        return Tokenizer.from_file(str(path))
    except Exception as exc:  # the library raises bare Exception
        raise BackendError(f"The tokenizer of the built-in encoder cannot be loaded: {exc}. Reinstall doxa.") from exc


def _read_card(folder: Path) -> ModelCard:
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return ModelCard(name=card["name"], dims=card["dims"], folder=folder)
    except (OSError, ValueError, KeyError) as exc:
        raise BackendError(f"The built-in encoder is not complete: {exc}. Reinstall doxa.") from exc


def _cores() -> int:
    return min(MAX_THREADS, os.cpu_count() or 1)
