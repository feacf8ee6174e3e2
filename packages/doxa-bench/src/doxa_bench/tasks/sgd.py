"""Schema-Guided Dialogue: user turns that revise a slot, by an index of them.

The folder has `slot_revision_index.json` and the dialogue files that it names; dialogues of files that are not there
are left out and counted. Left out as well are revisions from or to "dontcare", which is no value, and those whose new
value neither the user says in that turn nor the system just before: nobody can know them from the turn.

Source: Rastogi et al. 2020, "Towards Scalable Multi-Domain Conversational Agents: The Schema-Guided Dialogue Dataset".
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError, NotFoundError
from doxa_bench.tasks.revised import RevisedDialogue, Revision, UserTurn, time_keys
from doxa_bench.tasks.values import contains

__all__ = ["read_sgd"]

INDEX = "slot_revision_index.json"
DAY = datetime(2019, 3, 1)  # noqa: DTZ001 - "today" in all dialogues of the data, in local time
NO_VALUE = "dontcare"


def read_sgd(folder: Path) -> tuple[list[RevisedDialogue], Counter[str]]:
    """Return the dialogues with revisions, and how many revisions were left out, by reason.

    Raises:
        NotFoundError: the folder has no index.
        FormatError: a file is not what it should be.
    """
    path = folder / INDEX
    if not path.is_file():
        raise NotFoundError(f"There is no {INDEX} in {folder}. Give the folder of SGD with --data.")
    left: Counter[str] = Counter()
    found: list[RevisedDialogue] = []
    try:
        index = _read(path)
        files = {name: _by_id(folder / name) for name in {one["file"] for one in index} if (folder / name).is_file()}
        known = _known(files)
        for entry in index:
            if entry["file"] not in files:
                left["file not there"] += len(entry["revisions"])
            elif dialogue := _dialogue(entry, files[entry["file"]][entry["dialogue_id"]], known, left):
                found.append(dialogue)
    except (KeyError, TypeError, IndexError) as exc:
        raise FormatError(f"expected SGD dialogues and their index in {folder}, got something else: {exc!r}.") from exc
    return found, left


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise FormatError(f"expected JSON in {path}: {exc}.") from exc


def _by_id(path: Path) -> dict[str, Any]:
    return {one["dialogue_id"]: one for one in _read(path)}


def _known(files: Mapping[str, Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return service and slot -> all values in the states of all dialogues."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for dialogues in files.values():
        for dialogue in dialogues.values():
            for turn in dialogue["turns"]:
                for frame in turn["frames"]:
                    for slot, values in frame.get("state", {}).get("slot_values", {}).items():
                        found[f"{frame['service']}/{slot}"].update(value for value in values if value != NO_VALUE)
    return {slot: frozenset(values) for slot, values in found.items()}


def _dialogue(
    entry: Mapping[str, Any], source: Mapping[str, Any], known: Mapping[str, frozenset[str]], left: Counter[str]
) -> RevisedDialogue | None:
    turns: list[UserTurn] = []
    places: dict[int, int] = {}
    before = ""
    for number, turn in enumerate(source["turns"]):
        if turn["speaker"] == "USER":
            places[number] = len(turns)
            turns.append(UserTurn(text=turn["utterance"], said_before=before))
        before = turn["utterance"]
    revisions = []
    for one in entry["revisions"]:
        user = turns[places[one["turn"]]]
        if NO_VALUE in (*one["old"], *one["new"]):
            left["no value before or after"] += 1
        elif not any(_says(text, form) for text in (user.text, user.said_before) for form in one["new"]):
            left["new value not said"] += 1
        else:
            revisions.append(_revision(one, places[one["turn"]], source["turns"][one["turn"]]["frames"]))
    if not revisions:
        return None
    return RevisedDialogue(
        id=f"{entry['file']}/{entry['dialogue_id']}",
        turns=tuple(turns),
        revisions=tuple(revisions),
        final=tuple(_final(source["turns"], revisions, len(turns) - 1)),
        day=DAY,
        known=known,
    )


def _final(turns: Sequence[Mapping[str, Any]], revisions: Sequence[Revision], last: int) -> Iterator[Revision]:
    """Yield the last value of every revised slot; old are all values that it had before and has no more."""
    values: dict[str, tuple[str, ...]] = {}
    for turn in turns:
        for frame in turn["frames"]:
            for slot, forms in frame.get("state", {}).get("slot_values", {}).items():
                values[f"{frame['service']}/{slot}"] = tuple(forms)
    for slot in dict.fromkeys(one.slot for one in revisions):
        new = values[slot]
        others = [form for name, forms in values.items() if name != slot for form in forms]
        old = [form for one in revisions if one.slot == slot for form in (*one.old, *one.new)]
        gone = [form for form in old if not any(_same(form, other) for other in (*new, *others))]
        if NO_VALUE not in new:
            yield Revision(turn=last, slot=slot, new=new, old=tuple(gone))


def _revision(one: Mapping[str, Any], turn: int, frames: Sequence[Mapping[str, Any]]) -> Revision:
    others = {
        value
        for frame in frames
        for slot, values in frame.get("state", {}).get("slot_values", {}).items()
        if (frame["service"], slot) != (one["service"], one["slot"])
        for value in values
    }
    shared = any(_same(form, other) for form in one["old"] for other in others)
    return Revision(
        turn=turn,
        slot=f"{one['service']}/{one['slot']}",
        new=tuple(one["new"]),
        old=() if shared else tuple(one["old"]),
    )


def _same(one: str, other: str) -> bool:
    keys = time_keys(one, DAY)
    return contains(one, other) or contains(other, one) or bool(keys and keys == time_keys(other, DAY))


def _says(text: str, value: str) -> bool:
    keys = time_keys(value, DAY)
    return contains(text, value) or bool(keys and keys <= time_keys(text, DAY))
