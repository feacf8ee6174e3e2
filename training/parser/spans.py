"""Text -> allowed BIO tags per word, from slots, from annotated times, and from lists of names.

Nothing in `open/` marks entities as such, so a word gets the set of tags that the evidence allows, and the loss asks
only that the set as a whole be likely. SGD gives times, places, prices, persons and titles; recognizers_datetime
gives times; elsewhere a run of proper nouns is some name, whose type a list may tell.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from doxa.backends.parser import split

TAGS: list[str] = json.loads((Path(__file__).parent / "tags.json").read_text(encoding="utf-8"))
BIT = {tag: 1 << at for at, tag in enumerate(TAGS)}
ANY = (1 << len(TAGS)) - 1
NAMES = ("PERSON", "PLACE", "ORG", "NAME")
SLOTS = {
    "TIME": "date time outbound_departure_time inbound_departure_time check_in_date check_out_date departure_date "
    "return_date outbound_arrival_time inbound_arrival_time",
    "PLACE": "where_to city_of_event destination_city origin_city location address address_of_location event_location "
    "destination_airport_name origin_airport_name",
    "PERSON": "starring directed_by cast",
    "NAME": "title event_name restaurant_name movie_title",
    "QUANTITY": "price total_price ride_fare",
}
TYPE_OF_SLOT = {slot: kind for kind, slots in SLOTS.items() for slot in slots.split()}
Spanned = tuple[list[str], tuple[int, ...]]
CLOCK = re.compile(
    r"\d{1,2}:\d{2}(:\d{2})?|\d{1,4}/\d{1,2}/\d{1,4}|(19|20)\d\d|\d{1,2}(st|nd|rd|th)|'?\d0s|(19|20)\d0s"
)


@cache
def lists() -> dict[str, frozenset[str]]:
    """The word lists of `names.toml`."""
    found = tomllib.loads((Path(__file__).parent / "names.toml").read_text(encoding="utf-8"))
    return {name: frozenset(text.split()) for name, text in found.items()}


def weak_tags(forms: Sequence[str], upos: Sequence[str]) -> tuple[int, ...]:
    """The allowed tags of each word of a sentence whose parts of speech are known."""
    lower = [form.lower() for form in forms]
    allowed = [_single(word, tag) for word, tag in zip(lower, upos, strict=True)]
    named = _named(forms, upos)
    at = 0
    while at < len(forms):
        end = at
        while end < len(forms) and named[end]:
            end += 1
        if end > at:
            allowed[at:end] = _name(lower[at:end])
        elif upos[at] == "NUM" or (lower[at] in lists()["currency"] and list(upos[at + 1 : at + 2]) == ["NUM"]):
            end = _amount(lower, upos, at, allowed)
        at = max(end, at + 1)
    for at in range(1, len(forms) - 1):
        if upos[at] in ("ADP", "DET", "CCONJ", "PART") and named[at - 1] and any(named[at + 1 : at + 3]):
            allowed[at] |= sum(BIT[f"I-{kind}"] for kind in NAMES)  # `University of Sydney`
    return tuple(allowed)


def _named(forms: Sequence[str], upos: Sequence[str]) -> list[bool]:
    """Proper nouns, and capitalised words before them, such as `United` in `United States`."""
    named = [tag == "PROPN" for tag in upos]
    for at in range(len(forms) - 2, 0, -1):
        if forms[at][:1].isupper() and upos[at] in ("ADJ", "NOUN", "VERB", "X") and named[at + 1]:
            named[at] = True
    return named


def _single(word: str, tag: str) -> int:
    if word in lists()["time"] and tag in ("NOUN", "PROPN", "ADV"):
        return BIT["B-TIME"] | BIT["I-TIME"]
    if word in lists()["time_nouns"] or tag in ("DET", "ADP", "NUM"):
        return BIT["O"] | BIT["B-TIME"] | BIT["I-TIME"]
    return BIT["O"]


def _name(words: Sequence[str]) -> list[int]:
    if any(word in lists()["time"] for word in words):
        kinds: tuple[str, ...] = ("TIME",)
    else:
        # The order settles words of two lists: `University of Jordan`, `Washington Post Co.`
        kinds = next(((kind,) for kind in ("ORG", "PLACE", "PERSON") if _holds(words, kind)), NAMES)
    first = sum(BIT[f"B-{kind}"] for kind in kinds) | (BIT["I-TIME"] if kinds == ("TIME",) else 0)
    inner = sum(BIT[f"I-{kind}"] for kind in kinds)
    return [first | (inner if kinds == NAMES else 0)] + [inner] * (len(words) - 1)


def _holds(words: Sequence[str], kind: str) -> bool:
    known = lists()[kind.lower()]
    return words[0] in known if kind == "PERSON" else any(word in known for word in words)


def _amount(lower: Sequence[str], upos: Sequence[str], at: int, allowed: list[int]) -> int:
    end = at
    while end < len(lower) and (upos[end] == "NUM" or lower[end] in lists()["currency"]):
        end += 1
    behind = lower[end] if end < len(lower) else ""
    before = lower[at - 1] if at else ""
    if behind == "-" and end + 1 < len(lower):
        behind = lower[end + 1]
    timely = behind in lists()["duration_units"] or before in lists()["time"] or CLOCK.fullmatch(lower[at])
    kind = "TIME" if timely else "QUANTITY"
    if behind in lists()["units"] and lower[end] == behind:
        end += 1
    for place in range(at, end):
        allowed[place] = BIT[f"I-{kind}"] if place > at else BIT[f"B-{kind}"]
        if kind == "TIME":
            allowed[place] |= BIT["I-TIME"] | BIT["B-TIME"]
    if kind == "TIME" and end < len(lower) and lower[end] in lists()["duration_units"]:
        allowed[end] = BIT["I-TIME"]
        end += 1
    return end


def slot_sentences(data: Path, *, held: bool = False) -> Iterator[Spanned]:
    """Sentences of SGD with the tags that their slots give; every tenth dialogue is held out."""
    for path in sorted((data / "open" / "sgd").glob("*dialogues*.json")):
        dialogues = json.loads(path.read_text(encoding="utf-8"))
        for dialogue in (one for at, one in enumerate(dialogues) if (at % 10 == 7) is held):
            for turn in dialogue["turns"]:
                spans = [
                    (slot["start"], slot["exclusive_end"], TYPE_OF_SLOT.get(slot["slot"], ""))
                    for frame in turn["frames"]
                    for slot in frame["slots"]
                ]
                yield from _spanned(turn["utterance"], spans)


def time_sentences(data: Path, *, held: bool = False) -> Iterator[Spanned]:
    """Inputs of recognizers_datetime with their times; every tenth is held out."""
    for path in sorted((data / "open" / "recognizers_datetime").glob("*Extractor.json")):
        cases = json.loads(path.read_text(encoding="utf-8-sig"))
        for case in (one for at, one in enumerate(cases) if (at % 10 == 7) is held):
            spans = []
            for result in case["Results"]:
                start = case["Input"].lower().find(str(result.get("Text", "")).lower())
                if result.get("Text") and start >= 0:
                    spans.append((start, start + len(result["Text"]), "TIME"))
            yield from _spanned(case["Input"], spans)


def _spanned(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[Spanned]:
    """Words outside of all spans are O, unless they look like something that a slot might hold."""
    for sentence in split(text):
        tags = []
        for at, word in enumerate(sentence):
            kind = next((span for span in spans if span[0] < word.end and word.start < span[1]), None)
            if kind is None:
                known = word.form.lower() in lists()["time"] | lists()["time_nouns"] | lists()["currency"]
                open_ = (
                    known or any(map(str.isdigit, word.form)) or (at and word.form[:1].isupper() and word.form != "I")
                )
                tags.append(ANY if open_ else BIT["O"])
            elif not kind[2]:
                tags.append(ANY)
            else:
                starts = at == 0 or sentence[at - 1].end <= kind[0]
                tags.append(BIT[("B-" if starts else "I-") + kind[2]])
        yield [word.form for word in sentence], tuple(tags)


def _could_fill(form: str, *, first: bool) -> bool:
    known = form.lower() in lists()["time"] | lists()["time_nouns"] | lists()["currency"]
    return known or any(map(str.isdigit, form)) or (not first and form[:1].isupper() and form != "I")
