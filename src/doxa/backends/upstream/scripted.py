"""An upstream that answers from a script: for tests and examples."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

from doxa.backends.upstream import Asked, Headers
from doxa.core.errors import BackendUnavailableError, ClosedError

__all__ = ["Line", "ScriptedAnswer", "ScriptedUpstream", "open_upstream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """An answer; `broken` breaks the connection at the end of the pieces."""

    status: int = 200
    headers: Headers = ((b"content-type", b"application/json"),)
    pieces: tuple[bytes, ...] = ()
    broken: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces one by one; see `Answer.chunks`."""
        for piece in self.pieces:
            yield piece
        if self.broken:
            raise BackendUnavailableError("The scripted upstream broke off, as its script says.")

    async def close(self) -> None:
        """Does nothing: nothing is held."""


Line = ScriptedAnswer | Exception | Callable[[Asked], ScriptedAnswer]
"""One line of a script: an answer, an error to raise, or a function."""


class ScriptedUpstream:
    """An upstream that gives its answers in order and keeps every request."""

    def __init__(self, answers: Iterable[Line] = (), name: str = "scripted") -> None:
        """Takes one line per request; `itertools.repeat(function)` never ends."""
        self._answers = iter(answers)
        self._closed = False
        self.name = name
        self.requests: list[Asked] = []

    async def send(self, asked: Asked) -> ScriptedAnswer:
        """The next answer of the script; see `Upstream.send`."""
        if self._closed:
            raise ClosedError("The scripted upstream was closed; open a new one.")
        self.requests.append(asked)
        for line in self._answers:
            if isinstance(line, Exception):
                raise line
            return line(asked) if callable(line) else line
        raise BackendUnavailableError(f"The script has run out: request {len(self.requests)} has no answer. Add one.")

    async def close(self) -> None:
        """Takes no more requests; those it had stay readable."""
        self._closed = True


def open_upstream(name: str = "scripted", *, answers: Iterable[Line] = (), **options: object) -> ScriptedUpstream:
    """An upstream that answers from a script.

    Args:
        name: The name it goes by.
        answers: What it answers, one per request.
        options: Those of other upstreams (`timeout_s`): taken and not used.
    """
    return ScriptedUpstream(answers, name=name or "scripted")
