"""Rules in plain words, and their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from doxa.core.values import Atom, Rule
from doxa.language import from_third_person

__all__ = ["describe_rule", "in_force", "rule_id"]

ID_VERSION = "r1"
"""Prefix of rule ids; it changes when the way they are made changes."""
MODAL = {"must": "must", "may": "may"}


def rule_id(rule: Rule) -> str:
    """Return the id of what a rule says, whoever says it; the same on every machine."""
    sides = (tuple(sorted(map(_key, side))) for side in (rule.if_, rule.then))
    digest = hashlib.blake2s(repr(tuple(sides)).encode(), digest_size=6).hexdigest()
    return f"{ID_VERSION}_{digest}"


def in_force(stated: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules that hold of those that were stated, in order: what is lifted holds until it is stated anew."""
    held: list[Rule] = []
    for rule in stated:
        if rule.lifts:
            held = [other for other in held if rule_id(other) != rule.lifts]
        else:
            held.append(rule)
    return tuple(held)


def _key(atom: Atom) -> tuple[str, ...]:
    valid = str(atom.valid)
    return (atom.subject.key, atom.relation.name, atom.object.key, str(atom.polarity), atom.deontic, valid)


def describe_rule(rule: Rule) -> str:
    """Return a rule as a plain sentence: "If X is trainee, X gets locker"."""
    if_, then = (" and ".join(_words(atom) for atom in side) for side in (rule.if_, rule.then))
    return f"If {if_}, {then}"


def _words(atom: Atom) -> str:
    subject, thing = (_name(term.label) for term in (atom.subject, atom.object))
    time = f" ({atom.valid})" if str(atom.valid) else ""
    return " ".join(f"{subject} {_verb(atom)} {thing}".split()) + time


def _name(label: str) -> str:
    return label[1:].upper() if label.startswith("?") else label


def _verb(atom: Atom) -> str:
    label, no = atom.relation.label, not atom.polarity
    first, _, rest = label.partition(" ")
    allowed = first == "is" and rest.startswith(("allowed", "permitted", "free to", "welcome"))
    if atom.deontic and not allowed:
        return f"{MODAL[atom.deontic]}{' not' if no else ''} {from_third_person(label)}"
    if not no:
        return label
    return f"{first} not {rest}".rstrip() if first == "is" else f"does not {from_third_person(label)}"
