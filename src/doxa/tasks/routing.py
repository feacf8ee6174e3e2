"""routing: a turn of a conversation -> whether it is said to the tasks.

The classifier of intents (`intents`) tells talk from what asks for something. A change is of the tasks where it opens
one, names one, or goes on while they are spoken of; a question where all that it names is known to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from doxa.backends.parser import Parser
from doxa.core.tasks import NodeKind, TaskEdit
from doxa.memory import TaskForest
from doxa.tasks.asking import asks
from doxa.tasks.clearing import UNREAD
from doxa.tasks.conditions import settles
from doxa.tasks.intents import known_words, likely, task_words
from doxa.tasks.phrases import PRONOUNS, stem, words_of
from doxa.tasks.reading import Clause, read_clauses
from doxa.tasks.trim import Step
from doxa.tasks.verbs import Token, lexicon

__all__ = ["Route", "names_known", "only_asks", "route", "stands"]

CHAT_AGAINST = 8.0
"""How many times more of the turns of a conversation ask for nothing than of those that tasks are told."""
NOMINAL = frozenset("nsubj obj iobj obl nmod appos".split())
ASKING = frozenset(("check", "finalize"))
LOOKED_AT = 8
"""How many of the nodes that share a word are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Whether a turn is said to the tasks, and what says so."""

    to_tasks: bool = False
    why: str
    opens: bool = False
    """It may open a task; else it is about those that there are."""
    names: bool = False
    """It names one; else only a step that does something shows that it was meant for them."""


def route(text: str, forest: TaskForest, parser: Parser, at: datetime, *, going_on: bool) -> Route:
    """Return whether a turn is said to the tasks, before it is known what they make of it (`stands`).

    Args:
        text: what the user says.
        forest: the tasks so far.
        parser: reads the sentences.
        at: when it is said.
        going_on: the turns just before were said to the tasks.

    Raises:
        BackendError: the parser failed.
    """
    clauses = read_clauses(text, parser, at)
    if any(settles(clause, condition) is not None for clause in clauses for condition in _waiting(forest)):
        return Route(to_tasks=True, why="it speaks of what something waits for")
    # what it was fitted on is said to tasks: there the first turn opens one, whatever its words
    odds = likely(clauses, said_before="", known=known_words(forest), empty=False)
    named = [token for token in _things(clauses) if _nodes(token, forest, slots=going_on)]
    said = f"it names “{' '.join(token.form for token in named[:3])}”" if named else "they are what is spoken of"
    if clauses and all(map(asks, clauses)):
        meant = bool(named) or (going_on and _points(clauses))
        known = meant and all(_is_known(token, forest) for token in _things(clauses))
        return Route(to_tasks=known, why=said if known else "it asks about what no task knows", names=bool(named))
    if odds["chat"] * CHAT_AGAINST > 1.0 - odds["chat"]:
        return Route(why="it asks for nothing")
    opens = odds["new"] >= max(odds.values())
    if opens or named or (going_on and forest.commits):
        why = "it asks for something to be planned" if opens and not named else said
        return Route(to_tasks=True, why=why, opens=opens, names=bool(named))
    return Route(why="it names no task")


def stands(route: Route, step: Step, forest: TaskForest) -> bool:
    """Tell whether what a turn does to the tasks shows that it was said to them.

    What does nothing was not, unless it names one of them; what makes nothing but new tasks has to open one.
    """
    if step.asked:
        return step.asked != UNREAD or route.names
    if not step.edits:
        return route.names or (not route.opens and bool(set(step.intents) & ASKING))
    return route.opens or any(_is_old(edit, forest) for edit in step.edits)


def _is_old(edit: TaskEdit, forest: TaskForest) -> bool:
    """Tell whether an edit changes a node that was there, or puts one under it."""
    above = edit.after.parents if edit.after is not None else ()
    return edit.before is not None or any(parent in forest.nodes for parent in above)


def names_known(text: str, forest: TaskForest, parser: Parser, at: datetime) -> bool:
    """Tell whether all that a turn names is known to the tasks; also of one that names nothing.

    Raises:
        BackendError: the parser failed.
    """
    return all(_is_known(token, forest) for token in _things(read_clauses(text, parser, at)))


def only_asks(text: str, parser: Parser, at: datetime) -> bool:
    """Tell whether a turn does nothing but ask, or say "ok": then it changes no task.

    Raises:
        BackendError: the parser failed.
    """
    small = lexicon()["cues"]["discourse"]
    return all(asks(clause) or clause.lowered in small for clause in read_clauses(text, parser, at))


def _things(clauses: Sequence[Clause]) -> Iterator[Token]:
    """Give what clauses name outside typed values; also a rare name that is tagged as something else ("Drop Nadia")."""
    for clause in clauses:
        for token in clause.tokens:
            rare = token.form[:1].isupper() and token.upos != "PRON" and token.deprel in NOMINAL
            inside = any(one.start <= token.start < one.end for one in clause.values)
            if (token.upos in ("NOUN", "PROPN") or rare) and not inside:
                yield token


def _is_known(token: Token, forest: TaskForest) -> bool:
    """Tell whether a word names a node, or is one of task talk ("the time", "the whole list")."""
    return token.lemma in task_words() or bool(_nodes(token, forest, slots=True))


def _nodes(token: Token, forest: TaskForest, *, slots: bool) -> list[str]:
    """Return nodes with a word in their name; the index also knows its other forms ("nice to meet you": a meeting)."""
    forms = {stem(token.lower), stem(token.lemma)} if token.upos == "NOUN" else {stem(token.lower)}
    nodes = ((key, forest.nodes[key]) for key in forest.find(token.lower)[:LOOKED_AT])
    return [
        key
        for key, node in nodes
        if (slots or node.kind is not NodeKind.SLOT)
        and any(forms & set(words_of(name)) for name in (node.name, *node.aliases))
    ]


def _points(clauses: Sequence[Clause]) -> bool:
    """Tell whether a pronoun stands for something that was spoken of."""
    people = ("i", "me", "you", "we", "us", "who", "what", "there")
    return any(token.lower in PRONOUNS and token.lower not in people for clause in clauses for token in clause.tokens)


def _waiting(forest: TaskForest) -> list[str]:
    """Return the conditions that something waits for. O(nodes)."""
    return [needed.text for node in forest.nodes.values() if node.waits for needed in node.depends if needed.text]
