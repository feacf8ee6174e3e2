"""Choosing few items out of many, relevant and unlike each other, by a determinantal point process (DPP).

Source: Kulesza and Taskar 2011, k-DPPs, and 2012, Determinantal Point Processes for Machine Learning; Chen et al. 2018
for the fast greedy search. Section III-B: the diagonal of the kernel is how relevant an inference is to the dialogue,
off the diagonal is how redundant two of them are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["greedy_map", "kernel_of", "sample_k"]

Kernel = NDArray[np.float64]

SHARPNESS = 8.0
"""How much a relevant item may be like another: its length is `exp(SHARPNESS x relevance)`."""


def kernel_of(relevance: ArrayLike, vectors: ArrayLike, *, sharpness: float = SHARPNESS) -> Kernel:
    """Return the kernel `L_ij = q_i q_j cos(i, j)` with `q = exp(sharpness x relevance)`, `(n, n)`.

    Args:
        relevance: of each item, about 0 to 1, `(n,)`.
        vectors: of each item `(n, dims)`, of any length but zero.
        sharpness: weight of relevance against being different.

    It is positive semidefinite, being a Gram matrix; its diagonal is `q_i squared`.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    rows = rows * np.exp(sharpness * np.asarray(relevance, dtype=np.float64))[:, None]
    kernel: Kernel = rows @ rows.T
    return kernel


def greedy_map(kernel: Kernel, k: int) -> list[int]:
    """Return `k` items (or all, where there are fewer), the best first, such that `log det(I + L_S)` is large.

    Each step adds what raises it most; ties go to the lower number. `log det(I + L_S)` is monotone and submodular, so
    the result is at least 1 - 1/e of the best there is (Nemhauser et al. 1978); `log det L_S`, the usual objective, has
    no such bound, as it falls when items are added.

    Cost: O(n k squared), by updating the Cholesky rows of all items at once.
    """
    if k < 0:
        raise ValueError(f"expected k of 0 or more, got {k}")
    size = len(kernel)
    gains = 1.0 + np.diag(kernel).astype(np.float64)
    rows = np.zeros((min(k, size), size))
    chosen: list[int] = []
    free = np.ones(size, dtype=bool)
    for step in range(min(k, size)):
        best = int(np.where(free, gains, -np.inf).argmax())
        row = (kernel[best] - rows[:step, best] @ rows[:step]) / np.sqrt(gains[best])
        rows[step] = row
        gains = np.maximum(gains - row**2, 1.0)
        free[best] = False
        chosen.append(best)
    return chosen


def sample_k(kernel: Kernel, k: int, *, seed: int) -> list[int]:
    """Return `k` items drawn with probability proportional to `det(L_S)`, ascending: an exact sample of the k-DPP.

    Raises:
        ValueError: the kernel has fewer than `k` dimensions, so that no set of that size has a volume.

    Source: Kulesza and Taskar 2011, algorithms 1 and 2. Cost: O(n cubed) for the eigenvectors, O(n k cubed) after.
    """
    values, vectors = np.linalg.eigh(kernel)
    values = np.where(values > values.max(initial=0.0) * 1e-10, values, 0.0)
    if k < 0 or k > np.count_nonzero(values):
        raise ValueError(f"expected k from 0 to {np.count_nonzero(values)}, the rank of the kernel; got {k}")
    draw = np.random.default_rng(seed)
    basis = vectors[:, _eigenvectors(values, k, draw)]
    chosen = []
    for left in range(k, 0, -1):
        weights = (basis**2).sum(axis=1)
        item = int(draw.choice(len(kernel), p=weights / weights.sum()))
        chosen.append(item)
        if left > 1:
            out = int(np.abs(basis[item]).argmax())
            basis = np.delete(basis - np.outer(basis[:, out] / basis[item, out], basis[item]), out, axis=1)
            basis = np.linalg.qr(basis)[0]
    return sorted(chosen)


def _eigenvectors(values: NDArray[np.float64], k: int, draw: np.random.Generator) -> list[int]:
    """Draw which eigenvectors span the sample, by elementary symmetric polynomials of the eigenvalues."""
    scaled = values / max(values.max(initial=0.0), 1e-300)
    table = np.zeros((k + 1, len(scaled) + 1))
    table[0] = 1.0
    for size in range(1, k + 1):
        for upto in range(1, len(scaled) + 1):
            table[size, upto] = table[size, upto - 1] + scaled[upto - 1] * table[size - 1, upto - 1]
    taken, left = [], k
    for upto in range(len(scaled), 0, -1):
        if left and draw.random() < scaled[upto - 1] * table[left - 1, upto - 1] / table[left, upto]:
            taken.append(upto - 1)
            left -= 1
    return taken
