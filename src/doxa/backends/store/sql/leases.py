"""Who processes a user's turns."""

from __future__ import annotations

import os
import socket
import time

import sqlalchemy as sa

from doxa.backends.store.schema import heads
from doxa.backends.store.sql.database import Database, sent_again

NOBODY = {"owner": None, "lease_until": None}


class Leases(Database):
    """Leases, in the table of heads."""

    @sent_again(twice=True)
    def lease(self, scope: str, *, owner: str, seconds: float) -> bool:
        """Take, renew or give back a lease. See `Store`."""
        now = time.time()
        with self._write() as connection:
            query = sa.select(heads.c.owner, heads.c.lease_until).where(heads.c.scope == scope).with_for_update()
            found = connection.execute(query).one_or_none()
            if found is None:
                return True
            theirs = found.owner not in (None, owner) and (found.lease_until or 0) > now and _alive(found.owner)
            if not theirs:
                mine = {"owner": owner, "lease_until": now + seconds} if seconds > 0 else NOBODY
                connection.execute(sa.update(heads).where(heads.c.scope == scope).values(mine))
            return not theirs


def _alive(owner: str) -> bool:
    """Tell whether a lease holder may still run; only a process of this machine can be known to be dead."""
    host, _, pid = owner.rpartition("/")
    if host != socket.gethostname() or not pid.isdigit() or os.name == "nt":  # there, signal 0 would end it
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
