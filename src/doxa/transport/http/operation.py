"""Whether the server lives, whether it can work, and its numbers. None of it needs a key or tells of anybody."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Depends
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import JSONResponse, Response

from doxa.core.errors import DoxaError
from doxa.transport.http.state import Served, served

__all__ = ["router"]

logger = logging.getLogger("doxa.server")
router = APIRouter(tags=["operation"])
Server = Annotated[Served, Depends(served)]


@router.get("/healthz", operation_id="health")
@router.head("/healthz", include_in_schema=False)  # some load balancers ask so
async def health() -> dict[str, str]:
    """Tell that the process lives."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="ready")
@router.head("/readyz", include_in_schema=False)
def ready(server: Server) -> Response:
    """Tell whether the database answers; 503 when it does not."""
    try:
        server.doxa.parts.log.store.keys("none")
    except DoxaError as exc:
        logger.error("the database does not answer: %s", exc)  # where it is, no stranger needs to know
        return JSONResponse({"status": "unavailable", "detail": "The database does not answer; see the log."}, 503)
    return JSONResponse({"status": "ready"})


@router.get("/metrics", operation_id="metrics", response_class=Response)
def metrics(server: Server) -> Response:
    """Return the metrics in the format of Prometheus."""
    return Response(generate_latest(server.numbers.registry), media_type=CONTENT_TYPE_LATEST)
