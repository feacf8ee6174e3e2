"""The implicit benchmark: dialogues through the engine's front door, questions to it and to other systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import CachedEncoder, Encoder
from doxa.core.config import Config
from doxa.core.tokens import estimate_tokens
from doxa.engine import Doxa
from doxa_bench.baselines import Corpus
from doxa_bench.implicit.ablations import VARIANTS, Variant, lenient, usual_gate
from doxa_bench.implicit.chatter import read_chatter
from doxa_bench.implicit.dialogue import PreferenceDialogue, PreferenceQuery, PreferenceTurn
from doxa_bench.implicit.generate import draw_dialogues
from doxa_bench.implicit.material import Split
from doxa_bench.implicit.report import OURS, AskedQuery, ImplicitReport, Scored
from doxa_bench.implicit.rivals import SUMMARY_TOKENS, History, Ranked, rank_all, tokens_of
from doxa_bench.metrics import mean, ndcg_at, recall_at
from doxa_bench.prefeval import keep_readings
from doxa_bench.record import environment, models_of

__all__ = ["DIALOGUES", "run"]

DIALOGUES = 500
"""Source: section 2.2."""
K = 10
CITED = 3
"""Pieces of evidence that an answer cites."""
PROBES = 20
"""Questions that are encoded without a cache to see how long that takes."""

Progress = Callable[[str, int, int], None]


def run(
    *,
    dialogues: int = DIALOGUES,
    seed: int = 0,
    split: Split = "test",
    data: Path | None = None,
    ablations: bool = False,
    answers: bool = False,
    long: int = 0,
    config: Config | None = None,
    progress: Progress | None = None,
) -> ImplicitReport:
    """Return how well stated preferences are found by questions that share no word with the statements.

    Args:
        dialogues: how many, in the paper's proportions of films, food and productivity.
        seed: of everything that is drawn.
        split: `test`; `train` shows how well it does on what it may have learned from.
        data: the data folder with `open/`; without one unrelated talk is made up.
        ablations: measure ours with one part switched off as well, and a grid of settings.
        long: turns of each dialogue, in which tastes show again and again; 0 for the usual ones.
        answers: have every question answered too, and count the answers that rest on a statement that holds.
        config: the settings; by default those of `doxa.toml` and the environment.
        progress: is told how far the run is.

    Raises:
        DoxaError: the engine failed.

    Deterministic but for the times. Cost: 80 turns to absorb and 3 questions a dialogue; every text is parsed and
    encoded once.
    """
    chatter, usual = read_chatter(data, split), config or Config.load()
    drawn = list(draw_dialogues(dialogues, seed=seed, split=split, chatter=chatter, long=long))
    told: dict[str, Any] = {"seed": seed, "split": split, "long": long, "distractors": chatter.source, "k": K}
    with Doxa.open(":memory:", config=lenient(usual) if ablations else usual) as doxa:
        told["encode_ms"] = _encoding_time(doxa.parts.encoder, drawn)
        variants = tuple(one for one in VARIANTS if one.fits(doxa)) if ablations else ()
        if ablations:
            usual_gate(doxa, usual)
        asked, ingest_s = _hold(drawn, doxa, variants, told["encode_ms"], progress, answers=answers)
        told |= {"models": models_of(doxa.describe()), "ablations": tuple(one.name for one in variants)}
    return ImplicitReport(
        dialogues=len(drawn),
        turns=sum(len(dialogue.turns) for dialogue in drawn),
        history_tokens=mean([_tokens(dialogue.turns) for dialogue in drawn]),
        asked=tuple(asked),
        ingest_s=ingest_s,
        environment=environment(),
        **told,
    )


def _hold(
    drawn: Sequence[PreferenceDialogue],
    doxa: Doxa,
    variants: Sequence[Variant],
    encode_ms: float,
    progress: Progress | None,
    *,
    answers: bool,
) -> tuple[list[AskedQuery], float]:
    """Hold the dialogues, and return how the questions went and the seconds of absorbing."""
    watch = doxa.parts.queries = _Watch(keep_readings(doxa))
    asked, ingest_s = list[AskedQuery](), 0.0
    for done, dialogue in enumerate(drawn):
        if progress:
            progress(dialogue.user, done, len(drawn))
        session = _Session(dialogue, doxa, watch, variants, encode_ms, answers=answers)
        asked += (_asked(dialogue, query, systems) for query, systems in session.play())
        ingest_s += session.ingest_s
    return asked, ingest_s


def _asked(dialogue: PreferenceDialogue, query: PreferenceQuery, systems: Mapping[str, Scored]) -> AskedQuery:
    turns = dialogue.turns[: query.after]
    order = {turn.turn_id: place for place, turn in enumerate(turns)}
    return AskedQuery(
        dialogue=dialogue.user,
        workload=dialogue.workload,
        query_id=query.query_id,
        text=query.text,
        kind=query.kind,
        subsets=tuple(sorted(query.subsets)),
        after=query.after,
        user_turns=sum(turn.role == "user" for turn in turns),
        distance=query.after - min(order[turn_id] for turn_id in query.gold),
        gold=len(query.gold),
        systems=systems,
    )


def _tokens(turns: Sequence[PreferenceTurn]) -> int:
    return sum(estimate_tokens(turn.text) for turn in turns)


def _encoding_time(encoder: Encoder, drawn: Sequence[PreferenceDialogue]) -> float:
    """Return the median milliseconds of encoding one question alone."""
    times = []
    for text in [query.text for dialogue in drawn for query in dialogue.queries][:PROBES]:
        start = time.perf_counter()
        encoder.encode([text])
        times.append((time.perf_counter() - start) * 1000)
    return median(times) if times else 0.0


class _Watch(CachedEncoder):
    """A cached encoder that counts what is asked of it, so that a question counts alike whoever asked it before."""

    def __init__(self, inner: CachedEncoder) -> None:
        super().__init__(inner, capacity=1)
        self._cached = inner
        self.texts, self.seconds = 0, 0.0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors as the cached encoder has them."""
        start = time.perf_counter()
        vectors = self._cached.encode(texts)
        self.seconds += time.perf_counter() - start
        self.texts += len(texts)
        return vectors

    def forget(self) -> None:
        """Drop nothing: the benchmark erases nothing."""


class _Session:
    """One dialogue with one memory: absorbed turn by turn, with questions in between."""

    def __init__(
        self,
        dialogue: PreferenceDialogue,
        doxa: Doxa,
        watch: _Watch,
        variants: Sequence[Variant],
        encode_ms: float,
        *,
        answers: bool,
    ) -> None:
        self._dialogue, self._doxa, self._watch = dialogue, doxa, watch
        self._variants, self._encode_ms, self._answers = variants, encode_ms, answers
        self._turns = {turn.turn_id: turn for turn in dialogue.turns}
        self._texts = {turn.turn_id: turn.text for turn in dialogue.turns}
        self.ingest_s = 0.0

    def play(self) -> Iterator[tuple[PreferenceQuery, dict[str, Scored]]]:
        """Yield every question and how the systems did on it, in the order in which they are asked."""
        said = 0
        for query in sorted(self._dialogue.queries, key=lambda query: query.after):
            self._absorb(self._dialogue.turns[said : query.after])
            said = query.after
            yield query, self._ask(query)

    def _absorb(self, turns: Sequence[PreferenceTurn]) -> None:
        start = time.perf_counter()
        for turn in turns:
            chat = self._doxa.dialogue(user=self._dialogue.user, session=turn.session)
            role: Any = turn.role
            chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.at, turn_id=turn.turn_id)
        self._doxa.flush()
        self._doxa.memory(user=self._dialogue.user).promotions()  # however long it takes, so that runs are alike
        self.ingest_s += time.perf_counter() - start

    def _ask(self, query: PreferenceQuery) -> dict[str, Scored]:
        rankings = rank_all(query.text, query.lead, self._history(self._dialogue.turns[: query.after]))
        systems = {name: self._scored(query, ranked) for name, ranked in rankings.items()}
        systems[OURS] = self._ours(query)
        for variant in self._variants:
            with variant.on(self._doxa):
                systems[variant.name] = self._ours(query)
        if self._answers:
            systems[OURS] = replace(systems[OURS], answered=self._answered(query))
        return systems

    def _answered(self, query: PreferenceQuery) -> bool:
        """Tell whether a question is answered, and the answer names something and cites a statement that holds."""
        speaker = self._dialogue.speaker
        reply = self._doxa.dialogue(user=self._dialogue.user, session=query.session, speaker=speaker).ask(query.text)
        cited = {one.turn_id for one in reply.citations}
        return not reply.abstained and reply.value is not None and not cited.isdisjoint(query.gold)

    def _history(self, turns: Sequence[PreferenceTurn]) -> History:
        memory, texts = self._doxa.memory(user=self._dialogue.user), tuple(turn.text for turn in turns)
        return History(
            corpus=Corpus.of([turn.turn_id for turn in turns], texts, self._doxa.parts.encoder.encode(texts)),
            texts=texts,
            own=np.array([turn.role == "user" for turn in turns]),
            facts=tuple(memory.facts()),
            summary=memory.summary(max_tokens=SUMMARY_TOKENS),
            encoder=self._doxa.parts.encoder,
            model=self._doxa.parts.model() if self._doxa.parts.config.roles.write == "prompted" else None,
        )

    def _ours(self, query: PreferenceQuery) -> Scored:
        recent = [(self._dialogue.speaker, query.lead)] if query.lead else []
        texts, seconds = self._watch.texts, self._watch.seconds
        start = time.perf_counter()
        evidence = self._doxa.memory(user=self._dialogue.user).search(query.text, k=K, recent=recent)
        spent = time.perf_counter() - start - (self._watch.seconds - seconds)
        turn_ids = tuple(dict.fromkeys(turn_id for item in evidence for turn_id in item.turn_ids))
        return self._scored(query, Ranked(turn_ids=turn_ids, ms=spent * 1000, encoded=self._watch.texts - texts))

    def _scored(self, query: PreferenceQuery, ranked: Ranked) -> Scored:
        first = ranked.turn_ids[:K]
        cited = [self._turns[turn_id].part == "evidence" for turn_id in first[:CITED]]
        return Scored(
            recall=recall_at(first, query.gold, K),
            ndcg=ndcg_at(first, query.gold, K),
            faithful=mean([float(right) for right in cited]),
            stale=sum(self._turns[turn_id].part == "stale" for turn_id in first),
            ms=ranked.ms + self._encode_ms * ranked.encoded,
            tokens=ranked.read + tokens_of(first, self._texts),
        )
