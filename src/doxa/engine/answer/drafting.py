"""What is asked + what bears on it -> the answer that a memory gives by itself, and what a search for more needs.

The memory is the user's own, or one that is read beneath it (`beneath.py`): `asked.user` says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from doxa.core.errors import BackendError
from doxa.core.trace import Tracer
from doxa.core.values import Draft, Evidence, Question, Turn
from doxa.engine.answer.advising import advised
from doxa.engine.answer.chaining import chained
from doxa.engine.answer.grading import Ground, chosen, doubt_of
from doxa.engine.answer.prompting import is_prompted
from doxa.engine.answer.reasoning import Reasoning, answered, passage_reader, reason
from doxa.engine.asked import Asked
from doxa.engine.history.replay import believed_by
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, UserState, addressing, describe
from doxa.reason import PassageReader, State, Tree, taken_back, tree_data
from doxa.recall import Query
from doxa.understand import find_question, foreign_language, read_question

__all__ = ["believed_at", "drafted", "gone", "question_of", "tells", "to_the_asker"]


def drafted(
    ground: Ground, query: Query, parts: Parts, today: date, recent: Sequence[Turn], note: dict[str, object]
) -> tuple[Draft, Reasoning | None, State]:
    """Return the answer of the memory, what a search for a better one starts from, and where one has ended."""
    tree: Tree | None = None
    reasoning: Reasoning | None = None
    reached = State()
    try:
        chain = chained(ground, parts)
    except BackendError as exc:
        chain, note["degraded"] = None, f"the encoder failed, so chains of sentences are not looked for: {exc}"
    if chain is not None:  # then nothing has to be read
        if chain.single or tells(parts):
            _, reasoning = answered(ground, parts, today=today, recent=recent, reader=None)
        if not chain.single or reasoning is None or not reasoning.sure:
            note["chained"] = True
            return chain.draft, reasoning, reached
    reader = passage_reader(ground.state, parts)
    draft, reasoning = answered(ground, parts, today=today, recent=recent, reader=reader)
    if reasoning is not None and not is_prompted(reasoning, parts):
        draft, tree = reason(reasoning)
        if tree is not None:
            note["tree"], reached = tree_data(tree), tree.best.state
    # Several steps stand in no turn that could be quoted.
    if tree is None or doubt_of(draft, ground.beliefs, ground.state):
        draft = _chosen(draft, ground, reader, parts, note)
    if draft.abstained and (advice := advised(ground, query)) is not None:
        if language := foreign_language(query.text):
            note["degraded"] = f"the question is in another language ({language}), of which nothing is read"
        else:
            draft = advice
    if reader is not None and parts.reader is not None:
        turns = {key: round(chance, 3) for key, chance in reader.answerable.items()}
        note["read"] = {"by": parts.reader.name, "turns": turns}
    return draft, reasoning, reached


def _chosen(draft: Draft, ground: Ground, reader: PassageReader | None, parts: Parts, note: dict[str, object]) -> Draft:
    """Return the answer that is given out of a draft and what was said; the draft where nothing reads it."""
    try:
        return draft if reader is None else chosen(draft, ground, reader, parts.judge())
    except BackendError as exc:
        note["degraded"] = f"a model failed, so the answer is not weighed against what was said: {exc}"
        return draft


def to_the_asker(draft: Draft, beliefs: Beliefs, asker: str) -> Draft:
    """Return a draft whose facts are told to the one who asks: "You live in Bonn"."""
    text = draft.text
    for citation in draft.citations:
        fact = beliefs.facts.get(citation.fact_id or "")
        if fact is not None:
            plain = describe(fact)
            with addressing(asker):
                text = text.replace(plain, describe(fact))
    return replace(draft, text=text)


def question_of(
    asked: Asked, own: Turn | None, recent: Sequence[Turn], beliefs: Beliefs, parts: Parts, tracer: Tracer
) -> Question | None:
    """Return what is asked, as it is understood; None where a turn asks nothing."""
    with tracer.step("question") as note:
        sentence = find_question(asked.text) if own is not None else asked.text
        if sentence is None:
            return None
        question = read_question(
            sentence, asker=asked.speaker, at=asked.at, context=recent, beliefs=beliefs, parser=parts.parser
        )
        note.update(kind=question.kind, asks=question.asks, relation=str(question.relation or ""))
        return question


def believed_at(asked: Asked, state: UserState, parts: Parts) -> Beliefs:
    """Return what is believed, or was at the time that is asked about."""
    if asked.known_at is None:
        return state.beliefs
    return believed_by(parts.log, asked.user, asked.known_at)


def gone(item: Evidence, state: UserState) -> bool:
    """Tell whether all that a piece of evidence says was taken back."""
    turns = [state.turn(key) for key in item.turn_ids]
    return bool(turns) and all(turn is not None and taken_back(turn, state.beliefs) for turn in turns)


def tells(parts: Parts) -> bool:
    """Tell whether a language model is told of what is believed: it writes the answers, or searches for them."""
    return "prompted" in (parts.config.roles.write, parts.config.roles.reason)
