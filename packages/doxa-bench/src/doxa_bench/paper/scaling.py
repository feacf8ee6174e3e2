"""History scaling: the same questions after one, two, four and eight times the history.

A dialogue is lengthened by the unrelated talk of other dialogues, in sessions of its own between the last statement
that a question needs and the question. What is to be found stays the same; only what lies around it grows.
Source: section 4.5 and figure 6.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from doxa.backends.encoder import CachedEncoder
from doxa.backends.parser import Parser
from doxa.core.config import Config
from doxa.engine import Doxa
from doxa_bench.baselines import BASELINES, Corpus
from doxa_bench.implicit import PreferenceDialogue, PreferenceQuery, PreferenceTurn
from doxa_bench.metrics import bootstrap_interval, mean, ndcg_at, percentile, ratio, recall_at
from doxa_bench.prefeval import keep_readings

__all__ = ["FACTORS", "Stretched", "scaling", "stretch"]

FACTORS = (1, 2, 4, 8)
K = 10
WARM = 3
"""Questions that are asked before the clock runs."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretched:
    """A dialogue with more talk in it, and its implicit questions, all asked at its end."""

    user: str
    turns: tuple[PreferenceTurn, ...]
    queries: tuple[PreferenceQuery, ...]


def stretch(dialogue: PreferenceDialogue, fillers: Sequence[PreferenceDialogue], factor: int) -> Stretched:
    """Return a dialogue with `factor` times its turns, as far as the talk of the fillers goes.

    Only questions that share no stem with their evidence and need no turn right before them are kept, since talk comes
    between. Deterministic.
    """
    queries = tuple(query for query in dialogue.queries if query.kind != "explicit" and not query.lead)
    needed = {turn_id for query in queries for turn_id in query.gold}
    places = [place for place, turn in enumerate(dialogue.turns) if turn.turn_id in needed]
    split = max(places, default=0) + 1
    wanted = (factor - 1) * len(dialogue.turns)
    at = dialogue.turns[split - 1].at
    talk = [
        replace(turn, turn_id=f"{filler.user}:{turn.turn_id}", session=f"{filler.user}:{turn.session}", at=at)
        for filler in fillers
        if filler.user != dialogue.user
        for turn in filler.turns
        if turn.part == "talk"
    ][:wanted]
    turns = (*dialogue.turns[:split], *talk, *dialogue.turns[split:])
    return Stretched(user=dialogue.user, turns=turns, queries=queries)


def scaling(
    drawn: Sequence[PreferenceDialogue],
    fillers: Sequence[PreferenceDialogue],
    *,
    factors: Sequence[int] = FACTORS,
    config: Config | None = None,
    tell: Tell | None = None,
) -> list[dict[str, Any]]:
    """Return for every factor Recall@10 and nDCG@10, milliseconds of a search without encoding, and room on disk.

    Cost: with the usual factors fifteen times the dialogues are absorbed; a text is parsed and encoded once.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder, Doxa.open(":memory:", config=config) as readings:
        encoder = keep_readings(readings)
        empty = _size(Path(folder) / "empty.db", lambda doxa: None, config)
        for factor in factors:
            asked: list[_Asked] = []

            def hold(doxa: Doxa, factor: int = factor, asked: list[_Asked] = asked) -> None:
                with _reading(doxa, readings.parts.parser, encoder):
                    for done, dialogue in enumerate(drawn):
                        if tell:
                            tell(f"history x{factor}", done, len(drawn))
                        asked += _ask(stretch(dialogue, fillers, factor), doxa)

            size = _size(Path(folder) / f"{factor}.db", hold, config) - empty
            rows.append(_row(factor, asked, len(drawn), size))
    return rows


def _size(path: Path, fill: Callable[[Doxa], None], config: Config | None) -> int:
    """Return the bytes of a database that was filled and closed, so that its log is folded in."""
    with Doxa.open(path, config=config) as doxa:
        fill(doxa)
    return path.stat().st_size


@contextmanager
def _reading(doxa: Doxa, parser: Parser, encoder: CachedEncoder) -> Iterator[None]:
    """Have an engine read with the models of another one within the block: it closes its own afterwards."""
    parts = doxa.parts
    own = parts.parser, parts.encoder, parts.queries
    parts.parser, parts.encoder, parts.queries = parser, encoder, encoder
    try:
        yield
    finally:
        parts.parser, parts.encoder, parts.queries = own


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    turns: int
    facts: int
    ms: float
    recall: dict[str, float]
    ndcg: dict[str, float]


def _ask(stretched: Stretched, doxa: Doxa) -> list[_Asked]:
    for turn in stretched.turns:
        role: Any = turn.role
        chat = doxa.dialogue(user=stretched.user, session=turn.session)
        chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.at, turn_id=turn.turn_id)
    doxa.flush()
    memory, encode = doxa.memory(user=stretched.user), doxa.parts.encoder.encode
    texts = tuple(turn.text for turn in stretched.turns)
    corpus = Corpus.of([turn.turn_id for turn in stretched.turns], texts, encode(texts))
    facts = len(memory.facts(current=False))
    for query in stretched.queries[:WARM]:
        memory.search(query.text, k=K)  # what is synced lazily, and the vector of the question
    asked = []
    for query in stretched.queries:
        memory.search(query.text, k=K)
        start = time.perf_counter()
        evidence = memory.search(query.text, k=K)
        ms = (time.perf_counter() - start) * 1000
        rankings = {
            "doxa": [turn_id for item in evidence for turn_id in item.turn_ids],
            "dense": BASELINES["dense"](query.text, encode([query.text])[0], corpus),
        }
        asked.append(
            _Asked(
                turns=len(texts),
                facts=facts,
                ms=ms,
                recall={name: recall_at(ranking, query.gold, K) for name, ranking in rankings.items()},
                ndcg={name: ndcg_at(ranking, query.gold, K) for name, ranking in rankings.items()},
            )
        )
    return asked


def _row(factor: int, asked: Sequence[_Asked], users: int, size: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "factor": factor,
        "questions": len(asked),
        "turns": round(mean([one.turns for one in asked])),
        "facts": round(mean([one.facts for one in asked])),
        "p50_ms": percentile([one.ms for one in asked], 50),
        "p95_ms": percentile([one.ms for one in asked], 95),
        "disk_kb": size / 1024 / max(users, 1),
    }
    for name in ("doxa", "dense"):
        for measure in ("recall", "ndcg"):
            values = [getattr(one, measure)[name] for one in asked]
            row[f"{name} {measure}"] = mean(values)
            row[f"{name} {measure}_95"] = bootstrap_interval([[value, 1.0] for value in values], ratio)
    return row
