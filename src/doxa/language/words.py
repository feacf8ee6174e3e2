"""Words by what they do in a sentence: each list once, as data of the language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from doxa.language.data import table
from doxa.language.stemming import stems

__all__ = [
    "ADVERBS",
    "BE",
    "CONTINENTS",
    "COUNTRIES",
    "DETERMINERS",
    "DO",
    "EMPTY",
    "HAVE",
    "HEDGES",
    "MODALS",
    "POINTING",
    "PREPOSITIONS",
    "PRONOUNS",
    "QUANTIFIERS",
    "SPEAKING",
    "SPOKEN_TO",
    "SUBJECTS",
    "Tense",
]

Tense = Literal["present", "past", "perfect", "future"]
BE: Mapping[str, str] = table("words")["be"]
HAVE: Mapping[str, str] = table("words")["have"]
DO: Mapping[str, str] = table("words")["do"]
MODALS: Mapping[str, str] = table("words")["modals"]
"""Modal verbs, with what they make of a clause."""


def _listed(name: str) -> frozenset[str]:
    return frozenset(table("words")[name].split())


ADVERBS = _listed("adverbs")
HEDGES = _listed("hedges")
DETERMINERS = _listed("determiners")
PREPOSITIONS = _listed("prepositions")
PRONOUNS = _listed("pronouns")
SUBJECTS = _listed("subjects")
SPEAKING = _listed("speaking")
SPOKEN_TO = _listed("spoken_to")
POINTING = _listed("pointing")
"""What refers to somebody or something that was named elsewhere."""
QUANTIFIERS = _listed("quantifiers")
EMPTY = frozenset(stem for word in _listed("empty") for stem in stems(word))
"""Stems of the words that say nothing of what a sentence is about."""


def _places(name: str) -> frozenset[str]:
    return frozenset(" ".join(one.split()).casefold() for one in table("places")[name].split(","))


COUNTRIES = _places("countries")
CONTINENTS = _places("continents")
