"""Corrections and withdrawals: taking back what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from doxa.core.values import Act, Claim, Interval, Turn
from doxa.memory import Beliefs, stems
from doxa.understand.clauses import parse_clause
from doxa.understand.referents import NAME, clean, named, term
from doxa.understand.text import words
from doxa.understand.times import TimeSpan, find_times, number_of

__all__ = ["corrections", "is_withdrawal", "mended", "withdrawals"]

VALUE = r"(?P<new>(?:[^,;.!?]|(?<=\d)[.,](?=\d)){1,60}?)"
NOT = r"(?:,? (?:and )?not (?P<old>[^,;.!?]{1,60}))?"
CORRECTION = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bI (?:meant|mean)(?: to say)? {VALUE}{NOT}$",
        rf"^(?:(?:sorry|no|wait|oops|correction|actually|oh|my mistake|my bad|scratch that|I was "
        rf"wrong|whoops|hang on)[,:.]? )+(?:make that |it is |it was |that is |that was |it should "
        rf"be )?{VALUE}{NOT}(?:, [a-z][a-z ]{{1,30}})?$",
        rf"\b(?:misremembered|mixed up|got)\b[^,]{{0,40}}(?:wrong)?, (?:it|that) (?:is|was) (?:actually "
        rf")?{VALUE}{NOT}$",
        rf"^(?:it|that) (?:is|was) (?:actually )?{VALUE},? not (?P<old>[^,;.!?]{{1,60}})$",
        rf"^(?:actually|correction),? {VALUE}{NOT}$",
    )
)
WITHDRAWAL = re.compile(
    r"\b(?:forget|ignore|disregard|scratch|strike|drop|delete|remove|undo)\b.{0,40}?\b(?:what "
    r"I|that|it|about|I (?:said|told|gave)|my)\b|"
    r"\bI (?:take|took) (?:that|it|this|everything|mine|what I said)\b.{0,30}\bback\b|\btake "
    r"(?:that|it|mine|this) back\b|"
    r"\b(?:that|it|this) was (?:only |just )?a joke\b|^(?:just |only |I was (?:just |only )?|"
    r"I am (?:just |only )?)?(?:kidding|joking)\b|"
    r"\b(?:that|it) (?:is|was) not true\b|\bnever mind what I said\b",
    re.IGNORECASE,
)
TOPIC = re.compile(r"\b(?:about|regarding|the|my)\b (?P<topic>[^,;.!?:]{2,60})", re.IGNORECASE)
TRIGGER = frozenset(
    stems(
        "forget ignore disregard scratch strike drop delete remove undo said told gave say tell "
        "take back joke kidding true please what"
    )
)
SELF_REPAIR = re.compile(
    r",? (?:no,? wait|sorry|no|I mean|or rather|rather|wait|scratch that|make that),? ", re.IGNORECASE
)


LEAD = re.compile(r"(?:on|at|in|by|from) ", re.IGNORECASE)


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


def corrections(text: str, turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> list[Claim]:
    """Return the claim that a sentence puts in the place of a wrong one; nothing when it corrects nothing known."""
    for pattern in CORRECTION:
        match = pattern.search(text)
        if match is None:
            continue
        new, old = match["new"].strip(), (match["old"] or "").strip()
        marked = re.search(r"\b(?:sorry|meant?|correction|mistake|misremembered|not)\b", text, re.IGNORECASE)
        if len(new.split()) > 6 or parse_clause(words(new)) or (not marked and _sort(new, turn.at) == "noun"):
            continue
        wrong = _wrong(new, old, turn, context, beliefs)
        if wrong is not None:
            return [_corrected(wrong, new, turn, text)]
    return []


def _wrong(new: str, old: str, turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> Claim | None:
    """Return the claim that is corrected: the latest with the named value, or the latest of the same sort."""
    if old:
        key = clean(old).casefold()
        found = [
            claim for claim in _said_by(turn, beliefs) if key == claim.object.key or key in claim.object.key.split()
        ]
        dated = _date(old, turn.at)
        if not found and dated:
            found = [c for c in _said_by(turn, beliefs) if c.valid.start == dated.valid.start]
        return found[-1] if found else None
    recent = [t for t in context if t.speaker == turn.speaker][-3:]
    for earlier in reversed(recent):
        claims = [claim for claim in _said_by(turn, beliefs) if claim.turn_id == earlier.turn_id]
        for claim in reversed(claims):
            if _sort(new, turn.at) == _sort(claim.object.label, turn.at) or (
                _sort(new, turn.at) == "date" and claim.valid.start
            ):
                return claim
    return None


def _said_by(turn: Turn, beliefs: Beliefs) -> list[Claim]:
    found = [
        c for slot in beliefs.claims.values() for c in slot if c.speaker == turn.speaker and c.act is not Act.WITHDRAW
    ]
    return sorted(found, key=lambda claim: claim.known_at or turn.at)


def _sort(value: str, at: datetime) -> str:
    word = clean(value)
    if _date(value, at):
        return "date"
    if re.search(r"\d", word) or number_of(word) is not None:
        return "number"
    return "name" if named(word) else "noun"


def _date(value: str, at: datetime) -> TimeSpan | None:
    return next(iter(find_times(value, at, past=False)), None)


def _corrected(wrong: Claim, new: str, turn: Turn, text: str) -> Claim:
    dated = _date(new, turn.at)
    value, valid = term(clean(new)), wrong.valid
    if dated and _sort(new, turn.at) == "date":
        valid = _same_month(dated, wrong.valid) if wrong.valid.start else wrong.valid
        value = wrong.object
        if re.search(r"\d", wrong.object.label) and valid.start:
            tail = re.search(r" at [\d:]+$", wrong.object.label)
            shown = str(Interval(start=valid.start, end=valid.start))
            value = term(shown + (tail[0] if tail else ""))
    elif re.fullmatch(r"[\d.,]+", clean(new)) and re.search(r"\d", wrong.object.label):
        value = term(re.sub(r"\d[\d.,]*", clean(new), wrong.object.label, count=1))
    return replace(
        wrong, object=value, valid=valid, act=Act.CORRECT, replaces=wrong.object.key,
        turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, known_at=turn.at, span=text,
    )  # fmt: skip


def _same_month(dated: TimeSpan, valid: Interval) -> Interval:
    """Read "the 26th" in the month of the date that it corrects."""
    start = dated.valid.start
    bare = re.fullmatch(r"(?:on )?the \d+\w\w", dated.text.strip())
    if bare and start and valid.start:
        with suppress(ValueError):  # no 31st in that month: the date as it was read
            start = start.replace(year=valid.start.year, month=valid.start.month)
    end = start if valid.end == valid.start else valid.end
    return replace(valid, start=start, end=end, start_precision=dated.valid.start_precision)


def is_withdrawal(text: str) -> bool:
    """Tell whether a sentence takes something back."""
    return bool(WITHDRAWAL.search(text))


def withdrawals(text: str, turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> list[Claim]:
    """Return, for everything that a sentence takes back, the claim again with the act of withdrawing."""
    said = _said_by(turn, beliefs)
    match = TOPIC.search(text)
    topic = set(stems(match["topic"])) - TRIGGER if match else set()
    if topic:
        targets = _about(topic, said, context)
        if not targets:
            return []
    else:
        targets = _latest(said, [t.turn_id for t in context if t.speaker == turn.speaker])
    return [
        replace(
            claim, act=Act.WITHDRAW, replaces=None, turn_id=turn.turn_id, known_at=turn.at, role=turn.role, span=text
        )
        for claim in dict.fromkeys(targets)
    ]


def _about(topic: set[str], said: Sequence[Claim], context: Sequence[Turn]) -> list[Claim]:
    direct = [c for c in said if topic <= set(stems(f"{c.subject} {c.relation} {c.object}"))]
    if not direct:
        direct = [c for c in said if topic <= set(stems(f"{c.span} {c.subject} {c.relation} {c.object}"))]
    if not direct:
        direct = [c for c in said if topic & set(stems(f"{c.span} {c.subject} {c.relation} {c.object}"))]
    if direct:
        latest = direct[-1].turn_id
        return [claim for claim in direct if claim.turn_id == latest]
    turns = {t.turn_id for t in context if topic & set(stems(t.text))}
    return [claim for claim in said if claim.turn_id in turns]


def _latest(said: Iterable[Claim], turns: Sequence[str]) -> list[Claim]:
    for turn_id in reversed(turns[-3:]):
        claims = [claim for claim in said if claim.turn_id == turn_id]
        if claims:
            return [claim for claim in claims if claim.span == claims[-1].span]
    return []
