"""Replies -> the score of a judge, a language model, 1 to 10.

Source: Bai et al. 2024, MT-Bench-101, section 4 and its public evaluation: each reply is judged by itself, with the
dialogue before it and the criteria of its task; mathematical and general reasoning are judged beside the reference; in
six tasks the first turn only sets the scene and is not judged; the score of a dialogue is that of its worst turn. The
wording of the prompt is ours (`judge.toml`), the answer is JSON, and the judge answers at temperature 0.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import LanguageModel, Message, Usage
from doxa.core.errors import BackendError
from doxa_bench.mtbench101.dialogues import TASKS, BenchDialogue
from doxa_bench.mtbench101.journal import Journal, key_of

__all__ = ["SET_UP_FIRST", "WITH_REFERENCE", "Judge"]

SET_UP_FIRST = frozenset({"FR", "CR", "AR", "SA", "SC", "CM"})
"""Tasks whose first turn is not judged."""
WITH_REFERENCE = frozenset({"MR", "GR"})
MAX_TOKENS = 400
GIVE_UP_AFTER = 20
"""Calls of which none was answered, after which the run stops."""
SCHEMA: Mapping[str, Any] = {
    "title": "grade",
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 10}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


class Judge:
    """A language model that scores replies; it is asked about the same reply once. Safe between threads."""

    def __init__(self, model: LanguageModel, journal: Journal | None = None) -> None:
        self._model, self._guard = model, threading.Lock()
        self._journal = Journal() if journal is None else journal
        self.name = model.name
        self.calls = 0
        self.failed = 0
        """Replies that got no score: the judge failed, refused, or did not keep to the form twice."""
        self.usage = Usage()

    def scores(self, dialogue: BenchDialogue, replies: Sequence[str]) -> list[float | None]:
        """Return the score of every reply to a dialogue; None for a first turn that is not judged, and for a failure.

        Raises:
            BackendError: the judge answered none of its first 20 calls.
        """
        first = 1 if dialogue.task in SET_UP_FIRST and len(replies) > 1 else 0
        return [None] * first + [self._score(dialogue, replies[: at + 1]) for at in range(first, len(replies))]

    def _score(self, dialogue: BenchDialogue, replies: Sequence[str]) -> float | None:
        messages = prompt(dialogue, replies)
        key = key_of(self.name, *(message.content for message in messages))
        if key in self._journal:
            return float(self._journal.get(key)["score"])
        found = self._ask(messages)
        if found is None:
            return None
        self._journal.put({key: found})
        return float(found["score"])

    def _ask(self, messages: Sequence[Message]) -> dict[str, Any] | None:
        try:
            done = self._model.complete(messages, schema=SCHEMA, temperature=0.0, max_tokens=MAX_TOKENS)
        except BackendError:
            with self._guard:
                self.calls, self.failed = self.calls + 1, self.failed + 1
                if self.failed == self.calls >= GIVE_UP_AFTER:
                    raise
            return None
        with self._guard:
            self.calls, self.usage = self.calls + 1, self.usage + done.usage
            self.failed += done.parsed is None
        return None if done.parsed is None else {"score": done.parsed["score"], "reason": done.parsed["reason"]}


def prompt(dialogue: BenchDialogue, replies: Sequence[str]) -> list[Message]:
    """Return what the judge is told to score the last of some replies."""
    table, at = _table(), len(replies) - 1
    system = table["system"].format(name=TASKS[dialogue.task], criteria=table["criteria"][dialogue.task]).strip()
    lines = []
    for turn, reply in zip(dialogue.turns, replies, strict=False):
        lines += [f"User: {turn.user}", f"Assistant: {reply or '(no reply)'}"]
    lines[-1] = f"\nThe reply to grade:\nAssistant: {replies[at] or '(no reply)'}"
    if dialogue.task in WITH_REFERENCE:
        lines.append(table["reference"].format(reference=dialogue.turns[at].bot).rstrip())
    return [Message(role="system", content=system), Message(role="user", content="\n".join(lines))]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("doxa_bench.mtbench101").joinpath("judge.toml").read_text(encoding="utf-8"))
