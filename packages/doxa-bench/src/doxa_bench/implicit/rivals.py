"""A question and the turns so far -> rankings by systems that are not ours, with the same encoder and budget.

| name | what it is |
|---|---|
| `bm25`, `dense`, `rrf` | words, meaning, both (`evaluate/baselines.py`) |
| `dense+user` | meaning, of the user's own turns alone |
| `dense+turn` | meaning of the question with the turn before it, where it follows on one |
| `dense+rerank` | the 64 nearest, ranked again by their best sentence |
| `hipporag` | Personalized PageRank over facts and turns |
| `summary` | facts that a running summary of 512 tokens keeps, nearest first |
| `rewrite` | the question as a language model rewrites it, then `dense`; only where there is a model |

They are computed here, not by `recall`, so that a change of the memory does not change what it is compared with. Facts
come from the same extraction as ours. Source: appendix B.6.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.llm import LanguageModel, Message
from doxa.core.errors import BackendError
from doxa.core.tokens import estimate_tokens
from doxa.core.values import Fact
from doxa_bench.baselines import BASELINES, Corpus

__all__ = ["POOL", "History", "Ranked", "rank_all"]

POOL = 64
"""Candidates before anything looks at them twice. Source: section 4.2, "top-64 retrieval, top-10 re-rank"."""
SAME = 0.92
"""Cosine from which two names count as one. Source: appendix B.6."""
DAMPING, ROUNDS, TOLERANCE = 0.85, 500, 1e-6
"""Source: appendix B.6."""
LINKED = 5
"""Facts nearest to the question that start a walk. Source: Gutierrez et al. 2025, "From RAG to Memory" (HippoRAG 2)."""
PASSAGES = 0.05
"""Weight of the turns' own nearness in the start of a walk. Source: the same."""
SUMMARY_TOKENS = 512
"""Source: appendix B.6."""
SENTENCE = re.compile(r"(?<=[.!?])\s+")
REWRITE = (
    "You rewrite what a user asks into a search query over their earlier messages. Name the kind of preference, habit "
    "or constraint that would help to answer, in a few words and synonyms. Reply with the query alone."
)

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was said so far, as every system gets it."""

    corpus: Corpus
    texts: tuple[str, ...]
    own: NDArray[np.bool_]
    """Which turns are the user's, `(n,)`."""
    facts: tuple[Fact, ...]
    """Current facts, oldest first."""
    summary: str
    """What a running summary holds."""
    encoder: Encoder
    model: LanguageModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A ranking, best first, and what it took."""

    turn_ids: tuple[str, ...]
    ms: float
    """Without the encoding of the question."""
    encoded: int
    """Questions encoded."""
    read: int = 0
    """Tokens that a model read and wrote to find it."""


def rank_all(text: str, lead: str, history: History) -> dict[str, Ranked]:
    """Return the rankings of every system for one question.

    Args:
        text: the question.
        lead: what was said right before it; "" where the question stands alone.
        history: the turns so far.
    """
    vector = history.encoder.encode([text])[0]
    _index(history)
    found = {
        name: _timed(partial(rank, text, vector, history.corpus), encoded=name != "bm25")
        for name, rank in BASELINES.items()
    }
    joined = history.encoder.encode([f"{lead} {text}".strip()])[0]
    found["dense+user"] = _timed(lambda: history.corpus.ranked((history.corpus.vectors @ vector) * history.own))
    found["dense+turn"] = _timed(lambda: history.corpus.ranked(history.corpus.vectors @ joined))
    found["dense+rerank"] = _timed(lambda: _reranked(vector, history))
    found["hipporag"] = _timed(lambda: _walked(vector, history))
    found["summary"] = _timed(lambda: _summarised(vector, history))
    if history.model is not None:
        found["rewrite"] = _rewritten(text, lead, history, history.model)
    return found


def _index(history: History) -> None:
    """Encode what the systems keep beside the turns: that is no part of answering a question."""
    names = dict.fromkeys(name for fact in history.facts for name in _names(fact))
    sentences = [sentence for text in history.texts for sentence in SENTENCE.split(text)]
    history.encoder.encode([*names, *map(_sentence, history.facts), *sentences])


def _timed(rank: Callable[[], Sequence[str]], *, encoded: bool = True) -> Ranked:
    start = time.perf_counter()
    turn_ids = tuple(rank()[:POOL])
    return Ranked(turn_ids=turn_ids, ms=(time.perf_counter() - start) * 1000, encoded=int(encoded))


def _reranked(vector: NDArray[np.float32], history: History) -> list[str]:
    """Rank the 64 nearest turns again: mean of the whole turn's nearness and that of its nearest sentence.

    A cross-encoder, as in the paper, does not come with Doxa; this is the second look that its encoder can take.
    """
    corpus = history.corpus
    near = corpus.vectors @ vector
    pool = np.lexsort((-np.arange(len(near)), -near))[:POOL]
    best = [max(history.encoder.encode(SENTENCE.split(history.texts[place])) @ vector) + near[place] for place in pool]
    return [corpus.turn_ids[pool[row]] for row in np.argsort(-np.array(best), kind="stable")]


def _walked(vector: NDArray[np.float32], history: History) -> list[str]:
    """Rank turns by Personalized PageRank from the names in the nearest facts; without facts, by meaning.

    Nodes are the names of subjects and objects and the turns; edges join the two names of a fact, a name and the
    turns that tell its facts, and names that mean the same. Source: Gutierrez et al. 2024 and 2025. Cost
    O(rounds x nodes^2) on a history of a hundred turns.
    """
    corpus, facts = history.corpus, history.facts
    near = corpus.vectors @ vector
    if not facts:
        return corpus.ranked(near)
    names = {name: place for place, name in enumerate(dict.fromkeys(n for fact in facts for n in _names(fact)))}
    turns = {turn_id: len(names) + place for place, turn_id in enumerate(corpus.turn_ids)}
    edges = np.zeros((len(names) + len(turns),) * 2)
    for fact in facts:
        first, second = (names[name] for name in _names(fact))
        _join(edges, first, second)
        for turn_id in fact.turn_ids:
            if turn_id in turns:
                _join(edges, first, turns[turn_id])
                _join(edges, second, turns[turn_id])
    meanings = history.encoder.encode(tuple(names))
    alike = meanings @ meanings.T
    for first, second in np.argwhere(np.triu(alike >= SAME, 1)):
        _join(edges, int(first), int(second), float(alike[first, second]))
    start = np.zeros(len(edges))
    start[len(names) :] = PASSAGES * np.maximum(near, 0)
    closeness = history.encoder.encode([_sentence(fact) for fact in facts]) @ vector
    told = np.bincount([names[name] for fact in facts for name in _names(fact)], minlength=len(names))
    for place in np.argsort(-closeness, kind="stable")[:LINKED]:
        for name in _names(facts[int(place)]):
            start[names[name]] += max(float(closeness[place]), 0.0) / told[names[name]]
    mass = _pagerank(edges, start)
    return corpus.ranked(mass[len(names) :])


def _names(fact: Fact) -> tuple[str, str]:
    return str(fact.subject), str(fact.object)


def _sentence(fact: Fact) -> str:
    return f"{fact.subject} {'' if fact.polarity else 'not '}{fact.relation} {fact.object}"


def _join(edges: Scores, first: int, second: int, weight: float = 1.0) -> None:
    if first != second:
        edges[first, second] += weight
        edges[second, first] += weight


def _pagerank(edges: Scores, start: Scores) -> Scores:
    """Return where a walk ends that starts over with 15%. Source: Page et al. 1999."""
    start = start / start.sum() if start.sum() else np.full(len(start), 1 / len(start))
    out = edges.sum(axis=1, keepdims=True)
    step: Scores = edges / np.where(out > 0, out, 1.0)
    mass = start.copy()
    for _ in range(ROUNDS):
        lost = mass[out[:, 0] == 0].sum()
        moved: Scores = (1 - DAMPING) * start + DAMPING * (mass @ step + lost * start)
        if np.abs(moved - mass).sum() < TOLERANCE:
            return moved
        mass = moved
    return mass


def _summarised(vector: NDArray[np.float32], history: History) -> list[str]:
    """Rank the turns of the facts that the summary still tells, the facts by meaning."""
    lines = history.summary.casefold()
    kept = [fact for fact in history.facts if str(fact.object).casefold() in lines]
    if not kept:
        return []
    closeness = history.encoder.encode([_sentence(fact) for fact in kept]) @ vector
    order = np.argsort(-closeness, kind="stable")
    return list(dict.fromkeys(turn_id for place in order for turn_id in kept[int(place)].turn_ids))


def _rewritten(text: str, lead: str, history: History, model: LanguageModel) -> Ranked:
    """Ask a model for a better query. When it fails the question stays as it is."""
    messages = [
        Message(role="system", content=REWRITE),
        Message(role="user", content=f"{lead}\n{text}".strip()),
    ]
    start = time.perf_counter()
    try:
        done = model.complete(messages, temperature=0.0, max_tokens=128)
        query, read = done.text.strip() or text, done.usage.prompt_tokens + done.usage.completion_tokens
    except BackendError:
        query, read = text, 0
    waited = (time.perf_counter() - start) * 1000
    vector = history.encoder.encode([query])[0]
    ranked = _timed(lambda: history.corpus.ranked(history.corpus.vectors @ vector))
    return Ranked(turn_ids=ranked.turn_ids, ms=waited + ranked.ms, encoded=1, read=read)


def tokens_of(turn_ids: Sequence[str], texts: Mapping[str, str]) -> int:
    """Return the tokens of some turns, as a model would read them."""
    return sum(estimate_tokens(texts[turn_id]) for turn_id in turn_ids if turn_id in texts)
