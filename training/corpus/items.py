"""Annotated dialogues -> items of `doxa bench understanding`, one a turn.

    python training/corpus/items.py training/corpus/dev/*.txt > items.jsonl

An item has the three turns before as its context. A claim is one fact; `minor` ones are optional. Accepted as its
relation are its name and the wordings that the ontology lists for it. Forbidden is what would leave out how a claim is
meant: stated as plain and true what is denied, hoped for or supposed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import Claim, Dialogue, read_dialogues

from doxa.memory import inventory, relation_type

BEFORE = 3
MODES = {"plan": "planned", "wish": "desired", "maybe": "possible"}


def items_of(dialogue: Dialogue) -> Iterator[dict[str, Any]]:
    """Yield the items of a dialogue, in order."""
    for at, turn in enumerate(dialogue.turns):
        facts = [fact_of(claim) for claim in turn.claims if "withdraw" not in claim.flags]
        before = [one for one in dialogue.turns[max(0, at - BEFORE) : at] if one.day == turn.day]
        yield {
            "id": f"{dialogue.id}:{at}",
            "date": str(turn.day),
            "context": [{"speaker": one.speaker, "text": one.text} for one in before],
            "turn": {"speaker": turn.speaker, "text": turn.text},
            "facts": facts,
            "rules": [],
            "forbidden": list(forbidden_of(facts)),
            "tags": [dialogue.register],
        }


def fact_of(claim: Claim) -> dict[str, Any]:
    """Return a claim as a fact of an item."""
    values = dict(claim.values)
    fact: dict[str, Any] = {
        "subject": claim.subject,
        "relation": relations_of(claim.relation),
        "object": ["" if claim.object == "-" else claim.object],
        "polarity": "not" not in claim.flags,
        "valid_from": values.get("from") or values.get("on"),
        "valid_to": values.get("to") or values.get("on"),
        "modality": next((mode for flag, mode in MODES.items() if flag in claim.flags), "asserted"),
    }
    if "over" in claim.flags:
        fact["ended"] = True
    if "minor" in claim.flags:
        fact["optional"] = True
    return fact


def relations_of(name: str) -> list[str]:
    """Return the accepted wordings of a relation."""
    words = name.replace("_", " ")
    known = inventory().relations.get(name)
    more = [known.label, *known.phrases] if known is not None else [relation_type(name).label]
    return list(dict.fromkeys([words, *more, f"has {words}"]))[:12]


def forbidden_of(facts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what must not be stored beside the facts of a turn."""
    plain = {(f["subject"], f["object"][0]) for f in facts if f["polarity"] and f["modality"] == "asserted"}
    for fact in facts:
        core = {name: fact[name] for name in ("subject", "relation", "object")}
        if (fact["subject"], fact["object"][0]) in plain and fact["polarity"] and fact["modality"] == "asserted":
            continue
        if not fact["polarity"]:
            yield {**core, "why": "it is denied"}
        elif fact["modality"] in ("desired", "possible"):
            yield {**core, "why": f"it is {fact['modality']}"}


def main() -> None:
    """Print the items of the files named."""
    for path in sys.argv[1:]:
        for dialogue in read_dialogues(Path(path)):
            for item in items_of(dialogue):
                print(json.dumps(item, ensure_ascii=False))


if __name__ == "__main__":
    main()
