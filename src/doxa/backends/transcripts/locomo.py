"""LoCoMo: conversations of two people over many dated sessions, with captions for the images they send.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"; the shape is that of
`locomo10.json` in https://github.com/snap-research/locomo.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.jsonvalues import Broken, Value, values
from doxa.backends.transcripts.values import Conversation, Line, shown

__all__ = ["is_locomo", "read_locomo"]

_SESSION: Final = re.compile(r"session_(\d{1,9})")


def is_locomo(value: object) -> bool:
    """Tells whether a JSON value is a conversation as LoCoMo writes it, with or without what stands around it."""
    return _sessions(_conversation(value)) != []


def read_locomo(content: bytes, found: Collector) -> tuple[Conversation, ...]:
    """Gives back one conversation for each sample, named by its `sample_id`.

    Sessions go by their number; a turn has the time of its session plus one second for each turn before it.

    Args:
        content: JSON or JSONL as UTF-8.
        found: Where problems of the file as a whole are; the first conversation takes them over.
    """
    conversations = []
    for value in values(content):
        conversations.append(_read_sample(value, found))
        found = Collector(path=found.path)
    return tuple(conversations) or (found.conversation(),)


def _read_sample(value: Value, found: Collector) -> Conversation:
    sample = value.value
    if isinstance(sample, Broken) or not is_locomo(sample):
        got = sample.reason if isinstance(sample, Broken) else shown(sample)
        found.problem(
            f'expected {{"sample_id": ..., "conversation": {{"session_1": [...]}}}}, got {got}; it was left out.',
            value.line,
        )
        return found.conversation()
    conversation = _conversation(sample)
    for number in _sessions(conversation):
        _read_session(conversation, number, value.line, found)
    name = sample.get("sample_id")
    return found.conversation(str(name) if name is not None else str(value.place) if value.place > 1 else None)


def _conversation(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        return {}
    inner = value.get("conversation")
    return inner if isinstance(inner, dict) else value


def _sessions(conversation: Mapping[str, Any]) -> list[int]:
    """Returns the numbers of the sessions in order; as text, 10 would come before 9."""
    named = ((_SESSION.fullmatch(key), value) for key, value in conversation.items())
    return sorted({int(match[1]) for match, value in named if match and isinstance(value, list)})


def _read_session(conversation: Mapping[str, Any], number: int, line: int, found: Collector) -> None:
    session = f"session_{number}"
    start = found.when(conversation.get(f"{session}_date_time"), line)
    for index, turn in enumerate(conversation.get(session, [])):
        read = _read_turn(turn, session, line, found)
        if read is None:
            found.skip(session)
            continue
        found.at = _after(start, index)
        found.add(replace(read, session=session, at=found.at))


def _read_turn(turn: Any, session: str, line: int, found: Collector) -> Line | None:
    if not isinstance(turn, dict) or not isinstance(turn.get("text", ""), str):
        found.problem(
            f'expected a turn such as {{"speaker": ..., "dia_id": ..., "text": ...}} in {session}, '
            f"got {shown(turn)}; it was left out.",
            line,
        )
        return None
    caption = turn.get("blip_caption")
    image = f"[image: {caption.strip()}]" if isinstance(caption, str) and caption.strip() else ""
    return Line(
        text=" ".join(part for part in (turn.get("text", ""), image) if part),
        speaker=_label(turn.get("speaker")),
        turn_id=_label(turn.get("dia_id")),
    )


def _label(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _after(start: datetime | None, seconds: int) -> datetime | None:
    return start + timedelta(seconds=seconds) if start else None
