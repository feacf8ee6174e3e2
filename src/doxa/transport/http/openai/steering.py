"""A reply that contradicts the memory -> another one, or what the memory holds in its place (`server.verify`)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.types import Send

from doxa.backends.upstream import Answer, Asked
from doxa.core.errors import BackendError
from doxa.core.verdicts import Verdict
from doxa.transport.http.openai import checking
from doxa.transport.http.openai.headers import for_client, named
from doxa.transport.http.openai.relaying import send_whole
from doxa.transport.http.openai.replies import decoded, said_in_chat, said_in_response
from doxa.transport.http.openai.streams import completion_events, response_events

__all__ = ["Steering"]

UNREAD = (
    "The upstream answered with what cannot be read ({why}), so that it could not be held against the memory, and "
    "server.verify = block lets nothing through that was not."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """What is done with a reply before any of it is sent."""

    ask: Callable[[Asked], Awaitable[Answer]]
    check: Callable[[str], Awaitable[Verdict | None]]
    link: Callable[[str | None], None]
    """Told the id of the answer."""
    chat: bool
    """Whether it is one of chat completions, not a response."""
    repairs: int
    """How often the upstream is asked again, told what clashes."""
    blocks: bool
    """Whether a sentence takes the place of a text that contradicts the memory at the end."""
    more: Mapping[str, str]
    """Headers of the answer."""

    async def answer(self, asked: Asked, send: Send) -> str:
        """Send a reply that was checked, and return what it says; an error of the upstream as it came.

        Cost: one check, and one more with one more call of the upstream for each repair.

        Raises:
            BackendError: the reply cannot be read, and what was not checked does not leave (`blocks`).
        """
        data: dict[str, Any] = json.loads(asked.body)
        usage = _wants_usage(data) if data.get("stream") is True else None
        if usage is not None:
            data = checking.unstreamed(data)
            asked = replace(asked, body=json.dumps(data).encode())
        answer, body = await self._read(asked)
        found = self._found(answer, body)
        checked = await self._checked(found)
        for _ in range(self.repairs):
            if not (wrong := [one for one in checked if one[1].label == "contradicted"]):
                break
            data = checking.asked_again(data, _text(wrong[0][0]), wrong[0][1])
            answer, body = await self._read(replace(asked, body=json.dumps(data).encode()))
            found = self._found(answer, body)
            checked = await self._checked(found)
        if found is None:
            await send_whole(answer, body, send, more=self.more)
            return ""
        more = {**self.more, **(checking.header(_worst(checked)) if checked else {})}
        changed = self._blocked(checked)
        self.link(found.get("id"))
        if usage is None:
            body = json.dumps(found).encode() if changed else body
            await send_whole(answer, body, send, more=more, sized=not changed)
        else:
            await self._stream(answer, found, send, more, usage=usage)
        return (said_in_chat(found) if self.chat else said_in_response(found)).text

    async def _read(self, asked: Asked) -> tuple[Answer, bytes]:
        answer = await self.ask(asked)
        try:
            return answer, b"".join([chunk async for chunk in answer.chunks()])
        finally:
            await answer.close()

    def _found(self, answer: Answer, body: bytes) -> dict[str, Any] | None:
        """Return what the upstream answered; None for an error, and for what cannot be read."""
        if answer.status >= 300:
            return None
        try:
            data = json.loads(decoded(body, named(answer.headers, b"content-encoding")))
            if not isinstance(data, dict):
                raise ValueError("it is no JSON object")
        except (ValueError, RecursionError) as exc:
            if self.blocks:
                raise BackendError(UNREAD.format(why=exc)) from exc
            return None
        return data

    async def _checked(self, found: dict[str, Any] | None) -> list[tuple[dict[str, Any], Verdict]]:
        parts = checking.texts(found, chat=self.chat) if found is not None else []
        verdicts = [(part, await self.check(_text(part))) for part in parts]
        return [(part, verdict) for part, verdict in verdicts if verdict is not None]

    def _blocked(self, checked: list[tuple[dict[str, Any], Verdict]]) -> bool:
        wrong = [one for one in checked if one[1].label == "contradicted"] if self.blocks else []
        for part, verdict in wrong:
            checking.replaced(part, checking.refusal(verdict))
        return bool(wrong)

    async def _stream(
        self, answer: Answer, found: dict[str, Any], send: Send, more: Mapping[str, str], *, usage: bool
    ) -> None:
        plain = [
            pair
            for pair in for_client(answer.headers, more, sized=False)
            if pair[0] not in (b"content-type", b"content-encoding")
        ]
        headers = [*plain, (b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for piece in completion_events(found, usage=usage) if self.chat else response_events(found):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _wants_usage(data: Mapping[str, Any]) -> bool:
    options = data.get("stream_options")
    return isinstance(options, Mapping) and options.get("include_usage") is True


def _text(part: Mapping[str, Any]) -> str:
    return str(part.get("content") or part.get("text"))


def _worst(checked: list[tuple[dict[str, Any], Verdict]]) -> Verdict:
    return next((verdict for _, verdict in checked if verdict.label == "contradicted"), checked[0][1])
