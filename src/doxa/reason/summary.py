"""The belief state as a short text for people and prompts: what is believed, subject by subject, within a budget.

Source: GreedySAT, "Belief State Representation": before each question the model is given the rules in words and a short
summary of what it believes so far, and is told nothing of what was retracted. We add what holds when, who says what
where sources disagree, and a choice of what bears on the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from doxa.core.lines import one_line
from doxa.core.tokens import estimate_tokens
from doxa.core.values import Fact, Rule, Status, Term
from doxa.language import stems
from doxa.memory import Beliefs, describe, describe_rule

__all__ = ["PastFact", "relevant_rules", "summarise"]

CountTokens = Callable[[str], int]
GIVE_UP_AFTER = 8
"""Facts in a row that do not fit any more, before the rest is left out unseen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFact:
    """A fact that is no longer believed or no longer holds, and why."""

    fact: Fact
    reason: str = ""


def summarise(
    facts: Iterable[Fact],
    beliefs: Beliefs,
    *,
    rules: Iterable[Rule] = (),
    past: Iterable[PastFact] = (),
    max_tokens: int,
    count_tokens: CountTokens = estimate_tokens,
    cite: bool = False,
) -> str:
    """Return what is believed as plain sentences, one line a subject; empty when there is nothing or no room.

    Args:
        facts: what is believed, the most relevant first; what does not fit the budget is left out from the end.
        beliefs: whose word the facts are.
        rules: what was said in general, in the words in which it was said.
        past: what is no longer believed or no longer holds; only where history is asked for.
        max_tokens: most tokens of the whole text.
        count_tokens: how many tokens a text is.
        cite: put the ids of the turns behind what they say.

    Facts that sources disagree on say so, and who says what. Deterministic; O(facts that fit squared), which the
    budget bounds.
    """
    draft = _Draft(beliefs=beliefs, cite=cite)
    misses = 0
    for part in _parts(facts, rules, past):
        if misses >= GIVE_UP_AFTER:
            break
        longer = draft.plus(part)
        if count_tokens(longer.text()) <= max_tokens:
            draft, misses = longer, 0
        else:
            misses += 1
    return draft.text()


def relevant_rules(text: str, beliefs: Beliefs) -> list[Rule]:
    """Return the rules that share a word with a text, in the order in which they were said. O(rules)."""
    wanted = set(stems(text))
    return [rule for rule in beliefs.rules if wanted & set(stems(f"{rule.span} {describe_rule(rule)}"))]


def _parts(facts: Iterable[Fact], rules: Iterable[Rule], past: Iterable[PastFact]) -> Iterator[Fact | Rule | PastFact]:
    """Yield what may be said, the most important first; a sentence that states several rules comes once."""
    yield from facts
    yield from {rule.span or describe_rule(rule): rule for rule in rules}.values()
    yield from past


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What a summary says so far."""

    beliefs: Beliefs
    cite: bool
    facts: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()
    past: tuple[PastFact, ...] = ()

    def plus(self, part: Fact | Rule | PastFact) -> _Draft:
        """Return a draft that says one thing more."""
        if isinstance(part, Fact):
            return replace(self, facts=(*self.facts, part))
        if isinstance(part, Rule):
            return replace(self, rules=(*self.rules, part))
        return replace(self, past=(*self.past, part))

    def text(self) -> str:
        """Return the summary."""
        subjects: dict[str, list[Fact]] = {}
        for fact in self.facts:
            subjects.setdefault(fact.subject.key, []).append(fact)
        lines = [self._subject(of_one) for of_one in subjects.values()]
        if self.rules:
            lines.append(f"Rules: {'; '.join(_rule(rule) + self._cited((rule.turn_id,)) for rule in self.rules)}.")
        over = [gone for gone in self.past if gone.fact.status is not Status.RETRACTED]
        never = [gone for gone in self.past if gone.fact.status is Status.RETRACTED]
        for head, group in (("Earlier", over), ("No longer believed", never)):
            if group:
                lines.append(f"{head}: {'; '.join(self._gone(gone) for gone in group)}.")
        return "\n".join(one_line(line) for line in lines)  # no id and no name begins a line of its own

    def _subject(self, facts: Sequence[Fact]) -> str:
        """Return what is believed of one subject: what it does in one sentence, its nouns and disputes in others."""
        plain: dict[tuple[object, ...], list[Fact]] = {}
        disputed: dict[str, list[Fact]] = {}
        for fact in facts:
            if fact.disputed:
                disputed.setdefault(fact.relation.name, []).append(fact)
            else:
                same = (fact.relation.name, fact.polarity, fact.modality, fact.valid, self._by(fact))
                plain.setdefault(same, []).append(fact)
        clauses = [
            describe(_together(group, "and")) + self._by(group[0]) + self._cited(_turns(group))
            for group in plain.values()
        ]
        said = [f"Sources disagree: {self._dispute(group)}." for group in disputed.values()]
        return " ".join([*_sentences(clauses, facts[0].subject.label), *said])

    def _dispute(self, facts: Sequence[Fact]) -> str:
        told = [replace(fact, object=Term(fact.object.key, self._with_witnesses(fact))) for fact in facts]
        return describe(_together(told, "or")) + self._cited(_turns(facts))

    def _by(self, fact: Fact) -> str:
        """Return from whom it is, where nobody says it as their own word."""
        names = dict.fromkeys(claim.source for claim in self.beliefs.supporting(fact))
        return f" (according to {' and '.join(names)})" if names and all(names) else ""

    def _with_witnesses(self, fact: Fact) -> str:
        names = dict.fromkeys(claim.source or claim.speaker for claim in self.beliefs.supporting(fact))
        who = ", ".join(name for name in names if name)
        return f"{fact.object.label} ({who})" if who else fact.object.label

    def _gone(self, gone: PastFact) -> str:
        reason = f" ({gone.reason})" if gone.reason and gone.fact.status is Status.RETRACTED else ""
        return describe(gone.fact) + reason + self._cited(gone.fact.turn_ids)

    def _cited(self, turn_ids: Iterable[str]) -> str:
        names = ", ".join(dict.fromkeys(turn_ids))
        return f" [{names}]" if self.cite and names else ""


def _together(facts: Sequence[Fact], word: str) -> Fact:
    """Return facts that differ in their object as one whose object is all of them."""
    labels = list(dict.fromkeys(fact.object.label for fact in facts))
    label = f" {word} ".join([", ".join(labels[:-1]), labels[-1]]) if len(labels) > 1 else labels[0]
    return replace(facts[0], object=Term(facts[0].object.key, label))


def _sentences(clauses: Sequence[str], subject: str) -> list[str]:
    """Join what a subject does into one sentence; what its nouns are stays apart ("Ana's sister is Mia")."""
    own = [clause for clause in clauses if clause.startswith(f"{subject} ")]
    others = [clause for clause in clauses if not clause.startswith(f"{subject} ")]
    joined = "; ".join([*own[:1], *(clause.removeprefix(f"{subject} ") for clause in own[1:])])
    return [f"{sentence}." for sentence in (joined, *others) if sentence]


def _rule(rule: Rule) -> str:
    if not rule.span:
        return describe_rule(rule)
    return f"{rule.speaker}: “{rule.span}”" if rule.speaker else f"“{rule.span}”"


def _turns(facts: Iterable[Fact]) -> Iterator[str]:
    return (turn_id for fact in facts for turn_id in fact.turn_ids)
