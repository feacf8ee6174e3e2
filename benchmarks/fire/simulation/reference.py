"""What an engine believes that was told the same in the same order, and nothing ever happened to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.errors import InputError, NotFoundError
from doxa.engine import Doxa
from doxa.engine.history import acceptance, entities, withdrawal
from doxa.memory import turn_from
from simulation.model import BY_HAND, Deed, Row, User
from simulation.world import World

__all__ = ["Incomparable", "believed", "retold"]


class Incomparable(Exception):
    """The two cannot be held against each other, for a reason that is no mistake."""


def believed(engine: Doxa, user: str) -> dict[str, Any]:
    """Return what is believed of a user, less what names rows of the log."""
    with engine.parts.log.user(user) as state:
        beliefs = state.beliefs
        facts = [
            (
                fact.subject.key, str(fact.relation), fact.object.key, fact.polarity, str(fact.modality),
                str(fact.valid), str(fact.status), fact.disputed, sorted(fact.turn_ids), len(fact.premises),
            )
            for fact in beliefs.facts.values()
        ]  # fmt: skip
        return {
            "facts": sorted(map(repr, facts)),
            "names": sorted(
                sorted(beliefs.identity.names(key))
                for key in {term.key for fact in beliefs.facts.values() for term in (fact.subject, fact.object)}
            ),
            "withdrawn": sorted(state.withdrawn),
            "tasks": state.tasks.state(),
        }


def retold(user: User, world: World, path: Path, config: Config) -> dict[str, Any]:
    """Return what an engine of its own believes that is told the turns that there are, and done what was done by hand.

    Raises:
        Incomparable: what was undone is not what is the last here, since something was erased that was done before.
    """
    engine = Doxa.open(path, config=config)
    try:
        teller = _Teller(engine, user, world)
        for row in user.rows:
            teller.tell(row)
        return believed(engine, user.name)
    finally:
        engine._close(drain=False)


class _Teller:
    """Tells one log again."""

    def __init__(self, engine: Doxa, user: User, world: World) -> None:
        self._engine, self._user, self._world = engine, user, world
        self._log = engine.parts.log
        self._deeds = {deed.ordinal: deed for deed in user.deeds}
        self._done: dict[int, int] = {}
        """Rows that change something, by their place there and here."""

    def tell(self, row: Row) -> None:
        """Do what a row says was done."""
        if row.kind == "turn":
            at = self._at(row)
            turn = turn_from(row.body, turn_id=str(row.turn_id), user=self._user.name, ordinal=0, at=at)
            self._log.receive(turn)
        elif row.kind == "maintained":
            maintained = self._engine._maintenance
            maintained._process_alone(maintained._pending(self._user.name)[:1])
            self._done[row.ordinal] = self._log.head(self._user.name).state
        elif row.kind in BY_HAND and row.ordinal in self._deeds:
            self._world.clock.wall_s = row.known_at / 1e6
            before = self._log.head(self._user.name).state
            self._do(self._deeds[row.ordinal])
            after = self._log.head(self._user.name).state
            if after != before:
                self._done[row.ordinal] = after

    def _at(self, row: Row) -> Any:
        from datetime import UTC, datetime, timedelta

        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row.known_at)

    def _do(self, deed: Deed) -> None:
        log, name = self._log, self._user.name
        try:
            match deed.kind:
                case "withdrawn":
                    withdrawal.withdraw_turn(log, name, deed.about, reason="")
                case "distrusted":
                    withdrawal.withdraw_source(log, name, deed.about, reason="")
                case "identified":
                    one, other, same = deed.about
                    entities.by_hand(log, name, (one, other), same=same, reason="")
                case "retracted":
                    if (found := self._fact(deed.about)) is not None:
                        withdrawal.retract_fact(log, name, found, reason="")
                case "accepted":
                    if (found := self._fact(deed.about)) is not None:
                        self._require_same_turns(found, deed.about[-1])
                        acceptance.accept_fact(log, name, found, reason="")
                case "undone":
                    self._undo(deed.about)
        except NotFoundError:
            return  # what it was about was never said here
        except InputError as exc:
            raise Incomparable(f"{deed.kind}: {exc}") from exc

    def _fact(self, about: tuple[str, str, str, bool, tuple[str, ...]]) -> str | None:
        subject, relation, value, polarity, turn_ids = about
        with self._log.user(self._user.name) as state:
            beliefs = state.beliefs
            same = [
                fact
                for fact in beliefs.facts.values()
                if beliefs.key(fact.subject.key) == beliefs.key(subject) and str(fact.relation) == relation
                and beliefs.key(fact.object.key) == beliefs.key(value) and fact.polarity == polarity
            ]  # fmt: skip
            return next((fact.fact_id for fact in same if set(fact.turn_ids) & set(turn_ids)), None)

    def _require_same_turns(self, fact_id: str, turn_ids: tuple[str, ...]) -> None:
        """A fact is accepted as its latest turn said it, and that turn may have been read anew since: what was said
        before it was erased."""
        with self._log.user(self._user.name) as state:
            if set(state.beliefs.facts[fact_id].turn_ids) - set(turn_ids):
                raise Incomparable("accepted: another turn says it as well, as it is read now")

    def _undo(self, ordinal: int) -> None:
        here = self._done.get(ordinal)
        if here is not None:
            withdrawal.undo(self._log, self._user.name, expected=here)
