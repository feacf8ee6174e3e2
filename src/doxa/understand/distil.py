"""Sentences to clauses: appositions and relative clauses become sentences of their own."""

from __future__ import annotations

import re

from doxa.language.verbs import base_of
from doxa.language.words import DETERMINERS, PREPOSITIONS
from doxa.understand.clauses import is_finite, parse_clause
from doxa.understand.referents import KIN, NAME, PET
from doxa.understand.text import words

__all__ = ["clauses_of", "name_relatives"]

KIN_WORDS = "|".join(sorted((re.escape(word) for word in [*KIN, *PET]), key=len, reverse=True))
ADJ = r"(?:(?:older|younger|elder|little|big|best|old|new|oldest|youngest|eldest|twin|dear|good|current|former) )*"
APPOSED = re.compile(
    rf"\b(?P<owner>(?i:my|our|his|her)|{NAME}'s) (?P<kin>{ADJ}(?:{KIN_WORDS})),? (?:called |"
    rf"named )?(?P<name>{NAME})(?='s|\b)(?:(?<=[\w]),(?= (?:has|have|had|is|was|will|can|[a-z]+s|"
    rf"[a-z]+ed) ))?"
)
AFTER = re.compile(rf"\b(?P<name>{NAME}), (?P<owner>(?i:my|our|his|her)) (?P<kin>{ADJ}(?:{KIN_WORDS}))(?:,|$|\.)")
DESCRIBED = re.compile(rf"^(?P<name>{NAME}), (?P<what>an? [a-z][\w -]{{2,40}}?), (?=[a-z])")
CHILDREN = re.compile(
    rf"\b(?P<owner>(?i:my|our|his|her)|{NAME}'s) (?:(?:two|three|four|five|\d) )?(?:little |grown-up )?"
    rf"(?P<kin>children|kids|sons|daughters|sisters|brothers|cats|dogs|nephews|nieces|friends|"
    rf"parents|twins|cousins|grandchildren|grandkids|aunts|uncles|colleagues|flatmates|neighbours|neighbors),? "
    rf"(?P<names>{NAME}(?:(?:, | and |, and ){NAME})+)"
)
SINGULAR = {"children": "child", "kids": "child", "grandchildren": "grandchild", "grandkids": "grandchild"}
RELATIVE = re.compile(
    rf"^(?P<head>.*?\b(?P<noun>{NAME}|(?:my|the|our|his|her|a|an) [\w ]{{2,30}}?)),? (?P<who>who|"
    rf"which) (?P<body>[^,]+?)(?P<tail>,.*)?$"
)
CUT = re.compile(
    r"\s*;\s*|\s*:\s+|\s*[—–]\s*|\s+-\s+|,?\s+\b(?:but|because|although|though|whereas|while|"
    r"so that|yet)\b\s+|\s+so\s+(?=(?:I|he|she|we|they|it) )|,\s+(?:so|since|as|then)\s+|"
    r"\s*\((?P<paren>[^)]*)\)\s*"
)
AND = re.compile(r",?\s+and\s+(?:then\s+|now\s+|also\s+)?|,\s+")
VOCATIVE = re.compile(
    rf"^(?:(?:[Aa]h |[Oo]h )?(?:[Yy]es|[Yy]eah|[Nn]o|[Pp]lease|[Ss]o far|[Dd]anke)[,:]? )?(?:{NAME}, )?"
    rf"(?=(?:I|we|my|our|he|she|it|his|her|you) )|"
    r"^(?:[Aa]h |[Oo]h )?(?:(?:[Yy]es|[Yy]eah|[Ss]o far|[Dd]anke)[,:]?|[Nn]o,) (?=\w)",
)
CONDITION = re.compile(
    r"^\s*(?:if|unless|whenever|suppose|imagine|what if|only if|in case|provided|assuming)\b", re.IGNORECASE
)
CONDITION_INSIDE = re.compile(
    r"\b(?:if|unless|whether|in case|as if|as though|provided that|whenever)\b", re.IGNORECASE
)


def clauses_of(text: str) -> list[str]:
    """Return the clauses of a written-out sentence, appositions and relative clauses spelled out.

    A sentence with a condition gives none: what it says may never be. Cost O(len(text)).
    """
    if not text or CONDITION.match(text):
        return []
    inside = CONDITION_INSIDE.search(text)
    if inside:
        text = _before_condition(text, inside.start())
    text = _without_lead(text)
    text, extra = name_relatives(text)
    text = VOCATIVE.sub("", text)
    pieces: list[str] = []
    for piece in CUT.split(text):
        if piece:
            pieces.extend(_relative(piece))
    found = list(extra)
    for piece in pieces:
        found.extend(_coordinate(piece))
    return [clause for clause in found if clause.strip(" ,")]


def _before_condition(text: str, place: int) -> str:
    """Return the part before the clause that holds the condition."""
    head = text[:place]
    cut = max(head.rfind(","), head.rfind(";"), head.rfind(" but "))
    return head[:cut] if cut > 0 else ""


def _without_lead(text: str) -> str:
    """Return a sentence without a subordinate clause before its main clause ("When it rains, ...")."""
    match = re.match(
        r"(?:when|while|until|after|before|as|once|since|although|though|because|whenever|every "
        r"time) [^,]{3,120}, (?=\w)",
        text,
        re.IGNORECASE,
    )
    if match and parse_clause(words(match[0].split(" ", 1)[1])):
        return text[match.end() :]
    return text


def name_relatives(text: str) -> tuple[str, list[str]]:
    """Return a sentence with names for "my sister Mia", and the sentences that say who is whose what."""
    extra: list[str] = []

    def children(match: re.Match[str]) -> str:
        kin = SINGULAR.get(match["kin"], match["kin"].removesuffix("s"))
        for name in re.split(r", and |, | and ", match["names"]):
            extra.append(f"{match['owner']} {kin} is {name}")
        return match["names"]

    def apposed(match: re.Match[str]) -> str:
        if match["name"].split()[0].casefold() in ("i", "is"):
            return match[0]
        extra.append(f"{match['owner']} {match['kin']} is {match['name']}")
        return match["name"]

    text = CHILDREN.sub(children, text)
    text = APPOSED.sub(apposed, text)
    text = AFTER.sub(apposed, text)
    described = DESCRIBED.match(text)
    if described:
        extra.append(f"{described['name']} is {described['what']}")
        text = f"{described['name']} {text[described.end() :]}"
    return text, extra


def _relative(piece: str) -> list[str]:
    match = RELATIVE.match(piece)
    if match is None:
        return [piece]
    tail = (match["tail"] or "").strip(" ,")
    head = match["head"].strip(" ,")
    return [f"{head} {tail}".strip(), f"{match['noun']} {match['body']}"]


def _coordinate(piece: str) -> list[str]:
    """Split "X left the shop, and he works there", "I passed and got a stamp"; leave "Portuguese and English"."""
    found: list[str] = []
    rest = piece
    subject = ""
    for _ in range(6):
        place = _split_place(rest)
        if place is None:
            break
        start, end = place
        head, rest = rest[:start], rest[end:]
        found.append(head)
        subject = _subject_of(head) or subject
        first = words(rest)[:1]
        if first and subject and (_starts_with_verb(rest) or _goes_on(f"{subject} are", rest)):
            rest = f"{subject} {rest}"
    return [*found, rest]


def _split_place(text: str) -> tuple[int, int] | None:
    for match in AND.finditer(text):
        head, tail = text[: match.start()], text[match.end() :]
        if not _has_verb(head) and not re.match(r"(?:born|raised|based)\b", head, re.IGNORECASE):
            continue
        if "," in match[0] and re.match(
            r"(?:raised|born|based|living|working|moved|married|studied|grew up|studying)\b", tail
        ):
            return match.span()
        if _clause_start(tail) or ("and" in match[0] and (_starts_with_verb(tail) or _goes_on(head, tail))):
            return match.span()
    return None


def _has_verb(text: str) -> bool:
    return any(is_finite(word) for word in words(text)[:14])


def _starts_with_verb(text: str) -> bool:
    tokens = [
        word
        for word in words(text)[:4]
        if word.casefold() not in ("also", "still", "now", "just", "already", "never", "then", "always")
    ]
    if not tokens or tokens[0][:1].isupper():
        return False
    word = tokens[0].casefold()
    if word in (
        "am",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "will",
        "would",
        "can",
        "could",
        "do",
        "does",
        "did",
        "might",
        "may",
    ):
        return True
    return bool(base_of(word, "past", "third"))


def _goes_on(head: str, tail: str) -> bool:
    """Tell whether "I", "we" or "they" goes on with a base form ("we live in Turin and work for Fiat")."""
    tokens = words(tail)
    following = tokens[1].casefold() if len(tokens) > 1 else ""
    plural = re.match(r"(?:I|we|they|you)\b", head, re.IGNORECASE)
    return bool(plural and base_of(tokens[0], "base") and following in PREPOSITIONS | DETERMINERS) if tokens else False


def _clause_start(text: str) -> bool:
    """Tell whether a text opens with a subject and a finite verb."""
    tokens = words(text)[:7]
    if len(tokens) < 2:
        return False
    while tokens and tokens[0].casefold() in (
        "these",
        "those",
        "days",
        "now",
        "nowadays",
        "then",
        "today",
        "yesterday",
        "currently",
    ):
        tokens.pop(0)
    if len(tokens) < 2:
        return False
    first = tokens[0].casefold()
    if first in ("i", "he", "she", "it", "we", "they", "you", "that", "this", "there"):
        return True
    if tokens[0][0].isupper() or first in ("my", "his", "her", "our", "the", "their"):
        for place, token in enumerate(tokens[1:5], start=1):
            if token in (",", "and", "or"):
                return False
            if is_finite(token) and (place > 1 or tokens[0][0].isupper()):
                return True
    return False


def _subject_of(clause: str) -> str:
    parsed = parse_clause(words(clause), terse=True)
    return parsed.subject if parsed else ""
