"""Messages as OpenAI writes them: a list of them, one in each line, or whole conversations under `messages`.

Source: https://platform.openai.com/docs/api-reference/chat (roles, content parts, tool calls). We also take
`id`, `session` and a time in each message or conversation, which that format does not have; and the same messages
as the exports of chat programs wrap them: ChatGPT (`mapping`), Claude (`chat_messages`), ShareGPT (`from`, `value`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.jsonvalues import Broken, Value, values
from doxa.backends.transcripts.values import Conversation, Line, role_of, shown
from doxa.core.values import Role

__all__ = ["read_openai"]

_TIMES: Final = ("at", "timestamp", "created_at", "created", "create_time")
_IDS: Final = ("id", "turn_id", "message_id", "uuid")
_SESSIONS: Final = ("session", "session_id", "conversation_id")
_NAMES: Final = ("name", "speaker")
_ROLES: Final = ("role", "from", "sender")
_CONTENTS: Final = ("content", "value", "text")
_LISTS: Final = ("messages", "chat_messages", "conversations")
_CALLS: Final = ("tool_calls", "function_call")
_CAPTIONS: Final = ("alt", "alt_text", "caption", "description", "detail")
_DETAILS: Final = ("auto", "low", "high", "original")  # how finely the model looks, not what it sees
_HELD: Final = ("attachments", "files")
_BRANCHED: Final = "messages of branches that were left for another one"
_ATTACHED: Final = "attachments of messages"
_SHAPE: Final = '{"role": "user", "content": "..."}'


def read_openai(content: bytes, found: Collector) -> tuple[Conversation, ...]:
    """Gives back one conversation with all messages of the file; sessions keep several apart.

    Args:
        content: JSON or JSONL as UTF-8.
        found: Where turns and problems go.
    """
    session = found.session
    for value in values(content):
        found.session = session
        _take(value, found)
    return (found.conversation(),)


def _take(value: Value, found: Collector) -> None:
    item = value.value
    messages = _messages_of(item, found)
    if messages is not None:
        _take_conversation(item, messages, value, found)
    elif isinstance(item, list):
        _take_messages(item, value.line, found)
    elif isinstance(item, Broken) and item.is_end:
        found.problem(
            f"expected a list of messages up to its end: {item.reason}. What came before was read.", value.line
        )
    elif isinstance(item, Broken):
        found.skip()
        found.problem(
            f"expected a message such as {_SHAPE} as JSON, got text that is none: {item.reason}. "
            "The rest was read; correct this part and read the file again.",
            value.line,
        )
    else:
        _take_message(item, value.line, found)


def _messages_of(item: Any, found: Collector) -> list[Any] | None:
    """Returns the messages of a conversation; None where it is none."""
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("mapping"), dict):
        return _branch(item["mapping"], item.get("current_node"), found)
    return next((item[key] for key in _LISTS if isinstance(item.get(key), list)), None)


def _branch(nodes: Mapping[str, Any], last: object, found: Collector) -> list[Any]:
    """Returns the messages of a ChatGPT export that lead to the last one; an edited question leaves other branches."""
    if not isinstance(last, str):
        last = next(reversed(list(nodes)), None)
    path: dict[str, Any] = {}
    while isinstance(last, str) and last not in path and isinstance(node := nodes.get(last), dict):
        path[last] = node.get("message")
        last = node.get("parent")
    aside = (node.get("message") for key, node in nodes.items() if key not in path and isinstance(node, dict))
    found.left[_BRANCHED] += sum(1 for message in aside if message and not _is_hidden(message))
    return [_flat(message) for message in reversed(path.values()) if message and not _is_hidden(message)]


def _is_hidden(message: Any) -> bool:
    """Tells whether a node of a ChatGPT export holds nothing that anybody said."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, dict):
        return False
    parts = content.get("parts")
    return not any(parts if isinstance(parts, list) and parts else [content.get("text")])


def _flat(message: Any) -> Any:
    """Returns a message of a ChatGPT export as the API writes it."""
    if not isinstance(message, dict) or not isinstance(message.get("author"), dict):
        return message
    content, author = message.get("content"), message["author"]
    if isinstance(content, dict):
        content = content.get("parts") or content.get("text")
    return {**message, "role": author.get("role"), "name": author.get("name"), "content": content}


def _take_conversation(item: Mapping[str, Any], messages: list[Any], value: Value, found: Collector) -> None:
    named = _label(_first(item, (*_SESSIONS, "id", "uuid")), "session", value.line, found)
    found.session = named or _made_session(found.session, value.place)
    found.when(_first(item, _TIMES), value.line)
    _take_messages(messages, value.line, found)


def _made_session(default: str | None, place: int) -> str | None:
    """Returns a session for the conversation at `place`; the first is as if it were alone, so that more may follow."""
    if place == 1:
        return default
    return f"{default}/{place}" if default else str(place)


def _take_messages(messages: Iterable[Any], line: int, found: Collector) -> None:
    for message in messages:
        _take_message(message, line, found)


def _take_message(message: Any, line: int, found: Collector) -> None:
    if not isinstance(message, dict) or not message.keys() & {*_CONTENTS, *_ROLES}:
        found.skip()
        found.problem(f"expected a message such as {_SHAPE}, got {shown(message)}; it was left out.", line)
        return
    held = (message.get(name) for name in _HELD)
    found.left[_ATTACHED] += sum(len(one) for one in held if isinstance(one, list))
    session = _label(_first(message, _SESSIONS), "session", line, found)
    text = _text(message, line, found)
    if text is None:
        found.skip(session)
        return
    found.add(
        Line(
            text=text,
            speaker=_label(_first(message, _NAMES), "name", line, found),
            role=_role(_first(message, _ROLES), line, found),
            at=found.when(_first(message, _TIMES), line),
            session=session,
            turn_id=_label(_first(message, _IDS), "id", line, found),
            line=line,
        )
    )


def _text(message: Mapping[str, Any], line: int, found: Collector) -> str | None:
    """Returns what is said; None where nothing is, with a problem unless a call stands for it."""
    content = _first(message, _CONTENTS)
    if isinstance(content, list):
        content = "\n".join(text for text in (_part(part, line, found) for part in content) if text)
    if not content and isinstance(message.get("refusal"), str):
        content = message["refusal"]
    if not content and any(message.get(key) for key in _CALLS):
        return None
    if isinstance(content, str):
        return content
    found.problem(f"expected content as text or a list of parts, got {shown(content)}; the turn was left out.", line)
    return None


def _part(part: Any, line: int, found: Collector) -> str:
    """Returns one part of a message as text: `[image: caption]` and the like for what is none."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        found.problem(f"expected a part with a type, got {shown(part)}; it was left out of its turn.", line)
        return ""
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return str(part[key])
    kind = str(part.get("type") or "part").removeprefix("input_").removesuffix("_url").removesuffix("_file")
    caption = _caption(part, kind)
    return f"[{kind}: {caption}]" if caption else f"[{kind}]"


def _caption(part: Mapping[str, Any], kind: str) -> str:
    inner = [value for value in part.values() if isinstance(value, dict)]
    keys = (*_CAPTIONS, "transcript") if kind != "file" else (*_CAPTIONS, "filename")
    for holder in (part, *inner):
        for key in keys:
            caption = holder.get(key)
            if isinstance(caption, str) and caption.strip() and caption not in _DETAILS:
                return caption.strip()
    return ""


def _role(value: object, line: int, found: Collector) -> Role:
    role = role_of(value) if isinstance(value, str) else None
    if role is None:
        found.problem(
            f"expected a role (user, assistant, system or tool), got {shown(value)}; the turn was kept as the user's. "
            "Correct the role, or leave the turn out, if somebody else said it.",
            line,
        )
    return role or "user"


def _label(value: object, what: str, line: int, found: Collector) -> str | None:
    """Returns an id, session or name as text; None where there is none that can be used."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value).strip() or None
    if value is not None:
        found.problem(f"expected the {what} as text or a whole number, got {shown(value)}; it was not used.", line)
    return None


def _first(item: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)
