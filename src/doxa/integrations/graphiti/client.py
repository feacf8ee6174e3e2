"""What stands in for `graphiti_core.Graphiti`."""

from __future__ import annotations

import warnings
from asyncio import to_thread
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NoReturn
from uuid import uuid4

from graphiti_core.edges import EntityEdge
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.graphiti import AddBulkEpisodeResults, AddEpisodeResults, AddTripletResults
from graphiti_core.helpers import validate_excluded_entity_types, validate_group_ids
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode, SagaNode
from graphiti_core.search.search_config import DEFAULT_SEARCH_LIMIT, SearchConfig, SearchResults
from graphiti_core.search.search_config_recipes import (
    COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
    EDGE_HYBRID_SEARCH_NODE_DISTANCE,
    EDGE_HYBRID_SEARCH_RRF,
)
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.utils.bulk_utils import RawEpisode
from graphiti_core.utils.datetime_utils import ensure_utc, utc_now
from graphiti_core.utils.maintenance.graph_data_operations import EPISODE_WINDOW_LEN
from graphiti_core.utils.ontology_utils.entity_types_utils import validate_entity_types

from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa.engine import Doxa, finished
from doxa.integrations.graphiti.episodes import Episodes
from doxa.integrations.graphiti.groups import all_groups, group_of
from doxa.integrations.graphiti.searching import merged, searched
from doxa.integrations.graphiti.shapes import Graph

__all__ = ["Graphiti"]

OURS = ("sqlite", "postgresql")
"""The databases that an engine opens, as they begin a URL; another URL is of a graph database."""


class Graphiti:
    """What `graphiti_core.Graphiti` is, on the database of an engine. Safe between threads; loops may share it.

    What does nothing here (models, drivers, types for an extractor) is named in a warning. What is added is found when
    the call returns; a call that is cancelled is finished first, so that nothing is half written.

    Args:
        uri: a path, `:memory:`, or the URL of SQLite or Postgres; by default, and for that of a graph database, the
            database of the settings (`doxa.toml`, environment).
        user: does nothing here, as `password`, models, drivers and tracers do.
        store_raw_episode_content: whether episodes are read back with their content; what was said in them is kept
            either way, for facts rest on it.
        doxa: an engine in place of the one that would be opened; it stays open when this is closed.
    """

    def __init__(
        self,
        uri: str | None = None,
        user: str | None = None,
        password: str | None = None,
        llm_client: Any = None,
        embedder: Any = None,
        cross_encoder: Any = None,
        store_raw_episode_content: bool = True,
        graph_driver: Any = None,
        max_coroutines: int | None = None,
        tracer: Any = None,
        trace_span_prefix: str = "graphiti",
        prompt_library: Any = None,
        llm_runtime: Any = None,
        *,
        doxa: Doxa | None = None,
    ) -> None:
        scheme = "" if uri is None else uri.partition("://")[0].partition("+")[0]
        foreign = uri is not None and "://" in uri and scheme not in OURS
        _warn(
            "Graphiti()", uri=foreign or (doxa is not None and uri), user=user, password=password,
            llm_client=llm_client, embedder=embedder, cross_encoder=cross_encoder, graph_driver=graph_driver,
            max_coroutines=max_coroutines, tracer=tracer, prompt_library=prompt_library, llm_runtime=llm_runtime,
        )  # fmt: skip
        self.store_raw_episode_content = store_raw_episode_content
        self._lent = doxa is not None
        if doxa is None:
            settings = Config.load()
            doxa = Doxa.open(settings.db if uri is None or foreign else uri, config=settings)
        self.doxa = doxa

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Graphiti has no {name!r} here: `search_` and `retrieve_episodes` read, `.doxa` has all.")

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Do nothing: a database has its indices from the start."""

    async def close(self) -> None:
        """Close the engine, unless it was lent. Closing twice is harmless."""
        if not self._lent:
            await finished(self.doxa.close)

    async def add_episode(
        self,
        name: str,
        episode_body: str,
        source_description: str,
        reference_time: datetime,
        source: EpisodeType = EpisodeType.message,
        group_id: str | None = None,
        uuid: str | None = None,
        update_communities: bool = False,
        entity_types: dict[str, Any] | None = None,
        excluded_entity_types: list[str] | None = None,
        previous_episode_uuids: list[str] | None = None,
        edge_types: dict[str, Any] | None = None,
        edge_type_map: dict[tuple[str, str], list[str]] | None = None,
        custom_extraction_instructions: str | None = None,
        saga: str | SagaNode | None = None,
        saga_previous_episode_uuid: str | None = None,
    ) -> AddEpisodeResults:
        """Remember an episode, wait until it is understood, and return it with what it says and what it ended.

        What extracts needs no types or instructions: those do nothing here. Cost: O(facts and changes of the group).

        Args:
            episode_body: of source `message` every line that opens with "Name: " is said by whoever has that name
                ("user" and "assistant" are roles); JSON is said, field by field, of what its `name` or `user` is.
            reference_time: when it was said.
            group_id: whose; by default the group "".
            uuid: an episode that is there and is to be told again, in place of the other arguments.
            saga: a conversation that it belongs to.

        Raises:
            GroupIdValidationError: the group has other signs than letters, digits, "-" and "_".
            NodeNotFoundError: there is no episode `uuid`.
            InputError: it says nothing, or is no JSON; nothing was stored. See also `Dialogue.absorb`.
        """
        validate_entity_types(entity_types)
        validate_excluded_entity_types(excluded_entity_types, entity_types)
        _warn(
            "add_episode", update_communities=update_communities, entity_types=entity_types,
            excluded_entity_types=excluded_entity_types, previous_episode_uuids=previous_episode_uuids,
            edge_types=edge_types, edge_type_map=edge_type_map,
            custom_extraction_instructions=custom_extraction_instructions,
        )  # fmt: skip
        raw = RawEpisode(
            name=name, content=episode_body, source_description=source_description, source=source,
            reference_time=reference_time, uuid=uuid,
        )  # fmt: skip
        added = dict(await finished(lambda: self._add([raw], group_id or "", saga)))
        return AddEpisodeResults(episode=added.pop("episodes")[0], **added)

    async def add_episode_bulk(
        self,
        bulk_episodes: list[RawEpisode],
        group_id: str | None = None,
        entity_types: dict[str, Any] | None = None,
        excluded_entity_types: list[str] | None = None,
        edge_types: dict[str, Any] | None = None,
        edge_type_map: dict[tuple[str, str], list[str]] | None = None,
        strict_edge_types: bool = False,
        custom_extraction_instructions: str | None = None,
        saga: str | SagaNode | None = None,
        use_combined_extraction: bool = True,
    ) -> AddBulkEpisodeResults:
        """Remember episodes in their order; see `add_episode`. Where one cannot be taken, those before it are kept."""
        _warn(
            "add_episode_bulk", entity_types=entity_types, excluded_entity_types=excluded_entity_types,
            edge_types=edge_types, edge_type_map=edge_type_map, strict_edge_types=strict_edge_types,
            custom_extraction_instructions=custom_extraction_instructions,
        )  # fmt: skip
        return await finished(lambda: self._add(bulk_episodes, group_id or "", saga))

    def _add(self, given: Sequence[RawEpisode], group_id: str, saga: str | SagaNode | None) -> AddBulkEpisodeResults:
        episodes, name = Episodes(self.doxa, group_id), saga.name if isinstance(saga, SagaNode) else saga
        told = [
            episodes.again(one.uuid)
            if one.uuid is not None
            else episodes.new(_episode(one, group_id), name, keep=self.store_raw_episode_content)
            for one in given
        ]
        graph, uuids = Graph(episodes), [one.uuid for one in told]
        nodes, edges = _told(graph, [turn_id for uuid in uuids for turn_id in episodes.turns_of(uuid)])
        return AddBulkEpisodeResults(
            episodes=[graph.with_edges(one) for one in told],
            episodic_edges=[edge for one in told for edge in graph.mentions(one)],
            nodes=nodes,
            edges=edges,
            communities=[],
            community_edges=[],
        )

    async def add_triplet(
        self, source_node: EntityNode, edge: EntityEdge, target_node: EntityNode, episode: EpisodicNode | None = None
    ) -> AddTripletResults:
        """Tell a fact, in the words of `edge.fact`, and return what was made of it and what it ended.

        The statement is read like any other, at `edge.valid_at` (or the time of the episode, or when the edge was
        made): what is not read is kept and found by its words, and no edge is returned.

        Raises:
            InputError: the statement does not name both nodes; nothing was stored.
            GroupIdValidationError: the group of the edge is no name of one.
        """
        missing = [one.name for one in (source_node, target_node) if one.name.casefold() not in edge.fact.casefold()]
        if missing:
            raise InputError(f"add_triplet: `edge.fact` has to name both nodes; it does not name {', '.join(missing)}.")
        at = edge.valid_at or (episode.valid_at if episode else edge.created_at)
        return await finished(lambda: self._add_triplet(edge, ensure_utc(at)))

    def _add_triplet(self, edge: EntityEdge, at: datetime | None) -> AddTripletResults:
        episodes = Episodes(self.doxa, edge.group_id)
        turn_id = episodes.tell(edge.fact, at=at)
        nodes, edges = _told(Graph(episodes), [turn_id])
        return AddTripletResults(nodes=nodes, edges=edges)

    async def retrieve_episodes(
        self,
        reference_time: datetime,
        last_n: int = EPISODE_WINDOW_LEN,
        group_ids: list[str] | None = None,
        source: EpisodeType | None = None,
        driver: Any = None,
        saga: str | None = None,
    ) -> list[EpisodicNode]:
        """Return the latest episodes up to a moment, oldest first; what was said by other interfaces counts as such.

        Cost: O(episodes of the groups).

        Args:
            reference_time: the moment.
            last_n: how many at most.
            group_ids: of which groups; by default of all.
            source: only of this source.
            driver: does nothing here.
            saga: only of this saga of the first of the groups; without a group there is none, as there.
        """
        _warn("retrieve_episodes", driver=driver)
        until = ensure_utc(reference_time)

        def retrieve() -> list[EpisodicNode]:
            groups = self._groups(group_ids) if saga is None else (group_ids or [])[:1]
            graphs = [Graph(Episodes(self.doxa, group)) for group in groups]
            found = [
                (one.valid_at, one.created_at, graph, one)
                for graph in graphs
                for one in graph.episodes.all(saga)
                if (until is None or one.valid_at <= until) and source in (None, one.source)
            ]
            found.sort(key=lambda one: one[:2])
            return [graph.with_edges(one) for *_, graph, one in found[max(0, len(found) - last_n) :]]

        return await to_thread(retrieve)

    async def remove_episode(self, episode_uuid: str) -> None:
        """Erase an episode with every fact that rests on it alone; what those had displaced holds again.

        Raises:
            NodeNotFoundError: there is none.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        await finished(lambda: self._of(episode_uuid).forget(episode_uuid))

    async def get_nodes_and_edges_by_episode(self, episode_uuids: list[str]) -> SearchResults:
        """Return the facts that rest on episodes, with both of their ends. Episodes that there are not are left out."""

        def get() -> SearchResults:
            results = SearchResults()
            for group in dict.fromkeys(map(group_of, episode_uuids)):
                if group is not None:
                    graph = Graph(Episodes(self.doxa, group))
                    facts = graph.said(uuid for uuid in episode_uuids if group_of(uuid) == group)
                    results.edges += [graph.edge(fact) for fact in facts]
                    results.nodes += graph.nodes(facts)
            return results

        return await to_thread(get)

    async def search(
        self,
        query: str,
        center_node_uuid: str | None = None,
        group_ids: list[str] | None = None,
        num_results: int = DEFAULT_SEARCH_LIMIT,
        search_filter: SearchFilters | None = None,
        driver: Any = None,
    ) -> list[EntityEdge]:
        """Return the facts that bear on a query, best first, those that no longer hold too (`invalid_at`).

        Args:
            query: what is looked for.
            center_node_uuid: a node whose facts come first, then those of its neighbours.
            group_ids: among which groups; by default among all, one after the other.
            num_results: how many at most.
            search_filter: which edges.
            driver: does nothing here.
        """
        recipe = EDGE_HYBRID_SEARCH_RRF if center_node_uuid is None else EDGE_HYBRID_SEARCH_NODE_DISTANCE
        config = recipe.model_copy(update={"limit": num_results})
        found = await self.search_(query, config, group_ids, center_node_uuid, None, search_filter, driver)
        return found.edges

    async def search_(
        self,
        query: str,
        config: SearchConfig = COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
        group_ids: list[str] | None = None,
        center_node_uuid: str | None = None,
        bfs_origin_node_uuids: list[str] | None = None,
        search_filter: SearchFilters | None = None,
        driver: Any = None,
        query_vector: list[float] | None = None,
    ) -> SearchResults:
        """Return the edges, nodes and episodes that bear on a query, as a recipe has it; there are no communities.

        Which methods search is Doxa's own choice whatever `config` says; its rerankers `node_distance` and
        `episode_mentions` order as there, any other by Doxa's own score.

        Raises:
            InputError: `bfs_origin_node_uuids` is given.
            SearchRerankerError: the reranker is `node_distance`, and no centre is given.
            GroupIdValidationError: a group has other signs than letters, digits, "-" and "_".
        """
        _warn("search_", driver=driver, query_vector=query_vector)
        validate_group_ids(group_ids)
        if bfs_origin_node_uuids:
            raise InputError("search_: bfs_origin_node_uuids: not here. `center_node_uuid` puts what is near it first.")
        if not query.strip():
            return SearchResults()
        filters = search_filter or SearchFilters()

        def search() -> SearchResults:
            wanted = None if group_ids == [""] else group_ids  # the group "" alone stands for all, in searches
            groups = [Graph(Episodes(self.doxa, group)) for group in self._groups(wanted)]
            return merged([searched(one, query, config, filters, center_node_uuid) for one in groups], config.limit)

        return await to_thread(search)

    _search = search_

    async def build_communities(self, group_ids: list[str] | None = None, driver: Any = None) -> NoReturn:
        """Refuse: there are no communities here; `.doxa.memory(user=...).summary()` tells what is known."""
        raise InputError("build_communities: not here. `.doxa.memory(user=...).summary()` tells what is known of whom.")

    async def summarize_saga(self, saga_id: str) -> NoReturn:
        """Refuse: sagas are not summarised here; `retrieve_episodes(saga=...)` has what was said."""
        raise InputError("summarize_saga: not here. `retrieve_episodes(..., saga=NAME)` has what was said, in order.")

    def _groups(self, group_ids: list[str] | None) -> list[str]:
        """Return the groups that are asked for, each once; none stands for all."""
        return list(dict.fromkeys(group_ids)) if group_ids else all_groups(self.doxa)

    def _of(self, uuid: str) -> Episodes:
        if (group := group_of(uuid)) is None:
            raise NodeNotFoundError(uuid)
        return Episodes(self.doxa, group)


def _episode(raw: RawEpisode, group_id: str) -> EpisodicNode:
    return EpisodicNode(
        uuid=str(uuid4()), name=raw.name, group_id=group_id, labels=[], source=raw.source, content=raw.content,
        source_description=raw.source_description, created_at=utc_now(), valid_at=ensure_utc(raw.reference_time),
    )  # fmt: skip


def _told(graph: Graph, turn_ids: Sequence[str]) -> tuple[list[EntityNode], list[EntityEdge]]:
    """Return what turns say, as edges with their ends, and after it what they ended."""
    facts = graph.network.said(turn_ids)
    known = {fact.fact_id for fact in facts}
    ended = [fact for fact in graph.ended_by(turn_ids) if fact.fact_id not in known]
    return graph.nodes(facts), [graph.edge(fact) for fact in (*facts, *ended)]


def _warn(where: str, **given: Any) -> None:
    """Warn that some arguments do nothing."""
    if names := [name for name, value in given.items() if value not in (None, False)]:
        told = f"{where}: {', '.join(names)}: this does nothing here. Doxa is set up in doxa.toml or the environment."
        warnings.warn(told, UserWarning, stacklevel=3)
