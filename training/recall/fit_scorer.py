"""Fits what every score of a turn counts in the unified score, and writes the weights that ship.

    python training/recall/fit_scorer.py ingest --data ../shared/data --store build/ranking.db
    python training/recall/fit_scorer.py fit --data ../shared/data --store build/ranking.db --write

The features are those that search itself computes: every question is looked up in a memory that was filled by the
engine, and the scores of the candidates are what is weighed. The loss is listwise (softmax over the candidates, the
evidence of a question shares its mass); all weights are at least 0, so that no score of a view ever counts against a
turn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from conversations import Conversation, Question, draw_worlds, read_longmemeval, read_persona_chats
from numpy.typing import NDArray
from scipy.optimize import minimize

from doxa.core.config import Config
from doxa.engine import Doxa
from doxa.recall import load_weights, read_query, save_weights, shipped
from doxa.recall.search import look_up
from doxa.recall.spec import RecallSpec
from doxa.recall.weights import LEADS, Scorer, Weights
from doxa_bench.metrics import mean, ndcg_at, recall_at, standard_error

PERSONA = 9
"""Joined persona chats that are used: as many questions as LongMemEval has, about."""
WORLDS = 40
SHARES = (2.0, 1.0, 1.0)
"""How much the mean loss of LongMemEval, of the chats and of the worlds counts: what people asked themselves counts
more than what was turned into questions."""
PENALTY = 1e-3
"""Weight of the squared weights, in units of a score's spread within a question."""
WIDTH, FOLDS, TOP = 128, 5, 10
DENSE = ("dense", "sentence", "dense_near")
SPEC = RecallSpec(deadline_ms=0, expand=False)
WEIGHTS = Path(__file__).parents[2] / "src" / "doxa" / "recall" / "weights.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One question with the scores of its candidates, `(k, names)`, and which of them are evidence, `(k,)`."""

    turn_ids: tuple[str, ...]
    scores: NDArray[np.float32]
    question: Question

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which candidates are evidence."""
        return np.array([turn_id in self.question.evidence for turn_id in self.turn_ids])


def conversations(data: Path) -> list[list[Conversation]]:
    """Return what is trained on, by set."""
    chats = islice(read_persona_chats(data), PERSONA)
    return [[read_longmemeval(data)], list(chats), list(draw_worlds(data, WORLDS))]


def ingest(told: Iterable[Conversation], store: Path) -> None:
    """Fill one memory a conversation."""
    store.parent.mkdir(parents=True, exist_ok=True)
    with Doxa.open(store, config=Config()) as doxa:
        for conversation in told:
            for line in conversation.lines:
                chat = doxa.dialogue(user=conversation.name, session=line.session)
                chat.absorb(line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id)
            doxa.flush()
            print(conversation.name, len(conversation.lines), flush=True)


def look_up_all(told: Iterable[Conversation], doxa: Doxa) -> tuple[tuple[str, ...], list[Group]]:
    """Return the names of the scores and a group a question."""
    names: tuple[str, ...] = ()
    groups, parts = [], doxa._parts  # training looks behind the front door
    for conversation in told:
        with parts.log.user(conversation.name) as state:
            for question in conversation.questions:
                query = read_query(question.text, state, at=question.at)
                vector = parts.queries.encode([query.wording])[0]
                seeks = query.seeks | ({"preference"} if question.advice else frozenset())
                found = look_up(replace(query, vector=vector, seeks=seeks), state, spec=SPEC)
                names = tuple(found.scores)
                ids = [state.turns[state.places[place]].turn_id for place in found.places.tolist()]
                known = [row for row, turn_id in enumerate(ids) if _said_by_then(turn_id, question)]
                scores = np.stack([found.scores[name] for name in names], axis=1)[known].astype(np.float32)
                groups.append(Group(turn_ids=tuple(ids[row] for row in known), scores=scores, question=question))
    return names, groups


def _said_by_then(turn_id: str, question: Question) -> bool:
    return question.after is None or int(turn_id.rpartition(":")[2]) < question.after


def fit(sets: Sequence[Sequence[Group]], shares: Sequence[float]) -> NDArray[np.float32]:
    """Return the weights, `(names,)`, all 0 or more, that minimise the listwise loss of all sets together."""
    packed = [_packed(groups) for groups in sets]
    spread = np.mean([_spread(scores, there) for scores, _, there in packed], axis=0) + 1e-3
    scaled = [(scores / spread, share, there) for scores, share, there in packed]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = PENALTY * float(weights @ weights), 2 * PENALTY * weights
        for (scores, wanted, there), counts in zip(scaled, shares, strict=True):
            logits = np.where(there, scores @ weights, -1e9)
            logits = logits - logits.max(axis=1, keepdims=True)
            mass = np.exp(logits).sum(axis=1, keepdims=True)
            total -= counts * float((wanted * (logits - np.log(mass))).sum(axis=1).mean())
            error = (np.exp(logits) / mass - wanted) * there
            slope = slope + counts * np.einsum("nk,nkf->f", error, scores) / len(scores)
        return total, slope

    start = np.full(len(spread), 0.1)
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(spread))
    return np.asarray(best.x / spread, dtype=np.float32)


def _packed(groups: Sequence[Group]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    kept = [group for group in groups if group.found.any()]
    scores = np.zeros((len(kept), WIDTH, kept[0].scores.shape[1]))
    wanted, there = np.zeros((len(kept), WIDTH)), np.zeros((len(kept), WIDTH), dtype=bool)
    for row, group in enumerate(kept):
        size = len(group.turn_ids)
        scores[row, :size], there[row, :size] = group.scores, True
        wanted[row, :size] = group.found / group.found.sum()
    return scores, wanted, there


def _spread(scores: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the standard deviation of every score within a question: what ranking is about."""
    size = there.sum(axis=1)[:, None, None]
    centred = scores - (scores * there[..., None]).sum(axis=1, keepdims=True) / size
    spread: NDArray[np.float64] = np.sqrt((centred**2 * there[..., None]).sum(axis=(0, 1)) / there.sum())
    return spread


def measure(groups: Sequence[Group], totals: Sequence[NDArray[np.float32]]) -> dict[str, Any]:
    """Return Recall@10 and nDCG@10 with their standard errors."""
    recalls, ndcgs = [], []
    for group, total in zip(groups, totals, strict=True):
        ranking = [group.turn_ids[row] for row in np.argsort(-total, kind="stable")]
        recalls.append(recall_at(ranking, group.question.evidence, TOP))
        ndcgs.append(ndcg_at(ranking, group.question.evidence, TOP))
    return {
        "n": len(groups),
        "recall@10": (round(mean(recalls), 4), round(standard_error(recalls), 4)),
        "ndcg@10": (round(mean(ndcgs), 4), round(standard_error(ndcgs), 4)),
    }


def held_out(groups: Sequence[Group], others: Sequence[Sequence[Group]]) -> dict[str, Any]:
    """Return the measures of LongMemEval, every question ranked by weights that were fitted without it."""
    totals: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(groups)
    for fold in range(FOLDS):
        kept = [group for row, group in enumerate(groups) if row % FOLDS != fold]
        weights = fit([kept, *others], SHARES)
        for row in range(fold, len(groups), FOLDS):
            totals[row] = groups[row].scores @ weights
    return measure(groups, totals)


def as_weights(names: Sequence[str], fitted: NDArray[np.float32], old: Weights, encoder: str) -> Weights:
    """Return the weights that ship with what was fitted put in, scaled to a sum of 1; all else stays as it is."""
    weigh = dict(zip(names, map(float, fitted / fitted.sum()), strict=True))
    dense, told = weigh["dense"], dict(zip(old.views, old.mix[LEADS.index("dense")].tolist(), strict=True))
    # What was not there to be fitted keeps its ratio to meaning.
    kept = {name: weight * dense / told["dense"] for name, weight in told.items() if weight and name not in weigh}
    scorers = {}
    for view, of in (("dense", DENSE), ("graph", tuple(name for name in names if name.startswith("graph")))):
        parts = np.array([weigh.pop(name) for name in of], dtype=np.float32)
        scale = float(parts.max()) or 1.0
        scorers[view], kept[view] = Scorer(names=of, weight=parts / np.float32(scale)), scale
    row = {**weigh, **kept}
    note = "unified score: LongMemEval, Synthetic-Persona-Chat, worlds of preferences (training/recall/fit_scorer.py)"
    return replace(
        old,
        views=tuple(row),
        mix=np.tile(np.array(list(row.values()), dtype=np.float32), (len(LEADS), 1)),
        **scorers,
        encoder=encoder,
        note=note,
    )


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=sorted(STEPS))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--store", type=Path, default=Path("build/ranking.db"))
    parser.add_argument("--write", action="store_true", help="put the weights where they ship")
    arguments = parser.parse_args()
    STEPS[arguments.step](arguments)


def _ingest(arguments: argparse.Namespace) -> None:
    ingest((one for told in conversations(arguments.data) for one in told), arguments.store)


def _fit(arguments: argparse.Namespace) -> None:
    with Doxa.open(arguments.store, config=Config()) as doxa:
        looked_up = [look_up_all(told, doxa) for told in conversations(arguments.data)]
        encoder = doxa._parts.encoder.name
    names, old = looked_up[0][0], shipped()
    sets = [groups for _, groups in looked_up]
    before = [old.unified(dict(zip(names, group.scores.T, strict=True)), "lexical") for group in sets[0]]
    print("LongMemEval, weights so far:", json.dumps(measure(sets[0], before)))
    print("LongMemEval, held-out folds:", json.dumps(held_out(sets[0], sets[1:])))
    weights = fit(sets, SHARES)
    for name, groups in zip(("LongMemEval", "chats", "worlds"), sets, strict=True):
        print(f"{name}, trained on:", json.dumps(measure(groups, [group.scores @ weights for group in groups])))
    print({name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)})
    if arguments.write:
        save_weights(as_weights(names, weights, old, encoder), WEIGHTS)
        print("written", load_weights(WEIGHTS).checksum())


STEPS: dict[str, Callable[[argparse.Namespace], None]] = {"ingest": _ingest, "fit": _fit}

if __name__ == "__main__":
    main()
