"""Turns that were said -> the claims of which a reader is least sure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import exp

from doxa.backends.parser import Heard, Line, TurnReader
from doxa.core.marks import MarkedLine, MarkedTurn, Unsure
from doxa.core.values import Turn
from doxa.understand.hearing import BEFORE, SURE
from doxa.understand.teaching.head import Head
from doxa.understand.teaching.heard import claim_words

__all__ = ["lines_heard", "unsure_of"]


def unsure_of(
    told: Sequence[tuple[Turn, Sequence[Turn]]], reader: TurnReader, head: Head, marked: Collection[MarkedTurn]
) -> list[Unsure]:
    """Return the claims of users' turns, those first that are nearest to being kept, or not to be.

    Args:
        told: turns, each with the earlier ones of its session.
        reader: what hears them, untaught.
        head: what it was taught.
        marked: turns whose claims have marks: such a claim is left out.

    What the reader finds true and not worth a memory (`minor`) is left out as well: no probability would keep it.
    Deterministic. Cost: one reading a turn.

    Raises:
        BackendError: the reader failed.
    """
    lines = [lines_heard(turn, context) for turn, context in told if turn.role == "user"]
    heard = reader.hear([[Line(one.speaker, one.text) for one in some] for some in lines])
    known = {(_key(one.lines), mark.subject, mark.words, mark.object) for one in marked for mark in one.claims}
    found = [
        (distance, one)
        for some, what in zip(lines, heard, strict=True)
        for distance, one in _claims(some, what, head)
        if (_key(one.lines), one.subject, one.words, one.object) not in known
    ]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def lines_heard(turn: Turn, context: Sequence[Turn]) -> tuple[MarkedLine, ...]:
    """Return a turn behind those before it that help to read it.

    Args:
        turn: what was said.
        context: the earlier turns of its session, oldest first.
    """
    said = (*context[-BEFORE:], turn)
    return tuple(MarkedLine(speaker=one.speaker, text=one.text, turn_id=one.turn_id) for one in said)


def _claims(lines: tuple[MarkedLine, ...], heard: Heard, head: Head) -> Iterator[tuple[float, Unsure]]:
    """Yield the claims of a turn, each with how far its log odds are from where it is kept; each words once."""
    plain = [Line(one.speaker, one.text) for one in lines]
    before = set()
    for told in heard.claims:
        words = claim_words(told, plain)
        if "minor" in told.flags or words in before:
            continue
        before.add(words)
        odds, mended = head.odds(told, plain), head.mended(told, plain)
        yield (
            abs(odds - head.line),
            Unsure(
                lines=lines,
                subject=words[0],
                words=words[1],
                object=words[2],
                relation=mended.relation,
                flags=tuple(sorted(told.flags)),
                p=round(1 / (1 + exp(-odds)), 4),
                kept=mended.p >= SURE,
            ),
        )


def _key(lines: Sequence[MarkedLine]) -> tuple[tuple[str, str], ...]:
    return tuple((one.speaker, one.text) for one in lines)
