"""Whose something is: "who owns Rex", "whose boss is Ruth", read from facts that name the thing as somebody's."""

from __future__ import annotations

import re
from datetime import date

from doxa.core.values import Draft, Fact, Question, Term
from doxa.memory import PET, Beliefs, is_tie, kinds_of, relation_type
from doxa.reason.disputes import last_words
from doxa.reason.drafts import FindTurn, disputed_draft, draft_of, together
from doxa.reason.matching import wording
from doxa.reason.tree.graph import FactGraph

__all__ = ["owner"]

OWNING = re.compile(r"\b(?:owns?|owned|owners?|belongs?|belonged|possess(?:es)?)\b", re.IGNORECASE)
WHOSE = re.compile(r"^whose\b", re.IGNORECASE)
HAVING = frozenset(["has", "owns", "buys", "keeps"])


def owner(
    question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    """Return who has a thing that is asked for its owner; None when that is not asked, or not known.

    "Mia's dog is Rex" tells who owns Rex without saying so. Cost O(claims that name the thing).
    """
    whose = WHOSE.match(question.text) is not None
    if not whose and (question.kind != "who" or not OWNING.search(question.text)):
        return None
    graph = FactGraph(beliefs, day, today, past=question.past)
    for thing in _things(question):
        facts = [fact for fact in graph.expand(thing, 1) if fact.object.key == beliefs.key(thing.key) and fact.polarity]
        facts = [fact for fact in facts if (_named(fact, question.noun) if whose else _owned(fact))]
        if any(fact.disputed for fact in facts):
            return disputed_draft(facts, turn)
        facts = last_words(question, facts, beliefs, lambda fact: fact.subject.label)
        if facts:
            value = ", ".join(dict.fromkeys(str(fact.subject) for fact in facts))
            return draft_of(together(facts), value, facts, turn)
    return None


def _things(question: Question) -> list[Term]:
    """Return what may be meant by the thing that is owned, the closest first."""
    found = [term for term in (question.object, question.subject, *question.about) if term is not None]
    return [term for term in dict.fromkeys(found) if not OWNING.search(term.label)]


def _owned(fact: Fact) -> bool:
    """Tell whether a fact names its object as something that its subject owns; people are nobody's."""
    if fact.relation.name in HAVING:
        return True
    noun = relation_type(fact.relation.name, fact.relation.label).kind == "noun"
    return noun and (not is_tie(fact.relation.name) or fact.relation.name in PET)


def _named(fact: Fact, noun: str) -> bool:
    """Tell whether a fact calls its object by a noun ("boss", or by a kind of it)."""
    if not noun:
        return _owned(fact)
    name = relation_type(noun.casefold().replace(" ", "_")).name
    return fact.relation.name in {name, *kinds_of(name)} or wording(fact.relation.label) == wording(noun)
