"""Any sequence classifier with the three classes, by its name on the Hugging Face hub or by folder (extra `hf`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.huggingface import DEVICE, HubModel, loading
from doxa.backends.nli import LABELS, Pair
from doxa.backends.onnx import encodable
from doxa.core.errors import BackendError, ConfigError

__all__ = ["HuggingFaceNli", "open_nli"]

MAX_TOKENS: Final = 512  # what the models of this kind were trained for
STEMS: Final = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}

Rows = NDArray[np.float32]


def open_nli(name: str, *, local_files_only: bool = False) -> "HuggingFaceNli":
    """Gives back an NLI model around a sequence classifier; it is loaded on first use.

    Args:
        name: Name on the hub, such as `cross-encoder/nli-deberta-v3-large`, or a folder.
        local_files_only: Whether to refuse to download.

    Raises:
        ConfigError: No name.
    """
    if not name:
        raise ConfigError("Expected 'hf:NAME' with the name or folder of a sequence classifier, got 'hf'.")
    return HuggingFaceNli(name, settings={"local_files_only": local_files_only})


class HuggingFaceNli(HubModel):
    """One pair a call, so that a row does not depend on others. Classes are found by the names the model gives."""

    def __init__(self, model: str, *, settings: Mapping[str, Any]) -> None:
        """Takes note of the model; `settings` go to `from_pretrained`."""
        super().__init__(model, what="NLI model")
        self._settings = dict(settings)

    def classify(self, pairs: Sequence[Pair]) -> Rows:
        """Gives back the softmax of the model, `(n, 3) float32`.

        Raises:
            BackendError: The model cannot be loaded or run, or has other classes.
            ClosedError: It was closed.
        """
        with self._lock:
            loaded = self._opened()
            rows = [self._run(loaded, pair) for pair in pairs]
        return np.concatenate(rows) if rows else np.empty((0, len(LABELS)), dtype=np.float32)

    def _run(self, loaded: tuple[Any, Any, list[int]], pair: Pair) -> Rows:
        import torch

        tokenizer, model, columns = loaded
        premise, hypothesis = map(encodable, pair)
        try:
            with torch.inference_mode():
                tokens = tokenizer(
                    [premise], [hypothesis], truncation="longest_first", max_length=MAX_TOKENS, return_tensors="pt"
                ).to(DEVICE)
                rows = torch.softmax(model(**tokens).logits.double(), dim=1)
        except (RuntimeError, ValueError, IndexError) as exc:
            raise BackendError(f"The model {self._model_name!r} failed on a pair: {exc}") from exc
        ordered: Rows = rows.cpu().numpy()[:, columns].astype(np.float32)
        return ordered

    def _load(self) -> tuple[Any, Any, list[int]]:
        name = self._model_name
        with loading(name, what=self._what, kind="a sequence classifier"):
            from transformers import AutoModelForSequenceClassification, AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(name, **self._settings)
            model = AutoModelForSequenceClassification.from_pretrained(name, **self._settings)
        return tokenizer, model.to(DEVICE).eval(), _columns(name, model.config.id2label)


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
