"""Where the two clauses of a conditional sentence meet: "it rains, we play inside" -> its halves."""

from __future__ import annotations

import re
from itertools import islice

from doxa.understand.svo import is_order, read_predication, verb_place
from doxa.understand.text import words

__all__ = ["split_halves"]

PRONOUNS = frozenset("i he she we they you it".split())
OPENERS = frozenset("everyone everybody nobody the my our his her their there".split())
MOST_WORDS, MOST_COMMAS = 40, 6
"""Where a condition may end: words and commas that are tried; it bounds the cost of a very long sentence."""
HOLDS = re.compile(r",? (?:then|so) |, ", re.IGNORECASE)


def split_halves(both: str) -> tuple[str, str] | None:
    """Split "it rains, we play inside" where two clauses meet; None when they do not."""
    for comma in islice(HOLDS.finditer(both), MOST_COMMAS):
        head, tail = both[: comma.start()], both[comma.end() :]
        if _is_clause(head) and _is_clause(tail) and not _listing(head, tail):
            return head, tail
        if _is_clause(head) and is_order(words(tail)):
            return None  # "if he calls, tell him": nothing follows that could hold
    tokens = words(both)
    for place, openers in ((p, o) for o in (PRONOUNS, OPENERS) for p in range(2, min(len(tokens) - 1, MOST_WORDS))):
        if _starts_clause(tokens, place, openers):
            head, tail = " ".join(tokens[:place]), " ".join(tokens[place:])
            if _is_clause(head) and _is_clause(tail):
                return head, tail
    return None


def _is_clause(text: str) -> bool:
    return read_predication(words(text)) is not None


def _listing(head: str, tail: str) -> bool:
    """Tell whether a comma rather goes on with the condition ("if I pass, and get the visa")."""
    return bool(re.match(r"and |or ", tail))


def _starts_clause(tokens: list[str], place: int, openers: frozenset[str]) -> bool:
    word, before = tokens[place].casefold(), tokens[place - 1].casefold()
    if before in ("and", "or", "that", "to", "of", "the", "a", "my"):
        return False
    return word in openers and verb_place(tokens[:place]) is not None
