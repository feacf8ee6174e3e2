"""core: nothing -> the nouns.

Values, errors, configuration, traces and what time expressions mean: what every other package speaks in.
It imports nothing of ours.
"""
