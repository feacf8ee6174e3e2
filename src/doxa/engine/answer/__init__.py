"""answer: question -> evidence -> draft -> verdict -> reply + trace; `respond.py` is the loop."""
