"""Any sentence-transformers model, by its name on the Hugging Face hub or by folder (extra `hf`)."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean, unit_rows
from doxa.backends.huggingface import HubModel, loading
from doxa.core.errors import BackendError, ConfigError

__all__ = ["HuggingFaceEncoder", "open_encoder"]

MAX_CHARS: Final = 32_000  # long-context models read about 8,000 tokens


def open_encoder(name: str, *, local_files_only: bool = False) -> "HuggingFaceEncoder":
    """Gives back an encoder around a sentence-transformers model; it is loaded on first use.

    Args:
        name: Name on the hub, or a folder.
        local_files_only: Whether to refuse to download.

    Raises:
        ConfigError: No name.
    """
    if not name:
        raise ConfigError("Expected 'hf:NAME' with the name or folder of a sentence-transformers model, got 'hf'.")
    return HuggingFaceEncoder(name, settings={"local_files_only": local_files_only})


class HuggingFaceEncoder(HubModel):
    """Runs on the device that the library chooses, a text a call, so that a vector does not depend on others."""

    def __init__(self, model: str, *, settings: dict[str, Any]) -> None:
        """Takes note of the model; `settings` go to `SentenceTransformer`."""
        super().__init__(model, what="encoder")
        self._settings = settings
        self._dims: int | None = None

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
            rows = self._run([clean(text, MAX_CHARS) for text in texts]) if texts else []
        return unit_rows(list(rows), dims)

    def _run(self, texts: list[str]) -> Any:
        model = self._opened()
        try:
            return model.encode(texts, batch_size=1, show_progress_bar=False)
        except (RuntimeError, ValueError, IndexError) as exc:
            raise BackendError(f"The model {self._model_name!r} failed on {len(texts)} texts: {exc}") from exc

    def _load(self) -> Any:
        name = self._model_name
        kind = "a sentence-transformers model"
        with loading(name, what=self._what, package="sentence-transformers", kind=kind):
            from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]

            return SentenceTransformer(name, **self._settings)
