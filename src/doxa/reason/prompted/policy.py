"""States -> moves, by a language model.

Source: D-SMART, "Reasoning Tree for Memory Traversal" and the prompt for action sampling of appendix E. The paper draws
one action a call, S times, where equal ones are lost; ours asks once for S different moves with their probabilities, so
that an expansion costs one call less for each sample but the first, and equation 3 has numbers to multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doxa.core.values import Draft, Term
from doxa.reason.prompted.asking import Asking
from doxa.reason.prompted.shown import prompts
from doxa.reason.prompted.writer import written
from doxa.reason.tree import (
    Action,
    Answer,
    Ask,
    Compute,
    ExpandEntity,
    FindPath,
    Proposal,
    Recall,
    State,
    Task,
    Think,
)

__all__ = ["PromptedPolicy"]

MOVES = ("expand_entity", "find_path", "recall", "compute", "think", "answer", "ask")
LONGEST = 600
"""Characters of a thought, a sub-question or a question; what is longer is cut."""
TEXT: Mapping[str, Any] = {"type": ["string", "null"]}
FIELDS: Mapping[str, Any] = {
    "move": {"type": "string", "enum": list(MOVES)},
    "likelihood": {"type": "number", "minimum": 0},
    "entity": TEXT,
    "other": TEXT,
    "text": TEXT,
    "value": TEXT,
    "citations": {"type": "array", "items": {"type": "string"}},
    "abstained": {"type": "boolean"},
}


def _schema(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    move = {
        "type": "object", "properties": fields, "required": ["move", "likelihood"], "additionalProperties": False,
    }  # fmt: skip
    moves = {"moves": {"type": "array", "items": move}}
    return {
        "title": "moves", "type": "object", "properties": moves, "required": ["moves"], "additionalProperties": False,
    }  # fmt: skip


SCHEMA = _schema(FIELDS)
OPEN_SCHEMA = _schema({**FIELDS, "general": {"type": "boolean"}})
"""Where answers may rest on what the model knows: a move that answers says whether it does."""


@dataclass(frozen=True, slots=True)
class PromptedPolicy:
    """Proposes moves with a language model, as the Protocol `Policy` says.

    Args:
        asking: the question that is asked.
        entity: gives the entity of a name; None for a name that the memory does not know.
        depth: most moves of a path.
    """

    asking: Asking
    entity: Callable[[str], Term | None]
    depth: int

    def propose(self, states: Sequence[State], task: Task, width: int) -> list[list[Proposal]]:
        """Return up to `width` different moves for each state, the likeliest first; `[]` for a call that failed.

        A move about an entity that the memory does not know, one that the path has made already, and an answer that
        rests on nothing are left out. An answer comes with its draft, so that nobody has to write it again.

        Cost: one call a state, all at once (two where an answer did not fit its schema).
        """
        prompt = prompts()["policy"]
        text = self.asking.told(prompt["text"], task, "answer")
        parts = [self._part(state, text, width) for state in states]
        schema = OPEN_SCHEMA if self.asking.general else SCHEMA
        answers = self.asking.ask("policy", parts, [schema] * len(parts), temperature=prompt["temperature"], last=False)
        return [
            [] if answered.failed else self._proposals(answered.parsed["moves"], state, task, width)
            for state, answered in zip(states, answers, strict=True)
        ]

    def _part(self, state: State, text: str, width: int) -> str:
        left = max(0, self.depth - state.depth - 1)
        # The numbers stand in the JSON, so that the prompt above them is the same for every state.
        return f"{text}\n{self.asking.material(state, width=width, left=left)}"

    def _proposals(self, moves: Sequence[Mapping[str, Any]], state: State, task: Task, width: int) -> list[Proposal]:
        made = {str(step.action) for step in state.steps}
        weights: dict[str, float] = {}
        found: dict[str, tuple[Action, Draft | None]] = {}
        for action, draft, weight in self._read(moves, state, task):
            name = str(action)
            if name not in made:
                found.setdefault(name, (action, draft))
                weights[name] = weights.get(name, 0.0) + weight
        total = max(1.0, sum(weights.values()))
        if not any(weights.values()):
            weights, total = dict.fromkeys(weights, 1.0), float(max(1, len(weights)))
        best = sorted(found, key=lambda name: -weights[name])[:width]
        return [Proposal(found[name][0], weights[name] / total, found[name][1]) for name in best]

    def _read(
        self, moves: Sequence[Mapping[str, Any]], state: State, task: Task
    ) -> Iterator[tuple[Action, Draft | None, float]]:
        """Yield the moves that can be made, with the draft of an answer and their weights."""
        for move in moves:
            draft: Draft | None = None
            if move["move"] == "answer" and _line(move.get("text")):
                one = written({**move, "answer": move["text"]}, state, task, self.asking)
                self.asking.dropped.extend(one.dropped)
                if one.draft is None:
                    continue
                draft = one.draft
            action = self._action(move)
            if action is not None:
                yield action, draft, float(move["likelihood"])

    def _action(self, move: Mapping[str, Any]) -> Action | None:
        """Return the move that a model names; None where a part is missing or unknown."""
        name, text = move["move"], _line(move.get("text"))
        if name in ("expand_entity", "find_path"):
            ends = [self._known(move.get(key)) for key in ("entity", "other")[: 1 + (name == "find_path")]]
            known = [end for end in ends if end is not None]
            if len(known) < len(ends):
                return None
            return ExpandEntity(known[0]) if name == "expand_entity" else FindPath(known[0], known[1])
        if name == "answer":
            return Answer()
        return TOLD[name](text) if text else None

    def _known(self, name: object) -> Term | None:
        """Return the entity of a name, and note the name where there is none."""
        said = _line(name)
        term = self.entity(said) if said else None
        if term is None and said:
            self.asking.unknown.append(said[:80])
        return term


TOLD: Mapping[str, Callable[[str], Action]] = {"recall": Recall, "compute": Compute, "think": Think, "ask": Ask}
"""Moves that are a text."""


def _line(text: object) -> str:
    return " ".join(text.split())[:LONGEST] if isinstance(text, str) else ""
