"""Settings -> language model and AMR parser, and sentences -> graphs that hold their sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from doxa.backends import load
from doxa.backends.amr import AmrParser
from doxa.backends.llm import LanguageModel, Message
from doxa.core.config import Config
from doxa.core.errors import ConfigError

__all__ = ["graphs_of", "needs_model", "open_amr", "open_model"]

MAX_TOKENS = 1500
Speaker = Literal["system", "user", "assistant"]


def open_model(config: Config) -> LanguageModel | None:
    """Return the configured language model, or None where none is.

    Raises:
        ConfigError: a setting cannot be used.
    """
    group = config.llm
    if group.name is None:
        return None
    model: LanguageModel = load(
        "llm",
        group.name,
        base_url=group.base_url,
        api_key=config.secret("llm"),
        timeout_s=group.timeout_s,
        max_retries=group.max_retries,
    )
    return model


def needs_model(name: str) -> bool:
    """Tell whether an AMR parser asks the language model."""
    return name.partition(":")[0] == "llm"


def open_amr(config: Config, model: LanguageModel | None) -> AmrParser:
    """Return the configured AMR parser; `model` is what the parser `llm` asks, and is not closed with it.

    Raises:
        ConfigError: no parser is configured, it is unknown, or it needs a model and there is none.
        BackendError: it cannot be opened.
    """
    name = config.amr.name
    if name is None:
        raise ConfigError("No AMR parser is configured. Set amr.name (DOXA_AMR=spring:URL, amrlib or llm).")
    options: dict[str, object] = {}
    if name.partition(":")[0] == "spring":
        options["timeout_s"] = config.amr.timeout_s
    elif needs_model(name) and model is not None:
        options["ask"] = _asking(model)
    parser: AmrParser = load("amr", name, **options)
    return parser


def graphs_of(sentences: Sequence[str], parser: AmrParser) -> tuple[str, ...]:
    """Return the graph of each sentence in PENMAN notation, with the sentence as its `::snt` comment.

    The comment makes the sentence part of the graph, whatever it holds.

    Raises:
        BackendError: the parser failed.
    """
    graphs = parser.parse(sentences)
    pairs = zip(sentences, graphs, strict=True)
    return tuple(f"# ::snt {' '.join(sentence.split())}\n{graph}" for sentence, graph in pairs)


def _asking(model: LanguageModel) -> Callable[[Sequence[tuple[Speaker, str]]], str]:
    """Return a model as the function that the AMR parser asks."""

    def ask(messages: Sequence[tuple[Speaker, str]]) -> str:
        said = [Message(role=role, content=content) for role, content in messages]
        return model.complete(said, max_tokens=MAX_TOKENS).text

    return ask
