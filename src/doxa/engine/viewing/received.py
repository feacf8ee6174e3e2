"""The turns of a memory, and what would go with them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from doxa.core.views import (
    Foreseen,
    Lesser,
    Listing,
    TurnPage,
)
from doxa.engine.intake import require_positive
from doxa.engine.viewing.forgetting import foresee, turns_of
from doxa.engine.viewing.looking import Looking
from doxa.engine.viewing.order import cursor_of, read_cursor

__all__ = ["Received"]


class Received(Looking):
    """What was said, how it was taken, and what forgetting it would take along."""

    def turns(
        self,
        words: str = "",
        *,
        session: str = "",
        speaker: str = "",
        since: date | None = None,
        until: date | None = None,
        after: str = "",
        limit: int = 50,
    ) -> TurnPage:
        """Return turns that meet every condition that is given, the latest first, withdrawn ones too.

        Args:
            words: only those that have all of these words, in whatever form; turns that wait to be understood and
                Doxa's own replies are not found by words.
            session: only those of this session.
            speaker: only those of this speaker, whatever the case.
            since: only those said on this day or later.
            until: only those said on this day or earlier.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "turns: limit")
        with self._parts.log.user(self.user) as state:
            return turns_of(
                state, words=words, session=session, speaker=speaker, since=since, until=until, after=after, limit=limit
            )

    def degraded(self, *, after: str = "", limit: int = 20) -> Listing[Lesser]:
        """Return the turns that could not be processed in full, the latest first.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.

        Cost: O(such turns).
        """
        require_positive(limit, "degraded: limit")
        cursor = read_cursor(after, int)
        with self._parts.log.user(self.user) as state:
            known = [Lesser(turn=turn, why=why) for key, why in state.degraded.items() if (turn := state.turn(key))]
            known.sort(key=lambda one: -one.turn.ordinal)
            left = [one for one in known if cursor is None or one.turn.ordinal < cursor[0]]
            more = len(left) > limit
            items = tuple(left[:limit])
            return Listing(items=items, next=cursor_of(items[-1].turn.ordinal) if more else "", total=len(known))

    def spent(self) -> dict[str, tuple[int, int, int]]:
        """Return what models cost that read the turns there are: turns, tokens of prompts, tokens of answers.

        By what they did: "read" the turns, "judge" what clashes, work out what they do to the "tasks".
        """
        with self._parts.log.user(self.user) as state:
            return {name: (one.turns, one.prompt_tokens, one.completion_tokens) for name, one in state.spent.items()}

    def would_forget(self, turn_ids: Collection[str] | None, *, limit: int = 100) -> Foreseen:
        """Return what would go if turns were erased (`Memory.forget`), and change nothing.

        What it cannot tell: later turns are read again without what is erased, and may then say something else.

        Args:
            turn_ids: the turns; None for everything of the user.
            limit: how many of each kind are listed.

        Raises:
            NotFoundError: there is none of the turns.
            InputError: `limit` is not positive.

        Cost: O(turns after the first of them + what rests on them + answers that are kept); for everything less.
        """
        require_positive(limit, "would_forget: limit")
        with self._indexed() as (state, index):
            return foresee(self._parts, self.user, turn_ids, state, index, limit=limit)
