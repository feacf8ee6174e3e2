"""What all models have in common that run in this process, by their names on the Hugging Face hub or by folder."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError, MissingDependencyError

__all__ = ["DEVICE", "HubModel", "loading"]

DEVICE: Final = "cpu"


@contextmanager
def loading(name: str, *, what: str, package: str = "transformers", kind: str) -> Iterator[None]:
    """Turns what goes wrong where a model is loaded into errors of ours.

    Args:
        name: Of the model.
        what: What Doxa takes it for, in messages ("NLI model").
        package: What has to be installed.
        kind: What it has to be ("a sequence classifier").
    """
    try:
        yield
    except ModuleNotFoundError as exc:
        raise MissingDependencyError(package, extra="hf", purpose=f"The {what} 'hf:{name}'") from exc
    except OSError as exc:  # the hub's own errors and missing files alike
        raise BackendUnavailableError(
            f"The model {name!r} cannot be read: {exc}. Check the name, or download it and give the folder."
        ) from exc
    except (RuntimeError, ValueError, KeyError, TypeError, ImportError) as exc:
        raise BackendError(f"The model {name!r} cannot be loaded as {kind}: {exc}") from exc


class HubModel:
    """A model that is loaded at its first use, for one thread at a time."""

    def __init__(self, model: str, *, what: str) -> None:
        """Takes note of the model; `what` it is, in messages ("NLI model")."""
        self._model_name = model
        self._what = what
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._closed = False

    @property
    def name(self) -> str:
        """`hf:` and the name of the model."""
        return f"hf:{self._model_name}"

    def close(self) -> None:
        """Lets go of the model."""
        with self._lock:
            self._loaded, self._closed = None, True

    def _load(self) -> Any:
        raise NotImplementedError

    def _opened(self) -> Any:
        """Gives back the model; to be called by who holds the lock."""
        if self._closed:
            raise ClosedError(f"The {self._what} was closed; open a new one.")
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded
