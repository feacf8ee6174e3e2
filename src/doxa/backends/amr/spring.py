"""AMR from a SPRING service over HTTP.

Source: SPRING (Bevilacqua, Blloshmi, Navigli, AAAI 2021) and its web service: GET URL/text-to-amr?sentence=..., which
answers a JSON object whose `penman` is the graph. A server that answers the bare graph is understood as well.
"""

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from doxa.backends.amr.notation import Unreadable, find_graph
from doxa.core.errors import BackendReplyError, BackendUnavailableError, ClosedError, ConfigError

__all__ = ["SpringParser", "open_parser"]

TIMEOUT_S: Final = 30.0
MAX_BYTES: Final = 4_000_000
PATH: Final = "text-to-amr"


def open_parser(url: str, *, timeout_s: float = TIMEOUT_S) -> "SpringParser":
    """Gives back a parser that asks a SPRING service; nothing is sent yet.

    Args:
        url: Where it is, such as `http://localhost:8080/api`; `/text-to-amr` is added unless it is there.
        timeout_s: Seconds that one sentence may take.

    Raises:
        ConfigError: No URL, or not one of HTTP.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"Expected 'spring:URL' with the address of a service, such as http://host/api, got {url!r}.")
    if timeout_s <= 0:
        raise ConfigError(f"Expected timeout_s above zero, got {timeout_s}.")
    path = url.rstrip("/")
    return SpringParser(path if path.endswith(PATH) else f"{path}/{PATH}", timeout_s=timeout_s)


class SpringParser:
    """One request per sentence. Whether a sentence always gets the same graph is up to the service."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        """Takes the whole address of the service."""
        self._url = url
        self._timeout_s = timeout_s
        self._closed = False

    @property
    def name(self) -> str:
        """`spring:` and the address."""
        return f"spring:{self._url}"

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Gives back one graph per sentence; see `AmrParser`."""
        if self._closed:
            raise ClosedError("The AMR parser was closed; open a new one.")
        return [self._graph(sentence) for sentence in sentences]

    def close(self) -> None:
        """Asks no more."""
        self._closed = True

    def _graph(self, sentence: str) -> str:
        reply = self._ask(sentence)
        try:
            return find_graph(_penman(reply))
        except Unreadable as exc:
            raise BackendReplyError(
                f"Expected an AMR graph from {self.name}, got {reply[:200]!r}: {exc}. Check the address.", reply=reply
            ) from exc

    def _ask(self, sentence: str) -> str:
        query = urlencode({"sentence": sentence}, errors="replace")
        address = f"{self._url}?{query}"  # http(s) only, see above
        request = Request(address, headers={"Accept": "application/json"})  # noqa: S310
        try:
            with urlopen(request, timeout=self._timeout_s) as answer:  # noqa: S310
                return str(answer.read(MAX_BYTES).decode("utf-8", "replace"))
        except HTTPError as exc:
            with exc:
                raise BackendUnavailableError(
                    f"{self.name} answered {exc.code} {exc.reason}. Check the address, and that the service is ready."
                ) from exc
        except (URLError, OSError, HTTPException) as exc:
            raise BackendUnavailableError(
                f"{self.name} did not answer: {exc}. Check the address and the service, or raise amr.timeout_s."
            ) from exc


def _penman(reply: str) -> str:
    """Return the graph inside a JSON object, or a list of one; else the reply itself."""
    try:
        found = json.loads(reply)
    except ValueError:
        return reply
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        found = next((found[key] for key in ("penman", "amr", "graph", "result") if key in found), "")
    return found if isinstance(found, str) else ""
