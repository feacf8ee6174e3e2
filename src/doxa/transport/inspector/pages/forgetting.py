"""Turns, or everything -> gone for good: chosen, shown with all that would go with them, erased, and certified."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response

from doxa.core.errors import InputError
from doxa.core.values import Turn
from doxa.transport.inspector.visit import SEE_OTHER, Visit
from doxa.transport.plain import plain

if TYPE_CHECKING:
    from doxa.engine import View

__all__ = ["PATHS", "POSTS"]

TURNS, ALIKE, LISTED = 50, 10, 50
MOST_CHOSEN, MOST_MEANT = 200, 2_000
"""Turns that may be chosen one by one, since each is in the address; and that may be meant by conditions."""
IN_ADDRESS = 1_000_000
"""Characters of a certificate that a browser takes for an address; it has a box for a longer one."""


def choose(visit: Visit) -> Response:
    """Show turns to be chosen.

    Parameters: `q` words that they have, `session`, `speaker`, `since` and `until` days; `turn` those that are chosen,
    `after` where the page begins, `alike` whether those are searched for that may say it in other words.
    """
    asked, view = _asked(visit), visit.room.view(settle=False)
    chosen = dict.fromkeys(_chosen(visit))
    found = view.turns(**asked, after=visit.text("after"), limit=TURNS)
    alike = _alike(visit, asked) if asked["words"] and visit.text("alike") else []
    shown = {turn.turn_id for turn in found.items}
    alike = [turn for turn in alike if turn.turn_id not in shown]
    elsewhere = [key for key in chosen if key not in shown and key not in {turn.turn_id for turn in alike}]
    return visit.shown(
        "health_forget.html", found=found, alike=alike, chosen=chosen, elsewhere=elsewhere,
        narrowed=any(asked.values()), most=MOST_CHOSEN,
    )  # fmt: skip


def preview(visit: Visit) -> Response:
    """Show what would go with the turns that are chosen (`turn`), all that fit (`all`), or `everything`."""
    view = visit.room.view(settle=False)
    everything = bool(visit.text("everything"))
    meant = _all_that_fit(visit, view) if visit.text("all") else _chosen(visit)
    if not everything and not meant:
        raise InputError("Choose at least one turn to forget: tick it in the list, then look at what would go.")
    foreseen = view.would_forget(None if everything else meant, limit=LISTED)
    return visit.shown(
        "health_preview.html", foreseen=foreseen, everything=everything, meant=json.dumps(foreseen.turn_ids),
        may_erase="erase" in visit.room.scope.rights,
    )  # fmt: skip


def erase(visit: Visit) -> Response:
    """Erase what the form names, and show the certificate: it is kept nowhere, so this is where it can be saved.

    Raises:
        InputError: the form names no turns, or everything without the name of the user.
        ForbiddenError: the key may not erase.
    """
    memory = visit.room.memory("erase")
    if visit.sent("everything"):
        user = visit.room.scope.user
        if visit.sent("name") != user:
            raise InputError(f"To forget everything, type the name of this memory, {user!r}. Nothing was erased.")
        certificate = memory.forget(everything=True)
    else:
        certificate = memory.forget(turn_id=_sent(visit.sent("turns")))
    written = json.dumps(plain(certificate), ensure_ascii=False, indent=2)
    fits = len(written) < IN_ADDRESS
    return visit.shown("health_certificate.html", certificate=certificate, written=written, fits=fits)


def again(visit: Visit) -> Response:
    """Lead whoever comes back to an act that is done to where one begins."""
    return RedirectResponse(visit.link("health/forget"), SEE_OTHER)


def _asked(visit: Visit) -> dict[str, Any]:
    return {
        "words": visit.text("q").strip(),
        "session": visit.text("session").strip(),
        "speaker": visit.text("speaker").strip(),
        "since": _day(visit, "since"),
        "until": _day(visit, "until"),
    }


def _day(visit: Visit, name: str) -> date | None:
    given = visit.text(name).strip()
    try:
        return date.fromisoformat(given) if given else None
    except ValueError as error:
        raise InputError(f"{name}: expected a day such as 2024-07-01, got {given[:40]!r}.") from error


def _chosen(visit: Visit) -> list[str]:
    chosen = list(dict.fromkeys(visit.request.query_params.getlist("turn")))
    if len(chosen) > MOST_CHOSEN:
        raise InputError(f"turn: expected {MOST_CHOSEN} at most, got {len(chosen)}. Forget them in several steps.")
    return chosen


def _alike(visit: Visit, asked: dict[str, Any]) -> list[Turn]:
    """Return turns that may say it in other words."""
    memory = visit.room.memory()
    found = memory.search(
        asked["words"], k=ALIKE, recent=(), session=asked["session"] or None, speaker=asked["speaker"] or None,
        since=asked["since"], until=asked["until"], shared=False,
    )  # fmt: skip
    ids = dict.fromkeys(key for one in found for key in one.turn_ids)
    return memory.turns(list(ids))


def _all_that_fit(visit: Visit, view: View) -> list[str]:
    """Return the ids of all turns that meet the conditions of the address.

    Raises:
        InputError: there is no condition, or they are too many.
    """
    asked = _asked(visit)
    if not any(asked.values()):
        raise InputError("Say which turns are meant: words, a session, a speaker or days.")
    found: list[str] = []
    after = ""
    while True:
        page = view.turns(**asked, after=after, limit=MOST_MEANT + 1 - len(found))
        found += (turn.turn_id for turn in page.items)
        after = page.next
        if len(found) > MOST_MEANT:
            raise InputError(f"More than {MOST_MEANT:,} turns fit. Narrow it down, and forget them in several steps.")
        if not after:
            return found


def _sent(given: str) -> list[str]:
    try:
        ids = json.loads(given)
    except (ValueError, RecursionError):
        ids = None
    if not isinstance(ids, list) or not ids or not all(isinstance(one, str) for one in ids):
        raise InputError("turns: expected the turns of the page before. Nothing was erased.")
    return ids


PATHS = {"health/forget": choose, "health/preview": preview, "health/erase": again}
POSTS = {"health/erase": erase}
