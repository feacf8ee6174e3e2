"""How much a question may spend on a language model: calls, tokens and seconds, shared by all that ask for it."""

import threading
from dataclasses import dataclass, field
from time import perf_counter

from doxa.backends.llm.model import Usage

__all__ = ["Budget"]


@dataclass(slots=True)
class _Ledger:
    """What was spent and what is promised, for a budget and all parts of it."""

    started: float
    usage: Usage = field(default_factory=Usage)
    promised: Usage = field(default_factory=Usage)
    guard: threading.Lock = field(default_factory=threading.Lock)


class Budget:
    """Calls, tokens and seconds that one question may cost. Safe to use from several threads.

    A call is paid for before it goes out, by what it may cost at most, and settled when it is answered. The one thing
    that can go over is the second try of a call whose answer did not fit its schema: it is counted when it is known.

    Args:
        calls: most calls.
        tokens: most tokens of prompts and answers together.
        seconds: most seconds from now; what has not come back by then is not waited for.
    """

    def __init__(self, *, calls: int, tokens: int, seconds: float) -> None:
        self._calls, self._tokens, self._seconds = calls, tokens, seconds
        self._spare: tuple[int, int, float] = (0, 0, 0.0)
        self._ledger = _Ledger(started=perf_counter())

    def __repr__(self) -> str:
        return f"Budget(calls={self._calls}, tokens={self._tokens}, seconds={self._seconds:g}, usage={self.usage})"

    def less(self, *, calls: int = 0, tokens: int = 0, seconds: float = 0.0) -> "Budget":
        """Return this budget for somebody who has to leave something of it to others; both spend the same money."""
        part = Budget(calls=self._calls, tokens=self._tokens, seconds=self._seconds)
        part._spare, part._ledger = (calls, tokens, seconds), self._ledger
        return part

    @property
    def seconds(self) -> float:
        """Seconds from the beginning to the end, spent or not."""
        return self._seconds

    @property
    def usage(self) -> Usage:
        """What was spent so far; calls that are under way are not in it."""
        return self._ledger.usage

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 when there are none."""
        return max(0.0, self._seconds - self._spare[2] - (perf_counter() - self._ledger.started))

    def refusal(self, tokens: int) -> str:
        """Return why a call of at most so many tokens cannot be made; empty when it can."""
        held = self._ledger.usage + self._ledger.promised + Usage(calls=self._spare[0], prompt_tokens=self._spare[1])
        if held.calls >= self._calls:
            return f"the budget of {self._calls} calls is spent (setting reason.calls)"
        if held.prompt_tokens + held.completion_tokens + tokens > self._tokens:
            return f"the budget of {self._tokens} tokens is spent (setting reason.tokens)"
        if not self.left_s:
            return f"the budget of {self._seconds:g} seconds is spent (setting reason.seconds)"
        return ""

    def reserve(self, tokens: int) -> str:
        """Set aside one call of at most so many tokens; returns why that cannot be, empty when it was done."""
        with self._ledger.guard:
            refusal = self.refusal(tokens)
            if not refusal:
                self._ledger.promised += Usage(calls=1, prompt_tokens=tokens)
            return refusal

    def settle(self, tokens: int, usage: Usage) -> None:
        """Put what a call really cost in place of the `tokens` that were set aside for it."""
        with self._ledger.guard:
            self._ledger.promised += Usage(calls=-1, prompt_tokens=-tokens)
            self._ledger.usage += usage
