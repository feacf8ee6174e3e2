"""Moves carried out: what an action adds to a state. Nothing here is a judgement, and nothing is made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.values import Draft, Fact
from doxa.reason.drafts import citations_of, sentence_of
from doxa.reason.tree.actions import Answer, Ask, Compute, ExpandEntity, FindPath, Recall, Think
from doxa.reason.tree.roles import Proposal, Tools
from doxa.reason.tree.state import State, Step, Task

__all__ = ["carry_out"]


def carry_out(proposal: Proposal, state: State, task: Task, tools: Tools) -> State:
    """Return the state that a proposed move leads to, not valued yet.

    Graph moves are carried out on the facts of the memory (D-SMART: "executed deterministically against the DSM"), and
    so are sub-questions and calculations. Cost: that of the tool.
    """
    action, chance = proposal.action, proposal.probability
    match action:
        case ExpandEntity(entity=entity, hops=hops):
            step = Step(action=action, facts=tuple(tools.expand(entity, hops)), probability=chance)
        case FindPath(source=source, target=target, k=k):
            step = _path(action, tools.paths(source, target, k), chance)
        case Think(thought=thought):
            step = Step(action=action, observation=thought, probability=chance)
        case Recall(query=query, day=day):
            told = tools.recall(query, day)
            step = Step(
                action=action, observation=told.text, facts=told.facts, turn_ids=told.turn_ids, draft=told.draft,
                when=told.when,
                probability=chance,
            )  # fmt: skip
        case Compute(expression=expression):
            result = tools.compute(expression, state.facts, task)
            step = Step(action=action, probability=chance)
            if result is not None:
                step = replace(step, observation=result.text, turn_ids=_cited(result), draft=result)
        case Ask(text=text):
            question = proposal.draft or Draft(
                text=text, citations=citations_of(state.facts, tools.turn), abstained=True
            )
            return state.after(Step(action=action, probability=chance), question)
        case Answer():
            draft = proposal.draft
            cited = _cited(draft) if draft else ()
            return state.after(Step(action=action, turn_ids=cited, probability=chance), draft)
    return state.after(step)


def _path(action: FindPath, paths: Sequence[Sequence[Fact]], chance: float) -> Step:
    """Return the step that finds chains of facts; the first, the best one, is told link by link."""
    facts = {fact.fact_id: fact for path in paths for fact in path}
    told = " ".join(sentence_of(fact) for fact in paths[0]) if paths else ""
    return Step(action=action, observation=told, facts=tuple(facts.values()), probability=chance)


def _cited(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys(citation.turn_id for citation in draft.citations))
