"""mem0: a request of mem0's client -> engine call.

The protocol of `mem0.MemoryClient` of mem0ai 2, so that a program which uses it needs another `host` and nothing
else. What a memory is here, the engine says (`Shelf`); `adding.py`, `reading.py`, `changing.py` and `entities.py` hold
what can be done, `elsewhere.py` what cannot and what to do instead. Errors have mem0's shape.
"""

from collections.abc import Mapping

from fastapi import APIRouter

from doxa.transport.http.mem0 import adding, changing, elsewhere, entities, reading
from doxa.transport.http.mem0.asking import mem0_shape
from doxa.transport.http.problems import Shape

__all__ = ["SHAPES", "router"]

router = APIRouter()
for part in (entities, adding, reading, changing, elsewhere):
    router.include_router(part.router)

STARTS = "/v1/ping /v1/memories /v2/memories /v3/memories /v1/entities /v2/entities /v1/batch /v1/event /v1/feedback"
SHAPES: Mapping[str, Shape] = dict.fromkeys(
    f"{STARTS} /v1/exports /v1/summary /v2/profiles /api/v1".split(), mem0_shape
)
"""How errors are said, by the beginning of the path."""
