"""Who may come in, and from where: the key in a cookie, and proof that a form is one of ours.

A browser sends no `Authorization`, so the key is put into a cookie, which scripts cannot read and no other site can
have sent (`HttpOnly`, `SameSite=Strict`), and which counts under `/inspect` alone. What changes something has to come
from a page of ours: its form repeats a digest that only somebody who has both cookies can make, and a browser that
says where a request comes from has to name this server.
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from doxa.core.errors import InputError
from doxa.transport.inspector.rendering import ROOT

__all__ = [
    "FORM",
    "FormError",
    "check_form",
    "form_token",
    "forget_key",
    "keep_key",
    "note_browser",
    "safe_path",
    "secret_of",
]

KEY, BROWSER = "doxa_key", "doxa_browser"
"""The cookies: the API key, and a random name of the browser; see `_name`."""
FORM = "token"
"""The field of a form, and `X-Doxa-Form` the header of a script, that hold the proof."""
HEADER = "X-Doxa-Form"
OURS = ("same-origin", "none")
"""What `Sec-Fetch-Site` says of a request by a page of this server, or by who types an address."""


class FormError(InputError):
    """A form does not come from a page of this server."""


def secret_of(connection: HTTPConnection) -> str:
    """Return the API key of who asks; empty where none was entered."""
    return connection.cookies.get(_name(connection, KEY), "")


def form_token(request: Request) -> str:
    """Return what forms of a page have to repeat."""
    return _proof(browser_of(request), secret_of(request))


def browser_of(request: Request) -> str:
    """Return the random name of the browser; one that has none yet gets it with this answer (`note_browser`)."""
    known = request.cookies.get(_name(request, BROWSER), "")
    if known:
        return known
    if not hasattr(request.state, "browser"):
        request.state.browser = secrets.token_urlsafe(24)
    name: str = request.state.browser
    return name


def note_browser(request: Request, response: Response) -> None:
    """Give a browser its name, where its page was made with a new one."""
    if hasattr(request.state, "browser"):
        _set(response, request, BROWSER, request.state.browser)


def keep_key(request: Request, response: Response, secret: str) -> None:
    """Have the browser send a key from now on, until it is closed."""
    _set(response, request, KEY, secret)


def forget_key(request: Request, response: Response) -> None:
    """Have the browser forget the key."""
    response.delete_cookie(_name(request, KEY), path=_path(request))


def check_form(request: Request, sent: str) -> None:
    """Refuse what changes something and does not come from a page of this server.

    Args:
        request: the request.
        sent: the field `FORM` of its form; empty where a script sends the header instead.

    Raises:
        FormError: it comes from elsewhere, or from a page that was made for another key.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is not None and site not in OURS:
        raise FormError("This form was sent by a page of another site. Nothing was changed.")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise FormError(f"This form was sent by {origin[:80]}, which is another site. Nothing was changed.")
    given = sent or request.headers.get(HEADER, "")
    known = request.cookies.get(_name(request, BROWSER), "")
    if not known or not hmac.compare_digest(given.encode(), _proof(known, secret_of(request)).encode()):
        raise FormError("This page is too old to change anything: load it again, then repeat. Nothing was changed.")


def safe_path(given: str, otherwise: str, /, **parameters: object) -> str:
    """Return an address of the inspector with parameters added; one that leads anywhere else is replaced.

    Args:
        given: an address as a form has it.
        otherwise: an address of ours.
        parameters: what is added; None takes one away.
    """
    parts = urlsplit(given if _is_ours(given, urlsplit(otherwise).path) else otherwise)
    named = {**dict(parse_qsl(parts.query)), **parameters}
    query = urlencode({key: str(value) for key, value in named.items() if value not in (None, "")})
    return parts.path + (f"?{query}" if query else "")


def _is_ours(given: str, known: str) -> bool:
    """Tell whether an address leads to a page of the inspector that an address of ours, `known`, leads to as well."""
    try:
        parts = urlsplit(given)
    except ValueError:
        return False
    root = known[: known.index(ROOT) + len(ROOT)]
    inside = parts.path == root or parts.path.startswith(f"{root}/")
    return inside and not parts.scheme and not parts.netloc and "\\" not in given and given.isprintable()


def _proof(browser: str, secret: str) -> str:
    return hmac.new(secret.encode(), f"doxa form {browser}".encode(), "sha256").hexdigest()


def _set(response: Response, request: Request, name: str, value: str) -> None:
    response.set_cookie(
        _name(request, name),
        value,
        path=_path(request),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _name(connection: HTTPConnection, name: str) -> str:
    """Return the name of a cookie of this server: cookies know no ports."""
    return f"{name}_{connection.url.port or ''}".rstrip("_")


def _path(request: Request) -> str:
    return f"{request.scope.get('root_path', '')}{ROOT}"
