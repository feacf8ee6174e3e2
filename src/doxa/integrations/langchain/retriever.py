"""A query -> evidence out of a memory, as documents: `DoxaRetriever`."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from doxa.core.errors import InputError
from doxa.engine import Doxa

if TYPE_CHECKING:
    from doxa.core.values import Evidence, Turn
    from doxa.engine import Memory

__all__ = ["DoxaRetriever", "documents"]

WITHIN = ("session", "speaker", "since", "until", "as_of", "known_at", "superseded")
"""What narrows a search, by the names that `Memory.search` has for it."""
MORE = 4
"""How many times as much is looked at next, where a filter left too little."""


class DoxaRetriever(BaseRetriever):
    """A retriever over what a user has said and what is believed of it, best first; sync and async.

    A document is a piece of evidence: its text with who said it, and in `metadata` its `kind` ("turn" or "fact"),
    `score`, `turn_ids` and `fact_ids`, and of the first of its turns `at` (ISO 8601), `speaker`, `role`, `session` and
    `metadata`. Its id is that of the turn, or of the fact. What was withdrawn is not found, and what was revised only
    by questions about the past.

    Each setting may be given for one call as well: `retriever.invoke("...", k=3, session="s1")`.

    Args:
        doxa: the engine; it stays open when the retriever goes.
        user: whose memory it is.
        k: most documents.
        session: only turns of this session.
        speaker: only turns of this speaker.
        since: only turns said then or later.
        until: only turns said by then.
        as_of: the day of the world that is asked about.
        known_at: only what was known then.
        superseded: also turns of whose claims nothing is held any more.
        filter: which documents are wanted; as many are looked at as it takes to find `k` of them.
    """

    doxa: Doxa = Field(exclude=True, repr=False)
    user: str
    k: int = Field(default=10, ge=1)
    session: str | None = None
    speaker: str | None = None
    since: str | date | datetime | None = None
    until: str | date | datetime | None = None
    as_of: str | date | datetime | None = None
    known_at: str | date | datetime | None = None
    superseded: bool = False
    filter: Callable[[Document], bool] | None = Field(default=None, exclude=True, repr=False)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        """Return the documents for a query.

        Raises:
            InputError: the query is empty, a time cannot be read, or a setting is not known.
        """
        return self._found(query, given)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        """Await `_get_relevant_documents`."""
        return await to_thread(self._found, query, given)

    def _found(self, query: str, given: dict[str, Any]) -> list[Document]:
        settings = {name: getattr(self, name) for name in ("k", "filter", *WITHIN)}
        if unknown := set(given) - set(settings) - {"verbose"}:  # which LangChain reads, and passes on
            raise InputError(f"Expected {', '.join(settings)}; got {', '.join(sorted(unknown))}.")
        settings |= {name: value for name, value in given.items() if name in settings}
        k, wanted = settings.pop("k"), settings.pop("filter")
        memory, most = self.doxa.memory(user=self.user), k
        while True:
            evidence = memory.search(query, k=most, **settings)
            found = [one for one in documents(memory, evidence) if wanted is None or wanted(one)]
            if wanted is None or len(found) >= k or len(evidence) < most:
                return found[:k]
            most *= MORE


def documents(memory: Memory, evidence: Sequence[Evidence]) -> list[Document]:
    """Return pieces of evidence as documents."""
    ids = dict.fromkeys(turn_id for one in evidence for turn_id in one.turn_ids)
    turns = {turn.turn_id: turn for turn in memory.turns([*ids], withdrawn=True)}
    return [_document(one, next((turns[at] for at in one.turn_ids if at in turns), None)) for one in evidence]


def _document(evidence: Evidence, turn: Turn | None) -> Document:
    ids = evidence.fact_ids if evidence.kind == "fact" else evidence.turn_ids
    told = {
        "at": turn.at.isoformat(),
        "speaker": turn.speaker,
        "role": turn.role,
        "session": turn.session,
        "metadata": dict(turn.metadata),
    } if turn is not None else {}  # fmt: skip
    return Document(
        id=next(iter(ids), None),
        page_content=evidence.text,
        metadata={
            "kind": evidence.kind,
            "score": float(evidence.score),
            "turn_ids": [*evidence.turn_ids],
            "fact_ids": [*evidence.fact_ids],
            **({"memory": evidence.memory} if evidence.memory else {}),
            **told,
        },
    )
