"""The facts of a memory as a weighted graph of entities, looked at from where a question stands.

Nothing is built ahead: neighbours are looked up as they are needed, so that a question costs what lies near to its
entities, and not more in a longer history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from math import log2

from doxa.core.values import Fact, Modality, Status, Term
from doxa.language import stems_of
from doxa.memory import Beliefs, held_on, is_current, is_identity, is_name
from doxa.reason.tree.paths import cheapest_paths

__all__ = ["FactGraph"]

EDGES = 64
"""Most facts of one entity that are looked at: of a hub, those that cost least."""
NODES = 256
"""Most entities that a search for paths looks at from either end."""
REACH = 3
"""How far a search for paths goes from either end, so that a path has 2 x REACH facts at most."""
TRUST, AGE, TOPIC, VALUE, HUB = 1.0, 0.5, 0.5, 2.0, 0.25
"""What an edge costs beyond 1: untrusted, a year old or older, off the topic; through a plain word; through a hub."""
YEAR = 365.0
OWNED = "'s "


@dataclass(frozen=True, slots=True)
class _Edge:
    """A link between two entities; without a fact where a name itself says it ("Ana's sister" and Ana)."""

    source: str
    target: str
    fact: Fact | None
    cost: float


@dataclass(slots=True)
class FactGraph:
    """What held on a day, as a multigraph of entities that is walked both ways along its facts.

    Args:
        beliefs: what is believed.
        day: the day of the world that is asked about; None is today.
        today: the memory's today.
        past: history counts as well, whenever it was.
        topic: stems of the question; a fact that shares some is nearer.
    """

    beliefs: Beliefs
    day: date | None
    today: date | None
    past: bool = False
    topic: frozenset[str] = frozenset()
    _seen: dict[str, list[_Edge]] = field(default_factory=dict)

    def entity(self, name: str) -> Term | None:
        """Return the entity that a name stands for; None for one of which nothing is known."""
        key = self.beliefs.key(name.casefold().strip())
        edges = self._edges(key)
        fact = next((edge.fact for edge in edges if edge.fact is not None), None)
        if fact is None:
            return None
        return fact.subject if fact.subject.key == key else fact.object

    def expand(self, entity: Term, hops: int) -> list[Fact]:
        """Return the facts within some hops of an entity, nearest first; `EDGES` of each entity at most.

        What a plain word links ("Leo is married", "Carla is married") is no neighbourhood: hops go from name to name.
        """
        found: dict[str, Fact] = {}
        for _, edge in self._walk(self.beliefs.key(entity.key), hops):
            if edge.fact is not None:
                found.setdefault(edge.fact.fact_id, edge.fact)
        return list(found.values())

    def paths(self, source: Term, target: Term, k: int) -> list[list[Fact]]:
        """Return up to `k` chains of facts between two entities, the cheapest first.

        Loopless shortest paths by Yen's algorithm over what lies within `REACH` hops of either end, so that
        the cost is bounded. Of several facts between the same two entities a path takes the cheapest. An edge costs
        more the less it is trusted, the older it is, the less it has to do with the question, and when it leads through
        a hub or a plain word ("married"), which join what has nothing to do with each other.
        """
        start, end = self.beliefs.key(source.key), self.beliefs.key(target.key)
        edges = [edge for key in (start, end) for _, edge in self._walk(key, REACH) if not _denied(edge)]
        numbers: dict[str, int] = {}
        for edge in edges:
            numbers.setdefault(edge.source, len(numbers))
            numbers.setdefault(edge.target, len(numbers))
        if start == end or start not in numbers or end not in numbers:
            return []
        best = _lightest(edges)
        chains = _shortest(best, numbers, start, end, k)
        return [[edge.fact for edge in chain if edge.fact is not None] for chain in chains]

    def _walk(self, key: str, hops: int) -> Iterator[tuple[int, _Edge]]:
        """Yield the edges within some hops, nearest first, each entity looked at once."""
        level, seen = [key], {key}
        for distance in range(hops):
            following: list[str] = []
            for here in level:
                for edge in self._edges(here):
                    yield distance, edge
                    there = edge.target if edge.source == here else edge.source
                    if there not in seen and len(seen) < NODES and self._leads_on(there, edge):
                        seen.add(there)
                        following.append(there)
            level = following

    def _edges(self, key: str) -> list[_Edge]:
        """Return the cheapest edges of an entity, in either direction."""
        if key not in self._seen:
            facts = {fact.fact_id: fact for fact in self._facts(key) if self._counts(fact)}
            hub = HUB * log2(1 + len(facts) / 8)
            links = [_Edge(f.subject.key, f.object.key, f, self._cost(f) + hub) for f in facts.values() if f.object.key]
            links += [_Edge(key, owned, None, 1.0 + hub) for owned in self.beliefs.possessions(key)]
            owner = key.rpartition(OWNED)[0]
            if owner:
                links.append(_Edge(self.beliefs.key(owner), key, None, 1.0 + hub))
            self._seen[key] = sorted(links, key=lambda edge: edge.cost)[:EDGES]
        return self._seen[key]

    def _facts(self, key: str) -> Iterator[Fact]:
        """Yield the facts of an entity as their subject, then as their object."""
        yield from self.beliefs.about(key)
        yield from self.beliefs.valued_at(key)

    def _counts(self, fact: Fact) -> bool:
        """Tell whether a fact held at the time that is asked about."""
        if is_identity(fact):
            return False
        if self.day is not None:
            return held_on(fact, self.day)
        return is_current(fact, self.today) or (self.past and fact.status is Status.SUPERSEDED)

    def _cost(self, fact: Fact) -> float:
        trust = 0.5 if fact.disputed or fact.modality is not Modality.ASSERTED else fact.confidence
        known = fact.known_at.date() if fact.known_at else None
        age = min(max((self.today - known).days, 0) / YEAR, 1.0) if self.today and known else 0.0
        words = stems_of(f"{fact.relation.label} {fact.object.label}")
        topic = 0.0 if self.topic & words else 1.0
        return 1.0 + TRUST * (1.0 - trust) + AGE * age + TOPIC * topic + (0.0 if _entity(fact.object) else VALUE)

    def _leads_on(self, key: str, edge: _Edge) -> bool:
        """Tell whether a walk goes on behind an edge: to an entity, not to a plain word."""
        fact = edge.fact
        return fact is None or fact.subject.key == key or _entity(fact.object) or bool(self.beliefs.about(key))


def _entity(term: Term) -> bool:
    return is_name(term) or OWNED in term.key


def _denied(edge: _Edge) -> bool:
    return edge.fact is not None and not edge.fact.polarity


def _lightest(edges: Iterable[_Edge]) -> dict[tuple[str, str], _Edge]:
    """Return the cheapest edge between every two entities; of equal ones the first by id."""
    best: dict[tuple[str, str], _Edge] = {}
    for edge in edges:
        pair = (min(edge.source, edge.target), max(edge.source, edge.target))
        known = best.get(pair)
        if known is None or (edge.cost, _name(edge)) < (known.cost, _name(known)):
            best[pair] = edge
    return best


def _name(edge: _Edge) -> str:
    return edge.fact.fact_id if edge.fact else ""


def _shortest(
    best: dict[tuple[str, str], _Edge], numbers: dict[str, int], start: str, end: str, k: int
) -> list[list[_Edge]]:
    """Return the cheapest loopless chains of edges between two entities, the cheapest first."""
    graph: dict[int, dict[int, float]] = {number: {} for number in numbers.values()}
    for (one, other), edge in best.items():
        graph[numbers[one]][numbers[other]] = graph[numbers[other]][numbers[one]] = edge.cost
    names = list(numbers)
    ways = [[names[node] for node in path] for path in cheapest_paths(graph, numbers[start], numbers[end], k)]
    return [[best[min(pair), max(pair)] for pair in pairwise(way)] for way in ways]
