"""Any sentence-transformers model, by its name on the Hugging Face hub or by folder (extra `hf`)."""

import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean, unit_rows
from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError, ConfigError, MissingDependencyError

__all__ = ["HuggingFaceEncoder", "open_encoder"]

MAX_CHARS: Final = 32_000  # long-context models read about 8,000 tokens


def open_encoder(
    name: str,
    *,
    device: str | None = None,
    batch_size: int = 1,
    max_chars: int = MAX_CHARS,
    local_files_only: bool = False,
) -> "HuggingFaceEncoder":
    """Gives back an encoder around a sentence-transformers model; it is loaded on first use.

    Args:
        name: Name on the hub, or a folder.
        device: Such as `cpu` or `cuda`; by default the library chooses.
        batch_size: Texts per call. Above 1 it is faster, and a vector may differ in its last bits with the batch.
        max_chars: Characters of a text that are looked at.
        local_files_only: Whether to refuse to download.

    Raises:
        ConfigError: No name, or a number below one.
    """
    if not name:
        raise ConfigError("Expected 'hf:NAME' with the name or folder of a sentence-transformers model, got 'hf'.")
    if batch_size < 1 or max_chars < 1:
        raise ConfigError(f"Expected batch_size and max_chars of 1 or more, got {batch_size} and {max_chars}.")
    settings = {"device": device, "local_files_only": local_files_only}
    return HuggingFaceEncoder(name, settings=settings, batch_size=batch_size, max_chars=max_chars)


class HuggingFaceEncoder:
    """Runs in this process, on the device that was asked for."""

    def __init__(self, model: str, *, settings: dict[str, Any], batch_size: int, max_chars: int) -> None:
        """Takes note of the model; `settings` go to `SentenceTransformer`."""
        self._model_name = model
        self._settings = settings
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._lock = threading.Lock()
        self._model: Any = None
        self._dims: int | None = None
        self._closed = False

    @property
    def name(self) -> str:
        """`hf:` and the name of the model."""
        return f"hf:{self._model_name}"

    @property
    def dims(self) -> int:
        """The length of a vector; the first time, one text is encoded to see it."""
        if self._dims is None:
            with self._lock:
                self._dims = int(np.shape(self._run(["dimensions"]))[1])
        return self._dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Gives back one unit row per text, `(n, dims) float32`.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The encoder was closed.
        """
        dims = self.dims
        with self._lock:
            rows = self._run([clean(text, self._max_chars) for text in texts]) if texts else []
        return unit_rows(list(rows), dims)

    def close(self) -> None:
        """Lets go of the model."""
        with self._lock:
            self._model, self._closed = None, True

    def _run(self, texts: list[str]) -> Any:
        if self._closed:
            raise ClosedError("The encoder was closed; open a new one.")
        if self._model is None:
            self._model = _load(self._model_name, self._settings)
        try:
            return self._model.encode(texts, batch_size=self._batch_size, show_progress_bar=False)
        except (RuntimeError, ValueError, IndexError) as exc:
            raise BackendError(f"The model {self._model_name!r} failed on {len(texts)} texts: {exc}") from exc


def _load(name: str, settings: dict[str, Any]) -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]
    except ImportError as exc:
        raise MissingDependencyError("sentence-transformers", extra="hf", purpose=f"The encoder 'hf:{name}'") from exc
    try:
        return SentenceTransformer(name, **settings)
    except OSError as exc:  # the hub's own errors and missing files alike
        raise BackendUnavailableError(
            f"The model {name!r} cannot be read: {exc}. Check the name, or download it and give the folder."
        ) from exc
    except (RuntimeError, ValueError, KeyError, TypeError) as exc:
        raise BackendError(f"The model {name!r} cannot be loaded as a sentence-transformers model: {exc}") from exc
