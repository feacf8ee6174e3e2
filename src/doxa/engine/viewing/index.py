"""What the pages of one memory look up, kept beside its state and brought up to date by what is new."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import get_args

from doxa.core.values import UNBELIEVED, Change, ChangeKind, Fact, Status
from doxa.core.views import Standing
from doxa.engine.answer.disputes import sides_of
from doxa.engine.viewing.names import Directory, Entry
from doxa.engine.viewing.order import Rank, add, drop, place_of
from doxa.memory import Beliefs, UserState, is_current, is_identity, is_name, turning_day

__all__ = ["Filed", "ViewIndex", "index_of", "standing_of"]

KEPT = "view"


def index_of(state: UserState) -> ViewIndex:
    """Return the index of a memory, brought up to date. Cost: O(what changed since the last call)."""
    index: ViewIndex | None = state.kept.get(KEPT)
    if index is None or not index.follows(state):
        index = state.kept[KEPT] = ViewIndex()
    try:
        index.sync(state)
    except BaseException:  # half of an update, as an interrupt leaves it, must not stay
        del state.kept[KEPT]
        raise
    return index


def standing_of(fact: Fact, today: date | None) -> Standing:
    """Return where a fact stands for a reader."""
    if fact.status in UNBELIEVED or (fact.disputed and fact.status is Status.HELD):
        return "tentative"
    return "firm" if is_current(fact, today) else "past"


@dataclass(frozen=True, slots=True)
class Filed:
    """A fact as it is filed, and where."""

    fact: Fact
    place: Rank
    standing: Standing
    keys: tuple[str, ...]
    """Of whom it is about; none for an identity."""
    bears: tuple[str, ...]
    """Those of them that it makes a person or thing: as its subject, or by a name."""


@dataclass(slots=True)
class ViewIndex:
    """The facts of a memory by whom they are about, by what waits for a person, and by turn; and the names."""

    filed: dict[str, Filed] = field(default_factory=dict)
    about: dict[Standing, dict[str, list[Rank]]] = field(
        default_factory=lambda: {one: {} for one in get_args(Standing)}
    )
    doubtful: list[Rank] = field(default_factory=list)
    tentative: list[Rank] = field(default_factory=list)
    unsure_names: list[Rank] = field(default_factory=list)
    """What may make two names one's and is not believed: doubtful or tentative."""
    directory: Directory = field(default_factory=Directory)
    by_turn: dict[str, dict[str, None]] = field(default_factory=dict)
    statuses: Counter[Status] = field(default_factory=Counter)
    standings: Counter[Standing] = field(default_factory=Counter)
    revisions: int = 0
    filings: int = 0
    """How many facts were filed so far: the work that was done."""
    _read: int = 0
    _today: date | None = None
    _held: Counter[str] = field(default_factory=Counter)
    """Held facts by whom they bear."""
    _used: Counter[str] = field(default_factory=Counter)
    """Held facts in which a plain word is the object."""
    _bearing: Counter[str] = field(default_factory=Counter)
    """Facts that are not only past, by whom they bear."""
    _turning: list[tuple[date, str]] = field(default_factory=list)
    """When a fact may stand otherwise though nothing happens to it: a heap."""
    _turns: dict[str, date] = field(default_factory=dict)
    """The day in the heap that counts for a fact."""
    _disputed: dict[str, None] = field(default_factory=dict)
    _sides: list[tuple[Rank, tuple[str, ...]]] | None = None
    _groups: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def follows(self, state: UserState) -> bool:
        """Tell whether the index can be brought up to date: what it has read is the beginning of what there is."""
        return self._read <= len(state.beliefs.changes) and (self._today is not None or not self.filed)

    def sync(self, state: UserState) -> None:
        """Read the changes that came since, and look at what another day makes of the facts."""
        beliefs, today = state.beliefs, state.today()
        if self._read == len(beliefs.changes) and today == self._today:
            return
        new = beliefs.changes[self._read :]
        touched = self._due(today)
        self._today = today
        identities = False
        for change in new:
            touched |= dict.fromkeys(_touched(change))
            self.revisions += change.revises
            identities |= is_identity(change.fact)
        keys = self._file(touched, beliefs)
        if identities:
            keys |= self._regrouped(beliefs)
        several = {name: None for key in keys for name in self._groups.get(key, ())}
        self.directory.update(keys | several, self._listed, beliefs)
        self._read += len(new)

    def _due(self, today: date | None) -> dict[str, None]:
        """Return the facts that may stand otherwise on a new day."""
        due: dict[str, None] = {}
        while today is not None and self._turning and self._turning[0][0] <= today:
            day, fact_id = heapq.heappop(self._turning)
            if self._turns.get(fact_id) == day:
                due[fact_id] = None
                del self._turns[fact_id]
        return due

    def _file(self, touched: Iterable[str], beliefs: Beliefs) -> dict[str, None]:
        """File facts as they are now, and return the keys of whom they are about."""
        keys: dict[str, None] = {}
        fresh = []
        for fact_id in touched:
            if (old := self.filed.pop(fact_id, None)) is not None:
                self._put(old, -1)
                keys |= dict.fromkeys(old.keys)
            if (fact := beliefs.facts.get(fact_id)) is not None:
                fresh.append(self._filed(fact, beliefs))
            self._note_turns(fact_id, old.fact.turn_ids if old else (), fact.turn_ids if fact else ())
        for new in sorted(fresh, key=lambda one: one.place):  # most orders then only grow at their end
            self.filed[new.fact.fact_id] = new
            self._put(new, 1)
            keys |= dict.fromkeys(new.keys)
        self.filings += len(fresh)
        return keys

    def _filed(self, fact: Fact, beliefs: Beliefs) -> Filed:
        number = beliefs.facts.row(fact.fact_id)
        assert number is not None
        keys: tuple[str, ...] = ()
        bears: tuple[str, ...] = ()
        if not is_identity(fact):
            keys = tuple(dict.fromkeys((fact.subject.key, fact.object.key)))
            bears = keys if is_name(fact.object) else keys[:1]
        day = turning_day(fact, self._today) if self._today is not None else None
        if day is not None and self._turns.get(fact.fact_id) != day:
            heapq.heappush(self._turning, (day, fact.fact_id))
            self._turns[fact.fact_id] = day
        return Filed(fact, place_of(fact, number), standing_of(fact, self._today), keys, bears)

    def _put(self, one: Filed, sign: int) -> None:
        """Put a fact in its orders (1) or take it out of them (-1)."""
        move = add if sign > 0 else drop
        fact, standing = one.fact, one.standing
        self.statuses[fact.status] += sign
        self.standings[standing] += sign
        for key in one.keys:
            move(self.about[standing].setdefault(key, []), one.place)
            if not self.about[standing][key]:
                del self.about[standing][key]
        for key in one.keys:
            if key in one.bears:
                self._bearing[key] += sign * (standing != "past" or fact.status is Status.HELD)
                self._held[key] += sign * (fact.status is Status.HELD)
            else:
                self._used[key] += sign * (fact.status is Status.HELD)
        if fact.status in UNBELIEVED and is_identity(fact):
            move(self.unsure_names, one.place)
        if fact.status is Status.QUARANTINED:
            move(self.doubtful, one.place)
        elif fact.status is Status.TENTATIVE:
            move(self.tentative, one.place)
        elif standing == "tentative":
            self._sides = None
            if sign > 0:
                self._disputed[fact.fact_id] = None
            else:
                del self._disputed[fact.fact_id]

    def _note_turns(self, fact_id: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        if old == new:
            return
        for turn_id in set(old).difference(new):
            del self.by_turn[turn_id][fact_id]
            if not self.by_turn[turn_id]:
                del self.by_turn[turn_id]
        for turn_id in set(new).difference(old):
            self.by_turn.setdefault(turn_id, {})[fact_id] = None

    def _regrouped(self, beliefs: Beliefs) -> dict[str, None]:
        """Return the keys whose names are others than before."""
        old, new = self._groups, dict(beliefs.identity.groups)
        self._groups = new
        return {key: None for key in old.keys() | new.keys() if old.get(key) != new.get(key)}

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The names of everybody who has several, by each of them."""
        return self._groups

    def names(self, key: str) -> tuple[str, ...]:
        """Return the keys of all names of an entity."""
        return self._groups.get(key, (key,))

    def lists(self, key: str, standing: Standing) -> list[list[Rank]]:
        """Return the orders of the facts about an entity: that of its key, and what nobody says any more of others."""
        kept = self.about[standing]
        return [kept[name] for name in self.names(key) if name in kept]

    def count(self, key: str, standing: Standing) -> int:
        """Return how many facts there are in `lists`; what is about two names of one entity counts once."""
        lists = self.lists(key, standing)
        return len(set().union(*lists)) if len(lists) > 1 else sum(map(len, lists))

    def _listed(self, key: str) -> Entry | None:
        """Return what is told of a key among names; None where nothing makes it a person or thing."""
        live = key in self._groups and (key in self.about["firm"] or key in self.about["tentative"] or self._used[key])
        return self.entry(key) if self._bearing[key] or live else None

    def entry(self, key: str) -> Entry | None:
        """Return what is told of a key that facts are about, whether or not any of them is believed."""
        held = self._held[key] + (self._used[key] if key in self._groups else 0)
        firm, tentative, past = (self.count(key, one) for one in get_args(Standing))
        return Entry(key, held, firm, tentative, past) if firm + tentative + past else None

    def disputes(self, beliefs: Beliefs) -> list[tuple[Rank, tuple[str, ...]]]:
        """Return the open disputes by their place, the earliest first, each as the ids of its sides.

        Cost: O(disputed facts) after one of them changed.
        """
        if self._sides is None:
            disputed = sorted(self._disputed, key=lambda key: self.filed[key].place[1])
            groups = sides_of((beliefs.facts[key] for key in disputed), beliefs)
            self._sides = sorted(map(self._dispute, groups))
        return self._sides

    def _dispute(self, sides: tuple[Fact, ...]) -> tuple[Rank, tuple[str, ...]]:
        first = self.filed[sides[0].fact_id].place
        when = max(self.filed[fact.fact_id].place[0] for fact in sides)
        return (when, first[1], first[2]), tuple(fact.fact_id for fact in sides)

    def facts(self, places: Iterable[Rank]) -> tuple[Fact, ...]:
        """Return the facts at some places."""
        return tuple(self.filed[fact_id].fact for _, _, fact_id in places)


def _touched(change: Change) -> Iterator[str]:
    """Yield the ids of the facts that a change replaces, drops or puts in."""
    yield change.fact.fact_id
    if change.kind is ChangeKind.MOVE:
        yield from change.because
