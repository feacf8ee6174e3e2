"""An upstream over HTTP/1.1, with a pool of connections that are kept."""

from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

from doxa.backends.upstream import Asked, Headers
from doxa.core.errors import BackendUnavailableError, ClosedError, ConfigError, InputError, MissingDependencyError

try:  # it parses in C: an exchange costs half of what httpx needs for it, and a millisecond counts here
    import aiohttp
    from yarl import URL
except ImportError as exc:
    raise MissingDependencyError("aiohttp", extra="server", purpose="To relay to a server") from exc

__all__ = ["HttpUpstream", "open_upstream"]

CONNECT_S: Final = 10.0
KEPT_S: Final = 60.0
"""Seconds after which an idle connection is given up."""
LONGEST_HEADER: Final = 65_536
ADDED: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that the library would add."""


def open_upstream(url: str, *, timeout_s: float = 600.0) -> "HttpUpstream":
    """Gives back an upstream at an address; nothing is sent yet.

    Args:
        url: Where its paths begin, such as `https://api.openai.com/v1`.
        timeout_s: Seconds to wait for the next bytes.

    Raises:
        ConfigError: It is no address of HTTP.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ConfigError(f"Expected an address such as https://api.openai.com/v1 (server.upstream), got {url!r}.")
    return HttpUpstream(url.rstrip("/"), timeout_s=timeout_s)


class HttpUpstream:
    """One server. Redirects are answers like any other, and cookies are not kept: they are those of one client."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        """Takes the address without a slash at its end."""
        self._url = url
        self._closed = False
        self._session: aiohttp.ClientSession | None = None
        self._timeout = aiohttp.ClientTimeout(sock_connect=min(CONNECT_S, timeout_s), sock_read=timeout_s)

    @property
    def name(self) -> str:
        """`http:` and the address, without a user or password in it."""
        return f"http:{self._url.rpartition('@')[2]}"

    async def send(self, asked: Asked) -> "HttpAnswer":
        """The answer of the server; see `Upstream.send`."""
        if self._closed:
            raise ClosedError("The upstream was closed; open a new one.")
        if not asked.path.startswith("/"):  # it would go on with the name of the host
            raise InputError(f"Expected a path that begins with a slash, got {asked.path[:80]!r}.")
        try:
            response = await self._opened().request(
                asked.method,
                URL(f"{self._url}{asked.path}", encoded=True),
                headers=[(_text(name), _text(value)) for name, value in asked.headers],
                data=asked.body or None,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as exc:
            raise unavailable(self.name, exc) from exc
        return HttpAnswer(response, self.name)

    async def close(self) -> None:
        """Lets go of all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:  # it belongs to the event loop that it is made in
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_S),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=ADDED,
                auto_decompress=False,
                trust_env=True,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
            )
        return self._session


class HttpAnswer:
    """The answer of one request."""

    def __init__(self, response: aiohttp.ClientResponse, name: str) -> None:
        """Takes a response whose body is not read yet."""
        self._response = response
        self._name = name

    @property
    def status(self) -> int:
        """The status of HTTP."""
        return self._response.status

    @property
    def headers(self) -> Headers:
        """All headers, in order."""
        return self._response.raw_headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives; see `Answer.chunks`."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise unavailable(self._name, exc) from exc

    async def close(self) -> None:
        """Ends the exchange."""
        self._response.close()


def unavailable(name: str, exc: Exception) -> BackendUnavailableError:
    """Return an error of the network as one of ours."""
    what = str(exc) or type(exc).__name__
    return BackendUnavailableError(
        f"The upstream {name.removeprefix('http:')} did not answer: {what}. Check server.upstream and that it runs."
    )


def _text(header: bytes) -> str:
    """Return what the library writes as these bytes; those that are no UTF-8 it cannot write, and writes as such."""
    try:
        return header.decode()
    except UnicodeDecodeError:
        return header.decode("latin-1")
