"""A relation phrase -> a relation of the ontology: by lexicon, then by likeness of meaning, else a new one.

"is really fond of" is `likes`; "photographed" is a new relation `photograph`, placed under the nearest group of the
ontology, so nothing that is said is dropped.

The threshold is calibrated on phrases of our own wording; `training/relations` has them, the curve and the scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.core.ontology import Ontology, RelationType
from doxa.language import stems
from doxa.language.verbs import base_of, forms_of
from doxa.language.words import MODALS
from doxa.memory import attribute, inflected, inventory

__all__ = ["Mapped", "RelationMapper", "wordings"]

THRESHOLD = 0.64
"""How near a relation has to be for a phrase to be taken for it: chosen for precision, see `training/relations`."""
BEST, SECONDED = 0.7, 3
"""The weight of a relation's best wording against the mean of its best three."""
KEPT = 20_000
"""How many phrases a mapper remembers."""
ADVERBS = frozenset(
    "a an the my your his her its our their one's now currently still really always also just already often usually "
    "recently very much so absolutely actually probably mostly regularly sometimes never ever today then".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """What a phrase was taken for."""

    relation: RelationType
    score: float
    """How near the relation is (a cosine); 1.0 from the lexicon, and for a new relation that of the nearest listed."""
    by: Literal["lexicon", "likeness", "new"]
    inverted: bool = False
    """Subject and object change places ("is the sister of": the object's sister is the subject)."""
    parent: str = ""
    """For a new relation: the relation of the ontology that it is placed under."""


class RelationMapper:
    """Maps phrases by one ontology and one encoder. Safe between threads; every phrase is worked out once.

    Vectors of the ontology's wordings (about 1,300) are needed from the first phrase on that the lexicon does not have;
    for the built-in encoder they are in the package, and only what a user adds is encoded.
    """

    def __init__(self, encoder: Encoder, ontology: Ontology | None = None, *, threshold: float = THRESHOLD) -> None:
        """Take the encoder, the ontology (by default the one in use now) and the least likeness."""
        self._encoder, self._threshold = encoder, threshold
        self.ontology = ontology or inventory()
        self._lexicon = lexicon(self.ontology)
        self._guard = Lock()
        self._names = [name for name, kind in self.ontology.relations.items() if not kind.abstract]
        self._matrix: NDArray[np.float32] | None = None
        self.relate = lru_cache(maxsize=KEPT)(self._relate)
        """`relate(phrase) -> Mapped`, remembered; raises BackendError when the encoder fails."""
        self.group = lru_cache(maxsize=KEPT)(self._group)
        """`group(phrase) -> name` of the nearest group of relations between things, remembered; raises as well."""

    def forget(self) -> None:
        """Forget every phrase that was asked about, since it may repeat what somebody wants erased."""
        self.relate.cache_clear()
        self.group.cache_clear()

    def _relate(self, phrase: str) -> Mapped:
        """Return the relation that a phrase means ("works for", "is the sister of", "hobby")."""
        found = self._by_lexicon(phrase)
        if found is not None:
            return found
        name, score = self._nearest(phrase)
        if score >= self._threshold:
            return Mapped(relation=self.ontology.relations[name], score=score, by="likeness")
        return self._new(phrase, name, score)

    def _by_lexicon(self, phrase: str) -> Mapped | None:
        form = canonical(phrase)
        for shape, inverted in _shapes(form):
            name = self._lexicon.get(shape)
            if name is not None:
                return Mapped(relation=self.ontology.relations[name], score=1.0, by="lexicon", inverted=inverted)
        return None

    def _group(self, phrase: str) -> str:
        scores = self._scores(phrase)
        for place in np.argsort(-scores):
            kind = self.ontology.relations[self._names[int(place)]]
            above = [name for name in self.ontology.ancestors(kind.name) if self.ontology.relations[name].abstract]
            if above and not kind.datatype:
                return above[0]
        return ""

    def _nearest(self, phrase: str) -> tuple[str, float]:
        scores = self._scores(phrase)
        place = int(np.argmax(scores))
        return self._names[place], float(scores[place])

    def _scores(self, phrase: str) -> NDArray[np.float32]:
        """Return how near each relation's wordings are in meaning, `(relations,) float32`. O(wordings).

        The best wording counts most; two more that are near as well keep one odd wording from deciding.
        """
        cosines = self._wordings() @ self._encoder.encode([_lemmas(phrase)])[0]
        best = -np.sort(-cosines, axis=1)[:, :SECONDED]
        scores: NDArray[np.float32] = BEST * best[:, 0] + (1 - BEST) * np.nanmean(best, axis=1)
        return scores

    def _wordings(self) -> NDArray[np.float32]:
        """Return `(relations, wordings, dims) float32`; where a relation has fewer wordings the rest is NaN."""
        with self._guard:
            if self._matrix is None:
                texts = [[_lemmas(text) for text in _texts(self.ontology.relations[name])] for name in self._names]
                known = encoded(dict.fromkeys(text for group in texts for text in group), self._encoder)
                shape = (len(texts), max(map(len, texts)), self._encoder.dims)
                self._matrix = np.full(shape, np.nan, dtype=np.float32)
                for place, group in enumerate(texts):
                    for column, text in enumerate(group):
                        self._matrix[place, column] = known[text]
            return self._matrix

    def _new(self, phrase: str, nearest: str, score: float) -> Mapped:
        """Return a relation that no ontology lists, under the group of the nearest one that is."""
        above = [name for name in self.ontology.ancestors(nearest) if self.ontology.relations[name].abstract]
        parent = above[0] if above else nearest
        kind = replace(_named(phrase), parents=(parent,))
        return Mapped(relation=kind, score=score, by="new", parent=parent)


def wordings(ontology: Ontology) -> list[str]:
    """Return every wording of an ontology as it is encoded, each once."""
    return list(dict.fromkeys(_lemmas(text) for kind in ontology.relations.values() for text in _texts(kind)))


def encoded(texts: Iterable[str], encoder: Encoder) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of texts; those of Doxa's own wordings by its own encoder are in the package."""
    known = _shipped(encoder.name)
    missing = [text for text in texts if text not in known]
    return {**known, **dict(zip(missing, encoder.encode(missing) if missing else (), strict=True))}


@cache
def _shipped(encoder: str) -> dict[str, NDArray[np.float32]]:
    """Return the vectors that `training/relations/wordings.py` wrote, if it was with this encoder."""
    with files("doxa.understand").joinpath("wordings.npz").open("rb") as file, np.load(file) as data:
        if str(data["encoder"]) != encoder:
            return {}
        return dict(zip(data["texts"].tolist(), data["vectors"].astype(np.float32), strict=True))


def _named(phrase: str) -> RelationType:
    """Return the relation that a phrase itself names: a verb with what follows, or a noun."""
    words = [word for word in re.findall(r"[^\W_]+(?:['-][^\W_]+)*", phrase.casefold()) if word not in ADVERBS]
    plain = _without_auxiliaries(words)
    if not plain:
        return inflected("relate to")
    base = _verb(plain[0], alone=len(plain) == 1, running=len(plain) < len(words))
    return attribute(" ".join(plain)) if base is None else inflected(" ".join([base, *plain[1:]]))


def _verb(word: str, *, alone: bool, running: bool) -> str | None:
    """Return the base form of a verb, by the list of verbs or by its ending; None for any other word.

    Args:
        word: the first word of a phrase.
        alone: it is the only one, so "cats" is no verb.
        running: an auxiliary stood before it, so "climbing" is one.
    """
    known = base_of(word, "base", "third", "past", "participle") or (base_of(word, "gerund") if running else None)
    if known is not None or word in ("is", "are", "was", "were", "been"):
        return known or "be"
    endings = ("", "e", "y") if word.endswith("ed") or not alone else ()
    stem = re.sub(r"(?:i?e[ds]|s)$", "", word)
    forms = ((stem + ending, inflected(stem + ending)) for ending in endings)
    return next((base for base, kind in forms if word != base and word in (kind.past, kind.label)), None)


def lexicon(ontology: Ontology) -> Mapping[str, str]:
    """Return the names of relations by the canonical form of every wording; the first relation keeps a shared one."""
    found: dict[str, str] = {}
    for kind in ontology.relations.values():
        for text in _texts(kind):
            found.setdefault(canonical(text), kind.name)
    return found


def _texts(kind: RelationType) -> Iterator[str]:
    if not kind.abstract:
        label = kind.label if kind.label not in ("is", "has") else ""
        yield from dict.fromkeys(text for text in (label, kind.name.replace("_", " "), *kind.phrases) if text)


def canonical(phrase: str) -> str:
    """Return the stems of a phrase's base forms, without articles, adverbs and auxiliaries.

    "has been working for" and "works for" are one; order and prepositions stay.
    """
    return " ".join(stem for word in _lemmas(phrase).split() for stem in (stems(word) or [word]))


def _lemmas(phrase: str) -> str:
    """Return a phrase in base forms, as the ontology words its phrases."""
    words = [word for word in re.findall(r"[^\W_]+(?:['-][^\W_]+)*", phrase.casefold()) if word not in ADVERBS]
    return " ".join(_base(word) for word in _without_auxiliaries(words))


def _without_auxiliaries(words: list[str]) -> list[str]:
    while len(words) > 1:
        first, second = words[0], {form for _, form in forms_of(words[1])}
        perfect = first in ("has", "have", "had", "having", "got") and ("participle" in second or words[1] == "been")
        if first in MODALS or perfect or (_base(first) == "be" and "gerund" in second):
            words = words[1:]
        else:
            break
    return words


def _base(word: str) -> str:
    if word in ("is", "am", "are", "was", "were", "been", "being"):
        return "be"
    if word in ("has", "had", "having"):
        return "have"
    forms = forms_of(word)
    return forms[0][0] if forms else word


def _shapes(form: str) -> Iterator[tuple[str, bool]]:
    """Yield the forms under which a phrase may be listed, and whether its subject and object change places."""
    yield form, False
    match = re.fullmatch(r"(?:have )?(.+?)(?: call| name)?", form)
    if match and match[1] != form:
        yield match[1], False  # "has a brother called", "has a brother"
    match = re.fullmatch(r"(.+?) be", form)
    if match:
        yield match[1], False  # "his dad is"
    match = re.fullmatch(r"(?:be )?(.+) of", form)
    if match:
        yield match[1], True
    match = re.fullmatch(r"be (.+) by", form)
    if match:
        yield match[1], True
