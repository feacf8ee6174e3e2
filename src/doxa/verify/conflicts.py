"""A clause of a reply + what was said -> in which ways the two differ, as numbers that a decision can be fitted on.

A value of the clause (a number, date, time or name) is laid beside the values of the same kind that were said where the
words around it were said as well: `typed` and `named` tell how much of those words both have, when none of what was
said has the clause's value. `changed` tells that it was said, and something else in its place later. `denied` and
`opposed` tell how much is shared where one side denies it, or says the opposite.

Source: de Marneffe, Rafferty and Manning 2008, "Finding Contradictions in Text": features of an alignment (numbers,
dates, names, polarity, antonyms), weighed by a logistic regression. Ours are aligned by words, without a parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from doxa.language import split_text, stems
from doxa.language.words import EMPTY
from doxa.memory import kin_of
from doxa.verify.mentions import Mention, bare_stems, compared, mentions
from doxa.verify.sentences import cue
from doxa.verify.values import kinds, opposed

__all__ = ["Conflict", "conflict_of"]

PIECES = re.compile(r"[,;:]\s+| (?:but|and|so|though|since|because|which|who|when|while) ")
"""Parts the clauses of a sentence."""
NEGATION = re.compile(
    r"\b(?:not|never|no|none|neither|nobody|nothing|without|cannot|refus\w+|hardly|unable|fail\w*|stopped|quit|"
    r"gave up|given up|no longer)\b|n't\b",
    re.IGNORECASE,
)
GIVEN_UP = re.compile(
    r"\b(?:instead of|rather than|no longer(?: \w+)?|not|used to be|formerly|it was|were|had been|from|until|"
    r"old one was)(?: (?:on|at|in|the))?\s*$",
    re.IGNORECASE,
)
"""Stands before a value that is so no longer, where another one is said as well."""
TAKEN_BACK = re.compile(r"^\W*(?:no|sorry|i mean|i meant|actually|or rather|wait)\b", re.IGNORECASE)
"""Stands after a value that is taken back."""
TITLES = frozenset(stem for word in "mr mrs ms dr doctor professor saint st aunt uncle".split() for stem in stems(word))
NEAR = 4
"""Words on either side of a name that may tell whose it is: "your neighbour is called", "who is my cousin"."""
OPENS = re.compile(r"^(?:'s|\s+(?:is|was|has|had|lives|works|will|can|could|would|should|must|might|and|who)\b)")
"""What follows a name that opens a clause, unlike a verb or a question word there."""
IS_DONE = re.compile(r"(?:\b(?:is|are|am|be|been|being)|'s|'re|'m) (?:\w+ly )?\w+ed\b", re.IGNORECASE)
"""A passive: its participle is no past tense ("is called")."""
CHANGE = re.compile(
    r"\b(?:now|moved|switched|changed|instead|pushed|put (?:off|back|up)|raised|went (?:up|down)|extended|sorry|"
    r"actually|misremembered|promoted|new|again|finally|meant|from now on|cancelled|since)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """How a sentence differs from what was said; every share is 0 to 1."""

    shared: float = 0.0
    """Share of its content words that were said."""
    typed: float = 0.0
    """Of a number, date or time in place of which another was said: share of the words around it that were said."""
    counted: float = 0.0
    """The same where both count one thing ("45 pupils", "31 pupils")."""
    related: float = 0.0
    """The same of a name that nobody said, in place of which another stands beside the same relation ("sister")."""
    named: float = 0.0
    """The same where another stands beside the same word of another kind ("landlord", "flying")."""
    placed: float = 0.0
    """The same of a name that nobody said, in place of which another stands after the same small word."""
    changed: float = 0.0
    """The same of a value that was said, and replaced later or given up in the same breath ("990, no, 1,150")."""
    denied: float = 0.0
    """Share of its words that a sentence has which is denied where this one is not, or the other way round."""
    opposed: float = 0.0
    """Share of its words that a sentence has which says an opposite."""
    matched: float = 0.0
    """1 where it has values and all of them were said."""
    past: float = 0.0
    """1 where it speaks of the past."""
    instead: str = ""
    """What was said in the place of its value, and the value: "“31”, not “45”"."""

    def presupposed(self, *, asked: bool) -> Conflict:
        """Return what of it counts against a sentence that claims nothing outright: it may take a relative or a price
        for granted ("Ask your sister Ana"), and names other places; a question asks for values."""
        plain = replace(self, named=0.0, placed=0.0)
        return replace(plain, typed=0.0, counted=0.0, changed=0.0, instead="") if asked else plain

    @property
    def features(self) -> dict[str, float]:
        """The numbers, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "instead"}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence that was said, or a clause of a reply."""

    text: str
    stems: frozenset[str]
    bare: frozenset[str]
    """Its stems less those of its values."""
    values: tuple[Mention, ...]
    asked: bool = False
    """It is a question: what it mentions nobody said."""


def conflict_of(clause: str, premise: Sequence[tuple[str, datetime]], at: datetime) -> Conflict:
    """Return how a clause of a reply differs from what was said.

    Args:
        clause: of a reply, or a whole sentence that claims nothing outright.
        premise: what was said and when, in that order.
        at: when the reply is made.

    Deterministic. Cost: O(words of both), with one reading of the times in each.
    """
    said = [_piece(one, when) for text, when in premise for one in split_text(text)]
    pieces = [_piece(one, at) for one in PIECES.split(clause) if one.strip()]
    told = [one for one in said if not one.asked]
    whole = _piece(clause, at)
    everything = frozenset[str]().union(*(one.stems for one in said)) if said else frozenset[str]()
    past = cue("past", clause) or cue("past_verb", IS_DONE.sub(" ", clause))
    found = dict.fromkeys(("typed", "counted", "related", "named", "placed", "changed"), 0.0)
    instead = ""
    for piece in pieces:
        for value in piece.values:
            for name, share, other in _rivals(value, piece, whole, said):
                if share > found[name] and not (past and name == "changed"):
                    found[name] = share
                    instead = f"“{other.text.strip()}”, not “{value.text.strip()}”"
    values = [value for value in whole.values if value.kind != "name" or value.start]
    return Conflict(
        shared=_share(whole.bare, everything),
        **found,
        denied=max((_denial(piece, one) for piece in pieces for one in said), default=0.0),
        opposed=max((_opposition(piece, one) for piece in pieces for one in said), default=0.0),
        matched=float(bool(values) and all(any(_says(value, one) for one in told) for value in values)),
        past=float(past),
        instead=instead,
    )


def _piece(text: str, at: datetime) -> _Piece:
    values = tuple(mentions(text, at))
    asked = text.rstrip("\"')]").endswith("?")
    return _Piece(text, frozenset(stems(text)) - EMPTY, bare_stems(text, values, EMPTY), values, asked)


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _same(one: Mention, other: Mention) -> bool:
    """Tell whether two values may be one, whatever a number counts: "Postgres 14" beside "version 14"."""
    if one.kind == other.kind == "number" and one.number == other.number:
        return True
    return one.kind == other.kind and compared(one, other) == "same"


def _says(value: Mention, one: _Piece) -> bool:
    """Tell whether a sentence has a value, or its very words (of a range of days the last one, say)."""
    if value.kind != "number" and value.text.strip().casefold() in one.text.casefold():
        return True
    return any(_same(value, other) for other in one.values)


def _rivals(
    value: Mention, clause: _Piece, whole: _Piece, said: Sequence[_Piece]
) -> Iterator[tuple[str, float, Mention]]:
    """Yield what was said in the place of a value: the kind of difference, how much is shared, and the other value."""
    unit = frozenset(stems(value.unit.lstrip("#"))) if value.unit else frozenset[str]()
    around = clause.bare - unit or whole.bare - unit
    spoken = [(place, one) for place, one in enumerate(said) if not one.asked]
    places = [place for place, one in spoken if _says(value, one)]
    if places and (share := _given_up(value, [one for _, one in spoken], around)) is not None:
        yield share
    if value.kind == "name":
        yield from _renamed(value, clause, around, whole, [one for _, one in spoken])
        return
    for place, one in spoken:
        held = one.stems | (said[place - 1].stems if place else frozenset())
        for other in one.values:
            if other.kind == "name" or compared(value, other) != "rival":
                continue
            if not places:
                counted = bool(value.unit) and value.unit == other.unit
                yield "counted" if counted else "typed", _share(around, held), other
            elif place > max(places) and CHANGE.search(one.text) and value.kind == other.kind:
                yield "changed", _share(around, held), other


def _renamed(
    value: Mention, clause: _Piece, around: frozenset[str], whole: _Piece, said: Sequence[_Piece]
) -> Iterator[tuple[str, float, Mention]]:
    """Yield the names that stand where a name that nobody said stands."""
    if not value.start and not OPENS.search(clause.text[value.end :]):
        return
    named = frozenset(stems(value.text)) - TITLES
    if any(named & one.stems for one in said):
        return
    mine = _around(value, clause.text)
    for one in said:
        for other in one.values:
            if other.kind != "name" or (frozenset(stems(other.text)) - TITLES) & whole.stems:
                continue
            theirs, kin = _around(other, one.text), _kin(other, one.text)
            if kin and kin & _kin(value, clause.text):
                yield "related", _share(around, one.stems), other
            elif mine & theirs:
                yield "named", _share(around, one.stems), other
            elif value.before == other.before:
                yield "placed", _share(around, one.stems), other


def _kin(name: Mention, text: str) -> frozenset[str]:
    """Return the relations that the words right before and after a name tell."""
    return frozenset(found for word in _beside(name, text) if (found := kin_of(word)))


def _around(name: Mention, text: str) -> frozenset[str]:
    """Return the stems of the words right before and after a name, other names and relations left out."""
    words = [word for word in _beside(name, text) if kin_of(word) is None]
    return frozenset(stems(" ".join(words))) - EMPTY


def _beside(name: Mention, text: str) -> list[str]:
    before = re.findall(r"[\w'-]+", text[: name.start])[-NEAR:]
    after = re.findall(r"[\w'-]+", text[name.end :])[:NEAR]
    return [word for word in (*before, *after) if not word[0].isupper()]


def _given_up(value: Mention, said: Sequence[_Piece], around: frozenset[str]) -> tuple[str, float, Mention] | None:
    """Return what stands in the place of a value that was said only to say that it is so no longer."""
    share, instead = 0.0, None
    for one in said:
        for other in one.values:
            if not _same(value, other):
                continue
            rivals = [third for third in one.values if third.kind == value.kind and compared(value, third) == "rival"]
            given_up = GIVEN_UP.search(one.text[: other.start]) or TAKEN_BACK.search(one.text[other.end :])
            if not rivals or not given_up:
                return None
            if _share(around, one.stems) >= share:
                share, instead = _share(around, one.stems), rivals[-1]
    return None if instead is None else ("changed", share, instead)


def _denial(clause: _Piece, one: _Piece) -> float:
    if bool(NEGATION.search(clause.text)) == bool(NEGATION.search(one.text)):
        return 0.0
    return _share(clause.bare, one.stems) if len(clause.stems & one.stems) else 0.0


def _opposition(clause: _Piece, one: _Piece) -> float:
    groups = kinds()
    for mine in clause.bare - one.stems:
        if mine in groups and any(opposed(mine, theirs) for theirs in one.bare - clause.stems):
            rest = clause.bare - {mine}
            return _share(rest, one.stems) if rest else 0.5
    return 0.0
