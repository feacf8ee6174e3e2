"""Question + what was found -> answer by the reasoning tree: what the tree is given, and what the trace tells of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial

from dateutil import parser as dateparser

from doxa.backends.parser import Parser
from doxa.backends.reader import Pair, Reading
from doxa.core.plans import HOLE, Plan
from doxa.core.values import Draft, Evidence, Fact, Interval, Precision, Question, Status, Term, Turn
from doxa.engine.answer.computing import computed
from doxa.engine.answer.grading import Ground, to_the_point
from doxa.engine.asked import Asked
from doxa.engine.wiring.parts import Parts
from doxa.language import stems
from doxa.memory import Beliefs, UserState
from doxa.reason import (
    ChainWriter,
    CoverageValuer,
    FactGraph,
    GraphPolicy,
    PassageReader,
    Recalled,
    Task,
    Tools,
    Tree,
    TreeSpec,
    answer,
    may_be,
    search_tree,
)
from doxa.understand import plans_of, read_question

__all__ = ["Reasoning", "answered", "chain_writer", "passage_reader", "reason"]

SURE = 0.85
"""Confidence from which an answer from facts needs no search."""
SHORT = 5
"""Most words of an answer that no fact gives and that a further question may be built on."""

NAME = re.compile(r"\b(?!I\b)[A-Z][\w'’-]+")
FIRST_DAY = datetime(1, 1, 1, tzinfo=UTC)
"""Gives what a date leaves out: a year begins on 1 January."""
Look = Callable[[], AbstractContextManager[UserState]]
"""Gives the state of the user, locked for as long as it is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """A question with all that a search for its answer needs."""

    task: Task
    tools: Tools
    spec: TreeSpec
    plans: Callable[[str], Sequence[Plan]]
    first: Draft
    """The answer without a tree."""
    sure: bool
    """Whether that needs no search: it follows from facts, and nothing in the question has to be found out first."""


def answered(
    ground: Ground, parts: Parts, *, today: date, recent: Sequence[Turn], reader: PassageReader | None
) -> tuple[Draft, Reasoning | None]:
    """Return the answer that facts and turns give as they stand, and what a search for a better one starts from.

    Args:
        ground: what is asked, by whom, and what bears on it; more turns than are quoted, and the memory is locked.
        parts: what the engine is made of.
        today: the memory's today.
        recent: the turns before the question.
        reader: reads turns, if anything does (`passage_reader`).
    """
    asked, question, state, beliefs = ground.asked, ground.question, ground.state, ground.beliefs
    day, evidence = asked.as_of or question.as_of, ground.nearby[: parts.recall.top_k]
    plans = _Plans(parts.parser)
    if reader is not None and _takes_steps(plans(question.text)):
        reader = None
    worked = computed(question.text, asked, state, ground.nearby, parts, today=today)
    draft = answer(
        question, beliefs, evidence, state.turn, asker=asked.speaker, day=day, today=today,
        nearby=ground.nearby, computed=worked, reader=reader,
    )  # fmt: skip
    if not parts.config.reason.tree:
        return draft, None
    graph = FactGraph(beliefs, day, today, past=question.past, topic=frozenset(stems(question.text)))
    mine = asked.speaker.casefold()
    known = [term for term in question.about if graph.entity(term.key) is not None]
    task = Task(
        text=question.text, question=question, asker=asked.speaker, agent=asked.agent, today=today, day=day,
        entities=tuple(sorted(known, key=lambda term: term.key == mine)), recent=tuple(recent),
        evidence=tuple(evidence), plans=plans(question.text), seed=parts.config.reason.seed,
    )  # fmt: skip
    waits = parts.config.roles.reason == "prompted"  # then the memory is not locked while the tree grows
    look: Look = (lambda: parts.log.user(asked.user)) if waits else (lambda: nullcontext(state))
    memory = _Memory(asked, beliefs, look, graph, parts, task)
    sure = _is_sure(draft) and not any(plan.needed for plan in task.plans)
    pointed = not task.plans or question.kind == "yesno" or to_the_point(draft, question, beliefs)
    sure = (sure and pointed) or (draft.settled and not draft.abstained)
    return draft, Reasoning(task=task, tools=memory.tools(), spec=_spec(parts), plans=plans, first=draft, sure=sure)


def passage_reader(state: UserState, parts: Parts) -> PassageReader | None:
    """Return what reads turns of a memory that is locked, each once a question; None where no reader is configured."""
    model = parts.reader
    if model is None:
        return None
    known: dict[Pair, Reading] = {}

    def read(pairs: Sequence[Pair]) -> list[Reading]:
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        known.update(zip(fresh, model.read(fresh), strict=True))
        return [known[pair] for pair in pairs]

    return PassageReader(read, lambda turn: next(iter(state.context(turn, 1)), None))


def _spec(parts: Parts) -> TreeSpec:
    settings = parts.config.reason
    return TreeSpec(
        beam=settings.beam,
        branching=settings.branching,
        depth=settings.depth,
        expansions=settings.expansions,
        order=settings.order,
        seed=settings.seed,
    )


def reason(reasoning: Reasoning) -> tuple[Draft, Tree | None]:
    """Return the best answer that a search without a language model finds, and its tree; None where none was grown.

    A question that facts answer as it stands costs no search; neither does one without anything to look for in turn,
    since looking around finds nothing that the readings of `answer` have not tried.
    """
    if reasoning.sure or not reasoning.task.plans:
        return reasoning.first, None
    tools, plans, fits = reasoning.tools, reasoning.plans, partial(_fits, tools=reasoning.tools)
    policy = GraphPolicy(tools, plans, fits)
    valuer = CoverageValuer(plans, fits)
    tree = search_tree(
        reasoning.task, policy, valuer, chain_writer(reasoning), tools, reasoning.spec, first=reasoning.first,
        sure=reasoning.sure,
    )  # fmt: skip
    return _kept(tree, reasoning), tree


def chain_writer(reasoning: Reasoning) -> ChainWriter:
    """Return the writer of a search that asks no language model."""
    return ChainWriter(reasoning.tools, reasoning.plans, partial(_fits, tools=reasoning.tools))


def _fits(noun: str, name: str, *, tools: Tools) -> bool:
    """Tell whether what is called by a name may be what a noun says."""
    entity = tools.entity(name)
    return entity is None or may_be(noun, entity.key, tools.expand(entity, 1))


def _kept(tree: Tree, reasoning: Reasoning) -> Draft:
    """Return what a search found, or the first answer where it found none and the question can do without a chain.

    An answer that is only met on the way ("Lise", for what the daughter of the boss studies) is none. Where somebody is
    found on the way, a place that a turn names is no such answer.
    """
    first, found = reasoning.first, tree.draft
    if found is None or first.abstained or not found.abstained:
        return first if found is None else found
    met = {step.draft.value for node in tree.nodes for step in node.state.steps if step.draft is not None}
    plans, by_facts = reasoning.task.plans, any(citation.fact_id for citation in first.citations)
    question = reasoning.task.question
    somebody = first.value in met and (question is None or question.kind != "where")
    chained = _takes_steps(plans) or somebody or (by_facts and any(plan.needed for plan in plans))
    return found if chained else first


def _takes_steps(plans: Sequence[Plan]) -> bool:
    """Tell whether a thing has to be found out before it can be asked about: no one turn answers such a question."""
    return any(plan.needed and plan.join == "thing" and plan.rest not in ("", HOLE) for plan in plans)


def _is_sure(draft: Draft) -> bool:
    """Tell whether an answer follows from facts that nothing speaks against."""
    stated = any(citation.fact_id for citation in draft.citations)
    return stated and not draft.abstained and not draft.disputed and draft.confidence >= SURE


class _Plans:
    """The ways to take questions apart, each question once."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._known: dict[str, tuple[Plan, ...]] = {}

    def __call__(self, text: str) -> tuple[Plan, ...]:
        if text not in self._known:
            self._known[text] = plans_of(text, self._parser)
        return self._known[text]


@dataclass(frozen=True, slots=True)
class _Memory:
    """How moves of the tree reach one user's memory."""

    asked: Asked
    beliefs: Beliefs
    look: Look
    graph: FactGraph
    parts: Parts
    task: Task

    def tools(self) -> Tools:
        """Return what the tree is given of it."""
        return Tools(
            expand=self._expand,
            paths=self._paths,
            recall=self._recall,
            turn=self._turn,
            entity=self._entity,
            compute=self._compute,
        )

    def _expand(self, entity: Term, hops: int) -> Sequence[Fact]:
        with self.look():
            return self.graph.expand(entity, hops)

    def _paths(self, source: Term, target: Term, k: int) -> Sequence[Sequence[Fact]]:
        with self.look():
            return self.graph.paths(source, target, k)

    def _turn(self, turn_id: str) -> Turn | None:
        with self.look() as state:
            return state.turn(turn_id)

    def _entity(self, name: str) -> Term | None:
        """Return the entity that a name or a description ("my boss") stands for."""
        with self.look():
            known = self.graph.entity(name)
            if known is not None:
                return known
            read = self._read(f"Who is {name}?")
            for term in read.about:
                if term.label.casefold() != self.asked.speaker.casefold():
                    return self.graph.entity(term.key)
        return None

    def _compute(self, text: str, facts: Sequence[Fact], task: Task) -> Draft | None:
        with self.look() as state:
            return computed(text, self.asked, state, task.evidence, self.parts, today=task.today)

    def _read(self, query: str) -> Question:
        return read_question(
            query, asker=self.asked.speaker, at=self.asked.at, context=self.task.recent, beliefs=self.beliefs,
            parser=self.parts.parser,
        )  # fmt: skip

    def _recall(self, query: str, day: date | None) -> Recalled:
        """Answer a sub-question from facts, else from the turns that bear on the question as a whole."""
        with self.look() as state:
            read = self._read(query)
            draft = self._answer(read, day, state, ())
            if draft.abstained:
                draft = self._answer(read, day, state, self.task.evidence)
                if draft.abstained or not _names_all(draft, query, self.asked.speaker):
                    return Recalled()
            cited = tuple(dict.fromkeys(citation.turn_id for citation in draft.citations))
            draft, called = self._called(draft)
            facts = (*self._behind(draft), *called)
            if not facts and len((draft.value or "").split()) > SHORT:
                return Recalled(turn_ids=cited, text=draft.text)
            return Recalled(
                draft=draft, facts=facts, turn_ids=cited, text=draft.text, when=_time_of(read, draft, facts)
            )

    def _called(self, draft: Draft) -> tuple[Draft, tuple[Fact, ...]]:
        """Return an answer with the name of whom or what it only describes ("woman": Dina), and the fact that names it.

        What is described is asked on by its name: that is what later turns call it.
        """
        value = draft.value or ""
        entity = self.graph.entity(value) if value and value == value.casefold() else None
        names = self.beliefs.about(entity.key) if entity is not None else []
        names = [fact for fact in names if fact.relation.name == "is_called" and fact.status is Status.HELD]
        if len(names) != 1 or names[0].disputed or not names[0].polarity:
            return draft, ()
        return replace(draft, value=names[0].object.label), (names[0],)

    def _answer(self, read: Question, day: date | None, state: UserState, evidence: Sequence[Evidence]) -> Draft:
        return answer(
            read, self.beliefs, evidence, state.turn, asker=self.asked.speaker, day=day or read.as_of,
            today=self.task.today, nearby=evidence or None,
        )  # fmt: skip

    def _behind(self, draft: Draft) -> list[Fact]:
        """Return the facts that an answer rests on: those that it cites, and those of the same turns that it names."""
        value = (draft.value or "").casefold()
        named = {part.strip() for part in value.split(",")}
        found: dict[str, Fact] = {}
        for citation in draft.citations:
            for slot in self.beliefs.slots_of_turn(citation.turn_id):
                for fact in self.beliefs.in_slot(slot):
                    told = fact.fact_id == citation.fact_id
                    if told or (
                        citation.fact_id and {fact.subject.label.casefold(), fact.object.label.casefold()} & named
                    ):
                        found.setdefault(fact.fact_id, fact)
        cited = {citation.fact_id for citation in draft.citations}
        return sorted(found.values(), key=lambda fact: fact.fact_id not in cited)


def _names_all(draft: Draft, query: str, asker: str) -> bool:
    """Tell whether what an answer quotes names all that a sub-question names; else it speaks of something else."""
    told = " ".join(f"{citation.speaker} {citation.text}" for citation in draft.citations) + f" {asker}"
    return all(set(stems(name)) <= set(stems(told)) for name in NAME.findall(query[1:]))


def _time_of(question: Question, draft: Draft, facts: Sequence[Fact]) -> Interval | None:
    """Return the time that an answer tells of: when what it rests on began, held or ended."""
    valid = next((fact.valid for fact in facts if fact.valid.start or fact.valid.end), None)
    if valid is not None and question.asks == "end" and valid.end is not None:
        return Interval(
            start=valid.end, end=valid.end, start_precision=valid.end_precision, end_precision=valid.end_precision
        )
    return valid or (_dated(draft.value or "") if question.kind == "when" else None)


def _dated(value: str) -> Interval | None:
    """Return the day, month or year that a value names; None where it names none."""
    try:
        day = dateparser.parse(value, default=FIRST_DAY).date()
    except (ValueError, OverflowError):
        return None
    words = value.split()
    precision: Precision = "year" if len(words) == 1 and words[0].isdigit() else "month" if len(words) == 2 else "day"
    return Interval(start=day, end=day, start_precision=precision, end_precision=precision)
