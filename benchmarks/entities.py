"""How well names of one person or thing are joined, and those of two kept apart.

    python benchmarks/entities.py [--half dev|test] [--misses]

Every item of `entities/pairs.jsonl` is a short dialogue, said by Ana, with pairs of mentions that are one (`same`) or
two (`different`). A mention is a label ("NYC"), or "@Bonn": whoever a fact with the object "Bonn" is about. Each item
is absorbed by a fresh memory, turn by turn. A pair that is one and was joined counts as found; a pair that is two and
was joined counts as wrong. `unread` counts pairs with a mention that no fact has; they count as not joined.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.engine import Doxa
from doxa.memory import Beliefs

ITEMS = Path(__file__).parent / "entities" / "pairs.jsonl"
CONFIG = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=60))
CELLS = {(True, True): "found", (True, False): "missed", (False, True): "wrong", (False, False): "apart"}


def main() -> None:
    """Run both halves, or one, and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--half", choices=["dev", "test"])
    arguments.add_argument("--misses", action="store_true", help="name the pairs that went wrong")
    options = arguments.parse_args()
    items = [json.loads(line) for line in ITEMS.read_text(encoding="utf-8").splitlines()]
    halves = [options.half] if options.half else ["dev", "test"]
    print(json.dumps({half: run([i for i in items if i["half"] == half], options.misses) for half in halves}, indent=2))


def run(items: list[dict], misses: bool) -> dict:
    """Return the scores of some items."""
    counts: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {}
    wrong = []
    for item in items:
        for pair, one, joined in judge(item):
            cell = "unread" if joined is None else CELLS[one, joined]
            counts[cell] += 1
            counts["missed"] += one and joined is None
            counts["apart"] += not one and joined is None
            kinds.setdefault(item["kind"], Counter())[cell] += 1
            if joined is not one:
                wrong.append(
                    f"{item['id']} {item['kind']}: {' // '.join(item['turns'])} [{pair[0]} / {pair[1]}: {cell}]"
                )
    report = {"items": len(items), **scores(counts), **dict(counts), "kinds": {k: dict(v) for k, v in kinds.items()}}
    return report | ({"misses": wrong} if misses else {})


def judge(item: dict) -> list[tuple[list[str], bool, bool | None]]:
    """Return for every pair of an item whether it is one, and whether it was joined; None when it was not read."""
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        dialogue = doxa.dialogue(user="ana")
        for day, text in enumerate(item["turns"], start=1):
            dialogue.absorb(text, at=f"2024-03-{day:02d}")
        dialogue.flush()
        with doxa.parts.log.user("ana") as state:
            pairs = [(pair, True) for pair in item["same"]] + [(pair, False) for pair in item["different"]]
            return [(pair, one, joined(state.beliefs, *pair)) for pair, one in pairs]


def joined(beliefs: Beliefs, one: str, other: str) -> bool | None:
    """Tell whether two mentions stand for one entity; None when one of them was never read."""
    keys = [entity(beliefs, mention) for mention in (one, other)]
    return None if None in keys else keys[0] == keys[1]


def entity(beliefs: Beliefs, mention: str) -> str | None:
    """Return the key of the entity that a mention stands for."""
    if mention.startswith("@"):
        value = mention[1:].casefold()
        subjects = [f.subject.key for f in beliefs.facts.values() if f.object.label.casefold() == value]
        return beliefs.key(subjects[-1]) if subjects else None
    known = {seen.term.label.casefold(): key for key, seen in beliefs.identity.seen.items()}
    name = mention.casefold()
    key = known.get(name) or known.get(name.removeprefix("the "))  # labels have no article
    return None if key is None else beliefs.key(key)


def scores(counts: Counter[str]) -> dict[str, float]:
    """Return precision, recall and F1 of joining."""
    found, wrong, missed = counts["found"], counts["wrong"], counts["missed"]
    precision = found / (found + wrong) if found + wrong else 1.0
    recall = found / (found + missed) if found + missed else 1.0
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {"precision": round(precision, 3), "recall": round(recall, 3), "f1": round(f1, 3)}


if __name__ == "__main__":
    main()
