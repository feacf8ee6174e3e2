"""What follows from facts that do not name it: who is alive, and how many of a kind there are."""

from __future__ import annotations

import re
from datetime import date

from doxa.core.values import Draft, Fact, Modality, Question, Status
from doxa.language import stems_of
from doxa.memory import Beliefs, is_current, is_name, is_tie, kinds_of, relation_type
from doxa.reason.drafts import FindTurn, draft_of, one_by_one, sentence_of
from doxa.reason.kinds import NUMBER_WORDS
from doxa.reason.matching import wording

__all__ = ["counted", "life"]

DYING = re.compile(r"^(?:dies|died|passes away|is dead|is deceased|dies on|dies in|dies of|dies at)\b")
MENTIONED = re.compile(r"\b(?:mention|named?|ha(?:s|ve)|know|told|own|get)", re.IGNORECASE)
DEAD = frozenset(["dead", "deceased", "late", "gone"])


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


def _dies(fact: Fact) -> bool:
    dead = fact.relation.name == "has_state" and fact.object.key in DEAD
    return dead or fact.relation.name == "died_on" or bool(DYING.match(fact.relation.label))


def counted(question: Question, beliefs: Beliefs, turn: FindTurn, today: date | None) -> Draft | None:
    """Return how many things of the kind that a question counts are known of somebody; None when none is.

    Relatives and pets are those of the relation ("child": sons and daughters); other things are counted by the
    entities that are called by that noun. Cost O(facts about them or of that name).
    """
    noun = question.noun.casefold()
    whose = next(iter(question.about), None)
    if not noun or whose is None:
        return None
    owner = beliefs.key(whose.key)
    nouns = {noun, noun.removesuffix("s"), " ".join(question.focus[: len(noun.split())])}
    kinds = [relation_type(word.replace(" ", "_")).name for word in nouns if word]
    names = {name for kind in kinds for name in (kind, *kinds_of(kind))}
    words = stems_of(noun)
    people = [fact for fact in beliefs.about(owner) if fact.relation.name in names and _holds(fact, today)]
    described = beliefs.of_relations(("is_a", "has_state"), words)
    described = [fact for fact in described if _holds(fact, today) and _headed(fact.object.label, noun)]
    theirs = [f for f in described if is_name(f.subject) and _said_by(f, owner, beliefs)]
    if people and is_tie(people[0].relation.name):
        keys = {fact.object.key for fact in people} | {fact.subject.key for fact in theirs}
        return _number(len(keys), [*people, *theirs], turn)
    if theirs:
        return _number(len({fact.subject.key for fact in theirs}), theirs, turn)
    if not MENTIONED.search(question.text):
        return None
    things: dict[frozenset[str], Fact] = {}
    for fact in beliefs.naming(words):
        if not _holds(fact, today):
            continue
        for label in (fact.subject.label, fact.object.label, fact.relation.label):
            if _headed(label, noun):
                things.setdefault(wording(label.rpartition("'s ")[2]), fact)
    distinct = [one for one in things if not any(one > other for other in things)]
    return _number(len(distinct), [things[one] for one in distinct], turn) if distinct else None


def _holds(fact: Fact, today: date | None) -> bool:
    believed = fact.status is Status.HELD and is_current(fact, today)
    return believed and fact.polarity and fact.modality is not Modality.HYPOTHETICAL


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
    return draft_of(one_by_one(facts), str(count), facts, turn)
