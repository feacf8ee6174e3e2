"""What the user is like in concepts, lifted from several statements."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from doxa.core.promotions import Promotion, PromotionReason
from doxa.transport.http.rest.ground import Conversing, Fresh, Wait, Why, memory_router, version_after
from doxa.transport.http.rest.shown import answer, shown, written
from doxa.transport.plain import plain

__all__ = ["router"]

router = memory_router("concepts")
Changed = written("ChangedConcept", concept=Promotion)


@router.get("/concepts", operation_id="listConcepts", response_model=answer("Concepts", items=list[Promotion]))
def list_concepts(
    room: Fresh,
    active: Annotated[bool, Query(description="Only those that stand; false: also those that fell.")] = True,
) -> dict[str, Any]:
    """List what the user is like ("prefers romantic films"); each cites the turns that it rests on."""
    return {"items": plain(room.memory().promotions(active=active))}


@router.get("/concepts/{concept_id}/why", operation_id="whyConcept", response_model=shown(PromotionReason))
def why_concept(concept_id: str, room: Fresh) -> Any:
    """Tell what a concept rests on, and which of its turns no longer speak for it."""
    return plain(room.memory().why_promoted(concept_id))


@router.post("/concepts/{concept_id}/demote", operation_id="demoteConcept", response_model=Changed)
def demote_concept(concept_id: str, room: Conversing, why: Why | None = None, wait: Wait = False) -> dict[str, Any]:
    """Take a concept down; it stays down, whatever is said, until it is enabled."""
    fallen = room.memory("write").demote(concept_id, reason=why.reason if why else "")
    return {"concept": plain(fallen), "version": version_after(room, wait=wait)}


@router.post("/concepts/{concept_id}/enable", operation_id="enableConcept", response_model=Changed)
def enable_concept(concept_id: str, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Take a demotion back; the concept stands again if enough speaks for it."""
    risen = room.memory("write").enable(concept_id)
    return {"concept": plain(risen), "version": version_after(room, wait=wait)}
