"""Any OpenAI-compatible server of chat completions, through the `openai` SDK."""

import logging
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from doxa.backends.llm.dialect import Dialect
from doxa.backends.llm.model import Completion, Message, Usage
from doxa.backends.llm.openai_errors import Caller, cause_of, is_filtered, ours, said_by
from doxa.backends.llm.structured import Answering
from doxa.backends.llm.tokens import estimate_prompt_tokens, estimate_tokens
from doxa.core.errors import BackendReplyError, ClosedError, ConfigError

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIModel", "open_model"]

_OPENAI_URL = "https://api.openai.com/v1"
# The SDK wants a key and looks into the environment for one; local servers ignore this word.
_NO_KEY = "none"
# A request in a form that the server does not know: 400 by most, 422 by those that check types first.
_BAD_REQUEST = (400, 422)
_MAX_QUOTED_CHARS = 400

_log = logging.getLogger(__name__)


class OpenAIModel(Answering):
    """A model on an OpenAI-compatible server; made by `open_model`.

    What the server understands is found out with the first requests and kept for the life of the
    object. Safe to call from several threads.
    """

    def __init__(self, model: str, *, client: "openai.OpenAI", caller: Caller) -> None:
        self._model = model
        self._client = client
        self._caller = caller
        self._dialect = Dialect()
        self._closed = False

    def __repr__(self) -> str:
        return f"OpenAIModel(name={self.name!r}, base_url={self._caller.url!r})"

    @property
    def name(self) -> str:
        """`openai:` and the model's name at its server."""
        return self._caller.name

    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """One answer of the server as it came; see `SingleCalls.once`.

        With `schema`, the server is held to it by `response_format`; where it knows no JSON schemas
        (400 or 422), by JSON mode, and else by words in the last message.

        Raises:
            BackendUnavailableError: Time-out, no connection, 5xx or 429 after the retries, 401, 403, 404.
            BackendReplyError: The answer was malformed, or the server turned the request down.
            ClosedError: The model was closed.

        Cost: one request; at most four more, once per object, while the server's dialect is found out. Each takes up
            to `timeout_s` for every attempt, and waits in between as the server says (`Retry-After`) or about 0.5, 1,
            2, ... 8 s.
        """
        if self._closed:
            raise ClosedError(f"The model {self.name!r} was used after `close()`. Open it again.")
        import openai

        started = perf_counter()
        dialect = known = self._dialect
        while True:
            body = dialect.body(messages, schema=schema, temperature=temperature, max_tokens=max_tokens)
            try:
                reply = self._client.chat.completions.create(model=self._model, **body)
            except openai.APIStatusError as exc:
                if is_filtered(exc):
                    return self._filtered(exc, messages, seconds=perf_counter() - started)
                simpler = self._simpler(dialect, exc, with_schema=schema is not None)
                if simpler is None:
                    raise ours(exc, self._caller) from cause_of(exc, self._caller)
                dialect = simpler
                continue
            except (openai.OpenAIError, ValueError, RuntimeError) as exc:  # the last two: a body that JSON cannot read
                raise ours(exc, self._caller) from cause_of(exc, self._caller)
            if dialect != known:
                self._learn(dialect)
            return self._completion(reply, messages, seconds=perf_counter() - started)

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._closed = True
        self._client.close()

    def _simpler(self, dialect: Dialect, exc: "openai.APIStatusError", *, with_schema: bool) -> Dialect | None:
        if exc.status_code not in _BAD_REQUEST:
            return None
        return dialect.after_refusal(said_by(exc), with_schema=with_schema)

    def _learn(self, dialect: Dialect) -> None:
        # Only a form that was taken is kept: a request can be bad for other reasons than its form.
        _log.info("%s does not take %s; from now on it gets %s", self.name, self._dialect, dialect)
        self._dialect = dialect

    def _filtered(self, exc: "openai.APIStatusError", messages: Sequence[Message], *, seconds: float) -> Completion:
        return Completion(
            text=self._caller.hide(said_by(exc)),
            parsed=None,
            refused=True,
            truncated=False,
            usage=Usage(calls=1, prompt_tokens=estimate_prompt_tokens(messages)),
            seconds=seconds,
        )

    def _completion(self, reply: object, messages: Sequence[Message], *, seconds: float) -> Completion:
        choice = self._choice(reply)
        # The SDK does not check types, so anything a server sends may be in these fields.
        message = getattr(choice, "message", None)
        finish = getattr(choice, "finish_reason", None)
        refusal = _text(getattr(message, "refusal", None))
        text = _text(getattr(message, "content", None))
        return Completion(
            text=refusal or text,
            parsed=None,
            refused=bool(refusal) or finish == "content_filter",
            truncated=finish == "length",
            usage=_usage(reply, messages, text),
            seconds=seconds,
        )

    def _choice(self, reply: object) -> object:
        choices = getattr(reply, "choices", None)
        if isinstance(choices, list) and choices:
            return choices[0]
        # Some gateways answer 200 with an error in the body.
        said = self._caller.hide(str(getattr(reply, "error", None) or reply))
        raise BackendReplyError(
            f"Expected a chat completion with a choice from {self.name} at {self._caller.url}, and got "
            f"{said[:_MAX_QUOTED_CHARS]!r}. "
            "Check that `base_url` is an OpenAI-compatible endpoint (most end in `/v1`).",
            reply=said,
        )


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout_s: float = 30.0,
    max_retries: int = 3,
) -> OpenAIModel:
    """A model on an OpenAI-compatible server. Makes no request yet.

    Args:
        name: The model's name at its server, such as `gpt-x`.
        base_url: The endpoint, up to and with `/v1`; `None` for OpenAI's own.
        api_key: The key; `None` or empty for a server that needs none.
        timeout_s: How long one attempt may wait for the connection, and then for each next part of the answer.
        max_retries: How often a time-out, a lost connection, 408, 409, 429 or 5xx is tried again, with
            exponential backoff and jitter; `Retry-After` goes first, up to two minutes.

    Raises:
        ConfigError: A value that cannot be used, or no key for OpenAI's own endpoint.
    """
    url = _checked_url(base_url or _OPENAI_URL)
    if not name or timeout_s <= 0 or max_retries < 0:
        raise ConfigError(
            "Expected a model name, `timeout_s` above 0 and `max_retries` of 0 or more; "
            f"got {name!r}, {timeout_s!r} and {max_retries!r}. Correct the setting."
        )
    key = _checked_key(api_key, needed=base_url is None, name=name)
    caller = Caller(name=f"openai:{name}", url=_shown(url), timeout_s=timeout_s, attempts=max_retries + 1, key=key)
    client = _open_client(url, key=key or _NO_KEY, timeout_s=timeout_s, max_retries=max_retries)
    return OpenAIModel(name, client=client, caller=caller)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"Expected `base_url` to be an address such as `http://localhost:8000/v1`, and got {_shown(url)!r}. "
            "Write it with `http://` or `https://`."
        )
    return url.strip()


def _shown(url: str) -> str:
    """The URL without a user name and password in it."""
    head, at, tail = url.rpartition("@")
    return f"{head.partition('//')[0]}//****@{tail}" if at else url


def _checked_key(key: str | None, *, needed: bool, name: str) -> str:
    key = (key or "").strip()
    if needed and not key:
        raise ConfigError(
            f"openai:{name} needs a key, and none is set. Set `DOXA_LLM_API_KEY` (or `OPENAI_API_KEY`), "
            "or `base_url` for a server that needs none."
        )
    # Checked here, since the HTTP client would quote the key when it cannot send it.
    if not (key.isascii() and (key.isprintable() and " " not in key)):
        raise ConfigError(
            "The key has a space, a line break or another character that no HTTP header can carry. "
            "Set `DOXA_LLM_API_KEY` (or `OPENAI_API_KEY`) to the key alone."
        )
    return key


def _open_client(url: str, *, key: str, timeout_s: float, max_retries: int) -> "openai.OpenAI":
    import openai  # here, since it takes half a second, and a run without a model should not

    client = openai.OpenAI(
        base_url=url, api_key=key, organization="", project="", timeout=timeout_s, max_retries=max_retries
    )
    # Empty above keeps the SDK from the environment; nothing here keeps it from sending empty headers.
    client.organization = client.project = None
    # `OPENAI_CUSTOM_HEADERS` has no argument that turns it off.
    client._custom_headers = {}
    return client


def _text(content: object) -> str:
    """The text of a content field: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        return ""
    return content.encode("utf-8", "replace").decode("utf-8")


def _usage(reply: object, messages: Sequence[Message], text: str) -> Usage:
    usage = getattr(reply, "usage", None)
    prompt = getattr(usage, "prompt_tokens", None)
    completion = getattr(usage, "completion_tokens", None)
    return Usage(
        calls=1,
        prompt_tokens=prompt if isinstance(prompt, int) else estimate_prompt_tokens(messages),
        completion_tokens=completion if isinstance(completion, int) else estimate_tokens(text),
    )
