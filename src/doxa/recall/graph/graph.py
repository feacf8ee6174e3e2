"""The graph of one user's memory: people and things, turns and concepts, joined by what was said.

| edge | from | to | weighs |
|---|---|---|---|
| `fact` | subject | object | confidence of the fact |
| `mention` | subject or object | turn that says it | confidence of the fact |
| `owns` | "ana" | "ana's sister" | 1 |
| `alias` | a name | another name of the same | confidence of the identity |
| `about` | turn | concept | how much the turn is about it |
| `promoted` | person | concept | score of the promotion |
| `next` | turn | the turn after it in its session | `graph.toml` |
| `answer` | question | the turn that answers it | `graph.toml` |

An edge's weight in a walk is that times the weight of its type (`graph.toml`), the learned weight of its type or of its
fact (`MemoryGraph.learn`) and its standing: a fact that gave way carries nothing unless history is asked for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.promotions import Promotion
from doxa.core.values import Fact, Status, Term
from doxa.language import stems
from doxa.memory import UserState, inventory, is_identity, relation_type, standing
from doxa.recall.graph.adjacency import Adjacency, Table
from doxa.recall.graph.tags import hashed, labelled
from doxa.recall.graph.walk import Walk, walk

__all__ = ["EDGE_TYPES", "KINDS", "MemoryGraph", "Standpoint", "Step", "kinds_of"]

EDGE_TYPES = ("fact", "mention", "owns", "alias", "about", "promoted", "next", "answer")
FACT, MENTION, OWNS, ALIAS, ABOUT, PROMOTED, NEXT, ANSWER = range(len(EDGE_TYPES))
ENTITY, TURN, CONCEPT = range(3)
STANDING = {
    Status.HELD: 1,
    Status.QUARANTINED: 2,
    Status.TENTATIVE: 2,
    Status.SUPERSEDED: 3,
    Status.RETRACTED: 0,
}
OWNED = "'s "
STEMS = ("stem0", "stem1", "stem2", "stem3")
"""Columns for the first stems of a label."""
LINKED = 32
"""Names with a word that are looked at when the word is searched for: the latest."""
MOST_TOLD = 128
"""Edges of a turn that are looked at: the latest."""
CONCEPT_KEY = "concept "
"""What the keys of concepts begin with."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_AGE = 5000
"""Days after which a fact does not get older."""
NEVER = np.iinfo(np.int32).max
MICROSECONDS_A_DAY = 86_400_000_000
KINDS = ("preference", "place", "person", "time", "count")
"""What a query may seek (`Query.seeks`) and a fact may tell."""
NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|once|twice)\b", re.IGNORECASE
)
Ids = NDArray[np.intp]
Weights = NDArray[np.float32]
Concepts = Callable[[int], Mapping[str, float]]
"""Place -> the concepts that its turn is about."""


@cache
def _settings() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("graph.toml").read_text(encoding="utf-8"))


@cache
def _standings(historical: bool) -> Weights:
    """Return what a fact counts by where it stands (`STANDING`)."""
    return np.array(_settings()["standing"]["historical" if historical else "now"], dtype=np.float32)


@cache
def _recencies() -> Weights:
    """Return what a fact counts by how many days ago it was told last."""
    floor, half_life = _settings()["recency"]["floor"], _settings()["recency"]["half_life_days"]
    shares: Weights = (floor + (1 - floor) * 0.5 ** (np.arange(LONGEST_AGE + 1) / half_life)).astype(np.float32)
    return shares


def path_weights(*, advice: bool) -> Mapping[str, float]:
    """Return how far each kind of path alone can raise the score of the graph view, by the name of its score."""
    table = _settings()["paths"]
    weights: Mapping[str, float] = table["advice" if advice else "question"]
    return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint:
    """From when the graph is looked at."""

    historical: bool = False
    """Facts that gave way count as well."""
    day: int | None = None
    """The day from which recency counts, in days since 1970; None counts everything alike."""
    known: int | None = None
    """Only facts that had been told by this day count."""
    least: float = 0.0
    """Only promotions with at least this score count."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a path, as it is walked: "Ana -loves-> Titanic"."""

    start: str
    relation: str
    end: str
    forward: bool = True

    def __str__(self) -> str:
        arrow = f"-{self.relation}->" if self.forward else f"<-{self.relation}-"
        return f"{self.start} {arrow} {self.end}"


class MemoryGraph:
    """The graph of one memory. `sync` costs O(what is new); everything in it is in the log and can be made anew."""

    def __init__(self, concepts: Concepts | None = None) -> None:
        """Take what tells the concepts of a place, or None for a graph without concepts."""
        self.concepts = concepts
        self.version = 0
        """Changes whenever the graph does."""
        self.nodes = Table({"kind": "i1", "place": "i4", "hash": "u4", **dict.fromkeys(STEMS, "i4")})
        self.edges = Table({"start": "i4", "end": "i4", "type": "i1", "source": "i4", "weight": "f4"})
        self.sources = Table(
            {
                "subject": "i4",
                "object": "i4",
                "relation": "i4",
                "standing": "i1",
                "confidence": "f4",
                "learned": "f4",
                "first": "i4",
                "last": "i4",
                "serves": "i1",
                "polarity": "?",
            }
        )
        """Facts and promotions, what edges come from: `first` and `last` are the days since 1970 when they were told,
        `serves` the kinds of thing (bits of `KINDS`) that they tell."""
        self.relations: dict[str, int] = {}
        self._adjacency = Adjacency()
        self._keys: dict[str, int] = {}
        self._labels: list[str] = []
        """What every node is called; "turn t12" for the turn of that id."""
        self._ids: list[str] = []
        """What every source is: the id of a fact or promotion."""
        self._concepts: dict[int, str] = {}
        self._turn_nodes = Table({"node": "i4"})
        self._rows: dict[str, int] = {}
        self._said_in: list[tuple[str, ...]] = []
        self._relation_labels: list[str] = []
        self._relation_serves: list[int] = []
        self._relations_with: dict[str, list[int]] = {}
        self._stems: dict[str, int] = {}
        self._words = Table({"facts": "i4"})
        """Of every stem of a label: how many times facts were told of what has it in its label."""
        self._named: list[list[int]] = []
        self._promoted: dict[str, int] = {}
        self._stood: tuple[int, int, int, int] = (0, 0, 0, 0)
        """What was looked at to tell which promotions stand."""
        self._types = np.array([_settings()["weights"][name] for name in EDGE_TYPES], dtype=np.float32)
        self._learned: dict[str, float] = {}
        self._changes = 0
        self._clock = 0
        """The latest turn that a change was read of."""

    # -- growing ----------------------------------------------------------------------------------------------------

    def sync(self, state: UserState) -> None:
        """Take in the turns, changes and promotions that came since. Cost O(what is new)."""
        before = (len(self._turn_nodes), self._changes, self._stood)
        for place in range(len(self._turn_nodes), len(state.places)):
            self._add_turn(place, state)
        changes = state.beliefs.changes
        for change in changes[self._changes :]:
            turn = None if change.turn_id is None else state.turn(change.turn_id)
            self._clock = max(self._clock, turn.ordinal if turn else 0)
            for key in dict.fromkeys((change.fact.fact_id, *change.because)):
                self._take_fact(key, state)
        self._changes = len(changes)
        self._promote(state)
        if before != (len(self._turn_nodes), self._changes, self._stood):
            self.version += 1

    def _promote(self, state: UserState) -> None:
        """Take in which promotions stand. Cost O(promotions and their support), nothing while nothing changed."""
        # As many may be withdrawn as before, and others: the row of the log tells.
        stood = (state.promotions.version, len(state.withdrawn), self._changes, state.state)
        if stood == self._stood or not len(state.promotions):
            return
        self._stood = stood
        standing_now = {one.promotion_id: one for one in standing(state)}
        for key, row in self._promoted.items():
            if key not in standing_now:
                self.sources["standing"][row] = 0
        for key, one in standing_now.items():
            if key not in self._promoted:
                self._promoted[key] = self._rows[key] = self._add_promotion(one)
            self.sources["standing"][self._promoted[key]] = STANDING[Status.HELD]
            self.sources["confidence"][self._promoted[key]] = one.score

    def _add_promotion(self, promotion: Promotion) -> int:
        subject = self._entity(promotion.subject)
        concept = self._node(f"{CONCEPT_KEY}{promotion.concept}", promotion.label, CONCEPT)
        day = (promotion.known_at - EPOCH).days if promotion.known_at else 0
        row = self.sources.add(
            subject=subject,
            object=concept,
            relation=self._relation(promotion.relation, promotion.relation),
            standing=0,
            confidence=promotion.score,
            learned=self._learned.get(promotion.promotion_id, 1.0),
            first=day,
            last=day,
            serves=1 << KINDS.index("preference"),
            polarity=True,
        )
        self._said_in.append(())
        self._ids.append(promotion.promotion_id)
        self._add_edge(subject, concept, PROMOTED, row, 1.0)
        return row

    def tastes(self, people: Ids, since: Standpoint) -> dict[str, tuple[float, int]]:
        """Return the concepts that promotions join people to, each with the strength and the row of its source."""
        found: dict[str, tuple[float, int]] = {}
        for row in self._promoted.values():
            if int(self.sources["subject"][row]) in people and self.sources["confidence"][row] >= since.least:
                strength = float(self.strengths(np.array([row]), since)[0])
                name = self._concepts[int(self.sources["object"][row])]
                if strength > found.get(name, (0.0, 0))[0]:
                    found[name] = (strength, row)
        return found

    def _add_turn(self, place: int, state: UserState) -> None:
        node = self.nodes.add(kind=TURN, place=place, hash=0, **dict.fromkeys(STEMS, -1))
        self._labels.append(f"turn {state.turns[state.places[place]].turn_id}")
        self._turn_nodes.add(node=node)
        before = int(state.columns.before[place])
        if before >= 0:
            asked = state.turns[state.places[before]]
            other = asked.speaker != state.turns[state.places[place]].speaker
            kind = ANSWER if other and "?" in asked.text else NEXT
            self._add_edge(int(self._turn_nodes["node"][before]), node, kind, -1, 1.0)
        for concept, weight in (self.concepts(place) if self.concepts else {}).items():
            self._add_edge(node, self._node(f"{CONCEPT_KEY}{concept}", labelled(concept), CONCEPT), ABOUT, -1, weight)

    def _add_edge(self, start: int, end: int, kind: int, source: int, weight: float) -> None:
        edge = self.edges.add(start=start, end=end, type=kind, source=source, weight=weight)
        self._adjacency.add(start, edge)
        self._adjacency.add(end, edge)

    def _take_fact(self, fact_id: str, state: UserState) -> None:
        """Bring the edges of one fact up to date."""
        fact, row = state.beliefs.facts.get(fact_id), self._rows.get(fact_id)
        if fact is None:
            if row is not None:
                self._stand(row, 0)
            return
        if row is None:
            row = self._add_fact(fact)
        self._stand(row, STANDING[fact.status])
        self.sources["confidence"][row] = fact.confidence
        self.sources["serves"][row] = self._relation_serves[int(self.sources["relation"][row])] | told_by(fact)
        self._support(row, fact.turn_ids, state)

    def _support(self, row: int, said: tuple[str, ...], state: UserState) -> None:
        """Join a fact to the turns that support it, as far as the changes that were read have come."""
        known = self._said_in[row]
        if said[: len(known)] != known:
            kept = tuple(turn_id for turn_id in known if turn_id in said)
            self._unsay(row, [turn_id for turn_id in known if turn_id not in said], state)
            known, said = kept, (*kept, *(turn_id for turn_id in said if turn_id not in kept))
        for turn_id in said[len(known) :]:
            turn = state.turn(turn_id)
            # Read all at once, the edges come in the order in which they would have come turn by turn.
            if turn is not None and turn.ordinal > self._clock:
                break
            self._mention(row, turn_id, state)
            known = (*known, turn_id)
        self._said_in[row] = said if len(said) == len(known) else known  # the fact's own tuple takes no room

    def _add_fact(self, fact: Fact) -> int:
        start = self._entity(fact.subject)
        end = self._entity(fact.object) if fact.object.key else -1
        row = self._rows[fact.fact_id] = self.sources.add(
            subject=start,
            object=end,
            relation=self._relation(fact.relation.name, fact.relation.label),
            standing=0,
            confidence=fact.confidence,
            learned=self._learned.get(fact.fact_id, 1.0),
            first=NEVER,
            last=0,
            serves=0,
            polarity=fact.polarity,
        )
        self._said_in.append(())
        self._ids.append(fact.fact_id)
        if end >= 0:
            self._add_edge(start, end, ALIAS if is_identity(fact) else FACT, row, 1.0)
        return row

    def _mention(self, row: int, turn_id: str, state: UserState) -> None:
        self._count(row, bool(self.sources["standing"][row]))
        place = _place_of(turn_id, state)
        if place is None:
            return
        self._date(row, place, state)
        for node in self._ends(row):
            self._add_edge(node, int(self._turn_nodes["node"][place]), MENTION, row, 1.0)

    def _date(self, row: int, place: int, state: UserState) -> None:
        day = int(state.columns.at[place] // MICROSECONDS_A_DAY)
        self.sources["first"][row] = min(day, self.sources["first"][row])
        self.sources["last"][row] = max(day, self.sources["last"][row])

    def _unsay(self, row: int, turn_ids: Sequence[str], state: UserState) -> None:
        """Cut the edges from a fact to turns that no longer support it."""
        self._count(row, -len(turn_ids) * bool(self.sources["standing"][row]))
        for place in (_place_of(turn_id, state) for turn_id in turn_ids):
            if place is None:
                continue
            _, edges = self._adjacency.of(self.turns(np.array([place])), len(self.edges))
            self.edges["weight"][edges[self.edges["source"][edges] == row]] = 0
        self.sources["first"][row], self.sources["last"][row] = NEVER, 0
        for turn_id in self._said_in[row]:
            place = _place_of(turn_id, state)
            if place is not None and turn_id not in turn_ids:
                self._date(row, place, state)

    def _stand(self, row: int, standing: int) -> None:
        """Note where a fact stands; one that fell mentions nobody."""
        known = int(self.sources["standing"][row])
        if bool(known) != bool(standing):
            self._count(row, len(self._said_in[row]) * (1 if standing else -1))
        self.sources["standing"][row] = standing

    def _count(self, row: int, times: int) -> None:
        """Count a fact as told `times` more for the words of what it is about."""
        for node in self._ends(row):
            for stem in STEMS:
                word = int(self.nodes[stem][node])
                if word >= 0:
                    self._words["facts"][word] += times

    def _ends(self, row: int) -> tuple[int, ...]:
        start, end = int(self.sources["subject"][row]), int(self.sources["object"][row])
        return (start,) if end in (-1, start) else (start, end)

    def _entity(self, term: Term) -> int:
        known = self._keys.get(term.key)
        node = self._node(term.key, term.label, ENTITY)
        owner = term.key.rpartition(OWNED)[0]
        if known is None and owner:
            holder = self._node(owner, term.label.rpartition(OWNED)[0], ENTITY)
            self._add_edge(holder, node, OWNS, -1, 1.0)
        return node

    def _node(self, key: str, label: str, kind: int) -> int:
        node = self._keys.get(key)
        if node is None:
            words = [self._stem(stem) for stem in dict.fromkeys(stems(label))]
            numbers = dict(zip(STEMS, [*words, -1, -1, -1, -1], strict=False))
            node = self._keys[key] = self.nodes.add(kind=kind, place=-1, hash=hashed(key), **numbers)
            self._labels.append(label)
            if kind == CONCEPT:
                self._concepts[node] = key.removeprefix(CONCEPT_KEY)
            for word in words:
                self._named[word].append(node)
        return node

    def _stem(self, stem: str) -> int:
        number = self._stems.get(stem)
        if number is None:
            number = self._stems[stem] = self._words.add(facts=0)
            self._named.append([])
        return number

    def _relation(self, name: str, label: str) -> int:
        number = self.relations.get(name)
        if number is None:
            number = self.relations[name] = len(self.relations)
            self._relation_labels.append(label)
            self._relation_serves.append(served_by(name, label))
            for stem in dict.fromkeys(stems(label)):
                self._relations_with.setdefault(stem, []).append(number)
        return number

    # -- learned weights --------------------------------------------------------------------------------------------

    def learn(self, edge_weights: Mapping[str, float]) -> None:
        """Take over learned weights, by edge type or by the id of a fact or promotion; what is not named weighs 1.

        Cost O(facts that are named now or were named before).
        """
        for key in self._learned.keys() - edge_weights.keys():
            self._learn(key, 1.0)
        for key, weight in edge_weights.items():
            self._learn(key, weight)
        self._learned = dict(edge_weights)
        self.version += 1

    def _learn(self, key: str, weight: float) -> None:
        if key in EDGE_TYPES:
            self._types[EDGE_TYPES.index(key)] = weight * _settings()["weights"][key]
        elif key in self._rows:
            self.sources["learned"][self._rows[key]] = weight

    def weights(self, edges: Ids, since: Standpoint) -> Weights:
        """Return what edges weigh in a walk, `(k,) float32`; 0 for those that do not count."""
        source = self.edges["source"][edges]
        sourced = source >= 0
        weights: Weights = self.edges["weight"][edges] * self._types[self.edges["type"][edges]]
        weights[sourced] *= self.strengths(source[sourced].astype(np.intp), since)
        if since.least > 0 and self._promoted:
            weights[(self.edges["type"][edges] == PROMOTED) & (self.sources["confidence"][source] < since.least)] = 0
        return weights

    def strengths(self, sources: Ids, since: Standpoint) -> Weights:
        """Return confidence x learned weight x standing x recency of facts and promotions, `(k,) float32`."""
        kept: Weights = self.sources["confidence"][sources] * self.sources["learned"][sources]
        kept *= _standings(since.historical)[self.sources["standing"][sources]]
        if since.known is not None:
            kept *= self.sources["first"][sources] <= since.known
        if since.day is not None:
            age = np.maximum(since.day - self.sources["last"][sources], 0)
            kept *= _recencies()[np.minimum(age, LONGEST_AGE)]
        return kept

    # -- looking up -------------------------------------------------------------------------------------------------

    def node(self, key: str) -> int | None:
        """Return the node of a person, thing or concept ("concept films") by its key."""
        return self._keys.get(key)

    def turns(self, places: Ids) -> Ids:
        """Return the nodes of places, `(k,)`."""
        return self._turn_nodes["node"][places].astype(np.intp)

    def linked(self, terms: Iterable[str]) -> tuple[Ids, NDArray[np.float64]]:
        """Return the nodes whose labels share stems with a query, sorted, and the share of each label that is said.

        Of a stem that many labels share only the `LINKED` latest are looked at. Cost O(terms x LINKED).
        """
        wanted = [self._stems[term] for term in dict.fromkeys(terms) if term in self._stems]
        nodes = np.array([node for word in wanted for node in self._named[word][-LINKED:]], dtype=np.intp)
        nodes = np.unique(nodes)
        words = np.stack([self.nodes[stem][nodes] for stem in STEMS])
        said = np.zeros(words.shape, dtype=np.bool_)
        for word in wanted:
            said |= words == word
        shares = said.sum(axis=0) / np.maximum((words >= 0).sum(axis=0), 1)
        return nodes, shares

    def relations_with(self, terms: Iterable[str]) -> Ids:
        """Return the numbers of the relations whose wording shares a stem with a query, sorted."""
        numbers = {number for stem in terms for number in self._relations_with.get(stem, ())}
        return np.array(sorted(numbers), dtype=np.intp)

    def told(self, places: Ids) -> tuple[Ids, Ids]:
        """Return which facts turns tell, as rows of `places` and rows of `sources`. Cost O(facts of these turns)."""
        rows, edges = self._adjacency.of(self.turns(places), MOST_TOLD)
        source = self.edges["source"][edges].astype(np.intp)
        # A fact is joined to its turn by two edges; the one of its subject stands for both.
        kept = (self.edges["type"][edges] == MENTION) & (self.edges["weight"][edges] > 0)
        kept[kept] = self.edges["start"][edges[kept]] == self.sources["subject"][source[kept]]
        return rows[kept], source[kept]

    def rarity(self, nodes: Ids) -> Weights:
        """Return how special nodes are, `(k,)` in 0..1: 1 where a word of the label is told of once, less for hubs.

        Source: node specificity, B. Jimenez Gutierrez et al., "HippoRAG" (2024), section 2.2: one over the number of
        passages. Here it is damped by a logarithm and counted by the words of labels, so that "great day" and "great
        way" are as common as "great". Only what is told of the same words changes it. Cost O(k).
        """
        words = np.stack([self.nodes[stem][nodes] for stem in STEMS])
        told = np.maximum(self._words["facts"][words], 1) if len(self._words) else np.ones_like(words)
        rare: Weights = np.where(words >= 0, 1 / (1 + np.log(told)), 0).max(axis=0).astype(np.float32)
        return rare

    def object_hashes(self, sources: Ids) -> NDArray[np.uint32]:
        """Return the hashed keys of what facts are about beside their subject, `(k,)`; 0 for nothing."""
        things = self.sources["object"][sources]
        hashes: NDArray[np.uint32] = np.where(things >= 0, self.nodes["hash"][things], 0)
        return hashes

    def degree(self, nodes: Ids) -> Ids:
        """Return how many edges touch every node, `(k,)`."""
        return self._adjacency.degree(nodes)

    def edges_of(self, nodes: Ids, limit: int) -> tuple[Ids, Ids]:
        """Return rows of `nodes` and the edges that touch them, the `limit` latest of each."""
        return self._adjacency.of(nodes, limit)

    def across(self, nodes: Ids, edges: Ids) -> Ids:
        """Return the other end of every edge, `(k,)`."""
        ends: NDArray[np.int32] = self.edges["start"][edges] + self.edges["end"][edges]
        return ends - nodes

    def places(self, nodes: Ids) -> Ids:
        """Return the places of nodes, -1 for what is no turn."""
        return self.nodes["place"][nodes].astype(np.intp)

    def label(self, node: int) -> str:
        """Return what a node is called; "turn t12" for the turn of that id."""
        return self._labels[node]

    def step(self, start: int, edge: int, end: int) -> Step:
        """Return an edge as it is walked."""
        kind, source = int(self.edges["type"][edge]), int(self.edges["source"][edge])
        relation = EDGE_TYPES[kind] if source < 0 or kind == MENTION else self.wording(source)
        return Step(self.label(start), relation, self.label(end), int(self.edges["start"][edge]) == start)

    def wording_of(self, source: int) -> str:
        """Return a fact or promotion as a step: "Ana -loves-> Titanic"."""
        thing = int(self.sources["object"][source])
        end = self.label(thing) if thing >= 0 else "..."
        return str(Step(self.label(int(self.sources["subject"][source])), self.wording(source), end))

    def wording(self, source: int) -> str:
        """Return the relation of a fact or promotion in words."""
        label = self._relation_labels[int(self.sources["relation"][source])]
        return label if self.sources["polarity"][source] else f"not: {label}"

    # -- walking ----------------------------------------------------------------------------------------------------

    def walk(self, seeds: Mapping[int, float], since: Standpoint, *, hops: int = 3) -> Walk:
        """Return where a short random walk from some nodes ends; see `walk.walk`."""
        return walk(self, seeds, since, hops=hops)


def served_by(name: str, label: str) -> int:
    """Return the kinds of thing (bits of `KINDS`) that the objects of a relation are."""
    relation, known = relation_type(name, label), set(inventory().ancestors(name))
    words, found = set(stems(label)), 0
    for bit, kind in enumerate(KINDS):
        asked = _settings()["seeks"][kind]
        if (
            name in asked.get("relations", ())
            or relation.range in asked.get("ranges", ())
            or not known.isdisjoint(asked.get("groups", ()))
            or not words.isdisjoint(asked.get("stems", ()))
            or (relation.kind == "verb" and label.rpartition(" ")[2] in asked.get("prepositions", ()))
        ):
            found |= 1 << bit
    return found


def told_by(fact: Fact) -> int:
    """Return the kinds of thing that a fact tells beside its relation: a time, a number."""
    dated = fact.valid.start is not None or fact.valid.end is not None
    counted = NUMBER.search(fact.object.label) is not None
    return (dated << KINDS.index("time")) | (counted << KINDS.index("count"))


def kinds_of(seeks: Iterable[str]) -> int:
    """Return kinds of thing that a query seeks as bits of `KINDS`; unknown ones are left out."""
    return sum(1 << KINDS.index(kind) for kind in set(seeks) if kind in KINDS)


def _place_of(turn_id: str, state: UserState) -> int | None:
    turn = state.turn(turn_id)
    return None if turn is None else state.place(turn.ordinal)
