"""What a clause is made of, and where the verb stands in one that nobody parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from doxa.core.values import Modality
from doxa.language.verbs import Form, base_of, forms_of, participle_of
from doxa.language.words import ADVERBS, BE, DETERMINERS, DO, HAVE, HEDGES, MODALS, PREPOSITIONS, Tense
from doxa.understand.text import words

__all__ = ["PART_OF", "STOPPERS", "Clause", "Complement", "behind_verb", "is_clause", "worded_clause"]

STOPPERS = re.compile(
    r"(?:^|\s|,\s?)(?:because|since|while|when|whenever|although|though|whereas|unless|if|so|"
    r"but|who|which|where|and then|"
    r"except|especially|plus|just like|that|even|too|also|either|as well|by the way|again|together|"
    r"right now|now|these days|"
    r"nowadays|at the moment|though|anyway|please|thanks|instead|any ?more|any longer|yet|already|"
    r"already|actually|in the end|"
    r"for now|so far|at last|of course|I think|I guess|honestly|really|a lot|very much|so much|"
    r"more than anything|at all|at least|perhaps|maybe|someday|some day|one day|soon|later|"
    r"every \w+|each \w+|(?:on )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days|(?:once|twice|"
    r"three times) a \w+|for the first time)"
    r"(?=[\s,;:.)]|$)"
)
PART_OF = re.compile(r"(?:exactly |only )?(?:one|none|some|most|either|neither|each|half) of\b")
"""Subjects of whose members it is not said which is meant."""
NOBODY = frozenset(
    "everyone everybody nobody someone somebody anyone people most some many few one there what who which".split()
)
FORMS: tuple[Form, ...] = ("base", "third", "past", "participle", "gerund")
DENYING = frozenset(["not", "never", "no", "longer"])
PARTICLES = frozenset("in up out off down back away over on together".split())
ADJECTIVES = frozenset("tired interested close retired closed set broken".split())
"""Participles that are said of somebody after "be"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause; `verb` is a base form, with a particle ("give+up") where it has one, or "be" for a copula."""

    subject: str
    verb: str
    rest: str
    tense: Tense = "present"
    negated: bool = False
    modality: Modality = Modality.ASSERTED
    progressive: bool = False
    passive: bool = False
    ended: bool = False
    aspect: Literal["", "start", "stop"] = ""
    adverbs: frozenset[str] = frozenset()
    ability: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Complement:
    """What follows the verb: the direct object and the prepositional phrases, in order."""

    direct: str = ""
    phrases: tuple[tuple[str, str], ...] = ()

    def at(self, preposition: str) -> str:
        """Return what stands after a preposition, or the direct object for ""; empty when there is none."""
        if not preposition:
            return self.direct
        return next((noun for found, noun in self.phrases if found == preposition), "")


def is_clause(text: str) -> bool:
    """Tell whether words have a finite verb, and before it something that may be its subject."""
    tokens = words(text)
    place = _verb_place(tokens)
    subject = [word.casefold() for word in tokens[: place or 0]]
    subject = [word for word in subject if word not in ADVERBS | HEDGES | {",", "and", "but", "so", "or", "because"}]
    return bool(subject) and subject[0] not in NOBODY and not PART_OF.match(" ".join(subject))


def behind_verb(tokens: list[str]) -> tuple[str, list[str]]:
    """Return the full verb of a clause, in its base form, and the words behind it; no verb where it has none."""
    place = _verb_place(tokens)
    if place is None:
        return "", []
    verb, word = "", tokens[place].casefold()
    while word in BE or word in HAVE or word in DO or word in MODALS or word in ADVERBS or word in ("not", "been"):
        verb = "be" if word in BE or word == "been" else "have" if word in HAVE else verb
        place += 1
        word = tokens[place].casefold() if place < len(tokens) else ""
    wanted: tuple[Form, ...] = FORMS
    if verb:
        wanted = ("gerund", "participle") if verb == "be" else ("participle",)
    full = base_of(word, *wanted)
    return (full, tokens[place + 1 :]) if full else (verb, tokens[place:])


def worded_clause(subject: str, phrase: str, thing: str) -> tuple[Clause, Complement]:
    """Return the clause that a relation in words makes with its object ("moves to" Ghent)."""
    spoken = phrase.split()
    first, *rest = [word for word in spoken if word not in DENYING and word not in DO] or spoken
    verb, passive = "be" if first in BE else base_of(first, *FORMS) or first, False
    if verb == "be" and rest and rest[0] not in ADJECTIVES and (full := base_of(rest[0], "participle", "gerund")):
        verb, passive, rest = full, participle_of(rest[0]) is not None, rest[1:]
    if (len(rest) > 1 and rest[0] in PARTICLES) or rest[:1] == ["up"]:
        verb, rest = f"{verb}+{rest[0]}", rest[1:]
    past = base_of(first, "past") is not None and base_of(first, "base") is None
    clause = Clause(
        subject=subject,
        verb=verb,
        rest=" ".join([*rest, thing]),
        tense="past" if past or BE.get(first) == "past" else "present",
        negated=not DENYING.isdisjoint(spoken),
        passive=passive,
    )
    if rest and rest[-1] in PREPOSITIONS - {"of", "than", "like"}:
        return clause, Complement(direct=" ".join(rest[:-1]), phrases=((rest[-1], thing),))
    return clause, Complement(direct=clause.rest)


def _verb_place(tokens: list[str]) -> int | None:
    for place, token in enumerate(tokens):
        word = token.casefold()
        before = tokens[place - 1].casefold() if place else ""
        if word in BE or word in HAVE or word in DO or word in MODALS:
            if word == "may" and token == "May" and place:  # noqa: S105  a word of a sentence
                continue
            if before in ("to",):
                continue
            return place
        if word == "been" and not place:
            return 0
        if word == "used" and place + 1 < len(tokens) and tokens[place + 1].casefold() == "to":
            return place
        if token[:1].isupper() and place:
            continue
        if _finite_here(tokens, place, word, before):
            return place
    return None


def _finite_here(tokens: list[str], place: int, word: str, before: str) -> bool:
    forms = {form for _, form in forms_of(word)}
    if not forms:
        return False
    if place == 0 or all(w.casefold() in ADVERBS | {"never", "not"} for w in tokens[:place]):
        return bool(forms & {"past", "participle", "gerund", "base"})
    if before in DETERMINERS or before.endswith(("'s", "s'")) or before in PREPOSITIONS or before == ",":
        return before == "that" and "third" in forms
    subject = [w for w in tokens[:place] if w.casefold() not in ADVERBS]
    head = subject[-1].casefold() if subject else ""
    if head in ("i", "you", "we", "they"):
        return bool(forms & {"base", "past"})
    if head in ("he", "she", "it", "who", "which", "this", "that"):
        return bool(forms & {"third", "past"})
    if "past" in forms:
        return True
    if "third" in forms:
        following = tokens[place + 1].casefold() if place + 1 < len(tokens) else ""
        return (
            following not in BE
            and following not in HAVE
            and not (following and "third" in {f for _, f in forms_of(following)})
        )
    plural = head.endswith("s") or any(w.casefold() == "and" for w in subject)
    return "base" in forms and plural and len(subject) <= 6
