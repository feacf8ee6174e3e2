"""Any clause, whatever its verb -> subject, verb phrase and object, in plain subject-verb-object order.

The patterns for claims know the verbs that they know. A rule must not be lost because its verb is not among them, so
here the verb is found by its form and its place, and the words after it are taken as they stand.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from doxa.language.verbs import forms_of, participle_of
from doxa.language.words import ADVERBS, BE, DETERMINERS, DO, HAVE, MODALS, PREPOSITIONS, SUBJECTS

__all__ = ["ENDING", "Predication", "base_form", "read_predication", "verb_place"]

Deontic = Literal["", "must", "may"]
AUX = {*BE, *HAVE, *DO, *MODALS}
ONE_WORD = frozenset(
    "i you he she it we they who that this these those everyone everybody someone somebody anyone anybody nobody "
    "qvar there nothing everything something anything".split()
)
OBLIGED = {"must": "must", "should": "must", "shall": "must", "can": "may", "may": "may"}
PARTICLES = frozenset("up out off down away back together apart".split())
LIGHT = frozenset("in on over along around through by across about under".split())
"""Words that are particles at the end of a clause and prepositions before a noun."""
NEGATIONS = frozenset(["not", "never", "hardly", "rarely", "seldom"])
OBJECTS = frozenset("me him us them it".split())
CAUSING = frozenset("let make help allow want ask tell force expect remind teach".split())
"""Verbs whose object does something: what it does belongs to what is said."""
GIVING = frozenset("give owe pay send lend show bring buy cost get charge hand offer promise sell teach".split())
"""Verbs with a receiver before what is given."""
ENDING = re.compile(r" (?:before|after|by|until|till|since|on|from|at|in)$")
COMPOUND = frozenset([("take", "place"), ("take", "part"), ("make", "sure"), ("go", "wrong")])
"""Verbs whose meaning lies in the noun after them."""
VERBAL = frozenset(
    "take make get give go come eat hear see buy sell pay know bring keep tell let put become begin leave lose meet "
    "send sit speak spend wear win write choose agree arrive ask bake include contain require happen exist want "
    "stay remain seem belong".split()
)
PARTITIVE = frozenset("of than like as".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Predication:
    """A clause taken apart. `verb` is a base form, with its preposition or particle ("stay in", "be late with")."""

    subject: str
    verb: str
    object: str
    negated: bool = False
    deontic: Deontic = ""
    tense: Literal["present", "past", "future", "would"] = "present"
    copula: bool = False
    """The object is what the subject is, not what it does something to."""


@cache
def _lexicon() -> frozenset[str]:
    data = tomllib.loads(files("doxa.understand").joinpath("rules.toml").read_text(encoding="utf-8"))
    return frozenset(data["words"]["verbs"].split())


@cache
def dropped_tails() -> re.Pattern[str]:
    """Return the expression for adverbials that end a clause and are no part of what it says."""
    data = tomllib.loads(files("doxa.understand").joinpath("rules.toml").read_text(encoding="utf-8"))
    return re.compile(rf"(?:^|,? )(?:{'|'.join(data['words']['tails'])})$", re.IGNORECASE)


def read_predication(tokens: list[str]) -> Predication | None:
    """Return the parts of a clause without its times, or None when it has no subject and verb. Cost O(words)."""
    place = verb_place(tokens)
    if place is None or not place or _is_order(tokens):
        return None
    subject = _subject(tokens[:place])
    if not subject or _two_subjects(subject):
        return None
    group = _Group(tokens=tokens, place=place)
    group.negated = any(token.casefold() in NEGATIONS for token in tokens[:place])
    verb = group.read()
    if verb is None:
        return None
    found = Predication(
        subject=subject, verb=verb, object="", negated=group.negated, deontic=group.deontic, tense=group.tense
    )
    rest = dropped_tails().sub("", " ".join(tokens[group.place :]).replace(" ,", ",").strip(" ,")).split()
    return _described(found, rest) if verb == "be" else _done(found, rest)


def _two_subjects(subject: str) -> bool:
    """Tell whether a pronoun stands where a noun phrase ends, so that another clause begins there ("the car it")."""
    tokens = subject.casefold().split()
    return len(tokens) > 1 and tokens[-1] in SUBJECTS and not {"and", "or"} & set(tokens)


def _is_order(tokens: list[str]) -> bool:
    """Tell whether a clause is an order ("tell them I am out")."""
    tokens = tokens[next((i for i, t in enumerate(tokens) if t.casefold() not in ADVERBS), 0) :]
    if len(tokens) < 2:
        return False
    first, second = tokens[0].casefold(), tokens[1].casefold()
    pointed = second in OBJECTS | DETERMINERS | PREPOSITIONS
    return first in ("please", "let", "do") or (pointed and tokens[0].islower() and base_form(first, "base") == first)


def _subject(tokens: list[str]) -> str:
    kept = [token for token in tokens if token.casefold() not in ADVERBS | NEGATIONS or token.casefold() == "all"]
    return " ".join(kept).replace(" ,", ",").strip(" ,")


def verb_place(tokens: list[str]) -> int | None:
    """Return where the verb group of a clause begins; None when no word can be its verb."""
    loose: int | None = None
    for place, token in enumerate(tokens):
        word = token.casefold()
        if not place:
            if word in AUX and not _name_of(tokens):
                return None  # a question or an order
            continue
        if tokens[place - 1].casefold() == "to":
            continue
        if word in AUX and not (word in ("can", "will", "may", "might") and _noun_wanted(tokens, place)):
            return place
        if token[0].isupper() or not token[0].isalpha() or _noun_wanted(tokens, place):
            continue
        fit = _fits(tokens, place)
        if fit == "yes":
            return place
        if fit == "maybe" and loose is None:
            loose = place
    return loose


def _name_of(tokens: list[str]) -> bool:
    """Tell whether a modal that opens a clause is a name ("Will is late")."""
    following = tokens[1].casefold() if len(tokens) > 1 else ""
    return tokens[0] in ("May", "Will", "Can", "Mark") and (
        following in AUX or base_form(following, "third") is not None
    )


def _noun_wanted(tokens: list[str], place: int) -> bool:
    before = tokens[place - 1].casefold()
    if before in ONE_WORD - {"that", "this", "these", "those"}:
        return False
    return before in DETERMINERS | {",", "and", "or"} or before.endswith(("'s", "s'")) or before in PREPOSITIONS


def _fits(tokens: list[str], place: int) -> Literal["yes", "maybe", "no"]:
    """Tell whether a word can be the verb of the subject before it, by its form."""
    word = tokens[place].casefold()
    subject = [token for token in tokens[:place] if token.casefold() not in ADVERBS | NEGATIONS]
    if not subject or word in ADVERBS | NEGATIONS | PREPOSITIONS | DETERMINERS | {"else"}:
        return "no"
    if word.endswith("ly") and not _forms(word):
        return "no"
    head = subject[-1].casefold()
    if word in ("and", "or", "but", "all", "both", "of", "who", "which", "that"):
        return "no"
    if head in ONE_WORD and (len(subject) == 1 or head == "qvar" or subject[-2].casefold() in ("and", "or")):
        return "yes"
    forms = _forms(word)
    if not forms:
        name = len(subject) == 1 and subject[0][0].isupper() and subject[0].casefold() not in DETERMINERS
        noun = len(subject) == 2 and subject[0].casefold() in DETERMINERS | {"the"}
        return "maybe" if (name or noun) and re.search(r"(?:s|ed)$", word) else "no"
    if not _surely(tokens, place) and _opens_verb(tokens, place + 1):
        return "maybe"  # "the office plants need": the next word is the better verb
    if "third" in forms or "past" in forms:
        return "yes"
    several = head.endswith("s") or head in ("people", "children", "men", "women") or "and" in tokens[:place]
    return "yes" if "base" in forms and several else "maybe" if "base" in forms else "no"


def _surely(tokens: list[str], place: int) -> bool:
    """Tell whether a form in -s is hardly ever a plural noun ("takes", unlike "plants")."""
    return tokens[place].casefold() != "needs" and base_form(tokens[place], "third") in VERBAL


def _opens_verb(tokens: list[str], place: int) -> bool:
    word = tokens[place].casefold() if place < len(tokens) else ""
    if word in AUX:
        return True
    if place + 1 >= len(tokens):
        return False  # "the dog hears thunder"
    before = tokens[place - 1].casefold()
    agreed = {"base", "past"} if before.endswith("s") else {"third"}
    return bool(_forms(word) & agreed) and word not in PREPOSITIONS


def _forms(word: str) -> set[str]:
    known: set[str] = {form for _, form in forms_of(word)}
    if known:
        return known
    return {form for form, base in _guesses(word) if base in _lexicon()}


def _guesses(word: str) -> list[tuple[str, str]]:
    """Return every (form, base) that the ending of a word allows."""
    found = [("base", word)]
    if word.endswith("s") and not word.endswith("ss"):
        found += [("third", word[:-1]), ("third", word.removesuffix("es")), ("third", re.sub("ies$", "y", word))]
    if word.endswith("ed"):
        stem = word[:-2]
        found += [("past", stem), ("past", stem + "e"), ("past", re.sub("i$", "y", stem)), ("past", _single(stem))]
    if word.endswith("ing"):
        stem = word[:-3]
        found += [("gerund", stem), ("gerund", stem + "e"), ("gerund", _single(stem))]
    return found


def _single(stem: str) -> str:
    return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem


def base_form(word: str, *forms: str) -> str | None:
    """Return the base of a verb form by lexicon; None when it is no such form of a known verb."""
    word = word.casefold()
    known = next((base for base, form in forms_of(word) if form in forms), None)
    wanted = {"past" if form == "participle" else form for form in forms}
    return known or next((base for form, base in _guesses(word) if form in wanted and base in _lexicon()), None)


@dataclass(slots=True)
class _Group:
    """The verb group while it is read."""

    tokens: list[str]
    place: int
    negated: bool = False
    deontic: Deontic = ""
    tense: Literal["present", "past", "future", "would"] = "present"
    bare: bool = False

    def word(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place].casefold() if place < len(self.tokens) else ""

    def skip(self) -> None:
        while self.word() in NEGATIONS or (self.word() in ADVERBS and self.word(1)):
            self.negated |= self.word() in NEGATIONS
            self.place += 1
        if self.word() == "no" and self.word(1) in ("longer", "more"):
            self.negated, self.place = True, self.place + 2

    def read(self) -> str | None:
        """Return the main verb in its base form; `place` is left after it."""
        for _ in range(8):
            self.skip()
            word = self.word()
            if not word:
                return None
            if word in MODALS and not self.bare:
                self._modal(word)
            elif word in DO and not self.bare and base_form(self._next(), "base"):
                self.tense = "past" if word == "did" else self.tense
                self.bare, self.place = True, self.place + 1
            elif word == "had" and self.word(1) == "better" and self.word(2):
                self._oblige()
            elif word in HAVE and self._perfect(word):
                continue
            elif word in BE or word in ("been", "being"):
                verb = self._be(word)
                if verb:
                    return verb
            elif word in ("need", "needs") and self.word(1) == "to" and self.word(2):
                self._oblige()
            else:
                return self._main(word)
        return None

    def _modal(self, word: str) -> None:
        self.deontic = OBLIGED.get(word, self.deontic)  # type: ignore[assignment]  # values are of its type
        self.tense = "future" if word == "will" else "would" if word in ("would", "could", "might") else self.tense
        self.bare, self.place = True, self.place + 1

    def _oblige(self) -> None:
        self.deontic, self.bare, self.place = "must", True, self.place + 2

    def _next(self) -> str:
        rest = (token.casefold() for token in self.tokens[self.place + 1 :])
        return next((word for word in rest if word not in ADVERBS | NEGATIONS), "")

    def _perfect(self, word: str) -> bool:
        """Read "have to", "have got" and the perfect; False when "have" is the main verb."""
        if self.word(1) == "to" and self.word(2):
            self._oblige()
            return True
        following = self._next()
        if following == "got" or following == "been" or base_form(following, "participle"):
            if following == "got" and self.word(2) == "to":
                self.place += 1
                self._oblige()
                return True
            self.tense = "past" if word == "had" else self.tense
            self.place += 1
            if following == "got":
                self.skip()
                self.tokens = [*self.tokens[: self.place], "have", *self.tokens[self.place + 1 :]]
                self.bare = True
                return True
            self.bare = False
            return True
        return False

    def _be(self, word: str) -> str | None:
        """Read what follows "be": None to go on with a progressive, "be" or "be done" else."""
        self.tense = "past" if word in ("was", "were") and not self.bare else self.tense
        self.place += 1
        self.skip()
        following, after = self.word(), self.word(1)
        if not following:
            return "be"
        if following == "going" and after == "to" and base_form(self.word(2), "base", "third"):
            self.bare, self.place, self.tense = True, self.place + 2, "future"
            return None
        if following in ("supposed", "about", "bound", "obliged", "required", "meant") and after == "to":
            self.deontic = self.deontic if following == "about" else "must"
            self.bare, self.place = True, self.place + 2
            return None
        if following in ("able", "allowed", "permitted", "free", "welcome") and after == "to":
            self.deontic, self.bare, self.place = "may", True, self.place + 2
            return None
        if following in ("allowed", "permitted"):
            self.deontic = "may"
            return self._done_to(following)
        if base_form(following, "gerund") and following not in ("interesting", "boring", "annoying", "missing"):
            return None
        if participle_of(following) or (following.endswith("ed") and base_form(following, "past")):
            return self._done_to(following)
        return "be"

    def _done_to(self, participle: str) -> str:
        self.place += 1
        return f"be {participle}"

    def _main(self, word: str) -> str:
        self.place += 1
        if self.bare:
            return word
        base = base_form(word, "base", "third", "past", "participle", "gerund")
        if base and base_form(word, "past") and base != word and not word.endswith("s"):
            self.tense = "past" if base_form(word, "third") is None else self.tense
        return base or (re.sub(r"(?<=[a-z]{2})(?<!s)s$", "", word) if word.endswith("s") else word)


def _described(found: Predication, rest: list[str]) -> Predication:
    """Read what follows "be": "late with the rent", "a member", "on call", "off"."""
    found = replace(found, copula=True)
    words = [word.casefold() for word in rest]
    cut = next((i for i, word in enumerate(words) if word in PREPOSITIONS | {"to"} and word not in PARTITIVE), None)
    determined = bool(words) and words[0] in DETERMINERS | {"the"}
    if cut is None or (determined and cut):
        end = cut if determined and cut and words[cut] != "of" else len(rest)
        return replace(found, object=" ".join(rest[:end]))
    if cut <= 2 and cut + 1 < len(rest):
        verb = " ".join(["be", *rest[: cut + 1]])
        return replace(found, verb=verb, object=_noun(rest[cut + 1 :]), copula=False)
    return replace(found, object=" ".join(rest[: cut or len(rest)]))


def _done(found: Predication, rest: list[str]) -> Predication:
    """Read what follows a full verb: its particle, its object, or the first of its prepositions with the noun."""
    verb = found.verb
    word = rest[0].casefold() if rest else ""
    if word in PARTICLES or (word in LIGHT and (len(rest) == 1 or rest[1].casefold() in PREPOSITIONS)):
        verb, rest = f"{verb} {word}", rest[1:]
    if not rest:
        return replace(found, verb=verb)
    words = [token.casefold() for token in rest]
    if words[0] == "to" and len(rest) > 1 and base_form(words[1], "base") and words[1] not in ("school", "work"):
        return _done(replace(found, verb=f"{verb} to {words[1]}"), rest[2:])
    if (words[0] in PREPOSITIONS and words[0] not in ("like", "than")) or words[0] in ("till", "until"):
        return replace(found, verb=f"{verb} {words[0]}", object=_noun(rest[1:]))
    if (verb, words[0]) in COMPOUND:
        return _done(replace(found, verb=f"{verb} {words[0]}"), rest[1:])
    if verb in CAUSING and len(rest) > 2:
        return replace(found, verb=verb, object=" ".join(rest))
    if (
        verb in GIVING
        and len(rest) > 1
        and words[0] in OBJECTS | {"you", "her"}
        and words[1] not in PREPOSITIONS | {"to"}
    ):
        rest = rest[1:]
    return replace(found, verb=verb, object=_noun(rest))


def _noun(rest: list[str]) -> str:
    """Return the noun phrase that some words open with."""
    words = [word.casefold() for word in rest]
    for place, word in enumerate(words):
        opens = word in PREPOSITIONS | {"to", "because", "while", "when", "so", "but"} and word not in PARTITIVE
        counted = words[place - 1 : place + 1] == ["up", "to"]
        if place and opens and not counted and words[place - 1] not in ("and", "or") and place + 1 < len(words):
            rest = rest[:place]
            break
    text = " ".join(rest).replace(" ,", ",").strip(" ,")
    head, comma, tail = text.partition(", ")
    return text if not comma or re.search(r"\b(?:and|or)\b", tail) else head  # what follows comments on it
