"""Claims, rules, facts, changes, promotions and turns as plain JSON data, and back.

Fields that hold their default are left out, so a row costs what it says. A field that is not known (written by
a newer minor version) is ignored; a missing one takes its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import UTC, date, datetime
from operator import not_
from typing import Any, Generic, TypeVar

from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.values import (
    Act,
    Atom,
    Change,
    ChangeKind,
    Claim,
    Conflict,
    Fact,
    Interval,
    Modality,
    Relation,
    Rule,
    Status,
    Term,
    ToTasks,
    Turn,
)
from doxa.memory.paged import Form

__all__ = [
    "CHANGE",
    "CLAIM",
    "Codec",
    "FACT",
    "FEEDBACK",
    "Named",
    "change_from",
    "change_to",
    "claim_from",
    "claim_to",
    "feedback_from",
    "feedback_to",
    "promotion_from",
    "promotion_to",
    "rule_from",
    "rule_to",
    "turn_from",
    "turn_to",
]

T = TypeVar("T")
Way = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Named:
    """A field whose name in the data is another, or which is no plain data."""

    field: str
    write: Way | None = None
    read: Way | None = None


class Codec(Generic[T]):
    """How the values of a dataclass are data.

    Args:
        kind: the dataclass.
        names: what is kept, in order, by its name in the data; see `NAMES`.
        own: names that mean something else here.
    """

    def __init__(self, kind: type[T], names: str, /, **own: Named) -> None:
        known: dict[str, Field[Any]] = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
        self._kind = kind
        self._named = {name: own.get(name) or NAMES.get(name) or Named(name) for name in names.split()}
        self._written = [(name, one.field, one.write, _default(known[one.field])) for name, one in self._named.items()]

    def to(self, value: T) -> dict[str, Any]:
        """Return a value as data, less the fields that hold their default."""
        data: dict[str, Any] = {}
        for name, field, write, default in self._written:
            held = getattr(value, field)
            if held is not default and held != default:
                data[name] = held if write is None else write(held)
        return data

    def of(self, data: Mapping[str, Any], /, **others: Any) -> T:
        """Return the value of some data; `others` are fields that are not in it."""
        for name, held in data.items():
            if (one := self._named.get(name)) is not None:
                others[one.field] = held if one.read is None else one.read(held)
        return self._kind(**others)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _pair(of: Term | Relation) -> list[str]:
    return [of.key, of.label] if isinstance(of, Term) else [of.name, of.label]


def _term(data: list[str]) -> Term:
    return Term(*data)


def _relation(data: list[str]) -> Relation:
    return Relation(*data)


def _interval_to(valid: Interval) -> list[str | None]:
    start = valid.start.isoformat() if valid.start else None
    end = valid.end.isoformat() if valid.end else None
    return [start, end, valid.start_precision, valid.end_precision]


def _interval_from(data: list[Any]) -> Interval:
    start, end, start_precision, end_precision = data
    return Interval(
        start=date.fromisoformat(start) if start else None,
        end=date.fromisoformat(end) if end else None,
        start_precision=start_precision,
        end_precision=end_precision,
    )


def _time_to(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _edges_from(data: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(edge), str(relation)) for edge, relation in data)


def _edges_to(edges: tuple[tuple[str, str], ...]) -> list[list[str]]:
    return [list(edge) for edge in edges]


def _atoms_to(atoms: tuple[Atom, ...]) -> list[dict[str, Any]]:
    return [_ATOM.to(atom) for atom in atoms]


def _atoms_from(data: list[dict[str, Any]]) -> tuple[Atom, ...]:
    return tuple(map(_ATOM.of, data))


def _support_to(support: tuple[Support, ...]) -> list[list[str]]:
    return [[one.turn_id, *one.fact_ids] for one in support]


def _support_from(data: list[list[str]]) -> tuple[Support, ...]:
    return tuple(Support(turn_id=turn_id, fact_ids=tuple(keys)) for turn_id, *keys in data)


NAMES = {
    "s": Named("subject", _pair, _term),
    "r": Named("relation", _pair, _relation),
    "o": Named("object", _pair, _term),
    "neg": Named("polarity", not_, not_),
    "mod": Named("modality", str, Modality),
    "act": Named("act", str, Act),
    "valid": Named("valid", _interval_to, _interval_from),
    "known": Named("known_at", _time_to, datetime.fromisoformat),
    "status": Named("status", str, Status),
    "fun": Named("functional"),
    "conf": Named("confidence"),
    "turn": Named("turn_id"),
    "turns": Named("turn_ids", list, tuple),
    "premises": Named("premises", list, tuple),
    "because": Named("because", list, tuple),
    "conflict": Named("conflict", str, Conflict),
    "edges": Named("edges", _edges_to, _edges_from),
    "misled": Named("misled", _edges_to, _edges_from),
    "if": Named("if_", _atoms_to, _atoms_from),
    "then": Named("then", _atoms_to, _atoms_from),
    "support": Named("support", _support_to, _support_from),
    "metadata": Named("metadata", dict, dict),
}
"""What names in the data stand for; any other one is that of its field."""

_TO_TASKS = Codec(ToTasks, "said_before intent routed")
_TURN = Codec(
    Turn,
    "session speaker role text generated to_tasks verbatim called metadata",
    to_tasks=Named("to_tasks", _TO_TASKS.to, _TO_TASKS.of),
    called=Named("called", list, tuple),
)
"""Id, user, ordinal and time of a turn are columns of its row."""
_CLAIMED = "s r o valid turn speaker span neg mod act ended replaces fun conf adds tentative source role known accepted"
_CLAIM = Codec(Claim, _CLAIMED)
_NUMBERED = Codec(Claim, f"{_CLAIMED} n", n=Named("number"))
"""With its place among all claims of a memory, which no log tells."""
_FEEDBACK = Codec(Feedback, "channel session query asked turns edges misled plan")
"""Its time is that of its row."""
_ATOM = Codec(Atom, "s r o neg deontic valid span")
_RULE = Codec(Rule, "if then turn speaker span lifts role conf known")
_FACT = Codec(Fact, "id s r o valid turns neg mod status disputed fun conf known premises", id=Named("fact_id"))
_CHANGE = Codec(
    Change,
    "kind fact turn reason because conflict known",
    kind=Named("kind", str, ChangeKind),
    fact=Named("fact", _FACT.to, _FACT.of),
)
_PROMOTION = Codec(
    Promotion,
    "id s r concept label score support known",
    id=Named("promotion_id"),
    r=Named("relation"),
    score=Named("score", lambda score: round(score, 4)),
)
"""Whether it stands is no part of it."""

FACT = Form(_FACT.to, _FACT.of)
CHANGE = Form(_CHANGE.to, _CHANGE.of)
CLAIM = Form(_NUMBERED.to, _NUMBERED.of)
FEEDBACK: Form[tuple[Feedback, ...]] = Form(
    lambda told: [[_time_to(one.at), _FEEDBACK.to(one)] for one in told],
    lambda data: tuple(_FEEDBACK.of(one, at=datetime.fromisoformat(at)) for at, one in data),
)
"""How values are kept in a pack."""

turn_to, turn_from = _TURN.to, _TURN.of
claim_to, claim_from = _CLAIM.to, _CLAIM.of
feedback_to, feedback_from = _FEEDBACK.to, _FEEDBACK.of
rule_to, rule_from = _RULE.to, _RULE.of
change_to, change_from = _CHANGE.to, _CHANGE.of
promotion_to, promotion_from = _PROMOTION.to, _PROMOTION.of
