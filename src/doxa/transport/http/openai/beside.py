"""A conversation and a memory -> what is put beside the user's words, the same each time.

What was once put beside a message is put there again, byte for byte, so that the beginning of a prompt that an upstream
has read before stays what it was. It is kept in the process alone: a restart costs one reading of a prompt.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from doxa.core.access import Scope
from doxa.core.shared import origin_of
from doxa.transport.http.openai.conversation import Conversation, Said
from doxa.transport.http.openai.recalled import FIRST, NEWS, TOLD

if TYPE_CHECKING:
    from doxa.engine import Look, Note, Notebook, Page

__all__ = ["Beside", "Shelf", "one_line"]

SESSIONS = 1000
"""Sessions of which it is kept what was put where; the one that was longest away is forgotten first."""
PLACES = 500
"""Messages of one session; those that were longest not sent again are forgotten first."""
FIRST_TOKENS = 400
NEWS_TOKENS = 400
UNSAFE = re.compile("[`<>\x7f-\x9f\u2028\u2029]")
"""What could end the block, or a line of it, for some reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What was put beside one message."""

    text: str = ""
    keys: frozenset[str] = frozenset()
    turn_ids: frozenset[str] = frozenset()
    changes: int = 0

    @property
    def shared(self) -> bool:
        """Whether anything of it is of a shared memory."""
        return any(map(origin_of, self.turn_ids))


@dataclass(slots=True)
class Shelf:
    """What was put beside the messages of one session."""

    first: Placed | None = None
    placed: OrderedDict[str, Placed] = field(default_factory=OrderedDict)
    """By the digest of the history up to the message."""
    found: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    """Turns that bear on a message, by the same digest."""
    guard: Lock = field(default_factory=Lock)

    def complete(self, notebook: Notebook, talk: Conversation, *, session: str, earlier: Sequence[str]) -> None:
        """Find what goes beside the first message, and beside the newest, where that is not known yet.

        Args:
            notebook: the memory.
            talk: the conversation.
            session: its session.
            earlier: digests of messages of the user that are not in the request.
        """
        if not talk.users:
            return
        rests_on = {key for one in self._known(talk, earlier) for key in one.turn_ids}
        with notebook.opened({*rests_on, *self._found(talk, earlier)}) as look:
            if not look.keeps(rests_on):  # something was erased: it is not told again
                self._forget()
            if self.first is None:
                self._begin(_placed(look.first(max_tokens=FIRST_TOKENS), FIRST))
            newest = talk.users[-1]
            if newest.digest not in self.placed:
                self.settle(newest, _placed(self._news(look, talk, session, earlier), NEWS))

    def search(self, notebook: Notebook, talk: Conversation) -> None:
        """Search for what bears on the newest message by meaning as well; it goes beside the next one, or beside it.

        It takes longer than a message should wait.
        """
        newest = talk.users[-1] if talk.users else None
        if newest is None or not newest.text.strip() or newest.digest in self.found:
            return
        found = notebook.search(newest.text)
        with self.guard:
            self.found[newest.digest] = found
            _trim(self.found)

    def settle(self, said: Said, placed: Placed | None = None) -> None:
        """Keep what goes beside a message, unless that is settled; by default nothing."""
        with self.guard:
            self.placed.setdefault(said.digest, placed or Placed())
            _trim(self.placed)

    def draws(self, talk: Conversation, earlier: Sequence[str]) -> bool:
        """Tell whether something of a shared memory was put beside the messages of a conversation."""
        return any(one.shared for one in self._known(talk, earlier))

    def texts(self, talk: Conversation, *, begins: bool) -> list[tuple[Said, str]]:
        """Return what goes beside which message.

        Args:
            talk: the conversation.
            begins: whether the first message of the request is that of the conversation.
        """
        with self.guard:
            found = []
            for place, said in enumerate(talk.users):
                first = self.first.text if self.first and begins and not place else ""
                placed = self.placed.get(said.digest)
                text = first + (placed.text if placed else "")
                if text and said.content is not None:
                    found.append((said, text))
            return found

    def _begin(self, first: Placed) -> None:
        with self.guard:
            if self.first is None:
                self.first = first

    def _forget(self) -> None:
        with self.guard:
            self.first = None
            self.placed.clear()
            self.found.clear()

    def _news(self, look: Look, talk: Conversation, session: str, earlier: Sequence[str]) -> Page:
        known = self._known(talk, earlier)
        newest = talk.users[-1]
        since = next((one.changes for one in reversed(known) if one.changes), 0)
        if not newest.text.strip() or newest.content is None:
            return Page(changes=since)
        return look.news(
            newest.text,
            session=session,
            since=since,
            told=frozenset(key for one in known for key in one.keys),
            said=None if talk.before else frozenset(said.text for said in talk.said),
            found=self._found(talk, earlier),
            max_tokens=NEWS_TOKENS,
        )

    def _found(self, talk: Conversation, earlier: Sequence[str]) -> list[str]:
        """Return the turns that a search found for the last two messages, those of the newest first."""
        latest = [*earlier, *(said.digest for said in talk.users)][-2:]
        return [key for one in reversed(latest) for key in self.found.get(one, ())]

    def _known(self, talk: Conversation, earlier: Sequence[str]) -> list[Placed]:
        """Return what was put beside the messages of a conversation so far."""
        with self.guard:
            digests = [*earlier, *(said.digest for said in talk.users)]
            known = [key for key in digests if key in self.placed]
            for key in known:
                self.placed.move_to_end(key)
            return [self.first or Placed(), *(self.placed[key] for key in known)]


class Beside:
    """The shelves of all sessions. Safe between threads."""

    def __init__(self) -> None:
        self._shelves: OrderedDict[tuple[str, str, str], Shelf] = OrderedDict()
        self._guard = Lock()

    def shelf(self, scope: Scope, session: str) -> Shelf:
        """Return that of a session, a new one if need be."""
        key = (scope.tenant, scope.user, session)
        with self._guard:
            shelf = self._shelves.setdefault(key, Shelf())
            self._shelves.move_to_end(key)
            while len(self._shelves) > SESSIONS:
                self._shelves.popitem(last=False)
            return shelf


def _trim(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > PLACES:
        kept.popitem(last=False)


def _placed(page: Page, what: str) -> Placed:
    lines = "\n".join(_line(note) for note in page.notes)
    return Placed(
        text=TOLD.format(what=what, lines=lines) if lines else "",
        keys=frozenset(note.key for note in page.notes),
        turn_ids=frozenset(key for note in page.notes for key in note.turn_ids),
        changes=page.changes,
    )


def _line(note: Note) -> str:
    told = {"said": note.text, "by": note.speaker, "on": str(note.on)} if note.speaker else {"known": note.text}
    return one_line(told)


def one_line(told: Mapping[str, Any]) -> str:
    """Return data as a line of JSON that ends no block around it."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(told, ensure_ascii=False))
