"""What a language model infers from a conversation -> how near what was retrieved comes to it (table II).

The paper asks ChatGPT and measures by BERTScore, BARTScore and MoverScore; here any configured model is asked, and the
measure is `overlap.nearness`, with the token vectors of the built-in encoder.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.llm import LanguageModel, Request, Usage, ask, posed
from doxa.core.errors import BackendUnavailableError
from doxa_bench.knowledge.overlap import nearness
from doxa_bench.metrics import mean

__all__ = ["Tokens", "compare", "prompt_version"]

MOST = 5
"""Sentences that the model is asked for, as many as are retrieved."""
MAX_TOKENS = 400
GIVE_UP_AFTER = 10
"""Calls of which none was answered, after which the run stops."""
SCHEMA: Mapping[str, Any] = {
    "title": "knowledge",
    "type": "object",
    "properties": {"knowledge": {"type": "array", "items": {"type": "string"}}},
    "required": ["knowledge"],
    "additionalProperties": False,
}

Tokens = Callable[[Sequence[str]], Sequence[NDArray[np.float32]]]
"""Texts -> of each the unit rows of its tokens."""
Tell = Callable[[str, int, int], None]


def compare(
    examples: Sequence[Mapping[str, Any]], model: LanguageModel, tokens: Tokens, *, tell: Tell | None = None
) -> dict[str, Any]:
    """Return how near what every system retrieved comes to what a model infers from the same conversations.

    Args:
        examples: conversations with what was retrieved: `context`, utterances, and `retrieved`, system -> sentences.
        model: is asked once for each; it stays with the caller.
        tokens: gives the token vectors of sentences.
        tell: is told how many were asked.

    Returns:
        `systems`, name -> `average` over all pairs of a retrieved and an inferred sentence and `max`, that of the
        nearest pair, both means over dialogues; `dialogues` that count, `failed` calls, and what was spent. A dialogue
        counts where the model inferred something; a system that retrieved nothing has 0 there.

    Raises:
        BackendUnavailableError: the model answered none of its first 10 calls.
    """
    rows: dict[str, list[tuple[float, float]]] = {}
    usage, failed, counted = Usage(), 0, 0
    for number, example in enumerate(examples):
        if tell:
            tell(model.name, number, len(examples))
        done = ask(model, _request(example["context"]))
        usage += done.usage
        if done.failed:
            failed += 1
            if failed == number + 1 == GIVE_UP_AFTER:
                raise BackendUnavailableError(f"{model.name} answered none of {failed} calls: {done.failed}")
            continue
        inferred = _sentences(done.parsed["knowledge"])
        counted += bool(inferred)
        for name, sentences in example["retrieved"].items() if inferred else ():
            rows.setdefault(name, []).append(nearness(tokens(sentences), tokens(inferred)))
    return {
        "name": model.name,
        "prompt": prompt_version(),
        "dialogues": counted,
        "failed": failed,
        "calls": usage.calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "systems": {
            name: {"average": mean([one for one, _ in found]), "max": mean([best for _, best in found])}
            for name, found in rows.items()
        },
    }


def prompt_version() -> str:
    """Return the version of the prompt, for records of runs."""
    return str(_prompt()["version"])


def _sentences(said: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for one in said if (text := " ".join(one.split()))))[:MOST]


def _request(utterances: Sequence[str]) -> Request:
    system = str(_prompt()["system"]).format(most=MOST).strip()
    messages = posed(system, json.dumps({"conversation": list(utterances)}, ensure_ascii=False))
    return Request(messages=messages, schema=SCHEMA, max_tokens=MAX_TOKENS)


@cache
def _prompt() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("inferences.toml").read_text(encoding="utf-8"))
