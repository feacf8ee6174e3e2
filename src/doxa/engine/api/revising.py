"""What a person changes by hand of what is believed of one user: `Revising`, the part of `Memory` that does it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from doxa.core.errors import InputError
from doxa.core.values import Change
from doxa.engine.history import acceptance, withdrawal
from doxa.engine.history.entities import by_hand
from doxa.engine.hosting import Host
from doxa.engine.intake import clean, require_text
from doxa.engine.retrying import retried
from doxa.engine.shared.aside import set_aside, take_up
from doxa.engine.shared.layers import is_shared

__all__ = ["Revising"]


class Revising:
    """What is known of one user, to correct by hand; `undo` takes each correction back."""

    def __init__(self, doxa: Host, *, user: str) -> None:
        self._doxa = doxa
        self.user = user

    def merge(self, one: str, other: str, *, reason: str = "") -> list[Change]:
        """Take two names for one person or thing; `split` undoes it.

        Raises:
            NotFoundError: a name is not known.
            InputError: a name stands for several.
        """
        return self._identify((one, other), same=True, reason=reason)

    def split(self, one: str, other: str, *, reason: str = "") -> list[Change]:
        """Tell two names apart; facts go back to the names that they were told of.

        Raises:
            NotFoundError: a name is not known.
            InputError: a name stands for several.
        """
        return self._identify((one, other), same=False, reason=reason)

    def _identify(self, names: tuple[str, str], *, same: bool, reason: str) -> list[Change]:
        self._doxa.wait(self.user)
        return retried(lambda: by_hand(self._doxa.parts.log, self.user, names, same=same, reason=clean(reason)))

    def retract(self, fact_id: str, *, reason: str = "") -> list[Change]:
        """Declare that a fact never was true; what it had displaced holds again.

        One of a shared memory no longer counts for this user, and nothing else changes; `accept` takes that back.

        Raises:
            NotFoundError: there is no such fact.
            InputError: nobody said it, it follows from others; the message says what can be retracted instead.
        """
        self._doxa.wait(self.user)
        if is_shared(fact_id):
            return retried(lambda: set_aside(self._doxa.parts, self.user, fact_id, reason=clean(reason)))
        return retried(lambda: withdrawal.retract_fact(self._doxa.parts.log, self.user, fact_id, reason=clean(reason)))

    def accept(self, fact_id: str, *, reason: str = "") -> list[Change]:
        """Declare that a fact is so, though it is tentative, set aside, disputed or was retracted.

        What of a shared memory was set aside by `retract` or `withdraw` counts again.

        It is believed from then on and takes the place of what it conflicts with, as what a trusted speaker says does;
        what it was disputed with is given up as wrong. What is said later can revise it like any fact, and with the
        turn that said it, it goes.

        Returns:
            What changed; empty when it is believed already.

        Raises:
            NotFoundError: there is no such fact.
            InputError: it is over, follows from others, no turn that is trusted says it, or it cannot be true with
                what was said in general; the message says what to do instead.
        """
        self._doxa.wait(self.user)
        if is_shared(fact_id):
            return retried(lambda: take_up(self._doxa.parts, self.user, fact_id, reason=clean(reason)))
        return retried(lambda: acceptance.accept_fact(self._doxa.parts.log, self.user, fact_id, reason=clean(reason)))

    def keep_both(self, fact_ids: Sequence[str], *, reason: str = "") -> list[Change]:
        """Declare that all facts of a dispute hold beside each other, until something that is said later changes it.

        Args:
            fact_ids: all facts of the dispute, two or more.
            reason: why; it is kept in the history.

        Raises:
            NotFoundError: there is no such fact.
            InputError: they are not the facts of one dispute, one denies another, or a rule lets only one hold.
        """
        self._doxa.wait(self.user)
        return retried(lambda: acceptance.keep_facts(self._doxa.parts.log, self.user, fact_ids, reason=clean(reason)))

    def withdraw(self, *, turn_id: str | None = None, source: str | None = None, reason: str = "") -> list[Change]:
        """Stop trusting a turn or a source: what only it supports goes, what it had displaced returns.

        The text is kept, but withdrawn turns are no longer recalled. A turn of a shared memory no longer counts for
        this user, and nothing else changes.

        Args:
            turn_id: the turn.
            source: a speaker, whose turns so far are all withdrawn; or a source that speakers quoted, of which only
                what was said on its word is given up.
            reason: why; it is kept in the history.

        Raises:
            InputError: neither or both are given.
            NotFoundError: there is no such turn or source.
        """
        if (turn_id is None) == (source is None):
            raise InputError("withdraw: give either turn_id=... or source=....")
        self._doxa.wait(self.user)
        log, why = self._doxa.parts.log, clean(reason)
        if source is not None:
            require_text(source, "withdraw: source")
            return retried(partial(withdrawal.withdraw_source, log, self.user, clean(source).strip(), reason=why))
        if is_shared(str(turn_id)):
            return retried(partial(set_aside, self._doxa.parts, self.user, str(turn_id), reason=why))
        return retried(partial(withdrawal.withdraw_turn, log, self.user, str(turn_id), reason=why))

    def undo(self, *, expected: int | None = None) -> list[Change]:
        """Take the last change back: a turn, or what was done by hand (`retract`, `accept`, `merge`, ...).

        What is believed afterwards is what was believed before. Called again, the change before that is taken back.

        Args:
            expected: the number of the change that is meant (`Deed.number`): if it is not the last one any more,
                nothing is taken back.

        Returns:
            What changed; empty when there is nothing to take back.

        Raises:
            InputError: something else was changed since what was expected.
        """
        self._doxa.wait(self.user)
        return retried(lambda: withdrawal.undo(self._doxa.parts.log, self.user, expected=expected))

    def what_if(
        self,
        *,
        retract: str | None = None,
        accept: str | None = None,
        keep_both: Sequence[str] | None = None,
        withdraw: str | None = None,
        source: str | None = None,
        merge: Sequence[str] | None = None,
        split: Sequence[str] | None = None,
        say: str | None = None,
        speaker: str | None = None,
    ) -> list[Change]:
        """Return what something would change, and change nothing.

        Args:
            retract: a fact id.
            accept: a fact id.
            keep_both: the ids of the facts of a dispute.
            withdraw: a turn id.
            source: a speaker or quoted source that would no longer be trusted.
            merge: two names that would be taken for one person or thing.
            split: two names that would be told apart.
            say: what somebody might say now; it is read the built-in way, without a language model.
            speaker: who might say it; by default the one person who has spoken as the user so far.

        Raises:
            InputError: not exactly one of all but `speaker` is given, it cannot be done to these facts, or the text
                cannot be a turn.
            NotFoundError: there is no such fact, turn, source or name.
        """
        self._doxa.wait(self.user)
        given = {
            "retract": retract, "accept": accept, "keep_both": keep_both, "withdraw": withdraw, "source": source,
            "merge": merge, "split": split, "say": say,
        }  # fmt: skip
        return withdrawal.preview(self._doxa.parts, self.user, given, speaker=speaker)
