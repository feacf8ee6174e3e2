"""Checkpoints of a graph's state -> records beside a memory.

A checkpoint is a program's state and nobody's statement: it is kept byte for byte, and nothing of it is believed.
"""

from __future__ import annotations

import random
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from doxa.engine import Records, short

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaSaver"]

USER, SHELF = "langgraph", "langgraph.checkpoints"
EMPTY = ("empty", b"")
"""A channel that has a version and no value."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A checkpoint as it is stored, its values apart."""

    thread: str
    namespace: str
    id: str
    parent: str | None
    checkpoint: Mapping[str, Any]
    metadata: Mapping[str, Any]

    @property
    def place(self) -> str:
        return _place(self.thread, self.namespace)


class DoxaSaver(BaseCheckpointSaver[str]):
    """Keeps the checkpoints of graphs in the database of an engine, durable on return; sync and async.

    Values of channels are stored once for each version, as LangGraph's own savers do. All capabilities of the contract
    are there, `prune`, `copy_thread` and `delete_for_runs` too. Threads and processes may share a database.

    Args:
        doxa: the engine; it stays open when the saver goes.
        user: whose records the checkpoints are: they go when everything of this user is forgotten.
        serde: how values become bytes; by default LangGraph's.
    """

    def __init__(self, doxa: Doxa, *, user: str = USER, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self.doxa = doxa
        self._records = Records(doxa, user=user, shelf=SHELF)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or the latest of its thread; None where there is none."""
        thread, namespace, checkpoint_id = _named(config)
        start = f"{_place(thread, namespace)}/c/"
        body = self._records.get(start + checkpoint_id).get(start + checkpoint_id) if checkpoint_id else None
        if not checkpoint_id and (last := self._records.last(start)):
            body = last[1]
        return None if body is None else self._tuple(self._kept(body))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints of a thread, or of all of them, newest first; `filter` is compared with their metadata."""
        wanted = get_checkpoint_id(config) if config else None
        until = get_checkpoint_id(before) if before else None
        left = limit
        for kept in self._listed(config):
            if left is not None and left <= 0:
                return
            told = all(kept.metadata.get(name) == value for name, value in (filter or {}).items())
            if told and (not wanted or kept.id == wanted) and (not until or kept.id < until):
                left = None if left is None else left - 1
                yield self._tuple(kept)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint with the values that are new, all of it or nothing; return the config that names it."""
        thread, namespace, parent = _named(config)
        rest: dict[str, Any] = dict(checkpoint)
        values = rest.pop("channel_values")
        kept = _Kept(thread, namespace, checkpoint["id"], parent, rest, dict(get_checkpoint_metadata(config, metadata)))
        bodies = {
            _blob(kept.place, name, version): _typed(self.serde.dumps_typed(values[name]) if name in values else EMPTY)
            for name, version in new_versions.items()
        }
        self._records.put({**bodies, **self._stored(kept)})
        return _config(kept.thread, kept.namespace, kept.id)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote; what it wrote before under the same index stays, but for errors and interrupts."""
        thread, namespace, checkpoint_id = _named(config)
        start = f"{_place(thread, namespace)}/w/{checkpoint_id}/{short(task_id)}"
        bodies = {
            f"{start}/{WRITES_IDX_MAP.get(channel, at):+06}": self._packed(
                (task_id, WRITES_IDX_MAP.get(channel, at), task_path, channel, self.serde.dumps_typed(value))
            )
            for at, (channel, value) in enumerate(writes)
        }
        known = self._records.get(*(key for key in bodies if "/+" in key))
        self._records.put({key: body for key, body in bodies.items() if key not in known})

    def delete_thread(self, thread_id: str) -> None:
        """Erase all checkpoints and writes of a thread."""
        self._records.erase(f"{short(str(thread_id))}/")

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints that some runs made, with their writes."""
        self._drop(kept for kept in self._listed(None) if kept.metadata.get("run_id") in run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all that is kept of one thread to another, its whole history."""
        source, target = f"{short(str(source_thread_id))}/", f"{short(str(target_thread_id))}/"
        bodies: dict[str, bytes | None] = {
            target + key.removeprefix(source): body for key, body in self._records.all(source).items()
        }
        config = _config(source_thread_id)
        for kept in self._listed(config):
            bodies |= self._stored(replace(kept, thread=target_thread_id))
        self._records.put(bodies)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove the checkpoints of some threads but the latest of each namespace, or with "delete" all of them.

        Of a graph with delta channels the ancestors stay out of which the latest value is made.

        Raises:
            ValueError: the strategy is another one.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"prune: strategy: expected 'keep_latest' or 'delete', got {strategy!r}.")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
                continue
            by_namespace: dict[str, Any] = {}
            for kept in self._listed(_config(thread_id)):
                by_namespace.setdefault(kept.namespace, []).append(kept)
            for several in by_namespace.values():
                needed = self._needed(several)
                self._drop(kept for kept in several if kept.id not in needed)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a version above another one, unlike that of any other writer."""
        number = int(str(current).split(".")[0]) if current is not None else 0
        return f"{number + 1:032}.{random.random():016}"

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Await `get_tuple`."""
        return await to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield what `list` yields."""
        found: Callable[[], Sequence[CheckpointTuple]] = lambda: [  # noqa: E731
            *self.list(config, filter=filter, before=before, limit=limit)
        ]
        for one in await to_thread(found):
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Await `put`."""
        return await to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Await `put_writes`."""
        await to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Await `delete_thread`."""
        await to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Await `delete_for_runs`."""
        await to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Await `copy_thread`."""
        await to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Await `prune`."""
        await to_thread(self.prune, thread_ids, strategy=strategy)

    def _listed(self, config: RunnableConfig | None) -> Sequence[_Kept]:
        """Return the checkpoints of a thread (and namespace, if the config names one) or of all, newest first."""
        given = config["configurable"] if config else {}
        start = f"{short(str(given['thread_id']))}/" if given else ""
        if "checkpoint_ns" in given:
            start += f"{short(given['checkpoint_ns'])}/c/"
        found = (self._kept(body) for key, body in self._records.all(start).items() if key.split("/")[2] == "c")
        return sorted(found, key=lambda kept: kept.id, reverse=True)

    def _tuple(self, kept: _Kept) -> CheckpointTuple:
        versions: Mapping[str, str] = kept.checkpoint["channel_versions"]
        keys = {_blob(kept.place, name, version): name for name, version in versions.items()}
        blobs = {keys[key]: _untyped(body) for key, body in self._records.get(*keys).items()}
        values = {name: self.serde.loads_typed(blobs[name]) for name in versions if blobs.get(name, EMPTY) != EMPTY}
        written = [self._unpacked(body) for body in self._records.all(f"{kept.place}/w/{kept.id}/").values()]
        written.sort(key=lambda one: writes_sort_key(one[2], one[0], one[1]))
        return CheckpointTuple(
            config=_config(kept.thread, kept.namespace, kept.id),
            checkpoint={**kept.checkpoint, "channel_values": values},  # type: ignore[typeddict-item]
            metadata=kept.metadata,  # type: ignore[arg-type]
            parent_config=_config(kept.thread, kept.namespace, kept.parent) if kept.parent else None,
            pending_writes=[(task, channel, self.serde.loads_typed(value)) for task, _, _, channel, value in written],
        )

    def _needed(self, several: Sequence[_Kept]) -> set[str]:
        """Return the ids of the latest of some checkpoints and of those that its delta channels are made of."""
        known = {kept.id: kept for kept in several}
        kept: _Kept | None = several[0]
        needed = {several[0].id}
        open_channels = set(several[0].metadata.get("counters_since_delta_snapshot") or ())
        while kept is not None and open_channels:
            needed.add(kept.id)
            open_channels -= self._tuple(kept).checkpoint["channel_values"].keys()
            kept = known.get(kept.parent or "")
        return needed

    def _drop(self, gone: Iterable[_Kept]) -> None:
        """Erase checkpoints with their writes and the values that no other one has."""
        dropped = list(gone)
        for place in {kept.place for kept in dropped}:
            here = [kept for kept in dropped if kept.place == place]
            ids = {kept.id for kept in here}
            bodies = [key for kept in here for key in self._records.all(f"{place}/w/{kept.id}/")]
            left = [kept for kept in self._listed(_config(here[0].thread, here[0].namespace)) if kept.id not in ids]
            needed = {_blob(place, *one) for kept in left for one in kept.checkpoint["channel_versions"].items()}
            bodies += [key for key in self._records.all(f"{place}/b/") if key not in needed]
            self._records.put(dict.fromkeys(bodies))
            for kept in here:  # the last one, so that a call that was cut short can be made again
                self._records.erase(f"{place}/c/{kept.id}")

    def _stored(self, kept: _Kept) -> dict[str, bytes | None]:
        row = (kept.thread, kept.namespace, kept.id, kept.parent, kept.checkpoint, kept.metadata)
        return {f"{kept.place}/c/{kept.id}": self._packed(row)}

    def _kept(self, body: bytes) -> _Kept:
        return _Kept(*self._unpacked(body))

    def _packed(self, row: tuple[Any, ...]) -> bytes:
        return _typed(self.serde.dumps_typed(row))

    def _unpacked(self, body: bytes) -> Any:
        return self.serde.loads_typed(_untyped(body))


def _typed(value: tuple[str, bytes]) -> bytes:
    return value[0].encode() + b"\0" + value[1]


def _untyped(body: bytes) -> tuple[str, bytes]:
    kind, _, data = body.partition(b"\0")
    return kind.decode(), data


def _named(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Return thread, namespace and checkpoint of a config."""
    given = config["configurable"]
    return str(given["thread_id"]), given.get("checkpoint_ns", ""), get_checkpoint_id(config)


def _config(thread: str, namespace: str | None = None, checkpoint_id: str | None = None) -> RunnableConfig:
    named = {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    return {"configurable": {name: value for name, value in named.items() if value is not None}}


def _place(thread: str, namespace: str) -> str:
    return f"{short(thread)}/{short(namespace)}"


def _blob(place: str, channel: str, version: Any) -> str:
    return f"{place}/b/{short(channel)}/{version}"
