"""A language model that answers from a script: for tests, examples and offline demos."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from doxa.backends.llm.model import Completion, Message, Request, Usage
from doxa.backends.llm.structured import Answering
from doxa.backends.llm.tokens import estimate_prompt_tokens, estimate_tokens
from doxa.core.errors import BackendError, ClosedError

__all__ = ["Reply", "Request", "ScriptedModel", "open_model"]

_MAX_QUOTED_CHARS = 80


Reply = str | Completion | Exception | Callable[[Request], str | Completion]
"""One line of a script: the text, a whole completion (to refuse or cut off), an error to raise, or a function."""


class ScriptedModel(Answering):
    """A model that gives its replies in order and keeps every request.

    Args:
        replies: One per call, retries included. Any iterable: `itertools.repeat(function)` never ends.
        name: The name it goes by.

    A reply goes through the same reading of JSON as a server's, so near-JSON is mended and a reply
    that does not fit the schema uses up a second one. Safe to call from several threads.
    """

    def __init__(self, replies: Iterable[Reply] = (), name: str = "scripted") -> None:
        self._replies = iter(replies)
        self._name = name
        self._lock = threading.Lock()
        self._closed = False
        self.requests: list[Request] = []

    def __repr__(self) -> str:
        return f"ScriptedModel(name={self._name!r}, requests={len(self.requests)})"

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """The next reply of the script as it is; see `SingleCalls.once`.

        Raises:
            BackendError: The script has run out.
            ClosedError: The model was closed.
        """
        request = Request(messages=tuple(messages), schema=schema, temperature=temperature, max_tokens=max_tokens)
        started = perf_counter()
        reply = self._take(request)
        if isinstance(reply, Exception):
            raise reply
        said = reply(request) if callable(reply) else reply
        if isinstance(said, Completion):
            return replace(said, parsed=None)
        return Completion(
            text=said,
            parsed=None,
            refused=False,
            truncated=False,
            usage=Usage(
                calls=1,
                prompt_tokens=estimate_prompt_tokens(request.messages),
                completion_tokens=estimate_tokens(said),
            ),
            seconds=perf_counter() - started,
        )

    def close(self) -> None:
        """Take no more calls; the requests stay readable."""
        self._closed = True

    def _take(self, request: Request) -> Reply:
        with self._lock:
            if self._closed:
                raise ClosedError(f"The model {self._name!r} was used after `close()`. Open it again.")
            self.requests.append(request)
            for reply in self._replies:
                return reply
            count = len(self.requests)
        last = request.messages[-1].content[-_MAX_QUOTED_CHARS:]
        raise BackendError(
            f"The script of the model {self._name!r} has run out: call {count} has no reply. "
            f"Its last message ends with {last!r}. Add a reply to `replies`."
        )


def open_model(name: str = "scripted", *, replies: Iterable[Reply] = (), **options: object) -> ScriptedModel:
    """A model that answers from a script.

    Args:
        name: The name it goes by.
        replies: What it says, one per call.
        options: Those of other backends (`base_url`, `timeout_s`, ...): taken and not used, so that a
            config can name this model in place of a server and change nothing else.
    """
    return ScriptedModel(replies, name=name)
