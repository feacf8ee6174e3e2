"""An agent of Letta: its messages and memory blocks (an agent file, `.af`), or the passages of its archive.

Source: https://github.com/letta-ai/agent-file (both layouts: `agents` and `blocks`, or one agent with `core_memory`).
"""

from collections.abc import Mapping
from typing import Any, Final

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering, rest
from doxa.backends.transcripts.archives.memories import PASSAGES
from doxa.backends.transcripts.values import Line

__all__ = ["knows", "read"]

SPEAKING: Final = ("user", "assistant")


def knows(files: Files) -> bool:
    """Tell whether it is an agent, or passages."""
    return any(map(_is_agents, files.heads)) or PASSAGES.knows(files)


def _is_agents(item: Any) -> bool:
    several = isinstance(item, Mapping) and isinstance(item.get("agents"), list) and "blocks" in item
    return several or (isinstance(item, Mapping) and "core_memory" in item and isinstance(item.get("messages"), list))


def read(files: Files, found: Gathering) -> None:
    """Take the messages of people and agents, the blocks, and the passages."""
    for name, whole in zip(files.data, files.heads, strict=True):
        if not _is_agents(whole):
            continue
        found.content(name)  # it says what of its bytes is no text
        agents = whole.get("agents", [whole])
        blocks = {str(block.get("id")): block for block in whole.get("blocks") or ()}
        for agent in agents:
            _take_agent(agent, blocks, found)
        for what in ("tools", "files", "sources", "groups"):
            found.leave(f"{what} of agents", len(whole.get(what) or ()))
    if PASSAGES.knows(files):
        PASSAGES.read(files, found)


def _take_agent(agent: Mapping[str, Any], blocks: Mapping[str, Mapping[str, Any]], found: Gathering) -> None:
    called = str(agent.get("name") or agent.get("id") or "agent")
    own = agent.get("core_memory") or [blocks[key] for key in agent.get("block_ids") or () if key in blocks]
    for block in own:
        _take_block(block, called, agent, found)
    for place, message in enumerate(agent.get("messages") or ()):
        _take_message(message, place, called, found)


def _take_block(block: Mapping[str, Any], agent: str, about: Mapping[str, Any], found: Gathering) -> None:
    """Take a block. It is a note that an agent keeps and rewrites, in no words of the user: no fact is made from it."""
    if not str(block.get("value") or "").strip():
        return
    label = str(block.get("label") or "block")
    line = Line(text=str(block["value"]).strip(), speaker=agent, role="assistant", session=agent, verbatim=True)
    at = block.get("updated_at") or about.get("updated_at") or block.get("created_at")
    found.take(line, key=f"{agent}/block/{label}", at=at, origin=rest(block, "value", "id"))


def _take_message(message: Mapping[str, Any], place: int, agent: str, found: Gathering) -> None:
    role, text = message.get("role"), _said(message)
    if role not in SPEAKING or not text:
        found.leave("system messages, tool calls and what tools gave back")
        return
    line = Line(
        text=text,
        role="user" if role == "user" else "assistant",
        speaker=str(message.get("name") or "") or (agent if role == "assistant" else None),
        session=agent,
    )
    key = f"{agent}/{message.get('otid') or message.get('id') or place}"
    found.take(line, key=key, at=message.get("created_at"), origin=rest({"model": message.get("model")}))


def _said(message: Mapping[str, Any]) -> str:
    content = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else ()
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping)).strip()
