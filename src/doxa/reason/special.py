"""What follows from facts that do not name it: who is alive, who is married, and how many of a kind there are."""

from __future__ import annotations

import re
from datetime import date

from doxa.core.values import Draft, Fact, Modality, Question, Status, Term
from doxa.memory import Beliefs, held_on, is_current, is_name, is_tie, kinds_of, relation_type
from doxa.reason.drafts import FindTurn, draft_of, sentence_of
from doxa.reason.kinds import NUMBER_WORDS
from doxa.reason.matching import members, wording

__all__ = ["counted", "kin", "life", "marital", "retired"]

DYING = re.compile(r"^(?:dies|died|passes away|is dead|is deceased|dies on|dies in|dies of|dies at)\b")
MENTIONED = re.compile(r"\b(?:mention|named?|ha(?:s|ve)|know|told|own|get)", re.IGNORECASE)
DEAD = frozenset(["dead", "deceased", "late", "gone"])
TOGETHER = {"married_to": "married", "engaged_to": "engaged", "husband": "married", "wife": "married"}
APART = frozenset(["single", "divorced", "widowed", "separated", "engaged", "married", "unmarried"])


def life(question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None) -> Draft | None:
    """Return whether somebody is, or was on a day, alive: until he is known to have died."""
    asked = next((word for word in question.focus if word in ("alive", "dead", "living", "deceased")), "")
    if not asked or question.asks != "truth" or not question.about:
        return None
    facts = [fact for fact in beliefs.about(question.about[0].key) if fact.status in (Status.HELD, Status.SUPERSEDED)]
    deaths = [fact for fact in facts if fact.polarity and _dies(fact)]
    moment = day or today
    if deaths:
        died = deaths[-1].valid.start
        over = died is None or moment is None or died <= moment
        alive, known = not over, deaths[-1]
    else:
        living = [fact for fact in facts if fact.modality is Modality.ASSERTED]
        if not living:
            return None
        alive, known = True, living[-1]
    yes = alive == (asked in ("alive", "living")) == question.polarity
    return draft_of(f"{'Yes' if yes else 'No'}. {sentence_of(known)}", "yes" if yes else "no", [known], turn)


def retired(
    question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    """Return "no" to whether somebody is retired who is known to work; None when that is not asked, or not known."""
    if "retired" not in {*question.focus, *_objects(question)} or question.asks != "truth" or not question.about:
        return None
    facts = [fact for fact in beliefs.about(question.about[0].key) if fact.polarity]
    held = [f for f in facts if (held_on(f, day) if day else f.status is Status.HELD and is_current(f, today))]
    if any("retire" in f"{fact.relation.label} {fact.object.key}" for fact in held):
        return None
    works = [fact for fact in held if fact.relation.name in ("works_as", "works_at", "works_in", "runs")]
    if not works or not question.polarity:
        return None
    return draft_of(f"No. {sentence_of(works[-1])}", "no", works[-1:], turn)


def _dies(fact: Fact) -> bool:
    dead = fact.relation.name == "has_state" and fact.object.key in DEAD
    return dead or fact.relation.name == "died_on" or bool(DYING.match(fact.relation.label))


def marital(
    question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    """Return whether somebody is married, engaged or single, by whom he is married to or what he said of it."""
    asked = next((word for word in question.focus if word in APART), "")
    status = {"marital", "status"} <= set(question.focus) or {"relationship", "status"} <= set(question.focus)
    if not (
        status or ((asked and question.asks == "truth" and question.object is None) or asked in _objects(question))
    ):
        return None
    person = _person(question, beliefs)
    if person is None:
        return None
    held = [(fact, name) for fact in beliefs.about(person.key) if (name := _status_of(fact)) and fact.polarity]
    held = [
        (f, name) for f, name in held if (held_on(f, day) if day else f.status is Status.HELD and is_current(f, today))
    ]
    if not held:
        return None
    fact, name = held[-1]
    if status:
        return draft_of(sentence_of(fact), name, [fact], turn)
    yes = (name == asked) == question.polarity
    return draft_of(f"{'Yes' if yes else 'No'}. {sentence_of(fact)}", "yes" if yes else "no", [fact], turn)


def _objects(question: Question) -> set[str]:
    return {one.object.key for one in (question, *question.alternatives) if one.object is not None}


def _person(question: Question, beliefs: Beliefs) -> Term | None:
    for term in question.about:
        if beliefs.about(term.key) and not re.search(r"'s .*\bstatus$", term.key):
            return term
    return None


def _status_of(fact: Fact) -> str:
    if fact.relation.name in TOGETHER:
        return TOGETHER[fact.relation.name]
    state = fact.object.key.split()[-1:] if fact.relation.name in ("has_state", "marital_status", "is_a") else []
    return state[0] if state and state[0] in APART else ""


def kin(question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None) -> Draft | None:
    """Return relatives of a kind, or how many there are, where some are known by description only ("Tom's baby boy").

    None when all of them are known by name, so that the facts themselves answer.
    """
    if question.asks not in ("object", "count") or not question.about or day is not None or question.past:
        return None
    noun = question.relation.label if question.relation is not None else " ".join(question.focus[:1])
    words = members().get(next(iter(wording(noun)), ""), frozenset())
    if not words or not is_tie(relation_type(noun.replace(" ", "_")).name):
        return None
    owner = beliefs.key((question.subject or question.about[0]).key)
    names = {relation_type(noun.replace(" ", "_")).name, *kinds_of(noun.replace(" ", "_"))}
    held = [f for f in beliefs.about(owner) if f.relation.name in names and f.status is Status.HELD and f.polarity]
    described = [key for key in beliefs.possessions(owner) if wording(key.rpartition("'s ")[2]) & words]
    known = {fact.object.key: fact for fact in held}
    labels = {fact.object.key: fact.object.label for fact in held}
    for key in described:
        facts = [fact for fact in beliefs.about(key) if fact.status is Status.HELD and fact.polarity]
        called = next((fact for fact in facts if fact.relation.name == "is_called"), None)
        if facts and (called.object.key not in known if called else not held):
            known[key] = called or facts[0]
            labels[key] = called.object.label if called else facts[0].subject.label
    if not described or len(known) == len(held):
        return None
    facts = list(known.values())
    value = str(len(known)) if question.asks == "count" else ", ".join(labels.values())
    return draft_of(" ".join(sentence_of(fact) for fact in facts), value, facts, turn)


def counted(question: Question, beliefs: Beliefs, turn: FindTurn, today: date | None) -> Draft | None:
    """Return how many things of the kind that a question counts are known of somebody; None when none is.

    Relatives and pets are those of the relation ("child": sons and daughters); other things are counted by the
    entities that are called by that noun. Cost O(facts).
    """
    noun = question.noun.casefold()
    whose = next(iter(question.about), None)
    if not noun or whose is None:
        return None
    held = [fact for fact in beliefs.facts.values() if fact.status is Status.HELD and is_current(fact, today)]
    held = [fact for fact in held if fact.polarity and fact.modality is not Modality.HYPOTHETICAL]
    owner = beliefs.key(whose.key)
    nouns = {noun, noun.removesuffix("s"), " ".join(question.focus[: len(noun.split())])}
    kinds = [relation_type(word.replace(" ", "_")).name for word in nouns if word]
    names = {name for kind in kinds for name in (kind, *kinds_of(kind))}
    people = [fact for fact in held if fact.subject.key == owner and fact.relation.name in names]
    described = [f for f in held if f.relation.name in ("is_a", "has_state") and _headed(f.object.label, noun)]
    theirs = [f for f in described if is_name(f.subject) and _said_by(f, owner, beliefs)]
    if people and is_tie(people[0].relation.name):
        keys = {fact.object.key for fact in people} | {fact.subject.key for fact in theirs}
        return _number(len(keys), [*people, *theirs], turn)
    if theirs:
        return _number(len({fact.subject.key for fact in theirs}), theirs, turn)
    if not MENTIONED.search(question.text):
        return None
    things: dict[frozenset[str], Fact] = {}
    for fact in held:
        for label in (fact.subject.label, fact.object.label, fact.relation.label):
            if _headed(label, noun):
                things.setdefault(wording(label.rpartition("'s ")[2]), fact)
    distinct = [one for one in things if not any(one > other for other in things)]
    return _number(len(distinct), [things[one] for one in distinct], turn) if distinct else None


def _said_by(fact: Fact, owner: str, beliefs: Beliefs) -> bool:
    return any(claim.speaker.casefold() == owner for claim in beliefs.supporting(fact))


def _headed(label: str, noun: str) -> bool:
    """Tell whether a label names one thing of a kind ("contractor for the roof", "cardiology appointment")."""
    head = re.split(r" (?:of|for|in|with|from|at|on|to) ", label.rpartition("'s ")[2])[0].casefold()
    several = head.endswith("s") and not head.endswith("ss")
    counted = re.match(rf"\d|(?:{'|'.join(NUMBER_WORDS)}|many|some|few|several)\b", head)
    last = noun.split()[-1:]
    return (
        bool(last)
        and not several
        and not counted
        and wording(last[0]) == wording(head.split()[-1] if head else "")
        and (wording(noun) <= wording(label))
    )


def _number(count: int, facts: list[Fact], turn: FindTurn) -> Draft:
    return draft_of(" ".join(sentence_of(fact) for fact in facts), str(count), facts, turn)
