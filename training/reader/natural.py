"""Hand-written questions over the turns that are found for them: what is read in use, with the answer where it stands.

python training/reader/natural.py --data benchmarks/answers/dev.json --out WORK/natural.pickle

A question's group is the passages that a search finds for it; those of its evidence that hold the answer come first,
with the place of the answer. A question without an answer has none in any. Groups are kept by conversation.
"""

from __future__ import annotations

import argparse
import pickle
import re
from pathlib import Path

from examples import Example

from doxa.engine import Doxa
from doxa.reason.spans import MOST, PassageReader, passage_of
from doxa_bench.locomo import LocomoQuestion, ingest, read_samples

ASKER = "user"


def main() -> None:
    """Make groups and write them."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    args = reader.parse_args()
    groups = []
    with Doxa.open(":memory:") as doxa:
        for sample in read_samples(args.data):
            ingest(sample, doxa, lambda *_: None)
            groups.append([group for asked in sample.asked if (group := group_of(asked, sample.user, doxa))])
    args.out.write_bytes(pickle.dumps(groups))
    print([len(one) for one in groups], "questions of each conversation")


def group_of(asked: LocomoQuestion, user: str, doxa: Doxa) -> list[Example]:
    """The passages found for a question; empty where its answer stands in none of them."""
    evidence = doxa.memory(user=user).search(asked.text, k=MOST)
    known = asked.category != "adversarial"
    right, wrong = [], []
    with doxa.parts.log.user(user) as state:
        reader = PassageReader(lambda pairs: [], lambda turn: next(iter(state.context(turn, 1)), None))
        for key in dict.fromkeys(key for item in evidence for key in item.turn_ids):
            turn = state.turn(key)
            passage = passage_of(asked.text, turn, reader, asker=ASKER)
            question, text = passage.pair
            place = found(asked.answer, text, passage.lead) if known else None
            if place and any(key.endswith(one) for one in asked.evidence):
                right.append(Example(question, text, *place, "natural"))
            elif not place:
                wrong.append(Example(question, text, -1, -1, "natural none"))
    if known and not right:
        return []
    return [*right[:1], *wrong][:MOST]


def found(answer: str, passage: str, lead: int) -> tuple[int, int] | None:
    """Where an answer stands in what a turn says, less its article."""
    bare = re.sub(r"^(?:a|an|the|my|her|his|in|on|at|to) ", "", answer.strip(" ."), flags=re.I)
    match = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", passage[lead:], re.I)
    return (match.start() + lead, match.end() + lead) if match else None


if __name__ == "__main__":
    main()
