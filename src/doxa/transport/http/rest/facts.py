"""What is believed: facts, why they stand, what happened to them, rules, disputes, and corrections by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from doxa.core.values import Change, Dispute, Entity, Explanation, Fact, Rule, Status
from doxa.transport.http.rest.ground import Body, Conversing, Fresh, Versioned, Wait, Why, memory_router, version_after
from doxa.transport.http.rest.paging import Cursor, Limit, paged
from doxa.transport.http.rest.shown import Changes, answer, page, shown, written
from doxa.transport.plain import plain

__all__ = ["router"]

router = memory_router("facts")
MOST_DISPUTED = 100
"""Facts of one dispute that are named at once."""
AsOf = Annotated[str | None, Query(description="What held in the world on that day, by what is believed.")]
KnownAt = Annotated[str | None, Query(description="What was believed then, by what had been said.")]
Subject = Annotated[str | None, Query(description="Only facts about it, by label.")]
Relation = Annotated[str | None, Query(description="Only facts of this relation, by name or label.")]


@router.get("/facts", operation_id="listFacts", response_model=page(Fact))
def list_facts(
    room: Fresh,
    subject: Subject = None,
    relation: Relation = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    status: Annotated[Status | None, Query(description="Only those that stand so; implies `current=false`.")] = None,
    current: Annotated[bool, Query(description="Only what is believed now; false: what was given up as well.")] = True,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """List facts in the order in which they came to be.

    What is current is told by the time of the latest turn, not by the clock on the wall.
    """
    memory = room.memory()
    found = memory.facts(
        current=current and status is None, subject=subject, relation=relation, as_of=as_of, known_at=known_at
    )
    wanted = [fact for fact in found if status is None or fact.status is status]
    order = [fact.fact_id for fact in memory.facts(current=False, known_at=known_at)] if cursor else []
    return paged("facts", wanted, lambda fact: fact.fact_id, cursor=cursor, limit=limit, order=order)


@router.get("/facts/{fact_id:path}/why", operation_id="whyFact", response_model=shown(Explanation))
def why_fact(fact_id: str, room: Fresh) -> Any:
    """Tell why a fact stands where it stands: its source turns, and what it displaced or was displaced by."""
    return plain(room.memory().why(fact_id))


@router.get("/facts/{fact_id:path}", operation_id="getFact", response_model=shown(Fact))
def get_fact(fact_id: str, room: Fresh) -> Any:
    """Return one fact, also one that follows from others."""
    return plain(room.memory().why(fact_id).fact)


@router.post("/facts/{fact_id:path}/retract", operation_id="retractFact", response_model=Changes)
def retract_fact(fact_id: str, room: Conversing, why: Why | None = None, wait: Wait = False) -> dict[str, Any]:
    """Declare that a fact never was true; what it had displaced holds again."""
    changes = room.memory("write").retract(fact_id, reason=why.reason if why else "")
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


@router.post("/facts/{fact_id:path}/accept", operation_id="acceptFact", response_model=Changes)
def accept_fact(fact_id: str, room: Conversing, why: Why | None = None, wait: Wait = False) -> dict[str, Any]:
    """Declare that a fact is so, though it is tentative, set aside, disputed or was retracted."""
    changes = room.memory("write").accept(fact_id, reason=why.reason if why else "")
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


class DisputedIn(Why):
    """Facts of a dispute."""

    fact_ids: list[str] = Field(description="The ids of all its facts.", min_length=2, max_length=MOST_DISPUTED)


@router.post("/facts/keep-both", operation_id="keepBothFacts", response_model=Changes)
def keep_both_facts(given: DisputedIn, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Declare that all facts of a dispute hold beside each other, until something said later changes it."""
    changes = room.memory("write").keep_both(given.fact_ids, reason=given.reason)
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


@router.get("/inferred", operation_id="listInferred", response_model=page(Fact))
def list_inferred(room: Fresh, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """List what nobody said and follows from the current facts by the axioms of the ontology."""
    found = room.memory().inferred()
    return paged("inferred", found, lambda fact: fact.fact_id, cursor=cursor, limit=limit)


@router.get("/rules", operation_id="listRules", response_model=answer("Rules", items=list[Rule]))
def list_rules(room: Fresh, known_at: KnownAt = None) -> dict[str, Any]:
    """List what was said in general or on a condition ("if it rains, we stay in")."""
    return {"items": plain(room.memory().rules(known_at=known_at))}


@router.get("/disputes", operation_id="listDisputes", response_model=answer("Disputes", items=list[Dispute]))
def list_disputes(room: Fresh) -> dict[str, Any]:
    """List facts of which at most one can be true while nothing says which, with the question to ask."""
    return {"items": plain(room.memory().disputes())}


@router.get("/history", operation_id="history", response_model=page(Change))
def history(
    room: Fresh,
    of: Annotated[str | None, Query(description="A fact id, or a subject by label; by default everything.")] = None,
    relation: Annotated[str | None, Query(description="With a subject: only what is told by this relation.")] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """List what happened to what is believed, the oldest first."""
    found = list(enumerate(room.memory().history((of or "", relation) if relation is not None else of)))

    def place(one: tuple[int, Change]) -> str:  # with the fact: after an erasure another change has this number
        return f"{one[0]} {one[1].kind} {one[1].fact.fact_id}"

    told = paged("history", found, place, cursor=cursor, limit=limit)
    return told | {"items": [change for _, change in told["items"]]}


@router.get("/entities", operation_id="listEntities", response_model=page(Entity))
def list_entities(room: Fresh, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """List the people and things that facts are about, each with all its names."""
    return paged("entities", room.memory().entities(), lambda one: one.key, cursor=cursor, limit=limit)


class NamesIn(Why):
    """Two names."""

    one: str = Field(description="A name, as the entities have it.", examples=["Kathi"])
    other: str = Field(description="Another one.", examples=["Katharina"])


@router.post("/entities/merge", operation_id="mergeEntities", response_model=Changes)
def merge_entities(names: NamesIn, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Take two names for one person or thing; a split undoes it."""
    changes = room.memory("write").merge(names.one, names.other, reason=names.reason)
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


@router.post("/entities/split", operation_id="splitEntities", response_model=Changes)
def split_entities(names: NamesIn, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Tell two names apart; facts go back to the names that they were told of."""
    changes = room.memory("write").split(names.one, names.other, reason=names.reason)
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


class SourceIn(Why):
    """A source."""

    source: str = Field(description="A speaker, or whom or what speakers quoted.", examples=["Dad"])


@router.post("/sources/withdraw", operation_id="withdrawSource", response_model=Changes)
def withdraw_source(given: SourceIn, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Stop trusting a source: all turns of a speaker so far, or what was said on the word of somebody quoted."""
    changes = room.memory("write").withdraw(source=given.source, reason=given.reason)
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


NOTHING = "No fact changed: the last change had changed none, or nothing is left to take back."
TakenBack = written(
    "TakenBack",
    changes=(list[Change], "What changed of what is believed."),
    note=(str, "That nothing was taken back of what is believed, and why; else empty."),
)


@router.post("/undo", operation_id="undo", response_model=TakenBack)
def undo(room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Take the last change back, whatever it was; again, the one before it.

    A change that changed nothing, such as a second retraction of the same fact, is one as well.
    """
    changes = room.memory("write").undo()
    note = "" if changes else NOTHING
    return {"changes": plain(changes), "note": note, "version": version_after(room, wait=wait)}


class SupposedIn(Body):
    """What might happen: one of all but the speaker."""

    retract: str | None = Field(None, description="A fact id: it is not true.")
    accept: str | None = Field(None, description="A fact id: it is so.")
    keep_both: list[str] | None = Field(
        None, description="The ids of the facts of a dispute: all are so.", max_length=MOST_DISPUTED
    )
    withdraw: str | None = Field(None, description="A turn id: it is not trusted.")
    source: str | None = Field(None, description="A source: it is not trusted.")
    say: str | None = Field(None, description="What somebody says now.", examples=["I moved to Oslo."])
    speaker: str | None = Field(None, description="Who says it; by default the user.")


@router.post(
    "/what-if",
    operation_id="whatIf",
    response_model=answer("Supposed", changes=(list[Change], "What would change of what is believed.")),
)
def what_if(supposed: SupposedIn, room: Versioned) -> dict[str, Any]:
    """Tell what something would change, and change nothing."""
    return {"changes": plain(room.memory().what_if(**supposed.model_dump()))}
