"""mcp: tool call -> engine call.

The Model Context Protocol, over stdio (`stdio.py`) and streamable HTTP (`mounting.py`), on the official SDK.
`server.py` puts a server together; a profile is a set of tools: Doxa's own (`remembering.py`, `recalling.py`,
`correcting.py`, `tasking.py`), or those of `reference`, `mem0` and `graphiti`. Every request is answered in a `Room`
(`rooms.py`); no tool has an argument that names a user. What is exported here loads nothing of the SDK.
"""

from doxa.transport.mcp.mounting import Endpoints, shape, waits

__all__ = ["Endpoints", "shape", "waits"]
