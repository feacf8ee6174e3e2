from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.commonsense.background import Spec
from doxa.commonsense.base import Rows
from doxa.commonsense.bridge import Bridging
from doxa.commonsense.context import Context
from doxa.commonsense.region import Pool
from doxa.commonsense.retrieval import Retrieval, Scored
from doxa.commonsense.search import EXPLORATION, HORIZON, PRUNED, RETURNED, Budget, Moves, search

CASES = 200
NOISE = 0.1
DIMS = 8


def units(draw, *shape):
    rows = draw.normal(size=shape)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


class RandomWalk:
    """A small random base: each sentence is left by a group, whose 3 to 12 sentences may follow."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        self.size = int(draw.integers(10, 41))
        self.vectors, self.context, self.inference = units(draw, self.size, DIMS), units(draw, DIMS), units(draw, DIMS)
        groups = int(draw.integers(2, max(3, self.size // 3)))
        sizes = np.minimum(draw.integers(3, 13, size=groups), self.size)
        self.groups = [draw.choice(self.size, size=size, replace=False) for size in sizes]
        self.mark = draw.integers(-1 if draw.random() < 0.3 else 0, groups, size=self.size)
        self.wanted = draw.choice(groups, size=int(draw.integers(1, min(groups, 4) + 1)), replace=False)
        self.noise = NOISE * draw.normal(size=self.size)

    def moves(self, path):
        group = self.mark[path[-1]] if path else None
        ids = self.first() if group is None else self.groups[group] if group >= 0 else np.empty(0, dtype=np.int64)
        ids = np.setdiff1d(ids, path)
        return Pool(ids, self.alone(ids) + self.noise[ids]).moves(())


class BridgingLike(RandomWalk):
    """Values the share of wanted groups that were passed, less the distance of the last sentence."""

    def first(self):
        return np.concatenate([self.groups[group] for group in self.wanted])

    def alone(self, ids):
        return self.values((), ids)

    def values(self, path, ids):
        passed = np.isin(self.wanted, self.mark[list(path)])
        shares = (passed | (self.mark[ids][:, None] == self.wanted)).mean(axis=1)
        return shares - np.sqrt(0.5 - 0.5 * self.vectors[ids] @ self.context)


class RetrievalLike(RandomWalk):
    """Values the sum of what each sentence is worth, less its greatest similarity to those before it."""

    def first(self):
        return np.arange(self.size)

    def alone(self, ids):
        return self.vectors[ids] @ (self.context + self.inference)

    def values(self, path, ids):
        before = float(self.values(path[:-1], np.array(path[-1:]))[0]) if path else 0.0
        similar = (self.vectors[ids] @ self.vectors[list(path)].T).max(axis=1, initial=0.0)
        return before + (self.alone(ids) - similar) / HORIZON


def small_base(seed):
    """Return a base in memory, a conversation about some of its words, and an inference.

    A sentence is a set of words, some of which are concepts; its vector is the mean of theirs with some noise.
    """
    draw = np.random.default_rng(seed)
    size, words = int(draw.integers(10, 41)), int(draw.integers(10, 40))
    concepts, groups = min(int(draw.integers(4, 16)), words), int(draw.integers(2, max(3, size // 4)))
    word_vectors = units(draw, words, DIMS).astype(np.float32)
    said = [np.sort(draw.choice(words, size=int(draw.integers(2, 7)), replace=False)) for _ in range(size)]
    group_of = draw.integers(0, groups, size=concepts).astype(np.int32)
    members = [np.flatnonzero([group in group_of[one[one < concepts]] for one in said]) for group in range(groups)]
    members = [np.sort(draw.permutation(one)[:12]) for one in members]
    about = draw.choice(words, size=int(draw.integers(3, 10)), replace=False)

    def vector_of(rows):
        mean = word_vectors[rows].mean(axis=0) + NOISE * units(draw, DIMS)
        return (mean / np.linalg.norm(mean)).astype(np.float32)

    vectors = np.stack([vector_of(one) for one in said])
    base = SimpleNamespace(
        vectors=lambda ids: vectors[ids],
        similarity=lambda ids, targets: vectors[ids] @ targets.T,
        word_counts=lambda ids: rows_of(said).sizes(ids),
        expect=lambda ids: None,
        word_vectors=lambda ids: word_vectors[ids],
        concept_vectors=lambda ids: word_vectors[ids],
        sentence_words=rows_of(said),
        sentence_concepts=rows_of([one[one < concepts] for one in said]),
        group_sentences=rows_of(members),
        concept_group=group_of,
        group_vectors=units(draw, groups, DIMS).astype(np.float32),
    )
    explicit = about[about < concepts]
    context = Context(
        utterances=(),
        vector=vector_of(about),
        utterance_vectors=np.empty((0, DIMS), dtype=np.float32),
        concepts=tuple(f"concept {one}" for one in explicit),
        concept_vectors=word_vectors[explicit],
        groups=group_of[explicit],
        word_vectors=word_vectors[about],
    )
    return base, context, vector_of(draw.permutation(about)[:3])


def rows_of(lists):
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Rows(starts, np.concatenate(lists).astype(np.int32))


def real_bridging(seed):
    base, context, _ = small_base(seed)
    return Bridging(context, base)


def real_retrieval(seed):
    base, context, inference = small_base(seed)
    every = np.arange(len(base.sentence_words.starts) - 1)
    return Retrieval(base, Scored(every, base, context=context.vector, inferences=inference[None]), 0)


class Table:
    """All that a walk says of every path, worked out once; counts what is asked of it."""

    def __init__(self, walk, horizon=HORIZON, budget=None):
        self.said, self.asked, self.budget = {}, [], budget
        paths = [()]
        for _ in range(horizon):
            for path in paths:
                moves = walk.moves(path)
                values = walk.values(path, moves.ids) if len(moves.ids) else np.empty(0)
                self.said[path] = moves, dict(zip(moves.ids.tolist(), values.tolist(), strict=True))
            paths = [(*path, move) for path in paths for move in self.said[path][0].ids.tolist()]
        self.values_of = {(*path, move): value for path, (_, row) in self.said.items() for move, value in row.items()}
        self.best = max(self.values_of.values(), default=None)

    def moves(self, path):
        return self.said[path][0]

    def values(self, path, ids):
        self.asked.append(len(ids))
        return np.array([self.said[path][1][one] for one in ids.tolist()])


WALKS = {
    "bridging-like": (BridgingLike, Spec().bridging),
    "retrieval-like": (RetrievalLike, Spec().retrieval),
    "bridging": (real_bridging, Spec().bridging),
    "retrieval": (real_retrieval, Spec().retrieval),
}


@pytest.fixture(scope="module", params=WALKS.values(), ids=WALKS)
def tables(request):
    walk, budget = request.param
    return [Table(walk(seed), budget=budget) for seed in range(CASES)]


def test_the_search_reaches_the_best_path_there_is(tables):
    """In at least 90 of 100 small bases, at the default budget of each walk."""
    tried = [table for table in tables if table.best is not None]
    reached = [
        search(table, table.budget, seed=seed).values[0] >= table.best - 1e-6 for seed, table in enumerate(tried)
    ]
    assert len(tried) > 0.9 * CASES
    assert np.mean(reached) >= 0.9, f"reached in {np.mean(reached):.3f} of {len(tried)}"


def test_most_bases_are_too_large_to_be_searched_through(tables):
    larger = [len(table.values_of) > table.budget.expansions * RETURNED for table in tables]
    assert np.mean(larger) > 0.7


class Tree:
    """A walk over a random tree, with dead ends, that checks what it is asked."""

    def __init__(self, seed, *, width=12, dead=0.2):
        self.seed, self.width, self.dead = seed, width, dead
        self.opened, self.judged = [], []

    def _draw(self, path):
        return np.random.default_rng([self.seed, *path])

    def moves(self, path):
        assert path not in self.opened
        self.opened.append(path)
        draw = self._draw(path)
        size = 0 if path and draw.random() < self.dead else int(draw.integers(1, self.width + 1))
        priors = np.sort(draw.random(size))[::-1]
        return Moves(draw.permutation(100)[:size], priors / priors.sum())

    def values(self, path, ids):
        self.judged.append(len(ids))
        return np.array([self._draw((*path, one, 7)).normal() for one in ids.tolist()])


SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=40)


@few
@given(SEEDS, st.integers(0, 60), st.integers(1, 4), st.integers(1, 6))
def test_what_is_found_keeps_the_laws(seed, expansions, horizon, returned):
    walk = Tree(seed)
    found = search(walk, Budget(expansions=expansions), horizon=horizon, returned=returned, seed=seed)
    assert found.expansions == len(walk.judged) <= expansions
    assert all(0 < judged <= returned for judged in walk.judged)
    assert sum(walk.judged) == len(found.paths) == len(found.values) == len(set(found.paths))
    assert all(1 <= len(path) <= horizon for path in found.paths)
    assert {path[:-1] for path in found.paths} <= {(), *found.paths}
    assert all(len(path) < horizon for path in walk.opened)
    assert list(found.values) == sorted(found.values, reverse=True)
    for path, value in zip(found.paths, found.values, strict=True):
        assert walk.values(path[:-1], np.array(path[-1:])).tolist() == [value]
    assert found.best == (found.paths[0] if found.paths else ())


@few
@given(SEEDS, SEEDS)
def test_equal_seeds_and_budgets_give_equal_results(seed, other):
    assert search(Tree(seed), Budget(expansions=20), seed=other) == search(
        Tree(seed), Budget(expansions=20), seed=other
    )


@few
@given(SEEDS, st.integers(0, 40), st.integers(1, 40))
def test_a_larger_budget_judges_all_that_a_smaller_one_does_and_finds_no_less(seed, expansions, more):
    less, found = (search(Tree(seed), Budget(expansions=size)) for size in (expansions, expansions + more))
    assert set(less.paths) <= set(found.paths)
    assert max(less.values, default=-np.inf) <= max(found.values, default=-np.inf)


@few
@given(SEEDS, st.integers(1, 3))
def test_a_budget_that_is_large_enough_judges_every_path_and_then_ends(seed, horizon):
    walk = Tree(seed, width=6)
    found = search(walk, Budget(expansions=10_000), horizon=horizon)
    everything = Table(Tree(seed, width=6), horizon)
    assert dict(zip(found.paths, found.values, strict=True)) == everything.values_of
    assert found.expansions < 10_000


def test_the_seed_decides_between_moves_that_are_alike():
    class Alike(Tree):
        def moves(self, path):
            return Moves(np.arange(20), np.full(20, 1 / 20))

        def values(self, path, ids):
            return np.zeros(len(ids))

    orders = {search(Alike(0), Budget(expansions=12), seed=seed).paths for seed in range(20)}
    assert len(orders) > 1


@pytest.mark.parametrize(
    "budget", [Budget(), Budget(expansions=0), Budget(ms=0)], ids=["full", "no expansion", "no time"]
)
def test_without_moves_or_without_budget_no_path_is_found(budget):
    class Nowhere(Tree):
        def moves(self, path):
            return Moves(np.empty(0, dtype=np.int64), np.empty(0))

    walk = Nowhere(1) if budget == Budget() else Tree(1)
    found = search(walk, budget)
    assert (found.paths, found.values, found.expansions, found.best) == ((), (), 0, ())
    assert walk.judged == []


def test_the_search_stops_when_its_time_is_up(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("doxa.commonsense.search.time.perf_counter", lambda: next(clock) / 1000)
    assert search(Tree(1), Budget(expansions=50, ms=6.5)).expansions == 6


def test_the_limits_are_those_of_the_paper():
    assert (HORIZON, PRUNED, RETURNED) == (3, 50, 5)
    assert pytest.approx(2**-0.5) == EXPLORATION


@pytest.mark.parametrize("limits", [{"horizon": 0}, {"returned": 0}])
def test_limits_that_leave_nothing_to_search_are_an_error(limits):
    with pytest.raises(ValueError, match="1 or more"):
        search(Tree(1), **limits)


def test_the_worth_of_a_path_does_not_depend_on_what_values_of_other_lengths_are():
    """A bonus for each step leaves the same path of three steps the best one, and the search as it was."""

    class Steps(Tree):
        def values(self, path, ids):
            return super().values(path, ids) + 1_000.0 * len(path)

    plain, raised = search(Tree(4), Budget(expansions=30)), search(Steps(4), Budget(expansions=30))
    assert set(plain.paths) == set(raised.paths)
