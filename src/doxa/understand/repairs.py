"""Corrections: another value, subject or day in the place of what was said before."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files

from doxa.core.values import Act, Claim, Modality, Term
from doxa.language import stems_of
from doxa.language.times import TimeSpan, find_times
from doxa.understand.earlier import Earlier
from doxa.understand.referents import NAME

__all__ = ["is_mending", "is_slip", "mended", "put_right", "resaid", "settled", "taken_back"]

SELF_REPAIR = re.compile(
    r"(?:,? (?:no,? wait|sorry|oops|no|I meant?|or rather|rather|wait|scratch that|make that))+,? ", re.IGNORECASE
)
LEAD = re.compile(r"(?:on|at|in|by|from) ", re.IGNORECASE)
DAY = re.compile(r"\d+(?:st|nd|rd|th)$")
NUMBER = r"[€$£]?\d(?:[\d.,]*\d)?"


CHANGED = re.compile(
    r"\b(?:moved|moving|switched|changed|now|new|no longer|any ?more|became|left|quit|started|these days|just got)\b",
    re.IGNORECASE,
)
"""What has changed since is no correction."""


def is_mending(text: str) -> bool:
    """Tell whether a sentence says that something was wrong."""
    return bool(_mending().search(text))


def is_slip(text: str) -> bool:
    """Tell whether a sentence begins like one that says another value ("sorry, I meant Bergen")."""
    return SELF_REPAIR.match(f", {text}") is not None


@cache
def _mending() -> re.Pattern[str]:
    table = tomllib.loads(files("doxa.understand").joinpath("repairs.toml").read_text(encoding="utf-8"))
    return re.compile(table["mending"], re.IGNORECASE)


def mended(text: str, at: datetime) -> str:
    """Return a sentence whose speaker corrects himself on the way ("on Tuesday, no wait, Wednesday") as he means it."""
    for match in SELF_REPAIR.finditer(text):
        head, tail = text[: match.start()], text[match.end() :]
        old, new = _last_value(head, at), _first_value(tail, head, at)
        if old and new and _counts(head, old) == _counts(tail, new):
            return f"{head[: old[0]]}{tail[new[0] : new[1]]}{head[old[1] :]}{tail[new[1] :]}"
    return text


def resaid(text: str, said: str, at: datetime) -> str:
    """Return what was said before with another value, where a sentence is no more than one; else the sentence.

    "I live in Oslo now", then "sorry, I meant Bergen" or "no wait, Bergen, not Oslo": as if it had been said at once.
    """
    cue = SELF_REPAIR.match(f", {text}")
    tail = text[cue.end() - 2 :] if cue else ""
    new = _first_value(tail, said, at)
    if new is None:
        return text
    rest = tail[new[1] :].strip(" ,.!")
    olds = [old for old in _values(said, at) if _counts(said, old) == _counts(tail, new)]
    meant = [old for old in olds if said[slice(*old)] in rest] if rest else olds
    if not meant:
        return text
    start, end = meant[-1]
    value, day = tail[slice(*new)], DAY.search(tail[slice(*new)])
    if day:  # of the month that was said
        value = re.sub(r"\d+(?:st|nd|rd|th)?\b", day[0], said[start:end], count=1)
    return f"{said[:start]}{value}{said[end:]}"


def _bare(span: TimeSpan) -> tuple[int, int]:
    """Return where a time stands without its preposition."""
    lead = LEAD.match(span.text)
    return span.start + (lead.end() if lead else 0), span.end


def _counts(text: str, span: tuple[int, int]) -> bool:
    return any(char.isdigit() for char in text[slice(*span)])


def _values(text: str, at: datetime) -> list[tuple[int, int]]:
    """Return where the times, else the numbers and names of a sentence stand."""
    found = [_bare(span) for span in find_times(text, at, past=False)]
    others = re.finditer(rf"{NUMBER}|(?<!^){NAME}", text)
    return sorted(found + [one.span() for one in others if not any(a <= one.start() < b for a, b in found)])


def _last_value(head: str, at: datetime) -> tuple[int, int] | None:
    spans = find_times(head, at, past=False)
    if spans and not head[spans[-1].end :].strip():
        return _bare(spans[-1])
    match = re.search(rf"({NUMBER})(?: [a-z]+){{0,2}}$", head)
    if match:
        return match.span(1)
    match = re.search(rf"(?<!^){NAME}$", head)
    return match.span() if match else None


def _first_value(tail: str, head: str, at: datetime) -> tuple[int, int] | None:
    for before in ("", "on "):  # "the 27th"
        spans = find_times(before + tail, at, past=False)
        if spans and spans[0].start == 0:
            start, end = _bare(spans[0])
            return start - len(before), end - len(before)
    match = re.match(rf"(?:(?P<noun>[a-z]+) )?(?P<value>{NUMBER}|{NAME})", tail)
    if match is None or (match["noun"] and not re.search(rf"\b{match['noun']} \S+(?: \S+)?$", head)):
        return None
    return match.span("value")


def put_right(wrong: Claim, right: Claim, earlier: Earlier, text: str) -> Iterator[Claim]:
    """Yield what corrects a claim: in the same slot the new value, else the old one taken back or denied and the new.

    Args:
        wrong: what was said.
        right: what is meant, as the claim that it would have been.
        earlier: what stands, and the turn that corrects.
        text: the sentence that does.
    """
    turn = earlier.turn
    mine = wrong.speaker == turn.speaker
    if right.valid.start is None and right.modality is not wrong.modality and wrong.modality is Modality.PLANNED:
        right = replace(right, modality=wrong.modality, valid=wrong.valid)
    told = replace(
        right, act=Act.CORRECT, replaces=wrong.object.key, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role,
        known_at=turn.at, span=text, source="",
    )  # fmt: skip
    same_slot = wrong.subject == right.subject and wrong.relation.name == right.relation.name
    if not mine and wrong.role == "user":
        yield replace(told, act=Act.STATE, replaces=None)  # one word against another
        return
    if same_slot and (wrong.functional or wrong.object == right.object):
        yield told
        return
    gone = replace(told, subject=wrong.subject, relation=wrong.relation, object=wrong.object, valid=wrong.valid)
    if mine:
        yield replace(gone, act=Act.WITHDRAW, replaces=None, functional=wrong.functional, source=wrong.source)
    else:
        yield replace(gone, polarity=not wrong.polarity, functional=wrong.functional, replaces=None)
    yield replace(told, replaces=None if not same_slot else told.replaces)


def settled(claims: Sequence[Claim], earlier: Earlier, text: str) -> list[Claim]:
    """Return the claims of a turn that puts something right as corrections of what they rule out.

    Args:
        claims: what a sentence of it says, read like any other.
        earlier: what stood before it.
        text: the turn so far.
    """
    if any(CHANGED.search(claim.span) for claim in claims):
        return list(claims)
    found: list[Claim] = []
    for claim in claims:
        wrong = _ruled_out(claim, earlier, stems_of(text))
        found.extend([claim] if wrong is None else put_right(wrong, claim, earlier, claim.span))
    return found


def _ruled_out(claim: Claim, earlier: Earlier, denied: set[str]) -> Claim | None:
    """Return the last claim that cannot have been meant if one of a correcting turn holds."""
    if claim.modality in (Modality.POSSIBLE, Modality.HYPOTHETICAL) or claim.act is not Act.STATE:
        return None
    for one in reversed(earlier.claims):
        if (one.subject, one.relation.name) != (claim.subject, claim.relation.name) or one.turn_id == claim.turn_id:
            continue
        if one.object == claim.object and one.polarity != claim.polarity:
            return one
        another = one.object != claim.object and one.polarity and claim.polarity
        if another and (claim.functional or stems_of(one.object.label) & denied):
            return one
    return None


def taken_back(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the withdrawals of what corrections replace where a relation may have many values, each in its own slot."""
    gone = {(claim.subject, claim.relation, claim.object.key) for claim in claims if claim.act is Act.WITHDRAW}
    for claim in claims:
        several = claim.act is Act.CORRECT and claim.replaces and not claim.functional
        new = claim.replaces != claim.object.key and (claim.subject, claim.relation, claim.replaces) not in gone
        if several and new and claim.replaces:
            wrong = Term(claim.replaces, claim.replaces)
            yield replace(claim, object=wrong, act=Act.WITHDRAW, replaces=None)
