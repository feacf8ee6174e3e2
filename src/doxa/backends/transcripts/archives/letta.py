"""An agent of Letta: its messages and memory blocks (an agent file, `.af`), or what its API lists: passages, messages.

Source: https://github.com/letta-ai/agent-file (both layouts: `agents` and `blocks`, or one agent with `core_memory`),
https://docs.letta.com (passages of an archive, messages of an agent). What an agent of the kind `memgpt_agent` hears is
JSON with a `type`, and what it says to people are calls of a tool; the text beside such a call is what it thought.
"""

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, cast

from doxa.backends.transcripts.archives.gathering import Gathering, rest
from doxa.backends.transcripts.archives.memories import VECTORS, Listed, Record, has, is_record, metadata_of
from doxa.backends.transcripts.values import Line
from doxa.core.turns import NOTED
from doxa.core.values import Role

__all__ = ["LETTA"]

SPEAKING: Final = ("user", "assistant")
HEARD: Final = "user_message"
SAYING: Final = "send_message"
MESSAGES: Final = {HEARD: "user", "assistant_message": "assistant"}
"""The types of messages, as the API gives them out, that people and agents say."""
THINKING: Final = "memgpt"
"""How the types of agents begin that say nothing but by calls."""
UNSAID: Final = "system messages, tool calls and what tools gave back"


def _is_agents(item: Any) -> bool:
    if not is_record(item):
        return False
    return (isinstance(item.get("agents"), list) and "blocks" in item) or (
        "core_memory" in item and isinstance(item.get("messages"), list)
    )


def _is_passage(item: Any) -> bool:
    return has(item, "id", "text") and (item["id"].startswith("passage-") or "archive_id" in item)


def _is_message(item: Any) -> bool:
    return has(item, "id", "message_type")


def _tells(item: Any) -> bool:
    return _is_agents(item) or _is_passage(item) or _is_message(item)


def _take(record: Record, around: Record, line: int, found: Gathering) -> None:
    if _is_agents(record):
        _take_file(record, found)
    elif _is_passage(record):
        found.take(
            Line(text=record["text"], metadata=metadata_of(record.get("metadata")), line=line, called=NOTED),
            key=record["id"],
            at=record.get("created_at"),
            origin={"kind": "passage", **rest(record, "id", "text", "metadata", *VECTORS)},
        )
    else:
        message = {**record, "role": MESSAGES.get(record["message_type"]), "created_at": record.get("date")}
        _take_message(message, record["id"], None, found)


def _take_file(whole: Record, found: Gathering) -> None:
    agents = found.records(whole, "agents") if "agents" in whole else [whole]
    blocks = {str(block.get("id")): block for block in found.records(whole, "blocks")}
    seen = Counter[str]()
    for agent in agents:
        name = str(agent.get("name") or agent.get("id") or "agent")
        seen[name] += 1
        _take_agent(agent, f"{name} {seen[name]}" if seen[name] > 1 else name, blocks, found)
    for what in ("tools", "files", "sources", "groups"):
        held = whole.get(what)
        found.leave(f"{what} of agents", len(held) if isinstance(held, list) else 0)


def _take_agent(agent: Record, called: str, blocks: Mapping[str, Record], found: Gathering) -> None:
    keys = agent.get("block_ids")
    own = [blocks[str(key)] for key in keys if str(key) in blocks] if isinstance(keys, list) else []
    for block in [*found.records(agent, "core_memory"), *own]:
        _take_block(block, called, agent, found)
    thinks = str(agent.get("agent_type") or "").startswith(THINKING)
    for place, message in enumerate(found.records(agent, "messages")):
        key = message.get("otid") or message.get("id") or place
        _take_message(message, key, called, found, thinks=thinks)


def _take_block(block: Record, agent: str, about: Record, found: Gathering) -> None:
    """Take a block: a note that an agent keeps and rewrites, in no words of the user, so that no fact is made from it.

    What it was rewritten to is a turn of its own.
    """
    text = str(block.get("value") or "").strip()
    if not text:
        return
    key = f"{agent}/block/{block.get('label') or 'block'}/{sha256(text.encode(errors='replace')).hexdigest()[:16]}"
    line = Line(text=text, speaker=agent, role="assistant", session=agent, verbatim=True)
    at = block.get("updated_at") or about.get("updated_at") or block.get("created_at")
    found.take(line, key=key, at=at, origin={"kind": "block", **rest(block, "value", "id")})


def _take_message(message: Record, key: object, agent: str | None, found: Gathering, *, thinks: bool = False) -> None:
    role, text = message.get("role"), _said(message, thinks=thinks)
    if role not in SPEAKING or not text:
        found.leave(UNSAID)
        return
    speaker = agent if role == "assistant" else None
    found.take(
        Line(text=text, role=cast("Role", role), speaker=str(message.get("name") or "") or speaker, session=agent),
        key=f"{agent}/{key}" if agent else str(key),
        at=message.get("created_at"),
        origin=rest({"otid": str(key), "model": message.get("model")}),
    )


def _said(message: Record, *, thinks: bool) -> str:
    """Return what a message says to somebody; `thinks` where the text beside a call is what the agent thought."""
    content = message.get("content", message.get("text"))
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "\n".join(part["text"] for part in parts if has(part, "text")).strip()
    calls = _calls(message) if message.get("role") == "assistant" else []
    if sent := "\n".join(filter(None, map(_sent, calls))):
        return sent
    heard = _json(text)
    if has(heard, "type") and "time" in heard:
        return str(heard.get("message") or "").strip() if heard["type"] == HEARD else ""
    return "" if calls and thinks else text


def _calls(message: Record) -> list[Record]:
    calls = message.get("tool_calls")
    told = [call.get("function") for call in calls if is_record(call)] if isinstance(calls, list) else []
    return [call for call in told if has(call, "name")]


def _sent(call: Record) -> str:
    told = call.get("arguments")
    arguments = _json(told) if isinstance(told, str) else told
    return str(arguments["message"]).strip() if call["name"] == SAYING and has(arguments, "message") else ""


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None


LETTA: Final = Listed(_tells, _take)
