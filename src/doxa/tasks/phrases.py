"""phrases: words of a clause -> elements with what is attached to them.

An element is a noun phrase, a pronoun or a typed value; what follows a preposition is attached to the one before it.
Elements are parted by commas and "and": "a jacket in green, socks and a map" has three, the first with one attached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.amounts import Typed
from doxa.tasks.shifts import Shift, number_in
from doxa.tasks.verbs import Token, lexicon

__all__ = ["Element", "elements", "is_colour", "stem", "words_of"]

PREPOSITIONAL = frozenset("ADP SCONJ PART VERB CCONJ ADV NOUN ADJ".split())
FIXED = (
    "instead of",
    "rather than",
    "in place of",
    "because of",
    "apart from",
    "other than",
    "next to",
    "along with",
    "as well as",
    "such as",
    "out of",
    "due to",
    "together with",
)
NUMBERED = frozenset(
    (
        "week day phase part number no. room section chapter act scene table set version unit lot row bed "
        "slot stage round group track episode issue level step session gate platform hall team box module "
        "sprint year grade page plot studio flat apartment street zone block invoice ticket case claim booking parcel "
        "draft platter shelf hive route act"
    ).split()
)
NUMBERED_PLURALS = frozenset("week day room table chapter phase bed track row group".split())

PHRASE_OPENERS = frozenset(
    (
        "in on at to for from with without into under of about as by until till before after near between except "
        "including onto off than per via during minus besides over against around behind inside beside through "
        "since within towards while because although whereas"
    ).split()
)
DETERMINERS = frozenset(
    ("the a an my our your his her their its this that these those some any each every both all another no").split()
)
REFERRING = frozenset(
    (
        "it them that this those these they he she him her hers his theirs mine ours both everyone everybody "
        "everything others one ones all rest half each either neither us me you i we who what there another same "
        "yours none something anything nothing latter former"
    ).split()
)
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "last": -1, "latter": -1, "former": 1,
    "1st": 1, "2nd": 2, "3rd": 3, "final": -1,
}  # fmt: skip
ADVERBS = frozenset(
    (
        "just only also too instead please then again now still actually completely altogether anyway though "
        "already yet maybe really everywhere even always overall perhaps there either entirely totally ok okay oh "
        "hmm wait sorry yes yeah well thanks cheers alright definitely straight as so no not n't here back in out "
        "off throughout ever never after all later"
    ).split()
)
COUNTED_BEHIND = frozenset("the those these all both that this".split())
SEPARATORS = {",", ";", "and", "plus", "&", "or", "nor", "but"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A noun phrase, a pronoun or a typed value, and what is attached to it."""

    text: str
    """Without its determiner; as it was written."""
    words: tuple[str, ...] = ()
    """Stems of its words that count, the head last."""
    det: str = ""
    pronoun: str = ""
    ordinal: int = 0
    """1 for "the first", -1 for "the last"."""
    count: float | None = None
    other: bool = False
    same: bool = False
    ones: bool = False
    """Its noun is left out: "the grey ones"."""
    value: TaskValue | None = None
    shift: Shift | None = None
    each: str = ""
    variants: tuple[str, ...] = ()
    """What stood in brackets behind it."""
    attached: tuple[tuple[str, Element], ...] = ()
    """What follows it, by its preposition; an empty one for an attribute ("size M")."""
    names: bool = False
    """It is written like a name."""
    first: bool = True
    """No comma or "and" stands before it."""
    start: int = 0
    end: int = 0
    person: bool = False
    place: bool = False
    """It names a place."""
    adjective: bool = False
    """It has no noun: "a bit tight"."""

    def with_prep(self, *prepositions: str) -> list[Element]:
        """Return what is attached to it by some prepositions."""
        return [element for prep, element in self.attached if prep in prepositions]


def stem(word: str) -> str:
    """Return a word without its plural ending, so that names are found in both numbers."""
    word = word.lower().strip(".'")
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if re.search(r"(oes|ches|shes|xes|sses)$", word):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=1 << 15)
def words_of(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a name that count."""
    found = re.findall(r"[\w]+(?:[.:/@][\w]+)*", text.lower().replace("'s", ""))
    lettered = len(found) > 1 and text.rstrip().endswith(" A")  # "box A"
    last = len(found) - 1
    kept = tuple(
        stem(word)
        for i, word in enumerate(found)
        if (word not in DETERMINERS or (lettered and i == last)) and word not in ("of", "s")
    )
    return kept or tuple(stem(word) for word in found)


def is_colour(word: str) -> bool:
    """Tell whether a word names a colour or a finish that sets variants apart."""
    return word.lower() in lexicon()["colours"]["names"]


def is_name(tokens: Sequence[Token]) -> bool:
    """Tell whether words are a proper name."""
    nouns = [token for token in tokens if token.upos in ("NOUN", "PROPN", "X")]
    return bool(nouns) and all(token.form[:1].isupper() and (token.upos != "NOUN" or len(nouns) > 1) for token in nouns)


def elements(tokens: Sequence[Token], text: str, values: Sequence[Typed]) -> list[Element]:
    """Return the elements of some words of a turn, in order.

    Args:
        tokens: the words, in order.
        text: the whole turn.
        values: the typed values of the turn.
    """
    found: list[Element] = []
    for segment, first in _segments(tokens, values):
        parts = list(_by_preposition(segment, values))
        head: Element | None = None
        attached: list[tuple[str, Element]] = []
        for prep, words in parts:
            for element in _split(words, text, values):
                if head is None and not prep and not attached:
                    head = element
                elif head is not None and head.person and prep == "from" and _common(element) and not attached:
                    text_ = f"{head.text} from {element.text}"  # "Anna from work" is not Anna from school
                    head = replace(head, text=text_, words=words_of(text_), end=element.end)
                else:
                    attached.append((prep, element))
        if head is None and attached:
            head = Element(text="", start=attached[0][1].start, end=attached[-1][1].end)
        if head is not None:
            found.append(replace(head, attached=(*head.attached, *attached), first=first))
    return found


def _common(element: Element) -> bool:
    return bool(element.words) and not element.names and element.value is None and not element.pronoun


def _segments(tokens: Sequence[Token], values: Sequence[Typed]) -> Iterator[tuple[list[Token], bool]]:
    """Cut at commas and "and", not inside brackets, values or names."""
    segment: list[Token] = []
    depth, first = 0, True
    for i, token in enumerate(tokens):
        depth += (token.form == "(") - (token.form == ")")
        inside = any(value.start < token.start < value.end for value in values)
        closes = token.lower in SEPARATORS and depth == 0 and not inside
        if closes and token.lower in ("and", "&") and _joined_modifiers(tokens, i):
            closes = False
        if closes:
            if segment:
                yield segment, first
                first = False
            segment = []
        else:
            segment.append(token)
    if segment:
        yield segment, first


def _joined_modifiers(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether "and" joins two adjectives before one noun ("black and white shirt")."""
    if not 0 < at < len(tokens) - 2:
        return False
    before, behind, noun = tokens[at - 1], tokens[at + 1], tokens[at + 2]
    return (
        before.upos == behind.upos == "ADJ"
        and noun.upos == "NOUN"
        and (at < 2 or tokens[at - 2].upos in ("DET", "NUM", "PUNCT", "CCONJ"))
    )


def _by_preposition(segment: Sequence[Token], values: Sequence[Typed]) -> Iterator[tuple[str, list[Token]]]:
    prep, i = "", 0
    part: list[Token] = []
    while i < len(segment):
        token = segment[i]
        inside = any(value.start < token.start < value.end for value in values)
        fixed = _fixed(segment, i)
        if fixed:
            if part or prep:
                yield prep, part
            prep, part = fixed, []
            i += len(fixed.split())
            continue
        is_prep = (token.upos == "VERB" and token.deprel == "case") or (
            token.lower in PHRASE_OPENERS and token.upos in PREPOSITIONAL and not inside
        )
        if (
            is_prep
            and not (token.lower == "of" and part)
            and not (token.lower in ("in", "on", "off", "to") and i == len(segment) - 1)
        ):
            if part or prep:
                yield prep, part
            prep, part = token.lower, []
        else:
            part.append(token)
        i += 1
    if part:
        yield prep, part


def _fixed(segment: Sequence[Token], at: int) -> str:
    for phrase in FIXED:
        words = phrase.split()
        if [token.lower for token in segment[at : at + len(words)]] == words:
            return phrase
    return ""


def _split(words: Sequence[Token], text: str, values: Sequence[Typed]) -> list[Element]:
    """Part a noun phrase from the typed values in it."""
    words = [token for token in words if token.form not in ("?", "!", '"', "'")]
    while words and (
        words[0].lower in ADVERBS and words[0].upos in ("ADV", "INTJ", "PART", "SCONJ", "ADP", "X", "CCONJ")
    ):
        words = words[1:]
    ends = {value.end for value in values}
    while words and words[-1].lower in ADVERBS and words[-1].upos in ("ADV", "INTJ", "PART", "ADP", "CCONJ"):
        if words[-1].end in ends:
            break
        words = words[:-1]
    if not words:
        return []
    start, end = words[0].start, words[-1].end
    inside = [value for value in values if start <= value.start and value.end <= end]
    found: list[Element] = []
    for value in inside:
        if (
            _is_modifier(value, words)
            or _is_identifier(value, words)
            or _is_count(value, words)
            or _is_one(value, words)
        ):
            continue
        before = [token for token in words if token.end <= value.start]
        found += _nouns(before, text)
        found.append(
            Element(
                text=text[value.start : value.end],
                value=value.value,
                shift=value.shift,
                each=value.each,
                start=value.start,
                end=value.end,
            )
        )
        words = [token for token in words if token.start >= value.end]
    found += _nouns(words, text)
    return _attached(found)


def _nouns(tokens: Sequence[Token], text: str) -> list[Element]:
    """Return the elements of noun phrases side by side: "the jacket an L" are two."""
    starts = [0]
    for i in range(1, len(tokens)):
        opens = tokens[i].upos == "DET" and tokens[i].lower in ("a", "an", "the", "my", "our")
        if opens and tokens[i - 1].upos in ("NOUN", "PROPN", "PRON", "NUM"):
            starts.append(i)
    parts = [tokens[start:end] for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)]
    return [element for part in parts for element in _noun(part, text)]


def _is_modifier(value: Typed, words: Sequence[Token]) -> bool:
    """Tell whether a part of the day is part of a name: "night shift", "the morning list"."""
    at = next((i for i, token in enumerate(words) if token.start == value.start), len(words))
    part = words[at].lower in ("morning", "afternoon", "evening", "night", "lunch") if at < len(words) else False
    behind = at + 1 < len(words) and words[at + 1].upos == "NOUN"
    before = 0 < at < len(words) and words[at - 1].upos == "NOUN" and words[at - 1].end + 1 == words[at].start
    return part and value.end == words[at].end and (behind or before)


def _is_one(value: Typed, words: Sequence[Token]) -> bool:
    """Tell whether "one" stands for a noun: "the black one"."""
    at = next((i for i, token in enumerate(words) if token.start == value.start), 0)
    last = at == len(words) - 1 and at > 0
    return last and words[at].lower == "one" and words[at - 1].upos in ("ADJ", "NOUN", "DET", "PROPN")


def _is_count(value: Typed, words: Sequence[Token]) -> bool:
    """Tell whether a number counts what follows it, behind a determiner: "those two tables"."""
    if value.value is None or value.value.kind is not ValueKind.NUMBER:
        return False
    before = [token for token in words if token.end <= value.start]
    behind = [token for token in words if token.start >= value.end]
    counts = before and all(token.lower in COUNTED_BEHIND for token in before)
    return bool(counts and behind and behind[0].upos in ("NOUN", "ADJ"))


def _is_identifier(value: Typed, words: Sequence[Token]) -> bool:
    """Tell whether a number is part of a name or of an identifier: "LN 402 KB", "room 4B", "week 1"."""
    if value.value is None or value.value.kind is not ValueKind.NUMBER:
        return False
    at = next((i for i, token in enumerate(words) if token.start <= value.start < token.end), None)
    if at is None:
        return True
    before = words[at - 1] if at else None
    behind = words[at + 1] if at + 1 < len(words) else None
    if (
        behind is not None
        and behind.upos in ("NUM", "PROPN", "X")
        and (behind.start == words[at].end or (behind.form.isupper() and len(behind.form) < 4) or behind.upos == "NUM")
    ):
        return True
    if before is None:
        return False
    alone = at == 1 and before.upos == "PROPN" and behind is None and not before.form.isupper()
    if alone and before.lower not in NUMBERED:
        return False  # "Hall 300" is a price or a number of a hall, and no name
    return (
        (before.upos in ("PROPN", "X", "NUM") and not (before.upos == "PROPN" and before.form[0].islower()))
        or before.lower in NUMBERED
        or before.lower.rstrip("s") in NUMBERED_PLURALS
    )


def _attached(found: list[Element]) -> list[Element]:
    """Hang a value behind a noun on it: "trail shoes size 42", "venue 600"."""
    if len(found) < 2 or found[0].value is not None or found[0].shift is not None:
        if (
            len(found) == 2
            and found[0].value is not None
            and found[1].text
            and found[0].value.kind is ValueKind.NUMBER
            and not found[1].pronoun
        ):
            return [replace(found[1], count=found[0].value.amount, start=found[0].start)]
        if (
            len(found) == 2
            and found[0].value is not None
            and found[0].value.kind is ValueKind.QUANTITY
            and found[1].text
        ):
            return [replace(found[1], attached=(("quantity", found[0]), *found[1].attached), start=found[0].start)]
        dated = (
            len(found) == 2 and found[0].value is not None and found[0].value.kind in (ValueKind.DATE, ValueKind.CLOCK)
        )
        if dated and found[1].text and not found[1].pronoun:
            return [replace(found[1], attached=(("", found[0]), *found[1].attached), start=found[0].start)]
        return found
    head, *rest = found
    if head.words[-1:] in (("size",), ("colour",), ("color",)) and len(head.words) > 1 and rest[0].value is not None:
        name, _, attribute = head.text.rpartition(" ")
        head = replace(head, text=name, words=head.words[:-1])
        return [replace(head, attached=(*head.attached, (attribute.lower(), rest[0])), end=rest[-1].end)]
    return [replace(head, attached=(*head.attached, *(("", one) for one in rest)), end=rest[-1].end)]


def _plain(words: list[Token]) -> list[Token]:
    """Take off what a noun phrase can do without: "both of them", "the props we still need"."""
    if len(words) == 3 and words[1].lower == "of" and words[2].lower in ("them", "those", "these", "us"):
        return words[:1]
    if words and words[0].lower == "of":
        words = words[1:]
    own = next((i for i, token in enumerate(words) if i and token.lower in ("i", "we") and token.upos == "PRON"), None)
    return words[:own] if own is not None and words[own - 1].upos in ("NOUN", "PROPN") else words


def _is_titled(words: Sequence[Token]) -> bool:
    """Tell whether a title stands before a name: "dr okafor", "Aunt Beryl"; "my brother's number" has none."""
    first = words[0].lower.strip(".") if len(words) > 1 else ""
    return first in TITLES or (first in KIN and words[1].form[:1].isupper())


def _noun(tokens: Sequence[Token], text: str) -> list[Element]:
    """Return the element of a noun phrase without values."""
    words = [token for token in tokens if token.form not in (",", ";", ":", '"')]
    words = _plain(words)
    variants, words = _variants(words, text)
    if all(token.lower in ("the", "a", "an", "my", "our", "your", "its") for token in words):
        return []
    head, words = _determined(words)
    words = _trimmed(words)
    if not words:
        return []
    ordinal, det, count = head.ordinal, head.det, head.count
    inner = words[1:] if ordinal and words[0].lower in ORDINALS else words
    said = text[words[0].start : words[-1].end].strip(" ,.;:")
    lowered = said.lower()
    pronoun = ""
    number = lowered in ("two", "three", "four") and det in ("those", "these", "the", "that")
    if lowered in REFERRING or number or (lowered in ORDINALS and det):
        pronoun = "them" if number else lowered
        count = {"two": 2.0, "three": 3.0, "four": 4.0}.get(lowered, count)
        if lowered in ORDINALS:
            pronoun, ordinal = "one", ORDINALS[lowered]
    titled = _is_titled(words)
    ones = len(words) > 1 and words[-1].lower in ("one", "ones")
    stems = words_of(text[inner[0].start : inner[-1].end]) if inner else ()
    element = replace(
        head,
        text=text[words[0].start : words[-2].end] if ones else said,
        words=stems[:-1] if ones else stems,
        pronoun=pronoun,
        ordinal=ordinal,
        count=count or 2.0 if det == "both" or (det == "all" and not inner) else count,
        other=head.other or lowered in ("others", "rest", "remaining"),
        ones=ones,
        variants=variants,
        names=is_name(words) or titled,
        start=tokens[0].start,
        end=tokens[-1].end,
        place=is_name(words[:1]) and any(token.tag.endswith("PLACE") for token in words),
        adjective=all(token.upos in ("ADJ", "ADV", "VERB", "PART", "DET") for token in words),
        person=titled or any(token.tag.endswith("PERSON") for token in (words[-2:] if is_name(words) else words[-1:])),
    )
    if element.same and element.words in SAME_TIMES:
        return []  # "same day" is no name; what it is the same as is looked up
    return [_sized(element, words, text)]


TITLES = frozenset("dr mr mrs ms miss prof".split())
KIN = frozenset("aunt uncle sir dame sister brother father professor doctor rev".split())
SAME_TIMES = (
    ("hour",),
    ("place",),
    ("day",),
    ("time",),
    ("date",),
    ("week",),
    ("evening",),
    ("morning",),
    ("afternoon",),
)


COUNTING = frozenset("one ones half part two session".split())


def _variants(words: list[Token], text: str) -> tuple[tuple[str, ...], list[Token]]:
    """Part what stands in brackets from a noun phrase."""
    opened = next((i for i, token in enumerate(words) if token.form == "("), None)
    if opened is None:
        return (), words
    closed = next((i for i, token in enumerate(words) if token.form == ")"), len(words))
    inner = text[words[opened].end : words[closed - 1].end if closed > opened + 1 else words[opened].end]
    parts = (part.strip() for part in re.split(r",|\band\b|\bor\b|&", inner))
    variants = tuple(bare for part in parts if (bare := re.sub(r"^(?:the|an?|one)\s+|\s+ones?$", "", part, flags=re.I)))
    return variants, [*words[:opened], *words[closed + 1 :]]


def _determined(words: list[Token]) -> tuple[Element, list[Token]]:
    """Take the determiners off a noun phrase; they are told in an element without words."""
    head = Element(text="")
    while len(words) > 1:
        token, behind = words[0], words[1]
        if token.lower in DETERMINERS:
            head = replace(head, det=token.lower)
        elif token.lower in ("other", "remaining"):
            head = replace(head, other=True)
        elif token.lower in ("same", "whole", "entire"):
            head = replace(head, same=head.same or token.lower == "same")
        elif token.lower in ORDINALS and head.det and behind.lower in COUNTING:
            head = replace(head, ordinal=ORDINALS[token.lower])
        elif (
            token.lower in ("first", "second", "third", "last") and head.det in ("the", "that") and token.upos == "ADJ"
        ):
            return replace(head, ordinal=ORDINALS[token.lower]), words
        elif token.upos == "NUM" and head.det in COUNTED_BEHIND and token.lower != "one":
            head = replace(head, count=number_in(token.lower))
        elif not (token.lower in ADVERBS and token.upos in ("ADV", "INTJ", "PART")):
            break
        words = words[1:]
    return head, words


def _trimmed(words: list[Token]) -> list[Token]:
    """Take adverbs, and an adjective that says something of the noun, off the end of a noun phrase."""
    while words and words[-1].lower in ADVERBS and words[-1].upos in ("ADV", "INTJ", "PART"):
        words = words[:-1]
    while len(words) > 1 and words[-1].deprel == "acl" and words[-1].form.endswith("ing"):
        words = words[:-1]  # "a car waiting" is a car
    while len(words) > 1 and words[-1].upos == "ADJ" and words[-1].deprel in ("root", "conj", "xcomp"):
        if not any(token.upos in ("NOUN", "PROPN") for token in words[:-1]):
            break
        words = words[:-1]  # "is the application due" is about the application
    return words


def _sized(element: Element, words: Sequence[Token], text: str) -> Element:
    """Part "rain jacket size M" into the thing and its size."""
    at = next((i for i, token in enumerate(words) if token.lower == "size" and 0 < i < len(words) - 1), None)
    if at is None and len(words) > 1 and words[0].lower == "size":
        value = TaskValue(text=text[words[1].start : words[-1].end], kind=ValueKind.CHOICE)
        return replace(element, text="size", words=("size",), attached=(("", Element(text=value.text, value=value)),))
    if at is None:
        return element
    value = TaskValue(text=text[words[at + 1].start : words[-1].end], kind=ValueKind.CHOICE)
    thing = text[words[0].start : words[at - 1].end]
    return replace(
        element, text=thing, words=words_of(thing), attached=(("size", Element(text=value.text, value=value)),)
    )
