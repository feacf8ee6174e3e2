"""AMR from a model on this machine, through the library amrlib (extra `amr`)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from doxa.backends.amr.notation import Unreadable, find_graph
from doxa.core.errors import BackendError, BackendReplyError, ClosedError, MissingDependencyError

__all__ = ["AmrlibParser", "open_parser"]


def open_parser(
    folder: str = "", *, device: str | None = None, batch_size: int = 12, num_beams: int = 4
) -> "AmrlibParser":
    """Gives back a parser around a sentence-to-graph model of amrlib; it is loaded on first use.

    Args:
        folder: Where the model lies; by default where amrlib itself looks (`amrlib/data/model_stog`).
        device: Such as `cpu` or `cuda:0`; by default the library chooses.
        batch_size: Sentences per pass.
        num_beams: Width of the beam search; 1 is fastest.
    """
    return AmrlibParser(folder, settings={"device": device, "batch_size": batch_size, "num_beams": num_beams})


class AmrlibParser:
    """Runs in this process; one pass at a time."""

    def __init__(self, folder: str, *, settings: dict[str, Any]) -> None:
        """Takes note of the model; `settings` go to amrlib."""
        self._folder = folder
        self._settings = {name: value for name, value in settings.items() if value is not None}
        self._model: Any = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """`amrlib`, and the folder if one was given."""
        return f"amrlib:{self._folder}" if self._folder else "amrlib"

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Gives back one graph per sentence; see `AmrParser`.

        Raises:
            MissingDependencyError: amrlib is not installed.
            BackendError: The model is not there, or failed.
            BackendReplyError: A sentence has no readable graph.
        """
        with self._lock:
            if self._closed:
                raise ClosedError("The AMR parser was closed; open a new one.")
            if not sentences:
                return []
            self._model = self._model or self._load()
            try:
                found = self._model.parse_sents(list(sentences), add_metadata=False)
            except (RuntimeError, ValueError, IndexError, KeyError) as exc:
                raise BackendError(f"{self.name} failed on {len(sentences)} sentences: {exc}.") from exc
        return [self._checked(sentence, graph) for sentence, graph in zip(sentences, found, strict=True)]

    def close(self) -> None:
        """Forgets the model."""
        self._closed = True
        self._model = None

    def _load(self) -> Any:
        try:
            import amrlib
        except ImportError as exc:
            raise MissingDependencyError("amrlib", extra="amr", purpose="The AMR parser 'amrlib'") from exc
        if self._folder and not Path(self._folder).is_dir():
            raise BackendError(f"Expected the folder of an amrlib model, got {self._folder!r}, which is none.")
        try:
            return amrlib.load_stog_model(model_dir=self._folder or None, **self._settings)
        except (OSError, RuntimeError, ValueError, KeyError) as exc:
            raise BackendError(
                f"{self.name} cannot be loaded: {exc}. Download a sentence-to-graph model "
                "(https://github.com/bjascob/amrlib-models) and name its folder: amrlib:FOLDER."
            ) from exc

    def _checked(self, sentence: str, graph: str | None) -> str:
        try:
            return find_graph(graph or "")
        except Unreadable as exc:
            raise BackendReplyError(
                f"Expected an AMR graph of {sentence[:80]!r} from {self.name}: {exc}.", reply=graph or ""
            ) from exc
