"""Questions -> declaratives: a question as a statement with a hole, so that what reads statements reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from doxa.core.values import Asks, QuestionKind
from doxa.language.verbs import base_of
from doxa.language.words import BE, DO, HAVE, MODALS, PREPOSITIONS, PRONOUNS
from doxa.understand.clauses import STOPPERS, behind_verb, is_clause
from doxa.understand.propose import HOLE
from doxa.understand.referents import NAME, PET, kin_of
from doxa.understand.text import sentences, words

__all__ = ["AUX", "Declarative", "declare", "find_question", "is_question"]

AUX = {*BE, *HAVE, *DO, *MODALS}
WH = re.compile(
    r"^(?P<prep>(?:in|at|on|to|for|with|since|from|until|by|of|about) )?(?:(?P<how>how (?:long|"
    r"old|much|many|often|far|come))|"
    r"(?P<time>what time|what day|what date|which date|which day|what year|which year|what month|which month)|"
    r"(?P<which>what (?:kind|sort|type|breed) of|which|what|whose)(?= )|(?P<word>where|when|"
    r"who|whom|why|how|what|which))\b\s*",
    re.IGNORECASE,
)
SUBJECT = "Qwho"
"""Stands for the subject of a question while its words are put in order."""
LIST_NOUN = re.compile(r"^[a-z]+(?:s|ren|people)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarative:
    """A question as a statement with `HOLE` where the answer goes (none for yes/no and "when")."""

    text: str
    kind: QuestionKind
    asks: Asks
    noun: str = ""


def find_question(text: str) -> str | None:
    """Return the last question in a message, or None."""
    found = [
        sentence.raw for sentence in sentences(text) if is_question(sentence.raw, sentence.text, sentence.question)
    ]
    return found[-1] if found else None


def is_question(raw: str, text: str, marked: bool) -> bool:
    """Tell whether a sentence asks, with or without a question mark."""
    if marked:
        return True
    lowered = text.casefold()
    if re.match(r"(?:tell me|remind me) (?:who|what|where|when|which|how|why|whose)\b", lowered):
        return True
    tokens = lowered.split()
    if not tokens or raw.rstrip().endswith((".", "!")):
        return False
    if tokens[0] in ("who", "what", "where", "which", "whose", "why", "how") and len(tokens) > 2:
        return (
            tokens[1] in AUX or tokens[0] in ("who", "which", "whose") or tokens[1] in ("old", "much", "many", "long")
        )
    return (
        tokens[0] in ("do", "does", "did", "is", "are", "am", "was", "were", "can", "have", "has")
        and len(tokens) > 2
        and (tokens[1] in ("i", "you", "he", "she", "it", "we", "they", "my", "your"))
    )


def declare(text: str, *, subject: str = "") -> Declarative | None:
    """Return a question as a statement with a hole; None where its parts are not known.

    Args:
        text: the question, written out, without what surrounds it and without its question mark.
        subject: its grammatical subject, as it stands there; empty where that is a pronoun or what is asked for.
    """
    if not subject or subject.casefold() in PRONOUNS or f" {subject}" not in text:
        return _declared(text)
    found = _declared(text.replace(f" {subject}", f" {SUBJECT}", 1))
    if found is None:
        return None
    whole = found.text.replace(SUBJECT, subject)
    named = re.fullmatch(rf"(the .+) (is|was|are|were) {HOLE}", whole)
    if named:
        return replace(found, text=f"{_genitive(f'{named[1]} {named[2]}')} {HOLE}")
    owned = re.fullmatch(rf"the ([\w -]+?) of ((?:{NAME}|(?:my|our|his|her|your)\b).*)", subject)
    if owned:
        return replace(found, text=found.text.replace(SUBJECT, f"{_possessive(owned[2])} {owned[1]}"))
    return replace(found, text=whole)


def _declared(text: str) -> Declarative | None:
    tokens = words(text)
    if not tokens:
        return None
    if tokens[0].casefold() in AUX:
        body = _inverted(tokens)
        return Declarative(text=body, kind="yesno", asks="truth") if body else None
    match = WH.match(text)
    return _wh(match, text[match.end() :]) if match else None


def _wh(match: re.Match[str], rest: str) -> Declarative | None:
    prep = (match["prep"] or "").strip().casefold()
    if match["how"]:
        return _how(match["how"].casefold().split()[1], rest)
    if match["time"] or (match["word"] or "").casefold() == "when":
        if prep == "since":
            return _timed(rest, "start")
        return _timed(rest, "end" if prep == "until" else "start")
    if match["which"]:
        return _which(match["which"].casefold(), rest, prep)
    word = match["word"].casefold()
    kinds: dict[str, QuestionKind] = {"where": "where", "who": "who", "whom": "who", "why": "why", "how": "how"}
    kind = kinds.get(word, "value")
    body = _body(rest)
    if body is None:
        return Declarative(text=f"{HOLE} {rest}", kind=kind, asks="subject") if word in ("who", "what") else None
    if word in ("why", "how"):
        return Declarative(text=body, kind=kind, asks="anything")
    return Declarative(text=_filled(body, "where" if word == "where" else prep), kind=kind, asks="object")


def _timed(rest: str, asks: Asks) -> Declarative | None:
    body = _body(rest)
    if body is None:
        return None
    if re.search(r" (?:born|die|died|end|ends|ended|expire|expires|expired|begin|begins|run out)$", body):
        return Declarative(text=f"{body} on {HOLE}", kind="when", asks="object")
    if re.search(r"\b(?:is|was|are|were)$", body):
        return Declarative(text=f"{body} {HOLE}", kind="when", asks="object")
    return Declarative(text=body, kind="when", asks=asks)


def _how(word: str, rest: str) -> Declarative | None:
    if word == "many":
        place = next((i for i, token in enumerate(rest.split()) if token.casefold() in AUX), None)
        if place is None:
            return Declarative(text=f"{HOLE} {rest}", kind="count", asks="count")
        noun = " ".join(rest.split()[:place])
        body = _body(" ".join(rest.split()[place:]))
        return Declarative(text=_filled(body, ""), kind="count", asks="count", noun=noun) if body else None
    body = _body(rest)
    if body is None:
        return None
    if word == "old":
        return Declarative(text=f"{body} {HOLE} years old", kind="value", asks="object")
    if word == "long":
        return Declarative(text=body, kind="how_long", asks="duration")
    if word == "much":
        body = re.sub(r" (?:per|a|each) (?:month|year|week|day|night)\b", "", body)
        body = re.sub(r"^(.+?) (is|was|are|were)\b(?! \w+ing\b)", _costs, body, count=1)
        return Declarative(text=_filled(body, ""), kind="how_much", asks="object")
    return Declarative(text=body, kind="how", asks="anything")


def _costs(match: re.Match[str]) -> str:
    return f"{match[1]} {'costs' if match[2] in ('is', 'are') else 'cost'}"


def _which(word: str, rest: str, prep: str) -> Declarative | None:
    """Read "which languages do I speak", "what breed is Bruno", "what is my rent"."""
    tokens = rest.split()
    place = next((i for i, token in enumerate(tokens) if token.casefold() in AUX), None)
    if place == 0 or (place is None and word in ("what",)):
        body = _body(rest)
        if body is None:
            return Declarative(text=f"{HOLE} {rest}", kind="value", asks="subject")
        body = _genitive(body)
        return Declarative(text=_filled(body, prep), kind="value", asks="object")
    if place is None:
        verb = next((i for i, token in enumerate(tokens) if base_of(token, "third", "past")), None)
        if not verb:
            return None
        return Declarative(
            text=f"{HOLE} {' '.join(tokens[verb:])}", kind="list", asks="subject", noun=" ".join(tokens[:verb])
        )
    noun = " ".join(tokens[:place])
    body = _body(" ".join(tokens[place:]))
    if body is None:
        text = f"{HOLE} {' '.join(tokens[place:])}"
        return Declarative(text=text, kind="list" if LIST_NOUN.match(noun) else "who", asks="subject", noun=noun)
    kind: QuestionKind = "list" if LIST_NOUN.match(noun.casefold()) else "value"
    owned = re.match(r"(.+) (is|was|are|were)$", body)
    if owned and not prep:
        return Declarative(
            text=f"{_possessive(owned[1])} {noun} {owned[2]} {HOLE}", kind=kind, asks="object", noun=noun
        )
    return Declarative(text=_filled(body, prep), kind=kind, asks="object", noun=noun)


def _genitive(body: str) -> str:
    """Read "the name of X is" as "X's name is", and "the names of X's children are" as "X's child is"."""
    names = re.match(
        r"the (?:(?:first|full|last|family|given|own) )?names? of (.+'s?|my|our|his|her|your) ([\w-]+) (?:is|are)$",
        body,
    )
    kin = (kin_of(names[2].replace("children", "child")) or _pet(names[2])) if names else None
    if names and kin:
        return f"{names[1]} {kin} is"
    owned = re.match(r"the ([\w ]+?) of (.+?) (is|was)$", body)
    return f"{_possessive(owned[2])} {owned[1]} {owned[3]}" if owned else body


def _pet(noun: str) -> str | None:
    """Return the noun of a pet in the singular; None for any other noun."""
    return next((word for word in (noun, noun.removesuffix("s")) if word in PET), None)


def _possessive(noun: str) -> str:
    return {"i": "my", "you": "your", "he": "his", "she": "her", "we": "our"}.get(noun.casefold(), noun + "'s")


def _body(rest: str) -> str | None:
    """Return the declarative order of what follows a question word; None when that is the subject itself."""
    tokens = words(rest)
    if not tokens:
        return None
    if tokens[0].casefold() in AUX:
        return _inverted(tokens)
    return " ".join(tokens) if is_clause(rest) else None


def _inverted(tokens: list[str]) -> str | None:
    """Put the subject, a pronoun or what stands for it, before the auxiliary: "do you work" -> "you do work"."""
    aux, rest = tokens[0].casefold(), tokens[1:]
    negated = rest[:1] == ["not"]
    rest = rest[1:] if negated else rest
    if not rest or (rest[0] != SUBJECT and rest[0].casefold() not in PRONOUNS):
        return None
    middle = [aux, "not"] if negated else [aux]
    return " ".join([rest[0], *middle, *rest[1:]]).replace(" , ", ", ")


def _filled(body: str, prep: str) -> str:
    """Put the hole where the answer stands: after a stranded preposition, after the verb, before the rest."""
    stop = re.search(r" (?:right now|now|today|currently|these days|nowadays|at the moment)$", body) or STOPPERS.search(
        body
    )
    head, tail = (body[: stop.start()], body[stop.start() :]) if stop else (body, "")
    if head.split()[-1:] and head.split()[-1].casefold() in PREPOSITIONS - {"like"}:
        return f"{head} {HOLE}{tail}"
    verb, behind = behind_verb(words(head))
    if prep == "where":
        prep = "at" if verb in ("work", "study", "stay") else "in"
    rest = " ".join(behind)
    if prep or not head.endswith(f" {rest}"):
        return f"{head} {prep} {HOLE}{tail}".replace("  ", " ")
    return f"{head.removesuffix(rest)}{HOLE} {rest}{tail}"
