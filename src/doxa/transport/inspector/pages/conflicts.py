"""What waits for a person: disputes, what only an assistant said, what may be misread, and names that may be one's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from starlette.responses import Response

from doxa.core.errors import DoxaError, InputError
from doxa.core.values import Change, Fact
from doxa.core.views import ReviewKind
from doxa.transport.inspector.acts import ACTS, CORRECTIONS, Given
from doxa.transport.inspector.visit import Visit

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["PATHS"]

ITEMS, NAMED, LATELY = 50, 50, 8
VOICES = 2
"""Turns that are shown of each side, the latest first."""
MOST_SIDES = 12
"""Facts that are compared at once."""
KINDS: dict[Literal["all", "names"] | ReviewKind, str] = {
    "all": "All",
    "disputed": "Disputed",
    "doubtful": "Doubtful",
    "tentative": "May be misread",
    "names": "Names",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one act would change, or why it cannot be done."""

    act: str
    given: Given
    about: tuple[Fact, ...]
    changes: tuple[Change, ...] = ()
    refused: str = ""


def conflicts(visit: Visit) -> Response:
    """Show a page of what waits for a person.

    Parameters: `kind` one of `KINDS`, `q` what the names of those begin with whom it is about, `order` "oldest" for the
    earliest first, `after` and `before` where the page begins or ends, `named` where the list of names begins.
    """
    kind = _kind(visit.text("kind", "all"))
    query = visit.text("q")
    with visit.room.view().opened() as view:
        page = view.review(
            kind,
            query=query,
            oldest=_oldest(visit.text("order")),
            after=visit.text("after"),
            before=visit.text("before"),
            limit=ITEMS,
        )
        joined = view.joined(query, after=visit.text("named"), limit=NAMED) if kind == "names" else None
        voices = view.voices((fact for item in page.items for fact in item.facts), limit=VOICES)
        deeds = view.deeds(session=CORRECTIONS, limit=LATELY)
    totals = {str(one): count for one, count in page.totals.items()}
    totals |= {"all": sum(page.totals.values()), "names": page.names}
    return visit.shown(
        "conflicts.html", page=page, kind=kind, kinds=KINDS, totals=totals, joined=joined, voices=voices, deeds=deeds,
    )  # fmt: skip


def compare(visit: Visit) -> Response:
    """Show what each act would change of some facts, and change nothing."""
    keys = visit.request.query_params.getlist("fact")[:MOST_SIDES]
    if not keys:
        raise InputError("fact: expected the facts to compare, got none.")
    view, memory = visit.room.view(), visit.room.memory()
    facts = tuple(view.fact(key) for key in keys)
    outcomes = [
        _outcome(name, {"fact": [fact.fact_id]}, (fact,), memory) for fact in facts for name in ("accept", "retract")
    ]
    if len(facts) > 1:
        outcomes.append(_outcome("keep", {"fact": keys}, facts, memory))
    return visit.shown("compare.html", outcomes=outcomes, acts=ACTS)


def _outcome(name: str, given: Given, about: tuple[Fact, ...], memory: Memory) -> Outcome:
    try:
        return Outcome(act=name, given=given, about=about, changes=tuple(ACTS[name].foresee(memory, given)))
    except DoxaError as exc:
        return Outcome(act=name, given=given, about=about, refused=str(exc))


def _kind(given: str) -> Literal["all", "names"] | ReviewKind:
    for kind in KINDS:
        if kind == given:
            return kind
    raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {given[:40]!r}.")


def _oldest(given: str) -> bool:
    if given not in ("", "oldest"):
        raise InputError(f"order: expected nothing or “oldest”, got {given[:40]!r}.")
    return given == "oldest"


PATHS = {"conflicts": conflicts, "conflicts/compare": compare}
