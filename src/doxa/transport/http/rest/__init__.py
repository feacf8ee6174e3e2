"""rest: a request under /v1/memory -> engine call; Doxa's own interface, in JSON.

One module for each noun; `ground.py` has what all of them stand on, `shown.py` how values look.
"""

from fastapi import APIRouter

from doxa.transport.http.rest import answers, carrying, concepts, facts, searching, tasks, turns

__all__ = ["router"]

router = APIRouter()
for part in (turns, answers, facts, searching, concepts, tasks, carrying):
    router.include_router(part.router)
