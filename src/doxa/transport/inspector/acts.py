"""What is changed from a page: every act is shown before it is done (`suppose`), sent as a form, and can be undone.

A page offers an act as a link to `suppose?act=NAME&...`, which opens in a dialog and is a page of its own without a
script. Its form is sent to `act`, which leads back to the page that it was on, with what was done in its address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from doxa.core.access import Right
from doxa.core.errors import DoxaError, InputError
from doxa.core.values import Change
from doxa.core.views import Deed
from doxa.transport.inspector.entry import forget_key, keep_key, safe_path
from doxa.transport.inspector.visit import DIGITS, SEE_OTHER, Visit

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["ACTS", "CORRECTIONS", "POSTS", "Act", "Given", "suppose"]

MOST_UNDONE, MOST_LATELY = 2, 50
CORRECTIONS = "corrections"
"""The session of what is written here instead of what was wrong."""
Given = Mapping[str, list[str]]
"""What an act is about: fields by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that a person does to a memory by hand."""

    title: str
    """What it does, over its preview."""
    button: str
    fields: tuple[str, ...]
    """What it is about: `fact` (perhaps several), `turn`, `source`, `one` and `other`."""
    foresee: Callable[[Memory, Given], Sequence[Change]]
    """What it would change."""
    do: Callable[[Memory, Given, str], Sequence[Change]]
    """Does it, for a reason."""
    right: Right = "write"
    grave: bool = False


def _one(given: Given, name: str) -> str:
    """Return the one value of a field.

    Raises:
        InputError: it is missing.
    """
    if not (found := [value for value in given.get(name, ()) if value.strip()]):
        raise InputError(f"{name}: expected what the act is about, got nothing.")
    return found[0]


ACTS: Mapping[str, Act] = {
    "retract": Act(
        title="This never was true",
        button="Take it back",
        fields=("fact",),
        foresee=lambda memory, given: memory.what_if(retract=_one(given, "fact")),
        do=lambda memory, given, why: memory.retract(_one(given, "fact"), reason=why),
        grave=True,
    ),
    "accept": Act(
        title="This is so",
        button="Believe it",
        fields=("fact",),
        foresee=lambda memory, given: memory.what_if(accept=_one(given, "fact")),
        do=lambda memory, given, why: memory.accept(_one(given, "fact"), reason=why),
    ),
    "keep": Act(
        title="All of these are so",
        button="Keep them all",
        fields=("fact",),
        foresee=lambda memory, given: memory.what_if(keep_both=given.get("fact", [])),
        do=lambda memory, given, why: memory.keep_both(given.get("fact", []), reason=why),
    ),
    "withdraw": Act(
        title="This turn is not trusted",
        button="Withdraw it",
        fields=("turn",),
        foresee=lambda memory, given: memory.what_if(withdraw=_one(given, "turn")),
        do=lambda memory, given, why: memory.withdraw(turn_id=_one(given, "turn"), reason=why),
        grave=True,
    ),
    "distrust": Act(
        title="This source is not trusted",
        button="Withdraw what it said",
        fields=("source",),
        foresee=lambda memory, given: memory.what_if(source=_one(given, "source")),
        do=lambda memory, given, why: memory.withdraw(source=_one(given, "source"), reason=why),
        grave=True,
    ),
    "merge": Act(
        title="These are one",
        button="Take them for one",
        fields=("one", "other"),
        foresee=lambda memory, given: memory.what_if(merge=(_one(given, "one"), _one(given, "other"))),
        do=lambda memory, given, why: memory.merge(_one(given, "one"), _one(given, "other"), reason=why),
    ),
    "split": Act(
        title="These are two",
        button="Tell them apart",
        fields=("one", "other"),
        foresee=lambda memory, given: memory.what_if(split=(_one(given, "one"), _one(given, "other"))),
        do=lambda memory, given, why: memory.split(_one(given, "one"), _one(given, "other"), reason=why),
    ),
}


def suppose(visit: Visit) -> Response:
    """Show what an act would change, and the form that does it."""
    name = visit.text("act")
    if name == "correct":
        return _suppose_correct(visit)
    act = _act(name)
    given = {key: visit.request.query_params.getlist(key) for key in act.fields}
    changes = act.foresee(visit.room.memory(), given)
    about = [visit.room.view().fact(key) for key in given.get("fact", ())]
    return visit.shown("suppose.html", name=name, act=act, given=given, about=about, changes=changes)


def _suppose_correct(visit: Visit) -> Response:
    """Show a fact in words, to be written as it is, and what those words would change."""
    fact, memory = visit.room.view().fact(visit.text("fact")), visit.room.memory()
    told = memory.describe(fact)
    text = visit.text("text")
    changes = memory.what_if(say=text) if text and text != told else ()
    return visit.shown("correct.html", fact=fact, told=told, text=text or told, changes=changes)


def act(visit: Visit) -> Response:
    """Carry an act out, as the fields of the form say, or the button that was pressed (`quick`)."""
    given = parse_qs(visit.sent("quick")) or visit.form
    name = next(iter(given.get("act", ())), "")
    found = _act(name)
    memory = visit.room.memory(found.right)
    changes = found.do(memory, given, visit.sent("reason"))
    if not changes:
        return visit.back(done="nothing", at=None)
    return _done(visit, name, changes)


def correct(visit: Visit) -> Response:
    """Take a fact back and remember what is so instead, in words."""
    visit.room.require("write")
    receipt = visit.room.dialogue("write", session=CORRECTIONS).correct(
        visit.sent("text"), fact_id=visit.sent("fact"), reason=visit.sent("reason")
    )
    visit.room.wait()
    understood = bool(visit.room.memory().claims(turn_id=receipt.turn_id))
    fact_id = visit.sent("fact")
    mine = [
        one.number
        for one in _lately(visit)
        if (one.turn is not None and one.turn.turn_id == receipt.turn_id)
        or (one.kind == "retracted" and one.target == fact_id)
    ]
    return visit.back(done="correct" if understood else "kept", at=_numbers(mine[:2]))


def undo(visit: Visit) -> Response:
    """Take back what was done last, if that is still the last change."""
    given = visit.sent("at").split("-")
    if len(given) > MOST_UNDONE or not all(one.isdecimal() and len(one) <= DIGITS for one in given):
        raise InputError("at: expected what is to be undone, as a page of ours names it. Nothing was changed.")
    memory, wanted = visit.room.memory("write"), [int(one) for one in given]
    last = [one.number for one in visit.room.view().deeds(session=CORRECTIONS, limit=MOST_LATELY) if one.stands]
    if last[: len(wanted)] != wanted:
        raise InputError("Something else was changed since, and undo takes the last change back. Look at it first.")
    for number in wanted:
        memory.undo(expected=number)
    return visit.back(done="undone", at=None)


def enter(visit: Visit) -> Response:
    """Let in whoever has a key that counts."""
    secret = visit.sent("key").strip()
    if not secret.isascii() or not secret.isprintable():
        return _wrong(visit)
    try:
        visit.desk.whose(visit.request, secret=secret)
    except DoxaError as error:
        if visit.request.state.inspector.problem(error).status == HTTPStatus.UNAUTHORIZED:
            return _wrong(visit)
        raise
    response = RedirectResponse(safe_path(visit.sent("next"), visit.all_memories()), SEE_OTHER)
    keep_key(visit.request, response, secret)
    return response


def _wrong(visit: Visit) -> Response:
    """Lead back to the door, which says that the key does not count."""
    door = visit.link("enter", user=None, wrong=1, next=visit.sent("next"))
    return RedirectResponse(door, SEE_OTHER)


def leave(visit: Visit) -> Response:
    """Forget the key."""
    response = RedirectResponse(visit.link("enter"), SEE_OTHER)
    forget_key(visit.request, response)
    return response


def _act(name: str) -> Act:
    if name not in ACTS:
        raise InputError(f"act: expected one of {', '.join(ACTS)}, got {name[:40]!r}.")
    return ACTS[name]


def _done(visit: Visit, name: str, changes: Sequence[Change]) -> Response:
    """Lead back to the page of a form, which offers to undo what was done and nothing else."""
    told = [(one.kind, one.fact.fact_id) for one in changes]
    mine = (one.number for one in _lately(visit) if [(had.kind, had.fact.fact_id) for had in one.changes] == told)
    return visit.back(done=name, at=_numbers([*mine][:1]))


def _lately(visit: Visit) -> Iterator[Deed]:
    """Give what was done by hand and stands, the latest first."""
    return (one for one in visit.room.view().deeds(session=CORRECTIONS, limit=MOST_LATELY) if one.stands)


def _numbers(numbers: Sequence[int]) -> str | None:
    return "-".join(map(str, numbers)) or None


POSTS = {"act": act, "correct": correct, "undo": undo, "enter": enter, "leave": leave}
