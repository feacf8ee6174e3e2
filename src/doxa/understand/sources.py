"""From whom or what a speaker has what he says: documents and people that a sentence quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from doxa.core.values import Term
from doxa.understand.clauses import PREPOSITIONS, parse_clause
from doxa.understand.referents import NAME, Referents, clean, kin_of, named
from doxa.understand.repairs import wording
from doxa.understand.text import words

__all__ = ["Quote", "at_hand", "is_document", "quoted", "source_label"]

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
    rf"^(?:(?:and|but|well|also|now|still|however),? )?(?P<who>{NOUN}|it)(?:,? (?:which|who|that|"
    rf"I am) [^,;:]+?)?,? {SAYING}(?: that)?[:,]? (?P<what>.+)$"
)
ACCORDING = re.compile(
    rf"^(?i:according to|per|as per|going by|judging by|based on|by|in|on) (?P<who>{NOUN})(?:,|:) (?P<what>.+)$"
)
UNMARKED = re.compile(
    r"^(?i:according to|as per|going by|in|on|by) (?P<rest>(?i:the|my|our|his|her|their|your|this|that) .+)$"
)
TRAILING = re.compile(rf"^(?P<what>.+?),? (?:according to|as per|per|so says?|says|going by) (?P<who>{NOUN})$")
ASKED = re.compile(
    rf"^(?:(?:I|[Ww]e) (?:just |have |have just )?)?(?i:checked|double-checked|confirmed|asked|spoke|talked|"
    rf"called|rang|phoned|texted|emailed|looked)(?: (?:with|to|in|at|on|up))? "
    rf"(?P<who>{NOUN})(?:, (?P<aside>(?:who|which) [^:;]+?))?(?::|;| and (?:he|she|it|they) (?:says?|said|"
    rf"confirmed)| -) ?(?P<what>.+)$"
)
HEARD = re.compile(
    rf"^I (?:just |only )?(?:heard|know|learned|learnt|have it|had it|got it|understand) (?:this |"
    rf"it )?from (?P<who>{NOUN}) (?:that )?(?P<what>.+)$"
)
REACHED = re.compile(
    rf"^(?P<who>{NOUN}) (?:(?:has |have )?(?:just |also )?)?(?:phoned|called|rang|texted|wrote|emailed|mailed|"
    rf"messaged|came by|came round|told me|got back|replied|answered)"
    r"[^,;:]*[,;:] (?:and |but )?(?:he|she|they|it) (?:says?|said|tells me|told me|thinks)(?: that)? (?P<what>.+)$"
)
HELD = re.compile(
    rf"^(?:I|[Ww]e) (?:have|had|got|see|read) (?P<what>(?:[^,;:]|(?<=\d)[.,:](?=\d))+?) (?:on|in|from) (?P<who>{NOUN})$"
)
SHOWN = re.compile(
    r"\b(?:printed|written|stated|posted|listed|marked|noted|stands|it says so|says so|engraved|entered|shown|"
    r"there)\b(?: \w+)? (?:on|in|at) "
    r"(?P<who>(?:the|my|our|his|her|their) [^,;:.]+)",
    re.IGNORECASE,
)
PRESENT = re.compile(
    r"\b(?:have|has|had|got|holding|found|find|dug out|digging out|looking at|reading|opened|open|checked|"
    r"looked at|looked up|"
    r"looked in|consulted|got out|pulled up|pulled out|am at|read|seen|saw|in front of me is)\b (?:out |up )?"
    r"(?P<who>(?:the|my|our|his|her|their) [^,;:.]{2,60}?)(?=$|[,;:.]| (?:open|in front|here|right|now|up|and|"
    r"with|again|on|from|in) ?)",
    re.IGNORECASE,
)
PLACED = re.compile(
    r"^(?P<thing>(?:the|my|our|his|her|their|your) [^,;:]+?) (?:(?P<as>as )|(?=(?:at|on|in|for|from|"
    r"down) ))(?P<where>(?:[^,;:]|(?<=\d)[.,:](?=\d))+)$",
    re.IGNORECASE,
)
BARE = re.compile(
    r"^(?:it says (?:that )?|(?:that )?(?:it|that|this) (?:is|was|should be|has to be|will be) (?=(?:(?:at|on|"
    r"in|by|from|about|around) )?(?:[\dA-Z](?![^,;:]* (?:who|that) )|the \d|half|quarter|noon)))"
)
"""What stands before a bare value: "it is Tuesday"."""
SPOKEN = re.compile(
    r",? (?:\w+ )?(?:says?|said|tells? (?:me|us)|told (?:me|us)|thinks?|reckons?|claims?|swears?|insists?|"
    r"mentions?|mentioned|"
    r"confirms?|confirmed)\b"
)
FIRM = re.compile(
    r"\b(?:check(?:ed|ing)|confirm(?:ed|s)|asked|rang|phoned|called|spoke|looked (?:it )?up|turns out|stale|"
    r"out ?dated|out of date|settled|decided|in charge|"
    r"official|definitely|for certain|for sure)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a sentence quotes: the source as it is called, and its words."""

    who: str
    what: str
    firm: bool = False
    """The speaker went and asked, so the answer settles the matter."""
    aside: str = ""
    """What is said of the source itself ("who runs it")."""

    @property
    def placed(self) -> str:
        """What a document has in its place, as a clause: "has the review at ten" is "the review is at ten"."""
        match = None if self.clause else PLACED.match(self.what)
        return f"{match['thing']} is {match['where']}" if match else ""

    @property
    def remark(self) -> str:
        """What is said of the source itself, as a sentence: "who runs it", "whom I bought it from"."""
        rest = self.aside.partition(" ")[2]
        if not rest:
            return ""
        return f"{rest} {self.who}" if rest.split()[-1] in PREPOSITIONS else f"{self.who} {rest}"

    @property
    def clause(self) -> bool:
        return parse_clause(words(self.what)) is not None


def quoted(text: str) -> Quote | None:
    """Return the document or person that a sentence quotes, with what it says; None when it quotes nothing.

    Args:
        text: one sentence, written out.

    A person who is reported with a whole clause is left to the tree, which knows who "he" is in it. Cost O(len(text)).
    """
    text = re.sub(r"^(?:but|and|though|however|yet|still|so),? ", "", text, flags=re.IGNORECASE)
    unmarked = _unmarked(text)
    if unmarked is not None:
        return unmarked
    for pattern in (REACHED, ASKED, HEARD, ACCORDING, TRAILING, QUOTING, HELD):
        match = pattern.match(text)
        if match is None:
            continue
        who, what = match["who"].strip(), match["what"].strip(" ,:")
        who = "it" if who == "It" else who
        what = BARE.sub("", what)
        if (
            pattern in (ASKED, ACCORDING, TRAILING)
            and pattern is not ASKED
            and not _opens(match[0])
            and not is_document(who)
        ):
            continue
        aside = match.groupdict().get("aside") or ""
        if pattern is HEARD:
            what = f"I heard that {what}"
        quote = Quote(who=who, what=what, firm=bool(FIRM.search(text)), aside=aside)
        if pattern in (HELD,) and not is_document(who):
            continue
        if pattern is QUOTING and not (is_document(who) or who == "it") and (quote.clause or not _says(who, match[0])):
            continue
        return quote
    return None


def _unmarked(text: str) -> Quote | None:
    """Read a document that is named without a comma ("According to the tracking page your sofa arrives on Monday")."""
    match = UNMARKED.match(text)
    tokens = match["rest"].split() if match else []
    for size in range(2, min(6, len(tokens) - 1)):
        who, what = " ".join(tokens[:size]), " ".join(tokens[size:])
        if "," in who or ":" in who:
            return None
        if is_document(who) and not is_document(" ".join(tokens[: size + 1])):
            quote = Quote(who=who, what=BARE.sub("", what))
            return quote if quote.clause else None
    return None


def _opens(text: str) -> bool:
    """Tell whether the words that name a source can be nothing else ("according to"), as "in" and "on" can."""
    return bool(re.search(r"\baccording to\b|\bas per\b|\bgoing by\b|\bso says?\b|, says\b", text, re.IGNORECASE))


def _person(who: str) -> bool:
    return named(who) or kin_of(clean(who)) is not None


def _says(who: str, text: str) -> bool:
    """Tell whether somebody says a value; that Max "has" or "gives" something is no word of his."""
    return _person(who) and SPOKEN.match(text[len(who) :]) is not None


def is_document(noun: str) -> bool:
    """Tell whether a noun phrase names something that is read: its head is a kind of document, screen or sign."""
    phrase = re.split(r" (?:of|for|from|on|in|at|that|which|I|we|by|with) ", clean(noun))[0]
    return bool(wording("document").fullmatch(phrase.split()[-1])) if phrase.split() else False


def at_hand(text: str) -> str:
    """Return the document that a sentence says to be at hand ("I have her birth certificate in front of me"), or ""."""
    for pattern in (SHOWN, PRESENT):
        for match in pattern.finditer(text):
            if pattern is SHOWN or is_document(match["who"]):
                return match["who"]
    return ""


def source_label(who: str, referents: Referents) -> str:
    """Return how a source is called in the memory: a person by the name that is known, a document by its noun."""
    if is_document(who):
        noun = re.split(r" (?:that|which|who|I am|I have|we have|from|in front)\b", who)[0]
        return clean(noun)
    found: Term | None = referents.resolve(who)
    return found.label if found is not None else clean(who)
