"""What a language model lists of a turn -> facts as plain data, which are kept with the turn.

An entry that has a target among what was known speaks in its terms, so that a change, a correction or a withdrawal
meets the very fact that it is about, whatever the model would have called it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doxa.core.values import Fact, Modality
from doxa.memory import rule_id
from doxa.understand.known import Known, target_of

__all__ = ["facts_of"]

Entry = Mapping[str, Any]


def facts_of(entry: Entry, known: Known) -> Iterator[dict[str, Any]]:
    """Yield the facts of an entry of any kind but a rule, in the order in which they are to be believed.

    Each has subject, relation, object, polarity, modality, valid_from, valid_to, ended, act and quote; and where it has
    one, `target` (`known.target_of`), `replaces` (the wrong value), `adds`, `source`, or `lifts` (the id of a rule).
    """
    target = known.fact(entry["target"]) if entry.get("target") else None
    match entry["kind"]:
        case "fact":
            yield _stated(entry)
        case "change":
            yield from _changed(entry, target)
        case "correction":
            yield from _corrected(entry, target)
        case _ if target is not None:
            held = {"object": target.object.label, "polarity": target.polarity}
            yield {**_named(entry, target), **held, "act": "withdraw"}
        case _:
            rule = known.rule(entry["target"])
            if rule is not None:
                yield {**_named(entry, None), "object": "", "lifts": rule_id(rule)}


def _stated(entry: Entry) -> dict[str, Any]:
    more = {"adds": True} if entry["beside"] else {}
    return {
        **_named(entry, None),
        "object": entry["object"] or "",
        "polarity": entry["holds"],
        "modality": entry["mood"],
        "valid_from": entry["from"],
        "valid_to": entry["to"],
        "ended": entry["over"],
        **more,
    }


def _changed(entry: Entry, target: Fact | None) -> Iterator[dict[str, Any]]:
    """Yield what is over, and what has come in its place.

    Where the relation has one value at a time the new one displaces the old one by itself, and the revision says so. A
    plan that is over is called off: nobody did it until then.
    """
    named, new = _named(entry, target), entry["new"]
    if target is not None and target.modality is Modality.PLANNED and not new:
        yield {**named, "object": target.object.label, "polarity": not target.polarity, "valid_from": entry["when"]}
        return
    if not (target is not None and target.functional and new) and (_old(entry, target) or not new):
        polarity = target is None or target.polarity
        yield {**named, "object": _old(entry, target), "polarity": polarity, "valid_to": entry["when"], "ended": True}
    if new:
        yield {**named, "object": new, "valid_from": entry["when"]}


def _corrected(entry: Entry, target: Fact | None) -> Iterator[dict[str, Any]]:
    """Yield what is right in place of what was wrong; where nothing is named as right, that the wrong is not so."""
    named = {**_named(entry, target), "act": "correct", "valid_from": entry["from"], "valid_to": entry["to"]}
    old = _old(entry, target)
    if entry["new"] is None and target is not None and not old and (entry["from"] or entry["to"]):
        yield {**named, "object": "", "polarity": target.polarity}  # a verb without an object, on another day
    elif entry["new"] is None:
        yield {**named, "object": old, "polarity": target is not None and not target.polarity}
    else:
        yield {**named, "object": entry["new"], **({"replaces": old} if old and old != entry["new"] else {})}


def _old(entry: Entry, target: Fact | None) -> str:
    """Return the value that is over or wrong; empty where nothing names it."""
    return target.object.label if target is not None else entry["old"] or ""


def _named(entry: Entry, target: Fact | None) -> dict[str, Any]:
    """Return the parts that every fact has; subject and relation are those of the target where there is one."""
    told = {"quote": entry["quote"], **({"source": entry["source"]} if entry.get("source") else {})}
    if target is None:
        return {"subject": entry.get("subject") or "", "relation": entry.get("relation") or "", **told}
    meant = {"modality": str(target.modality)} if target.modality is not Modality.ASSERTED else {}
    named = {"subject": target.subject.label, "relation": target.relation.label}
    return {**named, **told, "target": target_of(target), **meant}
