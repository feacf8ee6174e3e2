"""The small learned arrays of recall in one immutable value: loaded once, checked, saved, swapped whole.

A file is a `.npz` without pickles that names its own features, so a file of another version is refused with the names
that differ instead of being read wrongly. Serving reads arrays and calls numpy, nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import FormatError
from doxa.core.sealing import Seal
from doxa.memory import digest, load_arrays, save_arrays

__all__ = [
    "ALIGNED",
    "LEADS",
    "START",
    "Router",
    "Scorer",
    "WeightSlot",
    "Weights",
    "load_weights",
    "save_weights",
    "shipped",
]

Array = NDArray[np.float32]

FORMAT = "doxa-recall-weights-1"
SHIPPED = "weights.npz"
ALIGNED = "lambda_2"
"""The weights beside them, of which the graph and the dense view were aligned (section 3.3)."""
LEADS = ("graph", "dense", "lexical")
"""The views that can lead a search; a row of the mix each."""
START = {
    "graph": 0.5 * 0.55 / 0.35,
    "dense": 0.5,
    "profile": 0.5 * 0.10 / 0.35,
    "lexical": 1.0,
    "lexical_near": 1.0,
    "speaker": 0.05,
    "time": 0.1,
}
"""What every view weighs before anything is learned: graph, dense and profile as 0.55 : 0.35 : 0.10 (equation 1), words
and cues in their ratio to meaning as chosen between round numbers (`RecallSpec`)."""
HIDDEN = 128
"""Width of the router's hidden layers."""
AGAIN = "remove it, and `doxa learn` makes a new one"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scorer:
    """A linear scorer of one view: `s = W phi` (appendix A.1), over the scores that the view gives a candidate."""

    names: tuple[str, ...]
    """What each feature is, in order."""
    weight: Array

    def score(self, features: Mapping[str, NDArray[Any]]) -> Array:
        """Return the score of every candidate, `(k,) float32`; O(k features).

        Args:
            features: arrays `(k,)` by name, at least one. A name that is not given counts 0 (its view is switched
                off); one that the scorer does not know is left out.
        """
        total = np.zeros(len(next(iter(features.values()))), dtype=np.float32)
        for name, weight in zip(self.names, self.weight, strict=True):
            if name in features:
                total += weight * np.asarray(features[name], dtype=np.float32)
        return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Router:
    """Two hidden layers of 128 over cheap features, one value for every plan (section 3.4, appendix A.2)."""

    names: tuple[str, ...]
    plans: tuple[str, ...]
    """The names of the plans, in the order of the last layer."""
    mean: Array
    scale: Array
    layers: tuple[tuple[Array, Array], ...]
    """`(weights (in, out), bias (out,))` from first to last."""

    def logits(self, features: Array) -> Array:
        """Return the value of every plan, `(..., plans) float32`, for features `(..., names)`."""
        hidden = (features - self.mean) / self.scale
        for weights, bias in self.layers[:-1]:
            hidden = np.maximum(hidden @ weights + bias, 0)
        weights, bias = self.layers[-1]
        return np.asarray(hidden @ weights + bias, dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Everything small that recall has learned. Immutable: a search that began with one ends with it."""

    views: tuple[str, ...] = tuple(START)
    mix: Array = field(default_factory=lambda: np.tile(_row(*START.values()), (len(LEADS), 1)))
    """What every view weighs in the unified score (equation 1), `(leads, views)`: a row for each view that may lead."""
    graph: Scorer = field(default_factory=lambda: Scorer(names=("graph",), weight=_row(1.0)))
    """W_g."""
    dense: Scorer = field(default_factory=lambda: Scorer(names=("dense", "dense_near"), weight=_row(1.0, 1.0)))
    """W_d."""
    router: Router | None = None
    """None always takes the plan that is best without looking."""
    edges: Mapping[str, float] = field(default_factory=dict)
    """How strong an edge of a type is, relative to 1."""
    encoder: str = ""
    """The encoder whose vectors it was fitted to; empty fits any."""
    note: str = ""
    """How it was made, for people."""

    def of(self, lead: str) -> dict[str, float]:
        """Return what every view weighs when a view leads."""
        return dict(zip(self.views, map(float, self.mix[LEADS.index(lead)]), strict=True))

    def unified(self, scores: Mapping[str, NDArray[Any]], lead: str) -> Array:
        """Return the unified score of every candidate, `(k,) float32` (equation 1). O(k views).

        Args:
            scores: what the views give every candidate, by name, at least one; a name that is missing counts 0.
            lead: the view that leads; its row of the mix is taken.
        """
        total = np.zeros(len(next(iter(scores.values()))), dtype=np.float32)
        for view, weight in self.of(lead).items():
            if view in ("graph", "dense"):
                total += np.float32(weight) * (self.graph if view == "graph" else self.dense).score(scores)
            elif view in scores:
                total += np.float32(weight) * scores[view]
        return total

    def checksum(self) -> str:
        """Return a digest of everything that was learned; the same arrays give the same one."""
        return digest(_arrays(self))


def _row(*values: float) -> Array:
    return np.array(values, dtype=np.float32)


class WeightSlot:
    """Where the weights in use are kept. Reading is lock-free; `swap` puts another value in place at once."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._guard = threading.Lock()

    def get(self) -> Weights:
        """Return the weights in use; read it once a search."""
        return self._weights

    def swap(self, new: Weights, *, expected: Weights | None = None) -> bool:
        """Put new weights in place; searches in flight end with the ones they began with.

        Returns:
            False when others than the `expected` ones are in place by now; nothing is changed then.
        """
        with self._guard:
            if expected is not None and self._weights is not expected:
                return False
            self._weights = new
            return True


@cache
def shipped(variant: str = "") -> Weights:
    """Return the weights that come with Doxa, read at the first call.

    Args:
        variant: the name of others that come beside them (`ALIGNED`), to compare with.

    Raises:
        NotFoundError: there is no such variant.
    """
    name = SHIPPED if not variant else SHIPPED.replace(".", f"_{variant}.")
    return load_weights(Path(str(files("doxa.recall") / name)))


def load_weights(path: Path, *, encoder: str = "", seal: Seal | None = None) -> Weights:
    """Return the weights of a file.

    Args:
        path: a file of `save_weights`.
        encoder: the encoder in use; weights fitted to another one are refused. Empty takes any.
        seal: what opens the file, where it is encrypted.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no such file, is damaged, has arrays that do not fit together, or is of another encoder.
    """
    missing = f"There is no file {path} with weights of recall."
    arrays = load_arrays(path, format=FORMAT, what="weights of recall", missing=missing, again=AGAIN, seal=seal)
    try:
        weights = _weights(arrays)
        _check(weights)
    except (KeyError, ValueError, IndexError) as exc:
        raise FormatError(f"the arrays do not fit together ({exc}); {AGAIN}", path=str(path)) from exc
    if encoder and weights.encoder and encoder != weights.encoder:
        said = f"expected weights fitted to the encoder {encoder!r}, got some for {weights.encoder!r}"
        raise FormatError(f"{said}; {AGAIN}", path=str(path))
    return weights


def save_weights(weights: Weights, path: Path, *, seal: Seal | None = None) -> None:
    """Write weights to a file, in one step: a reader sees the old file or the new one, whole; `seal` encrypts it.

    Raises:
        FormatError: the arrays do not fit together; nothing is written.
        StoreReadOnlyError: the file cannot be written.
    """
    try:
        _check(weights)
    except ValueError as exc:
        raise FormatError(f"the arrays do not fit together ({exc})", path=str(path)) from exc
    save_arrays(_arrays(weights), path, seal=seal)


def _arrays(weights: Weights) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(FORMAT),
        "encoder": np.array(weights.encoder),
        "note": np.array(weights.note),
        "views": _words(weights.views),
        "mix": weights.mix,
        "edges.names": _words(sorted(weights.edges)),
        "edges": np.array([weights.edges[name] for name in sorted(weights.edges)], dtype=np.float32),
    }
    for name, scorer in (("graph", weights.graph), ("dense", weights.dense)):
        arrays |= {f"{name}.names": _words(scorer.names), f"{name}.weight": scorer.weight}
    if (router := weights.router) is not None:
        arrays |= {"router.names": _words(router.names), "router.plans": _words(router.plans)}
        arrays |= {"router.mean": router.mean, "router.scale": router.scale}
        for number, (matrix, bias) in enumerate(router.layers):
            # Half the room; logits change by less than 0.001.
            arrays |= {f"router.w{number}": matrix.astype(np.float16), f"router.b{number}": bias}
    return arrays


def _weights(arrays: Mapping[str, NDArray[Any]]) -> Weights:
    router = None
    if "router.names" in arrays:
        layers = [
            (_floats(arrays[f"router.w{number}"]), _floats(arrays[f"router.b{number}"]))
            for number in range(sum(name.startswith("router.w") for name in arrays))
        ]
        router = Router(
            names=_tuple(arrays["router.names"]),
            plans=_tuple(arrays["router.plans"]),
            mean=_floats(arrays["router.mean"]),
            scale=_floats(arrays["router.scale"]),
            layers=tuple(layers),
        )
    return Weights(
        views=_tuple(arrays["views"]),
        mix=_floats(arrays["mix"]),
        graph=_scorer(arrays, "graph"),
        dense=_scorer(arrays, "dense"),
        router=router,
        edges=dict(zip(_tuple(arrays["edges.names"]), map(float, arrays["edges"]), strict=True)),
        encoder=str(arrays["encoder"]),
        note=str(arrays["note"]),
    )


def _scorer(arrays: Mapping[str, NDArray[Any]], name: str) -> Scorer:
    return Scorer(names=_tuple(arrays[f"{name}.names"]), weight=_floats(arrays[f"{name}.weight"]))


def _check(weights: Weights) -> None:
    """Raise ValueError with the first array whose shape or values do not fit."""
    _shaped("mix", weights.mix, (len(LEADS), len(weights.views)))
    for name, scorer in (("graph", weights.graph), ("dense", weights.dense)):
        _shaped(f"{name}.weight", scorer.weight, (len(scorer.names),))
    if (router := weights.router) is not None:
        sizes = (len(router.names), *[HIDDEN] * (len(router.layers) - 1), len(router.plans))
        _shaped("router.mean", router.mean, sizes[:1])
        _shaped("router.scale", router.scale, sizes[:1])
        if not (router.scale > 0).all():
            raise ValueError("router.scale: expected numbers above 0")
        for number, (matrix, bias) in enumerate(router.layers):
            _shaped(f"router.w{number}", matrix, (sizes[number], sizes[number + 1]))
            _shaped(f"router.b{number}", bias, sizes[number + 1 : number + 2])
    _shaped("edges", np.array(list(weights.edges.values()), dtype=np.float32), (len(weights.edges),))


def _shaped(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers")


def _words(words: Sequence[str]) -> NDArray[np.str_]:
    return np.array(list(words), dtype=np.str_)


def _tuple(array: NDArray[Any]) -> tuple[str, ...]:
    return tuple(map(str, array))


def _floats(array: NDArray[Any]) -> Array:
    floats = np.array(array, dtype=np.float32)
    floats.setflags(write=False)
    return floats
