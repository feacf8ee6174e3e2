"""Question that wants advice -> a suggestion from what the asker is like, with what they said that speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from doxa.core.promotions import Promotion
from doxa.core.values import Draft, Turn
from doxa.engine.answer.grading import Ground
from doxa.memory import UserState, standing
from doxa.reason import citation_of, quoted, taken_back
from doxa.recall import STATED, Query, concepts_of, index_of, labelled, stance_of, wants_advice

__all__ = ["advised"]

TASTES, SAID, QUOTED = 3, 3, 4
"""Promotions, and statements, that a suggestion rests on at most, and how many turns it quotes."""
LIKED = 0.5
"""From so well-disposed on a statement tells a liking and no limit."""
CONFIDENCE = 0.5
"""Of a suggestion: Doxa knows what they like, not what is on tonight."""
TOLD = {"prefers": "You like {}", "does": "You are into {}", "dislikes": "You don't like {}", "avoids": "You avoid {}"}


def advised(ground: Ground, query: Query) -> Draft | None:
    """Return a suggestion from what the asker is like; None where no advice is wanted, or nothing is known of it.

    First comes what was promoted ("prefers horror films"), is of the kind that is asked for, and rests on a turn that
    search found, likes before limits; then what the asker stated of that kind in turns that search found; then what was
    promoted without such a turn. It is told as theirs, each with a turn that says it: the one that was found first.

    Args:
        ground: what is asked, by whom, and the turns that bear on it.
        query: the question as search reads it, with its vector.

    Cost O(promotions + turns found); no call to a model.
    """
    state, asked = ground.state, ground.asked
    if not wants_advice(query, encoder=state.encoder):
        return None
    about = dict(query.concepts) or dict(concepts_of(query.text, query.vector, encoder=state.encoder))
    domains = frozenset(name.partition("/")[0] for name in about)
    tastes = _tastes(state, asked.speaker, domains)
    found = list(dict.fromkeys(key for item in ground.nearby for key in item.turn_ids))
    backed = [one for one in tastes if not set(found).isdisjoint(one.turn_ids)]
    stated = _stating(ground, about, domains)
    if stated and not backed:
        return _from_statements(stated, domains, ground)
    return _from_tastes((backed or tastes)[:TASTES], found, [turn for turn, _ in stated], ground) if tastes else None


def _from_tastes(tastes: Sequence[Promotion], found: Sequence[str], stated: Sequence[Turn], ground: Ground) -> Draft:
    """Return a suggestion from promotions, each with the first of its turns that was found, or its latest one.

    What else the asker stated of the kind is quoted as well.
    """
    told = [TOLD[one.relation].format(one.label) for one in tastes]
    said = [next((key for key in found if key in one.turn_ids), one.turn_ids[-1]) for one in tastes]
    turns = {key: turn for key in said if (turn := ground.state.turn(key)) is not None}
    turns |= {turn.turn_id: turn for turn in stated if turn.turn_id not in turns}
    likes = [one.label for one in tastes if one.polarity]
    return _suggestion(
        f"{'. '.join(told)}.", likes or [f"no {one.label}" for one in tastes], list(turns.values())[:QUOTED], ground
    )


def _tastes(state: UserState, person: str, domains: frozenset[str]) -> list[Promotion]:
    """Return what somebody is known to like, do, dislike or avoid of some kinds, or of all where none is asked for."""
    key = state.beliefs.key(person.casefold())
    known = [one for one in standing(state) if one.subject.key == key and one.turn_ids]
    fitting = [one for one in known if not domains or one.concept.partition("/")[0] in domains]
    return sorted(fitting, key=lambda one: (not one.polarity, "/" not in one.concept, -one.score))


def _stating(ground: Ground, about: Mapping[str, float], domains: frozenset[str]) -> list[tuple[Turn, int]]:
    """Return single statements of the asker and their places, in the order in which search found them."""
    state, tags = ground.state, index_of(ground.state).tags
    keys = dict.fromkeys(key for item in ground.nearby for key in item.turn_ids)
    said = [turn for key in keys if (turn := state.turn(key)) is not None and _of_asker(turn, ground)]
    placed = [(turn, place) for turn in said if (place := state.place(turn.ordinal)) is not None]
    if not placed:
        return []
    places = np.array([place for _, place in placed], dtype=np.intp)
    fits = tags.stances(places) >= STATED
    if domains:
        fits &= tags.about(places, about) > 0
    return [placed[at] for at in np.flatnonzero(fits)[:SAID].tolist()]


def _from_statements(stated: Sequence[tuple[Turn, int]], domains: frozenset[str], ground: Ground) -> Draft | None:
    """Return a suggestion from single statements."""
    state, tags = ground.state, index_of(ground.state).tags
    likes, limits = dict[str, None](), dict[str, None]()
    for turn, place in stated:
        weights = {name: weight for name, weight in tags.of(place).items() if "/" in name}
        kinds = [name for name in weights if not domains or name.partition("/")[0] in domains]
        if kinds:
            vector = state.vectors.rows_of(place)[0]
            liked = stance_of(turn.text, vector, encoder=state.encoder).positive >= LIKED
            (likes if liked else limits)[labelled(max(kinds, key=weights.__getitem__))] = None
    labels = list(likes) or [f"no {name}" for name in limits]
    return _suggestion("Going by what you said:", labels, [turn for turn, _ in stated], ground)


def _of_asker(turn: Turn, ground: Ground) -> bool:
    mine = turn.speaker.casefold() == ground.asked.speaker.casefold()
    return mine and not turn.generated and not taken_back(turn, ground.beliefs)


def _suggestion(lead: str, labels: Sequence[str], turns: Sequence[Turn], ground: Ground) -> Draft:
    quotes = " ".join(quoted(turn, ground.asked.speaker) for turn in turns)
    return Draft(
        text=f"{lead} {quotes}",
        value=", ".join(labels) or None,
        citations=tuple(citation_of(turn) for turn in turns),
        confidence=CONFIDENCE,
    )
