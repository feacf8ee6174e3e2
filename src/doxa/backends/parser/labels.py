"""Scores of BIO labels -> spans: 0 is outside, `1 + 2r` begins role `r`, `2 + 2r` goes on with it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_labels", "spans_of"]


def best_labels(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """The best well-formed labels of each frame: an inner label follows one of its own role.

    Args:
        scores: `(frames, n, labels)` logarithms of probabilities.

    Returns:
        `(frames, n) int64`. Exact (Viterbi 1967), deterministic, cost linear in the size of `scores`.
    """
    frames, size, labels = scores.shape
    inner = np.arange(2, labels, 2)
    total = scores[:, 0].copy()
    total[:, inner] = -np.inf
    back = np.zeros((frames, size, labels), dtype=np.int64)
    for at in range(1, size):
        best = total.argmax(1)
        came = np.repeat(best[:, None], labels, 1)
        reached = np.repeat(total.max(1, keepdims=True), labels, 1)
        goes_on = total[:, inner] >= total[:, inner - 1]
        came[:, inner] = np.where(goes_on, inner, inner - 1)
        reached[:, inner] = np.maximum(total[:, inner], total[:, inner - 1])
        back[:, at], total = came, reached + scores[:, at]
    found = np.zeros((frames, size), dtype=np.int64)
    found[:, -1] = total.argmax(1)
    for at in range(size - 1, 0, -1):
        found[:, at - 1] = back[np.arange(frames), at, found[:, at]]
    return found


def spans_of(labels: Sequence[int]) -> list[tuple[int, int, int]]:
    """The spans of labels: first word, the one behind the last, role. An inner label with nothing before begins one."""
    found: list[tuple[int, int, int]] = []
    start, role = 0, -1
    for at, label in enumerate([*labels, 0]):
        now = (label - 1) // 2 if label else -1
        if role >= 0 and (now != role or label % 2):
            found.append((start, at, role))
            role = -1
        if now >= 0 and role < 0:
            start, role = at, now
    return found
