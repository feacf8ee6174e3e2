"""inspector: request -> page.

What a memory believes, why, and what it was thinking, for people: pages of HTML that the server writes, which work
without a script and are quicker with one. `mounting.py` makes routes of them, `entry.py` lets people in, `visit.py` is
one request for one of them, `rendering.py` writes them, `acts.py` is all that changes anything, and `pages/` has a
module for each page. Nothing is kept of anybody who looks: what a page shows is in its address.
"""

from doxa.transport.inspector.mounting import PATH, Inspector

__all__ = ["PATH", "Inspector"]
