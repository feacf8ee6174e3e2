"""costs: a task with prices, counts and a budget -> its total, and what remains."""

from __future__ import annotations

from collections.abc import Callable

from doxa.core.tasks import NodeKind, ValueKind
from doxa.tasks.phrases import stem, words_of
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
COUNTING = (ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.DURATION)
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
    """Return what a node costs; None where nothing says so.

    That is its own price, a price for one times a count, or the sum of what is under it.
    """
    editor = scene.editor
    node, value = editor.node(key), editor.value(key)
    rate = next((slot for slot in scene.slots(key) if editor.node(slot).name.startswith("price per ")), None)
    per = editor.node(rate).name.removeprefix("price per ") if rate is not None else ""
    each = _amount(scene, key, lambda name: name == f"price per {per}") if per else None
    price = _amount(scene, key, lambda name: name in ("price", "cost", "fee", "rate"))
    count = _amount(scene, key, lambda name: bool(COUNTED & set(name.split())) and "price" not in name)
    if each is not None:
        count = counted(scene, key, per) if count is None else count
        return each * count if count is not None else None
    if price is not None:
        return price * (count if count is not None and node.kind is NodeKind.ITEM else 1)
    own = set(node.name.lower().split())
    if value is not None and value.kind in NUMERIC and value.amount is not None:
        return None if own & (COUNTED | LIMITS) or node.name.startswith("price") else value.amount
    costs = [cost_of(scene, child) for child in editor.current(key) if not _is_reckoned(scene, child)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _is_reckoned(scene: Scene, key: str) -> bool:
    """Tell whether a slot is a limit or a count, and costs nothing itself."""
    value = scene.editor.value(key)
    counted = value is not None and value.kind in (ValueKind.NUMBER, ValueKind.QUANTITY) and bool(value.unit)
    return counted or bool((LIMITS | COUNTED) & set(scene.editor.node(key).name.lower().split()))


def _amount(scene: Scene, key: str, named: Callable[[str], bool]) -> float | None:
    """Return the number in the first slot of a node whose name fits."""
    for child in scene.editor.current(key):
        value = scene.editor.value(child)
        numeric = value is not None and value.kind in (*NUMERIC, ValueKind.QUANTITY)
        if numeric and value is not None and value.amount is not None and named(scene.editor.node(child).name.lower()):
            return value.amount
    return None


def counted(scene: Scene, key: str, per: str) -> float | None:
    """Return how many of what a price is for the task above a node reckons with: people, tables, nights."""
    people, counts = [], []
    for slot in (*scene.slots(key), *scene.slots(scene.root_of(key))):
        value = scene.editor.value(slot)
        if value is None or value.kind not in COUNTING or value.amount is None:
            continue
        names = {*words_of(scene.editor.node(slot).name), *words_of(value.unit or "")}
        if stem(per) in names:
            return value.amount
        if names & COUNTED:
            people.append(value.amount)
        elif value.unit:
            counts.append(value.amount)
    return next(iter((*people, *counts)), None) if per == "person" else None


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
