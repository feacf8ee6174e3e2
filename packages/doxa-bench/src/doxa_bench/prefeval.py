"""PrefEval: is the turn that states a preference found when a later question needs it and does not repeat it?

A preference is stated explicitly (one turn), by a choice among options (four turns), or in passing in a chat of some
persona (ten turns or so). The memory absorbs that dialogue and then 100 turns about other things; then the question is
searched. Source: Zhao et al. 2025, "Do LLMs Recognize Your Preferences? Evaluating Personalized Preference Following in
LLMs". Retrieval only: whether a model then follows the preference is not judged here.

    gold turn    explicit: the turn. choice: the turn of the user that chooses. persona: the turn of the user that is
                 nearest to the preference as the file words it: share of its content stems + cosine of the encoder
    implicit     the second and the third form; `no shared stem` is every item whose question and gold turn share none

Nothing is trained or tuned on it. Baselines rank the same turns by the same encoder.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doxa.backends.encoder import CachedEncoder
from doxa.backends.parser import CachedParser
from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.tokens import estimate_tokens
from doxa.engine import Doxa
from doxa_bench.baselines import BASELINES, Corpus, content_stems
from doxa_bench.distractors import Said, draw, read_distractors
from doxa_bench.metrics import bootstrap_interval, latency, mean, ratio
from doxa_bench.record import environment, models_of

__all__ = ["FORMS", "PrefevalReport", "PrefItem", "read_prefeval", "run"]

FORMS = {
    "explicit": "explicit_preference",
    "choice": "implicit_preference__choice-based",
    "persona": "implicit_preference__persona-driven",
}
"""Form -> how its files are called, `NAME__TOPIC.json`."""
OURS = "doxa"
K = 10
DISTRACTORS = 100
LIMIT = 100
SEED = 0
KEPT = 100_000
"""Sentences and texts that stay parsed and encoded: distractors are the same for all users."""
START = datetime(2024, 1, 1, 9, tzinfo=UTC)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefItem:
    """A preference, the dialogue that states it, and the question that needs it."""

    form: str
    topic: str
    number: int
    """Its place in the file: the same number is the same preference in every form."""
    preference: str
    question: str
    turns: tuple[Said, ...]
    stated: tuple[int, ...]
    """The turns that may state it, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """At which rank each system found the gold turn of an item, from 1; None where it did not."""

    form: str
    topic: str
    shared: bool
    """Question and gold turn share a content stem."""
    ranks: Mapping[str, int | None]
    milliseconds: float
    tokens: int
    """Of the evidence that was found."""
    history_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefevalReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    distractors: int
    found: tuple[Found, ...]
    turns: int
    ingest_s: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data; `_95` is a bootstrap interval over items."""
        latencies = [one.milliseconds for one in self.found]
        return {
            "benchmark": "prefeval",
            "data": self.data,
            "items": len(self.found),
            "distractors": self.distractors,
            "forms": {form: _systems([one for one in self.found if one.form == form]) for form in FORMS},
            "all": _systems(self.found),
            "implicit": _systems([one for one in self.found if one.form != "explicit"]),
            "no shared stem": _systems([one for one in self.found if not one.shared]),
            "topics": {topic: _systems(self._about(topic)) for topic in sorted({one.topic for one in self.found})},
            "latency_ms": latency(latencies),
            "tokens": {
                "evidence": round(mean([one.tokens for one in self.found])),
                "history": round(mean([one.history_tokens for one in self.found])),
            },
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "models": dict(self.models),
            **self.environment,
        }

    def _about(self, topic: str) -> list[Found]:
        return [one for one in self.found if one.topic == topic]


def run(
    path: Path | str,
    *,
    limit: int | None = None,
    distractors: Path | None = None,
    turns_between: int = DISTRACTORS,
    seed: int = SEED,
    config: Config | None = None,
    progress: Progress | None = None,
) -> PrefevalReport:
    """Return at which ranks stated preferences are found after turns about other things.

    Args:
        path: the folder with the files of PrefEval.
        limit: preferences per form, the same in every form and as many of each topic as that allows; 100 by default.
        distractors: the folder with open dialogues; by default `../../open` of `path`.
        turns_between: how many turns lie between the dialogue and the question.
        seed: of the choice and order of distractors.
        config: the settings; by default those of `doxa.toml` and the environment.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there are no such files, or no distractors.
        FormatError: a file is not in the form of PrefEval.
        DoxaError: the engine failed.

    Deterministic but for the times. Cost: one memory of about `turns_between` turns per item.
    """
    folder = Path(path)
    items = sample(read_prefeval(folder), limit or LIMIT)
    sessions = read_distractors(distractors or folder.parent.parent / "open", seed=seed)
    tell, found, turns, ingest_s = progress or (lambda what, done, total: None), list[Found](), 0, 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        encoder = keep_readings(doxa)
        for done, item in enumerate(items):
            tell(f"{item.form} {item.topic}", done, len(items))
            history = [list(item.turns), *draw(sessions, turns=turns_between, seed=seed + item.number)]
            user, start = f"{item.form}-{item.topic}-{item.number}", time.perf_counter()
            said = absorb(user, history, doxa)
            ingest_s += time.perf_counter() - start
            turns += len(said)
            found.append(_search(item, user, said, doxa, encoder))
        models = models_of(doxa.describe())
    told: dict[str, Any] = {
        "data": folder.name,
        "distractors": turns_between,
        "models": models,
        "environment": environment(),
    }
    return PrefevalReport(found=tuple(found), turns=turns, ingest_s=ingest_s, **told)


def keep_readings(doxa: Doxa, *, capacity: int = KEPT) -> CachedEncoder:
    """Have an engine keep what it has parsed and encoded, since its users hear the same; return the encoder.

    Results are the same, only sooner: parses and vectors are functions of the text.
    """
    doxa.parts.parser = CachedParser(doxa.parts.parser, capacity=capacity)
    encoder = doxa.parts.encoder = CachedEncoder(doxa.parts.encoder, capacity=capacity)
    return encoder


def read_prefeval(folder: Path) -> list[PrefItem]:
    """Return every item of the three forms, by form, topic and number.

    Raises:
        NotFoundError: there are no such files.
        FormatError: a file is not in the form of PrefEval.
    """
    items = [item for form, name in FORMS.items() for path in sorted(folder.glob(f"{name}__*.json"))
             for item in _read_file(path, form, path.stem.removeprefix(f"{name}__"))]  # fmt: skip
    if not items:
        raise NotFoundError(f"No files of PrefEval in {folder}: expected explicit_preference__TOPIC.json and the like.")
    return items


def sample(items: Sequence[PrefItem], limit: int) -> list[PrefItem]:
    """Return the items of `limit` preferences per form: the first of every topic, then the second, and so on."""
    keys = sorted({(item.number, item.topic) for item in items})[:limit]
    return [item for item in items if (item.number, item.topic) in set(keys)]


def _read_file(path: Path, form: str, topic: str) -> Iterator[PrefItem]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        for number, entry in enumerate(entries):
            turns, stated = READERS[form](entry)
            yield PrefItem(
                form=form,
                topic=topic,
                number=number,
                preference=str(entry["preference"]),
                question=str(entry["question"]),
                turns=turns,
                stated=stated,
            )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise FormatError(f"expected a list of preferences of the form {form!r} in {path}, got {exc!r}.") from exc


def _explicit(entry: Mapping[str, Any]) -> tuple[tuple[Said, ...], tuple[int, ...]]:
    return (Said("user", str(entry["preference"])),), (0,)


def _choice(entry: Mapping[str, Any]) -> tuple[tuple[Said, ...], tuple[int, ...]]:
    parts = entry["conversation"]
    names = ("query", "assistant_options", "user_selection", "assistant_acknowledgment")
    return tuple(Said("assistant" if "assistant" in name else "user", str(parts[name])) for name in names), (2,)


def _persona(entry: Mapping[str, Any]) -> tuple[tuple[Said, ...], tuple[int, ...]]:
    pairs = [entry["conversation"][key] for key in sorted(entry["conversation"], key=int)]
    turns = [Said(role, str(pair[role])) for pair in pairs for role in ("user", "assistant")]
    turns = [turn for turn in turns if turn.text.strip()]
    return tuple(turns), tuple(place for place, turn in enumerate(turns) if turn.role == "user")


READERS = {"explicit": _explicit, "choice": _choice, "persona": _persona}


def absorb(user: str, history: Sequence[Sequence[Said]], doxa: Doxa) -> list[tuple[str, str]]:
    """Absorb sessions, one a day, wait until they are processed, and return the id and text of every turn."""
    said = []
    for day, session in enumerate(history):
        chat = doxa.dialogue(user=user, session=f"s{day}", speaker="User")
        for number, turn in enumerate(session):
            turn_id, at = f"s{day}:{number}", START + timedelta(days=day, minutes=number)
            chat.absorb(turn.text, role=turn.role, at=at, turn_id=turn_id)
            said.append((turn_id, turn.text))
    doxa.flush()
    return said


def _search(item: PrefItem, user: str, said: Sequence[tuple[str, str]], doxa: Doxa, encoder: CachedEncoder) -> Found:
    gold = stating(item, encoder)
    start = time.perf_counter()
    evidence = doxa.memory(user=user).search(item.question, k=K)
    milliseconds = (time.perf_counter() - start) * 1000
    texts = dict(said)
    corpus = Corpus.of(tuple(texts), tuple(texts.values()), encoder.encode(tuple(texts.values())))
    vector = encoder.encode([item.question])[0]
    rankings = {OURS: [turn_id for one in evidence for turn_id in one.turn_ids]}
    rankings |= {name: rank(item.question, vector, corpus) for name, rank in BASELINES.items()}
    return Found(
        form=item.form,
        topic=item.topic,
        shared=bool(content_stems(item.question) & content_stems(item.turns[gold].text)),
        ranks={name: _rank(f"s0:{gold}", ranking[:K]) for name, ranking in rankings.items()},
        milliseconds=milliseconds,
        tokens=sum(estimate_tokens(texts[turn_id]) for turn_id in rankings[OURS][:K]),
        history_tokens=sum(map(estimate_tokens, texts.values())),
    )


def stating(item: PrefItem, encoder: CachedEncoder) -> int:
    """Return the turn that states the preference: the nearest in words and meaning; of equals, the first."""
    if len(item.stated) == 1:
        return item.stated[0]
    wanted = content_stems(item.preference)
    texts = [item.turns[place].text for place in item.stated]
    preference, *rows = encoder.encode([item.preference, *texts])
    shares = [len(wanted & content_stems(text)) / max(len(wanted), 1) + float(row @ preference)
              for text, row in zip(texts, rows, strict=True)]  # fmt: skip
    return item.stated[shares.index(max(shares))]


def _rank(turn_id: str, ranking: Sequence[str]) -> int | None:
    return ranking.index(turn_id) + 1 if turn_id in ranking else None


def _systems(found: Sequence[Found]) -> dict[str, dict[str, Any]]:
    names = found[0].ranks if found else ()
    return {name: _measures([one.ranks[name] for one in found]) for name in names}


def _measures(ranks: Sequence[int | None]) -> dict[str, Any]:
    """Return recall at 1, 5 and 10 and nDCG at 10 of one gold turn per item, the last three with intervals."""
    rows = {f"recall@{k}": [float(rank is not None and rank <= k) for rank in ranks] for k in (1, 5, 10)}
    rows["ndcg@10"] = [1 / math.log2(rank + 1) if rank else 0.0 for rank in ranks]
    measured: dict[str, Any] = {"n": len(ranks)}
    for name, values in rows.items():
        measured[name] = round(mean(values), 4)
        interval = bootstrap_interval([[value, 1.0] for value in values], ratio)
        if interval is not None and name != "recall@1":
            measured[f"{name}_95"] = [round(bound, 4) for bound in interval]
    return measured
