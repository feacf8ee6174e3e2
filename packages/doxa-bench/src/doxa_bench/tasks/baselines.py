"""Published baselines of the task benchmark: a language model that has the conversation so far and no other memory.

base-flat   all turns and replies so far, then the reply
cot         the same, and the model thinks step by step before it replies; its steps stay in the conversation
react       the same, in steps of a thought, an action and what the action gives back; they stay as well

They keep no state that could be scored. So the same model is asked after every turn what the slots hold by the
conversation, the assistant's part included, and how the turn was taken. It is told the names of the slots and which of
them are sets, as the `linear` history is. That reading is no part of the conversation, and of the tokens of a round.

Temperature is 0 (the paper has 0.3), so that a run can be done again.

Source: Task Memory Engine, sections 5 and 6 (ReAct, CoT and base-flat, with full concatenation of the history); Wei et
al. 2022, Chain-of-Thought Prompting; Yao et al. 2022, ReAct. The wording and the actions are ours.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.llm import Message, Request, posed
from doxa.core.config import Config
from doxa_bench.models import Asked, opened_model
from doxa_bench.tasks.prompts import message_tokens
from doxa_bench.tasks.scenarios import INTENTS, Scenario
from doxa_bench.tasks.scoring import Played
from doxa_bench.tasks.values import Held, contains

__all__ = ["BASELINES", "Conversation", "opened_baseline", "prompt_version"]

STEPS = 5
"""Most steps of a turn, as Yao et al. allow for short tasks; in the last one it can only reply."""
LINES = 6
"""Most lines that a look gives back, the latest ones."""
REPLY_TOKENS = 600
READ_TOKENS = 2_000
SILENT = "(no reply)"
"""What stands in the conversation where a call failed: templates turn down an empty message."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a baseline makes of the last turn."""

    reply: str
    kept: str
    """What stays in the conversation."""
    tokens: int
    """Of all prompts that it took."""


Style = Callable[[Asked, Sequence[Message]], Said]
"""A model and a conversation that ends with a turn of the user -> the reply."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A language model over the whole conversation; scenarios share nothing, so several can be played at once."""

    asked: Asked
    style: Style

    @property
    def models(self) -> Mapping[str, str | None]:
        """The language model."""
        return {"llm": self.asked.name}

    @property
    def calls(self) -> Mapping[str, int]:
        """What was asked so far and what it cost."""
        return self.asked.counts

    def play(self, scenario: Scenario) -> list[Played]:
        """Reply to each turn and read what is held then.

        A call that fails is counted: the reply is empty then, or the state is what was read before.

        Raises:
            BackendUnavailableError: the model answered none of its first 20 calls.

        Cost: two calls a turn, of `react` up to six.
        """
        talk: list[Message] = []
        played: list[Played] = []
        for text in scenario.turns:
            talk.append(Message(role="user", content=text))
            said = self.style(self.asked, talk)
            talk.append(Message(role="assistant", content=said.kept or SILENT))
            before = played[-1].state if played else {}
            found = self.asked.object(_reading(scenario, talk))
            intents, state = ((), before) if found is None else _read(scenario, found)
            played.append(Played(intents=intents, state=state, reply=said.reply, tokens=said.tokens))
        return played


@contextmanager
def opened_baseline(name: str, config: Config) -> Iterator[Conversation]:
    """Return a baseline that asks the configured language model.

    Raises:
        ConfigError: none is configured.
    """
    with opened_model(config, f"bench tasks: {name}", "leave that system out (--systems)") as asked:
        yield Conversation(asked, BASELINES[name])


def prompt_version() -> str:
    """Return the version of the prompts, for records of runs."""
    return str(_prompts()["version"])


def _flat(asked: Asked, talk: Sequence[Message]) -> Said:
    messages = (*posed(_system("base-flat")), *talk)
    found = asked.object(_request(messages, reply={"type": "string"}))
    reply = "" if found is None else str(found["reply"])
    return Said(reply, reply, _tokens(messages))


def _cot(asked: Asked, talk: Sequence[Message]) -> Said:
    messages = (*posed(_system("cot")), *talk)
    found = asked.object(_request(messages, thoughts={"type": "string"}, reply={"type": "string"}))
    if found is None:
        return Said("", "", _tokens(messages))
    return Said(str(found["reply"]), f"{found['thoughts']}\n{found['reply']}", _tokens(messages))


def _react(asked: Asked, talk: Sequence[Message]) -> Said:
    system, taken, tokens = posed(_system("react").replace("{steps}", str(STEPS))), list[str](), 0
    for step in range(1, STEPS + 1):
        so_far = [Message(role="assistant", content="\n".join(taken))] if taken else []
        going_on = [Message(role="user", content=f"Step {step}.")] if taken else []
        messages = (*system, *talk, *so_far, *going_on)
        tokens += _tokens(messages)
        actions = ["reply"] if step == STEPS else ["note", "look", "reply"]
        text = {"type": "string"}
        found = asked.object(_request(messages, thought=text, action=_one_of(actions), input=text))
        if found is None:
            break
        taken += [f"Thought {step}: {found['thought']}", f"Action {step}: {found['action']}[{found['input']}]"]
        if found["action"] == "reply":
            return Said(str(found["input"]), "\n".join(taken), tokens)
        taken.append(f"Observation {step}: {_observed(found, talk)}")
    return Said("", "\n".join(taken), tokens)


BASELINES: Mapping[str, Style] = {"base-flat": _flat, "cot": _cot, "react": _react}
"""Name -> how it replies."""


def _observed(step: Mapping[str, Any], talk: Sequence[Message]) -> str:
    """Return what an action gives back; a look finds lines before the turn by the words of its input."""
    words = _prompts()["react"]
    if step["action"] == "note":
        return str(words["noted"])
    lines = [
        f"{one.role}: {line}" for one in talk[:-1] for line in one.content.splitlines() if contains(line, step["input"])
    ]
    return " / ".join(lines[-LINES:]) or str(words["nothing"])


def _request(messages: Sequence[Message], **fields: Mapping[str, Any]) -> Request:
    return Request(messages=tuple(messages), schema=_object(fields), max_tokens=REPLY_TOKENS)


def _reading(scenario: Scenario, talk: Sequence[Message]) -> Request:
    """Return the question what is held after the last line of a conversation."""
    material = {
        "slots": [{"slot": slot, "set": slot in scenario.sets} for slot in scenario.judged],
        "conversation": [{"who": one.role, "says": one.content} for one in talk],
    }
    held: Mapping[str, Mapping[str, Any]] = {
        "slot": _one_of(scenario.judged),
        "values": {"type": "array", "items": {"type": "string"}},
    }
    schema = _object(
        {
            "slots": {"type": "array", "items": _object(held)},
            "intents": {"type": "array", "items": _one_of(sorted(INTENTS))},
        }
    )
    messages = posed(_system("read"), json.dumps(material, ensure_ascii=False))
    return Request(messages=messages, schema=schema, max_tokens=READ_TOKENS)


def _read(scenario: Scenario, found: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Held]]:
    """Return the labels and the state; a slot of one value that is given several has all of them."""
    state: dict[str, Held] = {}
    for one in found["slots"]:
        values = [text for value in one["values"] if (text := str(value).strip())]
        if values:
            state[one["slot"]] = values if one["slot"] in scenario.sets or len(values) > 1 else values[0]
    return tuple(dict.fromkeys(found["intents"])), state


def _one_of(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _object(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def _tokens(messages: Sequence[Message]) -> int:
    return message_tokens(one.content for one in messages)


def _system(name: str) -> str:
    return str(_prompts()[name]["system"]).strip()


@cache
def _prompts() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("baselines.toml").read_text(encoding="utf-8"))
