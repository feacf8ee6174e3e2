"""Asking a model for one JSON object where a failure is a value; and many such calls at once."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from doxa.backends.llm.budget import Budget
from doxa.backends.llm.model import LanguageModel, Message, Request, Usage
from doxa.backends.llm.tokens import estimate_prompt_tokens
from doxa.core.errors import BackendError, BackendReplyError, ClosedError

__all__ = ["Answered", "ask", "ask_together", "posed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of asking for an object: the object or why there is none, and what it cost."""

    parsed: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failed: str = ""
    text: str = ""
    """What the model said, word for word; empty where nothing came."""


def posed(system: str, *more: str) -> tuple[Message, ...]:
    """Return the messages of a request: what the model is told first, and what the user's side says."""
    return (Message(role="system", content=system), *(Message(role="user", content=text) for text in more))


def ask(model: LanguageModel, request: Request, *, setting: str = "llm.max_tokens") -> Answered:
    """Return the object that a model gives back, whole. Never raises for a failure of the model: `failed` says it.

    Args:
        model: any language model.
        request: what to ask; it has a schema.
        setting: what to raise when the answer is cut off.

    Cost: one call; two when the first answer did not fit its schema.
    """
    try:
        done = model.complete(
            request.messages, schema=request.schema, temperature=request.temperature, max_tokens=request.max_tokens
        )
    except (BackendError, ClosedError) as exc:
        tries = 2 if isinstance(exc, BackendReplyError) else 1
        prompts = tries * estimate_prompt_tokens(request.messages)
        said = exc.reply if isinstance(exc, BackendReplyError) else ""
        return Answered(usage=Usage(calls=tries, prompt_tokens=prompts), failed=str(exc), text=said)
    if done.refused or done.parsed is None:
        return Answered(usage=done.usage, failed=f"{model.name} refused", text=done.text)
    if done.truncated:
        cut = f"{model.name} was cut off; raise the setting {setting}"
        return Answered(usage=done.usage, failed=cut, text=done.text)
    return Answered(parsed=done.parsed, usage=done.usage, text=done.text)


def ask_together(
    model: LanguageModel, requests: Sequence[Request], *, budget: Budget, parallel: int, setting: str = "llm.max_tokens"
) -> list[Answered]:
    """Return the answers to several requests, in their order, asked at the same time.

    What the budget has no room for is not asked, the last first; what does not come back within its seconds is not
    waited for. Either is an answer that says so in `failed`.

    Args:
        model: any language model.
        requests: what to ask.
        budget: what may be spent; every call is paid from it.
        parallel: most calls under way at once.
        setting: what to raise when an answer is cut off.

    Cost: one call a request (two where an answer did not fit its schema); the wall time of the slowest of them while
    there are no more than `parallel`. A call that is not waited for ends by itself, by the time-out of its model.
    """
    batch = _Batch(model=model, requests=requests, budget=budget, setting=setting)
    batch.pay()
    batch.start(parallel)
    return batch.collect()


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Requests on their way; they are known by their place."""

    model: LanguageModel
    requests: Sequence[Request]
    budget: Budget
    setting: str
    answers: dict[int, Answered] = field(default_factory=dict)
    tokens: dict[int, int] = field(default_factory=dict)
    """What was set aside for each."""
    waiting: SimpleQueue[int] = field(default_factory=SimpleQueue)
    back: SimpleQueue[tuple[int, Answered]] = field(default_factory=SimpleQueue)
    given_up: threading.Event = field(default_factory=threading.Event)

    def pay(self) -> None:
        """Set aside what each may cost, in order; those that cannot be paid are answered with the reason."""
        for place, request in enumerate(self.requests):
            most = estimate_prompt_tokens(request.messages) + request.max_tokens
            if refusal := self.budget.reserve(most):
                self.answers[place] = Answered(failed=refusal)
            else:
                self.tokens[place] = most
                self.waiting.put(place)

    def start(self, parallel: int) -> None:
        # A thread of a pool would keep the process from ending while a server stalls.
        for _ in range(min(parallel, self.waiting.qsize())):
            threading.Thread(target=self._work, name="doxa-ask", daemon=True).start()

    def collect(self) -> list[Answered]:
        """Wait for the answers, as long as there are seconds."""
        while len(self.answers) < len(self.requests):
            try:
                place, answered = self.back.get(timeout=self.budget.left_s)
            except Empty:
                self.given_up.set()
                break
            self.answers[place] = answered
        while (place_left := self._next()) is not None:  # nobody has begun it, and nobody will
            self.budget.settle(self.tokens[place_left], Usage())
        late = Answered(failed=f"{self.model.name} did not answer within the seconds of a question (reason.seconds)")
        return [self.answers.get(place, late) for place in range(len(self.requests))]

    def _work(self) -> None:
        while not self.given_up.is_set() and (place := self._next()) is not None:
            answered = Answered(failed=f"the call to {self.model.name} broke off by a mistake of its backend")
            try:
                answered = ask(self.model, self.requests[place], setting=self.setting)
            finally:
                self.budget.settle(self.tokens[place], answered.usage)
                self.back.put((place, answered))

    def _next(self) -> int | None:
        try:
            return self.waiting.get_nowait()
        except Empty:
            return None
