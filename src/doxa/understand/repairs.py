"""Corrections: another value, subject, day or tie in the place of what was said before.

`repairs.toml` says which wording corrects; which claim is meant follows from the sort of the new value, from the value
that is named as wrong, from the topic, and from what was said last.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Act, Claim, Modality, Term
from doxa.language import stems_of
from doxa.language.times import find_times
from doxa.memory import is_tie
from doxa.understand.earlier import Earlier, heads
from doxa.understand.fragments import Fragment, read_fragment, refit, sort_of
from doxa.understand.referents import NAME, kin_of

__all__ = [
    "Repair",
    "corrections",
    "denials",
    "is_mending",
    "mended",
    "put_right",
    "settled",
    "taken_back",
    "wording",
]

RECENT = 4
"""Turns of the speaker that a correction may mean that names neither a topic nor a wrong value."""
SELF_REPAIR = re.compile(
    r",? (?:no,? wait|sorry|no|I mean|or rather|rather|wait|scratch that|make that),? ", re.IGNORECASE
)
LEAD = re.compile(r"(?:on|at|in|by|from) ", re.IGNORECASE)
CHANGED = re.compile(
    r"\b(?:moved|moving|switched|changed|now|new|no longer|any ?more|became|left|quit|started|these days|just got)\b",
    re.IGNORECASE,
)
"""What has changed since is no correction."""
GENERIC = frozenset(stems_of("that it this day date time number name thing one value word detail figure"))
MISTAKES = frozenset(
    ["mix_up", "mix", "misremember", "misread", "mishear", "misspeak", "mistype", "confuse", "mistake", "correct"]
)
"""What a speaker says of his own words, which is told by the correction itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a sentence puts right: its claims, and what it says besides."""

    claims: tuple[Claim, ...]
    rest: str = ""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("repairs.toml").read_text(encoding="utf-8"))


@cache
def wording(name: str) -> re.Pattern[str]:
    """Return the pattern of the table that has a name."""
    return re.compile(_table()["words"][name], re.IGNORECASE if name not in ("accept",) else 0)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], bool], ...]:
    known = _table()["words"]
    rows = _table()["correction"]
    found = []
    for row in rows:
        say = row["say"]
        for name in ("cue", "it", "v"):
            say = say.replace(f"{{{name}}}", known[name])
        found.append((re.compile(say, re.IGNORECASE), bool(row.get("weak"))))
    return tuple(found)


def is_mending(text: str) -> bool:
    """Tell whether a sentence says that something was wrong."""
    return bool(wording("mending").search(text))


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


def corrections(text: str, earlier: Earlier) -> Repair | None:
    """Return the claims that a sentence puts in the place of wrong ones; None when it corrects nothing known.

    Args:
        text: one sentence, written out.
        earlier: what stands when it is said.

    Deterministic; cost O(rows of the table x len(text) + claims).
    """
    for pattern, weak in _patterns():
        match = pattern.search(text)
        if match is None:
            continue
        named = match.groupdict()
        fragment = read_fragment(named["new"], old=named.get("old") or "", topic=named.get("topic") or "")
        if fragment is None or not _serious(fragment, text, earlier, weak=weak):
            continue
        wrong = _wrong(fragment, earlier)
        if wrong is not None:
            rest = fragment.rest or (named.get("more") or "").strip(" ,")
            right = tuple(_put(wrong, fragment, earlier, text))
            return Repair(claims=right, rest=rest)
    return None


def _serious(fragment: Fragment, text: str, earlier: Earlier, *, weak: bool) -> bool:
    """Tell whether a fragment may correct: a bare noun does so only after words that say it, or beside an old value."""
    sort = sort_of(fragment.new, earlier.turn.at)
    placed = fragment.preposition in ("in", "on", "at") or (fragment.preposition and sort != "noun")
    if fragment.old or (placed and not weak):
        return True
    if kin_of(fragment.bare) and not weak:
        return True
    return sort not in ("noun",) if not is_mending(text) else sort != "noun" or bool(fragment.topic)


def _wrong(fragment: Fragment, earlier: Earlier) -> Claim | None:
    """Return the claim that a value corrects: of those that it fits the one on the topic, the latest of equals."""
    own, others = earlier.own(), earlier.others()
    anywhere = bool(fragment.old or fragment.topic)
    pools: list[Sequence[Claim]] = [own if anywhere else _last_turns(own, earlier), earlier.recent(others, RECENT)]
    topic = stems_of(fragment.topic) - GENERIC
    for pool in pools:
        fitting = [claim for claim in pool if _fits(claim, fragment, earlier)]
        on_topic = [claim for claim in fitting if topic & (heads(claim) | stems_of(claim.span))]
        latest = _last_turns(fitting, earlier) if topic and not fragment.old else fitting
        best = max(on_topic or latest, key=lambda claim: _nearness(claim, fragment, topic, pool), default=None)
        if best is not None:
            return best
    return None


def _last_turns(claims: Sequence[Claim], earlier: Earlier) -> tuple[Claim, ...]:
    ids = [turn.turn_id for turn in earlier.context if turn.speaker == earlier.turn.speaker][-3:]
    return tuple(claim for claim in claims if claim.turn_id in (*ids, earlier.turn.turn_id))


def _fits(claim: Claim, fragment: Fragment, earlier: Earlier) -> bool:
    found = refit(claim, fragment, earlier.turn.at)
    return found is not None and _said(found) != _said(claim)


def _said(claim: Claim) -> tuple[object, ...]:
    return claim.subject.key, claim.relation.name, claim.object.key, claim.valid


def _nearness(claim: Claim, fragment: Fragment, topic: set[str], pool: Sequence[Claim]) -> tuple[int, int, int]:
    about = len(topic & heads(claim)) * 2 + len(topic & stems_of(claim.span))
    behind = claim.relation.name.endswith(f"_{fragment.preposition}") or f" {fragment.preposition} " in claim.span
    placed = int(bool(fragment.preposition) and behind)
    return about, placed, pool.index(claim)


def _put(wrong: Claim, fragment: Fragment, earlier: Earlier, text: str) -> Iterator[Claim]:
    """Yield the corrected claim, and those that the same slip made wrong as well."""
    yielded: set[tuple[object, ...]] = set()
    for claim in (wrong, *_slips(wrong, fragment, earlier)):
        right = refit(claim, fragment, earlier.turn.at)
        if right is None or _said(claim) in yielded or _said(right) == _said(claim):
            continue
        yielded.add(_said(claim))
        yield from put_right(claim, right, earlier, text)


def _slips(wrong: Claim, fragment: Fragment, earlier: Earlier) -> Iterable[Claim]:
    """Return the other claims of the same turn that have the wrong day."""
    right = refit(wrong, fragment, earlier.turn.at)
    if right is None or wrong.speaker != earlier.turn.speaker or right.valid.start == wrong.valid.start:
        return ()
    return (
        claim
        for claim in earlier.own()
        if claim.turn_id == wrong.turn_id and claim.subject == wrong.subject and claim.valid.start == wrong.valid.start
    )


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
    """Return the claims of a sentence that puts something right, as corrections of what they rule out.

    Args:
        claims: what the sentence says, read like any other.
        earlier: what stood before it.
        text: the sentence, and those before it in the turn that say that something was wrong.
    """
    found: list[Claim] = []
    denied = stems_of(text)
    if CHANGED.search(claims[0].span if claims else ""):
        return list(claims)
    for claim in claims:
        if claim.subject.key == claim.speaker.casefold() and claim.relation.name in MISTAKES:
            continue
        wrong = _ruled_out(claim, earlier, denied)
        if wrong is None or (wrong.speaker != claim.speaker and wrong.role == "user"):
            found.append(claim)
        else:
            fuller = len(wrong.object.label) > len(claim.object.label) and _same_thing(wrong, claim)
            right = replace(claim, object=wrong.object) if fuller else claim
            found.extend(put_right(wrong, right, earlier, claim.span))
    return found


def denials(claims: Sequence[Claim], earlier: Earlier, text: str) -> list[Claim]:
    """Return claims with those as corrections that say of what the speaker told that it never was so."""
    if not wording("never").search(text):
        return list(claims)
    return [
        replace(claim, act=Act.CORRECT) if not claim.polarity and _opposite(claim, earlier) is not None else claim
        for claim in claims
    ]


def _opposite(claim: Claim, earlier: Earlier) -> Claim | None:
    same = (claim.subject, claim.relation.name, claim.object, not claim.polarity)
    found = (o for o in earlier.claims if (o.subject, o.relation.name, o.object, o.polarity) == same)
    return next((o for o in found if o.speaker == claim.speaker or o.role != "user"), None)


def _ruled_out(claim: Claim, earlier: Earlier, denied: set[str]) -> Claim | None:
    """Return what cannot have been meant if a claim of a correcting sentence holds; None when nothing is known."""
    if claim.modality in (Modality.POSSIBLE, Modality.HYPOTHETICAL) or claim.act is not Act.STATE:
        return None
    known = [other for other in (*earlier.others(), *earlier.own()) if other.turn_id != claim.turn_id]
    same = [other for other in known if other.relation.name == claim.relation.name and _as_sure(other, claim)]
    opposite = [
        o for o in same if o.subject == claim.subject and o.object == claim.object and o.polarity != claim.polarity
    ]
    if opposite:
        return opposite[-1]
    same = [other for other in same if other.polarity and claim.polarity]
    values = [o for o in same if o.subject == claim.subject and o.object != claim.object]
    values = [o for o in values if claim.functional or stems_of(o.object.label) & denied or _alike(o, claim, earlier)]
    if values:
        return values[-1]
    dated = [o for o in same if o.subject == claim.subject and o.object == claim.object and _redated(o, claim)]
    if dated:
        return dated[-1]
    bearers = [o for o in same if _same_thing(o, claim) and o.subject != claim.subject]
    bearers = [o for o in bearers if stems_of(o.subject.label) & denied]
    if bearers:
        return bearers[-1]
    ties = [
        o for o in known if is_tie(o.relation.name) and is_tie(claim.relation.name) and o.polarity and claim.polarity
    ]
    ties = [o for o in ties if o.subject == claim.subject and o.object == claim.object and o.relation != claim.relation]
    return ties[-1] if ties else None


def _redated(one: Claim, other: Claim) -> bool:
    start, end = one.valid.start, other.valid.start
    return start is not None and end is not None and start != end


def _same_thing(one: Claim, other: Claim) -> bool:
    """Tell whether two objects are one, or one is the other with less said ("the 200", "200 euro")."""
    mine, its = stems_of(one.object.label), stems_of(other.object.label)
    return bool(mine and its) and (mine <= its or its <= mine)


def _as_sure(one: Claim, other: Claim) -> bool:
    """Tell whether two claims are of one mood; what is planned and what is are one when something is put right."""
    firm = (Modality.ASSERTED, Modality.PLANNED)
    return one.modality is other.modality or (one.modality in firm and other.modality in firm)


def _alike(other: Claim, claim: Claim, earlier: Earlier) -> bool:
    """Tell whether a value of a relation with many is the one that was just said, and of the same sort."""
    at = earlier.turn.at
    recent = earlier.recent([other], 2)
    return bool(recent) and sort_of(other.object.label, at) == sort_of(claim.object.label, at) != "noun"


def taken_back(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the withdrawals of what corrections replace where a relation may have many values, each in its own slot."""
    gone = {(claim.subject, claim.relation, claim.object.key) for claim in claims if claim.act is Act.WITHDRAW}
    for claim in claims:
        several = claim.act is Act.CORRECT and claim.replaces and not claim.functional
        new = claim.replaces != claim.object.key and (claim.subject, claim.relation, claim.replaces) not in gone
        if several and new and claim.replaces:
            wrong = Term(claim.replaces, claim.replaces)
            yield replace(claim, object=wrong, act=Act.WITHDRAW, replaces=None)
