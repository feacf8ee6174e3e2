"""Words for relatives, friends, people at work and pets: the ties that they name, and which sex they tell of."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["FRESH", "KIN", "PET", "kin_of", "sex_of"]

KIN = {
    "mum": "mother", "mom": "mother", "mother": "mother", "mama": "mother", "mummy": "mother", "dad": "father",
    "father": "father", "papa": "father", "daddy": "father", "parent": "parent", "sister": "sister", "sis": "sister",
    "brother": "brother", "bro": "brother", "sibling": "sibling", "son": "son", "daughter": "daughter",
    "child": "child", "kid": "child", "baby": "baby", "toddler": "child", "grandma": "grandmother",
    "granny": "grandmother", "gran": "grandmother", "nan": "grandmother", "grandmother": "grandmother",
    "grandpa": "grandfather", "granddad": "grandfather", "grandad": "grandfather", "grandfather": "grandfather",
    "grandson": "grandson", "granddaughter": "granddaughter", "grandchild": "grandchild", "aunt": "aunt",
    "auntie": "aunt", "uncle": "uncle", "cousin": "cousin", "niece": "niece", "nephew": "nephew",
    "husband": "husband", "hubby": "husband", "wife": "wife", "spouse": "spouse", "partner": "partner",
    "boyfriend": "boyfriend", "girlfriend": "girlfriend", "fiance": "fiance", "fiancé": "fiance",
    "fiancée": "fiance", "ex": "ex", "stepmother": "stepmother", "stepfather": "stepfather",
    "stepsister": "stepsister", "stepbrother": "stepbrother", "half-sister": "half-sister",
    "half-brother": "half-brother", "mother-in-law": "mother-in-law", "father-in-law": "father-in-law",
    "sister-in-law": "sister-in-law", "brother-in-law": "brother-in-law", "friend": "friend", "mate": "friend",
    "best friend": "best friend", "roommate": "roommate", "flatmate": "flatmate", "housemate": "housemate",
    "neighbour": "neighbour", "neighbor": "neighbour", "colleague": "colleague", "coworker": "colleague",
    "co-worker": "colleague", "classmate": "classmate", "teammate": "teammate", "boss": "boss", "manager": "manager",
    "mentor": "mentor", "teacher": "teacher", "coach": "coach", "doctor": "doctor", "gp": "doctor",
    "dentist": "dentist", "therapist": "therapist", "landlord": "landlord", "landlady": "landlord", "nanny": "nanny",
    "tutor": "tutor", "godmother": "godmother", "godfather": "godfather", "twin": "twin", "twin sister": "sister",
    "twin brother": "brother", "little sister": "sister", "little brother": "brother", "assistant": "assistant",
    "lodger": "lodger", "tenant": "tenant", "babysitter": "babysitter",
    "cleaner": "cleaner", "vet": "vet", "hairdresser": "hairdresser", "physio": "physiotherapist",
    "physiotherapist": "physiotherapist", "accountant": "accountant", "lawyer": "lawyer", "supervisor": "supervisor",
    "trainer": "trainer", "co-founder": "co-founder", "business partner": "business partner", "godson": "godson",
    "goddaughter": "goddaughter", "baby boy": "son", "baby girl": "daughter",
    "baby son": "son", "baby daughter": "daughter", "newborn": "baby", "newborn son": "son",
    "newborn daughter": "daughter",
    "stepson": "stepson", "stepdaughter": "stepdaughter", "stepdad": "stepfather",
    "stepmum": "stepmother", "stepmom": "stepmother", "son-in-law": "son-in-law",
    "daughter-in-law": "daughter-in-law", "great-aunt": "great-aunt", "great-uncle": "great-uncle",
    "great-grandmother": "great-grandmother", "great-grandfather": "great-grandfather", "penpal": "pen pal",
    "pen pal": "pen pal", "ex-wife": "ex-wife", "ex-husband": "ex-husband", "ex-boyfriend": "ex-boyfriend",
    "ex-girlfriend": "ex-girlfriend", "trainee": "trainee", "apprentice": "apprentice", "intern": "intern",
    "workmate": "colleague", "buddy": "friend", "bestie": "best friend", "pal": "friend", "gf": "girlfriend",
    "bf": "boyfriend", "missus": "wife", "other half": "partner", "electrician": "electrician", "plumber": "plumber",
    "gardener": "gardener", "singing teacher": "singing teacher", "piano teacher": "piano teacher",
}  # fmt: skip
"""Noun -> the tie that it names, as the inventory calls it."""
PET = frozenset("dog cat puppy kitten rabbit horse hamster parrot tortoise pet bunny pony goldfish".split())
FEMALE = re.compile(r"girl|sister|mother|daughter|niece|aunt|wife|girlfriend|granddaughter|landlady")
MALE = re.compile(r"boy|brother|father|nephew|uncle|husband|boyfriend|grandson|(?<!per)\bson\b")
FRESH = re.compile(
    r"^(?:new|old|current|first|next|own|latest|actual|real|dear|big|little|older|younger|elder|"
    r"eldest|youngest|oldest|late|lovely|dear|former)\s+",
    re.I,
)
"""What a noun may have before it and still name the same tie ("my older sister")."""


def kin_of(noun: str) -> str | None:
    """Return the relation that a noun for a relative, friend or acquaintance names; None for other nouns."""
    word = noun.casefold().strip()
    while word not in KIN:
        shorter = FRESH.sub("", word)
        if shorter == word:
            singular = {"children": "child", "kids": "child", "grandkids": "grandchild"}.get(
                word, word.removesuffix("s")
            )
            return KIN.get(singular)
        word = shorter
    return KIN[word]


def sex_of(words: str) -> Literal["f", "m", ""]:
    """Return the sex that nouns for somebody tell of ("sister", "landlady"); empty where they tell none."""
    return "f" if FEMALE.search(words) else "m" if MALE.search(words) else ""
