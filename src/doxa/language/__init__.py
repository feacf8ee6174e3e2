"""language: text -> what it says, and the only home of English.

`times` reads dates and amounts of time, `syntax` and `inflection` a dependency tree, `verbs` and `stemming` the forms
of a word. What is known of a language is data in a folder of its own (`en`).
"""

from doxa.language.sentences import (
    LONGEST_SENTENCE,
    MOST_SENTENCES,
    opening,
    overlong,
    pared,
    sentence_places,
    split_text,
)
from doxa.language.stemming import stems, stems_of
from doxa.language.verbs import base_forms, from_third_person, past_of, third_person

__all__ = [
    "LONGEST_SENTENCE",
    "MOST_SENTENCES",
    "base_forms",
    "from_third_person",
    "opening",
    "overlong",
    "pared",
    "past_of",
    "sentence_places",
    "split_text",
    "stems",
    "stems_of",
    "third_person",
]
