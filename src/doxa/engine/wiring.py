"""Config -> parts: the only place that names the implementations."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from doxa.backends import load
from doxa.backends.encoder import CachedEncoder, Encoder
from doxa.backends.llm import LanguageModel
from doxa.core.config import Config
from doxa.memory import MemoryLog
from doxa.recall import RecallSpec

__all__ = ["Parts", "wire"]


@dataclass(slots=True)
class Parts:
    """What the engine is made of."""

    config: Config
    log: MemoryLog
    encoder: Encoder
    queries: CachedEncoder
    """The same encoder with its latest answers kept, for queries."""
    recall: RecallSpec
    _model: LanguageModel | None = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def model(self) -> LanguageModel | None:
        """Return the language model, opened at its first use; None when none is configured."""
        settings = self.config.llm
        if settings.name is None:
            return None
        with self._guard:
            if self._model is None:
                self._model = load(
                    "llm",
                    settings.name,
                    base_url=settings.base_url,
                    api_key=self.config.secret("llm"),
                    timeout_s=settings.timeout_s,
                    max_retries=settings.max_retries,
                )
            return self._model

    def close(self) -> None:
        """Give back models and connections."""
        if self._model is not None:
            self._model.close()
        self.encoder.close()
        self.log.store.close()


def wire(location: str, config: Config) -> Parts:
    """Return the parts for a database and settings. Models are opened at their first use.

    Raises:
        ConfigError: a backend is unknown.
        StoreError: the database cannot be opened.
    """
    encoder = load("encoder", config.encoder.name, **_encoder_options(config))  # first: a bad name makes no file
    store = load("store", f"sql:{location}", durability=config.store.durability, timeout_s=config.store.timeout_s)
    log = MemoryLog(store, encoder, tenant=config.tenant, capacity=config.engine.users_in_memory)
    recall = RecallSpec(top_k=config.recall.top_k, pool=config.recall.pool)
    return Parts(config=config, log=log, encoder=encoder, queries=CachedEncoder(encoder), recall=recall)


def _encoder_options(config: Config) -> dict[str, Any]:
    if not config.encoder.name.startswith("openai:"):
        return {}
    return {"base_url": config.encoder.base_url, "api_key": config.secret("encoder")}
