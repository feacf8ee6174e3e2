"""Share of turns of chats that change a task, which none of them should, on an empty forest and over four open tasks.

    python benchmarks/chatter.py --everyday benchmarks/everyday/dev --locomo $DOXA_DATA/measure/locomo/locomo_dev6.json

Turns go through the steps of a conversation: is it said to the tasks (`route`), what does it do to them (`take`), does
that bear it out (`stands`), and is it likely (`addressed`). A conversation goes on with what it did. No language model.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from doxa import backends
from doxa.backends.encoder import Encoder
from doxa.backends.parser import Parser
from doxa.core.tasks import TaskCommit
from doxa.memory import TaskForest
from doxa.tasks import Step, addressed_of, route, stands, take
from doxa_bench.everyday.chats import read_chats
from doxa_bench.locomo import read_samples

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
OPEN = (
    "Plan a trip to Lisbon: leave on 3 May, hotel near the river, budget 900 euros.",
    "Put milk, bread and coffee on the shopping list.",
    "Schedule a team meeting on Thursday at 2 pm with Alice and Bob.",
    "Start a packing list: tent, stove and lamp.",
)


def main() -> None:
    """Print a line for each kind of chat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--everyday", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--conversations", type=int, default=2, help="of LoCoMo")
    options = parser.parse_args()
    syntax, encoder = backends.load("parser", "builtin"), backends.load("encoder", "builtin")
    talks: dict[str, list[list[str]]] = {}
    if options.everyday:
        chats = read_chats(options.everyday)
        talks["everyday"] = [[turn.text for turn in chat.turns if turn.role == "user"] for chat in chats]
    if options.locomo:
        samples = read_samples(options.locomo)[: options.conversations]
        talks["locomo"] = [[line.text for line in sample.conversation.lines] for sample in samples]
    for name, kind in talks.items():
        for opened in ((), OPEN):
            touched = [one for talk in kind for one in touching(talk, opened, syntax, encoder)]
            share = sum(touched) / len(touched)
            print(f"{name}, {len(opened)} tasks open: {sum(touched)} of {len(touched)} turns change one: {share:.4f}")


def touching(talk: list[str], opened: tuple[str, ...], parser: Parser, encoder: Encoder) -> Iterator[bool]:
    """Give for each turn of a talk whether it changes a task."""
    forest = TaskForest()
    for text in opened:
        kept(text, take(text, forest, parser, AT, encode=encoder.encode), forest)
    going_on = False
    for text in talk:
        found, was = route(text, forest, parser, AT, going_on=going_on), going_on
        step = take(text, forest, parser, AT, encode=encoder.encode) if found.to_tasks else None
        going_on = step is not None and stands(found, step, forest)
        if step is not None and going_on and (step.edits or step.left_out):
            likely = addressed_of(encoder.encode([text])[0])
            going_on = likely.meant(opens=found.opens, requests=found.requests, going_on=was)
        yield step is not None and going_on and kept(text, step, forest)


def kept(text: str, step: Step, forest: TaskForest) -> bool:
    """Carry out what a turn does; whether it changes anything."""
    if step.edits:
        commit = TaskCommit(
            number=forest.next_number, at=AT, text=text, intents=step.intents, edits=step.edits, reply=step.reply,
            focus=step.focus, undoes=step.undoes,
        )  # fmt: skip
        forest.apply(commit)
    return bool(step.edits)


if __name__ == "__main__":
    main()
