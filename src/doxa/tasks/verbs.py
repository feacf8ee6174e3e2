"""verbs: words of a clause -> its verb with particle, and its mood."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

__all__ = [
    "MODALS",
    "Mood",
    "STRONG",
    "Token",
    "WH",
    "has_particle",
    "lexicon",
    "mood_of",
    "particle_of",
    "request_verbs",
    "verb_at",
    "verbs_of",
]

BETWEEN = frozenset("please also just maybe all to really probably rather then now be go ahead and only still".split())
LEADING = frozenset(
    "also then please actually just maybe now so well ok okay right first second third finally instead oh yes no sorry wait hmm again anyway perhaps next lastly still".split()
)
CERTAIN = frozenset("swap split book drop move merge undo cancel push remove delete".split())
SOFT = frozenset("please also just maybe really probably then now".split())
OPENERS = frozenset("DET PRON NUM PROPN NOUN ADP ADV".split())
PARTICLES = frozenset("in on off out up back away down together along forward over through for with rid".split())
BEGINNING = frozenset(
    "also then please actually just maybe now so well ok right oh yes no and sorry wait instead first second again by the way".split()
)

Mood = Literal["request", "question", "statement", "fragment"]

WH = {"what", "which", "who", "whom", "whose", "when", "where", "why", "how"}

MODALS = {"can", "could", "would", "will", "shall", "should", "may", "might"}

STRONG = {
    "book",
    "move",
    "drop",
    "remove",
    "cancel",
    "push",
    "change",
    "add",
    "invite",
    "delete",
    "swap",
    "order",
    "put",
    "make",
    "split",
}

WRAPPERS = (
    ("can|could|would|will", "you|we|i", ""),
    ("let", "'s|us|me", ""),
    ("help", "me|us", ""),
    ("i|we|you", "'d|would", "like|love|rather|prefer|want"),
    ("i|we", "want|need|have|got|hope|plan|wish|prefer|would", ""),
    ("i|we", "'m|'re|am|are|was|were", "going|planning|hoping|trying|thinking"),
    ("i|we|you|they|she|he", "'ll|will|should|must|can|could|might|shall|may", ""),
    ("please", "", ""),
    ("remember|try|feel free|be sure|make sure", "", ""),
)


@cache
def lexicon() -> Mapping[str, Any]:
    """Return the words of `words.toml`."""
    data: Mapping[str, Any] = tomllib.loads(files("doxa.tasks").joinpath("words.toml").read_text(encoding="utf-8"))
    return data


@cache
def verbs_of(kind: str) -> frozenset[str]:
    """Return the verbs of a class, those with a particle as "take out"."""
    return frozenset(lexicon()["verbs"][kind])


@cache
def request_verbs() -> frozenset[str]:
    """Return every verb that can ask for something."""
    return frozenset(verb.split()[0] for verbs in lexicon()["verbs"].values() for verb in verbs)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a turn: where it stands, and what the parser makes of it."""

    form: str
    lower: str
    lemma: str
    upos: str
    deprel: str
    head: int
    tag: str
    start: int
    end: int


def has_particle(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].lower in ("back", "up", "out", "home")


def verb_at(tokens: Sequence[Token]) -> tuple[int | None, str]:
    """Return where the verb that counts stands, and the words around it that make it a request or a plan."""
    at = 0
    while at < len(tokens) and (tokens[at].upos in ("INTJ", "CCONJ", "PUNCT") or tokens[at].lower in LEADING):
        at += 1
    wrapped = []
    for first, second, third in WRAPPERS:
        here = at
        if here < len(tokens) and re.fullmatch(first, tokens[here].lower):
            here += 1
            matched = True
            for want in (second, third):
                if not want:
                    continue
                while here < len(tokens) and tokens[here].lower in SOFT:
                    here += 1
                if here < len(tokens) and re.fullmatch(want, tokens[here].lower):
                    here += 1
                else:
                    matched = False
                    break
            if matched:
                wrapped = [t.lower for t in tokens[at:here]]
                at = here
                break
    while (
        at < len(tokens)
        and wrapped
        and tokens[at].lower in BETWEEN
        and not (
            tokens[at].lower in ("be", "go")
            and at + 1 < len(tokens)
            and tokens[at + 1].upos not in ("VERB", "CCONJ", "ADV")
        )
    ):
        at += 1
    for i in range(at, len(tokens)):
        token = tokens[i]
        if (
            token.upos == "VERB"
            and token.deprel not in ("amod", "compound", "acl", "acl:relcl", "csubj")
            and not is_nominal(tokens, i)
        ):
            return i, " ".join(wrapped)
        if (
            i == at
            and token.lower in request_verbs()
            and i + 1 < len(tokens)
            and (
                tokens[i + 1].upos in OPENERS
                and (token.deprel in ("root", "conj", "parataxis") or wrapped or token.lower in STRONG)
            )
            and token.upos in ("NOUN", "VERB", "ADJ", "PROPN", "AUX")
        ) and (tokens[i + 1].upos in ("DET", "PRON") or token.upos == "VERB" or wrapped or token.lower in CERTAIN):
            return i, " ".join(wrapped)
    for i in range(at, len(tokens)):
        if tokens[i].upos == "AUX" or (tokens[i].lemma == "be" and tokens[i].upos == "VERB"):
            last = i
            while last + 1 < len(tokens) and tokens[last + 1].upos in ("AUX", "PART"):
                last += 1
            auxes = [j for j in range(i, last + 1) if tokens[j].upos == "AUX"]
            return (auxes or [i])[-1], " ".join(wrapped)
    verbs = [i for i in range(at, len(tokens)) if tokens[i].upos == "VERB" and not is_nominal(tokens, i) and i > at - 1]
    participle = [i for i in verbs if tokens[i].form.endswith("ing") and i == at and has_particle(tokens, i)]
    return (participle[0] if participle else None), " ".join(wrapped)


def is_nominal(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a word that may be a verb names a thing: "the grouting", "waterproofing on Tuesday"."""
    token = tokens[at]
    before = tokens[at - 1] if at else None
    base = token.lower == token.lemma and before is not None and before.upos == "NOUN" and not before.form.endswith("s")
    if base and (at + 1 == len(tokens) or tokens[at + 1].upos in ("NUM", "NOUN")):
        return True  # "problem set 7": a verb would be "sets"
    if not token.form.endswith("ing"):
        return at > 0 and tokens[at - 1].upos == "DET" and tokens[at - 1].lower in ("the", "a", "an", "my", "our")
    if before is not None and (
        before.lemma == "be" or before.lower in ("i", "we", "to", "keep", "start", "stop", "rather", "'m")
    ):
        return False
    if (
        before is not None
        and before.upos in ("PRON", "NOUN", "PROPN")
        and token.deprel in ("root", "conj", "advcl")
        and before.deprel.startswith("nsubj")
    ):
        return False
    return not has_particle(tokens, at)


def particle_of(tokens: Sequence[Token], at: int) -> tuple[str, tuple[Token, ...]]:
    rest = list(tokens[at + 1 :])
    for i, token in enumerate(rest[:7]):
        verb = tokens[at].lemma
        near = f"{verb} {token.lower}"
        if token.deprel == "compound:prt" or (
            token.upos in ("ADP", "ADV", "ADJ", "NOUN")
            and any(near in lexicon()["verbs"][k] for k in lexicon()["verbs"])
        ):
            nominal = i + 1 < len(rest) and rest[i + 1].upos in ("DET", "NOUN", "PROPN", "NUM", "ADJ", "PRON")
            if token.lower in PARTICLES:
                if token.lower in ("in", "on", "with", "for", "over") and token.deprel == "case" and i > 0 and nominal:
                    continue
                del rest[i]
                if (
                    token.lower in ("back",)
                    and i < len(rest)
                    and rest[i].lower in ("in", "on")
                    and (i + 1 == len(rest) or rest[i + 1].upos in ("PUNCT", "CCONJ"))
                ):
                    del rest[i]
                return token.lower, tuple(rest)
        if token.upos in ("PUNCT", "SCONJ"):
            break
    return "", tuple(rest)


def mood_of(tokens: Sequence[Token], at: int | None, wrapped: str, *, question: bool) -> Mood:
    if at is None:
        return "question" if question else "fragment"
    verb = f"{tokens[at].lemma}"
    if wrapped:
        first = wrapped.split()[0]
        if first in ("can", "could", "would", "will") and wrapped.split()[-1] in ("you",):
            return "request"
        if first in ("can", "could", "would", "will") and question:
            return "request" if wrapped.split()[-1] == "we" else "question"
        if first in ("let", "help", "please", "remember", "try", "make sure"):
            return "request"
        if first in ("i", "we", "you") and not question:
            return "request"
    begins = next(
        (
            i
            for i, t in enumerate(tokens)
            if (t.upos not in ("INTJ", "CCONJ", "PUNCT") and t.lower not in BEGINNING) or t.lower == "the"
        ),
        0,
    )
    first = tokens[begins]
    if (
        question
        or first.lower in WH
        or (
            first.upos == "AUX"
            and at != begins
            and begins + 1 < len(tokens)
            and tokens[begins + 1].upos in ("PRON", "DET", "NOUN", "PROPN", "PART")
        )
    ):
        if (
            first.lower in WH
            and not question
            and first.lower in ("what", "when")
            and any(t.lower == "was" for t in tokens[at:])
        ):
            return "statement"
        return "question"
    if (
        at == begins
        and verb != "be"
        and tokens[at].upos != "AUX"
        and not tokens[at].form.endswith("ing")
        and not tokens[at].form.endswith("ed")
    ):
        return "request"
    return "statement"
