"""http: request -> engine call.

`app.py` puts the application together; `access.py` finds whose memory a request may touch, and gives out nothing
else; `problems.py` says what went wrong in the terms of each protocol; `guard.py` holds limits, `telling.py` logs,
metrics and spans; `rest/` is Doxa's own interface, `mem0/` that of mem0. Routes get a `Room` and never an engine.
"""

from doxa.transport.http.app import application
from doxa.transport.http.serving import require_keys, serve
from doxa.transport.http.telling import log_to

__all__ = ["application", "log_to", "require_keys", "serve"]
