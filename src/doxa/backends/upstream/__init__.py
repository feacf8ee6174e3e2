"""upstream: request -> answer, both in bytes.

A server of somebody else that requests are relayed to. `http:URL` reaches it over the network; `scripted` answers from
a list, for tests and examples. Nothing is parsed, followed, tried again or kept between requests.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Answer", "Asked", "Headers", "Upstream"]

Headers = Sequence[tuple[bytes, bytes]]
"""Names and values in order; a name may come more than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to an upstream."""

    method: str
    path: str
    """Below the address of the upstream, with its query, as it stands in a URL: `/chat/completions?x=1`."""
    headers: Headers = ()
    """Without `host` and `content-length`, which follow from the rest."""
    body: bytes = field(default=b"", repr=False)


class Answer(Protocol):
    """What an upstream answers: its head at once, its body as it comes."""

    @property
    def status(self) -> int:
        """The status of HTTP."""

    @property
    def headers(self) -> Headers:
        """All headers, in order."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Gives back the body piece by piece as it arrives, still in the encoding that the headers name.

        Raises:
            BackendUnavailableError: The connection broke, or nothing came for too long.
        """

    async def close(self) -> None:
        """Ends the exchange, whatever of the body has not come yet; may be called twice."""


class Upstream(Protocol):
    """A server that requests are relayed to. Used from one event loop; any number of requests at once."""

    @property
    def name(self) -> str:
        """Its scheme and address, without secrets."""

    async def send(self, asked: Asked) -> Answer:
        """Gives back the answer as soon as its head is there; the caller closes it. Cancelling gives the request up.

        Raises:
            BackendUnavailableError: It could not be reached, or did not answer in time.
            ClosedError: The upstream was closed.
        """

    async def close(self) -> None:
        """Lets go of all connections; may be called twice."""
