"""The life of the models that ship with Doxa: files opened late, one call per item, a few threads, an end.

A model with int8 weights scales its activations by all numbers of a call, so what it says of an item would depend on
its neighbours in a batch. A replay after a crash must give the same, so every item is a call of its own, without
padding, and a few threads run the calls side by side.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import BackendError, ClosedError, ConfigError, MissingDependencyError

__all__ = [
    "BuiltinModel",
    "Session",
    "SideBySide",
    "TrunkCard",
    "card_of",
    "encodable",
    "encoded_pair",
    "folder_of",
    "model_input",
    "open_session",
    "open_tokenizer",
    "shared",
    "threads_of",
]

MAX_THREADS: Final = 4
QUIET: Final = 4  # ONNX Runtime: fatal messages only

TRUNKS: Final = Path(__file__).parent / "nli"
"""Where the models are whose weights others stand on."""
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
"""What a model of the BERT family is fed."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Source = TypeVar("Source")
Opened = TypeVar("Opened")

_OPENED: Final[WeakValueDictionary[tuple[Any, ...], Any]] = WeakValueDictionary()
_OPENING: Final[dict[tuple[Any, ...], threading.Lock]] = {}


def shared(load: Callable[[Source], Opened], source: Source, folder: Path) -> Callable[[], Opened]:
    """Gives back a function that opens what ships with Doxa, once for all of this process that have it open.

    It is let go of with the last of them; the next then opens it anew, and so it is with another file in the folder.

    Args:
        load: Opens it; what it gives takes weak references, is never changed, and may be used by several threads.
        source: What it opens.
        folder: Where that lies.
    """

    def opened() -> Opened:
        file = folder / "model.onnx"
        stamp = file.stat().st_mtime_ns if file.exists() else None
        key = (load, folder.absolute(), stamp)
        with _OPENING.setdefault(key, threading.Lock()):
            found: Opened | None = _OPENED.get(key)
            if found is None:
                found = load(source)
                _OPENED[key] = found
            return found

    return opened


class SideBySide(Generic[Item, Result]):
    """A function that is loaded at its first call and run on several items side by side. Safe to share."""

    def __init__(self, load: Callable[[], Callable[[Item], Result]], *, threads: int, what: str) -> None:
        """Takes note of how it is loaded; `what` is its name in messages ("encoder")."""
        self._load = load
        self._threads = threads
        self._what = what
        self._lock = threading.Lock()
        self._run: Callable[[Item], Result] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def __call__(self, items: Sequence[Item]) -> list[Result]:
        """Gives back one result per item, in order.

        Raises:
            BackendError: It cannot be loaded or run.
            ClosedError: It was closed.
        """
        run, pool = self._start()
        if len(items) < 2 or self._threads == 1:
            return [run(item) for item in items]
        return list(pool.map(run, items))

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        with self._lock:
            pool, self._pool, self._run, self._closed = self._pool, None, None, True
        if pool is not None:
            pool.shutdown(wait=True)

    def _start(self) -> tuple[Callable[[Item], Result], ThreadPoolExecutor]:
        with self._lock:
            if self._closed:
                raise ClosedError(f"The {self._what} was closed; open a new one.")
            if self._run is None or self._pool is None:
                self._run = self._load()
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix=f"doxa-{self._what}")
            return self._run, self._pool


class BuiltinModel(Generic[Item, Result]):
    """A model that ships with Doxa: a name, a function over items, an end. Safe to share.

    Deterministic: on one machine, an item has one result, bit for bit, in any batch and order.
    """

    def __init__(
        self, name: str, load: Callable[[], Callable[[Item], Result]], *, threads: int | None, what: str
    ) -> None:
        """Takes note of the model; nothing is loaded yet.

        Args:
            name: What its card calls it.
            load: Opens its files at the first call.
            threads: Items run side by side; by default one per core, four at most.
            what: What it is, in messages ("encoder").

        Raises:
            ConfigError: Fewer than one thread.
        """
        self.name = f"builtin:{name}"
        self._run = SideBySide(load, threads=threads_of(threads), what=what)

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        self._run.close()


def threads_of(wanted: int | None) -> int:
    """Gives back how many calls run side by side: as many as wanted, else one per core, four at most.

    Raises:
        ConfigError: Fewer than one is wanted.
    """
    if wanted is not None and wanted < 1:
        raise ConfigError(f"Expected threads of 1 or more, got {wanted}.")
    return wanted or min(MAX_THREADS, _cores())


def _cores() -> int:
    """Gives back how many cores this process may use, which containers and workers are given fewer of."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Session:
    """An open model file that says what it is when it fails."""

    def __init__(self, inner: Any, what: str) -> None:
        """Wraps a session of ONNX Runtime; `what` is the name of the model in messages."""
        self._inner = inner
        self._what = what

    def run(
        self, outputs: Sequence[str] | None, feed: Mapping[str, NDArray[Any]], *, about: str = "its input"
    ) -> list[Any]:
        """Gives back the outputs of one call, all of them for None.

        Args:
            outputs: Names of outputs.
            feed: Inputs by name.
            about: What the model is given, in messages ("a text of 12 characters").

        Raises:
            BackendError: The call failed.
        """
        try:
            found: list[Any] = self._inner.run(outputs, feed)
        except Exception as exc:  # its exception classes share no base of their own
            raise BackendError(f"The built-in {self._what} failed on {about}: {exc}") from exc
        return found


def folder_of(name: str, model: str, room: Path, what: str) -> Path:
    """Gives back the folder of the model that ships in a room; an empty name is the only one there is.

    Raises:
        ConfigError: Another name.
    """
    if name not in ("", model):
        raise ConfigError(f"There is no built-in {what} called {name!r}; there is {model!r}. Write 'builtin'.")
    return room / model


@contextmanager
def card_of(folder: Path, what: str, *, recipe: str = "") -> Iterator[dict[str, Any]]:
    """Gives the content of `model.json` to a block that picks what it needs.

    Args:
        folder: Of the model.
        what: Its name in messages.
        recipe: The folder that makes such a model, where users may make their own.

    Raises:
        BackendError: The file is not there, or the block missed something in it.
    """
    try:
        yield json.loads((folder / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as exc:
        or_made = f", or make it with {recipe} and name its folder in the settings" if recipe else ""
        raise BackendError(f"The {what} in {folder} is not complete: {exc}. Reinstall doxa{or_made}.") from exc


def open_session(path: Path, what: str, *, weights: Mapping[str, bytes] | None = None, patch: bytes = b"") -> Session:
    """Opens a model for single-threaded calls: splitting so small a product costs more than it gains.

    Args:
        path: Its file.
        what: Its name in messages.
        weights: Files that hold tensors which the model's file only names (ONNX: external data), by the name they have
            there. They are read from memory: a model may so stand on the weights of another one.
        patch: A serialised `ModelProto` that is merged into that of the file, in memory. It is for a model that holds
            its own weights: what it only names, a model read from memory does not find.

    Raises:
        MissingDependencyError: ONNX Runtime is not installed.
        BackendError: The file is not there, or is no such model.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped, unused-ignore]
    except ImportError as exc:
        raise MissingDependencyError("onnxruntime", extra="onnx", purpose=f"The built-in {what}") from exc
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    try:
        if weights:
            sizes = [len(content) for content in weights.values()]
            options.add_external_initializers_from_files_in_memory(list(weights), list(weights.values()), sizes)
        model = path.read_bytes() + patch if patch else str(path)
        inner = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # its exception classes share no base of their own
        raise BackendError(f"The built-in {what} cannot be loaded: {exc}. Reinstall doxa.") from exc
    return Session(inner, what)


def open_tokenizer(path: Path, what: str) -> Any:
    """Opens the tokenizer of a model.

    Raises:
        MissingDependencyError: The library is not installed.
        BackendError: The file is not there, or is no tokenizer.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise MissingDependencyError("tokenizers", extra="onnx", purpose=f"The built-in {what}") from exc
    try:
        return Tokenizer.from_file(str(path))
    except Exception as exc:  # the library raises bare Exception
        raise BackendError(f"The tokenizer of the built-in {what} cannot be loaded: {exc}. Reinstall doxa.") from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class TrunkCard:
    """What `model.json` says about a small model that stands on the weights and the tokenizer of another one."""

    name: str
    folder: Path
    trunk: Path
    """The folder of the other one."""
    trunk_sha256: str
    """The digest of the weights that it was trained on."""
    fitted: Any
    """What it needs of the card besides: how its scores are calibrated."""

    @classmethod
    def read(cls, folder: Path, what: str, *, recipe: str, needs: str) -> TrunkCard:
        """Gives back the card in a folder, which has to say what it `needs`; see `card_of` for what it raises."""
        with card_of(folder, what, recipe=recipe) as card:
            trunk = TRUNKS / card["trunk"]["name"]
            sha256, fitted = card["trunk"]["sha256"], card[needs]
            return cls(name=card["name"], folder=folder, trunk=trunk, trunk_sha256=sha256, fitted=fitted)

    def open(self, what: str, *, max_tokens: int, direction: str = "right") -> tuple[Session, Any]:
        """Opens the model and its tokenizer, which cuts the second of two texts.

        Raises:
            BackendError: A file is not there, or the trunk is not the one.
        """
        weights = trunk_weights(self.trunk / "model.onnx", self.trunk_sha256, what)
        session = open_session(self.folder / "model.onnx", what, weights={self.trunk.name: weights})
        tokenizer = open_tokenizer(self.trunk / "tokenizer.json", what)
        tokenizer.enable_truncation(max_tokens, strategy="only_second", direction=direction)
        return session, tokenizer


def trunk_weights(path: Path, sha256: str, what: str) -> bytes:
    """Gives back the file of a model on whose weights another one stands.

    Args:
        path: The file.
        sha256: The digest of the weights that the other one was trained on.
        what: The name of the other one in messages ("reader").

    Raises:
        BackendError: It is not there, or is not the one.
    """
    try:
        weights = path.read_bytes()
    except OSError as exc:
        raise BackendError(f"The built-in {what} stands on {path.parent.name}, which is missing: {exc}.") from exc
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise BackendError(
            f"The built-in {what} was trained on other weights of {path.parent.name} than are installed. Reinstall "
            "doxa, or make it again with its recipe in training."
        )
    return weights


def encodable(text: str) -> str:
    """Gives back a text, as long as before, without lone surrogates: they come from broken JSON and are no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def model_input(tokens: Any) -> dict[str, NDArray[np.int64]]:
    """Gives back what a model of the BERT family is fed for the tokens of one text or pair, `(1, n) int64` each."""
    rows = (tokens.ids, tokens.attention_mask, tokens.type_ids)
    return {name: np.array([row], dtype=np.int64) for name, row in zip(INPUTS, rows, strict=True)}


def encoded_pair(tokenizer: Any, first: str, second: str) -> tuple[Any, dict[str, NDArray[np.int64]]]:
    """Gives back the tokens of two texts, and what a model that reads both at once is fed, `(1, n) int64` each."""
    tokens = tokenizer.encode(first, second)
    return tokens, model_input(tokens)
