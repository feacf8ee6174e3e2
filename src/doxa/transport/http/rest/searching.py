"""What is found in a memory and told of it: search, summaries, queries, checks, numbers; and how search learns."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import to_thread
from fastapi import Query, Request
from pydantic import Field

from doxa.core.consistency import Consistency
from doxa.core.drift import Drift
from doxa.core.feedback import Feedback, Lesson
from doxa.core.values import Evidence
from doxa.transport.http.rest.ground import (
    Body,
    Conversing,
    Fresh,
    Problem,
    Reading,
    Versioned,
    Wait,
    Writing,
    memory_router,
    version_after,
)
from doxa.transport.http.rest.shown import answer, shown, written
from doxa.transport.http.state import served
from doxa.transport.plain import plain

__all__ = ["router"]

router = memory_router("search")
LATE = "It took longer than the server lets it (`server.query_s`)."


class Said(Body):
    """Something that was just said."""

    speaker: str
    text: str


class QueryIn(Body):
    """What is looked for, and where."""

    query: str = Field(description="A question, or any words.", examples=["Where does Ana work?"])
    k: int = Field(10, ge=1, le=1000, description="How much evidence is given back at most.")
    recent: list[Said] | None = Field(
        None,
        description='What was just said, oldest first: it tells what "she" and "there" are. By default the latest '
        "turns, where the query goes on from something.",
    )
    session: str | None = Field(None, description="Only turns of this session.")
    speaker: str | None = Field(None, description="Only turns of this speaker.")
    since: str | None = Field(None, description="Only turns said then or later.")
    until: str | None = Field(None, description="Only turns said by then; a bare day, month or year means all of it.")
    as_of: str | None = Field(None, description="The day of the world that is asked about.")
    known_at: str | None = Field(None, description="Only what was known then.")
    superseded: bool = Field(False, description="Also turns of whose claims nothing is held any more.")


@router.post("/search", operation_id="search", response_model=answer("Found", items=list[Evidence]))
def search(asked: QueryIn, room: Versioned) -> dict[str, Any]:
    """Find the evidence for a query, best first; withdrawn turns are left out."""
    recent = None if asked.recent is None else [(one.speaker, one.text) for one in asked.recent]
    rest = asked.model_dump(exclude={"query", "recent"})
    return {"items": plain(room.memory().search(asked.query, recent=recent, **rest))}


@router.get("/summary", operation_id="summary", response_model=answer("Summary", text=str))
def summary(
    room: Fresh,
    query: Annotated[str | None, Query(description="Only what bears on it; by default everything.")] = None,
    max_tokens: Annotated[int, Query(ge=1, le=100_000, description="Most tokens of the text, by estimate.")] = 400,
    history: Annotated[bool, Query(description="With what no longer holds, and what is given up and why.")] = False,
) -> dict[str, str]:
    """Return what is believed now as a short text, for a prompt or a person: a line for each subject, then rules."""
    return {"text": room.memory().summary(query, max_tokens=max_tokens, history=history)}


class SparqlIn(Body):
    """A query in SPARQL."""

    query: str = Field(
        description="SELECT, ASK, CONSTRUCT or DESCRIBE; prefixes such as `doxa`, `thing` and `fact` are known.",
        examples=["SELECT ?place WHERE { ?who doxa:livesIn ?place }"],
    )
    as_of: str | None = Field(None, description="What held in the world on that day, by what is believed now.")
    known_at: str | None = Field(None, description="What was believed then.")


@router.post(
    "/sparql",
    operation_id="sparql",
    responses={504: {"model": Problem, "description": LATE}},
    response_model=answer(
        "SparqlResult",
        head=(dict[str, list[str]], "The variables, as `vars`; empty for ASK."),
        results=(dict[str, list[dict[str, dict[str, str]]]] | None, "The rows, as `bindings`; null for ASK."),
        boolean=(bool | None, "The answer to ASK; null for others."),
    ),
)
async def sparql(asked: SparqlIn, room: Versioned, request: Request) -> dict[str, Any]:
    """Query the current facts as a graph of RDF; the result is in the shape of SPARQL 1.1 Query Results JSON.

    It may take as long as the server lets it (`server.query_s`).
    """

    def ask(limit_s: float) -> dict[str, Any]:
        found = room.memory().sparql(asked.query, as_of=asked.as_of, known_at=asked.known_at, limit_s=limit_s)
        return {"results": None, "boolean": None} | found.to_json()

    return await served(request).querying.answer(ask)


@router.get(
    "/verify",
    operation_id="verify",
    response_model=shown(Consistency),
    responses={504: {"model": Problem, "description": LATE}},
)
async def verify(
    room: Fresh,
    request: Request,
    dl: Annotated[bool, Query(description="Ask HermiT, for all of OWL 2 DL; by default OWL 2 RL.")] = False,
    limit_s: Annotated[
        float, Query(gt=0, le=600, description="Seconds that HermiT may take, at most `server.query_s`.")
    ] = 60.0,
) -> Any:
    """Tell whether the current facts can all hold together under the ontology, and which of them cannot."""

    def ask(most_s: float) -> Any:
        return plain(room.memory().verify(dl=dl, limit_s=min(limit_s, most_s)))

    if dl:  # it starts a JVM, and counts among the queries of SPARQL, of which a few are worked on at once
        return await served(request).querying.answer(ask)
    return await to_thread.run_sync(ask, served(request).settings.query_s)


@router.get("/stats", operation_id="stats", response_model=answer("Stats", counts=dict[str, int]))
def stats(room: Fresh) -> dict[str, Any]:
    """Return how much of everything there is: turns, those not understood yet, facts, rules, changes, ..."""
    return {"counts": room.memory().stats()}


class FeedbackIn(Body):
    """What a search should have found."""

    query: str = Field(description="What was asked.")
    needed: list[str] = Field(min_length=1, description="The ids of turns that were needed.", examples=[["chat-7/12"]])


@router.post("/feedback", operation_id="sendFeedback", response_model=written("Learnt", feedback=Feedback))
def send_feedback(told: FeedbackIn, room: Conversing, wait: Wait = False) -> dict[str, Any]:
    """Tell that turns were needed to answer a query and were not found; search learns from it."""
    kept = room.memory("write").feedback(told.query, needed=told.needed)
    return {"feedback": plain(kept), "version": version_after(room, wait=wait)}


@router.post("/learn", operation_id="learn", response_model=shown(Lesson))
def learn(room: Writing) -> Any:
    """Learn how to search from the feedback; weights that find less in the latest of it are refused."""
    return plain(room.memory("write").learn())


@router.get("/learn", operation_id="learned", response_model=shown(Lesson))
def learned(room: Reading) -> Any:
    """Tell how search does on the feedback, and change nothing. What is learned is no part of the log: no ETag."""
    return plain(room.memory().learn(status=True))


@router.get("/drift", operation_id="drift", response_model=shown(Drift))
def drift(room: Reading) -> Any:
    """Tell whether search does as well as it did, by a sample of all questions, and change nothing. No ETag."""
    return plain(room.memory().drift())


@router.post("/drift", operation_id="refresh", response_model=shown(Drift))
def refresh(room: Writing) -> Any:
    """Refresh promotions, missing vectors and weights; weights that find less of what is held back are refused."""
    return plain(room.memory("write").drift(refresh=True))


@router.post("/drift/rollback", operation_id="rollBack", response_model=shown(Drift))
def roll_back(room: Writing) -> Any:
    """Put the weights of before the last refresh back in use."""
    return plain(room.memory("write").drift(rollback=True))
