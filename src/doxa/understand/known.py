"""What the memory holds near a turn -> what a language model is shown of it before it reads the turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doxa.core.values import EARLIEST, UNBELIEVED, Fact, Rule, Status, Term, Turn
from doxa.language import stems_of
from doxa.memory import Beliefs, describe_rule, is_identity
from doxa.understand.referents import term

__all__ = ["Known", "known_near"]

MOST_FACTS = 24
MOST_RULES = 8
LONGEST_NAME = 3
"""Words of a name that is looked up in a turn."""
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was believed before a turn and bears on it; ids are given by place: f1, f2 ... and r1, r2 ..."""

    facts: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()

    def listed(self) -> list[str]:
        """Return a line for each, with its id."""
        facts = [f"f{place}: {fact}" for place, fact in enumerate(self.facts, start=1)]
        return [*facts, *(f"r{place}: {describe_rule(rule)}" for place, rule in enumerate(self.rules, start=1))]

    def ids(self) -> list[str]:
        """Return the ids of `listed`."""
        return [line.partition(":")[0] for line in self.listed()]

    def fact(self, key: str) -> Fact | None:
        """Return the fact of an id; None for that of a rule, or none."""
        return self.facts[int(key[1:]) - 1] if key.startswith("f") else None

    def rule(self, key: str) -> Rule | None:
        """Return the rule of an id."""
        return self.rules[int(key[1:]) - 1] if key.startswith("r") else None

    def fitting(self, budget: int, count_tokens: Any) -> Known:
        """Return as much of it as fits, the nearest first."""
        facts: list[Fact] = []
        for fact in self.facts:
            budget -= count_tokens(str(fact)) + 4
            if budget < 0:
                return Known(facts=tuple(facts))
            facts.append(fact)
        rules: list[Rule] = []
        for rule in self.rules:
            budget -= count_tokens(describe_rule(rule)) + 4
            if budget < 0:
                break
            rules.append(rule)
        return Known(facts=tuple(facts), rules=tuple(rules))

    def told_in(self, entries: Sequence[Mapping[str, Any]], own: str) -> tuple[str, ...]:
        """Return the turns whose facts and rules live on in what a model wrote: by their id, or by a name of theirs.

        Args:
            entries: all that the model wrote, also what is turned down, since the reason for that quotes it.
            own: the turn and its context; words that stand there come from there.
        """
        spoken, written = stems_of(own), stems_of(" ".join(_strings(entries)))
        meant = {entry["target"] for entry in entries if entry.get("target")}

        def taken(terms: Iterable[Term]) -> bool:
            return any((words := stems_of(term.label)) and words <= written and not words <= spoken for term in terms)

        found: dict[str, None] = {}
        for place, fact in enumerate(self.facts, start=1):
            if f"f{place}" in meant or taken((fact.subject, fact.object)):
                found |= dict.fromkeys(fact.turn_ids)
        for place, rule in enumerate(self.rules, start=1):
            terms = (term for atom in (*rule.if_, *rule.then) for term in (atom.subject, atom.object))
            if f"r{place}" in meant or taken(terms):
                found[rule.turn_id] = None
        return tuple(found)


def _strings(value: object) -> Iterator[str]:
    """Give every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _strings(one)


def target_of(fact: Fact) -> dict[str, Any]:
    """Return a fact in terms that outlive its id, which may change when something before it is erased."""
    return {
        "subject": [fact.subject.key, fact.subject.label],
        "relation": fact.relation.name,
        "object": [fact.object.key, fact.object.label],
        "polarity": fact.polarity,
        "modality": str(fact.modality),
        "functional": fact.functional,
    }


def known_near(turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> Known:
    """Return what is believed of those who speak and of what they speak of, the nearest to the turn first.

    Nearest is what shares most words with the turn, then with its context, then what came in last.

    Cost: O(words of the turn and its context + facts about what they name).
    """
    said = [*context, turn]
    keys = dict.fromkeys(key for one in reversed(said) for key in _named(one, beliefs))
    facts = {fact.fact_id: fact for key in keys for fact in beliefs.about(key)}
    for one in said:
        for claim in beliefs.said_in(one.turn_id):
            facts |= {fact.fact_id: fact for fact in beliefs.in_slot(beliefs.slot(claim))}
    standing = {Status.HELD, *UNBELIEVED}
    held = [fact for fact in facts.values() if fact.status in standing and not is_identity(fact)]
    here, around = stems_of(turn.text), stems_of(" ".join(one.text for one in context))

    def nearness(fact: Fact) -> tuple[int, int, Any]:
        words = stems_of(f"{fact.subject} {fact.relation} {fact.object}")
        return len(words & here), len(words & around), fact.known_at or EARLIEST

    nearest = sorted(held, key=nearness, reverse=True)[:MOST_FACTS]
    rules = sorted(beliefs.rules, key=lambda rule: len(stems_of(describe_rule(rule)) & (here | around)), reverse=True)
    return Known(facts=tuple(nearest), rules=tuple(rules[:MOST_RULES]))


def _named(turn: Turn, beliefs: Beliefs) -> Iterator[str]:
    """Give the keys of what is known by a name that stands in a turn, and what belongs to those."""
    words = WORD.findall(turn.text.casefold())
    grams = (
        " ".join(words[place : place + size])
        for size in range(1, LONGEST_NAME + 1)
        for place in range(len(words) - size + 1)
    )
    for name in dict.fromkeys([term(turn.speaker).key, *grams]):
        key = beliefs.key(name)
        yield key
        yield from beliefs.possessions(key)
