"""What the prompted roles share while they work on one question: the model, what it sees, the budget, the account."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from doxa.backends.llm import Answered, Budget, LanguageModel, Request, Usage, ask_together, posed
from doxa.reason.prompted.shown import FindTurn, Shown, cited, names_in, prompts
from doxa.reason.tree import State, Task

__all__ = ["Asking", "prompt_version"]

WRITER_SHARE = 0.25
"""Share of the seconds that the search leaves to the writer."""
CALLS_TOLD = 16
"""Calls whose own words a trace repeats, the first ones."""
SHARED_TOLD, OWN_TOLD = 40_000, 8_000
"""Characters that a trace repeats of what calls share, and of the own part and the reply of each; by default a prompt
holds less than half of that."""


def prompt_version() -> str:
    """Return the version of the prompts; it goes into every trace."""
    return str(prompts()["version"])


@dataclass(slots=True, kw_only=True)
class Asking:
    """One question on its way through a language model. Not shared between questions or threads.

    Args:
        model: any language model.
        shown: what all calls begin with.
        turn: gives the turn of an id; asked only for turns that may be cited.
        budget: what the question may cost; the search leaves one call and a part of the seconds to the writer.
        parallel: most calls under way at once.
        context_tokens: most tokens of what a state has gathered; what was found last goes first.
        max_tokens: most tokens of one answer.
        setting: what to raise when an answer is cut off.
        general: whether the model may answer from its own knowledge where the memory is silent.
    """

    model: LanguageModel
    shown: Shown
    turn: FindTurn
    budget: Budget
    parallel: int
    context_tokens: int
    max_tokens: int
    setting: str = "llm.max_tokens"
    general: bool = False
    calls: dict[str, int] = field(default_factory=dict)
    """Calls of each role."""
    failures: list[str] = field(default_factory=list)
    """Why calls failed, in the order in which they came back."""
    dropped: list[str] = field(default_factory=list)
    """What was said and does not count, and why."""
    unknown: list[str] = field(default_factory=list)
    """Names in moves that the memory does not know."""
    _usage: Usage = field(default_factory=Usage)
    _sent: list[dict[str, object]] = field(default_factory=list)

    def ask(
        self, role: str, parts: Sequence[str], schemas: Sequence[Mapping[str, Any]], *, temperature: float, last: bool
    ) -> list[Answered]:
        """Return the answers to several prompts of one role, all asked at once.

        Args:
            role: who asks, for the account.
            parts: what each call is about; it follows what all calls share.
            schemas: of each answer.
            temperature: 0 for the likeliest words.
            last: whether nobody asks after this role, so that it may spend all that is left.
        """
        requests = [
            Request(
                messages=posed(self.shown.system, f"{self.shown.message}\n\nYour part:\n{part}"),
                schema=schema,
                temperature=temperature,
                max_tokens=self.max_tokens,
            )
            for part, schema in zip(parts, schemas, strict=True)
        ]
        budget = self.budget if last else self._search_budget()
        answers = ask_together(self.model, requests, budget=budget, parallel=self.parallel, setting=self.setting)
        for part, answered in zip(parts, answers, strict=True):
            self.calls[role] = self.calls.get(role, 0) + answered.usage.calls
            self._usage += answered.usage
            self._sent += [self._told(role, part, answered)] if len(self._sent) < CALLS_TOLD else []
            if answered.failed:
                self.failures.append(answered.failed)
        return answers

    def told(self, text: str, task: Task, part: Literal["answer", "judge"]) -> str:
        """Return what a role is to do, in the names of the dialogue, and with leave to use what the model knows."""
        more = prompts()["knowledge"][part] if self.general else ""
        return f"{text.strip()}\n{more}".strip().format(**names_in(task))

    def material(self, state: State, **more: object) -> str:
        """Return a state as JSON: its path, what it found, and what else a role has to know."""
        path = [
            {"move": str(step.action), "showed": step.observation} if step.observation else {"move": str(step.action)}
            for step in state.steps
        ]
        return json.dumps({"path": path, "found": self._found(state), **more}, ensure_ascii=False)

    def _found(self, state: State) -> list[str]:
        """Return the facts of a state that fit, in the order in which they were found."""
        left, taken = self.context_tokens // 2, list[str]()
        for fact in reversed(state.facts):
            line = cited(fact)
            left -= self.model.count_tokens(line)
            if left < 0:
                break
            taken.append(line)
        return taken[::-1]

    def _search_budget(self) -> Budget:
        tokens = self.model.count_tokens(self.shown.system) + self.model.count_tokens(self.shown.message)
        # The writer's own words and a state come on top of what is shown.
        spare = tokens + self.context_tokens // 2 + 2 * self.max_tokens
        return self.budget.less(calls=1, tokens=spare, seconds=WRITER_SHARE * self.budget.seconds)

    def spent(self) -> str:
        """Return why the search can ask nothing more; empty while it can."""
        return self._search_budget().refusal(self.max_tokens)

    def note(self) -> dict[str, object]:
        """Return what the trace tells of it: prompts, model, calls, tokens, and what went wrong."""
        note: dict[str, object] = {"model": self.model.name, "prompt": prompt_version()}
        note.update({f"{role}_calls": count for role, count in self.calls.items() if len(self.calls) > 1})
        note.update(calls=self._usage.calls, prompt_tokens=self._usage.prompt_tokens)
        note.update(completion_tokens=self._usage.completion_tokens)
        if self.failures:
            note["failed"] = len(self.failures)
        if self.unknown:
            note["unknown"] = tuple(dict.fromkeys(self.unknown))
        if self.dropped:
            note["dropped"] = tuple(self.dropped)
        return note

    def sent(self) -> dict[str, object]:
        """Return the prompts word for word with what came back, for a replay: what all calls share is told once."""
        shared = {"system": self.shown.system, "message": self.shown.message}
        tokens = {f"{name}_tokens": self.model.count_tokens(text) for name, text in shared.items()}
        return {**{name: _cut(text, SHARED_TOLD) for name, text in shared.items()}, **tokens, "calls": list(self._sent)}

    def _told(self, role: str, part: str, answered: Answered) -> dict[str, object]:
        told = {
            "role": role,
            "part": _cut(part, OWN_TOLD),
            "part_tokens": self.model.count_tokens(part),
            "prompt_tokens": answered.usage.prompt_tokens,
            "completion_tokens": answered.usage.completion_tokens,
            "reply": _cut(answered.text, OWN_TOLD),
            "failed": answered.failed,
        }
        return {name: value for name, value in told.items() if value != ""}

    def degraded(self) -> str:
        """Return what ran on a lesser path, in words; empty when everything went as configured."""
        told = []
        if self.failures:
            count = len(self.failures)
            told.append(f"{count} {'call' if count == 1 else 'calls'} to the language model failed: {self.failures[0]}")
        if self.shown.withheld:
            which = ", ".join(self.shown.withheld)
            told.append(f"what reads like an instruction to a language model was not shown to it: {which}")
        told += self.dropped
        return "; ".join(told)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
