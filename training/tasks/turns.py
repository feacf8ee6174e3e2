"""Turns of users out of open data, with what they ask for and what they change.

Schema-Guided Dialogue: by dialogue acts and by what changes in the state. SMCalFlow: by the head of the program.
Synthetic-Persona-Chat: statements, which ask for nothing. `phrases.toml`: turns of our own, for intents alone. Values
that are not said in the turn, or just before, leave what becomes of the turn open (`judged` is False).
"""

from __future__ import annotations

import csv
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from doxa.tasks.phrases import words_of
from doxa_bench.tasks.revised import Revision, time_keys
from doxa_bench.tasks.sgd import DAY as SGD_DAY
from doxa_bench.tasks.smcalflow import DAY as SMCALFLOW_DAY
from doxa_bench.tasks.smcalflow import program, values_in
from doxa_bench.tasks.values import contains

ENDING = {"THANK_YOU", "GOODBYE", "NEGATE", "AFFIRM", "NEGATE_INTENT"}
MAKES = re.compile(r"CreateCommitEvent|CreatePreflight")
UPDATES = re.compile(r"UpdateCommitEvent|UpdateEventWrapper|UpdatePreflight|DeletePreflight|DeleteCommitEvent")
PLEASANT = re.compile(r"^\((PleasantryAnything|PleasantryCal|GenericPleasantry|UserPause|DoNotConfirm)")
CONFIRMS = re.compile(r"Confirm\w+AndReturnAction")
UNCLEAR = re.compile(r"^\(Fence|Choose|\^\(Dynamic\)|refer|NewClobber")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: what it asks for (empty: left open), what it changes, and whether what becomes of it is known."""

    text: str
    said_before: str = ""
    label: str = ""
    changes: tuple[Revision, ...] = ()
    judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Turns of one user, in order."""

    id: str
    turns: tuple[Turn, ...]
    day: datetime = field(default=SGD_DAY)


def sgd(folder: Path) -> Iterator[Dialogue]:
    """Yield the dialogues of the Schema-Guided Dialogue files of a folder."""
    for path in sorted(folder.glob("*_dialogues_*.json")):
        for source in json.loads(path.read_text(encoding="utf-8")):
            yield Dialogue(id=f"{path.stem}/{source['dialogue_id']}", turns=tuple(_sgd_turns(source["turns"])))


def _sgd_turns(turns: list[dict[str, Any]]) -> Iterator[Turn]:
    state: dict[str, tuple[str, ...]] = {}
    before = ""
    for turn in turns:
        if turn["speaker"] == "USER":
            now = dict(state)
            for frame in turn["frames"]:
                for slot, values in frame["state"]["slot_values"].items():
                    now[f"{frame['service']}/{slot}"] = tuple(values)
            changed = [slot for slot, values in now.items() if not set(values) & set(state.get(slot, ()))]
            said = f"{before} {turn['utterance']}"
            others = {slot: {f for s, values in now.items() if s != slot for f in values} for slot in changed}
            yield Turn(
                text=turn["utterance"],
                said_before=before,
                label=_sgd_label(turn, revised=any(slot in state for slot in changed)),
                changes=tuple(
                    Revision(
                        turn=0,
                        slot=slot,
                        new=now[slot],
                        old=tuple(form for form in state.get(slot, ()) if form not in others[slot]),
                    )
                    for slot in changed
                ),
                judged=all(_says(said, now[slot], SGD_DAY) for slot in changed),
            )
            state = now
        before = turn["utterance"]


def _sgd_label(turn: Mapping[str, Any], *, revised: bool) -> str:
    acts = {act["act"] for frame in turn["frames"] for act in frame["actions"]}
    if acts & {"INFORM", "INFORM_INTENT"} and not acts & {"REQUEST_ALTS"}:
        return "update" if revised else "new"
    if acts <= {"REQUEST", "AFFIRM", "REQUEST_ALTS", "THANK_YOU"} and acts & {"REQUEST", "REQUEST_ALTS"}:
        return "check"
    return "chat" if acts <= ENDING else ""


def smcalflow(path: Path) -> Iterator[Dialogue]:
    """Yield the dialogues of an SMCalFlow file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        turns = tuple(_smcalflow_turns(entry["turns"]))
        yield Dialogue(id=str(entry["dialogue_id"]), turns=turns, day=SMCALFLOW_DAY)


def _smcalflow_turns(turns: list[dict[str, Any]]) -> Iterator[Turn]:
    before, makes = "", False
    current: dict[str, tuple[str, ...]] = {}
    for turn in turns:
        text, code = turn["user_utterance"]["original_text"], turn["lispress"]
        revises = "ReviseConstraint" in code
        if not revises and (MAKES.search(code) or UPDATES.search(code) or "Find" in code or "Query" in code):
            makes = bool(MAKES.search(code) or UPDATES.search(code))
        opens = bool(MAKES.search(code)) and not revises
        known = {} if opens else current
        values = dict(values_in(program(code))) if makes else {}
        adds = {slot for slot in values if slot == "attendees"}
        label = _smcalflow_label(code, revises=revises, makes=makes, old=any(slot in known for slot in values))
        changing = label in ("new", "update") or (revises and makes)
        now = {**known, **values} if changing else current
        yield Turn(
            text=text,
            said_before=before,
            label=label,
            changes=tuple(
                Revision(turn=0, slot=slot, new=forms, old=() if slot in adds else known.get(slot, ()))
                for slot, forms in values.items()
                if known.get(slot) != forms
            )
            if changing
            else (),
            judged=label in ("check", "chat")
            or (changing and bool(values) and all(_says(text, forms, SMCALFLOW_DAY) for forms in values.values())),
        )
        current = now
        before = (turn.get("agent_utterance") or {}).get("original_text", "")


def _smcalflow_label(code: str, *, revises: bool, makes: bool, old: bool) -> str:
    if CONFIRMS.search(code) and not revises and not MAKES.search(code):
        return "chat"
    if PLEASANT.search(code):
        return "chat"
    if revises:
        return ("update" if old else "") if makes else "check"
    if UNCLEAR.search(code) and not MAKES.search(code) and not UPDATES.search(code):
        return ""
    if UPDATES.search(code):
        return "update"
    return "new" if MAKES.search(code) else "check" if code.startswith("(Yield") else ""


def _says(text: str, forms: tuple[str, ...], day: datetime) -> bool:
    return any(contains(text, form) or _same_time(text, form, day) for form in forms)


def _same_time(text: str, form: str, day: datetime) -> bool:
    keys = time_keys(form, day)
    return bool(keys) and keys <= time_keys(text, day)


def chat(path: Path, count: int, seed: int) -> list[Turn]:
    """Return statements of Synthetic-Persona-Chat, drawn with a seed; questions are left out."""
    found: list[Turn] = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines = [line.partition(": ")[2].strip() for line in row["Best Generated Conversation"].splitlines()]
            found += [
                Turn(text=line, said_before=before, label="chat")
                for before, line in pairwise(lines)
                if line and "?" not in line and len(line) < 200
            ]
    return random.Random(seed).sample(found, count)


def own(path: Path, each: int, seed: int) -> Iterator[tuple[str, Turn, frozenset[str]]]:
    """Yield pattern, turn of our own and the words that the tasks know: every pattern `each` times, with a seed."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    drawn = random.Random(seed)
    for label in ("new", "update", "check", "chat"):
        for pattern in data[label]:
            for _ in range(each):
                known: list[str] = []

                def filled(match: re.Match[str], known: list[str] = known) -> str:
                    said: str = drawn.choice(data["fill"][match[1].lower()])
                    if match[1].isupper():
                        said = re.sub(r"^(?:an?|our|my) ", "the ", said)
                        known.append(said)
                    return said

                text = re.sub(r"\{(\w+)\}", filled, pattern)
                words = frozenset(word for name in known for word in words_of(name))
                yield pattern, Turn(text=text[:1].upper() + text[1:], label=label), words
