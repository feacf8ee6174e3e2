"""Coreference and ellipsis: what a query that leans on the running dialogue means.

"And her sister?" after "What does Ana do for work?" asks what Ana's sister does for work. What is meant is guessed by
recency, number and sex, and what is guessed counts less than what was said: a wrong guess costs little, since the words
of the query itself stay as they are.

Source: salience by recency and grammatical role as in S. Lappin and H. Leass, "An Algorithm for Pronominal Anaphora
Resolution" (Computational Linguistics 20(4), 1994), without the syntax; follow-ups that keep what the question before
asked for as in conversational search (J. Dalton et al., TREC CAsT 2019).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from doxa.core.values import Turn
from doxa.language import stems
from doxa.memory import UserState
from doxa.recall.queries.leaning import Leaning, leaning_of
from doxa.recall.queries.mentions import Mention, mentions

__all__ = ["Meant", "meaning_of"]

LOOKED_BACK = 6
"""Turns of the dialogue that are looked at: the latest."""
DEEPEST = 3
"""How often a question before may lean on the one before it ("And Ana?" "And Ben?")."""
ANTECEDENT, SECOND = 0.7, 0.35
"""Weight of the words for whom a pronoun most likely means, and for the next one who fits."""
KEPT = {"ellipsis": 0.7, "thing": 0.5, "other": 0.6, "place": 0.4, "person": 0.25, "time": 0.4, "loose": 0.3}
"""Weight of the words of the question before, by how the query leans on it."""
ANSWERED = {"ellipsis": 0.0, "thing": 0.5, "other": 0.0, "place": 0.6, "person": 0.2, "time": 0.3, "loose": 0.2}
"""Weight of the words of the answer to it. What another one is asked for is not what the answer said of the first."""
PARTICLE = re.compile(r"^(?:and|but|or|so|also|plus|what about|how about|what of)\b,?\s*", re.IGNORECASE)
ASIDE = frozenset("i you yes no know remember sorry sure right thing okay oh well".split())
PRONOUNS_OF = {
    "f": re.compile(
        r"\b(?P<own>her(?= [a-z])(?! (?:to|in|at|on|for|with|from|and|or|back|up|by|when|before|after)\b)|hers)\b|"
        r"\b(?:she|her|herself)\b",
        re.IGNORECASE,
    ),
    "m": re.compile(r"\b(?P<own>his)\b|\b(?:he|him|himself)\b", re.IGNORECASE),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a query means in its dialogue."""

    text: str
    """The query in words that stand alone, with the question before it where it has to be."""
    wording: str = ""
    """What to encode: the query with names in place of pronouns, and without the question before it, whose answer is
    known already and would be found again."""
    expansions: dict[str, float] = field(default_factory=dict)
    """Stem -> weight below 1: what the query leaves to the dialogue."""
    antecedents: tuple[Mention, ...] = ()
    """Whom and what its pronouns mean, the likeliest first."""
    time: str = ""
    """The words that say when "then" or "that day" was."""


def meaning_of(text: str, recent: Sequence[Turn], state: UserState, *, asker: str = "") -> Meant:
    """Return what a query means after the turns of a dialogue.

    Args:
        text: what is asked.
        recent: the turns before it, oldest first.
        state: who is known.
        asker: whose "I" it is; "she" never means the asker.

    A query that stands alone is returned as it is. Deterministic; cost O(words of the latest turns).
    """
    said = [turn for turn in recent[-LOOKED_BACK:] if turn.text.strip()]
    if not said:
        return Meant(text=text, wording=text)
    return _meaning(text, said, state, asker.casefold(), DEEPEST)


def _meaning(text: str, said: Sequence[Turn], state: UserState, asker: str, depth: int) -> Meant:
    own = mentions(text, state)
    leaning = leaning_of(text, people=[one.label for one in own if one.kind == "person"])
    if not said or not leaning.ways:
        return Meant(text=text, wording=text)
    exchange = _exchange(said, state, asker, depth)
    antecedents = _antecedents(leaning, exchange, own, asker)
    weights: dict[str, float] = {}
    for one, weight in zip(antecedents, (ANTECEDENT, SECOND), strict=False):
        _weigh(weights, one.terms, weight * leaning.strength)
    for way in leaning.ways:
        for terms, weight in _kept(way, exchange, own):
            _weigh(weights, terms, weight * leaning.strength)
    for stem in (*stems(text), *stems(asker)):
        weights.pop(stem, None)
    wording = _in_words(text, leaning, exchange, antecedents, own)
    return Meant(
        text=wording if wording != text else f"{exchange.question} {text}",
        wording=wording,
        expansions=weights,
        antecedents=tuple(antecedents),
        time=f"{exchange.answer} {exchange.question}" if "time" in leaning.ways else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """The question before and what was answered to it."""

    question: str
    """In words that stand alone."""
    answer: str
    asked_of: tuple[Mention, ...]
    """Whom and what the question mentions."""
    told_of: tuple[Mention, ...]
    """Whom and what the answer mentions."""
    earlier: tuple[Mention, ...]
    """Whom and what the turns before the question mention, the latest first."""


def _exchange(said: Sequence[Turn], state: UserState, asker: str, depth: int) -> _Exchange:
    place = next((at for at in reversed(range(len(said))) if "?" in said[at].text), None)
    if place is None:  # nothing was asked: the latest turn of the asker, else the latest of all
        own = (at for at in reversed(range(len(said))) if said[at].role == "user")
        place = next(own, len(said) - 1)
    before = (
        _meaning(said[place].text, said[:place], state, asker, depth - 1) if depth > 1 else Meant(text=said[place].text)
    )
    after = [turn.text for turn in said[place + 1 :]]
    back = [one for turn in reversed(said[:place]) for one in mentions(turn.text, state)]
    return _Exchange(
        question=before.text,
        answer=" ".join(after),
        asked_of=(*mentions(before.text, state), *before.antecedents),
        told_of=tuple(one for text in after for one in mentions(text, state)),
        earlier=tuple(back),
    )


def _antecedents(leaning: Leaning, exchange: _Exchange, own: Sequence[Mention], asker: str) -> list[Mention]:
    """Return whom and what a pronoun may mean: first of the answer, then of the question, then of what went before."""
    here = {one.label.casefold() for one in own}
    ordered = [*reversed(exchange.told_of), *reversed(exchange.asked_of), *exchange.earlier]
    free = [one for one in ordered if one.label.casefold() not in here and one.label.casefold() != asker]
    found: dict[str, Mention] = {}
    if "person" in leaning.ways:
        fitting = [one for one in free if one.kind != "place" and (not leaning.sex or one.sex in ("", leaning.sex))]
        # somebody of whom it is known goes before something with a name that may be anything
        for one in sorted(fitting, key=lambda one: (one.sex != leaning.sex, one.kind != "person")):
            found.setdefault(one.label.casefold(), one)
    if "place" in leaning.ways:
        for one in sorted((one for one in free if one.kind != "person"), key=lambda one: one.kind != "place"):
            found.setdefault(one.label.casefold(), one)
    if "thing" in leaning.ways:
        for one in (one for one in free if one.kind != "person"):
            found.setdefault(one.label.casefold(), one)
    return list(found.values())


def _kept(way: str, exchange: _Exchange, own: Sequence[Mention]) -> Iterator[tuple[list[str], float]]:
    """Yield what the query takes over from the exchange before it, with the weights."""
    question, answer = _content(exchange.question), _content(exchange.answer)
    if way in ("ellipsis", "other"):
        instead = _replaced(way, exchange, own)
        question = [stem for stem in question if stem not in instead]
    if way == "person":  # whom else the exchange is about is not asked of now
        names = {stem for one in (*exchange.asked_of, *exchange.told_of) for stem in one.terms if one.kind == "person"}
        question, answer = ([stem for stem in some if stem not in names] for some in (question, answer))
    yield question, KEPT[way]
    yield answer, ANSWERED[way]


def _replaced(way: str, exchange: _Exchange, own: Sequence[Mention]) -> set[str]:
    """Return the stems of what the query puts something else in the place of."""
    if way == "other":
        return {stem for one in exchange.asked_of if one.kind != "person" for stem in one.terms}
    kinds = {"person" if one.kind == "person" else "thing" for one in own}
    return {
        stem
        for one in exchange.asked_of
        if ("person" if one.kind == "person" else "thing") in kinds
        for stem in one.terms
    }


def _in_words(
    text: str, leaning: Leaning, exchange: _Exchange, antecedents: Sequence[Mention], own: Sequence[Mention]
) -> str:
    """Return the query with names in place of its pronouns, or what it leaves out filled in; as it is if neither is."""
    if leaning.strength < 1:
        return text
    if "person" in leaning.ways and antecedents and leaning.sex:
        name = antecedents[0].label
        text = PRONOUNS_OF[leaning.sex].sub(lambda match: f"{name}'s" if match["own"] else name, text, count=2)
    if "ellipsis" in leaning.ways:
        return _completed(text, exchange, own)
    if "place" in leaning.ways and antecedents:
        return re.sub(r"\bthere\b", f"in {antecedents[0].label}", text, count=1, flags=re.IGNORECASE)
    return text


def _completed(text: str, exchange: _Exchange, own: Sequence[Mention]) -> str:
    """Return the question before with what the query names in the place of its like; the query if that is not all."""
    rest = PARTICLE.sub("", text).strip(" ?.!")
    bare = re.sub(r"^(?:my|the|in|at|to|from) ", "", rest.removesuffix("'s"), flags=re.IGNORECASE)
    if len(own) == 1 and bare.casefold() == own[0].label.casefold():
        like = [one for one in exchange.asked_of if (one.kind == "person") == (own[0].kind == "person")]
        for one in reversed(like):
            pattern = rf"(?:\b(?:my|his|her|their|your|in|at|to|from) )?\b{re.escape(one.label)}\b(?:['’]s)?"
            if re.search(pattern, exchange.question):
                return re.sub(pattern, rest, exchange.question, count=1)
    return text


def _content(text: str) -> list[str]:
    return [stem for stem in dict.fromkeys(stems(text)) if stem not in ASIDE]


def _weigh(weights: dict[str, float], terms: Iterable[str], weight: float) -> None:
    """Give every term at least a weight; 0 gives none."""
    for term in terms:
        if weight > 0:
            weights[term] = round(max(weight, weights.get(term, 0.0)), 3)
