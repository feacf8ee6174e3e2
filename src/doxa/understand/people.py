"""Who is who among people of one name: how they are tied to others, and which ties one person can have."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Claim, Term
from doxa.memory import Beliefs, is_tie, kinds_of

__all__ = ["Tie", "base_name", "conflict", "known_from", "linking", "namesakes", "ties_of", "words_of"]

Tie = tuple[str, str]
"""Key of somebody, and the relation in which he has the person: ("ana", "cousin")."""
ANYBODY = "*"
"""Stands for the owner of a tie that is not known: "Anna from work" is somebody's acquaintance."""
WHERE = re.compile(r" \((?:from|next|down) [^()]+\)$")
RECENT = 64
"""Claims of a name that are looked at: the latest."""
QUALIFIED = re.compile(r"(?P<name>.+?) \([^()]+\)$")
"""A key that tells people of one name apart: "anna (cousin of ana)"."""


@cache
def linking() -> Mapping[str, Any]:
    """Return the table of groups, kinds and weights."""
    return tomllib.loads(files("doxa.understand").joinpath("people.toml").read_text(encoding="utf-8"))


@cache
def words_of(table: str, row: str) -> frozenset[str]:
    """Return the words of a row of the table."""
    return frozenset(linking()[table].get(row, "").split())


def base_name(key: str) -> str:
    """Return the key of a name without what tells its bearers apart."""
    match = QUALIFIED.match(key)
    return match["name"] if match else key


def namesakes(name: str, beliefs: Beliefs) -> list[Term]:
    """Return those who are called exactly so, the latest first, each once. O(1)."""
    wanted = name.casefold()
    found: dict[str, Term] = {}
    for key in beliefs.names.namesakes(wanted.split(" ")[0]):
        if base_name(key) == wanted and beliefs.said_of(key):
            found.setdefault(beliefs.key(key), beliefs.identity.seen[key].term)
    return list(found.values())


def ties_of(key: str, beliefs: Beliefs, more: Iterable[Claim] = ()) -> set[Tie]:
    """Return how the entity of a key is tied to others, by what was said of it lately and by more claims."""
    names = set(beliefs.identity.names(key))
    said = [claim for name in names for claim in beliefs.said_of(name)[-RECENT:]]
    ties = {
        (beliefs.key(claim.subject.key), claim.relation.name)
        for claim in (*said, *more)
        if claim.object.key in names and claim.polarity and is_tie(claim.relation.name)
    }
    return ties | {(ANYBODY, "acquaintance") for name in names if WHERE.search(name)}


def conflict(one: Iterable[Tie], others: Iterable[Tie]) -> bool:
    """Tell whether some tie of one person cannot be that of another: cousin and colleague, two kinds of kin."""
    return any(not _both(tie, other) for tie in one for other in others)


def _both(one: Tie, other: Tie) -> bool:
    (owner, relation), (holder, second) = one, other
    first_group, second_group = _group(relation), _group(second)
    if owner != holder and ANYBODY not in (owner, holder):
        close = ("kin", "partner", "animal")
        return not (first_group in close and second_group in close)
    if relation == second or second in kinds_of(relation) or relation in kinds_of(second):
        return True
    if {relation, second} == {"husband", "wife"} or {relation, second} == {"boyfriend", "girlfriend"}:
        return False
    if first_group == second_group:
        return first_group not in ("kin", "animal")
    together = words_of("groups_together", first_group) | words_of("groups_together", second_group)
    return first_group in together or second_group in together


def known_from(where: str) -> frozenset[str]:
    """Return the ties of those whom one knows from a place ("from work": colleague, boss); empty for other places."""
    rows = linking()["known_from"].items()
    return next((frozenset(ties.split()) for words, ties in rows if re.search(rf"\b(?:{words})\b", where)), frozenset())


@cache
def _group(relation: str) -> str:
    return next((group for group in linking()["groups"] if relation in words_of("groups", group)), "acquaintance")
