"""Yes-or-no questions about what was told: how many are answered right, and how many with a yes or no that is not so.

    python benchmarks/reasoning/yesno.py [--show] [--json] [FILE ...]

Data: one case a line: `turns` as they are said, and a `question` with the `answer` that is right: yes, no, or unknown
where what was told does not settle it (another person, another thing, a plan). Written by a recorded model that had
seen no code (2026-11-30). `yesno_dev.jsonl` may be looked at; of `yesno_heldout.jsonl` only numbers are printed.
An answer that quotes a turn, or says that it is not known, says neither yes nor no.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from doxa import Doxa

HERE = Path(__file__).parent
FILES = [HERE / "yesno_heldout.jsonl", HERE / "yesno_dev.jsonl"]


def main() -> None:
    """Print the figures of each file, those of the held-out one first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--show", action="store_true", help="print what is wrong, of files that are not held out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for path in options.files:
        counts: Counter[str] = Counter()
        for case, given, text in answered(path):
            kind = "right" if given == case["answer"] else "wrong" if given != "unknown" else "silent"
            counts[f"{case['answer']}: {kind}"] += 1
            counts[kind] += 1
            if options.show and kind != "right" and "heldout" not in path.name:
                told = " / ".join(turn["text"] for turn in case["turns"])
                print(f"{kind}: {told}\n    {case['question']} {case['answer']}, got {given}: {text}")
        total = sum(counts[kind] for kind in ("right", "wrong", "silent"))
        shares = {kind: round(counts[kind] / total, 3) for kind in ("right", "wrong", "silent")}
        if options.json:
            print(json.dumps({"file": path.name, "cases": total, **shares, "counts": dict(sorted(counts.items()))}))
        else:
            print(f"{path.name}: {total} cases, {shares}, {dict(sorted(counts.items()))}")


def answered(path: Path) -> Iterator[tuple[dict[str, object], str, str]]:
    """Yield every case with what was answered (yes, no or unknown), and its text."""
    with Doxa.open(":memory:") as doxa:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            case = json.loads(line)
            for at, turn in enumerate(case["turns"]):
                talk = doxa.dialogue(user=f"u{number}", speaker=turn["speaker"])
                talk.absorb(turn["text"], at=turn["at"], turn_id=f"t{at}")
            talk = doxa.dialogue(user=f"u{number}", speaker=case["asker"])
            talk.flush()
            reply = talk.ask(case["question"], at=case["at"])
            yield case, reply.value if reply.value in ("yes", "no") else "unknown", reply.text


if __name__ == "__main__":
    main()
