"""BEAM: chats of 100K tokens with an assistant; are sources found, contradictions flagged, unknowns abstained from?

Most gold answers describe a good reply and would need a judge. What is measured here needs none:

| what | questions | how |
|---|---|---|
| retrieval | those with source turns | recall of the source turns among the first ten found, beside BM25 and dense |
| contradiction flagged | `contradiction_resolution` | the reply is marked disputed and cites a turn of each side |
| false flag | all other kinds | the reply is marked disputed |
| abstention | `abstention` | the reply is marked as an abstention |
| false abstention | extraction, update, multi-session, temporal | the same |

A mark is a field of `Reply`, not a wording. Every question is put alone, by the user, after the last turn. Source:
Tavakoli et al. 2025, "Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs".
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Reply, Role
from doxa.engine import Doxa
from doxa_bench.baselines import BASELINES, Corpus
from doxa_bench.locomo import Progress
from doxa_bench.metrics import bootstrap_interval, latency, mean, ndcg_at, ratio, recall_at, wilson_interval
from doxa_bench.record import environment, models_of

__all__ = ["BeamChat", "BeamQuestion", "BeamReport", "BeamTurn", "read_chats", "run"]

Found = TypeVar("Found")
OURS = "doxa"
K = 10
CONTRADICTION, ABSTENTION = "contradiction_resolution", "abstention"
ANSWERABLE = ("information_extraction", "knowledge_update", "multi_session_reasoning", "temporal_reasoning")
"""Kinds whose questions have a short answer in the chat: abstaining from one is an error."""
STAMP = "%B-%d-%Y"
MARK = re.compile(r"(?:\s*->\s*->[\s\dNA,/)]*)+$")
"""What the generator of the chats left behind questions, and the assistant repeats: a place in its plan, "->-> 1,2"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamTurn:
    """What the user or the assistant said."""

    turn_id: str
    role: Role
    text: str
    at: datetime
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamQuestion:
    """A question and the turns that it rests on."""

    kind: str
    text: str
    sides: tuple[frozenset[str], ...]
    """The turns of each statement or event where the file tells them apart; one group where it does not."""

    @property
    def sources(self) -> frozenset[str]:
        """All turns that it rests on; empty where the file names none."""
        return frozenset().union(*self.sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamChat:
    """A chat and the questions about it."""

    name: str
    turns: tuple[BeamTurn, ...]
    questions: tuple[BeamQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of one question."""

    kind: str
    question: str
    reply: str
    disputed: bool
    both_cited: bool
    """It cites a turn of every side."""
    abstained: bool
    recall: Mapping[str, float]
    """System -> share of the source turns among the first ten; empty where there are none."""
    ndcg: Mapping[str, float]
    search_ms: float
    ask_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    asked: tuple[Asked, ...]
    chats: int
    turns: int
    ingest_s: float
    """Seconds from the first turn to the last one being processed, all chats together."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data; `errors` is how many wrong marks are shown."""
        sourced = [one for one in self.asked if one.recall]
        kinds = sorted({one.kind for one in sourced})
        return {
            "benchmark": "beam",
            "data": self.data,
            "questions": len(self.asked),
            "retrieval": {
                **{kind: _systems([one for one in sourced if one.kind == kind]) for kind in kinds},
                "all": _systems(sourced),
            },
            **self._marks(),
            "latency_ms": {
                "search": latency([one.search_ms for one in self.asked], digits=1),
                "ask": latency([one.ask_ms for one in self.asked], digits=1),
            },
            "chats": self.chats,
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 2) if self.ingest_s else 0.0,
            "errors": [_shown(one) for one in self.asked if _is_wrong(one)][:errors],
            "models": dict(self.models),
            **self.environment,
        }

    def _marks(self) -> dict[str, Any]:
        """Return how often replies are marked as disputed and as abstentions, and where they should be."""
        clashes = [one for one in self.asked if one.kind == CONTRADICTION]
        others = [one for one in self.asked if one.kind != CONTRADICTION]
        known = {kind: [one for one in self.asked if one.kind == kind] for kind in ANSWERABLE}
        return {
            "contradictions": {
                "flagged": _share([one.disputed and one.both_cited for one in clashes]),
                "disputed": _share([one.disputed for one in clashes]),
                "both_cited": _share([one.both_cited for one in clashes]),
                "false_flags": _share([one.disputed for one in others]),
            },
            "abstention": {
                "abstained": _share([one.abstained for one in self.asked if one.kind == ABSTENTION]),
                "false_abstention": _share([one.abstained for rows in known.values() for one in rows]),
                **{kind: _share([one.abstained for one in rows]) for kind, rows in known.items()},
            },
        }


def run(
    path: Path | str,
    *,
    config: Config | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> BeamReport:
    """Return what is found, flagged and abstained from in the chats of a folder.

    Args:
        path: the folder with `N.chat.json` and `N.questions.json`.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` chats.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no chat in the folder.
        FormatError: a file is not in the form of BEAM.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards. Cost: one memory of 200 to 300
    long turns for each chat, 20 questions each; the turns are encoded once more for the baselines.
    """
    chats = read_chats(Path(path))[:limit]
    tell, asked, ingest_s = progress or (lambda what, done, total: None), list[Asked](), 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        for chat in chats:
            ingest_s += _absorb(chat, doxa, tell)
            asked += _ask(chat, doxa, tell)
        models = models_of(doxa.describe())
    return BeamReport(
        data=Path(path).name,
        asked=tuple(asked),
        chats=len(chats),
        turns=sum(len(chat.turns) for chat in chats),
        ingest_s=ingest_s,
        models=models,
        environment=environment(),
    )


def _absorb(chat: BeamChat, doxa: Doxa, tell: Progress) -> float:
    """Absorb a chat, wait until it is processed, and return the seconds that took."""
    start = time.perf_counter()
    for done, turn in enumerate(chat.turns):
        tell(f"absorb chat {chat.name}", done, len(chat.turns))
        dialogue = doxa.dialogue(user=chat.name, session=turn.session)
        dialogue.absorb(turn.text, role=turn.role, at=turn.at, turn_id=turn.turn_id)
    doxa.flush()
    return time.perf_counter() - start


def _ask(chat: BeamChat, doxa: Doxa, tell: Progress) -> Iterator[Asked]:
    tell(f"baselines of chat {chat.name}", 0, 1)
    encode = doxa.parts.encoder.encode
    texts = [turn.text for turn in chat.turns]
    corpus = Corpus.of([turn.turn_id for turn in chat.turns], texts, encode(texts))
    memory, dialogue = doxa.memory(user=chat.name), doxa.dialogue(user=chat.name, session="questions")
    for done, question in enumerate(chat.questions):
        tell(f"ask about chat {chat.name}", done, len(chat.questions))
        vector = encode([question.text])[0]
        evidence, search_ms = _timed(partial(memory.search, question.text, k=K))
        rankings = {
            OURS: [turn_id for item in evidence for turn_id in item.turn_ids],
            **{name: rank(question.text, vector, corpus) for name, rank in BASELINES.items()},
        }
        reply, ask_ms = _timed(partial(dialogue.ask, question.text))
        sources = question.sources
        yield Asked(
            kind=question.kind,
            question=question.text,
            reply=reply.text,
            disputed=reply.disputed,
            both_cited=_cites_both(reply, question),
            abstained=reply.abstained,
            recall={name: recall_at(found, sources, K) for name, found in rankings.items()} if sources else {},
            ndcg={name: ndcg_at(found, sources, K) for name, found in rankings.items()} if sources else {},
            search_ms=search_ms,
            ask_ms=ask_ms,
        )


def _timed(act: Callable[[], Found]) -> tuple[Found, float]:
    """Return what an act gives back, and the milliseconds that it took."""
    start = time.perf_counter()
    found = act()
    return found, (time.perf_counter() - start) * 1000


def _cites_both(reply: Reply, question: BeamQuestion) -> bool:
    """Tell whether a reply cites a turn of every side; both may stand in one turn."""
    cited = {citation.turn_id for citation in reply.citations}
    return len(question.sides) > 1 and all(side & cited for side in question.sides)


def _is_wrong(one: Asked) -> bool:
    """Tell whether a reply lacks a mark that it should have, or has one that it should not."""
    if one.kind == CONTRADICTION:
        return not (one.disputed and one.both_cited)
    return one.disputed or one.abstained is (one.kind in ANSWERABLE)


def _shown(one: Asked) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("kind", "question", "reply", "disputed", "both_cited", "abstained")}


def _systems(asked: Sequence[Asked]) -> dict[str, dict[str, Any]]:
    """Return recall and nDCG of every system, with bootstrap intervals over questions."""
    rows: dict[str, dict[str, Any]] = {}
    for name in asked[0].recall if asked else ():
        measured: dict[str, Any] = {"n": len(asked)}
        values = {"recall": [one.recall[name] for one in asked], "ndcg": [one.ndcg[name] for one in asked]}
        for measure, row in values.items():
            interval = bootstrap_interval([[value, 1.0] for value in row], ratio)
            measured[f"{measure}@{K}"] = round(mean(row), 4)
            measured[f"{measure}@{K}_95"] = interval and [round(bound, 4) for bound in interval]
        rows[name] = measured
    return rows


def _share(marked: Sequence[bool]) -> dict[str, Any]:
    """Return how many replies have a mark, of how many, and the share with its Wilson interval."""
    low, high = wilson_interval(sum(marked), len(marked))
    share = ratio(sum(marked), len(marked))
    return {"n": len(marked), "marked": sum(marked), "share": share, "share_95": [round(low, 4), round(high, 4)]}


def read_chats(folder: Path) -> list[BeamChat]:
    """Return the chats of a folder with their questions, by number.

    Raises:
        NotFoundError: there is no chat in it.
        FormatError: a file is not in the form of BEAM.
    """
    paths = sorted(folder.glob("*.chat.json"), key=lambda path: (len(path.name), path.name))
    if not paths:
        raise NotFoundError(f"No BEAM in {folder}: expected N.chat.json and N.questions.json for every chat.")
    return [_read(path) for path in paths]


def _read(path: Path) -> BeamChat:
    name = path.name.removesuffix(".chat.json")
    asked = path.with_name(f"{name}.questions.json")
    try:
        batches, kinds = (json.loads(file.read_text(encoding="utf-8")) for file in (path, asked))
        turns = tuple(_turns(batches))
        known = frozenset(turn.turn_id for turn in turns)
        questions = tuple(_question(kind, entry, known) for kind, entries in kinds.items() for entry in entries)
    except FileNotFoundError as exc:
        raise NotFoundError(f"No questions to {path}: expected {asked.name} beside it.") from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise FormatError(
            f"expected a chat of BEAM in {path}, [{{'turns': [[{{'role', 'id', 'content'}}]]}}], and questions by kind "
            f"in {asked.name}, got something else: {exc!r}."
        ) from exc
    return BeamChat(name=name, turns=turns, questions=questions)


def _turns(batches: Sequence[Mapping[str, Any]]) -> Iterator[BeamTurn]:
    """Yield the turns, each a second after the one before; a time anchor is the day of all turns up to the next one."""
    at = datetime(1970, 1, 1, tzinfo=UTC)
    for number, batch in enumerate(batches, start=1):
        for turn in (turn for turns in batch["turns"] for turn in turns):
            if turn.get("time_anchor"):
                at = datetime.strptime(turn["time_anchor"], STAMP).replace(hour=9, tzinfo=UTC)
            role: Role = "assistant" if turn["role"] == "assistant" else "user"
            text = MARK.sub("", turn["content"]).strip()
            if text:
                yield BeamTurn(turn_id=_turn_id(turn["id"]), role=role, text=text, at=at, session=f"batch-{number}")
                at += timedelta(seconds=1)


def _question(kind: str, entry: Mapping[str, Any], known: frozenset[str]) -> BeamQuestion:
    """Return a question; ids that no turn has are left out."""
    sources = entry.get("source_chat_ids") or []
    groups = list(sources.values()) if isinstance(sources, dict) else [sources]
    sides = tuple(frozenset(map(_turn_id, _flat(group))) & known for group in groups)
    return BeamQuestion(kind=kind, text=entry["question"], sides=tuple(side for side in sides if side))


def _flat(value: object) -> Iterator[object]:
    """Yield the ids in a list of ids and of lists of them."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, list):
            yield from _flat(one)
        else:
            yield one


def _turn_id(number: object) -> str:
    return f"turn-{number}"
