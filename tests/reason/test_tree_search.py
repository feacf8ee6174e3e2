"""The search by itself, over roles and tools that are made up: what it promises holds for any of them."""

import hashlib
from collections import Counter
from datetime import date
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.values import Draft, Fact, Relation, Term
from doxa.reason.tree import (
    Answer,
    Ask,
    ExpandEntity,
    Proposal,
    Recalled,
    State,
    Task,
    Think,
    Tools,
    TreeSpec,
    search_tree,
    tree_data,
)

TASK = Task(text="Where does it end?", today=date(2024, 1, 1))
LETTERS = "abcd"


def share(*of: object) -> float:
    """Return a number from 0 to 1 that hangs on what is given, and on nothing else."""
    digest = hashlib.blake2s(repr(of).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32


def thoughts(state: State) -> list[str]:
    return sorted({step.observation for step in state.steps if step.observation})


class Thinker:
    """A policy that thinks of letters, and answers with those that it has thought of."""

    def __init__(self, seed: int = 0, fails: float = 0.0) -> None:
        self.seed, self.fails, self.asked = seed, fails, 0

    def propose(self, states, task, width):
        self.asked += len(states)
        return [self._moves(state, width) for state in states]

    def _moves(self, state, width):
        known = thoughts(state)
        if share(self.seed, "fails", known) < self.fails:
            return []
        moves = [Proposal(Think(letter), 0.9 / len(LETTERS)) for letter in LETTERS if letter not in known]
        moves = moves[: width - 1]
        if known:
            moves.append(Proposal(Answer(), 0.1, Draft(text="".join(known), value="".join(known))))
        return moves


class Judge:
    """A valuer that gives what knows the same the same value, and counts how often it was asked about it."""

    def __init__(self, seed: int = 0, fails: float = 0.0) -> None:
        self.seed, self.fails, self.seen = seed, fails, Counter()

    def score(self, states, task):
        self.seen.update(state.key for state in states)
        return [self._value(state) for state in states]

    def _value(self, state):
        told = (self.seed, thoughts(state), state.terminal)
        return None if share("lost", told) < self.fails else share(told)


class Mute:
    """A writer that has nothing to say, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def write(self, states, task):
        self.asked += len(states)
        return [None for _ in states]


def fact(name: str) -> Fact:
    return Fact(fact_id=name, subject=Term(name, name), relation=Relation("has", "has"), object=Term("x", "x"))


def tools(**given) -> Tools:
    nothing = {
        "expand": lambda entity, hops: [],
        "paths": lambda source, target, k: [],
        "recall": lambda query, day: Recalled(),
        "turn": lambda turn_id: None,
    }
    return Tools(**{**nothing, **given})


def grown(spec: TreeSpec, seed: int = 0, fails: float = 0.0, **given):
    judge = Judge(seed, fails)
    return search_tree(TASK, Thinker(seed, fails), judge, Mute(), tools(), spec, **given), judge


SPECS = st.builds(
    TreeSpec,
    beam=st.integers(1, 4),
    branching=st.integers(1, 5),
    depth=st.integers(1, 6),
    expansions=st.integers(1, 20),
    order=st.sampled_from(["beam", "best-first"]),
    prune=st.sampled_from([0.0, 0.8]),
    seed=st.integers(0, 3),
)


@given(spec=SPECS, seed=st.integers(0, 50), fails=st.sampled_from([0.0, 0.3]))
@settings(max_examples=150, deadline=None)
def test_laws_of_the_search(spec, seed, fails):
    """No state is scored twice, nothing is deeper or dearer than allowed, and the same search gives the same tree."""
    tree, judge = grown(spec, seed, fails)
    assert max(judge.seen.values(), default=0) <= 1
    assert all(node.state.depth <= spec.depth for node in tree.nodes if node.standing != "merged")
    assert sum(node.standing == "expanded" for node in tree.nodes) <= spec.expansions
    policy = tree.calls["policy"] * spec.branching
    assert policy + tree.calls["value"] + tree.calls["writer"] <= spec.most_calls
    again, _ = grown(spec, seed, fails)
    assert tree_data(again) == tree_data(tree)


@given(spec=SPECS, seed=st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_the_best_answer_that_was_reached_is_given(spec, seed):
    """An answer that falls off the beam is kept: nothing that was scored ranks above what is given."""
    tree, _ = grown(spec, seed)
    answers = [node.state for node in tree.nodes if node.standing == "answer"]
    rank = [state.value * spec.discount**state.depth for state in answers]
    assert not answers or tree.best.state.value * spec.discount**tree.best.state.depth == max(rank)


@given(seed=st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_stopping_early_misses_nothing(seed):
    """With room for everything and no pruning, the answer is the best of the whole tree."""
    spec = TreeSpec(beam=99, branching=9, depth=5, expansions=999, prune=0.0)
    tree, _ = grown(spec, seed)
    everything = [set(letters) for size in range(1, 5) for letters in combinations(LETTERS, size)]
    best = max(share((seed, sorted(one), True)) * spec.discount ** (len(one) + 1) for one in everything)
    assert tree.best.state.value * spec.discount**tree.best.state.depth == pytest.approx(best)


@given(seed=st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_both_orders_agree_where_both_see_everything(seed):
    """Beam and best-first give the same answer when neither leaves anything out."""
    found = []
    for order in ("beam", "best-first"):
        tree, _ = grown(TreeSpec(beam=99, branching=9, depth=5, expansions=999, prune=0.0, order=order), seed)
        found.append((tree.draft.value, tree.best.state.value, tree.best.state.depth))
    assert found[0] == found[1]


def test_a_sure_answer_asks_nobody():
    """When the first answer needs no search, no role and no tool is asked."""
    policy, judge, writer = Thinker(), Judge(), Mute()
    first = Draft(text="At home.", value="home", confidence=0.95)
    tree = search_tree(TASK, policy, judge, writer, tools(), TreeSpec(), first=first, sure=True)
    assert (policy.asked, len(judge.seen), writer.asked) == (0, 0, 0)
    assert tree.draft == first
    assert tree.stopped_because == "the answer at the root is sure"


def test_ways_to_the_same_knowledge_are_one_state():
    """Thinking a then b, and b then a, is one state that is scored once; the likelier way to it is kept."""
    tree, judge = grown(TreeSpec(beam=9, branching=9, depth=3, expansions=99, prune=0.0))
    pairs = [node for node in tree.nodes if thoughts(node.state) == ["a", "b"] and not node.state.terminal]
    assert [node.standing for node in pairs].count("merged") == len(pairs) - 1
    assert sum(count for key, count in judge.seen.items() if key == pairs[0].state.key) == 1


def test_looking_without_finding_is_no_new_state():
    """An expansion that brings nothing is the state that it came from."""

    class Looker(Thinker):
        def _moves(self, state, width):
            return [Proposal(ExpandEntity(Term("ana", "Ana")), 1.0)]

    tree = search_tree(TASK, Looker(), Judge(), Mute(), tools(), TreeSpec())
    assert [node.standing for node in tree.nodes] == ["expanded", "merged"]
    assert tree.draft is None


def test_what_is_found_is_in_the_subgraph_and_the_trace():
    """Facts that a move adds are told in the trace by their ids, with what the move was worth by both measures."""
    found = tools(expand=lambda entity, hops: [fact("f1"), fact("f2")])

    class Looker(Thinker):
        def _moves(self, state, width):
            if state.facts:
                return [Proposal(Answer(), 0.5, Draft(text="There.", value="there"))]
            return [Proposal(ExpandEntity(Term("ana", "Ana")), 0.5)]

    tree = search_tree(TASK, Looker(), Judge(), Mute(), found, TreeSpec(prune=0.0))
    told = tree_data(tree)
    expanded = told["states"][1]
    assert (expanded["do"], expanded["facts"], expanded["p"]) == ("expand_entity", ["f1", "f2"], 0.5)
    answer = told["states"][told["best"]]
    assert (answer["answer"], answer["parent"], answer["depth"]) == ("there", 1, 2)
    assert answer["log_p"] == pytest.approx(-1.386, abs=0.001)


def test_a_role_that_fails_costs_a_branch():
    """A policy that fails for one state, and a valuer for another, leave the rest of the search as it is."""
    spec = TreeSpec(beam=9, branching=9, depth=4, expansions=99, prune=0.0)
    trees = [grown(spec, seed, fails=0.3)[0] for seed in range(10)]
    hurt = [tree for tree in trees if any(node.standing == "failed" for node in tree.nodes)]
    assert any(tree.draft is not None for tree in hurt)


def test_a_spent_budget_ends_the_search():
    """What says that the budget is spent is asked before every level, and its reason is told."""
    tree, _ = grown(TreeSpec(), halted=lambda: "the budget of calls is spent")
    assert tree.stopped_because == "the budget of calls is spent"
    assert tree.calls["policy"] == 0


def test_without_an_answer_the_best_states_are_written_from():
    """A search that never answers has the writer answer from what was gathered, in one call for the whole beam."""

    class Ponderer(Thinker):
        def _moves(self, state, width):
            known = thoughts(state)
            return [Proposal(Think(letter), 0.2) for letter in LETTERS if letter not in known][:width]

    class Teller(Mute):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def write(self, states, task):
            self.calls += 1
            return [Draft(text="".join(thoughts(state)), value="x", confidence=0.5) for state in states]

    writer = Teller()
    tree = search_tree(TASK, Ponderer(), Judge(), writer, tools(), TreeSpec(depth=2, prune=0.0))
    assert writer.calls == 1
    assert tree.draft is not None
    assert tree.stopped_because == "the greatest depth was reached"


def test_asking_back_ends_a_branch_and_may_win():
    """A clarifying question is a terminal state with the question as its text."""

    class Asker(Thinker):
        def _moves(self, state, width):
            return [Proposal(Ask("Which Leo?"), 1.0)]

    tree = search_tree(TASK, Asker(), Judge(), Mute(), tools(), TreeSpec())
    assert tree.draft is not None
    assert (tree.draft.text, tree.draft.abstained) == ("Which Leo?", True)
