"""A clause of a reply + sentences that were said -> which values of the two cannot both be meant.

What was not understood as a fact was still said. A clause is laid beside the sentences that share its words; where they
speak of the same and one value differs (45 for 31 pupils, Tuesday for Thursday, "isn't" for "is", closed for open), the
clause is contradicted, unless another sentence that is still believed says the clause's value.

Source: de Marneffe, Rafferty and Manning 2008, "Finding Contradictions in Text": alignment first, then numbers, dates,
names, polarity and antonyms of what is aligned. Ours asks more overlap and no parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal

from doxa.core.values import UNBELIEVED, Fact, Status, Turn
from doxa.language import split_text, stems
from doxa.language.words import EMPTY
from doxa.memory import describe, is_current, kin_of
from doxa.verify.findings import Finding, Known
from doxa.verify.mentions import Mention, bare_stems, compared, mentions
from doxa.verify.sentences import Clause, cue
from doxa.verify.values import kinds, opposed

__all__ = ["Passage", "by_wording", "facts_of", "passages_of", "quoted", "told_by"]

SHARED = 0.6
"""Share of the content words of a clause, beside the value in question, that have to be in what was said."""
SHARED_NAME = 0.75
"""The same for a name that stands where another one stood, since many things may have several."""
NEGATION = re.compile(r"\b(?:not|never|no|none|neither|nobody|nothing|without|cannot)\b|n't\b", re.IGNORECASE)
PIECES = re.compile(r"[,;:] | (?:but|and|so|though) ")
"""Parts the clauses of a sentence."""
PLACED = frozenset("in at to from called named is was with by near for on as mr mrs ms dr doctor professor it".split())
MOST_PASSAGES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One sentence that was said."""

    text: str
    turn: Turn
    stems: frozenset[str]
    values: tuple[Mention, ...]
    standing: Literal["held", "over", "retracted"] = "held"
    """Whether what it says is believed and holds, held once, or is not believed."""
    fact_ids: tuple[str, ...] = ()
    """The fact that it words, where nobody said it in these words."""
    bare: frozenset[str] = field(default=frozenset())
    """Its stems less those of its values."""


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
                found += [_passage(text, turn, turn.at, standing=standing) for text in texts]
    for fact in facts_of(turns, known) if facts else ():
        told = next(filter(None, map(known.turn, reversed(fact.turn_ids))), None)
        if told is not None and not fact.disputed:
            standing = (
                "retracted" if fact.status is Status.RETRACTED else "held" if is_current(fact, known.today) else "over"
            )
            found.append(_passage(describe(fact), told, told.at, standing=standing, fact_ids=(fact.fact_id,)))
    return found


def by_wording(clause: Clause, passages: Sequence[Passage], known: Known, *, many: bool) -> Finding | None:
    """Return a contradiction or support by the wording; None when it tells neither.

    Args:
        clause: of the reply.
        passages: sentences that were said and may bear on it.
        known: the memory.
        many: it is understood to speak of a relation that may have many values, so another name excludes nothing.

    Cost O(passages x their words). Sound only as far as the words that are shared speak of one thing.
    """
    said = _passage(clause.told, _turn_of(known), known.at)
    if not said.bare and not said.values:
        return None
    past = _was(clause.text)
    believed = [passage for passage in passages if passage.standing != "retracted"]
    rivals = [found for passage in believed if (found := _difference(said, passage, many=many)) is not None]
    parts = [passage.text for passage, _ in rivals]
    supports = [p for p in believed if _says(said, p) and not any(part != p.text and part in p.text for part in parts)]
    held = [one for one in supports if past or (one.standing == "held" and not _was(one.text))]
    latest = max((passage.turn.at for passage, _ in rivals if passage.standing == "held"), default=None)
    if held and (latest is None or held[-1].turn.at >= latest or past):
        best = max(held, key=lambda one: (one.turn.at, one.turn.ordinal))
        exact = 1.0 if any(one.kind != "name" for one in said.values) and not _denied(said) else 0.9
        return Finding(label="supported", because=_because(best), reason=quoted(best), by="wording", p=exact)
    rivals = [
        (passage, why)
        for passage, why in rivals
        if passage.standing == "held" and (not past or cue("past", passage.text))
    ]
    if not rivals:
        over = [passage for passage in supports if passage.standing == "over" and passage.fact_ids]
        if over and not past and not held:
            return Finding(
                label="contradicted",
                because=_because(over[-1]),
                reason=f"{quoted(over[-1])}; that is over",
                by="wording",
                p=0.9,
            )
        return None
    passage, why = max(rivals, key=lambda one: (one[0].turn.at, one[0].turn.ordinal))
    return Finding(
        label="contradicted", because=_because(passage), reason=f"{quoted(passage)}; {why}", by="wording", p=0.9
    )


def _was(text: str) -> bool:
    """Tell whether a sentence is about the past."""
    return cue("past", text) or cue("past_verb", text)


def _because(passage: Passage) -> tuple[str, ...]:
    return (*passage.fact_ids, passage.turn.turn_id)


def _passage(
    text: str,
    turn: Turn,
    at: datetime,
    *,
    standing: Literal["held", "over", "retracted"] = "held",
    fact_ids: tuple[str, ...] = (),
) -> Passage:
    content, values, bare = _read(text, at)
    return Passage(text=text, turn=turn, stems=content, values=values, standing=standing, bare=bare, fact_ids=fact_ids)


@lru_cache(maxsize=4096)
def _read(text: str, at: datetime) -> tuple[frozenset[str], tuple[Mention, ...], frozenset[str]]:
    """Return the stems of a text, its values, and its stems less those of the values; many clauses share it."""
    values = tuple(mentions(text, at))
    content = frozenset(stem for stem in stems(text) if stem not in EMPTY)
    return content, values, bare_stems(text, values, EMPTY)


def _turn_of(known: Known) -> Turn:
    return Turn(turn_id="", user=known.user, session="", speaker=known.user, role="user", text="", at=known.at)


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


def _share(said: Passage, passage: Passage, less: frozenset[str] = frozenset()) -> float:
    """Return which share of the content words of a clause was said as well."""
    wanted = said.bare - less
    if not wanted:
        return 0.0
    return len(wanted & passage.stems) / len(wanted)


def _one_subject(said: Passage, passage: Passage) -> bool:
    """Tell whether no relative or friend is spoken of in one of two sentences only."""
    return _people(said) == _people(passage) or not (_people(said) ^ _people(passage))


def _people(passage: Passage) -> frozenset[str]:
    return frozenset(kin for word in re.findall(r"[a-z-]+", passage.text.casefold()) if (kin := kin_of(word)))


def _denied(passage: Passage) -> bool:
    return bool(NEGATION.search(passage.text))


def _says(said: Passage, passage: Passage) -> bool:
    """Tell whether a sentence says all that a clause says."""
    if not said.stems or _denied(said) != _denied(passage):
        return False
    values = [one for one in said.values if one.kind != "name"]
    if any(not any(compared(one, other) == "same" for other in passage.values) for one in values):
        return False
    names = frozenset(stem for one in said.values if one.kind == "name" for stem in stems(one.text))
    return (
        names <= passage.stems and _share(said, passage) >= SHARED and (bool(said.values) or said.bare <= passage.stems)
    )


def _difference(said: Passage, passage: Passage, *, many: bool) -> tuple[Passage, str] | None:
    """Return a sentence, and what differs, where it speaks of the same as a clause and a value differs."""
    for one in said.values:
        if one.kind != "name" and (other := _rival(one, said, passage)) is not None:
            return passage, f"“{other.text.strip()}”, not “{one.text.strip()}”"
    if not _one_subject(said, passage):
        return None
    if _denied(said) != _denied(passage):
        same = not any(_rival(one, said, passage) for one in said.values)
        if same and _share(said, passage) >= SHARED and _covered(said, passage) and _shares_more(said, passage):
            return passage, "one says that it is so, the other that it is not"
        return None
    for mine, theirs in _opposites(said, passage):
        rest = said.bare - {mine}
        if rest and len(rest & passage.stems) / len(rest) >= SHARED:
            return passage, f"“{theirs}” excludes “{mine}”"
        if not rest and _names(said) & passage.stems:
            return passage, f"“{theirs}” excludes “{mine}”"
    if not many:
        for one in said.values:
            if one.kind == "name" and (instead := _instead(one, said, passage)) is not None:
                return passage, f"“{instead.text}”, not “{one.text}”"
    return None


def _rival(one: Mention, said: Passage, passage: Passage) -> Mention | None:
    """Return the value of a sentence that takes the place of one of a clause."""
    known = [(other, compared(one, other)) for other in passage.values]
    if any(how == "same" for _, how in known):
        return None
    rivals = [other for other, how in known if how == "rival"]
    if not rivals:
        return None
    unit = frozenset(stems(one.unit.lstrip("#"))) if one.unit else frozenset()
    share = _share(said, passage, unit)
    sure = bool(unit) and one.unit == rivals[0].unit and not (said.bare - unit)
    return rivals[0] if share >= SHARED or sure else None


def _covered(said: Passage, passage: Passage) -> bool:
    """Tell whether what was said does not say much more than the clause."""
    return len(said.stems & passage.stems) >= 0.5 * len(passage.stems)


def _shares_more(said: Passage, passage: Passage) -> bool:
    """Tell whether two sentences share two words, or all that the clause has."""
    shared = said.stems & passage.stems
    return len(shared) > 1 or (bool(shared) and said.stems <= passage.stems)


def _names(said: Passage) -> frozenset[str]:
    return frozenset(stem for one in said.values if one.kind == "name" for stem in stems(one.text))


def _opposites(said: Passage, passage: Passage) -> Iterator[tuple[str, str]]:
    groups = kinds()
    for mine in sorted(said.bare - passage.stems):
        if mine in groups:
            for theirs in sorted(passage.bare - said.stems):
                if opposed(mine, theirs):
                    yield mine, theirs


def _instead(one: Mention, said: Passage, passage: Passage) -> Mention | None:
    """Return the name that stands in a sentence where a clause has another one."""
    if set(stems(one.text)) & passage.stems or _share(said, passage) < SHARED_NAME or not said.bare & passage.stems:
        return None
    for other in passage.values:
        if other.kind == "name" and not set(stems(other.text)) & said.stems:
            placed = one.before == other.before and (one.before in PLACED or kin_of(one.before) is not None)
            if placed or (one.start == 0 and other.start == 0):
                return other
    return None


def quoted(passage: Passage) -> str:
    """Return who said a sentence, when, and the sentence."""
    return f"{told_by(passage.turn)}: “{passage.text.rstrip('. ')}”"


def told_by(turn: Turn) -> str:
    """Return who said a turn and when: "Ana said on 2 June 2024"."""
    return f"{turn.speaker} said on {turn.at.day} {turn.at:%B %Y}"
