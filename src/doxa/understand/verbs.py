"""Verb forms: from a word to its base and the forms it may be."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from doxa.memory import inflected

__all__ = ["Form", "base_of", "forms_of", "gerund_of", "participle_of"]

Form = Literal["base", "third", "past", "participle", "gerund"]


@cache
def _forms() -> dict[str, list[tuple[str, Form]]]:
    table: dict[str, list[tuple[str, Form]]] = {}

    def add(word: str, base: str, form: Form) -> None:
        if (base, form) not in table.setdefault(word, []):
            table[word].append((base, form))

    data = tomllib.loads(files("doxa.understand").joinpath("verbs.toml").read_text(encoding="utf-8"))
    for base in data["verbs"].split():
        kind = inflected(base)
        past = kind.past
        participle = data["participles"].get(base, past)
        add(base, base, "base")
        add(kind.label, base, "third")
        add(past, base, "past")
        add(participle, base, "participle")
        add(gerund_of(base), base, "gerund")
        if past.endswith("elled"):
            add(past[:-3] + "ed", base, "past")
            add(past[:-3] + "ed", base, "participle")
    for word in ("learnt", "dreamt"):
        add(word, word[:-1], "past")
        add(word, word[:-1], "participle")
    return table


def forms_of(word: str) -> list[tuple[str, Form]]:
    """Return every (base, form) that a word may be; empty when it is no known verb."""
    return _forms().get(word.casefold(), [])


def base_of(word: str, *forms: Form) -> str | None:
    """Return the base of a word read as one of `forms`; None when it cannot be one of them."""
    return next((base for base, form in forms_of(word) if form in forms), None)


def participle_of(word: str) -> str | None:
    """Return the base of a past participle; None for any other word."""
    return "be" if word.casefold() == "been" else base_of(word, "participle")


def gerund_of(base: str) -> str:
    """Return the -ing form of a verb."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return base[:-1] + "ing"
    if re.search(r"^[^aeiou]*[aeiou][bdgklmnprt]$", base) or base in (
        "begin",
        "forget",
        "swim",
        "cancel",
        "travel",
        "quit",
    ):
        return base + (base[-1] + "ing")
    return base + "ing"
