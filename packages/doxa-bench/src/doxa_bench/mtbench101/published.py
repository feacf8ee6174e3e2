"""Message -> reply by D-SMART as it was published, over the memory of the run; beside ours, to see what differs.

Source: Lei et al., D-SMART, Algorithm 2 with the hyperparameters and parameters of appendix B: beam 3, three samples a
node, depth 5, twelve expansions; one call for every sample, of which equal ones are lost; four actions; every state
scored by a call of its own at temperature 0, everything else at 0.8; room for 8,192 tokens. Each answer is written by
a call of its own and scored like a state; the reply is that of the best state, which is written then where it has none.
The wording of the prompts is ours (`published.toml`), for the tasks of figures 11 to 14, and answers are JSON.

Where the paper leaves something open: equation 1 gives the dialogue to the model, which the printed prompts do not
show; it is given here, as messages. EXPAND ENTITY takes one hop. The memory is that of the settings; the paper's is
built with SPRING and an API.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import Answered, Budget, LanguageModel, Message, Request, Usage, ask_together
from doxa.engine import Dialogue, Doxa
from doxa_bench.mtbench101.dialogues import BenchDialogue
from doxa_bench.mtbench101.prompted import remembered
from doxa_bench.mtbench101.systems import PUBLISHED, Said, Speaker

__all__ = ["BEAM", "DEPTH", "EXPANSIONS", "MAX_TOKENS", "SAMPLES", "Graph", "Published", "Search", "State"]

BEAM, SAMPLES, DEPTH, EXPANSIONS = 3, 3, 5, 12
MAX_TOKENS, TEMPERATURE = 8192, 0.8
PARALLEL = 9
NO_LIMIT, SECONDS = 10**9, 86_400.0
"""The paper limits neither; every call has the time-out of its model."""
MOST_ENTITIES = 60
PROMPT_VERSION = "mtbench101/published/1"


def _schema(title: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "title": title, "type": "object", "properties": fields, "required": list(fields), "additionalProperties": False,
    }  # fmt: skip


TEXT: Mapping[str, Any] = {"type": ["string", "null"]}
SHARE: Mapping[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
STEPS = ("expand_entity", "find_path", "think", "answer")
ACTION = _schema("step", {"step": {"enum": list(STEPS)}, "entity": TEXT, "other": TEXT, "text": TEXT})
OPEN = _schema("rating", dict.fromkeys(("relevance", "progress", "potential"), SHARE))
ANSWER = _schema("answer_rating", dict.fromkeys(("accuracy", "completeness", "clarity"), SHARE))
REPLY = _schema("final", {"answer": {"type": "string"}})


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The four-tuple of the paper, with the answer of a terminal one."""

    known: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    value: float = 1.0
    answer: str | None = None


@dataclass(slots=True)
class Graph:
    """Facts as sentences, and which names each joins."""

    edges: list[tuple[str, str, str]]
    """Subject, object and sentence."""

    def around(self, name: str) -> list[str]:
        """Return the facts of an entity."""
        return [said for head, tail, said in self.edges if name.casefold() in (head.casefold(), tail.casefold())]

    def path(self, one: str, other: str) -> list[str]:
        """Return the facts of a shortest way between two entities; none where there is none. O(facts)."""
        goal, seen = other.casefold(), {one.casefold()}
        waiting = deque([(one.casefold(), list[str]())])
        while waiting:
            at, way = waiting.popleft()
            if at == goal:
                return way
            for head, tail, said in self.edges:
                ends = (head.casefold(), tail.casefold())
                if at in ends:
                    beyond = ends[1] if at == ends[0] else ends[0]
                    if beyond not in seen:
                        seen.add(beyond)
                        waiting.append((beyond, [*way, said]))
        return []

    @property
    def entities(self) -> list[str]:
        """The names, each once."""
        return list(dict.fromkeys(name for head, tail, _ in self.edges for name in (head, tail)))


_Asked = tuple[str, State, Mapping[str, Any]]
"""The name of a prompt, a state, and what else the model has to know."""


@dataclass(slots=True)
class Search:
    """One message on its way; `usage` and `failures` are the account."""

    model: LanguageModel
    dialogue: Sequence[Message]
    graph: Graph
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list)

    def run(self) -> State:
        """Return the best state: line 24 of Algorithm 2. At most `EXPANSIONS` x `SAMPLES` samples, each then scored."""
        beam, expanded = [State()], 0
        for _ in range(DEPTH):
            here = [one for one in beam if one.answer is None][: EXPANSIONS - expanded]
            if not here:
                break
            expanded += len(here)
            pool = [one for one in beam if one not in here] + self._scored(self._expanded(here))
            beam = sorted(pool, key=lambda one: -one.value)[:BEAM] or beam
        best = max(beam, key=lambda one: one.value)
        return best if best.answer is not None else (self._written([best]) or [best])[0]

    def _expanded(self, states: Sequence[State]) -> list[State]:
        """Return the states that the sampled actions lead to; equal actions of one state are one."""
        asked: list[_Asked] = [("act", one, {}) for one in states for _ in range(SAMPLES)]
        found, answering = dict[tuple[int, str], State](), dict[int, State]()
        for place, done in enumerate(self._ask(asked, ACTION, TEMPERATURE)):
            at = place // SAMPLES
            if done.parsed.get("step") == "answer":
                answering[at] = states[at]
            elif done.parsed:
                state = self._done(states[at], done.parsed)
                found.setdefault((at, state.steps[-1]), state)
        return [*found.values(), *self._written(list(answering.values()))]

    def _done(self, state: State, move: Mapping[str, Any]) -> State:
        entity, other, text = (str(move.get(key) or "") for key in ("entity", "other", "text"))
        if move["step"] == "think":
            return replace(state, steps=(*state.steps, f"THINK: {text}"))
        expands = move["step"] == "expand_entity"
        told = f"EXPAND ENTITY [{entity}]" if expands else f"FIND PATH [{entity}] [{other}]"
        facts = self.graph.around(entity) if expands else self.graph.path(entity, other)
        return replace(state, known=tuple(dict.fromkeys((*state.known, *facts))), steps=(*state.steps, told))

    def _written(self, states: Sequence[State]) -> list[State]:
        answers = self._ask([("write", one, {}) for one in states], REPLY, TEMPERATURE)
        return [
            replace(one, steps=(*one.steps, "ANSWER"), answer=str(done.parsed["answer"]))
            for one, done in zip(states, answers, strict=True)
            if done.parsed
        ]

    def _scored(self, states: Sequence[State]) -> list[State]:
        """Return the states with their values; one whose call fails is dropped."""
        ended = [one for one in states if one.answer is not None]
        still = [one for one in states if one.answer is None]
        answers = self._ask([("rate_open", one, {}) for one in still], OPEN, 0.0)
        answers += self._ask([("rate_answer", one, {"answer": one.answer}) for one in ended], ANSWER, 0.0)
        return [
            replace(one, value=sum(map(float, done.parsed.values())) / len(done.parsed))
            for one, done in zip([*still, *ended], answers, strict=True)
            if done.parsed
        ]

    def _ask(self, asked: Sequence[_Asked], schema: Mapping[str, Any], temperature: float) -> list[Answered]:
        requests = [
            Request(
                messages=self._posed(task, state, more), schema=schema, temperature=temperature, max_tokens=MAX_TOKENS
            )
            for task, state, more in asked
        ]
        budget = Budget(calls=len(requests) + 1, tokens=NO_LIMIT, seconds=SECONDS)
        answers = ask_together(self.model, requests, budget=budget, parallel=PARALLEL) if requests else []
        for done in answers:
            self.usage += done.usage
            self.failures += [done.failed] if done.failed else []
        return answers

    def _posed(self, task: str, state: State, more: Mapping[str, Any]) -> tuple[Message, ...]:
        entities = self.graph.entities[:MOST_ENTITIES]
        material = json.dumps(
            {"known": state.known, "steps": state.steps, "entities": entities, **more}, ensure_ascii=False
        )
        told = f"{_prompts()['shared'].strip()}\n\n{_prompts()[task].strip()}\n{material}"
        return (Message(role="system", content=told), *self.dialogue)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The language model with the memory of the run and the search of the paper; what that answers is the reply."""

    model: LanguageModel
    doxa: Doxa
    settings: tuple[Any, ...] = ()
    name: str = PUBLISHED
    repeatable: bool = False

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """Model, prompts and settings."""
        return (self.name, self.model.name, PROMPT_VERSION, *self.settings)

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker with a memory of its own."""
        chat = self.doxa.dialogue(user=f"{self.name} {run} {dialogue.id}", speaker="User")
        return _Searching(self, chat)


@dataclass(slots=True)
class _Searching:
    system: Published
    chat: Dialogue
    said: list[Message] = field(default_factory=list)
    fallen_back: int = 0

    def reply(self, text: str) -> Said:
        begin, doxa = time.perf_counter(), self.system.doxa
        memory = doxa.memory(user=self.chat.user)
        edges = [(str(one.subject), str(one.object), memory.describe(one)) for one in memory.facts()]
        self.said.append(Message(role="user", content=text))
        looking = Search(self.system.model, self.said, Graph(edges))
        best = looking.run()
        replied, answer = time.perf_counter(), best.answer or ""
        self.said.append(Message(role="assistant", content=answer or "..."))
        failed, self.fallen_back = remembered(doxa, self.chat, text, answer, self.fallen_back)
        lost = f"{len(looking.failures)} calls failed: {looking.failures[0]}" if looking.failures else ""
        return Said(
            text=answer,
            seconds=replied - begin,
            maintenance_s=time.perf_counter() - replied,
            usage=looking.usage,
            failed="" if answer else lost or "the search ended without an answer",
            degraded="; ".join(filter(None, (lost, failed))),
            noted=bool(best.known),
            facts=len(memory.facts()),
        )


@cache
def _prompts() -> Mapping[str, str]:
    return tomllib.loads(files("doxa_bench.mtbench101").joinpath("published.toml").read_text(encoding="utf-8"))
