"""engine: turn -> reply + trace.

`turn.py` is the method, `wiring.py` names the parts, `maintenance.py` runs `absorb` behind the caller's back,
`replay.py` tells the past again, `api.py` is what users hold in their hands.
"""

from doxa.engine.api import Dialogue, Doxa, Memory
from doxa.engine.asynchronous import AsyncDialogue, AsyncDoxa, AsyncMemory

__all__ = ["AsyncDialogue", "AsyncDoxa", "AsyncMemory", "Dialogue", "Doxa", "Memory"]
