"""revise: claims + beliefs -> changes.

First version: revision within one slot. `resolve` is a pure function from the live claims of a slot to the facts
of that slot; changes are the difference between what it gives and what was held. So withdrawing a claim is the
same function on fewer claims, and what that claim had displaced comes back by construction.
"""

from doxa.revise.changes import retract, revise, withdraw
from doxa.revise.resolve import resolve

__all__ = ["resolve", "retract", "revise", "withdraw"]
