"""A model's answers kept by what was asked, and given again: `recorded:FOLDER` answers without the model.

`Recorder` passes calls on and keeps every answer as it came, those that did not fit their schema, refusals and answers
that were cut off as well; a second try is a call of its own. What was asked is not kept, only its key: the SHA-256 of
the canonical JSON of `[messages, schema]`. A recording is a folder with two files:

    model.toml       the format, the name of the model, and the day on which the recording was begun
    answers.jsonl    one answer a line: key, n, text, refused, truncated, prompt_tokens, completion_tokens, model

`n` counts the answers to one request, from 0: at a temperature above 0 they differ, and are given again in their order.
"""

import hashlib
import json
import logging
import os
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Final, cast

from doxa.backends.llm.model import Completion, LanguageModel, Message, SingleCalls, Usage
from doxa.backends.llm.structured import Answering
from doxa.core.errors import BackendError, ClosedError, ConfigError
from doxa.core.private import private_file, private_folder

try:
    import fcntl
except ImportError:  # there, one process at a time may record
    fcntl = None  # type: ignore[assignment]

__all__ = ["RecordedModel", "Recorder", "key_of", "open_model"]

FORMAT: Final = 1
CARD: Final = "model.toml"
ANSWERS: Final = "answers.jsonl"
_MAX_QUOTED_CHARS = 120

logger = logging.getLogger("doxa")


def key_of(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
    """The key of a request: the SHA-256 of the canonical JSON of `[messages, schema]`, in hex.

    Canonical: sorted keys, no spaces, ASCII. Temperature and `max_tokens` are no part of it.
    """
    asked = [[asdict(message) for message in messages], schema]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """One answer as it came; a line of the file."""

    key: str
    n: int
    text: str
    refused: bool
    truncated: bool
    prompt_tokens: int
    completion_tokens: int
    model: str

    def completion(self, seconds: float) -> Completion:
        return Completion(
            text=self.text,
            parsed=None,
            refused=self.refused,
            truncated=self.truncated,
            usage=Usage(calls=1, prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens),
            seconds=seconds,
        )


class _Recording:
    """The answers of a folder, in memory. Safe between threads and, where files can be locked, between processes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / ANSWERS
        self._answers: dict[tuple[str, int], _Answer] = {}
        self._read_to = 0
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str, n: int) -> _Answer | None:
        return self._answers.get((key, n))

    def load(self) -> None:
        """Read all answers of the file.

        Raises:
            OSError: It cannot be read.
        """
        with self._guard, self._file.open("rb") as file:
            self._catch_up(file)

    def keep(self, given: _Answer) -> _Answer:
        """Append an answer, and return what is recorded for its request: another one where somebody was faster.

        Raises:
            OSError: It cannot be written.
        """
        with self._guard, self._file.open("a+b", buffering=0) as file, _alone(file):
            self._catch_up(file)
            if (known := self.get(given.key, given.n)) is not None:
                return known
            line = json.dumps(asdict(given)).encode("ascii") + b"\n"  # escaped, since answers may hold half surrogates
            # A process that was killed may have left half a line, which must not swallow this one.
            whole = file.seek(0, os.SEEK_END) == self._read_to
            written = file.write(line if whole else b"\n" + line)
            if written != len(line) + (not whole):
                raise OSError(f"only {written} bytes of an answer could be written")
            self._catch_up(file)
        return given

    def _catch_up(self, file: IO[bytes]) -> None:
        """Read the lines that are whole and were not read yet; of two answers to one request the first counts."""
        file.seek(self._read_to)
        lines = file.read()
        lines = lines[: lines.rfind(b"\n") + 1]
        for line in filter(None, lines.split(b"\n")):
            try:
                found = _Answer(**json.loads(line))
            except (ValueError, TypeError):
                logger.warning("a line of %s is no answer, and was left out: %r", self._file, line[:80])
            else:
                self._answers.setdefault((found.key, found.n), found)
        self._read_to += len(lines)


class _Places:
    """Which answer to a request is meant: at temperature 0 always the first, above it the next each time."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._guard = threading.Lock()

    def next(self, key: str, temperature: float) -> int:
        if temperature == 0:
            return 0
        with self._guard:
            self._asked[key] += 1
            return self._asked[key] - 1


class Recorder(Answering):
    """A model that keeps every answer of another one in a folder, and asks it only for what is not there yet.

    So a recording that was stopped goes on where it was. Calls that raise are not kept. Safe to call from several
    threads; several processes may record into one folder.

    Args:
        model: The model; it is closed with the recorder.
        folder: Where the answers lie; made when it is missing.

    Raises:
        ConfigError: The folder holds the answers of another model, or is none; or the model has no `once`.
        BackendError: It cannot be read or written.
    """

    def __init__(self, model: LanguageModel, folder: Path | str) -> None:
        if not hasattr(model, "once"):
            raise ConfigError(
                f"Expected a model whose calls can be made one by one, and {model.name} has no method `once`: it "
                "cannot be recorded. Unset llm.record."
            )
        self._model = cast("SingleCalls", model)
        self._folder = Path(folder).expanduser()
        self._recording = _begun(self._folder, model.name)
        self._places = _Places()
        self._asking: dict[tuple[str, int], threading.Lock] = {}
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"Recorder({self._model!r}, {str(self._folder)!r}, answers={len(self._recording)})"

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """One answer as it came, recorded or the model's; see `SingleCalls.once`.

        Raises:
            BackendError: What the model raises; or the answer cannot be written.
        """
        started = perf_counter()
        key = key_of(messages, schema)
        n = self._places.next(key, temperature)
        with self._guard:
            asking = self._asking.setdefault((key, n), threading.Lock())
        with asking:  # who asks the same at the same time waits for the answer
            known = self._recording.get(key, n)
            if known is not None:
                return known.completion(perf_counter() - started)
            done = self._model.once(messages, schema=schema, temperature=temperature, max_tokens=max_tokens)
            with _in_our_words(self._folder):
                kept = self._recording.keep(_answer(done, key=key, n=n, model=self.name))
        return kept.completion(done.seconds)

    def count_tokens(self, text: str) -> int:
        """About how many tokens a text is, as the model says."""
        return self._model.count_tokens(text)

    def close(self) -> None:
        """Close the model; what was recorded stays."""
        self._model.close()


class RecordedModel(Answering):
    """A model that gives again what another one answered; made by `open_model`. Safe to call from several threads."""

    def __init__(self, folder: Path, *, model: str, day: str, recording: _Recording) -> None:
        self._folder = folder
        self._model = model
        self._day = day
        self._recording = recording
        self._places = _Places()
        self._closed = False

    def __repr__(self) -> str:
        return f"RecordedModel(name={self.name!r}, folder={str(self._folder)!r}, answers={len(self._recording)})"

    @property
    def name(self) -> str:
        """`recorded:`, the model's name, and the day on which the recording was begun."""
        return f"recorded:{self._model}, {self._day}"

    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """One recorded answer as it came; see `SingleCalls.once`.

        Raises:
            BackendError: None is recorded; it is logged too, since a step that has something to fall back on goes on.
        """
        if self._closed:
            raise ClosedError(f"The model {self.name!r} was used after `close()`. Open it again.")
        started = perf_counter()
        key = key_of(messages, schema)
        n = self._places.next(key, temperature)
        known = self._recording.get(key, n)
        if known is None:
            missing = self._missing(messages, schema, n)
            logger.warning("%s", missing)
            raise BackendError(missing)
        return known.completion(perf_counter() - started)

    def close(self) -> None:
        """Take no more calls."""
        self._closed = True

    def _missing(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, n: int) -> str:
        role = str((schema or {}).get("title") or "") or messages[0].content.strip()
        which = f"answer {n + 1}" if n else "answer"
        return (
            f"Expected a recorded {which} of {self._model} in {self._folder}, and there is none for this request. Its "
            f"role: {_head(role)!r}; its last message ends with {messages[-1].content[-_MAX_QUOTED_CHARS:]!r}. Run "
            f"the same with llm.name={self._model} and llm.record={self._folder} to record what is missing."
        )


def open_model(folder: str = "", **options: object) -> RecordedModel:
    """A model that gives again what was recorded in a folder.

    Args:
        folder: The folder of a recording; relative to the working directory.
        options: Those of other backends (`base_url`, `timeout_s`, ...): taken and not used, so that a
            config can name this model in place of a server and change nothing else.

    Raises:
        ConfigError: There is no recording in the folder.
        BackendError: It cannot be read.
    """
    where = Path(folder).expanduser()
    card = _card(where) if folder else None
    if card is None:
        raise ConfigError(
            f"Expected recorded:FOLDER with a recording, and there is no {CARD} in {folder or 'no folder'!r}. Record "
            "one: run with llm.name set to the model and llm.record to the folder."
        )
    recording = _Recording(where)
    if (where / ANSWERS).exists():
        with _in_our_words(where):
            recording.load()
    return RecordedModel(where, model=card["model"], day=card["begun"], recording=recording)


def _begun(folder: Path, model: str) -> _Recording:
    """The recording of a model in a folder, begun or gone on with."""
    recording = _Recording(folder)
    with _in_our_words(folder):
        private_folder(folder)
        with private_file(folder / ANSWERS).open("a+b") as file, _alone(file):
            card = _card(folder)
            if card is None:
                day = f"{datetime.now(UTC):%Y-%m-%d}"
                text = f"# The answers of a language model, recorded by Doxa.\nformat = {FORMAT}\n"
                text += f"model = {json.dumps(model)}\nbegun = {json.dumps(day)}\n"
                private_file(folder / CARD).write_text(text, encoding="utf-8")
        if card is not None and card["model"] != model:
            raise ConfigError(
                f"Expected an empty folder or a recording of {model}, and {folder} holds one of {card['model']}. Set "
                "llm.record to another folder."
            )
        recording.load()
    return recording


def _card(folder: Path) -> dict[str, str] | None:
    """What a recording says about itself: `model` and `begun`; `None` where there is none."""
    path = folder / CARD
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise BackendError(f"{path} cannot be read: {exc.strerror}. Check its rights.") from exc
    except ValueError as exc:
        raise ConfigError(f"{path} is no TOML: {exc}. Record into another folder.") from exc
    model, begun = read.get("model"), read.get("begun")
    if read.get("format") != FORMAT or not isinstance(model, str) or not isinstance(begun, str):
        raise ConfigError(f"Expected format {FORMAT} in {path}, got another. Record into another folder.")
    return {"model": model, "begun": begun}


def _answer(done: Completion, *, key: str, n: int, model: str) -> _Answer:
    return _Answer(
        key=key,
        n=n,
        text=done.text,
        refused=done.refused,
        truncated=done.truncated,
        prompt_tokens=done.usage.prompt_tokens,
        completion_tokens=done.usage.completion_tokens,
        model=model,
    )


def _head(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}..."


@contextmanager
def _alone(file: IO[bytes]) -> Iterator[None]:
    """Keep other processes from writing to a file meanwhile; closing it lets them."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    yield


@contextmanager
def _in_our_words(folder: Path) -> Iterator[None]:
    """Turn what the disk says into an error that says what to do."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as exc:
        raise ConfigError(f"Expected a folder for the answers of the model, {folder} is a file. Name another.") from exc
    except OSError as exc:
        raise BackendError(
            f"The answers of the model in {folder} cannot be read or written: {exc.strerror or exc}. Check its rights "
            "and the room on the disk; what was recorded before is kept."
        ) from exc
