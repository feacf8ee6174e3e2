"""Write what is read as rules in a file of items, as JSON Lines, for a scorer.

    python benchmarks/rules.py tests/understand/data/rules.jsonl > predictions.jsonl

An item has `id`, `date`, `context` (speaker and text) and `turn`; a line of output has `id`, `facts` and `rules`.
"""

import json
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doxa.backends import load
from doxa.backends.parser import Parser
from doxa.core.values import Atom, Claim, Turn
from doxa.memory import Beliefs
from doxa.understand import understand


def main(path: str) -> None:
    """Print one line for each item of a file."""
    with closing(load("parser", "builtin")) as parser:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            print(json.dumps(predicted(json.loads(line), parser), ensure_ascii=False))


def predicted(item: dict[str, Any], parser: Parser) -> dict[str, Any]:
    """Return what a turn is understood as."""
    at = datetime.fromisoformat(item["date"]).replace(hour=12, tzinfo=UTC)
    said = [turn_of(row, number, at) for number, row in enumerate([*item["context"], item["turn"]], start=1)]
    found = understand(said[-1], said[:-1], Beliefs(), parser)
    rules = [{"if": [plain(a) for a in rule.if_], "then": [plain(a) for a in rule.then]} for rule in found.rules]
    return {"id": item["id"], "facts": [dated(claim) for claim in found.claims], "rules": rules}


def turn_of(row: dict[str, str], number: int, at: datetime) -> Turn:
    """Return an item's turn; a speaker called Assistant is one."""
    role = "assistant" if row["speaker"] == "Assistant" else "user"
    place = {"turn_id": f"t{number}", "user": "u", "session": "s", "ordinal": number}
    return Turn(speaker=row["speaker"], text=row["text"], role=role, at=at, **place)  # type: ignore[arg-type]


def plain(said: Atom | Claim) -> dict[str, Any]:
    """Return subject, relation, object and polarity."""
    parts = {"subject": said.subject.label, "relation": said.relation.label, "object": said.object.label}
    return {**parts, "polarity": said.polarity}


def dated(claim: Claim) -> dict[str, Any]:
    """Return a claim with its time and modality."""
    bounds = {"valid_from": claim.valid.start, "valid_to": claim.valid.end}
    days = {name: day.isoformat() if day else None for name, day in bounds.items()}
    return {**plain(claim), **days, "modality": str(claim.modality), "ended": claim.ended}


if __name__ == "__main__":
    main(sys.argv[1])
