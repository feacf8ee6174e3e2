"""The conversation that a query speaks of: "in our last session", "when we first talked"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import islice

from doxa.memory import UserState
from doxa.recall.queries.times import Days

__all__ = ["named_session"]

TALK = r"(?:session|conversation|chat|talk|discussion|dialogue|call|meeting)"
SPOKE = (
    r"(?:we|I|you)(?: (?:had|have|have ever|ever|both))? "
    r"(?:talk(?:ed)?|sp(?:oke|oken|eak)|chat(?:ted)?|discussed|met|wrote)"
)
FIRST = re.compile(
    rf"\b(?:our|my|the) (?:very )?first (?:ever )?{TALK}\b|\b(?:when|the first time) (?:that )?{SPOKE} first\b|"
    rf"\bwhen (?:we|I) first (?:talked|spoke|chatted|met|wrote)\b|\bthe (?:very )?first time (?:that )?{SPOKE}\b|"
    rf"\bat the (?:very )?(?:beginning|start) of our {TALK}s\b",
    re.IGNORECASE,
)
BEFORE_LAST = re.compile(
    rf"\b{TALK} before (?:the )?last\b|\bsecond to last {TALK}\b|\btwo {TALK}s ago\b", re.IGNORECASE
)
LAST = re.compile(
    rf"\b(?:our|my|the|your) (?:most recent|last|previous|latest) {TALK}\b|\b(?:last|the previous) {TALK}\b|"
    rf"\b(?:the )?last time (?:that )?{SPOKE}\b|\bwhen {SPOKE} last\b|\bwhen we last (?:talked|spoke|chatted|met)\b",
    re.IGNORECASE,
)
THIS = re.compile(
    rf"\b(?:earlier|before|just now|previously|so far) (?:in|during) (?:this|our current|the current) {TALK}\b|"
    rf"\b(?:in|during) (?:this|our current|the current) {TALK}\b",
    re.IGNORECASE,
)


def named_session(text: str, state: UserState, asked_in: str = "") -> Days | None:
    """Return the days of the conversation that a query speaks of, or None.

    Args:
        text: the query.
        state: whose sessions are meant.
        asked_in: the session in which it is asked; "the last one" is the one before it.

    Cost O(len(text)), and O(1) of the history.
    """
    if FIRST.search(text):
        return _days(next(iter(state.sessions), None), state)
    back = 2 if BEFORE_LAST.search(text) else 1 if LAST.search(text) else 0
    if back:
        return _days(next(islice(_earlier(state, asked_in), back - 1, None), None), state)
    if THIS.search(text) and asked_in in state.sessions:
        return _days(asked_in, state)
    return None


def _earlier(state: UserState, asked_in: str) -> Iterator[str]:
    """Yield the sessions that began before the one in which is asked, the latest first."""
    names = iter(reversed(dict.fromkeys(state.sessions)))
    if asked_in in state.sessions:
        for name in names:
            if name == asked_in:
                break
    yield from names


def _days(session: str | None, state: UserState) -> Days | None:
    if session is None:
        return None
    ordinals = state.session(session)
    first, last = (state.turns[ordinal].at.date() for ordinal in (ordinals[0], ordinals[-1]))
    return Days(first, max(first, last)) if first > date.min else None
