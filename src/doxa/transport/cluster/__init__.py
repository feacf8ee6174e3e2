"""cluster: replicas of the server on many machines -> one server, where a request goes to the state of its user.

Ray places, watches, restarts and counts; what is here says what a replica is (`replica.py`), whose a request is
(`whose.py`, `following.py`), and how many there are to be (`running.py`). `bulk.py` takes in, folds and trains the
memories of many users on all cores of the cluster. Ray is imported when something of it is called.
"""

from doxa.transport.cluster.bulk import Work, everybody, ingest, over_users, taken_in
from doxa.transport.cluster.running import (
    Standing,
    connect,
    disconnect,
    down,
    environment,
    placed,
    served,
    standing,
    up,
)

__all__ = [
    "Standing",
    "Work",
    "connect",
    "disconnect",
    "down",
    "environment",
    "everybody",
    "ingest",
    "over_users",
    "placed",
    "served",
    "standing",
    "taken_in",
    "up",
]
