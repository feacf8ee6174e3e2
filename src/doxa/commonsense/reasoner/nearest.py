"""The built-in reasoner: the events of an inference base nearest to what was said, and what follows from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from doxa.backends.blas import on_one_core
from doxa.backends.nli import Judge
from doxa.commonsense.base import Base
from doxa.commonsense.context import Context
from doxa.commonsense.reasoner.candidates import Candidates
from doxa.commonsense.statements import neutral, statement
from doxa.core.background import Inference
from doxa.core.errors import DoxaError

__all__ = ["NearestReasoner"]

LATEST = 3
"""Utterances from which is inferred."""
EVENTS = 6
"""Nearest events of each utterance."""
LEAST = 0.3
"""The similarity below which an event has nothing to do with what was said."""
MOST = 60
"""Candidates that are given."""
JUDGED = 6
"""Candidates that the NLI model reads, those that score highest without it."""


class NearestReasoner:
    """Infers from events that are like what was said. It generates nothing: what no event is like, it cannot infer.

    With some five thousand events, as the test part of ATOMIC 2020 and ConceptNet have, many utterances have no near
    event, and what is found may fit one word of them. COMET or a language model do better.
    """

    def __init__(self, base: Base, *, judge: Judge | None = None) -> None:
        """Take the base whose inferences are used, and an NLI model that sorts out what contradicts what was said."""
        self._base = base
        self._judge = judge

    @on_one_core()
    def infer(self, context: Context) -> Candidates:
        """Return what follows from the events nearest to the latest utterances, best first.

        The score is similarity of utterance and event x similarity of conversation and inference (both brought to 0 to
        1), and of the best ones x 1 - P(contradiction) by the NLI model: equation 2 needs a model's probabilities.

        Cost: one product with the event vectors; `JUDGED` NLI pairs. An inference base that is empty gives nothing.
        """
        spoken = context.utterances[-LATEST:]
        if not len(self._base.events) or not spoken:
            return Candidates(inferences=(), vectors=np.empty((0, self._base.card.dims), dtype=np.float32))
        nearest, cosines = self._base.nearest_events(context.utterance_vectors[-LATEST:], EVENTS)
        best: dict[int, tuple[float, int]] = {}
        for place, (row, near) in enumerate(zip(nearest.tolist(), cosines.tolist(), strict=True)):
            for event, cosine in zip(row, near, strict=True):
                if cosine >= max(LEAST, best.get(event, (0.0, 0))[0]):
                    best[event] = cosine, place
        events = np.array(sorted(best), dtype=np.int64)
        numbers, owner = self._base.event_inferences.of(events)
        vectors = self._base.inference_vectors(numbers)
        scores = np.array([best[event][0] for event in events.tolist()])[owner] * (1 + vectors @ context.vector) / 2
        order = np.argsort(-scores, kind="stable")[:MOST]
        found = []
        for place in order.tolist():
            event = int(events[owner[place]])
            x, y = self._people(context, len(context.utterances) - len(spoken) + best[event][1])
            relation, tail = self._base.inference(int(numbers[place]))
            name = self._base.events[event]
            found.append(
                Inference(
                    text=statement(name, relation, tail, x=x, y=y),
                    relation=relation,
                    event=neutral(name, x=x, y=y),
                    tail=tail,
                    score=float(np.clip(scores[place], 0.0, 1.0)),
                )
            )
        return self._judged(found, vectors[order], context)

    def _people(self, context: Context, place: int) -> tuple[str, str]:
        """Return who an utterance is by, and the other one."""
        x = context.utterances[place].speaker
        others = [one.speaker for one in context.utterances if one.speaker != x]
        return x, others[-1] if others else "somebody"

    def _judged(self, found: list[Inference], vectors: NDArray[np.float32], context: Context) -> Candidates:
        degraded = ""
        if self._judge is not None and found:
            head = found[:JUDGED]
            try:
                table = self._judge([(context.utterances[-1].text, one.text) for one in head])
            except DoxaError as exc:
                degraded = f"the NLI model failed, so inferences are scored without it: {exc}"
            else:
                scores = [one.score for one in found]
                for place, row in enumerate(table):
                    scores[place] *= float(1 - row[2])
                order = sorted(range(len(found)), key=lambda place: -scores[place])
                found = [replace(found[place], score=scores[place]) for place in order]
                vectors = vectors[order]
        return Candidates(inferences=tuple(found), vectors=vectors, degraded=degraded)
