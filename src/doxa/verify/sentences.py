"""A reply -> its sentences, what each does, and the clauses that claim something, told from the user's side.

What a reply says of its reader ("you live in Bonn") is read best as if the reader said it ("I live in Bonn"): then
names, relatives and possessions are found as they are in the memory. What is asked, guessed, advised or said out of
politeness claims nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import SentenceKind
from doxa.language import split_text

__all__ = ["Clause", "Spoken", "affirmed", "cue", "read_reply", "turned"]

MOST_SENTENCES, LONGEST = 60, 1_000
"""Sentences of a reply that are checked, and characters of one; of the rest it is said that it was not."""
BEYOND = f"only the first {MOST_SENTENCES} sentences of a text are checked"
RUNS_ON = f"a sentence of more than {LONGEST:,} characters is not checked"

WHY = re.compile(
    r"^(?:since|as|because|now that|given that|seeing that|considering that|seeing as|although|though|while|when) "
    r"(?P<clause>(?:(?:you|your|she|he|they|it|the|there|we)\b|[A-Z])[^,]*(?:, (?:[^,]*, )?and [^,]+)?), "
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
ROLE = re.compile(r"^as (?P<what>an? [^,]{2,60}?),? (?P<rest>you(?:'| ).+)$", re.IGNORECASE)
SUBJECT = (
    r"(?:(?:now|then|today|currently|still|also|this|that)(?:,| day| week| month| year)? )?"
    r"(?:you(?:'\w+)?|your \w+|she|he|they|it|we|there|[iI](?:'\w+)?|the \w+|[A-Z]\w+(?: [A-Z]\w+)?(?:'s \w+)?)"
)
JOINT = re.compile(
    r"(?:[,;:] |\s[-–—]\s)(?:so|and|but|which means(?: that)?|because|since|although|though|while|yet|therefore|hence)?"
    rf",? ?(?={SUBJECT} (?!and |or )(?:\w+ ){{0,2}}?[a-z]+)|"
    r",? (?:because|although|whereas) (?=you|your|she|he|they|it|the|[A-Z])|; |, so (?=[a-z])|"
    r" (?:and|but|so) (?=(?:you|he|she|they|we|it|there)(?:'\w+)? (?:\w+ ){0,2}?[a-z]+)"
)
OBJECT = re.compile(
    r"\b(?P<before>to|for|with|of|from|by|about|at|than|like|around|near|without|told|tell|remind|help|let|give|gives|"
    r"gave|show|send|owe|owes|cost|costs|charged|takes?|makes?|made|sold|bought|calls?|called|visit|visits|love|loves|"
    r"met|see|saw) you\b",
    re.IGNORECASE,
)


NEGATED = re.compile(
    r"\b(?P<verb>is|are|am|was|were|does|do|did|has|have|had|can|will)(?:n't| not| never)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence that claims something."""

    text: str
    """As it stands in the reply."""
    told: str
    """The same as its teller would say it: the user of himself, or the agent of itself."""
    of_agent: bool = False
    """It is the agent that speaks of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One sentence of a reply."""

    text: str
    kind: SentenceKind
    clauses: tuple[Clause, ...] = ()
    """What it claims; empty for all but statements."""
    unread: str = ""
    """Why it is not checked; empty where it is."""


def read_reply(text: str) -> list[Spoken]:
    """Return the sentences of a reply in order, with what each claims; what is beyond the first ones is one more.

    Cost O(len(text)); never raises.
    """
    plain = re.sub(r"[ \t]+", " ", text.replace("\u2019", "'").replace("*", " "))
    raws = [raw.lstrip("-#•> ").strip() for raw in split_text(plain)]
    spoken = [_sentence(raw) if len(raw) <= LONGEST else _unread(raw, RUNS_ON) for raw in raws[:MOST_SENTENCES]]
    return [*spoken, _unread(" ".join(raws[MOST_SENTENCES:]), BEYOND)] if len(raws) > MOST_SENTENCES else spoken


def _unread(text: str, why: str) -> Spoken:
    return Spoken(text=text, kind="statement", unread=why)


def cue(name: str, text: str) -> bool:
    """Tell whether a text has one of the words of a list of `sentences.toml`."""
    return any(pattern.search(text) for pattern in _patterns(name))


def affirmed(clause: Clause) -> Clause | None:
    """Return the opposite of a clause that is denied as a whole; None for one that is not."""
    told = NEGATED.sub(lambda match: match["verb"], clause.told, count=1)
    return None if told == clause.told else replace(clause, told=" ".join(told.split()))


def turned(text: str) -> str:
    """Return what is said to somebody as that one would say it: "you are late" becomes "I am late"."""
    text = re.sub(r"\b(?:neither|both|all|none) of you\b", lambda m: m[0][:-3] + "us", text, flags=re.IGNORECASE)
    text = re.sub(r"\byou (?:two|both|all)\b", "we", text, flags=re.IGNORECASE)
    text = OBJECT.sub(lambda m: f"{m['before']} me", text)
    for pattern, plain in _PERSONS:
        text = pattern.sub(plain, text)
    return re.sub(r"\byou\b(?=[,.!?;]|$)", "me", text, flags=re.IGNORECASE).strip() or text


_PERSONS = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\byou(?: are|'re)\b", "I am"),
        (r"\bare you\b", "am I"),
        (r"\byou were\b", "I was"),
        (r"\byou weren't\b", "I wasn't"),
        (r"\byou aren't\b", "I am not"),
        (r"\byou've\b", "I have"),
        (r"\byou'll\b", "I will"),
        (r"\byou'd\b", "I'd"),
        (r"\byourself\b|\byourselves\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (r"\byou(?=\s+\w)", "I"),
    )
)


def _sentence(raw: str) -> Spoken:
    body = re.sub(r"[.!]+[\"')\]]*$", "", raw).strip()
    asserted = _pattern("tag").sub("", body)
    if asserted == body and body.rstrip("\"')]").endswith("?"):
        return Spoken(text=raw, kind="question")
    if cue("promise", asserted) and not cue("hedge", asserted):
        return Spoken(text=raw, kind="promise", clauses=tuple(_claimed(asserted)))
    if cue("talk", asserted):
        return Spoken(text=raw, kind="talk")
    clauses = tuple(_claimed(asserted))
    if clauses:
        return Spoken(text=raw, kind="statement", clauses=clauses)
    kind: SentenceKind = "advice" if cue("advice", asserted) else "hedge"
    return Spoken(text=raw, kind=kind)


def _claimed(text: str) -> Iterator[Clause]:
    """Yield the clauses of a sentence that say how things are."""
    for part in _parts(text):
        bare = _without_lead(part)
        if not re.search(r"\w \w", bare) or cue("advice", bare) or cue("hedge", bare) or cue("talk", bare):
            continue
        of_agent = bool(re.search(r"\b(?:i|my|me|i'm|i've)\b", bare, re.IGNORECASE))
        of_agent = of_agent and not re.search(r"\byou(?:rs?)?\b", bare, re.IGNORECASE)
        if not cue("promise", bare):
            yield Clause(text=bare, told=bare if of_agent else turned(_of_agent(bare)), of_agent=of_agent)


def _of_agent(text: str) -> str:
    """Name whoever replies, where a clause speaks of both."""
    text = re.sub(r"\bI(?:'m| am)\b", "the assistant is", text)
    return re.sub(r"\bI\b", "the assistant", re.sub(r"\b[Mm]y\b", "the assistant's", text))


def _parts(text: str) -> Iterator[str]:
    """Yield the clauses of a sentence: reasons, what follows from them, and what is only joined to them."""
    text = _without_lead(text)
    if (role := ROLE.match(text)) is not None:
        yield f"you are {role['what']}"
        yield from _parts(role["rest"])
    elif (why := WHY.match(text)) is not None:
        yield why["clause"]
        yield from _parts(why["rest"])
    elif re.match(r"according to [^,]+, ", text, re.IGNORECASE):
        yield text
    else:
        yield from (piece.strip(" ,;") for piece in JOINT.split(text) if piece and piece.strip(" ,;"))


def _without_lead(text: str) -> str:
    """Return a sentence without what only opens or closes it."""
    text = text.strip(" ,")
    while True:
        shorter = text
        for pattern in _patterns("lead"):
            found = pattern.match(shorter)
            shorter = shorter[found.end() :] if found else shorter
        shorter = _pattern("trail").sub("", shorter).strip(" ,")
        if shorter == text:
            return text
        text = shorter


def _pattern(name: str) -> re.Pattern[str]:
    return _patterns(name)[0]


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    written = _table()[name]
    return tuple(re.compile(one, re.IGNORECASE) for one in ([written] if isinstance(written, str) else written))


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("doxa.verify").joinpath("sentences.toml").read_text(encoding="utf-8"))
