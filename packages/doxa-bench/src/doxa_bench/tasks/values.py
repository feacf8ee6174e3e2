"""When two values of a task memory are the same: one normal form, scalars, sets, and what counts as empty."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

__all__ = [
    "Held",
    "History",
    "State",
    "contains",
    "elements",
    "ends_with",
    "flat",
    "is_empty",
    "match_sets",
    "same",
    "same_history",
    "tokens",
]

Held = str | int | float | Sequence[str] | None
"""What a system says a slot holds: one value, or several."""
State = Mapping[str, Held]
"""Path -> current value; the parts of a path are joined by `/`."""
History = Mapping[str, Sequence[Held]]
Aliases = Mapping[str, Sequence[str]]

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
TENS = "thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: str(n) for n, word in enumerate(SMALL)} | {word: str(10 * n) for n, word in enumerate(TENS, start=3)}
MONTHS = "january february march april may june july august september october november december".split()
DROPPED = frozenset("a an the of at on in and is my our".split())
DROPPED_IN_SLOTS = DROPPED | frozenset("set for task slot value current make prepare plan do root".split())
CURRENCIES = frozenset("dollar euro pound usd eur gbp".split())
DIRECTIONS = frozenset("to from before after than not until without".split())
"""With one of these the order of the words counts."""
EMPTY_WORDS = "none null nil removed cancelled canceled deleted dropped withdrawn inactive".split()
EMPTY = frozenset(["", "0", "n/a", "-", *EMPTY_WORDS])
MARKS = str.maketrans({"’": "'", "–": "-", "—": "-"})

ADDRESS = re.compile(r"[\w.+-]+@[\w.-]*\w")
LETTER_DIGIT = re.compile(r"(?<=[a-z])(?=[0-9])")
ISO_DATE = re.compile(r"\b\d{4}-(\d\d)-(\d\d)\b")
CLOCK_12 = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s*([ap])\.?\s?m\b\.?")
CLOCK_24 = re.compile(r"(?<![t\d:])\b([01]?\d|2[0-3]):([0-5]\d)\b")
FULL_HOUR = re.compile(r"\b(\d{1,2}) ?o'clock\b")
REWRITES = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\b(noon|midnight)\b", " t0:00 "),
        (r"(?<=\d),(?=\d{3})", ""),
        (r"(?<=\d)\.00\b", ""),
        (r"\b(\d+)(st|nd|rd|th)\b", r"\1"),
        (r"'", ""),
        (r"[^\w.:]|_", " "),
        (r"(?<!\d)[.:]|[.:](?!\d)", " "),
    )
)
ES = re.compile(r"(oes|ches|shes|xes|sses)$")
SEPARATOR = re.compile(r"[,;]|\band\b")


@lru_cache(maxsize=65536)
def tokens(text: str, *, slot: bool = False) -> tuple[str, ...]:
    """Return the normal form of a value, or of a slot's name: lower case, numbers, clock times and dates in one form.

    Words that say nothing are dropped, of which there are more in names; where all of them are, all stay.
    """
    s = unicodedata.normalize("NFKC", text).lower().translate(MARKS)
    s = ADDRESS.sub(lambda m: m[0].replace("@", "qatq").replace(".", "qdotq").replace("-", "qdashq"), s)
    if slot:
        s = LETTER_DIGIT.sub(" ", s)
    s = ISO_DATE.sub(lambda m: f" {MONTHS[(int(m[1]) - 1) % 12]} {int(m[2])} ", s)
    s = CLOCK_12.sub(lambda m: f" t{int(m[1]) % 12}:{m[2] or '00'} ", s)
    s = CLOCK_24.sub(lambda m: f" t{int(m[1]) % 12}:{m[2]} ", s)
    s = FULL_HOUR.sub(lambda m: f" t{int(m[1]) % 12}:00 ", s)
    for pattern, new in REWRITES:
        s = pattern.sub(new, s)
    found = [_singular(NUMBERS.get(word, word)) for word in s.split()]
    dropped = DROPPED_IN_SLOTS if slot else DROPPED | CURRENCIES
    return tuple(word for word in found if word not in dropped) or tuple(found)


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if ES.search(word) else word[:-1]


def same(gold: str, held: str, aliases: Aliases, own: Collection[str] = ()) -> bool:
    """Tell whether a held value is the gold one or an alias of it; `own` are words of the slot that it may repeat."""
    got = tokens(held)
    for form in (gold, *aliases.get(gold, ())):
        wanted = tokens(form)
        for said in (got, tuple(word for word in got if word not in own or word in wanted)):
            if wanted == said or (sorted(wanted) == sorted(said) and not DIRECTIONS & set(wanted)):
                return True
    return False


def elements(value: Held) -> list[str]:
    """Return what a value holds as a set; a string is split at commas, semicolons and "and"."""
    if value is None or value == "":
        return []
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [str(one) for one in value]
    return [part.strip() for part in SEPARATOR.split(str(value)) if part.strip()]


def match_sets(
    gold: Iterable[str], held: Iterable[str], aliases: Aliases, *, loose: bool = False
) -> tuple[list[str], list[str]]:
    """Return the gold elements that are missing and the held ones that are too many; one to one, exact ones first."""
    left, missing = list(held), list(gold)
    for exact in (True, False):
        todo, missing = missing, []
        for wanted in todo:
            hit = next(
                (
                    one
                    for one in left
                    if same(wanted, one, aliases) or (loose and not exact and _within(wanted, one, aliases))
                ),
                None,
            )
            if hit is None:
                missing.append(wanted)
            else:
                left.remove(hit)
    return missing, left


def _within(wanted: str, held: str, aliases: Aliases) -> bool:
    """Tell whether a held element has all words of a gold one."""
    return any(set(tokens(form)) <= set(tokens(held)) for form in (wanted, *aliases.get(wanted, ())))


def flat(value: Held) -> str:
    """Return a value as one string."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value))
    return str(value)


def contains(text: str, part: str) -> bool:
    """Tell whether the words of `part` stand in a text, next to each other."""
    whole, wanted = tokens(text), tokens(part)
    return any(whole[at : at + len(wanted)] == wanted for at in range(len(whole) - len(wanted) + 1))


def is_empty(value: Held) -> bool:
    """Tell whether a slot with this value holds nothing."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return not value
    return value is None or str(value).strip().lower() in EMPTY


def same_history(gold: Sequence[Held], held: Sequence[Held], aliases: Aliases) -> bool:
    """Tell whether two histories have the same values in the same order; empty ones and repeats are left out."""
    wanted, got = _changes(gold, aliases), _changes(held, aliases)
    return len(wanted) == len(got) and all(_alike(a, b, aliases) for a, b in zip(wanted, got, strict=True))


def ends_with(history: Sequence[Held], value: Held, aliases: Aliases) -> bool:
    """Tell whether a history ends with a value."""
    return bool(history) and _alike(history[-1], value, aliases)


def _changes(values: Sequence[Held], aliases: Aliases) -> list[Held]:
    kept: list[Held] = []
    for value in values:
        if value is None or value == "" or value == [] or value == ():
            continue
        if not kept or not _alike(kept[-1], value, aliases):
            kept.append(value)
    return kept


def _alike(one: Held, other: Held, aliases: Aliases) -> bool:
    if any(isinstance(value, Sequence) and not isinstance(value, str) for value in (one, other)):
        missing, extra = match_sets(elements(one), elements(other), aliases)
        return not missing and not extra
    return same(str(one), str(other), aliases) or same(str(other), str(one), aliases)
