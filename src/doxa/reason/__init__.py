"""reason: question + evidence -> draft.

Facts that fill the hole of the question come first, exact readings before soft matches; then the sentence of the
evidence that says it, else "I don't know"; or a language model over the same facts and evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from doxa.core.values import Draft, Evidence, Fact, Question, Status, Turn
from doxa.memory import Beliefs
from doxa.reason.chains import Chain, best_chains
from doxa.reason.choosing import Doubt, Graded, choose, quoted
from doxa.reason.compute import concerns, work_out
from doxa.reason.drafts import abstention, citation_of, citations_of, claimed, sentence_of
from doxa.reason.facts import answer_from_facts, relevant_facts
from doxa.reason.passages import answer_from_passages, taken_back
from doxa.reason.prompted import Asking, PromptedPolicy, PromptedValuer, PromptedWriter, show, talks_to_models
from doxa.reason.spans import (
    SURE,
    WELL,
    PassageReader,
    answer_from_spans,
    confirms,
    read_spans,
    readings_of,
    reads_well,
    standing,
    told_to,
)
from doxa.reason.summary import PastFact, relevant_rules, summarise
from doxa.reason.telling import SENTENCE, Telling, content_of, narrowed, tellings
from doxa.reason.tree import (
    ChainWriter,
    CoverageValuer,
    FactGraph,
    GraphPolicy,
    Recalled,
    State,
    Task,
    Tools,
    Tree,
    TreeSpec,
    may_be,
    search_tree,
    tree_data,
)
from doxa.reason.when import answer_when, dated_well

__all__ = [
    "SENTENCE",
    "Asking",
    "Chain",
    "ChainWriter",
    "CoverageValuer",
    "Doubt",
    "FactGraph",
    "Graded",
    "GraphPolicy",
    "PassageReader",
    "PastFact",
    "PromptedPolicy",
    "PromptedValuer",
    "PromptedWriter",
    "Recalled",
    "State",
    "Task",
    "Tools",
    "Tree",
    "TreeSpec",
    "abstention",
    "answer",
    "best_chains",
    "choose",
    "citation_of",
    "citations_of",
    "claimed",
    "concerns",
    "content_of",
    "may_be",
    "narrowed",
    "quoted",
    "readings_of",
    "relevant_facts",
    "relevant_rules",
    "search_tree",
    "sentence_of",
    "show",
    "summarise",
    "taken_back",
    "talks_to_models",
    "told_to",
    "tree_data",
    "work_out",
]


LEAST = 0.4
"""Least standing of an answer from facts that no turn confirms."""
UNCONFIRMED = 0.85
"""How likely such an answer is right, as a part of its standing."""
FEW = 500
"""Facts of a memory that are all compared with a question; of more, those near to it."""


def answer(
    question: Question,
    beliefs: Beliefs,
    evidence: Sequence[Evidence],
    turn: Callable[[str], Turn | None],
    *,
    asker: str,
    day: date | None,
    today: date | None,
    nearby: Sequence[Evidence] | None = None,
    computed: Draft | None = None,
    reader: PassageReader | None = None,
) -> Draft:
    """Return the best answer that the memory gives without a language model.

    Args:
        question: what is asked.
        beliefs: what is believed, now or at an earlier time.
        evidence: turns that bear on it, best first.
        turn: gives the turn of an id.
        asker: name of the person who asks.
        day: the day of the world that is asked about; None is today.
        today: the memory's today.
        nearby: more turns and facts than are quoted; in a large memory only what stands in their slots is compared
            with the question in other words. None compares everything.
        computed: what follows by arithmetic from what was said (`work_out`), if anything does. It comes before a fact
            that states a number, which is one of those it was computed from, but not before a dispute.
        reader: reads short answers out of turns, where facts do not answer all of a question; None where there is none.
    """
    near = None if nearby is None or len(beliefs.facts) <= FEW else _near(nearby, beliefs)
    told = tellings(question, evidence, turn, asker=asker)
    known = answer_from_facts(question, beliefs, turn, day=day, today=today, near=near)
    draft = dated_well(known, question, told)
    if computed is not None and _better(computed, draft):
        return replace(computed, settled=True)
    if reader is not None and reads_well(question):
        valid = _valid(evidence, beliefs, past=question.past or day is not None)
        draft = _read(draft, question, beliefs, valid, told, reader, asker=asker)
    if draft is None:
        rules = [rule.span for rule in beliefs.rules]
        said = [one for item in evidence for key in item.turn_ids if (one := turn(key))]
        passage = answer_from_passages(question, said, beliefs, day=day, today=today, unasserted=rules)
        draft = dated_well(passage, question, told) or answer_when(question, told) or known or passage
    return draft or abstention()


def _read(
    draft: Draft | None, question: Question, beliefs: Beliefs, evidence: Sequence[Evidence], told: Sequence[Telling],
    reader: PassageReader, *, asker: str,
) -> Draft | None:  # fmt: skip
    """Return an answer from facts, or what a reader finds in its stead; None where neither gives one.

    An answer that covers what is asked needs no reading, and one that the reader finds too is confirmed. One that it
    does not find gives way to what it finds, if that is surer, and to none if it covers little of the question.
    """
    facts = [fact for one in (draft.citations if draft else ()) if (fact := beliefs.facts.get(one.fact_id or ""))]
    stands = standing(draft, question, facts) if draft else 0.0
    if stands >= WELL:
        return draft
    found = read_spans(question, evidence, told, reader, asker=asker)
    if confirms(found, draft):
        return draft
    weak = abstention() if draft and stands < LEAST else draft
    return answer_from_spans(question, found, sure=max(SURE, UNCONFIRMED * stands)) or weak


def _better(computed: Draft, draft: Draft | None) -> bool:
    """Tell whether what was computed answers better than what the facts say."""
    if computed.abstained:
        return draft is not None and not draft.disputed
    return draft is None or draft.abstained or (not draft.disputed and computed.confidence > draft.confidence)


def _near(nearby: Sequence[Evidence], beliefs: Beliefs) -> list[Fact]:
    """Return the facts in the slots that some turns speak of: what they say, and what was said of it later."""
    turns = dict.fromkeys(key for item in nearby for key in item.turn_ids)
    slots = dict.fromkeys(slot for key in turns for slot in beliefs.slots_of_turn(key))
    return [fact for slot in slots for fact in beliefs.in_slot(slot)]


def _valid(evidence: Sequence[Evidence], beliefs: Beliefs, *, past: bool) -> list[Evidence]:
    return [item for item in evidence if not any(_outdated(key, beliefs, past=past) for key in item.turn_ids)]


def _outdated(turn_id: str, beliefs: Beliefs, *, past: bool) -> bool:
    """Tell whether what a turn said is no longer believed, or (unless history is asked for) no longer holds."""
    gone = {Status.RETRACTED} if past else {Status.RETRACTED, Status.SUPERSEDED}
    facts = (fact for slot in beliefs.slots_of_turn(turn_id) for fact in beliefs.in_slot(slot))
    return any(turn_id in fact.turn_ids and fact.status in gone for fact in facts)
