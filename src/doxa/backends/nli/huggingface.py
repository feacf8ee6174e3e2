"""Any sequence classifier with the three classes, by its name on the Hugging Face hub or by folder (extra `hf`)."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import LABELS, Pair
from doxa.backends.onnx import encodable
from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError, ConfigError, MissingDependencyError

__all__ = ["HuggingFaceNli", "open_nli"]

MAX_TOKENS: Final = 512  # what the models of this kind were trained for
STEMS: Final = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}

Rows = NDArray[np.float32]


def open_nli(
    name: str,
    *,
    device: str | None = None,
    batch_size: int = 1,
    max_tokens: int = MAX_TOKENS,
    local_files_only: bool = False,
) -> "HuggingFaceNli":
    """Gives back an NLI model around a sequence classifier; it is loaded on first use.

    Args:
        name: Name on the hub, such as `cross-encoder/nli-deberta-v3-large`, or a folder.
        device: Such as `cpu` or `cuda`; by default `cpu`.
        batch_size: Pairs per call. Above 1 it is faster, and a row may differ in its last bits with the batch.
        max_tokens: Tokens of a pair that are read; the rest of the longer side is cut off.
        local_files_only: Whether to refuse to download.

    Raises:
        ConfigError: No name, or a number below one.
    """
    if not name:
        raise ConfigError("Expected 'hf:NAME' with the name or folder of a sequence classifier, got 'hf'.")
    if batch_size < 1 or max_tokens < 1:
        raise ConfigError(f"Expected batch_size and max_tokens of 1 or more, got {batch_size} and {max_tokens}.")
    return HuggingFaceNli(
        name,
        device=device or "cpu",
        batch_size=batch_size,
        max_tokens=max_tokens,
        settings={"local_files_only": local_files_only},
    )


class HuggingFaceNli:
    """Runs in this process, on the device that was asked for. The classes are found by the names the model gives."""

    def __init__(
        self, model: str, *, device: str, batch_size: int, max_tokens: int, settings: Mapping[str, Any]
    ) -> None:
        """Takes note of the model; `settings` go to `from_pretrained`."""
        self._model_name = model
        self._device = device
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._settings = dict(settings)
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, list[int]] | None = None
        self._closed = False

    @property
    def name(self) -> str:
        """`hf:` and the name of the model."""
        return f"hf:{self._model_name}"

    def classify(self, pairs: Sequence[Pair]) -> Rows:
        """Gives back the softmax of the model, `(n, 3) float32`.

        Raises:
            BackendError: The model cannot be loaded or run, or has other classes.
            ClosedError: It was closed.
        """
        with self._lock:
            if self._closed:
                raise ClosedError("The NLI model was closed; open a new one.")
            if self._loaded is None:
                self._loaded = _load(self._model_name, self._device, self._settings)
            starts = range(0, len(pairs), self._batch_size)
            rows = [self._run(self._loaded, pairs[start : start + self._batch_size]) for start in starts]
        return np.concatenate(rows) if rows else np.empty((0, len(LABELS)), dtype=np.float32)

    def close(self) -> None:
        """Lets go of the model."""
        with self._lock:
            self._loaded, self._closed = None, True

    def _run(self, loaded: tuple[Any, Any, list[int]], pairs: Sequence[Pair]) -> Rows:
        import torch

        tokenizer, model, columns = loaded
        premises, hypotheses = ([encodable(side) for side in sides] for sides in zip(*pairs, strict=True))
        try:
            with torch.inference_mode():
                tokens = tokenizer(
                    premises,
                    hypotheses,
                    padding=True,
                    truncation="longest_first",
                    max_length=self._max_tokens,
                    return_tensors="pt",
                ).to(self._device)
                rows = torch.softmax(model(**tokens).logits.double(), dim=1)
        except (RuntimeError, ValueError, IndexError) as exc:
            raise BackendError(f"The model {self._model_name!r} failed on {len(pairs)} pairs: {exc}") from exc
        ordered: Rows = rows.cpu().numpy()[:, columns].astype(np.float32)
        return ordered


def _load(name: str, device: str, settings: Mapping[str, Any]) -> tuple[Any, Any, list[int]]:
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as exc:
        raise MissingDependencyError("transformers", extra="hf", purpose=f"The NLI model 'hf:{name}'") from exc
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **settings)
        model = AutoModelForSequenceClassification.from_pretrained(name, **settings)
    except OSError as exc:  # the hub's own errors and missing files alike
        raise BackendUnavailableError(
            f"The model {name!r} cannot be read: {exc}. Check the name, or download it and give the folder."
        ) from exc
    except (RuntimeError, ValueError, KeyError, TypeError, ImportError) as exc:
        raise BackendError(f"The model {name!r} cannot be loaded as a sequence classifier: {exc}") from exc
    columns = _columns(name, model.config.id2label)
    return tokenizer, model.to(device).eval(), columns


def _columns(name: str, id2label: Mapping[int, str]) -> list[int]:
    """Where the model keeps each of our classes: models differ in their order."""
    found = {
        label: int(column)
        for column, said in id2label.items()
        for stem, label in STEMS.items()
        if said.lower().startswith(stem)
    }
    if len(id2label) != len(LABELS) or len(found) != len(LABELS):
        raise BackendError(
            f"Expected a model with the classes {', '.join(LABELS)}; {name!r} has {', '.join(id2label.values())}. "
            "Use one that was trained for natural language inference, such as cross-encoder/nli-deberta-v3-large."
        )
    return [found[label] for label in LABELS]
