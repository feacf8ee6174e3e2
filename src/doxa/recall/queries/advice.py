"""query -> whether advice is wanted, so that what the asker likes, avoids or usually does decides the answer.

A logistic regression on the query's vector and on whether its words ask for advice (`expectation.toml`): people ask for
advice in more ways than patterns hold ("I'm bored", "Which would be mine?", "What do I tell the caterer?").
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from doxa.recall.concepts.concepts import BUILTIN
from doxa.recall.queries.expectation import seeks
from doxa.recall.queries.query import Query, advised

__all__ = ["PREFERENCE", "advice_of", "wants_advice", "with_advice"]

PREFERENCE = "preference"
LIKELY = 0.5


def advice_of(text: str, vector: NDArray[np.float32] | None, *, encoder: str = BUILTIN) -> float:
    """Return how likely a query asks for advice or for what the asker is like, 0 to 1.

    Args:
        text: the query.
        vector: its encoding, `(dims,) float32`; without one, or with that of another encoder than the built-in one,
            the words decide alone.
        encoder: the name of what made the vector.

    Deterministic. Cost O(characters + dims), no call to a model. Recipe and scores: `training/recall/advice.py`.
    """
    worded = PREFERENCE in seeks(text)
    if vector is None or encoder != BUILTIN or not vector.any():
        return float(worded)
    probe = _probe()
    logit = float(probe["meaning"] @ vector) + float(probe["words"]) * worded + float(probe["bias"])
    return 1 / (1 + float(np.exp(-logit)))


def with_advice(query: Query, *, encoder: str) -> Query:
    """Return a query by which advice is wanted as one that seeks a preference (`advised`), any other as it is.

    What is asked about the past or about a named speaker is never advice.
    """
    if PREFERENCE in query.seeks or query.historical or query.speakers:
        return query
    return advised(query) if advice_of(query.text, query.vector, encoder=encoder) > LIKELY else query


def wants_advice(query: Query, *, encoder: str) -> bool:
    """Tell whether a query wants advice, or asks what the asker is like."""
    return PREFERENCE in with_advice(query, encoder=encoder).seeks


@cache
def _probe() -> dict[str, NDArray[np.float32]]:
    with files(__package__).joinpath("advice.npz").open("rb") as file, np.load(file) as data:
        return {name: np.asarray(data[name], dtype=np.float32) for name in data.files}
