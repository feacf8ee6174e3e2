"""Teaching: what the reader is unsure of -> marks in a file -> a head that is no worse, in use from then on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from doxa.backends.parser import TurnReader
from doxa.core.errors import ConfigError, InputError, NotFoundError
from doxa.core.marks import Mark, MarkedTurn, Missed, Taught, TaughtBy, Unsure
from doxa.core.values import Turn
from doxa.engine.history.replay import NO_TURN
from doxa.engine.hosting import Host
from doxa.engine.intake import clean, require_positive, require_text
from doxa.engine.wiring.parts import Parts
from doxa.understand import Head, append_marks, is_relation_name, lines_heard, load_head, read_marks, teach, unsure_of

__all__ = ["Teaching"]


class Teaching:
    """What teaches the reader of turns what one user wants kept: marks in a file, and the head fitted to them."""

    def __init__(self, doxa: Host, *, user: str) -> None:
        self._doxa = doxa
        self.user = user

    def unsure(self, *, limit: int = 20, latest: int = 500) -> list[Unsure]:
        """Return claims of which the reader is not sure whether to keep them, the most unsure first; see `mark`.

        Claims that have a mark are left out. Cost: one reading a turn, about 20 ms.

        Args:
            limit: how many at most.
            latest: of how many of the latest turns of the user.

        Raises:
            InputError: a number is not positive.
            ConfigError: the parser reads no turns.
            BackendError: it failed.
        """
        require_positive(limit, "unsure: limit")
        require_positive(latest, "unsure: latest")
        self._doxa.settle(self.user)
        parts = self._doxa.parts
        reader, head = _reader(parts), parts.heads.of(self.user) or Head.untaught()
        with parts.log.user(self.user) as state:
            trusted = [one for one in state.received() if _is_told(one) and state.trusts(one.turn_id)][-latest:]
            told = [(one, state.context(one, parts.config.engine.context_turns)) for one in trusted]
        return unsure_of(told, reader, head, self._marked())[:limit]

    def mark(self, claim: Unsure, *, keep: bool, right: bool | None = None, relation: str = "") -> MarkedTurn:
        """Say of a claim whether it is worth keeping, and return what was written down; `teach` learns from it.

        Args:
            claim: one of `unsure()`.
            keep: whether it is right and worth keeping.
            right: whether the turn says it; by default what is kept is right, and what is not is wrong.
            relation: the name that its relation should have (`works_at`); empty where it is right.

        Raises:
            InputError: what is not right is to be kept, or the relation is no name.
            NotFoundError: the turn, or one that it was read with, was erased.
            ConfigError: the database is no file, and `parser.head` does not say where else marks go.
            StoreReadOnlyError: they cannot be written.
        """
        right = keep if right is None else right
        if keep and not right:
            raise InputError("mark: what is not right cannot be worth keeping; give keep=False, or right=True.")
        if not is_relation_name(relation):
            raise InputError(f"mark: relation: expected a name such as works_at or sister, got {relation!r}.")
        made = Mark(
            subject=claim.subject, words=claim.words, object=claim.object, right=right, keep=keep, relation=relation
        )
        return self._added(MarkedTurn(lines=claim.lines, claims=(made,)))

    def mark_missed(self, turn_id: str, *, subject: str, relation: str, object: str) -> MarkedTurn:
        """Say that a turn makes a claim which was not heard, and return what was written down.

        A head can add no claim, so it is kept for later training of the reader; in the figures of `teach` it counts as
        not found.

        Raises:
            InputError: a part is empty.
            NotFoundError: there is no such turn.
            ConfigError: the database is no file, and `parser.head` does not say where else marks go.
            StoreReadOnlyError: they cannot be written.
        """
        for name, value in (("subject", subject), ("relation", relation), ("object", object)):
            require_text(value, f"mark_missed: {name}")
        parts = self._doxa.parts
        with parts.log.user(self.user) as state:
            if (turn := state.turn(turn_id)) is None:
                raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
            lines = lines_heard(turn, state.context(turn, parts.config.engine.context_turns))
        claim = Missed(subject=clean(subject), relation=clean(relation), object=clean(object))
        return self._added(MarkedTurn(lines=lines, missed=(claim,)))

    def teach(self, path: str | Path | None = None, *, dry_run: bool = False) -> Taught:
        """Fit a head to marks, from 20 on, and use it for what is said from then on if it is no worse.

        Every fifth turn is left out of what is learned from; a head that does worse there than the reader alone is
        refused. What was read before stays as it is. `forget` removes the marks on what is erased, and such a head.

        Args:
            path: a file of marks; by default the user's own, beside the database.
            dry_run: only tell what the head would be worth.

        Cost: one reading a turn, then some seconds for some hundred marks.

        Raises:
            NotFoundError: there is no such file.
            FormatError: it is no text in UTF-8.
            ConfigError: the parser reads no turns, or there is no place for a head.
            StoreReadOnlyError: the head cannot be written.
            BackendError: the reader failed.
        """
        parts = self._doxa.parts
        own = parts.heads.marks(self.user)
        source = own if path is None else Path(path)
        reader, read = _reader(parts), read_marks(source, seal=parts.heads.seal)
        head, taught = teach(read.turns, reader, name=parts.parser.name)
        used = taught.accepted and not dry_run
        if used:
            is_own = source.absolute() == own.absolute()
            parts.heads.put(self.user, replace(head, own=is_own))
            left = self._marked() if is_own else read.turns
            if any(turn not in left for turn in read.turns):  # what it was fitted to was erased meanwhile
                parts.heads.drop(self.user)
                used = False
        return replace(taught, in_use=used, broken=tuple(map(str, read.broken)))

    def head(self) -> TaughtBy | None:
        """Return what is in use for this user; None where nothing was taught.

        Raises:
            FormatError: its file cannot be read, so turns are read without it.
        """
        path = self._doxa.parts.heads.path(self.user)
        if path is None or not path.exists():
            return None
        head = load_head(path, seal=self._doxa.parts.heads.seal)
        return TaughtBy(path=path, marks=head.marks, relations=head.relations)

    def _marked(self) -> Collection[MarkedTurn]:
        """Return the turns that have marks already; none where there is no file yet, or no place for one."""
        heads = self._doxa.parts.heads
        try:
            return read_marks(heads.marks(self.user), seal=heads.seal).turns
        except (NotFoundError, ConfigError):
            return ()

    def _added(self, turn: MarkedTurn) -> MarkedTurn:
        heads = self._doxa.parts.heads
        gone = self._gone(turn)
        if not gone:
            append_marks(turn, heads.marks(self.user), seal=heads.seal)
            if gone := self._gone(turn):  # erased while this was written
                texts = {line.text for line in turn.lines if line.turn_id in gone}
                heads.forget(self.user, ids=gone, texts=texts)
        if gone:
            raise NotFoundError(NO_TURN.format(user=self.user, turn_id=", ".join(sorted(gone))))
        return turn

    def _gone(self, turn: MarkedTurn) -> set[str]:
        """Return the turns out of which marks were made, or which these were read with, that are there no more."""
        with self._doxa.parts.log.user(self.user) as state:
            return {line.turn_id for line in turn.lines if line.turn_id and state.turn(line.turn_id) is None}


def _reader(parts: Parts) -> TurnReader:
    if not isinstance(parts.parser, TurnReader):
        raise ConfigError(
            f"Expected a parser that reads turns, and {parts.parser.name} reads sentences alone, so there is nothing "
            "to teach. Use the built-in one (unset DOXA_PARSER)."
        )
    return parts.parser


def _is_told(turn: Turn) -> bool:
    return turn.role == "user" and not turn.generated and not turn.verbatim
