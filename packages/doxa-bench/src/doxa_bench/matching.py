"""Matching: does an extracted proposition say what a gold one says?

A gold proposition lists the wordings that it accepts, and may have other complete encodings (the inverse relation, a
lexical negation). An extracted one agrees with an encoding if subject, relation, object and polarity do, after the
normalisation of `wording` and `readings`; nothing is matched by meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import Any

from doxa_bench.readings import Reading, read
from doxa_bench.wording import Words, phrases

__all__ = ["Encoding", "Proposition", "Sides", "rules_agree"]

ISO = re.compile(r"\s*(\d{4}(?:-\d\d){0,2})(?:[T ].*)?\s*")
Signs = frozenset[tuple[bool, bool]]
"""Pairs (polarity, able) under which a wording is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposition:
    """An extracted fact, or an atom of an extracted rule."""

    subject: str
    relation: str
    object: str
    polarity: bool = True
    modality: str = "asserted"
    valid_from: str | None = None
    """ISO year, month or day."""
    valid_to: str | None = None
    ended: bool = False
    """The past mark: a past state, whether or not its end is dated."""
    subjects: frozenset[Words] = field(default=frozenset(), compare=False)
    readings: tuple[Reading, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, entry: Mapping[str, Any], day: str) -> Proposition:
        """Return a fact or an atom of a prediction file, said on an ISO date; what is missing has its default."""
        subject, relation, value = (str(_given(entry, key, "")).strip() for key in ("subject", "relation", "object"))
        return cls(
            subject=subject,
            relation=relation,
            object=value,
            polarity=str(_given(entry, "polarity", True)).lower() != "false",
            modality=str(_given(entry, "modality", "asserted")).strip().lower(),
            valid_from=_iso(entry.get("valid_from")),
            valid_to=_iso(entry.get("valid_to")),
            ended=bool(entry.get("ended")),
            subjects=frozenset(phrases([subject], day)),
            readings=tuple(reading for form in sorted(phrases([value], day)) for reading in read(relation, form)),
        )

    def modality_in(self, reading: Reading) -> str:
        """Return the modality: the one that is folded into the relation, else the one of the field."""
        return reading.modality or self.modality

    def is_past(self, reading: Reading, day: str) -> bool:
        """Tell whether it has an end by that day, or a mark of the past. Dates are compared as coarse as they are."""
        return self.ended or reading.past or (self.valid_to is not None and self.valid_to <= day)

    def claims_to_hold(self, reading: Reading, day: str) -> bool:
        """Tell whether it says that it holds on that day."""
        begins_later = self.valid_from is not None and self.valid_from > day
        return not (self.is_past(reading, day) or begins_later or self.modality_in(reading) == "planned")

    def __str__(self) -> str:
        marks = [] if self.polarity else ["NOT"]
        marks += [self.modality] if self.modality != "asserted" else []
        marks += [f"{self.valid_from or ''}..{self.valid_to or ''}"] if self.valid_from or self.valid_to else []
        marks += ["ended"] if self.ended else []
        return " | ".join((self.subject, self.relation, self.object)) + "".join(f"  [{mark}]" for mark in marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """One way to write a gold proposition: every accepted wording of its subject, and of its relation and object."""

    variable: str
    """`?x` in a rule, else empty."""
    subjects: frozenset[Words]
    readings: Mapping[Words, Signs]
    polarity: bool
    """As written; an encoding with the opposite polarity says itself that the fact no longer holds."""

    @classmethod
    def of(cls, entry: Mapping[str, Any], day: str, *, polarity: bool) -> Encoding:
        """Return the encoding that an annotated `{subject, subject_alt, relation, object}` describes."""
        readings: dict[Words, Signs] = {}
        for relation, value in product(entry["relation"], phrases(entry["object"], day)):
            for reading in read(relation, value, gold=True):
                sign = (polarity != reading.negated, reading.able)
                readings[reading.words] = readings.get(reading.words, frozenset()) | {sign}
        subject = str(entry["subject"])
        return cls(
            variable=subject if subject.startswith("?") else "",
            subjects=frozenset(phrases([subject, *entry.get("subject_alt", ())], day)),
            readings=readings,
            polarity=polarity,
        )

    def denied(self) -> Encoding:
        """Return the encoding of the opposite."""
        readings = {form: frozenset((not sign, able) for sign, able in signs) for form, signs in self.readings.items()}
        return replace(self, readings=readings, polarity=not self.polarity)

    def agreements(self, said: Proposition) -> Iterator[tuple[Reading, bool]]:
        """Yield the readings under which `said` is this, each with whether this has a "can" or "must"."""
        if not self.variable and not said.subjects & self.subjects:
            return
        for reading in said.readings:
            for polarity, able in self.readings.get(reading.words, ()):
                if reading.no_longer or polarity == (said.polarity != reading.negated):
                    yield reading, able


Sides = tuple[Sequence[Proposition], Sequence[Proposition]]
"""An extracted rule: what it needs, what it gives."""
GoldSides = tuple[Sequence[Encoding], Sequence[Encoding]]


def rules_agree(said: Sides, gold: GoldSides) -> bool:
    """Tell whether a rule is a gold rule: side by side, or as contrapositive of one atom on each side.

    Cost: the product of the factorials of the number of atoms on the sides, which are few.
    """
    if _sides_agree(said, gold):
        return True
    single = len(gold[0]) == len(gold[1]) == 1
    return single and _sides_agree(said, ([gold[1][0].denied()], [gold[0][0].denied()]))


def _sides_agree(said: Sides, gold: GoldSides) -> bool:
    """Pair the atoms one to one, in any order; a variable stands for the same name everywhere."""
    if any(len(ours) != len(theirs) for ours, theirs in zip(said, gold, strict=True)):
        return False
    wanted = [*gold[0], *gold[1]]
    orders = product(permutations(said[0]), permutations(said[1]))
    return any(_atoms_agree([*left, *right], wanted) for left, right in orders)


def _atoms_agree(said: Sequence[Proposition], gold: Sequence[Encoding]) -> bool:
    names: dict[str, str] = {}
    for ours, theirs in zip(said, gold, strict=True):
        name = ours.subject
        renamed = name.startswith("?") and names.setdefault(theirs.variable, name) == name
        if (theirs.variable and not renamed) or next(theirs.agreements(ours), None) is None:
            return False
    return True


def _given(entry: Mapping[str, Any], key: str, default: object) -> object:
    value = entry.get(key)
    return default if value is None else value


def _iso(value: object) -> str | None:
    """Return a date or a moment as ISO year, month or day; None for anything else."""
    match = ISO.fullmatch(str(value)) if value else None
    return match[1] if match else None
