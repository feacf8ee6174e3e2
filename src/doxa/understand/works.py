"""Films, books and songs that are described, not named: "that Leo movie" -> the one that was spoken of with Leo."""

from __future__ import annotations

import re

from doxa.core.values import Status, Term
from doxa.memory import Beliefs, attribute, is_name, verb_type

__all__ = ["described_work"]

VERBS = {
    "movie": "watch see like rent recommend", "film": "watch see like rent recommend", "play": "watch see like",
    "show": "watch see like recommend", "series": "watch see like recommend", "documentary": "watch see like",
    "book": "read like finish buy recommend", "novel": "read like finish buy recommend",
    "song": "hear like sing play", "album": "hear like buy", "podcast": "hear like", "game": "play like buy",
}  # fmt: skip
"""What one does with a work of a sort."""
DESCRIBED = re.compile(
    rf"^(?:(?:that|the|this) |(?=[^\W\d_a-z]))(?P<about>[^\W\d_][\w'’ -]{{1,40}}?) (?P<sort>{'|'.join(VERBS)})$"
)
RECENT = 64
"""Works per relation that are looked at: the latest."""


def described_work(text: str, speaker: Term, beliefs: Beliefs) -> Term | None:
    """Return the one work that a speaker told of together with the word that describes it; None for none or several.

    O(works told of lately), and only for a text of this form.
    """
    match = DESCRIBED.match(text.strip())
    if match is None:
        return None
    about = re.compile(rf"\b{re.escape(match['about'])}\b", re.IGNORECASE)
    found: dict[str, Term] = {}
    verbs = [verb_type(verb).name for verb in VERBS[match["sort"]].split()]
    for relation in (*verbs, attribute(f"favourite {match['sort']}").name):
        for fact in beliefs.about(speaker.key, relation)[-RECENT:]:
            work = fact.object
            if is_name(work) and fact.status is not Status.RETRACTED and not about.search(work.label):
                spans = (claim.span for claim in beliefs.supporting(fact))
                if any(about.search(span.replace(work.label, "")) for span in spans):
                    found[beliefs.key(work.key)] = work
    return next(iter(found.values())) if len(found) == 1 else None
