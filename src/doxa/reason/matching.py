"""Soft matching: facts that say what a question asks in other words, scored.

A fact is scored by whether it is about those whom the question names, and by the share of the question's words that it
covers: with its own words in full, with those of a paraphrase in part, with the words of the sentence that it was read
from least. What the question does not ask about costs nothing. Below `THRESHOLD` nothing matches.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from doxa.core.values import UNBELIEVED, Fact, Question, Status, Term
from doxa.language import base_forms, stems
from doxa.memory import Beliefs, is_name, relation_type
from doxa.reason.kinds import GROUPS, PATTERNS, PLACED, PLACES, fitting, place_of

__all__ = ["Match", "matches", "members", "wording"]

THRESHOLD = 0.6
TRUTH_THRESHOLD = 0.7
"""Yes-or-no questions name what they test, so nearly all of it has to be found."""
LEAST = 0.5
"""Below this, a fact is not looked at any further."""
CLOSE = 0.12
"""How far below the best a match may be to answer together with it."""
PARAPHRASED, SAID = 0.85, 0.65
"""What a word of the question counts when the fact has it in other words, or only its sentence has it."""
HEAD, LOOSE = 2.0, 0.5
"""Weights of the word that a question hangs on, and of those that only place it; others weigh 1."""
PLACED_OR_PRICED = "cost take place held located schedule"
FRESH = frozenset(["new", "old", "own", "current", "latest"])
OWNED = re.compile(r"(.+)'s (.+)$")


@dataclass(frozen=True, slots=True)
class Match:
    """A fact that may answer, how well it fits (0 to 1), and which of its ends the answer is."""

    fact: Fact
    score: float
    slot: str


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.reason").joinpath("paraphrases.toml").read_text(encoding="utf-8"))


@cache
def _groups() -> Mapping[str, frozenset[int]]:
    """Return the groups of paraphrases by stem."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(_table()["groups"]):
        for word in group.split():
            for stem in stems(word):
                found.setdefault(stem, set()).add(number)
    return {stem: frozenset(groups) for stem, groups in found.items()}


@cache
def members() -> Mapping[str, frozenset[str]]:
    """Return the stems of what is of a kind, by the stem of the word for the kind."""
    rows = (row.partition(":") for row in _table()["kinds"])
    return {stems(kind)[0]: frozenset(s for word in words.split() for s in stems(word)) for kind, _, words in rows}


@lru_cache(maxsize=20_000)
def wording(text: str) -> frozenset[str]:
    """Return the stems of a text, with those of the base forms of its irregular verbs."""
    forms = base_forms()
    more = [forms[word] for word in text.casefold().split() if word in forms]
    return frozenset(stems(f"{text} {' '.join(more)}"))


@lru_cache(maxsize=4_000)
def _relation_words(name: str, label: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of a relation, and those of the other phrases that mean it."""
    kind = relation_type(name, label)
    own = wording(f"{label} {kind.base}")
    return own, frozenset(stem for phrase in kind.phrases for stem in wording(phrase)) - own


@dataclass(slots=True)
class _Matcher:
    question: Question
    beliefs: Beliefs
    speaker_of: Callable[[str], str]
    anchors: list[Term] = field(default_factory=list)
    wanted: dict[str, float] = field(default_factory=dict)
    """The stems that a fact has to cover, each with its weight."""
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    _spans: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.anchors = list(_anchors(self.question, self.beliefs))
        known = {stem for anchor in self.anchors for stem in wording(f"{anchor.label} {anchor.key}")}
        named = {stem for term in self.question.about if is_name(term) for stem in wording(term.label)}
        free = known | named
        focus = self.question.focus
        heads, loose = wording(self.question.head), {s for word in self.question.loose for s in wording(word)}
        groups = self._groups()
        weights = {
            stem: LOOSE if stem in loose or stem in groups or w in FRESH else 1.0 for w in focus for stem in wording(w)
        }
        weigh = {stem: HEAD if stem in heads else weight for stem, weight in weights.items()}
        self.wanted = {stem: weight for stem, weight in weigh.items() if stem not in free}
        if not self.wanted and self.question.head:
            self.wanted = dict.fromkeys(wording(self.question.head) - free, 1.0)
        if not self.wanted and self.question.expects not in PATTERNS:
            self.wanted = dict.fromkeys(wording(self.question.noun) - free, 1.0)

    def _groups(self) -> frozenset[str]:
        """Return the stems of groups that are named by one of them ("Ana's team")."""
        owned = (OWNED.match(term.label) for term in self.question.about)
        return frozenset(stem for match in owned if match and match[2] in GROUPS for stem in wording(match[2]))

    def match(self, fact: Fact) -> Match | None:
        """Return how a fact answers; None when it does not."""
        if self.question.asks == "truth" and not (self._asked_about(fact) and self._told(fact)):
            return None
        about = min((self._present(anchor, fact) for anchor in self.anchors), default=1.0)
        covered = self._covered(fact) if about else 0.0
        slot = self._slot(fact) if about * covered >= LEAST else ""
        if not slot:
            return None
        return Match(fact, self._penalty(fact, slot) * about * covered, slot)

    def _asked_about(self, fact: Fact) -> bool:
        """Tell whether a fact is about somebody or something that the question names, and not only of theirs."""
        if any(self._same(key, anchor.key) for anchor in self.anchors for key in (fact.subject.key, fact.object.key)):
            return True
        words, noun = wording(self.question.text), OWNED.match(fact.subject.label)
        if noun is None:
            return bool(wording(fact.subject.label) & words)
        owner = any(self._same(noun[1].casefold(), anchor.key) for anchor in self.anchors)
        return bool(wording(noun[2]) & words) and (owner or bool(wording(OWNED.sub(r"\2", noun[1])) & words))

    def _told(self, fact: Fact) -> bool:
        """Tell whether a fact has every word of the question in some form, or the sentence that it was read from: that
        is not enough for the word that the question hangs on."""
        own, phrases = _relation_words(fact.relation.name, fact.relation.label)
        strong = own | wording(f"{fact.subject.label} {fact.object.label}") | self._named(fact.subject.key)
        head = wording(self.question.head)
        for word in self.wanted.keys() - FRESH:
            if _similar(word, strong, phrases) == 0.0:
                said = self._said(fact)
                if word in head or not (word in said or _related(word, said)):
                    return False
        return True

    def _penalty(self, fact: Fact, slot: str) -> float:
        """Return 0.5 for a fact about somebody else than the one the question is about, unless he is the answer."""
        stranger = self._somebody(fact.subject) and not any(self._same(fact.subject.key, a.key) for a in self.anchors)
        if not (stranger and self.anchors and is_name(self.anchors[0]) and slot != "subject"):
            return 1.0
        return 1.0 if any(fact.object.key == self.beliefs.key(anchor.key) for anchor in self.anchors) else 0.5

    def _same(self, one: str, other: str) -> bool:
        key = self.beliefs.key(one)
        return key == self.beliefs.key(other) or key in self._called(other)

    def _called(self, key: str) -> frozenset[str]:
        """Return the keys of what is called by a name ("Kojo": the baby)."""
        if key not in self._names:
            told = (fact for fact in self.beliefs.valued_at(key) if fact.relation.name == "is_called")
            self._names[key] = frozenset(fact.subject.key for fact in told)
        return self._names[key]

    def _named(self, key: str) -> frozenset[str]:
        """Return the stems of what a name stands for, so that the facts about the name are facts about the thing."""
        return frozenset(stem for thing in self._called(key) for stem in wording(OWNED.sub(r"\2", thing)))

    def _present(self, anchor: Term, fact: Fact) -> float:
        key = self.beliefs.key(anchor.key)
        if key in (fact.subject.key, fact.object.key) or fact.subject.key in self._called(anchor.key):
            return 1.0
        if fact.subject.key.startswith(f"{key}'s ") or fact.object.key.startswith(f"{key}'s "):
            return 0.95
        words = wording(anchor.label)
        if words and words <= wording(f"{fact.subject.label} {fact.relation.label} {fact.object.label}"):
            return 0.9
        if any(self._same(name, anchor.key) for name in {self.speaker_of(turn).casefold() for turn in fact.turn_ids}):
            return 0.9 if not self._somebody(fact.subject) or fact.object.key == key else 0.5
        if words and words <= self._said(fact):
            return 0.7
        verb = fact.relation.label.split()[0]
        beside = (f for f in self.beliefs.about(fact.subject.key) if f.object.key == key and f.polarity)
        return 0.8 if any(f.relation.label.split()[0] == verb for f in beside) else 0.0  # "owes 5 euros", "owes to Bo"

    def _somebody(self, term: Term) -> bool:
        """Tell whether a term is a name, and no noun that only opened a sentence ("Physio is at nine")."""
        return is_name(term) and not wording(term.label) <= self.wanted.keys()

    def _said(self, fact: Fact) -> frozenset[str]:
        """Return the stems of the sentences that a fact was read from."""
        if fact.fact_id not in self._spans:
            spans = {claim.span for claim in self.beliefs.supporting(fact)}
            self._spans[fact.fact_id] = frozenset(stem for span in spans for stem in wording(span))
        return self._spans[fact.fact_id]

    def _covered(self, fact: Fact) -> float:
        """Return the share of the question's words that a fact covers, 0 to 1."""
        own, phrases = _relation_words(fact.relation.name, fact.relation.label)
        noun = OWNED.match(fact.subject.label)
        strong = own | wording(fact.object.label) | wording(noun[2] if noun else fact.subject.label)
        strong |= self._named(fact.subject.key)
        if not self.wanted:
            return self._plain(fact)
        said: frozenset[str] | None = None
        total, firm = 0.0, False
        for word, weight in self.wanted.items():
            value = _similar(word, strong, phrases)
            if value == 0.0:
                said = self._said(fact) if said is None else said
                value = SAID if word in said else 0.75 * SAID if _related(word, said) else 0.0
            else:
                firm = True
            total += weight * value
        share = total / sum(self.wanted.values())
        return share if firm else 0.8 * share

    def _plain(self, fact: Fact) -> float:
        """Return how well a fact answers "where is X", "when is X" or "what is X", which name X alone."""
        own, _ = _relation_words(fact.relation.name, fact.relation.label)
        first = fact.relation.label.split()[0]
        if first in ("is", "was") or not own or own & wording(PLACED_OR_PRICED):
            return 0.9
        return 0.65 if relation_type(fact.relation.name, fact.relation.label).kind == "noun" else 0.5

    def _slot(self, fact: Fact) -> str:
        """Return which part of a fact answers: its object or subject, its time, or its truth; empty for none."""
        question = self.question
        if question.asks == "truth":
            return "truth"
        if question.asks in ("start", "end", "duration") or question.expects in (
            "date",
            "time",
            "month",
            "year",
            "day",
            "clock",
        ):
            return self._when(fact)
        mine = any(self._same(fact.subject.key, anchor.key) for anchor in self.anchors)
        if question.noun and wording(fact.object.label) == wording(question.noun) and question.kind != "count":
            return "" if mine else "subject"  # "which phone company": X is my phone company
        if self._misplaced(fact):
            return ""
        if question.kind == "where":
            place = place_of(fact)
            told = place is not None and not wording(place) <= {s for w in question.focus for s in stems(w)}
            return "object" if told and place and fitting(place, question.expects) else ""
        free = fact.object.key and not any(self._same(fact.object.key, a.key) for a in self.anchors)
        echoed = wording(fact.object.label) <= {s for w in question.focus for s in stems(w)}
        several = question.expects == "person" and fact.object.label.islower() and fact.object.label.endswith("s")
        if free and not echoed and not several and fitting(fact.object.label, question.expects) is not None:
            return "object"
        theirs = not any(self._same(fact.subject.key, anchor.key) for anchor in self.anchors)
        if theirs and question.expects == "person" and (is_name(fact.subject) or OWNED.match(fact.subject.label)):
            return "subject"
        return ""

    def _misplaced(self, fact: Fact) -> bool:
        """Tell whether a fact tells a place, and the question asks for a thing, or "doctors" for who it is."""
        question, label = self.question, fact.object.label
        if wording(question.noun) & wording(label) or PLACED.match(question.text):
            return False
        preposition = fact.relation.label.split()[-1]
        if not question.noun and question.kind == "value" and preposition in ("in", "at", "from", "near"):
            return not re.search(rf"\b{preposition}\b", question.text, re.IGNORECASE)
        plain = question.expects not in PATTERNS and question.kind == "value" and question.noun != ""
        return plain and question.expects not in PLACES and fact.relation.label.split()[-1] in ("at", "near", "from")

    def _when(self, fact: Fact) -> str:
        question = self.question
        expects = question.expects if question.expects != "duration" else ""
        if fact.object.label and expects and fitting(fact.object.label, expects) is not None:
            return "object"
        if expects == "clock":
            return ""
        bound = fact.valid.end if question.asks == "end" else fact.valid.start
        return "time" if bound is not None else ""


def matches(
    question: Question,
    beliefs: Beliefs,
    speaker_of: Callable[[str], str],
    facts: Iterable[Fact],
) -> Iterator[list[Match]]:
    """Yield groups of facts of one subject and relation that may answer a question, the best first.

    Args:
        question: with the words that it is about (`focus`), which a parser gives.
        beliefs: what is believed.
        speaker_of: gives who said the turn of an id; empty for an unknown one.
        facts: those that are compared with the question.

    Cost O(facts x words of the question), at the time of asking only.
    """
    if not question.focus:
        return
    matcher = _Matcher(question, beliefs, speaker_of)
    least = TRUTH_THRESHOLD if question.asks == "truth" else THRESHOLD
    gone = {Status.RETRACTED} if question.source else {Status.RETRACTED, *UNBELIEVED}  # what a source says, it says
    found = [match for fact in facts if fact.status not in gone and (match := matcher.match(fact))]
    if question.asks == "truth":
        best = max((match.score for match in found), default=0.0)
        if best >= least:
            yield [match for match in found if match.score >= max(least, best - CLOSE)]
        return
    groups: dict[tuple[str, str, str], list[Match]] = {}
    for match in found:
        if match.score >= least:
            groups.setdefault((match.fact.subject.key, match.fact.relation.name, match.slot), []).append(match)
    for group in sorted(groups.values(), key=lambda group: -max(match.score for match in group)):
        top = max(match.score for match in group)
        yield [match for match in group if match.score >= top - CLOSE]


def _anchors(question: Question, beliefs: Beliefs) -> Iterator[Term]:
    """Yield those whom a fact has to be about: names, and possessions of which something is known."""
    covered: set[str] = set()
    for number, term in enumerate(question.about):
        known = bool(beliefs.about(term.key))
        if term.key in covered or not (is_name(term) or (known and not number)):
            continue
        owner = OWNED.match(term.label)
        if owner and known:
            covered.add(owner[1].casefold())
        yield term


def _similar(word: str, strong: frozenset[str], phrases: frozenset[str]) -> float:
    """Return how far a fact has a word of the question: in its own words, in those of its relation, in others."""
    if word in strong:
        return 1.0
    if word in phrases:
        return 0.9
    return PARAPHRASED if _related(word, strong) or any(_alike(word, other) for other in strong) else 0.0


def _related(word: str, others: frozenset[str]) -> bool:
    """Tell whether one of some stems means the same as a word, or is of the kind that it names."""
    groups = _groups().get(word, frozenset())
    return any(groups & _groups().get(other, frozenset()) for other in others) or bool(
        members().get(word, frozenset()) & others
    )


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems look like forms of one word ("organis", "organiz")."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    shorter, longer = sorted((len(one), len(other)))
    return (shared >= 5 and shared >= 0.75 * longer) or (shared == shorter >= 4 and longer <= shorter + 3)
