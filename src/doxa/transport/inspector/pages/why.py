"""From a fact, a turn or the value of a task to the words that were said; and what changed last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, RedirectResponse, Response

from doxa.core.errors import NotFoundError
from doxa.core.shared import origin_of
from doxa.core.tasks import TaskCommit, TaskEdit
from doxa.core.values import Explanation, Fact, Status
from doxa.core.views import Spoken
from doxa.transport.inspector.pages.drawing import around
from doxa.transport.inspector.rendering import Mark, marks_of
from doxa.transport.inspector.visit import SEE_OTHER, Visit

if TYPE_CHECKING:
    from doxa.engine import View

__all__ = ["PATHS"]

LATEST, TURNS, AROUND = 40, 5, 2
MOST = 30
"""Facts and changes of a kind that a page shows."""
PIECE = 20_000
"""Characters of a turn that a page shows."""
LONGEST_MARKED = 200_000
"""Characters of a turn in which it is looked for what says what."""
SAYS = {
    Status.HELD: "It is believed.",
    Status.SUPERSEDED: "It was so, and something else took its place.",
    Status.RETRACTED: "It is no longer believed ever to have been so.",
    Status.QUARANTINED: "It is not believed yet: no source that is trusted on it has said it.",
    Status.TENTATIVE: "It may have been misread, so it is not believed until it is said again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A turn that a fact rests on, and where in it the fact is said."""

    spoken: Spoken
    marks: tuple[Mark, ...]
    word: str = ""
    """On whose word its speaker said it."""


def why(visit: Visit) -> Response:
    """Lead from what the address names to the words behind it.

    Parameters: one of `fact` (an id, of an inferred one too), `turn`, `node` (of a task) and `answer`; without any of
    them the latest changes are shown, from `after` on.
    """
    if answer := visit.text("answer"):
        return RedirectResponse(visit.link("recall", answer=answer), SEE_OTHER)
    if origin := origin_of(visit.text("fact") or visit.text("turn")):
        return _shared(visit, origin.memory)
    if fact := visit.text("fact"):
        return _fact(visit, fact)
    if node := visit.text("node"):
        return _node(visit, node)
    if turn := visit.text("turn"):
        return _turn(visit, turn)
    with visit.room.view().opened() as view:
        changes = view.latest(after=visit.text("after"), limit=LATEST)
        known = view.known(change.fact.fact_id for change in changes.items)
    return visit.shown("why.html", changes=changes, known=known)


def _fact(visit: Visit, fact_id: str) -> Response:
    view = visit.room.view()
    told = view.why(fact_id)  # of what is inferred this may take a while, in which the memory is others' too
    with view.opened():
        start = visit.number("turns", 0)
        sources = _sources(view, told, start)
        known = view.known(key for change in told.changes[-MOST:] for key in change.because)
        rules = [(rule, view.told(rule)) for rule in told.rules]
        ends = view.subjects((told.fact.subject.key, told.fact.object.key))
    return visit.shown(
        "why_fact.html",
        told=told,
        fact=told.fact,
        says=SAYS[told.fact.status],
        inferred=bool(told.derivation),
        sources=sources,
        next=start + TURNS if start + TURNS < len(told.fact.turn_ids) else None,
        known=known,
        rules=rules,
        ends=ends,
        most=MOST,
        drawn=bool(told.premises or told.conclusions or told.displaced or told.displaced_by),
    )


def _shared(visit: Visit, name: str) -> Response:
    """Show a fact or a turn of a memory that everybody reads, without anything that would change it."""
    memory, fact = visit.room.memory(), visit.text("fact")
    told = memory.why(fact) if fact else None
    turns = [memory.turn(visit.text("turn"))] if told is None else told.turns
    says = "" if told is None else SAYS[told.fact.status]
    return visit.shown("why_shared.html", memory=name, told=told, turns=turns, says=says, most=MOST)


def _sources(view: View, told: Explanation, start: int) -> list[Source]:
    """Return some of the turns that a fact rests on, the latest first; of what follows, where its premises are said."""
    found = []
    for key in list(reversed(told.fact.turn_ids))[start : start + TURNS]:
        said = next((one for one in told.premises if key in one.turn_ids), told.fact)
        quotes = view.quotes(replace(said, turn_ids=(key,)), limit=1)
        found.append(
            Source(
                spoken=view.turn(key, before=AROUND, after=AROUND),
                marks=tuple(mark for quote in quotes for mark in marks_of(quote)),
                word=told.sources.get(key, ""),
            )
        )
    return found


def _turn(visit: Visit, turn_id: str) -> Response:
    with visit.room.view().opened() as view:
        spoken, heard = view.turn(turn_id, before=AROUND, after=AROUND), view.understood(turn_id)
        text = spoken.turn.text
        pieces = max(1, -(-len(text) // PIECE))
        piece = visit.number("piece", 1, least=1, most=pieces)
        start = (piece - 1) * PIECE
        marks = _said_in(view, heard.facts[:MOST], turn_id) if len(text) <= LONGEST_MARKED else ()
        known = view.known(change.fact.fact_id for change in heard.changes[:MOST])
        rules = [view.told(rule) for rule in heard.rules[:MOST]]
    within = [(max(a, start) - start, min(b, start + PIECE) - start, k) for a, b, k in marks]
    return visit.shown(
        "why_turn.html",
        spoken=spoken,
        heard=heard,
        text=text[start : start + PIECE],
        marks=[mark for mark in within if mark[0] < mark[1]],
        piece=piece,
        pieces=pieces,
        known=known,
        rules=rules,
        most=MOST,
    )


def _said_in(view: View, facts: Sequence[Fact], turn_id: str) -> list[Mark]:
    """Return where a turn says some facts."""
    quotes = (view.quotes(replace(fact, turn_ids=(turn_id,)), limit=1) for fact in facts)
    return list(dict.fromkeys(mark for found in quotes for quote in found for mark in marks_of(quote)))


def _node(visit: Visit, node_id: str) -> Response:
    """Show what became of the value of a task, turn by turn."""
    forest = visit.room.tasks().forest()
    views = {one.node.node_id: one for one in (*forest.nodes, *forest.hidden)}
    steps: list[tuple[TaskCommit, TaskEdit]] = [
        (commit, edit) for commit in forest.commits for edit in commit.edits if edit.node_id == node_id
    ]
    if not steps and node_id not in views:
        raise NotFoundError(f"There is no task and no part of one with the id {node_id!r}. The Tasks page lists them.")
    steps.reverse()
    return visit.shown(
        "why_node.html", view=views.get(node_id), steps=steps[:MOST], rest=len(steps[MOST:]), node=node_id
    )


def drawn(visit: Visit) -> Response:
    """Return what a fact rests on, what follows from it and what it clashed with, for the drawing."""
    view = visit.room.view()
    told = view.why(visit.text("fact"))
    return JSONResponse(around(visit, told, [view.told(rule) for rule in told.rules]))


PATHS = {"why": why, "why/graph": drawn}
