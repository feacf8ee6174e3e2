"""Items of LangGraph's store -> records beside a memory, and what they say -> turns of it.

The record is what `get` gives back, word for word; the turn is what Doxa understands, finds and revises. An item that
is put again withdraws the turn of what it said before, one that is deleted has all of them erased. Forgetting a turn by
`.doxa` leaves the item; forgetting everything of a user takes the items along.
"""

from __future__ import annotations

import json
import time
from asyncio import to_thread
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph.store.base.embed import get_text_at_path

from doxa.core.errors import NotFoundError, TurnError
from doxa.core.turns import NOTED
from doxa.engine import Records, forget_turns, short

if TYPE_CHECKING:
    from doxa.engine import Doxa, Memory

__all__ = ["DoxaStore"]

Namespace = tuple[str, ...]
USER, SHELF, INDEX = "langgraph", "langgraph.store", "langgraph.namespaces"
VALUE, ENDS, SAID = "/v", "/x", "/t/"
"""What follows the place of an item in the keys of its value, of when it expires (reading begins that anew and touches
no value), and of every turn that ever said it: written down before the turn is, so that no turn outlives its item."""
LOOKED_AT = 50
"""Least number of turns that are looked for; some may belong to items that a filter leaves out."""
COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: float(value) > float(wanted),
    "$gte": lambda value, wanted: float(value) >= float(wanted),
    "$lt": lambda value, wanted: float(value) < float(wanted),
    "$lte": lambda value, wanted: float(value) <= float(wanted),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """An item as it is stored."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl: float | None
    """Minutes."""
    turn_id: str | None
    """The turn that says what it says."""
    said: str

    @property
    def place(self) -> str:
        return _place(self.namespace, self.key)

    def item(self) -> Item:
        """Return it as LangGraph has it."""
        return Item(
            value=self.value, key=self.key, namespace=self.namespace,
            created_at=self.created_at, updated_at=self.updated_at,
        )  # fmt: skip

    def found(self, score: float | None) -> SearchItem:
        """Return it as LangGraph's search gives it."""
        return SearchItem(
            namespace=self.namespace, key=self.key, value=self.value, score=score,
            created_at=self.created_at, updated_at=self.updated_at,
        )  # fmt: skip


class DoxaStore(BaseStore):
    """A store in the database of an engine, durable on return; sync and async, and safe between processes.

    Every namespace is the memory of a user of its own; `.doxa.memory(user="/".join(namespace))` tells what is believed
    of what its items say, and why. A search with a query is Doxa's recall; items that it does not find follow without
    a score, as in LangGraph's own store.

    Args:
        doxa: the engine; it stays open when the store goes.
        user: whose memory a namespace is; by default its labels with "/" between them.
        fields: paths of what is said in a value; by default all text in it.
        ttl: LangGraph's settings for items that expire. What expired goes at the next `put` after
            `sweep_interval_minutes`, or by `sweep_ttl`.
    """

    supports_ttl = True

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: Callable[[Namespace], str] = "/".join,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.doxa = doxa
        self.ttl_config = ttl
        self._user, self._fields = user, fields
        self._index = Records(doxa, user=USER, shelf=INDEX)
        self._swept = time.monotonic()
        self._one_at_a_time = RLock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Return what each of some operations gives; of several values for one key the last is put, after all reads.

        Raises:
            TypeError: a value has something in it that JSON has not.
            ValueError: an operation or an operator of a filter is unknown.
        """
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    results.append(self._get(op))
                case SearchOp():
                    results.append(self._search(op))
                case ListNamespacesOp():
                    results.append(self._listed(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Expected an operation of a store, got {type(op).__name__}.")
        for put in puts.values():
            self._put(put)
        self._sweep_now_and_then()
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Await `batch`."""
        return await to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Erase what has expired; return how many items that were."""
        gone = [kept for space in self._namespaces() for kept in self._items(space) if self._expired(kept)]
        for kept in gone:
            with self._one_at_a_time:
                self._drop(kept)
        return len(gone)

    def _get(self, op: GetOp) -> Item | None:
        kept = self._stored(op.namespace, op.key)
        if kept is None or not self._is_shown(kept):
            return None
        if op.refresh_ttl:
            self._refresh([kept])
        return kept.item()

    def _search(self, op: SearchOp) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        spaces = [space for space in self._namespaces() if space[:depth] == op.namespace_prefix]
        kept = [one for space in spaces for one in self._items(space) if self._is_shown(one)]
        kept = [
            one for one in kept if all(_fits(one.value.get(name), want) for name, want in (op.filter or {}).items())
        ]
        scores = self._scores(op, {one.namespace for one in kept}) if op.query else {}
        if scores:
            kept.sort(key=lambda one: -scores.get(one.turn_id or "", float("-inf")))
        shown = kept[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            self._refresh(shown)
        return [one.found(scores.get(one.turn_id or "")) for one in shown]

    def _scores(self, op: SearchOp, spaces: Iterable[Namespace]) -> dict[str, float]:
        """Return the scores of turns that recall finds for a query in the memories of some namespaces."""
        found: dict[str, float] = {}
        most = max(LOOKED_AT, 4 * (op.offset + op.limit))
        for user in dict.fromkeys(map(self._user, sorted(spaces))):
            self.doxa.settle(user)
            for evidence in self.doxa.memory(user=user).search(str(op.query), k=most):
                for turn_id in evidence.turn_ids:
                    found[turn_id] = max(found.get(turn_id, float("-inf")), float(evidence.score))
        return found

    def _listed(self, op: ListNamespacesOp) -> list[Namespace]:
        spaces = [space for space in self._namespaces() if all(_is_at(space, one) for one in op.match_conditions or ())]
        spaces = [space for space in spaces if any(map(self._is_shown, self._items(space)))]
        cut = sorted({space[: op.max_depth] for space in spaces})
        return cut[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        with self._one_at_a_time:
            before = self._stored(op.namespace, op.key)
            if op.value is None:
                if before is not None:
                    self._drop(before)
                return
            kept = self._made(op, op.value, before)
            ends = b"" if op.ttl is None else f"{time.time() + 60 * op.ttl}".encode()
            bodies: dict[str, bytes | None] = {kept.place + VALUE: _body(kept), kept.place + ENDS: ends or None}
            said = {kept.place + VALUE: kept.turn_id} if kept.turn_id else {}
            self._records(op.namespace).put(bodies | dict.fromkeys(said.values(), b""), said_by=said)
            self._index.put({short(*op.namespace): json.dumps(op.namespace).encode()})
            if before is None or kept.turn_id != before.turn_id:
                self._follow(kept)

    def _made(self, op: PutOp, value: Mapping[str, Any], before: _Kept | None) -> _Kept:
        """Return the item that is put, with the turn that says it: that of before if it says the same and is there."""
        now, said = datetime.now(UTC), self._said(value, op.index)
        old = before.turn_id if before is not None else None
        memory = self.doxa.memory(user=self._user(op.namespace))
        same = before is not None and before.said == said and (not said or _is_there(memory, old))
        turn_id = old if same else f"{_place(op.namespace, op.key)}{SAID}{uuid4().hex}" if said else None
        return _Kept(
            namespace=op.namespace, key=op.key, value=dict(value), updated_at=now, ttl=op.ttl,
            created_at=before.created_at if before is not None else now, turn_id=turn_id, said=said,
        )  # fmt: skip

    def _follow(self, kept: _Kept) -> None:
        """Have the memory say what an item says.

        It looks at what is stored then, not at what this call did: of two writers, the later one leaves all as it has
        to be.
        """
        user = self._user(kept.namespace)
        memory = self.doxa.memory(user=user)
        if kept.turn_id:
            talk = self.doxa.dialogue(user=user, session="/".join(kept.namespace))
            with suppress(TurnError):  # no words, or too many
                talk.absorb(kept.said, at=kept.updated_at, turn_id=kept.turn_id, called=NOTED)
        # Listed before the value is read: what is put after this is not ours to withdraw.
        said = self._records(kept.namespace).all(kept.place + SAID)
        stored = self._stored(kept.namespace, kept.key)
        if stored is None:  # somebody deleted it meanwhile
            forget_turns(memory, [kept.turn_id] if kept.turn_id else [])
            return
        withdrawn = memory.withdrawn()
        for turn_id in said:
            if turn_id != stored.turn_id and turn_id not in withdrawn:
                with suppress(NotFoundError):  # it was forgotten by other ways
                    memory.withdraw(turn_id=turn_id, reason="another value was put in its place")

    def _said(self, value: Mapping[str, Any], index: Literal[False] | Sequence[str] | None) -> str:
        """Return the text of a value that is understood and found; empty for what is not to be searched."""
        if index is False:
            return ""
        fields = self._fields if index is None else index
        if fields is None:
            return "\n".join(_texts(value))
        return "\n".join(text for field in fields for text in get_text_at_path(dict(value), field))

    def _drop(self, kept: _Kept) -> None:
        """Erase an item with all that it ever said; the name of a namespace goes with its last one."""
        records = self._records(kept.namespace)
        try:
            forget_turns(self.doxa.memory(user=self._user(kept.namespace)), records.all(kept.place + SAID))
        finally:  # they are gone, even where it fails since somebody else is reading
            records.erase(kept.place)
        if not self._items(kept.namespace):
            self._index.erase(short(*kept.namespace))
            if self._items(kept.namespace):  # somebody put one meanwhile
                self._index.put({short(*kept.namespace): json.dumps(kept.namespace).encode()})

    def _refresh(self, shown: Iterable[_Kept]) -> None:
        """Begin the time of some items anew, if they have one and reading does that."""
        if (self.ttl_config or {}).get("refresh_on_read", True):
            for kept in shown:
                if kept.ttl is not None:
                    self._records(kept.namespace).put({kept.place + ENDS: f"{time.time() + 60 * kept.ttl}".encode()})

    def _sweep_now_and_then(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and time.monotonic() - self._swept >= 60 * minutes:
            self._swept = time.monotonic()
            self.sweep_ttl()

    def _is_shown(self, kept: _Kept) -> bool:
        return not ((self.ttl_config or {}).get("omit_expired") and self._expired(kept))

    def _expired(self, kept: _Kept) -> bool:
        if kept.ttl is None:
            return False
        ends = self._records(kept.namespace).get(kept.place + ENDS)
        return any(float(body) <= time.time() for body in ends.values())

    def _namespaces(self) -> list[Namespace]:
        return sorted(tuple(json.loads(body)) for body in self._index.all().values())

    def _items(self, namespace: Namespace) -> list[_Kept]:
        """Return the items of a namespace, in the order in which they were first put."""
        held = self._records(namespace).all(f"{short(*namespace)}/")
        found = [_kept(body) for key, body in held.items() if key.endswith(VALUE)]
        return sorted(found, key=lambda kept: (kept.created_at, kept.key))

    def _stored(self, namespace: Namespace, key: str) -> _Kept | None:
        held = self._records(namespace).get(_place(namespace, key) + VALUE)
        return next(map(_kept, held.values()), None)

    def _records(self, namespace: Namespace) -> Records:
        return Records(self.doxa, user=self._user(namespace), shelf=SHELF)


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """Yield the text in a value, a line each; of what is one word its name as well ("city: Graz")."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(part, str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, name)
    elif value is not None and str(value).strip():
        text = str(value).strip()
        yield text if (isinstance(value, str) and len(text.split()) > 1) or not name else f"{name}: {text}"


def _fits(value: Any, wanted: Any) -> bool:
    """Tell whether a value is as a filter of LangGraph wants it.

    Raises:
        ValueError: the operator is unknown.
    """
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            if unknown := set(wanted) - set(COMPARED):
                raise ValueError(
                    f"Unsupported operator: {', '.join(sorted(unknown))}; there are {', '.join(COMPARED)}."
                )
            return all(COMPARED[name](value, want) for name, want in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(name), want) for name, want in wanted.items())
    if isinstance(wanted, list | tuple):
        alike = isinstance(value, list | tuple) and len(value) == len(wanted)
        return alike and all(_fits(one, want) for one, want in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _is_at(namespace: Namespace, condition: MatchCondition) -> bool:
    """Tell whether a namespace begins or ends as a condition says; "*" stands for any label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(want in ("*", label) for label, want in zip(part, path, strict=True))


def _is_there(memory: Memory, turn_id: str | None) -> bool:
    try:
        return turn_id is not None and memory.turn(turn_id) is not None
    except NotFoundError:
        return False


def _body(kept: _Kept) -> bytes:
    row = {name: getattr(kept, name) for name in _Kept.__slots__}
    row = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
    return json.dumps(row, ensure_ascii=False).encode()


def _kept(body: bytes) -> _Kept:
    row = json.loads(body)
    times = {name: datetime.fromisoformat(row[name]) for name in ("created_at", "updated_at")}
    return _Kept(**{**row, **times, "namespace": tuple(row["namespace"])})


def _place(namespace: Namespace, key: str) -> str:
    return f"{short(*namespace)}/{short(key)}"
