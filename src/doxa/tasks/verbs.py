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

BETWEEN = frozenset(
    "possibly perhaps please also just maybe all to really probably rather then now be go ahead and only still".split()
)
LEADING = frozenset(
    (
        "also then please actually just maybe now so well ok okay right first second third finally instead oh "
        "yes no sorry wait hmm again anyway perhaps next lastly still"
    ).split()
)
CONTENT = frozenset("NOUN VERB ADJ PROPN AUX".split())
CERTAIN = frozenset("swap split book drop move merge undo cancel push remove delete".split())
SOFT = frozenset("please also just maybe really probably possibly perhaps then now".split())
OPENERS = frozenset("DET PRON NUM PROPN NOUN ADP ADV".split())
PARTICLES = frozenset("in on off out up back away down together along forward over through for with rid".split())
BEGINNING = frozenset(
    (
        "also then please actually just maybe now so well ok right oh yes no and sorry wait instead first "
        "second again by the way"
    ).split()
)

MODIFYING = frozenset("amod compound acl acl:relcl csubj".split())

Mood = Literal["request", "question", "statement", "fragment"]

WH = {"what", "which", "who", "whom", "whose", "when", "where", "why", "how"}

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
    ("would|do", "you", "mind"),
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
    index: int = 0
    """Its place in the sentence, which `head` of another one tells."""


def has_particle(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a word that sends a verb home follows: "coming back"."""
    return at + 1 < len(tokens) and tokens[at + 1].lower in ("back", "up", "out", "home")


def verb_at(tokens: Sequence[Token]) -> tuple[int | None, str]:
    """Return where the verb that counts stands, and the words around it that make it a request or a plan."""
    at = 0
    while at < len(tokens) and (tokens[at].upos in ("INTJ", "CCONJ", "PUNCT") or tokens[at].lower in LEADING):
        at += 1
    behind = next((end for wrapper in WRAPPERS if (end := _wrapped(tokens, at, wrapper)) is not None), at)
    wrapped = " ".join(token.lower for token in tokens[at:behind])
    at = behind
    while wrapped and at < len(tokens) and tokens[at].lower in BETWEEN and not _carries(tokens, at):
        at += 1
    for i in range(at, len(tokens)):
        if _is_verb(tokens, i) or (i == at and _is_request(tokens, i, wrapped)):
            return i, wrapped
    found = [
        i
        for i in range(at, len(tokens))
        if tokens[i].upos == "AUX" or (tokens[i].lemma == "be" and tokens[i].upos == "VERB")
    ]
    if found:
        last = i = next((j for j in found if not _relative(tokens, j)), found[0])
        while last + 1 < len(tokens) and tokens[last + 1].upos in ("AUX", "PART"):
            last += 1
        return max([j for j in range(i, last + 1) if tokens[j].upos == "AUX"] or [i]), wrapped
    participle = at < len(tokens) and tokens[at].form.endswith("ing") and has_particle(tokens, at)
    return at if participle and tokens[at].upos == "VERB" and not is_nominal(tokens, at) else None, wrapped


def _wrapped(tokens: Sequence[Token], at: int, wrapper: tuple[str, str, str]) -> int | None:
    """Return where what a wrapper wraps begins ("can you", "I would like"); None where it does not stand here."""
    for i, want in enumerate(part for part in wrapper if part):
        while i and at < len(tokens) and tokens[at].lower in SOFT:
            at += 1
        if at >= len(tokens) or not re.fullmatch(want, tokens[at].lower):
            return None
        at += 1
    return at


def _carries(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether "be" or "go" behind a wrapper is the verb itself."""
    ahead = tokens[at + 1].upos if at + 1 < len(tokens) else "VERB"
    return tokens[at].lower in ("be", "go") and ahead not in ("VERB", "CCONJ", "ADV")


def _is_verb(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    fronted = tokens[0].upos == "ADP" and at > 1 and tokens[at - 1].lower in ("i", "we")
    modifies = token.deprel in MODIFYING and not fronted
    modal = token.lemma == "ought" and at + 1 < len(tokens)
    return token.upos == "VERB" and not modifies and not modal and not is_nominal(tokens, at)


def _relative(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether an auxiliary belongs to a clause within a noun phrase: "the amount I'm claiming is ..."."""
    head = next((token for token in tokens if token.index == tokens[at].head), None)
    return head is not None and head is not tokens[at] and head.deprel in ("acl", "acl:relcl")


def _is_request(tokens: Sequence[Token], at: int, wrapped: str) -> bool:
    """Tell whether a word that the parser takes for a noun asks for something: "book room 4"."""
    token = tokens[at]
    if token.lower not in request_verbs() or at + 1 >= len(tokens) or token.upos not in CONTENT:
        return False
    behind = tokens[at + 1].upos
    heads = token.deprel in ("root", "conj", "parataxis") or bool(wrapped) or token.lower in STRONG
    sure = behind in ("DET", "PRON") or token.upos == "VERB" or bool(wrapped) or token.lower in CERTAIN
    return behind in OPENERS and heads and sure


def is_nominal(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a word that may be a verb names a thing: "the grouting", "waterproofing on Tuesday"."""
    token = tokens[at]
    before = tokens[at - 1] if at else None
    if any(one.head == token.index and one.deprel.startswith("nsubj") for one in tokens[: max(at - 1, 0)]):
        return False
    base = token.lower == token.lemma and before is not None and before.upos == "NOUN" and not before.form.endswith("s")
    if base and (at + 1 == len(tokens) or tokens[at + 1].upos in ("NUM", "NOUN")):
        return True  # "problem set 7": a verb would be "sets"
    if at + 1 < len(tokens) and tokens[at + 1].form == "-" and tokens[at].end == tokens[at + 1].start:
        return True  # "move-out checklist"
    named = at + 1 < len(tokens) and re.fullmatch(r"[A-Z]|\d+", tokens[at + 1].form)
    if named and (at + 2 == len(tokens) or tokens[at + 2].form in (":", ",")) and not at:
        return True  # "Box A: mugs, plates"
    if base and before is not None and before.deprel in ("nsubj", "compound") and tokens[at].tag == "O":
        behind = tokens[at + 1].upos if at + 1 < len(tokens) else "PUNCT"
        if behind in ("ADP", "PUNCT"):
            return True  # "choir practice on Tuesday": one choir would be said to practise with an -s
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
    """Return the particle of a verb ("take the bread out"), and what stands behind the verb without it."""
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
    """Return whether a clause asks for a change, asks for an answer, states something, or has no verb."""
    if at is None:
        return "question" if question else "fragment"
    asked = _wrapped_mood(wrapped, question=question) if wrapped else None
    if asked is not None:
        return asked
    begins = next((i for i, token in enumerate(tokens) if _begins(token)), 0)
    opener, follower = tokens[begins], tokens[begins + 1].upos if begins + 1 < len(tokens) else ""
    inverted = opener.upos == "AUX" and at != begins and follower in ("PRON", "DET", "NOUN", "PROPN", "PART")
    if question or opener.lower in WH or inverted:
        free = opener.lower in ("what", "when") and not question
        return "statement" if free and any(token.lower == "was" for token in tokens[at:]) else "question"
    verb = tokens[at]
    base = verb.lemma != "be" and verb.upos != "AUX" and not verb.form.endswith(("ing", "ed"))
    return "request" if at == begins and base else "statement"


def _begins(token: Token) -> bool:
    """Tell whether a word is the first of a clause that counts."""
    return (token.upos not in ("INTJ", "CCONJ", "PUNCT") and token.lower not in BEGINNING) or token.lower == "the"


def _wrapped_mood(wrapped: str, *, question: bool) -> Mood | None:
    """Return what the words around a request make of it ("can you", "I want to"); None where they do not tell."""
    first, last = wrapped.split()[0], wrapped.split()[-1]
    if last == "mind":
        return "request"
    if first in ("can", "could", "would", "will"):
        if last == "you" or (question and last == "we"):
            return "request"
        return "question" if question else None
    if first in ("let", "help", "please", "remember", "try", "make sure") or (
        first in ("i", "we", "you") and not question
    ):
        return "request"
    return None
