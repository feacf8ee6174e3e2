"""How a query leans on the dialogue: by a pronoun, by "there", "that day" or "the other one", by what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from doxa.language import stems

__all__ = ["Leaning", "Way", "is_incomplete", "leaning_of"]

Way = Literal["person", "thing", "place", "time", "other", "ellipsis", "loose"]

SHE, HE = re.compile(r"\b(?:she|her|hers|herself)\b", re.I), re.compile(r"\b(?:he|him|his|himself)\b", re.I)
THEY = re.compile(r"\b(?:they|them|their|theirs|themselves)\b", re.IGNORECASE)
PRONOUN = re.compile(rf"{SHE.pattern}|{HE.pattern}|{THEY.pattern}", re.IGNORECASE)
OBJECT = re.compile(
    r"\b(?:him|them|her)\b(?=\s*(?:$|[?.!,]|(?:to|in|on|at|with|for|about|from|and|when|after|before|of)\b))",
    re.IGNORECASE,
)
"""A pronoun beside a name in one clause: it means somebody else (principle B of the theory of binding)."""
IT = re.compile(r"\b(?:it|its|itself)\b", re.IGNORECASE)
EMPTY_IT = re.compile(
    r"\b(?:is|was|isn't|wasn't) it (?:true|that|possible|me|you|likely|ok|okay|raining|snowing|cold|hot|late)\b|"
    r"\bwhat (?:time|day|date) (?:is|was) it\b|\bhow is it going\b|\bit (?:is|was|'s) (?:true|clear|said)\b|"
    r"\b(?:when|where|who|what|how) (?:is|was) it (?:that|who)\b",
    re.IGNORECASE,
)
VERB = (
    r"is|isn't|was|wasn't|are|were|do|does|did|has|have|had|can|could|will|would|should|happen|happened|happens|go|went|"
    r"come|came|work|worked|cost|costs|take|took|mean|means|end|ended|start|started|feel|felt|taste|tasted|look|looked"
)
LINKS = "in|at|on|for|to|from|with|about|again|before|after|and|or"
BEFORE_THAT = (
    "is|was|are|were|do|does|did|has|have|had|can|could|will|would|of|about|for|after|before|than|like|with|to|from|in|on|"
    "at|and|but|why|how|when|where|what|who"
)
"""Words before "that" where it is no relative pronoun ("the book that is mine")."""
SOMETHING = (
    "one|ones|thing|things|place|trip|event|film|movie|book|story|idea|plan|job|person|man|woman|guy|case|moment|recipe|"
    "song|game|show|restaurant|flat|house|meeting|problem|course"
)
THAT = re.compile(
    r"\b(?:that|this|these|those)\b(?=\s*(?:$|[?.!,;]))|"
    rf"(?:^|\b(?:{BEFORE_THAT}) )(?:that|this|these|those)\b(?=\s*(?:{VERB}|{LINKS})\b)|"
    rf"\b(?:that|this|these|those) (?:{SOMETHING})\b",
    re.IGNORECASE,
)
SPELL = "day|night|evening|morning|afternoon|week|weekend|month|year|summer|winter|spring|autumn|time"
THAT_TIME = re.compile(
    rf"\b(?:that|the same) (?:{SPELL})\b|"
    r"\b(?:back|since|until|till|by|just|right|around|from) then\b|\bthen\b(?=\s*(?:$|[?.!,]))|\bat the time\b",
    re.IGNORECASE,
)
THERE = re.compile(r"\bthere\b", re.IGNORECASE)
EXISTS = re.compile(
    r"\b(?:is|are|was|were|been|be|isn't|aren't|wasn't|weren't|will|would|has|have|had|can|could|may|might) there\b|"
    r"\bthere(?:'s| (?:is|are|was|were|will|has|have|had|any|anything|something|a|an|been|be))\b",
    re.IGNORECASE,
)
WAS_THERE = re.compile(r"\b(?:I|he|she|we|they|you|it|[A-Z]\w+) (?:am|is|are|was|were|have been|has been) there\b")
OTHER = re.compile(
    r"\bothers?\b(?= ones?\b|\s*(?:$|[?.!,])|'s\b)|\banother one\b|\bthe other \w+\b|"
    r"\b(?:first|second|third|last|next|former|latter|new|old|bigger|smaller|cheaper) ones?\b|"
    r"\b(?:former|latter|second|third)\b(?=\s*(?:$|[?.!,]))|\b(?:the|which|what|any|that) ones?\b|"
    r"\bones?\b(?=\s*[?.!]?$)|"
    r"\b(?:anyone|anybody|anything|somebody|someone|something|anywhere|somewhere|who|what|where) else\b",
    re.IGNORECASE,
)
OPENING = re.compile(r"^(?:and|but|or|so|also|plus|then)\b,? ?", re.IGNORECASE)
ABOUT = re.compile(r"^(?:(?:and|but|so|or) )?(?:what about|how about|what of)\b", re.IGNORECASE)
FINITE = re.compile(
    r"\b(?:am|is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|won't)\b|"
    r"\b\w{2,}(?:ed|s)\b (?:to|the|a|an|my|your|his|her|their|in|on|at|for|with)\b",
    re.IGNORECASE,
)
QUESTION_WORD = re.compile(
    r"^(?:(?:from|since|until|till|by|in|at|on|to|for|with|about|of) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.IGNORECASE,
)
WHOLE = 0.3
"""How much a query needs the dialogue whose pronoun may mean what it names itself."""
FULL = 3
"""Content words from which on a question that opens with "and" says what it asks for by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """What in a query needs the dialogue."""

    ways: tuple[Way, ...] = ()
    """In what ways it leans, the strongest last; empty for a query that stands alone."""
    sex: Literal["f", "m", ""] = ""
    """Of the person that a pronoun means; empty for "they", or without one."""
    strength: float = 1.0
    """How much it needs what went before, 0 to 1."""


def leaning_of(text: str, *, people: Collection[str] = ()) -> Leaning:
    """Return how a query leans on the dialogue before it; nothing for one that stands alone. Cost O(len(text)).

    Args:
        text: the query.
        people: whom it names itself: "she" and "his" after a name mean that person, unless they are objects beside it
            ("What did Petra give her?").
    """
    ways: list[Way] = []
    words = text.strip(" ?.!")
    content = stems(OPENING.sub("", ABOUT.sub("", words)))
    sex, named = _person(text), min((at for name in people if (at := text.find(name)) >= 0), default=-1)
    bound = named >= 0 and not PRONOUN.search(text[:named])
    if sex is not None and not (bound and not OBJECT.search(text)):
        ways.append("person")
    plain = EMPTY_IT.sub(" ", text)
    if IT.search(plain) or THAT.search(THAT_TIME.sub(" ", plain)):
        ways.append("thing")
    if THAT_TIME.search(text):
        ways.append("time")
    if THERE.search(text) and (WAS_THERE.search(text) or THERE.search(EXISTS.sub(" ", text))):
        ways.append("place")
    if OTHER.search(text):
        ways.append("other")
    elif _elliptical(words, content):
        ways.append("ellipsis")
    if not ways and OPENING.match(words) and len(content) < FULL + 1:
        ways.append("loose")
    whole = (bound and "person" in ways) or len(content) > FULL
    return Leaning(
        ways=tuple(ways), sex=sex or "", strength=WHOLE if whole and not {"ellipsis", "other"} & set(ways) else 1.0
    )


def is_incomplete(text: str) -> bool:
    """Tell whether a query goes on from what was said before it ("And Petra?", "So what do we cook?")."""
    return not {"ellipsis", "other", "loose"}.isdisjoint(leaning_of(text).ways)


def _person(text: str) -> Literal["f", "m", ""] | None:
    """Return the sex that the pronouns of a text tell of, empty for "they"; None without one."""
    if SHE.search(text):
        return "f"
    return "m" if HE.search(text) else "" if THEY.search(text) else None


def _elliptical(words: str, content: list[str]) -> bool:
    """Tell whether a query leaves out what it asks: "And Petra?", "In which city?", "What about the brewery?"."""
    if ABOUT.match(words):
        return len(content) < FULL
    opened = bool(OPENING.match(words))
    rest = OPENING.sub("", words)
    if FINITE.search(rest):
        return False
    if QUESTION_WORD.match(rest):
        return len(content) < FULL - (not opened)
    return opened and len(content) < FULL
