"""What a model writes about a conversation -> inferences in words -> candidates, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from doxa.backends.encoder import Encoder
from doxa.commonsense.context import Context
from doxa.commonsense.reasoner.candidates import Candidates
from doxa.commonsense.statements import statement
from doxa.core.background import Inference

__all__ = ["proposed", "ranked"]

NOTHING = {"none", "n/a"}
"""What is written where nothing follows; the first is what the tuples of COMET say."""


def proposed(context: Context, relation: str, tail: str, score: float) -> Inference | None:
    """Return an inference from the last utterance, in words; None where its tail says nothing.

    PersonX is who said it, PersonY who spoke before; the event is the utterance itself.

    Args:
        context: a conversation with an utterance or more.
        relation: a name in `RELATIONS`.
        tail: what a model wrote for it.
        score: how sure the model is, 0 to 1.
    """
    said = " ".join(tail.split())
    if not re.search(r"[^\W_]", said) or said.casefold().rstrip(".") in NOTHING:
        return None
    last = context.utterances[-1]
    others = (one.speaker for one in reversed(context.utterances) if one.speaker != last.speaker)
    people = {"x": last.speaker.strip(), "y": next(others, "").strip()}
    event = " ".join(last.text.split()).rstrip(" .!?…")
    text = statement(event, relation, said, **{place: name for place, name in people.items() if name})
    return Inference(text=text, relation=relation, event=event, tail=said, score=score)


def ranked(inferences: Iterable[Inference], encoder: Encoder, *, degraded: str = "") -> Candidates:
    """Return inferences as candidates, the surest first; of equal texts the surest is kept.

    Raises:
        BackendError: the encoder failed.

    Cost: one call of the encoder for all texts.
    """
    best: dict[str, Inference] = {}
    for one in sorted(inferences, key=lambda one: (-one.score, one.text)):
        best.setdefault(one.text.casefold(), one)
    kept = tuple(best.values())
    return Candidates(inferences=kept, vectors=encoder.encode([one.text for one in kept]), degraded=degraded)
