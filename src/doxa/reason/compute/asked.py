"""Questions for a number, an amount or a comparison: what is to be found, of what, whose, when and per what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.core.values import Interval, Turn
from doxa.language import stems
from doxa.language.amounts import unit_named
from doxa.language.sentence import Argument, Frame, Sentence
from doxa.language.times import DAYS, MONTHS
from doxa.reason.compute.ledger import THEM, Speakers, comparatives, head_of, listed

__all__ = ["CONCERNS", "Asked", "asked"]

CONCERNS = re.compile(
    r"\bhow (?:many|much|old|long|far|tall|high|heavy|wide|deep|often|big|large)\b|"
    r"\bwhat(?: is| was|'s)? (?:the )?(?:total|sum|average|mean|difference|percentage|percent|share)\b|"
    r"\bpercent(?:age)?\b|\baverage\b|\b(?:most|least|fewest|fewer|more|less)\b|"
    r"\b(?:old|young|tall|high|heav|light|cheap|dear|long|short|fast|earl|late|big|larg|small|near|far|deep|wide)"
    r"(?:i?er|i?est|est|ther|thest)\b|"
    r"\b(?:first|last|best|worst|actual|earlier|later|eldest|elder)\b|\bby how\b|\beach of\b|"
    r"\b(?:together|altogether|combined|in total|in all|total|difference)\b|"
    r"\bwhat\b.*\b(?:cost|costs|pay|pays|paid|charge|charged|earns?|owes?|spent|wages?|salary|price|rent|fee|bill)\b",
    re.IGNORECASE,
)
"""What a question has to say to concern arithmetic at all; a question without it costs this one look."""
TOTAL = re.compile(
    r"\b(?:in all|altogether|in total|total|together|combined|overall|sum|all in all|both)\b", re.IGNORECASE
)
AVERAGE = re.compile(r"\b(?:average|mean)\b", re.IGNORECASE)
PRICED = re.compile(
    r"(?:and |so |now )?what (?:do|does|did|will|would|have|has)\b.*\b(?:cost|pay|paid|charge|earn|owe|spend|spent)\b|"
    r"(?:and |so |now )?what (?:is|was|were|are|will)\b.*\b(?:wages?|salary|price|cost|rent|fee|fare|bill)\b"
)
"""Asks for a sum of money with "what"."""
EXCEPT = re.compile(r"^(?:besides|except|excluding|without|but|than|apart from|other than|except for|from)$")
MEASURED = {
    "old": "age",
    "long": "length time",
    "far": "length",
    "tall": "length",
    "high": "length",
    "wide": "length",
    "deep": "length",
    "heavy": "mass",
    "expensive": "money",
}
TIMES = frozenset(
    stem for word in (*MONTHS, *DAYS, *"last this next today yesterday week".split()) for stem in stems(word)
)
GRADED = listed("graded")
"""Base forms of what is compared."""
DIMENSIONS = {
    "pay": "money",
    "spend": "money",
    "cost": "money",
    "earn": "money",
    "save": "money",
    "owe": "money",
    "weigh": "mass",
    "change": "money",
    "charge": "money",
    "make": "money",
    "lend": "money",
    "give": "money",
    "need": "time",
    "take": "time",
    "last": "time",
}
CUES = frozenset(stem for word in listed("cues") for stem in stems(word))
"""Stems in a question that tell what to do, and restrict nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question wants computed."""

    text: str
    head: str = ""
    """Stem of the noun that is counted; empty where a dimension is asked for."""
    words: frozenset[str] = frozenset()
    unit: str = ""
    dimensions: tuple[str, ...] = ()
    owners: tuple[frozenset[str], ...] = ()
    labels: tuple[str, ...] = ()
    anyone: bool = False
    """"they", or nobody: whoever it is."""
    verb: str = ""
    state: str = ""
    per: str = ""
    given: tuple[tuple[Fraction, str], ...] = ()
    """Amounts that the question itself gives ("in 2 hours", "for four weeks")."""
    filters: frozenset[str] = frozenset()
    """Stems that restrict what counts, beyond thing, owner and time."""
    when: Interval | None = None
    than: frozenset[str] = frozenset()
    than_label: str = ""
    compared: int = 0
    """1 for "more", -1 for "fewer", where a difference or the greater one is asked for."""
    without: tuple[frozenset[str], ...] = ()
    negative: bool = False
    future: bool = False
    each: bool = False
    kind: str = "amount"
    frame: Frame | None = None
    turn: Turn | None = None


def asked(sentence: Sentence, speakers: Speakers) -> Asked | None:
    """Return what a question wants computed; None when it wants no number and no comparison."""
    text = sentence.text
    frame = _main(sentence)
    if frame is None:
        return None
    wanted = _wanted(sentence, frame)
    base = Asked(text=text, frame=frame, turn=sentence.turn, verb=frame.verb, state=frame.state, when=frame.when)
    base = replace(base, negative=frame.negative, future=frame.future or bool(re.search(r"\bwill\b", text)))
    everything = [p for c in sentence.frames for p in ((c.subject,) if c.subject else ()) + c.arguments]
    base = _thing(base, wanted, frame, text)
    base = _owners(base, wanted, everything, sentence, speakers)
    base = _given(base, wanted, everything)
    filters = _filters(base, sentence, everything)
    return replace(base, filters=filters)


def _main(sentence: Sentence) -> Frame | None:
    """Return the frame that asks: the first with the question word, else the first."""
    for frame in sentence.frames:
        if any(
            re.match(r"how\b|what\b|which\b|who\b", p.label, re.I)
            for p in ((frame.subject,) if frame.subject else ()) + frame.arguments
        ):
            return frame
    return sentence.frames[0] if sentence.frames else None


def _wanted(sentence: Sentence, frame: Frame) -> Argument | None:
    """Return the argument with "how many" or "how much"."""
    arguments = [p for c in (frame, *sentence.frames) for p in ((c.subject,) if c.subject else ()) + c.arguments]
    return next(
        (p for p in arguments if re.match(r"(?:and |so |about |by )?how (?:many|much)\b", p.label, re.IGNORECASE)), None
    )


def _thing(base: Asked, wanted: Argument | None, frame: Frame, text: str) -> Asked:
    """Say what is to be counted or measured."""
    low = text.casefold()
    if wanted is not None and wanted.head not in ("", "much", "many"):
        return _counted(base, wanted, frame, low)
    measured = re.search(r"\bhow (old|long|far|tall|high|wide|deep|heavy|expensive)\b", low)
    if measured:
        lasts = measured[1] == "long" and frame.verb in ("take", "need", "last", "do", "spend")
        into = re.search(r"\bin (\w+s|feet)\b", low)
        unit = unit_named(into[1]) if into else None
        dims = "time days months" if lasts else MEASURED[measured[1]]
        return replace(base, dimensions=tuple(dims.split()), unit=unit.name if unit else "")
    comparative = next((w for w in re.findall(r"[a-z]+", low) if w in comparatives()), "")
    if re.search(r"\bhow much\b", low) or (not comparative and PRICED.match(low)):
        return _much(base, frame, low, comparative)
    if re.search(r"\bage (?:difference|gap)\b|\bdifference in age\b", low):
        return replace(base, dimensions=("age",), compared=1, kind="gap")
    return _rivalry(base, frame, low, comparative) if comparative else base


def _counted(base: Asked, wanted: Argument, frame: Frame, low: str) -> Asked:
    """Read "how many pears", "how many years older", "how many more points"."""
    unit = unit_named(wanted.head)
    if unit is None:
        than = frozenset(stem for p in frame.arguments if p.role == "than" for stem in p.words)
        return replace(base, head=head_of(wanted), words=wanted.words - than, compared=wanted.more or frame.more)
    words = (w for w in re.findall(r"[a-z]+", low) if w in comparatives() and w not in BARE)
    kinds, sign = comparatives().get(next(words, ""), ((), 0))
    if "age" in kinds:
        return replace(base, dimensions=("age",), compared=sign)
    if unit.dimension in kinds:
        return replace(base, unit=unit.name, dimensions=(unit.dimension,), compared=sign)
    of = next((p for p in frame.arguments if p.role == "of" and p.words and p.words <= wanted.words), None)
    if of is not None and of.number is None:
        base = replace(base, head=head_of(of))  # "how many kilos of pears"
    more = wanted.more or frame.more
    return replace(base, unit=unit.name, dimensions=(unit.dimension,), words=wanted.words, compared=more)


def _much(base: Asked, frame: Frame, low: str, comparative: str) -> Asked:
    """Read "how much does it cost", "how much heavier", "how much is it"."""
    if comparative and comparative not in BARE:
        kinds, sign = comparatives()[comparative]
        return replace(base, dimensions=_dimensions(kinds), compared=sign)
    if frame.verb == "be" and frame.state in ("much", ""):
        return replace(base, verb="cost", state="", dimensions=_dimensions(("money",)))
    dims = "money" if "expensive" in low else DIMENSIONS.get(frame.verb, "")
    sign = 1 if "how much more" in low else -1 if "how much less" in low else 0
    return replace(base, dimensions=_dimensions((dims,)) if dims else (), compared=sign)


def _rivalry(base: Asked, frame: Frame, low: str, comparative: str) -> Asked:
    """Read "who has more pears", "which is cheaper", "is it heavier than"."""
    kinds, sign = comparatives()[comparative]
    if comparative in ("more", "less") and "expensive" in low:
        kinds, sign = ("money",), 1 if comparative == "more" else -1
    named = re.compile(rf"\b{comparative}\b", re.IGNORECASE)
    thing = next((p for p in frame.arguments if p.more or named.search(p.label)), None)
    counted = thing is not None and comparative in AMOUNTS
    head, words = (head_of(thing), thing.words) if counted and thing is not None else ("", frozenset[str]())
    words = words - frozenset(stems(comparative))
    if comparative in AMOUNTS and not head and not any(kinds):
        kinds = (DIMENSIONS.get(frame.verb, ""),)
    return replace(base, kind="compare", compared=sign, dimensions=_dimensions(kinds), head=head, words=words)


AMOUNTS = frozenset(["more", "most", "fewer", "fewest", "less", "least"])
BARE = AMOUNTS | {"first", "last"}
"""Comparatives that do not tell what is compared."""


def _dimensions(kinds: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for kind in kinds:
        found.extend(
            {"money": ["money", "money_dollar", "money_sterling", "mass?"], "time": ["time", "days", "months"]}.get(
                kind, [kind]
            )
        )
    return tuple(f for f in found if f and f != "mass?")


def _owners(
    base: Asked, wanted: Argument | None, everything: Sequence[Argument], sentence: Sentence, speakers: Speakers
) -> Asked:
    """Say whose it is: the subject and what is coordinated with it, and with whom it is compared."""
    frame, turn = base.frame, sentence.turn
    assert frame is not None
    owners: list[frozenset[str]] = []
    labels: list[str] = []
    than, than_label = frozenset[str](), ""
    anyone = frame.subject is None or frame.subject is wanted
    for argument in ((frame.subject,) if frame.subject else ()) + frame.arguments:
        if argument is wanted:
            continue
        if argument.role == "than":
            than, than_label = speakers.resolve(argument, turn)
        elif argument.role in ("subject", "and"):
            if argument.head in THEM or argument.head in ("who", "what", "which", "there", "each", "that"):
                anyone = True
            else:
                words, label = speakers.resolve(argument, turn)
                if words and not (argument.number is not None and unit_named(argument.head) is not None):
                    owners.append(words)
                    labels.append(label)
    low = sentence.text.casefold()
    each = bool(frame.subject is not None and frame.subject.each) or bool(
        re.search(r"\beach\b", low) and not re.search(r"\beach (?:day|week|month|year|morning|evening)", low)
    )
    without = tuple(
        p.words
        for p in everything
        if EXCEPT.match(p.role)
        and p is not wanted
        and (p.role not in ("than", "from", "but") or (p.role == "from" and "apart" in low))
    )
    return replace(
        base,
        owners=tuple(dict.fromkeys(owners)),
        labels=tuple(labels),
        anyone=anyone and not owners,
        than=than,
        than_label=than_label,
        each=each,
        without=without,
    )


def _given(base: Asked, wanted: Argument | None, everything: Sequence[Argument]) -> Asked:
    """Say per what the answer is wanted, and which amounts the question gives itself."""
    per = ""
    given: list[tuple[Fraction, str]] = []
    for argument in everything:
        if argument is wanted:
            continue
        unit = unit_named(argument.head)
        name = unit.name if unit else head_of(argument)
        if argument.each and argument.role != "subject":
            per = name
        elif (
            argument.number is not None
            and argument.number.kind == "count"
            and argument.number.unit != "%"
            and argument.head not in ("one",)
        ):
            given.append((argument.number.value, name))
        elif unit is not None and argument.indefinite and argument.role == "object" and "money" in base.dimensions:
            per = name  # "earn an hour"
        elif unit is None and argument.indefinite and argument.role in ("in", "per") and not argument.name:
            per = name
        elif (
            unit is not None and argument.indefinite and argument.role in ("in", "per", "within", "for", "during", "a")
        ):
            given.append((Fraction(1), name))
    return replace(base, per=per, given=tuple(dict.fromkeys(given)))


def _filters(base: Asked, sentence: Sentence, everything: Sequence[Argument]) -> frozenset[str]:
    """Return the stems that restrict what counts."""
    known = set(CUES) | base.words | {base.head} | base.than | {stem for owner in base.owners for stem in owner}
    known |= {stem for words in base.without for stem in words}
    known |= {stem for _, name in base.given for stem in stems(name)} | set(stems(base.per)) | set(stems(base.unit))
    found: set[str] = set()
    for frame in sentence.frames:
        found |= frame.words
    verbal = {stem for frame in sentence.frames for stem in stems(frame.verb)}
    timed = {stem for argument in everything if unit_named(argument.head) for stem in argument.words}
    if base.when is not None:
        timed |= TIMES
    comparative = {stem for word in (*comparatives(), *GRADED) for stem in stems(word)}
    numbers = {word for word in found if word.isdigit()}
    return frozenset(found - known - verbal - timed - comparative - numbers)
