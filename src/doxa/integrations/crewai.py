"""CrewAI: records of a crew's memory -> records beside a memory, and turns that they are recalled by.

    from doxa import Doxa
    from doxa.integrations.crewai import DoxaMemory

    memory = DoxaMemory(Doxa.open("memory.db"), user="ana")
    Crew(agents=[...], tasks=[...], memory=memory).kickoff()

A record is kept as it was given. Its content is a turn of the memory as well: withdrawn when the record says something
else, forgotten when it is deleted.
Extra: `pip install "doxa[crewai]"`, in an environment of its own: CrewAI needs another `mcp` than the server does.
"""

from __future__ import annotations

import json
from array import array
from asyncio import to_thread
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

import numpy as np
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.memory_events import (
    MemoryQueryCompletedEvent,
    MemoryQueryFailedEvent,
    MemoryQueryStartedEvent,
    MemorySaveCompletedEvent,
    MemorySaveFailedEvent,
    MemorySaveStartedEvent,
)
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo, compute_composite_score
from crewai.memory.unified_memory import Memory
from crewai.memory.utils import join_scope_paths

from doxa.core.errors import NotFoundError, TurnError
from doxa.core.turns import NOTED
from doxa.engine import Records, forget_turns, short

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaMemory", "DoxaStorage"]

SHELF, SESSION = "crewai", "crewai"
RECORD, VECTOR, SAID, GONE = "record/", "vector/", "said/", "gone"
"""How keys begin: what a record is, its embedding, the turns that ever said it; and what a deletion erases last."""
FIRST_LOOK = 60
"""Pieces of evidence that a search looks at first; further while less than what is asked for fits."""
FLOAT_BYTES = 4
REPLACED = "the record says something else"


class DoxaStorage:
    """A storage backend of CrewAI in the database of an engine, durable on return, for `Memory(storage=...)`.

    It finds records by their vectors as the framework asks for, `find` by words. A scope is a path: "/a" has what is in
    "/a/b", and nothing of "/ab". Criteria of a deletion hold together. Threads and processes may share it; the last
    writer of a record wins. Listing, counting and searching vectors read all records: O(records).

    Args:
        doxa: the engine; it stays open when the storage goes.
        user: whose records and memory they are; with everything of this user the records are forgotten too.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
    """

    def __init__(self, doxa: Doxa, *, user: str, speaker: str | None = None) -> None:
        self.doxa = doxa
        self._memory = doxa.memory(user=user)
        self._dialogue = doxa.dialogue(user=user, session=SESSION, speaker=speaker)
        self._records = Records(doxa, user=user, shelf=SHELF)

    def __deepcopy__(self, memo: dict[int, Any]) -> DoxaStorage:
        """Return itself: a crew that is copied goes on with the same database."""
        return self

    def save(self, records: list[MemoryRecord]) -> None:
        """Write records, all or none; one of an id that is there takes its place.

        Raises:
            EmbeddingDimensionMismatchError: vectors are of different lengths; nothing was stored.
            TypeError: a record has something in it that JSON has not; nothing was stored.
        """
        self._check_dimensions(records)
        while True:
            places = [short(record.id) for record in records]
            before = self._records.get(*(RECORD + place for place in places))
            turns = [
                self._turn_for(place, record, before.get(RECORD + place))
                for place, record in zip(places, records, strict=True)
            ]
            bodies: dict[str, bytes | None] = {}
            for place, record, (turn, _) in zip(places, records, turns, strict=True):
                bodies[RECORD + place] = _body(record, turn)
                bodies[VECTOR + place] = array("f", record.embedding).tobytes() if record.embedding else None
                bodies[f"{SAID}{place}/{turn}"] = b"-"
            if self._records.put(bodies, expected={RECORD + place: before.get(RECORD + place) for place in places}):
                break  # else somebody was faster, and the turn of before may be withdrawn by now
        for record, (turn, at) in zip(records, turns, strict=True):
            self._follow(record, turn, at)

    def update(self, record: MemoryRecord) -> None:
        """Write a record in place of the one of its id; what that said is withdrawn if this one says something else."""
        self.save([record])

    def touch_records(self, record_ids: list[str]) -> None:
        """Note that records were read now, unless somebody changes one of them at the same time."""
        now = datetime.now(UTC).replace(tzinfo=None).isoformat()  # as the framework writes times
        held = self._records.get(*(RECORD + short(record_id) for record_id in record_ids))
        bodies = {key: json.dumps({**json.loads(body), "last_accessed": now}).encode() for key, body in held.items()}
        self._records.put(bodies, expected=held)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record with its vector; None where there is none."""
        keys = RECORD + short(record_id), VECTOR + short(record_id)
        held = self._records.get(*keys)
        return _record(held[keys[0]], held.get(keys[1])) if keys[0] in held else None

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that fit and whose vectors are nearest, each with 1 / (1 + squared distance).

        Raises:
            EmbeddingDimensionMismatchError: the vectors that are stored are of another length.
        """
        vectors = self._records.all(VECTOR)
        fitting = [one for one in self._all(vectors) if _fits(one, scope_prefix, categories, metadata_filter)]
        stored = next((len(body) // FLOAT_BYTES for body in vectors.values()), len(query_embedding))
        if stored != len(query_embedding):
            raise EmbeddingDimensionMismatchError(stored, len(query_embedding))
        if not fitting:
            return []
        blank = [0.0] * stored
        matrix = np.array([one.embedding or blank for one in fitting], dtype=np.float32)
        scores = 1.0 / (1.0 + ((matrix - np.array(query_embedding, dtype=np.float32)) ** 2).sum(axis=1))
        best = [(fitting[at], float(scores[at])) for at in np.argsort(-scores, kind="stable")]
        return [(record, score) for record, score in best if score >= min_score][: max(limit, 0)]

    def find(
        self, query: str, fits: Callable[[MemoryRecord], bool], limit: int = 10
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that fit and bear on a query by Doxa's recall, best first, each with its score, 0 to 1."""
        if not query.strip() or limit < 1:
            return []
        size = max(FIRST_LOOK, limit)
        while True:
            evidence = self._memory.search(query, k=size, shared=False)
            scores: dict[str, float] = {}
            for item in evidence:
                for shelf, _, rest in (turn_id.partition("/") for turn_id in item.turn_ids):
                    if shelf == SHELF:
                        key = RECORD + rest.partition("/")[0]
                        scores.setdefault(key, min(1.0, max(0.0, float(item.score))))
            held = self._records.get(*scores)
            records = [(_record(held[key], None), score) for key, score in scores.items() if key in held]
            found = [(record, score) for record, score in records if fits(record)]
            if len(found) >= limit or len(evidence) < size:
                return found[:limit]
            size *= 4

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase the records that meet all criteria, all of them if there are none; return how many there were.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        wanted = None if record_ids is None else set(record_ids)
        gone = [
            one
            for one in self._all({})
            if _fits(one, scope_prefix, categories, metadata_filter)
            and (wanted is None or one.id in wanted)
            and (older_than is None or _utc(one.created_at) < _utc(older_than))
        ]
        if gone:
            self._erase([short(one.id) for one in gone])
        return len(gone)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase all records of a scope, or of the user."""
        self.delete(scope_prefix)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Return records of a scope, the newest first."""
        if limit <= 0 or offset < 0:
            return []
        return self._in(scope_prefix, vectors=self._records.all(VECTOR))[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return how many records a scope has, of which categories, from when to when, and the scopes in it."""
        found = self._in(scope)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(found),
            categories=sorted({name for one in found for name in one.categories}),
            oldest_record=found[-1].created_at if found else None,
            newest_record=found[0].created_at if found else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below one."""
        above = _path(parent)
        below = {_path(one.scope)[: len(above) + 1] for one in self._in(parent)}
        return sorted("/" + "/".join(path) for path in below if len(path) > len(above))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return the categories in a scope, each with the number of its records."""
        return dict(Counter(name for one in self._in(scope_prefix) for name in one.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope has, or the user."""
        return len(self._in(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Await `save`."""
        await to_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], *args: Any, **options: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Await `search`."""
        return await to_thread(self.search, query_embedding, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Await `delete`."""
        return await to_thread(self.delete, *args, **options)

    def _turn_for(self, place: str, record: MemoryRecord, before: bytes | None) -> tuple[str, datetime]:
        """Return the turn that says a record, and since when: that of before if it says the same and is trusted."""
        if before is None:
            return uuid4().hex, _utc(record.created_at)
        held = json.loads(before)
        same = held["content"] == record.content
        if same and self._memory.turns([_turn_id(place, held["turn"])]):
            return str(held["turn"]), _utc(record.created_at)
        return uuid4().hex, _utc(record.created_at if same else record.last_accessed)

    def _follow(self, record: MemoryRecord, turn: str, at: datetime) -> None:
        """Have the memory say what a record says: what is stored by now, whoever wrote it."""
        place = short(record.id)
        about = {"id": record.id, "scope": record.scope, "categories": record.categories, "source": record.source}
        with suppress(TurnError):  # no words, or too many
            self._dialogue.absorb(record.content, turn_id=_turn_id(place, turn), at=at, called=NOTED, metadata=about)
        said = self._records.all(f"{SAID}{place}/")  # before the record is read: what it says then is none of the old
        held = self._records.get(RECORD + place)
        if not held:  # somebody deleted it meanwhile
            forget_turns(self._memory, [_turn_id(place, turn)])
            return
        (stored,) = held.values()
        last, withdrawn = _turn_id(place, json.loads(stored)["turn"]), self._memory.withdrawn()
        for old in (_turn_id(place, key.rpartition("/")[2]) for key in said):
            if old != last and old not in withdrawn:
                with suppress(NotFoundError):  # it had no words, or was forgotten by other ways
                    self._memory.withdraw(turn_id=old, reason=REPLACED)

    def _erase(self, places: Sequence[str]) -> None:
        """Erase records with all that they ever said; what somebody writes anew meanwhile stays."""
        keys = [*(RECORD + place for place in places), *(VECTOR + place for place in places)]
        self._records.put(dict.fromkeys(keys))
        said = [key for place in places for key in self._records.all(f"{SAID}{place}/")]  # no writer before is missed
        anew = {key.removeprefix(RECORD): json.loads(body)["turn"] for key, body in self._records.get(*keys).items()
                if key.startswith(RECORD)}  # fmt: skip
        gone = [key for key in said if anew.get(key.split("/")[1]) != key.split("/")[2]]
        trace = f"{GONE}/{uuid4().hex}"
        self._records.put({**dict.fromkeys(gone), trace: b"-"})
        try:
            self._records.erase(trace)  # wipes what was removed before, too
        finally:
            turns = (key.removeprefix(SAID).split("/") for key in reversed(gone))
            forget_turns(self._memory, [_turn_id(place, turn) for place, turn in turns])

    def _check_dimensions(self, records: Sequence[MemoryRecord]) -> None:
        stored = self._records.last(VECTOR)
        length = len(stored[1]) // FLOAT_BYTES if stored else None
        for record in records:
            if record.embedding:
                length = length or len(record.embedding)
                if len(record.embedding) != length:
                    raise EmbeddingDimensionMismatchError(length, len(record.embedding))

    def _in(self, scope: str | None, *, vectors: Mapping[str, bytes] | None = None) -> list[MemoryRecord]:
        """Return the records of a scope, the newest first."""
        return [one for one in self._all(vectors or {}) if _fits(one, scope, None, None)]

    def _all(self, vectors: Mapping[str, bytes]) -> list[MemoryRecord]:
        held = self._records.all(RECORD)
        found = [_record(body, vectors.get(VECTOR + key.removeprefix(RECORD))) for key, body in held.items()]
        return sorted(found, key=lambda one: _utc(one.created_at), reverse=True)


class DoxaMemory(Memory):  # type: ignore[misc]
    """CrewAI's memory over `DoxaStorage`, for `Crew(memory=...)`; it needs neither a language model nor an embedder.

    What the framework asks a model for, the memory does: a record is read when it is stored, what is revised is no
    longer recalled, and recall is by Doxa, at any depth. Its score is the framework's, with the weights that are set.
    A scope, categories or an importance that are not given are "/", none, and `default_importance`.

    Args:
        doxa: the engine; it stays open when the memory goes.
        user: whose memory it is; users never share anything.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        settings: those of the framework's `Memory`. With `llm` given it is asked to split what a task gave into
            statements; else that is one record.
    """

    def __init__(self, doxa: Doxa, *, user: str, speaker: str | None = None, **settings: Any) -> None:
        storage = DoxaStorage(doxa, user=user, speaker=speaker)
        super().__init__(**{"embedder": _no_vectors, **settings, "storage": storage})

    @property
    def doxa(self) -> Doxa:
        """The engine, for what the framework cannot say: `.doxa.memory(user=...)`."""
        return self._doxa_storage.doxa

    @property
    def _doxa_storage(self) -> DoxaStorage:
        return cast("DoxaStorage", self.storage)

    def extract_memories(self, content: str) -> list[str]:
        """Return the statements in a text, by the model if one was given; else the text itself."""
        if "llm" in self.model_fields_set:
            return cast("list[str]", super().extract_memories(content))
        return [content] if content.strip() else []

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Store a record and return it; None where the memory is read-only.

        Raises:
            TypeError: the metadata has something in it that JSON has not; nothing was stored.
        """
        about = (scope, categories, metadata, importance, source, private, agent_role, root_scope)
        return next(iter(self.remember_many([content], *about)), None)

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Store records, all or none, and return them; of the same content in one call there is one record."""
        if not contents or self.read_only:
            return []
        root = self.root_scope if root_scope is None else root_scope
        first = {content.strip(): content for content in reversed(contents)}
        records = [
            MemoryRecord(
                content=content,
                scope=join_scope_paths(root, scope) if root else scope or "/",
                categories=categories or [],
                metadata=metadata or {},
                importance=self.default_importance if importance is None else importance,
                source=source,
                private=private,
            )
            for content in reversed(first.values())
        ]
        with self._saving("\n".join(contents), metadata, agent_role):
            self._doxa_storage.save(records)
        return records

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """Return what bears on a query, best first.

        Args:
            query: what is looked for.
            scope: only records in it.
            categories: only records of one of them.
            limit: how many at most.
            depth: any; it is one search.
            source: of whom private records are shown.
            include_private: whether all of them are.
        """
        within = join_scope_paths(self.root_scope, scope) if self.root_scope else scope

        def is_shown(one: MemoryRecord) -> bool:
            seen = include_private or not one.private or (source is not None and one.source == source)
            return seen and _fits(one, within, categories, None)

        with self._querying(query, limit) as found:
            for record, score in self._doxa_storage.find(query, is_shown, limit):
                composite, reasons = compute_composite_score(record, score, self._config)
                found.append(MemoryMatch(record=record, score=composite, match_reasons=reasons))
            found.sort(key=lambda match: match.score, reverse=True)
            if found and not self.read_only:
                self._doxa_storage.touch_records([match.record.id for match in found])
        return found

    async def aremember(self, content: str, *args: Any, **options: Any) -> MemoryRecord | None:
        """Await `remember`."""
        return await to_thread(self.remember, content, *args, **options)

    async def aremember_many(self, contents: list[str], *args: Any, **options: Any) -> list[MemoryRecord]:
        """Await `remember_many`."""
        return await to_thread(self.remember_many, contents, *args, **options)

    async def arecall(self, query: str, *args: Any, **options: Any) -> list[MemoryMatch]:
        """Await `recall`."""
        return await to_thread(self.recall, query, *args, **options)

    @contextmanager
    def _saving(self, value: str, metadata: dict[str, Any] | None, agent_role: str | None) -> Iterator[None]:
        """Tell who listens to the framework what is saved, as its own memory does."""
        about = {"value": value, "metadata": metadata or {}, "source_type": "unified_memory"}
        crewai_event_bus.emit(self, MemorySaveStartedEvent(**about))
        start = perf_counter()
        try:
            yield
        except BaseException as exc:
            crewai_event_bus.emit(self, MemorySaveFailedEvent(**about, error=str(exc)))
            raise
        took = 1000 * (perf_counter() - start)
        crewai_event_bus.emit(self, MemorySaveCompletedEvent(**about, agent_role=agent_role, save_time_ms=took))

    @contextmanager
    def _querying(self, query: str, limit: int) -> Iterator[list[MemoryMatch]]:
        """Tell who listens to the framework what is looked for and found, as its own memory does."""
        about = {"query": query, "limit": limit, "score_threshold": None, "source_type": "unified_memory"}
        crewai_event_bus.emit(self, MemoryQueryStartedEvent(**about))
        start, found = perf_counter(), list[MemoryMatch]()
        try:
            yield found
        except BaseException as exc:
            crewai_event_bus.emit(self, MemoryQueryFailedEvent(**about, error=str(exc)))
            raise
        took = 1000 * (perf_counter() - start)
        crewai_event_bus.emit(self, MemoryQueryCompletedEvent(**about, results=found, query_time_ms=took))


def _no_vectors(texts: list[str]) -> list[list[float]]:
    """Return no vector for each text: this memory finds by words."""
    return [[] for _ in texts]


def _fits(
    record: MemoryRecord, scope: str | None, categories: Sequence[str] | None, metadata: Mapping[str, Any] | None
) -> bool:
    """Tell whether a record is in a scope, has one of some categories, and all of some metadata."""
    path = _path(scope or "/")
    if _path(record.scope)[: len(path)] != path:
        return False
    if categories and not set(categories) & set(record.categories):
        return False
    return all(record.metadata.get(name) == value for name, value in (metadata or {}).items())


def _path(scope: str) -> tuple[str, ...]:
    return tuple(part for part in scope.split("/") if part)


def _utc(at: datetime) -> datetime:
    """Return a time with its zone; the framework writes UTC without."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _body(record: MemoryRecord, turn: str) -> bytes:
    row = record.model_dump(exclude={"embedding"})
    times = {name: row[name].isoformat() for name in ("created_at", "last_accessed")}
    return json.dumps({**row, **times, "turn": turn}).encode()


def _record(body: bytes, vector: bytes | None) -> MemoryRecord:
    row = json.loads(body)
    del row["turn"]
    return MemoryRecord(**row, embedding=None if vector is None else array("f", vector).tolist())


def _turn_id(place: str, turn: str) -> str:
    return f"{SHELF}/{place}/{turn}"
