"""What a reply says: whether a string is mentioned, and whether it is given as current."""

from __future__ import annotations

import re

__all__ = ["is_given_as_current", "is_mentioned"]

DENIAL = re.compile(
    r"\b(no|not|never|none|nothing|without|neither|nor|cannot|\w+n't|instead of|rather than|in place of|no longer|"
    r"except|asked|ask|whether)\b"
)
PAST = re.compile(
    r"\b(was|were|had|originally|initially|earlier|previous|previously|before|first|former|formerly|used to|until|"
    r"changed|replaced|removed|dropped|cancelled|canceled|swapped|switched|moved|undone|undid|reverted|withdrew|"
    r"withdrawn|deleted|taken out|took out|out|off|old|gone)\b"
)
SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+|;")


def is_mentioned(reply: str, text: str) -> bool:
    """Tell whether a reply has a string in whole words, in whatever case; "12" is not in "1,250", "4:12", "2.12"."""
    return bool(_spans(reply, text))


def is_given_as_current(reply: str, text: str, *, was_set: bool) -> bool:
    """Tell whether some sentence mentions a string and neither denies it nor, if it ever was so, puts it in the past.

    An approximation: a wrong sentence that has "was" in it passes.
    """
    for sentence in SENTENCES.split(reply.replace("’", "'")):
        for start, end in _spans(sentence, text):
            rest = (sentence[:start] + " " + sentence[end:]).lower()
            if not DENIAL.search(rest) and not (was_set and PAST.search(rest)):
                return True
    return False


def _spans(text: str, part: str) -> list[tuple[int, int]]:
    whole, wanted = (one.lower().replace("’", "'") for one in (text, part))
    if not wanted.strip():
        return []
    before = r"(?<![a-z0-9])" + (r"(?<!\d[.,:])" if wanted[0].isdigit() else "")
    after = r"(?![a-z0-9])" + (r"(?![.,:]\d)" if wanted[-1].isdigit() else "")
    pattern = before + r"\s+".join(map(re.escape, wanted.split())) + after
    return [found.span() for found in re.finditer(pattern, whole)]
