"""The profile `reference`: the nine tools of the MCP project's reference memory server, in its shapes.

Deleting erases what was written through these tools, for good, and retracts what was told in another way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resources import FunctionResource
from pydantic import BaseModel, ConfigDict, Field

from doxa.core.errors import NotFoundError
from doxa.engine import Graph, Node, Origin, Triple, graph_of, touching
from doxa.transport.mcp import graph as graphs
from doxa.transport.mcp.acts import Given, changes, reads
from doxa.transport.mcp.rooms import here

__all__ = ["ACTS", "GRAPH", "add_resource"]

GRAPH = "memory://knowledge-graph"
QUERY_CHARS = 2048
SEARCHED = 10
"""How much evidence leads to entities where no name, type or observation has the words that are looked for."""


class Entity(BaseModel):
    """An entity of the graph."""

    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class Link(BaseModel):
    """A relation of the graph."""

    model_config = ConfigDict(populate_by_name=True)

    from_: str = Field(alias="from", description="The name of the entity where the relation starts")
    to: str = Field(description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")

    @property
    def relation(self) -> Triple:
        """The relation as it is looked up."""
        return self.from_, self.relationType, self.to


class ObservationsIn(BaseModel):
    """What to add to an entity."""

    entityName: str = Field(description="The name of the entity to add the observations to")
    contents: list[str] = Field(description="An array of observation contents to add")


class DeletionIn(BaseModel):
    """What to delete from an entity."""

    entityName: str = Field(description="The name of the entity containing the observations")
    observations: list[str] = Field(description="An array of observations to delete")


class Added(BaseModel):
    """What was added to an entity."""

    entityName: str
    addedObservations: list[str]


class Listed(Given):
    """A result whose text is the list in it, as the reference server writes it."""

    def words(self) -> str:
        """Return the list alone, as indented JSON."""
        (value,) = self.model_dump(mode="json", by_alias=True).values()
        return json.dumps(value, indent=2, ensure_ascii=False)


class EntitiesOut(Listed):
    """Entities that were created."""

    entities: list[Entity]


class RelationsOut(Listed):
    """Relations that were created."""

    relations: list[Link]


class ResultsOut(Listed):
    """What was added to which entity."""

    results: list[Added]


class Done(Given):
    """What was deleted, in words."""

    success: bool = True
    message: str

    def words(self) -> str:
        """Return the message."""
        return self.message


class GraphOut(Given):
    """The graph, or part of it."""

    entities: list[Entity]
    relations: list[Link]

    def words(self) -> str:
        """Return it as indented JSON."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False)


def create_entities(entities: list[Entity]) -> EntitiesOut:
    """Create multiple new entities in the knowledge graph"""
    room, created = here(), []
    for one in entities:
        if graphs.add_entity(room, one.name, one.entityType):
            for content in one.observations:
                graphs.add_observation(room, one.name, content)
            created.append(one)
    return EntitiesOut(entities=created)


def create_relations(relations: list[Link]) -> RelationsOut:
    """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice"""
    room = here()
    _require(graph_of(room.memory()), (name for one in relations for name in (one.from_, one.to)))
    return RelationsOut(relations=[one for one in relations if graphs.add_relation(room, one.relation)])


def add_observations(observations: list[ObservationsIn]) -> ResultsOut:
    """Add new observations to existing entities in the knowledge graph"""
    room = here()
    _require(graph_of(room.memory()), (one.entityName for one in observations))
    results = [
        Added(
            entityName=one.entityName,
            addedObservations=[text for text in one.contents if graphs.add_observation(room, one.entityName, text)],
        )
        for one in observations
    ]
    return ResultsOut(results=results)


def delete_entities(
    entityNames: Annotated[list[str], Field(description="An array of entity names to delete")],
) -> Done:
    """Delete multiple entities and their associated relations from the knowledge graph"""
    room = here()
    graph = graph_of(room.memory())
    known = {name for name in entityNames if name in graph.nodes}
    origins = [origin for name in known for origin in _origins(graph.nodes[name])]
    graphs.remove(room, [*origins, *(one for _, found in touching(graph, known) for one in found)])
    missing = [name for name in entityNames if name not in known]
    if not missing:
        return Done(message="Entities deleted successfully")
    return Done(
        message=f"Deleted {len(entityNames) - len(missing)} of {len(entityNames)} entities. "
        f"Not found: {', '.join(missing)}"
    )


def delete_observations(deletions: list[DeletionIn]) -> Done:
    """Delete specific observations from entities in the knowledge graph"""
    room = here()
    graph = graph_of(room.memory())
    wanted = [(one.entityName, text) for one in deletions for text in one.observations]
    found = [graph.nodes[name].observations[text] for name, text in wanted if _observed(graph, name, text)]
    graphs.remove(room, [origin for origins in found for origin in origins])
    if len(found) == len(wanted):
        return Done(message="Observations deleted successfully")
    missing = [one.entityName for one in deletions if one.entityName not in graph.nodes]
    unknown = f" Entities not found: {', '.join(missing)}" if missing else ""
    return Done(message=f"Deleted {len(found)} of {len(wanted)} observations.{unknown}")


def delete_relations(
    relations: Annotated[list[Link], Field(description="An array of relations to delete")],
) -> Done:
    """Delete multiple relations from the knowledge graph"""
    room = here()
    graph = graph_of(room.memory())
    found = [graph.relations[one.relation] for one in relations if one.relation in graph.relations]
    graphs.remove(room, [origin for origins in found for origin in origins])
    if len(found) == len(relations):
        return Done(message="Relations deleted successfully")
    return Done(message=f"Deleted {len(found)} of {len(relations)} relations. The rest matched nothing.")


def read_graph() -> GraphOut:
    """Read the entire knowledge graph"""
    graph = graph_of(here().memory())
    return _shown(graph, set(graph.nodes))


def search_nodes(
    query: Annotated[
        str,
        Field(
            max_length=QUERY_CHARS,
            description="The search query to match against entity names, types, and observation content",
        ),
    ],
) -> GraphOut:
    """Search for nodes in the knowledge graph based on a query"""
    memory = here().memory()
    graph, words = graph_of(memory), query.casefold()
    names = {
        name
        for name, node in graph.nodes.items()
        if any(words in text.casefold() for text in (name, node.kind, *node.observations))
    }
    if not names and words.strip():  # no letters agree: the memory may know what is meant
        found = {turn_id for one in memory.search(query, k=SEARCHED, shared=False) for turn_id in one.turn_ids}
        found |= {fact.fact_id for fact in memory.facts() if found.intersection(fact.turn_ids)}
        names = {name for name, node in graph.nodes.items() if found.intersection(key for _, key in _origins(node))}
    return _shown(graph, names)


def open_nodes(names: Annotated[list[str], Field(description="An array of entity names to retrieve")]) -> GraphOut:
    """Open specific nodes in the knowledge graph by their names"""
    graph = graph_of(here().memory())
    return _shown(graph, {name for name in names if name in graph.nodes})


def add_resource(made: MCPServer[Any]) -> None:
    """Offer the whole graph as a resource."""
    made.add_resource(
        FunctionResource(
            uri=GRAPH,
            name="knowledge-graph",
            title="Knowledge Graph",
            description="The full knowledge graph with all entities and relations",
            mime_type="application/json",
            fn=lambda: read_graph().words(),
        )
    )


def _require(graph: Graph, names: Iterable[str]) -> None:
    for name in names:
        if name not in graph.nodes:
            raise NotFoundError(f"Entity with name {name} not found")


def _observed(graph: Graph, name: str, text: str) -> bool:
    return name in graph.nodes and text in graph.nodes[name].observations


def _origins(node: Node) -> list[Origin]:
    return [*node.origins, *(origin for origins in node.observations.values() for origin in origins)]


def _shown(graph: Graph, names: set[str]) -> GraphOut:
    nodes = ((name, node) for name, node in graph.nodes.items() if name in names)
    return GraphOut(
        entities=[
            Entity(name=name, entityType=node.kind, observations=list(node.observations)) for name, node in nodes
        ],
        relations=[Link(from_=a, to=b, relationType=kind) for (a, kind, b), _ in touching(graph, names)],
    )


ACTS = (
    changes(create_entities, "Create Entities"),
    changes(create_relations, "Create Relations"),
    changes(add_observations, "Add Observations"),
    changes(delete_entities, "Delete Entities", destroys=True, idempotent=True),
    changes(delete_observations, "Delete Observations", destroys=True, idempotent=True),
    changes(delete_relations, "Delete Relations", destroys=True, idempotent=True),
    reads(read_graph, "Read Graph"),
    reads(search_nodes, "Search Nodes"),
    reads(open_nodes, "Open Nodes"),
)
