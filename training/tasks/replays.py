"""Plays the dialogues through the grammar and writes what each turn shows and what became of it, as JSON Lines.

    python training/tasks/replays.py $DOXA_DATA/open ROWS.jsonl

One line a turn: `dialogue`, `label` (what it asks for, empty where that is open), `features` (of `doxa.tasks.intents`),
`signals` (of `doxa.tasks.confidence`), `acted` (features of the clauses that changed something), `changed` and `right`
(null where that is open).

A turn that changes something is right when every value that it changes is held and none that it displaces still is; one
that changes nothing when the tasks stay as they are. A statement of Synthetic-Persona-Chat is said in the middle of
every dialogue, over its tasks, and leaves no trace. Two minutes on one core.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from turns import Dialogue, Turn, chat, own, sgd, smcalflow

from doxa.core.config import Config
from doxa.core.tasks import TaskCommit
from doxa.engine.wiring.parts import wire
from doxa.memory import TaskForest
from doxa.tasks import Step
from doxa.tasks.confidence import acting
from doxa.tasks.intents import features, known_words
from doxa.tasks.reading import read_clauses
from doxa.tasks.trim import carried, closed
from doxa_bench.tasks.revised import judge

CHATS, EACH, SEED = 1126, 4, 7
DAY = datetime(2019, 3, 1)  # noqa: DTZ001  as in the data


def main(data: Path, out: Path) -> None:
    """Play all dialogues and write their turns."""
    parser = wire(":memory:", Config.load()).parser
    dialogues = [*sgd(data / "sgd"), *smcalflow(data / "smcalflow" / "revise_dialogues.jsonl")]
    chats = iter(chat(data / "synthetic_persona_chat" / "Synthetic-Persona-Chat_valid.csv", CHATS, SEED))
    with out.open("w", encoding="utf-8") as file:
        for number, dialogue in enumerate(dialogues):
            for row in played(dialogue, next(chats, None), parser):
                file.write(json.dumps(row) + "\n")
            if number % 100 == 0:
                print(number, "of", len(dialogues), flush=True)
        for pattern, turn, known in own(Path(__file__).with_name("phrases.toml"), EACH, SEED):
            clauses = read_clauses(turn.text, parser, DAY)
            seen = features(clauses, said_before="", known=known, empty=not known and turn.label == "new")
            row = {"dialogue": pattern, "text": turn.text, "label": turn.label, "features": seen, "right": None}
            file.write(json.dumps(row) + "\n")


def played(dialogue: Dialogue, aside: Turn | None, parser: Any) -> Iterator[dict[str, Any]]:
    """Yield the turns of a dialogue, with one of another in its middle."""
    forest = TaskForest()
    for number, turn in enumerate(dialogue.turns):
        if aside is not None and number == len(dialogue.turns) // 2:
            yield row_of(dialogue.id, aside, forest, parser, dialogue.day)[0]
        row, step = row_of(dialogue.id, turn, forest, parser, dialogue.day)
        forest.apply(
            TaskCommit(
                number=forest.next_number, at=dialogue.day, text=turn.text, intents=step.intents, edits=step.edits,
                reply=step.reply, focus=step.focus, undoes=step.undoes,
            )
        )  # fmt: skip
        after = forest.state()
        if row["right"] is None and turn.judged and turn.changes:
            row["right"] = all(judge(change, after, dialogue.day) == "right" for change in turn.changes)
        yield row


def row_of(name: str, turn: Turn, forest: TaskForest, parser: Any, at: datetime) -> tuple[dict[str, Any], Step]:
    """Return the line of one turn over a forest, and what the turn did."""
    scene, replies = carried(turn.text, forest, parser, at, said_before=turn.said_before)
    clauses = list(scene.clauses)
    step = closed(scene, replies)
    shown = {"said_before": turn.said_before, "known": known_words(forest), "empty": not forest.nodes}
    kept = turn.judged and not turn.changes and turn.label in ("check", "chat")
    row = {
        "dialogue": name,
        "text": turn.text,
        "label": turn.label,
        "features": features(clauses, **shown),
        "acted": features(acting(scene), **shown) if step.edits else [],
        "signals": {key: round(value, 4) for key, value in step.signals.items() if value},
        "intents": step.intents,
        "changed": bool(step.edits),
        "right": not step.edits if kept else None,
    }
    return row, step


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
