"""Questions that no single fact answers: how many are answered right with the reasoning tree, and without it.

    python benchmarks/reasoning/multihop.py [--json] [--show] [FILE ...]

Data: `multihop/set1.jsonl`, which the built-in roles were developed on, and `multihop/set2.jsonl`, which was written
before they were, and of which three misses were seen late. One memory a line: `turns` as `[day, speaker, text]` or
`[day, text]`, and `questions` with the `kind`, the accepted values (`answer`; empty where the memory cannot know, `?`
where it has to say that its sources disagree, `unknown` where not knowing is right as well) and the wrong values that
are near (`trap`).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from doxa import Config, Doxa, Reply

HERE = Path(__file__).parent / "multihop"
WORDS = {"two": "2", "three": "3", "four": "4"}


def main() -> None:
    """Print accuracy by kind with and without the tree, what was cited, and milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(HERE.glob("*.jsonl")))
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--show", action="store_true", help="print what was answered wrong with the tree")
    options = parser.parse_args()
    report = {path.stem: measured(path, show=options.show) for path in options.files}
    if options.json:
        print(json.dumps(report))
        return
    for name, found in report.items():
        print(f"{name}: {found['questions']} questions")
        for kind, row in found["kinds"].items():
            print(f"  {kind:9} {row['n']:3}  without {row['without']:.2f}  with {row['with']:.2f}")
        print(
            f"  all       {found['questions']:3}  without {found['without']:.3f}  with {found['with']:.3f}; "
            f"trapped without {found['trapped_without']}, with {found['trapped_with']}; cited {found['cited']:.2f}; "
            f"median ms without {found['ms_without']}, with {found['ms_with']}"
        )


def measured(path: Path, *, show: bool) -> dict[str, Any]:
    """Return what a set of memories and questions gives with and without the tree."""
    right: dict[bool, list[tuple[str, bool]]] = {True: [], False: []}
    trapped, took, cited = {True: 0, False: 0}, defaultdict(list), []
    for line in path.read_text(encoding="utf-8").splitlines():
        world = json.loads(line)
        for tree in (False, True):
            with Doxa.open(":memory:", config=Config.from_tree({"reason": {"tree": tree}})) as doxa:
                chat = learn(doxa, world)
                chat.ask("Who am I?")  # opens the models
                for question in world["questions"]:
                    start = time.perf_counter()
                    reply = chat.ask(question["ask"])
                    took[tree].append((time.perf_counter() - start) * 1000)
                    good = is_right(reply, question)
                    right[tree].append((question["kind"], good))
                    trapped[tree] += is_trapped(reply, question)
                    if tree and not reply.abstained:
                        cited.append(bool(reply.citations))
                    if tree and show and not good:
                        print(f"{world['id']}: {question['ask']} -> {reply.text}, not {question['answer']}")
    kinds: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(kind for kind, _ in right[True]):
        both = {tree: [good for k, good in right[tree] if k == kind] for tree in (True, False)}
        kinds[kind] = {"n": len(both[True]), "without": mean(both[False]), "with": mean(both[True])}
    return {
        "questions": len(right[True]),
        "kinds": kinds,
        "without": mean([good for _, good in right[False]]),
        "with": mean([good for _, good in right[True]]),
        "trapped_without": trapped[False],
        "trapped_with": trapped[True],
        "cited": mean(cited),
        "ms_without": round(statistics.median(took[False]), 1),
        "ms_with": round(statistics.median(took[True]), 1),
    }


def learn(doxa: Doxa, world: dict[str, Any]) -> Any:
    """Return a dialogue whose memory holds the turns of a world."""
    chat = doxa.dialogue(user=world["user"].casefold(), speaker=world["user"], session="told")
    for day, text in world["turns"]:
        chat.absorb(text, at=day)
    chat.flush()
    return chat


def is_right(reply: Reply, question: dict[str, Any]) -> bool:
    """Tell whether a reply gives an accepted value, none of the wrong ones, or rightly says that it does not know."""
    accepted = question["answer"]
    if not accepted or (reply.abstained and "unknown" in accepted):
        return reply.abstained
    if accepted == ["?"]:
        return reply.disputed or (reply.abstained and "?" in reply.text)
    if question["kind"] == "path":
        return all(part in f"{reply.value}".casefold() for part in accepted[0].split(", "))
    return any(names(reply, value) for value in accepted) and not is_trapped(reply, question)


def is_trapped(reply: Reply, question: dict[str, Any]) -> bool:
    """Tell whether a reply gives a value that is near and wrong."""
    return not reply.abstained and any(names(reply, value) for value in question.get("trap", ()))


def names(reply: Reply, value: str) -> bool:
    """Tell whether the value of a reply holds a value as words."""
    said, wanted = (f"{text}".casefold() for text in (reply.value, value))
    found = re.search(rf"\b{re.escape(wanted)}\b", said) is not None
    return found or WORDS.get(said, said) == WORDS.get(wanted, wanted)


def mean(of: list[bool]) -> float:
    """Return the share of what holds; 0 for nothing."""
    return round(sum(of) / len(of), 3) if of else 0.0


if __name__ == "__main__":
    main()
