"""Judging: is what a memory answers to a probe right, and if not, in what way is it wrong?

An accepted form appears in an answer if it stands there as whole words, or as an equal number or date. A form that must
not be given counts only where it is *given*, not where it is merely named as past, withdrawn, denied or compared; that
is decided clause by clause, by the cues of `judging.toml`. The bare value of an answer leaves no such doubt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from doxa_bench.dialogues import Probe
from doxa_bench.wording import DATE, Words, bare, joined, phrase, with_years, words

__all__ = ["Answer", "Judgement", "Mistake", "judge"]

Mistake = Literal["stale", "lost", "invented", "other"]
"""Gave what must not be given; abstained though there is an answer; answered though there is none; anything else."""
State = Literal["answered", "abstained", "no_by_ignorance"]
"""The last one: "not known" where that is a right way to say no; it counts neither as answered nor as abstained."""


@cache
def _cues() -> dict[str, frozenset[str]]:
    listed: dict[str, Any] = tomllib.loads(files("doxa_bench").joinpath("judging.toml").read_text(encoding="utf-8"))
    return {name: frozenset(listed[name].split()) for name in listed}


BREAK = re.compile(
    r"[;!?()\[\]\n–—]|[.,:](?=\s|$)|\s-+\s|(?=\b(?:and|although|because|but|then|though|whereas|while)\b)",
    re.IGNORECASE,
)
"""Where a clause ends."""
INTRODUCTION = re.compile(
    r"\b((?:before|previously|formerly|earlier|originally|initially|later|afterwards|now|today)(?: that)?"
    r"|until then|since then|at first|in the past),(?=\s)",
    re.IGNORECASE,
)
"""`before that, Paris`: the comma ends no clause."""
IGNORANCE = re.compile(
    r"""\b(?: (?:do|does|did)(?:n't|\ not)\ (?:\w+\ )?know | no\ longer\ know | not\ (?:known|sure|available) | unknown
        | no\ (?:idea|information|record|data) | (?:can|could)(?:not|n't|\ not)\ (?:say|tell) | nothing\ is\ known
        | (?:never|not|\w+n't)\ (?:been\ )?(?:said|stated|told|mentioned|specified) )\b""",
    re.VERBOSE,
)
DISAGREEMENT = re.compile(
    r"\b(?:disagree|contradict|conflict)\w*|\binconsistent\b|\bat odds\b|\b(?:sources|statements|accounts) differ\b"
)
BARE_VERDICT = re.compile(r"(?:yes|no)(?:\s*[,.;:!-]|$)")
ASKS_WHAT_IS_SETTLED = re.compile(r"is it (?:settled|certain|still established)\b|has .+ said\b")
"""Questions to which "I don't know" is a right no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a memory answered to one probe."""

    said: str
    """The bare value, or where there is none the answer in words."""
    abstained: bool
    conflict: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Answer:
        """Return the answer that an entry of a prediction file describes; an empty entry abstains."""
        value, text = _text(entry.get("value")), _text(entry.get("text"))
        said = value or text
        plain = " ".join(said.casefold().replace("’", "'").split())
        conflict = bool(entry.get("conflict")) or DISAGREEMENT.search(" ".join(words(said))) is not None
        ignorant = IGNORANCE.search(plain) is not None and not BARE_VERDICT.match(plain)
        silent = not said and not conflict
        return cls(said=said, conflict=conflict, abstained=bool(entry.get("abstained")) or ignorant or silent)

    @property
    def verdict(self) -> str | None:
        """Yes or no, by the first word, else no where there is a negation; None of nothing."""
        found, cues = words(self.said), _cues()
        if not found:
            return None
        if found[0] in cues["yes"]:
            return "yes"
        return "no" if found[0] in cues["no"] or cues["negations"] & set(found) else "yes"

    def __str__(self) -> str:
        marks = [mark for mark in ("abstained", "conflict") if getattr(self, mark)]
        return "".join([repr(self.said) if self.said else "nothing", *(f"  [{mark}]" for mark in marks)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether an answer is right, and how it counts."""

    mistake: Mistake | None
    state: State

    @property
    def right(self) -> bool:
        return self.mistake is None


def judge(probe: Probe, answer: Answer, day: str) -> Judgement:
    """Return whether an answer to a probe is right.

    Args:
        probe: the question and what is right.
        answer: what the memory said.
        day: ISO date on which it was asked; it tells the year of dates without one.

    Deterministic; O(words of the answer x accepted forms).
    """
    by_ignorance = (
        answer.abstained
        and probe.type == "yesno"
        and probe.wanted == "answer"
        and probe.answer[0] == "no"
        and ASKS_WHAT_IS_SETTLED.match(probe.question.casefold()) is not None
    )
    if by_ignorance:
        return Judgement(mistake=None, state="no_by_ignorance")
    state: State = "abstained" if answer.abstained else "answered"
    stale = _is_stale(probe, answer, day)
    if _is_right(probe, answer, day, stale=stale):
        return Judgement(mistake=None, state=state)
    if stale:
        return Judgement(mistake="stale", state=state)
    if answer.abstained and probe.wanted != "unknown":
        return Judgement(mistake="lost", state=state)
    invented = not answer.abstained and probe.wanted != "answer"
    return Judgement(mistake="invented" if invented else "other", state=state)


def _is_stale(probe: Probe, answer: Answer, day: str) -> bool:
    if probe.type == "yesno":
        return not answer.abstained and answer.verdict in probe.wrong
    return _given(probe.wrong, answer.said, beside=probe.answer, day=day, history=probe.about_history)


def _is_right(probe: Probe, answer: Answer, day: str, *, stale: bool) -> bool:
    if probe.wanted == "unknown":
        return answer.abstained and not stale
    if probe.wanted == "conflict":
        both = all(_given(group, answer.said, beside=(), day=day, history=False) for group in probe.groups)
        return answer.conflict or (both and not answer.abstained)
    if answer.abstained:
        return False
    if probe.type == "yesno":
        return answer.verdict == probe.answer[0]
    groups = probe.groups if probe.type == "list" else (probe.answer,)
    return not stale and all(any(_places(_forms(group, day), answer.said, day)) for group in groups)


def _given(texts: Iterable[str], said: str, *, beside: Iterable[str], day: str, history: bool) -> bool:
    """Tell whether a form is given as the answer, and not only named.

    It is only named if a cue stands before it in its clause (after an accepted form, if there is one), or behind it in
    a clause without an accepted form.
    """
    forms, accepted = _forms(texts, day), _forms(beside, day)
    cues = _cues()["named"] | (_cues()["later"] if history else frozenset())
    for clause in BREAK.split(INTRODUCTION.sub(r"\1", said)):
        good = list(_places(accepted, clause, day))
        for line, place in _places(forms, clause, day):
            start = max((at for other, at in good if other == line and at < place), default=0)
            around = line[start:place] if good else line[start:]
            if not cues & set(around):
                return True
    return False


def _forms(texts: Iterable[str], day: str) -> frozenset[Words]:
    """Return the wordings of accepted forms: as they are, without articles, as phrases; dates joined or not."""
    plain = {form for text in texts for form in (words(text), tuple(bare(words(text))), phrase(text))}
    return frozenset(form for form in with_years({*plain, *map(joined, plain)}, day) if form)


def _places(forms: frozenset[Words], text: str, day: str) -> Iterator[tuple[Words, int]]:
    """Yield where one of the forms stands: the words of the text, with dates joined or not, and the place in them."""
    plain = words(text)
    for line in {plain, *with_years([joined(plain)], day)}:
        for form in forms:
            for place in range(len(line) - len(form) + 1):
                if all(_covers(wanted, word) for wanted, word in zip(form, line[place:], strict=False)):
                    yield line, place


def _covers(wanted: str, word: str) -> bool:
    """Tell whether two words are equal, or the second a date within the year or month that the first one is."""
    if wanted == word:
        return True
    said = DATE.fullmatch(word)
    if said is None:
        return False
    asked = DATE.fullmatch(wanted)
    if asked is None:
        return wanted == said[1]
    return asked[1] == said[1] and asked[2] == said[2] and asked[3] in (None, said[3])


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value).strip()
