"""Folds that are in use are caught up behind the reader, when the database tells of a change.

Nothing rests on it: every use of a fold still asks where its log stands.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from doxa.backends.store import Change, Store
from doxa.core.errors import DoxaError

__all__ = ["Freshener"]

logger = logging.getLogger("doxa")

GATHER_S = 0.02
"""How long changes are gathered before folds are caught up: turns that come in together are folded together."""


class Freshener:
    """Catches up, one after the other in one thread, the folds that changes concern.

    The thread lives while there is something to do.
    """

    def __init__(
        self,
        store: Store,
        *,
        is_behind: Callable[[Change], bool],
        loaded: Callable[[], Iterable[str]],
        catch_up: Callable[[str], None],
    ) -> None:
        """Listen to a store.

        Args:
            store: what tells of changes.
            is_behind: whether a change concerns a fold that is loaded, and that does not know of it.
            loaded: the scopes of all folds that are loaded.
            catch_up: brings the fold of a scope up to date, unless somebody uses it at that moment.
        """
        self._is_behind, self._loaded, self._catch_up = is_behind, loaded, catch_up
        self._guard = threading.Lock()
        self._due: dict[str, None] = {}
        self._at_work = False
        store.listen(self._told)  # as long as the store is open

    def _told(self, change: Change | None) -> None:
        scopes = list(self._loaded()) if change is None else [change.scope] if self._is_behind(change) else []
        with self._guard:
            self._due |= dict.fromkeys(scopes)
            if self._due and not self._at_work:
                self._at_work = True
                threading.Thread(target=self._run, name="doxa-freshener", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(GATHER_S)
            with self._guard:
                due, self._due = self._due, {}
                if not due:
                    self._at_work = False
                    return
            for scope in due:
                try:
                    self._catch_up(scope)
                except DoxaError as exc:  # the next use of the fold tells its user
                    logger.info("The fold of a user was not caught up in advance: %s", exc)
