"""What every encoder does to texts and rows: cut, clean, normalise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doxa.core.errors import BackendReplyError

__all__ = ["clean", "unit_rows"]


def clean(text: str, max_chars: int) -> str:
    """Gives back the first `max_chars` characters from the first visible one, with lone surrogates replaced.

    Lone surrogates reach Python from broken JSON and cannot be written as UTF-8, which tokenizers and HTTP need.
    """
    return text.lstrip()[:max_chars].encode("utf-8", "replace").decode("utf-8")


def unit_rows(rows: Sequence[ArrayLike], dims: int) -> NDArray[np.float32]:
    """Gives back the rows at unit length, `(n, dims) float32`.

    Raises:
        BackendReplyError: A row has another length, is zero, or holds something other than finite numbers.
    """
    if not rows:
        return np.empty((0, dims), dtype=np.float32)
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as exc:
        raise BackendReplyError(f"Expected {len(rows)} vectors of {dims} numbers: {exc}") from exc
    if matrix.shape != (len(rows), dims):
        raise BackendReplyError(f"Expected vectors of shape {(len(rows), dims)}, the model gave {matrix.shape}.")
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise BackendReplyError("The model gave a vector that is zero or not finite, which has no direction.")
    unit: NDArray[np.float32] = (matrix / lengths).astype(np.float32)
    return unit
