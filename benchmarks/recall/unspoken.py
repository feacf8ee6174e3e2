"""Preferences that a question does not repeat, 48 of them written by hand: is the statement among what search finds?

    python benchmarks/recall/unspoken.py $DOXA_DATA/open/synthetic_persona_chat/Synthetic-Persona-Chat_test.csv

Every item is a memory of its own: the statement, 90 turns of chat in which the same user states likings of other kinds,
and turns about the same subject that are not the user's own preference. The baseline is the dense view alone, in the
same run.
"""

import csv
import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from doxa import Doxa
from doxa.core.config import Config

ITEMS = Path(__file__).with_name("unspoken.jsonl")
CHATS = 40
TURNS = 90
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def main() -> None:
    """Print Recall@1, @5 and @10 of search and of the dense view."""
    chats = read_chats(Path(sys.argv[1]))
    ours: list[int | None] = []
    dense: list[int | None] = []
    with Doxa.open(":memory:", config=Config()) as doxa:
        for line in ITEMS.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            tell(doxa, item, chats)
            found = doxa.memory(user=item["id"]).search(item["query"], k=10)
            ours.append(rank([turn_id for evidence in found for turn_id in evidence.turn_ids]))
            dense.append(rank(by_meaning(doxa, item)))
    for name, ranks in (("search", ours), ("dense alone", dense)):
        shares = {k: round(sum(r is not None and r < k for r in ranks) / len(ranks), 3) for k in (1, 5, 10)}
        print(name, len(ranks), shares)


def read_chats(path: Path) -> list[list[tuple[str, str]]]:
    """Return some conversations as `(role, text)`."""
    chats = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines = [line.split(": ", 1) for line in row["Best Generated Conversation"].split("\n") if ": " in line]
            if len(lines) >= 8:
                chats.append([("user" if who == "User 1" else "assistant", text) for who, text in lines])
    return random.Random(5).sample(chats, CHATS)


def tell(doxa: Doxa, item: dict, chats: list[list[tuple[str, str]]]) -> None:  # type: ignore[type-arg]
    """Let the memory of an item absorb its turns."""
    draw, at, said, session = random.Random(item["id"]), START, 0, 0
    sessions = [[("user", text) for text in item["evidence"]] + [("assistant", "I see, thanks for telling me.")]]
    near = [(turn["role"], turn["text"]) for turn in item["near"]]
    while said < TURNS:
        chat = draw.choice(chats)
        said += len(chat)
        sessions.append([*chat, *([near.pop()] if near else [])])
    for session, turns in enumerate(sessions):
        at += timedelta(days=1)
        dialogue = doxa.dialogue(user=item["id"], session=str(session))
        for number, (role, text) in enumerate(turns):
            speaker, gold = ("Ana", f"gold{number}") if role == "user" else ("Assistant", "")
            turn_id = gold if not session and gold else f"{session}:{number}"
            at += timedelta(minutes=3)
            dialogue.absorb(text, speaker=speaker, role=role, at=at, turn_id=turn_id)  # type: ignore[arg-type]
    doxa.flush()


def by_meaning(doxa: Doxa, item: dict) -> list[str]:  # type: ignore[type-arg]
    """Return the turn ids by the cosine of the whole turn alone, best first."""
    vector = doxa.parts.encoder.encode([item["query"]])[0]
    with doxa.parts.log.user(item["id"]) as state:
        turns = [state.turns[ordinal] for ordinal in state.places]
    vectors = doxa.parts.encoder.encode([turn.text for turn in turns])
    return [turns[place].turn_id for place in np.argsort(-(vectors @ vector), kind="stable")[:10]]


def rank(turn_ids: list[str]) -> int | None:
    """Return the place of the first turn that states the preference."""
    return next((place for place, turn_id in enumerate(turn_ids) if turn_id.startswith("gold")), None)


if __name__ == "__main__":
    main()
