"""What clients ask of a process, and what they make of the answer, or of none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from doxa.core.errors import NotFoundError
from doxa.core.turns import ToTasks, Turn
from doxa.core.values import Fact, Status
from doxa.engine.history.deeds import deeds
from simulation.model import Deed, Said, User, Wrong
from simulation.words import NAMES, sentence, task
from simulation.world import Act, Actor, Crash

if TYPE_CHECKING:
    from simulation.play import Play

__all__ = ["Acts"]

SURE = ("error", "full", "locked", "no room")
"""What happens before anything is written."""
LOG = {"tell": 46, "again": 12, "settle": 9, "turns": 12, "facts": 4, "withdraw": 4, "undo": 3, "erase": 4,
       "erase_all": 1, "conflict": 2, "agree": 0.5}  # fmt: skip
MIND = {"tell": 30, "again": 5, "settle": 10, "turns": 3, "facts": 4, "withdraw": 5, "undo": 11, "erase": 7,
        "erase_all": 0.5, "conflict": 1, "agree": 0.5, "merge": 9, "split": 3, "retract": 5, "accept": 3,
        "distrust": 1.5, "task": 4}  # fmt: skip
ACKNOWLEDGED = 0.9
"""The share of answers that reach the client."""
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


class Acts:
    """The clients of a world."""

    def __init__(self, play: Play) -> None:
        self._play, self._chance = play, play.chance
        self._weights = LOG if play.kind == "log" else MIND
        self._names, self._shares = [*self._weights], [*self._weights.values()]

    def one(self, actor: Actor) -> None:
        """Have a client ask something of a process."""
        (name,) = self._chance.choices(self._names, self._shares)
        getattr(self, f"_{name}")(actor, self._chance.choice(self._play.users))

    def tell_all(self, actor: Actor) -> None:
        """Tell what was never acknowledged, until it is."""
        for user in self._play.users:
            for one in [one for one in user.said.values() if one.begun and not one.acknowledged and not one.gone]:
                self._play.plainly(actor, self._telling(actor, user, one))
                one.acknowledged = self._play.step
        self._play.look()

    def _tell(self, actor: Actor, user: User, *, to_tasks: bool = False) -> None:
        waiting = [one for one in user.said.values() if not one.acknowledged and not one.gone]
        if waiting and self._chance.random() < 0.6:
            self._send(actor, user, self._chance.choice(waiting))
            return
        number = len(user.said) + 1
        plain = self._play.kind == "log"
        note = f"Note {number} of {user.name}. " * self._chance.choice((1, 1, 2, 8, 60)) if plain else ""
        text = task(self._chance) if to_tasks else note or sentence(self._chance)
        one = Said(
            turn_id=f"{user.name}-{number}", text=text, at=(BEGAN + timedelta(hours=9 * number)).isoformat(),
            session=f"s{number // 12}", speaker="Ann", verbatim=plain, tasks=to_tasks,
        )  # fmt: skip
        user.said[one.turn_id] = one
        if self._chance.random() < 0.93:  # else the request is lost
            self._send(actor, user, one)

    def _task(self, actor: Actor, user: User) -> None:
        self._tell(actor, user, to_tasks=True)

    def _again(self, actor: Actor, user: User) -> None:
        if told := [one for one in user.said.values() if one.begun and not one.gone]:
            self._send(actor, user, self._chance.choice(told))

    def _send(self, actor: Actor, user: User, one: Said) -> None:
        one.begun = one.begun or self._play.step
        one.flying += 1
        one.sent += 1
        sent = one.sent
        known, sure = one.acknowledged, not one.unsure and not one.acknowledged and one.flying == 1
        acknowledged = self._chance.random() < ACKNOWLEDGED
        begun = user.erasing
        act: list[Act] = []

        def done(receipt: Any, failed: BaseException | None) -> None:
            one.flying -= 1
            if failed is None:
                if known and not one.gone and not receipt.duplicate and begun == user.erasing and not user.erasers:
                    raise Wrong(f"{user.name}: {one.turn_id} was acknowledged, and stored once more")
                if sure and receipt.duplicate and sent == one.sent:
                    raise Wrong(f"{user.name}: {one.turn_id} was never sent, and is said to be known")
                if acknowledged:
                    one.acknowledged = one.acknowledged or self._play.step
                else:
                    one.unsure = True
                return
            fault = act[0].fault if act else None
            if isinstance(failed, Crash) or fault is None or fault.kind not in SURE:
                one.unsure = True
            elif sure and sent == one.sent:
                self._nothing_left(user, one)

        call = self._telling(actor, user, one)
        self._play.begin(actor, "tell", user.name, lambda: (act.append(actor.act), call())[1], done)  # type: ignore[arg-type,func-returns-value]

    def _telling(self, actor: Actor, user: User, one: Said) -> Callable[[], Any]:
        def call() -> Any:
            talk = actor.engine.dialogue(user=user.name, session=one.session, speaker=one.speaker)
            if not one.tasks:
                return talk.absorb(one.text, at=one.at, turn_id=one.turn_id, verbatim=one.verbatim)
            turn = Turn(
                turn_id=one.turn_id, user=user.name, session=one.session, speaker=one.speaker, role="user",
                text=one.text, at=datetime.fromisoformat(one.at),
            )  # fmt: skip
            return actor.engine.receive(replace(turn, to_tasks=ToTasks()))[1]

        return call

    def _nothing_left(self, user: User, one: Said) -> None:
        self._play.look()
        if one.turn_id in {row.turn_id for row in user.rows}:
            raise Wrong(f"{user.name}: {one.turn_id} could not be stored, it was said, and it is there")

    def _settle(self, actor: Actor, user: User) -> None:
        self._play.begin(actor, "settle", user.name, lambda: actor.engine.wait(user.name), lambda *_: None)

    def _turns(self, actor: Actor, user: User) -> None:
        wanted = user.present()
        over = {one.turn_id for one in user.said.values() if one.gone == "yes"}
        begun = user.erasing

        def done(found: Any, failed: BaseException | None) -> None:
            if failed is not None:
                return
            ids = [turn.turn_id for turn in found]
            if len(ids) != len(set(ids)):
                raise Wrong(f"{user.name}: read twice: {ids}")
            if (missing := wanted - set(ids)) and begun == user.erasing and not user.erasers:
                raise Wrong(f"{user.name}: {sorted(missing)} were acknowledged, and a later read misses them")
            if over & set(ids):
                raise Wrong(f"{user.name}: {sorted(over & set(ids))} were erased, and a later read has them")
            for turn in found:
                if turn.turn_id not in user.said or user.said[turn.turn_id].text != turn.text:
                    raise Wrong(f"{user.name}: {turn.turn_id} was never said so: {turn.text!r}")

        memory = actor.engine.memory(user=user.name)
        self._play.begin(actor, "turns", user.name, lambda: memory.turns(withdrawn=True), done)

    def _facts(self, actor: Actor, user: User) -> None:
        def done(found: list[Fact] | None, failed: BaseException | None) -> None:
            whole = user.erasing == begun and not user.erasers
            for fact in (found or ()) if whole else ():
                if bad := [key for key in fact.turn_ids if key not in user.said or user.said[key].gone == "yes"]:
                    raise Wrong(f"{user.name}: {fact} rests on {bad}")

        begun = user.erasing
        memory = actor.engine.memory(user=user.name)
        self._play.begin(actor, "facts", user.name, lambda: memory.facts(current=False), done)

    def _conflict(self, actor: Actor, user: User) -> None:
        """Send another text under a known id: what is stored stays."""
        known = [one for one in user.said.values() if one.acknowledged and not one.gone]
        if not known:
            return
        one = self._chance.choice(known)
        begun = user.erasing

        def done(_: Any, failed: BaseException | None) -> None:
            one.flying -= 1
            if failed is None and begun == user.erasing and not user.erasers:
                raise Wrong(f"{user.name}: another text was taken under the id {one.turn_id}")

        other = replace(one, text=f"{one.text} Or not?")
        if not user.erasers:
            one.flying += 1
            self._play.begin(actor, "conflict", user.name, self._telling(actor, user, other), done)

    def _agree(self, actor: Actor, user: User) -> None:
        self._play.counts["agree"] += 1
        self._play.agree()

    # What is done by hand.

    def _withdraw(self, actor: Actor, user: User) -> None:
        if there := sorted(user.present()):
            key = self._chance.choice(there)
            memory = actor.engine.memory(user=user.name)
            self._by_hand(actor, user, Deed("withdrawn", key), lambda: memory.withdraw(turn_id=key))

    def _distrust(self, actor: Actor, user: User) -> None:
        memory = actor.engine.memory(user=user.name)
        self._by_hand(actor, user, Deed("distrusted", "Ann"), lambda: memory.withdraw(source="Ann"))

    def _merge(self, actor: Actor, user: User, *, same: bool = True) -> None:
        told = " ".join(one.text for one in user.said.values() if one.acknowledged)
        known = [name for name in NAMES if name in told]
        one, other = self._chance.sample(known if len(known) > 1 and self._chance.random() < 0.9 else NAMES, 2)
        memory = actor.engine.memory(user=user.name)
        act = memory.merge if same else memory.split
        self._by_hand(actor, user, Deed("identified", (one, other, same)), lambda: act(one, other))

    def _split(self, actor: Actor, user: User) -> None:
        self._merge(actor, user, same=False)

    def _retract(self, actor: Actor, user: User) -> None:
        self._of_fact(actor, user, "retracted", Status.HELD)

    def _accept(self, actor: Actor, user: User) -> None:
        self._of_fact(actor, user, "accepted", None)

    def _of_fact(self, actor: Actor, user: User, kind: str, status: Status | None) -> None:
        deed = Deed(kind, None)
        drawn = self._chance.random()

        def call() -> Any:
            memory = actor.engine.memory(user=user.name)
            actor.engine.wait(user.name)
            with actor.engine.parts.log.user(user.name) as state:
                facts = [
                    fact for fact in state.beliefs.facts.values()
                    if (fact.status is status if status else fact.status is not Status.HELD) and fact.turn_ids
                ]  # fmt: skip
            if not facts:
                return []
            fact = sorted(facts, key=lambda one: one.fact_id)[int(drawn * len(facts))]
            deed.about = (fact.subject.key, str(fact.relation), fact.object.key, fact.polarity, fact.turn_ids)
            act = memory.retract if kind == "retracted" else memory.accept
            return act(fact.fact_id)

        self._by_hand(actor, user, deed, call)

    def _undo(self, actor: Actor, user: User) -> None:
        deed = Deed("undone", 0)

        def call() -> Any:
            actor.engine.wait(user.name)
            log = actor.engine.parts.log
            with log.user(user.name) as state:
                deed.about = next((one.row.ordinal for one in deeds(log, user.name, state) if one.stands), 0)
            return actor.engine.memory(user=user.name).undo(expected=deed.about) if deed.about else []

        self._by_hand(actor, user, deed, call)

    def _by_hand(self, actor: Actor, user: User, deed: Deed, call: Callable[[], Any]) -> None:
        """Do something by hand, of which one at a time is done for a user."""
        if any(one.act is not None and one.act.name in HANDS and one.act.user == user.name
               for one in self._play.world.actors):  # fmt: skip
            return
        user.doing.append(deed)

        def done(_: Any, failed: BaseException | None) -> None:
            self._play.look()
            if deed in user.doing and not isinstance(failed, Crash) and (failed is None or "not synced" not in
                                                                       self._play.world.counts):  # fmt: skip
                user.doing.remove(deed)

        self._play.begin(actor, deed.kind, user.name, call, done)

    # What is erased.

    def _erase(self, actor: Actor, user: User) -> None:
        there = [key for key in sorted(user.present()) if not user.said[key].flying]
        if not there:
            return
        some = self._chance.sample(there, min(len(there), self._chance.choice((1, 1, 1, 2))))
        memory = actor.engine.memory(user=user.name)
        self._erasing(actor, user, [user.said[key] for key in some], "erase", lambda: memory.forget(turn_id=some))

    def _erase_all(self, actor: Actor, user: User) -> None:
        if any(one.flying for one in user.said.values()):
            return
        memory = actor.engine.memory(user=user.name)
        these = [one for one in user.said.values() if one.begun and not one.gone]
        user.erased_all = True
        self._erasing(actor, user, these, "erase_all", lambda: memory.forget(everything=True))

    def _erasing(self, actor: Actor, user: User, these: list[Said], name: str, call: Callable[[], Any]) -> None:
        for one in these:
            one.gone = "maybe"
        alone = not user.erasers
        user.erasing += 1
        user.erasers += 1
        begun = user.erasing

        def done(_: Any, failed: BaseException | None) -> None:
            mine = user.erasing
            user.erasing += 1
            user.erasers -= 1
            user.erased_all |= name == "erase_all"
            if failed is None:
                for one in these:
                    one.gone = "yes"
            elif isinstance(failed, NotFoundError) and alone and begun == mine:
                raise Wrong(f"{user.name}: {[one.turn_id for one in these]} are there, and are said not to be")

        self._play.begin(actor, name, user.name, call, done)


HANDS = ("withdrawn", "distrusted", "identified", "retracted", "accepted", "undone")
