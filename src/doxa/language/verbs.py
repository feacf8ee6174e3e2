"""Verb forms: from a word to its base and the forms it may be, and from a base to its forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from doxa.language.data import table

__all__ = [
    "Form",
    "base_forms",
    "base_of",
    "forms_of",
    "from_third_person",
    "gerund_of",
    "participle_of",
    "past_of",
    "third_person",
]

Form = Literal["base", "third", "past", "participle", "gerund"]


@cache
def _forms() -> dict[str, list[tuple[str, Form]]]:
    found: dict[str, list[tuple[str, Form]]] = {}

    def add(word: str, base: str, form: Form) -> None:
        if (base, form) not in found.setdefault(word, []):
            found[word].append((base, form))

    data = table("verbs")
    for base in data["verbs"].split():
        past = past_of(base)
        participle = data["participles"].get(base, past)
        add(base, base, "base")
        add(third_person(base), base, "third")
        add(past, base, "past")
        add(participle, base, "participle")
        add(gerund_of(base), base, "gerund")
        if past.endswith("elled"):
            add(past[:-3] + "ed", base, "past")
            add(past[:-3] + "ed", base, "participle")
    for word in ("learnt", "dreamt"):
        add(word, word[:-1], "past")
        add(word, word[:-1], "participle")
    return found


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


@cache
def _pasts() -> Mapping[str, str]:
    """Return the simple past of the irregular verbs, by base form."""
    pasts: Mapping[str, str] = table("verbs")["pasts"]
    return pasts


@cache
def base_forms() -> Mapping[str, str]:
    """Return the base forms of irregular verbs, by their past and participle ("built": build)."""
    return {form: base for base, past in _pasts().items() for form in past.split() if form != base}


def third_person(base: str) -> str:
    """Return the third person singular of a verb."""
    if base in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[base]
    if re.search(r"(?:s|x|z|ch|sh)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def past_of(base: str) -> str:
    """Return the simple past of a verb."""
    irregular = _pasts().get(base)
    if irregular:
        return irregular
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    if re.search(r"[^aeiou]el$", base):
        return base + "led"
    return base + base[-1] + "ed" if re.search(r"^[^aeiou]*[aeiou][bdgklmnprt]$", base) else base + "ed"


def from_third_person(phrase: str) -> str:
    """Return the base form of a phrase in the third person ("lives in" -> "live in")."""
    first, _, rest = phrase.partition(" ")
    special = {"is": "be", "has": "have", "was": "be", "does": "do", "goes": "go", "are": "be", "were": "be"}.get(first)
    if special is None:
        special = first[:-3] + "y" if first.endswith("ies") else first[:-1]
        special = first[:-2] if re.search(r"(?:ss|x|ch|sh)es$", first) else special
    return f"{special} {rest}".rstrip()
