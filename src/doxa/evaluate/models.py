"""Config -> the language model that a benchmark asks by itself, beside what the engine asks."""

from __future__ import annotations

from doxa.backends import load
from doxa.backends.llm import LanguageModel
from doxa.core.config import Config
from doxa.core.errors import ConfigError

__all__ = ["open_model"]


def open_model(config: Config, who: str, instead: str) -> LanguageModel:
    """Return the configured language model; the caller closes it.

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
    return model
