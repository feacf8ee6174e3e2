"""The queue of a Postgres database, where the package that it needs is installed."""

from __future__ import annotations

import sqlalchemy as sa

from doxa.backends.queue import Queue
from doxa.core.errors import MissingDependencyError

__all__ = ["open_queue"]


def open_queue(url: str) -> Queue:
    """Return the queue of a database.

    Raises:
        MissingDependencyError: pgqueuer is not installed.
    """
    try:
        from doxa.backends.queue.shared import Shared
    except ImportError as exc:
        raise MissingDependencyError(str(exc.name), extra="postgres", purpose="doxa worker on Postgres") from exc
    return Shared(sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))
