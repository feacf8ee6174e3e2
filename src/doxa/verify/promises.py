"""Earlier turns of the agent -> what it undertook, and a reply -> which of that it breaks, and what is due.

"I won't mention the divorce" is broken by whatever speaks of it; "I'll remind you on Friday" by denying it or by
another day, and it is due from that day on until a reply speaks of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from doxa.core.values import Interval, Turn
from doxa.language import split_text, stems
from doxa.language.times import find_times
from doxa.language.words import EMPTY
from doxa.verify.findings import Finding, Known
from doxa.verify.mentions import compared, mentions
from doxa.verify.sentences import Spoken, cue
from doxa.verify.wording import told_by

__all__ = ["Promise", "broken", "due", "promises_of"]

UNDERTAKEN = re.compile(
    r"\bI(?:'ll| will| shall|'m going to| am going to| promise(?: you)?(?: that I(?:'ll| will))?(?: to)?)"
    r"(?P<no> not| never)? (?P<what>[^.!?;]+)",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\bI (?:won't|will not|will never|promise not to)(?: ever)? (?P<what>[^.!?;]+)", re.IGNORECASE)
SPEAKING = re.compile(
    r"\b(?:mention|bring(?: \w+)? up|talk about|ask (?:you )?about|speak (?:of|about)|discuss|raise|refer to|recommend|"
    r"suggest|remind you (?:of|about))\b",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\bI (?:never|didn't|did not|don't|do not|can't|cannot|can not|won't|will not|am not able to|'m not able to)\b",
    re.IGNORECASE,
)
PROMISING = frozenset(
    stem
    for word in (
        "mention mentioning bring bringing talk talking ask asking speak discuss raise refer recommend "
        "suggest more please upset upsets anymore it that this them remind you let promise sure understood "
        "never don stop sorry okay course want like up"
    ).split()
    for stem in stems(word)
)
"""What is said of any promise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What the agent undertook to do, or not to do."""

    text: str
    turn: Turn
    kept_by_silence: bool
    """It undertook not to speak of something."""
    about: frozenset[str]
    """The stems of what it is about."""
    when: Interval | None = None


def promises_of(known: Known) -> list[Promise]:
    """Return what the agent undertook in its earlier turns, oldest first. Cost O(their text)."""
    return [promise for turn in known.own for promise in _promises(turn)]


def broken(sentence: Spoken, promises: Sequence[Promise], known: Known) -> Finding | None:
    """Return what a sentence of a reply breaks, if anything."""
    said = frozenset(stems(sentence.text)) - EMPTY - PROMISING
    for promise in reversed(promises):
        if not promise.about:
            continue
        shared = promise.about & said
        if promise.kept_by_silence:
            if shared and 2 * len(shared) >= len(promise.about) and not REFUSED.search(sentence.text):
                return _finding(promise, "this speaks of it")
        elif DENIED.search(sentence.text) and 2 * len(shared) >= len(promise.about):
            return _finding(promise, "this denies it")
        elif UNDERTAKEN.search(sentence.text) and 2 * len(shared) >= len(promise.about):
            days = [one for one in mentions(promise.text, promise.turn.at) if one.kind in ("date", "weekday", "clock")]
            now = [one for one in mentions(sentence.text, known.at) if one.kind in ("date", "weekday", "clock")]
            if any(compared(one, other) == "rival" for one in now for other in days):
                return _finding(promise, "this names another time")
    return None


def due(text: str, promises: Sequence[Promise], known: Known) -> tuple[str, ...]:
    """Return in words what was promised for today or an earlier day and was not done, nor is in a text."""
    said = frozenset(stems(text))
    found: list[str] = []
    for promise in promises:
        day = promise.when.start if promise.when else None
        if promise.kept_by_silence or day is None or day > known.today or not promise.about:
            continue
        later = [
            frozenset(stems(turn.text)) for turn in known.own if turn.at.date() >= day and turn is not promise.turn
        ]
        if not any(2 * len(promise.about & done) >= len(promise.about) for done in (*later, said)):
            found.append(f"{told_by(promise.turn)}: “{promise.text}”; it is not done yet")
    return tuple(found)


def _promises(turn: Turn) -> Iterator[Promise]:
    for sentence in split_text(turn.text):
        if not cue("promise", sentence) or sentence.rstrip().endswith("?"):
            continue
        refused = REFUSED.search(sentence)
        given = refused or UNDERTAKEN.search(sentence)
        if given is None:
            continue
        silent = bool(refused or given.groupdict().get("no"))
        if silent and not SPEAKING.search(given["what"]):
            continue
        about = frozenset(stems(given["what"])) - EMPTY - PROMISING - _time_stems(given["what"], turn)
        times = find_times(given["what"], turn.at)
        yield Promise(
            text=sentence.strip(),
            turn=turn,
            kept_by_silence=silent,
            about=about,
            when=times[0].valid if times else None,
        )


def _time_stems(text: str, turn: Turn) -> frozenset[str]:
    return frozenset(stem for one in find_times(text, turn.at) for stem in stems(one.text))


def _finding(promise: Promise, why: str) -> Finding:
    at = promise.turn.at
    reason = f"{promise.turn.speaker} promised on {at.day} {at:%B %Y}: “{promise.text}”; {why}"
    return Finding(label="contradicted", because=(promise.turn.turn_id,), reason=reason, by="promise", p=0.9)
