"""absorb: turn that was received -> claims, changes and tasks, behind the caller's back; `turn.py` is the loop."""
