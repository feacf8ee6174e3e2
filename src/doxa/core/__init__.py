"""core: nothing -> the nouns.

Values, errors, configuration and traces that every other package speaks in.
It imports nothing of ours.
"""
