"""States -> values, by a language model at temperature 0.

Source: D-SMART, "Reasoning Tree for Memory Traversal" and the two prompts for state evaluation of appendix E, one for
answers and one for all else. Ours asks for the three judgements and takes their mean itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doxa.reason.prompted.asking import Asking
from doxa.reason.prompted.shown import prompts
from doxa.reason.tree import State, Task

__all__ = ["PromptedValuer"]


def _schema(title: str, *names: str) -> Mapping[str, Any]:
    number = {"type": "number", "minimum": 0, "maximum": 1}
    fields = dict.fromkeys(names, number)
    required = list(names)
    return {"title": title, "type": "object", "properties": fields, "required": required, "additionalProperties": False}


OPEN = _schema("promise", "bears", "closer", "reach")
ANSWER = _schema("worth", "true", "whole", "clear")


@dataclass(frozen=True, slots=True)
class PromptedValuer:
    """Scores states with a language model, as the Protocol `Valuer` says."""

    asking: Asking

    def score(self, states: Sequence[State], task: Task) -> list[float | None]:
        """Return the value of each state, 0 to 1: the mean of three judgements.

        None for a call that failed; an answer is then worth its own confidence, since it is there already.

        Cost: one call a state, all at once (two where an answer did not fit its schema).
        """
        prompt = prompts()["value"]
        parts = [self._part(state, task, prompt) for state in states]
        schemas = [ANSWER if state.terminal else OPEN for state in states]
        answers = self.asking.ask("value", parts, schemas, temperature=prompt["temperature"], last=False)
        return [
            _mean(answered.parsed) if not answered.failed else state.draft.confidence if state.draft else None
            for state, answered in zip(states, answers, strict=True)
        ]

    def _part(self, state: State, task: Task, prompt: Mapping[str, Any]) -> str:
        if not state.terminal:
            return f"{self.asking.told(prompt['open'], task, 'judge')}\n{self.asking.material(state)}"
        draft = state.draft
        said = draft.text if draft is not None else state.steps[-1].observation or str(state.steps[-1].action)
        return f"{self.asking.told(prompt['answer'], task, 'judge')}\n{self.asking.material(state, answer=said)}"


def _mean(parsed: Mapping[str, Any]) -> float:
    numbers = [float(number) for number in parsed.values()]
    return min(1.0, max(0.0, sum(numbers) / len(numbers)))
