"""The profile `graphiti`: the names and shapes of Graphiti's MCP tools.

An episode is a turn, an entity edge is a fact, a node is an entity. Groups are users here, so no tool takes a group:
the API key or the start command says whose graph it is. What has no meaning here says so.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult
from pydantic import Field

from doxa.core.errors import InputError
from doxa.core.values import Entity, Fact, Status, Turn
from doxa.engine import Memory, Network
from doxa.transport.mcp.acts import Given, changes, reads
from doxa.transport.mcp.correcting import Confirm, ErasedOut, erase_everything
from doxa.transport.mcp.rooms import here, inside

__all__ = ["ACTS"]

LARGEST = 100
Uuid = Annotated[str, Field(description="UUID, as another tool gives it.")]


class Said(Given):
    """What was done."""

    message: str


class Stored(Said):
    """What was done, with the episode that holds it."""

    uuid: str


class NodeResult(Given):
    """An entity."""

    uuid: str
    name: str
    labels: list[str]
    created_at: str | None = None
    summary: str | None = None
    group_id: str
    attributes: dict[str, Any] = Field(default_factory=dict)


class EdgeResult(Given):
    """A fact."""

    uuid: str
    group_id: str
    source_node_uuid: str
    target_node_uuid: str
    name: str
    fact: str
    episodes: list[str]
    created_at: datetime | None = None
    valid_at: date | None = None
    invalid_at: date | None = None
    expired_at: datetime | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


class EpisodeResult(Given):
    """An episode."""

    uuid: str
    name: str
    content: str
    created_at: datetime
    source: str
    source_description: str
    group_id: str


class Nodes(Said):
    """Entities."""

    nodes: list[NodeResult]


class Facts(Said):
    """Facts."""

    facts: list[EdgeResult]


class Episodes(Said):
    """Episodes."""

    episodes: list[EpisodeResult]


class Triplet(Said):
    """What a triplet added."""

    nodes: list[NodeResult]
    edges: list[EdgeResult]


class StatusOut(Said):
    """How the server is."""

    status: Literal["ok"] = "ok"


def add_memory(
    name: Annotated[str, Field(description="Name of the episode; episodes of one name are one conversation.")],
    episode_body: Annotated[str, Field(description="The content of the episode, word for word.")],
    source: Annotated[Literal["text", "message"], Field(description="Both are read alike.")] = "text",
    source_description: Annotated[str, Field(description="Whose words they are, if not the user's.")] = "",
    uuid: Annotated[str | None, Field(description="Optional UUID; the same again is the same episode.")] = None,
    reference_time: Annotated[str | None, Field(description="When it was said (ISO); by default now.")] = None,
) -> Stored:
    """Add an episode to memory. This is the primary way to add information to the graph.

    It is stored and understood when this returns.
    """
    dialogue = here().dialogue("write", session=name)
    speaker = source_description or None
    receipt = dialogue.absorb(episode_body, turn_id=uuid or None, at=reference_time, speaker=speaker)
    dialogue.flush()
    return Stored(message=f"Episode '{name}' stored and processed", uuid=receipt.turn_id)


def search_nodes(
    query: Annotated[str, Field(description="The search query.")],
    max_nodes: Annotated[int, Field(ge=1, le=LARGEST, description="Maximum number of nodes to return.")] = 10,
    entity_types: Annotated[list[str] | None, Field(description="Only nodes of these types.")] = None,
) -> Nodes:
    """Search for nodes (entities) in the graph memory."""
    network = Network(here().memory())
    wanted = {kind.casefold() for kind in entity_types or ()}
    known = [one for one in network.ends(_found(network, query)) if one.key in network.entities]
    nodes = [one for one in known if not wanted or one.kind.casefold() in wanted][:max_nodes]
    return Nodes(
        message="Nodes retrieved successfully" if nodes else "No relevant nodes found",
        nodes=[_node(one, network) for one in nodes],
    )


def search_memory_facts(
    query: Annotated[str, Field(description="The search query.")],
    max_facts: Annotated[int, Field(ge=1, le=LARGEST, description="Maximum number of facts to return.")] = 10,
    center_node_uuid: Annotated[str | None, Field(description="Only facts of this node.")] = None,
    edge_types: Annotated[list[str] | None, Field(description="Only facts of these names.")] = None,
) -> Facts:
    """Search the graph memory for relevant facts (entity edges)."""
    memory, names = here().memory(), set(edge_types or ())
    facts = [
        fact
        for fact in _found(Network(memory), query)
        if (not names or fact.relation.name in names) and center_node_uuid in (None, fact.subject.key, fact.object.key)
    ]
    shown = [_edge(fact, memory) for fact in facts[:max_facts]]
    return Facts(message="Facts retrieved successfully" if shown else "No relevant facts found", facts=shown)


def get_entity_edge(uuid: Uuid) -> EdgeResult:
    """Get an entity edge from the graph memory by its UUID."""
    memory = here().memory()
    return _edge(memory.why(uuid).fact, memory)


def delete_entity_edge(uuid: Uuid) -> Said:
    """Delete an entity edge from the graph memory: it is believed no longer, and what it had displaced holds again."""
    here().memory("write").retract(uuid, reason="the edge was deleted")
    return Said(message=f"Entity edge with UUID {uuid} deleted successfully")


def get_episodes(
    max_episodes: Annotated[int, Field(ge=1, le=LARGEST, description="Maximum number of episodes.")] = 10,
) -> Episodes:
    """Get episodes from the graph memory, the latest first."""
    turns = [turn for turn in here().memory().turns() if not turn.generated]
    shown = [_episode(turn) for turn in reversed(turns[-max_episodes:])]
    return Episodes(message="Episodes retrieved successfully" if shown else "No episodes found", episodes=shown)


def delete_episode(uuid: Uuid) -> Said:
    """Delete an episode for good, with every fact that rests on it alone."""
    here().memory("erase").forget(turn_id=uuid)
    return Said(message=f"Episode with UUID {uuid} deleted successfully")


def add_triplet(
    source_node_name: Annotated[str, Field(description="Name of the source entity.")],
    edge_name: Annotated[str, Field(description='Name of the relationship ("works_for").')],
    fact: Annotated[str, Field(description="Natural-language statement of the relationship, naming both entities.")],
    target_node_name: Annotated[str, Field(description="Name of the target entity.")],
) -> Triplet:
    """Add a single fact (source entity -> fact -> target entity). The statement is read like any other sentence."""
    missing = [name for name in (source_node_name, target_node_name) if name.casefold() not in fact.casefold()]
    if missing:
        raise InputError(f"add_triplet: `fact` has to name both entities; it does not name {', '.join(missing)}.")
    room = here()
    room.memory("read")  # what it gives back tells of both entities
    dialogue, memory = room.dialogue("write", session="triplets"), room.memory("write")
    turn_id = dialogue.absorb(fact).turn_id
    dialogue.flush()
    network = Network(memory)
    facts = network.said([turn_id])
    message = f"Triplet '{source_node_name} -[{edge_name}]-> {target_node_name}' added"
    read = "" if facts else " No fact could be read from it; the sentence is stored and is found by its words."
    return _told(f"{message}.{read}", facts, network)


def get_episode_entities(
    episode_uuids: Annotated[list[str], Field(min_length=1, description="Episodes to look up.")],
) -> Triplet:
    """Get the entities (nodes) and facts (edges) that specific episodes speak for."""
    network = Network(here().memory())
    return _told(f"Retrieved provenance for {len(episode_uuids)} episode(s)", network.said(episode_uuids), network)


async def clear_graph(context: Context[Any, Any], confirm: Confirm = None) -> ErasedOut | InputRequiredResult:
    """Clear all data from the graph, for good. The user is asked first, where the client can ask them."""
    return await erase_everything(context, confirm=confirm)


def build_communities() -> Said:
    """Build communities. There are none here."""
    raise InputError(
        "There are no communities here: the resource doxa://summary says what is known, subject by subject."
    )


def summarize_saga(saga_name: Annotated[str, Field(description="Name of the saga.")]) -> Said:
    """Summarize a saga. There are none here."""
    raise InputError(f"There is no saga {saga_name!r} here: `get_episodes` has what was said, in order.")


def get_status() -> StatusOut:
    """Get the status of the server."""
    counts = here().memory().stats()
    return StatusOut(message=f"The memory answers: {counts['turns']} episodes, {counts['facts']} facts.")


def _found(network: Network, query: str) -> list[Fact]:
    """Return the facts that bear on a query, best first."""
    return [network.facts[key] for key in network.found(network.search(query))]


def _told(message: str, facts: list[Fact], network: Network) -> Triplet:
    nodes = [_node(one, network) for one in network.ends(facts) if one.key in network.entities]
    return Triplet(message=message, nodes=nodes, edges=[_edge(one, network.memory) for one in facts])


def _node(entity: Entity, network: Network) -> NodeResult:
    kinds = [entity.kind.capitalize()] if entity.kind else []
    return NodeResult(
        uuid=entity.key,
        name=entity.label,
        labels=["Entity", *kinds],
        summary=network.summary(entity) or None,
        group_id=inside()[1],
        attributes={"aliases": list(entity.aliases)} if entity.aliases else {},
    )


def _edge(fact: Fact, memory: Memory) -> EdgeResult:
    return EdgeResult(
        uuid=fact.fact_id,
        group_id=inside()[1],
        source_node_uuid=fact.subject.key,
        target_node_uuid=fact.object.key,
        name=fact.relation.name,
        fact=memory.describe(fact),
        episodes=list(fact.turn_ids),
        created_at=fact.known_at,
        valid_at=fact.valid.start,
        invalid_at=fact.valid.end,
        attributes={} if fact.status is Status.HELD else {"status": fact.status.value},
    )


def _episode(turn: Turn) -> EpisodeResult:
    return EpisodeResult(
        uuid=turn.turn_id,
        name=turn.session,
        content=turn.text,
        created_at=turn.at,
        source="message",
        source_description=turn.speaker,
        group_id=turn.user,
    )


ACTS = (
    changes(add_memory, "Add memory"),
    reads(search_nodes, "Search nodes"),
    reads(search_memory_facts, "Search facts"),
    reads(get_entity_edge, "Get entity edge"),
    changes(delete_entity_edge, "Delete entity edge", destroys=True, idempotent=True),
    reads(get_episodes, "Get episodes"),
    changes(delete_episode, "Delete episode", destroys=True, idempotent=True),
    changes(add_triplet, "Add triplet"),
    reads(get_episode_entities, "Get episode entities"),
    changes(clear_graph, "Clear graph", destroys=True, idempotent=True),
    reads(build_communities, "Build communities"),
    reads(summarize_saga, "Summarize saga"),
    reads(get_status, "Get status"),
)
