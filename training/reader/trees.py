"""A parsed sentence with what is asked of it most: parts, phrases, kinds of words, and how a question says them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from doxa.backends import load
from doxa.backends.parser import Parse

MODALS = {"can", "could", "will", "would", "should", "must", "might", "may"}
SPEAKER = {"i", "me", "we", "us"}
OWN = {"my", "our", "mine", "ours"}
OTHER_OWN = {"your", "yours"}
UNKNOWN = {
    "it",
    "they",
    "them",
    "this",
    "that",
    "these",
    "those",
    "he",
    "she",
    "him",
    "one",
    "there",
    "who",
    "which",
    "what",
    "something",
    "anything",
    "everything",
    "someone",
    "everyone",
    "all",
    "some",
    "any",
    "each",
    "its",
    "their",
    "his",
    "her",
    "things",
    "thing",
    "stuff",
    "lot",
    "nothing",
    "so",
    "here",
    "more",
    "much",
    "many",
    "both",
    "such",
    "another",
    "way",
}
PLACE_CASES = {"in", "at", "near", "inside", "outside", "behind", "under", "to", "from", "into", "on", "around", "by"}
TIME_CASES = {"in", "on", "at", "since", "before", "after", "during", "until", "by", "around"}
PLACES = {"noun.location", "noun.group"}
TIMES = {"noun.time"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the words of its answer, first and last, and what kind of question it is."""

    words: tuple[str, ...]
    first: int
    last: int
    kind: str
    polarity: bool = True

    @property
    def text(self) -> str:
        """The question as text."""
        return joined(self.words)


def joined(words: Sequence[str]) -> str:
    """Words as text, with the spaces as they are written."""
    text = " ".join(word for word in words if word).replace(" 's", "'s").replace(" n't", "n't").replace(" ,", ",")
    return text[:1].upper() + text[1:].rstrip(" ,.") + "?"


class Tree:
    """A parse with what is asked of it most: children, subtrees, kinds of words."""

    def __init__(self, parse: Parse, chance: random.Random) -> None:
        self.parse, self.chance = parse, chance
        self.low = [form.lower() for form in parse.forms]
        self.children: list[list[int]] = [[] for _ in parse.forms]
        for at, head in enumerate(parse.heads):
            if head >= 0:
                self.children[head].append(at)
        self.pronoun = chance.choice(("her", "his", "their"))
        self.subject_pronoun = {"her": "she", "his": "he", "their": "they"}[self.pronoun]

    def rel(self, at: int) -> str:
        return self.parse.deprels[at].split(":")[0]

    def of(self, at: int, *rels: str) -> list[int]:
        return [child for child in self.children[at] if self.parse.deprels[child] in rels or self.rel(child) in rels]

    def subtree(self, at: int, without: set[int] | None = None, cut: set[str] | None = None) -> list[int]:
        found, open_ = [], [at]
        while open_:
            word = open_.pop()
            found.append(word)
            open_.extend(
                child
                for child in self.children[word]
                if not (without and child in without) and not (cut and self.rel(child) in cut)
            )
        return sorted(found)

    def phrase(self, at: int) -> tuple[int, int] | None:
        """First and last word of a noun phrase, without what opens it (prepositions) or hangs on it as a clause."""
        skip = {c for c in self.children[at] if self.rel(c) in ("case", "punct", "cc", "mark", "appos", "parataxis")}
        skip |= {c for c in self.children[at] if self.parse.deprels[c] == "acl:relcl" or self.rel(c) == "advcl"}
        skip |= {c for c in self.children[at] if self.rel(c) in ("cop", "nsubj", "aux", "discourse", "expl")}
        return self.run(self.subtree(at, without=skip), at)

    def run(self, words: list[int], at: int) -> tuple[int, int] | None:
        """The unbroken run of words round one of them, without punctuation at its ends."""
        kept = set(words)
        first = last = at
        while first - 1 in kept:
            first -= 1
        while last + 1 in kept:
            last += 1
        while first < last and self.parse.upos[first] in ("PUNCT", "CCONJ"):
            first += 1
        while last > first and self.parse.upos[last] in ("PUNCT", "CCONJ"):
            last -= 1
        return (first, last)

    def clause(self, at: int) -> tuple[int, int] | None:
        """First and last word of a clause without its mark and what is only added to it."""
        skip = {c for c in self.children[at] if self.rel(c) in ("mark", "punct", "parataxis", "discourse")}
        return self.run(self.subtree(at, without=skip), at)

    def person(self, at: int) -> bool:
        return "PERSON" in self.parse.tags[at] or (
            self.parse.upos[at] == "NOUN" and supersense(self.parse.lemmas[at].lower()) == "noun.person"
        )

    def time(self, at: int) -> bool:
        return "TIME" in self.parse.tags[at] or supersense(self.parse.lemmas[at].lower()) in TIMES

    def place(self, at: int) -> bool:
        if "PLACE" in self.parse.tags[at]:
            return True
        return self.parse.upos[at] == "NOUN" and any(
            s in ("noun.location",) for s in supersenses(self.parse.lemmas[at].lower())
        )

    def words_of(self, span: list[int], *, speaker: str) -> list[str]:
        """The words of a part of the sentence as they stand in a question about its speaker."""
        return [self.word(at, speaker=speaker) for at in span if self.parse.upos[at] != "PUNCT" or self.low[at] == "'s"]

    def word(self, at: int, *, speaker: str) -> str:
        low = self.low[at]
        if low in SPEAKER:
            return "S" if speaker != "S" else {"her": "her", "his": "him", "their": "them"}[self.pronoun]
        if low in OWN:
            return self.pronoun if speaker == "S" or self.chance.random() < 0.3 else "S's"
        if low in ("myself", "ourselves"):
            return {"her": "herself", "his": "himself", "their": "themselves"}[self.pronoun]
        if low == "you":
            return "O"
        if low in OTHER_OWN:
            return "O's"
        return self.parse.forms[at] if self.parse.upos[at] == "PROPN" else low


@cache
def lexicon() -> object:
    """WordNet."""
    return load("lexicon", "wordnet")


@cache
def supersenses(word: str) -> tuple[str, ...]:
    """The kinds of the two most usual senses of a noun."""
    senses = lexicon().senses(word, "n")  # type: ignore[attr-defined]
    best = sorted(senses, key=lambda sense: -sense.count)
    return tuple(dict.fromkeys(sense.supersense for sense in best[:2]))


def supersense(word: str) -> str:
    """The kind of its most usual sense; empty for an unknown word."""
    found = supersenses(word)
    return found[0] if found else ""


@cache
def broader(word: str) -> tuple[str, ...]:
    """Words for kinds of a thing, up to three steps above its most usual sense."""
    found: list[str] = []
    level = word
    if word in UNKNOWN or word in ("kind", "sort", "type", "bit", "time", "part"):
        return ()
    for _ in range(2):
        senses = sorted(lexicon().senses(level, "n"), key=lambda sense: -sense.count)  # type: ignore[attr-defined]
        if not senses or not senses[0].broader:
            break
        level = senses[0].broader[0]
        found.append(level.replace("_", " "))
    plain = {
        "entity",
        "physical entity",
        "object",
        "whole",
        "abstraction",
        "artifact",
        "instrumentality",
        "group",
        "matter",
        "attribute",
        "state",
        "psychological feature",
        "unit",
        "organism",
        "living thing",
        "relation",
        "event",
        "act",
        "causal agent",
        "communication",
        "cognition",
        "measure",
        "structure",
        "commodity",
    }
    return tuple(w for w in found if w not in plain)
