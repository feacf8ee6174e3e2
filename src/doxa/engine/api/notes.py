"""The memory of a user -> what is told of it beside the user's words, for a model that somebody else calls.

Nothing waits for turns that are still being processed: who is asked here holds up a conversation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import islice
from types import MappingProxyType

import numpy as np

from doxa.core.tokens import estimate_tokens
from doxa.core.values import Change, ChangeKind, Status, Turn
from doxa.engine.answer.finding import search
from doxa.engine.shared.layers import turns_of
from doxa.engine.wiring.parts import Parts
from doxa.language import stems
from doxa.memory import MAX_TERM, UserState, describe, is_current, is_identity, standing
from doxa.reason import taken_back, talks_to_models

__all__ = ["Look", "Note", "Notebook", "Page"]

LONGEST_SAID = 600
"""Characters of a turn."""
LONGEST_QUERY = 2000
"""Characters of a message that are searched for: half from its beginning, half from its end."""
RECALLED = 5
SEARCHED = 8
"""Turns that are looked for, since the conversation may hold some of them itself."""
SHARE = 0.1
"""Least part of the words of a message, by weight, that a turn holds."""
WORDS = 0.25
"""Least part of them by number, which is enough as well."""
NEAR = 0.3
"""Least similarity in meaning of a turn that shares no word with a message."""
MOST_CHANGES = 12
ADDS = frozenset([ChangeKind.ASSERT, ChangeKind.REFINE, ChangeKind.RESTORE])
ENDS = {ChangeKind.CLOSE: "No longer so", ChangeKind.RETRACT: "Taken back"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that is remembered."""

    key: str
    """The id of its fact, promotion or turn."""
    text: str
    speaker: str = ""
    """Who said it in these words; empty where it is what was understood."""
    on: date | None = None
    turn_ids: tuple[str, ...]
    """What it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is told at once."""

    notes: tuple[Note, ...] = ()
    changes: int = 0
    """How many changes of the memory are known to whoever is told it."""


class Notebook:
    """What is told of one memory. Turns in which somebody talks to a model and not to a person are left out."""

    def __init__(self, parts: Parts, user: str) -> None:
        self._parts = parts
        self._user = user

    @contextmanager
    def opened(self, found: Iterable[str] = ()) -> Iterator[Look]:
        """Give a look at the memory, which does not change until the block ends.

        Args:
            found: ids of turns that are told, or may be: those of shared memories are fetched before.

        Cost: one query; one more for each shared memory that an id is of.
        """
        others = turns_of(self._parts, self._user, found)
        with self._parts.log.user(self._user) as state:
            yield Look(state, others)

    def search(self, text: str) -> tuple[str, ...]:
        """Return the ids of the turns that bear on a message, best first.

        Cost: one search by all views, some twenty times what `Look.news` takes to search by words.
        """
        found = search(_cut(text), self._parts, user=self._user, k=SEARCHED)
        near = [one for one in found if one.scores.get("lexical", 0) > 0 or one.scores.get("dense", 0) >= NEAR]
        return tuple(one.turn_ids[0] for one in near)


class Look:
    """A memory at one moment."""

    def __init__(self, state: UserState, others: Mapping[str, Turn] = MappingProxyType({})) -> None:
        self._state = state
        self._others = others

    def keeps(self, turn_ids: Iterable[str]) -> bool:
        """Tell whether none of these turns was erased. Cost: O(turns)."""
        return all(key in self._others or self._state.turn(key) is not None for key in turn_ids)

    def first(self, *, max_tokens: int) -> Page:
        """Return what a conversation begins with: what the user is like, then what is believed, the latest first.

        Cost: O(promotions and facts).
        """
        return Page(notes=tuple(_fitting(_known(self._state), max_tokens)), changes=len(self._state.beliefs.changes))

    def news(
        self,
        text: str,
        *,
        session: str,
        since: int,
        told: Collection[str],
        said: Collection[str] | None,
        found: Sequence[str] = (),
        max_tokens: int,
    ) -> Page:
        """Return what is told beside a message: what changed, and what was said before that bears on it.

        Args:
            text: the message.
            session: its session; what was learned in it needs no telling.
            since: how many changes are known (`Page.changes`).
            told: keys of what was told before.
            said: what of its session the model is shown as it is; None is all of it.
            found: ids of turns that a search found (`Notebook.search`), beside those that share words.
            max_tokens: most tokens of all of it, by estimate.

        Cost: O(changes since, and postings of its words).
        """
        state = self._state
        keys = dict.fromkeys([*found, *_sharing(_cut(text), state)])
        turns = (turn for key in keys if key not in told and (turn := self._turn(key)) is not None)
        others = (
            one
            for one in turns
            if one.turn_id in self._others or (one.session != session if said is None else one.text not in said)
        )
        recalled = (_said(turn) for turn in others if self._may_be_told(turn))
        changed = [note for note in _changed(state, since, session) if note.key not in told]
        new = [*changed, *islice(recalled, RECALLED)]
        return Page(notes=tuple(_fitting(new, max_tokens)), changes=len(state.beliefs.changes))

    def _turn(self, key: str) -> Turn | None:
        return self._others.get(key) or self._state.turn(key)

    def _may_be_told(self, turn: Turn) -> bool:
        """Tell whether a turn counts, and talks to nobody's model; of another memory those that do not are no part."""
        state = self._state
        counts = state.trusts(turn.turn_id) and not turn.generated and not taken_back(turn, state.beliefs)
        return (counts or turn.turn_id in self._others) and not talks_to_models(turn.text)


def _sharing(text: str, state: UserState) -> list[str]:
    """Return the ids of the turns that hold most of the words of a text, best first."""
    wanted = list(dict.fromkeys(stems(text)))
    places = state.lexical.best([(stem, 1.0) for stem in wanted], SEARCHED)
    if not len(places):
        return []
    by_word = state.lexical.held(wanted, places)
    held, number = by_word.sum(axis=0), (by_word > 0).mean(axis=0)
    least = SHARE * MAX_TERM * sum(state.lexical.idf(stem) for stem in wanted)
    enough = (held >= least) | (number >= WORDS)  # in a small memory no word weighs much
    order = [row for row in np.argsort(-held, kind="stable").tolist() if enough[row]]
    return [state.turns[state.places[int(places[row])]].turn_id for row in order]


def _known(state: UserState) -> Iterator[Note]:
    for one in sorted(standing(state), key=lambda one: (-one.score, str(one))):
        yield Note(key=one.promotion_id, text=f"{one}.", turn_ids=one.turn_ids)
    today = state.today()
    for fact in reversed(list(state.beliefs.select(now=today))):
        if not is_identity(fact) and not talks_to_models(text := describe(fact)):
            yield Note(key=fact.fact_id, text=f"{text}.", turn_ids=fact.turn_ids)


def _changed(state: UserState, since: int, session: str) -> list[Note]:
    """Return what changed, elsewhere than in this session, the latest last."""
    found: dict[str, Note] = {}
    for change in state.beliefs.changes[since:]:
        turn = state.turn(change.turn_id or "")
        if (turn is None or turn.session != session) and (note := _news(change, state)) is not None:
            found.pop(note.key, None)
            found[note.key] = note
    return list(found.values())[-MOST_CHANGES:]


def _news(change: Change, state: UserState) -> Note | None:
    fact = state.beliefs.facts.get(change.fact.fact_id, change.fact)
    text = describe(fact)
    if is_identity(fact) or talks_to_models(text):
        return None
    if change.kind in ENDS and not (fact.status is Status.HELD and is_current(fact, state.today())):
        key = f"{fact.fact_id}/{change.kind}"
        return Note(key=key, text=f"{ENDS[change.kind]}: {text}.", turn_ids=fact.turn_ids)
    if change.kind in ADDS and fact.status is Status.HELD and is_current(fact, state.today()):
        return Note(key=fact.fact_id, text=f"{text}.", turn_ids=fact.turn_ids)
    return None


def _said(turn: Turn) -> Note:
    text = turn.text if len(turn.text) <= LONGEST_SAID else f"{turn.text[:LONGEST_SAID]} ..."
    return Note(key=turn.turn_id, text=text, speaker=turn.speaker, on=turn.at.date(), turn_ids=(turn.turn_id,))


def _fitting(notes: Iterable[Note], room: int) -> Iterator[Note]:
    """Give the notes that fit, up to the first one that does not."""
    for note in notes:
        room -= estimate_tokens(note.text)
        if room < 0:
            return
        yield note


def _cut(text: str) -> str:
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]} {text[-half:]}"
