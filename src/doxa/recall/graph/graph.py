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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import numpy as np
from numpy.typing import NDArray

from doxa.core.promotions import Promotion
from doxa.core.values import Fact, Status, Term, Turn
from doxa.memory import Form, Pack, PackWriter, Records, Table, UserState, is_identity, standing
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.nodes import CONCEPT, CONCEPT_KEY, ENTITY, Nodes
from doxa.recall.graph.relations import KINDS, Relations, told_by
from doxa.recall.graph.settings import settings
from doxa.recall.graph.sheet import Sheet
from doxa.recall.graph.tags import labelled
from doxa.recall.graph.walk import Walk, walk

__all__ = ["EDGE_TYPES", "MemoryGraph", "Standpoint", "Step"]

EDGE_TYPES = ("fact", "mention", "owns", "alias", "about", "promoted", "next", "answer")
FACT, MENTION, OWNS, ALIAS, ABOUT, PROMOTED, NEXT, ANSWER = range(len(EDGE_TYPES))
STANDING = {
    Status.HELD: 1,
    Status.QUARANTINED: 2,
    Status.TENTATIVE: 2,
    Status.SUPERSEDED: 3,
    Status.RETRACTED: 0,
}
OWNED = "'s "
MOST_TOLD = 128
"""Edges of a turn that are looked at: the latest."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PARTS = ("nodes", "edges", "sources", "relations", "_adjacency", "_of_facts", "_said_in")
LONGEST_AGE = 5000
"""Days after which a fact does not get older."""
NEVER = np.iinfo(np.int32).max
MICROSECONDS_A_DAY = 86_400_000_000
Ids = NDArray[np.intp]
Weights = NDArray[np.float32]
Concepts = Callable[[int], Mapping[str, float]]
"""Place -> the concepts that its turn is about."""


@cache
def _standings(historical: bool) -> Weights:
    """Return what a fact counts by where it stands (`STANDING`)."""
    return np.array(settings()["standing"]["historical" if historical else "now"], dtype=np.float32)


@cache
def _recencies() -> Weights:
    """Return what a fact counts by how many days ago it was told last."""
    floor, half_life = settings()["recency"]["floor"], settings()["recency"]["half_life_days"]
    shares: Weights = (floor + (1 - floor) * 0.5 ** (np.arange(LONGEST_AGE + 1) / half_life)).astype(np.float32)
    return shares


def path_weights(*, advice: bool) -> Mapping[str, float]:
    """Return how far each kind of path alone can raise the score of the graph view, by the name of its score."""
    table = settings()["paths"]
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
        self.nodes = Nodes()
        self.edges = Sheet({"start": "i4", "end": "i4", "type": "i1", "source": "i4", "weight": "f4"})
        self.sources = Sheet(
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
        self.relations = Relations()
        self._adjacency = Adjacency()
        self._of_facts = Sheet({"source": "i4"})
        """The sources of facts, by their rows in `Beliefs.facts`; -1 for those that were not read."""
        self._said_in: Records[tuple[str, ...]] = Records(Form(list, tuple))
        """The turns that every source was told in, as far as they were read."""
        self._promoted: dict[str, int] = {}
        self._stood: tuple[int, int, int, int] = (0, 0, 0, 0)
        """What was looked at to tell which promotions stand."""
        self._types = np.array([settings()["weights"][name] for name in EDGE_TYPES], dtype=np.float32)
        self._learned: dict[str, float] = {}
        self._changes = 0
        self._clock = 0
        """The latest turn that a change was read of."""
        self._facts: Table[Fact] = Table()
        self._turns: Mapping[int, Turn] = {}
        self._places: Sequence[int] = ()
        """Those of the memory."""

    # -- growing ----------------------------------------------------------------------------------------------------

    def sync(self, state: UserState) -> None:
        """Take in the turns, changes and promotions that came since. Cost O(what is new)."""
        self._facts, self._turns, self._places = state.beliefs.facts, state.turns, state.places
        before = (self.nodes.turns, self._changes, self._stood)
        for place in range(self.nodes.turns, len(state.places)):
            self._add_turn(place, state)
        changes = state.beliefs.changes
        for number in range(self._changes, len(changes)):
            change = changes[number]
            told = None if change.turn_id is None else state.turns.ordinal_of(change.turn_id)
            self._clock = max(self._clock, told or 0)
            for key in dict.fromkeys((change.fact.fact_id, *change.because)):
                self._take_fact(key, state)
        self._changes = len(changes)
        self._promote(state)
        if before != (self.nodes.turns, self._changes, self._stood):
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
                self.sources.put("standing", row, 0)
        for key, one in standing_now.items():
            if key not in self._promoted:
                self._promoted[key] = self._add_promotion(one)
            self.sources.put("standing", self._promoted[key], STANDING[Status.HELD])
            self.sources.put("confidence", self._promoted[key], one.score)

    def _add_promotion(self, promotion: Promotion) -> int:
        subject = self._entity(promotion.subject)
        concept = self.nodes.add(f"{CONCEPT_KEY}{promotion.concept}", promotion.label, CONCEPT)
        day = (promotion.known_at - EPOCH).days if promotion.known_at else 0
        row = self.sources.add(
            subject=subject,
            object=concept,
            relation=self.relations.add(promotion.relation, promotion.relation),
            standing=0,
            confidence=promotion.score,
            learned=self._learned.get(promotion.promotion_id, 1.0),
            first=day,
            last=day,
            serves=1 << KINDS.index("preference"),
            polarity=True,
        )
        self._said_in.append(())
        self._add_edge(subject, concept, PROMOTED, row, 1.0)
        return row

    def tastes(self, people: Ids, since: Standpoint) -> dict[str, tuple[float, int]]:
        """Return the concepts that promotions join people to, each with the strength and the row of its source."""
        found: dict[str, tuple[float, int]] = {}
        for row in self._promoted.values():
            if self.sources.get("subject", row) in people and self.sources.get("confidence", row) >= since.least:
                strength = float(self.strengths(np.array([row]), since)[0])
                name = self.nodes.concept(self.sources.get("object", row))
                if strength > found.get(name, (0.0, 0))[0]:
                    found[name] = (strength, row)
        return found

    def _add_turn(self, place: int, state: UserState) -> None:
        node, turn = self.nodes.add_turn(), state.turns[state.places[place]]
        before = int(state.columns.before[place])
        if before >= 0:
            asked = state.turns[state.places[before]]
            kind = ANSWER if asked.speaker != turn.speaker and "?" in asked.text else NEXT
            self._add_edge(self.nodes.of_turn(before), node, kind, -1, 1.0)
        for concept, weight in (self.concepts(place) if self.concepts else {}).items():
            about = self.nodes.add(f"{CONCEPT_KEY}{concept}", labelled(concept), CONCEPT)
            self._add_edge(node, about, ABOUT, -1, weight)

    def _add_edge(self, start: int, end: int, kind: int, source: int, weight: float) -> None:
        edge = self.edges.add(start=start, end=end, type=kind, source=source, weight=weight)
        self._adjacency.add(start, edge)
        self._adjacency.add(end, edge)

    def _take_fact(self, fact_id: str, state: UserState) -> None:
        """Bring the edges of one fact up to date."""
        fact, row = state.beliefs.facts.get(fact_id), self._row(fact_id)
        if fact is None:
            if row is not None:
                self._stand(row, 0)
            return
        if row is None:
            row = self._add_fact(fact)
        self._stand(row, STANDING[fact.status])
        self.sources.put("confidence", row, fact.confidence)
        serves = self.relations.serves(self.sources.get("relation", row)) | told_by(fact)
        if serves != self.sources.get("serves", row):
            self.sources.put("serves", row, serves)
        self._support(row, fact.turn_ids, state)

    def _row(self, key: str) -> int | None:
        """Return the source of a fact or promotion by its id; None when it was not read."""
        number = self._facts.number(key)
        if number is None or number >= len(self._of_facts):
            return self._promoted.get(key)
        row: int = self._of_facts.get("source", number)
        return None if row < 0 else row

    def _support(self, row: int, said: tuple[str, ...], state: UserState) -> None:
        """Join a fact to the turns that support it, as far as the changes that were read have come."""
        known = self._said_in[row]
        if said[: len(known)] != known:
            kept = tuple(turn_id for turn_id in known if turn_id in said)
            self._unsay(row, [turn_id for turn_id in known if turn_id not in said], state)
            known, said = kept, (*kept, *(turn_id for turn_id in said if turn_id not in kept))
        for turn_id in said[len(known) :]:
            ordinal = state.turns.ordinal_of(turn_id)
            # Read all at once, the edges come in the order in which they would have come turn by turn.
            if ordinal is not None and ordinal > self._clock:
                break
            self._mention(row, ordinal, state)
            known = (*known, turn_id)
        self._said_in.replace(row, said if len(said) == len(known) else known)  # the fact's own tuple takes no room

    def _add_fact(self, fact: Fact) -> int:
        start = self._entity(fact.subject)
        end = self._entity(fact.object) if fact.object.key else -1
        row = self.sources.add(
            subject=start,
            object=end,
            relation=self.relations.add(fact.relation.name, fact.relation.label),
            standing=0,
            confidence=fact.confidence,
            learned=self._learned.get(fact.fact_id, 1.0),
            first=NEVER,
            last=0,
            serves=0,
            polarity=fact.polarity,
        )
        self._said_in.append(())
        number = self._facts.row(fact.fact_id)
        assert number is not None
        while len(self._of_facts) <= number:
            self._of_facts.add(source=-1)
        self._of_facts.put("source", number, row)
        if end >= 0:
            self._add_edge(start, end, ALIAS if is_identity(fact) else FACT, row, 1.0)
        return row

    def _mention(self, row: int, ordinal: int | None, state: UserState) -> None:
        self._count(row, bool(self.sources.get("standing", row)))
        place = None if ordinal is None else state.place(ordinal)
        if place is None:
            return
        self._date(row, place, state)
        turn = self.nodes.of_turn(place)
        for node in self._ends(row):
            self._add_edge(node, turn, MENTION, row, 1.0)

    def _date(self, row: int, place: int, state: UserState) -> None:
        day = int(state.columns.at[place] // MICROSECONDS_A_DAY)
        if day < self.sources.get("first", row):
            self.sources.put("first", row, day)
        if day > self.sources.get("last", row):
            self.sources.put("last", row, day)

    def _unsay(self, row: int, turn_ids: Sequence[str], state: UserState) -> None:
        """Cut the edges from a fact to turns that no longer support it."""
        self._count(row, -len(turn_ids) * bool(self.sources.get("standing", row)))
        for place in (_place_of(turn_id, state) for turn_id in turn_ids):
            if place is None:
                continue
            for edge in self._adjacency.of_one(self.nodes.of_turn(place)):
                if self.edges.get("source", edge) == row:
                    self.edges.put("weight", edge, 0)
        self.sources.put("first", row, NEVER)
        self.sources.put("last", row, 0)
        for turn_id in self._said_in[row]:
            place = _place_of(turn_id, state)
            if place is not None and turn_id not in turn_ids:
                self._date(row, place, state)

    def _stand(self, row: int, standing: int) -> None:
        """Note where a fact stands; one that fell mentions nobody."""
        known = self.sources.get("standing", row)
        if bool(known) != bool(standing):
            self._count(row, len(self._said_in[row]) * (1 if standing else -1))
        self.sources.put("standing", row, standing)

    def _count(self, row: int, times: int) -> None:
        """Count a fact as told `times` more for the words of what it is about."""
        for node in self._ends(row) if times else ():
            self.nodes.count(node, times)

    def _ends(self, row: int) -> tuple[int, ...]:
        start, end = self.sources.get("subject", row), self.sources.get("object", row)
        return (start,) if end in (-1, start) else (start, end)

    def _entity(self, term: Term) -> int:
        new = self.nodes.get(term.key) is None
        node = self.nodes.add(term.key, term.label, ENTITY)
        owner = term.key.rpartition(OWNED)[0]
        if new and owner:
            holder = self.nodes.add(owner, term.label.rpartition(OWNED)[0], ENTITY)
            self._add_edge(holder, node, OWNS, -1, 1.0)
        return node

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
            self._types[EDGE_TYPES.index(key)] = weight * settings()["weights"][key]
        elif (row := self._row(key)) is not None:
            self.sources.put("learned", row, weight)

    def weights(self, edges: Ids, since: Standpoint) -> Weights:
        """Return what edges weigh in a walk, `(k,) float32`; 0 for those that do not count."""
        source, kind = self.edges.take("source", edges), self.edges.take("type", edges)
        sourced = source >= 0
        weights: Weights = self.edges.take("weight", edges) * self._types[kind]
        weights[sourced] *= self.strengths(source[sourced].astype(np.intp), since)
        if since.least > 0 and self._promoted:
            promoted = np.flatnonzero(kind == PROMOTED)
            unsure = self.sources.take("confidence", source[promoted]) < since.least
            weights[promoted[unsure]] = 0
        return weights

    def strengths(self, sources: Ids, since: Standpoint) -> Weights:
        """Return confidence x learned weight x standing x recency of facts and promotions, `(k,) float32`."""
        told = self.sources
        kept: Weights = told.take("confidence", sources) * told.take("learned", sources)
        kept *= _standings(since.historical)[told.take("standing", sources)]
        if since.known is not None:
            kept *= told.take("first", sources) <= since.known
        if since.day is not None:
            age = np.maximum(since.day - told.take("last", sources), 0)
            kept *= _recencies()[np.minimum(age, LONGEST_AGE)]
        return kept

    # -- looking up -------------------------------------------------------------------------------------------------

    def node(self, key: str) -> int | None:
        """Return the node of a person, thing or concept ("concept films") by its key."""
        return self.nodes.get(key)

    def turns(self, places: Ids) -> Ids:
        """Return the nodes of places, `(k,)`."""
        return self.nodes.of_turns(places)

    def told(self, places: Ids) -> tuple[Ids, Ids]:
        """Return which facts turns tell, as rows of `places` and rows of `sources`. Cost O(facts of these turns)."""
        rows, edges = self._adjacency.of(self.turns(places), MOST_TOLD)
        kept = (self.edges.take("type", edges) == MENTION) & (self.edges.take("weight", edges) > 0)
        rows, edges = rows[kept], edges[kept]
        source = self.edges.take("source", edges).astype(np.intp)
        # A fact is joined to its turn by two edges; the one of its subject stands for both.
        first = self.edges.take("start", edges) == self.sources.take("subject", source)
        return rows[first], source[first]

    def object_hashes(self, sources: Ids) -> NDArray[np.uint32]:
        """Return the hashed keys of what facts are about beside their subject, `(k,)`; 0 for nothing."""
        things = self.sources.take("object", sources)
        hashes: NDArray[np.uint32] = np.zeros(len(things), dtype=np.uint32)
        hashes[things >= 0] = self.nodes.hashes(things[things >= 0].astype(np.intp))
        return hashes

    def degree(self, nodes: Ids) -> Ids:
        """Return how many edges touch every node, `(k,)`."""
        return self._adjacency.degree(nodes)

    def edges_of(self, nodes: Ids, limit: int) -> tuple[Ids, Ids]:
        """Return rows of `nodes` and the edges that touch them, the `limit` latest of each."""
        return self._adjacency.of(nodes, limit)

    def across(self, nodes: Ids, edges: Ids) -> Ids:
        """Return the other end of every edge, `(k,)`."""
        ends: NDArray[np.int32] = self.edges.take("start", edges) + self.edges.take("end", edges)
        return ends - nodes

    def label(self, node: int) -> str:
        """Return what a node is called; "turn t12" for the turn of that id."""
        place = self.nodes.place(node)
        return self.nodes.label(node) if place is None else f"turn {self._turns[self._places[place]].turn_id}"

    def step(self, start: int, edge: int, end: int) -> Step:
        """Return an edge as it is walked."""
        kind, source = self.edges.get("type", edge), self.edges.get("source", edge)
        relation = EDGE_TYPES[kind] if source < 0 or kind == MENTION else self.wording(source)
        return Step(self.label(start), relation, self.label(end), self.edges.get("start", edge) == start)

    def wording_of(self, source: int) -> str:
        """Return a fact or promotion as a step: "Ana -loves-> Titanic"."""
        thing = self.sources.get("object", source)
        end = self.label(thing) if thing >= 0 else "..."
        return str(Step(self.label(self.sources.get("subject", source)), self.wording(source), end))

    def wording(self, source: int) -> str:
        """Return the relation of a fact or promotion in words."""
        label = self.relations.label(self.sources.get("relation", source))
        return label if self.sources.get("polarity", source) else f"not: {label}"

    # -- as a file --------------------------------------------------------------------------------------------------

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it. Cost O(its bytes)."""
        for part in PARTS:
            getattr(self, part).save(writer, f"{name}.{part}")
        writer.array(f"{name}.types", self._types)
        values = (self.version, self._changes, self._clock, self._stood, self._promoted, self._learned)
        writer.value(f"{name}.values", values)

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of all that is here."""
        for part in PARTS:
            getattr(self, part).load(pack, f"{name}.{part}")
        self._types = pack.array(f"{name}.types").copy()
        values = pack.value(f"{name}.values")
        self.version, self._changes, self._clock, stood, self._promoted, self._learned = values
        self._stood = tuple(stood)

    # -- walking ----------------------------------------------------------------------------------------------------

    def walk(self, seeds: Mapping[int, float], since: Standpoint, *, hops: int = 3) -> Walk:
        """Return where a short random walk from some nodes ends; see `walk.walk`."""
        return walk(self, seeds, since, hops=hops)


def _place_of(turn_id: str, state: UserState) -> int | None:
    ordinal = state.turns.ordinal_of(turn_id)
    return None if ordinal is None else state.place(ordinal)
