"""An event, a relation and a tail -> a statement about the people of a conversation (table I).

Tails come as people wrote them: "to save money", "save money", "saves money", "money", "PersonX saves money". What kind
one is, is told by lists of common words and by the order of words, not by a parse; a rare verb may pass for a thing.
"""

from __future__ import annotations

import re
import tomllib
from enum import Enum, auto
from importlib.resources import files

from doxa.core.background import RELATIONS

__all__ = ["neutral", "statement"]

PERSON = re.compile(r"\bperson ?([xyz])\b", re.IGNORECASE)
SUBJECT = re.compile(r"^person ?x (?!and\b|or\b)", re.IGNORECASE)
"""A tail that names PersonX as its own subject."""
BLANK = re.compile(r"_{2,}")
PLACE = re.compile(r"\bx\b|\{event\}|\{tail\}")
COPULA = re.compile(r"^(?:to )?(?:is|are|be|being|feels?|feeling|seen as|as)(?: (?:seen as|as))? ", re.IGNORECASE)
SOMEBODY = {"x": "the person", "y": "the other", "z": "somebody else"}
DOING = {"xNeed", "xWant", "xIntent"}
"""Relations whose tails are what somebody does, or something that they lack."""
BEING = {"xAttr", "xReact"}
"""Relations whose tails are what somebody is like."""
TO = re.compile(r"^(not )?too? ", re.IGNORECASE)
ECHO = {"xNeed": re.compile(r"^(to )?need(s|ed)? ", re.IGNORECASE)} | dict.fromkeys(
    ("xWant", "xIntent"), re.compile(r"^(to )?want(s|ed)? ", re.IGNORECASE)
)
"""The verb of the statement, where a tail says it again."""
IRREGULAR = {"is": "be", "are": "be", "was": "be", "has": "have"}


class Kind(Enum):
    """What a tail is in a sentence."""

    TO = auto()
    """to save money"""
    VERB = auto()
    """save money"""
    THIRD = auto()
    """saves money, can save money"""
    CLAUSE = auto()
    """they save money"""
    STATE = auto()
    """happy, in debt"""
    THING = auto()
    """money"""


def neutral(event: str, *, x: str = SOMEBODY["x"], y: str = SOMEBODY["y"]) -> str:
    """Return it with its places filled: "PersonX pays PersonY ___" -> "the person pays the other something".

    Args:
        event: an event or tail.
        x: who PersonX is.
        y: who PersonY is.
    """
    names = {"x": x, "y": y, "z": SOMEBODY["z"]}
    blanks = BLANK.sub("something", event)
    return " ".join(PERSON.sub(lambda found: names[found[1].lower()], blanks).split())


def statement(event: str, relation: str, tail: str, *, x: str = SOMEBODY["x"], y: str = SOMEBODY["y"]) -> str:
    """Return an inference in words, by the statement of its relation: "as a result, the person wants to save money".

    The statements are those of table I, and tails are fitted to them: what somebody does gets its "to", a thing gets
    none; an effect has "will" where it does not bring a finite verb; a clause with its own subject stands by itself.

    Args:
        event: what happens, with PersonX and PersonY where it speaks of them.
        relation: a name in `RELATIONS`.
        tail: what is inferred.
        x: who PersonX is.
        y: who PersonY is.
    """
    words = RELATIONS[relation].statement
    bare = _without_capital(" ".join(tail.split()).rstrip(". "))
    if RELATIONS[relation].about == "person":
        words, bare = _fitted(words, relation, SUBJECT.sub("", bare))
    elif relation == "xReason":
        words, bare = _reason(words, bare)
    said = {"x": x, "{event}": neutral(event, x=x, y=y), "{tail}": neutral(bare, x=x, y=y)}
    return PLACE.sub(lambda found: said[found[0]], words)


def _fitted(words: str, relation: str, tail: str) -> tuple[str, str]:
    """Return the statement of a relation about a person, and a tail that fits into it."""
    if relation in BEING:
        kind, rest = _kind(tail), COPULA.sub("", tail)
        if relation == "xReact" and kind is Kind.CLAUSE:
            return words.replace("{tail}", "that {tail}"), tail
        return words, rest
    if relation in DOING:
        tail = ECHO[relation].sub("", tail)
        return words, _wanted(_kind(tail), tail)
    return _effect(words, _kind(tail), tail)


def _wanted(kind: Kind, tail: str) -> str:
    """Return a tail as it stands after "wants"."""
    match kind:
        case Kind.TO:
            return TO.sub(lambda found: f"{found[1] or ''}to ", tail)
        case Kind.VERB:
            return f"to {tail}"
        case Kind.THIRD:
            return _infinitive(tail)
        case Kind.STATE:
            return f"to be {tail}"
        case Kind.CLAUSE:
            return f"that {tail}"
        case _:
            return tail


def _infinitive(tail: str) -> str:
    """Return "to save money" for "saves money", "not to save money" for "does not save money", else the tail."""
    first, _, rest = tail.partition(" ")
    base, denied = _base(first.removesuffix("n't")), first.endswith("n't") or rest.startswith("not ")
    if not base:
        return tail
    rest = rest.removeprefix("not ")
    return f"not to {'' if base == 'do' else f'{base} '}{rest}" if denied else f"to {base} {rest}".rstrip()


def _effect(words: str, kind: Kind, tail: str) -> tuple[str, str]:
    """Return "as a result, x will {tail}" for a tail of a kind."""
    first = tail.partition(" ")[0]
    match kind:
        case Kind.TO:
            return words, TO.sub(lambda found: found[1] or "", tail)
        case Kind.THIRD:
            return words.replace("x will", "x"), tail
        case Kind.CLAUSE:
            return words.replace("x will ", ""), tail
        case Kind.STATE:
            return words, f"be {tail}"
        case Kind.THING if _is_plural(first):  # of single words, most are verbs that the list lacks: "smirks"
            return words.replace("x will", "x"), tail
        case Kind.THING:
            return words, f"{'be' if first.endswith('ing') else 'have'} {tail}"
        case Kind.VERB:
            return words, tail


def _reason(words: str, tail: str) -> tuple[str, str]:
    """Return "{event} because {tail}": a thing stands after "of", and what somebody does is what they want."""
    kind = _kind(tail)
    if kind is Kind.THING:
        return words, f"of {tail}" if not tail.lower().startswith("of ") else tail
    if kind in (Kind.VERB, Kind.TO):
        return words.replace("{tail}", "x wants {tail}"), _wanted(kind, tail)
    return words, tail


def _kind(tail: str) -> Kind:
    """Tell what a tail is; PersonX as its subject has been taken away."""
    first, *rest = PERSON.sub(r"person\1", tail.lower()).split() or [""]
    then = rest[0] if rest else ""
    if (first == "not" and then == "to") or (rest and first == "to") or (first == "too" and then in VERBS):
        return Kind.TO
    if (first in SUBJECTS and rest) or PERSON.match(tail) or first.partition("'")[0] in SUBJECTS - {first}:
        spoken = first.partition("'")[0] in SUBJECTS - {first} or then.endswith("ed")
        return Kind.CLAUSE if spoken or _is_clause(rest) else Kind.THING
    if _is_verb(first) or (first == "not" and _is_verb(then)) or (then in DETERMINERS and not _is_known(first)):
        bare = not _is_plural(first) or first in VERBS
        return Kind.THING if first in THINGS and not rest else Kind.VERB if bare else Kind.THIRD
    if first in FINITE or (_base(first) and (rest or _base(first) not in THINGS)):
        return Kind.THIRD
    if _is_state(first) or (first in DEGREES and _is_state(then)) or first in PLACES:
        linked = first in PLACES or all(word in LINKS or word.endswith("ly") for word in rest[first in DEGREES :][:1])
        return Kind.STATE if linked else Kind.THING
    return Kind.CLAUSE if _is_clause(rest) else Kind.THING


def _is_known(word: str) -> bool:
    """Tell whether a word is in a list that says what it is, if not a verb; gerunds and "no one the wiser" aside."""
    listed = (OPENERS, LINKS, DEGREES, PLACES, FINITE, DETERMINERS, SUBJECTS)
    return word.endswith("ing") or _is_state(word) or bool(_base(word)) or any(word in one for one in listed)


def _is_clause(rest: list[str]) -> bool:
    """Tell whether there is a finite verb after the first word; what follows "to" or "that" has its own."""
    for place, word in enumerate(rest):
        if word in ("to", "that", "who", "which"):
            return False
        if word in FINITE or (_base(word) and (_base(word) not in THINGS or place)) or (place == 0 and word in VERBS):
            return True
    return False


def _without_capital(tail: str) -> str:
    """Return a tail that does not begin like a sentence: common words get a small letter, names keep theirs."""
    first = tail.partition(" ")[0].lower()
    common = _is_verb(first) or first == "to" or (first != "i" and _is_known(first))
    return tail[:1].lower() + tail[1:] if common else tail


def _is_verb(word: str) -> bool:
    return word in VERBS or (len(word) > 5 and word.endswith(("ize", "ify")))


def _is_state(word: str) -> bool:
    return word in ADJECTIVES or (len(word) > 4 and word.endswith(STATES))


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "'s"))


def _base(word: str) -> str:
    """Return the base of a verb in the third person, "" for any other word."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if not word.endswith("s"):
        return ""
    ends = (word.removesuffix("'s"), word[:-1], word.removesuffix("es"), word.removesuffix("ies") + "y")
    return next((base for base in ends if base in VERBS), "")


_WORDS = {
    name: frozenset(listed.split())
    for name, listed in tomllib.loads(
        files("doxa.commonsense").joinpath("statements.toml").read_text(encoding="utf-8")
    ).items()
}
VERBS, THINGS, ADJECTIVES = _WORDS["verbs"], _WORDS["things"], _WORDS["adjectives"]
DETERMINERS, SUBJECTS, FINITE = _WORDS["determiners"], _WORDS["subjects"], _WORDS["finite"]
OPENERS, DEGREES, PLACES, LINKS = _WORDS["openers"], _WORDS["degrees"], _WORDS["places"], _WORDS["links"]
STATES = tuple(sorted(_WORDS["states"]))
