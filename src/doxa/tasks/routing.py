"""routing: turn, forest -> whether it is said to the tasks, and why.

Where there are no tasks, a turn has to open one (`opening`). Where there are, a turn goes to them by what it names: a
task, or a part of one. As long as they are what is spoken of, a request, a value, a pronoun or a word of task talk
("undo that", "what is left?") is enough. Last, what the tasks make of a turn has to bear it out (`stands`).

Grammar over clauses, as the frames are; no step of it changes anything. Cost: a look into the index of names for each
word and one pass over the nodes for conditions; then, unless nothing can come of it, one parse a sentence, which is
shared with what reads the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from doxa.backends.parser import Parser
from doxa.core.tasks import NodeKind, TaskEdit
from doxa.memory import TaskForest
from doxa.tasks.amounts import Typed
from doxa.tasks.asking import asks
from doxa.tasks.clearing import UNREAD
from doxa.tasks.opening import (
    HEADS,
    SPENDING,
    is_again,
    is_money,
    is_request,
    is_to_come,
    may_open,
    nouns_of,
    opens,
    said_before,
)
from doxa.tasks.phrases import stem, words_of
from doxa.tasks.reading import Clause, read_clauses
from doxa.tasks.trim import Step
from doxa.tasks.verbs import STRONG, Token, lexicon, verbs_of

__all__ = ["Route", "names_known", "only_asks", "route", "stands"]

POINTING = frozenset("it that those these them one ones both other others rest everything all hers his theirs".split())
META = frozenset(
    "undo revert summary summarise summarize recap overview breakdown rundown total budget left remain remaining plan "
    "list schedule full final everything whole change cancel add remove drop instead order cart basket itinerary "
    "checklist task booking lot day date time price cost number amount place".split()
)
"""Words of task talk: while tasks are spoken of, they are about those."""
SAID = re.compile(
    r"\b(?:i (?:never|thought)|(?:did|didn't|have|haven't|had) i (?:ever )?(?:say|said|ask|asked|mention|mentioned|"
    r"tell|told|put|set|want|book|order|add|have))\b|^(?:was|wasn't|were|weren't) (?:i|we|it|that|there|all|the)\b"
)
"""What holds the tasks against what was said: "did I say ...", "wasn't it ten?"."""
EARLIER = re.compile(
    r"\b(?:what (?:i|we) had|had (?:before|first|originally)|originally|back to|goes back|back (?:in|on)|correction|"
    r"typo|my (?:mistake|first (?:one|answer))|(?:was|is) (?:the )?right(?: one)?|the way it was|as it was)\b"
)
"""What puts something right, or takes something up again that stood before."""
MEANT = re.compile(
    r"\b(?:should|must|ha(?:s|ve|d) to|needs?|ought|had better|'d (?:better|rather)|would rather|could do with|"
    r"instead)\b"
)
"""What is to be, and not what is."""
MORE = ("too", "also", "as well", "plus", "another", "no more", "without", "minus", "except", "instead")
REPORTING = frozenset("say mean look sound seem feel think be".split())
OWN = frozenset("i we my our".split())
SPEAKERS = frozenset(("i", "you"))
PAST = frozenset("was were did had 've have has".split())
PLAIN = frozenset(
    "be have do go get make take say know think want need like love tell come let can will see use put good great "
    "nice".split()
)
"""Words that name nothing by themselves."""
NAMING = frozenset("NOUN PROPN ADJ VERB X".split())
ASKING = frozenset(("check", "finalize"))
NO_TASKS, NONE = "there are no tasks, and nothing opens one", "it names no task"
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
    requests: bool = False
    """It asks for something to be done."""


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
    waiting = _waiting(forest)
    if not (going_on or waiting or may_open(text) or forest.find(text)):
        return Route(why=NONE if forest.commits else NO_TASKS, opens=True)
    every = read_clauses(text, parser, at)
    clauses = _alone(every)
    asks_for = any(map(is_request, clauses))
    opening = opens(clauses) or opens([clause for clause in every if SPENDING.search(clause.lowered)])
    if not forest.commits:
        return Route(to_tasks=bool(opening), why=opening or NO_TASKS, opens=True, requests=asks_for)
    fresh = bool(opening) or any(map(is_again, clauses))
    names = _names(clauses, forest)
    naming = [_naming(clause, names, going_on=going_on) for clause in clauses]
    said = [why or (_going_on(clause) if going_on else "") for why, clause in zip(naming, clauses, strict=True)]
    own = [clause for clause, why in zip(clauses, said, strict=True) if not why and _is_own(clause)]
    found = next(filter(None, naming), "") or next(filter(None, said), "")
    if found and len(own) > len(list(filter(None, said))):
        return Route(to_tasks=bool(opening), why=opening or f"{found}, but it is about who says it", opens=True)
    if why := found or _settling(clauses, waiting):
        return Route(to_tasks=True, why=why, opens=fresh, names=any(naming), requests=asks_for)
    return Route(to_tasks=bool(opening), why=opening or NONE, opens=True, requests=asks_for)


def _is_own(clause: Clause) -> bool:
    """Tell whether a clause states something of who says it."""
    return clause.mood == "statement" and any(token.lower in OWN for token in clause.subject[:2])


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
    return all(_nodes(token, forest) for token in _things(read_clauses(text, parser, at)))


def only_asks(text: str, parser: Parser, at: datetime) -> bool:
    """Tell whether a turn does nothing but ask, or say "ok": then it changes no task.

    Raises:
        BackendError: the parser failed.
    """
    small = lexicon()["cues"]["discourse"]
    return all(asks(clause) or clause.lowered in small for clause in read_clauses(text, parser, at))


def _alone(clauses: Sequence[Clause]) -> list[Clause]:
    """Leave out clauses that only go on with what the speaker does: "I love to dance, play music and read"."""
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1] if found else None
        goes_on = clause.mood == "request" and not clause.wrapped and clause.tokens[clause.at].deprel == "conj"
        own = before is not None and before.mood == "statement" and any(t.lower in ("i", "we") for t in before.subject)
        if not (goes_on and own and clause.join in ("", "and", "or")):
            found.append(clause)
    return found


# -- names


def _names(clauses: Sequence[Clause], forest: TaskForest) -> dict[Token, bool]:
    """Return the words of a turn that name a node, and whether one of those is a task or an item."""
    found: dict[Token, bool] = {}
    for token in (token for clause in clauses for token in clause.tokens if _tells(token)):
        if keys := _nodes(token, forest):
            found[token] = any(forest.nodes[key].kind is not NodeKind.SLOT for key in keys)
    return found


def _nodes(token: Token, forest: TaskForest) -> list[str]:
    """Return nodes with a word in their name; the index also knows its other forms ("nice to meet you": a meeting)."""
    forms = {stem(token.lower), stem(token.lemma)} if token.upos == "NOUN" else {stem(token.lower)}
    nodes = ((key, forest.nodes[key]) for key in forest.find(token.lower)[:LOOKED_AT])
    return [key for key, node in nodes if any(forms & set(words_of(name)) for name in (node.name, *node.aliases))]


def _tells(token: Token) -> bool:
    """Tell whether a word may be of a name."""
    naming = token.upos in NAMING or bool(nouns_of([token]))
    return naming and token.lemma not in PLAIN and len(token.lower) > 2


def _things(clauses: Sequence[Clause]) -> Iterator[Token]:
    """Give what clauses name: nouns that are neither of task talk nor of a typed value."""
    for clause in clauses:
        for token in nouns_of(clause.tokens):
            inside = any(one.start <= token.start < one.end for one in clause.values)
            if not inside and stem(token.lower) not in META:
                yield token


def _naming(clause: Clause, names: dict[Token, bool], *, going_on: bool) -> str:
    """Say what of the tasks a clause names; empty where it names nothing, or only in passing."""
    known = [token for token in clause.tokens if token in names and (going_on or names[token])]
    telling = [token for token in known if stem(token.lower) not in META]
    nouns = nouns_of(known)
    if not known or not (going_on or nouns):
        return ""
    own = {token.lower for token in clause.subject} & SPEAKERS
    if asks(clause) or clause.mood == "question":
        if not telling if going_on else ("you" in own or not all(token in names for token in _things([clause]))):
            return ""
    elif is_request(clause):
        pass
    elif clause.mood == "statement":
        said = any(token in clause.subject for token in telling) or _is_valued(clause) or MEANT.search(clause.lowered)
        if not telling or not (said or (going_on and not own) or EARLIER.search(clause.lowered)):
            return ""
        if own and _is_past(clause) and clause.verb not in verbs_of("done"):
            return ""
    elif clause.mood == "request":
        return ""
    return f"it names “{' '.join(token.form for token in (nouns or known)[:3])}”"


# -- what goes on from tasks that were spoken of


def _going_on(clause: Clause) -> str:
    """Say what in a clause goes on from the tasks; empty where nothing does."""
    if clause.label:
        return "it has the label of a field"
    if said_before(clause):
        return ""
    if SAID.search(clause.lowered) and ("i thought" not in clause.lowered or clause.values or clause.question):
        return "it asks what was said of the tasks"
    if clause.has(lexicon()["cues"]["undo"]) or EARLIER.search(clause.lowered):
        return "it takes something back"
    if is_again(clause):
        return "it is to be the same"
    if clause.mark in ("if", "unless") and clause.mood != "question":
        return "it says what is to be done if something happens"
    if asks(clause) and (clause.mood != "statement" or clause.has(lexicon()["cues"]["finalize"])):
        return _asking_on(clause)
    pointing = len(clause.tokens) > 1 and any(token.lower in POINTING for token in clause.tokens)
    if is_request(clause):
        told = bool(clause.values) or pointing or bool(nouns_of(clause.rest))
        return "it goes on with a request" if told else ""
    if clause.mood == "fragment":
        more = bool(nouns_of(clause.rest)) and (bool(clause.has(MORE)) or clause.tokens[0].lower in STRONG)
        told = not clause.wrapped.endswith(("have", "got")) and bool(clause.values or clause.listed or pointing)
        return "it goes on with a value" if told else "it goes on with one more, or one less" if more else ""
    return _stating_on(clause)


def _asking_on(clause: Clause) -> str:
    if any(token.lower in ("you", "your") for token in clause.tokens) and clause.mood == "question":
        return ""
    words = (word for token in clause.tokens for word in (token.lower, stem(token.lower), token.lemma))
    cue = next((word for word in words if word in POINTING | META | HEADS), "a value" if _is_valued(clause) else "")
    return f"it asks about the tasks with “{cue}”" if cue else ""


ARRANGED = frozenset("invite cancel postpone reschedule book add remove move schedule delay extend shift".split())


def _stating_on(clause: Clause) -> str:
    """Say whether a statement says how something is to be; what is said of the speaker is none of the tasks."""
    own = [token.lower for token in clause.subject]
    coming = any(is_to_come(one) for one in clause.values) and not _is_past(clause)
    if own[:1] == ["i"] and coming and clause.verb in lexicon()["verb_slots"]:
        return "it says when something is, or by how much it changes"
    if not own or {"i", "you", "my"} & set(own[:2]):
        return ""
    passive = any(token.lower in ("is", "are", "'s", "been", "be") for token in clause.tokens[: clause.at])
    if passive and clause.verb in ARRANGED:
        return "it says how something is to be"
    field = clause.verb == "be" and all(token.upos in ("NOUN", "ADP", "ADJ") for token in clause.subject)
    if field and any(map(_has_amount, clause.values)):
        return "it gives a field its value"
    changed = any(one.shift is not None for one in clause.values)
    dated = any(is_to_come(one) or is_money(one) for one in clause.values)
    spoken_of = any(token.lower in POINTING for token in clause.tokens)
    if changed or (dated and (spoken_of or not _is_past(clause))):
        return "it says when something is, or by how much it changes"
    numbered = any(map(_is_number, clause.values)) and (clause.verb == "be" or clause.verb not in REPORTING)
    if POINTING & set(own) and (MEANT.search(clause.lowered) or dated or numbered):
        return "it says how something is to be"
    return ""


def _is_valued(clause: Clause) -> bool:
    """Tell whether a clause has a value that may be one of a task, or says by how much one changes."""
    return any(one.shift is not None or is_to_come(one) or is_money(one) or _is_number(one) for one in clause.values)


def _has_amount(one: Typed) -> bool:
    return one.value is not None and one.value.amount is not None


def _is_number(one: Typed) -> bool:
    """Tell whether a value counts or measures; "one of my friends" does not."""
    return one.value is not None and one.value.amount is not None and one.value.text.lower() not in ("one", "two")


def _is_past(clause: Clause) -> bool:
    """Tell whether a clause tells of what was."""
    verb = clause.tokens[clause.at]
    if PAST & {token.lower for token in clause.tokens[: clause.at + 1]}:
        return True
    return verb.upos == "VERB" and not verb.lower.endswith(("s", "ing")) and verb.lower != verb.lemma


def _waiting(forest: TaskForest) -> list[str]:
    """Return the conditions that something waits for. O(nodes)."""
    return [needed.text for node in forest.nodes.values() if node.waits for needed in node.depends if needed.text]


def _settling(clauses: Sequence[Clause], waiting: Sequence[str]) -> str:
    """Say whether a statement speaks of a condition that something waits for; empty where it does not.

    The condition is not repeated: the turn that stated it may be erased.
    """
    told = (clause for clause in clauses if clause.mood in ("statement", "fragment"))
    said = {stem(token.lemma) for clause in told for token in clause.tokens if _tells(token)}
    return "it speaks of what something waits for" if any(said & set(words_of(text)) for text in waiting) else ""
