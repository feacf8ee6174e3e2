"""Config -> the language model that a benchmark asks by itself, beside what the engine asks, with what it cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from doxa.backends import load
from doxa.backends.llm import LanguageModel, Message, Request, Usage, ask
from doxa.core.config import Config
from doxa.core.errors import BackendError, BackendUnavailableError, ConfigError

__all__ = ["GIVE_UP_AFTER", "Asked", "opened_model"]

GIVE_UP_AFTER = 20
"""Calls of which none was answered, after which a run stops: a server that is away would fail thousands more."""


@dataclass(slots=True)
class Asked:
    """A language model that counts what becomes of its calls. Safe to use from several threads."""

    model: LanguageModel
    calls: int = 0
    failed: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def counts(self) -> dict[str, int]:
        """What was asked so far and what it cost, for reports."""
        return {
            "made": self.calls,
            "failed": self.failed,
            "refused": self.refused,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
        }

    def text(self, messages: Sequence[Message], *, max_tokens: int) -> str | None:
        """Return what the model says at temperature 0; None when it failed or refused, which is counted.

        Raises:
            BackendUnavailableError: it answered none of its first 20 calls.
        """
        try:
            done = self.model.complete(messages, temperature=0.0, max_tokens=max_tokens)
        except BackendError as exc:
            self._count(Usage(), failed=str(exc))
            return None
        self._count(done.usage, refused=done.refused)
        return None if done.refused else done.text

    def object(self, request: Request) -> Mapping[str, Any] | None:
        """Return the object that the model gives back; None when there is none, which is counted.

        Raises:
            BackendUnavailableError: it answered none of its first 20 calls.
        """
        done = ask(self.model, request)
        self._count(done.usage, failed=done.failed)
        return None if done.failed else done.parsed

    def _count(self, usage: Usage, *, failed: str = "", refused: bool = False) -> None:
        with self._guard:
            self.calls, self.failed = self.calls + 1, self.failed + bool(failed)
            self.refused, self.usage = self.refused + refused, self.usage + usage
            away = self.failed == self.calls >= GIVE_UP_AFTER
        if away:
            raise BackendUnavailableError(f"{self.model.name} answered none of {self.calls} calls: {failed}")


@contextmanager
def opened_model(config: Config, who: str, instead: str) -> Iterator[Asked]:
    """Return the configured language model, closed afterwards.

    Args:
        config: the settings, of which the group `llm` matters.
        who: what needs it, for the message.
        instead: what can be done without one, for the message.

    Raises:
        ConfigError: none is configured.
        BackendError: it cannot be opened.
    """
    settings = config.llm
    if settings.name is None:
        raise ConfigError(f"{who}: no language model is configured. Set llm.name (DOXA_LLM=openai:NAME), or {instead}.")
    model: LanguageModel = load(
        "llm",
        settings.name,
        base_url=settings.base_url,
        api_key=config.secret("llm"),
        timeout_s=settings.timeout_s,
        max_retries=settings.max_retries,
    )
    with closing(model):
        yield Asked(model)
