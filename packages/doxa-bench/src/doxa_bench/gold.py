"""Gold items of the understanding benchmark: a turn with its context, and what a good memory stores of it.

The file is JSON Lines. An item has `id`, `date`, `context`, `turn`, `facts`, `rules`, `forbidden` and `tags`; a fact
lists the accepted wordings of its relation and object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from doxa.core.errors import FormatError, NotFoundError
from doxa_bench.matching import Encoding, Proposition
from doxa_bench.readings import Reading, content

__all__ = ["Forbidden", "GoldFact", "GoldRule", "Item", "Said", "read_entries", "read_items"]


class HasId(Protocol):
    """What a line of a file is made into."""

    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=HasId)


class Said(NamedTuple):
    """A turn as the file gives it."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFact:
    """A fact that should be stored, or may be."""

    label: str
    encodings: tuple[Encoding, ...]
    """The fact itself, then its alternatives."""
    polarity: bool
    modalities: frozenset[str]
    valid_from: str | None
    """ISO date as coarse as the text is; None is not scored."""
    valid_to: str | None
    ended: bool
    optional: bool

    def agreements(self, said: Proposition) -> list[tuple[Reading, Encoding]]:
        """Return the readings under which an extraction core-matches, each with the encoding that it matches."""
        return [(reading, encoding) for encoding in self.encodings for reading, _ in encoding.agreements(said)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """What must not be stored."""

    encoding: Encoding
    modalities: frozenset[str]
    current_only: bool
    why: str

    def is_hit(self, said: Proposition, day: str) -> bool:
        """Tell whether an extraction says it; "must file" is not "file", unless the entry has such a word itself."""
        return any(
            able == reading.able
            and said.modality_in(reading) in self.modalities
            and (not self.current_only or said.claims_to_hold(reading, day))
            for reading, able in self.encoding.agreements(said)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRule:
    """A general or conditional statement: when all of `when` hold, so does `then`."""

    label: str
    when: tuple[Encoding, ...]
    then: tuple[Encoding, ...]

    def has_atom(self, said: Proposition) -> bool:
        """Tell whether an extraction is one side of the rule, kept as a mere hypothesis."""
        return any(
            said.modality_in(reading) == "hypothetical"
            for atom in (*self.when, *self.then)
            for reading, _ in atom.agreements(said)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One turn to understand."""

    id: str
    day: str
    """ISO date of the turn."""
    context: tuple[Said, ...]
    turn: Said
    facts: tuple[GoldFact, ...]
    rules: tuple[GoldRule, ...]
    forbidden: tuple[Forbidden, ...]
    tags: tuple[str, ...]

    def restates_context(self, said: Proposition) -> bool:
        """Tell whether an extraction is of the context: all its words stand there, and not all of them in the turn."""
        if not self.context:
            return False
        of_context = content(*(text for turn in self.context for text in turn))
        words = content(said.subject, said.relation, said.object)
        return words <= of_context and not words <= content(*self.turn)


def read_items(path: Path) -> list[Item]:
    """Return the items of a file; what it raises, `read_entries` tells."""
    return read_entries(path, _item)


def read_entries(path: Path, read: Callable[[Mapping[str, Any]], Named]) -> list[Named]:
    """Return what `read` makes of each object of a file, JSON Lines.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such item, or an id comes twice; the message names it.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}. Give the gold items (JSON Lines) with --data.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise FormatError(f"expected gold items, one JSON object a line, in {path}; it is not UTF-8: {exc}.") from exc
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            items.append(_read_line(line, read, f"{path}, line {number}"))
    repeated = [name for name, count in Counter(item.id for item in items).items() if count > 1]
    if repeated:
        raise FormatError(f"expected every gold item once in {path}; {repeated[0]!r} comes more often.")
    if not items:
        raise FormatError(f"expected gold items, one JSON object a line, in {path}; it holds none.")
    return items


def _read_line(line: str, read: Callable[[Mapping[str, Any]], Named], where: str) -> Named:
    try:
        return read(json.loads(line))
    except KeyError as exc:
        raise FormatError(f"{where}: expected a gold item, but its field {exc} is missing.") from exc
    except (ValueError, TypeError, AttributeError) as exc:
        raise FormatError(f"{where}: expected a gold item as a JSON object, got something else: {exc}.") from exc


def _item(entry: Mapping[str, Any]) -> Item:
    day = date.fromisoformat(entry["date"]).isoformat()
    return Item(
        id=str(entry["id"]),
        day=day,
        context=tuple(Said(turn["speaker"], turn["text"]) for turn in entry["context"]),
        turn=Said(entry["turn"]["speaker"], entry["turn"]["text"]),
        facts=tuple(_fact(fact, day) for fact in entry["facts"]),
        rules=tuple(_rule(rule["rule"], day) for rule in entry["rules"]),
        forbidden=tuple(_forbidden(fact, day) for fact in entry["forbidden"]),
        tags=tuple(entry["tags"]),
    )


def _fact(entry: Mapping[str, Any], day: str) -> GoldFact:
    polarity, modality = entry.get("polarity", True), entry["modality"]
    others = (Encoding.of(other, day, polarity=other.get("polarity", polarity)) for other in entry.get("alt", ()))
    label = Proposition(
        subject=entry["subject"],
        relation=entry["relation"][0],
        object=entry["object"][0],
        polarity=polarity,
        modality=modality,
        valid_from=entry["valid_from"],
        valid_to=entry["valid_to"],
        ended=entry.get("ended", False),
    )
    return GoldFact(
        label=str(label),
        encodings=(Encoding.of(entry, day, polarity=polarity), *others),
        polarity=polarity,
        modalities=frozenset((modality, *entry.get("modality_alt", ()))),
        valid_from=entry["valid_from"],
        valid_to=entry["valid_to"],
        ended=entry.get("ended", False),
        optional=entry.get("optional", False),
    )


def _forbidden(entry: Mapping[str, Any], day: str) -> Forbidden:
    return Forbidden(
        encoding=Encoding.of(entry, day, polarity=entry.get("polarity", True)),
        modalities=frozenset(entry.get("modality", ("asserted",))),
        current_only=entry.get("current_only", False),
        why=entry["why"],
    )


def _rule(entry: Mapping[str, Sequence[Mapping[str, Any]]], day: str) -> GoldRule:
    when, then = (
        tuple(Encoding.of(atom, day, polarity=atom["polarity"]) for atom in entry[side]) for side in ("if", "then")
    )
    sides = (" and ".join(_atom_label(atom) for atom in entry[side]) for side in ("if", "then"))
    return GoldRule(label="if {} then {}".format(*sides), when=when, then=then)


def _atom_label(atom: Mapping[str, Any]) -> str:
    words = f"{atom['subject']} {atom['relation'][0]} {atom['object'][0]}".strip()
    return words if atom["polarity"] else f"NOT {words}"
