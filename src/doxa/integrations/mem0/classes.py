"""What stands in for `mem0.Memory` and `mem0.AsyncMemory`."""

from __future__ import annotations

import logging
from asyncio import to_thread
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Self

from doxa.core.config import Config
from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import ChangeKind
from doxa.engine import (
    Dialogue,
    Doxa,
    Entry,
    Filter,
    Handle,
    Shelf,
    amend,
    awaited,
    erase_fitting,
    moment,
    noted,
    notes,
    read_filter,
    remove,
)
from doxa.integrations.mem0.asking import (
    ENTITIES,
    PROCEDURAL,
    check_add,
    check_search,
    heard,
    ignored,
    is_own,
    owner,
    procedure,
    read_day,
    read_filters,
    read_ids,
    read_limit,
    read_messages,
    read_query,
    refusals,
)
from doxa.integrations.mem0.placing import placed
from doxa.integrations.mem0.shapes import details, fitting, item

__all__ = ["AsyncMemory", "Memory"]

logger = logging.getLogger("doxa.mem0")
TEMPORAL = "Doxa knows when things hold by itself: say it in the text, or ask the engine (`.doxa`)."
UNSET: Any = object()


class Memory:
    """What `mem0.Memory` is: memories of users, agents and runs. Safe between threads.

    Args:
        config: mem0's configuration. The path of its vector store is that of the database (a folder holds
            `doxa.db`), the name of a collection is a tenant; a warning names what else is in it and does nothing here.
        doxa: an engine in place of the one that would be opened; it stays open when this is closed.
    """

    def __init__(self, config: Any = None, *, doxa: Doxa | None = None) -> None:
        self.config = config
        url, tenant = placed(config)
        self._lent = doxa is not None
        if doxa is None:
            settings = Config.load()
            settings = settings.model_copy(update={"tenant": tenant}) if tenant else settings
            doxa = Doxa.open(url or settings.db, config=settings)
        elif tenant:
            doxa = doxa.tenant(tenant)
        self.doxa = doxa

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return one of a configuration as mem0 takes it; see the class."""
        return cls(config_dict)

    @property
    def project(self) -> _Project:
        """What refuses to be updated, as there."""
        return _Project()

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remember messages, wait until they are understood, and return the memories that changed.

        Args:
            messages: a text of the user, a message or several, as OpenAI writes them.
            user_id: whose; at least one of user, agent and run is needed.
            agent_id: with which agent.
            run_id: in which run.
            metadata: what is kept with each memory; `created_at` says when it was said.
            timestamp: refused, as there.
            expiration_date: the last day on which they are given.
            infer: False keeps each message as it stands, and makes no facts of it.
            memory_type: "procedural_memory" with an `agent_id` keeps all messages as one memory, word for word.
            prompt: does nothing here.

        Returns:
            `{"results": [{"id", "memory", "event"}]}`, with `actor_id` and `role` where nothing was inferred. The event
            is ADD; UPDATE where a known memory no longer holds, or is told more exactly; DELETE where it never was so.

        Raises:
            ValueError: an id, a date or the metadata cannot be used.
            ValidationError: there is no id, or messages or memory type are none; mem0's, where the program imports it.
        """
        if timestamp is not None:
            raise ValueError(f"add: timestamp: {TEMPORAL}")
        ends = read_day(expiration_date)
        whose = read_ids(user_id=user_id, agent_id=agent_id, run_id=run_id)
        check_add(whose, memory_type)
        said = read_messages(messages)
        if prompt is not None:
            ignored("add", ["prompt"])
        own = {name: one for name, one in (metadata or {}).items() if is_own(name, "add")}
        if agent_id is not None and memory_type == PROCEDURAL:
            said, infer, own = procedure(said), False, {**own, "memory_type": PROCEDURAL}
        with refusals():
            return {"results": self._told(said, whose, own, ends=ends, infer=infer)}

    def _told(
        self,
        said: Sequence[Mapping[str, Any]],
        whose: Mapping[str, str],
        own: dict[str, Any],
        *,
        ends: str | None,
        infer: bool,
    ) -> list[dict[str, Any]]:
        """Store messages of somebody, and return what became of them."""
        user = owner(whose)
        at = moment(own.pop("created_at"), what="metadata: created_at") if "created_at" in own else None
        ids = {name: one for name, one in whose.items() if name != "user_id"}
        dialogue = self._dialogue(user, session=whose.get("run_id"), agent=whose.get("agent_id"))
        raw: dict[str, Mapping[str, Any]] = {}
        for message in said:
            if (words := heard(message)) is not None:
                beside = noted(own, **ids, actor_id=words.get("name"), expiration_date=ends)
                (receipt,) = dialogue.add([words], at=at, verbatim=not infer, metadata=beside)
                raw[receipt.turn_id] = words
        if not raw:
            return []
        self.doxa.wait(user)
        shelf = Shelf(self.doxa.memory(user=user), past=True)
        found = [{name: one[name] for name in ("id", "memory", "event")} for one in shelf.tell(list(raw))]
        if infer:
            return [one for one in found if one["event"] != "NONE"]
        whose_words = [{"actor_id": one.get("name"), "role": one["role"]} for one in raw.values()]
        return [one | more for one, more in zip(found, whose_words, strict=False)]

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None where there is none of this id, or no longer."""
        _, entry = self._found(memory_id)
        return None if entry is None else item(entry, score=None)

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the memories that fit, those that came last first.

        Args:
            filters: whose, and what of their metadata; see `search`.
            top_k: how many at most.
            show_expired: also those whose last day is over.
            kwargs: what is refused (`user_id`, ...); `limit` is another name of `top_k`, the rest does nothing.

        Raises:
            ValueError: the filters name nobody, or have another form; or `top_k` is no number.
        """
        top_k = read_limit("get_all", kwargs, top_k)
        check_search(top_k=top_k)
        with refusals():
            asked = read_filters(filters)
            shelves = [Shelf(self.doxa.memory(user=user)) for user in self._users(asked)]
        fits = fitting(asked, show_expired=show_expired)
        entries = [entry for shelf in shelves for entry in shelf.entries if fits(entry)]
        earliest = datetime.min.replace(tzinfo=UTC)
        entries.sort(key=lambda entry: entry.created_at or earliest, reverse=True)
        return {"results": [item(entry) for entry in entries[:top_k]]}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the memories that bear on a query and are believed now, best first.

        Args:
            query: a question, or any words.
            top_k: how many at most.
            filters: at least one of `user_id`, `agent_id`, `run_id`, and conditions on metadata, with the operators of
                mem0 and AND, OR, NOT.
            threshold: least score. Scores are 0 to 1 and no cosines, so that by default nothing is left out.
            rerank: changes nothing; search is by words, meaning and graph at once.
            explain: add `score_details`, the scores of those three.
            reference_date: refused, as there.
            show_expired: also those whose last day is over.
            kwargs: what is refused (`user_id`, ...); `limit` is another name of `top_k`, the rest does nothing.

        Raises:
            ValueError: the query is empty, the filters name nobody or have another form, or a number is none.
        """
        if reference_date is not None:
            raise ValueError(f"search: reference_date: {TEMPORAL}")
        top_k = read_limit("search", kwargs, top_k)
        check_search(threshold=threshold, top_k=top_k)
        query = read_query(query)
        with refusals():
            asked = read_filters(filters)
            fits = fitting(asked, show_expired=show_expired)
            shelves = [Shelf(self.doxa.memory(user=user)) for user in self._users(asked)]
            found = [one for shelf in shelves for one in shelf.ranked(query, max(top_k, 1), fits)]
        results = []
        for one in sorted(found, key=lambda one: -one.score)[:top_k]:
            shown = item(one.entry, score=round(one.score, 4))
            if explain:
                shown["score_details"] = details(one.evidence.scores, one.evidence.score, shown["score"], threshold)
            results.append(shown)
        return {"results": [one for one in results if one["score"] >= (threshold or 0.0)]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, Any]:
        """Correct a memory under its id: what it said never was so; `history` tells it.

        Args:
            memory_id: which.
            text: what is so instead, as said by the user.
            metadata: what is kept with it from now on, beside what was.
            expiration_date: its last day; None takes it away.
            data: an old name of `text`.

        Raises:
            ValueError: nothing is given, there is no such memory, or nobody said it and it follows from others.
        """
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        own: dict[str, Any] = {} if expiration_date is UNSET else {"expiration_date": read_day(expiration_date)}
        handle, entry = self._found(memory_id)
        if handle is None or entry is None:
            raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        if metadata is not None:
            given = {name: one for name, one in metadata.items() if is_own(name, "update")}
            own["metadata"] = {**entry.metadata, **given}
        memory, dialogue = self.doxa.memory(user=handle.user), partial(self._dialogue, handle.user)
        with refusals():
            amend(entry, None if text == entry.text else text, own, memory=memory, dialogue=dialogue)
        self.doxa.wait(handle.user)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, Any]:
        """Erase a memory with its history, and the messages that tell nothing else.

        Raises:
            ValueError: there is no such memory, or nobody said it and it follows from others.
        """
        handle, entry = self._found(memory_id)
        if handle is None or entry is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        with refusals():
            remove(self.doxa.memory(user=handle.user), [handle])
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, Any]:
        """Erase all that was said by a user, to an agent, in a run (all that are given), and all that was made of it.

        Raises:
            ValueError: none of them is given, or one is no id.
        """
        whose = read_ids(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not whose:
            raise ValueError(
                "At least one filter is required to delete all memories. If you want to delete all memories, use the "
                "`reset()` method."
            )
        asked = read_filter(dict(whose))
        for user in self._users(asked):
            erase_fitting(self.doxa.memory(user=user), asked)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what a memory was and became, oldest first; nothing of one that was deleted, or never was."""
        handle, entry = self._found(memory_id)
        if handle is None:
            return []
        shelf = Shelf(self.doxa.memory(user=handle.user), past=True)
        by_hand = any(one.kind is ChangeKind.RETRACT and one.turn_id is None for one in shelf.changes_of(handle.key))
        if entry is None and (handle.kind != "fact" or by_hand):
            return []
        steps = list(shelf.steps(handle))
        first = steps[0].at if steps else None
        return [
            {
                "id": f"{handle}.{place}",
                "memory_id": memory_id,
                "old_memory": step.before,
                "new_memory": step.after,
                "event": step.event,
                "created_at": first and first.isoformat(),
                "updated_at": step.at and step.at.isoformat(),
                "is_deleted": step.event == "DELETE",
                "actor_id": next((notes(turn).get("actor_id") for turn in step.turns), None),
                "role": next((turn.role for turn in step.turns), None),
            }
            for place, step in enumerate(steps)
        ]

    def reset(self) -> None:
        """Erase all that every user of the database (of the collection, where one is named) ever said."""
        logger.warning("Resetting all memories")
        for user in self.doxa.users():
            self.doxa.memory(user=user).forget(everything=True)

    def chat(self, query: str) -> None:
        """Refuse, as there; `.doxa.dialogue(user=...).respond(query)` answers."""
        raise NotImplementedError("Chat function not implemented yet.")

    def close(self) -> None:
        """Close the engine, unless it was lent. Closing twice is harmless."""
        if not self._lent:
            self.doxa.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _found(self, memory_id: str) -> tuple[Handle | None, Entry | None]:
        """Return what an id stands for, and the memory, where there is one."""
        try:
            handle = Handle.read(str(memory_id))
            memory = self.doxa.memory(user=handle.user)
        except (NotFoundError, InputError):
            return None, None
        if handle.kind == "event":
            return None, None
        return handle, Shelf(memory, past=True).find(handle)

    def _dialogue(self, user: str, *, session: str | None = None, agent: str | None = None) -> Dialogue:
        speaker = "User" if " " in user else None  # the name of an agent or a run is nobody's who says "I"
        return self.doxa.dialogue(user=user, session=session or "default", agent=agent or "assistant", speaker=speaker)

    def _users(self, asked: Filter) -> list[str]:
        """Return the users among whose memories a filter looks: the one that it names, else all."""
        return list(asked.users) if asked.users and not asked.everyone else self.doxa.users()


class AsyncMemory:
    """A `Memory` whose methods wait without blocking the event loop, as `mem0.AsyncMemory`. Its arguments are those."""

    def __init__(self, config: Any = None, *, doxa: Doxa | None = None) -> None:
        self._twin = Memory(config, doxa=doxa)
        self.config = config
        self.doxa = self._twin.doxa

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return one of a configuration as mem0 takes it; it is no coroutine there either."""
        return cls(config_dict)

    @property
    def project(self) -> _AsyncProject:
        """What refuses to be updated, as there."""
        return _AsyncProject()

    async def add(
        self, messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]], *, llm: Any = None, **given: Any
    ) -> dict[str, Any]:
        """Await `Memory.add`; `llm` does nothing here."""
        if llm is not None:
            ignored("add", ["llm"])
        whose = read_ids(**{name: given.get(name) for name in ENTITIES})
        if whose and given.get("memory_type") not in (None, PROCEDURAL):  # no ValidationError there, for once
            raise ValueError(f"Invalid 'memory_type'. Please pass {PROCEDURAL} to create procedural memories.")
        return await to_thread(partial(self._twin.add, messages, **given))

    get = awaited(Memory.get)
    get_all = awaited(Memory.get_all)
    search = awaited(Memory.search)
    update = awaited(Memory.update)
    delete = awaited(Memory.delete)
    delete_all = awaited(Memory.delete_all)
    history = awaited(Memory.history)
    reset = awaited(Memory.reset)
    chat = awaited(Memory.chat)

    def close(self) -> None:
        """Close the engine, unless it was lent; it is no coroutine there either."""
        self._twin.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_thread(self.close)


class _Project:
    def update(self, *args: Any, **kwargs: Any) -> None:
        raise ValueError("Project updates are not supported by the OSS Memory SDK.")


class _AsyncProject:
    async def update(self, *args: Any, **kwargs: Any) -> None:
        _Project().update(*args, **kwargs)
