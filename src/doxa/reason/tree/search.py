"""Search over the reasoning tree: Algorithm 2 of D-SMART, or best-first over the same states."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from doxa.core.values import Draft
from doxa.reason.tree.actions import Answer
from doxa.reason.tree.moves import carry_out
from doxa.reason.tree.roles import Policy, Proposal, Tools, Valuer, Writer
from doxa.reason.tree.spec import TreeSpec
from doxa.reason.tree.state import Key, State, Step, Task

__all__ = ["Node", "Tree", "search_tree"]

Standing = Literal["open", "expanded", "answer", "merged", "pruned", "failed"]


@dataclass(slots=True)
class Node:
    """A state with its place in the tree."""

    number: int
    parent: int | None
    state: State
    standing: Standing = "open"
    same_as: int | None = None
    """Of a merged state: the number of the one that it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What a search looked at and what it chose."""

    nodes: tuple[Node, ...]
    best: Node
    """The best answer; the root when there is none."""
    stopped_because: str
    calls: dict[str, int]
    """States that each role was asked about."""
    spec: TreeSpec

    @property
    def draft(self) -> Draft | None:
        """The answer of the best state; None when the search found none."""
        return self.best.state.draft


def search_tree(
    task: Task,
    policy: Policy,
    valuer: Valuer,
    writer: Writer,
    tools: Tools,
    spec: TreeSpec,
    *,
    first: Draft | None = None,
    sure: bool = False,
    halted: Callable[[], str] | None = None,
) -> Tree:
    """Return the tree that was grown for a question, with the best answer in it.

    Args:
        task: the question.
        policy: proposes moves; asked once a level.
        valuer: scores states; asked once a level.
        writer: answers from states for which the policy proposes ANSWER without saying what; asked once a level.
        tools: how moves reach the memory.
        spec: how far and how wide.
        first: the answer of the root, when there is one already; it competes with what is found.
        sure: whether the first answer needs no search; no role is asked then.
        halted: says why to stop (a budget that is spent), empty to go on; asked before every level.

    Guarantees: deterministic for a seed and deterministic roles. No state is scored twice, whatever ways lead to it
    (`State.key`). Roles are asked at most `spec.most_calls` times, counting S for every state whose moves are proposed.
    The early stop is admissible: an answer below an open state of depth d is at least d + 1 moves from the root, and
    values are 1 at most, so that its rank is `discount ** (d + 1)` at most; the search stops when the best answer ranks
    as high as that for every state that may still be expanded. Pruning (`spec.prune`) and the beam are heuristics: they
    may miss an answer, as in the paper.

    Cost: O(depth) rounds of one call to each role; O(n log n) for n states, beside what roles and tools cost.

    Source: D-SMART, Algorithm 2 and equation 3. Where we differ:
    - Terminal states compete for the beam (line 15), but one that falls off it is kept as an answer; in the paper it is
      lost, and the search may end with a state that answers nothing.
    - Equation 3 asks for the likeliest moves and Algorithm 2 ranks by value alone. Value comes first here, less a
      little for every move (which is what makes an early stop possible that misses nothing), then equation 3.
    - States that know the same are one state. The paper scores duplicates again (appendix B notes that they occur).
    - A role that fails costs the branch, not the answer.
    """
    return _Search(task, policy, valuer, writer, tools, spec, halted or (lambda: "")).run(first, sure=sure)


@dataclass(slots=True)
class _Search:
    """One search under way."""

    task: Task
    policy: Policy
    valuer: Valuer
    writer: Writer
    tools: Tools
    spec: TreeSpec
    halted: Callable[[], str]
    nodes: list[Node] = field(default_factory=list)
    by_key: dict[Key, Node] = field(default_factory=dict)
    answers: list[Node] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=lambda: {"policy": 0, "value": 0, "writer": 0})
    unscored: list[Node] = field(default_factory=list)
    """The answer of the root, worth its confidence until it is scored with the states of the first level."""
    expanded: int = 0

    def run(self, first: Draft | None, *, sure: bool) -> Tree:
        root = self._node(State(), None)
        if first is not None:
            step = Step(action=Answer(), turn_ids=_turns_of(first))
            known = self._node(replace(State().after(step, first), value=first.confidence), root)
            known.standing = "answer"
            self.answers.append(known)
            if sure:
                return self._tree("the answer at the root is sure")
            self.unscored.append(known)
        waiting = [root]
        reason = ""
        while not reason:
            batch, reason = self._batch(waiting)
            if batch:
                waiting = self._advance(waiting, batch)
        if not any(node.state.draft and not node.state.draft.abstained for node in self.answers):
            self._write_open(waiting)
        return self._tree(reason)

    def _batch(self, waiting: list[Node]) -> tuple[list[Node], str]:
        """Return the states to expand next, or none and why the search ends."""
        best = self._best()
        reachable = [node for node in waiting if node.state.depth < self.spec.depth]
        if not reachable:
            return [], "every state within reach was looked at" if not waiting else "the greatest depth was reached"
        room = min(self.spec.expansions - self.expanded, self._affordable())
        if room <= 0:
            return [], "the expansions were used up"
        why = self.halted()
        if why:
            return [], why
        if best is not None and self._rank_of(best)[0] <= -self._bound(reachable):
            return [], "no open state can lead to a better answer"
        pool = sorted([*reachable, *self.answers], key=self._rank_of)
        batch = [node for node in pool[: self.spec.beam] if not node.state.terminal]
        if not batch:
            return [], "the best states are all answers"
        return batch[:room], ""

    def _advance(self, waiting: list[Node], batch: list[Node]) -> list[Node]:
        """Expand states and return those that wait for it next."""
        for node in batch:
            node.standing = "expanded"
        self.expanded += len(batch)
        found = self._expand(batch)
        if self.spec.order == "best-first":
            chosen = {node.number for node in batch}
            found = [*(node for node in waiting if node.number not in chosen), *found]
        best = self._best()
        if best is not None:
            least = self.spec.prune * best.state.value
            for node in found:
                if node.state.value < least:
                    node.standing = "pruned"
        found = [node for node in found if node.standing == "open"]
        return sorted({node.number: node for node in found}.values(), key=self._rank_of)

    def _expand(self, batch: Sequence[Node]) -> list[Node]:
        """Return the new open states below some, and those that turned out to be nearer to the root than was known."""
        self.calls["policy"] += len(batch)
        proposed = self.policy.propose([node.state for node in batch], self.task, self.spec.branching)
        children: list[tuple[Node, State]] = []
        unwritten: list[tuple[Node, Proposal]] = []
        for node, proposals in zip(batch, proposed, strict=True):
            for proposal in proposals[: self.spec.branching]:
                if isinstance(proposal.action, Answer) and proposal.draft is None:
                    unwritten.append((node, proposal))
                else:
                    children.append((node, carry_out(proposal, node.state, self.task, self.tools)))
        children += self._written(unwritten)
        return self._admit(children)

    def _written(self, proposed: Sequence[tuple[Node, Proposal]]) -> list[tuple[Node, State]]:
        """Return the answers from states whose policy proposes to answer."""
        once = {node.number: (node, proposal) for node, proposal in proposed}
        if not once:
            return []
        self.calls["writer"] += len(once)
        drafts = self.writer.write([node.state for node, _ in once.values()], self.task)
        told = zip(once.values(), drafts, strict=True)
        return [
            (node, carry_out(replace(proposal, draft=draft), node.state, self.task, self.tools))
            for (node, proposal), draft in told
            if draft is not None
        ]

    def _admit(self, children: Sequence[tuple[Node, State]]) -> list[Node]:
        """Number new states and score them in one call; merge those that are known. Return the open ones."""
        new: list[Node] = []
        reopened: list[Node] = []
        for parent, state in sorted(children, key=lambda child: (child[1].depth, -child[1].log_probability)):
            known = self.by_key.get(state.key)
            node = self._node(state, parent)
            if known is None:
                new.append(node)
                continue
            node.standing, node.same_as = "merged", known.number
            if known.standing in ("open", "expanded", "answer") and _nearer(state, known.state):
                known.state, known.parent = replace(state, value=known.state.value), parent.number
                if known.standing == "expanded":
                    known.standing = "open"
                    reopened.append(known)
        self._score([*self.unscored, *new])
        self.unscored.clear()
        for node in new:
            if node.state.terminal and node.standing != "failed":
                node.standing = "answer"
                self.answers.append(node)
        return [node for node in (*new, *reopened) if node.standing == "open"]

    def _score(self, nodes: Sequence[Node]) -> None:
        """Value states that are new; one whose call fails is dropped, and its answer too."""
        if not nodes:
            return
        self.calls["value"] += len(nodes)
        for node, value in zip(nodes, self.valuer.score([node.state for node in nodes], self.task), strict=True):
            if value is not None:
                node.state = replace(node.state, value=min(max(value, 0.0), 1.0))
            elif node.standing != "answer":
                node.standing = "failed"

    def _write_open(self, waiting: Sequence[Node]) -> None:
        """Answer from the best open states, where the search has come to no answer."""
        tried = [node for node in sorted(waiting, key=self._rank_of) if node.state.steps][: self.spec.beam]
        if tried:
            proposals = [(node, Proposal(Answer(), 1.0)) for node in tried]
            self._admit(self._written(proposals))

    def _node(self, state: State, parent: Node | None) -> Node:
        node = Node(len(self.nodes), None if parent is None else parent.number, state)
        self.nodes.append(node)
        self.by_key.setdefault(state.key, node)
        return node

    def _best(self) -> Node | None:
        return min(self.answers, key=self._rank_of, default=None)

    def _rank_of(self, node: Node) -> tuple[float, float, str]:
        """Return what states are ordered by, the best first: value less its moves, equation 3, then the seed."""
        state = node.state
        spoken = "\n".join(f"{step.action}\n{step.observation}" for step in state.steps)
        tie = hashlib.blake2s(f"{self.spec.seed}\n{spoken}".encode(), digest_size=6).hexdigest()
        return -state.value * self.spec.discount**state.depth, -state.log_probability, tie

    def _bound(self, waiting: Sequence[Node]) -> float:
        """Return the best rank that any answer below some states may have."""
        return max(self.spec.discount ** (node.state.depth + 1) for node in waiting)

    def _affordable(self) -> int:
        """Return how many states may be expanded so that the calls stay below equation 6, those at the end included."""
        spent = self.calls["policy"] * self.spec.branching + self.calls["value"] + self.calls["writer"]
        return (self.spec.most_calls - spent - 2 * self.spec.beam) // (2 * self.spec.branching + 1)

    def _tree(self, reason: str) -> Tree:
        best = self._best() or self.nodes[0]
        return Tree(nodes=tuple(self.nodes), best=best, stopped_because=reason, calls=self.calls, spec=self.spec)


def _nearer(state: State, known: State) -> bool:
    """Tell whether a state is reached by fewer moves, or likelier ones, than it was."""
    return (state.depth, -state.log_probability) < (known.depth, -known.log_probability)


def _turns_of(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys(citation.turn_id for citation in draft.citations))
