"""The names by which the parts of a cluster know each other."""

from __future__ import annotations

__all__ = ["NAME", "SHARD_HEADER", "Holder"]

NAME = "doxa"
"""Of the application and of its deployment in Ray Serve."""
SHARD_HEADER = "doxa-shard"
"""By which Serve chooses a replica; the OpenAI proxy relays no header that begins with `doxa-`."""
Holder = tuple[str, str, str]
"""Of a key: its tenant, the one user that it opens, and whom a request means that names nobody; empty where none."""
