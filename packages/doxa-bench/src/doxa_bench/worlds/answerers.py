"""Question -> what a language model says, or what a simulated one would.

The simulated answerer knows the truth and errs at set rates, so that systems can be compared offline on answers of a
known kind. It is no model of any language model: its numbers are labelled as simulated wherever they stand.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Protocol

from doxa.backends.llm import posed
from doxa_bench.models import Asked
from doxa_bench.worlds.questions import Question
from doxa_bench.worlds.world import World, table

__all__ = ["Answerer", "Prompted", "Rates", "Setting", "Simulated", "Speaker", "parse_label", "summary"]

UNKNOWN_WORDS = (
    r"unknown|uncertain|undetermined|unclear|not sure|unsure|cannot be (?:determined|known)|can't (?:tell|say)"
)
LABEL = re.compile(rf"\b(?:(?P<unknown>{UNKNOWN_WORDS})|(?P<yes>yes)|(?P<no>no))\b", re.IGNORECASE)
FINAL = re.compile(r"\b(?:final answer|answer|label)\b\W*(?=\w)", re.IGNORECASE)
MAX_TOKENS = {"direct": 256, "cot": 1024}
"""Room enough for a model that thinks before a one-word answer."""


class Setting(NamedTuple):
    """One cell of the experiment."""

    schedule: str
    """How the questions come: `random`, `stress` or `hub`."""
    mode: str
    """How an answer is asked for: `direct` or `cot`."""


class Speaker(Protocol):
    """The answerer within one dialogue."""

    def reply(self, question: Question, beliefs: str) -> str | None:
        """Return the words of the answer; None when there were none.

        Args:
            question: what is asked.
            beliefs: the belief state so far, in words.
        """
        ...


class Answerer(Protocol):
    """Something that can hold dialogues; safe to call from several threads."""

    @property
    def simulated(self) -> bool: ...

    @property
    def name(self) -> str: ...

    def speak(self, world: World, truths: Mapping[str, bool | None], setting: Setting, seed: str) -> Speaker:
        """Return a speaker for one dialogue; with the same arguments, one that says the same when asked the same."""
        ...


def parse_label(text: str | None) -> str | None:
    """Return YES, NO or UNKNOWN from what was said, None when it says none of them.

    String matching, as in the paper: what stands after the last "answer:" counts; without one the first word that is a
    label at the beginning, else the last such word anywhere.
    """
    if not text:
        return None
    for mark in reversed(list(FINAL.finditer(text))):
        if match := LABEL.match(text, mark.end()):
            return _label(match)
    found = list(LABEL.finditer(text))
    if not found:
        return None
    return _label(found[0] if not text[: found[0].start()].strip(" \n\t*_\"'`") else found[-1])


def _label(match: re.Match[str]) -> str:
    return str(match.lastgroup).upper()


def summary(labels: Mapping[str, bool | None]) -> str:
    """Return a belief state in words, as the paper's example has it; "" where nothing has been asked.

    Args:
        labels: atom -> what is believed of it, None where it was asked about and is left open.
    """
    parts = [f"{atom} is {'true' if value else 'false'}" for atom, value in labels.items() if value is not None]
    unsure = [atom for atom, value in labels.items() if value is None]
    said = f"we believe that {_join(parts)}" if parts else ""
    open_ = f"we are unsure about {_join(unsure)}" if unsure else ""
    return f"So far, {', and '.join(filter(None, (said, open_)))}." if labels else ""


def _join(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How a simulated answerer errs: probabilities, 0 to 1. What it thinks of an atom is drawn once per dialogue."""

    abstain: float = 0.0
    """It holds a settled atom for open."""
    wrong: float = 0.0
    """It holds a settled atom for the opposite, against the rules."""
    guess: float = 0.0
    """It takes a side on an open atom."""
    mute: float = 0.0
    """One answer holds no label that could be read, whatever it thinks."""
    sway: float = 0.0
    """When asked about an open atom it changes its side, and stays there."""
    deny: float = 0.0
    """In one answer it contradicts itself on a settled atom."""

    @classmethod
    def of(cls, *, error: float, contradiction: float) -> Rates:
        """Return rates from two numbers: how often an atom is judged wrongly, how often an answer contradicts that.

        Half of the wrong judgements of settled atoms are "unknown", half the opposite.
        """
        return cls(abstain=error / 2, wrong=error / 2, guess=error, sway=contradiction, deny=contradiction)


@dataclass(frozen=True, slots=True)
class Simulated:
    """An answerer that errs at set rates; the same answers whatever the system under test believes."""

    rates: Mapping[Setting, Rates]
    name: str = "simulated"
    simulated: bool = True

    def speak(self, world: World, truths: Mapping[str, bool | None], setting: Setting, seed: str) -> Speaker:
        """Return a speaker whose judgements of the atoms are drawn from the seed."""
        rng = Random(f"answers/{seed}")
        rates = self.rates[setting]
        thoughts = {atom: _judge(truths[atom], rates, rng) for atom in world.atoms}
        return _SimulatedSpeaker(truths, thoughts, rates, table()["replies"][setting.mode], rng)


def _judge(truth: bool | None, rates: Rates, rng: Random) -> bool | None:
    draw, side = rng.random(), rng.random() < 0.5
    if truth is None:
        return side if draw < rates.guess else None
    return None if draw < rates.abstain else not truth if draw < rates.abstain + rates.wrong else truth


@dataclass(frozen=True, slots=True)
class _SimulatedSpeaker:
    truths: Mapping[str, bool | None]
    thoughts: dict[str, bool | None]
    rates: Rates
    forms: Sequence[str]
    rng: Random

    def reply(self, question: Question, beliefs: str) -> str:
        atom = str(question.lit.atom)
        # Every draw is made every time, so that a change of one rate leaves the other draws as they were.
        mute, against, form = self.rng.random(), self.rng.random(), self.rng.choice(self.forms)
        value, is_open = self.thoughts[atom], self.truths[atom] is None
        if value is not None and against < (self.rates.sway if is_open else self.rates.deny):
            value = not value
            if is_open:
                self.thoughts[atom] = value
        if mute < self.rates.mute:
            form = table()["replies"]["mute"]
        return form.format(label=question.label_of(value).capitalize(), h=atom)


@dataclass(slots=True)
class Prompted:
    """A language model. The same prompt is put to it once: systems that believe the same get the same answer."""

    asked: Asked
    simulated: bool = False
    _answers: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.asked.name

    def speak(self, world: World, truths: Mapping[str, bool | None], setting: Setting, seed: str) -> Speaker:
        """Return a speaker that asks the model, with the world and the belief state in every prompt."""
        return _PromptedSpeaker(self, world.text, setting.mode)

    def ask(self, prompt: str, mode: str) -> str | None:
        """Return what the model says at temperature 0; None when it failed or refused, which is counted.

        Raises:
            BackendUnavailableError: the model answered none of its first 20 calls.
        """
        with self._guard:
            if (prompt, mode) in self._answers:
                return self._answers[prompt, mode]
        messages = posed(table()["prompts"]["system"], prompt)
        text = self.asked.text(messages, max_tokens=MAX_TOKENS[mode])
        with self._guard:
            return self._answers.setdefault((prompt, mode), text)


@dataclass(frozen=True, slots=True)
class _PromptedSpeaker:
    answerer: Prompted
    world: str
    mode: str

    def reply(self, question: Question, beliefs: str) -> str | None:
        parts = (f"The world:\n{self.world}", beliefs, f"Question: {question.text}", table()["prompts"][self.mode])
        return self.answerer.ask("\n\n".join(filter(None, parts)), self.mode)
