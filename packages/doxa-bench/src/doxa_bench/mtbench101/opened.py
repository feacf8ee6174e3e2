"""Names of models -> the models: that of the run, and a judge, which may be on a server of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from doxa.backends.llm import LanguageModel
from doxa.backends.registry import load
from doxa.core.config import Config
from doxa.core.errors import ConfigError

__all__ = ["JudgeSpec", "opened_judge", "opened_model"]


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Which model judges, and where it is."""

    name: str
    """As in the setting `llm.name`, such as `openai:NAME`."""
    base_url: str | None = None
    """The address of its server; None for that of the setting `llm`."""
    key_file: Path | None = None
    """File with the key of that server; the key of `llm` is never sent to another server than its own."""


@contextmanager
def opened_model(config: Config, name: str) -> Iterator[LanguageModel]:
    """Open a model that is reached as the settings `llm` say, and close it in the end."""
    yield from _opened(config, name, config.llm.base_url, config.secret("llm"))


@contextmanager
def opened_judge(config: Config, judge: JudgeSpec) -> Iterator[LanguageModel]:
    """Open the judge, and close it in the end.

    Raises:
        ConfigError: its key cannot be read, or its name or address is none.
    """
    own = judge.base_url is not None and judge.base_url != config.llm.base_url
    key = _read(judge.key_file) if judge.key_file else None if own else config.secret("llm")
    yield from _opened(config, judge.name, judge.base_url or config.llm.base_url, key)


def _opened(config: Config, name: str, base_url: str | None, key: str | None) -> Iterator[LanguageModel]:
    limits = {"timeout_s": config.llm.timeout_s, "max_retries": config.llm.max_retries}
    model: LanguageModel = load("llm", name, base_url=base_url, api_key=key, **limits)
    try:
        yield model
    finally:
        model.close()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise ConfigError(f"The key file {path} (--judge-key-file) cannot be read: {exc.strerror}.") from exc
