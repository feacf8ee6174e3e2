"""What is said of everyone of a class -> the class and what holds of it ("every trainee gets a locker")."""

from __future__ import annotations

import re
from dataclasses import replace

from doxa.core.values import Atom, Term
from doxa.language.times import number_of
from doxa.language.words import ADVERBS, BE, DETERMINERS, DO, HAVE, MODALS
from doxa.memory import relation_type
from doxa.understand.atoms import ANYONE, VARIABLE, AtomReader, atoms_of
from doxa.understand.clauses import PREPOSITIONS
from doxa.understand.referents import clean, kin_of, named, term
from doxa.understand.svo import Predication, base_form, read_predication, verb_place
from doxa.understand.text import words

__all__ = ["class_halves"]

Halves = tuple[tuple[Atom, ...], tuple[Atom, ...]]
QUANTIFIER = re.compile(
    r"^(?P<only>only|just|solely)\b|^(?P<none>nobody|no one|none|not one|not a single|no)\b|"
    r"^(?P<every>every(?:one|body|thing)?|each(?: and every)?(?: one)?|all|any(?:one|body|thing)?|whoever|whatever|"
    r"who ever)\b",
    re.IGNORECASE,
)
PRONOMINAL = frozenset(
    "everyone everybody everything anyone anybody anything whoever whatever nobody those people persons folks".split()
)
AGENT = re.compile(r"(?:er|or|ee|[io]st|ant|ent|ian|eer|mate)$")
GROUPS = frozenset(
    "kid child person man woman dog cat pet adult boy girl pupil staff guest minor baby toddler refund ticket delivery "
    "shipment visit order return package parcel phone bike car shoe bag candle animal intern twin club team shop firm "
    "house flat room payment invoice meal drink song book entry body party".split()
)
"""Nouns beside those for agents ("member", "trainee") for which rules are made."""
RULED = re.compile(r"^be (?:allowed|permitted|forbidden|prohibited|banned|required|welcome|entitled|obliged|exempt)\b")
IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman", "kids": "kid", "staff": "staff",
             "wives": "wife", "knives": "knife", "leaves": "leaf", "shelves": "shelf", "mice": "mouse", "feet": "foot",
             "teeth": "tooth", "movies": "movie", "cookies": "cookie", "buses": "bus"}  # fmt: skip
NOT_NOUNS = frozenset("i you he she it we they this that these those what how just even not when if because".split())
AUX = {*BE, *HAVE, *DO, *MODALS}


def class_halves(text: str, reader: AtomReader, *, spans: re.Pattern[str], granted: re.Pattern[str]) -> Halves | None:
    """Return the condition that somebody is of a class and what follows from it; None when nothing general is said.

    Args:
        text: a sentence that opens with a quantifier, with a class and a relative clause, or with a bare plural.
        reader: who is who.
        spans: nouns that say when and not who ("every Monday").
        granted: verbs that make a sentence about a bare plural general.
    """
    match = QUANTIFIER.match(text)
    rest = re.sub(r"^(?:of |the )+", "", text[match.end() :].strip()) if match else text
    word = match[0].casefold().split()[0] if match else ""
    if (
        match
        and word not in ("whoever", "whatever")
        and spans.match(rest.split(" ")[0].rstrip(",") + " ")
        and spans.fullmatch(rest.split(" ")[0].strip(",."))
    ):
        return None
    pronominal = word in PRONOMINAL or (match is not None and match[0].casefold() in ("no one", "who ever"))
    found = _parts(rest, word=word, pronominal=pronominal, reader=reader)
    if found is None:
        return None
    condition, predicate = found
    said = read_predication(words(f"{ANYONE} {predicate}"))
    if said is None or said.tense in ("past", "would") or re.match(r"(?:is|are) (?:all |both )?[a-z]+ing\b", predicate):
        return None
    if not _general(match, condition, said, granted, rest):
        return None
    reader.subjects.append(VARIABLE)
    then = atoms_of(f"{ANYONE} {predicate}", reader)
    if match and match["none"]:
        then = tuple(replace(atom, polarity=not atom.polarity) for atom in then)
    return (then, condition) if match and match["only"] else (condition, then)


def _general(
    match: re.Match[str] | None, condition: tuple[Atom, ...], said: Predication, granted: re.Pattern[str], rest: str
) -> bool:
    bound = said.deontic == "must" or (said.deontic == "may" and not said.copula)
    ruled = bool(bound or RULED.match(said.verb) or granted.fullmatch(said.verb.split()[0]))
    bare = len(condition) == 1 and condition[0].object.key in ("person", "thing")
    if match is not None and match["only"]:
        return not re.match(
            r"(?:\d|two|three|four|a few|then|now|yesterday|today|recently|because)\b", rest, re.IGNORECASE
        )
    if match is not None:
        return ruled or not bare
    first = words(rest)[0].casefold()
    if first in ("a", "an"):
        return ruled
    if first in DETERMINERS:
        return False  # some that are known, not all there are
    relative = len(condition) > 1 or condition[0].relation.name != "is_a"
    class_ = condition[0].object.label.split()
    head = next(
        (class_[i - 1] for i, word in enumerate(class_) if i and word in PREPOSITIONS), class_[-1] if class_ else ""
    )
    group = _is_group(head)
    narrowed = any(word in PREPOSITIONS for word in class_[1:])
    return (relative and (ruled or first in PRONOMINAL or group)) or (group and (ruled or narrowed))


def _is_group(noun: str) -> bool:
    """Tell whether a noun in the singular names people or things that rules are made for."""
    return bool(AGENT.search(noun)) or noun.casefold() in GROUPS


def _parts(rest: str, *, word: str, pronominal: bool, reader: AtomReader) -> tuple[tuple[Atom, ...], str] | None:
    """Return the atoms of the class and the words of the predicate."""
    tokens = words(rest)
    if not tokens:
        return None
    relative = next((i for i, t in enumerate(tokens[:5]) if t.casefold() in ("who", "that", "which", "whose")), None)
    if word in ("whoever", "whatever", "who"):
        relative, tokens = 0, ["who", *tokens]
    if relative is not None and (relative or pronominal) and tokens[relative].casefold() != "whose":
        return _relative(tokens[:relative], tokens[relative + 1 :], pronominal, reader)
    subject = ["Qvar", *tokens] if pronominal else tokens
    place = verb_place(subject)
    if place is None:
        return None
    noun, predicate = subject[1:place] if pronominal else subject[:place], " ".join(subject[place:])
    noun = [token for token in noun if token.casefold() not in ADVERBS - {"all"}]
    if pronominal:
        return _restricted(noun, reader), predicate
    noun, others = _excepted(noun)
    class_ = None if "," in noun else _class(noun, reader)
    exception = _class(others, reader) if others else None
    if class_ is None or (others and exception is None):
        return None
    return (class_,) if exception is None else (class_, replace(exception, polarity=False)), predicate


def _excepted(noun: list[str]) -> tuple[list[str], list[str]]:
    """Split "my siblings except Tom" in two."""
    place = next((i for i, token in enumerate(noun) if i and token.casefold() in ("except", "besides")), len(noun))
    return noun[:place], [token for token in noun[place + 1 :] if token.casefold() != "for"]


def _restricted(noun: list[str], reader: AtomReader) -> tuple[Atom, ...]:
    """Read what narrows "everyone" or "nobody" down: "on my team", "in the office"."""
    words_ = [token for token in noun if token != ","]
    if words_ and words_[0].casefold() in PREPOSITIONS:
        return atoms_of(f"{ANYONE} is {' '.join(words_)}", reader)
    return (_is_a(term("person")),)


def _relative(
    noun: list[str], rest: list[str], pronominal: bool, reader: AtomReader
) -> tuple[tuple[Atom, ...], str] | None:
    split = _second_verb(rest) if rest else None
    if split is None:
        return None
    reader.subjects.append(VARIABLE)
    condition = atoms_of(f"{ANYONE} {' '.join(rest[:split]).strip(' ,')}", reader)
    head = [token for token in noun if token.casefold() not in PRONOMINAL]
    if head and pronominal:
        condition = (*(atom for atom in _restricted(head, reader) if atom.relation.name != "is_a"), *condition)
    elif head:
        class_ = _class(head, reader)
        if class_ is None:
            return None
        condition = (class_, *condition)
    predicate = " ".join(rest[split:]).strip(" ,")
    return (condition, predicate) if condition else None


def _second_verb(tokens: list[str]) -> int | None:
    """Return where the main clause goes on after a relative clause ("parks in the yard | gets a fine")."""
    places = [i for i in range(1, len(tokens)) if _may_go_on(tokens, i)]
    sure = [i for i in places if tokens[i - 1] == "," or tokens[i].casefold() in AUX]
    third = [i for i in places if base_form(tokens[i], "third") and not base_form(tokens[i], "base")]
    agreed = third if tokens[0].casefold() in ("is", "has", "does") or base_form(tokens[0], "third") else []
    return next(iter(sorted([*sure, *agreed]) or places), None)


def _may_go_on(tokens: list[str], place: int) -> bool:
    word, before = tokens[place].casefold(), tokens[place - 1].casefold()
    if before in DETERMINERS | PREPOSITIONS | AUX | {"not", "never", "to", "and", "or", "the"} or before.endswith("'s"):
        return False
    if word not in AUX and (tokens[place][0].isupper() or not base_form(word, "base", "third")):
        return False
    return read_predication([ANYONE, *tokens[:place]]) is not None and place + 1 < len(tokens) + 1


def _class(noun: list[str], reader: AtomReader) -> Atom | None:
    """Return that the variable is of the class which a noun phrase names."""
    text = " ".join(noun).replace(" ,", ",").strip(" ,")
    if {word.casefold() for word in noun} & (AUX | NOT_NOUNS):
        return None
    if noun and noun[0].casefold() not in ("a", "an") and number_of(noun[0]) is not None:
        return None  # "all three kids" are some that are known
    if len(noun) > 1 and text.split()[0].endswith("ing"):
        return None  # "mentoring beginners" is no class
    if text and _is_group(_singular(text.split()[0])):
        text = text[:1].casefold() + text[1:]
    if not text or text.casefold() in (
        "it",
        "this",
        "that",
        "i",
        "we",
        "you",
        "they",
        "he",
        "she",
        "of us",
        "us",
        "them",
    ):
        return None
    owned = re.match(r"(my|our|his|her|your)\s+(.+)$", text, re.IGNORECASE) or re.match(
        r"(.+?)(?:'s|(?<=s)')\s+(.+)$", text
    )
    if owned:
        whose = reader.referents.owner(owned[1]) if owned[1].casefold() in ("my", "our", "his", "her", "your") else None
        whose = whose or reader.referents.resolve(owned[1]) or term(owned[1])
        singular = _singular(owned[2])
        return _is_a(term(f"{whose.label}'s {kin_of(singular) or singular}"))
    if (kin_of(text) and text[0].isupper()) or named(text):
        return _is_a(reader.referents.resolve(text) or term(text))
    return _is_a(term(_singular(clean(text) or text)))


def _is_a(class_: Term) -> Atom:
    return Atom(subject=VARIABLE, relation=relation_type("is_a").relation, object=class_, span=class_.label)


def _singular(noun: str) -> str:
    """Return a noun phrase with its head in the singular ("kids under six" -> "kid under six")."""
    tokens = noun.split()
    head = next(
        (i - 1 for i, word in enumerate(tokens) if i and word.casefold() in PREPOSITIONS | {"of"}), len(tokens) - 1
    )
    word = tokens[head]
    low = word.casefold()
    if low in IRREGULAR:
        single = IRREGULAR[low]
    elif low.endswith("ies") and len(low) > 4:
        single = word[:-3] + "y"
    elif re.search(r"(?:s|x|z|ch|sh)es$", low):
        single = word[:-2]
    elif low.endswith("s") and not low.endswith(("ss", "us", "is")):
        single = word[:-1]
    else:
        single = word
    return " ".join([*tokens[:head], single, *tokens[head + 1 :]])
