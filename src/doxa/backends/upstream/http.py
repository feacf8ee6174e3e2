"""An upstream over HTTP/1.1, with a pool of connections that are kept."""

from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.parse import urlsplit

from doxa.backends.upstream import Asked, Headers
from doxa.core.errors import BackendUnavailableError, ClosedError, ConfigError, InputError, MissingDependencyError

try:
    import httpx2
except ImportError as exc:
    raise MissingDependencyError("httpx2", extra="server", purpose="To relay to a server") from exc

__all__ = ["HttpUpstream", "open_upstream"]

CONNECT_S: Final = 10.0
KEPT_S: Final = 60.0
"""Seconds after which an idle connection is given up."""


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
        self._client = httpx2.AsyncClient(
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEPT_S),
            timeout=None,
        )
        self._timeouts = httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)).as_dict()

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
            request = httpx2.Request(
                asked.method,
                f"{self._url}{asked.path}",
                headers=list(asked.headers),
                content=asked.body,
                extensions={"timeout": self._timeouts},
            )
            return HttpAnswer(await self._client.send(request, stream=True), self.name)
        except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
            raise unavailable(self.name, exc) from exc

    async def close(self) -> None:
        """Lets go of all connections."""
        self._closed = True
        await self._client.aclose()


class HttpAnswer:
    """The answer of one request."""

    def __init__(self, response: httpx2.Response, name: str) -> None:
        """Takes a response whose body is not read yet."""
        self._response = response
        self._name = name

    @property
    def status(self) -> int:
        """The status of HTTP."""
        return self._response.status_code

    @property
    def headers(self) -> Headers:
        """All headers, in order."""
        return self._response.headers.raw

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives; see `Answer.chunks`."""
        try:
            async for chunk in self._response.aiter_raw():
                yield chunk
        except httpx2.HTTPError as exc:
            raise unavailable(self._name, exc) from exc

    async def close(self) -> None:
        """Ends the exchange."""
        await self._response.aclose()


def unavailable(name: str, exc: Exception) -> BackendUnavailableError:
    """Return an error of the network as one of ours."""
    what = str(exc) or type(exc).__name__
    return BackendUnavailableError(
        f"The upstream {name.removeprefix('http:')} did not answer: {what}. Check server.upstream and that it runs."
    )
