"""From whom or what a speaker has what he says: documents and people that a sentence quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from doxa.core.values import Term
from doxa.understand.clauses import is_clause
from doxa.understand.referents import NAME, Referents, clean, kin_of, named
from doxa.understand.repairs import wording

__all__ = ["Quote", "quoted", "source_label"]

NOUN = (
    rf"(?:(?i:the|my|our|his|her|their|your|this|that|an?) [^,;:.]{{2,60}}?|{NAME}'s [^,;:.]{{2,40}}?|"
    rf"{NAME}(?: (?:&|and) {NAME})?)"
)
SAYING = (
    r"(?:(?:now|also|just|clearly|still|definitely|actually) )?(?:says?|said|shows?|showed|states?|stated|"
    r"reads?|gives?|gave|lists?|listed|"
    r"confirms?|confirmed|has it (?:as|at)|puts? it at|tells? (?:me|us)|told (?:me|us)|mentions?|mentioned|"
    r"insists?|thinks?|"
    r"reckons?|claims?|swears?|has|had|quotes?|quoted)"
)
QUOTING = re.compile(
    rf"^(?:(?:and|but|well|also|now|still|however),? )?(?P<who>{NOUN})(?:,? (?:which|who|that|"
    rf"I am) [^,;:]+?)?,? {SAYING}(?: that)?[:,]? (?P<what>.+)$"
)
ACCORDING = re.compile(
    rf"^(?i:according to|per|as per|going by|judging by|based on|by|in|on) (?P<who>{NOUN})(?:,|:) (?P<what>.+)$"
)
TRAILING = re.compile(rf"^(?P<what>.+?),? (?:according to|as per|per|so says?|says|going by) (?P<who>{NOUN})$")
SPOKEN = re.compile(
    r",? (?:\w+ )?(?:says?|said|tells? (?:me|us)|told (?:me|us)|thinks?|reckons?|claims?|swears?|insists?|"
    r"mentions?|mentioned|"
    r"confirms?|confirmed)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a sentence quotes: the source as it is called, and its words."""

    who: str
    what: str

    @property
    def clause(self) -> bool:
        return is_clause(self.what)


def quoted(text: str) -> Quote | None:
    """Return the document or person that a sentence quotes, with what it says; None when it quotes nothing.

    Args:
        text: one sentence, written out.

    A person who is reported with a whole clause is left to the tree, which knows who "he" is in it. Cost O(len(text)).
    """
    text = re.sub(r"^(?:but|and|though|however|yet|still|so),? ", "", text, flags=re.IGNORECASE)
    for pattern in (ACCORDING, TRAILING, QUOTING):
        match = pattern.match(text)
        if match is None:
            continue
        quote = Quote(who=match["who"].strip(), what=match["what"].strip(" ,:"))
        read = _is_document(quote.who)
        if pattern is QUOTING and not read and (quote.clause or not _says(quote.who, match[0])):
            continue
        if pattern is not QUOTING and not read and not _opens(match[0]):
            continue
        return quote
    return None


def _opens(text: str) -> bool:
    """Tell whether the words that name a source can be nothing else ("according to"), as "in" and "on" can."""
    return bool(re.search(r"\baccording to\b|\bas per\b|\bgoing by\b|\bso says?\b|, says\b", text, re.IGNORECASE))


def _person(who: str) -> bool:
    return named(who) or kin_of(clean(who)) is not None


def _says(who: str, text: str) -> bool:
    """Tell whether somebody says a value; that Max "has" or "gives" something is no word of his."""
    return _person(who) and SPOKEN.match(text[len(who) :]) is not None


def _is_document(noun: str) -> bool:
    """Tell whether a noun phrase names something that is read: its head is a kind of document, screen or sign."""
    phrase = re.split(r" (?:of|for|from|on|in|at|that|which|I|we|by|with) ", clean(noun))[0]
    return bool(wording("document").fullmatch(phrase.split()[-1])) if phrase.split() else False


def source_label(who: str, referents: Referents) -> str:
    """Return how a source is called in the memory: a person by the name that is known, a document by its noun."""
    if _is_document(who):
        noun = re.split(r" (?:that|which|who|I am|I have|we have|from|in front)\b", who)[0]
        return clean(noun)
    found: Term | None = referents.resolve(who)
    return found.label if found is not None else clean(who)
