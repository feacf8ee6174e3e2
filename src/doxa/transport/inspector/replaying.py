"""An answer with its trace -> what a page replays: steps in time, what was found, the tree, the verdict, the prompts.

A trace that was kept by an older version lacks some of it; what is not there is empty here, and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doxa.core.answers import Answered
from doxa.core.trace import TABLES
from doxa.transport.trees import chosen_way

__all__ = ["Bar", "Branch", "Candidate", "Replay", "replay_of"]

NAMED_OF_A_STATE = 6
"""Facts, and turns, that are named of one state of a tree; of the others their number is."""
MOST_STATES = 300
"""States of a tree that a page shows."""
LEAST_SHOWN = 0.4
"""Width of the shortest step, in percent of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A step, and where in time it lies: percent of the whole."""

    name: str
    ms: float
    start: float
    width: float
    detail: Mapping[str, str]
    degraded: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A turn that was looked at."""

    turn: str
    score: float
    views: Mapping[str, tuple[int, float]]
    """View -> its rank and its score there, of each that proposed the turn."""
    facts: tuple[str, ...]
    found: bool
    """Whether it was among what the answer was looked for in."""
    answers: float | None
    """How likely it answers, as the reader sees it; None where it was not read."""
    cited: bool

    @property
    def used(self) -> bool:
        """Whether the answer was looked for in it."""
        return self.found or self.cited or self.answers is not None


@dataclass(slots=True, kw_only=True)
class Branch:
    """A state of a tree with those below it."""

    number: int
    move: str
    mark: str
    """How it ended up: "chosen", "opened", "pruned", "failed", "answer", "open", or "merged"."""
    data: Mapping[str, Any]
    below: list[Branch] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How an answer came to be."""

    ms: float
    bars: tuple[Bar, ...]
    views: tuple[str, ...]
    """The views that proposed anything."""
    candidates: tuple[Candidate, ...]
    searched: bool
    read_by: str
    trees: tuple[Mapping[str, Any], ...]
    """Each with its `root`, a `Branch`, what it cost and why it ended."""
    sentences: tuple[Mapping[str, Any], ...]
    verified: Mapping[str, Any]
    prompts: tuple[Mapping[str, Any], ...]
    asked_model: bool
    """Whether a language model was asked, kept or not."""

    @property
    def used(self) -> list[tuple[int, Candidate]]:
        """What the answer was looked for in, each with its rank."""
        return [(at, one) for at, one in enumerate(self.candidates, 1) if one.used]

    @property
    def passed_over(self) -> list[tuple[int, Candidate]]:
        """What was proposed and looked at no further, each with its rank."""
        return [(at, one) for at, one in enumerate(self.candidates, 1) if not one.used]

    @property
    def why(self) -> str:
        """The reason of the verdict as a whole, where it is not that of a sentence."""
        why: str = self.verified.get("why", "")
        return "" if why in (one.get("reason") for one in self.sentences) else why

    def keys(self) -> Iterator[str]:
        """Give the ids of all turns and facts that it names."""
        for one in self.candidates:
            yield from (one.turn, *one.facts)
        waiting = [tree["root"] for tree in self.trees]
        while waiting:
            branch = waiting.pop()
            yield from (*branch.data.get("facts", ()), *branch.data.get("turns", ()))
            waiting += branch.below
        for sentence in self.sentences:
            yield from sentence.get("because", ())


def replay_of(answer: Answered) -> Replay:
    """Return how an answer came to be, out of the trace that is kept with it."""
    steps: Sequence[Mapping[str, Any]] = answer.trace.get("steps", ())
    details = {step["name"]: step["detail"] for step in steps}
    read = details.get("reason", {}).get("read", {})
    ranked = details.get("recall", {}).get("ranked", ())
    candidates = tuple(_candidates(ranked, read.get("turns", {}), {one.turn_id for one in answer.citations}))
    sent = [{"step": step["name"], **step["detail"]} for step in steps if "sent" in step["detail"]]
    return Replay(
        ms=float(answer.trace.get("ms", 0.0)),
        bars=tuple(_bars(steps)),
        views=tuple(dict.fromkeys(name for one in candidates for name in one.views)),
        candidates=candidates,
        searched="recall" in details,
        read_by=read.get("by", ""),
        trees=tuple(_tree(step["detail"]["tree"]) for step in steps if "tree" in step["detail"]),
        sentences=tuple(details.get("verify", {}).get("verdicts", ())),
        verified=details.get("verify", {}),
        prompts=tuple(sent),
        asked_model=any("model" in step["detail"] for step in steps),
    )


def _bars(steps: Sequence[Mapping[str, Any]]) -> Iterator[Bar]:
    total = sum(step["ms"] for step in steps) or 1.0
    start = 0.0
    for step in steps:
        yield Bar(
            name=step["name"],
            ms=step["ms"],
            start=round(min(start / total * 100, 100 - LEAST_SHOWN), 2),
            width=round(max(step["ms"] / total * 100, LEAST_SHOWN), 2),
            detail={key: _line(value) for key, value in step["detail"].items() if key not in TABLES and _told(value)},
            degraded=step.get("degraded") or "",
        )
        start += step["ms"]


def _told(value: object) -> bool:
    return value not in (None, "", (), [], {})


def _line(value: object) -> str:
    """Return a value of a trace in one line."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _candidates(ranked: Iterable[Mapping[str, Any]], read: Mapping[str, float], cited: set[str]) -> Iterator[Candidate]:
    """Give what was looked at, best first; then what was read or cited without being among it."""
    rows = {row["turn"]: row for row in ranked}
    for turn in dict.fromkeys([*rows, *read]) if rows else ():
        row = rows.get(turn, {})
        yield Candidate(
            turn=turn,
            score=row.get("score", 0.0),
            views={name: (rank, score) for name, (rank, score) in row.get("views", {}).items()},
            facts=tuple(row.get("facts", ())),
            found=bool(row.get("found")),
            answers=read.get(turn),
            cited=turn in cited,
        )


def _tree(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tree with its states nested; one whose way to the root is lost hangs from the root."""
    states = data["states"][:MOST_STATES]
    way = chosen_way(data)
    branches = {state["id"]: _branch(state, chosen=state["id"] in way) for state in states}
    root = branches[states[0]["id"]]
    for state in states[1:]:
        parent = state["parent"] if _reaches(state["id"], branches, root.number) else root.number
        branches[parent].below.append(branches[state["id"]])
    more = len(data["states"]) - len(states)
    return {**{key: value for key, value in data.items() if key != "states"}, "root": root, "more": more}


def _branch(state: Mapping[str, Any], *, chosen: bool) -> Branch:
    mark = "chosen" if chosen else {"expanded": "opened"}.get(state["standing"], state["standing"])
    shown = dict(state)
    for name in ("facts", "turns"):
        named = state.get(name, ())
        shown[name] = tuple(named[:NAMED_OF_A_STATE])
        shown[f"{name}_more"] = max(0, len(named) - NAMED_OF_A_STATE)
    return Branch(number=state["id"], move=state.get("action", ""), mark=mark, data=shown)


def _reaches(number: int, branches: Mapping[int, Branch], root: int) -> bool:
    """Tell whether the states above one lead to the root."""
    seen = set[int]()
    while number != root and number not in seen:
        seen.add(number)
        above = branches[number].data.get("parent") if number in branches else None
        if above is None or above not in branches:
            return False
        number = above
    return number == root
