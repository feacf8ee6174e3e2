"""A clause of a reply + sentences that were said -> whether one of them says it, or what they say instead.

What was not understood as a fact was still said. A clause is laid beside the sentences that share its words: one that
says all of it supports it, unless that was changed since; where they differ in a value (`conflicts`) by so much that no
model has to be asked, they contradict it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from doxa.core.values import UNBELIEVED, Fact, Status, Turn
from doxa.language import split_text, stems
from doxa.memory import describe, is_current
from doxa.verify.conflicts import NEGATION, PIECES, Piece, conflict_of, piece_of, share_of
from doxa.verify.evidence import Evidence, p_contradicted
from doxa.verify.findings import Finding, Known
from doxa.verify.mentions import compared
from doxa.verify.sentences import Clause, cue

__all__ = ["Passage", "by_wording", "facts_of", "passages_of", "quoted", "told_by"]

SHARED = 0.6
"""Share of the content words of a clause, beside its values, that have to be in what was said."""
AGAINST = 0.6
"""Probability by the wording alone from which a clause is contradicted."""
MOST_PASSAGES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One sentence that was said."""

    piece: Piece
    turn: Turn
    standing: Literal["held", "over", "retracted"] = "held"
    """Whether what it says is believed and holds, held once, or is not believed."""
    fact_ids: tuple[str, ...] = ()
    """The fact that it words, where nobody said it in these words."""


def facts_of(turns: Iterable[Turn], known: Known) -> list[Fact]:
    """Return the facts in the slots that some turns speak of. Cost O(facts found)."""
    slots = dict.fromkeys(slot for turn in turns for slot in known.beliefs.slots_of_turn(turn.turn_id))
    return [fact for slot in slots for fact in known.beliefs.in_slot(slot) if fact.status not in UNBELIEVED]


def passages_of(turns: Sequence[Turn], known: Known, *, facts: bool = True) -> list[Passage]:
    """Return the sentences of some turns that say something, and their facts as sentences; each with its standing."""
    found: list[Passage] = []
    for turn in turns:
        for sentence in split_text(turn.text)[:MOST_PASSAGES]:
            if not sentence.rstrip("\"')]").endswith("?"):
                standing = _standing(sentence, turn, known)
                pieces = [piece for piece in PIECES.split(sentence) if len(stems(piece)) > 1]
                texts = dict.fromkeys([sentence, *(pieces if len(pieces) > 1 else [])])
                found += [Passage(piece=piece_of(text, turn.at), turn=turn, standing=standing) for text in texts]
    for fact in facts_of(turns, known) if facts else ():
        told = next(filter(None, map(known.turn, reversed(fact.turn_ids))), None)
        if told is not None and not fact.disputed:
            standing = (
                "retracted" if fact.status is Status.RETRACTED else "held" if is_current(fact, known.today) else "over"
            )
            piece = piece_of(describe(fact), told.at)
            found.append(Passage(piece=piece, turn=told, standing=standing, fact_ids=(fact.fact_id,)))
    return found


def by_wording(clause: Clause, passages: Sequence[Passage], known: Known) -> Finding | None:
    """Return a contradiction or support by the wording; None when it tells neither.

    Args:
        clause: of the reply.
        passages: sentences that were said and may bear on it.
        known: the memory.

    Cost O(passages x their words). Sound only as far as the words that are shared speak of one thing.
    """
    said = piece_of(clause.told, known.at)
    if not said.bare and not said.values:
        return None
    past = _was(clause.text)
    believed = sorted((one for one in passages if one.standing != "retracted"), key=_said_at)
    supports = [one for one in believed if _says(said, one.piece)]
    held = [one for one in supports if past or (one.standing == "held" and not _was(one.piece.text))]
    standing = [one for one in believed if one.standing == "held" and not one.fact_ids]
    conflict = conflict_of(clause.told, [(one.piece.text, one.turn.at) for one in standing], known.at)
    if held and conflict.changed < SHARED:
        exact = 1.0 if any(one.kind != "name" for one in said.values) and not _denied(said) else 0.9
        return Finding(label="supported", because=_because(held[-1]), reason=quoted(held[-1]), by="wording", p=exact)
    against = p_contradicted(Evidence(conflict=conflict))
    if conflict.instead and against >= AGAINST:
        closest = max(standing, key=lambda one: (len(said.bare & one.piece.stems), _said_at(one)))
        return _contradicted(closest, conflict.instead, against)
    over = [one for one in supports if one.standing == "over" and one.fact_ids]
    return _contradicted(over[-1], "that is over", 0.9) if over and not past and not held else None


def _contradicted(passage: Passage, why: str, p: float) -> Finding:
    reason = f"{quoted(passage)}; {why}"
    return Finding(label="contradicted", because=_because(passage), reason=reason, by="wording", p=p)


def _said_at(passage: Passage) -> tuple[datetime, int]:
    return passage.turn.at, passage.turn.ordinal


def _was(text: str) -> bool:
    """Tell whether a sentence is about the past."""
    return cue("past", text) or cue("past_verb", text)


def _because(passage: Passage) -> tuple[str, ...]:
    return (*passage.fact_ids, passage.turn.turn_id)


def _standing(sentence: str, turn: Turn, known: Known) -> Literal["held", "over", "retracted"]:
    """Return how the facts stand that a sentence supports; one that supports none is taken at its word."""
    if cue("gone", sentence):
        return "over"
    mine = set(stems(sentence))
    claims = [claim for claim in known.beliefs.said_in(turn.turn_id) if _mostly(set(stems(claim.span)), mine)]
    told = [claim for claim in claims if claim.turn_id]
    facts = [
        fact
        for claim in told
        for fact in known.beliefs.in_slot(known.beliefs.slot(claim))
        if turn.turn_id in fact.turn_ids and fact.object.key == known.beliefs.identity.told(claim).object.key
    ]
    if any(fact.status is Status.RETRACTED for fact in facts):
        return "retracted"
    return "over" if any(fact.status is Status.SUPERSEDED for fact in facts) else "held"


def _mostly(part: set[str], whole: set[str]) -> bool:
    return bool(part) and len(part & whole) >= 0.7 * len(part)


def _denied(piece: Piece) -> bool:
    return bool(NEGATION.search(piece.text))


def _says(said: Piece, told: Piece) -> bool:
    """Tell whether a sentence says all that a clause says."""
    if not said.stems or _denied(said) != _denied(told):
        return False
    values = [one for one in said.values if one.kind != "name"]
    if any(not any(compared(one, other) == "same" for other in told.values) for one in values):
        return False
    names = frozenset(stem for one in said.values if one.kind == "name" for stem in stems(one.text))
    enough = share_of(said.bare, told.stems) >= SHARED
    return names <= told.stems and enough and (bool(said.values) or said.bare <= told.stems)


def quoted(passage: Passage) -> str:
    """Return who said a sentence, when, and the sentence."""
    return f"{told_by(passage.turn)}: “{passage.piece.text.rstrip('. ')}”"


def told_by(turn: Turn) -> str:
    """Return who said a turn and when: "Ana said on 2 June 2024"."""
    return f"{turn.speaker} said on {turn.at.day} {turn.at:%B %Y}"
