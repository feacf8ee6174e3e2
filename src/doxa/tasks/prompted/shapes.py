"""shapes: the acts that a model can say, each an object of its own with exactly the fields that it needs.

They are a tagged union: "intent" says which one it is. Every field is required, null stands where nothing is meant, and
no other field is allowed, so that a server in strict mode can hold a model to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["CHANGING", "COARSE", "INTENTS", "MOST_ACTS", "SAYING", "SHAPES", "placed", "schema_of"]

Act = Mapping[str, Any]
MOST_ACTS = 40
"""Acts of one turn; what lists more is a loop."""
MOST_NEW = 40
"""Nodes of an answer that can be named in it."""

NODE: Any = {"$ref": "#/$defs/node"}
NEW: Any = {"$ref": "#/$defs/new"}
TEXT: Any = {"type": "string"}
NODES: Any = {"type": "array", "items": NODE}
NAMED: Any = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"id": NEW, "name": TEXT},
        "required": ["id", "name"],
        "additionalProperties": False,
    },
}


def _or_null(one: Any) -> Any:
    return {"anyOf": [one, {"type": "null"}]}


UNITS = ("minute", "hour", "day", "week", "month", "year")
SHAPES: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]] = (
    (("new_task",), {"id": NEW, "name": TEXT, "under": _or_null(NODE), "rounds": _or_null(TEXT)}),
    (("new_slot",), {"id": NEW, "under": NODE, "name": TEXT, "value": _or_null(TEXT)}),
    (("add_items",), {"under": NODE, "items": NAMED}),
    (("copy",), {"target": NODE, "id": NEW, "name": TEXT, "without": NODES}),
    (("set_value", "add_value"), {"target": NODE, "value": TEXT}),
    (("assign",), {"target": NODE, "who": TEXT}),
    (("rename",), {"target": NODE, "name": TEXT}),
    (("replace",), {"targets": NODES, "id": NEW, "name": TEXT, "under": _or_null(NODE)}),
    (("remove",), {"targets": NODES, "under": _or_null(NODE)}),
    (("move",), {"targets": NODES, "under": _or_null(NODE), "stays": {"type": "boolean"}}),
    (("swap",), {"target": NODE, "other": NODE}),
    (("split",), {"target": NODE, "parts": NAMED}),
    (("needs",), {"targets": NODES, "on": NODES}),
    (
        ("follows",),
        {
            "target": NODE,
            "on": NODE,
            "amount": {"type": "number"},
            "unit": _or_null({"type": "string", "enum": list(UNITS)}),
        },
    ),
    (("hold",), {"condition": TEXT, "instruction": TEXT, "under": _or_null(NODE)}),
    (("settle",), {"target": NODE, "holds": {"type": "boolean"}}),
    (("status",), {"targets": NODES, "status": {"type": "string", "enum": ["done", "active"]}}),
    (("reset",), {"under": NODE, "targets": NODES}),
    (("rollback",), {"targets": NODES, "value": _or_null(TEXT)}),
    (("undo", "merge", "fixed"), {"targets": NODES}),
    (("check", "finalize"), {"targets": NODES, "answer": _or_null(TEXT)}),
    (("propose", "suppose", "chat"), {}),
)
"""The intents of every shape, and its fields beside those that all have."""
SAYING = ("check", "finalize", "chat", "propose", "suppose")
"""Intents that change nothing by themselves."""
INTENTS = tuple(intent for intents, _ in SHAPES for intent in intents)
CHANGING = tuple(intent for intent in INTENTS if intent not in SAYING)
COARSE = {
    **dict.fromkeys(CHANGING, "update"),
    **dict.fromkeys(("new_task", "new_slot", "add_items", "copy", "hold"), "new"),
    **{intent: intent for intent in ("replace", "remove", "split", "merge", "reset", "rollback", "undo")},
    **{intent: intent for intent in ("check", "finalize", "chat")},
    "suppose": "check",
}
"""What an intent is called in a commit; `propose` is called nothing."""


def schema_of(ids: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema of an answer: of the nodes that are there it can name only those that are shown."""
    new = [f"+{number}" for number in range(1, MOST_NEW + 1)]
    nodes = {"type": "string", "enum": [*ids, *new]}
    acts = {"type": "array", "items": {"anyOf": [_shape(*one) for one in SHAPES]}, "maxItems": MOST_ACTS}
    return {
        "type": "object",
        "properties": {"acts": acts},
        "required": ["acts"],
        "additionalProperties": False,
        "$defs": {"node": nodes, "new": {"type": "string", "enum": new}},
    }


def _shape(intents: Sequence[str], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {
        "intent": {"type": "string", "enum": list(intents)},
        **fields,
        "quote": TEXT,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def placed(act: Act, places: Mapping[str, str]) -> dict[str, Any]:
    """Return an act with the paths of its nodes for their ids, without the fields that say nothing."""
    found: dict[str, Any] = {}
    for name, said in act.items():
        if name in ("targets", "on", "without") and isinstance(said, list):
            said = [places.get(key, key) for key in said]
        elif name in ("target", "other", "under", "on"):
            said = places.get(said, said)
        if said is not None and said != []:
            found[name] = said
    return found
