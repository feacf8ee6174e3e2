"""Whether somebody can be meant by a noun, by what is known of whose he is: no uncle is a cousin, no wife a man."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.values import Fact
from doxa.memory import kin_of, kinds_of, sex_of

__all__ = ["may_be"]

MEN = frozenset("man guy boy gentleman bloke lad father dad husband".split())
WOMEN = frozenset("woman lady girl gal lass mother mum mom wife".split())
FAMILY = frozenset(
    "mother father parent sister brother sibling daughter son child aunt uncle cousin niece nephew grandmother "
    "grandfather grandparent grandchild wife husband spouse".split()
)
"""Ties of which the same two people have one."""


def may_be(noun: str, key: str, facts: Iterable[Fact]) -> bool:
    """Tell whether an entity may be called by a noun.

    Args:
        noun: "woman", "uncle".
        key: the entity.
        facts: what is known of it.

    Nothing known of it speaks against anything. O(facts).
    """
    ties = {fact.relation.name for fact in facts if fact.object.key == key and fact.polarity}
    own = key.rpartition("'s ")[2] if "'s " in key else ""  # "nora's mother" says what she is
    ties |= {kin_of(own) or own} if own else set()
    sexes = {sex for tie in ties if (sex := _sex(tie))}
    wanted = _sex(noun)
    if wanted and sexes and wanted not in sexes:
        return False
    kin = kin_of(noun)
    family = ties & FAMILY
    return kin not in FAMILY or not family or bool({kin, *kinds_of(kin)} & family)


def _sex(noun: str) -> str:
    return "m" if noun in MEN else "f" if noun in WOMEN else sex_of(noun)
