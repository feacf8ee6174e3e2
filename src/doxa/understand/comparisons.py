"""Questions about several things at once: which has more, whether they agree, what they share, how they are tied."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.plans import HOLE, Plan
from doxa.language.verbs import forms_of

__all__ = ["compared"]

NAME = r"(?:(?:my|your|his|her|our|their|the) )?[\w'’.-]+(?: [\w'’.-]+){0,4}?"
PAIR = rf"(?P<a>{NAME})(?:,| or|, or| and) (?:(?:or|and) )?(?P<b>{NAME})"
WHICH = r"(?:who|which(?: one| of (?:them|the two))?)"
PATHS = (
    rf"how (?:is|are|was|were) (?P<a>{NAME}) (?:related|connected|linked|tied) (?:to|with) (?P<b>{NAME})",
    rf"how (?:is|are|was|were) (?P<a>{NAME}) and (?P<b>{NAME}) (?:related|connected|linked|tied)(?: to each other)?",
    rf"what (?:(?:is|was) the )?(?:connection|link|relationship|relation|tie)s? (?:is |are )?(?:there )?between "
    rf"(?P<a>{NAME}) and (?P<b>{NAME})",
    rf"what (?:connects|links|ties|joins) (?P<a>{NAME}) (?:to|and|with) (?P<b>{NAME})",
    rf"what (?:does|do|has|have) (?P<a>{NAME}) (?:have )?to do with (?P<b>{NAME})",
    rf"how (?:does|do|did) (?P<a>{NAME}) know (?P<b>{NAME})",
    rf"how do (?P<a>{NAME}) and (?P<b>{NAME}) know each other",
)
MORE = r"(?P<more>more \w+|less \w+|fewer \w+|\w+(?:er|est))"
EITHER = re.compile(rf"(?:{WHICH}|what) (?:is|was|are) (?:the )?{MORE}(?: one)?[,:]? {PAIR}", re.I)
THAN = re.compile(rf"(?:is|was|are|am) (?P<a>{NAME}) {MORE} than (?P<b>{NAME})", re.I)
FIRST = re.compile(rf"{WHICH} (?P<did>\w+) (?P<what>.*?)\b(?P<when>first|earlier|sooner|later|last)[,:]? {PAIR}", re.I)
TIMES = re.compile(
    rf"did (?P<a>{NAME}) (?P<does>[a-z]+(?: .+?)?) (?P<when>before or after|after or before|before|after) "
    rf"(?P<b>{NAME}) (?P<did>[a-z]+(?: .+)?)",
    re.I,
)
SAME = re.compile(
    rf"(?P<aux>do|does|did|are|were|is) (?P<a>{NAME}) and (?P<rest>.+?)(?: (?P<how>in|at|for|with|to|from|on|by))? "
    r"the same (?P<what>[\w ]+)",
    re.I,
)
BOTH = re.compile(
    rf"(?P<wh>what|which [\w ]+?) (?P<aux>do|does|did) (?:both )?(?P<a>{NAME}) and (?P<b>{NAME}) (?:both )?"
    r"(?P<does>[a-z]+)(?P<more>(?: .+)?)",
    re.I,
)
ALSO = re.compile(
    r"(?P<wh>who|which [\w ]+?) (?P<one>[a-z]+s|has|had|did|is|was|[a-z]+ed) (?P<rest>.+?),? (?:and|but) (?:also )?"
    r"(?P<two>(?:[a-z]+s|has|had|is|was|[a-z]+ed|did) .+)",
    re.I,
)
COUNTING = re.compile(
    rf"{WHICH} (?P<has>has|have|had|owns?|owned) (?P<sign>more|fewer|less) (?P<what>[\w ]+?)[,:]? {PAIR}", re.I
)


@cache
def _comparatives() -> dict[str, Any]:
    data = tomllib.loads(files("doxa.understand").joinpath("parts.toml").read_text(encoding="utf-8"))
    table: dict[str, Any] = data["comparatives"]
    return table


def compared(text: str) -> Iterator[Plan]:
    """Yield the plan for a question about several things, by its wording; `text` has no question mark. O(len(text))."""
    for pattern in PATHS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match:
            yield Plan(kind="path", names=(_plain(match["a"]), _plain(match["b"])))
            return
    for plans in (_counting, _either, _times, _same, _both, _also):
        plan = plans(text)
        if plan is not None:
            yield plan
            return


def _either(text: str) -> Plan | None:
    """Read "who is older, Ana or Leo" and "is Ana older than Leo"."""
    match = EITHER.fullmatch(text) or THAN.fullmatch(text)
    if match is None:
        return None
    query, sign = _measure(match["more"].casefold())
    names = (match["a"], match["b"])
    asks = tuple(_of(query, name) for name in names)
    return Plan(kind="compare", asks=asks, names=names, sign=sign, tests=match.re is THAN)


def _counting(text: str) -> Plan | None:
    """Read "who has more children, Ana or Leo"."""
    match = COUNTING.fullmatch(text)
    if match is None:
        return None
    names = (match["a"], match["b"])
    asks = tuple(_of(f"How many {match['what']} does {HOLE} have?", name) for name in names)
    return Plan(kind="compare", asks=asks, names=names, sign=1 if match["sign"].casefold() == "more" else -1)


def _measure(word: str) -> tuple[str, int]:
    """Return the question behind a comparative, and 1 when more of its answer is meant, -1 when less."""
    if word in _comparatives():
        query, sign = _comparatives()[word]
        return str(query), int(sign)
    if " " in word:
        kind, adjective = word.split(" ", 1)
        return f"How {adjective} is {HOLE}?", 1 if kind == "more" else -1
    stem = re.sub(r"(?:er|est)$", "", word)
    stem = re.sub(r"i$", "y", stem)
    stem = re.sub(r"([bdgmnt])\1$", r"\1", stem)
    return f"How {stem} is {HOLE}?", 1


def _times(text: str) -> Plan | None:
    """Read "who moved to Bonn first, Ana or Leo" and "did Ana move to Bonn before Leo started school"."""
    match = FIRST.fullmatch(text)
    if match:
        verb = _base(match["did"])
        names = (match["a"], match["b"])
        asks = tuple(f"When did {name} {verb} {match['what']}".strip() + "?" for name in names)
        sign = -1 if match["when"].casefold() in ("first", "earlier", "sooner") else 1
        return Plan(kind="compare", asks=asks, names=names, sign=sign)
    match = TIMES.fullmatch(text)
    if match is None or not _past(match["did"].split()[0]):
        return None
    either = " or " in match["when"]
    did, _, more = match["did"].partition(" ")
    does = match["does"]
    if did == "did" and not more:
        second = f"When did {match['b']} {does}?"
    elif did in ("was", "were"):
        second = f"When {did} {match['b']} {more}?"
    else:
        second = f"When did {match['b']} {_base(did)} {more}".strip() + "?"
    asks = (f"When did {match['a']} {does}?", second)
    if either:
        return Plan(kind="compare", asks=asks, names=("before", "after"), sign=-1)
    sign = -1 if match["when"].casefold() == "before" else 1
    return Plan(kind="compare", asks=asks, names=(match["a"], match["b"]), sign=sign, tests=True)


def _same(text: str) -> Plan | None:
    """Read "do Mia and Leo live in the same city" and "do they have the same boss"."""
    match = SAME.fullmatch(text)
    if match is None:
        return None
    what, how, words = match["what"], match["how"] or "", match["rest"].split()
    verb = next((n for n, word in enumerate(words) if n and _verbal(word)), None)
    if verb is None:
        return None
    names, does, aux = (match["a"], " ".join(words[:verb])), " ".join(words[verb:]), match["aux"].casefold()
    if does in ("have", "share") and not how:
        return Plan(kind="same", asks=tuple(f"What is {_whose(name)} {what}?" for name in names), names=names)
    if aux in ("are", "were", "is"):
        was = "was" if aux == "were" else "is"
        return Plan(
            kind="same", asks=tuple(_of(f"Which {what} {was} {HOLE} {does} {how}?", n) for n in names), names=names
        )
    did = "did" if aux == "did" else "does"
    return Plan(kind="same", asks=tuple(_of(f"Which {what} {did} {HOLE} {does} {how}?", n) for n in names), names=names)


def _both(text: str) -> Plan | None:
    """Read "what do both Ana and Leo like"; what is common in any respect is looked for in the graph."""
    match = BOTH.fullmatch(text)
    if match is None:
        return None
    names, does, more = (match["a"], match["b"]), match["does"], match["more"].strip()
    if does == "have" and more.startswith("in common"):
        return Plan(kind="shared", names=names)
    did = "did" if match["aux"].casefold() == "did" else "does"
    query = f"{match['wh']} {did} {HOLE} {does} {more}".strip()
    return Plan(kind="shared", asks=tuple(_of(f"{query[:1].upper()}{query[1:]}?", name) for name in names), names=names)


def _also(text: str) -> Plan | None:
    """Read "who lives in Ghent and plays the cello"."""
    match = ALSO.fullmatch(text)
    if match is None or not _verbal(match["two"].split()[0]) or not _verbal(match["one"]):
        return None
    wh = match["wh"][:1].upper() + match["wh"][1:]
    return Plan(kind="shared", asks=(f"{wh} {match['one']} {match['rest']}?", f"Who {match['two']}?"))


def _of(query: str, name: str) -> str:
    """Return a question about somebody, its verb agreeing."""
    told = query.replace(HOLE, _plain(name)).replace("  ", " ").replace(" ?", "?")
    told = re.sub(r"\bdoes (I|you|we|they)\b", r"do \1", told)
    return re.sub(r"\bis I\b", "am I", told)


def _plain(name: str) -> str:
    return {"me": "I", "us": "we", "him": "he", "them": "they"}.get(name.strip().casefold(), name.strip())


def _whose(name: str) -> str:
    return {"i": "my", "me": "my", "we": "our", "you": "your"}.get(name.casefold(), f"{name}'s")


def _verbal(word: str) -> bool:
    return word in ("has", "had", "is", "was", "did") or bool(forms_of(word))


def _past(word: str) -> bool:
    return (
        word in ("was", "were", "did", "had")
        or any(form == "past" for _, form in forms_of(word))
        or word.endswith("ed")
    )


def _base(word: str) -> str:
    return next((base for base, form in forms_of(word) if form in ("past", "third", "base")), word)
