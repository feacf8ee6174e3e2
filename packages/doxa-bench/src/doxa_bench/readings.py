"""Readings: a relation and an object as one line of words, and what the small words of the relation say beside it.

A preposition may stand at the end of the relation or at the beginning of the object, so both are read together. Verbs
are compared by their base; negation, modality and marks of the past that are folded into the relation ("might swap",
"used to live in", "have no car") are taken out of it and told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from doxa_bench.wording import ARTICLES, POSSESSIVE, PREPOSITIONS, PRONOUNS, Words, bare, phrase, table, words

__all__ = ["Reading", "content", "lemma", "read"]

_VERBS, _ADVERBS, _MODALITY = table()["verbs"], table()["adverbs"], table()["modality"]
BASES: dict[str, str] = dict(_VERBS["base"])
PARTICIPLES: set[str] = set()
PAST_OR_PARTICIPLE: set[str] = set()
for _entry in _VERBS["irregular"].split(";"):
    _base, _past, _participle = (part.split("/") for part in _entry.split())
    BASES |= {form: _base[0] for form in (*_past, *_participle) if form != _base[0]}
    PARTICIPLES |= {*_participle}
    PAST_OR_PARTICIPLE |= {*_past} & {*_participle}
for _verb in _VERBS["doubling"].split():
    BASES |= {f"{_verb}led": _verb, f"{_verb}ling": _verb}
NOT_GERUNDS = frozenset(_VERBS["not_gerunds"].split())
BE = {"be", "am", "is", "are", "was", "were", "been", "being"}
DO = {"do", "does", "did"}
LIKING = {"like", "love", "prefer"}
NEGATIONS = {"not", "never", "no"}
ANY_MORE = (("anymore",), ("any", "more"), ("any", "longer"))


@cache
def lemma(word: str) -> str:
    """Return a key that all forms of a verb or a noun share: works, worked, working -> work; lives, lived -> liv."""
    base = BASES.get(word, word)
    if base == word and word.isalpha():
        base = _without_ed_or_ing(_without_s(word))
    return base[:-1] if len(base) > 2 and base.endswith("e") else base


def _without_s(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + ("y" if len(word) > 4 else "ie")
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else word[:-1]


def _without_ed_or_ing(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + ("y" if len(word) > 4 else "ie")
    if not ((_is_gerund(word) and len(word) > 4) or _ends_in_ed(word)):
        return word
    stem = word[:-3] if word.endswith("ing") else word[:-2]
    return stem[:-1] if len(stem) > 2 and re.search(r"([bdgkmnprt])\1$", stem) else stem


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and word not in NOT_GERUNDS and re.search("[aeiouy]", word[:-3]) is not None


def _ends_in_ed(word: str) -> bool:
    return word.endswith("ed") and not word.endswith("eed") and re.search("[aeiouy]", word[:-2]) is not None


def _is_participle(word: str) -> bool:
    return word in PARTICIPLES or _ends_in_ed(word)


HAVE = lemma("have")
MODALS: dict[str, str] = _MODALITY["modals"]
VERB_TO: dict[str, str] = {lemma(verb): says for verb, says in _MODALITY["verb_to"].items()}
BE_TO: dict[str, str] = _MODALITY["be_to"]
WISHES = {verb for verb, says in VERB_TO.items() if says == "desired"}
SAYING = {word: says for says in ("past", "possible") for word in _ADVERBS[says].split()}
PLAIN_ADVERBS, NOT_ADVERBS = frozenset(_ADVERBS["plain"].split()), frozenset(_ADVERBS["not_adverbs"].split())
PAST_ADJECTIVES = frozenset(_MODALITY["past_adjectives"].split())
STRONGEST_FIRST = ("possible", "desired", "hypothetical", "planned")
EMPTY = {lemma(word) for word in PREPOSITIONS | BE | ARTICLES | PRONOUNS}
EMPTY |= {lemma(word) for word in ("have", "do", "not", "and", "or", POSSESSIVE)}


def content(*texts: str) -> set[str]:
    """Return the lemmas of the words of the texts that carry content."""
    return {lemma(word) for text in texts for word in phrase(text)} - EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read a relation with its object."""

    words: Words
    negated: bool
    """"not", "never", or an object that begins with "no"."""
    no_longer: bool
    """It held and does not hold now: it agrees with either polarity."""
    past: bool
    """It says itself that it is over: "used to", "formerly", "no longer"."""
    modality: str | None
    """Folded into the relation, if any is."""
    able: bool
    """"can", "must", "have to": what is left is no plain assertion."""
    wish: bool
    """The verb itself is a wish ("wants a telescope")."""


def read(relation: str, value: Words, *, gold: bool = False) -> list[Reading]:
    """Return the readings of a relation with an object.

    Args:
        relation: a relation phrase as somebody wrote it.
        value: the words of the object; none when it is missing.
        gold: it is written as an annotator does; then "former employer" keeps its noun.
    """
    scan = _Scan([*bare(words(relation)), *value])
    scan.border = len(scan.words) - len(value)
    return scan.readings(gold=gold)


@dataclass(slots=True)
class _Scan:
    """A walk over the words of a relation and its object; the words before `border` are of the relation."""

    words: list[str]
    border: int = 0
    negated: bool = False
    no_longer: bool = False
    got: bool = False
    says: set[str] = field(default_factory=set)

    def readings(self, *, gold: bool) -> list[Reading]:
        any_more = self._cut_any_more()
        start, auxiliary = self._auxiliaries()
        heads, rest = self._verb(start, auxiliary=auxiliary, gold=gold)
        tail = self._rest(rest)
        if any_more and self.negated:
            self.negated, self.no_longer = False, True
        modality = next((says for says in STRONGEST_FIRST if says in self.says), None)
        verb = self._at(start)
        wish = modality is None and (lemma(verb) in WISHES or verb == "would")
        return [
            Reading(
                words=tuple(bare([*head, *(form(word) if own else word for word, own in tail)])),
                negated=self.negated,
                no_longer=self.no_longer,
                past=self.no_longer or "past" in self.says,
                modality=modality,
                able="able" in self.says,
                wish=wish,
            )
            for head in heads
            for form in FORMS
        ]

    def _at(self, place: int) -> str:
        return self.words[place] if place < len(self.words) else ""

    def _cut_any_more(self) -> bool:
        for tail in ANY_MORE:
            if tuple(self.words[-len(tail) :]) == tail:
                del self.words[-len(tail) :]
                self.border = min(self.border, len(self.words))
                return True
        return False

    def _small(self, place: int) -> int:
        """Return how many words of negation or adverb stand here, in the relation or at the front of the object."""
        word = self._at(place)
        if place <= self.border:
            if word == "no" and self._at(place + 1) == "longer":
                return 2
            if word in ("not", "never") or (word == "no" and place + 1 < len(self.words)):
                return 1
        return int(place < self.border and _is_adverb(word))

    def _past_small(self, place: int) -> int:
        while length := self._small(place):
            place += length
        return place

    def _note_small(self, place: int, end: int | None = None) -> int:
        """Note what the small words from here say, and return the place after them."""
        while (end is None or place < end) and (length := self._small(place)):
            word = self._at(place)
            if length == 2:
                self.no_longer = True
            elif word in NEGATIONS:
                self.negated = not self.negated
            elif word in SAYING:
                self.says.add(SAYING[word])
            place += length
        return place

    def _auxiliaries(self) -> tuple[int, bool]:
        """Step over the auxiliaries; return the place of the main verb and whether there were any."""
        place, any_found = self._note_small(0), False
        while place < self.border and place < len(self.words) - 1:
            after = self._auxiliary(place)
            if after is None:
                break
            self._note_small(place + 1, after)
            place, any_found = self._note_small(after), True
        return place, any_found

    def _auxiliary(self, place: int) -> int | None:
        """Return the place after the auxiliary that stands here; None when the main verb does."""
        word, after = self._at(place), self._past_small(place + 1)
        following, more = self._at(after), self._at(after + 1)
        to = VERB_TO.get(lemma(word), "past" if word == "used" else None)
        if word in DO and after > place + 1:  # does not eat
            return place + 1
        if word == "would" and following in LIKING:
            return self._saying("desired", after + 2) if more == "to" else None
        if word in MODALS:
            return self._saying(MODALS[word], place + 1)
        if to and following == "to" and more:  # wants to learn, has to go, used to be
            return self._saying(to, after + 1)
        end = self.border if following == "going" else len(self.words)
        if word in BE and following in BE_TO and more == "to" and after + 2 < end:  # is going to move
            return self._saying(BE_TO[following], after + 2)
        if word in BE and (following == "being" or _is_gerund(following)):  # is working
            return place + 1
        if lemma(word) == HAVE and after < self.border:
            if following == "got":  # "has", or the perfect of "get"
                self.got = True
                del self.words[after]
                self.border -= 1
                return None
            if _is_participle(following):  # has broken
                return place + 1
        return None

    def _saying(self, what: str, after: int) -> int:
        self.says.add(what)
        return after

    def _verb(self, place: int, *, auxiliary: bool, gold: bool) -> tuple[list[list[str]], int]:
        """Return the main verb, in every way in which it can be taken, and the place after it.

        The copula and the passive stay: "be stolen" is not "steal".
        """
        verb, inside = self._at(place), place < self.border
        if inside and verb in BE:
            rest = self._note_small(place + 1)
            passive = rest < self.border and _is_participle(self._at(rest))
            return self._or_get([["be", self._at(rest)] if passive else ["be"]]), rest + passive
        if inside and verb == "would":
            return self._or_get([["would", lemma(self._at(place + 1))]]), place + 2
        if not (inside or auxiliary):
            return self._or_get([[]]), place
        head = [lemma(verb)] if verb else []
        if inside and not auxiliary and _is_participle(verb) and (verb in BASES or verb.endswith("ed")):
            active = verb not in PARTICIPLES or verb in PAST_OR_PARTICIPLE
            return [["be", verb], *([head] if active else [])], place + 1  # "employed by": may be passive
        if place + 1 < self.border and verb in PAST_ADJECTIVES:
            self.says.add("past")
            return [head, *([] if gold else [[]])], place + 1
        return self._or_get([head]), place + 1

    def _or_get(self, heads: list[list[str]]) -> list[list[str]]:
        return [*heads, ["get"]] if self.got else heads

    def _rest(self, place: int) -> list[tuple[str, bool]]:
        """Return the words after the verb, each with whether it is of the relation."""
        tail = []
        while place < len(self.words):
            if self._small(place):
                place = self._note_small(place)
            else:
                tail.append((self.words[place], place < self.border))
                place += 1
        return tail


def _is_adverb(word: str) -> bool:
    listed = word in PLAIN_ADVERBS or word in SAYING
    return listed or (len(word) > 4 and word.endswith("ly") and word not in NOT_ADVERBS)


FORMS: tuple[Callable[[str], str], ...] = (str, lemma)
"""The words after the verb are compared as they are, and by their base."""
