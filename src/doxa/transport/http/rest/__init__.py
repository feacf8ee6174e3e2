"""rest: a request under /v1/memory -> engine call; Doxa's own interface, in JSON."""

from fastapi import APIRouter

from doxa.transport.http.rest import answers, turns

__all__ = ["router"]

router = APIRouter(prefix="/v1/memory")
for part in (turns, answers):
    router.include_router(part.router)
