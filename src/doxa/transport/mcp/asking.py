"""What only the user may decide -> the client's question to them, in either revision of the protocol.

Up to 2025-11-25 the server asks in the middle of a call; from 2026-07-28 on the call is answered with the question, and
made again with the answer. The state that travels with it is sealed by the SDK, and is bound to the call and to whoever
made it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Final, TypeVar

from mcp.server.elicitation import AcceptedElicitation, render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from doxa.core.errors import InputError

__all__ = ["DECLINED", "Declined", "ask", "can_ask", "carried"]

KEY = "answer"
Form = TypeVar("Form", bound=BaseModel)


class Declined:
    """The user does not answer."""


DECLINED: Final = Declined()


def can_ask(context: Context[Any, Any]) -> bool:
    """Tell whether the client puts questions to its user."""
    capabilities = context.client_capabilities
    asks = capabilities.elicitation if capabilities is not None else None
    if asks is None or (asks.form is None and asks.url is not None):
        return False
    return _modern(context) or context.session.can_send_request


def carried(context: Context[Any, Any]) -> str:
    """Return what was carried along with a question that this call answers; empty for a call that answers none."""
    return str(_state(context).get("carried", ""))


async def ask(
    context: Context[Any, Any], message: str, form: type[Form], *, carry: str = ""
) -> Form | Declined | InputRequiredResult:
    """Put a question to the user, and return what they fill in.

    Args:
        context: the call; `can_ask` holds for it.
        message: the question.
        form: what is to be filled in.
        carry: what `carried` gives back to the call that brings the answer.

    Returns:
        The form; `DECLINED`; or, where the call is made again with the answer, what it has to be answered with now.

    Raises:
        InputError: the client sent something that is no such form.
    """
    schema = render_elicitation_schema(form)
    if not _modern(context):
        try:
            outcome = await context.elicit(message, form)
        except ValueError as exc:
            raise InputError(f"The client's answer does not fit the question that it was asked: {exc}") from exc
        return outcome.data if isinstance(outcome, AcceptedElicitation) else DECLINED
    asked = sha256(json.dumps([message, schema], sort_keys=True).encode()).hexdigest()
    answer = (context.input_responses or {}).get(KEY)
    if isinstance(answer, ElicitResult) and _state(context).get("asked") == asked:
        return _filled(answer, form)
    question = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    state = json.dumps({"asked": asked, "carried": carry})
    return InputRequiredResult(input_requests={KEY: question}, request_state=state)


def _filled(answer: ElicitResult, form: type[Form]) -> Form | Declined:
    if answer.action != "accept":
        return DECLINED
    try:
        return form.model_validate(answer.content)
    except ValidationError as exc:
        raise InputError("The client's answer does not fit the question that it was asked.") from exc


def _modern(context: Context[Any, Any]) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _state(context: Context[Any, Any]) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(context.request_state or "{}")
    return state
