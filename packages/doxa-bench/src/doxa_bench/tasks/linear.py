"""A linear history as a task memory: every turn is kept as text, and the state is read out of all of it each time.

There is no model offline, so this is no ReAct and no language model over a long context. It is a deterministic reader
of most recent mentions, with every advantage that costs no understanding of revisions:

- it is told the names of the judged slots, their aliases, and which of them are sets;
- sentences that ask are never read as changes;
- a slot of times, days or numbers holds the last time, day or number of a sentence that names it, with or without the
  last word of its name ("workshop time": "workshop"); where a sentence names no slot of that type, what it mentions
  goes to the one that was named last, or to the only one that there is. Otherwise a slot holds the last word with a
  capital behind its name, or, if it has no such type, the words behind it;
- a set holds all that was listed in sentences with its name, behind a colon, "with" or "use" if there is one, but for
  what a later sentence drops; "X instead of Y" puts X for Y.

It resolves no "it", restores nothing earlier, follows no dependency, and knows no task but by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from doxa_bench.tasks.prompts import history_tokens
from doxa_bench.tasks.scenarios import Scenario
from doxa_bench.tasks.scoring import Played
from doxa_bench.tasks.values import Held, elements, tokens

__all__ = ["LinearHistory"]

SENTENCE = re.compile(r"(?<=[.!?;])\s+")
ASKS = re.compile(
    r"(who|what|when|where|why|which|how|did|do|does|is|are|was|were|wasn't|isn't|can you (list|tell|read|show))\b",
    re.I,
)
WEEKDAY = r"(?:(?:next|this) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
DAY = rf"{WEEKDAY}|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}} {MONTH}|\d{{1,2}}(?:st|nd|rd|th)|today|tomorrow"
TYPES = {
    "time": re.compile(r"\b(?:\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\d{1,2}:\d\d|noon|midnight|(?<=at )\d{1,2}\b)", re.I),
    "day": re.compile(rf"\b(?:{DAY})\b", re.I),
    "number": re.compile(r"(?<![\w:.])\d+(?:[.,]\d+)*(?![\w:])"),
}
HEADS = {
    "time": "time start end",
    "day": "day date deadline due departure return arrival",
    "number": "number quantity amount count size price budget cost guest people seat total duration",
}
SWAP = re.compile(r"(?P<new>[\w' -]+?) (?:instead of|rather than) (?P<old>[\w' -]+)", re.I)
DROPS = re.compile(
    r"\b(?:remove|drop|skip|scrap|cancel|delete|without|no|take out|forget)\b (?:the )?(?P<rest>.+)", re.I
)
LISTED = re.compile(r",|\band\b|&|\(|\)")
PROPER = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
OPENS = re.compile(r":|\b(?:with|use|chop|add|include)\b", re.I)
LEADS = (
    "also please too me make and peel chop wash bring pack buy get then add use put with to is as = : the a an some in "
    "on for my should be"
).split()
LEAD = re.compile(rf"^(?:{'|'.join(LEADS)})(?!\w)[\s:]*", re.I)


class LinearHistory:
    """The whole history, read anew after every turn."""

    @property
    def models(self) -> Mapping[str, str | None]:
        """None take part."""
        return {}

    def play(self, scenario: Scenario) -> list[Played]:
        """Return what is read after each turn. Cost O(turns^2 x slots)."""
        played: list[Played] = []
        for number, text in enumerate(scenario.turns, start=1):
            before = played[-1].state if played else {}
            turns = scenario.turns[:number]
            state = read(scenario, turns)
            asks = all(_asks(one) for one in SENTENCE.split(text))
            intent = "check" if asks else "new" if set(state) - set(before) else "update"
            reply = _told(state, text) if asks else "Noted."
            played.append(Played(intents=(intent,), state=state, reply=reply, tokens=history_tokens(turns)))
        return played


def read(scenario: Scenario, turns: Iterable[str]) -> dict[str, Held]:
    """Return slot -> what the most recent mentions say; slots of which there is none are left out."""
    sentences = [one for turn in turns for one in SENTENCE.split(turn) if not _asks(one)]
    names = {slot: _names(scenario, slot) for slot in scenario.judged}
    found: dict[str, Held] = {slot: _set(names[slot], sentences) for slot in scenario.sets}
    slots = [slot for slot in scenario.judged if slot not in scenario.sets]
    for kind in (*TYPES, None):
        of_kind = [slot for slot in slots if _type(slot) == kind]
        last = of_kind[:1] if len(of_kind) == 1 and kind else []
        for sentence in sentences:
            last = [slot for slot in of_kind if _named(names[slot], sentence)] or (last if kind else [])
            for slot in last:
                found[slot] = _scalar(names[slot], sentence, kind) or found.get(slot)
    return {slot: value for slot, value in found.items() if value}


def _names(scenario: Scenario, slot: str) -> list[str]:
    """Return what a slot is called; aliases of a few letters ("to", "with") stand in every other sentence."""
    return [slot, *(name for name in scenario.slot_aliases.get(slot, ()) if len(name) > 4)]


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or bool(ASKS.match(sentence.strip()))


def _type(slot: str) -> str | None:
    last = tokens(slot, slot=True)[-1]
    return next((kind for kind, words in HEADS.items() if last in words.split()), None)


def _scalar(names: Sequence[str], sentence: str, kind: str | None) -> str:
    if kind is not None and (mentioned := TYPES[kind].findall(sentence)):
        return str(mentioned[-1]).rstrip(".")
    if not (named := _named(names, sentence)):
        return ""
    behind = sentence[sentence.lower().find(named) + len(named) :]
    proper = PROPER.findall(behind)
    if proper or kind is not None:
        return proper[-1] if proper else ""
    return _item(re.split(r"[,;.!?]| and ", behind.strip(" :,"))[0])


def _set(names: Sequence[str], sentences: Iterable[str]) -> list[str]:
    held: list[str] = []
    for sentence in sentences:
        if swap := SWAP.search(sentence):
            new, old = (_item(swap[side]) for side in ("new", "old"))
            held = [new if _shares(old, one) else one for one in held]
        elif drops := DROPS.search(sentence):
            gone = [_item(part) for part in LISTED.split(drops["rest"])]
            held = [one for one in held if not any(_shares(part, one) for part in gone if part)]
        elif named := _named(names, sentence):
            opened = OPENS.search(sentence)
            before, behind = sentence[: sentence.lower().find(named)], _behind(named, sentence)
            listed = sentence[opened.end() :] if opened else behind or before
            listed = re.sub(rf"\b(?:to|in|into|for) (?:the |my )?{re.escape(named)}\b.*", "", listed, flags=re.I)
            held += [item for part in LISTED.split(listed) if (item := _item(part)) and item not in held]
    return held


def _named(names: Sequence[str], sentence: str) -> str:
    """Return the first name that stands in a sentence, whole or without its last word; empty if none does."""
    low = sentence.lower()
    short = (name.lower().rpartition(" ")[0] for name in names)
    return next(
        (one for one in (*map(str.lower, names), *short) if one and re.search(rf"\b{re.escape(one)}\b", low)), ""
    )


def _behind(name: str, sentence: str) -> str:
    """Return what stands behind a name."""
    return _item(sentence[sentence.lower().rfind(name) + len(name) :].strip(" .!,"))


def _item(text: str) -> str:
    """Return a phrase without the words that lead it in."""
    text = text.strip(" .!?:;")
    while (shorter := LEAD.sub("", text)) != text:
        text = shorter
    return text


def _shares(one: str, other: str) -> bool:
    """Tell whether all words of the shorter of two items are in the longer."""
    a, b = set(tokens(one)), set(tokens(other))
    return bool(a) and bool(b) and (a <= b or b <= a)


def _told(state: dict[str, Held], question: str) -> str:
    """Return the slots that a question names, or all of them."""
    asked = {slot: value for slot, value in state.items() if set(tokens(slot, slot=True)) & set(tokens(question))}
    shown = (f"{slot}: {', '.join(elements(value))}" for slot, value in (asked or state).items())
    return "; ".join(shown) or "Nothing yet."
