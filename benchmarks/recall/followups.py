"""How well the right turn is found for questions that lean on what was just said.

    python benchmarks/recall/followups.py [--k 5] [--together] [--misses] [FILE ...]

Each file holds memories and cases (JSONL; by default the two beside this script): a memory is a list of dated turns, a
case is a few turns of a running dialogue, a question, and the ids of the turns that answer it. `alone` searches for the
question without the dialogue, `in dialogue` with it. Printed are recall@k and the mean reciprocal rank (within k) of
both, of all cases and by kind. The dialogues were written by hand for this measure; the rules were made with
`followups_dev.jsonl` in view and without `followups_held.jsonl`.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa, Memory

HERE = Path(__file__).parent
FILES = [HERE / "followups_dev.jsonl", HERE / "followups_held.jsonl"]


def main() -> None:
    """Measure every file and print what came out."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", type=Path, default=FILES)
    arguments.add_argument("--k", type=int, default=5)
    arguments.add_argument("--together", action="store_true", help="all memories of a file as one, which is harder")
    arguments.add_argument("--misses", action="store_true", help="print the cases that were not found")
    options = arguments.parse_args()
    for path in options.files:
        rows = list(_measured(path, options.k, together=options.together))
        _report(path.name, rows, options.k)
        if options.misses:
            for row in (row for row in rows if min(row["in dialogue"]) < 1):
                print(json.dumps(row, ensure_ascii=False))


def _measured(path: Path, k: int, *, together: bool) -> Iterator[dict[str, Any]]:
    worlds = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with Doxa.open(":memory:", config=Config()) as doxa:
        for world in worlds:
            user = path.name if together else world["name"]
            for turn in world["turns"]:
                dialogue = doxa.dialogue(user=user, session=f"{world['name']} {turn['session']}")
                at, turn_id = datetime.fromisoformat(turn["at"]), f"{world['name']} {turn['id']}"
                dialogue.absorb(turn["text"], speaker=turn["speaker"], role=turn["role"], at=at, turn_id=turn_id)
        doxa.flush()
        for world in worlds:
            memory = doxa.memory(user=path.name if together else world["name"])
            yield from (_row(case, world["name"], memory, k) for case in world["cases"])


def _row(case: dict[str, Any], world: str, memory: Memory, k: int) -> dict[str, Any]:
    recent = [(turn["speaker"], turn["text"]) for turn in case["dialogue"]]
    gold, ways = {f"{world} {key}" for key in case["gold"]}, {}
    for way, said in (("alone", []), ("in dialogue", recent)):
        ranking = [key for item in memory.search(case["query"], k=k, recent=said) for key in item.turn_ids]
        first = next((rank for rank, key in enumerate(ranking, start=1) if key in gold), None)
        ways[way] = (len(gold & set(ranking)) / len(gold), 1 / first if first else 0.0)
    return {
        "kind": case["kind"],
        "query": case["query"],
        "dialogue": [text for _, text in recent],
        "gold": case["gold"],
        **ways,
    }


def _report(name: str, rows: list[dict[str, Any]], k: int) -> None:
    kinds = defaultdict(list)
    for row in rows:
        kinds["all"].append(row)
        kinds[row["kind"]].append(row)
    print(name)
    for kind, some in kinds.items():
        shares = [[sum(row[way][at] for row in some) / len(some) for at in (0, 1)] for way in ("alone", "in dialogue")]
        (alone, alone_rank), (together, rank) = shares
        print(
            f"  {kind:10} n {len(some):3}  recall@{k}: alone {alone:.3f}, in dialogue {together:.3f}; "
            f"reciprocal rank: {alone_rank:.3f}, {rank:.3f}"
        )


if __name__ == "__main__":
    main()
