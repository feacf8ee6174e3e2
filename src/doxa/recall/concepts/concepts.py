"""text -> weighted concepts: what a sentence is about, from a small hierarchy of domains and kinds ("film/romance").

Four kinds of evidence are joined by a logistic model: words that name a concept (`concepts.toml`), WordNet's
hypernyms where a lexicon is given, the classes that the ontology gives to what is spoken of, and the direction of the
text's vector. So a question without the words ("What should I watch?") has concepts as well.

The directions come from the inventory's own sentences by ridge regression, which is closed form: those of the built-in
encoder ship, those of another one are computed when it is first used (`learn_directions`).

Source: "Tag2Graph-Learner", section 3.2 of the paper on ontology-guided long-term memory, whose inventory of concepts
is not published; ours is general, and no data set was looked at for it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.lexicon import Lexicon
from doxa.language import stems

__all__ = [
    "BUILTIN",
    "Concept",
    "Inventory",
    "Weighted",
    "concepts_of",
    "evidence_of",
    "inventory",
    "learn_directions",
    "named_in",
]

BUILTIN = "builtin:minilm-l6-int8"
"""The encoder whose directions ship."""
MOST = 6
"""Concepts that a text is given at most, domains included."""
LEAST = 0.3
"""The least weight that counts; fitted by `training/recall/concepts.py`."""
RIDGE = 1.0
"""Weight of the penalty on directions; chosen there as well."""
BALANCE = 0.5
"""How much more a sentence counts that is about something rare: 0 is not at all, 1 is in proportion."""
LONGEST = 4
"""Words of the longest phrase that is looked for."""
CLIMB = 7
"""Steps up the lexicon's hierarchy."""
FIELDS = ("label", "cues", "hints", "under", "class", "like", "says")
NOTHING = "nothing"
TEMPLATES = ("I love {}.", "I can't stand {}.", "{}", "I really enjoyed {}.", "We talked about {}.")
FEATURES = (
    *("bias", "meaning", "margin", "domain", "near", "near_margin", "near_domain"),
    *("cues", "hints", "hinted", "kinds", "rivals", "lexicon", "classes"),
)
"""What speaks for a concept, in the order of the weights."""

Weighted = tuple[tuple[str, float], ...]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A domain ("film") or a kind of it ("film/romance")."""

    name: str
    label: str
    parent: str = ""
    cues: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """All concepts in order, each domain before its kinds, with the words that point to them."""

    concepts: tuple[Concept, ...]
    background: tuple[str, ...]
    """Sentences about none of them."""
    place: Mapping[str, int] = field(init=False)
    parent: NDArray[np.intp] = field(init=False)
    """The row of what every concept is a kind of; its own for a domain."""
    domains: NDArray[np.bool_] = field(init=False)
    levels: tuple[NDArray[np.intp], NDArray[np.intp]] = field(init=False)
    """The rows of domains, and those of kinds."""
    phrases: Mapping[tuple[str, ...], tuple[tuple[int, bool], ...]] = field(init=False)
    """Stems of a phrase -> the concepts that it points to, and whether it is enough by itself."""
    longest: Mapping[str, int] = field(init=False)
    """The first stem of a phrase -> how many the longest one has."""
    under: Mapping[str, tuple[int, ...]] = field(init=False)
    classes: Mapping[str, tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        place = {concept.name: row for row, concept in enumerate(self.concepts)}
        set_(self, "place", place)
        set_(self, "parent", np.array([place[one.parent or one.name] for one in self.concepts], dtype=np.intp))
        set_(self, "domains", self.parent == np.arange(len(self.concepts)))
        set_(self, "levels", (np.flatnonzero(self.domains), np.flatnonzero(~self.domains)))
        set_(self, "phrases", _phrases(self.concepts))
        longest: dict[str, int] = {}
        for phrase in self.phrases:
            longest[phrase[0]] = max(longest.get(phrase[0], 0), len(phrase))
        set_(self, "longest", longest)
        set_(self, "under", _inverted(one.under for one in self.concepts))
        set_(self, "classes", _inverted(one.classes for one in self.concepts))

    def __getitem__(self, name: str) -> Concept:
        return self.concepts[self.place[name]]

    def __contains__(self, name: str) -> bool:
        return name in self.place

    def texts(self) -> tuple[list[str], NDArray[np.float32]]:
        """Return sentences about the concepts and which they are about, `(sentences, concepts)` of 0 and 1."""
        told = [(text, row) for row, concept in enumerate(self.concepts) for text in _sentences(concept)]
        truth = np.zeros((len(told) + len(self.background), len(self.concepts)), dtype=np.float32)
        for number, (_, row) in enumerate(told):
            truth[number, [row, *self.above(row)]] = 1
        return [*(text for text, _ in told), *self.background], truth

    def above(self, row: int) -> Iterator[int]:
        """Yield the rows of what a concept is a kind of, the nearest first."""
        while (up := int(self.parent[row])) != row:
            yield up
            row = up


@cache
def inventory() -> Inventory:
    """Return the concepts that come with Doxa."""
    table = tomllib.loads(files(__package__).joinpath("concepts.toml").read_text(encoding="utf-8"))
    background = tuple(table.pop(NOTHING)["says"])
    return Inventory(tuple(_read(table, "")), background)


def concepts_of(
    text: str,
    vector: NDArray[np.float32] | None,
    *,
    encoder: str = BUILTIN,
    lexicon: Lexicon | None = None,
    classes: Collection[str] = (),
) -> Weighted:
    """Return what a text is about, the weightiest first: at most `MOST` concepts, each with a weight of 0 to 1.

    With a kind its domain is given as well, with no less weight.

    Args:
        text: a turn, a sentence or a query.
        vector: its encoding `(dims,) float32` of unit length; None or zeros where there is none.
        encoder: the name of what made the vector; one that is not known yet (`learn_directions`) is not used.
        lexicon: where hypernyms are looked up, when no word names a concept outright.
        classes: names of the ontology's classes that what is spoken of belongs to.

    Deterministic. Cost O(words + concepts dims), about 0.1 ms; no call to a model.
    """
    weights = _weights_of(evidence_of(text, vector, encoder=encoder, lexicon=lexicon, classes=classes))
    known = inventory()
    best = [int(row) for row in np.argsort(-weights, kind="stable")[:MOST] if weights[row] >= LEAST]
    return tuple((known.concepts[row].name, round(float(weights[row]), 4)) for row in best)


def named_in(text: str, classes: Collection[str] = ()) -> frozenset[str]:
    """Return the concepts that words of a text or classes of the ontology name outright, and what they are kinds of."""
    known = inventory()
    rows = {row for row, (cues, _) in _named(stems(text), known).items() if cues}
    rows |= {row for name in classes for row in known.classes.get(name, ())}
    return frozenset(known.concepts[one].name for row in rows for one in (row, *known.above(row)))


def evidence_of(
    text: str,
    vector: NDArray[np.float32] | None,
    *,
    encoder: str = BUILTIN,
    lexicon: Lexicon | None = None,
    classes: Collection[str] = (),
) -> NDArray[np.float32]:
    """Return what speaks for every concept, `(features, concepts) float32`; see `concepts_of` and `FEATURES`."""
    known = inventory()
    rows = len(known.concepts)
    table = np.zeros((len(FEATURES), rows), dtype=np.float32)
    directions = _directions(encoder)
    words = stems(text)
    table[0] = 1
    if directions is not None and vector is not None and vector.any():
        _put_meaning(table[1:7], directions, vector, known)
    named = _named(words, known)
    if named:
        _put_words(table[7:12], named, known)
    told = any(cues for cues, _ in named.values())
    for row in _by_lexicon(words, None if told else lexicon, known):  # looking up costs more than all the rest
        table[12, [row, *known.above(row)]] = 1
    for name in classes:
        for row in known.classes.get(name, ()):
            table[13, [row, *known.above(row)]] = 1
    return table


def _put_meaning(table: Scores, directions: Scores, vector: NDArray[np.float32], known: Inventory) -> None:
    """Fill in how far a vector goes in the direction of each concept, and how near it is to its sentences' centre.

    Each with how much that is above the second best of its level, and with that of its domain.
    """
    both = (directions[:, :-1] @ vector + directions[:, -1]).reshape(2, -1)
    table[0::3], table[2::3] = both, both[:, known.parent]
    for scores, margin in zip(both, table[1::3], strict=True):
        for level in known.levels:
            own = scores[level]
            margin[level] = own - np.partition(own, -2)[-2]


def _put_words(table: Scores, named: Mapping[int, tuple[int, int]], known: Inventory) -> None:
    """Fill in which concepts phrases name or hint at, and how that bears on those around them."""
    rows = list(named)
    cues, hints = np.zeros((2, table.shape[1]), dtype=np.float32)
    cues[rows], hints[rows] = np.array([named[row] for row in rows], dtype=np.float32).T
    below = table[3]
    for row in rows:
        for up in known.above(row):
            below[up] = max(below[up], min(cues[row], 2))
    table[0], table[1] = np.minimum(cues, 2), np.minimum(hints, 2)
    told = (cues + below) > 0
    table[2] = (hints > 0) & told[known.parent]
    table[4] = told.any() & ~told


def learn_directions(encoder: Encoder) -> None:
    """Have the directions of an encoder ready; nothing happens when they are.

    Cost: the first time, one encoding of the inventory's sentences (about 3,500); kept as long as the process lives.

    Raises:
        BackendError: the encoder failed.
    """
    if encoder.name == BUILTIN or encoder.name in _LEARNED:
        return
    texts, truth = inventory().texts()
    _LEARNED[encoder.name] = fit_directions(encoder.encode(texts), truth)


def fit_directions(vectors: NDArray[np.float32], truth: NDArray[np.float32], ridge: float = RIDGE) -> Scores:
    """Return what tells concepts apart, `(2 concepts, dims + 1) float32`, the last column a constant.

    First the directions, by ridge regression of which concept a sentence is about on its vector,
    `W = (X'X + ridge I)^-1 X'Y`, where sentences about a concept with many count less; then the centres of the
    sentences of each concept.
    """
    x = np.hstack([vectors, np.ones((len(vectors), 1), dtype=np.float32)]).astype(np.float64)
    about = np.hstack([truth, truth.sum(axis=1, keepdims=True) == 0])
    scarce = np.where(about > 0, 1 / np.maximum(about.sum(axis=0), 1), 0)
    weight = np.sqrt(scarce.max(axis=1) * np.where(about > 0, scarce, np.inf).min(axis=1)) ** BALANCE
    weight *= len(weight) / weight.sum()
    gram = (x * weight[:, None]).T @ x + ridge * np.eye(x.shape[1])
    solved = np.linalg.solve(gram, (x * weight[:, None]).T @ truth).T
    centres = truth.T @ vectors
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    found: Scores = np.vstack([solved, np.hstack([centres, np.zeros((len(centres), 1))])]).astype(np.float32)
    return found


_LEARNED: dict[str, Scores] = {}


@cache
def _shipped() -> dict[str, NDArray[Any]]:
    with files(__package__).joinpath("concepts.npz").open("rb") as file, np.load(file) as data:
        return {name: np.asarray(data[name], dtype=np.float32) for name in data.files}


def _directions(encoder: str) -> Scores | None:
    return _shipped()["directions"] if encoder == BUILTIN else _LEARNED.get(encoder)


def _weights_of(table: NDArray[np.float32]) -> Scores:
    """Return the weight of every concept by what speaks for it; a domain has no less than its kinds."""
    known, learned = inventory(), _shipped()
    seen = "meaning" if table[1].any() else "words"
    logits = np.where(known.domains, learned[f"domain_{seen}"] @ table, learned[f"kind_{seen}"] @ table)
    weights: Scores = (1 / (1 + np.exp(-logits))).astype(np.float32)
    for row in np.flatnonzero(weights >= LEAST)[::-1]:  # kinds come after what they are kinds of
        up = known.parent[row]
        weights[up] = max(weights[up], weights[row])
    return weights


def _named(words: Sequence[str], known: Inventory) -> dict[int, tuple[int, int]]:
    """Return how many phrases name a concept, and how many hint at it, of those that any does."""
    found: dict[int, tuple[int, int]] = {}
    for start, word in enumerate(words):
        for length in range(1, min(known.longest.get(word, 0), len(words) - start) + 1):
            for row, enough in known.phrases.get(tuple(words[start : start + length]), ()):
                cues, hints = found.get(row, (0, 0))
                found[row] = (cues + enough, hints + (not enough))
    return found


def _by_lexicon(words: Sequence[str], lexicon: Lexicon | None, known: Inventory) -> Iterator[int]:
    """Yield the concepts that the lexicon puts words under which the inventory itself does not know."""
    if lexicon is None:
        return
    by_identity: Any = lexicon
    for word in dict.fromkeys(word for word in words if word not in known.longest):
        for name in _hypernyms(by_identity, word):
            yield from known.under.get(name, ())


@lru_cache(maxsize=20_000)
def _hypernyms(lexicon: Any, word: str) -> tuple[str, ...]:
    """Return the words above the most usual sense of a noun; the sense above is the first of the same file."""
    found: list[str] = []
    senses = lexicon.senses(word, "n")[:1]
    while senses and len(found) < CLIMB:
        sense = senses[0]
        found += [*(name.casefold() for name in sense.words), *(name.casefold() for name in sense.broader)]
        above = sense.broader[:1]
        if not above or above[0].casefold() in found[: -len(sense.broader)]:
            break
        wider = lexicon.senses(above[0], "n")
        senses = tuple(one for one in wider if one.supersense == sense.supersense)[:1]
    return tuple(dict.fromkeys(found))


def _read(table: Mapping[str, Any], parent: str) -> Iterator[Concept]:
    for key, data in table.items():
        if key in FIELDS or not isinstance(data, dict):
            continue
        name = f"{parent}/{key}" if parent else key
        yield Concept(
            name=name,
            label=data["label"],
            parent=parent,
            cues=_listed(data.get("cues", "")),
            hints=_listed(data.get("hints", "")),
            like=_listed(data.get("like", "")),
            says=tuple(data.get("says", ())),
            under=_listed(data.get("under", "")),
            classes=_listed(data.get("class", "")),
        )
        yield from _read(data, name)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _sentences(concept: Concept) -> Iterator[str]:
    """Yield what the encoder is shown of a concept: its sentences, and its words and names in plain frames."""
    yield from concept.says
    for number, word in enumerate((*concept.cues, *concept.like)):
        yield TEMPLATES[number % len(TEMPLATES)].format(word)


def _phrases(concepts: Sequence[Concept]) -> dict[tuple[str, ...], tuple[tuple[int, bool], ...]]:
    """Return the phrases by their stems. One that loses words ("on sale") no longer says enough, nor does a name."""
    found: dict[tuple[str, ...], dict[int, bool]] = {}
    for row, concept in enumerate(concepts):
        told = [(word, True) for word in concept.cues] + [(word, False) for word in concept.hints]
        for word, enough in (*told, *((name, " " in name) for name in concept.like)):
            key = tuple(stems(word))[:LONGEST]
            if key:
                whole = enough and (len(key) > 1 or len(word.split()) == 1)
                found.setdefault(key, {})[row] = whole or found.get(key, {}).get(row, False)
    return {key: tuple(rows.items()) for key, rows in found.items()}


def _inverted(lists: Iterator[tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for row, names in enumerate(lists):
        for name in names:
            found.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}
