"""Who processes a user's turns, and the token that shows it."""

from __future__ import annotations

import os
import socket
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.schema import heads
from doxa.backends.store.sql.database import sent_again
from doxa.backends.store.sql.heads import Heads

NOBODY = {"owner": None, "lease_until": None}


class Leases(Heads):
    """Leases, in the table of heads."""

    @sent_again(twice=True)
    def lease(self, scope: str, *, owner: str, seconds: float) -> int:
        """Take, renew or give back a lease. See `Store`."""
        mine = (heads.c.scope == scope, heads.c.owner == owner)
        with self._write() as connection:
            if seconds <= 0:
                connection.execute(sa.update(heads).where(*mine).values(NOBODY))
                return 0
            now = self._now()
            free = sa.or_(heads.c.owner.is_(None), heads.c.owner == owner, heads.c.lease_until <= now)
            took = _taken(owner, now + seconds).where(heads.c.scope == scope)
            fence = connection.execute(took.where(free)).scalar()
            if fence is None:
                holder = connection.execute(sa.select(heads.c.owner).where(heads.c.scope == scope)).scalar()
                if holder is not None and not _alive(holder):
                    fence = connection.execute(took.where(heads.c.owner == holder)).scalar()
        return fence or 0


def _taken(owner: str, until: sa.ColumnElement[Any]) -> Any:
    """Return the statement that writes a holder down and gives back its token."""
    before = sa.case((heads.c.owner == owner, heads.c.fence), else_=heads.c.fence + 1)
    return sa.update(heads).values(owner=owner, lease_until=until, fence=before).returning(heads.c.fence)


def _alive(owner: str) -> bool:
    """Tell whether a lease holder may still run; only a process of this machine can be known to be dead."""
    host, _, process = owner.partition("/")
    pid = process.partition("/")[0]
    if host != socket.gethostname() or not pid.isdigit() or os.name == "nt":  # there, signal 0 would end it
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
