"""What the user has been on about lately, as a prior of every turn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.concepts.concepts import inventory
from doxa.recall.graph.tags import hashed
from doxa.recall.views.candidates import Candidates, Look, Places, Scores, View
from doxa.recall.views.graph import told_at

__all__ = ["Profile"]

CONCEPTS, THINGS, USED = 0.5, 0.4, 0.3
"""How far each part alone can raise the score."""
LATEST = 16
"""Turns of each concept that are proposed at most."""
MOST = 3
"""Concepts whose turns are proposed: those that weigh most."""


class Profile(View):
    """Scores `profile`, how much a turn is about what its user speaks of often and lately, 0 to 1.

    It knows nothing of the query, so it speaks only where advice is sought: what somebody is on about answers "what
    should I watch", and is beside the point of "when did I see it" (on LoCoMo it took 0.014 of nDCG@10 there).
    """

    name = "profile"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return turns in which the user states something about what they speak of most."""
        if budget <= 0 or "preference" not in look.query.seeks:
            return Candidates.none()
        by_hash = {hashed(concept.name): concept.name for concept in inventory().concepts}
        heaviest = look.index.profile.concepts.heaviest(MOST)
        places = look.index.tags.stating([by_hash[key] for key, _ in heaviest if key in by_hash], LATEST)
        return look.best(places, self.scores(look, places)["profile"], budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return the prior of every place, 0 unless advice is sought. Cost O(facts of these turns)."""
        if "preference" not in look.query.seeks:
            return {"profile": np.zeros(len(places), dtype=np.float32)}
        profile, graph, size = look.index.profile, look.index.graph, len(places)
        rows, source = told_at(look, places)
        things = np.zeros(size, dtype=np.float32)
        np.maximum.at(things, rows, profile.things.shares(graph.object_hashes(source)))
        parts = (
            np.float32(CONCEPTS) * look.index.tags.weighed(places, profile.concepts),
            np.float32(THINGS) * things,
            np.float32(USED) * self._used(look, places),
        )
        return {"profile": (1 - np.prod([1 - part for part in parts], axis=0)).astype(np.float32)}

    def _used(self, look: Look, places: Places) -> Scores:
        used = look.index.profile.used
        if not used:
            return np.zeros(len(places), dtype=np.float32)
        turns, ordinals = look.state.turns, look.state.places
        return np.array([turns[ordinals[place]].turn_id in used for place in places.tolist()], dtype=np.float32)
