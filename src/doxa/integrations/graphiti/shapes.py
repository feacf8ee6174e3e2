"""Facts and entities of one group -> edges and nodes of Graphiti."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from functools import cached_property

from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.helpers import SAFE_CYPHER_IDENTIFIER_PATTERN
from graphiti_core.nodes import EntityNode, EpisodicNode

from doxa.core.values import EARLIEST, ChangeKind, Entity, Fact, Status
from doxa.engine import Network
from doxa.integrations.graphiti.episodes import Episodes
from doxa.integrations.graphiti.groups import uuid_of

__all__ = ["Graph"]

LABEL = "Entity"
"""The label of every node."""


class Graph:
    """A group as Graphiti has it, as it is when this is made. Cost: O(facts).

    Args:
        episodes: those of the group.
    """

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes
        self.group_id = episodes.group_id
        self.network = Network(episodes.memory, past=True)

    @cached_property
    def _ended(self) -> dict[str, datetime | None]:
        """When it became known that a fact no longer holds, by its id. O(changes), where something ended."""
        found: dict[str, datetime | None] = {}
        for change in self.network.memory.history():
            if change.kind in (ChangeKind.CLOSE, ChangeKind.RETRACT):
                found[change.fact.fact_id] = change.known_at
            elif change.kind is ChangeKind.RESTORE:
                found.pop(change.fact.fact_id, None)
        return found

    def edge(self, fact: Fact) -> EntityEdge:
        """Return a fact as an edge: its days of the world are `valid_at` and `invalid_at`, those of what was known
        are `created_at` and `expired_at`.
        """
        episodes = [self.episodes.uuid_of_turn(turn_id) for turn_id in fact.turn_ids]
        return EntityEdge(
            uuid=uuid_of(self.group_id, fact.fact_id),
            group_id=self.group_id,
            source_node_uuid=uuid_of(self.group_id, fact.subject.key),
            target_node_uuid=uuid_of(self.group_id, fact.object.key),
            name=fact.relation.name.upper(),
            fact=self.network.memory.describe(fact),
            episodes=list(dict.fromkeys(uuid for uuid in episodes if uuid is not None)),
            created_at=fact.known_at or EARLIEST,
            expired_at=None if fact.status is Status.HELD else self._ended.get(fact.fact_id),
            valid_at=_moment(fact.valid.start),
            invalid_at=_moment(fact.valid.end),
            reference_time=fact.known_at,
        )

    def node(self, entity: Entity) -> EntityNode:
        """Return an entity as a node; its summary says what is known of it."""
        kind = "".join(word.capitalize() for word in entity.kind.split())
        known = [fact.known_at for fact in self.network.about(entity) if fact.known_at]
        return EntityNode(
            uuid=uuid_of(self.group_id, entity.key),
            name=entity.label,
            group_id=self.group_id,
            labels=[LABEL, kind] if SAFE_CYPHER_IDENTIFIER_PATTERN.match(kind) else [LABEL],
            created_at=min(known, default=EARLIEST),
            summary=self.network.summary(entity),
            attributes={"aliases": list(entity.aliases)} if entity.aliases else {},
        )

    def nodes(self, facts: Iterable[Fact]) -> list[EntityNode]:
        """Return both ends of facts, each once."""
        return [self.node(one) for one in self.network.ends(facts)]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the uuids of the two ends of every edge."""
        for fact in self.network.facts.values():
            yield uuid_of(self.group_id, fact.subject.key), uuid_of(self.group_id, fact.object.key)

    def counts(self) -> dict[str, int]:
        """Return in how many episodes each node is spoken of."""
        told: dict[str, set[str | None]] = {}
        for fact, ends in zip(self.network.facts.values(), self.pairs(), strict=True):
            for end in ends:
                told.setdefault(end, set()).update(map(self.episodes.uuid_of_turn, fact.turn_ids))
        return {uuid: len(episodes - {None}) for uuid, episodes in told.items()}

    def said(self, uuids: Iterable[str]) -> list[Fact]:
        """Return the facts that rest on episodes."""
        return self.network.said(turn_id for uuid in uuids for turn_id in self.episodes.turns_of(uuid))

    def ended_by(self, turn_ids: Iterable[str]) -> list[Fact]:
        """Return the facts that turns ended or took back. O(changes)."""
        wanted, kinds = set(turn_ids), (ChangeKind.CLOSE, ChangeKind.RETRACT)
        changes = [one for one in self.network.memory.history() if one.turn_id in wanted and one.kind in kinds]
        return list({one.fact.fact_id: one.fact for one in changes}.values())

    def with_edges(self, episode: EpisodicNode) -> EpisodicNode:
        """Return an episode with the uuids of the edges that rest on it."""
        edges = [uuid_of(self.group_id, fact.fact_id) for fact in self.said([episode.uuid])]
        return episode.model_copy(update={"entity_edges": edges})

    def mentions(self, episode: EpisodicNode) -> list[EpisodicEdge]:
        """Return what leads from an episode to the nodes that it speaks of."""
        return [
            EpisodicEdge(
                uuid=f"{episode.uuid}/{one.key}",
                group_id=self.group_id,
                source_node_uuid=episode.uuid,
                target_node_uuid=uuid_of(self.group_id, one.key),
                created_at=episode.created_at,
            )
            for one in self.network.ends(self.said([episode.uuid]))
        ]


def _moment(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)
