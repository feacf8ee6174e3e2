"""The nodes of a memory graph: people and things, turns and concepts, and the words that they are called by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from doxa.language import stems
from doxa.memory import Keys, Pack, PackWriter, Records
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.sheet import Sheet
from doxa.recall.graph.tags import hashed

__all__ = ["CONCEPT", "CONCEPT_KEY", "ENTITY", "TURN", "Nodes"]

ENTITY, TURN, CONCEPT = range(3)
CONCEPT_KEY = "concept "
"""What the keys of concepts begin with."""
STEMS = ("stem0", "stem1", "stem2", "stem3")
"""Columns for the first stems of a label."""
LINKED = 32
"""Names with a word that are looked at when the word is searched for: the latest."""
Ids = NDArray[np.intp]


class Nodes:
    """Nodes in the order in which they came, nine bytes for a turn. Adding one costs O(its words)."""

    def __init__(self) -> None:
        self._nodes = Sheet({"kind": "i1", "at": "i4"})
        """The place of a turn, the number of anything else among `_keys`."""
        self._turns = Sheet({"node": "i4"})
        self._keys = Keys()
        self._labels: Records[str] = Records()
        self._named = Sheet({"node": "i4", "hash": "u4", **dict.fromkeys(STEMS, "i4")})
        self._stems = Keys()
        self._words = Sheet({"told": "i4"})
        """Of every stem of a label: how many times facts were told of what has it in its label."""
        self._having = Adjacency()
        """The nodes whose labels have a stem."""

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return len(self._turns)

    def add_turn(self) -> int:
        """Append the node of the turn at the next place."""
        node = self._nodes.add(kind=TURN, at=len(self._turns))
        self._turns.add(node=node)
        return node

    def add(self, key: str, label: str, kind: int) -> int:
        """Return the node of a key, a new one if it was not there."""
        number = self._keys.add(key)
        if number < len(self._labels):
            return int(self._named.get("node", number))
        words = [self._stem(stem) for stem in dict.fromkeys(stems(label))]
        node = self._nodes.add(kind=kind, at=number)
        self._labels.append(label)
        columns = dict(zip(STEMS, [*words, -1, -1, -1, -1], strict=False))
        self._named.add(node=node, hash=hashed(key), **columns)
        for word in words:
            self._having.add(word, node)
        return node

    def _stem(self, stem: str) -> int:
        number = self._stems.add(stem)
        if number == len(self._words):
            self._words.add(told=0)
        return number

    def get(self, key: str) -> int | None:
        """Return the node of a person, thing or concept ("concept films") by its key."""
        number = self._keys.get(key)
        return None if number is None else int(self._named.get("node", number))

    def of_turns(self, places: Ids) -> Ids:
        """Return the nodes of places, `(k,)`."""
        return self._turns.take("node", places).astype(np.intp)

    def of_turn(self, place: int) -> int:
        """Return the node of a place."""
        node: int = self._turns.get("node", place)
        return node

    def places(self, nodes: Ids) -> Ids:
        """Return the places of nodes, -1 for what is no turn."""
        at = self._nodes.take("at", nodes).astype(np.intp)
        return np.where(self._nodes.take("kind", nodes) == TURN, at, -1)

    def place(self, node: int) -> int | None:
        """Return the place of a node, None for what is no turn."""
        return self._nodes.get("at", node) if self._nodes.get("kind", node) == TURN else None

    def label(self, node: int) -> str:
        """Return what a person, thing or concept is called."""
        label: str = self._labels[self._nodes.get("at", node)]
        return label

    def concept(self, node: int) -> str:
        """Return the name of a concept."""
        key: str = self._keys[self._nodes.get("at", node)]
        return key.removeprefix(CONCEPT_KEY)

    def hashes(self, nodes: Ids) -> NDArray[np.uint32]:
        """Return the hashed keys of people, things and concepts, `(k,)`."""
        found: NDArray[np.uint32] = self._named.take("hash", self._nodes.take("at", nodes))
        return found

    def count(self, node: int, times: int) -> None:
        """Count the words of a person, thing or concept as told of `times` more."""
        number = self._nodes.get("at", node)
        for word in self._first_words(number):
            self._words.put("told", word, self._words.get("told", word) + times)

    def _first_words(self, number: int) -> Iterator[int]:
        words = (self._named.get(stem, number) for stem in STEMS)
        return (word for word in words if word >= 0)

    def linked(self, terms: Iterable[str]) -> tuple[Ids, NDArray[np.float64]]:
        """Return the nodes whose labels share stems with a query, sorted, and the share of each label that is said.

        Of a stem that many labels share only the `LINKED` latest are looked at. Cost O(terms x LINKED).
        """
        numbers = (self._stems.get(term) for term in dict.fromkeys(terms))
        wanted = np.array([number for number in numbers if number is not None], dtype=np.intp)
        nodes = np.unique(self._having.of(wanted, LINKED)[1])
        words = self._words_of(nodes)
        said = np.zeros(words.shape, dtype=np.bool_)
        for word in wanted.tolist():
            said |= words == word
        shares = said.sum(axis=0) / np.maximum((words >= 0).sum(axis=0), 1)
        return nodes, shares

    def rarity(self, nodes: Ids) -> NDArray[np.float32]:
        """Return how special nodes are, `(k,)` in 0..1: 1 where a word of the label is told of once, less for hubs.

        Source: node specificity, B. Jimenez Gutierrez et al., "HippoRAG" (2024), section 2.2: one over the number of
        passages. Here it is damped by a logarithm and counted by the words of labels, so that "great day" and "great
        way" are as common as "great". Only what is told of the same words changes it. Cost O(k).
        """
        words = self._words_of(nodes)
        told = np.maximum(self._words.take("told", words), 1)
        rare: NDArray[np.float32] = np.where(words >= 0, 1 / (1 + np.log(told)), 0).max(axis=0).astype(np.float32)
        return rare

    def _words_of(self, nodes: Ids) -> NDArray[np.int32]:
        """Return the first words of people, things and concepts, `(STEMS, k)`; -1 for none."""
        numbers = self._nodes.take("at", nodes)
        return np.stack([self._named.take(stem, numbers) for stem in STEMS])

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        for part in PARTS:
            getattr(self, part).save(writer, name + part)

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        for part in PARTS:
            getattr(self, part).load(pack, name + part)


PARTS = ("_nodes", "_turns", "_keys", "_labels", "_named", "_stems", "_words", "_having")
