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
from doxa.language.times import find_times
from doxa.understand.earlier import Earlier
from doxa.understand.referents import NAME

__all__ = ["is_mending", "mended", "put_right", "settled", "taken_back"]

SELF_REPAIR = re.compile(
    r",? (?:no,? wait|sorry|no|I mean|or rather|rather|wait|scratch that|make that),? ", re.IGNORECASE
)
LEAD = re.compile(r"(?:on|at|in|by|from) ", re.IGNORECASE)


CHANGED = re.compile(
    r"\b(?:moved|moving|switched|changed|now|new|no longer|any ?more|became|left|quit|started|these days|just got)\b",
    re.IGNORECASE,
)
"""What has changed since is no correction."""


def is_mending(text: str) -> bool:
    """Tell whether a sentence says that something was wrong."""
    return bool(_mending().search(text))


@cache
def _mending() -> re.Pattern[str]:
    table = tomllib.loads(files("doxa.understand").joinpath("repairs.toml").read_text(encoding="utf-8"))
    return re.compile(table["mending"], re.IGNORECASE)


def mended(text: str, at: datetime) -> str:
    """Return a sentence whose speaker corrects himself on the way ("on Tuesday, no wait, Wednesday") as he means it."""
    for match in SELF_REPAIR.finditer(text):
        head, tail = text[: match.start()], text[match.end() :]
        old, new = _last_value(head, at), _first_value(tail, head, at)
        if old and new and head[old[0]].isdigit() == tail[new[0]].isdigit():
            return f"{head[: old[0]]}{tail[new[0] : new[1]]}{head[old[1] :]}{tail[new[1] :]}"
    return text


def _last_value(head: str, at: datetime) -> tuple[int, int] | None:
    spans = find_times(head, at, past=False)
    if spans and not head[spans[-1].end :].strip():
        span = spans[-1]
        lead = LEAD.match(span.text)
        return span.start + (lead.end() if lead else 0), span.end
    match = re.search(r"([€$£]?\d(?:[\d.,]*\d)?)(?: [a-z]+){0,2}$", head)
    if match:
        return match.span(1)
    match = re.search(rf"(?<!^){NAME}$", head)
    return match.span() if match else None


def _first_value(tail: str, head: str, at: datetime) -> tuple[int, int] | None:
    spans = find_times(tail, at, past=False)
    if spans and spans[0].start == 0:
        lead = LEAD.match(spans[0].text)
        return lead.end() if lead else 0, spans[0].end
    match = re.match(rf"(?:(?P<noun>[a-z]+) )?(?P<value>[€$£]?\d(?:[\d.,]*\d)?|{NAME})", tail)
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
    """Return the claims of a turn that puts something right, as corrections of what they rule out.

    Args:
        claims: what a sentence of it says, read like any other.
        earlier: what stood before it.
        text: the turn so far.
    """
    if not is_mending(text) or any(CHANGED.search(claim.span) for claim in claims):
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
