"""Clauses: subject, verb group and complement, found from the verb forms and the function words around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from doxa.core.values import Modality
from doxa.language.verbs import base_of, forms_of
from doxa.language.words import ADVERBS, BE, DETERMINERS, DO, HAVE, HEDGES, MODALS, PREPOSITIONS, Tense
from doxa.understand.verbgroup import VerbGroup, read_group

__all__ = ["PART_OF", "STOPPERS", "Clause", "Complement", "complement_of", "parse_clause"]

SUBJECT_PRONOUNS = frozenset("i you he she it we they who that which this there everyone everybody someone".split())
SPLITTERS = PREPOSITIONS - {"of", "than", "like"}
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
LEADS = frozenset(
    "on in since until from at last next this yesterday today tomorrow tonight for after before "
    "by these nowadays a an two three four "
    "five six every back".split()
)
PART_OF = re.compile(r"(?:exactly |only )?(?:one|none|some|most|either|neither|each|half) of\b")
"""Subjects of whose members it is not said which is meant."""
NOBODY = frozenset(
    "everyone everybody nobody someone somebody anyone people most some many few one there what who which".split()
)


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


def parse_clause(tokens: list[str], *, terse: bool = False) -> Clause | None:
    """Return the clause that the words make, or None.

    Args:
        tokens: words of one clause.
        terse: chat style, where the subject may be left out ("Moved to Bonn").
    """
    start = _verb_place(tokens)
    if start is None or (start == 0 and not terse):
        return None
    subject = [word for word in tokens[:start] if word.casefold() not in HEDGES]
    while subject and (subject[-1].casefold() in ADVERBS - {"all", "both"} or subject[-1] == ","):
        subject.pop()
    while subject and (subject[0].casefold() in ADVERBS | {"and", "but", "so", "or", "because"} or subject[0] == ","):
        subject.pop(0)
    group = VerbGroup(tokens=tokens, place=start)
    group.adverbs.update(w.casefold() for w in tokens[:start] if w.casefold() in ADVERBS)
    group.negated = any(w.casefold() == "never" for w in tokens[:start])
    subject = [w for w in subject if w.casefold() != "never"]
    if not subject and terse and re.fullmatch("born|raised|based|married|been", tokens[start], re.IGNORECASE):
        group.passive = tokens[start].casefold() != "been"
        group.tense = "present" if tokens[start].casefold() == "based" else "past" if group.passive else "perfect"
    verb = read_group(group)
    if verb is not None and (
        not _nominal(subject) or (not subject and base_of(tokens[start], "gerund") and len(tokens) < start + 3)
    ):
        return None
    if verb is None or (not subject and (not terse or _imperative(tokens, start, group))):
        return None
    if group.adverbs & HEDGES and group.modality in (Modality.ASSERTED, Modality.PLANNED):
        group.modality = Modality.POSSIBLE
    return Clause(
        subject=" ".join(subject).replace(" ,", ","),
        verb=verb,
        rest=" ".join(tokens[group.place :]),
        tense=group.tense,
        negated=group.negated,
        modality=group.modality,
        progressive=group.progressive,
        passive=group.passive,
        ended=group.ended,
        aspect=group.aspect,
        adverbs=frozenset(group.adverbs),
        ability=group.ability,
    )


def _nominal(subject: list[str]) -> bool:
    """Tell whether words can be a subject: a pronoun on its own, or a short phrase without one."""
    lowered = [word.casefold() for word in subject]
    if len(subject) > 1 and not ("and" in lowered or "," in lowered):
        text_from = next((i for i, w in enumerate(lowered) if w not in LEADS and not w[0].isdigit()), 0)
        core = lowered[text_from:]
        if len(core) > 1 and any(word in SUBJECT_PRONOUNS - {"this", "that"} for word in core[:-1]):
            return False
        if core[-1] in SUBJECT_PRONOUNS and core[:-1] and not _leads(subject[:-1]):
            return False
        if core[0] in ("that", "this") and core[1:] and not core[1:2][0].isalpha():
            return False
        if core[0] in ("that",) and base_of(core[-1], "third"):
            return False
    if not subject:
        return True
    if lowered[0] in ("not", "no") or PART_OF.match(" ".join(lowered)):
        return False
    if lowered[-1] in ("and", "or", ",") or lowered[0] in NOBODY:
        return False
    return not (
        len(subject) == 1
        and subject[0].islower()
        and lowered[0] not in SUBJECT_PRONOUNS
        and base_of(lowered[0], "third", "past") is not None
    )


def _leads(subject: list[str]) -> bool:
    """Tell whether the words before a subject can be a time ("On Saturday", "Last week")."""
    return bool(subject) and (subject[0].casefold() in LEADS or subject[0][:1].isdigit())


def _imperative(tokens: list[str], start: int, group: VerbGroup) -> bool:
    """Without a subject a base form is an order ("Fry some garlic"), unless it is a chatty "love it"."""
    word = tokens[start].casefold()
    if word in ("love", "hate", "prefer", "like"):
        return False
    if word == "never" or word == "been":
        return False
    return (
        (base_of(word, "base") == word and base_of(word, "past") != word) or word in BE or word in DO or word in MODALS
    )


def _verb_place(tokens: list[str]) -> int | None:
    for place, token in enumerate(tokens):
        word = token.casefold()
        before = tokens[place - 1].casefold() if place else ""
        if word in BE or word in HAVE or word in DO or word in MODALS:
            if word == "may" and token == "May" and place:
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


def complement_of(rest: str) -> Complement:
    """Return the parts of what follows the verb, up to the next clause."""
    match = STOPPERS.search(rest)
    if match:
        rest = rest[: match.start()]
    tokens = rest.strip(" ,").split()
    direct: list[str] = []
    phrases: list[tuple[str, list[str]]] = []
    for place, token in enumerate(tokens):
        word = token.casefold()
        if (
            word == "to"
            and place + 1 < len(tokens)
            and base_of(tokens[place + 1], "base")
            and tokens[place + 1].islower()
        ):
            break
        if direct and _while(tokens, place):
            break
        if word in SPLITTERS and not (phrases and not phrases[-1][1]):
            phrases.append((word, []))
        elif phrases:
            phrases[-1][1].append(token)
        else:
            direct.append(token)
    pairs = tuple((prep, _noun(words)) for prep, words in phrases if words)
    return Complement(direct=_noun(direct), phrases=pairs)


def _while(tokens: list[str], place: int) -> bool:
    """Tell whether a gerund opens what happened meanwhile ("my arm falling off a ladder")."""
    following = tokens[place + 1].casefold() if place + 1 < len(tokens) else ""
    joined = tokens[place - 1].casefold() in DETERMINERS | {"and", "or", ","}
    opens = following in SPLITTERS | DETERMINERS and not joined
    return bool(place and opens and base_of(tokens[place], "gerund") and tokens[place].islower())


def _noun(words: list[str]) -> str:
    text = " ".join(words).replace(" ,", ",").strip(" ,;:")
    head, comma, tail = text.partition(", ")
    listed = re.search(r"\b(?:and|or|plus)\b", tail) or all(part[:1].isupper() for part in tail.split(", "))
    return text if not comma or listed else head  # "cats, funny enough": what follows comments on it
