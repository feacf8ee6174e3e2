"""prompted: a conversation -> inferences by a language model, one call with a flat JSON schema.

The model gives tails; the statements are made here, as for every reasoner. Its score is the confidence that it states:
a server does not show the probabilities of equation 2.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.encoder import Encoder
from doxa.backends.llm import LanguageModel, Message, Request, ask, posed
from doxa.commonsense.context import Context, Utterance
from doxa.commonsense.reasoner.candidates import Candidates
from doxa.commonsense.reasoner.proposals import proposed, ranked
from doxa.core.background import RELATIONS

__all__ = ["PromptedReasoner", "prompt_version"]

MOST = 22
"""Inferences asked for: two for each relation."""
CONTEXT_TOKENS = 2_000
MAX_TOKENS = 1_500
"""Of the answer: some 40 for each inference, and room for spaces."""
BY_NAME = {relation.casefold(): relation for relation in RELATIONS}
FIELDS: Mapping[str, Any] = {
    "relation": {"type": "string"},  # one that is not in the list costs that inference, not the answer
    "tail": {"type": "string"},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "inferences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": FIELDS,
                "required": list(FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["inferences"],
    "additionalProperties": False,
}


class PromptedReasoner:
    """Asks a language model what follows; as deterministic as that model is at temperature 0."""

    def __init__(
        self,
        model: LanguageModel,
        encoder: Encoder,
        *,
        most: int = MOST,
        context_tokens: int = CONTEXT_TOKENS,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        """Take note of the models; they stay with the caller, who closes them.

        Args:
            model: any language model.
            encoder: gives the inferences their vectors.
            most: inferences that are asked for, and taken.
            context_tokens: most tokens of what was said; the earliest utterances are left out when they do not fit.
            max_tokens: most tokens of the answer.
        """
        self._model = model
        self._encoder = encoder
        self._most = most
        self._context_tokens = context_tokens
        self._max_tokens = max_tokens

    def infer(self, context: Context) -> Candidates:
        """Return the candidates, best first.

        A failure of the model is no exception: there are no candidates then, and `degraded` says why. It also says how
        many inferences were dropped since their relation is none of the eleven.

        Raises:
            BackendError: the encoder failed.

        Cost: one call of the model, two when the first answer did not fit its schema; one of the encoder.
        """
        if not context.utterances:
            return ranked((), self._encoder)
        said = self._fitting(context.utterances)
        if not said:
            long = f"the last utterance is longer than {self._context_tokens} tokens, so nothing was inferred"
            return ranked((), self._encoder, degraded=long)
        request = Request(messages=self._messages(said), schema=SCHEMA, max_tokens=self._max_tokens)
        done = ask(self._model, request)
        if done.failed:
            failed = f"the language model failed, so nothing was inferred: {done.failed}"
            return ranked((), self._encoder, degraded=failed)
        return self._read(context, done.parsed["inferences"][: self._most])

    def _fitting(self, utterances: Sequence[Utterance]) -> list[Utterance]:
        """Return the latest utterances that fit."""
        taken: list[Utterance] = []
        left = self._context_tokens
        for one in reversed(utterances):
            left -= self._model.count_tokens(one.text)
            if left < 0:
                break
            taken.append(one)
        return taken[::-1]

    def _messages(self, said: Sequence[Utterance]) -> tuple[Message, ...]:
        conversation = [{"speaker": one.speaker, "text": one.text} for one in said]
        material = {"conversation": conversation, "x": said[-1].speaker, "most": self._most}
        return posed(_system(), json.dumps(material, ensure_ascii=False))

    def _read(self, context: Context, rows: Sequence[Mapping[str, Any]]) -> Candidates:
        known = [(BY_NAME[name], row) for row in rows if (name := row["relation"].strip().casefold()) in BY_NAME]
        found = (proposed(context, name, row["tail"], float(row["confidence"])) for name, row in known)
        dropped = len(rows) - len(known)
        told = f"{dropped} of {len(rows)} inferences of {self._model.name} have an unknown relation" if dropped else ""
        return ranked((one for one in found if one is not None), self._encoder, degraded=told)


def prompt_version() -> str:
    """Return the version of the prompt, for records of runs."""
    return str(_prompt()["version"])


@cache
def _prompt() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))


def _system() -> str:
    listed = "\n".join(f"- {relation.name}: {relation.statement}" for relation in RELATIONS.values())
    return str(_prompt()["system"]).replace("{relations}", listed).strip()
