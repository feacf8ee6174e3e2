"""costs: a task with prices, counts and a budget -> its total, and what remains."""

from __future__ import annotations

from doxa.core.tasks import NodeKind, ValueKind
from doxa.tasks.scene import Scene

__all__ = ["budget_of", "cost_of", "money", "total_of"]

NUMERIC = (ValueKind.MONEY, ValueKind.NUMBER)
COUNTED = {
    "people",
    "person",
    "persons",
    "guests",
    "guest",
    "adults",
    "children",
    "kids",
    "quantity",
    "seats",
    "tickets",
    "count",
    "number",
}
LIMITS = {"budget", "limit", "cap", "allowance", "maximum"}


def budget_of(scene: Scene, root: str) -> str | None:
    """Return the slot that holds the budget of a task."""
    for key in (root, *scene.editor.descendants(root)):
        if (
            scene.seen(key)
            and scene.editor.value(key) is not None
            and LIMITS & set(scene.editor.node(key).name.lower().split())
        ):
            return key
    return None


def cost_of(scene: Scene, key: str) -> float | None:
    """Return what a node costs: its own price, a price for one times a count, or the sum of what is under it; None without any."""
    editor = scene.editor
    node, value = editor.node(key), editor.value(key)
    slots = [(child, editor.node(child), editor.value(child)) for child in editor.current(key)]
    each = next(
        (
            own.amount
            for _, slot, own in slots
            if own is not None
            and own.kind in NUMERIC
            and slot.name.startswith(("price per", "price each"))
            and own.amount is not None
        ),
        None,
    )
    price = next(
        (
            own.amount
            for _, slot, own in slots
            if own is not None
            and own.kind in NUMERIC
            and slot.name in ("price", "cost", "fee", "rate")
            and own.amount is not None
        ),
        None,
    )
    count = next(
        (
            own.amount
            for _, slot, own in slots
            if own is not None
            and own.amount is not None
            and own.kind in (ValueKind.NUMBER, ValueKind.QUANTITY)
            and (set(slot.name.lower().split()) & COUNTED)
        ),
        None,
    )
    if each is not None and count is None:
        count = heads(scene, key)
    if each is not None:
        return each * count if count is not None else None
    if price is not None:
        return price * (count if count is not None and node.kind is NodeKind.ITEM else 1)
    if (
        value is not None
        and value.kind in NUMERIC
        and value.amount is not None
        and not (set(node.name.lower().split()) & (COUNTED | LIMITS))
        and not node.name.startswith("price")
    ):
        return value.amount
    below = [
        cost
        for child, slot, own in slots
        if not (LIMITS & set(slot.name.lower().split()))
        and (cost := cost_of(scene, child)) is not None
        and not (set(slot.name.lower().split()) & COUNTED)
    ]
    return sum(below) if below else None


def heads(scene: Scene, key: str) -> float | None:
    """Return the number of people that the task above a node reckons with."""
    root = scene.root_of(key)
    for slot in scene.slots(root):
        value = scene.editor.value(slot)
        if (
            value is not None
            and value.kind in (ValueKind.NUMBER, ValueKind.QUANTITY)
            and value.unit
            and value.amount is not None
        ):
            return value.amount
    return None


def total_of(scene: Scene, root: str) -> float:
    """Return what everything under a task costs together."""
    return cost_of(scene, root) or 0.0


def money(scene: Scene, root: str, amount: float) -> str:
    """Return an amount of money as the task's budget is written."""
    shown = f"{amount:.2f}".removesuffix(".00")
    limit = budget_of(scene, root)
    value = scene.editor.value(limit) if limit is not None else None
    if value is None or not value.unit:
        return shown
    return f"{value.unit}{shown}" if value.unit in "$€£¥" else f"{shown} {value.unit}s"
