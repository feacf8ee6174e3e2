"""conditions: instructions that hold if something happens, and what settles them."""

from __future__ import annotations

import re

from doxa.core.tasks import Dependency, NodeKind
from doxa.language import stems
from doxa.tasks.reading import Clause
from doxa.tasks.scene import Scene

__all__ = ["hold", "settles"]

DENYING = re.compile(r"\b(?:not|cannot|no|never|nobody|nothing|cancel\w*|declined?|refused?)\b|n't\b", re.IGNORECASE)
UNLESS = "unless "


def hold(scene: Scene, condition: Clause, instruction: str) -> None:
    """Note what is to be done if something happens; it is no part of the tasks until then."""
    text = re.sub(r"^(?:if|unless|in case|when|once)\s+", "", condition.text.strip(), flags=re.I)
    text = f"{UNLESS}{text}" if condition.mark == "unless" else text
    key = scene.editor.add(instruction.strip(" .,"), parent=scene.root(), kind=NodeKind.TASK)
    scene.editor.depend(key, Dependency(on="", kind="condition", text=text))
    scene.touched.append(key)


def settles(clause: Clause, condition: str) -> bool | None:
    """Tell whether a statement settles a condition: that it holds, or that it does not; None where it says nothing."""
    asked = condition.removeprefix(UNLESS)
    wanted = set(stems(asked))
    shared = wanted & set(stems(clause.text))
    if not shared or clause.mood == "question" or (len(shared) < 2 and len(wanted) > 3):
        return None
    holds = bool(DENYING.search(clause.text)) == bool(DENYING.search(asked))
    return holds != condition.startswith(UNLESS)
