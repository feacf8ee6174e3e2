"""Errors of the `openai` SDK, told as ours: the one place where they are mapped."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doxa.core.errors import BackendError, BackendReplyError, BackendUnavailableError

if TYPE_CHECKING:
    import openai

__all__ = ["Caller", "cause_of", "is_filtered", "ours", "said_by"]

_MAX_QUOTED_CHARS = 400
# A shorter key is no secret, and hiding it would hide parts of words.
_MIN_SECRET_CHARS = 4
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_KEY_HELP = "set `DOXA_LLM_API_KEY` (or `OPENAI_API_KEY`) to a key of this server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who called whom and how, as far as messages tell it; `key` is only used to hide it."""

    name: str
    url: str
    timeout_s: float
    attempts: int
    key: str = field(default="", repr=False)

    def hide(self, text: str) -> str:
        """The text with the key as `****`."""
        return text.replace(self.key, "****") if len(self.key) >= _MIN_SECRET_CHARS else text


def ours(exc: Exception, caller: Caller) -> BackendError:
    """Our error for one of the SDK's (or for a body that is no JSON)."""
    import openai

    where = f"{caller.name} at {caller.url}"
    if isinstance(exc, openai.APITimeoutError):
        return BackendUnavailableError(
            f"{where} did not answer within {caller.timeout_s:g} s, tried {_times(caller.attempts)}. "
            "Check that the server keeps up, or raise `timeout_s`."
        )
    if isinstance(exc, openai.APIConnectionError):
        reason = caller.hide(str(exc.__cause__ or exc))
        return BackendUnavailableError(
            f"{where} could not be reached or broke off, tried {_times(caller.attempts)}: {reason}. "
            "Check `base_url`, and that the server runs."
        )
    if isinstance(exc, openai.APIStatusError):
        return _of_status(exc, where=where, caller=caller)
    return BackendReplyError(
        f"Expected a chat completion in JSON from {where}; the body could not be read: {caller.hide(str(exc))}. "
        "Check that `base_url` is an OpenAI-compatible endpoint (most end in `/v1`)."
    )


def cause_of(exc: Exception, caller: Caller) -> Exception | None:
    """The error to chain ours from: itself, or `None` where its text would show the key."""
    link: BaseException | None = exc
    while link is not None:
        if caller.hide(str(link)) != str(link):
            return None
        link = link.__cause__
    return exc


def said_by(exc: "openai.APIStatusError") -> str:
    """What the server said about an error: its message, with code and parameter where it gave them."""
    body = exc.body
    if isinstance(body, dict):
        parts = [body.get("message") or body.get("detail") or body, body.get("code"), body.get("param")]
        return " ".join(str(part) for part in parts if part)
    return str(body or exc.response.reason_phrase)


def is_filtered(exc: "openai.APIStatusError") -> bool:
    """Whether the server turned the request down for what it is about: a refusal, not a failure."""
    return exc.code in _FILTER_CODES


def _of_status(exc: "openai.APIStatusError", *, where: str, caller: Caller) -> BackendError:
    status = exc.status_code
    # Cut after hiding: a cut through the key would leave its first half in sight.
    said = caller.hide(said_by(exc))[:_MAX_QUOTED_CHARS]
    if status in (401, 403):
        return BackendUnavailableError(f"{where} denied access ({status}): {said}. To go on, {_KEY_HELP}.")
    if status == 404:
        return BackendUnavailableError(
            f"{where} was not found (404): {said}. Check the model's name and `base_url` (most end in `/v1`)."
        )
    if status == 429:
        return BackendUnavailableError(
            f"{where} kept limiting the rate (429), tried {_times(caller.attempts)}: {said}. "
            "Wait, send less, or check the quota of the account."
        )
    if status >= 500:
        return BackendUnavailableError(
            f"{where} kept failing ({status}), tried {_times(caller.attempts)}: {said}. Look at the server's log."
        )
    return BackendReplyError(
        f"{where} turned the request down ({status}): {said}. Shorten the messages, or check the model's limits.",
        reply=caller.hide(exc.response.text),
    )


def _times(attempts: int) -> str:
    return "once" if attempts == 1 else f"{attempts} times"
