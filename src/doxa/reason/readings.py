"""The ways to read a question against the facts: the same thing under another noun, the same relation under another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doxa.core.values import Fact, Question, Term
from doxa.language import stems_of
from doxa.memory import Beliefs, answered_by, attribute, is_tie, kinds_of, relation_type
from doxa.reason.kinds import GROUPS, relations_of_attribute

__all__ = ["by_entity", "readings", "same_thing"]

IN_LAW = re.compile(r"\bin[- ]laws?$|^(?:step|ex|great|god|half|foster)-?\w", re.IGNORECASE)


def readings(question: Question, beliefs: Beliefs) -> Iterator[tuple[Question, list[Fact]]]:
    """Yield readings of a question that name a relation, each with the facts that it looks at, closest first.

    First the question as it is put, then with its subject as the facts name it, then with relations that answer it
    as well ("do I have a dog" by the dog's name). Cost O(facts about the subject), or O(facts of the
    relation) where none is named.
    """
    question = by_entity(question, beliefs)
    if question.relation is None:
        return
    if question.subject is None or question.asks == "subject":
        yield question, _by_object(question, beliefs)
        return
    for subject in _subjects(question.subject, beliefs):
        facts = beliefs.about(subject.key)
        asked = replace(question, subject=subject)
        for names in _relations(asked, facts):
            found = [fact for fact in facts if fact.relation.name in names]
            if found:
                yield _about(asked, found), found
    yield from _possessed(question, beliefs)


def by_entity(question: Question, beliefs: Beliefs) -> Question:
    """Return a question about the entities that its names stand for ("NYC" is New York City)."""
    named = beliefs.identity.canonical
    subject = question.subject and named(question.subject)
    return replace(question, subject=subject, object=question.object and named(question.object))


def _by_object(question: Question, beliefs: Beliefs) -> list[Fact]:
    assert question.relation is not None
    names = {question.relation.name, *kinds_of(question.relation.name)}
    wanted = question.object
    if wanted is None:
        return beliefs.of_relations(names)
    facts = beliefs.of_relations(names, stems_of(wanted.label))
    return [fact for fact in facts if same_thing(wanted.label, fact.object.label)]


def _subjects(asked: Term, beliefs: Beliefs) -> Iterator[Term]:
    """Yield the subject as it is, then the one other thing whose name has the same words, or more, or fewer."""
    yield asked
    yield from _other_names(asked, beliefs)
    wanted = stems_of(asked.label)
    if beliefs.about(asked.key) or not wanted:
        return
    alike = [(thing, stems_of(thing.label)) for thing in beliefs.subjects_with(wanted)]
    same = [thing for thing, words in alike if words == wanted]
    owned = "'s " in asked.key or asked.label.islower()
    near = [thing for thing, words in alike if words and owned and _thing(thing) and (words < wanted or wanted < words)]
    yield from same or (near if len(near) == 1 else [])


def _other_names(asked: Term, beliefs: Beliefs) -> Iterator[Term]:
    """Yield what is called by a name ("Kojo": the baby), and the person whose household or family is asked about."""
    for fact in beliefs.valued_at(asked.key):
        if fact.relation.name == "is_called" and fact.polarity:
            yield fact.subject
    owner, _, noun = asked.key.rpartition("'s ")
    if owner and noun in GROUPS:
        yield Term(owner, asked.label[: len(owner)])


def _thing(term: Term) -> bool:
    return "'s " in term.key or term.label[:1].islower()


def _relations(question: Question, facts: list[Fact]) -> Iterator[set[str]]:
    """Yield sets of relation names under which a subject's facts may answer, closest first."""
    assert question.relation is not None
    name = question.relation.name
    yield {name, *kinds_of(name)}
    noun = question.object.label if name == "has" and question.object is not None else ""
    kept = question.noun if name == "has" and question.object is None else noun
    if noun:
        yield _nouns(noun, facts)
    kind = relation_type(name, question.relation.label)
    if kind.kind == "noun":
        yield _nouns(kind.label, facts) - {name}
    for other in relations_of_attribute(kind.label if kind.kind == "noun" else kept, name):
        yield {other, *kinds_of(other)}
    for other in answered_by(name):
        yield {other, *kinds_of(other)}


def _nouns(noun: str, facts: list[Fact]) -> set[str]:
    """Return the noun relations of a subject whose words are those of a noun, or the only ones with more or fewer."""
    wanted = stems_of(noun)
    named = attribute(noun.removesuffix("s")).name
    alike = {fact.relation.name: stems_of(fact.relation.label) for fact in facts if _is_noun(fact)}
    same = {name for name, words in alike.items() if words == wanted} | {named, *kinds_of(named)}
    if is_tie(named) or IN_LAW.search(noun):
        return same  # a sister-in-law is no sister
    more = {name for name, words in alike.items() if words and (wanted < words or words < wanted)}
    return same if same & alike.keys() or len(more) != 1 else more


def _is_noun(fact: Fact) -> bool:
    return relation_type(fact.relation.name, fact.relation.label).kind == "noun"


def _about(question: Question, facts: list[Fact]) -> Question:
    """Return a question fitted to facts whose relation names the thing that is asked about."""
    if question.relation is None or question.relation.name != "has" or not all(_is_noun(fact) for fact in facts):
        return question
    return replace(question, object=None)


def _possessed(question: Question, beliefs: Beliefs) -> Iterator[tuple[Question, list[Fact]]]:
    """Read "what is X's boat called" by the noun of X, and "what is X's boat" by the name of the boat."""
    subject, relation = question.subject, question.relation
    if subject is None or relation is None:
        return
    owner, _, noun = subject.key.rpartition("'s ")
    if relation.name == "is_called" and owner:
        names = _nouns(noun, facts := beliefs.about(owner))
        yield question, [fact for fact in facts if fact.relation.name in names]
    elif relation.name != "is_called":
        yield question, beliefs.about(f"{subject.key}'s {relation.label}", "is_called")


def same_thing(one: str, other: str) -> bool:
    """Tell whether two labels name one thing: the stems of one are all among those of the other."""
    first, second = stems_of(one), stems_of(other)
    return one.casefold() == other.casefold() or bool(first and second and (first <= second or second <= first))
