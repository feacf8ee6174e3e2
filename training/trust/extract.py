"""Chats -> the claims that Doxa reads out of them, one a line, to be labelled by hand.

    python training/trust/extract.py CHAT.json > CLAIMS.jsonl

A chat is one JSON object with `id`, `user`, `assistant` and `turns` of `{id, at, speaker, role, text}`. Each line names
the turn, the claim in words, and `label`: null, to become "right" (it is what the turn says, and worth keeping),
"noise" (not wrong, but nobody would miss it) or "wrong" (not what was said or meant, or of somebody else).
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doxa import Doxa
from doxa.core.config import Config
from doxa.core.values import Act, Claim


def main() -> None:
    """Print the claims of one chat."""
    for line in claims_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))):
        print(json.dumps(line, ensure_ascii=False))


def claims_of(chat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the claims of a chat in the order in which they are said."""
    with Doxa.open(":memory:", config=Config.load()) as doxa:
        dialogue = doxa.dialogue(user=chat["id"], agent=chat["assistant"], speaker=chat["user"])
        for turn in chat["turns"]:
            dialogue.absorb(turn["text"], speaker=turn["speaker"], role=turn["role"], at=turn["at"], turn_id=turn["id"])
        dialogue.flush()
        memory = doxa.memory(user=chat["id"])
        for turn in chat["turns"]:
            for claim in memory.claims(turn_id=turn["id"]):
                if claim.act is not Act.WITHDRAW:
                    yield {"turn": turn["id"], "said": f"{turn['speaker']}: {turn['text']}", **written(claim)}


def written(claim: Claim) -> dict[str, Any]:
    """Return a claim in words, without what goes without saying, and a place for its label."""
    told: dict[str, Any] = {"claim": f"{claim.subject} | {claim.relation} | {claim.object}"}
    told |= {} if claim.polarity else {"denied": True}
    told |= {} if claim.modality == "asserted" else {"modality": str(claim.modality)}
    told |= {} if not str(claim.valid) else {"valid": str(claim.valid)}
    told |= {"ended": True} if claim.ended else {}
    told |= {} if claim.act is Act.STATE else {"act": str(claim.act)}
    return {**told, "label": None}


if __name__ == "__main__":
    main()
