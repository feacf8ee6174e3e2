"""What is believed now: people and things, and of each what is sure and what is not."""

from __future__ import annotations

from starlette.responses import Response

from doxa.transport.inspector.visit import Visit

__all__ = ["PATHS"]

PEOPLE, FACTS = 40, 40


def now(visit: Visit) -> Response:
    """Show people and things, and of the one that the address names what is believed.

    Parameters: `q` what their names begin with, `of` the key or name of one, `people`, `firm`, `tentative` and `past`
    where the page of each list begins.
    """
    with visit.room.view().opened() as view:
        people = view.people(visit.text("q"), after=visit.text("people"), limit=PEOPLE)
        of = visit.text("of") or (people.items[0].entity.key if people.items else "")
        chosen = view.entity(of) if of else None
        facts = {
            standing: view.about(chosen.entity.key, standing, after=visit.text(standing), limit=FACTS)
            for standing in ("firm", "tentative", "past")
            if chosen is not None
        }
        counts = view.counts()
    return visit.shown("now.html", people=people, chosen=chosen, facts=facts, counts=counts)


PATHS = {"now": now}
