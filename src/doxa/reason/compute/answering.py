"""A question and the turns of a dialogue -> a draft with the number, its working and the turns that it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from doxa.backends.parser import Parser, split
from doxa.core.values import Draft, Turn
from doxa.language import stems
from doxa.language.amounts import unit_named
from doxa.language.reader import read_sentences
from doxa.language.sentence import Sentence
from doxa.reason.compute.ages import on_ages
from doxa.reason.compute.amounts import Ledger, owned
from doxa.reason.compute.asked import AVERAGE, CONCERNS, CUES, TOTAL, Asked, asked
from doxa.reason.compute.calendar import on_calendar
from doxa.reason.compute.costs import changed, on_costs, raised
from doxa.reason.compute.ledger import Entry, Happening, Speakers, entries_of, happenings
from doxa.reason.compute.solve import NOTHING, Result, is_sum, solve
from doxa.reason.drafts import citation_of

__all__ = ["concerns", "work_out"]

DERIVED, STATED = 0.96, 0.6
"""Confidence of a result, above that of a fact that states one of its parts, and of a number as it was stated."""
FEW = 40
"""Turns of a dialogue that are all read; of more, those that share a word with the question and those before them."""
MOST = 60
TELLS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|third|"
    r"quarter|twice|double|triple|some|few|several|many|pair|yesterday|today|last|ago|monday|tuesday|wednesday|thursday|"
    r"friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
"""What a turn has to say to tell a quantity or a time."""


UNSAID = re.compile(
    r"\b(?:some|several|a few|a bit|a little|a lot|lots|more|less|fewer|many|most|handful|couple|bunch)\b",
    re.IGNORECASE,
)
REMAINS = re.compile(r"\b(?:left|remain(?:s|ing)?|still)\b", re.IGNORECASE)


def concerns(text: str) -> bool:
    """Tell whether a question may want something computed. Cost: one regular expression."""
    return CONCERNS.search(text) is not None


def work_out(text: str, turns: Sequence[Turn], parser: Parser, *, asker: Turn, today: date | None) -> Draft | None:
    """Return the answer that follows by arithmetic from what was said, or None when it does not for certain.

    Args:
        text: the question, or a message that holds it.
        turns: what was said and bears on it, oldest first; questions among it tell nothing.
        parser: gives the trees of the sentences.
        asker: the turn that asks: its speaker is "I", and what it says beside the question counts.
        today: the memory's today.

    A question that `concerns` nothing of this is not to be asked here. Cost: one parse of each turn that tells a
    quantity or a time (kept by a caching parser). Where several amounts have to be taken together and one of them is
    uncertain, the draft abstains. Deterministic. Sound as far as the sentences are read rightly: a
    vague quantity of the same kind, two readings with different results, or a word of the question that no quantity
    accounts for give None.

    Raises:
        BackendError: the parser failed.
    """
    own = read_sentences(asker, parser)
    question = next((s for s in reversed(own) if s.question), None) or (own[-1] if own else None)
    if question is None:
        return None
    told = [turn for turn in turns if not turn.generated and turn.turn_id != asker.turn_id and turn.role == "user"]
    told = _relevant(told, question)
    if len(told) > MOST:
        return None
    parser.parse(
        [[word.form for word in words] for turn in told for words in split(" ".join(turn.text.split("\n"))) if words]
    )
    sentences = [s for turn in told for s in read_sentences(turn, parser)]
    sentences += [s for s in own if s is not question]
    result = _result(question, sentences, today)
    if result is UNCERTAIN:
        return Draft(text="I don't know: what I remember does not add up to that for certain.", abstained=True)
    if result is None:
        return None
    return _draft(result, [*told, asker], DERIVED if result.working or result.restricted else STATED)


def _relevant(turns: Sequence[Turn], question: Sentence) -> list[Turn]:
    """Return the turns that may bear on a question: all of a short dialogue."""
    if len(turns) <= FEW:
        return list(turns)
    wanted = set(stems(question.text)) - CUES
    chosen = [bool(TELLS.search(turn.text)) and bool(wanted & set(stems(turn.text))) for turn in turns]
    return [turn for place, turn in enumerate(turns) if chosen[place] or any(chosen[place + 1 : place + 2])]


def _result(question: Sentence, sentences: Sequence[Sentence], today: date | None) -> Result | None:
    speakers = Speakers()
    entries = entries_of(sentences, speakers)
    goal = asked(question, speakers)
    if goal is None:
        return None
    told = happenings(sentences, Speakers())
    found = on_calendar(goal, told, today) or _amount(
        goal, Ledger(tuple(entries), frozenset(one.owner for one in told)), told
    )
    if found is NOTHING:
        return UNCERTAIN
    wants = goal.dimensions or re.search(r"\bhow (?:many|much)\b", goal.text, re.IGNORECASE)
    return UNCERTAIN if found is None and wants and _combines(goal, entries) else found


def _combines(goal: Asked, entries: Sequence[Entry]) -> bool:
    """Tell whether a question wants several amounts taken together, so that one that is stated is no answer."""
    if len(goal.owners) > 1 or goal.than or goal.without or any(unit_named(name) for _, name in goal.given):
        return True
    if AVERAGE.search(goal.text) or (goal.compared and goal.kind == "amount"):
        return bool(entries)
    if TOTAL.search(goal.text):
        return len(entries) > 1 or any(not entry.total for entry in entries)
    if REMAINS.search(goal.text):
        return bool(entries) and not any(REMAINS.search(entry.text) for entry in entries)
    if "money" in goal.dimensions and goal.verb in ("pay", "spend"):
        sums = [e for e in entries if is_sum(e)]
        return bool(sums) and all(e.per and not any(unit_named(per) for per in e.per) for e in sums)
    counted = [e for e in entries if goal.head and e.head == goal.head and e.kind == "count" and not e.per]
    return len(counted) > 1


def _amount(goal: Asked, ledger: Ledger, told: Sequence[Happening]) -> Result | None:
    """Return an age, a price or another amount; `NOTHING` when the question asks for one that is not certain."""
    found = on_ages(goal, told, ledger)
    if found is not None:
        return found
    now = raised(goal, ledger, told)
    if now.unknown or _is_open(goal, ledger, told):
        return NOTHING
    found = on_costs(goal, now.ledger) or solve(goal, now.ledger) or changed(goal, now)
    if found is None and now.working:
        return NOTHING  # what facts say is what it was before
    if found is None or found is NOTHING or not now.working:
        return found
    entries = (*now.entries, *found.entries)
    return replace(found, working=(*now.working, *found.working), entries=entries)


def _is_open(goal: Asked, ledger: Ledger, told: Sequence[Happening]) -> bool:
    """Tell whether what is added up or left was changed once more, without a number ("took a handful of beans out")."""
    known = {entry.order for entry in ledger.entries}
    unsaid = [one for one in told if one.order not in known and UNSAID.search(one.text)]
    whole = TOTAL.search(goal.text) or AVERAGE.search(goal.text) or REMAINS.search(goal.text)
    same = (one.verb == goal.verb and goal.owners and owned(goal.owners, one.owner) for one in unsaid)
    return any(same) or (whole is not None and any(goal.head and goal.head in one.about for one in unsaid))


UNCERTAIN = Result(value="", text="")
"""Several amounts have to be taken together, and one of them is not certain: a fact that states a part is no answer."""


def _draft(result: Result, turns: Sequence[Turn], confidence: float) -> Draft:
    used = dict.fromkeys((*result.turn_ids, *(entry.turn.turn_id for entry in result.entries)))
    by_id = {turn.turn_id: turn for turn in turns}
    cited = [by_id[key] for key in used if key in by_id]
    citations = tuple(citation_of(turn) for turn in cited)
    text = result.text if result.text.endswith((".", "!")) else f"{result.text}."
    if result.working:
        text += f" ({'; '.join(result.working)})"
    return Draft(text=text, value=result.value, citations=citations, confidence=confidence)
